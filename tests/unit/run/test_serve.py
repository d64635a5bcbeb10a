"""What a server takes in: bounded in bytes and seconds, and in what it holds at once."""

import asyncio
import io
import struct
import zlib
from types import SimpleNamespace

import pytest
from PIL import Image

from asked import dataset
from shiftscope.cli import serve
from shiftscope.errors import UserError
from shiftscope.run import question_matcher as recognise
from shiftscope.run import serve as intake
from shiftscope.run.question_matcher import QuestionMatcher
from shiftscope.run.serve import (
    MOST_CONNECTIONS,
    MOST_IMAGES,
    RequestBodies,
    RequestRejected,
    close_slow,
    read_messages,
)

LARGE = intake.LARGEST_REQUEST


class Request:
    """As starlette gives it: headers, and pieces of a body."""

    def __init__(self, *pieces, pause=0.0, **headers):
        self.headers = headers
        self._pieces, self._pause = iter(pieces), pause
        self.read = 0

    async def stream(self):
        for piece in self._pieces:
            await asyncio.sleep(self._pause)
            self.read += len(piece)
            yield piece


def take(*requests, taking=None):
    """What came of each, all held at the same time; a status where one is refused."""

    async def one(held, request, all_read):
        try:
            async with held.read_body(request) as body:
                await asyncio.wait_for(all_read.wait(), 5) if taking else None
                return body
        except RequestRejected as error:
            return error.status

    async def all_of_them():
        held, all_read = RequestBodies(), asyncio.Event()
        tasks = [asyncio.create_task(one(held, request, all_read)) for request in requests]
        await asyncio.sleep(0.5 if taking else 0)
        all_read.set()
        made = await asyncio.gather(*tasks)
        assert held._held == 0
        return made

    return asyncio.run(all_of_them())


def test_a_body_is_what_was_sent():
    assert take(Request(b'{"a":', b" 1}")) == [b'{"a": 1}']
    assert take(Request(bytes(LARGE))) == [bytes(LARGE)]


def test_what_is_too_large_is_refused_before_or_while_it_comes():
    declared = Request(*[bytes(1 << 20)] * 100, **{"content-length": str(LARGE + 1)})
    assert take(declared) == [413]
    assert declared.read == 100 << 20  # heard out, and not kept
    waiting = Request(b"never sent", **{"content-length": str(LARGE + 1), "expect": "100-continue"})
    assert take(waiting) == [413]
    assert waiting.read == 0
    assert take(Request(*[bytes(1 << 20)] * 65)) == [413]  # in chunks, of a length that nobody told
    assert take(Request(b"{}", **{"content-length": "-5"}), Request(b"{}", **{"content-length": "²"})) == [b"{}"] * 2


def test_a_client_that_never_ends_is_left(monkeypatch):
    monkeypatch.setattr(intake, "DRAINED_SECONDS", 0.2)
    monkeypatch.setattr(intake, "SLOWEST_REQUEST", 0.2)
    assert take(Request(*[b" "] * 10_000, pause=0.05)) == [408]
    monkeypatch.setattr(intake, "SLOWEST_REQUEST", 60.0)
    piece = bytes(1 << 20)
    assert take(Request(*[piece] * 1000, pause=0.01, **{"content-length": str(10**9)})) == [413]


def test_all_requests_together_are_bounded(monkeypatch):
    monkeypatch.setattr(intake, "LARGEST_TOGETHER", 45)
    made = take(*[Request(b"0123", b"456789") for _ in range(5)], taking=True)
    assert sorted(made, key=str) == [503, *[b"0123456789"] * 4]


class Connection:
    def __init__(self, cycle):
        self.cycle, self.transport, self.closed = cycle, self, False

    def close(self):
        self.closed = True


def test_a_client_that_never_says_what_it_asks_for_is_left():
    silent, asking, idle = (
        Connection(None),
        Connection(SimpleNamespace(response_complete=False)),
        Connection(SimpleNamespace(response_complete=True)),
    )
    all_of_them = (silent, asking, idle)
    since = close_slow(all_of_them, {}, 100.0)
    asking.cycle.response_complete = True
    since = close_slow(all_of_them, since, 155.0)
    assert not any(one.closed for one in all_of_them)
    close_slow(all_of_them, since, 161.0)
    assert [one.closed for one in all_of_them] == [True, False, True]


def test_the_help_tells_the_bounds():
    told = " ".join(serve.command.__doc__.split())
    large, together = (f"{size >> 20} MB" for size in (LARGE, intake.LARGEST_TOGETHER))
    pixels, seconds = recognise.MOST_PIXELS // 10**6, intake.SLOWEST_REQUEST
    assert f"{large}, {MOST_IMAGES} pictures of {pixels} million pixels each, and {seconds:g} seconds to arrive" in told
    assert f"at once may have {together}, and there may be {MOST_CONNECTIONS} connections" in told


def image_part(data):
    from base64 import b64encode

    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(data).decode()}"}}


def test_pictures_are_counted(refuses):
    def asked(n):
        return {"messages": [{"role": "user", "content": [image_part(b"x")] * n}]}

    assert len(read_messages(asked(32))[1]) == 32
    with refuses("a request may have 32 pictures; this one has more"):
        read_messages(asked(33))


@pytest.mark.parametrize("text", [5, None, ["a"], {"a": 1}])
def test_a_text_is_text(text, refuses):
    with refuses("neither text nor an image_url"):
        read_messages({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]})


def png(width, height):
    """A picture of zeros, a few kB for hundreds of megapixels: what a small request can make a server decode."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packing = zlib.compressobj(9)
    rows = b"".join(packing.compress(bytes(1 + (width + 7) // 8)) for _ in range(height)) + packing.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(8001, 8000), (12_000, 8000), (30_000, 30_000)])
def test_a_picture_that_decodes_to_gigabytes_is_refused(size, refuses):
    with refuses("a picture may have 64,000,000 pixels; this one has more"):
        recognise._decode_pixels(png(*size))


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"%!PS-Adobe-3.0 EPSF-3.0\n", png(8, 8)[:45], b"\0" * 99])
def test_a_picture_that_is_broken_is_refused(data, refuses):
    with refuses("a picture cannot be decoded"):
        recognise._decode_pixels(data)


def test_a_picture_encoded_anew_is_decoded_once(tmp_path, monkeypatch):
    made = dataset(tmp_path / "data")
    found, example = QuestionMatcher(made), made.example(0, "test")
    file = io.BytesIO()
    Image.open(io.BytesIO(example.images[0].png)).save(file, "BMP")
    first = found.match(example.question.text, [file.getvalue()])
    monkeypatch.setattr(recognise, "_decode_pixels", lambda picture: pytest.fail("decoded again"))
    assert found.match(example.question.text, [file.getvalue()]) == first
    with pytest.raises(UserError, match="none of the dataset"):
        monkeypatch.setattr(recognise, "_decode_pixels", lambda picture: b"")
        found.match(example.question.text, [file.getvalue() + b"!"])

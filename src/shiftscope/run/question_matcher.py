"""Question matcher: which question of a dataset a chat message asks, by its text and its pictures.

An endpoint is given text and pictures, never ids. A picture is known by its bytes, or, where a harness has
encoded it anew, by its pixels. A question is the line of the text that is a question about those pictures, or
else the longest question the text contains. A scene in words is known by those words. Without pictures or
such words the first question of that text is taken, and the model is asked blind: it is shown no scene.
"""

import io
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

from ..errors import UserError
from ..model import Prompt
from ..picture import Picture
from ..prompt import SCENE_OPENING, describe_scene
from ..question import Question
from ..result import AS_IS
from ..store.dataset import Dataset, ImageIndex
from ..store.image import StoredImage
from ..store.shard import Shard, iterate_row_groups, read_questions

MOST_PIXELS = 64_000_000  # of a picture
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")


class QuestionMatcher:
    """The questions and pictures of a dataset, found by content."""

    def __init__(self, dataset: Dataset, splits: Iterable[str] = ()) -> None:
        self._images = ImageIndex(dataset.folder, dataset.shards())
        self._where: dict[str, Shard] = {}  # image id → shard
        self._by_bytes: dict[bytes, str] = {}
        self._by_pixels: dict[bytes, str] | None = None
        self._by_words: dict[str, str] | None = None
        self._lengths: list[int] = []  # lines that scenes in words have, the longest first
        self._by_text: dict[str, list[Question]] = defaultdict(list)
        self._by_images: dict[tuple[str, ...], list[Question]] = defaultdict(list)
        folder, columns = dataset.folder, ["image_id", "image"]
        for shard in (shard for split in splits or dataset.splits for shard in dataset.shards(split)):
            for table in iterate_row_groups(folder / shard.images.path, columns) if shard.images else ():
                pictures = table["image"].combine_chunks().field("bytes")
                for name, png in zip(table["image_id"].to_pylist(), pictures, strict=True):
                    self._where[name] = shard
                    self._by_bytes[_digest_bytes(png.as_buffer())] = name
            for question in read_questions(folder / shard.questions.path) if shard.questions else ():
                self._by_text[_normalize_text(question.text)].append(question)
                self._by_images[question.scenes].append(question)
        if not self._by_text:
            raise UserError(f"{folder}: there are no questions to be asked")

    def match(self, text: str, pictures: Sequence[bytes]) -> Prompt:
        """The question asked, with the scenes its pictures show; a UserError where it is not known."""
        described = () if pictures else self._find_described_images(text)
        names = described or tuple(map(self._match_picture, pictures))
        scenes = tuple(self._load_image(name).scene for name in names)
        return Prompt(
            question=replace(self._match_question(text, names), answer=None, answers=()),
            text=text,
            pictures=tuple(map(Picture, pictures)),
            scenes=scenes,
            scene_text="\n".join(map(describe_scene, scenes)) if described else "",
            condition="scene_text" if described else AS_IS,
        )

    def _find_described_images(self, text: str) -> tuple[str, ...]:
        """The images whose scenes the text gives in words, in the order it gives them."""
        lines = [line.strip() for line in text.splitlines()]
        starts = [at for at, line in enumerate(lines) if line.startswith(SCENE_OPENING)]
        if not starts:
            return ()
        if self._by_words is None:
            self._by_words = {}
            for name in self._where:
                self._by_words.setdefault(describe_scene(self._load_image(name).scene), name)
            self._lengths = sorted({words.count("\n") + 1 for words in self._by_words}, reverse=True)
        found = []
        for at in starts:
            spans = ("\n".join(lines[at : at + length]) for length in self._lengths)
            known = next((words for words in spans if words in self._by_words), None)
            if known is None:
                raise UserError("the scene in words is none of the dataset that is served")
            found.append(self._by_words[known])
        return tuple(found)

    def _match_question(self, text: str, names: tuple[str, ...]) -> Question:
        about = self._by_images.get(names, ())
        here = {_normalize_text(q.text): q for q in reversed(about)}
        lines = [_normalize_text(line) for line in text.splitlines()]
        for line in lines:
            if line in here:
                return here[line]
        whole = _normalize_text(text)
        inside = [text for text in here if text in whole]
        if inside:
            return here[max(inside, key=len)]
        for line in lines:  # another scene's picture, or none
            if line in self._by_text:
                return self._by_text[line][0]
        raise UserError("the text asks no question of the dataset that is served")

    def _match_picture(self, picture: bytes) -> str:
        name = self._by_bytes.get(_digest_bytes(picture))
        if name is None:
            if self._by_pixels is None:
                self._by_pixels = {_decode_pixels(self._load_image(n).png): n for n in self._where}
            name = self._by_pixels.get(_decode_pixels(picture))
            if name is not None:
                self._by_bytes[_digest_bytes(picture)] = name
        if name is None:
            raise UserError("the picture is none of the dataset that is served")
        return name

    def _load_image(self, name: str) -> StoredImage:
        return self._images.get(name, self._where[name])


def _normalize_text(text: str) -> str:
    return " ".join(text.lower().split())


def _digest_bytes(data: object) -> bytes:
    return blake2b(data, digest_size=16).digest()  # type: ignore[arg-type]


def _decode_pixels(picture: bytes) -> bytes:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # refused below
            opened = Image.open(io.BytesIO(picture), formats=FORMATS)
        if opened.width * opened.height > MOST_PIXELS:
            raise UserError(f"a picture may have {MOST_PIXELS:,} pixels; this one has more")
        image = opened.convert("RGB")
    except UserError:
        raise
    except Image.DecompressionBombError:
        raise UserError(f"a picture may have {MOST_PIXELS:,} pixels; this one has more") from None
    except Exception:  # whatever a decoder stumbles over in broken data
        raise UserError("a picture cannot be decoded") from None
    return _digest_bytes(repr(image.size).encode() + image.tobytes())

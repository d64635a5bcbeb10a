"""Mutate: strategies that begin with a valid file and break it where its structure is, or its bytes."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import struct
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

Inputs = st.SearchStrategy[list[bytes]]
Edit = tuple[int, int, int]  # where, what is done there, with which value
DEEP = 3000  # brackets within each other
MOST = 400  # places of a tree that are changed
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, -0.0, 7, 255, 65_536, 2**31, -(2**31), 2**53 + 1, 2**63,
    -(2**63) - 1,
    2**64, 10**30, -(10**400), 1e-320, 1e6, 1e7, -1e6, 1e30, -1e30, 1e308, float("nan"), float("inf"),
    float("-inf"), "", " ", "0", "-1", "1e30", "NaN", "null", "true", "yes", "a", "\x00", "\n",
    "\ud800", "a\udfff",
    "é", "e\u0301", "\u202e", "🦆", "٣", "²", "ß" * 300, "x" * 5000, "a,b", "a|b", "a b",
    "../../etc/passwd",
    "/dev/null", "%s%n", "{}", "__class__", "cube", "red", "left", "scene", "count", "question",
    "test", [], {},
    [[]], [None], [{}], {"": None}, [0, 0, 0], [1e30, float("nan"), -1], ["a"], [["a", "b"]], {"a": 1},
    [True, False], list(range(100)), {str(k): k for k in range(100)},
)  # fmt: skip
SIGNS = (
    *"()[]{}<>,;:=|&~.*#/\\\"'`-+_0123456789 \n\t\x00", "\u00a0", "\u2028", "\ud83d", "\x85", "∪", "∩",
    "é", "ß",
    "İ", "ﬁ", "²", "٣", "𝟛", "🦆", "-1", "1e999", "NaN", "((((", "))))", "~" * 50, "<think>",
    "</think>", "####",
    "\\boxed{", "**", "answer:", "Answer is", "not", "or", "and", "yes", "no", "3-4", "one hundred",
    "1,000,000",
    "99999999999999999999", "<answer>", "</answer>",
)  # fmt: skip
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_EDITS = st.lists(st.integers(0, (1 << 28) - 1), min_size=1, max_size=5)
_WRAPPING = st.integers(0, (1 << 21) - 1)


def json_file(value: Any, spelled: Callable[[Any], bytes] | None = None) -> Inputs:
    """A JSON file with some of its values, keys and structure changed, a little more in each input."""
    text = json.dumps(value)
    write = spelled or spell

    def make(numbers: list[int], wrapping: int) -> list[bytes]:
        root = [json.loads(text)]
        made = [write(edit_json(root, edit_of(number))) for number in numbers]
        return [*made[:-1], wrap(made[-1], wrapping & 31, wrapping >> 5)]

    return st.builds(make, _EDITS, _WRAPPING)


def numbers_file(value: Any) -> Inputs:
    """A JSON file of which only numbers are changed, into ones that no one means."""
    text = json.dumps(value)
    wild = [n for n in ODD if isinstance(n, float) or (type(n) is int and abs(n) < 10**300)]

    def make(numbers: list[int]) -> list[bytes]:
        root, made = [json.loads(text)], []
        for at, _, which in map(edit_of, numbers):
            places = [(holder, key) for holder, key in _places(root) if type(holder[key]) in (int, float)]
            holder, key = places[at % len(places)]
            holder[key] = wild[which % len(wild)]
            made.append(spell(root[0]))
        return made

    return st.builds(make, _EDITS)


def lines_file(rows: list[Any]) -> Inputs:
    """The same, of one object a line."""
    return json_file(rows, lambda made: b"".join(spell(row) + b"\n" for row in _listed(made)))


def table_file(rows: list[list[str]]) -> Inputs:
    """A CSV file with cells and lines changed."""
    return json_file(rows, _table)


def _table(made: Any) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(map(_listed, _listed(made)))
    return out.getvalue().encode("utf-8", "surrogatepass")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def text_file(*texts: str) -> Inputs:
    """One of some texts, its words and signs changed; UTF-8 but for halves of letters."""

    def make(which: int, numbers: list[int]) -> list[bytes]:
        edits = list(map(edit_of, numbers))
        made = (edit_text(texts[which], edits[: k + 1]) for k in range(len(edits)))
        return [text.encode("utf-8", "surrogatepass") for text in made]

    return st.builds(make, st.integers(0, len(texts) - 1), _EDITS)


def binary_file(data: bytes) -> Inputs:
    def make(numbers: list[int]) -> list[bytes]:
        made, found = bytearray(data), []
        for edit in map(edit_of, numbers):
            made = edit_bytes(made, edit)
            found.append(bytes(made))
        return found

    return st.builds(make, _EDITS)


def edit_of(number: int) -> Edit:
    """One number is a whole edit: hypothesis draws one faster than three."""
    return number >> 12, number >> 8 & 15, number & 255


def edit_json(root: list[Any], edit: Edit) -> Any:
    """Change a place of the tree that a list holds, in place; the whole tree is one of them."""
    at, what, which = edit
    places = _places(root)
    holder, key = places[at % len(places)]
    _CHANGES[what % len(_CHANGES)](holder, key, which, places)
    if not root:
        root.append(odd(which))
    return root[0]


def _places(root: Any) -> list[tuple[Any, Any]]:
    """Where values stand, the first few hundred from the root on."""
    found: list[tuple[Any, Any]] = []
    waiting = deque([root])
    while waiting and len(found) < MOST:
        here = waiting.popleft()
        keys = range(len(here)) if isinstance(here, list) else list(here)
        for key in keys:
            found.append((here, key))
            if isinstance(here[key], list | dict):
                waiting.append(here[key])
    return found


Places = list[tuple[Any, Any]]


def _replace(holder: Any, key: Any, which: int, places: Places) -> None:
    holder[key] = odd(which)


def odd(which: int) -> Any:
    """One of the odd values, a list or object always a new one."""
    value = ODD[which % len(ODD)]
    return deepcopy(value) if isinstance(value, list | dict) else value


def _delete(holder: Any, key: Any, which: int, places: Places) -> None:
    del holder[key]


def _repeat(holder: Any, key: Any, which: int, places: Places) -> None:
    copied = deepcopy(holder[key])
    if isinstance(holder, list):
        holder[key:key] = [deepcopy(copied) for _ in range(1 + which % 3)]
    else:
        holder[f"{key}{which % 3}"] = copied


def _swap(holder: Any, key: Any, which: int, places: Places) -> None:
    other, name = places[which * 7 % len(places)]
    if not _within(holder[key], other) and not _within(other[name], holder):
        holder[key], other[name] = other[name], holder[key]


def _copy(holder: Any, key: Any, which: int, places: Places) -> None:
    other, name = places[which * 11 % len(places)]
    holder[key] = deepcopy(other[name])


def _nest(holder: Any, key: Any, which: int, places: Places) -> None:
    if which % 8:
        holder[key] = [holder[key]] if which % 2 else {str(which): holder[key]}
    else:
        holder[key] = "@deep" if which % 16 else "@deep objects"


def _rename(holder: Any, key: Any, which: int, places: Places) -> None:
    name = odd(which)
    if isinstance(holder, dict) and isinstance(name, str):
        holder[name] = holder.pop(key)
    else:
        _replace(holder, key, which, places)


def _shift(holder: Any, key: Any, which: int, places: Places) -> None:
    """A number near the one that is there, or another text."""
    old = holder[key]
    if isinstance(old, bool) or old is None:
        holder[key] = [old, str(old), 1][which % 3]
    elif isinstance(old, int | float):
        holder[key] = [-old, old + 1, old - 1, old * 1000, str(old), float(old) if abs(old) < 1e300 else 0][which % 6]
    elif isinstance(old, str):
        holder[key] = edit_text(old, [(which, which, which)])
    else:
        _replace(holder, key, which, places)


_CHANGES: tuple[Callable[[Any, Any, int, Places], None], ...] = (
    _replace, _replace, _replace, _delete, _repeat, _swap, _copy, _nest, _rename, _shift, _shift, _shift,
)  # fmt: skip


def _within(value: Any, holder: Any) -> bool:
    """Whether a list or object lies, anywhere, in a value: to swap these would make a circle."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if here is holder:
            return True
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            waiting += here.values()
    return False


def edit_text(text: str, edits: list[Edit]) -> str:
    words = _WORD.findall(text)
    for at, what, which in edits:
        here = at % (len(words) + 1)
        sign = SIGNS[which % len(SIGNS)]
        kind = what % 8
        if kind == 0:
            words[here:here] = [sign]
        elif kind == 1:
            words[here : here + 1] = [sign]
        elif kind == 2:
            del words[here : here + 1 + which % 3]
        elif kind == 3:
            words[here:here] = words[here : here + 1 + which % 6]
        elif kind == 4 and words:
            words.insert(which % len(words), words.pop(at % len(words)))
        elif kind == 5:
            words[here:here] = [sign] * (1 << which % 14)
        elif kind == 6:
            del words[here:]
        else:
            words[here : here + 1] = [w[::-1] + w.upper() for w in words[here : here + 1]]
    return "".join(words)


_STAMPS = (
    b"\x00" * 4, b"\xff" * 4, b"\xff" * 8, struct.pack("<i", -1), struct.pack("<q", 1 << 40),
    b"\x7f\xff\xff\xff",
    struct.pack("<d", float("nan")), struct.pack("<f", 1e30), b"PAR1", b"PK\x03\x04", b"{", b"\x80",
    b"\x00" * 64,
)  # fmt: skip


def edit_bytes(data: bytearray, edit: Edit) -> bytearray:
    at, what, which = edit
    here = at * 2_654_435_761 % (len(data) + 1) if what % 2 else max(0, len(data) - 1 - at % 512)
    kind = what % 7
    if kind in (0, 1) and here < len(data):
        data[here] ^= 1 << which % 8 if which % 3 else which or 255
    elif kind == 2:
        stamp = _STAMPS[which % len(_STAMPS)]
        data[here : here + len(stamp)] = stamp
    elif kind == 3:
        del data[here : here + 1 + which]
    elif kind == 4:
        data[here:here] = bytes([which]) * (1 + at % 16)
    elif kind == 5:
        del data[here:]
    else:
        data[here:here] = data[max(0, here - 1 - which) : here]
    return data


def spell(value: Any) -> bytes:
    text = json.dumps(value)
    if '"@deep' in text:
        text = text.replace('"@deep objects"', '{"a":' * DEEP + "0" + "}" * DEEP)
        text = text.replace('"@deep"', "[" * DEEP + "]" * DEEP)
    return text.encode()


def wrap(data: bytes, how: int, at: int) -> bytes:
    """Mostly the bytes as they are; else packed, cut, marked, in other letters."""
    here = at % (len(data) + 1)
    if how == 1:
        return codecs.BOM_UTF8 + data
    if how == 2:
        return gzip.compress(data, 1)
    if how == 3:
        return gzip.compress(data, 1)[: -1 - at % 12]
    if how == 4:
        return data[:here]
    if how == 5:
        return data[here:]
    if how == 6:
        return data.decode("utf-8", "replace").encode("utf-16")
    if how == 7:
        return data[:here] + b"\xff\xe9\x00" + data[here:]
    if how == 8:
        return data + data
    if how == 9:
        return data.replace(b"{", b'{"a": 1, "a": 2, ', 1 + at % 3)
    if how == 10:
        return bytes(edit_bytes(bytearray(data), (at, at % 13, at % 251)))
    if how == 11:
        return b"" if at % 2 else b" \r\n\t"
    if how == 12:
        return data.replace(b"\n", b"\r\n").replace(b", ", b",\n")
    if how == 13:
        return data.replace(b'"', b"'") if at % 2 else data.replace(b", ", b",, ", 1)
    if how == 14:
        return data.decode("utf-8", "replace").encode("latin-1", "replace")
    return data

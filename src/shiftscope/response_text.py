"""The text of a response that may bear its answer: outside think-blocks, in plain letters, and its explicit marks."""

import re
from unicodedata import normalize

from .english.word_lists import word_list

_TAG = re.compile(
    r"(?:<\|?|◁)(?=[/trsabeTRSABE])(/|end_of_|begin_of_)?"
    r"(?:th(?:ink(?:ing)?|oughts?)|re(?:asoning|flection)|scratchpad|analysis)(?:\|?>|▷)",
    re.I,
)


def strip_thinking(text: str) -> str:
    """The text outside think-blocks; a block that never ends was cut short and is dropped."""
    if ">" not in text and "▷" not in text:
        return text
    first, *pieces = _TAG.split(text)
    outside, thinking = [first], False
    for sign, piece in zip(pieces[::2], pieces[1::2], strict=True):
        closing = sign in ("/", "end_of_")
        if closing and not thinking:  # some responses begin inside the block
            outside.clear()
        thinking = not closing
        if not thinking:
            outside.append(piece)
    return "\n".join(outside)


_FANCY = re.compile("[\u00a0\u2460-\u2473\uff01-\uff5e\U0001d400-\U0001d7ff]")  # wide, bold and circled letters
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufe0f\u20e3\ufeff]")
_STOPS = str.maketrans({"。": ". ", "、": ", ", "「": '"', "」": '"', "’": "'", "‘": "'", "“": '"', "”": '"'})


def simplify_letters(text: str) -> str:
    """Plain letters, digits and stops in place of wide, bold or circled ones, without what is not seen."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    return _FANCY.sub(lambda found: normalize("NFKC", found[0]), text).translate(_STOPS)


_VALUE = r"""\s*:\s*(?:"([^"]*)"|'([^']*)'|(\[[^\[\]]*\]|\{[^{}]*\}|[^\s,}]+))"""
_AFTER = r"(?:\s*(?:[:=→]|-+>)|\s+[-–—](?=\s)|\s+(?:is|would\s+be|should\s+be|must\s+be|remains|comes\s+to)\b:?)\s*"
_RAW_MARK = re.compile(r"^[ \t]*####[ \t]*(\S+(?: \S+){0,2})[ \t]*$", re.M)
_MARKS = (  # what such a mark holds in any case, and its pattern
    ("box", re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]|\{[^{}]*\})*)\}")),
    (">", re.compile(r"<(?:final_?)?(?:answer|response|conclusion|solution)>(.*?)(?:</|$)", re.I | re.S)),
    ("answer", re.compile(r"""["']?\b(?:final[ _])?answer["']""" + _VALUE, re.I)),
    ("answer", re.compile(rf"\banswer(?:\s+to\s+[^.:\n]{{0,80}}?)?{_AFTER}(?=([^\n]{{1,300}}))", re.I)),
    ("answer", re.compile(r"^[ \t]*(?:final )?answer[ \t]*\n\s*([^\n]+)", re.I | re.M)),
    ("best guess", re.compile(rf"\bbest guess{_AFTER}(?=([^\n]{{1,300}}))", re.I)),
    *(
        (
            sign,
            re.compile(rf"^[ \t]*(?:A|Ans|Response|Result|Output|Conclusion|Verdict)\s*{sign}\s*([^\n]+)", re.I | re.M),
        )
        for sign in ":="
    ),
)
_FIELD = re.compile(
    r"""["'](?:result|count|number|total|colou?r|shape|size|material|output|response|value|prediction)["']""" + _VALUE,
    re.I,
)
_WEAK_MARK = re.compile(r"^[ \t]*(?:a|ans|response|result|output|conclusion|verdict)\s*[:=]", re.M)
_EMPHASIS = re.compile(r"\*\*|__")
FORMAT = re.compile(r"~~[^~\n]*~~|\*\*|__|[`*#~]|\\(?:text|math)[a-z]*\b|\\[()\[\]\\]|\$")
_BRACKET = re.compile(r"[{}\[\]]")
MOST_MARKS = 20
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")


def list_marked_segments(text: str) -> list[str]:
    """What follows explicit answer marks, the last mark first; none before the last twenty."""
    plain = shorten_blanks(FORMAT.sub("", text))
    lower = plain.lower()
    found = [(m.start(), m[1]) for m in _RAW_MARK.finditer(text)] if "####" in text else []
    for needle, pattern in _MARKS:
        if needle in lower:
            matches = pattern.finditer(plain)
            found += [(match.start(), next(g for g in match.groups() if g is not None)) for match in matches]
    return [_cut_segment(segment) for _, segment in sorted(found, reverse=True)[:MOST_MARKS]]


def list_fields(text: str) -> list[str]:
    """The values of fields of JSON that are named for what may be asked, the last first."""
    if ":" not in text or "{" not in text:
        return []
    return [next(g for g in match.groups() if g is not None) for match in _FIELD.finditer(text)][::-1]


def _cut_segment(segment: str) -> str:
    return SENTENCE_END.split(_BRACKET.sub(" ", FORMAT.sub("", segment)).strip(), maxsplit=1)[0]


_BLANK = re.compile(r"\s{10,}")  # so much says no more than a little, and patterns would try all of it


def shorten_blanks(text: str) -> str:
    """Long blanks as their two ends, with a line break if there is one between them."""
    return _BLANK.sub(lambda blank: blank[0][:4] + "\n" * ("\n" in blank[0]) + blank[0][-4:], text)


LONG = 32_000  # characters of a response that is read whole
EDGE = 8_000  # of a longer one: its beginning, and its end
BEFORE_MARK, AFTER_MARK = 100, 1_000  # characters around a mark between them
MARKED, TRIED = 4, 100  # marks of a kind, the last ones, and the places that are tried for them
_LITERALS = (b"answer", b"\\boxed{", b"####")
_TURNING = tuple(turn.encode() for turn in word_list("replies", "turns"))
_TURNING_WORD = re.compile(rb"\b(?:" + b"|".join(_TURNING) + rb")\b")
_END = re.compile(rb"(?<=[.!?;])\s+|\n+")
_LEFT_OUT = "unclear"  # in place of what is not looked at: nothing is concluded across it


def excerpt(text: str) -> str:
    """Of a very long response, what may bear its answer: sentences at both ends, and the last marks in between.

    What is left out may be missed, never misread: nothing before it counts as the last statement, unless
    it is marked, or opens the response and nothing takes it back.
    """
    if len(text) <= LONG:
        return text
    data = text.encode("utf-8", "replace").lower().strip()  # as bytes: a text of other letters is slow to lower
    if len(data) <= LONG:
        return data.decode()
    first = max((m.end() for m in _END.finditer(data, 0, EDGE)), default=0)
    after = _END.search(data, len(data) - EDGE)
    last = after.end() if after else len(data)
    opening = _WEAK_MARK.sub(r"… \g<0>", data[:first].decode()) or "…"
    turned = any(word in data for word in _TURNING) and _TURNING_WORD.search(data, first, last)
    between = [turned[0].decode()] if turned else []
    between += [_cut_span(data, start, end, last) for start, end in _find_mark_spans(data, first, last)]
    plain = _EMPHASIS.sub("", "\n".join([opening, *between]))  # what is bold there need not be the last that is
    return f"{plain}\n{_LEFT_OUT}\n{data[last:].decode()}"


def _find_mark_spans(data: bytes, first: int, last: int) -> list[tuple[int, int]]:
    """Where the last marks between two places stand, with what is around them; none touches another."""
    found = []
    for literal in _LITERALS:
        at, kept = last, 0
        for _ in range(TRIED):
            at = data.rfind(literal, first, at)
            if at < 0 or kept == MARKED:
                break
            start, end = max(first, at - BEFORE_MARK), min(last, at + AFTER_MARK)
            line = data.rfind(b"\n", start, at) + 1  # else from some word before it
            start = line or (start if start == first else data.find(b" ", start, at) + 1 or at)
            if list_marked_segments(data[start:end].decode("utf-8", "ignore")):
                found.append((start, end))
                kept += 1
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start <= apart[-1][1]:
            start, end = apart[-1][0], max(end, apart.pop()[1])
        apart.append((start, end))
    return apart


def _cut_span(data: bytes, start: int, end: int, last: int) -> str:
    """A span without what its end cuts; dots say that its line began before."""
    piece = data[start:end]
    if end < last:
        stops = [m.start() for m in _END.finditer(piece, BEFORE_MARK)]
        piece = piece[: stops[-1]] if stops else piece.rpartition(b" ")[0]
    dots = "" if start == 0 or data[start - 1 : start] == b"\n" else "… "
    return dots + piece.decode()

"""Reading what a model replied.

A reply is read in order of how plainly it answers: an explicit mark ("Answer: red", \\boxed{3}), a reply
that is nothing but the answer, one that opens with it ("5, of which 3 are red"), then the last sentence that
states one. What can not be read is no answer at all, never a wrong one; nor is what names two ("3-4"). A
colour the schema does not know ("pink"), or an answer of another kind ("1" to a yes/no question), is read
where it is given as the answer: it is wrong, not unreadable. Of a very long reply, the marks, the
beginning and the end are read (`_gist`).
"""

from __future__ import annotations

import re
from itertools import pairwise

from ._reply_words import (
    ANYTHING,
    BEFORE,
    COUNTS,
    NO,
    NUMBER,
    STOP,
    TOKEN,
    TRUTH,
    YES,
    Expected,
    Found,
    candidates,
    expected_value,
    expected_words,
    flat,
    lookup,
    word_set,
)
from .answer import Answer, spell

__all__ = ["ANYTHING", "NUMBER", "TRUTH", "Expected", "expected_value", "expected_words", "read_reply"]


def read_reply(text: str, expected: Expected = ANYTHING) -> Answer | None:
    """The answer a reply gives, or None where it can not be told; takes no longer than the text's length."""
    said = _BLANK.sub(_tighten, _gist(_without_thoughts(text)))
    for segment in _marked(said):
        if _HEDGE.search(segment) or _torn(segment, expected):
            return None
        found = _stated(segment, expected, first=True)
        if found is None:
            found = _outside(segment, expected)
        if found is not None:
            return found
    plain = _unmarked(said, expected)
    found = _outside(plain, expected)
    if found is not None or not plain:
        return found
    if expected.kind == "open":
        return _last_short_line(plain)
    for shown in (_bare(plain, expected), _bold(said, expected), _lead(plain, expected)):
        if shown is not None:
            return shown
    return _concluded(plain, expected)


def _bare(plain: str, expected: Expected) -> Answer | None:
    """A last or a first line that is nothing but the answer."""
    lines = [line for line in plain.splitlines() if line.strip()]
    found = (_alone(line, expected) for line in (lines[-1], lines[0]))
    return next((f for f in found if f is not None), None)


def _alone(text: str, expected: Expected) -> Answer | None:
    """The answer that a text consists of."""
    words = [t for t in TOKEN.findall(flat(text)) if t not in STOP]
    found = list(candidates(words, expected))
    return found[0].answer if len(found) == 1 and found[0].size == len(words) else None


def _bold(said: str, expected: Expected) -> Answer | None:
    """The last answer that is set in bold."""
    segments = [b for b in _BOLD.findall(said) if len(b.split()) <= 4]
    found = (_stated(b, expected, first=True) for b in reversed(segments))
    return next((f for f in found if f is not None), None)


def _lead(plain: str, expected: Expected) -> Answer | None:
    """What a reply opens with, as a sentence of its own or before a comma, unless it changes its mind."""
    if _TURNED.search(plain):
        return None
    if expected.kind == "truth" and (lead := _LEADING_TRUTH.match(plain)):
        return lead[1].lower() in YES
    first, *rest = _SENTENCE_END.split(plain, maxsplit=8)
    found = _alone(first, expected)
    if found is not None:
        return None if any(_alone(r, expected) not in (None, found) for r in rest) else found
    opening = _OPENING.match(first)
    if opening is None or _SUMMED.search(first):
        return None
    before, sign, after = opening.groups()
    listed = sign == "," and any(candidates(TOKEN.findall(flat(after))[:1], expected))
    return None if listed else _alone(before, expected)


def _torn(text: str, expected: Expected) -> bool:
    """Whether a text names two answers and does not choose: "red, blue", "3-4", "between 2 and 4"."""
    if expected.kind == "open" or re.search(r"[(=:+]", text):
        return False
    tokens = TOKEN.findall(flat(text))
    found = list(candidates(tokens, expected))
    if len({f.answer for f in found}) < 2:
        return False
    gaps = [tokens[f.at + f.size : g.at] for f, g in pairwise(found)]
    parted = set(_PARTED.findall(text.lower()))  # "red, blue", but not "double-decker bus"
    signs = [tuple(tokens[g.at - 1 : g.at + 1]) in parted for g in found[1:]]
    if not all(set(gap) <= _JOINING if gap else sign for gap, sign in zip(gaps, signs, strict=True)):
        return False
    bare = set(tokens[: found[0].at] + tokens[found[-1].at + found[-1].size :]) <= STOP | _JOINING
    return bare or all(gaps) or bool(_RANGE.search(text))


def _concluded(plain: str, expected: Expected) -> Answer | None:
    """What the last sentence, or clause of it, that states an answer says."""
    sentences = [s for s in _SENTENCE_END.split(plain) if s.strip()]
    clauses = [split for s in sentences if (split := [c for c in _CONCLUSION.split(s) if c.strip()])]
    silent: set[str] = set()  # a reply that repeats itself is not read as often
    for clause in (c for sentence in reversed(clauses) for c in reversed(sentence)):
        if clause in silent:
            continue
        silent.add(clause)
        if _HEDGE.search(clause) or _torn(clause, expected):
            return None
        found = _stated(_REASON.sub("", clause), expected, first=False)
        if found is not None:
            return found
    if expected.kind == "truth" and clauses and (len(sentences) == 1 or len(clauses[-1]) > 1):
        last = clauses[-1][-1].strip(" ,")
        return not _NEGATION.search(last) if _CLAIM.match(last) else None
    return None


_BLANK = re.compile(r"\s{10,}")  # so much says no more than a little, and patterns would try all of it


def _tighten(blank: re.Match[str]) -> str:
    """Its two ends, and a line break if there is one between them."""
    text = blank[0]
    return text[:4] + "\n" * ("\n" in text) + text[-4:]


LONG = 32_000  # characters of a reply that is read whole
EDGE = 8_000  # of a longer one: its beginning, and its end
BEFORE_MARK, AFTER_MARK = 100, 1_000  # characters around a mark between them
MARKED, TRIED = 4, 100  # marks of a kind, the last ones, and the places that are tried for them
_LITERALS = (b"answer", b"\\boxed{", b"####")
_TURNING = (b"wait", b"actually", b"on second thought", b"correction", b"scratch that")
_TURNING_WORD = re.compile(rb"\b(?:" + b"|".join(_TURNING) + rb")\b")
_END = re.compile(rb"(?<=[.!?;])\s+|\n+")
_LEFT_OUT = "unclear"  # in place of what is not looked at: nothing is concluded across it


def _gist(text: str) -> str:
    """Of a very long reply, what may bear its answer: sentences at both ends, and the last marks in between.

    What is left out may be missed, never misread: nothing said before it is taken for the last word, unless
    it is marked, or opens the reply and nothing takes it back.
    """
    if len(text) <= LONG:
        return text
    data = (
        text.encode("utf-8", "replace").lower().strip()
    )  # as bytes: a text of other letters is slow to lower
    if len(data) <= LONG:
        return data.decode()
    first = max((m.end() for m in _END.finditer(data, 0, EDGE)), default=0)
    after = _END.search(data, len(data) - EDGE)
    last = after.end() if after else len(data)
    opening = _WEAK_MARK.sub(r"… \g<0>", data[:first].decode()) or "…"
    turned = any(word in data for word in _TURNING) and _TURNING_WORD.search(data, first, last)
    between = [turned[0].decode()] if turned else []
    between += [_whole(data, start, end, last) for start, end in _spans(data, first, last)]
    plain = _EMPHASIS.sub(
        "", "\n".join([opening, *between])
    )  # what is bold there need not be the last that is
    return f"{plain}\n{_LEFT_OUT}\n{data[last:].decode()}"


def _spans(data: bytes, first: int, last: int) -> list[tuple[int, int]]:
    """Where the last marks between two places stand, with what is around them; none touches another."""
    found = []
    for literal in _LITERALS:
        at, kept = last, 0
        for _ in range(TRIED):
            at = data.rfind(literal, first, at)
            if at < 0 or kept == MARKED:
                break
            start, end = _line_or_word(data, first, at), min(last, at + AFTER_MARK)
            if _marked(data[start:end].decode("utf-8", "ignore")):
                found.append((start, end))
                kept += 1
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start <= apart[-1][1]:
            start, end = apart[-1][0], max(end, apart.pop()[1])
        apart.append((start, end))
    return apart


def _line_or_word(data: bytes, first: int, at: int) -> int:
    """Where the line of a mark begins; else some word before it."""
    start = max(first, at - BEFORE_MARK)
    line = data.rfind(b"\n", start, at) + 1
    return line or (start if start == first else data.find(b" ", start, at) + 1 or at)


def _whole(data: bytes, start: int, end: int, last: int) -> str:
    """A span without what its end cuts; dots say that its line began before."""
    piece = data[start:end]
    if end < last:
        stops = [m.start() for m in _END.finditer(piece, BEFORE_MARK)]
        piece = piece[: stops[-1]] if stops else piece.rpartition(b" ")[0]
    dots = "" if start == 0 or data[start - 1 : start] == b"\n" else "… "
    return dots + piece.decode()


_THOUGHTS = "th(?:ink(?:ing)?|oughts?)|re(?:asoning|flection)|scratchpad|analysis"
_AHEAD = "(?=[/trsaTRSA][trsahecnTRSAHECN])"  # only for speed
_TAG = re.compile(rf"<{_AHEAD}(/?)(?:{_THOUGHTS})>", re.I)


def _without_thoughts(text: str) -> str:
    """What is said outside think-blocks; a block that never ends was cut short and says nothing."""
    first, *pieces = _TAG.split(text)
    said, thinking = [first], False
    for slash, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if slash and not thinking:  # some replies begin inside the block
            said.clear()
        thinking = not slash
        if not thinking:
            said.append(piece)
    return "\n".join(said)


_MARKS = (
    re.compile(r"<answer>(.*?)(?:</answer>|$)", re.I | re.S),
    re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}"),
    re.compile(r"""["']?\banswer["']\s*:\s*(?:"([^"]*)"|'([^']*)'|([^\s,}]+))""", re.I),
    re.compile(r"^[ \t]*####[ \t]*(.+)$", re.M),
    re.compile(
        r"\b(?:final\s+|correct\s+|short\s+|my\s+)?answer(?:\s+to\s+[^.:\n]{0,80}?)?"
        r"(?:\s*[:=]|\s+(?:is|would\s+be|should\s+be|must\s+be|remains|comes\s+to)\b:?)"
        r"\s*([^\n]+)",
        re.I,
    ),
    re.compile(r"^[ \t]*(?:A|Ans|Response|Result|Output|Conclusion)\s*[:=]\s*([^\n]+)", re.I | re.M),
)
_WEAK_MARK = re.compile(r"^[ \t]*(?:a|ans|response|result|output|conclusion)\s*[:=]", re.M)
_EMPHASIS = re.compile(r"\*\*|__")
_BOLD = re.compile(r"(?:\*\*|__)\s*([^*_\n]{1,60}?)\s*(?:\*\*|__)")
_FORMAT = re.compile(r"\*\*|__|[`*#~]|\\text\b|\\\(|\\\)|\$")
_LISTED = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-•])[ \t]+(?=\S)", re.M)
_CONCLUSION = re.compile(r"(?<!think),?\s+\b(?:so|therefore|thus|hence|but|however)\b", re.I)
_REASON = re.compile(r"(?<=\w),?\s+(?:because|since|given that)\b.*", re.I | re.S)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")


def _marked(text: str) -> list[str]:
    """What follows explicit answer marks, the last mark first."""
    plain = _BLANK.sub(_tighten, _FORMAT.sub("", text))
    found = []
    for pattern in _MARKS:
        for match in pattern.finditer(
            text if "boxed" in pattern.pattern or "####" in pattern.pattern else plain
        ):
            segment = next(g for g in match.groups() if g is not None)
            found.append((match.start(), _SENTENCE_END.split(segment.strip())[0]))
    return [segment for _, segment in sorted(found, reverse=True)]


def _unmarked(text: str, expected: Expected) -> str:
    """The text without markdown, list numbers and tags; the only number of a "list" may be the answer."""
    plain = re.sub(r"<[^<>\n]{1,30}>", " ", _FORMAT.sub("", text))
    plain = _BLANK.sub(_tighten, plain).strip()
    if expected.kind == "number" and len(_LISTED.findall(plain)) == 1 and plain[:1].isdigit():
        return plain
    return _LISTED.sub("", plain).strip()


_LEADING_TRUTH = re.compile(
    r"\W*(yes|yeah|yep|yup|no|nope|nah|true|false|correct|incorrect)\b\s*(?:[,.!:;—–-]|$)", re.I
)
_TURNED = re.compile(r"\b(?:wait|actually|on second thought|correction|scratch that)\b", re.I)
_OPENING = re.compile(r"([^,(:\n]{1,40}?)\s*(?=([,(:]))[,(:](?!\d{3}\b)(.*)", re.S)
_SUMMED = re.compile(r"=|\b(?:so|therefore|thus|hence|altogether|total)\b|\)\s*(?:\+|,|and\b|plus\b)", re.I)
_JOINING = word_set("and or either between both to")
_PARTED = re.compile(r"(?<![\w'])([\w']++)\s*[,/–-]\s*(?=([\w']+))")
_RANGE = re.compile(r"\d[-–]\d")
_HEDGE = re.compile(
    r"\b(?:not sure|unsure|uncertain|unclear|unknown|undefined|unanswerable|don'?t know|do not know|unable to"
    r"|impossible to|not possible|as an ai|not (?:visible|shown|given|provided|enough)|insufficient"
    r"|no (?:answer|image|picture|scene|way|information|idea)|(?:image|picture) (?:attached|provided)"
    r"|(?:can'?t|can ?not|could not|couldn't) (?:be \w+ed|be seen|tell|determine|see|say|answer|view))\b",
    re.I,
)
_CLAIM = re.compile(
    r"(?:there(?:'s| is| are| isn't| aren't)|it(?:'s| is| isn't| does| doesn't)|they|both"
    r"|i (?:do not|don't) (?:think so|(?:see|find) any (?!image|picture|photo|scene)))\b",
    re.I,
)
_PLACED = re.compile(
    r"\b(?:is|are|stands?|sits?|lies) (?:\w+ )?(?:(?:in front|left|right) of|to the (?:left|right)|behind"
    r"|beside|near|next to|above|below|between)\b",
    re.I,
)
_NEGATION = re.compile(r"\b(?:not|none|neither|never|nothing)\b|n't\b", re.I)


_BETWEEN = word_set("a an the of made colored coloured about exactly only indeed in to from also therefore")


def _stated(text: str, expected: Expected, *, first: bool) -> Answer | None:
    """The answer a segment or sentence states: the first of a marked segment, else what follows "is"."""
    head, colon, listed = flat(text).partition(":")
    if colon and len(_found(listed, expected)[1]) > 1 and _found(head, expected)[1]:
        return _stated(head, expected, first=first)  # "there are 3 things: 1 cube and 2 balls"
    tokens, found = _found(text, expected)
    if not found:
        return None
    different = {f.answer for f in found}
    between = tokens[found[0].at : found[-1].at]
    if len(different) > 1 and ("or" in between or (expected.kind == "truth" and len(between) == 1)):
        return None
    if first or len(different) == 1 or _is_subject(tokens, found[0]):
        return found[0].answer
    after = [f for f in found if _follows_verb(tokens, f.at)]
    if not after and expected.kind == "word" and _PLACED.search(text):
        return None  # where a thing is, not what it is
    return (after or found)[-1].answer


def _found(text: str, expected: Expected) -> tuple[list[str], list[Found]]:
    """The tokens of a text, and the candidates among them that are not denied; numbers before mere words."""
    tokens = TOKEN.findall(re.sub(r"\s=\s|:", " is ", flat(text)))
    found = [f for f in candidates(tokens, expected) if tokens[f.at - 1 : f.at] not in (["not"], ["isn't"])]
    return tokens, [f for f in found if not f.weak] or found


def _is_subject(tokens: list[str], found: Found) -> bool:
    """Whether it is said of the candidate: "yellow is the color of …"."""
    rest = tokens[found.at + found.size :][:3]
    return found.at <= 1 and len(rest) == 3 and rest[:2] == ["is", "the"] and rest[2] in STOP


def _follows_verb(tokens: list[str], at: int) -> bool:
    k = at - 1
    while k >= 0 and tokens[k] in _BETWEEN:
        k -= 1
    return k >= 0 and tokens[k] in BEFORE


def _outside(text: str, expected: Expected) -> Answer | None:
    """A short answer given as such though the question does not admit it: wrong, but readable."""
    if expected.kind == "open":
        return _short(text)
    if _HEDGE.search(text) or _alone(text, expected) is not None:
        return None
    forms, _ = lookup(expected)
    tokens = TOKEN.findall(flat(text))
    words = [t for t in tokens if t not in STOP]
    if not set(words) & _NOTHING:
        for kind in {NUMBER, TRUTH} - {expected}:
            if (found := _alone(text, kind)) is not None:
                return found
    if expected.kind != "word" or not 1 <= len(words) <= 2:
        return None
    if any(w in _NOT_WORDS or w[0].isdigit() for w in words):
        return None
    said = " ".join(words)
    known = any(w in forms for w in words) or any(candidates(tokens, expected))  # lying in: not just lying
    return forms.get(said) or (None if known else said)


_NOTHING = word_set("none nil")  # whoever says so to a yes/no question need not mean a number
_NOT_WORDS = YES | NO | frozenset(COUNTS) | word_set("unknown unsure undefined n na unclear sorry error null")
_ARTICLES = re.compile(r"^(?:an?|the)\s+", re.I)
SHORT = 5  # words an open answer may have


def _short(text: str) -> Answer | None:
    """An open answer: a few words, without quotes, full stop and article; numbers stay text."""
    line = _ARTICLES.sub("", text.strip().strip("\"'“”‘’.!,;: ")).strip()
    if not line or "\n" in line or len(line.split()) > SHORT or _HEDGE.search(line):
        lead = _LEADING_TRUTH.match(text)
        return None if lead is None or "\n" in text else lead[1].lower()
    return spell(line)


def _last_short_line(text: str) -> Answer | None:
    lines = [line for line in text.splitlines() if line.strip()]
    return _short(lines[-1]) if len(lines) > 1 else None

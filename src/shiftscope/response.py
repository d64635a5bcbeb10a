"""Parsing a model's response into an answer.

A response is read in order of how plainly it answers: an explicit mark ("Answer: red", boxed{3}), a response
that is nothing but the answer, one that opens with it ("5, of which 3 are red"), then the last sentence that
states one. What cannot be read, or names two answers ("3-4"), is unparseable, never a wrong answer. A colour the
schema does not know ("pink"), or an answer of another kind ("1" to a yes/no question), is wrong, not unparseable.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from .answer import Answer, spell
from .english.inflection import plural, spell_file_name
from .schema import Schema


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The answers a question admits: a truth, a number, one of some words, or (open) any short text."""

    kind: str  # truth, number, word or open
    forms: tuple[tuple[str, str], ...] = ()  # (a way to say it, the answer)


TRUTH = ExpectedAnswer("truth")
NUMBER = ExpectedAnswer("number")
ANYTHING = ExpectedAnswer("open")

# Forms of English that a schema's synonyms need not list.
_ADJECTIVES = {"sphere": ("spherical",), "cube": ("cubic", "cubical"), "cylinder": ("cylindrical",)}


@lru_cache(maxsize=256)
def expect_value(schema: Schema, attribute: str, *, part: bool = False) -> ExpectedAnswer:
    """A value of the attribute, in any of the schema's words for it, singular or plural."""
    if not schema.closed:
        return ANYTHING
    values = schema.attribute(attribute, part=part).terms
    synonyms = dict(schema.synonyms)
    named = [(word, v) for v in values for word in (v, *synonyms.get(v, ()), *_ADJECTIVES.get(v, ()))]
    return expect_words([*named, *((spell_file_name(v.rstrip("*")), v) for v in values)])


def expect_words(words: Iterable[tuple[str, str]]) -> ExpectedAnswer:
    """One of some words: (a way to say it, the answer) each."""
    forms: dict[str, str] = {}
    for word, answer in words:
        for form in (word, plural(word)):
            forms.setdefault(" ".join(TOKEN.findall(normalize_text(form))), answer)
    return ExpectedAnswer("word", tuple(forms.items()))


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOKEN = re.compile(r"\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+|[a-z]+(?:'[a-z]+)?")
YES = word_set("yes yeah yep yup true correct affirmative indeed")
NO = word_set("no nope nah false incorrect negative")
_NOT = ("not", "isn't")
_SMALL = (
    "zero/none/nil one/single two/couple/pair three four five six seven eight nine ten eleven "
    "twelve/dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
COUNTS = {word: n for n, words in enumerate(_SMALL.split()) for word in words.split("/")}
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_LARGE.split(), 2)}
_WEAK = word_set("one single couple pair")  # these count only where there is no other number
BEFORE = word_set(
    "is are was were be been equals equal has have total count contains contain it's there's see counted "
    "color colour material size shape"
)
STOP = word_set("a an the of it its it's is are there in color colour material size shape answer")


class AnswerMention(NamedTuple):
    answer: Answer
    at: int  # token
    weak: bool = False
    size: int = 1  # tokens


_MINUS = re.compile(r"(?<![\w.)\]])[-−–](?=\d)")


def normalize_text(text: str) -> str:
    """Lower case without dashes and slashes; a minus sign becomes a word."""
    return re.sub(r"[_\-–/]", " ", _MINUS.sub("minus ", text.lower().replace("’", "'")))


def find_mentions(tokens: list[str], expected: ExpectedAnswer) -> Iterator[AnswerMention]:
    """Every place where an admitted answer is named, in order."""
    if expected.kind == "truth":
        for k, token in enumerate(tokens):
            if token in YES or token in NO:
                denied = k > 0 and tokens[k - 1] in _NOT
                yield AnswerMention((token in YES) != denied, k - denied, size=1 + denied)
            elif token == "not" and tokens[k + 1 : k + 3] == ["at", "all"]:
                yield AnswerMention(False, k, size=3)
    elif expected.kind == "number":
        yield from _find_numbers(tokens)
    else:
        yield from _find_values(tokens, expected)


def _find_numbers(tokens: list[str]) -> Iterator[AnswerMention]:
    """Counts; what has a minus sign or a fraction is none."""
    k = 0
    while k < len(tokens):
        token, before = tokens[k], tokens[k - 1] if k else ""
        size = 1
        if before == "minus" and not (k > 1 and tokens[k - 2][0].isdigit()):
            pass  # "-1", but not "5 minus 3"
        elif token[0].isdigit():
            value = float(token.replace(",", ""))
            if value.is_integer():
                yield AnswerMention(int(value), k)
        elif token in _TENS:
            unit = COUNTS.get(tokens[k + 1], 0) if k + 1 < len(tokens) else 0
            size = 2 if 0 < unit < 10 and tokens[k + 1] not in ("single", "couple", "pair") else 1
            yield AnswerMention(_TENS[token] + (unit if size == 2 else 0), k, size=size)
        elif token in COUNTS:
            yield AnswerMention(COUNTS[token], k, token in _WEAK)
        elif token == "no" and k + 1 < len(tokens) and (k == 0 or before in BEFORE):
            yield AnswerMention(0, k, True)  # "there are no cubes", but not a plain "no"
        elif token == "any" and any(t == "not" or t.endswith("n't") for t in tokens[max(0, k - 3) : k]):
            yield AnswerMention(0, k, True)
        k += size


def _find_values(tokens: list[str], expected: ExpectedAnswer) -> Iterator[AnswerMention]:
    forms, longest, openings = _index_forms(expected)
    k = 0
    while k < len(tokens):
        if tokens[k] not in openings:
            k += 1
            continue
        for size in range(min(longest, len(tokens) - k), 0, -1):
            answer = forms.get(" ".join(tokens[k : k + size]))
            if answer is not None:
                yield AnswerMention(answer, k, size=size)
                k += size - 1
                break
        k += 1


@lru_cache(maxsize=256)
def _index_forms(expected: ExpectedAnswer) -> tuple[dict[str, str], int, frozenset[str]]:
    """The answer of each form, the words of the longest, and the words that a form begins with."""
    words = [form.split() for form, _ in expected.forms]
    return dict(expected.forms), max(map(len, words), default=0), frozenset(w[0] for w in words if w)


def parse_response(text: str, expected: ExpectedAnswer = ANYTHING) -> Answer | None:
    """The answer that a response gives, or None where it is unparseable; linear in the length of the text."""
    text = _shorten_blanks(_excerpt(_strip_thinking(text)))
    for segment in _list_marked_segments(text):
        if _HEDGE.search(segment) or _is_ambiguous(segment, expected):
            return None
        found = _find_statement(segment, expected, first=True)
        if found is None:
            found = _parse_unexpected(segment, expected)
        if found is not None:
            return found
    plain = _strip_markup(text, expected)
    found = _parse_unexpected(plain, expected)
    if found is not None or not plain:
        return found
    lines = [line for line in plain.splitlines() if line.strip()]
    if expected.kind == "open":
        return _parse_short(lines[-1]) if len(lines) > 1 else None
    bold = [segment for segment in _BOLD.findall(text) if len(segment.split()) <= 4]
    candidates = chain(
        (_match_whole(line, expected) for line in (lines[-1], lines[0])),
        (_find_statement(segment, expected, first=True) for segment in reversed(bold)),
        (read(plain, expected) for read in (_match_opening, _find_conclusion)),
    )
    return next((answer for answer in candidates if answer is not None), None)


def _match_whole(text: str, expected: ExpectedAnswer) -> Answer | None:
    """The answer that a text consists of."""
    words = [t for t in TOKEN.findall(normalize_text(text)) if t not in STOP]
    found = list(find_mentions(words, expected))
    return found[0].answer if len(found) == 1 and found[0].size == len(words) else None


def _match_opening(plain: str, expected: ExpectedAnswer) -> Answer | None:
    """What a response opens with, as a sentence of its own or before a comma, unless it changes its mind."""
    if _SELF_CORRECTION.search(plain):
        return None
    if expected.kind == "truth" and (lead := _LEADING_TRUTH.match(plain)):
        return lead[1].lower() in YES
    first, *rest = _SENTENCE_END.split(plain, maxsplit=8)
    found = _match_whole(first, expected)
    if found is not None:
        return None if any(_match_whole(r, expected) not in (None, found) for r in rest) else found
    opening = _OPENING.match(first)
    if opening is None or _SUMMED.search(first):
        return None
    before, sign, after = opening.groups()
    listed = sign == "," and any(find_mentions(TOKEN.findall(normalize_text(after))[:1], expected))
    return None if listed else _match_whole(before, expected)


def _is_ambiguous(text: str, expected: ExpectedAnswer) -> bool:
    """Whether a text names two answers and does not choose: "red, blue", "3-4", "between 2 and 4"."""
    if expected.kind == "open" or re.search(r"[(=:+]", text):
        return False
    tokens = TOKEN.findall(normalize_text(text))
    found = list(find_mentions(tokens, expected))
    if len({f.answer for f in found}) < 2:
        return False
    gaps = [tokens[f.at + f.size : g.at] for f, g in pairwise(found)]
    parted = set(_PARTED.findall(text.lower()))  # "red, blue", but not "double-decker bus"
    signs = [tuple(tokens[g.at - 1 : g.at + 1]) in parted for g in found[1:]]
    if not all(set(gap) <= _JOINING if gap else sign for gap, sign in zip(gaps, signs, strict=True)):
        return False
    bare = set(tokens[: found[0].at] + tokens[found[-1].at + found[-1].size :]) <= STOP | _JOINING
    return bare or all(gaps) or bool(_RANGE.search(text))


def _find_conclusion(plain: str, expected: ExpectedAnswer) -> Answer | None:
    """What the last sentence, or clause of it, that states an answer says."""
    sentences = [s for s in _SENTENCE_END.split(plain) if s.strip()]
    clauses = [split for s in sentences if (split := [c for c in _CONCLUSION.split(s) if c.strip()])]
    silent: set[str] = set()  # a response that repeats itself is not read as often
    for clause in (c for sentence in reversed(clauses) for c in reversed(sentence)):
        if clause in silent:
            continue
        silent.add(clause)
        if _HEDGE.search(clause) or _is_ambiguous(clause, expected):
            return None
        found = _find_statement(_REASON.sub("", clause), expected, first=False)
        if found is not None:
            return found
    if expected.kind == "truth" and clauses and (len(sentences) == 1 or len(clauses[-1]) > 1):
        last = clauses[-1][-1].strip(" ,")
        return not _NEGATION.search(last) if _CLAIM.match(last) else None
    return None


_BLANK = re.compile(r"\s{10,}")  # so much says no more than a little, and patterns would try all of it


def _shorten_blanks(text: str) -> str:
    """Long blanks as their two ends, with a line break if there is one between them."""
    return _BLANK.sub(lambda blank: blank[0][:4] + "\n" * ("\n" in blank[0]) + blank[0][-4:], text)


LONG = 32_000  # characters of a response that is read whole
EDGE = 8_000  # of a longer one: its beginning, and its end
BEFORE_MARK, AFTER_MARK = 100, 1_000  # characters around a mark between them
MARKED, TRIED = 4, 100  # marks of a kind, the last ones, and the places that are tried for them
_LITERALS = (b"answer", b"\\boxed{", b"####")
_TURNING = (b"wait", b"actually", b"on second thought", b"correction", b"scratch that")
_TURNING_WORD = re.compile(rb"\b(?:" + b"|".join(_TURNING) + rb")\b")
_END = re.compile(rb"(?<=[.!?;])\s+|\n+")
_LEFT_OUT = "unclear"  # in place of what is not looked at: nothing is concluded across it


def _excerpt(text: str) -> str:
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
            if _list_marked_segments(data[start:end].decode("utf-8", "ignore")):
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


_TAG = re.compile(
    r"<(?=[/trsaTRSA][trsahecnTRSAHECN])"  # only for speed
    r"(/?)(?:th(?:ink(?:ing)?|oughts?)|re(?:asoning|flection)|scratchpad|analysis)>",
    re.I,
)


def _strip_thinking(text: str) -> str:
    """The text outside think-blocks; a block that never ends was cut short and is dropped."""
    first, *pieces = _TAG.split(text)
    outside, thinking = [first], False
    for slash, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if slash and not thinking:  # some responses begin inside the block
            outside.clear()
        thinking = not slash
        if not thinking:
            outside.append(piece)
    return "\n".join(outside)


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


def _list_marked_segments(text: str) -> list[str]:
    """What follows explicit answer marks, the last mark first."""
    plain = _shorten_blanks(_FORMAT.sub("", text))
    found = []
    for pattern in _MARKS:
        for match in pattern.finditer(text if "boxed" in pattern.pattern or "####" in pattern.pattern else plain):
            segment = next(g for g in match.groups() if g is not None)
            found.append((match.start(), _SENTENCE_END.split(segment.strip())[0]))
    return [segment for _, segment in sorted(found, reverse=True)]


def _strip_markup(text: str, expected: ExpectedAnswer) -> str:
    """The text without markdown, list numbers and tags; the only number of a "list" may be the answer."""
    plain = re.sub(r"<[^<>\n]{1,30}>", " ", _FORMAT.sub("", text))
    plain = _shorten_blanks(plain).strip()
    if expected.kind == "number" and len(_LISTED.findall(plain)) == 1 and plain[:1].isdigit():
        return plain
    return _LISTED.sub("", plain).strip()


_LEADING_TRUTH = re.compile(
    r"\W*(yes|yeah|yep|yup|no|nope|nah|true|false|correct|incorrect)\b\s*(?:[,.!:;—–-]|$)", re.I
)
_SELF_CORRECTION = re.compile(r"\b(?:wait|actually|on second thought|correction|scratch that)\b", re.I)
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


def _find_statement(text: str, expected: ExpectedAnswer, *, first: bool) -> Answer | None:
    """The answer a segment or sentence states: the first of a marked segment, else what follows "is"."""
    head, colon, listed = normalize_text(text).partition(":")
    if colon and len(_find_unnegated(listed, expected)[1]) > 1 and _find_unnegated(head, expected)[1]:
        return _find_statement(head, expected, first=first)  # "there are 3 things: 1 cube and 2 balls"
    tokens, found = _find_unnegated(text, expected)
    if not found:
        return None
    different = {f.answer for f in found}
    between = tokens[found[0].at : found[-1].at]
    if len(different) > 1 and ("or" in between or (expected.kind == "truth" and len(between) == 1)):
        return None
    rest = tokens[found[0].at + found[0].size :][:3]  # "yellow is the color of …": the candidate is the subject
    subject = found[0].at <= 1 and len(rest) == 3 and rest[:2] == ["is", "the"] and rest[2] in STOP
    if first or len(different) == 1 or subject:
        return found[0].answer
    before = ((f, next((k for k in range(f.at - 1, -1, -1) if tokens[k] not in _BETWEEN), None)) for f in found)
    after = [f for f, k in before if k is not None and tokens[k] in BEFORE]
    if not after and expected.kind == "word" and _PLACED.search(text):
        return None  # where a thing is, not what it is
    return (after or found)[-1].answer


def _find_unnegated(text: str, expected: ExpectedAnswer) -> tuple[list[str], list[AnswerMention]]:
    """The tokens of a text, and the candidates among them that are not denied; numbers before mere words."""
    tokens = TOKEN.findall(re.sub(r"\s=\s|:", " is ", normalize_text(text)))
    found = [f for f in find_mentions(tokens, expected) if tokens[f.at - 1 : f.at] not in (["not"], ["isn't"])]
    return tokens, [f for f in found if not f.weak] or found


def _parse_unexpected(text: str, expected: ExpectedAnswer) -> Answer | None:
    """A short answer given as such though the question does not admit it: wrong, but parseable."""
    if expected.kind == "open":
        return _parse_short(text)
    if _HEDGE.search(text) or _match_whole(text, expected) is not None:
        return None
    tokens = TOKEN.findall(normalize_text(text))
    words = [t for t in tokens if t not in STOP]
    if not set(words) & _NOTHING:
        for kind in {NUMBER, TRUTH} - {expected}:
            if (found := _match_whole(text, kind)) is not None:
                return found
    if expected.kind != "word" or not 1 <= len(words) <= 2:
        return None
    if any(w in _NOT_WORDS or w[0].isdigit() for w in words):
        return None
    forms = _index_forms(expected)[0]
    known = any(w in forms for w in words) or any(find_mentions(tokens, expected))  # lying in: not just lying
    return forms.get(" ".join(words)) or (None if known else " ".join(words))


_NOTHING = word_set("none nil")  # whoever says so to a yes/no question need not mean a number
_NOT_WORDS = YES | NO | frozenset(COUNTS) | word_set("unknown unsure undefined n na unclear sorry error null")
_ARTICLES = re.compile(r"^(?:an?|the)\s+", re.I)
SHORT = 5  # words an open answer may have


def _parse_short(text: str) -> Answer | None:
    """An open answer: a few words, without quotes, full stop and article; numbers stay text."""
    line = _ARTICLES.sub("", text.strip().strip("\"'“”‘’.!,;: ")).strip()
    if not line or "\n" in line or len(line.split()) > SHORT or _HEDGE.search(line):
        lead = _LEADING_TRUTH.match(text)
        return None if lead is None or "\n" in text else lead[1].lower()
    return spell(line)

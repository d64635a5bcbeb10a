"""Parsing a model's response into an answer.

A response is read in order of how plainly it answers: an explicit mark ("Answer: red", boxed{3}), a response
that is nothing but the answer, one that opens with it ("5, of which 3 are red"), then the last sentence that
states one. What cannot be read, or names two answers ("3-4"), is unparseable, never a wrong answer. A colour the
schema does not know ("pink"), or an answer of another kind ("1" to a yes/no question), is wrong, not unparseable.
How often that goes right is measured (docs/results/replies.md).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from .answer import Answer, spell
from .english.foreign import put_into_english
from .english.inflection import plural, spell_file_name
from .english.word_lists import word_list, word_set
from .response_text import (
    FORMAT,
    SENTENCE_END,
    excerpt,
    list_fields,
    list_marked_segments,
    shorten_blanks,
    simplify_letters,
    strip_thinking,
)
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
            forms.setdefault(" ".join(split_tokens(form)), answer)
    return ExpectedAnswer("word", tuple(forms.items()))


# a thing by its number (step 2), a number that is part of something else (3D, 2nd, 640x480, 50%), a number, a word
TOKEN = re.compile(
    rf"\b(?:{'|'.join(word_list('replies', 'labels'))}) \d+\b(?!\s+(?!is|are|and|or|has|shows|contains)\w)"
    r"|\d+(?:\.\d+)?(?:x\d+|(?:st|nd|rd|th|d)\b|\s?%)|\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+|[^\W\d_]+(?:'[^\W\d_]+)?"
)
YES, NO = word_set("replies", "yes"), word_set("replies", "no")
_NOT = ("not", "isn't", "aren't")
_SMALL = (
    "zero/none/nil one/single two/couple/pair three four five six seven eight nine ten eleven "
    "twelve/dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
COUNTS = {word: n for n, words in enumerate(_SMALL.split()) for word in words.split("/")}
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_LARGE.split(), 2)}
_WEAK = frozenset(("one", "single", "couple", "pair"))  # these count only where there is no other number
_STATING, _PASSING = word_set("replies", "stating"), word_set("replies", "passing")
_LEFT_OUT = word_set("replies", "leaving out")
_POINTING = word_set("replies", "pointing")
_PLACES, _DANGLING = word_set("replies", "places"), word_set("replies", "dangling")
_ARTICLES = frozenset(("a", "an", "the"))
_ALONE: dict[str, dict[str, Answer]] = {
    "truth": {
        **dict.fromkeys(word_list("replies", "yes alone"), True),
        **dict.fromkeys(word_list("replies", "no alone"), False),
    },
    "number": dict.fromkeys(word_list("replies", "zero alone"), 0),
}


class AnswerMention(NamedTuple):
    answer: Answer
    at: int  # token
    weak: bool = False
    size: int = 1  # tokens


_SPACES = str.maketrans({"_": " ", "-": " ", "–": " ", "/": " ", "&": " and ", "’": "'"})
_EQUALS = re.compile(r"\s=\s|:")
_SUM_LAST = re.compile(r"(?<!\d)(?<![+] )(\d+) = \d+(?: \+ \d+)+")  # "5 = 2 + 3"
_MINUS = re.compile(r"(?<![\w.)\]])[-−–](?=\d)")


def normalize_text(text: str) -> str:
    """Lower case without dashes and slashes; a minus sign becomes a word."""
    return _MINUS.sub("minus ", text.lower()).translate(_SPACES)


@lru_cache(maxsize=64)  # a text is looked at in several ways, one after the other
def split_tokens(text: str) -> list[str]:
    """The numbers and words of a text, in lower case."""
    return TOKEN.findall(normalize_text(text))


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
    """Counts; what has a minus sign or a fraction is none, nor is what numbers a thing ("step 2") or points at one."""
    k = 0
    while k < len(tokens):
        token, before = tokens[k], tokens[k - 1] if k else ""
        size = 1
        if before == "minus" and not (k > 1 and tokens[k - 2][0].isdigit()):
            pass  # "-1", but not "5 minus 3"
        elif token[0].isdigit():
            if token[-1].isdigit() and "x" not in token:
                value = float(token.replace(",", ""))
                if value.is_integer():
                    yield AnswerMention(int(value), k)
        elif token in _TENS:
            unit = COUNTS.get(tokens[k + 1], 0) if k + 1 < len(tokens) else 0
            size = 2 if 0 < unit < 10 and tokens[k + 1] not in ("single", "couple", "pair") else 1
            yield AnswerMention(_TENS[token] + (unit if size == 2 else 0), k, size=size)
        elif token in COUNTS:
            if token != "one" or not _is_pronoun(tokens, k):
                yield AnswerMention(0 if _is_none(tokens, k) else COUNTS[token], k, token in _WEAK)
        elif token == "no" and k + 1 < len(tokens) and (k == 0 or before in _STATING):
            yield AnswerMention(0, k, True)  # "there are no cubes", but not a plain "no"
        elif token == "any" and any(t == "not" or t.endswith("n't") for t in tokens[max(0, k - 3) : k]):
            yield AnswerMention(0, k, True)
        k += size


def _is_pronoun(tokens: list[str], k: int) -> bool:
    """Whether "one" points at a thing: the one on the left, one by one, one is red and the other blue."""
    if k > 0 and tokens[k - 1] in _POINTING:
        return True
    return tokens[k + 1 : k + 2] in (["by"], ["after"]) or not {"other", "another"}.isdisjoint(tokens[k + 1 : k + 30])


def _is_none(tokens: list[str], k: int) -> bool:
    """Whether a single one is denied: not one, not a single cube."""
    return tokens[k] in ("one", "single") and bool({"not", "isn't"} & set(tokens[max(0, k - 2) : k]))


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


class Unread(Enum):
    """Why a response is unparseable."""

    REFUSED = "refused"
    TWO_ANSWERS = "two answers"
    NO_ANSWER = "no answer"


def parse_response(text: str, expected: ExpectedAnswer = ANYTHING) -> Answer | None:
    """The answer that a response gives, or None where it is unparseable; linear in the length of the text."""
    found = read_response(text, expected)
    return None if isinstance(found, Unread) else found


def read_response(text: str, expected: ExpectedAnswer = ANYTHING) -> Answer | Unread:
    """The answer that a response gives, or why it gives none."""
    text = shorten_blanks(simplify_letters(excerpt(strip_thinking(text))))
    english = put_into_english(text)
    if expected.kind == "open":
        return _read_open(text, refused=english != text and bool(_REFUSAL.search(english.lower())))
    found = _read_marked(english, expected)
    if found is None:
        found = _read_plain(english, expected)
    return Unread.NO_ANSWER if found is None else found


def _read_marked(text: str, expected: ExpectedAnswer) -> Answer | Unread | None:
    """What stands after an explicit mark, the last one first."""
    for segment in list_marked_segments(text):
        if unread := _refuse(segment, expected):
            return unread
        found = _find_statement(segment, expected, first=True)
        if found is None:
            found = _parse_unexpected(segment, expected)
        if found is not None:
            return found
    fields = (_find_statement(field, expected, first=True) for field in list_fields(text))
    return next((found for found in fields if found is not None), None)


def _refuse(text: str, expected: ExpectedAnswer) -> Unread | None:
    """Why a text that should bear the answer gives none: it declines, or names two."""
    if _REFUSAL.search(text.lower()):
        return Unread.REFUSED
    return Unread.TWO_ANSWERS if _is_ambiguous(text, expected) else None


def _read_plain(text: str, expected: ExpectedAnswer) -> Answer | Unread | None:
    """What a text without marks says."""
    if _REQUEST.search(text.lower()):
        return Unread.REFUSED
    plain = _drop_questions(_strip_markup(text, expected))
    found: Answer | Unread | None = _parse_unexpected(plain, expected)
    if found is not None or not plain:
        return found
    lines = [line for line in plain.splitlines() if line.strip()]
    if len(lines) == 1 and _is_ambiguous(plain, expected):
        return Unread.TWO_ANSWERS
    last, first = _match_whole(lines[-1], expected), _match_whole(lines[0], expected)
    if last is not None and first not in (None, last) and len(lines) == len(plain.split()):
        return Unread.TWO_ANSWERS  # a list of answers
    bold = [_find_statement(one, expected, first=True) for one in _BOLD.findall(text) if len(one.split()) <= 4]
    different = set(bold) - {None}
    candidates = chain(
        (last, first),
        different if len(different) == 1 else (),
        (read(plain, expected) for read in (_match_opening, _find_conclusion)),
    )
    return next((answer for answer in candidates if answer is not None), None)


_BOLD = re.compile(r"(?:\*\*|__)\s*([^*_\n]{1,60}?)\s*(?:\*\*|__)")
_LISTED = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-•>+]|\[[ x]\])[ \t]+(?=\S)", re.M)
_ITEMS = re.compile(r":[ \t]*\n+((?:[ \t]*(?:\d{1,2}[.)]|[-•])[ \t]+[^\n]+(?:\n|$))+)")
_NEXT_ITEM = re.compile(r"(?<=\n)[ \t]*\d{1,2}[.)]\s*$")
_LEFTOVER = re.compile(r"<[/|A-Za-z][^<>\n]{0,200}>|\\[A-Za-z]+")
_QUESTION = re.compile(r"(?:^|(?<=[.!?;\n]))[^.!?;\n]*\?+(?=\s|$)")
_TABLE_BAR = re.compile(r"[ \t]*\|[ \t]*")


def _strip_markup(text: str, expected: ExpectedAnswer) -> str:
    """The text without markdown, list numbers and tags; the only number of a "list" may be the answer."""
    plain = _LEFTOVER.sub(" ", FORMAT.sub("", text))
    if "|" in plain:
        plain = _TABLE_BAR.sub("\n", plain)
    plain = shorten_blanks(plain).strip()
    if expected.kind == "number" and (listed := len(_LISTED.findall(plain))):
        if listed == 1 and plain[:1].isdigit():
            return plain
        plain = _ITEMS.sub(_join_items, _NEXT_ITEM.sub("", plain))
    return _LISTED.sub("", plain).strip()


def _join_items(found: re.Match[str]) -> str:
    """A list in the sentence that announces it: "there are 3 things: 1 cube, 2 balls"."""
    return f": {', '.join(_LISTED.sub('', found[1]).strip().splitlines())}\n"


def _drop_questions(plain: str) -> str:
    """The text without what it asks itself ("Blue? No, it is purple."), unless it asks only."""
    return (_QUESTION.sub("", plain).strip() or plain) if "?" in plain else plain


def _match_whole(text: str, expected: ExpectedAnswer) -> Answer | None:
    """The answer that a text consists of."""
    tokens = split_tokens(text)
    if expected.kind in _ALONE:
        alone = _ALONE[expected.kind].get(" ".join(tokens) or text.strip())
        if alone is not None:
            return alone
    words = [t for t in tokens if t not in _LEFT_OUT]
    found = list(find_mentions(words, expected))
    return found[0].answer if len(found) == 1 and found[0].size == len(words) else None


_LEADING_TRUTH = re.compile(rf"\W*({'|'.join(sorted(YES | NO))})\b\s*(?:[,.!:;—–-]|$)", re.I)
_TURNS = "|".join(word_list("replies", "turns"))
_TAKEN_BACK = r"|[,–—-]\s*no,"  # "4, no, 5"; to a yes/no question this is the answer
_TURN = [re.compile(rf"\b(?:{_TURNS})\b{end}", re.I) for end in (_TAKEN_BACK, "")]  # else, of a truth
_OPENING = re.compile(r"([^,(:\n]{1,40}?)\s*(?=([,(:]|\s[-–—]\s))(?:[,(:]|\s[-–—]\s)(?!\d{3}\b)(.*)", re.S)
_SUMMED = re.compile(r"=|\b(?:so|therefore|thus|hence|altogether|total)\b|\)\s*(?:\+|,|and\b|plus\b)", re.I)


def _match_opening(plain: str, expected: ExpectedAnswer) -> Answer | None:
    """What a response opens with, as a sentence of its own or before a comma, unless it changes its mind."""
    if _TURN[expected.kind == "truth"].search(plain):
        return None
    if expected.kind == "truth" and (lead := _LEADING_TRUTH.match(plain)):
        return lead[1].lower() in YES
    first, *rest = SENTENCE_END.split(plain, maxsplit=8)
    found = _match_whole(first, expected)
    if found is not None:
        return None if any(_match_whole(r, expected) not in (None, found) for r in rest) else found
    opening = _OPENING.match(first)
    if opening is None or _SUMMED.search(first):
        return None
    before, sign, after = opening.groups()
    listed = sign == "," and any(find_mentions(split_tokens(after)[:1], expected))
    return None if listed else _match_whole(before, expected)


_JOINING = word_set("replies", "joining")
_PARTED = re.compile(r"(?<![\w'])([\w']++)\s*[,/–-]\s*(?=([\w']+))")
_RANGE = re.compile(r"\d[-–]\d")


def _is_ambiguous(text: str, expected: ExpectedAnswer) -> bool:
    """Whether a text names two answers and does not choose: "red, blue", "3-4", "between 2 and 4"."""
    if expected.kind == "open" or re.search(r"[(=:+]", text):
        return False
    tokens = split_tokens(text)
    found = list(find_mentions(tokens, expected))
    if len({f.answer for f in found}) < 2:
        return False
    gaps = [[t for t in tokens[f.at + f.size : g.at] if t not in _ARTICLES] for f, g in pairwise(found)]
    parted = set(_PARTED.findall(text.lower().replace('"', "")))  # "red, blue", but not "double-decker bus"
    signs = [tuple(tokens[g.at - 1 : g.at + 1]) in parted for g in found[1:]]
    if not all(set(gap) <= _JOINING if gap else sign for gap, sign in zip(gaps, signs, strict=True)):
        return False
    bare = set(tokens[: found[0].at] + tokens[found[-1].at + found[-1].size :]) <= _LEFT_OUT | _JOINING
    return bare or all(gaps) or bool(_RANGE.search(text))


_REFUSAL = re.compile(rf"\b(?:{'|'.join(word_list('replies', 'refusals'))})\b")
_REQUEST = re.compile(rf"\b(?:{'|'.join(word_list('replies', 'requests'))})\b")
_CONCLUSION = [
    re.compile(
        rf"(?<!think),?\s+\b(?:{'|'.join(word_list('replies', 'conclusions'))})\b|,?\s*\b(?:{_TURNS})\b"
        rf"|,\s+(?:{'|'.join(word_list('replies', 'guesses'))})\b{end}",
        re.I,
    )
    for end in (_TAKEN_BACK, "")
]
_REASON = re.compile(rf"(?<=\w),?\s+(?:{'|'.join(word_list('replies', 'reasons'))})\b.*", re.I | re.S)
_CLAIM = re.compile(
    r"(?:there(?:'s| is| are| isn't| aren't)|it(?:'s| is| isn't| does| doesn't)|they|both|none of|neither"
    r"|i (?:do not|don't) (?:think so|(?:see|find) any (?!image|picture|photo|scene)))\b",
    re.I,
)
_NEGATION = re.compile(r"\b(?:not|none|neither|never|nothing)\b|n't\b", re.I)


def _find_conclusion(plain: str, expected: ExpectedAnswer) -> Answer | Unread | None:
    """What the last sentence, or clause of it, that states an answer says; nothing where the text was cut off."""
    sentences = [s for s in SENTENCE_END.split(plain) if s.strip()]
    if _is_cut_off(sentences[-1]):
        return None
    parting = _CONCLUSION[expected.kind == "truth"]
    clauses = [split for s in sentences if (split := [c for c in parting.split(s) if c.strip()])]
    silent: set[str] = set()  # a response that repeats itself is not read as often
    for clause in (c for sentence in reversed(clauses) for c in reversed(sentence)):
        if clause in silent:
            continue
        silent.add(clause)
        if unread := _refuse(clause, expected):
            return unread
        found = _find_statement(_REASON.sub("", clause), expected, first=False)
        if found is not None:
            return found
    if expected.kind == "truth" and clauses and (len(sentences) == 1 or len(clauses[-1]) > 1):
        last = clauses[-1][-1].strip(" ,")
        return not _NEGATION.search(last) if _CLAIM.match(last) else None
    return None


def _is_cut_off(sentence: str) -> bool:
    words = sentence.split()
    return len(words) > 2 and words[-1].lower() in _DANGLING


_PLACED = re.compile(
    r"\b(?:is|are|stands?|sits?|lies) (?:\w+ )?(?:(?:in front|left|right) of|to the (?:left|right)|behind"
    r"|beside|near|next to|above|below|between)\b",
    re.I,
)


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
    subject = found[0].at <= 1 and len(rest) == 3 and rest[:2] == ["is", "the"] and rest[2] in _LEFT_OUT
    placed = not first and expected.kind == "word" and _PLACED.search(text)
    if first or subject or (len(different) == 1 and not placed):
        return found[0].answer
    before = ((f, next((k for k in range(f.at - 1, -1, -1) if tokens[k] not in _PASSING), None)) for f in found)
    after = [f for f, k in before if k is not None and tokens[k] in _STATING]
    if placed and not after:
        return None  # where a thing is, not what it is
    return (after or found)[-1].answer


def _find_unnegated(text: str, expected: ExpectedAnswer) -> tuple[list[str], list[AnswerMention]]:
    """The tokens of a text, and the candidates among them that are neither denied nor say where something is.

    Numbers come before mere words.
    """
    text = normalize_text(text)
    if "+" in text:
        text = _SUM_LAST.sub(r"\1", text)
    tokens = TOKEN.findall(_EQUALS.sub(" is ", text))
    found = [f for f in find_mentions(tokens, expected) if not _is_beside_the_point(tokens, f, expected)]
    return tokens, [f for f in found if not f.weak] or found


def _is_beside_the_point(tokens: list[str], mention: AnswerMention, expected: ExpectedAnswer) -> bool:
    """Whether a mention is denied ("not a cube"), or of a thing that another one is related to ("left of the cube")."""
    k = mention.at - 1
    while k >= 0 and tokens[k] in _ARTICLES:
        k -= 1
    if k < 0 or expected.kind == "truth":
        return False
    if expected.kind == "number":
        return (
            tokens[k] == "other"
            or tokens[k - 1 : k + 1] == ["out", "of"]
            or (tokens[k] in _PLACES and k < mention.at - 1)
        )
    if tokens[k] in _NOT:
        return True
    for at in range(k, max(-1, k - 4), -1):  # back over what describes the thing, to its article
        if tokens[at] in _PLACES:
            return at + 1 <= k + 1 and "the" in tokens[at + 1 : mention.at]
        if tokens[at] in _STATING:
            return False
    return False


def _parse_unexpected(text: str, expected: ExpectedAnswer) -> Answer | None:
    """A short answer given as such though the question does not admit it: wrong, but parseable."""
    if _REFUSAL.search(text.lower()) or _match_whole(text, expected) is not None:
        return None
    tokens = split_tokens(text)
    words = [t for t in tokens if t not in _LEFT_OUT]
    if not set(words) & _NOTHING:
        for kind in {NUMBER, TRUTH} - {expected}:
            if (found := _match_whole(text, kind)) is not None:
                return found
    if expected.kind != "word" or not 1 <= len(words) <= 2 or len(tokens) > SHORT or "of" in tokens:
        return None
    if any(w in _NOT_WORDS or w[0].isdigit() for w in words):
        return None
    forms = _index_forms(expected)[0]
    known = any(w in forms for w in words) or any(find_mentions(tokens, expected))  # lying in: not just lying
    return forms.get(" ".join(words)) or (None if known else " ".join(words))


_NOTHING = frozenset(("none", "nil"))  # whoever says so to a yes/no question need not mean a number
_NOT_WORDS = YES | NO | frozenset(COUNTS) | word_set("replies", "no words")
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)
_ADVERB = re.compile(rf"^(?:{'|'.join(word_list('replies', 'adverbs'))})\s+", re.I)
_PREDICATE = re.compile(r"^(?:it|this|that|the [\w' ]{1,60}?)(?:\s+(?:is|are|was)|'s)\s+(?!\w+ing\b)(.+)$", re.I)
_OPENER = re.compile(rf"^(?:{'|'.join(word_list('replies', 'openers'))})[!.,:]\s+", re.I)
_CLAUSE_WORDS = word_set("replies", "clauses")
SHORT = 5  # words an open answer may have


def _read_open(text: str, *, refused: bool) -> Answer | Unread:
    """An open answer: what is marked, else the last, the first or the only line or sentence, if it is short."""
    for segment in list_marked_segments(text):
        if _REFUSAL.search(segment.lower()):
            return Unread.REFUSED
        if (found := _parse_short(segment)) is not None:
            return found
    plain = _OPENER.sub("", _strip_markup(text, ANYTHING))
    if refused or _REQUEST.search(plain.lower()):
        return Unread.REFUSED
    lines = [line for line in plain.splitlines() if line.strip()] or [""]
    sentences = SENTENCE_END.split(plain)
    tries = [plain] if len(sentences) == 1 else [lines[-1], lines[0], sentences[0]]
    phrases = (_parse_short(line, phrase=True) for line in tries if not _REFUSAL.search(line.lower()))
    found = next((found for found in phrases if found is not None), None)
    if found is None:
        return Unread.REFUSED if _REFUSAL.search(plain.lower()) else Unread.NO_ANSWER
    return found


def _parse_short(text: str, *, phrase: bool = False) -> Answer | None:
    """A few words, without quotes, full stop and article; numbers stay text. A phrase is no clause."""
    line = text.strip().strip("\"'“”‘’.!,;: ")
    predicate = _PREDICATE.match(line)
    line = _ARTICLE.sub("", _ADVERB.sub("", predicate[1] if predicate else line)).strip()
    words = line.lower().split()
    if words and "\n" not in line and len(words) <= SHORT and not (phrase and _CLAUSE_WORDS & set(words)):
        return spell(line)
    lead = _LEADING_TRUTH.match(text)
    return None if lead is None or "\n" in text else lead[1].lower()

"""Parsing a model's response into an answer.

A response is read in order of how plainly it answers: an explicit mark ("Answer: red", boxed{3}), a response
that is nothing but the answer, one that opens with it ("5, of which 3 are red"), then the last sentence that
states one. What cannot be read, or names two answers ("3-4"), is unparseable, never a wrong answer. A colour the
schema does not know ("pink"), or an answer of another kind ("1" to a yes/no question), is wrong, not unparseable.
How often that goes right is measured (docs/results/replies.md).
"""

import re
from enum import Enum
from itertools import chain, pairwise

from .answer import Answer, spell
from .english.foreign import put_into_english
from .english.word_lists import word_list, word_set
from .expected_answer import (
    ANYTHING,
    COUNTS,
    NEGATIONS,
    NO,
    NUMBER,
    STATING,
    TOKEN,
    TRUTH,
    YES,
    AnswerMention,
    ExpectedAnswer,
    find_mentions,
    index_forms,
    normalize_text,
    split_tokens,
)
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

_PASSING, _LEFT_OUT = word_set("replies", "passing"), word_set("replies", "leaving out")
_PLACES, _DANGLING = word_set("replies", "places"), word_set("replies", "dangling")
_ARTICLES = frozenset(("a", "an", "the"))
_ALONE: dict[str, dict[str, Answer]] = {
    "truth": {
        **dict.fromkeys(word_list("replies", "yes alone"), True),
        **dict.fromkeys(word_list("replies", "no alone"), False),
    },
    "number": dict.fromkeys(word_list("replies", "zero alone"), 0),
}
_EQUALS = re.compile(r"\s=\s|:")
_SUM_LAST = re.compile(r"(?<!\d)(?<![+] )(\d+) = \d+(?: \+ \d+)+")  # "5 = 2 + 3"


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
    after = [f for f, k in before if k is not None and tokens[k] in STATING]
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
    if tokens[k] in NEGATIONS:
        return True
    for at in range(k, max(-1, k - 4), -1):  # back over what describes the thing, to its article
        if tokens[at] in _PLACES:
            return at + 1 <= k + 1 and "the" in tokens[at + 1 : mention.at]
        if tokens[at] in STATING:
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
    forms = index_forms(expected)[0]
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

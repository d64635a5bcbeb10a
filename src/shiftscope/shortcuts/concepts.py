"""The nine concepts of every sample (VQA-VS §3.3 and appendix B.3), labels for grouping: QT, KW, QT+KW, …

A sample's keyword (KW) or key object (KO) is the one that says most about its answer, in the order of
equation 6: MI(w, a) = log f(w, a) / (f(w) f(a) / K), where f counts samples. Within a sample a is fixed, so
f(a), K and the logarithm do not change the order: f(w, a) / f(w) does, compared here in whole numbers. Ties
go to the larger f(w, a), then alphabetically.

Two readings of ours, where the paper says nothing. Words of the question's type are no words of the question:
f(w) and f(w, a) count the samples that have w outside their type, so `color` of "what color is the" does not
count towards the f of `color` elsewhere. And an image that the object annotations do not name is not an image
without objects: its samples have no concept by objects and are in no such group.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..columns import Column
from ..formats.vqa import question_types as vqa_types
from ..kernels import exact
from ..question_table import QuestionTable, number_keys, unique_keys
from .question_types import TokenizedTexts, find_question_types, tokenize, tokenize_texts

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

# Labels: the concept of one shortcut for every sample, a tuple of parts such as (what color, banana).

NO_CONCEPT = "none"  # how a part is named where the sample has nothing for it
CONCEPT_JOIN = " + "

QT, KW, KWP, KO, KOP = "QT", "KW", "KWP", "KO", "KOP"
SHORTCUTS = (QT, KW, KWP, "QT+KW", KO, KOP, "QT+KO", "KW+KO", "QT+KW+KO")  # in the order of Table 1
LANGUAGE = SHORTCUTS[:4]  # what can be labelled without object annotations


@dataclass(frozen=True, slots=True, eq=False)
class ConceptLabels:
    """The concepts of one shortcut. Concept c is made of `words[p][parts[c, p]]`, or NONE where that is -1.

    Concepts are numbered in the order of their parts, NONE first, then alphabetically. A sample of which it
    is not known what it has for a part (the objects of an image without annotations) has no concept: -1.
    """

    shortcut: str
    words: tuple[tuple[str, ...], ...]  # a vocabulary a part
    parts: Codes  # [concept, part]
    codes: Codes  # [sample] number of its concept, or -1

    def __len__(self) -> int:
        """How many concepts there are."""
        return len(self.parts)

    def name(self, concept: int) -> str:
        """The parts joined: `what color + banana`; empty for -1, no concept."""
        codes = self.parts[concept].tolist() if concept >= 0 else ()
        pairs = zip(self.words, codes, strict=False)
        return CONCEPT_JOIN.join(NO_CONCEPT if code < 0 else words[code] for words, code in pairs)


def build_labels(
    shortcut: str,
    words: tuple[tuple[str, ...], ...],
    columns: tuple[Codes, ...],
    known: npt.NDArray[np.bool_] | None = None,
) -> ConceptLabels:
    """Labels from one column of codes a part, -1 for nothing; samples not marked in `known` get none."""
    sizes = [len(vocabulary) + 1 for vocabulary in words]
    key = np.zeros(len(columns[0]), np.int64)
    for size, column in zip(sizes, columns, strict=True):
        key = key * size + (column + 1)
    codes = np.full(len(key), -1, np.int32)
    inside = np.ones(len(key), bool) if known is None else known
    found, codes[inside], _ = number_keys(key[inside])
    parts = np.empty((len(found), len(sizes)), np.int32)
    for place in range(len(sizes) - 1, -1, -1):
        found, parts[:, place] = found // sizes[place], found % sizes[place] - 1
    return ConceptLabels(shortcut, words, parts, codes)


# Key words and objects. What a sample has is its bag: only samples whose bag holds w count for f(w).


@dataclass(frozen=True, slots=True, eq=False)
class ConceptBags:
    """Sets of words or objects, one a sample: bag b holds `codes[at[b] : at[b + 1]]`, ascending."""

    codes: Codes
    at: Ints  # [bag + 1]
    of: Ints  # [sample] its bag, or -1 for an empty one


@dataclass(frozen=True, slots=True)
class UnseenPairs:
    """What samples have that those counted never showed."""

    pairs: int  # distinct (word or object, answer) pairs
    samples: int  # samples with at least one of them
    blind: int  # samples for which no word or object was ever seen with the answer


@dataclass(frozen=True, slots=True, eq=False)
class KeyConcepts:
    """The two members of each sample's bag that say most about its answer, -1 where there are fewer."""

    first: Codes  # [sample]
    second: Codes
    unseen: UnseenPairs


def build_bags(bag: Ints, member: Ints, bags: int, of: Ints) -> ConceptBags:
    """Bags from (bag, member) pairs in any order, repetitions counted once."""
    width = int(member.max(initial=0)) + 1
    key = unique_keys(bag * width + member)
    at = np.searchsorted(key // width, np.arange(bags + 1)).astype(np.int64)
    return ConceptBags((key % width).astype(np.int32), at, of)


def rank_by_information(bags: ConceptBags, answers: Codes, counted: npt.NDArray[np.bool_] | None = None) -> KeyConcepts:
    """The best two of each sample; f counts all samples, or those marked in `counted`."""
    inside = np.flatnonzero(bags.of >= 0)
    mine = bags.of[inside]
    which, member = gather_slices(bags.codes, bags.at[mine], bags.at[mine + 1])
    sample = inside[which]  # each with every member of its bag, by sample and then by member
    width = int(answers.max(initial=0)) + 1
    pairs, pair, together = number_keys(member.astype(np.int64) * width + answers[sample])
    here: Any = slice(None) if counted is None else counted[sample]
    together = together if counted is None else np.bincount(pair[here], minlength=len(pairs)).astype(np.int64)
    alone = np.bincount(member[here], minlength=int(member.max(initial=-1)) + 1).astype(np.int64)
    first, second = _pick_best_two(sample, member, together[pair], alone[member], len(answers))
    never = together == 0
    seen = np.bincount(sample, weights=~never[pair], minlength=len(answers))
    total = np.bincount(sample, minlength=len(answers))
    blind = int(((seen == 0) & (total > 0)).sum())
    return KeyConcepts(first, second, UnseenPairs(int(never.sum()), int((seen < total).sum()), blind))


def gather_slices(values: Codes, start: Ints, end: Ints) -> tuple[Ints, Codes]:
    """The values from each start to its end, one after the other: which slice each is of, and the values."""
    length = end - start
    which = np.repeat(np.arange(len(start)), length)
    step = np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length)
    return which, values[np.repeat(start, length) + step]


@exact
def _pick_best_two(sample: Ints, member: Codes, together: Ints, alone: Ints, samples: int) -> tuple[Codes, Codes]:
    """The best two of each sample. Members come in alphabetical order, so on a full tie the earlier stays.

    Products are of two counts of samples: below 2^62 for two thousand million samples.
    """
    first = np.full(samples, -1, np.int32)
    second = np.full(samples, -1, np.int32)
    top = np.zeros(samples, np.int64)  # places of the best two among the pairs
    next_ = np.zeros(samples, np.int64)
    for k in range(len(sample)):
        s = sample[k]
        if first[s] < 0 or _is_more_informative(together[k], alone[k], together[top[s]], alone[top[s]]):
            second[s], next_[s] = first[s], top[s]
            first[s], top[s] = member[k], k
        elif second[s] < 0 or _is_more_informative(together[k], alone[k], together[next_[s]], alone[next_[s]]):
            second[s], next_[s] = member[k], k
    return first, second


@exact
def _is_more_informative(both: int, one: int, other_both: int, other_one: int) -> bool:
    """Whether both/one is larger, or equal and `both` is larger; never seen (0/0) is like never together."""
    left = both * max(other_one, 1)
    right = other_both * max(one, 1)
    return left > right or (left == right and both > other_both)


NO_OBJECTS = "no object annotations are given"
NO_IMAGE_ANNOTATED = "the object annotations name none of the images"
PREFIX_PERCENT = 99  # per cent of a type's questions that must begin with it, for a type that is not one of VQA's


@dataclass(frozen=True, slots=True, eq=False)
class ShortcutConcepts:
    """The labels of each shortcut that can be labelled, and why the others cannot."""

    types: str  # how the question types were found
    labels: dict[str, ConceptLabels]  # in the order of Table 1
    missing: tuple[tuple[str, str], ...]
    words: KeyConcepts
    objects: KeyConcepts | None


def label_concepts(
    samples: QuestionTable, types: str = "auto", counted: npt.NDArray[np.bool_] | None = None
) -> ShortcutConcepts:
    """Every sample's concepts; f and K of eq. 6 count all samples, or those marked in `counted`."""
    words = tokenize_texts(samples.texts.values)
    way, typed = find_question_types(samples, words, types)
    keywords = rank_by_information(build_word_bags(samples, words, typed), samples.answers.codes, counted)
    columns = {QT: (typed.codes,), KW: (keywords.first,), KWP: (keywords.first, keywords.second)}
    vocabulary: dict[str, tuple[str, ...]] = {QT: typed.values, KW: words.vocabulary}
    why, keys, seen = NO_OBJECTS, None, has_object_annotations(samples)
    if samples.objects is not None:
        why = NO_IMAGE_ANNOTATED
        if seen.any():
            bags = ConceptBags(samples.objects.codes, samples.objects.at, samples.images.codes.astype(np.int64))
            keys = rank_by_information(bags, samples.answers.codes, counted)
            columns |= {KO: (keys.first,), KOP: (keys.first, keys.second)}
            vocabulary[KO] = samples.objects.kinds
    labels = {}
    for shortcut in SHORTCUTS if keys else LANGUAGE:
        parts = [p.removesuffix("P") for p in shortcut.split("+")]
        known = None if shortcut in LANGUAGE else seen
        found = columns.get(shortcut) or tuple(columns[p][0] for p in parts)
        said = tuple(vocabulary[p] for p in parts) if shortcut not in (KWP, KOP) else (vocabulary[parts[0]],) * 2
        labels[shortcut] = build_labels(shortcut, said, found, known)
    missing = tuple((shortcut, why) for shortcut in SHORTCUTS if shortcut not in labels)
    return ShortcutConcepts(way, labels, missing, keywords, keys)


def build_word_bags(samples: QuestionTable, words: TokenizedTexts, types: Column) -> ConceptBags:
    """The words of each question outside its type, where the type is how the question begins.

    A type of VQA is always taken so, any other if at least NEARLY per cent of its questions begin with it:
    a learned prefix, but not a dataset's own kind `count`, though some of its questions begin with "Count".
    """
    kinds = len(types.values) + 1
    asked = samples.texts.codes.astype(np.int64) * kinds + (types.codes + 1)
    distinct, of, asked_by = number_keys(asked)  # one bag for each text with a type
    text, kind = distinct // kinds, distinct % kinds - 1
    start, end = words.at[text], words.at[text + 1]
    start = start + _count_prefix_words(words, types.values, kind, start, end, asked_by)
    bag, member = gather_slices(words.codes, start, end)
    return build_bags(bag, member.astype(np.int64), len(distinct), of)


def _count_prefix_words(
    words: TokenizedTexts, types: tuple[str, ...], kind: Ints, start: Ints, end: Ints, asked: Ints
) -> Ints:
    """How many words at the beginning of each text, which so many samples ask, are its type's: all or 0."""
    found, prefixes = np.zeros(len(kind), np.int64), vqa_types()[:-1]
    number = {word: k for k, word in enumerate(words.vocabulary)}
    order = np.argsort(kind, kind="stable")
    bounds = np.searchsorted(kind[order], np.arange(len(types) + 1))
    for k, name in enumerate(types):
        mine = order[bounds[k] : bounds[k + 1]]
        total, prefix = int(asked[mine].sum()), tokenize(name)
        mine = mine[end[mine] - start[mine] >= len(prefix)]
        for place, word in enumerate(prefix):
            mine = mine[words.codes[start[mine] + place] == number.get(word, -1)]
        if name in prefixes or 100 * int(asked[mine].sum()) >= PREFIX_PERCENT * total:
            found[mine] = len(prefix)
    return found


def has_object_annotations(samples: QuestionTable) -> npt.NDArray[np.bool_]:
    """[sample] whether the object annotations name its image, be it as one without objects."""
    if samples.objects is None:
        return np.zeros(len(samples), bool)
    named: npt.NDArray[np.bool_] = np.append(samples.objects.known, False)[samples.images.codes]
    return named

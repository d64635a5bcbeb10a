"""The nine concepts of every sample (VQA-VS §3.3 and appendix B.3), labels for grouping: QT, KW, QT+KW, …

A question type (QT) is given, or the longest of VQA's 65 prefixes, or a prefix learned from the questions: from long
to short, every prefix that enough of the questions without a type begin with becomes the type of these. Questions are
tokenized in lower case, without punctuation, each distinct text once.

A sample's keyword (KW) or key object (KO) is the one that says most about its answer, in the order of
equation 6: MI(w, a) = log f(w, a) / (f(w) f(a) / K), where f counts samples. Within a sample a is fixed, so
f(a), K and the logarithm do not change the order: f(w, a) / f(w) does, compared here in whole numbers. Ties
go to the larger f(w, a), then to the word that comes first by code point; an audit counts the samples where the
latter decides.

KWP is a pair: the two best words, the better one first. A question with fewer than two words outside its type has
none and is in no KWP group; with `pairs` "any", nothing may stand for a word that is not there.

Readings of ours, where the paper says nothing (docs/decisions/034). Words of the question's type are no words of the
question: f(w) and f(w, a) count the samples that have w outside their type, so `color` of "what color is the" does not
count towards the f of `color` elsewhere; with `type_words` "in", they are words like any other. And an image that
the object annotations do not name is not an image without objects: its samples have no concept by objects and are in
no such group. An image with one kind of object is in a KOP group, with nothing for the second.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..columns import Column
from ..errors import UserError, unknown
from ..formats.vqa import OTHER_TYPE
from ..formats.vqa import SOURCE as VQA
from ..formats.vqa import question_types as vqa_types
from ..kernels import exact
from ..question_table import QuestionTable, encode_column, number_keys, unique_keys
from .tokens import TokenizedTexts, tokenize, tokenize_texts

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
MAX_PREFIX_WORDS = 6  # words of a learned prefix
MIN_PREFIX_SHARE = 0.002  # share of the questions that must begin with a learned prefix
MAX_PREFIXES = 64  # learned prefixes, besides OTHER
TYPE_SOURCES = ("given", "prefixes", "learned")


def find_question_types(samples: QuestionTable, words: TokenizedTexts, way: str = "auto") -> tuple[str, Column]:
    """How the types were found, and the type of every sample.

    Given types of VQA are completed: a sample without one gets the longest matching prefix of the 65. In any
    other dataset that gives types, a sample without one has none: -1, the concept NONE.
    """
    way = choose_type_source(way, samples.types is not None, samples.source)
    if way == "given":
        types = samples.types
        assert types is not None
        if samples.source == VQA and (types.codes < 0).any():
            found = match_prefixes(words, vqa_types()[:-1]).take(samples.texts.codes).to_list()
            types = encode_column([g if g is not None else f for g, f in zip(types.to_list(), found, strict=True)])
        return way, types
    asked = np.bincount(samples.texts.codes, minlength=len(samples.texts.values))  # [text] samples
    prefixes = vqa_types()[:-1] if way == "prefixes" else learn_prefixes(words, asked)
    return way, match_prefixes(words, prefixes).take(samples.texts.codes)


def choose_type_source(way: str, given: bool, source: str) -> str:
    """How types are found in samples of a source, of which some have one, or none."""
    if way not in ("auto", *TYPE_SOURCES):
        raise unknown("way to find question types", way, ("auto", *TYPE_SOURCES))
    if way == "auto":
        return "given" if given else "prefixes" if source == VQA else "learned"
    if way == "given" and not given:
        raise UserError("the files give no question types; take --types prefixes or --types learned")
    return way


def match_prefixes(words: TokenizedTexts, prefixes: Sequence[str]) -> Column:
    """For each text the longest prefix that its words begin with, else OTHER."""
    number = {word: k for k, word in enumerate(words.vocabulary)}
    places = {tuple(number.get(w, -1) for w in tokenize(prefix)): prefix for prefix in prefixes}  # -1: in no text
    places.pop((), None)
    longest = max(map(len, places), default=0)
    names: list[str] = []
    codes, at = words.codes.tolist(), words.at.tolist()
    for start, end in pairwise(at):
        key = tuple(codes[start : min(end, start + longest)])
        while key and key not in places:
            key = key[:-1]
        names.append(places[key] if key else OTHER_TYPE)
    return encode_column(names)


def learn_prefixes(words: TokenizedTexts, asked: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The prefixes that enough questions begin with, most frequent first; `asked` counts each text."""
    enough = max(2, MIN_PREFIX_SHARE * int(asked.sum()))
    texts = [tuple(words.codes[a:b].tolist()) for a, b in pairwise(words.at.tolist())]
    count = asked.tolist()
    free = set(range(len(texts)))
    found: list[tuple[int, tuple[int, ...]]] = []
    for length in range(MAX_PREFIX_WORDS, 0, -1):
        starts: Counter[tuple[int, ...]] = Counter()
        for t in free:
            if len(texts[t]) >= length:
                starts[texts[t][:length]] += count[t]
        kept = {prefix for prefix, n in starts.items() if n >= enough}
        free = {t for t in free if texts[t][:length] not in kept}
        found += [(starts[prefix], prefix) for prefix in kept]
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple(" ".join(words.vocabulary[w] for w in prefix) for _, prefix in found[:MAX_PREFIXES])


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
    ties: int  # samples whose two, or their order, the alphabet decides


def build_bags(bag: Ints, member: Ints, bags: int, of: Ints) -> ConceptBags:
    """Bags from (bag, member) pairs in any order, repetitions counted once."""
    width = int(member.max(initial=0)) + 1
    key = unique_keys(bag * width + member)
    at = np.searchsorted(key // width, np.arange(bags + 1)).astype(np.int64)
    return ConceptBags((key % width).astype(np.int32), at, of)


@dataclass(frozen=True, slots=True, eq=False)
class MemberPairs:
    """Every sample with every member of its bag, by sample and then by member, and the (member, answer) pairs."""

    sample: Ints
    member: Codes
    pair: Ints  # place among `keys`
    keys: Ints  # [pair] member × width + answer, ascending
    counts: Ints  # [pair] f(w, a)
    width: int  # above every answer's number

    def count_members(self) -> Ints:
        """[member] f(w)."""
        return np.bincount(self.keys // self.width, weights=self.counts).astype(np.int64)


def rank_by_information(bags: ConceptBags, answers: Codes, counted: npt.NDArray[np.bool_] | None = None) -> KeyConcepts:
    """The best two of each sample; f counts all samples, or those marked in `counted`."""
    pairs = pair_members(bags, answers, int(answers.max(initial=0)) + 1, counted)
    return rank_members(pairs, pairs.counts, pairs.count_members(), len(answers))


def pair_members(
    bags: ConceptBags, answers: Codes, width: int, counted: npt.NDArray[np.bool_] | None = None
) -> MemberPairs:
    """What samples have, with their answers; a pair that no counted sample has is there with the count 0."""
    inside = np.flatnonzero(bags.of >= 0)
    mine = bags.of[inside]
    which, member = gather_slices(bags.codes, bags.at[mine], bags.at[mine + 1])
    sample = inside[which]
    keys, pair, counts = number_keys(member.astype(np.int64) * width + answers[sample])
    if counted is not None:
        counts = np.bincount(pair[counted[sample]], minlength=len(keys)).astype(np.int64)
    return MemberPairs(sample, member, pair, keys, counts, width)


def rank_members(pairs: MemberPairs, together: Ints, alone: Ints, samples: int) -> KeyConcepts:
    """The best two of each sample by f(w, a) of each pair, `together`, and f(w) of each member, `alone`."""
    sample, member, pair = pairs.sample, pairs.member, pairs.pair
    first, second, tied = _pick_best_two(sample, member, together[pair], alone[member], samples)
    never = together == 0
    if not never.any():
        return KeyConcepts(first, second, UnseenPairs(0, 0, 0), int(tied.sum()))
    seen = np.bincount(sample, weights=~never[pair], minlength=samples)
    total = np.bincount(sample, minlength=samples)
    blind = int(((seen == 0) & (total > 0)).sum())
    unseen = UnseenPairs(int(never.sum()), int((seen < total).sum()), blind)
    return KeyConcepts(first, second, unseen, int(tied.sum()))


def gather_slices(values: Codes, start: Ints, end: Ints) -> tuple[Ints, Codes]:
    """The values from each start to its end, one after the other: which slice each is of, and the values."""
    length = end - start
    which = np.repeat(np.arange(len(start)), length)
    step = np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length)
    return which, values[np.repeat(start, length) + step]


@exact
def _pick_best_two(
    sample: Ints, member: Codes, together: Ints, alone: Ints, samples: int
) -> tuple[Codes, Codes, npt.NDArray[np.bool_]]:
    """The best two of each sample. Members come in alphabetical order, so on a full tie the earlier stays; and
    whether there is such a tie: of the first with any other, or of the second with one left out.

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
    tied = np.zeros(samples, np.bool_)
    for k in range(len(sample)):
        s = sample[k]
        if k != top[s] and second[s] >= 0:
            rival = top[s] if k == next_[s] else next_[s]  # what is as good as the first is as good as the second
            tied[s] |= together[k] == together[rival] and (together[k] == 0 or alone[k] == alone[rival])
    return first, second, tied


@exact
def _is_more_informative(both: int, one: int, other_both: int, other_one: int) -> bool:
    """Whether both/one is larger, or equal and `both` is larger; never seen (0/0) is like never together."""
    left = both * max(other_one, 1)
    right = other_both * max(one, 1)
    return left > right or (left == right and both > other_both)


NO_OBJECTS = "no object annotations are given"
NO_IMAGE_ANNOTATED = "the object annotations name none of the images"
TWO, ANY = PAIR_READINGS = ("two", "any")
OUT, IN = TYPE_WORD_READINGS = ("out", "in")
PREFIX_PERCENT = 99  # per cent of a type's questions that must begin with it, for a type that is not one of VQA's


@dataclass(frozen=True, slots=True, eq=False)
class ShortcutConcepts:
    """The labels of each shortcut that can be labelled, and why the others cannot."""

    types: str  # how the question types were found
    labels: dict[str, ConceptLabels]  # in the order of Table 1
    missing: tuple[tuple[str, str], ...]
    words: KeyConcepts
    objects: KeyConcepts | None


def check_readings(types: str, pairs: str, type_words: str) -> None:
    """Refuse what is no way to find question types, or no reading of pairs or of a type's words."""
    if types not in ("auto", *TYPE_SOURCES):
        raise unknown("way to find question types", types, ("auto", *TYPE_SOURCES))
    if pairs not in PAIR_READINGS:
        raise unknown("reading of keyword pairs", pairs, PAIR_READINGS)
    if type_words not in TYPE_WORD_READINGS:
        raise unknown("reading of a type's words", type_words, TYPE_WORD_READINGS)


def label_concepts(
    samples: QuestionTable,
    types: str = "auto",
    counted: npt.NDArray[np.bool_] | None = None,
    pairs: str = TWO,
    type_words: str = OUT,
) -> ShortcutConcepts:
    """Every sample's concepts; f and K of eq. 6 count all samples, or those marked in `counted`."""
    check_readings(types, pairs, type_words)
    words = tokenize_texts(samples.texts.values)
    way, typed = find_question_types(samples, words, types)
    bags = build_word_bags(samples, words, typed, type_words == IN)
    keywords = rank_by_information(bags, samples.answers.codes, counted)
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
        if shortcut == KWP and pairs == TWO:
            known = keywords.second >= 0
        found = columns.get(shortcut) or tuple(columns[p][0] for p in parts)
        said = tuple(vocabulary[p] for p in parts) if shortcut not in (KWP, KOP) else (vocabulary[parts[0]],) * 2
        labels[shortcut] = build_labels(shortcut, said, found, known)
    missing = tuple((shortcut, why) for shortcut in SHORTCUTS if shortcut not in labels)
    return ShortcutConcepts(way, labels, missing, keywords, keys)


def build_word_bags(samples: QuestionTable, words: TokenizedTexts, types: Column, whole: bool = False) -> ConceptBags:
    """The words of each question outside its type, where the type is how the question begins; or the `whole` of them.

    A type of VQA is always taken so, any other if at least PREFIX_PERCENT per cent of its questions begin with it:
    a learned prefix, but not a dataset's own kind `count`, though some of its questions begin with "Count".
    """
    kinds = len(types.values) + 1
    asked = samples.texts.codes.astype(np.int64) * kinds + (types.codes + 1)
    distinct, of, asked_by = number_keys(asked)  # one bag for each text with a type
    text, kind = distinct // kinds, distinct % kinds - 1
    start, end = words.at[text], words.at[text + 1]
    if not whole:
        length = match_type_words(words, types.values, kind, start, end)
        asked, begun = count_type_words(kind, length, asked_by, len(types.values))
        start = start + skip_type_words(kind, length, find_prefix_types(types.values, asked, begun))
    bag, member = gather_slices(words.codes, start, end)
    return build_bags(bag, member.astype(np.int64), len(distinct), of)


def match_type_words(words: TokenizedTexts, types: Sequence[str], kind: Ints, start: Ints, end: Ints) -> Ints:
    """How many words at the beginning of each text are its type's; -1 where it does not begin with them."""
    length = np.full(len(kind), -1, np.int64)
    number = {word: k for k, word in enumerate(words.vocabulary)}
    order = np.argsort(kind, kind="stable")
    bounds = np.searchsorted(kind[order], np.arange(len(types) + 1))
    for k, name in enumerate(types):
        mine, prefix = order[bounds[k] : bounds[k + 1]], tokenize(name)
        mine = mine[end[mine] - start[mine] >= len(prefix)]
        for place, word in enumerate(prefix):
            mine = mine[words.codes[start[mine] + place] == number.get(word, -1)]
        length[mine] = len(prefix)
    return length


def count_type_words(kind: Ints, length: Ints, asked: Ints, types: int) -> tuple[Ints, Ints]:
    """[type] how many samples ask its texts, and how many of these begin with it; `asked` counts each text."""
    typed, begins = kind >= 0, length >= 0
    total = np.bincount(kind[typed], weights=asked[typed], minlength=types).astype(np.int64)
    begun = np.bincount(kind[typed & begins], weights=asked[typed & begins], minlength=types).astype(np.int64)
    return total, begun


def find_prefix_types(types: Sequence[str], asked: Ints, begun: Ints) -> npt.NDArray[np.bool_]:
    """[type] whether its words are how its questions begin, by how many do."""
    own = np.isin(np.array(types, object), vqa_types()[:-1]) if len(types) else np.zeros(0, bool)
    return own | (100 * begun >= PREFIX_PERCENT * asked)


def skip_type_words(kind: Ints, length: Ints, prefix: npt.NDArray[np.bool_]) -> Ints:
    """[text] how many words of it are no candidates for keywords."""
    return np.where(np.append(prefix, False)[kind] & (length > 0), length, 0)


def has_object_annotations(samples: QuestionTable) -> npt.NDArray[np.bool_]:
    """[sample] whether the object annotations name its image, be it as one without objects."""
    if samples.objects is None:
        return np.zeros(len(samples), bool)
    named: npt.NDArray[np.bool_] = np.append(samples.objects.known, False)[samples.images.codes]
    return named

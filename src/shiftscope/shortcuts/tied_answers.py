"""Tied answers: concepts that go with an answer in the train split and not in an OOD test of the same dataset.

A sample has a concept if its type is the one named, its question has all the words and its image all the kinds of
objects; unlike VQA-VS's keyword and key object, this does not depend on the answer. How strongly a concept is tied to
an answer is the share of the answer among the samples with the concept *that could have it*: those whose question type
is linked with the answer by the dataset's own answers (types that share an answer form one answer space: all yes/no
types, say). Where any type may have any answer, as in VQA, this is the plain share f(w, a) / f(w) of equation 6.

One tie makes others: where `query_color` means red, so does the word "color", and so does every word inside such
questions. So ties are found one by one: the one that explains most (samples × Kullback-Leibler divergence of the
answer's share in train from that in the OOD test), or a simpler one, where the samples that only it has are answered
so as well; then train is reweighted until the ties found so far are as weak as in the OOD test, and what differs still
is looked for. Errors are over images, whose questions have much in common.
What is left unexplained below LEAST_EFFECT is not told.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import hypot
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ..question_table import QuestionTable, Rows, number_keys
from ..rng import derive
from .audit import TRAIN, ShortcutAudit
from .concepts import (
    CONCEPT_JOIN,
    KO,
    KOP,
    KW,
    KWP,
    QT,
    Codes,
    ConceptBags,
    build_word_bags,
    find_question_types,
    gather_slices,
)
from .tokens import tokenize_texts

OOD_TEST = "ood_test"  # the split in which planted ties do not hold
LEAST_EFFECT = 0.05  # by which the share of an answer must be above what the OOD test and the other ties explain
LEAST_SAMPLES = 50  # of a concept and an answer space, in each of the splits
CHANCE = 0.001  # that a shortcut without ties shows one, over all of its concepts and answers
LEAST_IMAGES = 20  # of the same
TRIED = 20  # of each shortcut: the pairs that would explain most, whose errors over images are computed
MOST_SAMPLES = 40_000  # of each split; of more, so many are drawn
MOST_TIES = 64
ALIKE = 2.0  # errors by which two shares may differ and yet be called the same
ROUNDS = 60  # of the reweighting
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, order=True)
class AnswerTie:
    """A concept and the answer it is tied to: this share of the samples that have it and could be answered so."""

    type: str  # nothing: any
    words: tuple[str, ...]
    kinds: tuple[str, ...]  # of objects
    answer: str
    strength: float = 0.0

    @property
    def shortcut(self) -> str:
        """As VQA-VS calls it: QT, KW, QT+KO, …"""
        words, kinds = ("", KW, KWP)[len(self.words)], ("", KO, KOP)[len(self.kinds)]
        return "+".join(filter(None, (QT if self.type else "", words, kinds)))

    @property
    def concept(self) -> str:
        return CONCEPT_JOIN.join(filter(None, (self.type, *self.words, *self.kinds)))

    @property
    def plain(self) -> "AnswerTie":
        """Without its strength: what is tied to what."""
        return replace(self, strength=0.0)


@dataclass(frozen=True, slots=True)
class FoundTie:
    """A tie of the train split, and how often the answer would be given without it."""

    tie: AnswerTie  # its strength is that measured in train
    expected: float  # share in the OOD test
    n: int  # samples of train that have the concept and could be answered so
    error: float  # standard error of the strength

    def to_json(self) -> dict[str, Any]:
        found = {"shortcut": self.tie.shortcut, **asdict(self.tie)}
        return found | {"expected": self.expected, "n": self.n, "error": self.error}


@dataclass(frozen=True, slots=True, eq=False)
class TieSamples:
    """Samples of two splits as numbers: what each has, and whether it is of train."""

    types: tuple[str, ...]
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    answers: tuple[str, ...]
    type: Ints  # [sample]
    word_at: Ints  # [sample + 1]
    word: Ints  # ascending within a sample
    kind_at: Ints
    kind: Ints
    answer: Ints  # [sample]
    image: Ints  # [sample]
    space: Ints  # [sample] the answer space of its answer
    train: Bools

    def has_concept(self, tie: AnswerTie) -> Bools:
        """[sample] whether it has the concept and could be answered so; none where nothing here is answered so."""
        named = ((tie.type,) if tie.type else (), self.types), (tie.words, self.words), (tie.kinds, self.kinds)
        asked = self.answer == (self.answers.index(tie.answer) if tie.answer in self.answers else -1)
        if not asked.any() or not all(name in known for names, known in named for name in names):
            return np.zeros(len(self.answer), bool)
        inside: Bools = self.space == self.space[asked.argmax()]
        if tie.type:
            inside &= self.type == self.types.index(tie.type)
        for word in tie.words:
            inside &= _has_member(self.word_at, self.word, self.words.index(word))
        for kind in tie.kinds:
            inside &= _has_member(self.kind_at, self.kind, self.kinds.index(kind))
        return inside


def find_audit_ties(audit: ShortcutAudit) -> tuple[FoundTie, ...] | None:
    """The ties of the train split of an audit; None where the dataset has no split `ood_test`."""
    splits = audit.samples.splits
    if splits is None or OOD_TEST not in splits.values or audit.split.made:
        return None
    ood = np.flatnonzero(splits.codes == splits.values.index(OOD_TEST))
    return find_tied_answers(audit.samples, audit.split.rows(TRAIN), ood, audit.settings.types, audit.settings.seed)


def find_tied_answers(
    samples: QuestionTable, train: Rows, ood: Rows, types: str = "auto", seed: int = 0
) -> tuple[FoundTie, ...]:
    """The ties of train that the OOD test lacks, the clearest first."""
    looked = [
        np.sort(derive("tied answers", seed, name).permutation(rows)[:MOST_SAMPLES])
        for name, rows in (("train", train), ("ood", ood))
    ]
    table = build_tie_samples(samples, looked[0], looked[1], types)
    members = [_list_members(table, shortcut) for shortcut in SEARCHED]
    weight = np.ones(len(table.answer))
    found: list[FoundTie] = []
    while len(found) < MOST_TIES:
        told = {one.tie.plain for one in found}
        tried = [pair for each in members for pair in _list_candidates(table, each, weight) if pair[1] not in told]
        tried.sort(key=lambda pair: -pair[0])  # of equals the simpler first, as they come
        new = next((one for _, tie, sure in tried if (one := _measure_tie(table, tie, weight, sure)) is not None), None)
        if new is None:
            break
        simple = _simplify(table, new, weight)
        found.append(new if simple.tie.plain in told else simple)
        weight = _reweight(table, found)
    return tuple(found)


def build_tie_samples(samples: QuestionTable, train: Rows, ood: Rows, types: str = "auto") -> TieSamples:
    words = tokenize_texts(samples.texts.values)
    _, typed = find_question_types(samples, words, types)
    rows = np.concatenate([train, ood])
    bags = build_word_bags(samples, words, typed)
    word_at, word = _take_bags(bags, rows)
    kinds: tuple[str, ...] = ()
    kind_at, kind = np.zeros(len(rows) + 1, np.int64), np.zeros(0, np.int64)
    if samples.objects is not None:
        objects, kinds = samples.objects, samples.objects.kinds
        shown = ConceptBags(objects.codes, objects.at, samples.images.codes.astype(np.int64))
        kind_at, kind = _take_bags(shown, rows)
    images = samples.images.codes[rows].astype(np.int64)
    answer, kind_of = samples.answers.codes[rows].astype(np.int64), typed.codes[rows].astype(np.int64)
    return TieSamples(
        tuple(map(str, typed.values)),
        tuple(words.vocabulary),
        tuple(kinds),
        tuple(map(str, samples.answers.values)),
        kind_of,
        word_at,
        word,
        kind_at,
        kind,
        answer,
        np.where(images < 0, len(samples) + rows, images),
        _find_spaces(kind_of, answer),
        np.arange(len(rows)) < len(train),
    )


def _take_bags(bags: ConceptBags, rows: Rows) -> tuple[Ints, Ints]:
    mine = bags.of[rows]
    start, end = bags.at[mine], np.where(mine < 0, bags.at[mine], bags.at[mine + 1])
    which, member = gather_slices(bags.codes, start, end)
    return np.searchsorted(which, np.arange(len(rows) + 1)).astype(np.int64), member.astype(np.int64)


def _find_spaces(types: Ints, answers: Ints) -> Ints:
    """[sample] the least answer that types lead to from its own: types that share an answer share all of theirs."""
    space = np.arange(int(answers.max(initial=0)) + 1)
    while True:
        least = np.full(int(types.max(initial=0)) + 2, len(space))
        np.minimum.at(least, types, space[answers])
        reached = space.copy()
        np.minimum.at(reached, answers, least[types])
        if (reached == space).all():
            return np.asarray(space[answers])
        space = reached


def _has_member(at: Ints, codes: Ints, member: int) -> Bools:
    owners = np.searchsorted(at, np.flatnonzero(codes == member), side="right") - 1
    inside = np.zeros(len(at) - 1, bool)
    inside[owners] = True
    return inside


SEARCHED = (QT, KW, KO, "QT+KW", "QT+KO", "KW+KO", KWP, KOP, "QT+KW+KO")


@dataclass(frozen=True, slots=True, eq=False)
class ConceptMembers:
    """Every sample with every concept of one shortcut that it has, in groups of one concept and one answer space."""

    shortcut: str
    sample: Codes  # [member] of either split
    group: Codes  # [member] number among `keys`
    pair: Codes  # [member] number among `pairs`
    keys: Ints  # [group] the concept's parts and the space
    pairs: Ints  # [pair] group × answers + answer
    ood_size: Doubles  # [group] samples of the OOD test
    ood_count: Doubles  # [pair]
    sizes: tuple[int, ...]  # of each part's vocabulary


def _list_members(table: TieSamples, shortcut: str) -> ConceptMembers:
    """Only groups that are large enough in both splits."""
    bags = {QT: (np.arange(len(table.type) + 1), table.type), KW: (table.word_at, table.word)}
    bags[KO] = (table.kind_at, table.kind)
    sizes = {QT: len(table.types) + 1, KW: len(table.words) + 1, KO: len(table.kinds) + 1}
    sample = np.arange(len(table.type))
    key = np.zeros(len(sample), np.int64)
    used: list[int] = []
    for name in _list_part_names(shortcut):
        at, codes = bags[name]
        which, member = gather_slices(codes.astype(np.int32), at[sample], at[sample + 1])
        kept = member >= 0  # a sample may have no type
        if shortcut in (KWP, KOP) and used:
            kept &= member > key[which]  # a pair once, in the order of the alphabet
        which, member = which[kept], member[kept]
        sample, key = _drop_small(table, sample[which], key[which] * sizes[name] + member)
        used.append(sizes[name])
    space = int(table.space.max(initial=0)) + 1
    sample, key = _drop_small(table, sample, key * space + table.space[sample])
    keys, group, _ = number_keys(key)
    pairs, pair, _ = number_keys(group * len(table.answers) + table.answer[sample])
    ood = (~table.train[sample]).astype(np.float64)
    return ConceptMembers(
        shortcut,
        sample.astype(np.int32),
        group.astype(np.int32),
        pair.astype(np.int32),
        keys,
        pairs,
        np.asarray(np.bincount(group, weights=ood, minlength=len(keys)), np.float64),
        np.asarray(np.bincount(pair, weights=ood, minlength=len(pairs)), np.float64),
        (*used, space),
    )


def _list_part_names(shortcut: str) -> list[str]:
    return shortcut.replace(KWP, f"{KW}+{KW}").replace(KOP, f"{KO}+{KO}").split("+")


def _drop_small(table: TieSamples, sample: Ints, key: Ints) -> tuple[Ints, Ints]:
    keys, group, counts = number_keys(key)
    mine = np.bincount(group, weights=table.train[sample], minlength=len(keys))
    kept = ((mine >= LEAST_SAMPLES) & (counts - mine >= LEAST_SAMPLES))[group]
    return sample[kept], key[kept]


def _list_candidates(table: TieSamples, of: ConceptMembers, weight: Doubles) -> list[tuple[float, AnswerTie, float]]:
    """The pairs of concept and answer that would explain most: how much, the tie, and how sure one must be of it."""
    if not len(of.sample):
        return []
    w = np.where(table.train, weight, 0.0)[of.sample]
    group = of.pairs // len(table.answers)
    size, ood_size = np.bincount(of.group, weights=w, minlength=len(of.keys))[group], of.ood_size[group]
    here = np.bincount(of.pair, weights=w, minlength=len(of.pairs)) / size
    there = (of.ood_count + 0.5) / (ood_size + 1)
    both = (here * size + of.ood_count) / (size + ood_size)
    error = np.sqrt(both * (1 - both) * (1 / size + 1 / ood_size))
    sure = NormalDist().inv_cdf(1 - CHANCE / max(len(of.pairs), 2))
    inside = np.flatnonzero((here - there > LEAST_EFFECT) & (here - there > sure * error))
    p, q = np.clip(here[inside], 1e-9, 1 - 1e-9), there[inside]
    explained = size[inside] * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
    best = np.argsort(-explained, kind="stable")[:TRIED]
    return [(float(explained[k]), _read_tie(table, of, int(inside[k])), sure) for k in best.tolist()]


def _read_tie(table: TieSamples, of: ConceptMembers, pair: int) -> AnswerTie:
    parts, key = [], int(of.keys[of.pairs[pair] // len(table.answers)])
    for size in reversed(of.sizes):
        key, part = divmod(key, size)
        parts.append(part)
    vocabulary = {QT: table.types, KW: table.words, KO: table.kinds}
    names = _list_part_names(of.shortcut)
    named = [(name, vocabulary[name][part]) for name, part in zip(names, reversed(parts[1:]), strict=True)]
    return _join_parts(named, table.answers[int(of.pairs[pair] % len(table.answers))])


def _join_parts(parts: Sequence[tuple[str, str]], answer: str) -> AnswerTie:
    named = {name: tuple(value for kind, value in parts if kind == name) for name in (QT, KW, KO)}
    return AnswerTie("".join(named[QT]), named[KW], named[KO], answer)


def _measure_tie(table: TieSamples, tie: AnswerTie, weight: Doubles, sure: float) -> FoundTie | None:
    """The tie with its strength, unless chance may show it: errors are over images."""
    inside, right = table.has_concept(tie), table.answer == table.answers.index(tie.answer)
    mine, others = inside & table.train, inside & ~table.train
    both = float((weight * right)[inside].sum() / weight[inside].sum())
    shares, errors = [], []
    for among in (mine, others):
        share, error, images = _estimate_share(right[among], table.image[among], weight[among], both)
        if images < LEAST_IMAGES:
            return None
        shares.append(share)
        errors.append(error)
    effect = shares[0] - shares[1]
    if effect <= LEAST_EFFECT or effect <= sure * hypot(*errors):
        return None
    raw = float(right[mine].mean())
    error = _estimate_share(right[mine], table.image[mine], np.ones(int(mine.sum())), raw)[1]
    return FoundTie(replace(tie, strength=raw), shares[1], int(mine.sum()), error)


def _simplify(table: TieSamples, found: FoundTie, weight: Doubles) -> FoundTie:
    """The tie of fewer parts, where what has these alone is answered so about as often.

    Nearly every image may have a cylinder: then "exist" and "exist, and a cylinder" are nearly the same samples.
    """
    tie, right = found.tie, table.answer == table.answers.index(found.tie.answer)
    mine = table.has_concept(tie) & table.train
    fewer = [replace(tie, words=tie.words[:k] + tie.words[k + 1 :]) for k in range(len(tie.words))]
    fewer += [replace(tie, kinds=tie.kinds[:k] + tie.kinds[k + 1 :]) for k in range(len(tie.kinds))]
    fewer += [replace(tie, type="")] if tie.type else []
    for simple in (one for one in fewer if one.shortcut):
        whole = _measure_tie(table, simple, weight, 0.0)
        rest = table.has_concept(simple) & table.train & ~mine
        if whole is None:
            continue
        shares = [
            _estimate_share(right[among], table.image[among], weight[among], whole.tie.strength)
            for among in (mine, rest)
        ]
        if shares[0][0] - shares[1][0] <= ALIKE * hypot(shares[0][1], shares[1][1]):
            return _simplify(table, whole, weight)
    return found


def _estimate_share(right: Bools, image: Ints, weight: Doubles, both: float) -> tuple[float, float, int]:
    """A weighted share, its standard error over images, and how many images there are.

    The error is at least that of as many samples with the share of `both` splits: none of few is not never.
    """
    total = float(weight.sum())
    images, at = np.unique(image, return_inverse=True)
    if len(images) < 2 or not total:
        return 0.0, 1.0, len(images)
    share = float((weight * right).sum() / total)
    residual = np.bincount(at, weights=weight * (right - share))
    clustered = (residual**2).sum() * len(images) / (len(images) - 1) / total**2
    alone = both * (1 - both) * (weight**2).sum() / total**2
    return share, float(np.sqrt(max(clustered, alone))), len(images)


def _reweight(table: TieSamples, ties: Sequence[FoundTie]) -> Doubles:
    """[sample] weights with which train has every tie as weak as the OOD test, and is else as it was."""
    weight = np.ones(len(table.answer))
    masks = []
    for one in ties:
        inside = table.has_concept(one.tie) & table.train
        right = inside & (table.answer == table.answers.index(one.tie.answer))
        masks.append((right, inside & ~right, one.expected))
    for _ in range(ROUNDS):
        for right, wrong, share in masks:
            yes, no = weight[right].sum(), weight[wrong].sum()
            if yes and no and 0 < share < 1:
                weight[right] *= share * (yes + no) / yes
                weight[wrong] *= (1 - share) * (yes + no) / no
    return weight

"""Label: every sample's split, question type, keywords and key objects, and what each part counts of them.

Three passes over the parts, with a merge of what all of them counted before the next: `assign_part` (types and how
their questions begin), `count_part` (words and objects with answers), `label_part` (concepts, groups with answers).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...question_table import number_keys
from ..audit import read_split_names
from ..concepts import (
    IN,
    KO,
    KOP,
    KW,
    KWP,
    MAX_PREFIXES,
    MIN_PREFIX_SHARE,
    QT,
    ConceptBags,
    Ints,
    build_bags,
    count_type_words,
    find_prefix_types,
    gather_slices,
    match_prefixes,
    match_type_words,
    pair_members,
    rank_members,
    skip_type_words,
)
from ..tokens import TokenizedTexts
from .counts import PairCounts, save_pairs
from .plan import UNTYPED_VOCABULARY_FILE, LabelJob, join_codes, list_concept_parts, load_vocabulary
from .spool import Array, build_texts, locate_texts, unpack_texts

TYPE_COUNTS = "type_counts"  # the merged counts, in the spool
ALONE = {KW: "alone-words", KO: "alone-objects"}
TOGETHER = {KW: "together-words", KO: "together-objects"}


@dataclass(frozen=True, slots=True, eq=False)
class TypeCounts:
    """[type] samples, and those whose question begins with it."""

    asked: Ints
    begun: Ints

    def merge(self, other: "TypeCounts") -> "TypeCounts":
        return TypeCounts(self.asked + other.asked, self.begun + other.begun)


def assign_part(job: LabelJob) -> TypeCounts:
    """Global numbers for what the scan numbered by part; splits; types."""
    plan, name = job.plan, f"assign-{job.place}"
    if not plan.spool.has(name):
        _, scan = plan.scans.load(job.part.name)
        every = load_vocabulary(plan.spool)

        def renumber(field: str, among: object) -> Array:
            local = unpack_texts(scan[f"{field}_data"], scan[f"{field}_at"])
            return np.append(locate_texts(local, among), np.int32(-1))

        spoken = unpack_texts(scan["words_data"], scan["words_at"]).to_pylist()
        words = TokenizedTexts(tuple(spoken), scan["word_codes"], scan["word_at"])
        text, names = scan["text"].astype(np.int64), every.types.to_pylist()
        if plan.types == "given":
            kind = renumber("types", every.types)[scan["type"]]
        else:
            matched = match_prefixes(words, plan.prefixes)
            kind = locate_texts(build_texts(matched.values), every.types)[matched.codes][text]
        width = len(names) + 1
        distinct, of, asked = number_keys(text * width + (kind + 1))
        texts, kinds = distinct // width, distinct % width - 1
        start, end = words.at[texts], words.at[texts + 1]
        length = match_type_words(words, names, kinds, start, end)
        total, begun = count_type_words(kinds, length, asked, len(names))
        if plan.draw is None:
            said = unpack_texts(scan["splits_data"], scan["splits_at"]).to_pylist()
            split = read_split_names(said)[scan["split"]]
        else:
            split = plan.draw.assign(job.part.name, scan["key"])
        image_at = scan["object_at"]
        shown = renumber("kinds", every.kinds)[scan["object_codes"]].astype(np.int64)
        image = np.repeat(np.arange(len(image_at) - 1), np.diff(image_at))
        objects = build_bags(image, shown, len(image_at) - 1, np.zeros(0, np.int64))
        plan.spool.save(
            name, {}, answer=renumber("answers", every.answers)[scan["answer"]], split=split, kind=kind,
            words=renumber("words", every.words)[words.codes], bag=of.astype(np.int32), start=start, end=end,
            bag_kind=kinds, length=length, image=scan["image"], known=np.append(scan["known"], False)[scan["image"]],
            object_codes=objects.codes, object_at=objects.at, asked=total, begun=begun,
        )  # fmt: skip
        return TypeCounts(total, begun)
    _, file = plan.spool.load(name)
    return TypeCounts(file["asked"], file["begun"])


@dataclass(frozen=True, slots=True)
class PartLengths:
    """How many keys a part counted, of each kind of keys."""

    sizes: tuple[int, ...]


def count_part(job: LabelJob) -> PartLengths:
    """f(w, a) of the part's words and objects."""
    plan, name = job.plan, f"words-{job.place}"
    if not plan.spool.has(name):
        _, file = plan.spool.load(f"assign-{job.place}")
        answer, start = file["answer"], file["start"]
        if plan.settings.type_words != IN:
            _, counted_types = plan.spool.load(TYPE_COUNTS)
            names = load_vocabulary(plan.spool).types.to_pylist()
            prefix = find_prefix_types(names, counted_types["asked"], counted_types["begun"])
            start = start + skip_type_words(file["bag_kind"], file["length"], prefix)
        bag, member = gather_slices(file["words"], start, file["end"])
        bags = build_bags(bag, member.astype(np.int64), len(start), file["bag"].astype(np.int64))
        sizes = []
        for key, one in ((KW, bags), (KO, _read_objects(file))) if plan.objects else ((KW, bags),):
            pairs = pair_members(one, answer, plan.answer_width, plan.find_counted(file["split"]))
            save_pairs(plan.spool, f"{key}-{job.place}", PairCounts(pairs.keys, pairs.counts))
            sizes.append(len(pairs.keys))
        plan.spool.save(name, sizes, codes=bags.codes, at=bags.at, of=bags.of.astype(np.int32))
        return PartLengths(tuple(sizes))
    return PartLengths(tuple(plan.spool.load_record(name)))


def _read_objects(file: dict[str, Array]) -> ConceptBags:
    return ConceptBags(file["object_codes"], file["object_at"], file["image"].astype(np.int64))


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """What a part's samples add up to."""

    splits: tuple[int, int, int]
    unseen: tuple[tuple[int, int], ...]  # of words, then objects: samples with an unseen pair, with no seen one
    ties: tuple[int, ...]
    sizes: tuple[tuple[int, ...], ...] = ()  # one for every part: keys of each shortcut

    def merge(self, other: "LabelCounts") -> "LabelCounts":
        return LabelCounts(
            tuple(a + b for a, b in zip(self.splits, other.splits, strict=True)),  # type: ignore[arg-type]
            tuple((a + c, b + d) for (a, b), (c, d) in zip(self.unseen, other.unseen, strict=True)),
            tuple(a + b for a, b in zip(self.ties, other.ties, strict=True)),
            (*self.sizes, *other.sizes),
        )


def label_part(job: LabelJob) -> LabelCounts:
    """The concepts of the part's samples; how often each group has each answer, in every split."""
    plan, name = job.plan, f"label-{job.place}"
    if not plan.spool.has(name):
        _, file = plan.spool.load(f"assign-{job.place}")
        _, held = plan.spool.load(f"words-{job.place}")
        answer, split = file["answer"], file["split"]
        bags = {KW: ConceptBags(held["codes"], held["at"], held["of"].astype(np.int64))}
        if plan.objects:
            bags[KO] = _read_objects(file)
        columns: dict[str, tuple[Array, ...]] = {QT: (file["kind"],)}
        unseen, ties = [], []
        for (key, one), start in zip(bags.items(), job.starts, strict=True):
            pairs = pair_members(one, answer, plan.answer_width)
            together = np.array(plan.spool.map_array(TOGETHER[key])[start : start + len(pairs.keys)])
            best = rank_members(pairs, together, plan.spool.map_array(ALONE[key]), len(answer))
            columns |= {key: (best.first,), f"{key}P": (best.first, best.second)}
            unseen.append((best.unseen.samples, best.unseen.blind))
            ties.append(best.ties)
        sizes, pair = [], {}
        for shortcut in plan.shortcuts:
            found = columns[shortcut] if shortcut in (KWP, KOP) else tuple(
                columns[part][0] for part in list_concept_parts(shortcut)
            )  # fmt: skip
            group = join_codes(found, plan.list_radices(shortcut))
            keys = group * plan.split_width + (split + np.int64(1)) * plan.answer_width + answer
            inside = plan.find_grouped(shortcut, columns[KWP][1], file["known"])
            place = np.full(len(keys), -1, np.int32)
            chosen = np.ones(len(keys), bool) if inside is None else inside
            listed, place[chosen], counts = number_keys(keys[chosen])
            save_pairs(plan.spool, f"{shortcut}-{job.place}", PairCounts(listed, counts))
            sizes.append(len(listed))
            pair[shortcut] = place
        splits = [int((split == k).sum()) for k in range(3)]
        plan.spool.save(name, [splits, unseen, ties, sizes], split=split, **pair)
    splits, unseen, ties, sizes = plan.spool.load_record(name)
    return LabelCounts(tuple(splits), tuple(map(tuple, unseen)), tuple(ties), (tuple(sizes),))


# Learned question types: the prefixes that enough questions begin with, one word longer in every pass.


@dataclass(frozen=True, slots=True, eq=False)
class PrefixJob:
    """Count the beginnings, one word longer than the frequent ones of `levels`."""

    job: LabelJob
    words: int  # in the vocabulary
    levels: tuple[Ints, ...]  # [length − 1] node before × words + word, ascending; its place is the node


def count_prefixes(one: PrefixJob) -> PairCounts:
    """How many of the part's samples begin with a frequent beginning and then with each word."""
    plan = one.job.plan
    _, scan = plan.scans.load(one.job.part.name)
    local, every = (
        unpack_texts(scan["words_data"], scan["words_at"]),
        load_vocabulary(plan.spool, UNTYPED_VOCABULARY_FILE),
    )
    codes = np.append(locate_texts(local, every.words), -1)[scan["word_codes"]].astype(np.int64)
    at = scan["word_at"]
    asked = np.bincount(scan["text"], minlength=len(at) - 1)
    text = np.flatnonzero(np.diff(at) > len(one.levels))  # long enough for one word more
    node = np.zeros(len(text), np.int64)
    for depth, level in enumerate(one.levels):
        key = node * one.words + codes[at[text] + depth]
        node = np.searchsorted(level, key)
        there = np.append(level, -1)[node] == key
        text, node = text[there], node[there]
    keys, place, _ = number_keys(node * one.words + codes[at[text] + len(one.levels)])
    return PairCounts(keys, np.bincount(place, weights=asked[text], minlength=len(keys)).astype(np.int64))


def choose_prefixes(levels: Sequence[PairCounts], words: Sequence[str], samples: int) -> tuple[str, ...]:
    """What `learn_prefixes` finds, from the frequent beginnings of each length and how often each occurs.

    From long to short, a beginning becomes a type if enough samples have it that have no longer one.
    """
    names: list[list[tuple[str, ...]]] = [[()]]
    for level in levels:
        pairs = zip((level.keys // len(words)).tolist(), (level.keys % len(words)).tolist(), strict=True)
        names.append([(*names[-1][node], words[word]) for node, word in pairs])
    found: list[tuple[int, tuple[str, ...]]] = []
    taken = np.zeros(len(levels[-1].keys), np.int64)  # samples of each node that a longer type has
    for level, named in zip(reversed(levels), reversed(names), strict=False):
        free = level.counts - taken
        kept = free >= count_enough(samples)
        found += [(int(free[k]), named[k]) for k in np.flatnonzero(kept).tolist()]
        parent = level.keys // len(words)
        taken = np.bincount(parent, weights=np.where(kept, level.counts, taken), minlength=int(parent.max()) + 1)
        taken = taken.astype(np.int64)
        above = names[len(named[0]) - 1]
        taken = np.pad(taken, (0, len(above) - len(taken)))
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple(" ".join(prefix) for _, prefix in found[:MAX_PREFIXES])


def count_enough(samples: int) -> float:
    """How many samples must begin with a learned prefix."""
    return max(2, MIN_PREFIX_SHARE * samples)

"""Known: what the dataset is, what was odd about its files, and what the audit can not tell."""

from __future__ import annotations

from collections.abc import Iterator

from ...audit.labels import NONE
from ..markup import Child, tag
from ..number import count, percent, several
from ..section import Section
from .evidence import Evidence

TYPES = {
    "given": "given by the files",
    "prefixes": "the longest matching of the 65 question beginnings of VQA",
    "learned": "learned: the beginnings that many questions share",
}
FEW = 100  # samples of an OOD set below which its figures say little
ALONE = 0.25  # share of the test in one-answer groups that is worth a warning


def section(shown: Evidence) -> Section | None:
    made = [(tag("dt", name), tag("dd", said)) for name, said in (*_facts(shown), *_unknown(shown))]
    return Section(
        "The data, and what can not be known", tag("dl", made, class_="method"), "What the figures rest on."
    )


def _facts(shown: Evidence) -> Iterator[tuple[str, Child]]:
    audit = shown.audit
    samples, parts = audit.samples, audit.split.counts()
    yield (
        "Samples",
        f"{count(len(samples))} questions over {several(len(samples.images.values), 'image')}, with "
        f"{several(len(samples.answers.values), 'distinct answer')}.",
    )
    outside = len(samples) - sum(parts.values())
    sizes = f"{count(parts['train'])} train, {count(parts['val'])} val, {count(parts['test'])} IID test"
    how = (
        f"drawn at random by samples, seed {audit.settings.seed}" if audit.split.made else "as the files say"
    )
    yield "Split", f"{sizes}; {how}." + (f" {count(outside)} samples are in none of them." if outside else "")
    types = len(audit.labels["QT"]) if "QT" in audit.labels else 0
    yield "Question types", f"{several(types, 'type')}, {TYPES.get(audit.types, audit.types)}."
    over = (
        "all samples, as the paper has it" if audit.settings.statistics == "all" else "the train split only"
    )
    yield "Statistics", f"Which word or object goes with an answer is counted over {over}."
    yield (
        "Odd in the files",
        tag("ul", [tag("li", str(r)) for r in samples.remarks]) if samples.remarks else "Nothing.",
    )


def _unknown(shown: Evidence) -> Iterator[tuple[str, Child]]:
    audit = shown.audit
    reasons: dict[str, list[str]] = {}
    for name, why in audit.missing:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield "Not looked for", f"{', '.join(names)}: {why}. Nothing is known of these shortcuts here."
    yield from _objects(shown)
    if not audit.split.counts()["val"]:
        yield "No val split", "There are no OOD val sets, and nothing to choose a model on."
    few = [f"{s.shortcut} ({count(s.tail)})" for s in shown.lines if 0 < s.tail < FEW]
    if few:
        yield "Small OOD sets", f"{', '.join(few)}: fewer than {FEW} samples, so that intervals are wide."
    none = [s.shortcut for s in shown.lines if not s.tail]
    if none:
        yield "No OOD set", f"{', '.join(none)}: no imbalanced group in the test has a rare answer."
    alone = [f"{percent(s.single_share, 0)}% ({s.shortcut})" for s in shown.lines if s.single_share >= ALONE]
    if alone:
        yield (
            "Groups of one answer",
            f"Of the IID test’s grouped samples, {', '.join(alone)} lie in groups with a single answer. "
            "Whether these are shortcuts or just too few samples, the data do not say; they are in no head "
            "and no tail.",
        )
    for kind, unseen in audit.unseen.items():
        yield (
            f"Unseen {kind}",
            f"{count(unseen.samples)} samples outside train have {kind} that train never showed with their "
            f"answer ({several(unseen.pairs, 'distinct pair')}); {count(unseen.blind)} have no other, so "
            "that their concept rests on chance.",
        )
    yield (
        "Cause",
        "An imbalance says that a shortcut pays, not that a given model takes it; shortcuts overlap, so that "
        "none is seen alone.",
    )


def _objects(shown: Evidence) -> Iterator[tuple[str, Child]]:
    samples = shown.audit.samples
    if samples.objects is None or "KO" not in shown.audit.labels:
        return
    unknown = int((~samples.objects.known).sum())
    if unknown:
        yield (
            "Images without annotations",
            f"The object annotations do not name {count(unknown)} of "
            f"{several(len(samples.images.values), 'image')}: {percent(shown.unseen)}% of the samples are in "
            f"no group of a shortcut with KO. An image that is named without objects has “{NONE}”.",
        )

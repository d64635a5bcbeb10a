"""Limitations: what the dataset is, what was odd about its files, and what the audit cannot tell."""

from collections.abc import Iterator

from ...shortcuts.concepts import NO_CONCEPT
from ..audit_page import AuditEvidence
from ..markup import Child, render_terms, tag
from ..number_format import count_noun, format_count, format_percent
from ..page import Section

PLACES = {"audit": 20}
QUESTION_TYPE_SOURCES = {
    "given": "given by the files",
    "prefixes": "the longest matching of the 65 question beginnings of VQA",
    "learned": "learned: the beginnings that many questions share",
}
FEW = 100  # samples of an OOD set below which its figures say little
SINGLE_ANSWER_SHARE = 0.25  # share of the test in one-answer groups that is worth a warning


def section(evidence: AuditEvidence) -> Section | None:
    terms = render_terms((*_list_facts(evidence), *_list_unknowns(evidence)))
    return Section("Data and limitations", [terms], "What the figures rest on.")


def _list_facts(evidence: AuditEvidence) -> Iterator[tuple[str, Child]]:
    audit = evidence.audit
    samples = audit.samples
    yield (
        "Samples",
        f"{format_count(len(samples))} questions over {count_noun(len(samples.images.values), 'image')}, with "
        f"{count_noun(len(samples.answers.values), 'distinct answer')}.",
    )
    outside = len(samples) - sum(audit.split.counts().values())
    how = f"drawn at random by samples, seed {audit.settings.seed}" if audit.split.made else "as the files say"
    yield (
        "Split",
        f"{evidence.describe_split()}; {how}."
        + (f" {format_count(outside)} samples are in none of them." if outside else ""),
    )
    types = len(audit.labels["QT"]) if "QT" in audit.labels else 0
    yield ("Question types", f"{count_noun(types, 'type')}, {QUESTION_TYPE_SOURCES.get(audit.types, audit.types)}.")
    over = "all samples, as the paper has it" if audit.settings.statistics == "all" else "the train split only"
    yield "Statistics", f"Which word or object goes with an answer is counted over {over}."
    yield (
        "Odd in the files",
        tag("ul", [tag("li", str(r)) for r in samples.remarks]) if samples.remarks else "Nothing.",
    )


def _list_unknowns(evidence: AuditEvidence) -> Iterator[tuple[str, Child]]:
    audit = evidence.audit
    reasons: dict[str, list[str]] = {}
    for name, why in audit.missing:
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield "Not looked for", f"{', '.join(names)}: {why}. Nothing is known of these shortcuts here."
    if audit.samples.objects is not None and "KO" in audit.labels:
        unknown = int((~audit.samples.objects.known).sum())
        if unknown:
            yield (
                "Images without annotations",
                f"The object annotations do not name {format_count(unknown)} of "
                f"{count_noun(len(audit.samples.images.values), 'image')}: {format_percent(evidence.unseen)}% of the "
                "samples are in no group of a shortcut with KO. "
                f"An image that is named without objects has “{NO_CONCEPT}”.",
            )
    if not audit.split.counts()["val"]:
        yield "No val split", "There are no OOD val sets, and nothing to choose a model on."
    few = [f"{s.shortcut} ({format_count(s.tail)})" for s in evidence.lines if 0 < s.tail < FEW]
    if few:
        yield "Small OOD sets", f"{', '.join(few)}: fewer than {FEW} samples, so that intervals are wide."
    none = [s.shortcut for s in evidence.lines if not s.tail]
    if none:
        yield "No OOD set", f"{', '.join(none)}: no imbalanced group in the test has a rare answer."
    many = [s for s in evidence.lines if s.single_share >= SINGLE_ANSWER_SHARE]
    alone = [f"{format_percent(s.single_share, 0)}% ({s.shortcut})" for s in many]
    if alone:
        yield (
            "Groups of one answer",
            f"Of the IID test’s grouped samples, {', '.join(alone)} lie in groups with a single answer. Whether these "
            "are shortcuts or just too few samples, the data do not say; they are in no head and no tail.",
        )
    for kind, unseen in audit.unseen.items():
        yield (
            f"Unseen {kind}",
            f"{format_count(unseen.samples)} samples outside train have {kind} that train never showed with their "
            f"answer ({count_noun(unseen.pairs, 'distinct pair')}); {format_count(unseen.blind)} have no other, so "
            "that their concept rests on chance.",
        )
    yield (
        "Cause",
        "An imbalance says that a shortcut pays, not that a given model takes it; shortcuts overlap, so that "
        "none is seen alone.",
    )

"""The page of an audit, and what it is written from: the audit, blind models' scores, guesses by concept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..metrics.intervals import SceneClusters, none_if_nan
from ..result import Score
from ..run.audit import BlendScore
from ..shortcuts.audit import ShortcutAudit
from ..shortcuts.audit_statistics import ShortcutStatistics, compute_audit_statistics
from ..shortcuts.concepts import has_object_annotations
from ..shortcuts.groups import TAIL, AnswerGroups
from ..shortcuts.tied_answers import FoundTie
from .markup import Child, tag
from .number_format import count_noun, format_count, format_percent
from .page import Page, Tile, write_page

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ConceptGuess:
    """The share of right guesses; an answer is right if it is the sample's one answer."""

    iid: Score
    ood: Score  # on the shortcut's OOD test set


def score_guesses(audit: ShortcutAudit) -> Mapping[str, ConceptGuess]:
    """A guess a shortcut, for the samples that have a concept. Intervals take those of an image together."""
    answers = audit.samples.answers.codes
    tests = list(audit.test.items())
    if not tests or not len(tests[0][1].rows) or not len(audit.train[tests[0][0]].rows):
        return {}
    rows = tests[0][1].rows
    codes = np.array([groups.labels.codes[rows] for _, groups in tests])  # [shortcut, row]
    guesses = (np.append(find_commonest_answers(audit.train[name], answers), -1) for name, _ in tests)
    hits = [guess[codes[k]] for k, guess in enumerate(guesses)]  # without a concept, no guess
    right = np.array([h == answers[rows] for h in hits])
    tail = np.array([groups.part == TAIL for _, groups in tests])
    # One table of (shortcut, set) × row, so that all are measured at once.
    among = np.concatenate([codes >= 0, tail]).ravel()
    at = np.repeat(np.arange(2 * len(tests)), len(rows))
    images = audit.samples.images
    alone = len(images.values) + np.arange(len(audit.samples))  # a sample without an image stands for itself
    cluster = np.where(images.codes < 0, alone, images.codes).astype(np.int64)
    scenes = SceneClusters(np.tile(cluster[rows], 2 * len(tests)))
    estimates = scenes.estimate_shares(np.concatenate([right, right]).ravel(), among, at, 2 * len(tests))

    def build_score(metric: str, place: int) -> Score:
        n = int(among[place * len(rows) : (place + 1) * len(rows)].sum())
        value, low, high = (none_if_nan(column[place]) for column in estimates[:3])
        return Score(metric, value, n, low, high, scenes=int(estimates.scenes[place]))

    return {
        name: ConceptGuess(build_score("guess_iid", k), build_score("guess_ood", len(tests) + k))
        for k, (name, _) in enumerate(tests)
    }


def find_commonest_answers(train: AnswerGroups, answers: npt.NDArray[np.int32]) -> Codes:
    """[concept] the answer most frequent in the group, of equals the first; without a group, overall."""
    answer, concept = answers[train.rows].astype(np.int64), train.labels.codes[train.rows].astype(np.int64)
    width = int(answers.max(initial=0)) + 1
    overall = int(np.bincount(answer, minlength=1).argmax())
    pairs, counts = np.unique((concept * width + answer)[concept >= 0], return_counts=True)
    order = np.lexsort((pairs, -counts))
    group, first = np.unique(pairs[order] // width, return_index=True)
    commonest = np.full(len(train.labels), overall, np.int64)
    commonest[group] = pairs[order][first] % width
    return commonest


SHORTCUT_NAMES = {
    "QT": "question type",
    "KW": "key word",
    "KWP": "two key words",
    "QT+KW": "question type and key word",
    "KO": "key object",
    "KOP": "two key objects",
    "QT+KO": "question type and key object",
    "KW+KO": "key word and key object",
    "QT+KW+KO": "question type, key word and key object",
}
BLIND_MODEL_INPUTS = {
    "majority": "always gives the commonest answer",
    "prior": "knows only the type of the question",
    "question_only": "reads only the question",
    "object_only": "knows only which objects the image shows",
}
MOST_UNSEEN = 0.5  # share of samples without known objects above which these are not judged
FIRST_MODEL = 2  # the series of the first model: 0 and 1 are the colours of head and tail


@dataclass(frozen=True, slots=True, eq=False)
class AuditEvidence:
    """The records of an audit's page: the audit, with what blind models made of it."""

    audit: ShortcutAudit
    blind: Mapping[str, Sequence[Score]]  # by model
    blends: Sequence[BlendScore]
    source: str  # what the dataset is called; may be empty
    lines: tuple[ShortcutStatistics, ...]  # a shortcut each
    guesses: Mapping[str, ConceptGuess]  # by shortcut
    tied: tuple[FoundTie, ...] | None = None  # where the dataset has an OOD test of its own

    @property
    def ranked(self) -> tuple[ShortcutStatistics, ...]:
        """The shortcuts that have an OOD test set, the most imbalanced in train first."""
        return tuple(sorted((s for s in self.lines if s.tail), key=lambda s: (s.degree, -s.tail)))

    @property
    def strongest(self) -> ShortcutStatistics | None:
        """The first of the ranked; not one of objects where those of most samples are not known."""
        known = [s for s in self.ranked if self.unseen <= MOST_UNSEEN or "KO" not in s.shortcut]
        return next(iter(known), None)

    @property
    def unseen(self) -> float:
        """The share of the samples whose image the object annotations, where there are any, do not name."""
        if "KO" not in self.audit.labels:
            return 0.0
        return float(1 - has_object_annotations(self.audit.samples).mean())

    def series_of(self, model: str) -> int:
        """The number that decides a model's colour and sign."""
        return FIRST_MODEL + [*self.blind].index(model)

    def describe_split(self) -> str:
        """1,200 train, 300 val, 500 IID test."""
        n = self.audit.split.counts()
        return f"{format_count(n['train'])} train, {format_count(n['val'])} val, {format_count(n['test'])} IID test"

    def find_score(self, model: str, metric: str, shortcut: str = "") -> Score | None:
        """A model's score by its name, of one shortcut or of all; None where there is nothing to score."""
        where = (("shortcut", shortcut),) if shortcut else ()
        scores = (s for s in self.blind.get(model, ()) if s.metric == metric and s.slice == where)
        return next((s for s in scores if s.value is not None), None)


def gather_evidence(
    audit: ShortcutAudit,
    blind: Mapping[str, Sequence[Score]],
    blends: Sequence[BlendScore],
    source: str,
    tied: tuple[FoundTie, ...] | None = None,
) -> AuditEvidence:
    return AuditEvidence(audit, blind, blends, source, compute_audit_statistics(audit), score_guesses(audit), tied)


def describe_shortcut(shortcut: str) -> str:
    """A shortcut in words."""
    return SHORTCUT_NAMES.get(shortcut, shortcut)


TELLING = ("question_only", "object_only", "prior")  # the models that the verdict names first


def write_audit_page(
    out: Path,
    audit: ShortcutAudit,
    blind: Mapping[str, Sequence[Score]],
    blends: Sequence[BlendScore] = (),
    source: str = "",
    tied: tuple[FoundTie, ...] | None = None,
) -> None:
    """Write the page whole; one that is there is replaced. `source` is what the dataset is called."""
    write_page(build_audit_page(gather_evidence(audit, blind, blends, source, tied)), out)


def build_audit_page(evidence: AuditEvidence) -> Page:
    """The page of an audit, before its sections are made."""
    verdict = [tag("p", sentence, class_="verdict") for sentence in _list_verdict(evidence)]
    title = f"Shortcuts in {evidence.source or 'the dataset'}"
    return Page("audit", evidence, title, verdict, list(_list_tiles(evidence)))


def _list_verdict(evidence: AuditEvidence) -> Iterator[Child]:
    top = evidence.strongest
    if top is None:
        yield (
            "No shortcut was found: no group of the IID test has answers uneven enough (normalised entropy below "
            f"{evidence.audit.settings.imbalanced:g}) with rare ones among them, so there is no OOD test set."
        )
        return
    name = describe_shortcut(top.shortcut)
    uneven = f"answers that go with the same {name} are uneven"
    if not len(evidence.audit.train[top.shortcut].rows):
        uneven = f"in the IID test, which comes without a train split, {uneven} (E = {top.degree:.2f}, 1 is even)"
    elif evidence.audit.train[top.shortcut].imbalanced.any():
        uneven = f"in training, {uneven} (E = {top.degree:.2f}, where 1 is even)"
    else:
        uneven = f"in the IID test, though not in training, {uneven}"
    yield [
        "The strongest shortcut is ",
        tag("b", top.shortcut),
        f", the {name}: {uneven}, and ",
        tag("b", format_count(top.tail)),
        f" of {count_noun(evidence.audit.test[top.shortcut].sample_count, 'IID test sample')}"
        f"{' with such a concept' if top.outside else ''} have an answer that is rare for theirs: its OOD set.",
    ]
    reached: list[Child] = []
    for model in TELLING:
        iid, ood = evidence.find_score(model, "iid"), evidence.find_score(model, "ood", top.shortcut)
        if iid and ood and len(reached) < 2:
            reached.append([f"A model that {BLIND_MODEL_INPUTS[model]} reaches ", *_format_iid_and_ood(iid, ood), ". "])
    if reached:
        largest = _find_largest_gap(evidence)
        widest = "No other OOD set costs blind models more." if len(evidence.ranked) > 1 else ""
        if largest and largest[2] != top.shortcut:
            gap, model, name = largest
            widest = f"The widest gap is that of {model} to the OOD set of {name}: {format_percent(gap)} points."
        yield [reached, widest]
    elif guess := evidence.guesses.get(top.shortcut):
        yield [
            "Always giving the answer that it most often had in training is right for ",
            *_format_iid_and_ood(guess.iid, guess.ood),
            ".",
        ]
    if evidence.unseen > MOST_UNSEEN:
        yield (
            f"The objects of {format_percent(evidence.unseen)}% of the samples are not known: the figures of "
            "shortcuts with KO hold for the others only."
        )


def _format_iid_and_ood(iid: Score, ood: Score) -> Iterator[Child]:
    yield tag("b", f"{format_percent(iid.value)}%")
    yield " of the IID test and "
    yield tag("b", f"{format_percent(ood.value)}%")
    yield " of that OOD set"


def _list_tiles(evidence: AuditEvidence) -> Iterator[Tile]:
    audit = evidence.audit
    yield "Samples", format_count(len(audit.samples)), evidence.describe_split()
    lacking = f"{len(audit.missing)} could not be looked for" if audit.missing else "all could be looked for"
    yield "Shortcuts found", f"{len(evidence.ranked)} of {len(audit.labels) + len(audit.missing)}", lacking
    if top := evidence.strongest:
        yield "Most imbalanced", top.shortcut, f"evenness of answers {top.degree:.2f}; 1 is even"
    else:
        yield "Imbalanced groups", "0", f"of {count_noun(sum(s.test_groups for s in evidence.lines), 'group')}"
    if drop := _find_largest_gap(evidence):
        yield "Largest blind gap", f"{format_percent(drop[0])} points", f"{drop[1]}, from IID test to OOD {drop[2]}"


def _find_largest_gap(evidence: AuditEvidence) -> tuple[float, str, str] | None:
    gaps = [
        (gap.value, model, name)
        for model in evidence.blind
        for name in evidence.audit.labels
        if (gap := evidence.find_score(model, "gap", name)) and gap.value is not None
    ]
    return max(gaps, key=lambda one: one[0], default=None)

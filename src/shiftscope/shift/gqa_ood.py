"""GQA-OOD: the rare answers of the most uneven local groups are the tail, the frequent ones the head.

Kervadec et al., "Roses Are Red, Violets Are Blue" (CVPR 2021). The groups are GQA's own local ones ("14-man
wearing"), or those of any shortcut of VQA-VS. A group is kept if its normalised entropy is at most the mean
of all groups less one standard deviation (of these groups, dividing by their number); an answer is in the
tail if its count is below (1 + α) times the group's mean. As in the authors' construction, all groups count
alike, a group with one answer as one of entropy 1, and the questions without a local group are a group too.
Where all groups are perfectly even, all are therefore kept, and all of their answers are rare.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..question_table import QuestionTable, Rows, SampleSet
from ..shortcuts.audit import TEST, ShortcutAudit
from ..shortcuts.concepts import SHORTCUTS, ShortcutConcepts, build_labels, label_concepts
from ..shortcuts.groups import (
    HEAD,
    TAIL,
    AnswerGroups,
    PairFigures,
    count_answers,
    find_imbalanced,
    find_uneven,
    mark_pairs,
    split_head_tail,
)
from . import RecipeSets, StreamedRecipe

FOLDER = "GQA-OOD"  # of an audit's folder
ALPHA = 0.2
LOCAL = "local"  # GQA's own groups
NO_LOCAL_GROUPS = "the questions name no local groups; take those of a shortcut, such as QT+KW"
NEAREST = "QT+KW"  # what is nearest to them in data of another kind


@dataclass(frozen=True, slots=True)
class GqaOodSettings:
    """What the construction depends on."""

    alpha: float = ALPHA
    entropy: float | None = None  # keep groups below this instead of up to mean − deviation
    by: str = LOCAL  # or a shortcut of VQA-VS: QT, KW, …

    def __post_init__(self) -> None:
        if self.alpha <= -1:
            raise UserError(f"alpha must be above -1, not {self.alpha}")


SETTINGS = GqaOodSettings
AUDIT_OPTIONS = {  # of `shiftscope audit`: the setting that each gives, its type, its help
    "gqa-alpha": ("alpha", "float", "an answer is rare below 1 + this times the mean count."),
    "gqa-entropy": ("entropy", "float", "keep groups below this entropy, instead of by mean and deviation."),
    "gqa-by": ("by", "str", "the groups, local (GQA's own) or a shortcut such as QT+KW."),
}


def sets(
    samples: QuestionTable, settings: GqaOodSettings | None = None, rows: Rows | None = None
) -> tuple[SampleSet, ...]:
    """All samples of the kept groups, their head and their tail; of the given samples, else of all."""
    return _build_sets(build_groups(samples, settings, rows))


def build_recipe(found: ShortcutAudit, options: Mapping[str, Any]) -> RecipeSets:
    """The sets of an audit's IID test; by default by GQA's own groups, else by the nearest that other data have."""
    usual = {"by": LOCAL if found.samples.local is not None else NEAREST}
    chosen = GqaOodSettings(**usual | dict(options))
    made = build_audit_sets(found, chosen)
    return RecipeSets(asdict(chosen), {s.name: len(s) for s in made}, made)


def stream_recipe(options: Mapping[str, Any], missing: Mapping[str, str]) -> StreamedRecipe:
    """The same sets where samples are streamed; `missing` says why a shortcut has no groups."""
    chosen = GqaOodSettings(**{"by": NEAREST} | dict(options))
    if chosen.by == LOCAL:
        raise UserError(NO_LOCAL_GROUPS)
    if chosen.by not in SHORTCUTS:
        raise unknown("grouping", chosen.by, (LOCAL, *SHORTCUTS))
    if chosen.by in missing:
        raise UserError(f"no groups of {chosen.by}: {missing[chosen.by]}")

    def mark(pairs: PairFigures) -> npt.NDArray[np.int8]:
        kept = find_uneven(pairs) if chosen.entropy is None else find_imbalanced(pairs, chosen.entropy)
        return mark_pairs(pairs, kept, round(1 + chosen.alpha, 6))

    sets = ("all", (HEAD, TAIL)), ("head", (HEAD,)), ("tail", (TAIL,))
    return StreamedRecipe(asdict(chosen), chosen.by, mark, sets)


def build_audit_sets(found: ShortcutAudit, settings: GqaOodSettings | None = None) -> tuple[SampleSet, ...]:
    """The sets of an audit's IID test, by the audit's own concepts; none of them is in its train split."""
    return _build_sets(build_groups(found.samples, settings, found.split.rows(TEST), found))


def build_groups(
    samples: QuestionTable,
    settings: GqaOodSettings | None = None,
    rows: Rows | None = None,
    concepts: ShortcutConcepts | ShortcutAudit | None = None,
) -> AnswerGroups:
    """The groups with their heads and tails; a shortcut's are by the concepts given, else labelled anew."""
    chosen = settings or GqaOodSettings()
    if chosen.by == LOCAL:
        if samples.local is None:
            raise UserError(NO_LOCAL_GROUPS)
        labels = build_labels(LOCAL, (samples.local.values,), (samples.local.codes,))
    elif chosen.by not in SHORTCUTS:
        raise unknown("grouping", chosen.by, (LOCAL, *SHORTCUTS))
    else:
        concepts = concepts or label_concepts(samples)
        if chosen.by not in concepts.labels:
            raise UserError(f"no groups of {chosen.by}: {dict(concepts.missing).get(chosen.by, '')}")
        labels = concepts.labels[chosen.by]
    counted = count_answers(labels, samples.answers.codes, np.arange(len(samples)) if rows is None else rows)
    pairs = counted.pairs
    kept = find_uneven(pairs) if chosen.entropy is None else find_imbalanced(pairs, chosen.entropy)
    return split_head_tail(counted, kept, round(1 + chosen.alpha, 6))


def _build_sets(found: AnswerGroups) -> tuple[SampleSet, ...]:
    inside = found.rows[found.part > 0]
    return SampleSet("all", inside), SampleSet("head", found.head), SampleSet("tail", found.tail)

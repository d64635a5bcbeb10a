"""The proportion study: what a model learns from training sets with more and more shortcut samples.

VQA-VS (Si et al., 2022), §5.3 and Figure 7, with the question-only model in place of theirs by default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..audit.proportion import SHARES, Blend, blends
from ..metrics.head_tail import PART, measure
from ..result import Records, Score
from .blind import Blind

MODEL = "question_only"
Tell = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BlendScore:
    """Accuracy on the head and on the tail (OOD) of a shortcut, after training on one blend."""

    shortcut: str
    share: int  # per cent of the training set that are shortcut samples
    n_train: int
    head: Score
    tail: Score


def proportion_study(
    blind: Blind,
    shortcuts: Sequence[str],
    shares: Sequence[int] = SHARES,
    model: str = MODEL,
    tell: Tell = lambda done, total: None,
) -> tuple[BlendScore, ...]:
    """A score for every shortcut and share; shortcuts without a head or a tail to blend are left out."""
    listed = [b for name in shortcuts for b in blends(blind.audit, name, shares, blind.seed)]
    made = []
    for done, blend in enumerate(listed):
        tell(done, len(listed))
        made.append(_scored(blend, blind.records(model, train=blend.rows)))
    tell(len(listed), len(listed))
    return tuple(made)


def _scored(blend: Blend, records: Records) -> BlendScore:
    column = dict(records.facts)[blend.shortcut]
    head, tail, *_ = measure(replace(records, facts=(*records.facts, (PART, column))))
    return BlendScore(blend.shortcut, blend.share, len(blend.rows), head, tail)

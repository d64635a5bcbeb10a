"""Parts: the lists of questions that a study of a held-out property trains, stops, and is tested on.

train_iid        all training questions
train_text_only  the same, for a model that is shown no image
train_zero_shot  those without the property; with shots it is train_m_shot, which has so many with it, too
train_iid_size   as many as that, drawn evenly from all: the upper bound
val_without      development questions without the property, to stop early by; val_comp: those with it
test_comp        test questions with the property; test_iid: all of them
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import UserError
from ...question import Question
from ...rng import derive
from .corpus import Corpus
from .expression import parse
from .predicate import Predicate

if TYPE_CHECKING:
    from ...audit.sets import SampleSet

TRAIN, VAL, TEST = "train", "val", "test"
ROLES = (TRAIN, VAL, TEST)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the parts depend on besides the questions."""

    hold_out: str
    shots: int = 0  # questions with the property that are trained on all the same
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Marked:
    """The ids of one role, sorted: those with the property, and those without."""

    held: tuple[str, ...]
    rest: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(sorted((*self.held, *self.rest)))


@dataclass(frozen=True, slots=True)
class Part:
    """A list of questions, sorted, and what it is for."""

    name: str
    role: str  # whose questions they are: train, val or test
    ids: tuple[str, ...]
    use: str


def sets(samples: Sequence[Question], settings: Settings) -> tuple[SampleSet, ...]:
    """The parts of questions whose provenance names their split, as rows of them."""
    import numpy as np

    from ...audit.sets import SampleSet

    rows = {question.id: k for k, question in enumerate(samples)}
    if len(rows) < len(samples):
        raise UserError("two questions have the same id")
    hold_out = parse(settings.hold_out)
    splits = [question.provenance.split for question in samples]
    corpus = Corpus(lambda: ((split == TRAIN, q) for split, q in zip(splits, samples, strict=True)))
    fitted = hold_out.fitted(corpus, settings.seed)
    marked = {
        role: mark([(q.id, fitted(q)) for split, q in zip(splits, samples, strict=True) if split == role])
        for role in ROLES
        if role in splits
    }
    parts = parts_of(marked, settings, hold_out)
    return tuple(SampleSet(p.name, np.array(sorted(rows[one] for one in p.ids), np.int64)) for p in parts)


def mark(ids: Sequence[tuple[str, bool]]) -> Marked:
    """Ids with whether they have the property, in one order."""
    return Marked(
        tuple(sorted(i for i, held in ids if held)), tuple(sorted(i for i, held in ids if not held))
    )


def parts_of(marked: Mapping[str, Marked], settings: Settings, hold_out: Predicate) -> tuple[Part, ...]:
    """All parts; what can not be trained or tested is refused. Without test questions, val is tested on."""
    train = marked.get(TRAIN)
    tested = TEST if TEST in marked else VAL
    if train is None or tested not in marked:
        raise UserError(
            f"a split needs questions to train on and to test on, and there are none for {_lacking(marked)}"
        )
    test, shots, seed = marked[tested], settings.shots, settings.seed
    _check(train, test, hold_out, shots)
    shown = _some(train.held, shots, "m_shot", seed)
    comp = tuple(sorted((*train.rest, *shown)))
    kind = f"few-shot, of M={shots:,} with the property" if shots else "zero-shot"
    parts = [
        Part("train_text_only", TRAIN, train.all, "the text baseline: the same questions, no image is shown"),
        Part(
            "train_m_shot" if shots else "train_zero_shot",
            TRAIN,
            comp,
            f"the model that is to generalise, {kind}",
        ),
        Part(
            "train_iid_size",
            TRAIN,
            _some(train.all, len(comp), "iid_size", seed),
            "the upper bound of the score: as many questions, drawn evenly from all",
        ),
        Part("train_iid", TRAIN, train.all, "for comparison: all training questions"),
    ]
    if VAL in marked:
        parts.append(Part("val_without", VAL, marked[VAL].rest, "to stop early by: without the property"))
        parts.append(Part("val_comp", VAL, marked[VAL].held, "development questions with the property"))
    parts.append(Part("test_comp", tested, test.held, "the test: questions with the property"))
    parts.append(Part("test_iid", tested, test.all, "all test questions"))
    return tuple(parts)


def _lacking(marked: Mapping[str, Marked]) -> str:
    return "training" if TRAIN not in marked else "testing (a split test or val)"


def _check(train: Marked, test: Marked, hold_out: Predicate, shots: int) -> None:
    if shots < 0:
        raise UserError(f"{shots} shots can not be drawn; give 0 or more")
    if not train.held:
        raise UserError(f"no training question has {hold_out}, so that nothing would be held out")
    if not test.held:
        raise UserError(f"no test question has {hold_out}, so that nothing would be tested")
    if len(train.held) <= shots:
        raise UserError(
            f"{len(train.held):,} training questions have {hold_out}: with {shots:,} shots none is held "
            "out; give fewer with --shots"
        )
    if not train.rest and not shots:
        raise UserError(f"every training question has {hold_out}, so that none would be left to train on")


def _some(ids: Sequence[str], count: int, what: str, seed: int) -> tuple[str, ...]:
    """So many of sorted ids, each as likely, sorted again."""
    order = derive("held_out", what, seed).permutation(len(ids))
    return tuple(sorted(ids[k] for k in order[:count].tolist()))

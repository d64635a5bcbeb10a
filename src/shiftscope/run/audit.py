"""Audit a dataset: find its shortcuts, write its OOD sets, and say how far a blind model gets.

The folder it makes (`audit/folder.py`) has VQA-VS's files (`audit/layout.py`), `marks.parquet` (every
sample's concepts and parts, by which runs are scored), `audit.json` (all figures), and what the caller adds
to them, such as a report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..audit.audit import Audit, Settings, audit
from ..audit.folder import FIGURES, refuse_unfit, staged
from ..audit.layout import write_sets
from ..audit.marks import write_marks
from ..audit.proportion import blends
from ..audit.reading import read_samples
from ..audit.samples import Samples
from ..audit.tables import coincidence, jaccard, table
from ..errors import UserError
from ..result import Score
from ..shift import vqa_vs
from ..store.dataset import Dataset
from ..store.lock import locked
from ..store.shortcuts import samples_in
from ..whole import utf8, write_whole
from . import recipes as recipe_book
from .blind import Blind
from .proportion import BlendScore, proportion_study

Tell = Callable[[str, int, int], None]  # what is under way, done, of how many


@dataclass(frozen=True, slots=True)
class Files:
    """What is audited: question files with their annotations, or a dataset's folder."""

    questions: tuple[Path, ...] = ()
    annotations: tuple[Path, ...] = ()
    objects: tuple[Path, ...] = ()
    splits: tuple[str, ...] = ()  # of each questions file, where they are given apart
    dataset: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        own = (self.dataset,) if self.dataset else ()
        return (*own, *self.questions, *self.annotations, *self.objects)


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """All that was found and measured."""

    found: Audit
    blind: Mapping[str, tuple[Score, ...]]
    blends: tuple[BlendScore, ...]
    recipes: tuple[recipe_book.Made, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()  # blind models that could not be asked, and why


Also = Callable[[Path, Audited], None]  # writes something into the audit's folder


def read(files: Files) -> Samples:
    """The samples of the files, or of a dataset of ours with the objects of its scenes."""
    if files.dataset is None:
        return read_samples(files.questions, files.annotations, files.objects, files.splits)
    if files.questions:
        raise UserError("give a dataset's folder or --questions, not both")
    dataset = Dataset.open(files.dataset)
    dataset.verify()
    return samples_in(dataset)


def audit_files(
    files: Files,
    out: Path,
    settings: Settings | None = None,
    *,
    blind: bool = True,
    proportions: Sequence[int] = (),
    recipes: Mapping[str, recipe_book.Options] | None = None,
    also: Also = lambda folder, made: None,
    tell: Tell = lambda what, done, total: None,
) -> Audited:
    """Read, label, measure and write; an earlier audit in the folder is replaced at the end, all at once.

    `recipes` names further ways to part the samples (gqa_ood, changing_priors) with their settings.
    """
    refuse_unfit(out, files.paths)
    with locked(out):
        refuse_unfit(out, files.paths)
        recipe_book.check(recipes or {})
        tell("reading", 0, 0)
        samples = read(files)
        tell("labelling", 0, 0)
        found = audit(samples, settings)
        parted = tuple(recipe_book.made(name, found, options) for name, options in (recipes or {}).items())
        sets = [*vqa_vs.sets_of(found), *(one for made in parted for one in made.sets)]
        for name in found.labels if proportions else ():
            sets += [b.set() for b in blends(found, name, proportions, found.settings.seed)]
        with staged(out) as folder:
            write_sets(samples, sets, folder, lambda done, total: tell("writing", done, total))
            write_marks(found, folder)
            made = _measured(found, parted, blind, proportions, tell)
            also(folder, made)
            text = json.dumps(figures(made), ensure_ascii=False, allow_nan=False, indent=1)
            write_whole(folder / FIGURES, utf8(text))
        return made


def _measured(
    found: Audit, parted: tuple[recipe_book.Made, ...], blind: bool, proportions: Sequence[int], tell: Tell
) -> Audited:
    """With what blind models make of it; one that has nothing to learn from is passed over."""
    scores: dict[str, tuple[Score, ...]] = {}
    skipped: list[tuple[str, str]] = []
    asked = Blind(found, found.settings.seed)
    for done, model in enumerate(asked.models if blind else ()):
        tell(f"asking {model}", done, len(asked.models))
        try:
            scores[model] = asked.scores(model)
        except UserError as error:
            skipped.append((model, str(error)))
    studied: tuple[BlendScore, ...] = ()
    if proportions:
        shortcuts = tuple(found.labels)
        try:
            studied = proportion_study(
                asked, shortcuts, proportions, tell=lambda d, n: tell("blending", d, n)
            )
        except UserError as error:
            skipped.append(("the proportion study", str(error)))
    return Audited(found, scores, studied, parted, tuple(skipped))


def figures(made: Audited) -> dict[str, Any]:
    """All figures as plain data."""
    found = made.found
    return {
        "source": found.samples.source,
        "samples": len(found.samples),
        "images": len(found.samples.images.values),
        "answers": len(found.samples.answers.values),
        "split": found.split.counts() | {"drawn": found.split.made},
        "types": found.types,
        "settings": asdict(found.settings),
        "remarks": [asdict(r) for r in found.samples.remarks],
        "missing": dict(found.missing),
        "unseen": {name: asdict(one) for name, one in found.unseen.items()},
        "shortcuts": [asdict(line) for line in table(found)],
        "jaccard": {"names": list(found.labels), "values": jaccard(found).values.tolist()},
        "coincidence": {"names": list(found.labels), "values": coincidence(found).values.tolist()},
        "recipes": {one.recipe: {"settings": one.settings, "counts": one.counts} for one in made.recipes},
        "blind": {model: [_score(s) for s in scores] for model, scores in made.blind.items()},
        "blind_skipped": dict(made.skipped),
        "proportions": [
            {"shortcut": b.shortcut, "share": b.share, "n_train": b.n_train}
            | {"head": _score(b.head), "tail": _score(b.tail)}
            for b in made.blends
        ],
    }


def _score(score: Score) -> dict[str, Any]:
    named = {"metric": score.metric} | ({"slice": dict(score.slice)} if score.slice else {})
    return named | {"value": score.value, "low": score.low, "high": score.high, "n": score.n}

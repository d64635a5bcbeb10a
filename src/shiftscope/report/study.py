"""Study: the runs of a report, arranged by who was asked and what about.

A *contender* is a model, or one training of it; a *test* is the data it was asked about. Both are read from
the runs' specs: `model`, `trained_on`, `data`, `variant`, `split`, `seed`. Where a model was trained on
several variants, a run at *home* is one asked about what it was trained on: models are compared at home, and
what leaving home costs is shown apart. Runs whose specs differ in the seed alone are one contender.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from ..canonical import canonical_json
from ..errors import UserError
from ..formats import _json
from ..metrics.generalization_score import text_rows
from ..result import AS_IS, Lineage, Lists, Records, RunLog
from ..run.sample import sample_of
from ..run.select import NAME as SELECTION
from ..run.source import data_id, lineage_of
from ..store.dataset import Dataset
from ..store.runlog import PLACES, read_run
from ..whole import real
from .roles import TEXT, asked_part, learned_part, role_of

# Models that mark the floor and the ceiling of a test: they are shown apart and are never "the best".
REFERENCES = ("random", "majority", "majority_per_template", "question_only", "oracle")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run with the names it goes by on the page."""

    log: RunLog
    records: Records  # asked as is, without any condition
    model: str
    trained: str  # the variant it was trained on, or nothing
    test: str
    contender: str = ""  # the name it is compared under
    training: str = ""  # the same for all runs of one trained model
    home: bool = True
    folder: Path | None = None
    data: Path | None = None  # the dataset; None where what is there now is not what was asked about
    seeds: tuple[Run, ...] = ()  # all runs of several seeds; what is shown one by one is of the first
    lineage: Lineage | None = None  # what its data are a variant of, where that is known

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.log.spec)

    @property
    def selection(self) -> dict[str, Any]:
        """What it was chosen on, where `shiftscope select` chose it; else nothing."""
        path = self.folder / SELECTION if self.folder else None
        found = _json.load(path) if path and path.is_file() else {}
        if not isinstance(found, dict) or not isinstance(found.get("chosen_from", []), list):
            raise UserError(f"{path}: not what shiftscope select writes; select again, or delete it")
        return found

    @property
    def reference(self) -> bool:
        """Whether it is a built-in floor or ceiling; an endpoint's model of that name is none."""
        return str(self.spec.get("model") or "") in REFERENCES

    @property
    def lacking(self) -> int:
        """Questions that were to be asked and have no row yet, as `shiftscope score` counts them."""
        return int((self.records.question.codes < 0).sum())

    @property
    def sample(self) -> str:
        """Which questions of the split it was to be asked, where not all; in words."""
        return sample_of(self.log)

    @property
    def factor(self) -> str:
        """What its data differ in from their base, as all of its questions say; else nothing."""
        return only(self.log.records, "factor")

    def is_base_of(self, other: Run) -> bool:
        """Whether the other's data differ from this one's in one factor, and share all else."""
        if self.lineage is None or other.lineage is None:
            return self.source == other.source
        return self.lineage.own == other.lineage.base

    @property
    def each(self) -> tuple[Run, ...]:
        """The runs of all its seeds; itself where there is one."""
        return self.seeds or (self,)

    @property
    def source(self) -> str:
        """The same for runs about the same scenes, whatever they are called."""
        return canonical_json([_identity(self), self.spec.get("split") or ""])

    @property
    def asked(self) -> str:
        """The same for runs in which equal names are the same question, and the same questions are asked."""
        limit = self.spec.get("limit")
        sample = [limit] if limit and self.sample else []
        return canonical_json([_identity(self), self.spec.get("split") or "", self.variant, *sample])

    @property
    def variant(self) -> str:
        """The variant of the data, as the run's spec or all of its questions say."""
        if self.spec.get("variant"):
            return str(self.spec["variant"])
        return asked_part(self.spec) or only(self.log.records, "variant")

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that questions were asked under, in the order of the rows."""
        column = self.log.records.condition
        there = set(np.unique(column.codes).tolist())
        return tuple(value for k, value in enumerate(column.values) if k in there)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """All runs; contenders in the order given, reference points last."""

    runs: tuple[Run, ...]

    @property
    def each(self) -> tuple[Run, ...]:
        """Every run, those of several seeds one by one."""
        return tuple(one for run in self.runs for one in run.each)

    @property
    def contenders(self) -> tuple[str, ...]:
        ordered = sorted(self.runs, key=lambda r: r.reference)
        return tuple(dict.fromkeys(r.contender for r in ordered))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.test for r in self.runs))

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.contender for r in self.runs if r.reference))

    def series(self, contender: str) -> int:
        """The number that gives a contender its colour and sign, the same in every chart."""
        return self.contenders.index(contender)

    def run(self, contender: str, test: str) -> Run | None:
        return next((r for r in self.runs if r.contender == contender and r.test == test), None)

    def of(self, contender: str) -> tuple[Run, ...]:
        return tuple(r for r in self.runs if r.contender == contender)

    def home(self) -> Study:
        """The runs that models are compared by."""
        at_home = tuple(r for r in self.runs if r.home)
        return Study(at_home) if at_home else self


def judged(runs: Sequence[Run]) -> list[Run]:
    """The runs to rank and look into: those of models, or of reference points where there is nothing else."""
    models = [r for r in runs if not r.reference]
    return models or [r for r in runs if r.spec.get("model") != "oracle"] or list(runs)


def read_study(folders: Iterable[Path], data: Path | None = None) -> Study:
    """The runs in these folders; `data` is where their dataset is now, if it has moved."""
    listed = list(folders)
    if not listed:
        raise UserError("give the folder of at least one run: shiftscope report RUN --out report.html")
    twice = [str(f) for f, n in Counter(real(f) for f in listed).items() if n > 1]
    if twice:
        raise UserError(f"{twice[0]} is given twice")
    return study_of([(read_run(folder), folder) for folder in listed], data)


def study_of(logs: Sequence[tuple[RunLog, Path | None]], data: Path | None = None) -> Study:
    """The study that these logs make up."""
    moved = _content(data) if data else None
    runs = [_run(log, folder, data, moved) for log, folder in logs]
    if data is not None and not any(run.data == data for run in runs):
        raise UserError(f"{data}: another dataset than the one that the runs were asked about")
    return Study(tuple(_named_contenders(_seeds_together(_named_tests(runs)))))


def _run(log: RunLog, folder: Path | None, data: Path | None, moved: str | None) -> Run:
    spec = dict(log.spec)
    place = _dataset(spec, data, moved)
    lineage = log.lineage or _lineage(place)
    scope = lineage.root if lineage else str(spec.get("data_id") or spec.get("data") or "")
    log = replace(log, records=_scoped(log.records, scope))
    return Run(
        log=log,
        records=_as_is(log, folder),
        model=_model(spec),
        trained=str(spec.get("trained_on") or learned_part(spec)),
        test="",
        folder=folder,
        data=place,
        lineage=lineage,
    )


def _scoped(records: Records, scope: str) -> Records:
    """With names of images that are the same only where they show the same place."""
    images = records.images
    named = Lists(tuple(f"{scope} {name}" for name in images.values), images.codes, images.at)
    return replace(records, images=named)


def _lineage(folder: Path | None) -> Lineage | None:
    """That of the dataset in a folder, for a run that does not tell."""
    try:
        return lineage_of(Dataset.open(folder)) if folder else None
    except UserError:
        return None


def _as_is(log: RunLog, folder: Path | None) -> Records:
    """The rows asked as they are, of a text-only model those without images; other runs are not compared."""
    text = role_of(dict(log.spec)) == TEXT
    found = text_rows(log.records) if text else log.records.under(AS_IS)
    if len(log.records) and not len(found):
        under = ", ".join(sorted({str(c) for c in log.records.condition.listed()}))
        raise UserError(
            f"{folder or 'a run'} was asked only under {under}; a report compares questions asked as they "
            f"are: make a run with --condition {AS_IS}, and its pictures, besides, and give that"
        )
    return found


def _model(spec: Mapping[str, Any]) -> str:
    """A model by the part of its name that people say: llava for openai:llava@http://…."""
    name = str(spec.get("model") or "model")
    kind, _, target = name.partition(":")
    if kind == "openai":
        return target.partition("@")[0] or name
    return PurePath(target).name if kind in ("hf", "predictions") and target else name


def _dataset(spec: Mapping[str, Any], moved: Path | None, content: str | None) -> Path | None:
    """Where the run's dataset is: ids repeat from one dataset to another, so its content must be the same."""
    wanted = spec.get("data_id")
    if moved is not None and (not wanted or content == wanted):
        return moved
    if not spec.get("data"):
        return None
    folder = Path(str(spec["data"]))
    return folder if not wanted or _content(folder) == wanted else None


def _content(folder: Path) -> str | None:
    """The identity of a dataset's content; None where no finished dataset is there."""
    try:
        return data_id(Dataset.open(folder))
    except UserError:
        return None


def _identity(run: Run) -> str:
    return str(run.spec.get("data_id") or run.spec.get("data") or "")


def _named_tests(runs: Sequence[Run]) -> list[Run]:
    """Name what was asked about in as few words as tell it apart: the variant or folder, split, parent, id.

    What is the same goes by one name, that of its first run, wherever its folder stood.
    """
    firsts: dict[str, Run] = {}
    for run in runs:
        firsts.setdefault(run.asked, run)
    names = {
        key: [run.variant or PurePath(str(run.spec.get("data") or "data")).name or "data"]
        for key, run in firsts.items()
    }
    for more in (_split_name, _sample_name, _parent_name, _identity_name):
        taken = Counter(" ".join(name) for name in names.values())
        for key, run in firsts.items():
            if taken[" ".join(names[key])] > 1 and more(run):
                names[key] = [*names[key], more(run)]
    return [replace(run, test=" ".join(names[run.asked])) for run in runs]


def only(records: Records, fact: str) -> str:
    """The value of a fact that all rows share; those that are not there do not count."""
    column = dict(records.facts).get(fact)
    if column is None:
        return ""
    used = np.unique(column.codes[records.question.codes >= 0])
    return str(column.values[int(used[0])]) if len(used) == 1 and used[0] >= 0 else ""


def _split_name(run: Run) -> str:
    return str(run.spec.get("split") or "")


def _sample_name(run: Run) -> str:
    limit = run.spec.get("limit")
    return f"(first {limit:,})" if limit and run.sample else ""


def _parent_name(run: Run) -> str:
    parent = PurePath(str(run.spec.get("data") or "")).parent.name
    return f"({parent})" if parent else ""


def _identity_name(run: Run) -> str:
    return f"[{_identity(run)[:8]}]"


def _seeds_together(runs: Sequence[Run]) -> list[Run]:
    """Runs that differ in the seed alone as one, in the place of the first."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        rest = {k: v for k, v in run.spec.items() if k not in ("seed", PLACES)}
        groups.setdefault(canonical_json([run.test, rest]), []).append(run)
    made = []
    for group in groups.values():
        several = len({run.spec.get("seed") for run in group}) == len(group) > 1
        made += [replace(group[0], seeds=tuple(group))] if several else group
    return made


def _named_contenders(runs: Sequence[Run]) -> list[Run]:
    """Name a contender by its model, and by training, seed, folder or place where that is not enough."""
    trainings: dict[str, set[str]] = {}
    for run in runs:
        trainings.setdefault(run.model, set()).add(run.trained)
    names = [
        f"{r.model} ({r.trained})" if r.trained and len(trainings[r.model]) > 1 else r.model for r in runs
    ]
    for more in (_seed_name, _folder_name, _place_name):
        taken = Counter(zip(names, (r.test for r in runs), strict=True))
        names = [
            f"{name}, {said}" if taken[name, run.test] > 1 and (said := more(run, k)) else name
            for k, (name, run) in enumerate(zip(names, runs, strict=True), 1)
        ]
    # What was held out of training is no other variant: such trainings are compared where they are asked.
    variants: dict[str, set[str]] = {}
    for run in runs:
        if not role_of(run.spec):
            variants.setdefault(run.model, set()).add(run.trained)
    several = {model for model, of in variants.items() if len(of) > 1}
    made = []
    for run, name in zip(runs, names, strict=True):
        role = role_of(run.spec)
        at_home = not role and run.model in several and run.trained == run.test
        home = at_home or run.model not in several or bool(role)
        named: dict[str, Any] = {"contender": run.model if at_home else name, "training": name, "home": home}
        seeds = tuple(replace(one, **named) for one in run.seeds)
        made.append(replace(run, **named, seeds=seeds))
    return made


def _seed_name(run: Run, place: int) -> str:
    return f"seed {run.spec['seed']}" if "seed" in run.spec else ""


def _folder_name(run: Run, place: int) -> str:
    return run.folder.name if run.folder else ""


def _place_name(run: Run, place: int) -> str:
    return f"run {place}"

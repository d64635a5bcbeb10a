"""The runs of a report, arranged by model and test.

A *contender* is a model, or one training of it; a *test* is the data it was evaluated on. Both are read from
the runs' specs: `model`, `trained_on`, `data`, `variant`, `split`, `seed`. Where a model was trained on
several variants, an in-domain run is one evaluated on what it was trained on: models are compared in
domain, and out-of-domain runs are shown apart. Runs whose specs differ in the seed alone are one contender.
For a held-out property, the *role* of a run (text_only, iid_size, shot, iid) follows from its training data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from ..columns import ListColumn
from ..errors import UserError
from ..files import resolve_links
from ..json_files import load_json
from ..metrics.generalization_score import select_text_rows
from ..records import canonical_json
from ..result import AS_IS, Lineage, RunLog, RunRecords
from ..run.question_source import find_lineage
from ..run.score import describe_sample
from ..run.select import NAME as SELECTION
from ..store.dataset import Dataset, data_id
from ..store.run_log import PLACES_FIELD, read_run
from ..trained_folder import TRAINING_FIELD
from ..url_path import parse_path

TRAINED_FIELDS = ("model", "weights", "model_id")  # of a spec: in which trainings of one model differ
TEXT, UPPER, HELD_OUT, ALL = "text_only", "iid_size", "shot", "iid"
_ROLES = re.compile(r"(?:train_)?(text_only|iid_size|iid|(?:zero|m|\d+)_shot)")


def read_part(spec: Mapping[str, Any], key: str = "part") -> str:
    """What part of a dataset was tested on (`part`) or learned from (`learned_part`); nothing where it was all."""
    part = spec.get(key)
    return str(part.get("name") or "") if isinstance(part, Mapping) else ""


def read_role(spec: Mapping[str, Any]) -> str:
    """text_only, iid_size (the upper bound), shot (what is to generalise), iid; or nothing."""
    part = read_part(spec, "learned_part") or str(spec.get("trained_on") or "")
    match = _ROLES.fullmatch(part.rpartition(":")[2].replace("-", "_").replace(" ", "_"))
    if match is None:
        return ""
    return HELD_OUT if match[1].endswith("_shot") else match[1]


# Models that mark the floor and the ceiling of a test: they are shown apart and are never "the best".
REFERENCES = ("random", "majority", "majority_per_template", "question_only", "oracle")


@dataclass(frozen=True, slots=True, eq=False)
class ReportRun:
    """One run with the names it goes by on the page."""

    log: RunLog
    records: RunRecords  # under no condition
    model: str
    trained: str  # the variant it was trained on, or nothing
    test: str
    contender: str = ""  # the name it is compared under
    training: str = ""  # the same for all runs of one trained model
    home: bool = True
    folder: Path | None = None
    data: Path | None = None  # the dataset; None where another is there now
    seeds: tuple[ReportRun, ...] = ()  # all runs of several seeds; what is shown one by one is of the first
    lineage: Lineage | None = None  # what its data are a variant of, where that is known

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.log.spec)

    @property
    def selection(self) -> dict[str, Any]:
        """What it was chosen on, where `shiftscope select` chose it; else nothing."""
        path = self.folder / SELECTION if self.folder else None
        selection = load_json(path) if path and path.is_file() else {}
        if not isinstance(selection, dict) or not isinstance(selection.get("chosen_from", []), list):
            raise UserError(f"{path}: not what shiftscope select writes; select again, or delete it")
        return selection

    @property
    def is_reference(self) -> bool:
        """Whether it is a built-in floor or ceiling; an endpoint's model of that name is none."""
        return str(self.spec.get("model") or "") in REFERENCES

    @property
    def seed(self) -> str:
        """The seed of the run, and of the training of its model where that is known; no two seeds share it."""
        trained = _read_training(self.spec).get("seed")
        own = "" if self.spec.get("seed") is None else str(self.spec["seed"])
        return own if trained is None else f"{own} of training {trained}".strip()

    @property
    def sample(self) -> str:
        """Which questions of the split it covers, where not all; in words."""
        return describe_sample(self.log)

    @property
    def factor(self) -> str:
        """What its data differ in from their base, as all of its questions or its spec say; else nothing."""
        return read_shared_fact(self.log.records, "factor") or str(self.spec.get("factor") or "")

    def is_base_of(self, other: ReportRun) -> bool:
        """Whether the other's data differ from this one's in one factor, and share all else."""
        if self.lineage is None or other.lineage is None:
            return self.source_id == other.source_id
        return self.lineage.own == other.lineage.base

    @property
    def each(self) -> tuple[ReportRun, ...]:
        """The runs of all its seeds; itself where there is one."""
        return self.seeds or (self,)

    @property
    def source_id(self) -> str:
        """The same for runs about the same scenes, whatever they are called."""
        return canonical_json([_data_identity(self), self.spec.get("split") or ""])

    @property
    def question_set_id(self) -> str:
        """The same for runs over the same questions, in which equal names are the same question."""
        limit = self.spec.get("limit")
        sample = [limit] if limit and self.sample else []
        return canonical_json([_data_identity(self), self.spec.get("split") or "", self.variant, *sample])

    @property
    def variant(self) -> str:
        """The variant of the data, as the run's spec or all of its questions say."""
        if self.spec.get("variant"):
            return str(self.spec["variant"])
        return read_part(self.spec) or read_shared_fact(self.log.records, "variant")

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of its rows, in their order."""
        column = self.log.records.condition
        there = set(np.unique(column.codes).tolist())
        return tuple(value for k, value in enumerate(column.values) if k in there)


@dataclass(frozen=True, slots=True, eq=False)
class ReportRuns:
    """All runs; contenders in the order given, reference points last."""

    runs: tuple[ReportRun, ...]

    @property
    def each(self) -> tuple[ReportRun, ...]:
        """Every run, those of several seeds one by one."""
        return tuple(one for run in self.runs for one in run.each)

    @property
    def contenders(self) -> tuple[str, ...]:
        ordered = sorted(self.runs, key=lambda r: r.is_reference)
        return tuple(dict.fromkeys(r.contender for r in ordered))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.test for r in self.runs))

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.contender for r in self.runs if r.is_reference))

    def series_of(self, contender: str) -> int:
        """The number that gives a contender its colour and sign, the same in every chart."""
        return self.contenders.index(contender)

    def find_run(self, contender: str, test: str) -> ReportRun | None:
        return next((r for r in self.runs if r.contender == contender and r.test == test), None)

    def select_contender(self, contender: str) -> tuple[ReportRun, ...]:
        return tuple(r for r in self.runs if r.contender == contender)

    def select_in_domain(self) -> ReportRuns:
        """The runs that models are compared by."""
        at_home = tuple(r for r in self.runs if r.home)
        return ReportRuns(at_home) if at_home else self


def select_ranked(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """The runs to rank and look into: those of models, or of reference points where there is nothing else."""
    models = [r for r in runs if not r.is_reference]
    return models or [r for r in runs if r.spec.get("model") != "oracle"] or list(runs)


def read_runs(folders: Iterable[Path], data: Path | None = None) -> ReportRuns:
    """The runs in these folders; `data` is where their dataset is now, if it has moved."""
    listed = list(folders)
    if not listed:
        raise UserError("give the folder of at least one run: shiftscope report RUN --out report.html")
    twice = [str(f) for f, n in Counter(resolve_links(f) for f in listed).items() if n > 1]
    if twice:
        raise UserError(f"{twice[0]} is given twice")
    return arrange_runs([(read_run(folder), folder) for folder in listed], data)


def arrange_runs(logs: Sequence[tuple[RunLog, Path | None]], data: Path | None = None) -> ReportRuns:
    """The runs of these logs, named and grouped."""
    moved = _read_data_id(data) if data else None
    runs = [_build_run(log, folder, data, moved) for log, folder in logs]
    if data is not None and not any(run.data == data for run in runs):
        raise UserError(f"{data}: another dataset than the one that the runs are about")
    return ReportRuns(tuple(_name_contenders(_group_seeds(_name_tests(runs)))))


def _build_run(log: RunLog, folder: Path | None, data: Path | None, moved: str | None) -> ReportRun:
    spec = dict(log.spec)
    place, wanted = None, spec.get("data_id")
    if data is not None and (not wanted or moved == wanted):
        place = data
    elif spec.get("data"):  # ids repeat from one dataset to another, so its content must be the same
        there = parse_path(str(spec["data"]))
        place = there if not wanted or _read_data_id(there) == wanted else None
    lineage = log.lineage
    if lineage is None and place is not None:  # the run does not say; its dataset may
        with suppress(UserError):
            lineage = find_lineage(Dataset.open(place))
    # Images of the same name are the same only where they show the same place.
    scope = lineage.root if lineage else str(spec.get("data_id") or spec.get("data") or "")
    images = log.records.images
    scoped = ListColumn(tuple(f"{scope} {name}" for name in images.values), images.codes, images.at)
    log = replace(log, records=replace(log.records, images=scoped))
    return ReportRun(
        log=log,
        records=_select_as_is(log, folder),
        model=_shorten_model_name(spec),
        trained=str(spec.get("trained_on") or read_part(spec, "learned_part").rpartition(":")[2]),
        test="",
        folder=folder,
        data=place,
        lineage=lineage,
    )


def _select_as_is(log: RunLog, folder: Path | None) -> RunRecords:
    """The rows under no condition, of a text-only model those without images; other runs are not compared."""
    text = read_role(dict(log.spec)) == TEXT
    rows = select_text_rows(log.records) if text else log.records.filter_condition(AS_IS)
    if len(log.records) and not len(rows):
        under = ", ".join(sorted({str(c) for c in log.records.condition.to_list()}))
        raise UserError(
            f"{folder or 'a run'} has only questions under {under}; a report compares questions as they "
            f"are: make a run with --condition {AS_IS}, and its images, and give that too"
        )
    return rows


def _shorten_model_name(spec: Mapping[str, Any]) -> str:
    """A model by the part of its name that people say: llava for openai:llava@http://…."""
    name = str(spec.get("model") or "model")
    kind, _, target = name.partition(":")
    if kind == "openai":
        return target.partition("@")[0] or name
    return PurePath(target).name if kind in ("hf", "predictions") and target else name


def _read_data_id(folder: Path) -> str | None:
    """The identity of a dataset's content; None where no finished dataset is there."""
    try:
        return data_id(Dataset.open(folder))
    except UserError:
        return None


def _data_identity(run: ReportRun) -> str:
    return str(run.spec.get("data_id") or run.spec.get("data") or "")


def _name_tests(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """Name each test in as few words as tell it apart: the variant or folder, set, split, sample, parent, id.

    What is the same goes by one name, that of its first run, wherever its folder stood.
    """
    firsts: dict[str, ReportRun] = {}
    for run in runs:
        firsts.setdefault(run.question_set_id, run)
    words: dict[str, list[str]] = {}
    for key, run in firsts.items():
        folder, limit = PurePath(str(run.spec.get("data") or "")), run.spec.get("limit")
        words[key] = [
            run.variant or folder.name or "data",
            _name_diagnostic(run.spec),
            str(run.spec.get("split") or ""),
            f"(first {limit:,})" if limit and run.sample else "",
            f"({folder.parent.name})" if folder.parent.name else "",
            f"[{_data_identity(run)[:8]}]",
        ]
    names = {key: word[0] for key, word in words.items()}
    for place in range(1, 6):
        taken = Counter(names.values())
        names |= {key: f"{n} {words[key][place]}".rstrip() for key, n in names.items() if taken[n] > 1}
    return [replace(run, test=names[run.question_set_id]) for run in runs]


def _name_diagnostic(spec: Mapping[str, Any]) -> str:
    """Which diagnostic set it is of: the public one, or a private one by its seed."""
    found = spec.get("diagnostic")
    if not isinstance(found, Mapping):
        return ""
    return f"(private set {found['seed']})" if found.get("seed") else "(public set)"


def read_shared_fact(records: RunRecords, fact: str) -> str:
    """The value of a fact that all rows share; those that are not there do not count."""
    column = dict(records.facts).get(fact)
    if column is None:
        return ""
    used = np.unique(column.codes[records.question.codes >= 0])
    return str(column.values[int(used[0])]) if len(used) == 1 and used[0] >= 0 else ""


def _group_seeds(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """Runs that differ in the seed alone, of the run or of the model's training, as one in the place of the first."""
    groups: dict[str, list[ReportRun]] = {}
    for run in runs:
        rest = {k: v for k, v in run.spec.items() if k not in ("seed", PLACES_FIELD)}
        if training := _read_training(run.spec):
            rest = {k: v for k, v in rest.items() if k not in TRAINED_FIELDS}
            rest |= {"kind": str(run.spec.get("model")).partition(":")[0], TRAINING_FIELD: training.get("id")}
        groups.setdefault(canonical_json([run.test, rest]), []).append(run)
    grouped = []
    for group in groups.values():
        if not len({run.seed for run in group}) == len(group) > 1:
            grouped += group
            continue
        names = {run.model for run in group}
        name = group[0].model if len(names) == 1 else group[0].model.partition(":")[0]
        grouped.append(replace(group[0], model=name, seeds=tuple(replace(run, model=name) for run in group)))
    return grouped


def _read_training(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    training = spec.get(TRAINING_FIELD)
    return training if isinstance(training, Mapping) else {}


def _name_contenders(runs: Sequence[ReportRun]) -> list[ReportRun]:
    """Name a contender by its model, and by training, seed, folder or place where that is not enough."""
    trainings: dict[str, set[str]] = {}
    for run in runs:
        trainings.setdefault(run.model, set()).add(run.trained)
    names = [f"{r.model} ({r.trained})" if r.trained and len(trainings[r.model]) > 1 else r.model for r in runs]
    for more in (
        [f", seed {r.spec['seed']}" if "seed" in r.spec else "" for r in runs],
        [f", {r.folder.name}" if r.folder and r.folder.name else "" for r in runs],
        [f", run {place}" for place in range(1, len(runs) + 1)],
    ):
        keys = list(zip(names, (r.test for r in runs), strict=True))
        taken = Counter(keys)
        names = [key[0] + (word if taken[key] > 1 else "") for key, word in zip(keys, more, strict=True)]
    # What was held out of training is no other variant: such trainings are compared where they are tested.
    variants: dict[str, set[str]] = {}
    for run in runs:
        if not read_role(run.spec):
            variants.setdefault(run.model, set()).add(run.trained)
    arranged = []
    for run, name in zip(runs, names, strict=True):
        role, several = read_role(run.spec), len(variants.get(run.model, ())) > 1
        in_domain = not role and several and run.trained == run.test
        home = in_domain or not several or bool(role)
        named: dict[str, Any] = {"contender": run.model if in_domain else name, "training": name, "home": home}
        seeds = tuple(replace(one, **named) for one in run.seeds)
        arranged.append(replace(run, **named, seeds=seeds))
    return arranged

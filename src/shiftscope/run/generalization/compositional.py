"""Compositional: questions with a property that training held out, beside those without it.

After Zhu et al. (2022), section 4, and COVR (Bogin et al., 2021), sections 4.2 and 5. What is held out is
told by a folder that `shiftscope split` made, by the name of a split of the paper, or by an expression. A
model that learns here learns from the split's training part, which has the property in its shots alone; any
other is taken to be so trained.

*accuracy*              of the test questions with the property, and of those without
*gap*                   the second less the first
*text_only*             of a text-only model on the questions with the property
*iid_size*              of the upper bound there: as many training questions, drawn evenly from all
*generalization_score*  (model - text_only) / (iid_size - text_only)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ...metrics import accuracy
from ...metrics.generalization_score import measure_runs, text_rows
from ...result import AS_IS, BLIND, Records, Score
from ...store.runlog import NAME as RUN
from ...store.runlog import read_run
from ..part import EARLY, Part, other_questions, read_manifest, read_part
from ..split import Order, Questions, split
from ._frame import SAME, Exam, Findings, Line, Material, Plan, Taken
from ._gap import gap

APPLIES = (
    "it needs a dataset with train and test questions, and what is held out of training: one of "
    "--from-split, --name and --hold-out"
)
HELD, REST, TEXT, UPPER = "held_out", "in_domain", "text_only", "iid_size"  # the exams
PARTS = {HELD: "held out", REST: "in domain"}
TRAINED = ("train_m_shot", "train_zero_shot")
TRAIN = {TEXT: "train_text_only", UPPER: "train_iid_size"}


@dataclass(frozen=True, slots=True)
class Options:
    """What is held out; and what the score compares with, the folder of a run or a model that learns here."""

    split: str = ""  # a folder that `shiftscope split` made
    name: str = ""  # a split of the paper
    hold_out: str = ""  # an expression
    shots: int = -1  # training questions with the property; -1: as the named split has it, else none
    seed: int = 0  # of what is drawn
    text: str = ""  # the text-only model
    upper: str = ""  # the upper bound; "same": the model itself, which learns here; as text, shown no image

    def words(self) -> dict[str, Any]:
        """As options of the command line."""
        given = {"from-split": self.split, "name": self.name, "hold-out": self.hold_out, "shots": self.shots}
        return given | {"draw": self.seed, "text": self.text, "upper": self.upper}


@dataclass(frozen=True, slots=True)
class _Split:
    """The lists that the test needs."""

    name: str
    trained: str  # what the part to train on is called
    ids: Mapping[str, frozenset[str]]  # part → questions


@dataclass(frozen=True, slots=True)
class CompositionalPlan(Plan):
    """A plan that remembers the split's name and the runs to compare with."""

    split: str = ""
    given: Mapping[str, Records] = field(default_factory=dict)  # text_only, iid_size


def plan(data: Material, options: Options) -> Plan:
    """The questions with the property, those without, and what the score compares with."""
    if not data.is_dataset:
        return Plan(why_not=f"compositional does not apply to {data.folder}, an audit: {APPLIES}")
    if sum(map(bool, (options.split, options.name, options.hold_out))) != 1:
        return Plan(why_not=f"compositional does not apply to {data.folder} as it is asked for: {APPLIES}")
    lists = _stored(data, options) if options.split else _made(data, options)
    asked = {HELD: _first(data, lists.ids["test_comp"])}
    asked[REST] = _first(data, lists.ids["test_iid"] - lists.ids["test_comp"])
    whole = len(lists.ids["test_iid"])
    over = whole - sum(map(len, asked.values()))
    given: dict[str, Records] = {}
    exams = [_exam(kind, data, lists, some, kind, lists.trained) for kind, some in asked.items() if some]
    for kind, model in ((TEXT, options.text), (UPPER, options.upper)):
        if model and (Path(model) / RUN).is_file():
            given[kind] = _rows(Path(model), kind, asked[HELD], data)  # refused before anything is asked
        elif model:
            exam = _exam(kind, data, lists, asked[HELD], HELD, TRAIN[kind])
            blind = kind == TEXT and model == SAME
            exams.append(
                replace(exam, model="" if model == SAME else model, condition=BLIND if blind else AS_IS)
            )
    left = (("more than --limit", over),) if over else ()
    return CompositionalPlan(tuple(exams), whole, left, split=lists.name, given=given)


def _exam(name: str, data: Material, lists: _Split, asked: frozenset[str], kind: str, trained: str) -> Exam:
    early = lists.ids.get(EARLY)
    return Exam(
        name,
        data.folder,
        split=data.split,
        part=Part(f"{lists.name}:{kind}", asked, data.split),
        learn_part=Part(f"{lists.name}:{trained}", lists.ids[trained], "train", early=early),
        trained_on=trained,
        variant=f"{lists.name}, {PARTS[kind]}",
    )


def _first(data: Material, ids: frozenset[str]) -> frozenset[str]:
    return frozenset([q.id for q in data.questions() if q.id in ids][: data.limit])


def _stored(data: Material, options: Options) -> _Split:
    """The lists of a folder, which must be of this dataset."""
    folder = Path(options.split)
    about = read_manifest(folder)
    trained = next((name for name in TRAINED if name in about["parts"]), "")
    if not trained:
        raise UserError(f"{folder} has no part to train on; make the split again")
    wanted = (trained, *TRAIN.values(), "test_comp", "test_iid")
    parts = {name: read_part(f"{folder}:{name}") for name in wanted}
    for name, part in parts.items():
        role = "train" if name.startswith("train") else data.split
        part.check(data.source.data_id(), role, (q.id for q in data.questions(role)))
    ids = {name: part.ids for name, part in parts.items()}
    early = parts[trained].early
    return _Split(str(about["name"]), trained, ids if early is None else {**ids, EARLY: early})


def _made(data: Material, options: Options) -> _Split:
    """The lists of an expression or a named split, made here and not kept."""
    order = Order(options.hold_out, options.name, None if options.shots < 0 else options.shots, options.seed)
    made = split(order, Questions((str(data.folder),), data.split))
    ids = {part.name: frozenset(part.ids) for part in made.parts}
    return _Split(made.name, next(name for name in TRAINED if name in ids), ids)


def findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings:
    """A line for the questions with the property, with what is compared there, and one for those without."""
    assert isinstance(plan, CompositionalPlan)
    rows = {kind: one.log.records.under(one.exam.condition) for kind, one in taken.items()}
    rows.update(plan.given)
    held = [accuracy.measure(rows[HELD])[0]]
    if REST in rows:
        held.append(gap("gap", rows[REST], rows[HELD]))
    held += [replace(accuracy.measure(rows[kind])[0], metric=kind) for kind in (TEXT, UPPER) if kind in rows]
    if TEXT in rows and UPPER in rows:
        held.append(measure_runs(rows[HELD], rows[TEXT], rows[UPPER]))
    lines = [_line(plan.split, HELD, held)]
    if REST in rows:
        lines.append(_line(plan.split, REST, [accuracy.measure(rows[REST])[0]]))
    return Findings(tuple(lines))


def _line(name: str, kind: str, scores: list[Score]) -> Line:
    return Line((("split", name), ("questions", PARTS[kind])), tuple(scores))


def _rows(folder: Path, kind: str, asked: frozenset[str], data: Material) -> Records:
    """The rows of a given run that are of the questions with the property; it must have all of them."""
    log = read_run(folder)
    why = other_questions(dict(log.spec), {"data_id": data.source.data_id(), "split": data.split})
    if why:
        raise UserError(f"{folder} is {why}; the {kind} run must be of the questions that are held out here")
    records = text_rows(log.records) if kind == TEXT else log.records.under(AS_IS)
    records = records.take(np.array([name in asked for name in records.question.listed()], bool))
    if len(records) < len(asked):
        raise UserError(
            f"{folder} was asked {len(records):,} of the {len(asked):,} questions that are held out, and so "
            "can not be compared; run it on all of them"
        )
    return records

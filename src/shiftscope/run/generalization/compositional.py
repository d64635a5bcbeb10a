"""Compositional: questions with a property that training held out, beside those without it.

After Zhu et al. (2022), section 4, and COVR (Bogin et al., 2021), sections 4.2 and 5. What is held
out is given by a folder that `shiftscope split` made, by the name of a split of the paper, or by an expression. A
model that learns here learns from the split's training part, which has the property in its shots alone; any
other is taken to be so trained.

*accuracy*              of the test questions with the property, and of those without
*gap*                   the second less the first
*text_only*             of a text-only model on the questions with the property
*iid_size*              of the upper bound there: as many training questions, drawn evenly from all
*generalization_score*  (model - text_only) / (iid_size - text_only)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...errors import UserError
from ...metrics import accuracy
from ...metrics.generalization_score import measure_runs, select_text_rows
from ...result import AS_IS, BLIND, RunRecords
from ...store.question_part import EARLY, QuestionPart, explain_difference, read_part, read_split_manifest
from ...store.run_log import RUN_FILE, read_run
from ...url_path import parse_path
from .. import generalization as frame
from ..split import SplitQuestions, SplitSpec, split

APPLIES = (
    "it needs a dataset with train and test questions, and what is held out of training: one of "
    "--from-split, --name and --hold-out"
)
HELD, REST, TEXT, UPPER = "held_out", "in_domain", "text_only", "iid_size"  # the test sets
PARTS = {HELD: "held out", REST: "in domain"}
TRAINED = ("train_m_shot", "train_zero_shot")
TRAIN = {TEXT: "train_text_only", UPPER: "train_iid_size"}


@dataclass(frozen=True, slots=True)
class CompositionalOptions(frame.GeneralizationOptions):
    """What is held out; and what the score compares with, the folder of a run or a model that learns here."""

    shared: ClassVar[tuple[str, ...]] = ()
    split: str = frame.option("", "What is held out: a folder that shiftscope split made.", "from-split", path=True)
    name: str = frame.option("", "What is held out: a split of the COVR paper by its name.")
    hold_out: str = frame.option("", "What is held out: an expression of properties.")
    shots: int = frame.option(-1, "Questions with the property to learn from; -1: as the named split.", min=-1)
    seed: int = frame.draw_option()
    text: str = frame.option(
        "",
        "The text-only model: the folder of its run, or a model that learns here; same for the model itself "
        "without the images.",
    )
    upper: str = frame.option(
        "",
        "The upper bound, trained on as many questions drawn from all: the folder of its run, or a model that "
        "learns here; same for the model itself.",
    )


SplitIds = Mapping[str, frozenset[str]]  # part → its questions


def plan(data: frame.SourceSplit, options: CompositionalOptions) -> frame.GeneralizationPlan:
    """The questions with the property, those without, and what the score compares with."""
    if not data.is_dataset:
        return frame.GeneralizationPlan(why_not=f"compositional does not apply to {data.folder}, an audit: {APPLIES}")
    if sum(map(bool, (options.split, options.name, options.hold_out))) != 1:
        return frame.GeneralizationPlan(
            why_not=f"compositional does not apply to {data.folder} with these options: {APPLIES}"
        )
    split_name, ids = _find_split(data, options)
    whole = ids["test_iid"]
    selected = {
        kind: frozenset([q.id for q in data.questions() if q.id in some][: data.limit])
        for kind, some in ((HELD, ids["test_comp"]), (REST, whole - ids["test_comp"]))
    }

    def build(name: str, kind: str, trained: str) -> frame.GeneralizationTestSet:
        return frame.GeneralizationTestSet(
            name,
            data.folder,
            split=data.split,
            part=QuestionPart(f"{split_name}:{kind}", selected[kind], data.split),
            learn_part=QuestionPart(f"{split_name}:{trained}", ids[trained], "train", early=ids.get(EARLY)),
            trained_on=trained,
            variant=f"{split_name}, {PARTS[kind]}",
        )

    given: dict[str, RunRecords] = {}
    trained = next(name for name in TRAINED if name in ids)
    test_sets = [build(kind, kind, trained) for kind in selected if selected[kind]]
    for kind, model in ((TEXT, options.text), (UPPER, options.upper)):
        if model and (parse_path(model) / RUN_FILE).is_file():
            given[kind] = _read_run_rows(
                parse_path(model), kind, selected[HELD], data
            )  # refused before anything is asked
        elif model:
            condition = BLIND if kind == TEXT and model == frame.SAME else AS_IS
            test_set = build(kind, HELD, TRAIN[kind])
            test_sets.append(replace(test_set, model="" if model == frame.SAME else model, condition=condition))
    over = len(whole) - sum(map(len, selected.values()))
    left = (("more than --limit", over),) if over else ()
    return frame.GeneralizationPlan(tuple(test_sets), len(whole), left, context=(split_name, given))


def _find_split(data: frame.SourceSplit, options: CompositionalOptions) -> tuple[str, SplitIds]:
    """The name and the lists of a folder, which must be of this dataset; of others, made here and not kept."""
    if not options.split:
        spec = SplitSpec(options.hold_out, options.name, None if options.shots < 0 else options.shots, options.seed)
        held_out = split(spec, SplitQuestions((str(data.folder),), data.split))
        return held_out.name, {part.name: frozenset(part.ids) for part in held_out.parts}
    folder = Path(options.split)
    about = read_split_manifest(folder)
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
    return str(about["name"]), ids if early is None else {**ids, EARLY: early}


def findings(plan: frame.GeneralizationPlan, runs: frame.TestRuns, options: CompositionalOptions) -> frame.Findings:
    """A line for the questions with the property, with what is compared there, and one for those without."""
    split_name, given = plan.context
    rows = {kind: run.log.records.filter_condition(run.test_set.condition) for kind, run in runs.items()}
    rows.update(given)
    held = [accuracy.measure(rows[HELD])[0]]
    if REST in rows:
        held.append(frame.measure_gap("gap", rows[REST], rows[HELD]))
    held += [replace(accuracy.measure(rows[kind])[0], metric=kind) for kind in (TEXT, UPPER) if kind in rows]
    if TEXT in rows and UPPER in rows:
        held.append(measure_runs(rows[HELD], rows[TEXT], rows[UPPER]))
    scores = {HELD: held} | ({REST: [accuracy.measure(rows[REST])[0]]} if REST in rows else {})
    of = {kind: (("split", split_name), ("questions", PARTS[kind])) for kind in scores}
    return frame.Findings(tuple(frame.FindingsRow(of[kind], tuple(some)) for kind, some in scores.items()))


def _read_run_rows(folder: Path, kind: str, wanted: frozenset[str], data: frame.SourceSplit) -> RunRecords:
    """The rows of a given run that are of the questions with the property; it must have all of them."""
    log = read_run(folder)
    why = explain_difference(dict(log.spec), {"data_id": data.source.data_id(), "split": data.split})
    if why:
        raise UserError(f"{folder} is {why}; the {kind} run must be of the questions that are held out here")
    records = select_text_rows(log.records) if kind == TEXT else log.records.filter_condition(AS_IS)
    records = records.take(np.array([name in wanted for name in records.question.to_list()], bool))
    if len(records) < len(wanted):
        raise UserError(
            f"{folder} was asked {len(records):,} of the {len(wanted):,} questions that are held out, and so "
            "cannot be compared; run it on all of them"
        )
    return records


OPTIONS = CompositionalOptions

"""Transfer: a model that learned from one dataset, asked about another.

After Zhu et al. (2022), sections 4 and 5.5. Of both datasets only the questions count whose answer is one
that the other has too; counting questions are left out, and yes-or-no questions are told apart from open
ones. For each direction X → Y and kind of question:

*accuracy*         on Y of the model that learned from X
*home_drop*        how much less that is than on X; other questions, so that the interval is not a paired one
*native_drop*      how much less than that of a model that learned from Y, over the same questions
*missing_objects*  how often a program names an object that is not in the scene as the model saw it
*unheard_names*    how many questions name a thing that no program of X's training questions names

*mismatched_names* how many questions point at an object (GQA's do) that the scene calls otherwise, and
*still_mismatched* how many still do with the dictionary of names of section 3.3

Where the model tells its programs and Y has scenes, the programs are run on the true scenes as well
(*true_scenes*, and *true_missing* for objects that are not found); *renamed* and *renamed_missing* are the
same with that dictionary, which is written to `runs/X_to_Y/names.csv`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ...graph.wordnet import WordNet
from ...metrics import accuracy, missing_objects
from ...question import Question
from ...result import AS_IS, Facts, Records, Score
from ..part import Part
from ._frame import SAME, Exam, Findings, Line, Material, Plan, Taken, listed, told
from ._gap import common, gap
from ._names import read_table
from ._sides import KINDS, Side, kind_of
from ._told import Told

APPLIES = "it needs a second dataset that shares answers with the first; name it with --from"


@dataclass(frozen=True, slots=True)
class Options:
    """`home` is the folder of the dataset, or audit, that the model learned from."""

    home: str = ""
    home_split: str = ""  # else the same as of the data
    at_home: str = ""  # the model to ask about `home`, where that is another: predictions:FILE
    back: str = ""  # the model that learned from the data, for the way back; "same": it learns here
    names: str = ""  # a table of names
    wordnet: str = ""  # the folder of WordNet's files

    def words(self) -> dict[str, Any]:
        """As options of the command line."""
        given = {"from": self.home, "home-split": self.home_split, "at-home": self.at_home}
        return given | {"back": self.back, "names": self.names, "wordnet": self.wordnet}


@dataclass(frozen=True, slots=True)
class TransferPlan(Plan):
    """A plan that remembers both sides, and which questions of each count."""

    sides: tuple[Side, ...] = ()
    asked: Mapping[str, tuple[Question, ...]] = field(default_factory=dict)  # side → questions
    ways: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # exam → learned from, asked about


def plan(data: Material, options: Options) -> Plan:
    """There, and at home for comparison; also the way back, where a model for it is named."""
    if not options.home:
        return Plan(why_not=f"transfer does not apply to {data.folder} alone: {APPLIES}")
    _check(options)
    folder = Path(options.home)
    if folder.resolve() == data.folder.resolve():
        return Plan(why_not=f"{folder} is the data itself; transfer is between two datasets")
    home = Material(folder, options.home_split or data.split, data.limit)
    sides = _named(home, data)
    shared = sides[0].labels & sides[1].labels
    why: Counter[str] = Counter()
    questions = {side.name: side.kept(shared, why) for side in sides}
    left = listed(why)
    considered = sum(map(len, questions.values())) + why.total()
    for side in sides:
        if not questions[side.name]:
            reasons = told(left) or "it has no questions"
            return Plan((), considered, left, f"no question of {side.name} counts for transfer: {reasons}")
    kept = {name: frozenset(q.id for q in some) for name, some in questions.items()}
    exams: list[Exam] = []
    ways: dict[str, tuple[str, str]] = {}
    for learned, asked, model in _ways(sides, options):
        name = f"{learned.name}_to_{asked.name}"
        exams.append(_exam(name, learned, asked, kept[asked.name], model))
        ways[name] = learned.name, asked.name
    return TransferPlan(tuple(exams), considered, left, sides=sides, asked=questions, ways=ways)


def _check(options: Options) -> None:
    """Refuse what could not be used, before anything is asked."""
    if options.names:
        read_table(Path(options.names))
    if options.wordnet:
        WordNet(Path(options.wordnet))


def _named(home: Material, data: Material) -> tuple[Side, Side]:
    """Both by the names of their folders, or by more of their paths where those are the same."""
    names = [m.folder.resolve().name for m in (home, data)]
    if names[0] == names[1]:
        names = [f"{m.folder.resolve().parent.name}-{m.folder.resolve().name}" for m in (home, data)]
    if names[0] == names[1]:
        names = ["home", "data"]
    return Side(names[0], home), Side(names[1], data)


def _ways(sides: tuple[Side, Side], options: Options) -> Iterator[tuple[Side, Side, str]]:
    """Learned from, asked about, and by which model, where not by the one that is tested."""
    home, data = sides
    yield home, home, options.at_home
    yield home, data, ""
    if options.back:
        back = "" if options.back == SAME else options.back
        yield data, data, back
        yield data, home, back


def _exam(name: str, learned: Side, asked: Side, kept: frozenset[str], model: str) -> Exam:
    split = asked.material.split
    return Exam(
        name,
        asked.material.folder,
        split=split,
        part=Part(f"shared with {learned.name}", kept, split),
        learn_from=learned.material.folder,
        model=model,
        trained_on=learned.name,
        variant=asked.name,
    )


def findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings:
    """A line for each direction and kind of question."""
    assert isinstance(plan, TransferPlan)
    rows = {plan.ways[name]: one.log.records.under(AS_IS) for name, one in taken.items()}
    sides = {side.name: side for side in plan.sides}
    table = read_table(Path(options.names)) if options.names else ()
    lines: list[Line] = []
    for name, one in taken.items():
        learned, asked = plan.ways[name]
        told = Told(sides[learned], sides[asked], plan.asked[asked], one.folder, table, options.wordnet)
        for kind in KINDS:
            scores = _scores(rows, (learned, asked), kind)
            scores += told.scores(kind)
            if scores:
                lines.append(Line(_facts(learned, asked, kind), tuple(scores)))
    return Findings(tuple(lines))


def _facts(learned: str, asked: str, kind: str) -> Facts:
    return (("learned from", learned), ("asked about", asked), ("questions", kind))


def _of(records: Records, kind: str) -> Records:
    """The rows of one kind of question."""
    return records.take(np.array([kind_of(truth) == kind for truth in records.truth.listed()], bool))


def _scores(rows: Mapping[tuple[str, str], Records], way: tuple[str, str], kind: str) -> list[Score]:
    here = _of(rows[way], kind)
    if not len(here):
        return []
    made = [accuracy.measure(here)[0]]
    learned, asked = way
    if learned != asked:
        if len(home := _of(rows[learned, learned], kind)):
            made.append(gap("home_drop", home, here))
        if (asked, asked) in rows:
            made.append(gap("native_drop", *common(_of(rows[asked, asked], kind), here)))
    with suppress(UserError):  # a model that tells of no programs
        made.append(missing_objects.measure(here)[0])
    return made

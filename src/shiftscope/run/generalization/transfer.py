"""Transfer: a model that learned from one dataset, asked about another.

After Zhu et al. (2022), sections 4 and 5.5. Of both datasets only the questions count whose answer is one
that the other has too; counting questions are left out, and yes-or-no questions are reported apart from
open ones. For each direction X → Y and kind of question:

*accuracy*         on Y of the model that learned from X
*home_drop*        how much less that is than on X; other questions, so that the interval is not a paired one
*native_drop*      how much less than that of a model that learned from Y, over the same questions
*missing_objects*  how often a program names an object that is not in the scene as the model saw it
*unheard_names*    how many questions name a thing that no program of X's training questions names

*mismatched_names* how many questions point at an object (GQA's do) that the scene calls otherwise, and
*still_mismatched* how many still do with the dictionary of names of section 3.3

Where the model returns its programs and Y has scenes, the programs are run on the true scenes as well
(*true_scenes*, and *true_missing* for objects that are not found); *renamed* and *renamed_missing* are the
same with that dictionary, which is written to `runs/X_to_Y/names.csv`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...answer import spell
from ...errors import UserError
from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import ProgramError
from ...lang.text import parse_program
from ...metrics import accuracy, missing_objects
from ...metrics.missing_objects import REASON
from ...question import Question
from ...questions.answer_space import infer_expected
from ...response import NUMBER
from ...result import AS_IS, Prediction, QuestionRecord, RunRecords, Score, records_of
from ...scene_graph.wordnet import WordNet
from ...schema import OPEN, Schema
from ...store.question_part import QuestionPart
from ...store.run_log import read_rows
from ...store.shard import iterate_row_groups
from ..question_source import DatasetSource
from . import (
    SAME,
    Findings,
    FindingsRow,
    GeneralizationOptions,
    GeneralizationPlan,
    GeneralizationRun,
    GeneralizationTestSet,
    SourceSplit,
    format_reasons,
    option,
    sort_reasons,
)
from ._accuracy_drop import measure_gap, select_common
from ._name_dictionary import (
    NameDictionary,
    Pair,
    apply_dictionary,
    build_dictionary,
    check_mismatch,
    iter_annotated_pairs,
    iter_program_words,
    iter_scene_words,
    read_name_table,
)

KINDS = ("binary", "open")
COUNTING = "a counting question"
UNANSWERED = "no known answer"
NOT_SHARED = "an answer that only one of the datasets has"


class TransferSide:
    """One of the two datasets."""

    def __init__(self, name: str, material: SourceSplit) -> None:
        self.name, self.material = name, material

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every answer that one of its questions has, in any split."""
        source = self.material.source
        if not isinstance(source, DatasetSource):
            asked = (q for split in source.splits for q in source.questions(split))
            return frozenset(spell(q.answer) for q in asked if q.answer is not None)
        dataset = source.dataset
        files = [dataset.folder / s.questions.path for s in dataset.shards() if s.questions]
        found = {v for f in files for t in iterate_row_groups(f, ["answer"]) for v in t["answer"].unique().to_pylist()}
        return frozenset(spell(v) for v in found if v is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in the programs of its training questions; of those asked, where it has no others."""
        splits = self.material.source.splits
        split = "train" if "train" in splits else self.material.split
        asked = self.material.questions(split)
        return frozenset(w for q in asked if q.program is not None for _, w in iter_program_words(q.program))

    @cached_property
    def schema(self) -> Schema:
        return self.material.source.schema()

    @cached_property
    def scene_names(self) -> frozenset[str]:
        """What the objects in the images asked about are called."""
        scenes = (self.material.scenes([name]) for name in self.material.images)
        return frozenset(word for some in scenes for word in iter_scene_words(some))

    def select_questions(self, shared: frozenset[str], why: Counter[str]) -> tuple[Question, ...]:
        """The questions that count; `why` counts the others by reason."""
        made: list[Question] = []
        for question in self.material.questions():
            if self.material.limit is not None and len(made) >= self.material.limit:
                break
            reason = explain_exclusion(question, shared)
            if reason:
                why[f"{self.name}: {reason}"] += 1
            else:
                made.append(question)
        return tuple(made)


def explain_exclusion(question: Question, shared: frozenset[str]) -> str:
    """Why a question does not count, or nothing."""
    if question.answer is None:
        return UNANSWERED
    answer = spell(question.answer)
    if answer.isdecimal() or infer_expected(question, OPEN) is NUMBER:
        return COUNTING
    return "" if answer in shared else NOT_SHARED


def classify_answer(answer: str) -> str:
    return KINDS[0] if answer in ("yes", "no") else KINDS[1]


NAMES_FILE = "names.csv"  # in the folder of a run


class ProgramDiagnostics:
    """The programs of one run, by a model that learned from one side and was asked about the other."""

    def __init__(
        self,
        learned: TransferSide,
        asked: TransferSide,
        questions: Sequence[Question],
        run: Path,
        table: Sequence[Pair],
        wordnet: str,
    ) -> None:
        """`questions` are those of the test set, `run` the folder of its run."""
        self.learned, self.asked, self.questions, self.run = learned, asked, questions, run
        self._table, self._wordnet = table, wordnet
        self._schemas: dict[Schema, Schema] = {}

    def score(self, kind: str) -> list[Score]:
        """Figures of one kind of question; none of a model that returns no programs."""
        made = self._score_unseen_names(kind) + self._score_mismatched_names(kind)
        written = [
            (a, p) for a, p in self._program_rows if a.truth is not None and classify_answer(spell(a.truth)) == kind
        ]
        if written:
            made += self._score_on_true_scenes(written, None, "true_scenes", "true_missing")
            made += self._score_on_true_scenes(written, self.names, "renamed", "renamed_missing")
        return made

    @cached_property
    def _program_rows(self) -> list[tuple[QuestionRecord, Prediction]]:
        """The rows with a program of the model, where the scenes are known."""
        if not self.asked.material.is_dataset:
            return []
        return [(a, p) for a, p in read_rows(self.run) if p.program and p.condition == AS_IS]

    @cached_property
    def names(self) -> NameDictionary:
        """From what programs of the one side say to what scenes of the other do; kept beside the runs."""
        wordnet = None
        if self._wordnet:
            from ...scene_graph.wordnet import WordNet

            wordnet = WordNet(Path(self._wordnet))
        words = set(self.learned.words)
        for _, prediction in self._program_rows:
            words.update(_iter_words(prediction.program))
        made = build_dictionary(
            words,
            self.asked.scene_names,
            (self.learned.schema, self.asked.schema),
            annotated=_iter_annotated(self.learned),
            table=self._table,
            wordnet=wordnet,
        )
        made.write(self.run / NAMES_FILE)
        return made

    def _score_on_true_scenes(
        self, rows: Sequence[tuple[QuestionRecord, Prediction]], names: NameDictionary | None, right: str, missing: str
    ) -> list[Score]:
        answered = [(a, self._execute_program(a, p, names)) for a, p in rows]
        lost = ((a.question, a.scenes, p.reason == REASON) for a, p in answered)
        return [replace(accuracy.measure(records_of(answered))[0], metric=right), measure_share(missing, lost)]

    def _execute_program(
        self, asked: QuestionRecord, prediction: Prediction, names: NameDictionary | None
    ) -> Prediction:
        """Of several objects found the first is taken, as the paper does (A.2); none found is the end."""
        try:
            scenes = apply_dictionary(names, self.asked.material.scenes(asked.scenes), self._schemas)
            made = execute(parse_program(prediction.program), ExecutionWorld(scenes), "default")
        except ProgramError as error:
            return Prediction(asked.question, None, status="undefined", reason=str(error))
        lost = [made.answer] if isinstance(made.answer, Undefined) else []
        lost += [error for error in made.errors if error.reason == REASON]
        if lost:
            return Prediction(asked.question, None, status="undefined", reason=lost[-1].reason)
        return Prediction(asked.question, made.answer)

    def _score_unseen_names(self, kind: str) -> list[Score]:
        """How many questions name what no program of the other side's training questions names."""
        seen = self.learned.words
        if self.learned is self.asked or not seen:
            return []
        named = [
            (q.id, q.scenes, not seen.issuperset(word for _, word in iter_program_words(q.program)))
            for q in self.questions
            if q.program is not None and q.answer is not None and classify_answer(spell(q.answer)) == kind
        ]
        return [measure_share("unheard_names", named)] if named else []

    def _score_mismatched_names(self, kind: str) -> list[Score]:
        """How many questions call an object they point at otherwise than its scene; and with `names`."""
        if not self.asked.material.is_dataset:
            return []
        pointing = [
            (q, self.asked.material.scenes(q.scenes))
            for q in self.questions
            if has_object_references(q) and q.answer is not None and classify_answer(spell(q.answer)) == kind
        ]
        if not pointing:
            return []
        checked = [(q, check_mismatch(q, scenes, self.names)) for q, scenes in pointing]
        return [
            measure_share(name, ((q.id, q.scenes, found[at]) for q, found in checked))
            for at, name in enumerate(("mismatched_names", "still_mismatched"))
        ]


def has_object_references(question: Question) -> bool:
    """Whether the program names the objects it is about by id, as GQA's do."""
    return question.program is not None and any(node.note("id") for node in question.program.nodes)


def measure_share(name: str, rows: Iterable[tuple[str, tuple[str, ...], bool]]) -> Score:
    """How many of the questions (id, scenes) it is true of, with an interval."""
    made = records_of((QuestionRecord(q, scenes, True), Prediction(q, true)) for q, scenes, true in rows)
    return replace(accuracy.measure(made)[0], metric=name)


def _iter_words(program: str) -> Iterator[str]:
    try:
        yield from (word for _, word in iter_program_words(parse_program(program)))
    except ProgramError:  # it is counted where it is run
        return


def _iter_annotated(side: TransferSide) -> Iterator[Pair]:
    """What the training programs point at; nothing where they point at no objects."""
    material = side.material
    if "train" not in material.source.splits or not material.is_dataset:
        return
    for question in material.questions("train"):
        if has_object_references(question):
            yield from iter_annotated_pairs(question, material.scenes(question.scenes))


APPLIES = "it needs a second dataset that shares answers with the first; name it with --from"


@dataclass(frozen=True, slots=True)
class TransferOptions(GeneralizationOptions):
    """`home` is the folder of the dataset, or audit, that the model learned from."""

    shared: ClassVar[tuple[str, ...]] = ("images",)
    home: str = option("", "The dataset, audit or suite that the model learned from.", "from", required=True, data=True)
    home_split: str = option("", "Split of that dataset; by default the same as of the data.")
    at_home: str = option("", "The model to ask about that dataset, where it is another: predictions:FILE.")
    back: str = option("", "Also the way back, by this model that learned from the data; same: it learns here.")
    names: str = option("", "A table of names: columns program and scene, for names that differ.", path=True)
    wordnet: str = option("", "Folder of WordNet's files, for names: /usr/share/wordnet.", path=True)


@dataclass(frozen=True, slots=True)
class TransferPlan(GeneralizationPlan):
    """A plan that remembers both sides, and which questions of each count."""

    sides: tuple[TransferSide, ...] = ()
    asked: Mapping[str, tuple[Question, ...]] = field(default_factory=dict)  # side → questions
    ways: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # test set → learned from, asked about


def plan(data: SourceSplit, options: TransferOptions) -> GeneralizationPlan:
    """There, and at home for comparison; also the way back, where a model for it is named."""
    if not options.home:
        return GeneralizationPlan(why_not=f"transfer does not apply to {data.folder} alone: {APPLIES}")
    if options.names:
        read_name_table(Path(options.names))  # refused before anything is asked
    if options.wordnet:
        WordNet(Path(options.wordnet))
    folder = Path(options.home)
    if folder.resolve() == data.folder.resolve():
        return GeneralizationPlan(why_not=f"{folder} is the data itself; transfer is between two datasets")
    home = SourceSplit(folder, options.home_split or data.split, data.limit)
    sides = _name_sides(home, data)
    shared = sides[0].labels & sides[1].labels
    why: Counter[str] = Counter()
    questions = {side.name: side.select_questions(shared, why) for side in sides}
    left = sort_reasons(why)
    considered = sum(map(len, questions.values())) + why.total()
    for side in sides:
        if not questions[side.name]:
            reasons = format_reasons(left) or "it has no questions"
            return GeneralizationPlan(
                (), considered, left, f"no question of {side.name} counts for transfer: {reasons}"
            )
    kept = {name: frozenset(q.id for q in some) for name, some in questions.items()}
    test_sets: list[GeneralizationTestSet] = []
    ways: dict[str, tuple[str, str]] = {}
    for learned, asked, model in _list_directions(sides, options):
        name = f"{learned.name}_to_{asked.name}"
        test_sets.append(_build_test_set(name, learned, asked, kept[asked.name], model))
        ways[name] = learned.name, asked.name
    return TransferPlan(tuple(test_sets), considered, left, sides=sides, asked=questions, ways=ways)


def _name_sides(home: SourceSplit, data: SourceSplit) -> tuple[TransferSide, TransferSide]:
    """Both by the names of their folders, or by more of their paths where those are the same."""
    names = [m.folder.resolve().name for m in (home, data)]
    if names[0] == names[1]:
        names = [f"{m.folder.resolve().parent.name}-{m.folder.resolve().name}" for m in (home, data)]
    if names[0] == names[1]:
        names = ["home", "data"]
    return TransferSide(names[0], home), TransferSide(names[1], data)


def _list_directions(
    sides: tuple[TransferSide, TransferSide], options: TransferOptions
) -> Iterator[tuple[TransferSide, TransferSide, str]]:
    """Learned from, asked about, and by which model, where not by the one that is tested."""
    home, data = sides
    yield home, home, options.at_home
    yield home, data, ""
    if options.back:
        back = "" if options.back == SAME else options.back
        yield data, data, back
        yield data, home, back


def _build_test_set(
    name: str, learned: TransferSide, asked: TransferSide, kept: frozenset[str], model: str
) -> GeneralizationTestSet:
    split = asked.material.split
    return GeneralizationTestSet(
        name,
        asked.material.folder,
        split=split,
        part=QuestionPart(f"shared with {learned.name}", kept, split),
        learn_from=learned.material.folder,
        model=model,
        trained_on=learned.name,
        variant=asked.name,
    )


def findings(plan: GeneralizationPlan, runs: Mapping[str, GeneralizationRun], options: TransferOptions) -> Findings:
    """A line for each direction and kind of question."""
    assert isinstance(plan, TransferPlan)
    rows = {plan.ways[name]: one.log.records.filter_condition(AS_IS) for name, one in runs.items()}
    sides = {side.name: side for side in plan.sides}
    table = read_name_table(Path(options.names)) if options.names else ()
    lines: list[FindingsRow] = []
    for name, one in runs.items():
        learned, asked = plan.ways[name]
        diagnostics = ProgramDiagnostics(
            sides[learned], sides[asked], plan.asked[asked], one.folder, table, options.wordnet
        )
        for kind in KINDS:
            scores = _score_direction(rows, (learned, asked), kind)
            scores += diagnostics.score(kind)
            if scores:
                of = (("learned from", learned), ("asked about", asked), ("questions", kind))
                lines.append(FindingsRow(of, tuple(scores)))
    return Findings(tuple(lines))


def _select_kind(records: RunRecords, kind: str) -> RunRecords:
    """The rows of one kind of question."""
    return records.take(np.array([classify_answer(truth) == kind for truth in records.truth.to_list()], bool))


def _score_direction(rows: Mapping[tuple[str, str], RunRecords], way: tuple[str, str], kind: str) -> list[Score]:
    here = _select_kind(rows[way], kind)
    if not len(here):
        return []
    made = [accuracy.measure(here)[0]]
    learned, asked = way
    if learned != asked:
        if len(home := _select_kind(rows[learned, learned], kind)):
            made.append(measure_gap("home_drop", home, here))
        if (asked, asked) in rows:
            made.append(measure_gap("native_drop", *select_common(_select_kind(rows[asked, asked], kind), here)))
    with suppress(UserError):  # a model that returns no programs
        made.append(missing_objects.measure(here)[0])
    return made


OPTIONS = TransferOptions

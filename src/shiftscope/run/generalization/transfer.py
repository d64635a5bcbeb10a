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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ...answer import Answer, spell
from ...errors import UserError
from ...expected_answer import NUMBER
from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import ProgramError
from ...lang.text import parse_program
from ...metrics import accuracy, missing_objects
from ...metrics.missing_objects import REASON
from ...question import Question
from ...questions.answer_space import infer_expected
from ...result import AS_IS, Prediction, QuestionRecord, RunRecords, Score, records_of
from ...scene_graph.wordnet import WordNet, load_wordnet
from ...schema import OPEN, Schema
from ...store.question_part import QuestionPart
from ...store.run_log import read_rows
from ...store.shard import iterate_row_groups
from ...url_path import parse_path
from .. import generalization as frame
from ..question_source import DatasetSource
from . import _name_dictionary as dictionary

Row = tuple[QuestionRecord, Prediction]
KINDS = ("binary", "open")
NAMES_FILE = "names.csv"  # in the folder of a run
COUNTING = "a counting question"
UNANSWERED = "no known answer"
NOT_SHARED = "an answer that only one of the datasets has"


class TransferSide:
    """One of the two datasets."""

    def __init__(self, name: str, material: frame.SourceSplit) -> None:
        self.name, self.material = name, material

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every answer that one of its questions has, in any split."""
        source = self.material.source
        if isinstance(source, DatasetSource):
            dataset = source.dataset
            files = [dataset.folder / s.questions.path for s in dataset.shards() if s.questions]
            tables = (table for file in files for table in iterate_row_groups(file, ["answer"]))
            answers = (value for table in tables for value in table["answer"].unique().to_pylist())
        else:
            answers = (q.answer for split in source.splits for q in source.questions(split))
        return frozenset(spell(value) for value in answers if value is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in the programs of its training questions; of those asked, where it has no others."""
        questions = self.material.questions("train" if "train" in self.material.source.splits else "")
        return frozenset(
            w for q in questions if q.program is not None for _, w in dictionary.iter_program_words(q.program)
        )

    @cached_property
    def scene_names(self) -> frozenset[str]:
        """What the objects in the images asked about are called."""
        return frozenset(
            w for name in self.material.images for w in dictionary.iter_scene_words(self.material.scenes([name]))
        )

    def select_questions(self, shared: frozenset[str], why: Counter[str]) -> tuple[Question, ...]:
        """The questions that count; `why` counts the others by reason."""
        selected: list[Question] = []
        for question in self.material.questions():
            if self.material.limit is not None and len(selected) >= self.material.limit:
                break
            if reason := explain_exclusion(question, shared):
                why[f"{self.name}: {reason}"] += 1
            else:
                selected.append(question)
        return tuple(selected)

    def iter_annotated_pairs(self) -> Iterator[dictionary.Pair]:
        """What the training programs point at, by its names in program and scene; GQA's do."""
        if "train" in self.material.source.splits and self.material.is_dataset:
            for question in self.material.questions("train"):
                if has_object_references(question):
                    yield from dictionary.iter_annotated_pairs(question, self.material.scenes(question.scenes))


def explain_exclusion(question: Question, shared: frozenset[str]) -> str:
    """Why a question does not count, or nothing."""
    if question.answer is None:
        return UNANSWERED
    answer = spell(question.answer)
    if answer.isdecimal() or infer_expected(question, OPEN) is NUMBER:
        return COUNTING
    return "" if answer in shared else NOT_SHARED


def is_kind(answer: Answer | None, kind: str) -> bool:
    """Whether a question with this answer is of a kind; one without an answer is of none."""
    return answer is not None and kind == KINDS[spell(answer) not in ("yes", "no")]


@dataclass
class ProgramDiagnostics:
    """The programs of one run, by a model that learned from one side and was asked about the other."""

    learned: TransferSide
    tested: TransferSide
    questions: Sequence[Question]  # of the test set
    run: Path  # its folder
    table: Sequence[dictionary.Pair]
    wordnet: str
    schemas: dict[Schema, Schema] = field(default_factory=dict)

    def score(self, kind: str) -> list[Score]:
        """Figures of one kind of question; none of a model that returns no programs."""
        questions = [q for q in self.questions if is_kind(q.answer, kind)]
        scores = self._score_unseen_names(questions) + self._score_mismatched_names(questions)
        rows = [(record, p) for record, p in self._program_rows if is_kind(record.truth, kind)]
        if rows:
            scores += self._score_on_true_scenes(rows, None, "true_scenes", "true_missing")
            scores += self._score_on_true_scenes(rows, self.names, "renamed", "renamed_missing")
        return scores

    @cached_property
    def _program_rows(self) -> list[Row]:
        """The rows with a program of the model, where the scenes are known."""
        if not self.tested.material.is_dataset:
            return []
        return [(record, p) for record, p in read_rows(self.run) if p.program and p.condition == AS_IS]

    @cached_property
    def names(self) -> dictionary.NameDictionary:
        """From what programs of the one side say to what scenes of the other do; kept beside the runs."""
        words = set(self.learned.words)
        for _, prediction in self._program_rows:
            with suppress(ProgramError):  # it is counted where it is run
                words.update(word for _, word in dictionary.iter_program_words(parse_program(prediction.program)))
        names = dictionary.build_dictionary(
            words,
            self.tested.scene_names,
            [side.material.source.schema() for side in (self.learned, self.tested)],
            annotated=self.learned.iter_annotated_pairs(),
            table=self.table,
            wordnet=self._open_wordnet(),
        )
        names.write(self.run / NAMES_FILE)
        return names

    def _open_wordnet(self) -> WordNet | None:
        """The user's; else our own where the scenes' vocabulary is open."""
        if self.wordnet:
            return load_wordnet(Path(self.wordnet))
        return None if self.tested.material.source.schema().closed else load_wordnet()

    def _score_on_true_scenes(
        self, rows: Sequence[Row], names: dictionary.NameDictionary | None, right: str, missing: str
    ) -> list[Score]:
        answered = [(record, self._execute_program(record, p, names)) for record, p in rows]
        lost = ((record.question, record.scenes, p.reason == REASON) for record, p in answered)
        return [replace(accuracy.measure(records_of(answered))[0], metric=right), _measure_share(missing, lost)]

    def _execute_program(
        self, record: QuestionRecord, prediction: Prediction, names: dictionary.NameDictionary | None
    ) -> Prediction:
        """Of several objects found the first is taken, as the paper does (A.2); none found is the end."""
        try:
            scenes = dictionary.apply_dictionary(names, self.tested.material.scenes(record.scenes), self.schemas)
            execution = execute(parse_program(prediction.program), ExecutionWorld(scenes), "default")
        except ProgramError as error:
            return Prediction(record.question, None, status="undefined", reason=str(error))
        lost = [execution.answer] if isinstance(execution.answer, Undefined) else []
        lost += [error for error in execution.errors if error.reason == REASON]
        if lost:
            return Prediction(record.question, None, status="undefined", reason=lost[-1].reason)
        return Prediction(record.question, execution.answer)

    def _score_unseen_names(self, questions: Sequence[Question]) -> list[Score]:
        """How many questions name what no program of the other side's training questions names."""
        seen = self.learned.words
        if self.learned is self.tested or not seen:
            return []
        named = [
            (q.id, q.scenes, not seen.issuperset(word for _, word in dictionary.iter_program_words(q.program)))
            for q in questions
            if q.program is not None
        ]
        return [_measure_share("unheard_names", named)] if named else []

    def _score_mismatched_names(self, questions: Sequence[Question]) -> list[Score]:
        """How many questions call an object they point at otherwise than its scene; and with `names`."""
        pointing = [q for q in questions if has_object_references(q)] if self.tested.material.is_dataset else []
        if not pointing:
            return []
        checked = [
            (q, dictionary.check_mismatch(q, self.tested.material.scenes(q.scenes), self.names)) for q in pointing
        ]
        return [
            _measure_share(name, ((q.id, q.scenes, mismatch[at]) for q, mismatch in checked))
            for at, name in enumerate(("mismatched_names", "still_mismatched"))
        ]


def has_object_references(question: Question) -> bool:
    """Whether the program names the objects it is about by id, as GQA's do."""
    return question.program is not None and any(node.note("id") for node in question.program.nodes)


def _measure_share(name: str, rows: Iterable[tuple[str, tuple[str, ...], bool]]) -> Score:
    """How many of the questions (id, scenes) it is true of, with an interval."""
    records = records_of((QuestionRecord(q, scenes, True), Prediction(q, true)) for q, scenes, true in rows)
    return replace(accuracy.measure(records)[0], metric=name)


APPLIES = "it needs a second dataset that shares answers with the first; name it with --from"


@dataclass(frozen=True, slots=True)
class TransferOptions(frame.GeneralizationOptions):
    """`home` is the folder of the dataset, or audit, that the model learned from."""

    shared: ClassVar[tuple[str, ...]] = ("images",)
    home: str = frame.option(
        "", "The dataset, audit or suite that the model learned from.", "from", required=True, data=True
    )
    home_split: str = frame.option("", "Split of that dataset; by default the same as of the data.")
    at_home: str = frame.option("", "The model to ask about that dataset, where it is another: predictions:FILE.")
    back: str = frame.option("", "Also the way back, by this model that learned from the data; same: it learns here.")
    names: str = frame.option("", "A table of names: columns program and scene, for names that differ.", path=True)
    wordnet: str = frame.option("", "Folder of a WordNet of your own, for names.", path=True)


def plan(data: frame.SourceSplit, options: TransferOptions) -> frame.GeneralizationPlan:
    """There, and at home for comparison; also the way back, where a model for it is named."""
    if not options.home:
        return frame.GeneralizationPlan(why_not=f"transfer does not apply to {data.folder} alone: {APPLIES}")
    if options.names:
        dictionary.read_name_table(Path(options.names))  # refused before anything is asked
    if options.wordnet:
        load_wordnet(Path(options.wordnet))
    folder = parse_path(options.home)
    if folder.resolve() == data.folder.resolve():
        return frame.GeneralizationPlan(why_not=f"{folder} is the data itself; transfer is between two datasets")
    home = frame.SourceSplit(folder, options.home_split or data.split, data.limit)
    sides = _name_sides(home, data)
    shared = sides[0].labels & sides[1].labels
    why: Counter[str] = Counter()
    questions = {side.name: side.select_questions(shared, why) for side in sides}
    left = frame.sort_reasons(why)
    considered = sum(map(len, questions.values())) + why.total()
    for name, some in questions.items():
        if not some:
            why_not = (
                f"no question of {name} counts for transfer: {frame.format_reasons(left) or 'it has no questions'}"
            )
            return frame.GeneralizationPlan((), considered, left, why_not)
    one, two = sides
    directions = [(one, one, options.at_home), (one, two, "")]  # learned from, asked about, another model
    if options.back:
        back = "" if options.back == frame.SAME else options.back
        directions += [(two, two, back), (two, one, back)]
    test_sets = tuple(
        frame.GeneralizationTestSet(
            f"{learned.name}_to_{tested.name}",
            tested.material.folder,
            split=tested.material.split,
            part=QuestionPart(
                f"shared with {learned.name}", frozenset(q.id for q in questions[tested.name]), tested.material.split
            ),
            learn_from=learned.material.folder,
            model=model,
            trained_on=learned.name,
            variant=tested.name,
        )
        for learned, tested, model in directions
    )
    return frame.GeneralizationPlan(test_sets, considered, left, context=(sides, questions))


def _name_sides(home: frame.SourceSplit, data: frame.SourceSplit) -> tuple[TransferSide, TransferSide]:
    """Both by the names of their folders, or by more of their paths where those are the same."""
    names = [m.folder.resolve().name for m in (home, data)]
    if names[0] == names[1]:
        names = [f"{m.folder.resolve().parent.name}-{m.folder.resolve().name}" for m in (home, data)]
    if names[0] == names[1]:
        names = ["home", "data"]
    return TransferSide(names[0], home), TransferSide(names[1], data)


def findings(plan: frame.GeneralizationPlan, runs: frame.TestRuns, options: TransferOptions) -> frame.Findings:
    """A line for each direction and kind of question."""
    sides, questions = plan.context
    directions = {(run.test_set.trained_on, run.test_set.variant): run for run in runs.values()}
    rows = {direction: run.log.records.filter_condition(AS_IS) for direction, run in directions.items()}
    side_of = {side.name: side for side in sides}
    table = dictionary.read_name_table(Path(options.names)) if options.names else ()
    lines: list[frame.FindingsRow] = []
    for (learned, tested), run in directions.items():
        diagnostics = ProgramDiagnostics(
            side_of[learned], side_of[tested], questions[tested], run.folder, table, options.wordnet
        )
        for kind in KINDS:
            scores = _score_direction(rows, (learned, tested), kind) + diagnostics.score(kind)
            if scores:
                of = (("learned from", learned), ("asked about", tested), ("questions", kind))
                lines.append(frame.FindingsRow(of, tuple(scores)))
    return frame.Findings(tuple(lines))


def _score_direction(rows: Mapping[tuple[str, str], RunRecords], direction: tuple[str, str], kind: str) -> list[Score]:
    def select_kind(records: RunRecords) -> RunRecords:
        binary = records.truth.equals("yes") | records.truth.equals("no")  # a row that the run lacks is open
        return records.take(binary == (kind == KINDS[0]))

    here = select_kind(rows[direction])
    if not len(here):
        return []
    scores = [accuracy.measure(here)[0]]
    learned, tested = direction
    if learned != tested:
        if len(home := select_kind(rows[learned, learned])):
            scores.append(frame.measure_gap("home_drop", home, here))
        if (tested, tested) in rows:
            scores.append(
                frame.measure_gap("native_drop", *frame.select_common(select_kind(rows[tested, tested]), here))
            )
    with suppress(UserError):  # a model that returns no programs
        scores.append(missing_objects.measure(here)[0])
    return scores


OPTIONS = TransferOptions

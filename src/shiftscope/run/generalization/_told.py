"""What programs tell of a transfer: whether they hold on the true scenes, and with names put right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ...answer import spell
from ...lang.exec.exact import Undefined, execute
from ...lang.program import ProgramError
from ...lang.text import parse
from ...lang.world import World
from ...metrics import accuracy
from ...metrics.missing_objects import REASON
from ...question import Question
from ...result import AS_IS, Asked, Prediction, Score, records_of
from ...schema import Schema
from ...store.runlog import read_rows
from ._names import Names, Pair, annotated_pairs, build, mismatched, program_words, under
from ._sides import Side, kind_of

NAME = "names.csv"  # in the folder of a run


class Told:
    """The programs of one run, by a model that learned from one side and was asked about the other."""

    def __init__(
        self,
        learned: Side,
        asked: Side,
        questions: Sequence[Question],
        run: Path,
        table: Sequence[Pair],
        wordnet: str,
    ) -> None:
        """`questions` are those that were asked, `run` the folder of the replies."""
        self.learned, self.asked, self.questions, self.run = learned, asked, questions, run
        self._table, self._wordnet = table, wordnet
        self._schemas: dict[Schema, Schema] = {}

    def scores(self, kind: str) -> list[Score]:
        """Figures of one kind of question; none of a model that tells no programs."""
        made = self._unheard(kind) + self._called_otherwise(kind)
        written = [
            (a, p) for a, p in self._written if a.truth is not None and kind_of(spell(a.truth)) == kind
        ]
        if written:
            made += self._on_true_scenes(written, None, "true_scenes", "true_missing")
            made += self._on_true_scenes(written, self.names, "renamed", "renamed_missing")
        return made

    @cached_property
    def _written(self) -> list[tuple[Asked, Prediction]]:
        """The rows in which the model told its program, where the scenes asked about are known."""
        if not self.asked.material.is_dataset:
            return []
        return [(a, p) for a, p in read_rows(self.run) if p.program and p.condition == AS_IS]

    @cached_property
    def names(self) -> Names:
        """From what programs of the one side say to what scenes of the other do; kept beside the runs."""
        wordnet = None
        if self._wordnet:
            from ...graph.wordnet import WordNet

            wordnet = WordNet(Path(self._wordnet))
        words = set(self.learned.words)
        for _, said in self._written:
            words.update(_words(said.program))
        made = build(
            words,
            self.asked.scene_names,
            (self.learned.schema, self.asked.schema),
            annotated=_annotated(self.learned),
            table=self._table,
            wordnet=wordnet,
        )
        made.write(self.run / NAME)
        return made

    def _on_true_scenes(
        self, rows: Sequence[tuple[Asked, Prediction]], names: Names | None, right: str, missing: str
    ) -> list[Score]:
        said = [(a, self._run(a, p, names)) for a, p in rows]
        lost = ((a.question, a.scenes, p.reason == REASON) for a, p in said)
        return [replace(accuracy.measure(records_of(said))[0], metric=right), share(missing, lost)]

    def _run(self, asked: Asked, said: Prediction, names: Names | None) -> Prediction:
        """Of several objects found the first is taken, as the paper does (A.2); none found is the end."""
        try:
            scenes = under(names, self.asked.material.scenes(asked.scenes), self._schemas)
            made = execute(parse(said.program), World(scenes), "default")
        except ProgramError as error:
            return Prediction(asked.question, None, status="undefined", reason=str(error))
        lost = [made.answer] if isinstance(made.answer, Undefined) else []
        lost += [error for error in made.errors if error.reason == REASON]
        if lost:
            return Prediction(asked.question, None, status="undefined", reason=lost[-1].reason)
        return Prediction(asked.question, made.answer)

    def _unheard(self, kind: str) -> list[Score]:
        """How many questions name what no program of the other side's training questions names."""
        heard = self.learned.words
        if self.learned is self.asked or not heard:
            return []
        named = [
            (q.id, q.scenes, not heard.issuperset(word for _, word in program_words(q.program)))
            for q in self.questions
            if q.program is not None and q.answer is not None and kind_of(spell(q.answer)) == kind
        ]
        return [share("unheard_names", named)] if named else []

    def _called_otherwise(self, kind: str) -> list[Score]:
        """How many questions call an object they point at otherwise than its scene; and with `names`."""
        if not self.asked.material.is_dataset:
            return []
        pointing = [
            (q, self.asked.material.scenes(q.scenes))
            for q in self.questions
            if points(q) and q.answer is not None and kind_of(spell(q.answer)) == kind
        ]
        if not pointing:
            return []
        said = [(q, mismatched(q, scenes, self.names)) for q, scenes in pointing]
        return [
            share(name, ((q.id, q.scenes, found[at]) for q, found in said))
            for at, name in enumerate(("mismatched_names", "still_mismatched"))
        ]


def points(question: Question) -> bool:
    """Whether the program says which objects it is about, as GQA's do."""
    return question.program is not None and any(node.note("id") for node in question.program.nodes)


def share(name: str, rows: Iterable[tuple[str, tuple[str, ...], bool]]) -> Score:
    """How many of the questions (id, scenes) it is true of, with an interval."""
    made = records_of((Asked(q, scenes, True), Prediction(q, true)) for q, scenes, true in rows)
    return replace(accuracy.measure(made)[0], metric=name)


def _words(program: str) -> Iterator[str]:
    try:
        yield from (word for _, word in program_words(parse(program)))
    except ProgramError:  # it is counted where it is run
        return


def _annotated(side: Side) -> Iterator[Pair]:
    """What the training programs point at; nothing where they point at no objects."""
    material = side.material
    if "train" not in material.source.splits or not material.is_dataset:
        return
    for question in material.questions("train"):
        if points(question):
            yield from annotated_pairs(question, material.scenes(question.scenes))

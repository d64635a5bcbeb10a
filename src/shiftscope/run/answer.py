"""Answer official questions by running their programs on official scenes.

Where a file has lost its programs, they are read off the texts, by the templates that these were worded from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..answer import Answer, spell
from ..ask.invert import Inverter
from ..ask.template import TemplateSet
from ..errors import UserError, did_you_mean
from ..lang.check import check
from ..lang.exec.exact import Execution, References, Undefined, execute
from ..lang.program import Program, ProgramError
from ..lang.world import World
from ..question import Question
from ..scene import Scene
from ..schema import OPEN, Schema


class SceneBook:
    """Scenes by the names that questions call them."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self.by_name: dict[str, Scene] = {}
        by_index: dict[str, Scene | None] = {}
        for scene in scenes:
            self.by_name[scene.id] = scene
            number = scene.note("image_index")
            if number is not None:  # splits count from 0 each: a number used twice names nothing
                by_index[str(number)] = scene if str(number) not in by_index else None
        for number, found in by_index.items():
            if found is not None:
                self.by_name.setdefault(number, found)
        self.worlds: dict[tuple[str, ...], World] = {}

    def scenes_of(self, question: Question) -> tuple[Scene, ...]:
        missing = [name for name in question.scenes if name not in self.by_name]
        if missing:
            hint = did_you_mean(missing[0], self.by_name)
            raise UserError(f"question {question.id}: there is no scene {missing[0]!r}{hint}")
        return tuple(self.by_name[name] for name in question.scenes)

    def world_of(self, question: Question) -> World:
        world = self.worlds.get(question.scenes)
        if world is None:
            world = self.worlds[question.scenes] = World(self.scenes_of(question))
        return world


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with what its program gave."""

    question: Question
    execution: Execution | None  # None: there was no program to run
    schema: Schema
    missing: str = "no program"  # why not

    @property
    def answer(self) -> Answer | None:
        """The answer, or None where there is none."""
        if self.execution is None or isinstance(self.execution.answer, Undefined):
            return None
        found: Answer = self.execution.answer
        return found

    @property
    def undefined(self) -> str:
        """Why there is no answer, or nothing."""
        if self.execution is None:
            return self.missing
        return self.execution.answer.reason if isinstance(self.execution.answer, Undefined) else ""

    @property
    def verdict(self) -> str:
        """agree, disagree, undefined, or unchecked where no answer is stored."""
        if self.answer is None:
            return "undefined"
        if self.question.answer is None:
            return "unchecked"
        return "agree" if self.said(self.answer) == self.said(self.question.answer) else "disagree"

    def written(self) -> Answer | None:
        """The answer as its file would write it: like the stored one, else as the releases do."""
        if self.answer is None or isinstance(self.question.answer, bool | int):
            return self.answer
        return self.said(self.answer)

    def said(self, answer: Answer) -> str:
        """The one word for it: GQA's answer to "left or right?" is left, its relation "to the left of"."""
        return self.schema.canonical(spell(answer))


def answer(
    questions: Iterable[Question],
    book: SceneBook,
    references: References = "strict",
    templates: TemplateSet | None = None,
) -> Iterator[Answered]:
    """Answer questions one by one; a program that can not run stops everything, named.

    With templates, a question that has no program gets the one that its text was worded from.
    """
    inverters: dict[Schema, Inverter] = {}
    for question in questions:
        if question.program is not None:
            yield _run(question, question.program, book, references)
        elif templates is None:
            yield Answered(question, None, OPEN)
        else:
            schema = book.scenes_of(question)[0].schema
            if schema not in inverters:
                inverters[schema] = Inverter(templates, schema)
            inverter = inverters[schema]
            found = [_run(question, program, book, references) for program in inverter.read(question)]
            yield _agreed(question, found)


def _run(question: Question, program: Program, book: SceneBook, references: References) -> Answered:
    scenes = book.scenes_of(question)
    try:
        world = book.world_of(question)
        schema = world.objects.schema
        check_answers(program, schema)
        execution = execute(program, world, references)
    except UserError as error:
        names = ", ".join(scene.id for scene in scenes)
        raise UserError(f"question {question.id} (scene {names}): {error}") from None
    if question.program is None:
        question = replace(question, program=program)
    return Answered(question, execution, schema)


def _agreed(question: Question, readings: list[Answered]) -> Answered:
    """The first of the ways to read a question, where all lead to one answer."""
    if not readings:
        return Answered(question, None, OPEN, "not understood")
    if len({(spell(r.answer) if r.answer is not None else r.undefined) for r in readings}) > 1:
        return Answered(question, None, OPEN, "ambiguous")
    return readings[0]


def check_answers(program: Program, schema: Schema) -> None:
    """Refuse a program that is ill-typed, uses unknown words, or gives a set instead of an answer."""
    kind = check(program, schema)[-1]
    if kind.name not in ("Int", "Bool", "Value"):
        last = len(program) - 1
        raise ProgramError(f"node {last} ({program.root.op}) gives {kind}, which is not an answer")

"""Answer official questions by running their programs on official scenes.

Where a file has lost its programs, they are read off the texts, by the templates that these were worded from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..answer import Answer, spell
from ..english.synonyms import Lexicon
from ..errors import UserError, did_you_mean
from ..formats.clevr import spell_official_answer
from ..lang.check import check, plan_program
from ..lang.exec.exact import Execution, References, Undefined, execute
from ..lang.execution_world import ExecutionWorld
from ..lang.op import OBJECTS, PARTS
from ..lang.program import Program, ProgramError
from ..question import Question
from ..questions.clevr.inversion import TemplateInverter
from ..questions.clevr.template import TemplateSet
from ..scene import Scene
from ..schema import OPEN, Schema

SETS = (OBJECTS, PARTS)


class SceneLookup:
    """Scenes by the names that questions use."""

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
        self.worlds: dict[tuple[str, ...], ExecutionWorld] = {}

    def find_scenes(self, question: Question) -> tuple[Scene, ...]:
        missing = [name for name in question.scenes if name not in self.by_name]
        if missing:
            hint = did_you_mean(missing[0], self.by_name)
            raise UserError(f"question {question.id}: there is no scene {missing[0]!r}{hint}")
        return tuple(self.by_name[name] for name in question.scenes)

    def build_world(self, question: Question) -> ExecutionWorld:
        if question.scenes not in self.worlds:
            self.worlds[question.scenes] = ExecutionWorld(self.find_scenes(question))
        return self.worlds[question.scenes]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question with the result of its program."""

    question: Question
    execution: Execution | None  # None: there was no program to run
    schema: Schema
    missing: str = "no program"  # why not
    rivals: tuple[str, ...] = ()  # the answers that it might have

    @property
    def answer(self) -> Answer | None:
        answer: Answer | Undefined | None = self.execution.answer if self.execution else None
        return None if isinstance(answer, Undefined) else answer

    @property
    def undefined(self) -> str:
        """Why there is no answer, or nothing."""
        if self.execution is None:
            return self.missing
        return self.execution.answer.reason if isinstance(self.execution.answer, Undefined) else ""

    def explain_undefined(self) -> str:
        """The same with the node at fault."""
        if self.execution is None:
            return ": ".join(filter(None, (self.missing, " or ".join(self.rivals))))
        return str(self.execution.answer) if self.answer is None else ""

    @property
    def verdict(self) -> str:
        """agree, disagree, undefined, or unchecked where no answer is stored."""
        if self.answer is None:
            return "undefined"
        if self.question.answer is None:
            return "unchecked"
        return "agree" if self._says(self.answer, self.question.answer) else "disagree"

    def _says(self, answer: Answer, stored: Answer) -> bool:
        """Whether the stored answer says the same, in any of the ways to say it: `left head light`."""
        if self.normalize(answer) == self.normalize(stored):
            return True
        return self.schema.closed and spell(stored) in Lexicon(self.schema).list_accepted_phrases(spell(answer))

    @property
    def refers(self) -> bool:
        """Whether it has an answer, and everything that it speaks of on the way is there."""
        if self.execution is None or self.question.program is None or self.answer is None:
            return False
        types = plan_program(self.question.program).types
        return all(value != 0 for value, type_ in zip(self.execution.values, types, strict=True) if type_ in SETS)

    def format_answer(self) -> Answer | None:
        """The answer as its file would write it: like the stored one, else as the releases do."""
        if self.answer is None or isinstance(self.question.answer, bool | int):
            return self.answer
        if self.question.answer is not None and self._says(self.answer, self.question.answer):
            return spell(self.question.answer)
        return spell_official_answer(self.normalize(self.answer), self.schema)

    def normalize(self, answer: Answer) -> str:
        """The one word for it: GQA's answer to "left or right?" is left, its relation "to the left of"."""
        return self.schema.canonical(spell(answer))


def answer(
    questions: Iterable[Question],
    lookup: SceneLookup,
    references: References = "strict",
    templates: TemplateSet | None = None,
) -> Iterator[AnsweredQuestion]:
    """Answer questions one by one; a program that cannot run is an error.

    With templates, a question that has no program gets the one that its text was worded from.
    """
    inverters: dict[Schema, TemplateInverter] = {}
    for question in questions:
        if question.program is not None:
            yield _execute(question, question.program, lookup, references)
        elif templates is None:
            yield AnsweredQuestion(question, None, OPEN)
        else:
            schema = lookup.find_scenes(question)[0].schema
            if schema not in inverters:
                inverters[schema] = TemplateInverter(templates, schema)
            programs = inverters[schema].read_programs(question)
            yield _choose_reading(question, [_execute(question, p, lookup, references) for p in programs])


def _choose_reading(question: Question, readings: list[AnsweredQuestion]) -> AnsweredQuestion:
    """The first of the ways to read a question, where all that refer to something lead to one answer.

    A reading that refers to nothing is no rival of one that does: of the two names that a left head light has in
    the files, a suv has one.
    """
    rivals = [r for r in readings if r.refers] or [r for r in readings if r.answer is not None] or readings
    answers = {spell(r.answer) if r.answer is not None else r.undefined for r in rivals}
    if len(answers) == 1:
        return rivals[0]
    return AnsweredQuestion(question, None, OPEN, "ambiguous" if answers else "not understood", tuple(sorted(answers)))


def _execute(question: Question, program: Program, lookup: SceneLookup, references: References) -> AnsweredQuestion:
    scenes = lookup.find_scenes(question)
    try:
        world = lookup.build_world(question)
        schema = world.objects.schema
        kind = check(program, schema)[-1]
        if kind.name not in ("Int", "Bool", "Value"):
            last = len(program) - 1
            raise ProgramError(f"node {last} ({program.root.op}) gives {kind}, which is not an answer")
        execution = execute(program, world, references)
    except UserError as error:
        names = ", ".join(scene.id for scene in scenes)
        raise UserError(f"question {question.id} (scene {names}): {error}") from None
    if question.program is None:
        question = replace(question, program=program)
    return AnsweredQuestion(question, execution, schema)

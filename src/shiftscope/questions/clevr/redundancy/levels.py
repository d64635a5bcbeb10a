"""Levels: a question's twins of less and of more redundancy, on the same scene and with the same answer.

- `rd`: as it came; words that do not matter stay, relations that do not matter go
- `rd-`: nothing is left that could be dropped without changing what is referred to
- `rd+`: everything is said that is true of what is referred to and is not asked

A twin names the question it comes from in its note `twin`, and its level in its note `redundancy`. Questions
about parts are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....errors import UserError, unknown
from ....lang.exec.exact import execute
from ....lang.execution_world import ExecutionWorld
from ....lang.program import Program
from ....question import Provenance, Question
from ....scene import Scene
from ....scene_table import SceneTable
from ..generator import (
    ATTEMPTS,
    PER_IMAGE,
    AnswerMismatch,
    ClevrQuestionGenerator,
    TemplateMatches,
    TracedQuestion,
    get_generator,
)
from ..packed_scenes import PackedScenes
from ..template import TemplateSet
from ..wording import recover_random_bits
from .addition import add_all
from .program_tree import TreeStep, build_tree, read_tree
from .removal import drop_all
from .rewording import TemplateRewording

LEVELS = ("rd-", "rd", "rd+")


def build_levels(scene: Scene, question: Question, templates: TemplateSet) -> dict[str, Question]:
    """A question at every level; the templates are those that it was asked from.

    To make many, keep what the search found and use `ask_levels` or `at_level`, which need not listen to the
    text to know how it was worded.
    """
    generator = get_generator(templates, scene.schema)
    words = get_rewording(generator)
    where = question.provenance
    world = ExecutionWorld((scene,))
    number = words.number.get((where.template, where.family))
    last = None if question.program is None else read_tree(question.program, world)
    if number is None or last is None:
        raise UserError(f"question {question.id}: its template is not among those given, or it has no answer")
    if words.about_parts[number]:
        return {level: build_twin(level, question, world, words, number, 0) for level in LEVELS}
    fitted, codes = words.fit(last, number)
    dice = recover_random_bits(question.text, fitted.text, codes)
    if fitted is not words.own[number] or dice is None:
        raise UserError(f"question {question.id} is not worded by {where.template} {where.family}")
    return {level: build_twin(level, question, world, words, number, dice) for level in LEVELS}


def generate_levels(
    scenes: PackedScenes | SceneTable | Iterable[Scene],
    templates: TemplateSet,
    levels: Sequence[str] = LEVELS,
    *,
    per_image: int = PER_IMAGE,
    seed: int = 0,
    split: str = "",
    shard: int = 0,
    start: int = 0,
    attempts: int = ATTEMPTS,
) -> dict[str, list[Question]]:
    """The questions that `ask` gives for the same arguments, at each level."""
    for level in levels:
        _check_level(level)
    subjects = PackedScenes.from_scenes(scenes)
    generator = get_generator(templates, subjects.table.schema)
    found = generator.find_matches(subjects, per_image, attempts, ("ask", seed, split, shard))
    traced = generator.build_traced_questions(subjects, found, split, start)
    return {level: build_level(level, generator, subjects, found, traced) for level in levels}


def build_level(
    level: str,
    generator: ClevrQuestionGenerator,
    scenes: PackedScenes,
    found: TemplateMatches,
    traced: Sequence[TracedQuestion],
) -> list[Question]:
    """The questions that the generator made of what it found, each at the level given."""
    _check_level(level)
    words = get_rewording(generator)
    return [
        build_twin(level, question, scenes.get_world(s), words, t, dice, trace)
        for s, t, dice, (question, trace) in zip(found.scene, found.template, found.dice, traced, strict=True)
    ]


def build_twin(
    level: str,
    question: Question,
    world: ExecutionWorld,
    words: TemplateRewording,
    template: int,
    dice: int,
    trace: Sequence[Any] | None = None,
) -> Question:
    """One question at the level; `dice` are the random bits that it was worded with, `template` its number.

    The same bits choose the same phrases, so that the texts differ in what was dropped or added alone.
    `trace` is the value of every node on this world, where the program was run already.
    """
    program = question.program
    assert program is not None
    stays = words.about_parts[template] or (level == "rd" and not words.relates[template])
    last = None if stays else read_tree(program, world) if trace is None else build_tree(program, trace)
    seed = str(question.note("twin", question.id))  # that of the question as it came, also from level rd
    if last is None or not apply_level(level, last, world, seed):
        return (
            question if level == "rd" else _copy_as_twin(question, level, question.text, program, question.provenance)
        )
    fitted, codes = words.fit(last, template)
    made = fitted.program(codes)
    run = execute(made, world)
    answer = run.answer
    if type(answer) is not type(question.answer) or answer != question.answer:
        raise AnswerMismatch(f"{level} of question {question.id}: {question.answer!r} has become {answer!r}")
    where = question.provenance
    if (fitted.template.file, fitted.template.family) != (where.template, where.family):
        where = replace(where, template=fitted.template.file, family=fitted.template.family)
    return _copy_as_twin(
        question, level, fitted.text(codes, dice, _is_one_of_them(made, run.values, world)), made, where
    )


def _is_one_of_them(program: Program, values: Sequence[Any], world: ExecutionWorld) -> bool | None:
    """Whether the thing that others are like fits what is said of them; None where no others are sought."""
    for at, n in enumerate(program.nodes):
        if n.op == "same":
            thing = values[n.inputs[0]]
            for word in program.nodes[at + 1 :]:
                if word.op != "filter":
                    break
                thing &= world.objects.mask(*word.params)
            return bool(thing)
    return None


def apply_level(level: str, last: TreeStep, world: ExecutionWorld, seed: str) -> bool:
    """Bring the tree of a program to the level, in place; whether anything changed."""
    schema = world.scenes[0].schema
    if level == "rd-":
        return drop_all(last, world, schema) > 0
    gone = drop_all(last, world, schema, relations_only=True)
    if level == "rd":
        return gone > 0
    return add_all(last, world, schema, seed) > 0 or gone > 0


def _copy_as_twin(base: Question, level: str, text: str, program: Program, where: Provenance) -> Question:
    return Question(
        id=f"{base.id}_{level}",
        text=text,
        scenes=base.scenes,
        program=program,
        answer=base.answer,
        kind=base.kind,
        provenance=where,
        notes=(*base.notes, ("twin", base.id), ("redundancy", level)),
    )


def _check_level(level: str) -> None:
    if level not in LEVELS:
        raise unknown("level of redundancy", level, LEVELS)


@lru_cache(maxsize=8)
def get_rewording(generator: ClevrQuestionGenerator) -> TemplateRewording:
    """The generator's templates by shape, kept for the next shard."""
    return TemplateRewording(generator)

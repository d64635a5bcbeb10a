"""Levels: a question's twins of less and of more redundancy, on the same scene and with the same answer.

- `rd`: as it came; words that do not matter stay, relations that do not matter go
- `rd-`: nothing is left that could be dropped without changing what is referred to
- `rd+`: everything is said that is true of what is referred to and is not asked

A twin names the question it comes from in its note `twin`, and its level in its note `redundancy`. Questions
about parts are left as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ....errors import unknown
from ....lang.exec.exact import execute
from ....lang.execution_world import ExecutionWorld
from ....question import Notes, Question
from ....scene import Scene
from ....scene_table import SceneTable
from ..generator import ATTEMPTS, PER_IMAGE, AnswerMismatch, ClevrQuestionGenerator, TemplateMatches, get_generator
from ..grounding import ground_phrases, list_scene_parts
from ..packed_scenes import PackedScenes
from ..template import TemplateSet
from .modifiers import add_all, drop_all, get_shared_words, may_drop_relation, narrow_set
from .program_tree import TreeStep, build_tree, list_steps, write_program
from .rewording import TemplateRewording

LEVELS = ("rd-", "rd", "rd+")
get_rewording = lru_cache(maxsize=8)(TemplateRewording)  # of a generator, kept for the next shard


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
    grounding: bool = False,
    notes: Notes = (),
) -> dict[str, list[Question]]:
    """The questions that `generate_questions` gives for the same arguments, at each level."""
    for level in levels:
        if level not in LEVELS:
            raise unknown("level of redundancy", level, LEVELS)
    subjects = PackedScenes.from_scenes(scenes)
    generator = get_generator(templates, subjects.table.schema)
    found = generator.find_matches(subjects, per_image, attempts, ("ask", seed, split, shard))
    traced = generator.build_traced_questions(subjects, found, split, start, grounding, notes)
    return {level: build_level(level, generator, subjects, found, traced, grounding) for level in levels}


def build_level(
    level: str,
    generator: ClevrQuestionGenerator,
    scenes: PackedScenes,
    found: TemplateMatches,
    traced: Sequence[tuple[Question, Sequence[Any]]],
    grounding: bool = False,
) -> list[Question]:
    """The questions that the generator made of what it found, each at the level given."""
    words = get_rewording(generator)
    return [
        build_twin(level, question, scenes.get_world(s), words, t, dice, trace, grounding)
        for s, t, dice, (question, trace) in zip(found.scene, found.template, found.dice, traced, strict=True)
    ]


def build_twin(
    level: str,
    question: Question,
    world: ExecutionWorld,
    words: TemplateRewording,
    template: int,
    dice: int,
    trace: Sequence[Any],
    grounding: bool = False,
) -> Question:
    """One question at the level; `dice` are the random bits that it was worded with, `template` its number.

    The same bits choose the same phrases, so that the texts differ in what was dropped or added alone.
    `trace` is the value of every node on this world.
    """
    program, text, where, phrases = question.program, question.text, question.provenance, question.grounding
    assert program is not None
    about_parts, relates = words.get_traits(template)
    if level == "rd" and (about_parts or not (relates and may_drop_relation(program, trace, world))):
        return question
    gone = added = 0
    if not about_parts:
        last = build_tree(program, trace)
        if level == "rd-" or relates:
            gone = drop_all(last, world, words.schema, relations_only=level != "rd-")
        steps = list_steps(last)
        seed = str(question.note("twin", question.id))  # that of the question as it came, also from level rd
        added = add_all(steps, world, words.schema, seed) if level == "rd+" else 0
    if gone or added:
        fitted, codes = words.fit(last, template, is_its_own=not gone)
        wording, clauses, lists_more = fitted.text, None, any(step.relations for step in steps)
        if grounding or not lists_more:
            bare, ends = fitted.program.build(codes)  # without the relations that were added, which change no set
            program = bare
        if lists_more:
            things = get_shared_words(world, words.schema).things
            program = write_program(last, things)
            wording, clauses = words.word_clauses(fitted, steps, things, dice)
        run = execute(program, world)
        if type(run.answer) is not type(question.answer) or run.answer != question.answer:
            raise AnswerMismatch(f"{level} of question {question.id}: {question.answer!r} has become {run.answer!r}")
        if (fitted.template.file, fitted.template.family) != (where.template, where.family):
            where = replace(where, template=fitted.template.file, family=fitted.template.family)
        other = _is_one_of_them(steps, world)
        if grounding:
            text, spans = wording.word_phrases(codes, dice, other, clauses)
            values = (run if program is bare else execute(bare, world)).values
            phrases = ground_phrases(spans, bare, ends, values, list_scene_parts(world.scenes[0]))
        else:
            text = wording(codes, dice, other, clauses)
    if not about_parts:
        for step in steps:
            step.above = None  # a tree without cycles is gone at once
    if level == "rd" and not (gone or added):
        return question
    notes = (*question.notes, ("twin", question.id), ("redundancy", level))
    return Question(
        id=f"{question.id}_{level}",
        text=text,
        scenes=question.scenes,
        program=program,
        answer=question.answer,
        kind=question.kind,
        provenance=where,
        notes=notes,
        grounding=phrases,
    )


def _is_one_of_them(steps: list[TreeStep], world: ExecutionWorld) -> bool | None:
    """Whether the thing that others are like fits the words for them; None where the question is not about others."""
    for step in steps:
        if step.op == "same":
            return bool(narrow_set(step, step.inputs[0].value, world.objects))
    return None

"""Asker: templates bound to a schema; finds questions about scenes, words them and checks their answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..answer import Answer
from ..lang.exec.exact import execute
from ..lang.program import Program
from ..lang.world import World
from ..question import Notes, Provenance, Question
from ..rng import seed_of
from ..scene import Scene
from ..schema import Schema
from .dress import ProgramMaker
from .function import official_kind
from .lexicon import Lexicon
from .lower import EMPTY_SLOT, lower
from .subjects import Subjects
from .template import Template, TemplateSet
from .wording import Wording


class Mismatch(Exception):
    """The search and the plain executor disagree about an answer: a bug in one of them."""


class Found(NamedTuple):
    """What the search came up with, one entry a question, scene by scene."""

    scene: list[int]
    template: list[int]
    answer: list[int]  # a number, a truth or a term's code
    values: list[list[int]]  # codes of the slots
    dice: list[int]  # random bits for the wording


class Family(NamedTuple):
    """All that is needed to dress up a question of one template."""

    template: Template
    program: ProgramMaker
    text: Wording
    kind: str  # what the official files call its type
    answers: tuple[Answer, ...]  # by code; empty where the code is the answer


Traced = tuple[Question, tuple[Any, ...]]  # with the value of every node of its program


class Asker:
    """Templates bound to a schema."""

    def __init__(self, templates: TemplateSet, schema: Schema) -> None:
        self.lowered = lower(templates.templates, schema, templates.synonyms)
        vocabulary = self.lowered.vocabulary
        lexicon = Lexicon(schema, templates.synonyms)
        self.families: list[Family] = []
        for t in templates.templates:
            last = t.nodes[-1].meaning
            answers: tuple[Answer, ...] = (False, True)
            if last.op == "query":
                answers = vocabulary.names
            elif "count" in (last.op, last.tail):
                answers = ()
            program = ProgramMaker(t, vocabulary)
            wording = Wording(t, vocabulary, lexicon)
            self.families.append(Family(t, program, wording, official_kind(t.nodes[-1].function), answers))
        self.name = templates.name
        self.source = "superclevr" if schema.part_attributes else "clevr"
        self._provenance: dict[tuple[int, str], Provenance] = {}

    def questions(self, scenes: Subjects, found: Found, split: str, start: int) -> list[Question]:
        """Dress up what was found; each answer is computed again by the plain executor."""
        return [question for question, _ in self.traced(scenes, found, split, start)]

    def traced(self, scenes: Subjects, found: Found, split: str, start: int) -> list[Traced]:
        """The same, each question with the value of every node of its program."""
        made: list[Traced] = []
        at, place = -1, 0
        for s, t, code, values, dice in zip(*found, strict=True):
            if s != at:
                at, place = s, 0
                world = scenes.world(s)
                (scene,) = world.scenes
                notes = image_notes(scene)
                where = split or str(scene.note("split", ""))
                named, asked = f"{scene.id}_{self.name}", (scene.id,)
            family = self.families[t]
            program = family.program(values)
            answer = family.answers[code] if family.answers else code
            trace = _agree(program, world, answer, family.template)
            question = Question(
                id=f"{named}{place}",
                text=family.text(values, dice),
                scenes=asked,
                program=program,
                answer=answer,
                kind=family.kind,
                provenance=self._from(t, where),
                notes=(("question_index", start + len(made)), *notes),
            )
            made.append((question, trace))
            place += 1
        return made

    def find(self, scenes: Subjects, per_image: int, attempts: int, path: tuple[str | int, ...]) -> Found:
        """Search every scene; the balance of answers starts empty."""
        from ._search import search  # compiles on first use

        low = self.lowered
        most = len(scenes) * per_image
        path += (self.name,) if self.name else ()
        seeds = np.array([seed_of(*path, s) & 0xFFFFFFFFFFFFFFFF for s in range(len(scenes))], np.uint64)
        found = (
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.full((most, low.initial.shape[1]), EMPTY_SLOT, np.int64),
            np.zeros(most, np.uint64),
        )
        words = low.vocabulary
        size = search(
            (per_image, attempts),
            seeds,
            low.arrays(),
            scenes.layout,
            (words.sayings, words.offers, words.covers, words.value, words.answer),
            found,
        )
        return Found(*(column[:size].tolist() for column in found))

    def _from(self, t: int, split: str) -> Provenance:
        known = self._provenance.get((t, split))
        if known is None:
            template = self.families[t].template
            known = self._provenance[t, split] = Provenance(
                self.source, split, template.file, template.family
            )
        return known


def _agree(program: Program, world: World, answer: Answer, template: Template) -> tuple[Any, ...]:
    """The value of every node, once the answer is as the search says."""
    run = execute(program, world)
    exact = run.answer
    if type(exact) is not type(answer) or exact != answer:
        scene = world.scenes[0].id
        raise Mismatch(f"{template.where} on scene {scene}: search says {answer!r}, execution {exact!r}")
    return run.values


def image_notes(scene: Scene) -> Notes:
    """What the official question files say about the image."""
    index: Any = scene.note("image_index", scene.note("index"))
    return (
        *((("image_index", index),) if index is not None else ()),
        ("image_filename", scene.note("image_filename", f"{scene.id}.png")),
        ("image", scene.id),
    )

"""Question generation: valid, balanced, worded questions about scenes, every answer computed twice."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ...answer import Answer
from ...english.synonyms import Lexicon
from ...errors import UserError
from ...lang.exec.exact import execute
from ...question import GroundedPhrase, Notes, Provenance, Question
from ...rng import seed_of
from ...scene import Scene
from ...scene_table import SceneTable
from ...schema import Schema
from .compiled_templates import EMPTY_SLOT, compile_templates
from .grounding import ground_phrases, list_scene_parts
from .packed_scenes import PackedScenes
from .template import Template, TemplateProgramBuilder, TemplateSet
from .wording import QuestionWording

PER_IMAGE = 10
MOST_PER_IMAGE = 10_000
ATTEMPTS = 60  # fillings tried for a template on a scene before the next template is taken
SHARD_SIZE = 250  # scenes whose answers are balanced together


class AnswerMismatch(Exception):
    """The search and the plain executor disagree about an answer: a bug in one of them."""


class TemplateMatches(NamedTuple):
    """What the search came up with, one entry per question, scene by scene."""

    scene: list[int]
    template: list[int]
    answer: list[int]  # a number, a truth or a term's code
    values: list[list[int]]  # codes of the slots
    dice: list[int]  # random bits for the wording


class BoundTemplate(NamedTuple):
    template: Template
    program: TemplateProgramBuilder
    text: QuestionWording
    kind: str  # what the official files call its type: the last executable op
    answers: tuple[Answer, ...]  # by code; empty where the code is the answer


TracedQuestion = tuple[Question, tuple[Any, ...]]  # with the value of every node of its program


class ClevrQuestionGenerator:
    def __init__(self, templates: TemplateSet, schema: Schema) -> None:
        self.lowered = compile_templates(templates.templates, schema, templates.synonyms)
        vocabulary = self.lowered.vocabulary
        lexicon = Lexicon(schema, templates.synonyms)
        self.families: list[BoundTemplate] = []
        for t in templates.templates:
            last = t.nodes[-1].meaning
            answers: tuple[Answer, ...] = (False, True)
            if last.op == "query":
                answers = vocabulary.names
            elif "count" in (last.op, last.tail):
                answers = ()
            program, text = TemplateProgramBuilder(t, vocabulary), QuestionWording(t, vocabulary, lexicon)
            self.families.append(BoundTemplate(t, program, text, last.tail or t.nodes[-1].function, answers))
        self.name, self.source = templates.name, schema.name
        self._provenance: dict[tuple[int, str], Provenance] = {}  # one object for all questions of a template

    def build_traced_questions(
        self,
        scenes: PackedScenes,
        found: TemplateMatches,
        split: str,
        start: int,
        grounding: bool = False,
        more_notes: Notes = (),
    ) -> list[TracedQuestion]:
        """Dress up what was found; each answer is computed again by the plain executor."""
        made: list[TracedQuestion] = []
        at, place = -1, 0
        for s, t, code, values, dice in zip(*found, strict=True):
            if s != at:
                at, place = s, 0
                world = scenes.get_world(s)
                (scene,) = world.scenes
                notes = (*build_image_notes(scene), *more_notes)
                parts = list_scene_parts(scene) if grounding else []
                where = split or str(scene.note("split", ""))
                named, ids = f"{scene.id}_{self.name}", (scene.id,)
            family = self.families[t]
            program, ends = family.program.build(values)
            answer = family.answers[code] if family.answers else code
            source = self._provenance.get((t, where))
            if source is None:
                source = Provenance(self.source, where, family.template.file, family.template.family)
                self._provenance[t, where] = source
            run = execute(program, world)
            if type(run.answer) is not type(answer) or run.answer != answer:
                on = f"{family.template.location} on scene {scene.id}"
                raise AnswerMismatch(f"{on}: search says {answer!r}, execution {run.answer!r}")
            phrases: tuple[GroundedPhrase, ...] = ()
            if grounding:
                text, spans = family.text.word_phrases(values, dice)
                phrases = ground_phrases(spans, program, ends, run.values, parts)
            else:
                text = family.text(values, dice)
            question = Question(
                id=f"{named}{place}",
                text=text,
                scenes=ids,
                program=program,
                answer=answer,
                kind=family.kind,
                provenance=source,
                notes=(("question_index", start + len(made)), *notes),
                grounding=phrases,
            )
            made.append((question, run.values))
            place += 1
        return made

    def find_matches(
        self, scenes: PackedScenes, per_image: int, attempts: int, path: tuple[str | int, ...]
    ) -> TemplateMatches:
        """Search every scene; the balance of answers starts empty."""
        from .search import search_questions

        if per_image < 1 or attempts < 1:
            raise UserError(f"questions per image and attempts must be at least 1, not {per_image} and {attempts}")
        if per_image > MOST_PER_IMAGE:
            raise UserError(f"at most {MOST_PER_IMAGE:,} questions can be asked of an image, not {per_image:,}")
        low = self.lowered
        most = len(scenes) * per_image
        path += (self.name,) if self.name else ()
        seeds = np.array([seed_of(*path, s) & 0xFFFFFFFFFFFFFFFF for s in range(len(scenes))], np.uint64)
        found = (
            *(np.zeros(most, np.int64) for _ in range(3)),
            np.full((most, low.initial.shape[1]), EMPTY_SLOT, np.int64),
            np.zeros(most, np.uint64),
        )
        v = low.vocabulary
        words = (v.sayings, v.offers, v.covers, v.value, v.answer)
        size = search_questions((per_image, attempts), seeds, low.list_arrays(), scenes.layout, words, found)
        return TemplateMatches(*(column[:size].tolist() for column in found))


def build_image_notes(scene: Scene) -> Notes:
    """What the official question files say about the image."""
    index: Any = scene.note("image_index", scene.note("index"))
    return (
        *((("image_index", index),) if index is not None else ()),
        ("image_filename", scene.note("image_filename", f"{scene.id}.png")),
        ("image", scene.id),
    )


def generate_questions(
    scenes: PackedScenes | SceneTable | Iterable[Scene],
    templates: TemplateSet,
    *,
    per_image: int = PER_IMAGE,
    seed: int = 0,
    split: str = "",
    shard: int = 0,
    start: int = 0,
    attempts: int = ATTEMPTS,
    grounding: bool = False,
    notes: Notes = (),
) -> list[Question]:
    """The questions of one shard: a function of its scenes, the templates, seed, split and shard number.

    Sets of templates that differ in name ask independently, and give their questions different ids.

    Answers are balanced over the scenes given here. `start` numbers the first question. A scene that too few
    templates fit gets fewer questions. With `grounding`, questions list what their noun phrases refer to. `notes`
    are added to each one's.
    """
    subjects = PackedScenes.from_scenes(scenes)
    generator = get_generator(templates, subjects.table.schema)
    found = generator.find_matches(subjects, per_image, attempts, ("ask", seed, split, shard))
    traced = generator.build_traced_questions(subjects, found, split, start, grounding, notes)
    return [question for question, _ in traced]


def generate_all_questions(
    scenes: Iterable[Scene],
    templates: TemplateSet,
    *,
    per_image: int = PER_IMAGE,
    seed: int = 0,
    split: str = "",
    shard_size: int = SHARD_SIZE,
    start: int = 0,
    attempts: int = ATTEMPTS,
) -> Iterator[Question]:
    """Questions about any number of scenes of one schema, shard by shard, numbered from `start` on."""
    rest = iter(scenes)
    shard = 0
    while block := list(islice(rest, shard_size)):
        made = generate_questions(
            block, templates, per_image=per_image, seed=seed, split=split, shard=shard, start=start, attempts=attempts
        )
        yield from made
        shard, start = shard + 1, start + len(made)


get_generator = lru_cache(maxsize=8)(ClevrQuestionGenerator)  # of templates and a schema, kept for the next shard

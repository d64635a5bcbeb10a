"""Asking: valid, balanced, worded questions about scenes, every answer earned twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from ..errors import UserError
from ..question import Question
from ..scene import Scene
from ..scenetable import SceneTable
from ..schema import Schema
from .asker import Asker
from .subjects import Subjects
from .template import TemplateSet

PER_IMAGE = 10
MOST_PER_IMAGE = 10_000
ATTEMPTS = 60  # fillings tried for a template on a scene before the next template is taken
SHARD = 250  # scenes whose answers are balanced together


def ask(
    scenes: Subjects | SceneTable | Iterable[Scene],
    templates: TemplateSet,
    *,
    per_image: int = PER_IMAGE,
    seed: int = 0,
    split: str = "",
    shard: int = 0,
    start: int = 0,
    attempts: int = ATTEMPTS,
) -> list[Question]:
    """The questions of one shard: a function of its scenes, the templates, seed, split and shard number.

    Sets of templates that differ in name ask independently, and give their questions different ids.

    Answers are balanced over the scenes given here. `start` numbers the first question. A scene that too few
    templates fit gets fewer questions.
    """
    if per_image < 1 or attempts < 1:
        raise UserError(f"questions an image and attempts must be at least 1, not {per_image} and {attempts}")
    if per_image > MOST_PER_IMAGE:
        raise UserError(f"at most {MOST_PER_IMAGE:,} questions can be asked of an image, not {per_image:,}")
    subjects = Subjects.of(scenes)
    asker = asker_of(templates, subjects.table.schema)
    found = asker.find(subjects, per_image, attempts, ("ask", seed, split, shard))
    return asker.questions(subjects, found, split, start)


def ask_all(
    scenes: Iterable[Scene],
    templates: TemplateSet,
    *,
    per_image: int = PER_IMAGE,
    seed: int = 0,
    split: str = "",
    shard_size: int = SHARD,
    start: int = 0,
    attempts: int = ATTEMPTS,
) -> Iterator[Question]:
    """Questions about any number of scenes of one schema, shard by shard, numbered from `start` on."""
    rest = iter(scenes)
    shard = 0
    while block := list(islice(rest, shard_size)):
        made = ask(
            block,
            templates,
            per_image=per_image,
            seed=seed,
            split=split,
            shard=shard,
            start=start,
            attempts=attempts,
        )
        yield from made
        shard, start = shard + 1, start + len(made)


@lru_cache(maxsize=8)
def asker_of(templates: TemplateSet, schema: Schema) -> Asker:
    """The templates bound to the schema, kept for the next shard."""
    return Asker(templates, schema)

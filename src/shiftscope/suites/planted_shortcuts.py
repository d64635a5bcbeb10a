"""Planted shortcuts, for suites whose questions come from templates: options, the choice of questions, the card.

The spec of such a suite has the fields `shortcut` and `ood`, the `schema` of its scenes and `list_templates`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UserError, unknown
from ..question import Question
from ..questions.clevr.template import TemplateSet
from ..scene import Scene
from ..schema import Schema
from ..shift import shortcut as shift
from ..shortcuts.tied_answers import OOD_TEST, AnswerTie, TieSamples, build_tie_samples
from ..store.audit_samples import read_stored_questions
from ..store.dataset import Dataset
from . import option

if TYPE_CHECKING:
    from . import Suite

NAME = "shortcut"  # of the variant that its questions name
CHECKED_IMAGES = 60  # whose questions say whether ties can be had
NONE: dict[str, Any] = {"shortcut": None, "ood": None}


def shortcut_option() -> Any:
    return option(
        None,
        "Tie concepts to answers in train, val and test, such as question_type:0.6,key_object:0.8; "
        "a further split, ood_test, lacks the ties.",
        shown="",
        type=str,
        parse=lambda text: "".join(text.split()),
    )


def ood_option() -> Any:
    return option(
        None,
        "Of --shortcut: ood_test is balanced (as without ties; the default) or inverted (tied answers are rare).",
        shown="",
        type=str,
    )


@lru_cache(maxsize=4)
def load_vocabulary(schema: Schema, templates: tuple[TemplateSet, ...]) -> shift.TieVocabulary:
    return shift.read_vocabulary(schema, templates)


def check_fields(spec: Any) -> None:
    """Refuse what is no shortcut."""
    if spec.shortcut is None:
        if spec.ood is not None:
            raise UserError("--ood says what the OOD test of planted shortcuts is like; add --shortcut")
        return
    if spec.ood is not None and spec.ood not in shift.OOD_WAYS:
        raise unknown("way of the OOD test", spec.ood, shift.OOD_WAYS)
    if not list_ties(spec):
        raise UserError(f"{spec.shortcut}: nothing is tied, for every answer is as frequent without it")


def list_ties(spec: Any, split: str = "train") -> tuple[AnswerTie, ...]:
    """What is tied to what in a split, and how strongly."""
    if spec.shortcut is None:
        return ()
    vocabulary = load_vocabulary(spec.schema, spec.list_templates())
    return shift.list_split_ties(spec.shortcut, spec.ood or shift.OOD_WAYS[0], split, vocabulary, spec.seed)


def add_ood_split(spec: Any, splits: dict[str, int]) -> dict[str, int]:
    """The splits; with shortcuts also the OOD test, which has as many images as the test."""
    return splits | ({OOD_TEST: splits["test"]} if spec.shortcut is not None and "test" in splits else {})


def ask_planted(
    suite: "Suite[Any]", spec: Any, split: str, k: int, scenes: Sequence[Scene], grounding: bool = False
) -> list[Question]:
    """The questions of a shard, chosen so that the ties of its split hold; their names are no other dataset's."""
    chosen, _ = _choose_questions(suite, spec, split, k, scenes, grounding)
    return [_name_question(q) for q in chosen]


def check_ties(suite: "Suite[Any]", spec: Any) -> None:
    """Refuse ties that the first scenes do not allow, before anything is written."""
    if spec.shortcut is None:
        return
    split = next(iter(spec.splits()))
    places = range(min(CHECKED_IMAGES, len(spec.shard_range(split, 0))))
    scenes = suite.sample_scenes(spec, split, 0, places)
    shift.refuse_unreachable(_choose_questions(suite, spec, split, 0, scenes)[1])


def _choose_questions(
    suite: "Suite[Any]", spec: Any, split: str, k: int, scenes: Sequence[Scene], grounding: bool = False
) -> tuple[list[Question], tuple[shift.PlantedShare, ...]]:
    ties = list_ties(spec, split)
    plain = [replace(spec, seed=shift.seed_pool(spec.seed, j), **NONE) for j in range(shift.POOLS if ties else 1)]
    pools = [suite.ask(one, split, k, scenes, grounding=grounding) for one in plain]
    vocabulary = load_vocabulary(spec.schema, spec.list_templates())
    return shift.choose_questions(pools, scenes, ties, vocabulary, (spec.suite, spec.seed, split, k))


def _name_question(question: Question) -> Question:
    notes = tuple(note for note in question.notes if note[0] != "variant")
    return replace(question, id=f"{question.id}_{NAME}", notes=(*notes, ("variant", NAME)))


def format_ties(dataset: Dataset, spec: Any) -> str:
    """The card's section: what is tied, and how strongly each tie holds in each split."""
    if spec.shortcut is None:
        return ""
    samples = read_stored_questions(dataset)
    assert samples.splits is not None
    names = [str(name) for name in samples.splits.values]
    lines = [
        "## Planted shortcuts",
        "",
        "Of the questions that have the concept and could have the answer, this share has it. Planted is what was "
        f"asked for in every split but `{OOD_TEST}`, which is {spec.ood or shift.OOD_WAYS[0]}.",
        "",
        f"| shortcut | concept | answer | planted | {' | '.join(names)} |",
        f"|---|---|---|---:|{'---:|' * len(names)}",
    ]
    none = np.zeros(0, np.int64)
    tables = [build_tie_samples(samples, np.flatnonzero(samples.splits.codes == k), none) for k in range(len(names))]
    for tie in list_ties(spec):
        shares = " | ".join(_format_share(table, tie) for table in tables)
        lines.append(f"| {tie.shortcut} | {tie.concept} | {tie.answer} | {tie.strength:.0%} | {shares} |")
    return "\n".join([*lines, ""])


def _format_share(table: TieSamples, tie: AnswerTie) -> str:
    mine = table.has_concept(tie)
    n = int(mine.sum())
    return f"{(table.answer[mine] == table.answers.index(tie.answer)).mean():.1%} of {n:,}" if n else "–"

"""Test sets of a study that are derived: a generalization test's questions in pairs, or another dataset's test split.

Rows are the pairs (or questions); which of the test's table each counts in are its marks. Derived questions are written
as a dataset in the study's folder, so that they are made once and can be asked by `shiftscope run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...answer import Answer, is_same_answer, spell
from ...errors import UserError
from ...metrics.held_out_records import (
    DENIED,
    DENIED_TRUTH,
    ORIGINAL,
    PLAIN,
    SAME,
    VARIANT,
    Bools,
    HeldOutTest,
    name_bits,
    pack_array,
    pack_bits,
)
from ...question import Question
from ...records import canonical_json, content_id
from ...registry import GENERALIZATION_TESTS
from ...store.dataset import Dataset, data_id
from ...suites.held_out_study import DerivedTestPlan
from ..generalization import PairedQuestion, SourceSplit
from ..generalization.segment_combine import combine_answers
from ..generalization.transfer import KINDS, explain_exclusion, is_kind
from ..test import write_test_set
from .asking import ModelAnswers, Said, mark_right
from .study_data import TEST, StudyData

Marks = Mapping[str, Bools]


@dataclass(frozen=True, eq=False)
class DerivedTestSet:
    """The questions of a derived set in memory; without pairs it is the test split of its data."""

    plan: DerivedTestPlan
    source: StudyData
    questions: tuple[Question, ...]  # all that are asked
    pairs: tuple[PairedQuestion, ...]
    shared: frozenset[str] = frozenset()  # answers that both datasets have, of another dataset's test split

    @cached_property
    def rows(self) -> list[Question]:
        """What each row is about: the original of a pair, or the question."""
        return [pair.original for pair in self.pairs] or list(self.questions)

    @cached_property
    def marks(self) -> Marks:
        """By row of the test's table, which pairs count there."""
        if not self.pairs:
            return mark_transfer(self.questions, self.shared)
        names = sorted({name for pair in self.pairs for name in pair.rows})
        return {name: np.array([name in pair.rows for pair in self.pairs], np.bool_) for name in names}

    @cached_property
    def content(self) -> str:
        """Its questions by their content: bits over other rows are never taken for those of these."""
        asked = [[q.id, q.text, list(q.scenes), None if q.answer is None else spell(q.answer)] for q in self.questions]
        return content_id([self.plan.name, asked, [[p.original.id, list(p.rows)] for p in self.pairs]])

    def describe(self, suite: str, scale: str, data: str) -> HeldOutTest:
        return describe_rows(
            (suite, scale, content_id([data, self.content])),
            self.rows,
            self.source,
            {TEST: len(self.rows)},
            self.marks,
            {},
            self.plan.name,
        )

    def score(self, answers: ModelAnswers) -> dict[str, Bools]:
        """The bits of each row, of answers to `questions`."""
        if not self.pairs:
            truth = [q.answer for q in self.questions]
            found = {name_bits(PLAIN, how): mark_right(said, truth) for how, said in answers.said.items()}
            return found | {name_bits(PLAIN, name): bits for name, bits in answers.flags.items()}
        place = {q.id: k for k, q in enumerate(self.questions)}
        made: dict[str, Bools] = {}
        for how, said in answers.said.items():
            made |= {name_bits(of, how): bits for of, bits in self._score_pairs(said, place).items()}
        for name, bits in answers.flags.items():
            of_original = [bits[place[pair.original.id]] for pair in self.pairs]
            of_asked = [[bits[place[q.id]] for q in pair.asked] for pair in self.pairs]
            joined = [any(some) if name not in ALL_OF else all(some) for some in of_asked]
            made[name_bits(ORIGINAL, name)] = np.array(of_original, np.bool_)
            made[name_bits(VARIANT, name)] = np.array(joined, np.bool_)
        return made

    def _score_pairs(self, said: Said, place: Mapping[str, int]) -> dict[str, Bools]:
        first = tuple(said[place[pair.original.id]] for pair in self.pairs)
        then = tuple(_join_answers(pair, [said[place[q.id]] for q in pair.asked]) for pair in self.pairs)
        truth = [pair.answer for pair in self.pairs]
        both = zip(first, then, strict=True)
        return {
            ORIGINAL: mark_right(first, [pair.original.answer for pair in self.pairs]),
            VARIANT: mark_right(then, truth),
            SAME: np.array([a is not None and b is not None and is_same_answer(a, b) for a, b in both], np.bool_),
            DENIED: np.array([_is_denial(a) for a in then], np.bool_),
            DENIED_TRUTH: np.array([_is_denial(a) for a in truth], np.bool_),
        }


ALL_OF = ("exact",)  # of several segments all must have it; of other flags any


def _join_answers(pair: PairedQuestion, answers: Sequence[Answer | None]) -> Answer | None:
    """A variant's answer, or what those of the segments make together; none where one is lacking."""
    known = [a for a in answers if a is not None]
    if len(known) < len(answers):
        return None
    return combine_answers(pair.fusion, known) if pair.fusion else known[0]


def _is_denial(answer: Answer | None) -> bool:
    return answer is not None and spell(answer) in ("no", "0")


def describe_rows(
    of: tuple[str, str, str],
    rows: Sequence[Question],
    source: StudyData,
    counts: Mapping[str, int],
    marks: Marks,
    with_property: Mapping[str, int],
    test_set: str = "",
) -> HeldOutTest:
    """The record of a test set; `of` is suite, scale and data."""
    templates = tuple(sorted({q.provenance.template for q in rows}))
    number = {name: k for k, name in enumerate(templates)}
    place = {scene.id: k for k, scene in enumerate(source.list_scenes(TEST))}
    return HeldOutTest(
        *of,
        counts,
        templates,
        pack_array(np.array([number[q.provenance.template] for q in rows], np.uint8)),
        pack_array(np.array([len(q.scenes) for q in rows], np.uint8)),
        pack_array(np.array([place[name] for q in rows for name in q.scenes], np.uint32)),
        {name: pack_bits(bits) for name, bits in marks.items()},
        with_property,
        test_set,
    )


def mark_transfer(questions: Sequence[Question], shared: frozenset[str]) -> Marks:
    """Yes-or-no and open questions with an answer that both datasets have; counting questions are left out."""
    counts = [not explain_exclusion(q, shared) for q in questions]
    return {
        kind: np.array([k and is_kind(q.answer, kind) for k, q in zip(counts, questions, strict=True)], np.bool_)
        for kind in KINDS
    }


def list_answers(data: StudyData) -> frozenset[str]:
    """Every answer that a question of a split in memory has."""
    return frozenset(spell(q.answer) for s in data.splits for q in data.list_questions(s) if q.answer is not None)


def derive_questions(
    plan: DerivedTestPlan, data: Dataset, split: str, folder: Path, limit: int | None = None
) -> tuple[Question, ...]:
    """The questions that a generalization test makes of a split, written as a dataset; none where it does not apply."""
    module = GENERALIZATION_TESTS.load(plan.test)
    options = module.OPTIONS(**dict(plan.options))
    spec = {"test": plan.test, "split": split, "limit": limit, "options": [list(one) for one in plan.options]}
    spec |= {"data_id": data_id(data), "version": __version__}
    if not (folder / "manifest.json").is_file():
        made = module.plan(SourceSplit(data.folder, split, limit), options)
        if not made.test_sets:
            return ()
        write_test_set(folder, data.folder, made.test_sets[0].questions, spec)
    stored = Dataset.open(folder)
    if canonical_json(dict(stored.manifest.spec)) != canonical_json(spec):
        raise UserError(
            f"{folder} holds other questions than are asked now; name another folder by --out, or delete it"
        )
    return tuple(sorted(stored.questions("test"), key=lambda q: q.id))


def build_test_set(plan: DerivedTestPlan, load: Callable[[str], StudyData], folder: Path) -> DerivedTestSet | None:
    """A derived set of data that `load` finds; None where the test has nothing to ask there."""
    source = load(plan.data)
    if not plan.test:
        shared = list_answers(source) & list_answers(load(""))
        return DerivedTestSet(plan, source, tuple(source.list_questions(TEST)[: plan.limit]), (), shared)
    questions = derive_questions(plan, source.dataset, TEST, folder / plan.name, plan.limit)
    pairs: Any = GENERALIZATION_TESTS.load(plan.test).pair_questions(questions)
    return DerivedTestSet(plan, source, questions, tuple(pairs)) if pairs else None

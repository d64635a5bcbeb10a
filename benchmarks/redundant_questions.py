"""Which redundant questions a model gets wrong: `python -m benchmarks.redundant_questions [--model mdetr]`.

Of the stored answers of a model that learned from the default, to the first images' questions about vehicles: right by
what is asked for and by how long a question is, on default, rd- and rd+. These ask the same about the same scenes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.table import table
from shiftscope.question import Question
from shiftscope.run.study.entry_store import EntryStore, build_transfer_matrix
from shiftscope.shortcuts.tokens import tokenize_texts
from shiftscope.suites.parser_study import OBJECT
from shiftscope.suites.superclevr.study import SCALES, STUDY, StudyDomain, TrainingSetup
from shiftscope.train.feed import SuiteSource

LEVELS = ("default", "rd-", "rd+")
LENGTHS = (20, 36, 60, 100, 1000)  # words, at most
CELLS = Path(__file__).parents[1] / "docs" / "results" / "cells"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", default="mdetr")
    options.add_argument("--images", type=int, default=500, help="of the test split, in its order")
    options.add_argument("--cells", type=Path, default=CELLS)
    given = options.parse_args()
    matrix = build_transfer_matrix(EntryStore(given.cells).read_records(), SCALES["paper"])
    kinds: list[list[object]] = []
    lengths: list[list[object]] = []
    for level in LEVELS:
        domain = StudyDomain.from_name(level)
        asked = ask(domain, given.images)
        outcome = matrix.entries[given.model, TrainingSetup(), domain].find_outcome(OBJECT)
        right = outcome.unpack_hits()[: len(asked)]
        words = np.diff(tokenize_texts([q.text for q in asked]).at)
        kind = np.array([name_kind(q) for q in asked])
        for name in ("yes or no", "number", "value"):
            here = kind == name
            most = f"{100 * find_share_of_most(asked, here):.1f}"
            kinds.append([level, name, *count(right[here]), most])
        for least, longest in zip((0, *LENGTHS), LENGTHS, strict=False):
            here = (words > least) & (words <= longest)
            lengths.append([level, f"{least + 1}–{min(longest, int(words.max()))}", *count(right[here])])
    heads = ("questions", "right %")
    table(f"{given.model}: what is asked for", ("level", "answer", *heads, "most frequent answer, %"), kinds)
    table(f"{given.model}: words", ("level", "words", *heads), [row for row in lengths if row[2] != "0"])


def ask(domain: StudyDomain, images: int) -> list[Question]:
    """The questions about whole vehicles, as the study's test set has them."""
    source = SuiteSource(STUDY.suite, domain.build_spec(SCALES["paper"]), "test", most=images)
    pairs = [pair for k in range(source.blocks()) for pair in source.block(k)]
    return [q for _, questions in pairs for q in questions if STUDY.find_group(q) == OBJECT]


def name_kind(question: Question) -> str:
    if isinstance(question.answer, bool):
        return "yes or no"
    return "number" if isinstance(question.answer, int) else "value"


def find_share_of_most(asked: list[Question], chosen: np.ndarray) -> float:
    answers = [str(q.answer) for q, here in zip(asked, chosen, strict=True) if here]
    return max(answers.count(one) for one in set(answers)) / len(answers)


def count(right: np.ndarray) -> tuple[str, str]:
    return f"{len(right):,}", f"{100 * right.mean():.1f}" if len(right) else ""


if __name__ == "__main__":
    main()

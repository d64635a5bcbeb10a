"""How well replies are read: `response.py` against replies that are labelled by hand and by rule.

`python -m benchmarks.replies` prints the page docs/results/replies.md. `python -m benchmarks.replies make` draws the
replies by rule again (`reply_styles.py`); those by hand stay as they are in tests/data/replies.tsv.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from shiftscope.answer import spell
from shiftscope.response import ANYTHING, NUMBER, TRUTH, ExpectedAnswer, expect_value, parse_response
from shiftscope.schemas import clevr, superclevr

LABELS = Path(__file__).parents[1] / "tests/data/replies.tsv"
COLUMNS = ("space", "expected", "style", "language", "origin", "reply")
LINE_BREAK = "⏎"  # in the file: a reply is one line
HAND, FRESH = "hand", "fresh"  # FRESH: by hand too, once the reader stood; read once before anything was changed
UNREAD = ("-refused", "-two", "-unread")  # labels of replies that give no single answer


class LabelledReply(NamedTuple):
    """A reply, and what a careful human reads in it."""

    space: str  # of answers: truth, number, color, …, open, choice(this|that)
    expected: str  # the answer, or one of UNREAD
    style: str
    language: str
    origin: str  # HAND, or the rule that made it
    reply: str

    @property
    def held_out(self) -> bool:
        """Not looked at while the reader was tuned; all replies of one rule are in the same half."""
        key = self.reply if self.origin == HAND else self.origin
        return sha256(f"replies {key}".encode()).digest()[0] % 2 == 1


@lru_cache(maxsize=64)
def get_expected(space: str) -> ExpectedAnswer:
    """What a reply to a question of this answer space is parsed as."""
    if space.startswith("choice("):
        from shiftscope.lang.program import Program, node
        from shiftscope.question import Question
        from shiftscope.questions.answer_space import infer_expected
        from shiftscope.schema import OPEN

        this, that = space.removeprefix("choice(").removesuffix(")").split("|")
        found = node("find", (), ("thing",)), node("unique", (0,)), node("find", (), ("thing",))
        program = Program((*found, node("choose_relation", (1, 2), (this, that, "object"))))
        closed = this in superclevr.SCHEMA.relations
        return infer_expected(Question("q", "?", ("s",), program), superclevr.SCHEMA if closed else OPEN)
    if space == "vehicle":
        return expect_value(superclevr.SCHEMA, "shape")
    if space == "part":
        return expect_value(superclevr.SCHEMA, "name", part=True)
    known = {"truth": TRUTH, "number": NUMBER, "open": ANYTHING}
    return known[space] if space in known else expect_value(clevr.SCHEMA, space)


def read_rows(path: Path = LABELS) -> Iterator[LabelledReply]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if tuple(row) != COLUMNS:
                *labels, reply = row
                yield LabelledReply(*labels, reply.replace(LINE_BREAK, "\n"))


def write_rows(by_hand: Iterable[Iterable[str]], path: Path = LABELS) -> None:
    """Write the rows by hand, then those by rule; none twice."""
    from .reply_styles import make_replies

    rows = {(row[0], row[-1]): row for row in (*make_replies(), *map(tuple, by_hand))}
    listed = sorted(rows.values(), key=lambda row: (row[4] not in (HAND, FRESH), row[4] != HAND))
    lines = ["\t".join((*labels, reply.replace("\n", LINE_BREAK))) for *labels, reply in listed]
    path.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n", "utf-8")


def read_answer_of(row: LabelledReply) -> str:
    """What the reader reads, spelled; empty where it reads nothing."""
    answer = parse_response(row.reply, get_expected(row.space))
    return "" if answer is None else spell(answer)


def is_right(row: LabelledReply, read: str) -> bool:
    return read == ("" if row.expected in UNREAD else row.expected)


def main() -> None:
    if sys.argv[1:] == ["make"]:
        write_rows([row for row in read_rows() if row.origin in (HAND, FRESH)])
        return


if __name__ == "__main__":
    main()

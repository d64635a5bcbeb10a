"""Annotation store: who was given which question, and what they said of it; one SQLite file.

Every write is one transaction that is on disk when it returns (WAL, synchronous): a kill loses nothing that was
acknowledged. Two annotators at once, or two servers on one file, never get one place twice.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...errors import UserError
from .qualification import QualificationResult, QualificationRound

ACCEPT, NOT_UNDERSTOOD, UNDETERMINED, WRONG = "accept", "not_understood", "undetermined", "wrong"
VERDICTS = {  # COVR's four choices
    ACCEPT: "The answer is correct",
    NOT_UNDERSTOOD: "I cannot understand the question",
    UNDETERMINED: "I cannot determine whether it is correct",
    WRONG: "The answer is wrong",
}
FORMAT = "1"
HELD_SECONDS = 1800.0  # so long a question that somebody opened is not given to others
WAIT_SECONDS = 30.0  # for another writer
LONGEST_TEXT = 2000  # characters
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS questions (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS annotations (
  place INTEGER NOT NULL REFERENCES questions(place),
  annotator TEXT NOT NULL,
  given REAL NOT NULL,
  answer TEXT, parsed TEXT, answered REAL,
  verdict TEXT, paraphrase TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '', judged REAL,
  PRIMARY KEY (place, annotator)
);
"""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator said of one question, as far as they have come."""

    place: int
    question: str
    annotator: str
    answer: str | None = None  # as typed, before the stored one is shown; empty: could not answer
    parsed: str | None = None  # what it is read as, spelled
    verdict: str | None = None
    paraphrase: str = ""
    comment: str = ""


class AnnotationStore:
    """A file of annotations of one split of one dataset."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _transact(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise UserError(f"{self.path} cannot be opened ({error})") from None
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise UserError(f"{self.path}: {error}; is it a file of annotations, on a local disk?") from None
        finally:
            connection.close()  # what was not committed is undone

    def prepare(
        self,
        data_id: str,
        split: str,
        questions: Sequence[str],
        per_question: int,
        qualification: QualificationRound | None = None,
    ) -> None:
        """Make the file, or check that it is of these questions; how many annotators a question gets may change."""
        wanted = qualification or QualificationRound()
        if wanted.questions >= len(questions):
            raise UserError(f"--qualify {wanted.questions} of {len(questions)} questions leaves none to annotate")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._transact() as db:
            for statement in filter(str.strip, _TABLES.split(";")):
                db.execute(statement)
            known = dict(db.execute("SELECT name, value FROM about").fetchall())
            about = {"format": FORMAT, "data_id": data_id, "split": split}
            if known and any(known.get(name) != value for name, value in about.items()):
                raise UserError(
                    f"{self.path} holds annotations of other questions; name another file with --annotations"
                )
            there = db.execute("SELECT count(*) FROM questions").fetchone()[0]
            if known and there != len(questions):
                raise UserError(
                    f"{self.path} was made for the first {there:,} questions, not for {len(questions):,}; "
                    f"give --limit {there}, or name another file with --annotations"
                )
            if known and (there_is := QualificationRound.from_about(known)) != wanted:
                raise UserError(
                    f"{self.path} was made {there_is}; start it so, or name another file with --annotations"
                )
            if not known:
                db.executemany("INSERT INTO questions VALUES (?, ?)", list(enumerate(questions)))
            about |= {"per_question": str(per_question), **wanted.to_about()}
            db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", list(about.items()))

    def read_about(self) -> dict[str, str]:
        """What the file is about; a UserError where it is no file of annotations."""
        if not self.path.is_file():
            raise UserError(
                f"{self.path}: there are no annotations there; make some with: shiftscope explore DIR --annotate"
            )
        with self._transact() as db:
            return dict(db.execute("SELECT name, value FROM about").fetchall())

    def assign(self, annotator: str) -> int | None:
        """The place of the question that an annotator is at, or of the next one; None where nothing is left.

        Those of the qualification round come first, and whoever does not pass it gets no others. Then questions that
        somebody else judged come first, so that agreement can be measured early.
        """
        now = time.time()
        with self._transact() as db:
            row = db.execute(
                "SELECT place FROM annotations WHERE annotator = ? AND judged IS NULL ORDER BY given LIMIT 1",
                (annotator,),
            ).fetchone()
            if row is not None:
                return int(row[0])
            row = self._find_in_round(db, annotator)
            result = self._measure(db, annotator)
            if row is None and (result is None or result.passed):
                row = self._find_in_main(db, annotator, now)
            if row is None or (result is not None and not result.ready):
                return None
            db.execute("INSERT INTO annotations (place, annotator, given) VALUES (?, ?, ?)", (row[0], annotator, now))
            return int(row[0])

    def _find_in_round(self, db: sqlite3.Connection, annotator: str) -> tuple[int] | None:
        """The next question of the qualification round; everybody gets all of them."""
        found: tuple[int] | None = db.execute(
            "SELECT place FROM questions WHERE place < ? AND place NOT IN "
            "(SELECT place FROM annotations WHERE annotator = ?) ORDER BY place LIMIT 1",
            (self._read_round(db).questions, annotator),
        ).fetchone()
        return found

    def _find_in_main(self, db: sqlite3.Connection, annotator: str, now: float) -> tuple[int] | None:
        per_question = int(db.execute("SELECT value FROM about WHERE name = 'per_question'").fetchone()[0])
        found: tuple[int] | None = db.execute(
            """SELECT q.place FROM questions q
            LEFT JOIN annotations a ON a.place = q.place AND (a.judged IS NOT NULL OR a.given > ?)
            WHERE q.place >= ? AND q.place NOT IN (SELECT place FROM annotations WHERE annotator = ?)
            GROUP BY q.place HAVING count(a.place) < ? ORDER BY count(a.place) DESC, q.place LIMIT 1""",
            (now - HELD_SECONDS, self._read_round(db).questions, annotator, per_question),
        ).fetchone()
        return found

    @staticmethod
    def _read_round(db: sqlite3.Connection) -> QualificationRound:
        return QualificationRound.from_about(dict(db.execute("SELECT name, value FROM about").fetchall()))

    def _measure(self, db: sqlite3.Connection, annotator: str) -> QualificationResult | None:
        """How far an annotator has come in the round; None where there is none, and for the expert."""
        qualification = self._read_round(db)
        if not qualification.questions or annotator == qualification.expert:
            return None
        query = "SELECT place, verdict FROM annotations WHERE annotator = ? AND place < ? AND verdict IS NOT NULL"
        given, known = (
            dict(db.execute(query, (name, qualification.questions)).fetchall())
            for name in (annotator, qualification.expert)
        )
        return qualification.measure(given, known)

    def measure_round(self, annotator: str) -> QualificationResult | None:
        with self._transact() as db:
            return self._measure(db, annotator)

    def read_round(self) -> QualificationRound:
        with self._transact() as db:
            return self._read_round(db)

    def get(self, place: int, annotator: str) -> Annotation | None:
        return next(iter(self._read("place = ? AND annotator = ?", (place, annotator))), None)

    def list_annotations(self) -> list[Annotation]:
        """All that has been said, by question and then by time."""
        return self._read("1", ())

    def _read(self, where: str, values: tuple[object, ...]) -> list[Annotation]:
        columns = "place, q.id, annotator, answer, parsed, verdict, paraphrase, comment"
        query = (
            f"SELECT {columns} FROM annotations a JOIN questions q USING (place) WHERE {where} ORDER BY place, given"
        )
        with self._transact() as db:
            return [Annotation(*row) for row in db.execute(query, values)]

    def save_answer(self, place: int, annotator: str, answer: str, parsed: str | None) -> None:
        """Keep the answer given before the stored one was shown; it is not changed afterwards."""
        with self._transact() as db:
            changed = db.execute(
                "UPDATE annotations SET answer = ?, parsed = ?, answered = ? "
                "WHERE place = ? AND annotator = ? AND answer IS NULL",
                (answer[:LONGEST_TEXT], parsed, time.time(), place, annotator),
            )
            if not changed.rowcount and self._count(db, place, annotator) == 0:
                raise UserError("this question was not given to you")

    def save_judgement(self, place: int, annotator: str, verdict: str, paraphrase: str = "", comment: str = "") -> None:
        """Keep the verdict; it may be given again, and then replaces the one before."""
        if verdict not in VERDICTS:
            raise UserError(f"choose one of: {', '.join(VERDICTS.values())}")
        with self._transact() as db:
            result = self._measure(db, annotator)
            if result is not None and result.complete and place < result.round.questions:
                raise UserError("the qualification round is over; its judgements stay as they are")
            changed = db.execute(
                "UPDATE annotations SET verdict = ?, paraphrase = ?, comment = ?, judged = ? "
                "WHERE place = ? AND annotator = ? AND answer IS NOT NULL",
                (verdict, paraphrase[:LONGEST_TEXT], comment[:LONGEST_TEXT], time.time(), place, annotator),
            )
            if not changed.rowcount:
                raise UserError("give your own answer first")

    @staticmethod
    def _count(db: sqlite3.Connection, place: int, annotator: str) -> int:
        query = "SELECT count(*) FROM annotations WHERE place = ? AND annotator = ?"
        return int(db.execute(query, (place, annotator)).fetchone()[0])

    def count_questions(self) -> int:
        with self._transact() as db:
            return int(db.execute("SELECT count(*) FROM questions").fetchone()[0])

    def find_previous(self, place: int | None, annotator: str) -> int | None:
        """The question that an annotator judged last before the one at a place."""
        with self._transact() as db:
            row = db.execute(
                "SELECT place FROM annotations WHERE annotator = ? AND judged IS NOT NULL AND place != ? "
                "ORDER BY judged DESC LIMIT 1",
                (annotator, -1 if place is None else place),
            ).fetchone()
            return None if row is None else int(row[0])

"""Run log: the folder of a run, written part by part, resumed after a kill, compacted at the end.

`run.json` holds the spec; `predictions/part-NNNNN.parquet` what is done while the run goes on;
`predictions.parquet` all of it, once finished. What a finished run holds does not depend on how often it was
stopped; only the seconds do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .. import __version__
from ..canonical import canonical_json, content_id
from ..errors import UserError
from ..result import CONDITIONS, Asked, Prediction, RunLog
from ..whole import PARTIAL, sweep, write_whole, writing
from .lock import NAME as LOCK
from .lock import locked
from .runtable import FACT, READ_BY_RECORDS, joined, records_from, row_table, rows_of
from .shard import reading

NAME = "run.json"
DATASET = "manifest.json"  # what tells the folder of a dataset
WHOLE = "predictions.parquet"
PARTS = "predictions"
FORMAT = 1
ROWS_IN_GROUP = 50_000

Key = tuple[str, str]  # question, condition


class RunWriter:
    """A run's folder, held by one process; rows that are already there are not asked for again."""

    def __init__(self, folder: Path, spec: Mapping[str, Any], questions: int | None = None) -> None:
        """`spec` is stored as it is given, so it must hold no secret; `questions` is how many are asked."""
        self.folder = folder
        self.spec = dict(spec)
        self.questions = questions
        self.done: set[Key] = set()  # has a row that is not a failure
        self.failed: set[Key] = set()  # may be asked again; the new row takes the place of the old one
        self._held = ExitStack()

    def __enter__(self) -> RunWriter:
        """The folder is on disk while it is held, but becomes a run, and stays, only with its first rows."""
        refuse_foreign(self.folder)
        made = [f for f in (self.folder, *self.folder.parents) if not f.exists()]
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        self._held.callback(_remove_empty, made)
        try:
            self._held.enter_context(locked(self.folder))
        except BaseException:
            self._held.close()
            raise
        try:
            self._open()
        except BaseException:
            self._held.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def _open(self) -> None:
        sweep(self.folder)
        there = _read_json(self.folder)
        if there is None:
            return
        _refuse_changed(self.folder, there["spec"], self.spec)
        if there["finished"] and (self.folder / WHOLE).is_file():
            for part in _parts(self.folder):
                part.unlink()
        for path in _files(self.folder):
            with reading(path) as file:
                columns = file.read(columns=["question_id", "condition", "status"]).to_pydict()
            self._note(zip(*columns.values(), strict=True))

    def _note(self, rows: Iterator[tuple[str, str, str]]) -> None:
        for question, condition, status in rows:
            key = (question, condition)
            if status == "failed":
                self.failed.add(key)
            else:
                self.failed.discard(key)
                self.done.add(key)

    def add(self, rows: Sequence[tuple[Asked, Prediction]]) -> None:
        """Keep rows: once this returns, a kill does not lose them. A row that is done is not taken again."""
        if not rows:
            return
        keys = [(p.question, p.condition) for _, p in rows]
        if len(set(keys)) < len(keys) or not self.done.isdisjoint(keys):
            twice = next(k for k in keys if k in self.done or keys.count(k) > 1)
            raise ValueError(f"question {twice[0]} was already answered under {twice[1]}")
        if any(a.question != p.question for a, p in rows):
            raise ValueError("a prediction stands beside another question")
        self._reopen()
        parts = _parts(self.folder)
        number = _number(parts[-1]) + 1 if parts else 0
        _write(self.folder / PARTS / f"part-{number:05d}.parquet", row_table(rows))
        self._note((p.question, p.condition, p.status) for _, p in rows)

    def _reopen(self) -> None:
        """A finished run that gets more rows becomes a running one, its rows the first part."""
        whole = self.folder / WHOLE
        there = _read_json(self.folder)
        if there is None:
            self._write_json(finished=False)
            return
        if not there["finished"] or not whole.is_file():
            return
        with writing(whole):
            (self.folder / PARTS).mkdir(exist_ok=True)
            whole.rename(self.folder / PARTS / "part-00000.parquet")
        self._write_json(finished=False)

    def finish(self, order: Sequence[str] = ()) -> RunLog:
        """Compact what is there into one file, by question as in `order` (else by id), then condition."""
        files = _files(self.folder)
        if not files:
            raise UserError(f"{self.folder}: nothing was answered yet")
        if files != [self.folder / WHOLE]:
            table = _sorted(_read(files), order)
            _write(self.folder / WHOLE, table)
            self._write_json(finished=True, rows=table.num_rows)
            for part in _parts(self.folder):
                part.unlink()
            with writing(self.folder):
                (self.folder / PARTS).rmdir()
        return read_run(self.folder)

    def _write_json(self, finished: bool, rows: int | None = None) -> None:
        data: dict[str, Any] = {"format": FORMAT, "finished": finished, "shiftscope": __version__}
        data |= {"questions": self.questions} if self.questions is not None else {}
        data |= {"rows": rows} if rows is not None else {}
        text = json.dumps(data | {"spec": self.spec}, ensure_ascii=False, allow_nan=False, indent=1)
        write_whole(self.folder / NAME, f"{text}\n".encode())


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds something else than a run."""
    if (folder / DATASET).exists():
        raise UserError(f"{folder} holds a dataset; choose another folder for --out")
    if (folder / NAME).exists() or not folder.is_dir():
        return
    with writing(folder):
        others = sorted(p.name for p in folder.iterdir() if p.name != LOCK and p.suffix != PARTIAL)
    if others:
        raise UserError(
            f"{folder} is not empty and no run ({others[0]} is in it); choose another folder for --out"
        )


def _remove_empty(folders: Sequence[Path]) -> None:
    """Innermost first; one that something is in stays, and so do those it is in."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def read_run(folder: Path) -> RunLog:
    """A run as it stands, finished or not."""
    there = _need_json(folder)
    files = _files(folder)
    if not files:
        raise UserError(f"{folder}: the run has no predictions yet; start it again with the same command")
    table = _read(files, READ_BY_RECORDS)
    return RunLog(
        tuple(there["spec"].items()), records_from(table), there.get("questions"), there["finished"]
    )


def read_rows(folder: Path) -> Iterator[tuple[Asked, Prediction]]:
    """Every row of a run with its raw reply and trace; slower than `read_run`."""
    _need_json(folder)
    yield from rows_of(_read(_files(folder)))


def run_content_id(folder: Path) -> str:
    """The same for runs that asked and got the same, however often they were stopped and long they took."""
    there = _need_json(folder)
    table = _sorted(_read(_files(folder)), ())
    columns = {n: table.column(n).to_pylist() for n in sorted(table.column_names) if n != "seconds"}
    return content_id([_compared(there["spec"]), columns])


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / PARTS).glob("part-*.parquet"), key=_number)


def _number(part: Path) -> int:
    return int(part.stem.removeprefix("part-"))


def _files(folder: Path) -> list[Path]:
    """The one file of a finished run, else its parts; parts go only after the whole is in place."""
    there = _read_json(folder)
    whole = folder / WHOLE
    return [whole] if there and there["finished"] and whole.is_file() else _parts(folder)


def _read(files: Sequence[Path], columns: Sequence[str] | None = None) -> Any:
    tables = []
    for path in files:
        with reading(path) as file:
            names = file.schema_arrow.names
            wanted = [n for n in names if columns is None or n in columns or n.startswith(FACT)]
            tables.append(file.read(columns=wanted, use_threads=False))
    return _latest(joined(tables)) if len(tables) > 1 else joined(tables)


def _latest(table: Any) -> Any:
    """One row per question and condition: the last that was written."""
    keys = list(zip(*(table.column(n).to_pylist() for n in ("question_id", "condition")), strict=True))
    last = {key: at for at, key in enumerate(keys)}
    return table if len(last) == len(keys) else table.take(np.array(sorted(last.values())))


def _sorted(table: Any, order: Sequence[str]) -> Any:
    """Questions in the order given, those not in it last and by id; then by condition."""
    place = {question: k for k, question in enumerate(order)}
    questions = table.column("question_id").to_pylist()
    conditions = table.column("condition").to_pylist()
    rank = {name: (k, "") for k, name in enumerate(CONDITIONS)}

    def key(at: int) -> tuple[Any, ...]:
        q, c = questions[at], conditions[at]
        where = place.get(q)
        by_id = _natural(q) if where is None else ()
        return (len(place) if where is None else where, by_id, *rank.get(c, (len(rank), c)))

    return table.take(np.array(sorted(range(len(questions)), key=key), np.int64)).combine_chunks()


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """So that 10 comes after 9."""
    pieces = re.split(r"(\d+)", name)
    return tuple((0, int(p), p) if p.isdecimal() else (1, 0, p) for p in pieces if p)


def _write(path: Path, table: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=ROWS_IN_GROUP, compression="zstd")
    write_whole(path, sink.getvalue())


def _read_json(folder: Path) -> dict[str, Any] | None:
    path = folder / NAME
    try:
        data = json.loads(path.read_bytes())
        if data["format"] != FORMAT:
            raise UserError(f"{path}: format {data['format']} is not the {FORMAT} this version reads")
        return {"finished": bool(data["finished"]), "spec": dict(data["spec"]), **data}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: not a run's description; delete the folder and run again") from None


def _need_json(folder: Path) -> dict[str, Any]:
    there = _read_json(folder)
    if there is None:
        raise UserError(f"{folder}: not the folder of a run (no {NAME} in it); make one with shiftscope run")
    return there


def _refuse_changed(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """A folder keeps to one spec."""
    if "data_id" in old and "data_id" in new:
        old, new = _compared(old), _compared(new)
    changed = [k for k in {**old, **new} if canonical_json(old.get(k)) != canonical_json(new.get(k))]
    if changed:
        listed = ", ".join(f"{k} {_short(old.get(k))} there, {_short(new.get(k))} here" for k in changed[:3])
        raise UserError(f"{folder} holds a run with another spec ({listed}); choose another folder for --out")


def _compared(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Without where the data stands, if what is in it is known."""
    return {k: v for k, v in spec.items() if k != "data" or "data_id" not in spec}


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 40 else f"{text[:37]}..."

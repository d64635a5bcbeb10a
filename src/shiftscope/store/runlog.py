"""Run log: the folder of a run, written part by part, resumed after a kill, compacted at the end.

`run.json` holds the spec; `predictions/part-NNNNN.parquet` what is done while the run goes on;
`predictions.parquet` all of it, once finished. What a finished run holds does not depend on how often it was
stopped; only the seconds do, and which replies came from the cache.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .. import __version__
from ..canonical import canonical_json, content_id, read_json
from ..errors import UserError
from ..result import (
    CONDITIONS,
    MISSING,
    MISSING_IMAGE,
    PICTURED,
    Asked,
    CacheUse,
    Lineage,
    Prediction,
    RunLog,
    with_lacking,
)
from ..whole import read_whole, utf8, write_whole, writing
from .lock import contents, locked
from .runtable import FACT, READ_BY_RECORDS, joined, records_from, row_table, rows_of
from .shard import reading

NAME = "run.json"
DATASET = "manifest.json"  # what tells the folder of a dataset
WHOLE = "predictions.parquet"
PARTS = "predictions"
FORMAT = 1
ROWS_IN_GROUP = 50_000
SINCE = ("model_id", "sources", "images_id")  # of a spec: runs of earlier versions have none of these
PLACES = "places"  # of a spec: where files lie, whose content other fields tell
ENDPOINT = "openai:"  # begins the names of models whose replies are cached
SERVER = "server"  # in the spec: what the endpoint said of itself; whoever goes on with a run compares it
NOT_CONTENT = ("seconds", "stored", "fingerprint")  # how a reply came, not what it is
TRIES = 100  # to read a run that changes meanwhile
SECONDS = 0.02  # between them
AGAIN = "delete it and run the same shiftscope run again, which asks anew what it held"

Key = tuple[str, str]  # question, condition


class RunWriter:
    """A run's folder, held by one process; rows that are already there are not asked for again."""

    def __init__(
        self,
        folder: Path,
        spec: Mapping[str, Any],
        questions: int | None = None,
        *,
        population: int | None = None,
        lineage: Lineage | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """`spec` is stored as it is given, so it must hold no secret.

        `questions` is how many are asked in each condition, `population` how many the split has. `beside` are
        files, by name, that are written into the folder as soon as it is a run's.
        """
        self.folder = folder
        self.spec = dict(spec)
        self.questions = questions
        self.population = population
        self.lineage = lineage
        self.beside = dict(beside or {})
        self.missing_images = 0  # questions, not among these, that are asked without their pictures
        self.unrecorded: tuple[str, ...] = ()  # what the run's first rows were made with is not known
        self.added = 0  # rows
        self._described = False  # whether this writer wrote the run's description
        self.done: set[Key] = set()  # has a row that is not a failure
        self.failed: set[Key] = set()  # may be asked again; the new row takes the place of the old one
        self.fingerprints: set[str] = set()  # of the rows that were there
        self._held = ExitStack()

    def __enter__(self) -> RunWriter:
        """The folder is on disk while it is held, but becomes a run, and stays, only with its first rows."""
        refuse_foreign(self.folder)
        self._held.enter_context(locked(self.folder))
        try:
            refuse_foreign(self.folder)
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
        there = _read_json(self.folder)
        if there is None:
            return
        _refuse_changed(self.folder, there["spec"], self.spec)
        self.unrecorded = tuple(k for k in SINCE if k in self.spec and k not in there["spec"])
        if SERVER in there["spec"]:
            self.spec[SERVER] = there["spec"][SERVER]  # the rows that are there came from it
        if there["finished"] and (self.folder / WHOLE).is_file():
            for part in _parts(self.folder):
                part.unlink()
        for path in _files(self.folder):
            with reading(path, AGAIN) as file:
                columns = file.read(columns=["question_id", "condition", "status"]).to_pydict()
                if "fingerprint" in file.schema_arrow.names:
                    given = file.read(columns=["fingerprint"]).column(0).unique().to_pylist()
                    self.fingerprints.update(filter(None, given))
            self._note(zip(*columns.values(), strict=True))

    def _note(self, rows: Iterator[tuple[str, str, str]]) -> None:
        for question, condition, status in rows:
            key = (question, condition)
            if status == "failed":
                self.failed.add(key)
            else:
                self.failed.discard(key)
                self.done.add(key)

    def images_shown(self) -> set[str]:
        """The images of every row that is done under a condition that shows them."""
        found: set[str] = set()
        for path in _files(self.folder):
            with reading(path) as file:
                columns = file.read(columns=["condition", "status", "image_ids"]).to_pydict()
            for condition, status, images in zip(*columns.values(), strict=True):
                if condition in PICTURED and status not in ("failed", MISSING):
                    found.update(images)
        return found

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
        self.added += len(rows)

    def _reopen(self) -> None:
        """A finished run that gets more rows becomes a running one, its rows the first part."""
        whole = self.folder / WHOLE
        there = _read_json(self.folder)
        if there is not None and there["finished"] and whole.is_file():
            with writing(whole):
                (self.folder / PARTS).mkdir(exist_ok=True)
                whole.rename(self.folder / PARTS / "part-00000.parquet")
        elif self._described:
            return
        self._write_json(finished=False)

    def finish(self, order: Sequence[str] = ()) -> RunLog:
        """Compact what is there into one file, by question as in `order` (else by id), then condition."""
        files = _files(self.folder)
        if not files:
            raise UserError(f"{self.folder}: nothing was answered yet")
        if files != [self.folder / WHOLE]:
            table = _sorted(_read(files), order)
            _write(self.folder / WHOLE, table)
            self._write_json(finished=True, rows=table.num_rows, cache=_cache_use(table, self.spec))
            for part in _parts(self.folder):
                part.unlink()
            with writing(self.folder):
                (self.folder / PARTS).rmdir()
        return read_run(self.folder)

    def _write_json(self, finished: bool, rows: int | None = None, cache: CacheUse | None = None) -> None:
        data: dict[str, Any] = {"format": FORMAT, "finished": finished, "shiftscope": __version__}
        data |= {"questions": self.questions} if self.questions is not None else {}
        data |= {"population": self.population} if self.population is not None else {}
        data |= {"missing_images": self.missing_images} if self.missing_images else {}
        data |= {"rows": rows} if rows is not None else {}
        data |= {"lineage": asdict(self.lineage)} if self.lineage is not None else {}
        for name, content in self.beside.items():
            write_whole(self.folder / name, content)
        data |= {"cache": cache.to_json()} if cache is not None else {}
        text = json.dumps(data | {"spec": self.spec}, ensure_ascii=False, allow_nan=False, indent=1)
        write_whole(self.folder / NAME, utf8(f"{text}\n"))
        self._described = True


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds something else than a run."""
    if (folder / DATASET).exists():
        raise UserError(f"{folder} holds a dataset; choose another folder for --out")
    if (folder / NAME).exists() or not folder.is_dir():
        return
    others = contents(folder)
    if others:
        raise UserError(
            f"{folder} is not empty and no run ({others[0]} is in it); choose another folder for --out"
        )


def read_run(folder: Path) -> RunLog:
    """A run as it stands, finished or not; a question that was to be asked and has no row is missing."""
    there, table = _read_all(folder, READ_BY_RECORDS)
    spec = there["spec"]
    records = records_from(table, str(spec.get("data_id") or ""))
    log = RunLog(
        tuple(spec.items()),
        records,
        there.get("questions"),
        there["finished"],
        there.get("population"),
        _lineage(there),
        there.get("missing_images", 0),
        _cache_use(table, spec),
    )
    return replace(log, records=with_lacking(records, _lacking(log)))


def _lacking(log: RunLog) -> dict[str, int]:
    """How many questions have no row yet, of each condition."""
    asked = dict(log.spec).get("conditions") or dict.fromkeys(log.records.condition.listed())
    rows = {c: int(log.records.condition.equals(c).sum()) for c in (*asked, MISSING_IMAGE)}
    return {c: max(0, (log.wanted(c) or 0) - n) for c, n in rows.items()}


def _lineage(there: Mapping[str, Any]) -> Lineage | None:
    found = there.get("lineage")
    if found is None:
        return None
    if not all(isinstance(name, str) for name in found.values()):
        raise TypeError("its lineage has no names")
    return Lineage(**found)


def read_spec(folder: Path) -> dict[str, Any]:
    """The spec of the run in a folder; empty where there is none yet."""
    there = _read_json(folder)
    return dict(there["spec"]) if there is not None else {}


def _cache_use(table: Any, spec: Mapping[str, Any]) -> CacheUse | None:
    """Counted from the rows, so that it is right however often the run was stopped or killed."""
    import pyarrow.compute as pc

    if "stored" not in table.column_names or not str(spec.get("model", "")).startswith(ENDPOINT):
        return None
    stored = table.column("stored")
    return CacheUse(len(stored) - stored.null_count, pc.min(stored).as_py())


def read_rows(folder: Path) -> Iterator[tuple[Asked, Prediction]]:
    """Every row of a run with its raw reply and trace; slower than `read_run`."""
    yield from rows_of(_read_all(folder)[1])


def run_content_id(folder: Path) -> str:
    """The same for runs that asked and got the same, however often they were stopped and long they took."""
    there, table = _read_all(folder)
    table = _sorted(table, ())
    columns = {n: table.column(n).to_pylist() for n in sorted(table.column_names) if n not in NOT_CONTENT}
    spec = {k: v for k, v in compared(there["spec"]).items() if k != "sources"}  # as many as were loaded
    return content_id([spec, columns])


def _read_all(folder: Path, columns: Sequence[str] | None = None) -> tuple[dict[str, Any], Any]:
    """What run.json says, and the rows that belong to it, though the run may be going on or just ending."""
    for _ in range(TRIES):
        there = _need_json(folder)
        files = _files_of(folder, there)
        try:
            if not files:
                raise UserError(f"{folder}: the run has no predictions yet; run the same command again")
            table = _read(files, columns)
        except UserError:
            if _is_as_before(folder, there, files):
                raise
        else:
            if _is_as_before(folder, there, files):
                return there, table
        time.sleep(SECONDS)
    raise UserError(f"{folder}: the run changes while it is read; wait for it to end")


def _is_as_before(folder: Path, there: dict[str, Any], files: Sequence[Path]) -> bool:
    """Whether the files that were read are still the run's: those of a run that ends go one by one."""
    return _need_json(folder) == there and set(files) <= set(_files_of(folder, there))


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / PARTS).glob("part-*.parquet"), key=_number)


def _number(part: Path) -> int:
    return int(part.stem.removeprefix("part-"))


def _files(folder: Path) -> list[Path]:
    """The one file of a finished run, else its parts; parts go only after the whole is in place."""
    return _files_of(folder, _read_json(folder))


def _files_of(folder: Path, there: dict[str, Any] | None) -> list[Path]:
    whole = folder / WHOLE
    return [whole] if there and there["finished"] and whole.is_file() else _parts(folder)


def _read(files: Sequence[Path], columns: Sequence[str] | None = None) -> Any:
    tables = []
    for path in files:
        with reading(path, AGAIN) as file:
            names = file.schema_arrow.names
            wanted = [n for n in names if columns is None or n in columns or n.startswith(FACT)]
            tables.append(file.read(columns=wanted, use_threads=False))
            joined(tables[-1:])  # columns of other types than we write are damage, too
    return _latest(joined(tables)) if len(tables) > 1 else joined(tables)


def _latest(table: Any) -> Any:
    """One row per question and condition: the last that was written.

    A question that was asked with its picture after all is no longer one whose picture is missing.
    """
    keys = list(zip(*(table.column(n).to_pylist() for n in ("question_id", "condition")), strict=True))
    last = {key: at for at, key in enumerate(keys)}
    for question in {question for question, condition in keys if condition in PICTURED}:
        last.pop((question, MISSING_IMAGE), None)
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
        data = read_json(read_whole(path))
        if data["format"] != FORMAT:
            raise UserError(f"{path}: format {data['format']} is not the {FORMAT} this version reads")
        for name in ("questions", "population", "missing_images"):
            if data.get(name) is not None and (type(data[name]) is not int or data[name] < 0):
                raise ValueError(f"{data[name]!r} {name}")
        _lineage(data)
        if type(data["finished"]) is not bool:
            raise TypeError("finished or not")
        _check_spec(data["spec"])
        return dict(data)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a run's description; delete the folder and run again") from None


def _check_spec(spec: dict[str, Any]) -> None:
    """What reports and scores read of a spec is what `shiftscope run` writes there, or nothing."""
    for name in ("model", "data", "data_id", "split", "variant", "trained_on"):
        if not isinstance(spec.get(name), str | None):
            raise TypeError(f"its {name} is {spec[name]!r}")
    if not isinstance(spec.get("seed"), int | None) or not isinstance(spec.get("part"), dict | None):
        raise TypeError("its seed is no number, or its part not described")
    listed = spec.get("conditions")
    if listed is not None and not (isinstance(listed, list) and all(isinstance(c, str) for c in listed)):
        raise TypeError("its conditions are no list of names")


def _need_json(folder: Path) -> dict[str, Any]:
    there = _read_json(folder)
    if there is None:
        raise UserError(f"{folder}: not the folder of a run (no {NAME} in it); make one with shiftscope run")
    return there


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two specs differ, wherever the files lie.

    What earlier versions did not write counts only where both have it, and of sources only those of both;
    of what servers say of themselves, whoever asks them judges.
    """
    if "data_id" in one and "data_id" in other:
        one, other = compared(one), compared(other)
    fields = [k for k in {**one, **other} if k not in SINCE or (k in one and k in other)]
    return [k for k in fields if k not in (PLACES, SERVER) and _unlike(k, one.get(k), other.get(k))]


def _unlike(field: str, one: Any, other: Any) -> bool:
    if field == "sources":
        return any(one[module] != other[module] for module in one.keys() & other.keys())
    return canonical_json(one) != canonical_json(other)


def compared(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Without what a server said of itself, and where things stand if what is in them is known."""
    apart = {PLACES, SERVER, *(["data"] if "data_id" in spec else [])}
    return {k: v for k, v in spec.items() if k not in apart}


def _refuse_changed(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """A folder keeps to one spec; pictures are looked at one by one, for some may be there only now."""
    changed = [k for k in differing(old, new) if k != "images_id"]
    if not changed:
        return
    remedy = f"choose another folder for --out, or delete {folder}"
    if set(changed) <= {"model_id", "sources"}:
        what = ", ".join(_edited(old, new))
        raise UserError(f"{what} changed since {folder} was made with model {new['model']!r}; {remedy}")
    if changed == ["data_id"] and old.get("data") == new.get("data"):
        raise UserError(f"the data in {new.get('data')} changed since {folder} was made; {remedy}")
    listed = ", ".join(f"{k} {_short(old.get(k))} there, {_short(new.get(k))} here" for k in changed[:3])
    raise UserError(f"{folder} holds a run with another spec ({listed}); choose another folder for --out")


def _edited(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The first files, modules or properties of a model that are not what they were."""
    found = []
    for field, name in (("model_id", "{}"), ("sources", "the source of {}")):
        one, other = old.get(field) or {}, new.get(field) or {}
        names = sorted(one.keys() & other.keys() if field == "sources" else one.keys() | other.keys())
        found += [name.format(n) for n in names if one.get(n) != other.get(n)]
    return found[:3]


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 40 else f"{text[:37]}..."

"""Run log: the folder of a run, written part by part, resumed after a kill, compacted at the end.

`run.json` holds the spec; `predictions/part-NNNNN.parquet` the rows so far of an unfinished run;
`predictions.parquet` all rows of a finished one. A finished run does not depend on how often it was stopped,
except for the seconds, and for which responses came from the cache.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from .. import __version__, result
from ..answer import spell
from ..arrow_array import wrap_numbers
from ..errors import UserError
from ..files import encode_utf8
from ..folder import open_folder, refuse_foreign_files
from ..records import canonical_json, content_id, read_json
from ..result import CacheUse, JudgeUse, Lineage, Prediction, QuestionRecord, RunLog, add_missing_rows
from ..token_usage import CallUsage, TokenUse
from ..trained_folder import TRAINING_FIELD
from .manifest import MANIFEST_FILE, describe_changes
from .run_table import (
    FACT_PREFIX,
    RECORD_COLUMNS,
    build_records,
    build_row_table,
    concat_tables,
    parse_rows,
    parse_usage,
)
from .shard import open_parquet

RUN_FILE = "run.json"
PREDICTIONS_FILE = "predictions.parquet"
PARTS_FOLDER = "predictions"
RUN_FORMAT = 1
ROWS_IN_GROUP = 50_000
ADDED_FIELDS = ("model_id", "sources", "images_id")  # of a spec: runs of earlier versions have none of these
JUDGE_FIELD = "judge"  # of a spec; a judge may be added to a run that has none, but not exchanged
PLACES_FIELD = "places"  # of a spec: paths of files, whose content other fields identify
ENDPOINT_PREFIX = "openai:"  # begins the names of models whose responses are cached
SERVER_FIELD = "server"  # in the spec: what the endpoint says of itself; compared when a run resumes
NOT_CONTENT = ("seconds", "stored", "fingerprint", "usage")  # how a response came, not what it is
READ_TRIES = 100  # to read a run that changes meanwhile
READ_WAIT_SECONDS = 0.02  # between them
RERUN_HINT = "delete it and run the same shiftscope run again, which asks anew what it held"

RowKey = tuple[str, str]  # question, condition


@dataclass(eq=False)
class RunWriter:
    """A run's folder, held by one process; it tells which rows there are already."""

    folder: Path
    spec: dict[str, Any]  # stored as it is given, so it must hold no secret
    questions: int | None = None  # how many each condition covers
    _: KW_ONLY
    population: int | None = None  # how many the split has
    lineage: Lineage | None = None
    beside: Mapping[str, bytes] = field(default_factory=dict)  # files, by name, written once the folder is a run's
    missing_images: int = field(default=0, init=False)  # further questions, which are run without their pictures
    unrecorded: tuple[str, ...] = field(default=(), init=False)  # fields of the spec that the run's first rows lack
    added: int = field(default=0, init=False)  # rows
    done: set[RowKey] = field(default_factory=set, init=False)  # has a row that is not a failure
    failed: set[RowKey] = field(default_factory=set, init=False)  # may be run again; the new row replaces the old one
    fingerprints: set[str] = field(default_factory=set, init=False)  # of the rows that were there
    images_sent: dict[str, Any] | None = field(default=None, init=False)  # sizes and encoding, as last written
    describe_images: Callable[[], dict[str, Any] | None] | None = field(default=None, init=False)  # as they are now

    def __post_init__(self) -> None:
        self.spec = dict(self.spec)
        self._files, self._held = open_folder(self.folder), ExitStack()
        self._described = False  # whether this writer wrote the run's description
        self._spent: dict[RowKey, tuple[CallUsage, ...]] = {}  # of rows that failed, and are asked again

    def __enter__(self) -> Self:
        """The folder is on disk while it is held, but becomes a run, and stays, only with its first rows."""
        refuse_foreign_run_folder(self.folder)
        self._held.enter_context(self._files.lock())
        try:
            refuse_foreign_run_folder(self.folder)
            self._open()
        except BaseException:
            self._held.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _open(self) -> None:
        there = _read_json(self.folder)
        if there is None:
            return
        _refuse_changed(self.folder, there["spec"], self.spec)
        self.images_sent = there.get("images_sent")
        self.unrecorded = tuple(k for k in ADDED_FIELDS if k in self.spec and k not in there["spec"])
        if SERVER_FIELD in there["spec"]:
            self.spec[SERVER_FIELD] = there["spec"][SERVER_FIELD]  # the rows that are there came from it
        if JUDGE_FIELD in there["spec"]:
            self.spec[JUDGE_FIELD] = there["spec"][JUDGE_FIELD]
        if there["finished"] and (self.folder / PREDICTIONS_FILE).is_file():
            self._remove_parts(_list_parts(self.folder))
        for path in _list_files(self.folder, _read_json(self.folder)):
            with open_parquet(path, RERUN_HINT) as file:
                columns = file.read(columns=["question_id", "condition", "status"]).to_pydict()
                if "usage" in file.schema_arrow.names:
                    calls = file.read(columns=["usage"]).column(0).to_pylist()
                    rows = zip(*columns.values(), calls, strict=True)
                    self._spent |= {(q, c): parse_usage(text) if s == "failed" else () for q, c, s, text in rows}
                if "fingerprint" in file.schema_arrow.names:
                    given = file.read(columns=["fingerprint"]).column(0).unique().to_pylist()
                    self.fingerprints.update(filter(None, given))
            self._note_rows(zip(*columns.values(), strict=True))

    def _note_rows(self, rows: Iterator[tuple[str, str, str]]) -> None:
        for question, condition, status in rows:
            key = (question, condition)
            if status == "failed":
                self.failed.add(key)
            else:
                self.failed.discard(key)
                self.done.add(key)

    def list_shown_images(self) -> set[str]:
        """The images of every row that is done under a condition that shows them."""
        found: set[str] = set()
        for path in _list_files(self.folder, _read_json(self.folder)):
            with open_parquet(path) as file:
                columns = file.read(columns=["condition", "status", "image_ids"]).to_pydict()
            for condition, status, images in zip(*columns.values(), strict=True):
                if condition in result.IMAGE_CONDITIONS and status not in ("failed", result.MISSING):
                    found.update(images)
        return found

    def add(self, rows: Sequence[tuple[QuestionRecord, Prediction]], *, again: bool = False) -> None:
        """Keep rows: once this returns, a kill does not lose them. A row that is done is only replaced `again`."""
        if not rows:
            return
        keys = [(p.question, p.condition) for _, p in rows]
        if len(set(keys)) < len(keys) or not (again or self.done.isdisjoint(keys)):
            twice = next(k for k in keys if k in self.done or keys.count(k) > 1)
            raise ValueError(f"question {twice[0]} was already answered under {twice[1]}")
        if any(a.question != p.question for a, p in rows):
            raise ValueError("a prediction stands beside another question")
        rows = [(a, replace(p, usage=self._spent.pop((p.question, p.condition), ()) + p.usage)) for a, p in rows]
        there = _read_json(self.folder)
        reopened = there is not None and there["finished"] and (self.folder / PREDICTIONS_FILE).is_file()
        if reopened:  # a finished run that gets more rows becomes a running one, its rows the first part
            self._files.move(PREDICTIONS_FILE, f"{PARTS_FOLDER}/part-00000.parquet")
        sent = self.describe_images() if self.describe_images else self.images_sent
        if reopened or not self._described or sent != self.images_sent:
            self.images_sent = sent
            self._write_json(finished=False)
        parts = _list_parts(self.folder)
        number = _part_number(parts[-1]) + 1 if parts else 0
        self._files.write_whole(f"{PARTS_FOLDER}/part-{number:05d}.parquet", _encode_table(build_row_table(rows)))
        self._note_rows((p.question, p.condition, p.status) for _, p in rows)
        self.added += 0 if again else len(rows)

    def finish(self, order: Sequence[str] = ()) -> RunLog:
        """Compact what is there into one file, by question as in `order` (else by id), then condition."""
        files = _list_files(self.folder, _read_json(self.folder))
        if not files:
            raise UserError(f"{self.folder}: there are no answers yet")
        if files != [self.folder / PREDICTIONS_FILE]:
            table = _sort_rows(_read_tables(files), order)
            self._files.write_whole(PREDICTIONS_FILE, _encode_table(table))
            self._write_json(finished=True, rows=table.num_rows, cache=_count_cache_use(table, self.spec))
            self._remove_parts(files)
            self._files.remove(PARTS_FOLDER)
        return read_run(self.folder)

    def _remove_parts(self, parts: Sequence[Path]) -> None:
        for part in parts:
            self._files.remove(f"{PARTS_FOLDER}/{part.name}")

    def _write_json(self, finished: bool, rows: int | None = None, cache: CacheUse | None = None) -> None:
        for name, content in self.beside.items():
            self._files.write_whole(name, content)
        data = {
            "format": RUN_FORMAT,
            "finished": finished,
            "shiftscope": __version__,
            "questions": self.questions,
            "population": self.population,
            "missing_images": self.missing_images or None,
            "rows": rows,
            "lineage": asdict(self.lineage) if self.lineage else None,
            "cache": cache.to_json() if cache else None,
            "images_sent": self.images_sent,
            "spec": self.spec,
        }
        data = {name: value for name, value in data.items() if value is not None}
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1)
        self._files.write_whole(RUN_FILE, encode_utf8(f"{text}\n"))
        self._described = True


def refuse_foreign_run_folder(folder: Path) -> None:
    if (folder / MANIFEST_FILE).exists():
        raise UserError(f"{folder} holds a dataset; choose another folder for --out")
    refuse_foreign_files(folder, "run", [RUN_FILE], remedy="choose another folder for --out")


def read_run(folder: Path) -> RunLog:
    """A run as it stands, finished or not; a question without a row yet is missing."""
    there, table = _read_all(folder, RECORD_COLUMNS)
    spec = there["spec"]
    records = build_records(table, str(spec.get("data_id") or ""))
    log = RunLog(
        *(tuple(spec.items()), records, there.get("questions"), there["finished"], there.get("population")),
        *(_parse_lineage(there), there.get("missing_images", 0), _count_cache_use(table, spec)),
        _count_judge_use(table, spec),
        *_count_usage(table, spec),
        there.get("images_sent"),
    )
    conditions = spec.get("conditions") or dict.fromkeys(records.condition.to_list())
    rows = {c: int(records.condition.equals(c).sum()) for c in (*conditions, result.MISSING_IMAGE)}
    missing = {c: max(0, (log.count_expected(c) or 0) - n) for c, n in rows.items()}
    return replace(log, records=add_missing_rows(records, missing))


def _parse_lineage(there: Mapping[str, Any]) -> Lineage | None:
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


def _count_cache_use(table: Any, spec: Mapping[str, Any]) -> CacheUse | None:
    """Counted from the rows, so that it is right however often the run was stopped or killed."""
    if "stored" not in table.column_names or not str(spec.get("model", "")).startswith(ENDPOINT_PREFIX):
        return None
    import pyarrow.compute as pc

    stored = table.column("stored")
    return CacheUse(len(stored) - stored.null_count, pc.min(stored).as_py())


def _count_judge_use(table: Any, spec: Mapping[str, Any]) -> JudgeUse | None:
    """Counted from the rows: those that the rules could not read, and the sample of those that they could."""
    judge = spec.get(JUDGE_FIELD)
    if not isinstance(judge, Mapping) or "judged" not in table.column_names:
        return None
    names = ("judged", "read_by", "status", "answer")
    judged = [row for row in zip(*(table.column(n).to_pylist() for n in names), strict=True) if row[0]]
    unread = [row for row in judged if row[1] or row[2] == "unreadable"]
    sampled = [row for row in judged if not (row[1] or row[2] == "unreadable")]
    read, agreed = sum(bool(row[1]) for row in unread), sum(row[0] == spell(row[3]) for row in sampled)
    return JudgeUse(str(judge.get("model")), len(unread), read, len(sampled), agreed)


def _count_usage(table: Any, spec: Mapping[str, Any]) -> tuple[TokenUse | None, TokenUse | None]:
    """The tokens of the model's calls and of the judge's, from the rows: right however often the run was stopped."""
    if "usage" not in table.column_names:
        return None, None
    rows = zip(*(table.column(name).to_pylist() for name in ("usage", "status")), strict=True)
    unknown = (CallUsage("", None, None),)  # of a row that an earlier version wrote
    calls = [call for text, status in rows if text or status != "failed" for call in parse_usage(text) or unknown]
    judged = TokenUse.from_calls(c for c in calls if c.judge) if spec.get(JUDGE_FIELD) else None
    return TokenUse.from_calls(c for c in calls if not c.judge), judged


def read_rows(folder: Path) -> Iterator[tuple[QuestionRecord, Prediction]]:
    """Every row of a run with its raw response and trace; slower than `read_run`."""
    yield from parse_rows(_read_all(folder)[1])


def compute_run_content_id(folder: Path) -> str:
    """The same for runs with the same questions and responses, however often they were stopped."""
    there, table = _read_all(folder)
    table = _sort_rows(table, ())
    columns = {n: table.column(n).to_pylist() for n in sorted(table.column_names) if n not in NOT_CONTENT}
    if "replies" in columns:
        lists = [json.loads(text or "[]") for text in columns["replies"]]
        columns["replies"] = [[{k: v for k, v in r.items() if k not in NOT_CONTENT} for r in row] for row in lists]
    spec = {k: v for k, v in comparable_spec(there["spec"]).items() if k != "sources"}  # as many as were loaded
    return content_id([spec, columns])


def _read_all(folder: Path, columns: Sequence[str] | None = None) -> tuple[dict[str, Any], Any]:
    """What run.json says, and the rows that belong to it, though the run may still be going or just ending."""
    for _ in range(READ_TRIES):
        there = _require_json(folder)
        files = _list_files(folder, there)
        try:
            if not files:
                raise UserError(f"{folder}: the run has no predictions yet; run the same command again")
            table = _read_tables(files, columns)
        except UserError:
            if _is_unchanged(folder, there, files):
                raise
        else:
            if _is_unchanged(folder, there, files):
                return there, table
        time.sleep(READ_WAIT_SECONDS)
    raise UserError(f"{folder}: the run keeps changing while it is read; wait for it to end")


def _is_unchanged(folder: Path, there: dict[str, Any], files: Sequence[Path]) -> bool:
    """Whether the files that were read are still the run's: those of a run that ends go one by one."""
    return _require_json(folder) == there and set(files) <= set(_list_files(folder, there))


def _list_parts(folder: Path) -> list[Path]:
    return sorted((folder / PARTS_FOLDER).glob("part-*.parquet"), key=_part_number)


def _part_number(part: Path) -> int:
    return int(part.stem.removeprefix("part-"))


def _list_files(folder: Path, there: dict[str, Any] | None) -> list[Path]:
    """The one file of a finished run, else its parts; parts go only after the whole is in place."""
    whole = folder / PREDICTIONS_FILE
    return [whole] if there and there["finished"] and whole.is_file() else _list_parts(folder)


def _read_tables(files: Sequence[Path], columns: Sequence[str] | None = None) -> Any:
    tables = []
    for path in files:
        with open_parquet(path, RERUN_HINT) as file:
            names = file.schema_arrow.names
            wanted = [n for n in names if columns is None or n in columns or n.startswith(FACT_PREFIX)]
            tables.append(file.read(columns=wanted, use_threads=False))
            concat_tables(tables[-1:])  # columns of other types than we write are damage, too
    table = concat_tables(tables)
    if len(tables) == 1:
        return table
    # One row per question and condition: the last that was written. A question run with its picture after all no
    # longer counts as one whose picture is missing.
    keys = list(zip(*(table.column(n).to_pylist() for n in ("question_id", "condition")), strict=True))
    last = {key: at for at, key in enumerate(keys)}
    for question in {question for question, condition in keys if condition in result.IMAGE_CONDITIONS}:
        last.pop((question, result.MISSING_IMAGE), None)
    return table if len(last) == len(keys) else table.take(np.array(sorted(last.values())))


def _sort_rows(table: Any, order: Sequence[str]) -> Any:
    """Questions in the order given, those not in it last and by id; then by condition."""
    place = {question: k for k, question in enumerate(order)}
    questions = table.column("question_id").to_pylist()
    conditions = table.column("condition").to_pylist()
    rank = {name: (k, "") for k, name in enumerate(result.CONDITIONS)}

    def sort_key(at: int) -> tuple[Any, ...]:
        q, c = questions[at], conditions[at]
        by_condition = rank.get(c, (len(rank), c))
        if q in place:
            return (place[q], (), *by_condition)
        pieces = re.split(r"(\d+)", q)  # so that 10 comes after 9
        by_id = tuple((0, int(p), p) if p.isdecimal() else (1, 0, p) for p in pieces if p)
        return (len(place), by_id, *by_condition)

    rows = sorted(range(len(questions)), key=sort_key)
    if rows != [*range(len(questions))]:
        table = table.take(wrap_numbers(np.array(rows, np.int64)))
    return table.combine_chunks()


def _encode_table(table: Any) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=ROWS_IN_GROUP, compression="zstd")
    return sink.getvalue()


def _read_json(folder: Path) -> dict[str, Any] | None:
    path = folder / RUN_FILE
    try:
        data = read_json(open_folder(folder).read(RUN_FILE))
        if data["format"] != RUN_FORMAT:
            raise UserError(f"{path}: format {data['format']} is not the {RUN_FORMAT} this version reads")
        for name in ("questions", "population", "missing_images"):
            if data.get(name) is not None and (type(data[name]) is not int or data[name] < 0):
                raise ValueError(f"{data[name]!r} {name}")
        _parse_lineage(data)
        if type(data["finished"]) is not bool:
            raise TypeError("finished or not")
        spec: dict[str, Any] = data["spec"]  # what reports and scores read is as `shiftscope run` writes it, or absent
        for name in ("model", "data", "data_id", "split", "variant", "trained_on"):
            if not isinstance(spec.get(name), str | None):
                raise TypeError(f"its {name} is {spec[name]!r}")
        if not isinstance(spec.get("seed"), int | None) or not isinstance(spec.get("part"), dict | None):
            raise TypeError("its seed is no number, or its part not described")
        listed = spec.get("conditions")
        if listed is not None and not (isinstance(listed, list) and all(isinstance(c, str) for c in listed)):
            raise TypeError("its conditions are no list of names")
        return dict(data)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{path}: not a run's description; delete the folder and run again") from None


def _require_json(folder: Path) -> dict[str, Any]:
    there = _read_json(folder)
    if there is None:
        raise UserError(f"{folder}: not the folder of a run (no {RUN_FILE} in it); make one with shiftscope run")
    return there


def find_differing_fields(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The fields in which two specs differ, wherever the files lie.

    A field that earlier versions did not write counts only where both have it, and of sources only those of
    both; what servers say of themselves is compared elsewhere.
    """
    if "data_id" in one and "data_id" in other:
        one, other = comparable_spec(one), comparable_spec(other)
    fields = [k for k in {**one, **other} if k not in (*ADDED_FIELDS, JUDGE_FIELD) or (k in one and k in other)]
    apart = (PLACES_FIELD, SERVER_FIELD, TRAINING_FIELD)
    return [k for k in fields if k not in apart and _is_different(k, one.get(k), other.get(k))]


def _is_different(name: str, one: Any, other: Any) -> bool:
    if name == "sources":
        return any(one[module] != other[module] for module in one.keys() & other.keys())
    return canonical_json(one) != canonical_json(other)


def comparable_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Without what a server says of itself, and without paths whose content is known."""
    apart = {PLACES_FIELD, SERVER_FIELD, TRAINING_FIELD, *(["data"] if "data_id" in spec else [])}
    return {k: v for k, v in spec.items() if k not in apart}


def _refuse_changed(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """A folder keeps to one spec; pictures are compared one by one, since some may be new."""
    changed = [k for k in find_differing_fields(old, new) if k != "images_id"]
    if not changed:
        return
    remedy = f"choose another folder for --out, or delete {folder}"
    if set(changed) <= {"model_id", "sources"}:
        edited = []  # files, modules or properties of the model
        for key, name in (("model_id", "{}"), ("sources", "the source of {}")):
            one, other = old.get(key) or {}, new.get(key) or {}
            names = sorted(one.keys() & other.keys() if key == "sources" else one.keys() | other.keys())
            edited += [name.format(n) for n in names if one.get(n) != other.get(n)]
        what = ", ".join(edited[:3])
        raise UserError(f"{what} changed since {folder} was made with model {new['model']!r}; {remedy}")
    if changed == ["data_id"] and old.get("data") == new.get("data"):
        raise UserError(f"the data in {new.get('data')} changed since {folder} was made; {remedy}")
    listed = describe_changes(old, new, changed)
    raise UserError(f"{folder} holds a run with another spec ({listed}); choose another folder for --out")

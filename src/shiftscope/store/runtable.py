"""Run tables: what was asked and said as Arrow columns, and those as the columns that metrics read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..answer import Answer, spell
from ..result import Asked, Column, Facts, Lists, Prediction, Records, answer_text
from .columns import Columns, arrow_type

ROW: Columns = (
    ("question_id", "string"),
    ("condition", "string"),
    ("image_ids", ("string",)),
    ("truth", "string"),  # yes, no, 3, red
    ("truth_type", "string"),  # bool, int or str
    ("answers", ("string",)),  # every annotator's, where there were several
    ("twin", "string"),
    ("program", "string"),
    ("answer", "string"),
    ("answer_type", "string"),
    ("status", "string"),
    ("reason", "string"),
    ("raw", "string"),
    ("seconds", "float64"),
    ("cost", "float64"),
    ("tokens", "int64"),
    ("belief", "float64"),
    ("program_said", "string"),
    ("trace", "string"),
    ("content", "string"),  # what was asked about which images; runs of before tell nothing of it
    ("stored", "float64"),
    ("fingerprint", "string"),
)
FACT = "fact."  # begins the names of the columns that hold facts
MIXED = {b"shiftscope": b"json"}  # marks a column of facts that differ in type, written as JSON
_ARROW = {str: "string", int: "int64", float: "float64", bool: "bool"}
_ANSWER_TYPES: dict[type, str] = {bool: "bool", int: "int", str: "str"}


def row_table(rows: Sequence[tuple[Asked, Prediction]]) -> Any:
    """The table of rows; facts come last, by name."""
    import pyarrow as pa

    asked, said = [a for a, _ in rows], [p for _, p in rows]
    columns: dict[str, list[Any]] = {
        "question_id": [a.question for a in asked],
        "condition": [p.condition for p in said],
        "image_ids": [a.scenes for a in asked],
        "truth": [None if a.truth is None else answer_text(a.truth) for a in asked],
        "truth_type": [_type_of(a.truth) for a in asked],
        "answers": [a.answers for a in asked],
        "twin": [a.twin for a in asked],
        "program": [a.program for a in asked],
        "answer": [None if p.answer is None else answer_text(p.answer) for p in said],
        "answer_type": [_type_of(p.answer) for p in said],
        "program_said": [p.program for p in said],
        "content": [a.content for a in asked],
    }
    for name in (
        "status",
        "reason",
        "raw",
        "seconds",
        "cost",
        "tokens",
        "belief",
        "trace",
        "stored",
        "fingerprint",
    ):
        columns[name] = [getattr(p, name) for p in said]
    arrays = [pa.array(columns[name], arrow_type(kind)) for name, kind in ROW]
    fields = [pa.field(name, arrow_type(kind)) for name, kind in ROW]
    facts = [dict(a.facts) for a in asked]
    for name in sorted({name for fact in facts for name in fact}):
        array, field = _fact_column(FACT + name, [fact.get(name) for fact in facts])
        arrays.append(array)
        fields.append(field)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _fact_column(name: str, values: list[Any]) -> tuple[Any, Any]:
    """Facts of one type as that type, facts of several as JSON."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if not kinds <= _ARROW.keys():
        wrong = next(v for v in values if v is not None and type(v) not in _ARROW)
        raise ValueError(f"{name}: a fact must be text, a number or a truth value, not {wrong!r}")
    if len(kinds) == 1:
        kind = pa.type_for_alias(_ARROW[kinds.pop()])
        return pa.array(values, kind), pa.field(name, kind)
    texts = [None if v is None else json.dumps(v, ensure_ascii=False) for v in values]
    return pa.array(texts, pa.string()), pa.field(name, pa.string(), metadata=MIXED)


def joined(tables: Sequence[Any]) -> Any:
    """One table of several, which may know different facts; types are those of `row_table`."""
    import pyarrow as pa

    facts = sorted({n for t in tables for n in t.column_names if n.startswith(FACT)})
    fields = {name: _shared_field(name, tables) for name in facts}
    there = {name for table in tables for name in table.column_names}
    plain = [pa.field(name, arrow_type(kind)) for name, kind in ROW if name in there]
    schema = pa.schema([*plain, *fields.values()])
    return pa.concat_tables([_as(table, schema) for table in tables]).combine_chunks()


def _shared_field(name: str, tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    found = [t.schema.field(name) for t in tables if name in t.column_names]
    same = all(f.type == found[0].type and f.metadata == found[0].metadata for f in found)
    return found[0] if same else pa.field(name, pa.string(), metadata=MIXED)


def _as(table: Any, schema: Any) -> Any:
    import pyarrow as pa

    arrays = []
    for field in schema:
        if field.name not in table.column_names:
            arrays.append(pa.nulls(table.num_rows, field.type))
        elif field.metadata == MIXED and table.schema.field(field.name).metadata != MIXED:
            values = table.column(field.name).to_pylist()
            texts = [None if v is None else json.dumps(v, ensure_ascii=False) for v in values]
            arrays.append(pa.array(texts, pa.string()))
        else:
            arrays.append(table.column(field.name).combine_chunks())
    return pa.Table.from_arrays(arrays, schema=schema)


def rows_of(table: Any) -> Iterator[tuple[Asked, Prediction]]:
    """The records of a table's rows."""
    mixed = {f.name for f in table.schema if f.metadata == MIXED}
    names = [n for n in table.column_names if n.startswith(FACT)]
    for row in table.to_pylist():
        facts: Facts = tuple(
            (n.removeprefix(FACT), json.loads(row[n]) if n in mixed else row[n])
            for n in names
            if row[n] is not None
        )
        asked = Asked(
            question=row["question_id"],
            scenes=tuple(row["image_ids"]),
            truth=_answer_of(row["truth"], row["truth_type"]),
            answers=tuple(row["answers"]),
            facts=facts,
            twin=row["twin"],
            program=row["program"],
            content=row.get("content") or "",
        )
        kept = ("raw", "status", "reason", "seconds", "cost", "tokens", "belief", "condition", "trace")
        yield (
            asked,
            Prediction(
                asked.question,
                _answer_of(row["answer"], row["answer_type"]),
                **{name: row[name] for name in kept},
                program=row["program_said"],
                stored=row.get("stored"),
                fingerprint=row.get("fingerprint") or "",
            ),
        )


READ_BY_RECORDS = (
    *("question_id", "condition", "image_ids", "truth", "answers", "twin", "program", "answer"),
    *("status", "reason", "seconds", "cost", "belief", "program_said", "content", "stored"),
)


def records_from(table: Any, data: str = "", places: str = "") -> Records:
    """The columns that metrics read, without making an object of each row.

    `data` is the content of the dataset. `places` stands before the names of images: two that are the same
    there show the same place, in whichever variant of the data.
    """
    plain = {n: _coded(table, n) for n in ("question_id", "condition", "truth", "answer", "status")}
    truth, answer = _merged([plain["truth"], plain["answer"]], spell)
    listed = table.column("answers").combine_chunks()
    said, answers = _merged([plain["answer"], _code(listed.flatten())], str)
    floats = {n: table.column(n).to_numpy() for n in ("seconds", "cost", "belief")}
    return Records(
        question=plain["question_id"],
        content=_without_blank(_coded(table, "content")) if "content" in table.column_names else _none(table),
        condition=plain["condition"],
        images=_images(table, plain["question_id"], places),
        truth=truth,
        answer=answer,
        said=said,
        status=plain["status"],
        reason=_without_blank(_coded(table, "reason")),
        twin=_without_blank(_coded(table, "twin")),
        answers=Lists(answers.values, answers.codes, _offsets(listed)),
        program_right=_program_right(table),
        **{n: np.asarray(v, np.float64) for n, v in floats.items()},
        facts=tuple(
            (n.removeprefix(FACT), _fact(table, n)) for n in table.column_names if n.startswith(FACT)
        ),
        data=data,
    )


def _coded(table: Any, name: str) -> Column:
    return _code(table.column(name).combine_chunks())


def _code(array: Any) -> Column:
    import pyarrow as pa

    found = array.dictionary_encode()
    codes = found.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return Column(tuple(found.dictionary.to_pylist()), codes)


def _fact(table: Any, name: str) -> Column:
    column = _coded(table, name)
    if table.schema.field(name).metadata != MIXED:
        return column
    return Column(tuple(map(json.loads, column.values)), column.codes)


def _merged(columns: Sequence[Column], spelled: Any) -> list[Column]:
    """The columns over one vocabulary of spelled values."""
    numbers: dict[str, int] = {}
    made = []
    for column in columns:
        at = [numbers.setdefault(spelled(v), len(numbers)) for v in column.values]
        made.append(np.array([*at, -1], np.int32)[column.codes])
    return [Column(tuple(numbers), codes) for codes in made]


def _without_blank(column: Column) -> Column:
    """Empty text is nothing."""
    keep = [k for k, v in enumerate(column.values) if v != ""]
    to = np.full(len(column.values) + 1, -1, np.int32)
    to[keep] = np.arange(len(keep))
    return Column(tuple(column.values[k] for k in keep), to[column.codes])


def _offsets(listed: Any) -> Any:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(listed).fill_null(0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _images(table: Any, question: Column, places: str) -> Lists:
    """The images of each row; a question without one stands for one itself."""
    listed = table.column("image_ids").combine_chunks()
    at = _offsets(listed)
    image = _code(listed.flatten())
    values = tuple(f"{places} {name}" for name in image.values) if places else image.values
    alone = np.flatnonzero(np.diff(at) == 0)
    if not len(alone):
        return Lists(values, image.codes, at)
    numbers, own = np.unique(question.codes[alone], return_inverse=True)
    codes = np.insert(image.codes, at[alone], len(values) + own)
    lengths = np.maximum(np.diff(at), 1)
    return Lists(
        (*values, *(f"question {question.values[k]}" for k in numbers)),
        codes.astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _none(table: Any) -> Column:
    return Column((), np.full(table.num_rows, -1, np.int32))


def _program_right(table: Any) -> Any:
    import pyarrow.compute as pc

    true, said = (table.column(n).combine_chunks() for n in ("program", "program_said"))
    same = pc.equal(true, said).to_numpy(zero_copy_only=False).astype(np.int8)
    none = pc.equal(said, "").to_numpy(zero_copy_only=False)
    unknown = pc.equal(true, "").to_numpy(zero_copy_only=False)
    return np.select([unknown, none], [-2, -1], same).astype(np.int8)


def _type_of(answer: Answer | None) -> str | None:
    return None if answer is None else _ANSWER_TYPES[type(answer)]


def _answer_of(text: str | None, kind: str | None) -> Answer | None:
    if text is None:
        return None
    return text == "yes" if kind == "bool" else int(text) if kind == "int" else text

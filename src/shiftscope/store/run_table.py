"""Run tables: questions and predictions as Arrow columns, and those as the columns that metrics read."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..answer import spell
from ..arrow_array import build_array, read_numbers
from ..columns import Column, ListColumn, column_of
from ..result import Facts, Prediction, QuestionRecord, ReplyColumns, RunRecords, build_action_pattern, compare_actions
from ..token_usage import CallUsage
from .tables import Columns, ColumnType, answer_type, arrow_type, format_answer, parse_answer

_NAMES = (
    *("question_id", "condition", "image_ids", "truth", "truth_type", "answers", "twin", "program", "answer"),
    *("answer_type", "status", "reason", "raw", "seconds", "cost", "tokens", "belief", "program_said", "trace"),
    *("content", "stored", "fingerprint"),  # content: what was asked about which images; older runs lack it
    *("judged", "read_by"),  # older runs lack these too
    *("usage", "replies"),  # JSON; only where a row has some
)
_TYPES: dict[str, ColumnType] = {"image_ids": ("string",), "answers": ("string",), "tokens": "int64"}
_TYPES |= dict.fromkeys(("seconds", "cost", "belief", "stored"), "float64")
# Answers are yes, no, 3 or red, of the type bool, int or str; `answers` are those of all annotators.
ROW_COLUMNS: Columns = tuple((name, _TYPES.get(name, "string")) for name in _NAMES)
FACT_PREFIX = "fact."  # begins the names of the columns that hold facts
MIXED_METADATA = {b"shiftscope": b"json"}  # marks a column of facts that differ in type, written as JSON
_ARROW = {str: "string", int: "int64", float: "float64", bool: "bool"}

# Columns that hold a field of a record as it is.
_SAME = (
    *("condition", "status", "reason", "raw", "seconds", "cost", "tokens", "trace", "stored", "fingerprint"),
    *("judged", "read_by"),
)
_OPTIONAL = ("usage", "replies")
# Fields of one of several replies, as JSON; those that are as by default are left out.
_REPLY_FIELDS = (
    *("answer", "raw", "status", "reason", "seconds", "cost", "tokens", "confidence", "trace", "program", "stored"),
    *("fingerprint", "phrasing"),
)
QUESTION_FIELDS = {"question_id": "question", "image_ids": "scenes"} | {
    name: name for name in ("answers", "twin", "program", "content")
}
PREDICTION_FIELDS = {"belief": "confidence", "program_said": "program"} | {name: name for name in _SAME}


def build_row_table(rows: Sequence[tuple[QuestionRecord, Prediction]]) -> Any:
    """The table of rows; facts come last, by name."""
    import pyarrow as pa

    questions, predictions = [q for q, _ in rows], [p for _, p in rows]
    columns: dict[str, list[Any]] = {
        "truth": [format_answer(q.truth) for q in questions],
        "truth_type": [answer_type(q.truth) for q in questions],
        "answer": [format_answer(p.answer) for p in predictions],
        "answer_type": [answer_type(p.answer) for p in predictions],
        **{column: [getattr(q, name) for q in questions] for column, name in QUESTION_FIELDS.items()},
        **{column: [getattr(p, name) for p in predictions] for column, name in PREDICTION_FIELDS.items()},
        "usage": [_format_json([list(call) for call in p.usage]) for p in predictions],
        "replies": [_format_json([_format_reply(reply) for reply in p.replies]) for p in predictions],
    }
    kinds = [(name, kind) for name, kind in ROW_COLUMNS if name not in _OPTIONAL or any(columns[name])]
    arrays = [build_array(columns[name], arrow_type(kind)) for name, kind in kinds]
    fields = [pa.field(name, arrow_type(kind)) for name, kind in kinds]
    facts = [dict(q.facts) for q in questions]
    for name in sorted({name for fact in facts for name in fact}):
        array, field = _build_fact_column(FACT_PREFIX + name, [fact.get(name) for fact in facts])
        arrays.append(array)
        fields.append(field)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _format_json(values: list[Any]) -> str | None:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) if values else None


def _format_reply(reply: Prediction) -> dict[str, Any]:
    plain = Prediction(reply.question, reply.answer, status=reply.status)
    given = {name: getattr(reply, name) for name in _REPLY_FIELDS}
    return {k: v for k, v in given.items() if k in ("answer", "status") or v != getattr(plain, k)}


def parse_usage(text: str | None) -> tuple[CallUsage, ...]:
    return tuple(CallUsage(*call) for call in json.loads(text or "[]"))


def _build_fact_column(name: str, values: list[Any]) -> tuple[Any, Any]:
    """Facts of one type as that type, facts of several as JSON."""
    import pyarrow as pa

    kinds = {type(v) for v in values if v is not None}
    if not kinds <= _ARROW.keys():
        wrong = next(v for v in values if v is not None and type(v) not in _ARROW)
        raise ValueError(f"{name}: a fact must be text, a number or a truth value, not {wrong!r}")
    if len(kinds) == 1:
        kind = pa.type_for_alias(_ARROW[kinds.pop()])
        return build_array(values, kind), pa.field(name, kind)
    return _build_json_array(values), pa.field(name, pa.string(), metadata=MIXED_METADATA)


def _build_json_array(values: list[Any]) -> Any:
    import pyarrow as pa

    return build_array([None if v is None else json.dumps(v, ensure_ascii=False) for v in values], pa.string())


def concat_tables(tables: Sequence[Any]) -> Any:
    """One table of several, which may have different facts; types are those of `build_row_table`."""
    import pyarrow as pa

    there = {name for table in tables for name in table.column_names}
    fields = [pa.field(name, arrow_type(kind)) for name, kind in ROW_COLUMNS if name in there]
    for name in sorted(n for n in there if n.startswith(FACT_PREFIX)):
        first, *more = (t.schema.field(name) for t in tables if name in t.column_names)
        same = all((f.type, f.metadata) == (first.type, first.metadata) for f in more)
        fields.append(first if same else pa.field(name, pa.string(), metadata=MIXED_METADATA))
    schema = pa.schema(fields)
    return pa.concat_tables([_cast_table(table, schema) for table in tables]).combine_chunks()


def _cast_table(table: Any, schema: Any) -> Any:
    import pyarrow as pa

    arrays = []
    for field in schema:
        if field.name not in table.column_names:
            arrays.append(pa.nulls(table.num_rows, field.type))
        elif field.metadata == MIXED_METADATA and table.schema.field(field.name).metadata != MIXED_METADATA:
            arrays.append(_build_json_array(table.column(field.name).to_pylist()))
        else:
            arrays.append(table.column(field.name).combine_chunks())
    return pa.Table.from_arrays(arrays, schema=schema)


def parse_rows(table: Any) -> Iterator[tuple[QuestionRecord, Prediction]]:
    mixed = {f.name for f in table.schema if f.metadata == MIXED_METADATA}
    names = [n for n in table.column_names if n.startswith(FACT_PREFIX)]
    for row in table.to_pylist():
        there = [n for n in names if row[n] is not None]
        facts: Facts = tuple((n.removeprefix(FACT_PREFIX), json.loads(row[n]) if n in mixed else row[n]) for n in there)
        row |= {name: row.get(name) or "" for name in ("content", "fingerprint", "judged", "read_by")}
        row |= {"image_ids": tuple(row["image_ids"]), "answers": tuple(row["answers"])}
        question = QuestionRecord(
            **{name: row[column] for column, name in QUESTION_FIELDS.items()},
            truth=parse_answer(row["truth"], row["truth_type"]),
            facts=facts,
        )
        answer = parse_answer(row["answer"], row["answer_type"])
        rest = {name: row.get(column) for column, name in PREDICTION_FIELDS.items()}
        replies = tuple(
            Prediction(question.question, condition=row["condition"], **reply)
            for reply in json.loads(row.get("replies") or "[]")
        )
        usage = parse_usage(row.get("usage"))
        yield question, Prediction(question.question, answer, **rest, usage=usage, replies=replies)


RECORD_COLUMNS = (
    *("question_id", "condition", "image_ids", "truth", "answers", "twin", "program", "answer"),
    *("status", "reason", "seconds", "cost", "belief", "program_said", "content", "stored"),
    *("judged", "read_by", "usage", "replies"),
)


def build_records(table: Any, data: str = "", places: str = "") -> RunRecords:
    """The columns that metrics read, without making an object of each row.

    `data` is the content of the dataset. `places` stands before the names of images: two that are the same
    there show the same place, in whichever variant of the data.
    """
    plain = {n: _encode_column(table, n) for n in ("question_id", "condition", "truth", "answer", "status")}
    truth, answer = _merge_vocabularies([plain["truth"], plain["answer"]], spell)
    listed = table.column("answers").combine_chunks()
    literal, answers = _merge_vocabularies([plain["answer"], _encode_array(listed.flatten())], str)
    seconds, cost, confidence = (
        read_numbers(table.column(n).combine_chunks(), np.nan) for n in ("seconds", "cost", "belief")
    )
    replies = _build_replies(table, answer.values, literal.values)
    if replies:  # over one vocabulary with the truth
        words, letters = replies[0].answer.values, replies[0].literal.values
        truth, answer = Column(words, truth.codes), Column(words, answer.codes)
        literal, answers = Column(letters, literal.codes), Column(letters, answers.codes)
    content = Column((), np.full(table.num_rows, -1, np.int32))
    if "content" in table.column_names:
        content = _drop_blank(_encode_column(table, "content"))
    facts = []
    for name in (n for n in table.column_names if n.startswith(FACT_PREFIX)):
        column = _encode_column(table, name)
        if table.schema.field(name).metadata == MIXED_METADATA:
            column = Column(tuple(map(json.loads, column.values)), column.codes)
        facts.append((name.removeprefix(FACT_PREFIX), column))
    return RunRecords(
        question=plain["question_id"],
        content=content,
        condition=plain["condition"],
        images=_build_images(table, plain["question_id"], places),
        truth=truth,
        answer=answer,
        literal=literal,
        status=plain["status"],
        reason=_drop_blank(_encode_column(table, "reason")),
        twin=_drop_blank(_encode_column(table, "twin")),
        answers=ListColumn(answers.values, answers.codes, _list_offsets(listed)),
        program_right=_compare_programs(table),
        action_right=_compare_actions(table),
        seconds=seconds,
        cost=cost,
        confidence=confidence,
        facts=tuple(facts),
        data=data,
        replies=replies,
    )


def _build_replies(table: Any, words: Sequence[str], letters: Sequence[str]) -> tuple[ReplyColumns, ...]:
    """The replies of a run that asks several times; answers in the vocabularies given, which grow."""
    if "replies" not in table.column_names:
        return ()
    rows = [json.loads(text) if text else [] for text in table.column("replies").to_pylist()]
    spelled, literals = ({value: k for k, value in enumerate(values)} for values in (words, letters))
    made = []
    for k in range(max(map(len, rows), default=0)):
        replies = [row[k] if k < len(row) else {} for row in rows]
        given = [reply.get("answer") for reply in replies]
        codes = [-1 if a is None else spelled.setdefault(spell(a), len(spelled)) for a in given]
        letter_codes = [-1 if a is None else literals.setdefault(str(format_answer(a)), len(literals)) for a in given]
        phrasing = max((reply.get("phrasing", 0) for reply in replies), default=0)
        status, reason = (column_of(reply.get(name) for reply in replies) for name in ("status", "reason"))
        made.append((phrasing, codes, letter_codes, status, reason))
    return tuple(
        ReplyColumns(
            phrasing,
            Column(tuple(spelled), np.array(codes, np.int32)),
            Column(tuple(literals), np.array(letter_codes, np.int32)),
            status,
            reason,
        )
        for phrasing, codes, letter_codes, status, reason in made
    )


def _encode_column(table: Any, name: str) -> Column:
    return _encode_array(table.column(name).combine_chunks())


def _encode_array(array: Any) -> Column:
    found = array.dictionary_encode()
    return Column(tuple(found.dictionary.to_pylist()), read_numbers(found.indices, -1))


def _merge_vocabularies(columns: Sequence[Column], spelled: Any) -> list[Column]:
    """The columns over one vocabulary of spelled values."""
    numbers: dict[str, int] = {}
    made = []
    for column in columns:
        at = [numbers.setdefault(spelled(v), len(numbers)) for v in column.values]
        made.append(np.array([*at, -1], np.int32)[column.codes])
    return [Column(tuple(numbers), codes) for codes in made]


def _drop_blank(column: Column) -> Column:
    """Empty text is nothing."""
    keep = [k for k, v in enumerate(column.values) if v != ""]
    to = np.full(len(column.values) + 1, -1, np.int32)
    to[keep] = np.arange(len(keep))
    return Column(tuple(column.values[k] for k in keep), to[column.codes])


def _list_offsets(listed: Any) -> Any:
    import pyarrow.compute as pc

    lengths = read_numbers(pc.list_value_length(listed))
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _build_images(table: Any, question: Column, places: str) -> ListColumn:
    """The images of each row; a question without one stands for one itself."""
    listed = table.column("image_ids").combine_chunks()
    at = _list_offsets(listed)
    image = _encode_array(listed.flatten())
    values = tuple(f"{places} {name}" for name in image.values) if places else image.values
    alone = np.flatnonzero(np.diff(at) == 0)
    if not len(alone):
        return ListColumn(values, image.codes, at)
    numbers, own = np.unique(question.codes[alone], return_inverse=True)
    codes = np.insert(image.codes, at[alone], len(values) + own)
    lengths = np.maximum(np.diff(at), 1)
    return ListColumn(
        (*values, *(f"question {question.values[k]}" for k in numbers)),
        codes.astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _compare_programs(table: Any) -> Any:
    import pyarrow.compute as pc

    true, predicted = (table.column(n).combine_chunks() for n in ("program", "program_said"))
    blank = build_array([""], true.type)[0]
    pairs = ((true, predicted), (predicted, blank), (true, blank))
    same, none, unknown = (read_numbers(pc.equal(*pair)) for pair in pairs)
    return np.select([unknown, none], [-2, -1], same).astype(np.int8)


def _compare_actions(table: Any) -> Any:
    """Programs are texts here; of most runs none has an action, which is seen without reading them."""
    import pyarrow.compute as pc

    true, predicted = (table.column(n).combine_chunks() for n in ("program", "program_said"))
    found = np.full(len(true), -2, np.int8)
    rows = np.flatnonzero(read_numbers(pc.match_substring_regex(true, build_action_pattern())))
    for row in rows.tolist():
        found[row] = compare_actions(true[row].as_py(), predicted[row].as_py() or "")
    return found

"""Tables: records to Arrow columns and back, without loss."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..answer import Answer, spell
from ..lang.program import Node, Program
from ..lang.text import show
from ..question import Provenance, Question
from ..scene import Scene
from .columns import IMAGES, PARTS, QUESTIONS, Columns, arrow_schema, arrow_type
from .image import StoredImage
from .masks import LENGTH, RunLengths

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ANSWER_TYPES: dict[type, str] = {bool: "bool", int: "int", str: "str"}


def image_table(images: Sequence[StoredImage]) -> Any:
    """The rows of an images file; the columns of parts only where an image has a mask of them."""
    columns = {
        "image": image_column([i.png for i in images], [f"{i.id}.png" for i in images]),
        "image_id": [i.id for i in images],
        "width": [i.size[0] for i in images],
        "height": [i.size[1] for i in images],
        "num_objects": [len(i.scene.objects) for i in images],
        "scene": [json_text(i.scene.to_json()) for i in images],
        "boxes": [i.boxes for i in images],
        "visible_pixels": [i.visible for i in images],
        **_mask_columns("mask", [i.mask for i in images]),
    }
    if not any(i.part_mask for i in images):
        return _table(columns, IMAGES)
    return _table(columns | _mask_columns("part", [i.part_mask for i in images]), IMAGES + PARTS)


def images_of(table: Any) -> Iterator[StoredImage]:
    """The records of an images file's rows."""
    there = set(table.column_names)
    columns = {name: table.column(name).combine_chunks() for name, _ in IMAGES + PARTS if name in there}
    blobs = columns["image"].field("bytes")
    plain = {n: columns[n].to_pylist() for n in ("scene", "boxes", "visible_pixels")}
    for k in range(table.num_rows):
        yield StoredImage(
            scene=Scene.from_json(json.loads(plain["scene"][k])),
            png=blobs[k].as_py() or b"",
            mask=_mask(columns, "mask", k),
            boxes=tuple((left, top, width, height) for left, top, width, height in plain["boxes"][k]),
            visible=tuple(plain["visible_pixels"][k]),
            part_mask=_mask(columns, "part", k),
        )


def _mask_columns(name: str, masks: Sequence[RunLengths | None]) -> dict[str, Any]:
    return {
        f"{name}_values": _packed([m.values if m else None for m in masks], np.dtype(np.uint8)),
        f"{name}_lengths": _packed([m.lengths if m else None for m in masks], LENGTH),
    }


def _mask(columns: dict[str, Any], name: str, k: int) -> RunLengths | None:
    """The mask of row k; None where there is none."""
    if f"{name}_values" not in columns or not columns[f"{name}_values"][k].is_valid:
        return None
    values, lengths = (columns[f"{name}_{what}"][k].values.to_numpy() for what in ("values", "lengths"))
    return RunLengths(values.tobytes(), lengths.astype(LENGTH).tobytes(), columns["width"][k].as_py())


def question_table(questions: Sequence[Question]) -> Any:
    """The rows of a questions file."""
    origins = [q.provenance for q in questions]
    columns = {
        "question_id": [q.id for q in questions],
        "image_ids": [q.scenes for q in questions],
        "question": [q.text for q in questions],
        "answer": [_answer_text(q.answer) for q in questions],
        "answer_type": [None if q.answer is None else _ANSWER_TYPES[type(q.answer)] for q in questions],
        "answers": [q.answers for q in questions],
        "question_type": [q.kind for q in questions],
        "action": [q.action for q in questions],
        "program": [_program_text(q.program) if q.program else None for q in questions],
        "program_text": [show(q.program) if q.program else None for q in questions],
        "source": [p.source for p in origins],
        "split": [p.split for p in origins],
        "template": [p.template for p in origins],
        "family": [p.family for p in origins],
        "notes": [json_text(dict(q.notes)) if q.notes else None for q in questions],
    }
    return _table(columns, QUESTIONS)


def questions_of(table: Any) -> Iterator[Question]:
    """The records of a questions file's rows."""
    for row in table.to_pylist():
        yield Question(
            id=row["question_id"],
            text=row["question"],
            scenes=tuple(row["image_ids"]),
            program=Program.from_json(json.loads(row["program"])) if row["program"] else None,
            answer=_answer_of(row["answer"], row["answer_type"]),
            answers=tuple(row["answers"]),
            kind=row["question_type"],
            action=row["action"],
            provenance=Provenance(row["source"], row["split"], row["template"], row["family"]),
            notes=tuple(json.loads(row["notes"]).items()) if row["notes"] else (),
        )


def image_column(pngs: Sequence[bytes], paths: Sequence[str]) -> Any:
    """A column of pictures as `datasets` keeps them: the bytes and a name."""
    import pyarrow as pa

    fields = list(arrow_type("image"))
    none = pa.array([not png for png in pngs], pa.bool_())  # scenes without a picture
    columns = [pa.array(pngs, pa.binary()), pa.array(paths, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=none if any(none.to_pylist()) else None)


def _answer_text(answer: Answer | None) -> str | None:
    """Text is kept letter by letter; only truth values and numbers are spelled."""
    return answer if answer is None or isinstance(answer, str) else spell(answer)


def _answer_of(text: str | None, kind: str | None) -> Answer | None:
    if text is None:
        return None
    return text == "yes" if kind == "bool" else int(text) if kind == "int" else text


def _packed(rows: Sequence[bytes | None], dtype: np.dtype[Any]) -> Any:
    """A list column from rows of raw numbers, without making a Python object of each."""
    import pyarrow as pa

    sizes = [0, *(len(row or b"") // dtype.itemsize for row in rows)]
    flat = np.frombuffer(b"".join(row or b"" for row in rows), dtype)
    missing = pa.array([row is None for row in rows], pa.bool_())
    offsets = pa.array(np.cumsum(sizes), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(flat), mask=missing)


def _table(columns: dict[str, Any], kinds: Columns) -> Any:
    import pyarrow as pa

    arrays = [
        columns[name] if isinstance(columns[name], pa.Array) else pa.array(columns[name], arrow_type(kind))
        for name, kind in kinds
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(kinds))


def _program_text(program: Program) -> str:
    """`json_text` of the program; a node is spelled once, however many programs share it."""
    nodes = [json_text(n.to_json()) if n.notes else _node_text(n) for n in program.nodes]
    return f"[{','.join(nodes)}]"


@lru_cache(maxsize=100_000)
def _node_text(n: Node) -> str:
    """Of a node without notes, which equality ignores."""
    return json_text(n.to_json())


def json_text(data: Any) -> str:
    """In the record's own order: the order of relations and notes is part of the record."""
    return _ENCODER.encode(data)

"""Tables: records to Arrow columns and back, without loss; columns as Arrow and `datasets` know them."""

import json
from collections.abc import Iterator, Sequence, Sized
from functools import cache, lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..answer import Answer, spell
from ..arrow_array import build_array, nest_array, read_numbers, wrap_numbers
from ..lang.program import Node, Program
from ..lang.text import format_program
from ..question import GroundedPhrase, Provenance, Question
from ..scene import Pairs, Scene
from .image import LENGTH_DTYPE, RunLengths, StoredImage, StoredParts


class StructColumn(NamedTuple):
    """A column of records with named fields."""

    fields: tuple[tuple[str, "ColumnType"], ...]


ColumnType = str | tuple["ColumnType"] | StructColumn  # "string", "int32", "image"; ("int32",) is a list of int32
Columns = tuple[tuple[str, ColumnType], ...]

IMAGE_COLUMNS: Columns = (
    ("image", "image"),
    ("image_id", "string"),
    ("width", "int32"),
    ("height", "int32"),
    ("num_objects", "int32"),
    ("scene", "string"),  # JSON
    ("boxes", (("int32",),)),  # per object: left, top, width, height
    ("visible_pixels", ("int32",)),  # per object
    # The mask is np.repeat(mask_values, mask_lengths).reshape(height, width): object index + 1, 0 the ground.
    ("mask_values", ("uint8",)),
    ("mask_lengths", ("int32",)),
)

# Only in files whose images have masks of parts, so that all others stay what they were byte by byte.
PART_COLUMNS: Columns = (
    # Likewise for the parts that the scene's objects list: 1, 2, … in the scene's order, 0 for all else.
    ("part_values", ("uint8",)),
    ("part_lengths", ("int32",)),
)

# Likewise only where there are masks of all parts, listed or not.
EVERY_PART_COLUMNS: Columns = (
    # 1, 2, … for the parts of the object that the mask of objects shows there, 0 for its main body and the ground.
    ("every_part_values", ("uint8",)),
    ("every_part_lengths", ("int32",)),
    ("every_part_names", (("string",),)),  # per object and part
    ("every_part_boxes", ((("int32",),),)),  # per object and part: left, top, width, height; zeros if hidden
    ("every_part_pixels", (("int32",),)),  # per object and part: how many are visible
)

QUESTION_COLUMNS: Columns = (
    ("question_id", "string"),
    ("image_ids", ("string",)),
    ("question", "string"),
    ("answer", "string"),  # yes, no, 3, red
    ("answer_type", "string"),  # bool, int or str
    ("answers", ("string",)),  # every annotator's, where there were several
    ("question_type", "string"),
    ("action", "string"),
    ("program", "string"),  # JSON
    ("program_text", "string"),  # the same, as a person reads it
    ("source", "string"),
    ("split", "string"),
    ("template", "string"),
    ("family", "int32"),
    ("notes", "string"),  # JSON
)

# Only in files whose questions are grounded. The boxes are those of the image: `boxes[i]` of object i, and for a part
# its `box` in the scene.
PART_REFERENCE = StructColumn((("object", "int32"), ("part", "string")))
PHRASE = StructColumn((("start", "int32"), ("end", "int32"), ("objects", ("int32",)), ("parts", (PART_REFERENCE,))))
GROUNDING_COLUMNS: Columns = (("grounding", (PHRASE,)),)  # noun phrases: question[start:end], and what they refer to


def arrow_type(kind: ColumnType) -> Any:
    """The Arrow type that `datasets` reads as this kind."""
    import pyarrow as pa

    if isinstance(kind, StructColumn):
        return pa.struct([pa.field(name, arrow_type(of)) for name, of in kind.fields])
    if isinstance(kind, tuple):
        return pa.list_(arrow_type(kind[0]))
    if kind == "image":
        return pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    return pa.type_for_alias(kind)


@cache
def arrow_schema(columns: Columns) -> Any:
    """The schema of a file, with the note that makes `datasets` open images as images."""
    import pyarrow as pa

    def build_feature(kind: ColumnType) -> dict[str, Any]:
        if isinstance(kind, StructColumn):
            return {name: build_feature(of) for name, of in kind.fields}
        if isinstance(kind, tuple):
            return {"feature": build_feature(kind[0]), "_type": "List"}
        return {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}

    features = {name: build_feature(kind) for name, kind in columns}
    note = json.dumps({"info": {"features": features}}, separators=(",", ":"))
    fields = [pa.field(name, arrow_type(kind)) for name, kind in columns]
    return pa.schema(fields, metadata={"huggingface": note})


def build_card_feature(kind: ColumnType) -> dict[str, Any]:
    """A column's type as a dataset card's `features` list it."""
    if isinstance(kind, StructColumn):
        return {"struct": [{"name": name} | build_card_feature(of) for name, of in kind.fields]}
    if not isinstance(kind, tuple):
        return {"dtype": kind}
    inner = build_card_feature(kind[0])
    return {"list": next(iter(inner.values())) if list(inner) in (["dtype"], ["struct"]) else inner}


# In the record's own order: the order of relations and notes is part of the record.
format_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def build_image_table(images: Sequence[StoredImage]) -> Any:
    """The rows of an images file; the columns of parts only where an image has a mask of them."""
    columns = {
        "image": build_image_column([i.png for i in images], [f"{i.id}.png" for i in images]),
        "image_id": [i.id for i in images],
        "width": [i.size[0] for i in images],
        "height": [i.size[1] for i in images],
        "num_objects": [len(i.scene.objects) for i in images],
        "scene": [format_json(i.scene.to_json()) for i in images],
        "boxes": [i.boxes for i in images],
        "visible_pixels": [i.visible for i in images],
        **_build_mask_columns("mask", [i.mask for i in images]),
    }
    kinds = IMAGE_COLUMNS
    if any(i.part_mask for i in images):
        columns |= _build_mask_columns("part", [i.part_mask for i in images])
        kinds += PART_COLUMNS
    if any(i.parts for i in images):
        columns |= _build_mask_columns("every_part", [i.parts.mask if i.parts else None for i in images])
        for name in ("names", "boxes", "visible"):
            column = f"every_part_{'pixels' if name == 'visible' else name}"
            columns[column] = [getattr(i.parts, name) if i.parts else None for i in images]
        kinds += EVERY_PART_COLUMNS
    return _build_table(columns, kinds)


def parse_images(table: Any) -> Iterator[StoredImage]:
    there = set(table.column_names)
    known = IMAGE_COLUMNS + PART_COLUMNS + EVERY_PART_COLUMNS
    columns = {name: table.column(name).combine_chunks() for name, _ in known if name in there}
    blobs = columns["image"].field("bytes")
    plain = {n: columns[n].to_pylist() for n in ("scene", "boxes", "visible_pixels")}
    for k in range(table.num_rows):
        yield StoredImage(
            scene=Scene.from_json(json.loads(plain["scene"][k])),
            png=blobs[k].as_py() or b"",
            mask=_parse_mask(columns, "mask", k),
            boxes=tuple((left, top, width, height) for left, top, width, height in plain["boxes"][k]),
            visible=tuple(plain["visible_pixels"][k]),
            part_mask=_parse_mask(columns, "part", k),
            parts=_parse_parts(columns, k),
        )


def _build_mask_columns(name: str, masks: Sequence[RunLengths | None]) -> dict[str, Any]:
    return {
        f"{name}_values": _pack_lists([m.values if m else None for m in masks], np.dtype(np.uint8)),
        f"{name}_lengths": _pack_lists([m.lengths if m else None for m in masks], LENGTH_DTYPE),
    }


def _parse_mask(columns: dict[str, Any], name: str, k: int) -> RunLengths | None:
    if f"{name}_values" not in columns or not columns[f"{name}_values"][k].is_valid:
        return None
    values, lengths = (read_numbers(columns[f"{name}_{what}"][k].values) for what in ("values", "lengths"))
    return RunLengths(values.tobytes(), lengths.astype(LENGTH_DTYPE).tobytes(), columns["width"][k].as_py())


def _parse_parts(columns: dict[str, Any], k: int) -> StoredParts | None:
    mask = _parse_mask(columns, "every_part", k)
    if mask is None:
        return None
    names, boxes, pixels = (columns[f"every_part_{what}"][k].as_py() for what in ("names", "boxes", "pixels"))
    return StoredParts(
        mask,
        tuple(map(tuple, names)),
        tuple(tuple((left, top, width, height) for left, top, width, height in own) for own in boxes),
        tuple(map(tuple, pixels)),
    )


def build_question_table(questions: Sequence[Question], grounded: bool | None = None) -> Any:
    """The rows of a questions file; the column of grounding only where a question has some, or as told."""
    origins = [q.provenance for q in questions]
    columns = {
        "question_id": [q.id for q in questions],
        "image_ids": [q.scenes for q in questions],
        "question": [q.text for q in questions],
        "answer": [format_answer(q.answer) for q in questions],
        "answer_type": [answer_type(q.answer) for q in questions],
        "answers": [q.answers for q in questions],
        "question_type": [q.kind for q in questions],
        "action": [q.action for q in questions],
        "program": [_format_program(q.program) if q.program else None for q in questions],
        "program_text": [format_program(q.program) if q.program else None for q in questions],
        "source": [p.source for p in origins],
        "split": [p.split for p in origins],
        "template": [p.template for p in origins],
        "family": [p.family for p in origins],
        "notes": [format_json(dict(q.notes)) if q.notes else None for q in questions],
    }
    kinds = QUESTION_COLUMNS
    if any(q.grounding for q in questions) if grounded is None else grounded:
        columns["grounding"] = _build_grounding([q.grounding for q in questions])
        kinds += GROUNDING_COLUMNS
    return _build_table(columns, kinds)


def parse_questions(table: Any) -> Iterator[Question]:
    (name, _), *_ = GROUNDING_COLUMNS
    grounded = name in table.column_names
    grounding = _parse_grounding(table.column(name).combine_chunks()) if grounded else repeat(())
    plain = table.drop_columns([name]) if grounded else table
    for row, phrases in zip(plain.to_pylist(), grounding, strict=False):
        yield Question(
            id=row["question_id"],
            text=row["question"],
            scenes=tuple(row["image_ids"]),
            program=Program.from_json(json.loads(row["program"])) if row["program"] else None,
            answer=parse_answer(row["answer"], row["answer_type"]),
            answers=tuple(row["answers"]),
            kind=row["question_type"],
            action=row["action"],
            provenance=Provenance(row["source"], row["split"], row["template"], row["family"]),
            notes=tuple(json.loads(row["notes"]).items()) if row["notes"] else (),
            grounding=phrases,
        )


def _build_grounding(rows: Sequence[tuple[GroundedPhrase, ...]]) -> Any:
    """Flat arrays and where each list begins: no Python object is made for a phrase."""
    import pyarrow as pa

    def nest(lists: Sequence[Sized], flat: Any) -> Any:
        return nest_array(flat, [*map(len, lists)], [False] * len(lists))

    phrases = [phrase for row in rows for phrase in row]
    starts, ends, objects, parts = zip(*phrases, strict=True) if phrases else ((), (), (), ())
    owners = build_array([i for each in parts for i, _ in each], pa.int32())
    names = build_array([name for each in parts for _, name in each], pa.string())
    part_rows = pa.StructArray.from_arrays([owners, names], fields=list(arrow_type(PART_REFERENCE)))
    columns = [
        *(build_array(starts, pa.int32()), build_array(ends, pa.int32())),
        nest(objects, build_array([i for each in objects for i in each], pa.int32())),
        nest(parts, part_rows),
    ]
    return nest(rows, pa.StructArray.from_arrays(columns, fields=list(arrow_type(PHRASE))))


def _parse_grounding(column: Any) -> Iterator[tuple[GroundedPhrase, ...]]:
    flat = column.values
    starts, ends, objects, parts = (flat.field(name) for name, _ in PHRASE.fields)
    refs = zip(parts.values.field("object").to_pylist(), parts.values.field("part").to_pylist(), strict=True)
    every_object, every_part = objects.values.to_pylist(), list(refs)
    rows = zip(starts.to_pylist(), ends.to_pylist(), *_list_bounds(objects), *_list_bounds(parts), strict=True)
    phrases = [GroundedPhrase(s, e, tuple(every_object[a:b]), tuple(every_part[c:d])) for s, e, a, b, c, d in rows]
    for first, last in zip(*_list_bounds(column), strict=True):
        yield tuple(phrases[first:last])


def _list_bounds(lists: Any) -> tuple[list[int], list[int]]:
    """Where each list of a column begins and ends among all its values."""
    offsets: list[int] = lists.offsets.to_pylist()
    return offsets[:-1], offsets[1:]


def build_image_column(pngs: Sequence[bytes], paths: Sequence[str]) -> Any:
    """A column of pictures as `datasets` keeps them: the bytes and a name."""
    import pyarrow as pa

    fields = list(arrow_type("image"))
    none = build_array([not png for png in pngs], pa.bool_())  # scenes without a picture
    columns = [build_array(pngs, pa.binary()), build_array(paths, pa.string())]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=none if none.true_count else None)


def format_answer(answer: Answer | None) -> str | None:
    """Text is kept letter by letter; only truth values and numbers are spelled."""
    return answer if answer is None or isinstance(answer, str) else spell(answer)


def answer_type(answer: Answer | None) -> str | None:
    """What `parse_answer` needs to read the text back: bool, int or str."""
    if answer is None:
        return None
    return "bool" if isinstance(answer, bool) else "int" if isinstance(answer, int) else "str"


def parse_answer(text: str | None, kind: str | None) -> Answer | None:
    if text is None:
        return None
    return text == "yes" if kind == "bool" else int(text) if kind == "int" else text


def _pack_lists(rows: Sequence[bytes | None], dtype: np.dtype[Any]) -> Any:
    """A list column from rows of raw numbers, without making a Python object of each."""
    sizes = [len(row or b"") // dtype.itemsize for row in rows]
    flat = np.frombuffer(b"".join(row or b"" for row in rows), dtype)
    return nest_array(wrap_numbers(flat), sizes, [row is None for row in rows])


def _build_table(columns: dict[str, Any], kinds: Columns) -> Any:
    import pyarrow as pa

    arrays = [
        columns[name] if isinstance(columns[name], pa.Array) else build_array(columns[name], arrow_type(kind))
        for name, kind in kinds
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(kinds))


def _format_program(program: Program) -> str:
    """`format_json` of the program; a node is spelled once, however many programs share it."""
    # Equality of nodes ignores their notes.
    nodes = [format_json(n.to_json()) if n.notes else _format_node(n) for n in program.nodes]
    return f"[{','.join(nodes)}]"


@lru_cache(maxsize=100_000)
def _format_node(n: Node) -> str:
    return format_json(n.to_json())


class SceneSummary(NamedTuple):
    """The id and the objects of a stored scene, as much as counting needs."""

    id: str
    objects: list[Pairs]  # the attributes of each
    parts: int  # that the objects list, all together


def summarize_scene(text: str) -> SceneSummary:
    """The scene in a row of an images file, read without making a Scene."""
    scene = json.loads(text)
    objects = [tuple([(name, value) for name, value in o["attributes"]]) for o in scene["objects"]]
    return SceneSummary(scene.get("id", ""), objects, sum([len(o.get("parts", ())) for o in scene["objects"]]))

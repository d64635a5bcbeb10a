"""Columns: what the Parquet files hold, said once for Arrow and for Hugging Face `datasets`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

Kind = str | tuple["Kind"]  # "string", "int32", "image"; ("int32",) is a list of int32
Columns = tuple[tuple[str, Kind], ...]

IMAGES: Columns = (
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
PARTS: Columns = (
    # Likewise for the parts that the scene's objects list: 1, 2, … in the scene's order, 0 for all else.
    ("part_values", ("uint8",)),
    ("part_lengths", ("int32",)),
)

QUESTIONS: Columns = (
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


def arrow_type(kind: Kind) -> Any:
    """The Arrow type that `datasets` reads as this kind."""
    import pyarrow as pa

    if isinstance(kind, tuple):
        return pa.list_(arrow_type(kind[0]))
    if kind == "image":
        return pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    return pa.type_for_alias(kind)


@cache
def arrow_schema(columns: Columns) -> Any:
    """The schema of a file, with the note that makes `datasets` open images as images."""
    import pyarrow as pa

    features = {name: _feature(kind) for name, kind in columns}
    note = json.dumps({"info": {"features": features}}, separators=(",", ":"))
    fields = [pa.field(name, arrow_type(kind)) for name, kind in columns]
    return pa.schema(fields, metadata={"huggingface": note})


def _feature(kind: Kind) -> dict[str, Any]:
    if isinstance(kind, tuple):
        return {"feature": _feature(kind[0]), "_type": "List"}
    return {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}


def card_features(columns: Columns) -> list[dict[str, Any]]:
    """The columns as a dataset card's `features` list them."""
    return [{"name": name} | _card_feature(kind) for name, kind in columns]


def _card_feature(kind: Kind) -> dict[str, Any]:
    if not isinstance(kind, tuple):
        return {"dtype": kind}
    inner = _card_feature(kind[0])
    return {"list": inner["dtype"] if list(inner) == ["dtype"] else inner}

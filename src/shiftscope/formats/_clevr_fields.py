"""The fields of a CLEVR scene, each refused in one sentence where it is not as it should be."""

from typing import Any

from .. import json_files as _json
from ..errors import UserError
from ..scene import Box, Relation, Vector, mask_of

# Super-CLEVR's textures and ours. The official renderer draws a texture at random where a scene names none.
TEXTURES = {"None": "none", "stripped": "striped", "vstripped": "upright stripes"}


def get_fields(raw: dict[str, Any], name: str) -> dict[str, Any]:
    """What it has under the name; nothing where it has none."""
    found = raw.get(name, {})
    if not isinstance(found, dict):
        raise UserError(f"its {name} must be an object, got {found!r:.60}")
    return found


def parse_size(pixel: list[Any]) -> tuple[int, int]:
    """The image's size, from Super-CLEVR's [[x, y, depth], [width, height]]."""
    size = pixel[1] if len(pixel) == 2 else None
    if not isinstance(size, list) or len(size) != 2 or not all(map(_json.is_image_side, size)):
        far = _json.describe_limit(*(size if isinstance(size, list) else ()))
        raise UserError(f"expected a width and height, got {size!r:.60}{far}")
    return (size[0], size[1])


def parse_texture(raw: Any) -> str:
    return TEXTURES.get(raw, raw) if isinstance(raw, str) else ""


def parse_box(raw: Any) -> Box | None:
    """Left, top, width, height, as we write them; other boxes are left alone."""
    if not isinstance(raw, list) or len(raw) != 4:
        return None
    left, top, width, height = map(parse_number, raw)
    return (left, top, width, height)


def parse_vector(values: Any) -> Vector:
    if not isinstance(values, list | tuple) or len(values) != 3:
        raise UserError(f"expected three numbers, got {values!r:.60}")
    x, y, z = map(parse_number, values)
    return (x, y, z)


def parse_number(value: Any) -> float:
    if not _json.is_number(value):
        raise UserError(f"expected a finite number, got {value!r}{_json.describe_limit(value)}")
    return float(value)


def parse_relation(name: str, rows: list[list[int]], size: int) -> Relation:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise UserError(f"relationships {name!r} must be a list of object numbers for each object")
    if len(rows) != size:
        raise UserError(f"relationships {name!r} has {len(rows)} rows for {size} objects")
    masks = []
    for i, row in enumerate(rows):
        for j in row:
            if type(j) is not int or not 0 <= j < size:
                raise UserError(f"relationships {name!r} names an object that is not there (there are {size})")
        masks.append(mask_of(row))
        if masks[i] >> i & 1:
            raise UserError(f"relationships {name!r} has an object that relates to itself")
    return Relation(name, tuple(masks))

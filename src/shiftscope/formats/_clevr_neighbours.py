"""What files beside CLEVR's own do otherwise: rows about several images, positions as a camera sees them, masks."""

from collections.abc import Iterator
from typing import Any

from ..errors import UserError
from ..json_files import is_number
from ..scene import Box, Object, Relation, Vector

# Too-CLEVR: one row asks the same question about each of several images.

IMAGE_LISTS = {"image_indices": "image_index", "image_filenames": "image_filename"}  # of a row, of a question
LISTS = {**IMAGE_LISTS, "answers": "answer"}


def split_images(raw: dict[str, Any], at: int) -> Iterator[dict[str, Any]]:
    """A row for each image of a row about several."""
    lists = {single: raw[field] for field, single in LISTS.items() if field in raw}
    program = raw.get("program")
    if isinstance(program, list) and program and isinstance(program[0], list):
        lists["program"] = program
    wrong = [name for name, values in lists.items() if not isinstance(values, list)]
    if wrong:
        raise UserError(f"what it has for {wrong[0]} of each image must be a list, got {lists[wrong[0]]!r:.60}")
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) != 1:
        told = ", ".join(f"{size} of {name}" for name, size in sizes.items())
        raise UserError(f"it is about several images and has {told}: expected as many of each")
    shared = {k: v for k, v in raw.items() if k not in LISTS and k not in lists}
    for k in range(next(iter(sizes.values()))):
        own = {name: values[k] for name, values in lists.items()}
        if isinstance(own.get("answer"), dict | list):
            raise UserError("its answers are scenes; ShiftScope answers with a number, a word, yes or no")
        yield shared | own | {"question_index": f"{raw.get('question_index', at)}-{k}"}


# NS-VQA: a parsed scene has neither directions nor relationships, and each object a `position`: how far to the right
# and how far in front it is, and its height. Ours counts how far behind it is: only so is the frame right-handed.

CAMERA_FRAME: tuple[tuple[str, Vector], ...] = (
    ("left", (-1.0, 0.0, 0.0)),
    ("right", (1.0, 0.0, 0.0)),
    ("front", (0.0, -1.0, 0.0)),
    ("behind", (0.0, 1.0, 0.0)),
    ("above", (0.0, 0.0, 1.0)),
    ("below", (0.0, 0.0, -1.0)),
)
SIDES = 4  # of them that are relations


def is_parsed_scene(raw: dict[str, Any]) -> bool:
    """Whether it has no directions and its objects a `position` instead of 3d_coords."""
    objects = raw["objects"]
    if "directions" in raw or not any("position" in o for o in objects):
        return False
    if any("3d_coords" in o or o.get("position") is None for o in objects):
        raise UserError("some of its objects have a position, others do not")
    return True


def flip_front(position: Vector) -> Vector:
    """From NS-VQA's position to ours, and back."""
    right, front, height = position
    return (right, -front, height)


def relate_parsed(objects: tuple[Object, ...]) -> tuple[Relation, ...]:
    """The relations as NS-VQA's executor has them: of two objects one is further left, by however little."""
    relations = []
    for name, direction in CAMERA_FRAME[:SIDES]:
        along = [sum(a * b for a, b in zip(o.position or (), direction, strict=True)) for o in objects]
        rows = tuple(sum(1 << j for j, other in enumerate(along) if other > here) for here in along)
        relations.append(Relation(name, rows))
    return tuple(relations)


# Super-CLEVR's released scenes: `obj_mask_box` has the box and mask of each object (as `obj`) and of each of its parts.

MASKS, WHOLE = "obj_mask_box", "obj"


def read_mask_boxes(raw: dict[str, Any]) -> dict[tuple[int, str], Box]:
    """The boxes (left, top, width, height) by object and part; none for what is not seen. Masks are not read."""
    found: dict[tuple[int, str], Box] = {}
    masks = raw.get(MASKS, {})
    if not isinstance(masks, dict) or not all(n.isdecimal() and isinstance(v, dict) for n, v in masks.items()):
        raise UserError(f"its {MASKS} must have boxes and masks by the number of the object")
    for number, named in masks.items():
        for name, entry in named.items():
            if not isinstance(entry, list):  # `info`: what the object is called
                continue
            box = entry[0] if entry else None
            if not isinstance(box, list) or len(box) != 4 or not all(is_number(v) for v in box):
                raise UserError(f"{MASKS} {number}, {name}: expected a box of four numbers, got {box!r:.60}")
            left, top, width, height = map(float, box)
            if width > 0 and height > 0:
                found[int(number), name] = (left, top, width, height)
    return found

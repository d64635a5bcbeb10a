"""The official Super-CLEVR engine's behaviour on parts, written again plainly from what it was seen to do.

Only for tests. A part is a pair (object, name). A name is looked for inside names, a shape also under its category.
"""

from __future__ import annotations

from typing import Any

from reference import Invalid

CATEGORIES = {
    "car": ("suv", "wagon", "minivan", "sedan", "truck"),
    "bus": ("articulated", "regular", "double", "school"),
    "motorbike": ("chopper", "dirtbike", "scooter", "cruiser"),
    "aeroplane": ("jet", "fighter", "biplane", "airliner"),
    "bicycle": ("road", "utility", "mountain", "tandem"),
}
SIDES = ("right", "left", "front", "back", "center", "mid")


def run(program: list[dict[str, Any]], scene: dict[str, Any]) -> Any:
    """The answer of an official node list on an official scene; KeyError for a function that it does not have."""
    values: list[Any] = []
    for node in program:
        function = node.get("function") or node["type"]
        inputs = [values[i] for i in node["inputs"]]
        if function in ("union", "intersect", "count", "exist", "unique") or "filter" in function:
            # Our types let one thing stand for a set of one; the official generator never does that.
            inputs = [v if isinstance(v, list) else [v] for v in inputs]
        values.append(FUNCTIONS[function](scene, *inputs, *node["value_inputs"]))
    return values[-1]


def spell_answer(answer: Any) -> Any:
    """As the official generator writes it: places at the end of a part's name come first, models have a noun."""
    if not isinstance(answer, str):
        return answer
    pieces = answer.split("_")
    if pieces[-1] == "s":
        pieces.pop()
    while pieces[-1] in SIDES:
        pieces.insert(0, pieces.pop())
    noun = "bus" if answer in CATEGORIES["bus"] else "bike" if answer in CATEGORIES["bicycle"] else ""
    return f"{' '.join(pieces)} {noun}".strip()


def _unique(scene, found):
    assert isinstance(found, list)
    if len(found) != 1:
        raise Invalid
    return found[0]


def _parts_of(scene, found):
    objects = found if isinstance(found, list) else [found]
    return [(i, name) for i in objects for name in scene["objects"][i]["parts"]]


def _owners_of(scene, found):
    return sorted({part[0] for part in (found if isinstance(found, list) else [found])})


def _same(attribute):
    def same(scene, one):
        objects = scene["objects"]
        return [i for i, o in enumerate(objects) if i != one and o[attribute] == objects[one][attribute]]

    return same


def _filter(attribute):
    def keep(scene, found, word):
        values = [scene["objects"][i][attribute] for i in found]
        return [i for i, v in zip(found, values, strict=True) if word in v or v in CATEGORIES.get(word, ())]

    return keep


def _value(scene, one, attribute):
    if isinstance(one, int):
        return scene["objects"][one][attribute]
    owner, name = one
    return name if attribute == "partname" else scene["objects"][owner]["parts"][name][attribute]


def _filter_parts(attribute):
    return lambda scene, found, word: [part for part in found if word in _value(scene, part, attribute)]


def _query(attribute):
    return lambda scene, one: _value(scene, one, attribute)


FUNCTIONS: dict[str, Any] = {
    "scene": lambda scene: list(range(len(scene["objects"]))),
    "unique": _unique,
    "relate": lambda scene, one, relation: sorted(scene["relationships"][relation][one]),
    "union": lambda scene, left, right: sorted({*left} | {*right}),
    "intersect": lambda scene, left, right: sorted({*left} & {*right}),
    "count": lambda scene, found: len(found),
    "exist": lambda scene, found: len(found) > 0,
    "less_than": lambda scene, left, right: left < right,
    "greater_than": lambda scene, left, right: left > right,
    "object2part": _parts_of,
    "part2object": _owners_of,
    **{f"filter_{a}": _filter(a) for a in ("size", "color", "material", "shape")},
    **{f"query_{a}": _query(a) for a in ("size", "color", "material", "shape")},
    **{f"same_{a}": _same(a) for a in ("size", "color", "material", "shape")},
    **{f"partfilter_{a}": _filter_parts(a) for a in ("size", "color", "material", "partname")},
    **{f"partquery_{a}": _query(a) for a in ("size", "color", "material", "partname")},
    **dict.fromkeys(
        [f"equal_{a}" for a in ("size", "color", "material", "shape", "integer", "object")],
        lambda scene, left, right: left == right,
    ),
}

"""The official CLEVR engine's behaviour, written again plainly from its description: lists, loops, no masks.

Only for tests: an independent opinion on what an official program answers on an official scene.
"""

from __future__ import annotations

from typing import Any


class Invalid(Exception):
    """The official engine's marker for a program that has no answer."""


def run(program: list[dict[str, Any]], scene: dict[str, Any]) -> Any:
    """The answer of an official node list on an official scene."""
    values: list[Any] = []
    for node in program:
        function = node.get("function") or node["type"]
        inputs = [values[i] for i in node["inputs"]]
        words = node.get("value_inputs", [])
        if function in ("union", "intersect", "count", "exist", "unique") or function.startswith("filter"):
            # Our types let one object stand for a set of one; the official generator never does that.
            inputs = [v if isinstance(v, list) else [v] for v in inputs]
        values.append(_apply(function, inputs, words, scene))
    return values[-1]


def _apply(function: str, inputs: list[Any], words: list[str], scene: dict[str, Any]) -> Any:
    objects = scene["objects"]
    name, _, attribute = function.partition("_")
    if function == "scene":
        return list(range(len(objects)))
    if name == "filter":
        return [i for i in inputs[0] if objects[i][attribute] == words[0]]
    if function == "unique":
        if len(inputs[0]) != 1:
            raise Invalid
        return inputs[0][0]
    if function == "relate":
        return sorted(scene["relationships"][words[0]][inputs[0]])
    if name == "same":
        value = objects[inputs[0]][attribute]
        return [i for i, o in enumerate(objects) if i != inputs[0] and o[attribute] == value]
    if name == "query":
        return objects[inputs[0]][attribute]
    if function in ("union", "intersect"):
        left, right = map(set, inputs)
        return sorted(left | right if function == "union" else left & right)
    if function == "count":
        return len(inputs[0])
    if function == "exist":
        return len(inputs[0]) > 0
    if name == "equal":
        return inputs[0] == inputs[1]
    return inputs[0] < inputs[1] if function == "less_than" else inputs[0] > inputs[1]

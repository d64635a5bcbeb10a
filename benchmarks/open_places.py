"""CLEVR_HYP: how often another place of what an action puts somewhere would change a stored answer.

`python -m benchmarks.open_places [--scenes 80] [--places 6]`; places are drawn here, by other means than the
generator's: anywhere that the words allow, up to twice as far out as things stand, whoever stands there.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from shiftscope.edit import AREA, RADIUS, AddObject, MoveObject
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.op import get_op
from shiftscope.lang.program import Program, split_action
from shiftscope.questions.hypothetical import partitions
from shiftscope.scene import RELATION_MARGIN, Scene
from shiftscope.suites.clevr_hyp.suite import OBJECTS
from shiftscope.world import clevr

SEED = 16
FAR = 2 * AREA


def find_edit(action: Program, scene: Scene) -> AddObject | MoveObject:
    values = execute(action, scene).values
    root, world = action.root, ExecutionWorld((scene,))
    edit = get_op(root.op).exact(world, *(values[i] for i in root.inputs), *root.params)
    assert isinstance(edit, AddObject | MoveObject)
    return edit


def iterate_places(edit: AddObject | MoveObject, scene: Scene, random: np.random.Generator) -> Iterator[Scene]:
    """The scene after the edit, at one place after another."""
    thing = edit.thing if isinstance(edit, AddObject) else scene.objects[edit.object]
    along = dict(scene.directions).get(edit.relation)
    while True:
        x, y = (FAR * (2 * random.random(2) - 1)).tolist()
        if along is not None and edit.anchor is not None:
            base = scene.objects[edit.anchor].position
            assert base is not None
            if (x - base[0]) * along[0] + (y - base[1]) * along[1] <= 2 * RELATION_MARGIN:
                continue
        where = (x, y, RADIUS[thing.values("size")[0]])
        if isinstance(edit, AddObject):
            yield AddObject(edit.thing, edit.relation, edit.anchor, where).apply(scene)
        else:
            yield MoveObject(edit.object, edit.relation, edit.anchor, where).apply(scene)


def measure(scenes: list[Scene], placements: int, places: int) -> tuple[int, int, int]:
    """Questions about an open place, places tried, and those at which the answer is another."""
    by_id, random = {scene.id: scene for scene in scenes}, np.random.default_rng(SEED)
    asked = tried = other = 0
    for question in partitions.generate_original(scenes, 0, SEED, "test", placements):
        if question.note("placed") != "free" or question.program is None:
            continue
        scene = by_id[question.scenes[0]]
        action, rest = split_action(question.program)
        assert action is not None
        asked += 1
        for _, after in zip(range(places), iterate_places(find_edit(action, scene), scene, random), strict=False):
            tried += 1
            other += execute(rest, after).answer != question.answer
    return asked, tried, other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--scenes", type=int, default=80)
    parser.add_argument("--places", type=int, default=6)
    given = parser.parse_args()
    rules = clevr.ClevrRules(objects=OBJECTS)
    scenes = [clevr.sample_scene(SEED, "test", i, rules) for i in range(given.scenes)]
    for placements in (partitions.PLACEMENTS, 1):
        asked, tried, other = measure(scenes, placements, given.places)
        print(f"--placements {placements}: {asked} questions, {other} of {tried} places change the answer", end="")
        print(f" ({other / max(1, tried):.1%})", flush=True)


if __name__ == "__main__":
    main()

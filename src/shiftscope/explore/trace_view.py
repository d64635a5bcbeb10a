"""Trace views: the steps of a program with what each lights up in the images.

A step that gives objects or parts lights those. One that gives a number, a word or a truth lights what it reads, so
that `count` shows what is counted. A program that edits its scene has several stages: each is a scene of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..answer import Answer, spell
from ..lang.check import check, compute_scope, plan_program
from ..lang.exec.exact import NOT_RUN, Execution, Undefined, execute, format_trace
from ..lang.execution_world import ExecutionWorld
from ..lang.op import GROUPS, IMAGES, OBJECT, OBJECTS, PART, PARTS, Type
from ..lang.program import Program
from ..scene import Scene, mask_members


@dataclass(frozen=True, slots=True)
class ImageLight:
    """What is lit in one image of a stage."""

    image: int
    objects: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()  # numbers among the parts that the scene lists, from 1

    def to_json(self) -> dict[str, Any]:
        return {"image": self.image, "objects": self.objects, "parts": self.parts}


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A node of the tree: how deep it stands, what it says, what came out, and what it lights."""

    node: int
    depth: int
    text: str
    value: str
    stage: int
    lights: tuple[ImageLight, ...] | None  # None: it looks at no set, as a number as written
    reads: bool  # the lights are its inputs': the value is no set

    def to_json(self) -> dict[str, Any]:
        lights = None if self.lights is None else [light.to_json() for light in self.lights]
        return {"node": self.node, "stage": self.stage, "lights": lights, "reads": self.reads}


@dataclass(frozen=True, slots=True)
class TraceView:
    """A program run on its scenes."""

    answer: Answer | None
    undefined: str  # why there is no answer, or nothing
    steps: tuple[TraceStep, ...]  # from the root down
    stages: tuple[tuple[Scene, ...], ...]  # the scenes given, then after each edit
    execution: Execution

    @property
    def spelled(self) -> str:
        return f"undefined ({self.undefined})" if self.answer is None else spell(self.answer)


def build_trace(program: Program, scenes: Sequence[Scene]) -> TraceView:
    """Run a program; one that cannot be run is a ProgramError that says why."""
    world = ExecutionWorld(scenes)
    check(program, world.objects.schema)
    execution = execute(program, world)
    worlds = list(dict.fromkeys((world, *execution.worlds)))
    lights = _NodeLights(program, execution, worlds)
    steps = tuple(
        TraceStep(line.node, line.depth, line.text, line.value, *lights.find(line.node))
        for line in format_trace(program, execution, world)
    )
    answer = execution.answer
    kind = plan_program(program).types[-1].name
    is_answer = isinstance(answer, bool | int | str) and kind in ("Int", "Bool", "Value")
    why = "" if is_answer else str(answer) if isinstance(answer, Undefined) else f"the program gives {kind}, no answer"
    return TraceView(answer if is_answer else None, why, steps, tuple(w.scenes for w in worlds), execution)


class _NodeLights:
    """What each node lights up."""

    def __init__(self, program: Program, execution: Execution, worlds: Sequence[ExecutionWorld]) -> None:
        self.program, self.execution, self.worlds = program, execution, worlds
        plan = plan_program(program)
        self.types = plan.types
        scopes = () if plan.straight else compute_scope(program).inside
        self.inside = frozenset(i for i, quantifier in enumerate(scopes) if quantifier != -1)

    def find(self, i: int) -> tuple[int, tuple[ImageLight, ...] | None, bool]:
        """The stage, the lights, and whether they are those of what it reads."""
        own = self._find_own(i)
        if own is not None:
            return *own, False
        read = [(stage, lights) for j in self.program.nodes[i].inputs for stage, lights, _ in (self.find(j),)]
        sets = [(stage, lights) for stage, lights in read if lights is not None]
        if not sets:
            return 0, None, True
        last = max(stage for stage, _ in sets)
        return last, _join_lights([light for stage, lights in sets if stage == last for light in lights]), True

    def _find_own(self, i: int) -> tuple[int, tuple[ImageLight, ...]] | None:
        """The stage and lights of a node whose value is a set; None for another, or one that was not run."""
        execution = self.execution
        if i >= len(execution.values) or execution.values[i] is NOT_RUN:
            return None
        world = execution.worlds[i] if i < len(execution.worlds) else self.worlds[0]
        value = execution.values[i]
        values = value if i in self.inside and isinstance(value, tuple) else (value,)
        kind = self.types[i]
        if kind not in (OBJECTS, OBJECT, PARTS, PART, IMAGES, GROUPS):
            return None
        lights = _join_lights([light for v in values for light in _light_value(v, kind, world)])
        return self.worlds.index(world), lights


def _light_value(value: Any, kind: Type, world: ExecutionWorld) -> Iterator[ImageLight]:
    if value is None:
        return
    if kind == IMAGES:
        yield from (ImageLight(k, tuple(range(len(world.scenes[k].objects)))) for k in mask_members(value))
        return
    if kind in (PARTS, PART):
        first = 0
        for k, scene in enumerate(world.scenes):
            count = sum(len(o.parts) for o in scene.objects)
            own = tuple(n + 1 for n in mask_members((value >> first) & ((1 << count) - 1)))
            first += count
            if own:
                yield ImageLight(k, parts=own)
        return
    masks = value if kind == GROUPS else (value,)
    for mask in masks:
        for k, (start, every) in enumerate(zip(world.offsets, world.image_masks, strict=True)):
            if found := tuple(mask_members((mask & every) >> start)):
                yield ImageLight(k, found)


def _join_lights(lights: Sequence[ImageLight]) -> tuple[ImageLight, ...]:
    """One light per image."""
    images = sorted({light.image for light in lights})
    joined = []
    for k in images:
        here = [light for light in lights if light.image == k]
        objects = sorted({i for light in here for i in light.objects})
        joined.append(ImageLight(k, tuple(objects), tuple(sorted({p for light in here for p in light.parts}))))
    return tuple(joined)

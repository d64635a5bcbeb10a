"""Example views: one example as its address says it: as stored, or with another program, or in an edited scene.

program=count(scene())      another program than the question's
edit=0:2.color=red          in image 0, object 2 is red (`scene_edit.py`)
step=4                      the node of the program that is lit first; `lights.js` reads it, and the overlays:
show=masks,boxes            what is drawn over the images
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ..errors import UserError
from ..lang.exec.exact import describe_object
from ..lang.program import Program, ProgramError
from ..lang.text import format_program, parse_program
from ..question import Question
from ..scene import Object, Scene
from ..store.image import LENGTH_DTYPE, RunLengths, StoredImage
from .collection import OpenedData
from .filters import ExampleFilter, read_place
from .scene_edit import apply_edits, complete_image, draw_scene, explain_undrawable
from .trace_view import TraceView, build_trace

LONGEST_PROGRAM = 20_000  # characters
Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class ExampleView:
    """An example in the state that an address gives it. What went wrong with that state is in `problem`."""

    data: OpenedData
    row: int
    question: Question
    images: tuple[StoredImage, ...]  # as stored
    scenes: tuple[Scene, ...]  # after the edits
    program: Program | None
    program_text: str
    trace: TraceView | None
    edits: tuple[str, ...]
    chosen: ExampleFilter
    problem: str = ""

    @property
    def edited(self) -> bool:
        return bool(self.edits) or self.has_own_program

    @property
    def has_own_program(self) -> bool:
        """Whether the program is the user's."""
        own = self.question.program
        return self.program_text != (format_program(own) if own else "")

    @property
    def link(self) -> str:
        return f"/d/{self.data.number}/e/{self.row}"

    def state_query(self) -> list[tuple[str, str]]:
        """What of the address says the state."""
        program = [("program", self.program_text)] if self.has_own_program else []
        return [*program, *(("edit", one) for one in self.edits)]

    def to_address(self, path: str = "", *, drop: str = "") -> str:
        """The address of this state, or of it without the program or the edits."""
        listed = [*(one for one in self.state_query() if one[0] != drop), *self.chosen.conditions]
        return f"{self.link}{path}{f'?{urlencode(listed)}' if listed else ''}"

    def picture_address(self, stage: int, image: int, what: str = "picture") -> str:
        """Where the picture or the masks of an image are; those of an edited scene are drawn."""
        state = self.state_query() if stage or self.is_changed(image) else []
        listed = [*state, *((("stage", str(stage)),) if stage else ())]
        return f"{self.link}/{what}/{image}{f'?{urlencode(listed)}' if listed else ''}"

    def is_changed(self, image: int) -> bool:
        return self.scenes[image] is not self.images[image].scene

    def load_image(self, stage: int, image: int) -> StoredImage:
        """An image of a stage: as stored where nothing was changed, else drawn now."""
        stages = self.trace.stages if self.trace else (self.scenes,)
        if not (0 <= stage < len(stages) and 0 <= image < len(stages[stage])):
            raise UserError(f"there is no image {image} at stage {stage}")
        if stage == 0 and not self.is_changed(image):
            return complete_image(self.images[image])
        scene = stages[stage][image]
        if explain_undrawable(scene):  # the picture as it was; where things are is the edited scene's to say
            return StoredImage(scene, self.images[image].png)
        return draw_scene(scene)


def build_view(data: OpenedData, row: int, query: Query) -> ExampleView:
    """The example of a row in the state that a query gives it; a UserError where its files cannot be read."""
    question = data.index.read_question(row)
    images = tuple(data.index.read_image(name, row) for name in question.scenes)
    edits = tuple(value for key, value in query if key == "edit" and value)
    text = next((value for key, value in query if key == "program"), None)
    problem = ""
    scenes = tuple(image.scene for image in images)
    try:
        scenes = edit_scenes(images, edits)
    except UserError as error:
        problem, edits = str(error), ()
    program, shown = question.program, format_program(question.program) if question.program else ""
    if text is not None and text.strip() and text.strip() != shown:
        shown = text.strip()[:LONGEST_PROGRAM]
        try:
            program = parse_program(shown)
        except ProgramError as error:
            problem, program = str(error), None
    trace = None
    if program is not None and any(image.scene.objects for image in images):  # all of them may have been removed
        try:
            trace = build_trace(program, scenes)
        except (UserError, ValueError) as error:
            problem = problem or str(error)
    chosen = ExampleFilter.parse(query)
    return ExampleView(data, row, question, images, scenes, program, shown, trace, edits, chosen, problem)


def edit_scenes(images: Sequence[StoredImage], edits: Sequence[str]) -> tuple[Scene, ...]:
    """The scenes after edits `IMAGE:EDIT`; an image without any keeps its own scene."""
    per_image: dict[int, list[str]] = {}
    for text in edits:
        number, colon, rest = text.partition(":")
        k = read_place(number, len(images))
        if not colon or k is None:
            raise UserError(f"{text!r} is no edit; write IMAGE:OBJECT.ATTRIBUTE=VALUE, as in 0:2.color=red")
        per_image.setdefault(k, []).append(rest)
    return tuple(apply_edits(i.scene, per_image[k]) if k in per_image else i.scene for k, i in enumerate(images))


def read_edit_form(images: Sequence[StoredImage], fields: Mapping[str, str]) -> list[str]:
    """The edits that a form of all attributes and places makes: where it differs from what is stored."""
    edits = []
    for k, image in enumerate(images):
        for i, thing in enumerate(image.scene.objects):
            at = f"{k}:{i}"
            if fields.get(f"{at}.remove"):
                edits.append(f"{at}.remove")
                continue
            for name, value in _list_values(thing):
                given = fields.get(f"{at}.{name}", value).strip()
                if given and given != value:
                    edits.append(f"{at}.{name}={given}")
            if thing.position is not None:
                stored = [f"{v:.2f}" for v in thing.position[:2]]
                given_place = [fields.get(f"{at}.{axis}", old).strip() for axis, old in zip("xy", stored, strict=True)]
                if given_place != stored and all(given_place):
                    edits.append(f"{at}.place={','.join(given_place)}")
    return edits


def _list_values(thing: Object) -> list[tuple[str, str]]:
    """The fields of an object's attributes, then of its parts'; several values of one attribute are not edited."""
    own = [(a, v) for a, v in thing.attributes if len(thing.values(a)) == 1]
    return [*own, *((f"{p.name}.{a}", v) for p in thing.parts for a, v in p.attributes if a != "size")]


def describe_masks(image: StoredImage) -> dict[str, Any]:
    """What a page needs to light objects and parts of an image: run lengths, boxes and names."""
    scene = image.scene
    listed = [(i, p) for i, o in enumerate(scene.objects) for p in o.parts]
    return {
        "size": image.size,
        "objects": _describe_runs(image.mask),
        "parts": _describe_runs(image.part_mask),
        "every_part": _describe_runs(image.parts.mask if image.parts else None),
        "boxes": [image.find_box(i) for i in range(len(scene.objects))],
        "part_boxes": [image.find_box(i, p.name) for i, p in listed],
        "names": [describe_object(o) for o in scene.objects],
    }


def _describe_runs(mask: RunLengths | None) -> dict[str, Any] | None:
    if mask is None:
        return None
    return {"values": list(mask.values), "lengths": np.frombuffer(mask.lengths, LENGTH_DTYPE).tolist()}


def explain_no_drawing(view: ExampleView) -> str:
    """Why edited scenes cannot be drawn; nothing where they can."""
    return next((why for scene in view.scenes if (why := explain_undrawable(scene))), "")

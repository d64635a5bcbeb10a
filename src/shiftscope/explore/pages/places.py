"""Places: a dot per object, to be dragged or moved by the arrow keys; on a plan of the ground, and in the picture.

`places.js` writes where a dot comes to stand into the fields of the scene's form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...geometry.camera import camera_of
from ...lang.exec.exact import describe_object
from ...report.markup import Html, tag
from ...scene import Object
from ..example_view import ExampleView
from ..scene_edit import explain_undrawable

PLAN_SIZE = 260  # pixels
PLAN_REACH = 4.6  # world units from the middle to the edge of the plan
DOT = {"large": 13, "small": 8}  # pixels
PICTURE_DOT = 9  # pixels


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """Where an object stands after the edits; one that was removed stands nowhere."""

    number: int  # in the scene as stored
    shown: int  # in the scene after the edits, which has no gaps
    thing: Object
    x: float
    y: float
    z: float


def can_move(view: ExampleView, image: int) -> bool:
    """Whether a scene says where its objects stand, and which way is right."""
    scene = view.images[image].scene
    known = {"right", "behind"} <= dict(scene.directions).keys()
    return bool(scene.objects) and known and all(o.position for o in scene.objects)


def can_move_in_picture(view: ExampleView, image: int) -> bool:
    return can_move(view, image) and not explain_undrawable(view.scenes[image])


def _list_places(view: ExampleView, image: int) -> Iterator[ObjectPlace]:
    removed = {edit for edit in view.edits if edit.endswith(".remove")}
    kept = [i for i in range(len(view.images[image].scene.objects)) if f"{image}:{i}.remove" not in removed]
    for shown, i in enumerate(kept):
        thing = view.scenes[image].objects[shown]
        if thing.position is not None:
            yield ObjectPlace(i, shown, thing, *thing.position)


def _render_dot(place: ObjectPlace, x: float, y: float, radius: int) -> Html:
    return tag(
        "g",
        tag("circle", r=radius, class_="dot"),
        tag("text", place.number, text_anchor="middle", y=4),
        transform=f"translate({x:.1f} {y:.1f})",
        class_="mover",
        role="button",
        tabindex="0",
        data_object=place.number,
        data_shown=place.shown,
        data_z=f"{place.z:.6f}",
        aria_label=f"Object {place.number}, {describe_object(place.thing)}: move with the arrow keys",
    )


def _describe_ground(view: ExampleView, image: int) -> dict[str, object]:
    """What the script needs to turn "a little to the right" into x and y."""
    directions = dict(view.images[image].scene.directions)
    vectors = {f"data_{name}": ",".join(f"{v:.6f}" for v in directions[name][:2]) for name in ("right", "behind")}
    return {**vectors, "data_image": image, "data_reach": str(PLAN_REACH)}


def render_plan(view: ExampleView, image: int) -> Html | None:
    """The ground from above, turned so that right is right."""
    if not can_move(view, image):
        return None
    directions = dict(view.images[image].scene.directions)
    right, behind = directions["right"], directions["behind"]
    middle = PLAN_SIZE / 2
    dots = []
    for place in _list_places(view, image):
        across, away = (place.x * v[0] + place.y * v[1] for v in (right, behind))
        size = next(iter(place.thing.values("size")), "large")
        x, y = middle + across / PLAN_REACH * middle, middle - away / PLAN_REACH * middle
        dots.append(_render_dot(place, x, y, DOT.get(size, 10)))
    words = [
        tag("text", "behind", x=middle, y=14, text_anchor="middle"),
        tag("text", "front", x=middle, y=PLAN_SIZE - 6, text_anchor="middle"),
    ]
    drawing = tag(
        "svg",
        tag("rect", width=PLAN_SIZE, height=PLAN_SIZE, class_="ground"),
        words,
        dots,
        viewBox=f"0 0 {PLAN_SIZE} {PLAN_SIZE}",
        class_="plan",
        role="group",
        aria_label="Plan of the ground",
        **_describe_ground(view, image),
    )
    return tag("figure", tag("figcaption", "Plan ", tag("span", "drag, or arrow keys")), drawing, class_="plan-figure")


def render_handles(view: ExampleView, image: int, size: tuple[int, int]) -> Html | None:
    """The same dots over the picture, unseen until they are asked for; dragged, an object slides over its ground."""
    if not can_move_in_picture(view, image):
        return None
    scene = view.scenes[image]
    camera = camera_of(scene)
    places = list(_list_places(view, image))
    seen = camera.project([(p.x, p.y, p.z) for p in places], size).tolist()
    dots = [_render_dot(place, x, y, PICTURE_DOT) for place, (x, y, _) in zip(places, seen, strict=True)]
    return tag(
        "svg",
        dots,
        viewBox=f"0 0 {size[0]} {size[1]}",
        class_="handles",
        role="group",
        aria_label="Objects in the picture",
        data_camera=",".join(f"{v:.9g}" for v in camera.matrix(size).ravel()),
        **_describe_ground(view, image),
    )

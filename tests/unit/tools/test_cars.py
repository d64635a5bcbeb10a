"""Cars and buses: their parts, their measures, and that no view looks into them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from meshes import CAMERA, built, looked_into, placed
from shiftscope.geometry.mesh import Mesh
from shiftscope.geometry.shapes.superclevr import read_meshes
from shiftscope.geometry.visibility import list_parts, measure_visibility
from tools.vehicles.assembly import GLASS, Assembly
from tools.vehicles.buses import MODELS as BUSES
from tools.vehicles.cars import MODELS as CARS
from tools.vehicles.models import write_meshes

CAR = (
    "back_bumper back_left_door back_left_wheel back_license_plate back_right_door back_right_wheel "
    "front_bumper front_left_door front_left_wheel front_license_plate front_right_door front_right_wheel "
    "hood left_head_light left_mirror left_tail_light right_head_light right_mirror right_tail_light roof trunk"
)
PARTS = {
    "sedan": CAR,
    "wagon": CAR,
    "minivan": CAR,
    "suv": "back_bumper back_left_door back_left_wheel back_right_door back_right_wheel front_bumper "
    "front_left_door front_left_wheel front_right_door front_right_wheel hood left_head_light left_mirror "
    "left_tail_light right_head_light right_mirror right_tail_light roof trunk",
    "truck": "back_bumper back_left_wheel back_right_wheel front_bumper front_left_door front_left_wheel "
    "front_license_plate front_right_door front_right_wheel hood left_head_light left_mirror left_tail_light "
    "right_head_light right_mirror right_tail_light roof trunk",
    "articulated": "bumper_back door_back_right door_front_right door_mid_right head_light_left "
    "head_light_right license_plate_back license_plate_front mirror_left mirror_right roof tail_light_left "
    "tail_light_right trunk wheel_back_left wheel_back_right wheel_front_left wheel_front_right",
    "regular": "bumper_back bumper_front door_back_right door_front_right door_mid_right head_light_left "
    "head_light_right license_plate_back license_plate_front mirror_left mirror_right roof tail_light_left "
    "tail_light_right trunk wheel_back_left wheel_back_right wheel_front_left wheel_front_right",
    "double": "bumper_back bumper_front door_front_left door_front_right door_mid_left door_mid_right "
    "head_light_left head_light_right license_plate_back license_plate_front mirror_left mirror_right roof "
    "tail_light_left tail_light_right trunk wheel_back_left wheel_back_right wheel_front_left "
    "wheel_front_right",
    "school": "bumper_back bumper_front door_front_right door_mid_left head_light_left head_light_right "
    "license_plate_back license_plate_front mirror_left mirror_right roof tail_light_left tail_light_right "
    "wheel_back_left wheel_back_right wheel_front_left wheel_front_right",
}
BOXES = {  # across, long, high, in diagonals: those of the official models
    "suv": (0.3646, 0.8736, 0.3224),
    "wagon": (0.379, 0.8872, 0.263),
    "minivan": (0.3782, 0.8603, 0.3419),
    "sedan": (0.3528, 0.8964, 0.2685),
    "truck": (0.3554, 0.8906, 0.2837),
    "articulated": (0.1729, 0.9718, 0.1603),
    "regular": (0.2646, 0.9299, 0.2555),
    "double": (0.2161, 0.929, 0.3005),
    "school": (0.2027, 0.9491, 0.2411),
}
each = pytest.mark.parametrize("name", PARTS)


@cache
def corners(name: str) -> dict[str, np.ndarray]:
    """[corner, xyz] of each part in metres, before it is scaled and turned."""
    assembly = Assembly()
    {**CARS, **BUSES}[name](assembly)
    points: dict[str, list[np.ndarray]] = {}
    for part, _, piece in assembly.pieces:
        points.setdefault(part, []).append(piece.vertices)
    return {part: np.concatenate(pieces) for part, pieces in points.items()}


def test_there_are_five_cars_and_four_buses() -> None:
    assert list(CARS) == ["suv", "wagon", "minivan", "sedan", "truck"]
    assert list(BUSES) == ["articulated", "regular", "double", "school"]


@each
def test_a_model_has_its_official_parts_and_windows_and_no_other(name: str) -> None:
    assert built(name).parts[0] == "body"
    assert GLASS in built(name).parts
    assert sorted(list_parts(built(name))) == PARTS[name].split()


@each
def test_its_box_has_the_official_proportions_and_a_unit_diagonal(name: str) -> None:
    sides = np.ptp(built(name).vertices, axis=0)
    assert sides == pytest.approx(BOXES[name], rel=0.05)
    assert np.linalg.norm(sides) == pytest.approx(1.0)


@each
def test_it_is_fine_enough_to_look_at_and_coarse_enough_to_be_quick(name: str) -> None:
    assert 2000 <= len(built(name).triangles) <= 3900


@each
def test_it_is_closed_and_its_triangles_face_outward(name: str) -> None:
    assert [looked_into(built(name), turn) for turn in (35.0, 240.0)] == [0, 0]


def test_a_roof_turned_inside_out_would_be_found() -> None:
    mesh = built("school")
    roof = np.array([p == "roof" for p in mesh.parts])[mesh.part_of]
    triangles = np.where(roof[:, None], mesh.triangles[:, ::-1], mesh.triangles)
    inside_out = Mesh("school", mesh.vertices, mesh.normals, triangles, mesh.parts, mesh.part_of)
    assert looked_into(inside_out, 35.0) > 100


@each
def test_every_part_is_seen_from_some_side(name: str) -> None:
    views = [measure_visibility(placed(built(name), turn), CAMERA, (480, 320)) for turn in (35.0, 125.0, 215.0, 305.0)]
    most = np.max([view.part_visible[0] for view in views], axis=0)
    assert {p: n for p, n in zip(list_parts(built(name)), most.tolist(), strict=True) if n < 8} == {}


@each
def test_left_is_left_and_front_is_front_and_wheels_stand_on_the_ground(name: str) -> None:
    for part, points in corners(name).items():
        middle = points.mean(axis=0)
        words = part.split("_")
        if part in list_parts(built(name)):
            assert ("left" in words) == (middle[0] < -0.1), part
            assert ("right" in words) == (middle[0] > 0.1), part
        if ("front" in words and "door" not in words) or "head" in words or part == "hood":
            assert middle[1] > 1.0, part
        if ("back" in words and "door" not in words) or "tail" in words or part == "trunk":
            assert middle[1] < -1.0, part
        if "wheel" in words:
            assert points[:, 2].min() == pytest.approx(0.0, abs=0.01), part


def test_the_articulated_bus_is_straight_and_its_roof_runs_over_the_bellows() -> None:
    points = corners("articulated")
    for side in ("left", "right"):
        assert np.ptp([np.abs(points[f"wheel_{where}_{side}"][:, 0]).max() for where in ("front", "back")]) < 0.01
    ribs = points["roof"][np.abs(points["roof"][:, 1]) < 0.8]
    assert len({round(float(y), 3) for y in ribs[:, 1]}) >= 8
    assert points["body"][np.abs(points["body"][:, 1]) < 0.8][:, 2].max() <= ribs[:, 2].min() + 0.1


def test_a_double_decker_has_two_rows_of_windows_and_a_regular_bus_one() -> None:
    assert window_rows("double") == 2
    assert window_rows("regular") == 1


def window_rows(name: str) -> int:
    """How many stretches of height its side windows cover, looking between the doors."""
    glass = corners(name)[GLASS]
    side = glass[(glass[:, 0] > 0.95 * glass[:, 0].max()) & (np.abs(glass[:, 1] + 1.5) < 0.8)]
    return len({round(float(z), 2) for z in side[:, 2]}) // 2


def test_a_pickup_has_an_open_bed_behind_its_cab() -> None:
    bed = corners("truck")["body"]
    inside = bed[(np.abs(bed[:, 0]) < 0.8) & (bed[:, 1] < -0.6) & (bed[:, 1] > -2.5) & (bed[:, 2] > 0.5)]
    rails = bed[(np.abs(bed[:, 0]) > 0.8) & (bed[:, 1] < -0.6) & (bed[:, 1] > -2.5)]
    assert inside[:, 2].max() < rails[:, 2].max() - 0.1


@pytest.mark.parametrize("name", ["sedan", "articulated"])
def test_storing_keeps_its_shape_within_its_box(name: str) -> None:
    back = read_meshes(write_meshes([built(name)]))[name]
    assert back.parts == built(name).parts
    assert np.abs(back.vertices - built(name).vertices).max() < 1 / 16384
    assert np.abs(back.vertices[:, :2]).max(axis=0) == pytest.approx(np.array(BOXES[name][:2]) / 2, rel=0.06)

"""Motorbikes and bicycles: their parts, their measures, and that no view looks into them."""

from __future__ import annotations

import numpy as np
import pytest

from meshes import CAMERA, built, looked_into, placed
from shiftscope.geometry.mesh import Mesh
from shiftscope.geometry.visibility import list_parts, measure_visibility
from tools.vehicles.assembly import Assembly
from tools.vehicles.bicycles import MODELS as BICYCLES
from tools.vehicles.motorbikes import MODELS as MOTORBIKES

RACE = (
    "brake_system crank_arm_left crank_arm_right drive_chain fork handle_left handle_right "
    "pedal_left pedal_right saddle wheel_back wheel_front"
)
PARTS = {
    "chopper": "drive_chain engine exhaust_right_s fender_back fender_front footrest_left_s footrest_right_s "
    "fork gas_tank handle_left handle_right headlight_center mirror_left mirror_right panel seat "
    "taillight_center wheel_back wheel_front windscreen",
    "dirtbike": "cover_back cover_front drive_chain engine exhaust_right_s fender_front footrest_left_s "
    "footrest_right_s fork gas_tank handle_left handle_right panel seat wheel_back wheel_front",
    "scooter": "cover_back cover_front drive_chain engine exhaust_left_s fender_back fork handle_left "
    "handle_right headlight_center mirror_left mirror_right panel seat taillight_center wheel_back "
    "wheel_front",
    "cruiser": "cover_back cover_front drive_chain exhaust_left_s exhaust_right_s fender_back fender_front "
    "footrest_left_s footrest_right_s fork gas_tank handle_left handle_right headlight_center "
    "headlight_left headlight_right license_plate mirror_left mirror_right panel seat taillight_left "
    "taillight_right wheel_back wheel_front windscreen",
    "road": RACE,
    "mountain": RACE,
    "utility": "brake_system carrier crank_arm_left crank_arm_right drive_chain fender_back fender_front fork "
    "handle_left handle_right pedal_left pedal_right saddle side_stand wheel_back wheel_front",
    "tandem": "fender_back fender_front fork rearlight wheel_back wheel_front",
}
BOXES = {
    "chopper": (0.2588, 0.8685, 0.4228),
    "dirtbike": (0.2925, 0.8293, 0.4761),
    "scooter": (0.3679, 0.7773, 0.5104),
    "cruiser": (0.281, 0.8444, 0.4561),
    "road": (0.8583, 0.199, 0.4731),
    "utility": (0.7973, 0.297, 0.5254),
    "mountain": (0.8162, 0.3183, 0.4822),
    "tandem": (0.9121, 0.1572, 0.3787),
}
each = pytest.mark.parametrize("name", PARTS)


def test_there_are_four_of_each() -> None:
    assert list(MOTORBIKES) == ["chopper", "dirtbike", "scooter", "cruiser"]
    assert list(BICYCLES) == ["road", "utility", "mountain", "tandem"]


@each
def test_a_model_has_its_official_parts_and_no_other(name: str) -> None:
    assert built(name).parts[0] == "body"
    assert sorted(list_parts(built(name))) == PARTS[name].split()


@each
def test_its_box_has_the_official_proportions(name: str) -> None:
    sides = np.ptp(built(name).vertices, axis=0)
    assert np.abs(sides - BOXES[name]).max() < 0.02


@each
def test_it_is_fine_enough_to_look_at_and_coarse_enough_to_be_quick(name: str) -> None:
    assert 2000 <= len(built(name).triangles) <= 3700


@each
def test_it_is_closed_and_its_triangles_face_outward(name: str) -> None:
    assert [looked_into(built(name), float(turn)) for turn in range(10, 370, 45)] == [0] * 8


def test_a_wheel_turned_inside_out_would_be_found() -> None:
    mesh = built("road")
    wheel = np.array([p == "wheel_front" for p in mesh.parts])[mesh.part_of]
    triangles = np.where(wheel[:, None], mesh.triangles[:, ::-1], mesh.triangles)
    inside_out = Mesh("road", mesh.vertices, mesh.normals, triangles, mesh.parts, mesh.part_of)
    assert looked_into(inside_out, 10.0) > 30


@each
def test_a_small_one_far_away_and_end_on_is_still_seen(name: str) -> None:
    turn = 315.0 if name in BICYCLES else 225.0
    seen = measure_visibility(placed(built(name), turn, 1.8, (-3.0, 3.0)), CAMERA, (480, 320))
    assert seen.visible[0] >= 120  # an image must show 100


@each
def test_left_is_left_and_front_is_front_and_wheels_stand_on_the_ground(name: str) -> None:
    assembly = Assembly()
    {**MOTORBIKES, **BICYCLES}[name](assembly)
    points: dict[str, list[np.ndarray]] = {}
    for part, _, piece in assembly.pieces:
        points.setdefault(part, []).append(piece.vertices)
    corners = {part: np.concatenate(pieces) for part, pieces in points.items()}
    for part, places in corners.items():
        if "_left" in part:
            assert places[:, 0].mean() < -0.02, part
        if "_right" in part:
            assert places[:, 0].mean() > 0.02, part
    assert corners["wheel_front"][:, 1].mean() > 0.4
    assert corners["wheel_back"][:, 1].mean() < -0.4
    for wheel in ("wheel_front", "wheel_back"):
        assert corners[wheel][:, 2].min() == pytest.approx(0.0, abs=0.01)

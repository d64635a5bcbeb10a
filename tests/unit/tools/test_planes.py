"""The four aeroplanes: their parts, their proportions, their size."""

import numpy as np
import pytest

from meshes import built, looked_into

PARTS = {
    "airliner": (
        *("_glass", "body", "door_left_s", "door_right_s", "engine_left", "engine_right", "fin", "propeller"),
        *("tailplane_left", "tailplane_right", "wheel_back_left", "wheel_back_right", "wheel_front"),
        *("wing_left", "wing_right"),
    ),
    "jet": (
        *("_glass", "body", "door_left_s", "engine_left", "engine_right", "fin", "propeller"),
        *("tailplane_left", "tailplane_right", "wheel_back_left", "wheel_back_right", "wheel_front"),
        *("wing_left", "wing_right"),
    ),
    "fighter": (
        *("_glass", "body", "engine_left", "engine_right", "fin", "tailplane_left", "tailplane_right"),
        *("wing_left", "wing_right"),
    ),
    "biplane": (
        *("_glass", "body", "fin", "propeller", "tailplane_left", "tailplane_right", "wheel_front"),
        *("wing_left", "wing_right"),
    ),
}
BOXES = {  # across, long, high, in diagonals: those of the official models
    "airliner": (0.645, 0.726, 0.239),
    "jet": (0.761, 0.608, 0.226),
    "fighter": (0.637, 0.754, 0.159),
    "biplane": (0.742, 0.609, 0.280),
}
each = pytest.mark.parametrize("name", PARTS)


@each
def test_an_aeroplane_has_the_official_parts(name: str) -> None:
    assert tuple(sorted(set(built(name).parts))) == PARTS[name]


@each
def test_an_aeroplane_has_nearly_the_official_proportions(name: str) -> None:
    points = built(name).vertices
    assert points.max(0) - points.min(0) == pytest.approx(BOXES[name], abs=0.03)


@each
def test_an_aeroplane_stays_within_the_budget_of_triangles(name: str) -> None:
    assert 1900 <= len(built(name).triangles) <= 4500


@each
def test_left_and_right_wing_mirror_each_other(name: str) -> None:
    mesh = built(name)

    def corners(part: str) -> np.ndarray:
        rows = mesh.triangles[mesh.part_of == mesh.parts.index(part)]
        return mesh.vertices[np.unique(rows)]

    left, right = corners("wing_left"), corners("wing_right")
    assert left[:, 0].min() == pytest.approx(-right[:, 0].max(), abs=1e-9)
    assert left[:, 1:].max(0) == pytest.approx(right[:, 1:].max(0), abs=1e-9)


@each
def test_an_aeroplane_is_closed_and_its_triangles_face_outward(name: str) -> None:
    assert [looked_into(built(name), float(turn)) for turn in range(10, 370, 90)] == [0, 0, 0, 0]

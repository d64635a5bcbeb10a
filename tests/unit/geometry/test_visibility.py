"""The integer visibility pass, against a slow one that asks every pixel about every triangle."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.geometry.camera import Camera
from shiftscope.geometry.mesh import bodies_of, build_scene_mesh
from shiftscope.geometry.visibility import CENTRE, FOUR, draw_buffer, draw_triangles, measure_visibility
from toy import THREE_AND_ONE

SIZE = (12, 9)
point = st.tuples(st.integers(-600, 12 * 256 + 600), st.integers(-600, 9 * 256 + 600), st.integers(1, 1 << 30))


def inside(corners, x, y):
    """Whether a sample lies in a triangle that faces the camera, its rim included."""
    (ax, ay, _), (bx, by, _), (cx, cy, _) = corners
    if (bx - ax) * (cy - ay) - (cx - ax) * (by - ay) >= 0:  # y points down
        return False
    edges = ((ax, ay, bx, by), (bx, by, cx, cy), (cx, cy, ax, ay))
    return all((qx - px) * (y - py) - (qy - py) * (x - px) <= 0 for px, py, qx, qy in edges)


@given(st.lists(st.tuples(point, point, point), min_size=1, max_size=3), st.sampled_from([CENTRE, FOUR]))
@settings(max_examples=150, deadline=None)
def test_a_sample_sees_a_triangle_exactly_if_it_lies_inside(triangles, samples):
    buffer = np.zeros((SIZE[1], SIZE[0] * len(samples)), np.int64)
    x, y, nearness = np.array([p for t in triangles for p in t], np.int32).T.copy()
    draw_triangles(x, y, nearness, np.arange(len(x), dtype=np.int32).reshape(-1, 3), samples, buffer)
    for row in range(buffer.shape[0]):
        for column in range(buffer.shape[1]):
            sx, sy = samples[column % len(samples)]
            place = column // len(samples) * 256 + int(sx), row * 256 + int(sy)
            hits = [t for t, corners in enumerate(triangles) if inside(corners, *place)]
            assert (buffer[row, column] != 0) == bool(hits)
            if hits:
                near = buffer[row, column] >> 32
                corners = triangles[buffer[row, column] & 0xFFFFFFFF]
                assert min(c[2] for c in corners) <= near <= max(c[2] for c in corners)


@pytest.mark.parametrize("far", [4000, 1 << 13, 1 << 21])
def test_nearness_is_that_of_whole_numbers_however_large_the_triangle(far):
    """The largest is beyond what a double divides exactly."""
    x, y = [-far, far + 7, 13], [-far + 5, -far, far]
    nearness = [1 << 30, 3, 1 << 29]
    buffer = np.zeros((4, 4), np.int64)
    draw_triangles(*np.array([x, y, nearness], np.int32), np.array([[0, 2, 1]], np.int32), CENTRE, buffer)
    (bx, by, bn), (cx, cy, cn) = ((x[k] - x[0], y[k] - y[0], nearness[k] - nearness[0]) for k in (1, 2))
    area = bx * cy - cx * by
    step_x, step_y = 256 * (bn * cy - cn * by) // area, 256 * (cn * bx - bn * cx) // area
    assert (abs(256 * (bn * cy - cn * by)) >= 1 << 53) == (far == 1 << 21)
    for (row, column), cell in np.ndenumerate(buffer[:3, :3]):
        along, down = column * 256 + 128 - x[0], row * 256 + 128 - y[0]
        assert cell >> 32 == nearness[0] + ((step_x * along + step_y * down) >> 8)


def test_the_nearer_triangle_wins_in_any_order():
    stage = build_scene_mesh(bodies_of(THREE_AND_ONE))
    x, y, nearness = np.array([[0, 2560, 0] * 2, [0, 0, 2560] * 2, [100] * 3 + [200] * 3], np.int32)
    for order in ([[0, 2, 1], [3, 5, 4]], [[3, 5, 4], [0, 2, 1]]):
        buffer = np.zeros((8, 8), np.int64)
        draw_triangles(x, y, nearness, np.array(order, np.int32), CENTRE, buffer)
        assert buffer[1, 1] >> 32 == 200
    assert draw_buffer(stage, Camera(), (96, 64), CENTRE).any()


def test_masks_boxes_and_counts_tell_one_story():
    seen = measure_visibility(build_scene_mesh(bodies_of(THREE_AND_ONE)), Camera(), (480, 320))
    for i, (left, top, width, height) in enumerate(seen.boxes.tolist()):
        ys, xs = np.nonzero(seen.mask == i + 1)
        assert len(ys) == seen.visible[i] > 200
        assert (left, top, width, height) == (xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1)


def test_a_sphere_covers_the_pixels_of_its_outline():
    scene = type(THREE_AND_ONE)(THREE_AND_ONE.objects[1:2], schema=THREE_AND_ONE.schema)
    seen = measure_visibility(build_scene_mesh(bodies_of(scene)), Camera(), (480, 320))
    _, _, depth = Camera().project([scene.objects[0].position])[0]
    assert seen.visible[0] == pytest.approx(np.pi * (0.7 * 525 / depth) ** 2, rel=0.03)


def test_a_hidden_object_has_no_pixels_and_no_box():
    far, near = THREE_AND_ONE.objects[0], THREE_AND_ONE.objects[1]
    toward = np.array(Camera().position) / np.linalg.norm(Camera().position)
    hidden = type(far)(far.attributes, position=tuple((np.array(near.position) - 0.3 * toward).tolist()), rotation=0)
    scene = type(THREE_AND_ONE)((near, hidden), schema=THREE_AND_ONE.schema)
    seen = measure_visibility(build_scene_mesh(bodies_of(scene)), Camera(), (480, 320))
    assert seen.visible[1] == 0
    assert seen.boxes[1].tolist() == [0, 0, 0, 0]


def test_every_machine_sees_the_same():
    """The number was found on ARM; x86 must find it too."""
    seen = measure_visibility(build_scene_mesh(bodies_of(THREE_AND_ONE)), Camera((7.3, -6.2, 5.6)), (480, 320))
    assert hashlib.blake2b(seen.mask.tobytes(), digest_size=8).hexdigest() == "76018a54ae292bb6"

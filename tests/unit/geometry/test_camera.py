"""The camera: projection, directions, and its recovery from rounded pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.geometry.camera import BASE_POSITION, Camera, camera_of, fit_camera
from shiftscope.scene import Object, Scene

jitter = st.tuples(*[st.floats(-0.5, 0.5)] * 3)


def photographed(camera, count=5, size=(480, 320)):
    """Objects with the rounded pixels an official file would store."""
    points = np.random.Generator(np.random.PCG64(3)).uniform(-3, 3, (count, 3))
    points[:, 2] = 0.7
    objects = []
    for point, (x, y, depth) in zip(points.tolist(), camera.project(points, size).tolist(), strict=True):
        objects.append(Object((), position=tuple(point), pixel=(round(x), round(y), depth)))
    return Scene(tuple(objects), size=size)


def test_the_origin_falls_in_the_middle_of_the_image():
    x, y, depth = Camera().project([(0, 0, 0)])[0]
    assert (x, y) == pytest.approx((240, 160))
    assert depth == pytest.approx(np.linalg.norm(BASE_POSITION))


def test_directions_are_those_of_the_official_files():
    known = dict(Camera().directions())
    assert known["right"] == pytest.approx((0.6563, 0.7545, 0), abs=1e-4)
    assert known["front"] == pytest.approx((0.7545, -0.6563, 0), abs=1e-4)
    assert known["left"] == tuple(-v if v else v for v in known["right"])


def test_what_is_further_right_is_right_in_the_image():
    camera = Camera()
    right, front = dict(camera.directions())["right"], dict(camera.directions())["front"]
    middle, to_the_right, to_the_front = camera.project([(0, 0, 0), right, front])
    assert to_the_right[0] > middle[0]
    assert to_the_front[1] > middle[1]
    assert to_the_front[2] < middle[2]


@given(jitter, st.sampled_from([(480, 320), (640, 480)]))
@settings(max_examples=15, deadline=None)
def test_the_camera_is_recovered_from_rounded_pixels(by, size):
    camera = Camera(tuple(p + d for p, d in zip(BASE_POSITION, by, strict=True)))
    scene = photographed(camera, size=size)
    found = fit_camera(scene)
    assert found.position == pytest.approx(camera.position, abs=0.05)
    points = [o.position for o in scene.objects]
    assert np.abs(found.project(points, size) - camera.project(points, size))[:, :2].max() < 1


def test_a_camera_that_looks_elsewhere_is_recovered_too():
    camera = Camera((6.0, -7.0, 6.0), (0.5, 0.3, 0.2))
    scene = photographed(camera, count=6)
    points = [o.position for o in scene.objects]
    assert np.abs(fit_camera(scene).project(points) - camera.project(points))[:, :2].max() < 2


def test_a_noted_camera_is_taken_as_it_is():
    scene = photographed(Camera())
    assert camera_of(Scene(scene.objects, notes=(("camera", [7, -6, 5]),))) == Camera((7.0, -6.0, 5.0))
    assert camera_of(Scene(())) == Camera()


def test_nothing_to_fit_is_refused(refuses):
    with refuses("no camera fits scene 'x': no object has both a position and a pixel"):
        fit_camera(Scene((Object(()),), id="x"))

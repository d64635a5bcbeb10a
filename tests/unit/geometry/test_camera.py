"""The camera: projection, directions, and its recovery from rounded pixels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.errors import UserError
from shiftscope.geometry.camera import BASE_POSITION, FOCAL, USUAL_SIZES, Camera, camera_of, fit_camera, read_size
from shiftscope.scene import Object, Scene

jitter = st.tuples(*[st.floats(-0.5, 0.5)] * 3)


MOVED = Camera((7.9, -6.2, 5.0))


def photographed(camera, count=5, size=(480, 320), known=True, noise=0.0):
    """Objects with the rounded pixels an official file would store, and the image's size if it is known."""
    random = np.random.Generator(np.random.PCG64(4))
    points = np.random.Generator(np.random.PCG64(3)).uniform(-3, 3, (count, 3))
    points[:, 2] = 0.7
    objects = []
    for point, (x, y, depth) in zip(points.tolist(), camera.project(points, size).tolist(), strict=True):
        dx, dy = random.uniform(-noise, noise, 2)
        objects.append(Object((), position=tuple(point), pixel=(round(x + dx), round(y + dy), depth)))
    return Scene(tuple(objects), size=size if known else None, id="x")


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
    found = fit_camera(scene).camera
    assert found.position == pytest.approx(camera.position, abs=0.05)
    points = [o.position for o in scene.objects]
    assert np.abs(found.project(points, size) - camera.project(points, size))[:, :2].max() < 1


def test_a_camera_that_looks_elsewhere_is_recovered_too():
    camera = Camera((6.0, -7.0, 6.0), (0.5, 0.3, 0.2))
    scene = photographed(camera, count=6)
    points = [o.position for o in scene.objects]
    assert np.abs(fit_camera(scene).camera.project(points) - camera.project(points))[:, :2].max() < 2


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("size", USUAL_SIZES)
def test_the_size_of_the_image_is_recovered_with_the_camera(size, count):
    found = fit_camera(photographed(MOVED, count, size, known=False))
    assert found.size == size
    assert found.good
    assert found.pixels_off <= 0.6
    assert found.camera.position == pytest.approx(MOVED.position, abs=0.15)
    assert camera_of(photographed(MOVED, count, size, known=False)) == found.camera


@pytest.mark.parametrize("size", [(960, 640), (256, 256), (128, 128), (800, 600), (1000, 700)])
def test_a_size_that_is_not_usual_is_found_too(size):
    assert fit_camera(photographed(MOVED, 6, size, known=False)).size == size


def test_in_a_picture_that_is_higher_than_wide_the_focal_length_is_of_its_height():
    upright = Camera(MOVED.position, focal=FOCAL * 320 / 240)
    found = fit_camera(photographed(upright, 6, (240, 320), known=False))
    assert found.size == (240, 320)
    assert found.camera.focal == upright.focal


@pytest.mark.parametrize("size", USUAL_SIZES)
def test_one_object_tells_the_size_since_the_camera_is_near_its_usual_place(size):
    assert fit_camera(photographed(MOVED, 1, size, known=False)).size == size


def test_one_object_in_a_picture_of_no_usual_size_is_refused_unless_the_size_is_proposed():
    lone = photographed(MOVED, 1, (960, 640), known=False)
    with pytest.raises(UserError, match="no camera fits scene 'x': its pixel_coords do not go with its 3d_coords"):
        fit_camera(lone)
    assert fit_camera(lone, [(960, 640)]).size == (960, 640)


def test_objects_in_one_place_tell_no_more_than_one_object():
    lone = photographed(MOVED, 1, (960, 640), known=False)
    with pytest.raises(UserError, match="no camera fits scene 'x'"):
        fit_camera(replace(lone, objects=lone.objects * 4))
    usual = photographed(MOVED, 1, (320, 240), known=False)
    assert fit_camera(replace(usual, objects=usual.objects * 4)).size == (320, 240)


def test_pixels_that_are_a_little_off_give_a_fit_that_is_not_good():
    found = fit_camera(photographed(MOVED, 8, known=False, noise=4.0))
    assert (found.size, found.good) == ((480, 320), False)
    assert 1.5 < found.pixels_off < 5


@pytest.mark.parametrize("known", [True, False])
def test_pixels_that_are_far_off_are_refused(known):
    with pytest.raises(UserError, match=r"480×320.* pixels off; without pixel_coords it is seen by CLEVR's own"):
        camera_of(photographed(MOVED, 8, known=known, noise=40.0))


def test_a_scene_that_says_a_wrong_size_is_refused():
    with pytest.raises(UserError, match=r"in an image of 640×480; 640×480 is closest, and \d+ pixels off"):
        camera_of(replace(photographed(MOVED, 8), size=(640, 480)))


def test_a_noted_camera_is_taken_as_it_is():
    scene = photographed(Camera())
    assert camera_of(Scene(scene.objects, notes=(("camera", [7, -6, 5]),))) == Camera((7.0, -6.0, 5.0))
    assert camera_of(Scene(())) == Camera()


def test_nothing_to_fit_is_refused(refuses):
    with refuses("no camera fits scene 'x': no object has both a position and a pixel"):
        fit_camera(Scene((Object(()),), id="x"))


def test_a_size_may_have_a_name(refuses):
    assert read_size("640x480") == read_size("paper", {"paper": (640, 480)}) == (640, 480)
    with refuses("'papers' is not a size; write width and height as in 480x320, or 'paper' for 640x480"):
        read_size("papers", {"paper": (640, 480)})

"""Angles, solids, meshes, footprints."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.geometry.footprint import measure_gap
from shiftscope.geometry.mesh import Body, Mesh, SurfaceLook, bodies_of, build_scene_mesh, unit_circle, volume
from shiftscope.geometry.shapes.clevr import body, cube, cylinder, sphere
from shiftscope.scene import Object, Scene

SOLIDS = (cube(), sphere(), cylinder())
RED_CUBE = Object((("size", "large"), ("color", "red"), ("material", "metal"), ("shape", "cube")), position=(1, 2, 0.7))


@given(st.floats(-1e4, 1e4))
def test_sine_and_cosine_agree_with_the_library(degrees):
    cosine, sine = unit_circle(degrees)
    assert cosine == pytest.approx(math.cos(math.radians(degrees)), abs=1e-11)
    assert sine == pytest.approx(math.sin(math.radians(degrees)), abs=1e-11)


def test_quarter_turns_are_exact():
    assert [unit_circle(90.0 * k) for k in range(4)] == [(1, 0), (0, 1), (-1, 0), (0, -1)]
    assert unit_circle(-90.0) == (0, -1)


@pytest.mark.parametrize(("mesh", "ideal"), [*zip(SOLIDS, (8, 4 * math.pi / 3, 2 * math.pi), strict=True)])
def test_solids_face_outward_and_nearly_fill_their_ideal(mesh, ideal):
    assert 0.97 * ideal < volume(mesh) < ideal


@pytest.mark.parametrize("mesh", SOLIDS, ids=lambda m: m.name)
def test_solids_are_closed_and_fit_the_unit_box(mesh):
    assert np.allclose(mesh.vertices.min(0), -1, atol=1e-12)
    assert np.allclose(mesh.vertices.max(0), 1, atol=1e-12)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1)
    _, same = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    corners = same.reshape(-1)[mesh.triangles]
    edges = [(a, b) for t in corners.tolist() for a, b in zip(t, t[1:] + t[:1], strict=True)]
    assert len(set(edges)) == len(edges)  # each edge once in each direction
    assert {(b, a) for a, b in edges} == set(edges)


def test_a_mesh_with_a_stray_corner_is_refused(refuses):
    with refuses("mesh 'bad': a triangle names a vertex that is not there"):
        Mesh("bad", np.zeros((3, 3)), np.zeros((3, 3)), np.array([[0, 1, 3]], np.int32))


def test_a_body_needs_a_look_for_each_part(refuses):
    with refuses("cube has 1 parts but 0 looks"):
        Body(cube(), (0, 0, 1), 1.0, 0.0, ())


def test_words_become_solids():
    made = body(RED_CUBE)
    assert (made.mesh.name, made.scale, made.looks) == ("cube", 0.7, (SurfaceLook((173, 35, 35), "metal"),))


def test_unknown_words_and_missing_places_are_refused(refuses):
    with refuses("no color 'pink' in the CLEVR shapes"):
        body(
            Object((("size", "large"), ("color", "pink"), ("material", "metal"), ("shape", "cube")), position=(0, 0, 0))
        )
    with refuses("an object without a position cannot be drawn"):
        body(Object(RED_CUBE.attributes))
    with refuses("no set of shapes 'open'"):
        bodies_of(Scene((RED_CUBE,)))


def test_a_stage_places_bodies_one_after_another():
    two = build_scene_mesh([body(RED_CUBE), body(RED_CUBE)])
    points, faces = len(cube().vertices), len(cube().triangles)
    assert two.vertices.mean(0) == pytest.approx((1, 2, 0.7))
    assert two.triangles[faces:].min() == points
    assert two.surface_of.tolist() == [0] * faces + [1] * faces


def test_parts_become_surfaces():
    plain = cube()
    halves = np.repeat(np.arange(2, dtype=np.int32), len(plain.triangles) // 2)
    parted = Mesh("parted", plain.vertices.copy(), plain.normals.copy(), plain.triangles.copy(), ("a", "b"), halves)
    looks = (SurfaceLook((1, 2, 3), "rubber"), SurfaceLook((4, 5, 6), "metal"))
    stage = build_scene_mesh([Body(parted, (0, 0, 1), 1.0, 0.0, looks), Body(plain, (3, 0, 1), 1.0, 0.0, looks[:1])])
    assert stage.looks == (*looks, looks[0])
    assert stage.body_of.tolist() == [0, 0, 1]
    assert set(stage.surface_of.tolist()) == {0, 1, 2}


def test_gaps_between_footprints():
    ball, other = (0, 0, 0, 0, 1, 1, 0), (3, 4, 0, 0, 1, 1, 0)
    square, turned = (3, 0, 1, 1, 0, 1, 0), (3, 0, 1, 1, 0, *unit_circle(45))
    bus = (3, 0, 0.5, 2, 0, 1, 0)
    rows = np.array([ball, other, square, turned, bus, (*bus[:5], 0, 1)], float)
    assert measure_gap(rows, 0, 1) == pytest.approx(3)
    assert measure_gap(rows, 0, 2) == pytest.approx(1)
    assert measure_gap(rows, 0, 3) == pytest.approx(2 - math.sqrt(2))
    assert measure_gap(rows, 2, 3) < 0
    assert measure_gap(rows, 0, 4) == pytest.approx(1.5)
    assert measure_gap(rows, 0, 5) == pytest.approx(0)

"""Footprints: free places are those that the rules leave, to the last bit, and those drawn come in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.geometry.camera import Camera
from shiftscope.geometry.footprint import is_in_frame, measure_gap, place_at, place_drawn
from shiftscope.geometry.mesh import unit_circle
from shiftscope.rng import KernelStream, derive, plan_skip

MARGIN, GAP, REACH, TRIES = 0.4, 0.1, 4.0, 20
SKIP = plan_skip(2 * TRIES)
SIZE = (480, 320)


def stand(seed: int, count: int = 4, variants: int = 2):
    """Bodies that stand anywhere, the last not yet; how kernels take them, and the room around them."""
    generator = derive("footprint", seed)
    rows = np.zeros((variants, count, 7))
    rows[:, :, :2] = REACH * (2 * generator.random((count, 2)) - 1)
    rows[:, :, 2:4] = 0.2 + generator.random((variants, count, 2))
    rows[:, :, 5:] = [unit_circle(turn) for turn in 360 * generator.random(count)]
    standing = np.arange(count) < count - 1
    camera = Camera((7.5 + generator.random(), -6.5, 5.3))
    directions = dict(camera.directions())
    axes = np.array([directions["right"][:2], directions["front"][:2]])
    room = axes, MARGIN, GAP, camera.pack(SIZE), np.array([0.0, 0.0, *SIZE])
    return (rows, generator.random((variants, count)), standing), room


def is_free(bodies, room, k, x, y) -> bool:
    """By all corners and all sides."""
    rows, heights, standing = bodies
    axes, margin, gap, camera, frame = room
    rows = rows.copy()
    rows[:, k, :2] = x, y
    others = [j for j in np.flatnonzero(standing).tolist() if j != k]
    offsets = [rows[0, k, :2] - rows[0, j, :2] for j in others]
    if any(abs(dx * ax + dy * ay) < margin for dx, dy in offsets for ax, ay in axes):
        return False
    if not all(is_in_frame(own[k], height[k], camera, frame) for own, height in zip(rows, heights, strict=True)):
        return False
    return all(measure_gap(own, k, j) >= gap for own in rows for j in others)


def try_place(bodies, room, k, x, y) -> bool:
    rows, heights, standing = bodies
    return place_at(rows.copy(), heights, standing.copy(), k, x, y, *room)


@given(st.integers(0, 10**6), st.floats(-REACH, REACH), st.floats(-REACH, REACH))
def test_a_place_is_free_where_no_rule_forbids_it(seed, x, y):
    bodies, room = stand(seed)
    assert try_place(bodies, room, 3, x, y) == is_free(bodies, room, 3, x, y)


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_the_border_of_free_places_is_the_same_to_the_last_bit(seed):
    bodies, room = stand(seed)
    spots = [REACH * (2 * derive("spot", seed, i).random(2) - 1) for i in range(60)]
    free = [spot for spot in spots if is_free(bodies, room, 3, *spot)]
    taken = [spot for spot in spots if not is_free(bodies, room, 3, *spot)]
    for one, other in zip(free, taken, strict=False):
        near, far = one, other
        while True:  # halve the way until no number is between
            middle = (near + far) / 2
            if (middle == near).all() or (middle == far).all():
                break
            near, far = (middle, far) if is_free(bodies, room, 3, *middle) else (near, middle)
        for share in (0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5):
            for spot in (near + share * (one - other), far - share * (one - other)):
                assert try_place(bodies, room, 3, *spot) == is_free(bodies, room, 3, *spot)


@pytest.mark.parametrize("seed", range(12))
def test_bodies_take_the_first_free_places_drawn_for_them(seed):
    (rows, heights, standing), room = stand(seed, count=6)
    standing[:] = False
    plain, stream = derive("drawn", seed), KernelStream(derive("drawn", seed))
    order, refused = np.array([4, 1, 0, 5, 3, 2]), np.empty(3, np.int64)
    expected, stood = rows.copy(), np.zeros(6, bool)
    for k in order.tolist():
        candidates = (REACH * (2.0 * plain.random((TRIES, 2)) - 1.0)).tolist()
        spot = next((spot for spot in candidates if is_free((expected, heights, stood), room, k, *spot)), None)
        if spot is None:
            break
        expected[:, k, :2], stood[k] = spot, True
    placed = place_drawn(rows, heights, standing, order, stream.words, TRIES, SKIP, REACH, *room, refused)
    assert placed == stood.sum()
    assert standing.tolist() == stood.tolist()
    assert rows[:, stood].tolist() == expected[:, stood].tolist()
    assert stream.draw_below(1 << 20) == plain.integers(1 << 20)  # all of a body's places count as drawn
    assert placed == 6 or refused.sum() == TRIES

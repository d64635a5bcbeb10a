"""Contact sheets: cells in a grid, parts that are all named, worlds that are known."""

import io

import numpy as np
import pytest
from PIL import Image

from shiftscope.cli.gallery import command
from shiftscope.geometry.seen import named_parts, see
from shiftscope.geometry.stage import stage_of
from shiftscope.geometry.vehicles.stored import names, vehicle
from shiftscope.run.gallery import sheet
from shiftscope.run.gallery.make import gallery
from shiftscope.run.gallery.parts import color_of, parts
from shiftscope.run.gallery.portrait import BACK, FRONT, filling, standing
from shiftscope.run.gallery.sheet import encoded, grid
from shiftscope.run.gallery.superclevr import CELLS, colors, materials, textures


def test_cells_stand_in_rows_under_their_heads():
    cells = [np.full((10, 20, 3), 50 * k, np.uint8) for k in range(4)]
    bare = np.asarray(grid(cells, 2, [], []))
    assert bare.shape == (10 + 4 + 10, 20 + 4 + 20, 3)
    assert [int(bare[y, x, 0]) for y in (0, 14) for x in (0, 24)] == [0, 50, 100, 150]
    named = np.asarray(grid(cells, 2, ["first", "second\nand more"], ["left", "right"]))
    assert named.shape[0] > 24 and named.shape[1] > 44 + 50
    assert named[:, :50].min() < 100  # names at the left


def test_files_are_png_and_look_the_same():
    picture = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    kept = np.asarray(Image.open(io.BytesIO(encoded(Image.fromarray(picture))))).astype(int)
    assert np.abs(kept - picture).max() == 1
    assert kept[-1, -1].tolist() == [255, 255, 255]


def test_a_file_that_would_be_large_has_coarser_colours(monkeypatch):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    fine = encoded(Image.fromarray(noise))
    monkeypatch.setattr(sheet, "MOST", len(fine) - 1)
    coarse = encoded(Image.fromarray(noise))
    assert len(coarse) < len(fine)
    assert np.abs(np.asarray(Image.open(io.BytesIO(coarse))).astype(int) - noise).max() == 2


def test_columns_are_as_wide_as_their_first_cell():
    cells = [np.full((10, width, 3), 50 * k, np.uint8) for k, width in enumerate((20, 8, 20, 8))]
    made = np.asarray(grid(cells, 2, [], []))
    assert made.shape == (10 + 4 + 10, 20 + 4 + 8, 3)
    assert [int(made[y, x, 0]) for y in (0, 14) for x in (0, 24)] == [0, 50, 100, 150]


@pytest.mark.parametrize(("draw", "columns"), [(colors, 16), (materials, 8), (textures, 16)])
def test_a_sheet_has_a_row_a_model_and_no_cell_twice(draw, columns):
    one, two = (np.asarray(draw(shapes)) for shapes in (["sedan"], ["sedan", "road"]))
    (large, height), (small, _) = CELLS["large"], CELLS["small"]
    assert two.shape[0] - one.shape[0] == height + 4
    row, cells = one[-height:], []
    for width in [small, large]:  # from the right end on
        for _ in range(columns // 2):
            cells.append(row[:, -width:])
            row = row[:, : -width - 4]
    assert len({cell.tobytes() for cell in cells}) == columns
    assert row.shape[1] < large  # only the name is left


def test_every_part_has_a_colour_of_its_own():
    most = max(len(named_parts(vehicle(name))) for name in names())
    assert len({color_of(k) for k in range(most)}) == most
    assert parts(["sedan"]).size[0] == parts(["road"]).size[0]


@pytest.mark.parametrize("shape", ["articulated", "biplane", "tandem"])
@pytest.mark.parametrize("turn", [FRONT, BACK])
def test_a_portrait_fills_nine_tenths_of_its_picture_around_the_middle(shape, turn):
    size = (240, 160)
    shown = standing(shape, "large", "yellow", "rubber", turn=turn)
    left, top, width, height = see(stage_of((shown,)), filling(shown, size), size).boxes[0].tolist()
    assert max(width / size[0], height / size[1]) == pytest.approx(0.9, abs=0.015)
    assert (left + width / 2, top + height / 2) == pytest.approx((120, 80), abs=2)


def test_an_unknown_world_is_named(tmp_path, refuses):
    with refuses("no world 'clevvr'; did you mean 'clevr'?"):
        gallery(tmp_path, worlds=["clevvr"])
    assert not list(tmp_path.iterdir())


def test_no_world_is_refused(refuses, tmp_path):
    with refuses("--of names no world; say clevr, superclevr or both with a comma"):
        command(out=tmp_path, of=" , ")
    assert not list(tmp_path.iterdir())

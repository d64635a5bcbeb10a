"""Contact sheets: cells in a grid, parts that are all named, worlds that are known."""

import io

import numpy as np
import pytest
from PIL import Image

from shiftscope.cli.gallery import command
from shiftscope.geometry.mesh import build_scene_mesh
from shiftscope.geometry.shapes.superclevr import load_vehicle, vehicle_names
from shiftscope.geometry.visibility import list_parts, measure_visibility
from shiftscope.render import image as sheet
from shiftscope.render.image import draw_grid, encode_sheet
from shiftscope.run.gallery import make_gallery
from shiftscope.suites.superclevr.gallery import (
    BACK,
    CELLS,
    FRONT,
    draw_colors,
    draw_materials,
    draw_parts,
    draw_textures,
    fit_camera,
    pick_part_color,
    place_vehicle,
)


def test_cells_stand_in_rows_under_their_heads():
    cells = [np.full((10, 20, 3), 50 * k, np.uint8) for k in range(4)]
    bare = np.asarray(draw_grid(cells, 2, [], []))
    assert bare.shape == (10 + 4 + 10, 20 + 4 + 20, 3)
    assert [int(bare[y, x, 0]) for y in (0, 14) for x in (0, 24)] == [0, 50, 100, 150]
    named = np.asarray(draw_grid(cells, 2, ["first", "second\nand more"], ["left", "right"]))
    assert named.shape[0] > 24 and named.shape[1] > 44 + 50
    assert named[:, :50].min() < 100  # names at the left


def test_files_are_png_and_look_the_same():
    picture = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, 2)
    kept = np.asarray(Image.open(io.BytesIO(encode_sheet(Image.fromarray(picture))))).astype(int)
    assert np.abs(kept - picture).max() == 1
    assert kept[-1, -1].tolist() == [255, 255, 255]


def test_a_file_that_would_be_large_has_coarser_colours(monkeypatch):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    fine = encode_sheet(Image.fromarray(noise))
    monkeypatch.setattr(sheet, "MOST", len(fine) - 1)
    coarse = encode_sheet(Image.fromarray(noise))
    assert len(coarse) < len(fine)
    assert np.abs(np.asarray(Image.open(io.BytesIO(coarse))).astype(int) - noise).max() == 2


def test_columns_are_as_wide_as_their_first_cell():
    cells = [np.full((10, width, 3), 50 * k, np.uint8) for k, width in enumerate((20, 8, 20, 8))]
    made = np.asarray(draw_grid(cells, 2, [], []))
    assert made.shape == (10 + 4 + 10, 20 + 4 + 8, 3)
    assert [int(made[y, x, 0]) for y in (0, 14) for x in (0, 24)] == [0, 50, 100, 150]


@pytest.mark.parametrize(("draw", "columns"), [(draw_colors, 16), (draw_materials, 8), (draw_textures, 16)])
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
    most = max(len(list_parts(load_vehicle(name))) for name in vehicle_names())
    assert len({pick_part_color(k) for k in range(most)}) == most
    assert draw_parts(["sedan"]).size[0] == draw_parts(["road"]).size[0]


@pytest.mark.parametrize("shape", ["articulated", "biplane", "tandem"])
@pytest.mark.parametrize("turn", [FRONT, BACK])
def test_a_portrait_fills_nine_tenths_of_its_picture_around_the_middle(shape, turn):
    size = (240, 160)
    shown = place_vehicle(shape, "large", "yellow", "rubber", turn=turn)
    left, top, width, height = (
        measure_visibility(build_scene_mesh((shown,)), fit_camera(shown, size), size).boxes[0].tolist()
    )
    assert max(width / size[0], height / size[1]) == pytest.approx(0.9, abs=0.015)
    assert (left + width / 2, top + height / 2) == pytest.approx((120, 80), abs=2)


def test_an_unknown_world_is_named(tmp_path, refuses):
    with refuses("no world 'clevvr'; did you mean 'clevr'?"):
        make_gallery(tmp_path, worlds=["clevvr"])
    assert not list(tmp_path.iterdir())


def test_no_world_is_refused(refuses, tmp_path):
    with refuses("--of names no world; omit it for all of them"):
        command(out=tmp_path, of=" , ")
    assert not list(tmp_path.iterdir())

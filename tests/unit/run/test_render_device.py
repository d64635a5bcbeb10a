"""`render --device`: what a GPU cannot do is said before anything is written."""

import pytest

from shiftscope.errors import UserError
from shiftscope.render.gpu import raster
from shiftscope.run import render as run


def test_a_layer_that_the_gpu_does_not_draw(tmp_path, monkeypatch):
    monkeypatch.setattr(raster, "check_device", lambda device: None)
    with pytest.raises(UserError, match="the GPU draws rgb, mask, parts, listed; for depth use --device cpu"):
        run.render_files([], tmp_path / "out", (96, 64), ["rgb", "depth"], device="cuda")
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(raster, "_find_missing", lambda kind: "torch finds no GPU here")
    with pytest.raises(UserError, match="cannot render on 'cuda': torch finds no GPU here"):
        run.render_files([], tmp_path / "out", (96, 64), ["rgb"], device="cuda")
    assert not (tmp_path / "out").exists()

"""Running on a suite by its name: its default dataset is made once, in the user's cache."""

from pathlib import Path

from shiftscope.run import data
from shiftscope.suites import clevr


def test_a_suites_data_is_made_once_and_found_again(tmp_path, monkeypatch, refuses):
    monkeypatch.setenv("SHIFTSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(clevr.Order, "__init__", small(clevr.Order.__init__))
    folder = data.data_folder("clevr")
    assert folder.is_relative_to(tmp_path)
    before = (folder / "manifest.json").stat().st_mtime_ns
    assert data.data_folder("clevr") == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    (path,) = folder.glob("questions/train/*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    assert data.data_folder("clevr") == folder
    assert path.read_bytes() == whole  # remade, without a --repair that shiftscope run does not have
    assert data.data_folder(str(tmp_path)) == tmp_path
    assert data.data_folder("no/such/folder") == Path("no/such/folder")
    with refuses("clever: no such folder, nor a suite of that name; did you mean 'clevr'?"):
        data.data_folder("clever")


def small(init):
    """The default order, but of a few small images: the test is about where they go."""
    return lambda self, images=4, seed=0, size=(96, 64), questions=2, shard=250: init(
        self, images, seed, size, questions, shard
    )

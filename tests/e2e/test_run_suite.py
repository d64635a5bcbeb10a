"""Running on a suite by its name: its default dataset is made once, in the user's cache."""

from importlib import import_module
from pathlib import Path

from shiftscope.run import make as data
from shiftscope.suites.clevr import suite as clevr


def test_a_suites_data_is_made_once_and_found_again(tmp_path, monkeypatch, refuses):
    import_module("shiftscope.kernel_cache")  # finds its folder before the test names another
    monkeypatch.setenv("SHIFTSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(clevr.ClevrSpec, "__init__", small(clevr.ClevrSpec.__init__))
    folder = data.resolve_data("clevr")
    assert folder.is_relative_to(tmp_path)
    before = (folder / "manifest.json").stat().st_mtime_ns
    assert data.resolve_data("clevr") == folder
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    (path,) = folder.glob("questions/train/*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    assert data.resolve_data("clevr") == folder
    assert path.read_bytes() == whole  # remade, without a --repair that shiftscope run does not have
    assert data.resolve_data(str(tmp_path)) == tmp_path
    assert data.resolve_data("no/such/folder") == Path("no/such/folder")
    with refuses("clever: no such folder, nor a suite of that name; did you mean 'clevr'?"):
        data.resolve_data("clever")


def small(init):
    """The default order, but of a few small images: the test is about where they go."""
    return lambda self, images=4, seed=0, size=(96, 64), questions=2, shard=250: init(
        self, images, seed, size, questions, shard
    )

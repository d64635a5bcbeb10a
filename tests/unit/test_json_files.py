"""Input files within bounds: what is too large, or unpacks to too much, is refused before it fills the memory."""

import gzip
import os
import tracemalloc
from pipes import Pipe

import numpy as np
import pytest

from shiftscope import files as _bytes
from shiftscope import json_files as _json
from shiftscope.files import MAX_INPUT_ENV, max_input_bytes, read_bytes
from shiftscope.formats import vqa
from shiftscope.world.superclevr.concepts import read_concept_file


@pytest.fixture(autouse=True)
def no_limit_of_ones_own(monkeypatch):
    monkeypatch.delenv(MAX_INPUT_ENV, raising=False)


@pytest.fixture
def bomb(tmp_path):
    """Some 300 kB that unpack to 320 MB."""
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(20 * gzip.compress(b" " * 16_000_000))
    return path


def peak(work):
    tracemalloc.start()
    try:
        work()
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        peak.most = most
    return most


def test_a_file_that_unpacks_to_a_thousandfold_is_refused_early(bomb, refuses):
    with refuses("bomb.json.gz: its 0.3 MB unpack to more than 100 times as much"):
        peak(lambda: read_bytes(bomb))
    assert peak.most < 200 << 20
    with refuses("unpack it first, or set SHIFTSCOPE_MAX_INPUT_GB"):
        next(iter(vqa.read_questions(bomb)))


def test_a_limit_of_ones_own_is_the_only_one(bomb, monkeypatch, refuses):
    monkeypatch.setenv(MAX_INPUT_ENV, "0.2")
    with refuses("bomb.json.gz: it has more than 200.0 MB unpacked, and at most 200.0 MB are read into memory"):
        read_bytes(bomb)
    monkeypatch.setenv(MAX_INPUT_ENV, "0.4")
    assert len(read_bytes(bomb)) == 320_000_000


def test_what_packs_well_but_is_small_is_read(tmp_path):
    path = tmp_path / "small.json.gz"
    path.write_bytes(gzip.compress(b" " * 50_000_000 + b"[1]"))
    assert _json.load_json(path) == [1]


def test_a_file_as_large_as_a_disk_is_refused_unread(tmp_path, refuses):
    path = tmp_path / "large.json"
    path.touch()
    os.truncate(path, 100 * 10**9)  # holes: it takes no place
    with refuses("large.json: it has 100.0 GB, and at most"):
        peak(lambda: read_bytes(path))
    assert peak.most < 1 << 20


def test_a_pipe_without_end_is_left(tmp_path, monkeypatch, refuses):
    monkeypatch.setenv(MAX_INPUT_ENV, "0.01")
    pipe = Pipe(tmp_path / "pipe")
    pipe.write(b" " * 11_000_000)
    with refuses("pipe: it has 10.0 MB, and at most 10.0 MB are read"):
        read_bytes(pipe.path)


def test_a_pipe_is_read(tmp_path):
    for k, data in enumerate((b"[1, 2]", gzip.compress(b"[1, 2]"))):
        pipe = Pipe(tmp_path / f"pipe{k}")
        pipe.write(data)
        assert _json.load_json(pipe.path) == [1, 2]


def test_members_and_zeros_at_the_end_belong_to_a_gzip_file(tmp_path, refuses):
    path = tmp_path / "two.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf[1,") + gzip.compress(b" 2]") + bytes(100))
    assert _json.load_json(path) == [1, 2]
    path.write_bytes(gzip.compress(b"[1]")[:-3])
    with refuses("two.gz: broken gzip file (Compressed file ended"):
        read_bytes(path)
    path.write_bytes(gzip.compress(b"[1]") + b"rest")
    with refuses("two.gz: broken gzip file (Not a gzipped file"):
        read_bytes(path)


def test_the_limit_is_what_the_machine_can_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(_bytes, "CGROUP_MEMORY_MAX", tmp_path / "memory.max")
    assert 0 < max_input_bytes() <= _bytes.DEFAULT_MAX_INPUT
    (tmp_path / "memory.max").write_text("1000000000\n")
    assert max_input_bytes() == 500_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert max_input_bytes() > 500_000_000


@pytest.mark.parametrize("wish", ["", "lots", "-1", "0", "nan", "inf"])
def test_a_limit_that_is_none(wish, tmp_path, monkeypatch, refuses):
    monkeypatch.setenv(MAX_INPUT_ENV, wish)
    (tmp_path / "a.json").write_text("[]")
    with refuses(f"SHIFTSCOPE_MAX_INPUT_GB={wish!r} is not a number of gigabytes"):
        read_bytes(tmp_path / "a.json")


def test_a_distribution_that_unpacks_to_gigabytes_is_refused(tmp_path, refuses):
    path = tmp_path / "shares.npz"
    np.savez_compressed(path, names=np.array(["red"]), dist=np.zeros(9 << 20))
    with refuses("shares.npz: it unpacks to more than 64 MB; a distribution is small"):
        read_concept_file(path)

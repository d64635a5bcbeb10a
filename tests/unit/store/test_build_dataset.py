"""A build goes on where it stopped, and refuses what it can not vouch for."""

import errno
import os
from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.executor import LocalExecutor
from shiftscope.folder import lock_folder
from shiftscope.store import manifest as manifests
from shiftscope.store.build_dataset import BuildStopped, build_dataset
from shiftscope.store.dataset import Dataset
from store_toys import JOBS, SPEC, content, make, make_from_images, make_images


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "data"
    build_dataset(folder, SPEC, JOBS, make)
    return folder


class Breaks:
    """Makes shards, and at the n-th does something else instead."""

    def __init__(self, n, happening):
        self.left, self.happening = n, happening

    def __call__(self, spec, split, k):
        self.left -= 1
        if self.left == 0:
            self.happening(split, k)
        return make(spec, split, k)


def test_a_build_is_a_function_of_its_spec(undisturbed, tmp_path):
    seen = []
    dataset = build_dataset(tmp_path / "again", SPEC, JOBS, make, progress=lambda *told: seen.append(told))
    assert content(tmp_path / "again") == content(undisturbed)
    assert seen[0] == (0, 8, "0 images, 0 questions")
    assert seen[-1] == (8, 8, "24 images, 72 questions")
    assert len(dataset) == 72
    assert not [name for name in content(undisturbed) if name.startswith(".")]


def test_a_finished_build_is_left_alone(undisturbed):
    before = {p: p.stat().st_mtime_ns for p in undisturbed.rglob("*") if p.is_file()}
    build_dataset(undisturbed, SPEC, JOBS, Breaks(1, pytest.fail))
    assert {p: p.stat().st_mtime_ns for p in undisturbed.rglob("*") if p.is_file()} == before


def test_ctrl_c_keeps_what_is_done(undisturbed, tmp_path):
    def interrupt(split, k):
        raise KeyboardInterrupt

    with pytest.raises(BuildStopped, match=r"stopped; 2 of 8 shards are done .* run the same command again"):
        build_dataset(tmp_path, SPEC, JOBS, Breaks(3, interrupt))
    with pytest.raises(UserError, match="not finished"):
        Dataset.open(tmp_path)
    made = []
    build_dataset(tmp_path, SPEC, JOBS, Breaks(-1, None), progress=lambda done, *_: made.append(done))
    assert made == [2, 3, 4, 5, 6, 7, 8]
    assert content(tmp_path) == content(undisturbed)


COUNTS = {(split, k): 3 for split, shards in JOBS.items() for k in range(shards)}


@pytest.mark.parametrize("workers", [1, 2])
def test_images_of_a_shard_are_made_in_any_process(undisturbed, tmp_path, workers):
    seen = []
    how = {"counts": COUNTS, "make_images": make_images, "piece": 2, "executor": LocalExecutor(workers)}
    build_dataset(tmp_path, SPEC, JOBS, make_from_images, progress=lambda *told: seen.append(told), **how)
    assert content(tmp_path) == content(undisturbed)
    done = [told[0] for told in seen]
    assert done == sorted(done)
    assert {told[1] for told in seen} == {24}  # images, of which a piece has two or one
    assert len(set(done)) > len(JOBS)
    assert seen[-1] == (24, 24, "24 images, 72 questions")


def test_ctrl_c_among_images_loses_their_shard_alone(undisturbed, tmp_path):
    left = 8

    def interrupt(spec, split, k, places):
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        return make_images(spec, split, k, places)

    how = {"counts": COUNTS, "piece": 1}
    with pytest.raises(BuildStopped, match=r"stopped; 2 of 8 shards are done"):
        build_dataset(tmp_path, SPEC, JOBS, make_from_images, make_images=interrupt, **how)
    made = []
    build_dataset(
        tmp_path, SPEC, JOBS, make_from_images, make_images=make_images, progress=lambda *t: made.append(t[0]), **how
    )
    assert made[0] == 6
    assert content(tmp_path) == content(undisturbed)


def test_a_torn_journal_costs_one_shard(undisturbed, tmp_path):
    def crash(split, k):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        build_dataset(tmp_path, SPEC, JOBS, Breaks(4, crash))
    journal = tmp_path / ".journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-20])
    (tmp_path / "images" / "train" / ".00003.parquet.99.partial").write_bytes(b"half")
    made = []
    build_dataset(tmp_path, SPEC, JOBS, make, progress=lambda done, *_: made.append(done))
    assert made[0] == 2
    assert content(tmp_path) == content(undisturbed)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_leaves_earlier_shards_good(undisturbed, tmp_path):
    """The third shard's temporary file is the always-full device, so the kernel itself says ENOSPC."""

    def fill(split, k):
        partial = tmp_path / "questions" / split / f".{k:05d}.parquet.{os.getpid()}.partial"
        partial.symlink_to("/dev/full")

    with pytest.raises(UserError, match=r"00002\.parquet: the disk is full; .* free some space"):
        build_dataset(tmp_path, SPEC, JOBS, Breaks(3, fill))
    assert not list(tmp_path.rglob("*.partial"))
    made = []
    build_dataset(tmp_path, SPEC, JOBS, make, progress=lambda done, *_: made.append(done))
    assert made[0] == 2
    assert content(tmp_path) == content(undisturbed)


def test_a_write_that_fails_otherwise_says_why(tmp_path, monkeypatch):
    def refuse(handle):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UserError, match=r"cannot be written \(Input/output error\)"):
        build_dataset(tmp_path, SPEC, JOBS, make)


def test_a_corrupted_shard_is_found_and_remade(undisturbed, tmp_path):
    build_dataset(tmp_path, SPEC, JOBS, make)
    path = tmp_path / "images" / "val" / "00001.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    dataset = Dataset.open(tmp_path)
    with pytest.raises(UserError, match=r"val/00001\.parquet is not what was written there"):
        dataset.verify()
    with pytest.raises(UserError, match=r"val/00001\.parquet is not what was written there; .*--repair"):
        build_dataset(tmp_path, SPEC, JOBS, make)
    build_dataset(tmp_path, SPEC, JOBS, make, repair=True).verify()
    assert content(tmp_path) == content(undisturbed)


def test_a_missing_shard_is_made_again(undisturbed, tmp_path):
    build_dataset(tmp_path, SPEC, JOBS, make)
    (tmp_path / "questions" / "test" / "00000.parquet").unlink()
    with pytest.raises(UserError, match="is missing or cut short"):
        Dataset.open(tmp_path)
    build_dataset(tmp_path, SPEC, JOBS, make)
    assert content(tmp_path) == content(undisturbed)


def test_a_shard_that_changes_is_refused(tmp_path):
    build_dataset(tmp_path, SPEC, JOBS, make)
    (tmp_path / "images" / "train" / "00000.parquet").unlink()
    before = content(tmp_path)
    with pytest.raises(UserError, match="shard 0 of train came out differently"):
        build_dataset(tmp_path, SPEC, JOBS, lambda spec, split, k: make(spec, split, k + 1))
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    "spec, jobs, difference",
    [
        ({**SPEC, "seed": 1}, JOBS, "seed 0 there, 1 here"),
        ({**SPEC, "new": "x"}, JOBS, 'new null there, "x" here'),
        (SPEC, {**JOBS, "val": 3}, "shards "),
    ],
)
def test_a_changed_spec_is_refused(undisturbed, spec, jobs, difference):
    before = content(undisturbed)
    with pytest.raises(UserError, match="another spec") as caught:
        build_dataset(undisturbed, spec, jobs, make)
    assert difference in str(caught.value)
    assert content(undisturbed) == before


def test_other_versions_do_not_mix(tmp_path, monkeypatch):
    build_dataset(tmp_path, SPEC, JOBS, make)
    monkeypatch.setattr(manifests, "__version__", "9.9.9")
    build_dataset(tmp_path, SPEC, JOBS, make)  # nothing to make: nothing to refuse
    (tmp_path / "images" / "train" / "00000.parquet").unlink()
    with pytest.raises(UserError, match=r"other versions \(shiftscope .* there, 9\.9\.9 here\)"):
        build_dataset(tmp_path, SPEC, JOBS, make)


def test_a_second_process_is_told_so(tmp_path):
    with lock_folder(tmp_path), pytest.raises(UserError, match=f"process {os.getpid()} is already working on it"):
        build_dataset(tmp_path, SPEC, JOBS, make)
    build_dataset(tmp_path, SPEC, JOBS, make)


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"not empty and holds no dataset \(thesis\.tex is in it\)"):
        build_dataset(tmp_path, SPEC, JOBS, make)
    with pytest.raises(UserError, match="is a file, not a folder"):
        build_dataset(tmp_path / "thesis.tex", SPEC, JOBS, make)


@pytest.mark.parametrize("jobs, why", [({}, "nothing to make"), ({"a-b": 1}, "named so"), ({"a": -1}, "-1 shards")])
def test_a_bad_plan_is_refused(tmp_path, jobs, why):
    with pytest.raises(UserError, match=why):
        build_dataset(tmp_path, SPEC, jobs, make)
    with pytest.raises(UserError, match="give at least 1"):
        build_dataset(tmp_path, SPEC, JOBS, make, executor=LocalExecutor(0))

"""Datasets, runs and audits in an object store: the bytes of the local disk, one writer at a time, nothing half done."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command import command, here, refused
from object_stores import bucket, count_done, wait_for  # noqa: F401 (a fixture)
from shiftscope import lease
from shiftscope.errors import UserError
from shiftscope.executor import LocalExecutor
from shiftscope.files import write_whole
from shiftscope.folder import lock_folder, open_folder
from shiftscope.lease import LEASE_ENV
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.manifest import read_manifest
from shiftscope.store.shard import read_columns
from shiftscope.url_path import UrlPath, open_filesystem, parse_path
from store_toys import SPEC, content, make

TESTS = Path(__file__).parents[1]
JOBS = {"train": 2, "val": 1, "test": 1}
SECONDS = 3  # of a lease, where a test waits for its end


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return build_dataset(tmp_path_factory.mktemp("undisturbed") / "data", SPEC, JOBS, make).folder


@pytest.fixture(scope="module")
def data(bucket):  # noqa: F811
    return build_dataset(bucket / "data", SPEC, JOBS, make).folder


@pytest.fixture
def start(tmp_path):
    """Starts a build in another process, which hangs at the shards named."""
    started = []

    def start(folder, *hang, lease=60):
        settings = {"TOYS_HANG": " ".join(hang), "TOYS_RELEASE": str(tmp_path / "release"), LEASE_ENV: str(lease)}
        path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-m", "store_toys", str(folder), "1", json.dumps(JOBS)],
            env=os.environ | settings | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def build_after_lease(folder):
    """Build as soon as nobody else's lease stands in the way."""

    def build():
        try:
            return build_dataset(folder, SPEC, JOBS, make)
        except UserError as error:
            assert "is already working on it" in str(error)
            return None

    return wait_for(build)


def test_a_dataset_has_the_bytes_of_one_on_disk(data, undisturbed):
    assert content(data) == content(undisturbed)
    assert build_dataset(data, SPEC, JOBS, make).made == 0
    examples = [list(Dataset.open(folder).examples("val")) for folder in (data, undisturbed)]
    assert examples[0] == examples[1]


def test_a_dataset_is_read_in_ranges(bucket, monkeypatch):  # noqa: F811
    """To open it none of its files is fetched, and to list its images next to nothing of their pictures."""
    folder = build_dataset(bucket / "wide", SPEC | {"images_per_shard": 200}, {"val": 1}, make).folder
    s3fs = pytest.importorskip("s3fs")
    fetch, fetched = s3fs.S3File._fetch_range, []

    def count(file, start, end):
        fetched.append(end - start)
        return fetch(file, start, end)

    monkeypatch.setattr(s3fs.S3File, "_fetch_range", count)
    dataset = Dataset.open(folder)
    assert fetched == []
    (images,) = (shard.images for shard in dataset.shards())
    assert dataset.list_ids_without_picture() == frozenset()
    assert len(read_columns(folder / images.path, ["image_id"])) == 200
    assert 0 < sum(fetched) < images.bytes


def test_datasets_streams_it(data):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    rows = datasets.load_dataset(
        "parquet", data_files={"val": f"{data}/questions/val/*.parquet"}, split="val", streaming=True
    )
    assert [row["question_id"] for row in rows] == [q.id for q in Dataset.open(data).questions("val")]
    images = datasets.load_dataset(
        "parquet", data_files={"val": f"{data}/images/val/*.parquet"}, split="val", streaming=True
    )
    assert next(iter(images))["image"].size == (24, 16)


def test_a_run_and_its_score(data, undisturbed, bucket, tmp_path):  # noqa: F811
    """Read from the store and written to it; the figures are those of the local disk."""
    shown = []
    for place, source in ((bucket, data), (tmp_path, undisturbed)):
        words = ("--model", "majority", "--data", source, "--out", place / "run")
        assert here("run", *words).returncode == 0
        assert "nothing to do: all 9 replies" in here("run", *words).stdout
        shown.append(here("score", place / "run", "--json").stdout.replace(str(place), ""))
    assert shown[0] == shown[1]
    assert sorted((bucket / "run").list_sizes()) == ["predictions.parquet", "run.json"]


@pytest.mark.full
def test_two_writers_one_of_which_stops(bucket, undisturbed, tmp_path, start):  # noqa: F811
    """The second is refused while the first lives, and for a lease longer; the first then publishes nothing more."""
    folder = bucket / "two"
    process = start(folder, "test/0", lease=SECONDS)
    wait_for(lambda: count_done(folder) >= 3)
    time.sleep(SECONDS + 1)  # the lease is renewed
    with pytest.raises(UserError, match=f"process {process.pid} on .* is already working on it"):
        build_dataset(folder, SPEC, JOBS, make)
    process.send_signal(signal.SIGSTOP)  # as a laptop's sleep does
    stopped = time.monotonic()
    (tmp_path / "release").touch()
    with pytest.raises(UserError, match="the dataset is not finished"):
        Dataset.open(folder)
    with _hold_after_lease(folder):
        assert time.monotonic() - stopped > SECONDS / 2  # since the last renewal, a whole lease
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=60)[0]
        assert said.startswith(f"LeaseLost: {folder}: process {os.getpid()} on ")
        assert read_manifest(folder).complete is False
        assert not (folder / "questions/test/00000.parquet").exists()
    assert build_dataset(folder, SPEC, JOBS, make).made == 1
    assert content(folder) == content(undisturbed)


def _hold_after_lease(folder):
    """The folder, held as soon as nobody else's lease stands in the way."""

    def hold():
        with ExitStack() as held, suppress(UserError):
            held.enter_context(lock_folder(folder))
            return held.pop_all()

    return wait_for(hold)


def test_what_a_lost_lease_would_replace_stays(bucket):  # noqa: F811
    """Between looking at the lock and putting an object, another may write: the put is then refused."""
    folder = bucket / "race"
    with lock_folder(folder):
        write_whole(folder / "a", b"first")
        tag = (folder / "a").read_head().tag
        write_whole(folder / "a", b"other")
        with pytest.raises(lease.ConditionFailed):
            lease.put_object(folder / "a", b"late", tag)
        with pytest.raises(lease.ConditionFailed):
            lease.put_object(folder / "a", b"late", None)
        another = b'{"token": "another", "process": 7, "host": "elsewhere"}'
        open_filesystem("s3").pipe_file(f"{folder}/.lock", another)
        with pytest.raises(lease.LeaseLost, match="process 7 on elsewhere has taken over"):
            write_whole(folder / "a", b"late")
        with pytest.raises(lease.LeaseLost):
            open_folder(folder).remove("a")
    assert (folder / "a").read_bytes() == b"other"
    assert (folder / ".lock").read_bytes() == another  # whose it is


def test_a_store_without_conditions_is_refused(bucket, monkeypatch):  # noqa: F811
    monkeypatch.setattr(lease, "put_object", lambda path, data, expected: _put_plainly(path, data))
    with pytest.raises(UserError, match="this store ignores the conditions of a put"), lock_folder(bucket / "plain"):
        pytest.fail("held")
    assert not (bucket / "plain").exists()


def _put_plainly(path, data):
    open_filesystem("s3").pipe_file(str(path), data)
    return path.read_head().tag


def test_a_changed_object_is_refused(bucket):  # noqa: F811
    """Of the same size as the one that was made."""
    folder, name = bucket / "changed", "questions/val/00000.parquet"
    build_dataset(folder, SPEC, {"val": 1}, make)
    with lock_folder(folder):
        write_whole(folder / name, (folder / name).read_bytes()[:-1] + b"?")
    dataset = Dataset.open(folder)
    with pytest.raises(UserError, match=f"{name} is missing or cut short"):
        list(dataset.questions("val"))
    with pytest.raises(UserError, match=f"{name} is not what was written there"):
        dataset.verify()


def test_other_stores_are_read_but_not_written(undisturbed, tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    folder = parse_path("memory://toys/data")
    for name, data in content(undisturbed).items():
        open_filesystem("memory").pipe_file(f"{folder}/{name}", data)
    assert [q.id for q in Dataset.open(folder).questions()] == [q.id for q in Dataset.open(undisturbed).questions()]
    Dataset.open(folder).verify()
    said = refused(here("make", "scenes", "-n", 2, "--out", "memory://toys/new", cwd=tmp_path))
    assert "nothing is known to keep a second writer out of memory://" in said
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "words",
    [
        ("export", "DATA", "--to", "clevr"),
        ("split", "DATA", "--hold-out", "has_count", "--out", "s3://bench/new"),
        ("show", "DATA", "--image", "s3://bench/new.png"),
        ("train", "--model", "lstm", "--data", "DATA", "--out", "s3://bench/new"),
        ("study", "superclevr", "--train", "easy", "--out", "s3://bench/new"),
        ("make", "clevr", "--images", "2", "--out", "s3://no-such-bucket/new"),
        ("run", "--model", "majority", "--data", "s3://bench/nothing", "--out", "s3://bench/new"),
        ("score", "s3://bench/nothing"),
        ("audit", "s3://bench/nothing", "--out", "s3://bench/new"),
    ],
)
def test_what_cannot_be_done_at_a_url_is_said(data, bucket, tmp_path, words):  # noqa: F811
    said = refused(here(*(str(data) if word == "DATA" else word for word in words), cwd=tmp_path))
    assert "s3://" in said
    assert [*tmp_path.iterdir()] == []
    assert not (bucket / "new").exists()


def test_without_the_packages_a_sentence_says_what_to_install(monkeypatch):
    open_filesystem.cache_clear()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UserError, match=r"pip install 'shiftscope\[stores\]'"):
        UrlPath("s3://bucket/x").exists()


@pytest.mark.full
def test_all_that_reads_and_writes(data, undisturbed, bucket, tmp_path):  # noqa: F811
    for place, source in ((bucket, data), (tmp_path, undisturbed)):
        assert here("run", "--model", "random", "--data", source, "--out", place / "random").returncode == 0
        assert here("report", place / "random", "--out", place / "random.html").returncode == 0
        assert here("audit", source, "--out", place / "audit").returncode == 0
        assert here("audit", source, "--out", place / "audit", "--no-blind").returncode == 0  # in place of the first
        assert here("export", source, "--to", "clevr", "--out", tmp_path / f"{place.name}-clevr").returncode == 0
        words = ("contrast", "--model", "oracle", "--data", source, "--out", place / "contrast")
        assert here("test", *words).returncode == 0
    assert (bucket / "random.html").read_bytes()[:15] == b"<!doctype html>"
    audits = [content(place / "audit") for place in (bucket, tmp_path)]
    assert audits[0].keys() == audits[1].keys()
    assert audits[0]["marks.parquet"] == audits[1]["marks.parquet"]
    assert (bucket / "contrast").list_sizes().keys() == content(tmp_path / "contrast").keys()
    assert content(tmp_path / f"{bucket.name}-clevr") == content(tmp_path / f"{tmp_path.name}-clevr")
    assert [name for name in bucket.list_sizes() if "lock" in name or "partial" in name] == []


@pytest.mark.full
def test_worker_processes_write_under_the_lease(bucket, undisturbed):  # noqa: F811
    made = build_dataset(bucket / "workers", SPEC, JOBS, make, executor=LocalExecutor(2))
    assert content(made.folder) == content(undisturbed)


@pytest.mark.full
def test_killed_at_ten_moments(bucket, undisturbed, start):  # noqa: F811
    """At any moment a reader meets no dataset, or the whole one; the next build goes on where the last one was."""
    folder, moments = bucket / "ten", random.Random(0)
    for _ in range(10):
        process = start(folder, lease=1)
        wait_for((folder / ".lock").exists)
        time.sleep(moments.uniform(0, 1.5))
        process.kill()
        process.wait()
        try:
            Dataset.open(folder).verify()
            assert content(folder).items() >= content(undisturbed).items()
        except UserError as error:
            assert "the dataset is not finished" in str(error) or "no dataset there" in str(error)
        wait_for(lambda: not (folder / ".lock").exists() or _has_aged(folder / ".lock"))
    build_after_lease(folder)
    assert content(folder) == content(undisturbed)


@pytest.mark.full
@pytest.mark.parametrize("verb", ["run", "audit"])
def test_a_killed_run_or_audit_goes_on_and_ends_as_if_undisturbed(verb, bucket, data, undisturbed, tmp_path):  # noqa: F811
    """A reader meets nothing, what is told to be unfinished, or all of it."""
    words = {"run": ("run", "--model", "majority", "--data"), "audit": ("audit",)}[verb]
    folder, moments, killed = bucket / f"killed-{verb}", random.Random(0), 0
    assert here(*words, undisturbed, "--out", tmp_path / verb).returncode == 0
    expected = _read_tables(tmp_path / verb)
    start = time.monotonic()
    assert subprocess.run(command(*words, data, "--out", bucket / f"whole-{verb}"), check=False).returncode == 0
    longest = time.monotonic() - start
    for _ in range(20):
        process = subprocess.Popen(command(*words, data, "--out", folder), env=os.environ | {LEASE_ENV: "1"})
        time.sleep(moments.uniform(0.3, 1) * longest)
        killed += process.poll() is None
        process.kill()
        process.wait()
        if verb == "run":
            seen = here("score", folder, "--json")
            assert seen.returncode != 0 or _count_answered(seen.stdout) in (None, len(expected["predictions.parquet"]))
        elif (folder / "audit.json").exists():
            assert _read_tables(folder) == expected
        wait_for(lambda: not (folder / ".lock").exists() or _has_aged(folder / ".lock"))
        if killed == 5:
            break
    assert killed == 5
    assert subprocess.run(command(*words, data, "--out", folder), check=False).returncode == 0
    assert _read_tables(folder) == expected
    assert not [name for name in folder.list_sizes() if "lock" in name or "partial" in name]


def _read_tables(folder):
    """The rows of all Parquet files, without the time that each took."""
    tables = {
        name: pq.read_table(io.BytesIO(one)) for name, one in content(folder).items() if name.endswith(".parquet")
    }
    assert tables
    return {
        name: t.drop_columns([c for c in ("seconds",) if c in t.column_names]).to_pylist() for name, t in tables.items()
    }


def _count_answered(printed):
    """How many questions a score is of; None where it says that some are missing."""
    return None if "missing" in printed else json.loads(printed.splitlines()[0])["n"]


def _has_aged(lock):
    there = lease.get_object(lock)
    return there is None or there.age > 1

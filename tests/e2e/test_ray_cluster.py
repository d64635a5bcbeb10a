"""A Ray cluster makes, audits and runs what one machine does, whatever dies meanwhile."""

import json
import os
import random
import signal
import subprocess
import time
from collections import deque
from contextlib import closing
from functools import partial

import pytest

import audit_toys
import cluster_tasks
from benchmarks.audit_stream import make_shards
from command import command, here, refused, shiftscope
from shiftscope.errors import UserError
from shiftscope.executor import open_executor
from store_toys import content

pytest.importorskip("ray", reason="Ray is not installed: pip install -e '.[cluster]'")

DATA = ("--size", "96x64", "--questions", "4")  # of a small dataset of CLEVR


@pytest.fixture(scope="module")
def executor():
    """Two workers of a cluster of its own, in this process; no nicer than the other tests, or they wait for these."""
    os.environ.setdefault("RAY_worker_niceness", "0")
    import ray

    yield open_executor(2, cluster="ray:local")
    ray.shutdown()


@pytest.mark.full
def test_jobs_come_back_as_from_local_processes(executor, tmp_path):
    with closing(executor.map(cluster_tasks.square, [3, 1, 2], ahead=2)) as found:
        assert list(found) == [9, 1, 4]
    assert sorted(executor.map_unordered_with(10, cluster_tasks.add, [1, 2, 3])) == [11, 12, 13]
    urgent = deque()
    done = []
    for job, result in executor.map_growing(cluster_tasks.square, iter(range(40)), urgent):
        assert result == job * job
        if not done:
            urgent.append(100)
        done.append(job)
    assert sorted(done) == [*range(40), 100]
    assert done[-1] != 100  # of 40 jobs, four at a time
    with pytest.raises(UserError, match=r"^there is no 7$"):
        list(executor.map(cluster_tasks.refuse, [7], ahead=1))
    with pytest.raises(ZeroDivisionError):
        list(executor.map(cluster_tasks.fail, [7], ahead=1))


def test_what_dies_with_its_worker_is_done_again(executor, tmp_path, capfd):
    task = partial(cluster_tasks.die_once, tmp_path)
    with closing(executor.map(task, range(4), ahead=4)) as found:
        assert list(found) == [0, 1, 2, 3]
    assert (tmp_path / "1").exists()
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
def test_replicas_are_built_once_each_and_replaced_when_they_die(executor, tmp_path):
    build = partial(cluster_tasks.build_replica, tmp_path)
    with closing(executor.map_replicated(build, cluster_tasks.die_once, range(6), ahead=2)) as found:
        assert sorted(found) == [(k, k) for k in range(6)]
    deaths = sum((tmp_path / str(k)).exists() for k in range(6))
    assert deaths == 2
    built = (tmp_path / "built").read_text().split()
    assert len(set(built)) == len(built)
    assert 1 <= len(built) <= 2 + deaths
    with pytest.raises(UserError, match="no node of the cluster has a GPU"):
        next(executor.map_replicated(build, cluster_tasks.die_once, [1], on_gpu=True))


def test_a_node_that_differs_is_refused_by_name_before_any_work(executor, tmp_path):
    with pytest.raises(UserError, match=r"^node \S+ \(\S+\): process is \d+, but \d+ on this machine; restart it$"):
        executor.require_alike(cluster_tasks.name_process, "restart it")
    (tmp_path / "graphs.json").write_text("[]")
    executor.require_files([tmp_path / "graphs.json", tmp_path])
    assert list(executor.map(cluster_tasks.square, [2], ahead=1)) == [4]


def test_a_mixed_cluster_draws_nothing(executor, tmp_path, monkeypatch):
    from shiftscope.store import manifest

    nodes = dict(manifest.list_versions())
    monkeypatch.setattr(manifest, "list_versions", lambda: tuple((nodes | {"machine": "pdp11"}).items()))
    told = refused(here("make", "clevr", "--out", tmp_path / "a", "--images", "12", *DATA, "--cluster", "ray"))
    assert f"machine is {nodes['machine']}, but pdp11 on this machine; a cluster makes" in told
    assert not (tmp_path / "a").exists()


def test_the_same_bytes_and_responses_as_one_process(executor, tmp_path):
    size = ("--images", "12", "--shard", "2", *DATA)
    assert here("make", "clevr", "--out", tmp_path / "a", "--workers", "1", *size).returncode == 0
    assert here("make", "clevr", "--out", tmp_path / "b", "--cluster", "ray", *size).returncode == 0
    assert content(tmp_path / "a") == content(tmp_path / "b")

    from shiftscope.store.run_log import compute_run_content_id

    given = ("run", "--model", "question_only", "--data", tmp_path / "a", "--split", "train")
    assert here(*given, "--out", tmp_path / "c").returncode == 0
    assert here(*given, "--out", tmp_path / "d", "--cluster", "ray").returncode == 0
    assert compute_run_content_id(tmp_path / "c") == compute_run_content_id(tmp_path / "d")
    assert "nothing to do" in here(*given, "--out", tmp_path / "d", "--cluster", "ray").stdout


def test_no_such_cluster(tmp_path):
    made = ("make", "clevr", "--out", tmp_path / "a", "--cluster")
    assert "expected ray, or ray:ADDRESS" in refused(here(*made, "slurm"))
    assert "expected ray, or ray:ADDRESS" in refused(here(*made, "ray:"))
    told = refused(shiftscope(*made, "ray:127.0.0.1:1"))
    assert told.endswith("ray start --address=127.0.0.1:1, and if it asks for a token, set RAY_AUTH_MODE=token")
    assert not (tmp_path / "a").exists()


# Chaos: three nodes, of which any but the driver's dies, and the driver too.

ROUNDS = 20
STORE = 150 << 20  # bytes of a node's object store
CHAOS = ("--images", "480", "--shard", "12", *DATA)


def add_node(cluster):
    """Ray gives a node 30 seconds to start, which a busy machine may not hold."""
    for left in (2, 1, 0):
        try:
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
            break
        except Exception as error:
            if not left or "timed out" not in str(error):
                raise


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three nodes of one CPU each; commands join them by the address."""
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    small = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=small)
    for _ in range(2):
        add_node(made)
    made.wait_for_nodes()
    yield made
    made.shutdown()


@pytest.fixture(scope="module")
def works(cluster, tmp_path_factory):
    """What is done: the words of its command, what one machine makes of it, and the seconds it takes the cluster."""
    folder = tmp_path_factory.mktemp("local")
    toys = audit_toys.dataset(20_000)
    for name in ("questions", "annotations"):
        (folder / f"{name}.json").write_text(json.dumps(toys[name]))
    instances = toys["instances"]
    words = ["audit", "--questions", folder / "questions.json", "--annotations", folder / "annotations.json"]
    for k in range(6):
        some = [row for row in instances["annotations"] if row["image_id"] % 6 == k]
        (folder / f"objects-{k}.json").write_text(json.dumps({**instances, "annotations": some}))
        words += ["--objects", folder / f"objects-{k}.json"]
    found = {}
    jobs = {"make": ["make", "clevr", *CHAOS], "audit": [*words, "--no-blind"]}
    make_shards(folder / "rows", 600_000)
    jobs["stream"] = ["audit", "--questions", folder / "rows", "--stream"]
    for name, given in jobs.items():
        assert subprocess.run(command(*given, "--out", folder / name), check=False).returncode == 0
        there = [*given, "--cluster", f"ray:{cluster.address}"]
        start = time.monotonic()
        assert subprocess.run(command(*there, "--out", folder / f"{name}-there"), check=False).returncode == 0
        assert content(folder / f"{name}-there") == content(folder / name)
        found[name] = there, content(folder / name), time.monotonic() - start
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_the_same_bytes_whatever_dies(cluster, works, tmp_path, seed):
    draw = random.Random(seed)
    words, expected, seconds = works[("make", "stream", "make", "audit")[seed % 4]]
    words = command(*words, "--out", tmp_path / "out")
    moments = sorted(draw.random() for _ in range(3))
    events = draw.sample(("kill a node", "add a node", "kill the driver"), 3)[: draw.randint(1, 3)]
    start = time.monotonic()
    driver = subprocess.Popen(words, start_new_session=True)
    try:
        for moment, event in zip(moments, events, strict=False):
            time.sleep(max(0.0, start + moment * seconds - time.monotonic()))
            if event == "kill a node" and len(cluster.worker_nodes) > 1:
                cluster.remove_node(draw.choice(sorted(cluster.worker_nodes, key=id)), allow_graceful=False)
            elif event == "kill the driver":
                os.killpg(driver.pid, signal.SIGKILL)
                driver.wait()
                driver = subprocess.Popen(words, start_new_session=True)
            else:
                add_node(cluster)
        assert driver.wait(timeout=600) == 0, events
    finally:
        driver.kill()
        driver.wait()
    assert content(tmp_path / "out") == expected, events
    while len(cluster.worker_nodes) < 2:
        add_node(cluster)
    while len(cluster.worker_nodes) > 2:
        cluster.remove_node(next(iter(cluster.worker_nodes)))

"""An S3 server of our own for tests, moto's, and what they ask of it."""

from __future__ import annotations

import os
import time

import pytest

from shiftscope.url_path import UrlPath, open_filesystem

BUCKET = "bench"
SETTINGS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def bucket():
    """The URL of an empty bucket; the environment, also of processes started meanwhile, leads to it."""
    pytest.importorskip("s3fs", reason="s3fs is not installed (pip install 'shiftscope[stores]')")
    server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    before = dict(os.environ)
    os.environ |= SETTINGS | {"AWS_ENDPOINT_URL": "http://{}:{}".format(*running.get_host_and_port())}
    open_filesystem.cache_clear()
    files = open_filesystem("s3")
    files.mkdir(BUCKET)
    yield UrlPath(f"s3://{BUCKET}")
    type(files).clear_instance_cache()
    open_filesystem.cache_clear()
    os.environ.clear()
    os.environ |= before
    running.stop()


def count_done(folder: UrlPath) -> int:
    """The shards in the journal of a build under way."""
    return sum(name.startswith(".journal.jsonl/") for name in folder.list_sizes())


def wait_for(happens, seconds=60.0):
    end = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
    return found

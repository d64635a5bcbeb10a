"""Cluster nodes: what the machines of a cluster have to have in common before any of them works.

All need the very same package; for bytes to be those of one machine, the same libraries; for paths in a job, the same
files. Each node is asked, and the first that differs is refused by name.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from . import __version__
from .errors import UserError
from .executor import Sealed
from .files import digest_of

S = TypeVar("S")
RETRIES = 8  # of a job that was lost with its worker or node
ASK_SECONDS = 180.0  # that nodes get to answer; one may have to read the package from a slow disk
INSTALL = f"install the same on every node: pip install 'shiftscope[cluster]=={__version__}'"
SHARE = "put it where every node sees it under the same name, on a shared disk; for spooled files, set TMPDIR to one"


class Parcel(Generic[S]):
    """Something on its way to a node, with the folders where the driver finds modules and files."""

    def __init__(self, value: S) -> None:
        self._content, self._folder = Sealed(value), str(Path.cwd())
        self._path = tuple(str(Path(place).absolute()) for place in sys.path)

    def open(self) -> S:
        """Unpack it; this process then works where the driver does, if the node has that folder."""
        sys.path.extend(place for place in self._path if place not in sys.path)  # for a user's own classes
        with suppress(OSError):
            os.chdir(self._folder)
        return self._content.open()


class UnfitNode(UserError):
    """A node is not like the driver's machine, so that what it makes may not be what is made here."""


class Requirement(NamedTuple):
    """What a node has to describe in the same way as the driver did."""

    describe: Callable[[], Mapping[str, str]]
    expected: Mapping[str, str]
    remedy: str

    def check(self) -> None:
        """Refuse this machine, if need be."""
        if why := self.compare(self.describe()):
            raise UnfitNode(f"node {_name_node()}: {why}")

    def compare(self, found: Mapping[str, str]) -> str:
        for name in dict.fromkeys((*self.expected, *found)):
            there, here = found.get(name, "missing"), self.expected.get(name, "missing")
            if there != here:
                return f"{name} is {there}, but {here} on this machine; {self.remedy}"
        return ""


def describe_node(parcel: Parcel[Requirement]) -> Mapping[str, str]:
    return parcel.open().describe()


def build_package_probe() -> Callable[[], Mapping[str, str]]:
    """A function that reaches nodes as it is, for they may not have this module."""

    def probe() -> Mapping[str, str]:
        try:
            from shiftscope.cluster_nodes import describe_package
        except ImportError:
            return {}
        return describe_package()

    return probe


def ask_nodes(ray: Any, required: Requirement, probe: Callable[..., Mapping[str, str]], *args: Any) -> None:
    """Refuse the cluster if a node that could work does not answer as required; one that dies meanwhile may."""
    from ray.exceptions import GetTimeoutError, RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    remote = ray.remote(num_cpus=0, max_retries=RETRIES)(probe)
    asked = {}
    for node in ray.nodes():
        if node["Alive"] and (node["Resources"].get("CPU") or node["Resources"].get("GPU")):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
            asked[name, node["NodeID"]] = remote.options(scheduling_strategy=there).remote(*args)
    if not asked:
        raise UserError("no node of the cluster has a CPU to lend; add one with ray start --address=ADDRESS")
    end = time.monotonic() + ASK_SECONDS
    for (name, number), reference in asked.items():
        try:
            why = required.compare(ray.get(reference, timeout=max(0.1, end - time.monotonic())))
        except GetTimeoutError:
            why = f"it did not answer within {ASK_SECONDS:.0f} seconds; look after it with ray status"
        except RayTaskError as error:
            why = f"it cannot tell what it has ({shorten_error(error.cause or error)}); {INSTALL}"
        except RayError as error:
            alive = any(node["Alive"] for node in ray.nodes() if node["NodeID"] == number)
            why = f"its workers die ({shorten_error(error)}); look after it with ray status" if alive else ""
        if why:
            raise UnfitNode(f"node {name}: {why}")


def _name_node() -> str:
    from ray.util import get_node_ip_address

    return f"{socket.gethostname()} ({get_node_ip_address()})"


@cache
def describe_package() -> dict[str, str]:
    """The version of this package, and a digest of all its files."""
    folder = Path(__file__).parent
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc")
    digest = digest_of(b"".join(f"{p.relative_to(folder)} {digest_of(p.read_bytes())}\n".encode() for p in files))
    return {"shiftscope": f"{__version__} ({digest[:8]})"}


def describe_files(paths: Sequence[Path]) -> dict[str, str]:
    """Size and time of files, so that a copy that has become another is told from the file; folders by their number."""
    found = {}
    for path in paths:
        with suppress(OSError):
            stat = path.stat()
            when = datetime.fromtimestamp(stat.st_mtime_ns // 1_000_000_000, UTC)
            found[str(path)] = f"folder {stat.st_ino}" if path.is_dir() else f"{stat.st_size:,} bytes of {when:%F %T}"
    return found


def shorten_error(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:199]}…"

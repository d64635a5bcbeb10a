"""Lease: a folder or object of a store, held by one process at a time for as long as it keeps saying so.

The lock is an object with a random token. It is put where none is, or, once its holder has not renewed it for as long
as it promised to, in place of exactly that one: of two who try, the store refuses one. Ages are told by the store's
clock. The holder renews it in a thread, and before every write reads it back, from whichever process it writes:
whoever does not find his token there has lost the lease and writes nothing more. See docs/decisions/040.
"""

import json
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import UserError
from .object_store import (
    ConditionFailed,
    StoredObject,
    abort_uploads,
    delete_object,
    get_object,
    put_object,
    refuse_other_stores,
)
from .url_path import UrlPath, parse_path

LEASE_ENV = "SHIFTSCOPE_LEASE_SECONDS"
LEASE_SECONDS = 60.0  # without a renewal, until another process may take over
RENEWALS = 4  # in a lease, so that three may fail
TRIES = 20  # at a lock that appears or vanishes between two steps
NO_TAG = '"00000000000000000000000000000000"'  # that no object has


class LeaseLost(UserError):
    """Another process has taken over what this one held."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write below `what`; it travels to worker processes, which check it as its holder does."""

    what: str  # the URL of the folder or object
    lock: str  # the URL of its lock
    token: str

    def check(self) -> None:
        """Refuse to go on where the lock is no longer ours."""
        there = get_object(UrlPath(self.lock))
        holder = _parse_holder(there)
        if holder.get("token") == self.token:
            return
        by = f"{_name_holder(holder)} has taken over" if holder else "its lock was removed"
        raise LeaseLost(
            f"{self.what}: {by}, since this process did not renew its lock in time; nothing more was written, and what "
            "was finished before is good: run the same command again once the other has ended"
        )


@dataclass(slots=True)
class _Heartbeat:
    """A thread that renews a lock until it is stopped, or the lock lost."""

    lease: Lease
    seconds: float
    tag: str
    renewals: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.over.wait(self.seconds / RENEWALS):
            with suppress(UserError):  # a store out of reach for a moment
                if not self.renew():
                    return  # whoever writes next is told

    def renew(self) -> bool:
        self.renewals += 1
        lock = UrlPath(self.lease.lock)
        try:
            self.tag = put_object(lock, _encode_holder(self.lease, self.seconds, self.renewals), self.tag)
        except ConditionFailed:  # or the answer to a put of ours was lost
            there = get_object(lock)
            if _parse_holder(there).get("token") != self.lease.token:
                return False
            assert there is not None
            self.tag = there.tag
        return True


_leases: dict[str, Lease] = {}  # of this process, and of the one whose worker it is; by what they are of


def find_lease(path: Path) -> Lease | None:
    """The lease that covers a path: its own, or of the nearest folder that it is in."""
    own = _leases.get(str(path)) if _leases else None
    return own or next((_leases[str(p)] for p in path.parents if str(p) in _leases), None)


def require_lease(path: UrlPath) -> Lease:
    refuse_other_stores(path)
    lease = find_lease(path)
    if lease is None:
        raise UserError(f"{path}: this command cannot write to a URL; name a file or a folder of the local disk")
    return lease


def restore_leased_path(text: str, lease: Lease | None) -> Path:
    """A path that another process sent."""
    if lease is not None:
        _leases.setdefault(lease.what, lease)
    return parse_path(text)


@contextmanager
def hold_lease(what: UrlPath, lock: UrlPath) -> Iterator[None]:
    """Hold a folder or an object; a second holder is refused, with the first one's process and host."""
    refuse_other_stores(what)
    seconds = _read_lease_seconds()
    lease = Lease(str(what), str(lock), secrets.token_hex(16))
    beat = _Heartbeat(lease, seconds, _acquire(lease, seconds))
    thread = threading.Thread(target=beat.run, name=f"lease of {what}", daemon=True)
    try:
        _refuse_unconditional_store(lease, beat)
        _leases[lease.what] = lease
        thread.start()
        abort_uploads(what)
        yield
    finally:
        _leases.pop(lease.what, None)
        beat.over.set()
        if thread.is_alive():
            thread.join()
        with suppress(ConditionFailed, UserError):  # where it was lost, it is another's
            delete_object(lock, beat.tag)


def _acquire(lease: Lease, seconds: float) -> str:
    """The tag of a lock that is ours."""
    lock, body = UrlPath(lease.lock), _encode_holder(lease, seconds, 0)
    expected: str | None = None
    for _ in range(TRIES):
        try:
            return put_object(lock, body, expected)
        except ConditionFailed:
            there = get_object(lock)
        if there is None:
            expected = None
            continue
        holder = _parse_holder(there)
        if holder.get("token") == lease.token:  # the answer to our put was lost
            return there.tag
        left = float(holder.get("lease_seconds", LEASE_SECONDS)) - there.age
        if left >= 0:
            raise UserError(
                f"{lease.what}: {_name_holder(holder)} is already working on it; wait for it to end (if it was killed, "
                f"its lease runs out in {left + 1:.0f} s unless renewed), or choose another name"
            )
        expected = there.tag
    raise UserError(f"{lease.what}: other processes are working on it; wait for them to end")


def _refuse_unconditional_store(lease: Lease, beat: _Heartbeat) -> None:
    """Refuse a store that takes puts although their condition does not hold: there no lock keeps anyone out."""
    for expected in (None, NO_TAG):
        try:
            beat.tag = put_object(UrlPath(lease.lock), _encode_holder(lease, beat.seconds, 0), expected)
        except ConditionFailed:
            continue
        raise UserError(
            f"{lease.what}: this store ignores the conditions of a put (If-None-Match, If-Match), so nothing keeps a "
            "second writer out; write to a local folder and copy it there"
        )


def _encode_holder(lease: Lease, seconds: float, renewals: int) -> bytes:
    holder = {"token": lease.token, "process": os.getpid(), "host": socket.gethostname()}
    return json.dumps(holder | {"lease_seconds": seconds, "renewals": renewals}).encode()


def _parse_holder(there: StoredObject | None) -> dict[str, Any]:
    """What a lock says of its holder; nothing where there is none."""
    if there is None:
        return {}
    try:
        holder = json.loads(there.data)
        float(holder.get("lease_seconds", LEASE_SECONDS))
        return dict(holder)
    except (ValueError, TypeError, AttributeError):
        return {"token": ""}


def _name_holder(holder: dict[str, Any]) -> str:
    if "process" not in holder:
        return "another process"
    return f"process {holder['process']} on {holder.get('host')}"


def _read_lease_seconds() -> float:
    text = os.environ.get(LEASE_ENV)
    if text is None:
        return LEASE_SECONDS
    try:
        seconds = float(text)
        if not 1 <= seconds <= 3600:
            raise ValueError
    except ValueError:
        raise UserError(f"{LEASE_ENV}={text!r} is not a number of seconds from 1 to 3600") from None
    return seconds

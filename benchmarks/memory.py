"""Memory of a process and of all that it started, looked at from beside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK_SECONDS = 0.25


@contextmanager
def watch_memory(top: int) -> Iterator[list[int]]:
    """What is in memory at each look, in bytes; the list grows as long as the block runs."""
    seen, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            seen.append(sum(map(read_resident, list_tree(top))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def list_tree(top: int) -> list[int]:
    """A process and all that it started, directly or not."""
    found = [top]
    for pid in found:
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:  # it has ended
            continue
    return found


def read_resident(pid: int) -> int:
    """Bytes in memory; what several processes share counts once, a part of it for each (Linux's Pss)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))

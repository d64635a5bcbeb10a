"""RemoteFolder: a Folder in an object store, with the guarantees of one on disk.

Every write goes out under a lease (`lease.py`), which is read back first, and under the condition that the object it
replaces is the one that was seen while the lease was ours: a process that lost its lease without noticing replaces
nothing that its successor wrote.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .errors import UserError
from .folder import Folder, lock_folder
from .lease import require_lease
from .object_store import ConditionFailed, copy_object, delete_objects, find_tag, get_object, put_object
from .url_path import UrlPath

TRIES = 10  # at an object that changes between two steps
MOVED_BY_PUT = 8 << 20  # bytes up to which a move is a put under a condition, which a copy inside a store has not

_next_line: dict[str, int] = {}  # by the URL of a file that grows by lines; a folder is opened anew for every line


class RemoteFolder(Folder):
    """Objects by name below a URL. A file that grows by lines is one object per line: `NAME/00000012`."""

    path: UrlPath

    def __init__(self, path: UrlPath) -> None:
        super().__init__(path)

    def read(self, name: str) -> bytes:
        try:
            return super().read(name)
        except FileNotFoundError:
            lines = self._list_lines(name)
            if not lines:
                raise
            found = self.path._files.cat([str(line) for line, _ in lines])  # many at once, in any order
            by_name = {key.rpartition("/")[2]: data for key, data in found.items()}
            return b"".join(by_name[line.name] for line, _ in lines)

    def write_whole(self, name: str, data: Any, *, durable: bool = True) -> None:
        target = self.path / name
        lease = require_lease(target)
        # An iterator can be sent but once, so what it replaces is looked up first.
        expected = find_tag(target) if hasattr(data, "__next__") else None
        for _ in range(TRIES):
            lease.check()
            try:
                put_object(target, data, expected)
                return
            except ConditionFailed:
                if hasattr(data, "__next__"):
                    break
                expected = find_tag(target)
        lease.check()
        raise UserError(f"{target}: something else keeps writing there; choose another folder")

    def append_line(self, name: str, line: bytes) -> None:
        target, data = self.path / name, line + b"\n"
        lease = require_lease(target)
        number = _next_line.get(str(target))
        while True:
            if number is None:
                lines = self._list_lines(name)
                number = int(lines[-1][0].name) + 1 if lines else 0
            lease.check()
            one = target / f"{number:08d}"
            try:
                put_object(one, data, None)
            except ConditionFailed:
                there = get_object(one)
                if there is None or there.data != data:  # else the answer to our put was lost
                    number = None
                    continue
            _next_line[str(target)] = number + 1
            return

    def truncate(self, name: str, size: int) -> None:
        require_lease(self.path / name).check()
        beyond, end = [], 0
        for line, length in self._list_lines(name):
            kept = max(0, min(length, size - end))
            end += length
            if 0 < kept < length:
                put_object(line, line.read_bytes()[:kept], find_tag(line))
            elif not kept:
                beyond.append(line)
        delete_objects(beyond)
        _next_line.pop(str(self.path / name), None)

    def adopt(self, source: Path, name: str) -> None:
        """Take over a file from elsewhere, as a copy."""
        if isinstance(source, UrlPath) and source.protocol == self.path.protocol:
            require_lease(self.path / name).check()
            copy_object(source, self.path / name)
        else:
            self.write_whole(name, source.read_bytes())

    def move(self, name: str, to: str) -> None:
        source, target = self.path / name, self.path / to
        lease = require_lease(target)
        if source.read_head().size <= MOVED_BY_PUT:
            self.write_whole(to, source.read_bytes())
        else:
            lease.check()
            copy_object(source, target)
        lease.check()
        delete_objects([source])

    def remove(self, name: str) -> None:
        """Remove an object, or a file of lines, if it is there; a folder that something is in is refused."""
        target = self.path / name
        lease = require_lease(target)
        inside = target.list_sizes()
        if any(one and not one.isdecimal() for one in inside):
            raise UserError(f"{target}: cannot be removed (something is in it)")
        if inside:
            lease.check()
            delete_objects([target / one if one else target for one in inside])
        _next_line.pop(str(target), None)

    def remove_tree(self, name: str) -> None:
        target = self.path / name
        require_lease(target).check()
        delete_objects([target / one for one in target.list_sizes()])

    def lock(self) -> AbstractContextManager[None]:
        return lock_folder(self.path)

    def _list_lines(self, name: str) -> list[tuple[UrlPath, int]]:
        """The objects of a file that grows by lines, and their bytes."""
        folder = self.path / name
        try:
            sizes = folder.list_sizes()
        except FileNotFoundError:
            return []
        return [(folder / one, sizes[one]) for one in sorted(sizes) if one.isdecimal()]

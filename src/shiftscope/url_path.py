"""UrlPath: a path at a URL that fsspec knows, as in `s3://bucket/folder`, read like a local one.

Code that takes a `Path` takes one of these. It is written through a Folder alone (`remote_folder.py`): whatever else
would open, make or remove a file under this name is refused in a sentence, since it would mean the local disk.
"""

import io
import os
import re
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PosixPath
from typing import Any, Self

from .errors import UserError

DIGEST_KEY = "blake2b"  # of an object's metadata: the digest of its bytes, put with them in one request
STORE_PROTOCOLS = ("s3", "s3a")  # that have metadata, and puts under a condition
STORE_LIBRARIES = ("aiobotocore", "aiohttp", "botocore")  # whose errors are no OSErrors
INSTALL = "pip install 'shiftscope[stores]'"
_URL = re.compile(r"([a-z][a-z0-9+.]*)://+(.+)", re.DOTALL)


def parse_path(text: str | os.PathLike[str]) -> Path:
    """The local path that a user wrote, or the URL."""
    if isinstance(text, UrlPath):
        return text
    url = _URL.fullmatch(os.fspath(text))
    if url is None:
        return Path(text)
    return Path(f"/{url[2]}") if url[1] in ("file", "local") else UrlPath(url[0])


def has_url(text: object) -> bool:
    """Whether a user wrote a URL, rather than a local path."""
    return isinstance(text, UrlPath) or (isinstance(text, str) and _URL.fullmatch(text) is not None)


def refuse_url(path: Path | None, what: str) -> None:
    """Refuse to write to a URL what only the local disk takes."""
    if isinstance(path, UrlPath):
        raise UserError(f"{path}: {what} is written to the local disk alone; name a folder there with --out")


@dataclass(frozen=True, slots=True)
class RemoteHead:
    """What a store knows of an object without its bytes."""

    size: int
    tag: str = ""  # another one for other bytes
    digest: str = ""  # that a shiftscope put beside the bytes; nothing where another program wrote them


class UrlPath(PosixPath):
    """A folder or an object; a folder is there as long as something is in it."""

    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)

    def __fspath__(self) -> str:
        raise UserError(f"{self}: this command cannot use a URL here; name a file or a folder of the local disk")

    def __reduce__(self) -> tuple[Any, ...]:
        """A path sent to a worker process takes along the lease under which its folder is held."""
        from .lease import find_lease, restore_leased_path

        return restore_leased_path, (str(self), find_lease(self))

    @property
    def protocol(self) -> str:
        return self.parts[0].removesuffix(":")

    @property
    def bucket(self) -> str:
        return self.parts[1] if len(self.parts) > 1 else ""

    @property
    def key(self) -> str:
        return "/".join(self.parts[2:])

    def read_head(self) -> RemoteHead:
        """FileNotFoundError where there is no object of that name."""
        with explain_store_errors(self):
            if self.protocol not in STORE_PROTOCOLS:
                found = self._files.info(str(self))
                if found["type"] != "file":
                    raise FileNotFoundError(str(self))
                return RemoteHead(found["size"])
            head = self._files.call_s3("head_object", Bucket=self.bucket, Key=self.key)
            return RemoteHead(head["ContentLength"], head["ETag"], head.get("Metadata", {}).get(DIGEST_KEY, ""))

    def list_sizes(self) -> dict[str, int]:
        """How many bytes everything below has, by its name relative to this folder; one request per 1000."""
        with explain_store_errors(self):
            return {self._relative(name): at["size"] for name, at in self._files.find(str(self), detail=True).items()}

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Its kind and size alone."""
        with explain_store_errors(self):
            found = self._files.info(str(self))
        kind = stat.S_IFREG | 0o644 if found["type"] == "file" else stat.S_IFDIR | 0o755
        return os.stat_result((kind, 0, 0, 1, 0, 0, found.get("size") or 0, 0, 0, 0))

    def exists(self, *_: Any, **__: Any) -> bool:
        return self._find_mode() is not None

    def is_file(self, *_: Any, **__: Any) -> bool:
        return stat.S_ISREG(self._find_mode() or 0)

    def is_dir(self, *_: Any, **__: Any) -> bool:
        return stat.S_ISDIR(self._find_mode() or 0)

    def _find_mode(self) -> int | None:
        try:
            return self.stat().st_mode
        except FileNotFoundError:
            return None

    def is_symlink(self) -> bool:
        return False

    def is_absolute(self) -> bool:
        return True

    def absolute(self) -> Self:
        return self

    def resolve(self, strict: bool = False) -> Self:
        return self

    def expanduser(self) -> Self:
        return self

    def read_bytes(self) -> bytes:
        with explain_store_errors(self):
            return bytes(self._files.cat_file(str(self)))

    def read_text(self, encoding: str | None = None, errors: str | None = None, newline: str | None = None) -> str:
        with self.open("r", encoding=encoding or "utf-8", errors=errors, newline=newline) as file:
            return str(file.read())

    def open(self, mode: str = "r", buffering: int = -1, **text: Any) -> Any:  # type: ignore[override]
        """For reading; what is read is fetched a few megabytes at a time."""
        if set(mode) - set("rbt"):
            os.fspath(self)
        with explain_store_errors(self):
            file = self._files.open(str(self), "rb")
        return file if "b" in mode else io.TextIOWrapper(file, **text)

    def open_ranges(self) -> Any:
        """For readers that jump, such as Parquet's: exactly what they ask for is fetched, and nothing is kept."""
        with explain_store_errors(self):
            return self._files.open(str(self), "rb", cache_type="none")

    def iterdir(self) -> Generator[Self, None, None]:
        with explain_store_errors(self):
            names = {self._relative(name) for name in self._files.ls(str(self), detail=False)}
        yield from (self / name for name in sorted(names - {"", "."}))

    def glob(self, pattern: str, **_: Any) -> Iterator[Self]:  # type: ignore[override]
        head, _slash, rest = pattern.partition("/")
        if not set(head) & set("*?["):
            children = [self / head] if (self / head).exists() else []
        else:
            children = [c for c in self.iterdir() if fnmatchcase(c.name, head)] if self.is_dir() else []
        for child in children:
            if rest:
                yield from child.glob(rest)
            else:
                yield child

    def rglob(self, pattern: str, **_: Any) -> Iterator[Self]:  # type: ignore[override]
        """Objects only, by their last names."""
        yield from (self / name for name in sorted(self.list_sizes()) if fnmatchcase(name.rpartition("/")[2], pattern))

    @property
    def _files(self) -> Any:
        return open_filesystem(self.protocol)

    def _relative(self, name: str) -> str:
        own: str = self._files._strip_protocol(str(self))
        return name.removeprefix(own).strip("/")


@cache
def open_filesystem(protocol: str) -> Any:
    """The file system of a protocol, without fsspec's cache of listings, which would hide what others write."""
    try:
        import fsspec
    except ImportError:
        raise UserError(f"{protocol}:// needs fsspec; {INSTALL}") from None
    try:
        return fsspec.filesystem(protocol, use_listings_cache=False)
    except ImportError as error:
        command = INSTALL if protocol in STORE_PROTOCOLS else f"install what it needs ({error})"
        raise UserError(f"{protocol}:// needs a package that is not installed; {command}") from None
    except ValueError:
        raise UserError(f"{protocol}://: no such protocol is known to fsspec; write s3://BUCKET/FOLDER") from None


@contextmanager
def explain_store_errors(path: Path) -> Iterator[None]:
    """Say what a failed request means for the user; what is not there stays a FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        library = type(error).__module__.partition(".")[0]
        if not isinstance(error, OSError) and library not in STORE_LIBRARIES:
            raise
        why = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, PermissionError):
            raise UserError(f"{path}: the store refuses access ({why}); check the credentials") from None
        raise UserError(f"{path}: the store cannot be used ({why}); see docs/guide/object-stores.md") from None

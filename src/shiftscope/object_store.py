"""Objects of an S3 bucket, put whole and only under a condition: that nothing stands there, or what the caller saw.

A put of the whole object, or the completion of one in parts, takes effect at once or not at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

from .errors import UserError
from .files import digest_of
from .url_path import DIGEST_KEY, STORE_PROTOCOLS, UrlPath, explain_store_errors, open_filesystem

PART_BYTES = 64 << 20  # sent at a time of what comes in pieces; S3 takes 10,000 parts
DELETED_AT_ONCE = 1000  # as many as S3 takes
COPIED_AT_ONCE = 5 << 30  # bytes that S3 copies in one request


class ConditionFailed(Exception):
    """Something else stands there than was expected."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object with its content, and how old it is by the store's own clock."""

    data: bytes
    tag: str  # another one for other bytes
    age: float  # seconds


def refuse_other_stores(path: UrlPath) -> None:
    """Refuse to write where nothing keeps a second writer out."""
    if path.protocol not in STORE_PROTOCOLS:
        raise UserError(
            f"{path}: shiftscope writes to the local disk and to s3:// alone, since nothing is known to keep a second "
            f"writer out of {path.protocol}://; write to a local folder and copy it there"
        )
    if not path.key:
        raise UserError(f"{path} is a bucket; name a folder in it, as in {path}/my-data")


def get_object(path: UrlPath) -> StoredObject | None:
    """The object, or None where there is none."""
    try:
        with explain_store_errors(path):
            found = open_filesystem(path.protocol).call_s3("get_object", Bucket=path.bucket, Key=path.key)
            data = _read_body(path, found["Body"])
    except FileNotFoundError:
        return None
    sent = found["ResponseMetadata"]["HTTPHeaders"].get("date")
    age = (parsedate_to_datetime(sent) - found["LastModified"]).total_seconds() if sent else 0.0
    return StoredObject(data, found["ETag"], age)


def _read_body(path: UrlPath, body: Any) -> bytes:
    from fsspec.asyn import sync

    data: bytes = sync(open_filesystem(path.protocol).loop, body.read)
    return data


def find_tag(path: UrlPath) -> str | None:
    """The tag of the object that stands there, or None."""
    try:
        return path.read_head().tag
    except FileNotFoundError:
        return None


def put_object(path: UrlPath, data: Any, expected: str | None) -> str:
    """Put bytes, or an iterator of them, where nothing is, or where the object with the expected tag is.

    Returns the new tag. Otherwise ConditionFailed, and nothing has changed.
    """
    condition = {"IfNoneMatch": "*"} if expected is None else {"IfMatch": expected}
    if isinstance(data, Iterator):
        block, rest = _take_block(data)
        if rest is not None:
            return _put_parts(path, chain([block], _iter_blocks(rest)), condition)
        data = block
    body = data if isinstance(data, bytes) else bytes(memoryview(data))
    return str(_call(path, "put_object", Body=body, Metadata={DIGEST_KEY: digest_of(body)}, **condition)["ETag"])


def _take_block(pieces: Iterator[Any]) -> tuple[bytes, Iterator[Any] | None]:
    """About as many bytes as are sent at a time, and the rest, if there is any."""
    held: list[Any] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PART_BYTES:
            return b"".join(held), pieces
    return b"".join(held), None


def _iter_blocks(pieces: Iterator[Any]) -> Iterator[bytes]:
    rest: Iterator[Any] | None = pieces
    while rest is not None:
        block, rest = _take_block(rest)
        if block:
            yield block


def _put_parts(path: UrlPath, blocks: Iterator[bytes], condition: dict[str, str]) -> str:
    upload = _call(path, "create_multipart_upload")["UploadId"]
    try:
        parts = []
        for number, block in enumerate(blocks, 1):
            tag = _call(path, "upload_part", UploadId=upload, PartNumber=number, Body=block)["ETag"]
            parts.append({"PartNumber": number, "ETag": tag})
        listed = {"Parts": parts}
        done = _call(path, "complete_multipart_upload", UploadId=upload, MultipartUpload=listed, **condition)
        return str(done["ETag"])
    except BaseException:
        _call(path, "abort_multipart_upload", UploadId=upload)
        raise


def copy_object(source: UrlPath, path: UrlPath) -> None:
    """Copy inside the store, metadata included; what stands at the target is replaced."""
    if source.read_head().size > COPIED_AT_ONCE:
        with explain_store_errors(path):
            open_filesystem(path.protocol).copy_file(str(source), str(path))
    else:
        _call(path, "copy_object", CopySource={"Bucket": source.bucket, "Key": source.key})


def delete_object(path: UrlPath, expected: str) -> None:
    """Delete an object if its tag is the expected one; where there is none, nothing happens."""
    _call(path, "delete_object", IfMatch=expected)


def delete_objects(paths: Sequence[UrlPath]) -> None:
    """Delete objects, whatever they hold; one that is not there is passed over."""
    for first in range(0, len(paths), DELETED_AT_ONCE):
        some = paths[first : first + DELETED_AT_ONCE]
        with explain_store_errors(some[0]):
            listed = {"Objects": [{"Key": path.key} for path in some], "Quiet": True}
            files = open_filesystem(some[0].protocol)
            failed = files.call_s3("delete_objects", Bucket=some[0].bucket, Delete=listed).get("Errors")
        if failed:
            raise UserError(
                f"{some[0]}: cannot be deleted ({failed[0].get('Message')}); check your rights in the store"
            )


def abort_uploads(folder: UrlPath) -> None:
    """Give up what killed writers left half sent below a folder: no reader sees it, but it is paid for."""
    with explain_store_errors(folder):
        files, prefix = open_filesystem(folder.protocol), f"{folder.key}/"
        found = files.call_s3("list_multipart_uploads", Bucket=folder.bucket, Prefix=prefix)
        for upload in found.get("Uploads") or ():
            which = {"Key": upload["Key"], "UploadId": upload["UploadId"]}
            files.call_s3("abort_multipart_upload", Bucket=folder.bucket, **which)


def _call(path: UrlPath, method: str, **settings: Any) -> Any:
    with explain_store_errors(path):
        try:
            return open_filesystem(path.protocol).call_s3(method, Bucket=path.bucket, Key=path.key, **settings)
        except OSError as error:
            response = getattr(error.__cause__, "response", None) or {}
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
            code = response.get("Error", {}).get("Code")
            if status in (409, 412) or (code == "NoSuchKey" and "IfMatch" in settings):
                raise ConditionFailed(str(path)) from None
            if code == "NoSuchBucket":
                raise UserError(f"{path}: there is no bucket {path.bucket!r}; make it first") from None
            raise

"""Exports: a dataset in the form another tool reads; one file each: `write(dataset, out, progress)`.

A form that can do without questions says so with `QUESTIONS_OPTIONAL`.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...executor import Progress
from ...files import PARTIAL, explain_write_errors
from ...folder import lock_path
from ...registry import Registry
from ...url_path import refuse_url
from ..dataset import Dataset

EXPORTS = Registry("export", "shiftscope.store.exports")


def export_dataset(folder: Path, to: str, out: Path, *, progress: Progress | None = None) -> Path:
    """Write the dataset in `folder` as `to` into the new folder `out`, which appears when it is whole."""
    module = EXPORTS.load(to)
    refuse_url(out, "an export")
    dataset = Dataset.open(folder)
    if not len(dataset) and not hasattr(module, "QUESTIONS_OPTIONAL"):
        able = " or ".join(name for name in EXPORTS.names() if hasattr(EXPORTS.load(name), "QUESTIONS_OPTIONAL"))
        raise UserError(f"{folder}: there are no questions in it; scenes and images alone go --to {able}")
    out = out.absolute()
    if out.is_relative_to(folder.absolute()):
        raise UserError(f"{out} is inside the dataset; choose another folder")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is already there; choose another folder, or delete it")
    partial = out.with_name(f".{out.name}{PARTIAL}")
    with lock_path(out), explain_write_errors(out):
        if partial.exists():  # left by an export that was killed
            shutil.rmtree(partial)
        try:
            partial.mkdir()
            module.write(dataset, partial, progress or (lambda done, total, what: None))
            partial.rename(out)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return out


def count_records(dataset: Dataset, progress: Progress, questions: bool = True) -> Callable[[], None]:
    """What to call after each image and question is written, or each image alone."""
    total = sum(sum(dataset.count(split)[: 1 + questions]) for split in dataset.splits)
    done = 0

    def report_step() -> None:
        nonlocal done
        done += 1
        if done % 100 == 0 or done == total:
            progress(done, total, "images and questions" if questions else "images")

    return report_step


def write_lists(path: Path, head: Mapping[str, Any], lists: Mapping[str, Iterable[Any]]) -> None:
    """A JSON object with long lists, item by item: a corpus need not fit in memory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head, ensure_ascii=False)[:-1])
        for key, items in lists.items():
            file.write(f', "{key}": [')
            for k, item in enumerate(items):
                file.write(("," if k else "") + "\n" + json.dumps(item, ensure_ascii=False, allow_nan=False))
            file.write("\n]")
        file.write("}\n")


def name_picture(image_id: str) -> str:
    return re.sub(r"[^\w-]", "_", image_id) + ".png"


def write_picture(dataset: Dataset, split: str, path: Path, png: bytes) -> None:
    """Write an image's picture, if it has one, under a name that is not taken yet."""
    if path.exists():
        raise UserError(f"{dataset.folder}: two images of {split} would both be called {path.name}")
    if png:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png)

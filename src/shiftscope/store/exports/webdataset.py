"""WebDataset: tar files of about 1 GB; a sample is `{key}.json` and `{key}.png`, or `{key}.0.png`, ….

A sample is a question, so an image is repeated for each question about it.
"""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..dataset import Dataset, Example
from ..tables import build_question_table

SHARD_BYTES = 10**9


def write(
    dataset: Dataset, out: Path, progress: Callable[[int, int, str], None], shard_bytes: int = SHARD_BYTES
) -> None:
    """Write `{split}-000000.tar`, …, in the order of the questions."""
    done, total = 0, len(dataset)
    for split in dataset.splits:
        examples = enumerate(dataset.examples(split))
        following = next(examples, None)
        shard = 0
        while following is not None:
            with tarfile.open(out / f"{split}-{shard:06d}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
                while following is not None and (not tar.offset or tar.offset < shard_bytes):
                    at, example = following
                    _add_sample(tar, f"{split.replace('.', '_')}-{at:09d}", example)
                    following = next(examples, None)
                    done += 1
                    if done % 100 == 0 or done == total:
                        progress(done, total, "questions")
            shard += 1


def _add_sample(tar: tarfile.TarFile, key: str, example: Example) -> None:
    """The question's columns as plain data, its program as a list, its scenes and pictures."""
    row: dict[str, Any] = build_question_table([example.question]).to_pylist()[0]
    for name in ("program", "notes"):
        row[name] = json.loads(row[name]) if row[name] else None
    row["scenes"] = [image.scene.to_json() for image in example.images]
    files = {f"{key}.json": json.dumps(row, ensure_ascii=False).encode()}
    several = len(example.images) > 1
    files |= {f"{key}.{k}.png" if several else f"{key}.png": image.png for k, image in enumerate(example.images)}
    for name, data in files.items():
        info = tarfile.TarInfo(name)  # no time, no owner: the same dataset gives the same tar
        info.size = len(data)
        info.mode = 0o644
        tar.addfile(info, io.BytesIO(data))

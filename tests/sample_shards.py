"""Random samples as rows, and their files: Parquet, JSON Lines (also gzipped) and WebDataset tars."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shiftscope.rng import derive

KINDS = ("jsonl", "jsonl.gz", "parquet", "tar")
STARTS = ("what color is the", "is the", "how many", "what", "", "none of the above", "is")
WORDS = (
    "dog",
    "sky",
    "man's",
    "café",
    "女性",
    "a",
    "on",
    'say "x"',
    "back\\slash",
    "t-shirt",
    *(f"w{k}" for k in range(12)),
)
ANSWERS = ("yes", "no", "red", "2", "café", *(f"a{k}" for k in range(8)))
TYPES = ("what color is the", "is the", "a type of its own", None)
OBJECTS = ("dog", "person", "cup", "tie", "bus")


def make_rows(
    count: int, seed: int = 0, *, typed: float = 0.8, shown: float = 0.8, text_ids: bool = False
) -> list[Any]:
    """Rows with what real ones lack now and then: an answer, an image, a type, objects, annotators."""
    draw = derive("tests", "sample_rows", seed)

    def pick(values: tuple[Any, ...]) -> Any:
        return values[min(int(draw.pareto(0.8)), len(values) - 1)]

    images = max(3, count // 3)
    objects = [
        None if draw.random() > shown else [pick(OBJECTS) for _ in range(draw.integers(0, 4))] for _ in range(images)
    ]
    rows = []
    for k in range(count):
        start, image = pick(STARTS), int(draw.integers(0, images))
        text = f"{start} {' '.join(pick(WORDS) for _ in range(draw.integers(0, 5)))}?"
        row = {
            "question_id": f"q{k * 7 % 1009:04}" if text_ids else k * 7 % 100_003,
            "image_id": image,
            "question": "" if draw.random() < 0.03 else text,
            "answer": pick(ANSWERS),
            "question_type": pick(TYPES) if draw.random() < typed else None,
            "split": ("train", "train2014", "val", "test", "extra", None)[min(int(draw.integers(0, 9)), 5)],
            "objects": objects[image],
            "answers": [pick(ANSWERS) for _ in range(3)] if draw.random() < 0.5 else None,
        }
        if draw.random() < 0.03:
            row["answer"] = None
        if draw.random() < 0.03:
            row |= {"image_id": None, "objects": None}
        rows.append(row)
    return rows


def write_shard(path: Path, rows: list[Any]) -> Path:
    """By the name's ending."""
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines))
    elif path.suffix == ".jsonl":
        path.write_bytes(lines)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, row_group_size=7)
    else:
        with tarfile.open(path, "w") as archive:
            for k, row in enumerate(rows):
                for ending, data in (("jpg", b"\xff\xd8"), ("json", json.dumps(row).encode())):
                    member = tarfile.TarInfo(f"{k:06}.{ending}")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))
    return path


def write_shards(folder: Path, rows: list[Any], seed: int, kinds: tuple[str, ...] = KINDS) -> list[Path]:
    """Cut anywhere, each shard in another format."""
    draw = derive("tests", "shards", seed)
    folder.mkdir(parents=True, exist_ok=True)
    ends = sorted({*draw.integers(1, len(rows), int(draw.integers(1, 6))).tolist(), len(rows)})
    return [
        write_shard(folder / f"part-{k}.{kinds[int(draw.integers(len(kinds)))]}", rows[start:end])
        for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
    ]


texts = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        *(("question_id", pa.int64()), ("image_id", pa.int64()), ("question", pa.string()), ("answer", pa.string())),
        *(("question_type", pa.string()), ("split", pa.string()), ("objects", texts), ("answers", texts)),
    ]
)

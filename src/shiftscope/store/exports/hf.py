"""Hugging Face: one flat Parquet table per split, each question with its image, for `datasets.load_dataset`.

An image is repeated for each question about it, but takes its room once in a row group, by Parquet's
dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ..card import front_matter
from ..columns import QUESTIONS, Columns, arrow_schema, arrow_type
from ..dataset import Dataset, Example
from ..shard import ShardFile, groups
from ..tables import image_column, json_text, question_table

FILE_BYTES = 500 * 10**6
ROWS_IN_GROUP = 100
DICTIONARY_BYTES = 1 << 28  # above what the images of a row group take

ONE: Columns = (("image", "image"), *QUESTIONS, ("scene", "string"))
SEVERAL: Columns = (("images", ("image",)), *QUESTIONS, ("scenes", ("string",)))


def write(dataset: Dataset, out: Path, progress: Callable[[int, int, str], None]) -> None:
    """Write `data/{split}-00000.parquet`, … and a card; several images a question make a column of lists."""
    (out / "data").mkdir()
    columns = ONE if _one_image_each(dataset) else SEVERAL
    done, total = 0, len(dataset)
    splits = {}
    for split in dataset.splits:
        files: list[ShardFile] = []
        examples = dataset.examples(split)
        batch = list(islice(examples, ROWS_IN_GROUP))
        while batch:
            path = f"data/{split}-{len(files):05d}.parquet"
            rows = 0
            with (out / path).open("wb") as file, _writer(file, columns) as writer:
                while batch and (not rows or file.tell() < FILE_BYTES):
                    writer.write_table(_flat(batch, columns))
                    rows += len(batch)
                    done += len(batch)
                    progress(done, total, "questions")
                    batch = list(islice(examples, ROWS_IN_GROUP))
            files.append(ShardFile(path, rows, (out / path).stat().st_size, ""))
        if files:
            splits[split] = f"data/{split}-*.parquet", files
    about = dataset.manifest.about
    yaml = front_matter(about, [("questions", columns, splits)], total)
    (out / "README.md").write_text(
        f"---\n{yaml}---\n\n# {about.title}\n\n{about.summary}\n", encoding="utf-8"
    )


def _one_image_each(dataset: Dataset) -> bool:
    paths = [dataset.folder / s.questions.path for s in dataset.shards() if s.questions]
    return all(
        len(ids) == 1 for p in paths for t in groups(p, ["image_ids"]) for ids in t["image_ids"].to_pylist()
    )


def _writer(file: Any, columns: Columns) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(
        file,
        arrow_schema(columns),
        compression="zstd",
        use_dictionary=True,
        dictionary_pagesize_limit=DICTIONARY_BYTES,
    )


def _flat(examples: Sequence[Example], columns: Columns) -> Any:
    import pyarrow as pa

    table = question_table([e.question for e in examples])
    shown = [image for e in examples for image in e.images]
    pictures: Any = image_column([i.png for i in shown], [f"{i.id}.png" for i in shown])
    scenes: Any = pa.array([json_text(i.scene.to_json()) for i in shown], pa.string())
    if columns is SEVERAL:
        ends = [0]
        for e in examples:
            ends.append(ends[-1] + len(e.images))
        offsets = pa.array(ends, pa.int32())
        pictures = pa.ListArray.from_arrays(offsets, pictures, type=arrow_type(("image",)))
        scenes = pa.ListArray.from_arrays(offsets, scenes, type=arrow_type(("string",)))
    return pa.Table.from_arrays([pictures, *table.columns, scenes], schema=arrow_schema(columns))

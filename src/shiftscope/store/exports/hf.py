"""Hugging Face: one flat Parquet table per split, each question with its image, for `datasets.load_dataset`.

An image is repeated for each question about it, but takes its room once in a row group, by Parquet's
dictionaries.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from .. import tables
from ..card import format_front_matter, format_sources
from ..dataset import Dataset, Example, has_grounding
from ..shard import ShardFile, iterate_row_groups

FILE_BYTES = 500 * 10**6
ROWS_IN_GROUP = 100
DICTIONARY_BYTES = 1 << 28  # above what the images of a row group take


def list_columns(one_each: bool, grounded: bool) -> tables.Columns:
    """The columns of the export: of one image per question or of several, with the questions' grounding or without."""
    asked = tables.QUESTION_COLUMNS + (tables.GROUNDING_COLUMNS if grounded else ())
    if one_each:
        return (("image", "image"), *asked, ("scene", "string"))
    return (("images", ("image",)), *asked, ("scenes", ("string",)))


def write(dataset: Dataset, out: Path, progress: Callable[[int, int, str], None]) -> None:
    """Write `data/{split}-00000.parquet`, … and a card; several images a question make a column of lists."""
    import pyarrow.parquet as pq

    (out / "data").mkdir()
    options = {"compression": "zstd", "use_dictionary": True, "dictionary_pagesize_limit": DICTIONARY_BYTES}
    paths = [dataset.folder / s.questions.path for s in dataset.shards() if s.questions]
    batches = (table for path in paths for table in iterate_row_groups(path, ["image_ids"]))
    one_each = all(len(ids) == 1 for table in batches for ids in table["image_ids"].to_pylist())
    columns = list_columns(one_each, has_grounding(dataset))
    schema = tables.arrow_schema(columns)
    done, total = 0, len(dataset)
    splits = {}
    for split in dataset.splits:
        files: list[ShardFile] = []
        examples = dataset.examples(split)
        batch = list(islice(examples, ROWS_IN_GROUP))
        while batch:
            path = f"data/{split}-{len(files):05d}.parquet"
            rows = 0
            with (out / path).open("wb") as file, pq.ParquetWriter(file, schema, **options) as writer:
                while batch and (not rows or file.tell() < FILE_BYTES):
                    writer.write_table(_flatten_examples(batch, columns))
                    rows += len(batch)
                    done += len(batch)
                    progress(done, total, "questions")
                    batch = list(islice(examples, ROWS_IN_GROUP))
            files.append(ShardFile(path, rows, (out / path).stat().st_size, ""))
        if files:
            splits[split] = f"data/{split}-*.parquet", files
    about = dataset.manifest.about
    yaml = format_front_matter(about, [("questions", columns, splits)], total)
    texts = (f"---\n{yaml}---", f"# {about.title}", about.summary, format_sources(about))
    (out / "README.md").write_text("\n\n".join(filter(None, texts)) + "\n", encoding="utf-8")


def _flatten_examples(examples: Sequence[Example], columns: tables.Columns) -> Any:
    import pyarrow as pa

    names = [name for name, _ in columns]
    table = tables.build_question_table([e.question for e in examples], "grounding" in names)
    shown = [image for e in examples for image in e.images]
    pictures: Any = tables.build_image_column([i.png for i in shown], [f"{i.id}.png" for i in shown])
    scenes: Any = pa.array([tables.format_json(i.scene.to_json()) for i in shown], pa.string())
    if "images" in names:
        offsets = pa.array([0, *accumulate(len(e.images) for e in examples)], pa.int32())
        pictures = pa.ListArray.from_arrays(offsets, pictures, type=tables.arrow_type(("image",)))
        scenes = pa.ListArray.from_arrays(offsets, scenes, type=tables.arrow_type(("string",)))
    return pa.Table.from_arrays([pictures, *table.columns, scenes], schema=tables.arrow_schema(columns))

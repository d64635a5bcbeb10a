"""Marks: the concepts of every sample and whether its answer is frequent (head) or rare (tail), in one file.

`marks.parquet` in an audit's folder. With it a run or a results file is cut into all OOD sets at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError
from ..result import Column, Records
from ..whole import write_whole
from .audit import Audit
from .folder import MARKS, check_audit
from .labels import JOIN, NONE, SHORTCUTS, Labels
from .split import AUDIT_SPLIT, NAMES
from .tables import PARTS

ID, SPLIT = "question_id", "split"


def write_marks(audit: Audit, folder: Path) -> None:
    """Columns: the id as text, the split, and of each shortcut the part (`QT`) and concept (`QT concept`).

    Nothing in a part: the answers of the group are balanced. Nothing in a concept: it is not known, as the
    image has no annotations. Concepts are for reading: a sample without a word or object has `none`, and so
    has one whose word is none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {
        ID: pa.array(map(str, audit.samples.ids), pa.string(), size=len(audit.samples)),
        SPLIT: _dictionary(audit.split.codes.astype(np.int32), pa.array(NAMES)),
    }
    for shortcut, labels in audit.labels.items():
        part = np.zeros(len(audit.samples), np.int32)
        for groups in (audit.train[shortcut], audit.val[shortcut], audit.test[shortcut]):
            part[groups.rows] = groups.part
        columns[shortcut] = _dictionary(part - 1, pa.array(PARTS[1:]))
        named = _names(labels).dictionary_encode()  # two concepts may have one name
        table = np.append(named.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32)
        columns[f"{shortcut} concept"] = _dictionary(table[labels.codes], named.dictionary)
    buffer = BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="zstd")
    write_whole(folder / MARKS, buffer.getbuffer())


def marked(records: Records, folder: Path) -> Records:
    """The rows with a fact a shortcut (head, tail, or nothing) and the part of the audit they are in.

    A row that the audit does not have is in no part of it.
    """
    table = _marks(folder, (ID, SPLIT, *SHORTCUTS))
    shortcuts = [name for name in table.column_names if name in SHORTCUTS]
    place = {one: k for k, one in enumerate(table[ID].to_pylist())}
    rows = np.array([place.get(str(v), -1) for v in records.question.values] or [-1])[records.question.codes]
    if not (rows >= 0).any():
        raise UserError(f"{folder}: the audit has none of the questions that were asked")
    facts = dict(records.facts)
    for name, source in ((AUDIT_SPLIT, SPLIT), *((name, name) for name in shortcuts)):
        words = table[source].combine_chunks().dictionary_encode()
        values = tuple(words.dictionary.to_pylist())
        codes = words.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        facts[name] = Column(values, np.where(rows >= 0, codes[rows], -1).astype(np.int32))
    return replace(records, facts=tuple(facts.items()))


def splits_of(folder: Path) -> dict[str, str]:
    """Which part of an audit every question is in, by its id as text."""
    table = _marks(folder, (ID, SPLIT))
    return dict(zip(table[ID].to_pylist(), table[SPLIT].to_pylist(), strict=True))


def _marks(folder: Path, columns: Sequence[str]) -> Any:
    """Those of the columns that the marks of an audit have."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_audit(folder)
    path = folder / MARKS
    try:
        with pa.OSFile(os.fsencode(path)) as opened, pq.ParquetFile(opened) as file:
            table = file.read([name for name in columns if name in file.schema_arrow.names])
        table.select([ID, SPLIT])
        return table
    except (
        pa.ArrowException,
        OSError,
        KeyError,
        UnicodeDecodeError,
    ) as error:  # also where the audit is just made anew
        why = " ".join(str(error).split())
        raise UserError(f"{path} cannot be read ({why}); run the same shiftscope audit again") from None


def _names(labels: Labels) -> Any:
    """What `Labels.name` says of every concept, at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for words, codes in zip(labels.words, labels.parts.T, strict=True):
        at = np.where(codes < 0, len(words), codes)
        columns.append(pa.array((*words, NONE), pa.string()).take(pa.array(at)))
    return pc.binary_join_element_wise(*columns, JOIN)


def _dictionary(codes: np.typing.NDArray[np.int32], words: Any) -> Any:
    """Numbers into words, as Parquet keeps them; -1 is nothing."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)

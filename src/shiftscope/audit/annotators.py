"""What every annotator answered to some of the samples, read from the annotation files only when wanted."""

from __future__ import annotations

import json
from typing import Any

from ..answer import spell
from .rows import ANNOTATIONS, raw_rows
from .samples import Rows, Samples


def annotators(samples: Samples, rows: Rows) -> list[tuple[str, ...]]:
    """The answers to each sample, one an annotator; none where the files hold one answer only."""
    origin = samples.origin
    if origin is None:
        return [()] * len(rows)
    texts: dict[int, Any] = {}
    made: list[tuple[str, ...]] = []
    for file, row in origin.annotation[rows].tolist():
        if file < 0:
            made.append(())
            continue
        if file not in texts:
            texts[file] = raw_rows(origin.files[file], ANNOTATIONS)
        made.append(said(json.loads(bytes(texts[file][row])).get("answers")))
    return made


def said(listed: Any) -> tuple[str, ...]:
    """The answers of a list of records or of plain answers; anything else is none."""
    if not isinstance(listed, list):
        return ()
    found = (one.get("answer") if isinstance(one, dict) else one for one in listed)
    return tuple(a if isinstance(a, str) else spell(a) for a in found if isinstance(a, str | int))

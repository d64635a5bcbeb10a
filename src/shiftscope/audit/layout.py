"""The file layout of VQA-VS: a folder a set, in it the questions and the answers, each a bare list.

`OOD-Test/QT/OOD-Test-QT-Ques.json` and `…-Ans.json`. Rows that came from VQA files are copied as they were; a
row that lacks something, or says it in another way than VQA does, is written complete, so that every reader
of VQA files can read it: an empty question, type or list of answers, and for a sample without an image a name
of its own in place of one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..whole import write_whole
from .annotators import said
from .rows import ANNOTATIONS, raw_rows
from .rows import QUESTIONS as ASKED
from .samples import Id, Rows, Samples
from .sets import SampleSet
from .usual import is_answer_list, unusual

TRAIN, VAL, TEST = "Training", "Val", "IID-Test"
OOD_TEST, OOD_VAL, HEAD = "OOD-Test", "OOD-Val", "Head"  # each with a folder a shortcut
QUESTIONS, ANSWERS = "Ques", "Ans"

Tell = Callable[[int, int], None]  # done, of how many
Source = Callable[[Rows], list[Any]]  # the JSON texts of these samples


def file_of(folder: Path, name: str, what: str) -> Path:
    """Where a set's questions or answers lie: `OOD-Test/QT` → `OOD-Test/QT/OOD-Test-QT-Ques.json`."""
    return folder / name / f"{name.replace('/', '-')}-{what}.json"


def write_sets(
    samples: Samples, sets: Sequence[SampleSet], out: Path, tell: Tell = lambda done, total: None
) -> None:
    """Write every set, each file whole; what stood there under the same names is replaced."""
    from concurrent.futures import ThreadPoolExecutor

    sources = ((QUESTIONS, _questions(samples)), (ANSWERS, _answers(samples)))
    jobs = [(file_of(out, one.name, what), source, one.rows) for what, source in sources for one in sets]
    pool = ThreadPoolExecutor(2)  # one gathers rows while the other's are on their way to the disk
    try:
        for done, _ in enumerate(pool.map(lambda job: _write(*job), jobs), 1):
            tell(done, len(jobs))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for files not yet begun


def _write(path: Path, source: Source, rows: Rows) -> None:
    write_whole(path, _listed(source(rows)), durable=False)


def _listed(rows: Iterable[Any]) -> bytes:
    return b"[" + b",\n".join(rows) + b"]\n"


def _image(samples: Samples, k: int) -> Id:
    """The sample's image; a name of its own where there is none, as VQA's rows must have one."""
    image: Id | None = samples.images[k]
    return f"question {samples.ids[k]}" if image is None else image


def _question(samples: Samples, k: int, row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        "image_id": _image(samples, k),
        "question": samples.texts[k],
        "question_id": samples.ids[k],
    }


def _annotation(samples: Samples, k: int, row: dict[str, Any]) -> dict[str, Any]:
    """Answers that are no list of VQA's are written as one; where only one answer is known it is empty."""
    kind = samples.types[k] if samples.types is not None else None
    listed = row.get("answers")
    if not is_answer_list(listed):
        listed = [{"answer": one, "answer_id": n} for n, one in enumerate(said(listed), 1)]
    if not isinstance(row.get("answer_type", ""), str):
        row = {name: value for name, value in row.items() if name != "answer_type"}
    return row | {
        "question_id": samples.ids[k],
        "image_id": _image(samples, k),
        "question_type": kind or "",
        "multiple_choice_answer": samples.answers[k],
        "answers": listed,
    }


Complete = Callable[[Samples, int, dict[str, Any]], dict[str, Any]]


def _questions(samples: Samples) -> Source:
    if samples.origin is None:
        return _made(samples, _question)
    return _copied(samples, samples.origin.question, ASKED, _question)


def _answers(samples: Samples) -> Source:
    if samples.origin is None:
        return _made(samples, _annotation)
    return _copied(samples, samples.origin.annotation, ANNOTATIONS, _annotation)


def _made(samples: Samples, complete: Complete) -> Source:
    return lambda rows: [_json(complete(samples, k, {})) for k in rows.tolist()]


def _copied(samples: Samples, places: npt.NDArray[np.int32], key: str, complete: Complete) -> Source:
    """Rows as they stand in the files, each file read once; what is not as it should be is made so."""
    assert samples.origin is not None
    files = samples.origin.files
    texts = {k: raw_rows(files[k], key) for k in np.unique(places[:, 0]).tolist()}
    stood = [texts[file][row] for file, row in places.tolist()]
    anew = samples.origin.repaired | unusual(stood, key, samples.images)

    def copied(rows: Rows) -> list[Any]:
        found: list[Any] = [stood[k] for k in rows.tolist()]
        if anew:
            for at, k in enumerate(rows.tolist()):
                if k in anew:
                    found[at] = _json(complete(samples, k, json.loads(bytes(found[at]))))
        return found

    return copied


def _json(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(", ", ": ")).encode()

"""Library: questions and pictures found by id in the datasets that runs were asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import UserError
from ..question import Question
from ..result import AS_IS, Prediction
from ..store.dataset import Dataset, Example
from ..store.runlog import read_rows
from ..store.shard import groups
from ..store.shelf import Shelf
from ..store.tables import questions_of
from .study import Run

MOST_ROWS = 50_000  # of a run whose replies are read in full: a second or two


def examples(folder: Path, questions: Iterable[str], split: str | None = None) -> Mapping[str, Example]:
    """The examples of these ids with their pictures; ids that the dataset does not know are left out.

    Reads one column of the questions and, beyond that, only the rows asked for.
    """
    dataset = Dataset.open(folder)
    wanted = set(questions)
    shelf = Shelf(folder, dataset.shards())
    found: dict[str, Example] = {}
    for shard in dataset.shards(split if split in dataset.splits else None):
        if shard.questions is None or len(found) == len(wanted):
            continue
        for question in _picked(folder / shard.questions.path, wanted):
            images = tuple(shelf.get(i, shard) for i in question.scenes)
            found.setdefault(question.id, Example(question, images, shard.split))
    return found


def _picked(path: Path, wanted: set[str]) -> list[Question]:
    """The wanted questions of a file."""
    ids = [table["question_id"].to_pylist() for table in groups(path, ["question_id"])]
    if not any(i in wanted for group in ids for i in group):
        return []
    made: list[Question] = []
    for group, table in zip(ids, groups(path), strict=True):
        rows = [k for k, i in enumerate(group) if i in wanted]
        if rows:
            made += questions_of(table.take(rows))
    return made


def replies(run: Run, questions: Iterable[str]) -> Mapping[str, Prediction]:
    """What a run has in full for these questions, asked as they are: raw reply, program and trace.

    Every row of the run is read for it, so that nothing is given of a run of many rows.
    """
    wanted = set(questions)
    if run.folder is None or len(run.log.records) > MOST_ROWS:
        return {}
    rows = (said for _, said in read_rows(run.folder) if said.condition == AS_IS)
    return {said.question: said for said in rows if said.question in wanted}


def has_data(folder: Path) -> bool:
    """Whether a finished dataset is there."""
    try:
        Dataset.open(folder)
    except UserError:
        return False
    return True

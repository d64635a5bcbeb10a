"""Mentions: which words of the data's vocabulary each question of a run uses, to slice by."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import UserError
from ..result import Codes, RunRecords
from ..schema import Schema
from ..store.dataset import Dataset, find_schema
from ..store.shard import iterate_row_groups
from .measure import Levels
from .runs import ReportRun

MENTIONS = "mentions "  # begins the name of such a fact
MOST_ROWS = 50_000  # of which the words are looked at
ENDINGS = ("", "s", "es")
WORD = re.compile(r"[a-z0-9-]+")
Vocabulary = Mapping[str, Sequence[str]]  # value → the ways to say it


def find_mentions(runs: Sequence[ReportRun]) -> dict[str, Levels]:
    """For each value of the data's vocabulary, which rows of these runs, pooled, mention it.

    Nothing where a dataset is not there, has no closed vocabulary, or the runs have very many rows.
    """
    each = [one for run in runs for one in run.each]
    if not each or sum(len(one.records) for one in each) > MOST_ROWS:
        return {}
    pairs = [(one.records, _find_run_mentions(one)) for one in each]
    levels = {}
    for value in dict.fromkeys(value for _, found in pairs for value in found):
        codes = np.concatenate([_mark_rows(records, found.get(value)) for records, found in pairs])
        levels[f"{MENTIONS}{value}"] = Levels(("yes",), codes, ordered=False)
    return levels


def _mark_rows(records: RunRecords, questions: frozenset[str] | None) -> Codes:
    """0 where a row's question is one of these, else -1."""
    names = questions or frozenset()
    place = np.array([*(0 if name in names else -1 for name in records.question.values), -1], np.int32)
    return place[records.question.codes]


def _find_run_mentions(run: ReportRun) -> Mapping[str, frozenset[str]]:
    split = str(run.spec.get("split") or "")
    try:
        return _read_mentions(run.data, split, str(run.spec.get("data_id"))) if run.data else {}
    except UserError:
        return {}


@lru_cache(maxsize=16)
def _read_mentions(folder: Path, split: str, _data_id: str) -> Mapping[str, frozenset[str]]:
    """The ids of the questions of a split that mention each value."""
    dataset = Dataset.open(folder)
    words = list_vocabulary(find_schema(dataset))
    found: dict[str, set[str]] = {}
    for shard in dataset.shards(split) if words and split in dataset.splits else ():
        path = folder / shard.questions.path if shard.questions else None
        for table in iterate_row_groups(path, ["question_id", "question"]) if path else ():
            for name, text in zip(table["question_id"].to_pylist(), table["question"].to_pylist(), strict=True):
                for value in list_mentions(text, words):
                    found.setdefault(value, set()).add(name)
    return {value: frozenset(names) for value, names in sorted(found.items())}


def list_vocabulary(schema: Schema) -> Vocabulary:
    """The values and kinds of a closed schema, and the names of parts, each with the ways to say it."""
    if not schema.closed:
        return {}
    synonyms = dict(schema.synonyms)
    values = [term for a in (*schema.attributes, *schema.part_attributes) for term in a.terms]
    values += [part for _, parts in schema.parts for part in parts]
    return {v: tuple(w.lower().replace("_", " ") for w in (v, *synonyms.get(v, ()))) for v in dict.fromkeys(values)}


def list_mentions(text: str, words: Vocabulary) -> list[str]:
    """The values that a question mentions, in the singular or plural."""
    flat = f" {' '.join(WORD.findall(text.lower()))} "
    return [v for v, ways in words.items() if any(f" {way}{end} " in flat for way in ways for end in ENDINGS)]

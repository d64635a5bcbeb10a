"""Official file families, one file each: sniff, read (as records and as columns) and write.

The family of a file is recognised by its content, never by its name. A new format is a new file here, with
any of `sniff_scenes(file)` and `read_scenes(path)`, `sniff_questions(file)` and `read_questions(path)`,
`read_question_table(questions, annotations, splits)` with `ANSWERS_APART`, and `read_objects(path)`. `REFINES`
names a family whose files these are too; with `USES_SCHEMA`, `read_questions` also takes a schema. `RELEASE` is
the dataset that files of the family are usually from, and its licence as Hugging Face spells it.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import json_files as _json
from ..errors import UserError
from ..executor import ONE_PROCESS, Executor, collect_rarely
from ..question import Question
from ..question_table import ImageContents, QuestionTable, add_objects, collect_objects
from ..registry import FORMATS
from ..scene import Scene
from ..schema import Schema

OBJECTS_TWICE = "the rows name the objects of their images; omit --objects"
LARGE_BYTES = 50 << 20  # of JSON: less is read before a process has started


def read_scenes(path: Path) -> list[Scene]:
    return list(iterate_scenes(path))


def iterate_scenes(path: Path) -> Iterator[Scene]:
    """The same, one at a time where the family allows it."""
    return iter(find_format(path, "scenes").read_scenes(path))


def read_questions(path: Path, schema: Schema | None = None) -> Iterator[Question]:
    """The questions of a file of any family, one at a time; a schema tells what COVR's words are."""
    reader: Any = find_format(path, "questions")
    questions: Iterator[Question] = reader.read_questions(path, *([schema] if hasattr(reader, "USES_SCHEMA") else []))
    return questions


def read_objects(path: Path) -> ImageContents:
    """Which kinds of objects the images of a file or folder show."""
    reader: Any = find_format(path, "scenes")
    if not hasattr(reader, "read_objects"):
        return collect_objects(reader.read_scenes(path))
    contents: ImageContents = reader.read_objects(path)
    return contents


def read_question_table(
    questions: Sequence[Path],
    annotations: Sequence[Path] = (),
    objects: Sequence[Path] = (),
    splits: Sequence[str] = (),
    executor: Executor = ONE_PROCESS,
) -> QuestionTable:
    """The answered questions of files in columns, with the objects of their images; several files are merged.

    `splits` names the split of each questions file. With several workers, large files of objects are read by them
    meanwhile.
    """
    if not questions:
        raise UserError("no questions file is given")
    if splits and len(splits) != len(questions):
        raise UserError(f"{len(questions)} questions files, but {len(splits)} splits are named")
    file = _json.InputFile(questions[0])
    able = [m for m in _load_formats("read_question_table") if bool(annotations) == m.ANSWERS_APART]
    # Rows that lack a field may not be sniffed, and are read all the same where only one family has such files.
    fits = [m for m in able if m.sniff_questions(file)] or (able[:1] if annotations else [])
    if not fits:
        raise UserError(
            f"{questions[0]}: its answers are in another file; name it with --annotations "
            "(only GQA's questions hold their answers)"
        )
    large = sum(path.stat().st_size for path in objects if path.is_file()) >= LARGE_BYTES
    apart = bool(objects) and (not executor.shares_disk or (large and executor.workers > 1))
    if apart:
        executor.require_files(objects)
    with collect_rarely(), ThreadPoolExecutor(1) as thread:  # millions of values, none of them in a cycle
        contents = thread.submit(list, executor.map(read_objects, objects, len(objects))) if apart else None
        table: QuestionTable = fits[0].read_question_table(questions, annotations, splits)
        if not objects:
            return table
        if table.objects is not None:
            raise UserError(OBJECTS_TWICE)
        return add_objects(table, contents.result() if contents else map(read_objects, objects))


def find_license(path: Path) -> tuple[str, str, str]:
    """The release that a file's format is of, what the file says of its licence, and the licence; "" if unknown."""
    file = _json.InputFile(path)
    whole = file.outline if isinstance(file.outline, dict) else {}
    info = whole.get("info")
    stated = (info.get("license") if isinstance(info, dict) else None) or whole.get("license") or ""
    if isinstance(stated, dict):
        stated = " ".join(str(stated[key]) for key in ("name", "url") if stated.get(key))
    what = next((w for w in ("scenes", "questions") if _find_fits(file, w)), "")
    release, license = getattr(find_format(path, what), "RELEASE", ("", "")) if what else ("", "")
    if isinstance(stated, str) and stated:
        return release, " ".join(stated.split()), "cc-by-4.0" if _CC_BY.search(stated) else ""
    return release, "", license


_CC_BY = re.compile(r"CC[ -]BY[ -]4\.0|licenses/by/4\.0|Creative Commons Attribution 4\.0", re.IGNORECASE)


def _find_fits(file: _json.InputFile, what: str) -> list[ModuleType]:
    return [m for m in _load_formats(f"read_{what}") if getattr(m, f"sniff_{what}")(file)]


def find_format(path: Path, what: str) -> ModuleType:
    """The family whose `scenes` or `questions` the file or folder holds."""
    file = _json.InputFile(path)
    fits = _find_fits(file, what)
    refined = {getattr(m, "REFINES", "") for m in fits}
    for found in fits:
        if found.__name__.rpartition(".")[2] not in refined:
            return found
    if path.is_dir():
        raise UserError(f"{path}: no {what} that ShiftScope knows in this folder")
    _json.load_json(path)
    able = _load_formats(f"read_{what}")
    for reason in (getattr(m, f"explain_{what}")(file) for m in able if hasattr(m, f"explain_{what}")):
        if reason:
            raise UserError(f"{path}: no {what} that ShiftScope knows: {reason}")
    known = "; ".join((m.__doc__ or "").partition(":")[0] for m in able)
    got = _describe_json(file.outline)
    raise UserError(f"{path}: no {what} that ShiftScope knows: expected one of {known}; got {got}")


@cache
def _load_formats(reader: str) -> list[ModuleType]:
    """The families that offer the reader, by name."""
    return [module for _, module in FORMATS.load_all() if hasattr(module, reader)]


def _describe_json(sample: Any) -> str:
    if isinstance(sample, dict):
        return f"an object with {', '.join(map(repr, list(sample)[:4]))}" if sample else "an empty object"
    if not isinstance(sample, list):
        return f"a single {type(sample).__name__}"
    if sample and isinstance(sample[0], dict):
        return f"a list of objects with {', '.join(map(repr, list(sample[0])[:4]))}"
    return f"a list of {type(sample[0]).__name__}" if sample else "an empty list"

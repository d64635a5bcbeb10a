"""Write: the second reading of a file, with which its samples are marked and written into their sets.

A part's rows of all sets lie in one piece on disk, set after set; `join_sets` puts the pieces of all parts together.
The files are those of an audit in memory, byte by byte.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrow_array import read_numbers, wrap_numbers
from ...files import write_whole
from ...folder import open_folder
from ...formats.sample_rows import IdTexts, SampleRows, digest_rows, iterate_rows
from ...question_table import encode_texts
from ..audit import SPLIT_NAMES, TEST, TRAIN, SetRule
from ..audit_folder import ANSWERS_SUFFIX, MARKS_FILE, QUESTIONS_SUFFIX, ROW_GROUP, build_marks, name_concepts, set_file
from ..groups import HEAD, TAIL
from .plan import StreamPlan, list_concept_parts, load_vocabulary, part_codes
from .reduce import load_aligned, name_groups, name_kinds
from .reduce import name_concepts as concepts_name
from .scan import build_change_error, read_state
from .spool import Array, Spool, pack_texts, unpack_texts

COPY_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class RecipeRule:
    """A set of a recipe: samples of the IID test whose (group, answer) the recipe marked so."""

    name: str  # of the set's folder
    mark: str  # of its column in the marks, without what all begin with
    shortcut: str
    array: str  # in the spool
    parts: tuple[int, ...]  # HEAD, TAIL or both


@dataclass(frozen=True, slots=True)
class WriteJob:
    """A file to be read again, with the places of its parts among all."""

    plan: StreamPlan
    path: Path
    split: str
    digest: str
    places: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]  # [part, shortcut] where its keys begin in the aligned arrays
    sizes: tuple[tuple[int, ...], ...]
    rules: tuple[SetRule, ...]
    recipes: tuple[RecipeRule, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SetCounts:
    """How many samples each set has, and how many each two shortcuts share."""

    sets: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]  # [shortcut, shortcut] samples in both train heads
    tails: npt.NDArray[np.int64]  # in both OOD test sets

    def merge(self, other: "SetCounts") -> "SetCounts":
        return SetCounts(self.sets + other.sets, self.heads + other.heads, self.tails + other.tails)


def write_file(job: WriteJob) -> SetCounts:
    """Mark the samples of a file and write the pieces of their sets."""
    spool = job.plan.spool
    if not all(spool.has(f"write-{place}") for place in job.places):
        state = read_state(job.path)
        if digest_rows(job.path) != job.digest:
            raise build_change_error(job.path)
        for number, rows in enumerate(iterate_rows(job.path, job.split, annotators=True)):
            if not spool.has(f"write-{job.places[number]}"):
                _write_part(job, number, rows)
        if read_state(job.path) != state:
            for place in job.places:
                (spool.folder / f"write-{place}.npz").unlink(missing_ok=True)
            raise build_change_error(job.path)
    shortcuts, sets = len(job.plan.shortcuts), len(job.rules) + len(job.recipes)
    pair = np.zeros((shortcuts, shortcuts), np.int64)
    every = SetCounts(np.zeros(sets, np.int64), pair, pair)
    for place in job.places:
        told = spool.load_record(f"write-{place}")
        every = every.merge(SetCounts(*(np.array(told[name], np.int64) for name in ("sets", "heads", "tails"))))
    return every


def _write_part(job: WriteJob, number: int, rows: SampleRows) -> None:
    plan, spool, place = job.plan, job.plan.spool, job.places[number]
    _, held = spool.load(f"label-{place}")
    split = held["split"]
    kinds, concepts, sets = {}, {}, []
    aligned = dict(zip(plan.shortcuts, zip(job.starts[number], job.sizes[number], strict=True), strict=True))
    for shortcut, where in aligned.items():
        kinds[shortcut] = load_aligned(spool, name_kinds(shortcut), *where)[held[shortcut]]
        inside = held[shortcut] >= 0
        concepts[shortcut] = np.where(inside, load_aligned(spool, concepts_name(shortcut), *where)[held[shortcut]], -1)
    for rule in job.rules:
        chosen = split == SPLIT_NAMES.index(rule.split)
        sets.append(chosen & (kinds[rule.shortcut] == rule.part) if rule.shortcut else chosen)
    marks = {}
    for recipe in job.recipes:
        kind = load_aligned(spool, recipe.array, *aligned[recipe.shortcut])[held[recipe.shortcut]]
        marks[recipe.mark] = np.isin(kind, recipe.parts)
        sets.append(marks[recipe.mark])
    places = [np.flatnonzero(one) for one in sets]
    lengths = {}
    for what, texts in ((QUESTIONS_SUFFIX, format_questions(rows)), (ANSWERS_SUFFIX, format_answers(rows))):
        pieces = [_take_bytes(texts, chosen) for chosen in places]
        lengths[what] = [len(piece) for piece in pieces]
        write_whole(_piece_path(spool, place, what), iter(pieces), durable=False)
    train, test = (split == SPLIT_NAMES.index(name) for name in (TRAIN, TEST))
    told = {
        "sets": [len(chosen) for chosen in places],
        "heads": _count_shared([train & (kind == HEAD) for kind in kinds.values()]),
        "tails": _count_shared([test & (kind == TAIL) for kind in kinds.values()]),
        "lengths": lengths,
    }
    data, at = pack_texts(rows.ids.texts)
    columns = {f"kind {s}": kind for s, kind in kinds.items()} | {f"concept {s}": c for s, c in concepts.items()}
    columns |= {f"set {name}": inside for name, inside in marks.items()}
    spool.save(f"write-{place}", told, id_data=data, id_at=at, split=split, **columns)


def _piece_path(spool: Spool, place: int, what: str) -> Path:
    return spool.folder / f"{what}-{place}.piece"


def _count_shared(inside: Sequence[Array]) -> Any:
    members = np.array(inside).astype(np.float64)  # counts exactly, and multiplies fast
    return (members @ members.T).astype(np.int64).tolist()


# Rows of VQA's files, each with a comma behind it.


def format_questions(rows: SampleRows) -> Any:
    parts = '{"image_id": ', _format_images(rows), ', "question": ', quote_texts(rows.texts), ', "question_id": '
    return _join(*parts, _format_ids(rows.ids), "},\n")


def format_answers(rows: SampleRows) -> Any:
    types = quote_texts(rows.types.fill_null("") if rows.types.null_count else rows.types)
    said = rows.annotators.fill_null("[]") if rows.annotators.null_count else rows.annotators
    return _join(
        *('{"question_id": ', _format_ids(rows.ids), ', "image_id": ', _format_images(rows), ', "question_type": '),
        *(types, ', "multiple_choice_answer": ', quote_texts(rows.answers), ', "answers": ', said, "},\n"),
    )


def _join(*parts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.large_string()
    columns = (pa.scalar(part, text) if isinstance(part, str) else part for part in parts)
    return pc.binary_join_element_wise(*columns, pa.scalar("", text))


def quote_texts(texts: Any) -> Any:
    """Each text as JSON; each distinct one is written once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(texts, r'["\\\x00-\x1f]')).as_py():
        return _join('"', texts, '"')
    words, codes = encode_texts(texts)
    quoted = pa.array([encode_basestring(one) for one in words.to_pylist()], pa.large_string())
    return quoted.take(wrap_numbers(codes))


def _format_ids(ids: IdTexts) -> Any:
    import pyarrow.compute as pc

    if ids.numeric.all():
        return ids.texts
    quoted = quote_texts(ids.texts)
    return pc.if_else(_wrap_flags(ids.numeric), ids.texts, quoted) if ids.numeric.any() else quoted


def _format_images(rows: SampleRows) -> Any:
    """The image's id; a name of its own for a sample without one, as VQA's rows must have one."""
    import pyarrow.compute as pc

    texts, numeric = rows.images.texts, rows.images.numeric
    if texts.null_count:
        alone = read_numbers(texts.is_null())
        texts = pc.if_else(_wrap_flags(alone), _join("question ", rows.ids.texts), texts)
        numeric = numeric & ~alone
    return _format_ids(IdTexts(texts, numeric))


def _wrap_flags(flags: npt.NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(flags)


def _take_bytes(texts: Any, rows: Array) -> Any:
    return pack_texts(texts.take(wrap_numbers(rows)))[0].data


# All parts together.


def join_sets(
    spool: Spool, places: Sequence[int], names: Sequence[str], out: Path, tell: Callable[[int, int], None]
) -> None:
    """Write the files of every set from the pieces of all parts."""
    folder = open_folder(out)
    lengths = [spool.load_record(f"write-{place}")["lengths"] for place in places]
    for done, (what, k) in enumerate((w, k) for w in (QUESTIONS_SUFFIX, ANSWERS_SUFFIX) for k in range(len(names))):
        tell(done, 2 * len(names))

        def iterate_pieces(what: str = what, k: int = k) -> Iterator[bytes]:
            yield b"["
            left = sum(told[what][k] for told in lengths) - 2  # the last comma goes
            for place, told in zip(places, lengths, strict=True):
                with _piece_path(spool, place, what).open("rb") as file:
                    file.seek(sum(told[what][:k]))
                    here = told[what][k]
                    while here > 0:
                        piece = file.read(min(COPY_BYTES, here))
                        here -= len(piece)
                        if left > 0:
                            yield piece[:left]
                        left -= len(piece)
            yield b"]\n"

        folder.write_whole(set_file(Path(), names[k], what).as_posix(), iterate_pieces(), durable=False)
    tell(2 * len(names), 2 * len(names))


def join_marks(plan: StreamPlan, places: Sequence[int], marks: Sequence[str], out: Path) -> None:
    """Write the marks of all samples, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    every, names = load_vocabulary(plan.spool), {}
    for shortcut in plan.shortcuts:
        codes = part_codes(np.array(plan.spool.map_array(name_groups(shortcut))), plan.list_radices(shortcut))
        words = [every.name_part(part).cast(pa.string()) for part in list_concept_parts(shortcut)]
        names[shortcut] = name_concepts(words, np.stack(codes, axis=1))
    writer: Any = None
    waiting: list[dict[str, Any]] = []
    count = 0

    def flush(rows: int) -> None:
        nonlocal writer, waiting, count
        columns = {name: np.concatenate([one[name] for one in waiting]) for name in waiting[0] if name != "ids"}
        ids = pa.concat_arrays([one["ids"] for one in waiting])
        table = build_marks(
            ids[:rows],
            columns["split"][:rows],
            {s: columns[f"kind {s}"][:rows] for s in plan.shortcuts},
            {s: (columns[f"concept {s}"][:rows], names[s]) for s in plan.shortcuts},
            {mark: columns[f"set {mark}"][:rows] for mark in marks},
        )
        if writer is None:
            writer = pq.ParquetWriter(out / MARKS_FILE, table.schema, compression="zstd")
        writer.write_table(table)
        waiting = [{name: values[rows:] for name, values in columns.items()} | {"ids": ids[rows:]}]
        count -= rows

    for place in places:
        _, file = plan.spool.load(f"write-{place}")
        kept = {name: file[name] for name in file.files if name not in ("record", "id_data", "id_at")}
        waiting.append(kept | {"ids": unpack_texts(file["id_data"], file["id_at"]).cast(pa.string())})
        count += len(kept["split"])
        while count >= ROW_GROUP:
            flush(ROW_GROUP)
    if count or writer is None:
        flush(count)
    writer.close()

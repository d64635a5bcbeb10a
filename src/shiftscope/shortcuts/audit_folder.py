"""The folder of an audit: sets in VQA-VS's file layout, every sample's concepts, the report.

A new audit is written into a hidden folder inside and moved up at the end. `audit.json` goes first and comes
last, so that a folder which has it is whole: sets, marks and report are of one audit.

A set is a folder with questions and answers, each a bare list: `OOD-Test/QT/OOD-Test-QT-Ques.json` and
`…-Ans.json`. Rows that came from VQA files are copied as they were; a row that lacks something, or says it in
another way than VQA does, is written complete, so that every reader of VQA files can read it: an empty
question, type or list of answers, and for a sample without an image a name of its own in place of one.

`marks.parquet` holds the concepts of every sample, whether its answer is frequent (head) or rare (tail), and in which
sets of a recipe it is: with it a run or a results file is cut into all these sets at once. `audit.json` has the
digests of the marks and of the IID test, so that figures are never of files edited since.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..columns import Column
from ..errors import UserError
from ..files import explain_write_errors, file_digest, open_arrow_file, read_bytes, resolve_links
from ..folder import Folder, open_folder
from ..formats.vqa import is_answer_list, parse_answer_list
from ..json_files import decode_json
from ..question_table import Id, QuestionTable, Rows, SampleSet
from ..records import content_id
from ..result import RunRecords
from ..row_texts import SEPARATOR, RowTexts, gather_rows
from .audit import AUDIT_SPLIT, AUDIT_VERSION, SET_FACT, SPLIT_NAMES, TEST, ShortcutAudit
from .audit_statistics import PART_NAMES
from .concepts import ANY, CONCEPT_JOIN, NO_CONCEPT, OUT, SHORTCUTS, Codes

TRAIN_FOLDER, VAL_FOLDER, TEST_FOLDER = "Training", "Val", "IID-Test"
OOD_TEST_FOLDER, OOD_VAL_FOLDER, HEAD_FOLDER = "OOD-Test", "OOD-Val", "Head"  # each with a folder a shortcut
QUESTIONS_SUFFIX, ANSWERS_SUFFIX = "Ques", "Ans"

SetProgress = Callable[[int, int], None]  # done, of how many
RowSource = Callable[[Rows], Any]  # the JSON texts of these samples, bytes-like, with a separator before each
BLOCK_ROWS = 4096  # written at once; more do not stay in the cache


def set_file(folder: Path, name: str, what: str) -> Path:
    """Where a set's questions or answers lie: `OOD-Test/QT` → `OOD-Test/QT/OOD-Test-QT-Ques.json`."""
    return folder / name / f"{name.replace('/', '-')}-{what}.json"


def write_sets(
    samples: QuestionTable,
    sets: Sequence[SampleSet],
    out: Path,
    tell: SetProgress = lambda done, total: None,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Write every set, each file whole; what stood there under the same names is replaced.

    `meanwhile` is called in a thread beside those that write.
    """
    from concurrent.futures import ThreadPoolExecutor

    folder = open_folder(out)
    sources = [(what, _build_source(samples, what)) for what in (QUESTIONS_SUFFIX, ANSWERS_SUFFIX)]
    jobs = [(set_file(Path(), one.name, what), source, one.rows) for what, source in sources for one in sets]

    def write_set(job: tuple[Path, RowSource, Rows]) -> None:
        path, source, rows = job
        folder.write_whole(path.as_posix(), _join_rows(source, rows), durable=False)

    pool = ThreadPoolExecutor(2)  # one gathers rows while the other's are on their way to the disk
    try:
        other = pool.submit(meanwhile)
        for done, _ in enumerate(pool.map(write_set, jobs), 1):
            tell(done, len(jobs))
        other.result()
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for files not yet begun


def _join_rows(source: RowSource, rows: Rows) -> Iterator[Any]:
    """The list of these rows as JSON, in pieces."""
    yield b"["
    for start in range(0, len(rows), BLOCK_ROWS):
        yield memoryview(source(rows[start : start + BLOCK_ROWS]))[0 if start else len(SEPARATOR) :]
    yield b"]\n"


def _build_source(samples: QuestionTable, what: str) -> RowSource:
    """Rows as they stand in the files; odd ones, and those of samples from no such file, are completed."""
    origin, asks = samples.origin, what == QUESTIONS_SUFFIX
    complete = _complete_question if asks else _complete_annotation

    def encode(k: int, row: dict[str, Any]) -> bytes:
        return json.dumps(complete(samples, k, row), ensure_ascii=False).encode()

    if origin is None:
        return lambda rows: b"".join(SEPARATOR + encode(k, {}) for k in rows.tolist())
    files, places = (origin.question if asks else origin.annotation).T.astype(np.int64)
    odd = np.zeros(len(samples), bool)
    odd[[*origin.repaired, *(origin.odd_questions if asks else origin.odd_annotations)]] = True
    texts = [one for one in origin.rows if isinstance(one, RowTexts)]

    def copy(k: int) -> Any:
        text = origin.rows[files[k]][places[k]]
        return encode(k, json.loads(bytes(text))) if odd[k] else text

    def join(rows: Rows) -> Any:
        if len(texts) == len(origin.rows) and not odd[rows].any():
            return gather_rows(texts, files[rows], places[rows])
        return SEPARATOR + SEPARATOR.join(map(copy, rows.tolist()))

    return join


def _image_id(samples: QuestionTable, k: int) -> Id:
    """The sample's image; a name of its own where there is none, as VQA's rows must have one."""
    image: Id | None = samples.images[k]
    return f"question {samples.ids[k]}" if image is None else image


def _complete_question(samples: QuestionTable, k: int, row: dict[str, Any]) -> dict[str, Any]:
    return row | {"image_id": _image_id(samples, k), "question": samples.texts[k], "question_id": samples.ids[k]}


def _complete_annotation(samples: QuestionTable, k: int, row: dict[str, Any]) -> dict[str, Any]:
    """Answers that are no list of VQA's are written as one; where only one answer is known it is empty."""
    kind = samples.types[k] if samples.types is not None else None
    listed = row.get("answers")
    if samples.annotators is not None and samples.annotators[k] is not None:
        listed = json.loads(samples.annotators[k])
    if not is_answer_list(listed):
        listed = [{"answer": one, "answer_id": n} for n, one in enumerate(parse_answer_list(listed), 1)]
    if not isinstance(row.get("answer_type", ""), str):
        row = {name: value for name, value in row.items() if name != "answer_type"}
    told = {"question_type": kind or "", "multiple_choice_answer": samples.answers[k], "answers": listed}
    return row | {"question_id": samples.ids[k], "image_id": _image_id(samples, k)} | told


AUDIT_FILE, MARKS_FILE, REPORT_FILE = "audit.json", "marks.parquet", "report.html"
ROW_GROUP = 128 * 1024  # rows of the marks that are written together, whether they are streamed or not
SET_FOLDERS = (TRAIN_FOLDER, VAL_FOLDER, TEST_FOLDER, OOD_TEST_FOLDER, OOD_VAL_FOLDER, HEAD_FOLDER, "Proportion")
STAGING_FOLDER = ".audit.partial"
SPOOL_FOLDER = ".audit.stream"  # what an audit that streams has counted so far
DATASET_MANIFEST = "manifest.json"  # of a dataset of ours


def is_audit(folder: Path) -> bool:
    """Whether a whole audit is there."""
    return (folder / AUDIT_FILE).is_file() and (folder / MARKS_FILE).is_file()


@dataclass(frozen=True, slots=True)
class AuditIdentity:
    """Which audit it is: figures of two audits compare only where their ids are equal."""

    id: str  # of the version, the settings and the marks
    version: int
    pairs: str
    type_words: str

    def __str__(self) -> str:
        return f"{self.id}, version {self.version}, KWP pairs {self.pairs}, type words {self.type_words}"

    @property
    def reading(self) -> tuple[str, str]:
        """What decides which word or pair a sample is grouped by."""
        return self.pairs, self.type_words


def digest_files(folder: Path) -> dict[str, str]:
    """The digests of what an audit is scored by."""
    test = (set_file(Path(), TEST_FOLDER, what).as_posix() for what in (QUESTIONS_SUFFIX, ANSWERS_SUFFIX))
    return {name: file_digest(folder / name) for name in (MARKS_FILE, *test)}


def identify_audit(folder: Path) -> AuditIdentity:
    """Which audit a folder holds; a UserError where there is none, or its files are no longer as it wrote them."""
    check_audit(folder)
    path = folder / AUDIT_FILE
    told = decode_json(read_bytes(path), path)
    known = told if isinstance(told, dict) else {"version": None}
    version, settings, digests = known.get("version", 1), known.get("settings", {}), known.get("digests", {})
    if not (isinstance(version, int) and isinstance(settings, dict) and isinstance(digests, dict)):
        raise UserError(f"{path} is not as an audit writes it; run the same shiftscope audit again")
    if version > AUDIT_VERSION:
        raise UserError(f"{path} is of version {version}, and this program knows {AUDIT_VERSION}; install a newer one")
    for name, digest in digests.items():
        lost = not (folder / name).is_file()
        if lost or file_digest(folder / name) != digest:
            what = "is missing from" if lost else "was edited after"
            raise UserError(f"{folder / name} {what} the audit; run the same shiftscope audit again")
    return AuditIdentity(
        content_id([version, settings, digests.get(MARKS_FILE) or file_digest(folder / MARKS_FILE)])[:12],
        version,
        str(settings.get("pairs", ANY)),
        str(settings.get("type_words", OUT)),
    )


def read_audited_dataset(folder: Path) -> tuple[Path, str] | None:
    """The folder and the id of the dataset of ours that was audited; None where it was files, or is not recorded."""
    path = folder / AUDIT_FILE
    told = decode_json(read_bytes(path), path)
    dataset = told.get("dataset") if isinstance(told, dict) else None
    if not isinstance(dataset, dict) or not all(isinstance(dataset.get(n), str) for n in ("folder", "data_id")):
        return None
    return Path(dataset["folder"]), dataset["data_id"]


def check_audit(folder: Path) -> None:
    """Refuse what is not the folder of a whole audit."""
    if is_audit(folder):
        return
    if folder.is_file():
        raise UserError(f"{folder} is a file; an audit is the folder that shiftscope audit made")
    if has_audit_traces(folder):
        lacking = MARKS_FILE if (folder / AUDIT_FILE).is_file() else AUDIT_FILE
        raise UserError(
            f"{folder}: the audit there was not finished (no {lacking}); run the same shiftscope audit again"
        )
    raise UserError(f"{folder}: no audit there (no {AUDIT_FILE}); make one with: shiftscope audit … --out DIR")


def refuse_folder(out: Path, inputs: Iterable[Path], set_folders: Sequence[str] = SET_FOLDERS) -> None:
    """Refuse a folder in which an audit would destroy or be taken for something else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; --out names a folder for the audit")
    if (out / DATASET_MANIFEST).exists():
        raise UserError(f"{out} holds a dataset ({DATASET_MANIFEST}); name a folder of its own for the audit")
    for path in inputs:
        if resolve_links(path).is_relative_to(resolve_links(out)):
            raise UserError(f"{out} holds {path}, which is audited; name a folder of its own for the audit")
    if not has_audit_traces(out) and (foreign := [name for name in set_folders if (out / name).exists()]):
        raise UserError(f"{out / foreign[0]} is there already, and no audit made it; name another --out")


@contextmanager
def stage_audit(out: Path, set_folders: Sequence[str] = SET_FOLDERS) -> Iterator[Path]:
    """A folder to write an audit into; it takes the place of an earlier one only if all goes well.

    One process at a time: the caller holds `out`.
    """
    stage, folder = out / STAGING_FOLDER, open_folder(out)
    folder.remove_tree(STAGING_FOLDER)
    try:
        yield stage
    except BaseException:
        with suppress(UserError):
            folder.remove_tree(STAGING_FOLDER)
        raise
    with explain_write_errors(out):  # an interrupt from here on leaves the stage, by which the folder is known as ours
        _remove_audit_files(folder, set_folders)
        files = sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file())
        for name in sorted(files, key=lambda name: name == AUDIT_FILE):
            folder.move(f"{STAGING_FOLDER}/{name}", name)
        folder.remove_tree(STAGING_FOLDER)
        folder.remove_tree(SPOOL_FOLDER)


def has_audit_traces(folder: Path) -> bool:
    """Whether an audit was begun there, whole or not."""
    return any((folder / name).exists() for name in (AUDIT_FILE, MARKS_FILE, STAGING_FOLDER, SPOOL_FOLDER))


def _remove_audit_files(folder: Folder, set_folders: Sequence[str]) -> None:
    """Remove what an earlier audit wrote, and nothing that someone else put beside it."""
    for name in (AUDIT_FILE, MARKS_FILE, REPORT_FILE):
        folder.remove(name)
    for top in set_folders:
        for name in (*(f"{top}/{name}" for name in folder.list(top)), top):
            if not folder.locate(name).is_dir():
                continue
            for what in (QUESTIONS_SUFFIX, ANSWERS_SUFFIX):
                folder.remove(set_file(Path(), name, what).as_posix())
            with suppress(UserError):  # what someone else put there stays
                folder.remove(name)


ID_COLUMN, SPLIT_COLUMN = "question_id", "split"


def write_marks(audit: ShortcutAudit, folder: Path, recipes: Mapping[str, Sequence[SampleSet]] | None = None) -> None:
    """Columns: the id as text, the split, and of each shortcut the part (`QT`) and concept (`QT concept`).

    Nothing in a part: the answers of the group are balanced. Nothing in a concept: it is not known, as the
    image has no annotations, or there are no two keywords for a pair. Concepts are for reading: a sample without a
    word or object has `none`, and so has one whose word is none. Of each recipe, the sets that lie in the IID test
    (`set:gqa_ood/tail`): yes or no.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts: dict[str, Any] = {}
    concepts: dict[str, Any] = {}
    for shortcut, labels in audit.labels.items():
        parts[shortcut] = np.zeros(len(audit.samples), np.int32)
        for groups in (audit.train[shortcut], audit.val[shortcut], audit.test[shortcut]):
            parts[shortcut][groups.rows] = groups.part
        names = name_concepts([pa.array(words, pa.string()) for words in labels.words], labels.parts)
        concepts[shortcut] = labels.codes, names
    tested = audit.split.codes == SPLIT_NAMES.index(TEST)
    sets = {}
    for recipe, listed in (recipes or {}).items():
        for one in listed:
            if tested[one.rows].all():
                sets[f"{recipe}/{one.name}"] = inside = np.zeros(len(audit.samples), bool)
                inside[one.rows] = True
    ids = pa.array(map(str, audit.samples.ids), pa.string(), size=len(audit.samples))
    buffer = BytesIO()
    table = build_marks(ids, audit.split.codes, parts, concepts, sets)
    pq.write_table(table, buffer, compression="zstd", row_group_size=ROW_GROUP)
    open_folder(folder).write_whole(MARKS_FILE, buffer.getbuffer())


ConceptNames = tuple[Any, Any]  # [concept + 1] the number of its name, -1 for no concept; the names


def name_concepts(words: Sequence[Any], parts: Codes) -> ConceptNames:
    """What `ConceptLabels.name` says of every concept, at once; `words` are Arrow arrays, one for each part."""
    import pyarrow as pa
    import pyarrow.compute as pc

    spelled = []
    for vocabulary, codes in zip(words, parts.T, strict=True):
        at = np.where(codes < 0, len(vocabulary), codes)
        listed = pa.concat_arrays([vocabulary, pa.array([NO_CONCEPT], vocabulary.type)])
        spelled.append(listed.take(pa.array(at)))
    named = pc.binary_join_element_wise(*spelled, CONCEPT_JOIN).dictionary_encode()  # two may have one name
    return np.append(named.indices.to_numpy(zero_copy_only=False), -1).astype(np.int32), named.dictionary


def build_marks(
    ids: Any,
    split: Any,
    parts: Mapping[str, Any],
    concepts: Mapping[str, tuple[Any, ConceptNames]],
    sets: Mapping[str, Any],
) -> Any:
    """The marks of some samples: [sample] the split's number, part and concept by shortcut, and whether in each set."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        ID_COLUMN: ids,
        SPLIT_COLUMN: _build_dictionary(np.asarray(split, np.int32), pa.array(SPLIT_NAMES)),
    }
    for shortcut, part in parts.items():
        columns[shortcut] = _build_dictionary(np.asarray(part, np.int32) - 1, pa.array(PART_NAMES[1:]))
        codes, (table, names) = concepts[shortcut]
        columns[f"{shortcut} concept"] = _build_dictionary(table[codes], names)
    return pa.table(columns | {f"{SET_FACT}{name}": pa.array(inside) for name, inside in sets.items()})


def add_marks(records: RunRecords, folder: Path) -> RunRecords:
    """The rows with facts: a shortcut's (head, tail, or nothing), a recipe's set, the part of the audit they are in.

    A row that the audit does not have is in no part of it.
    """
    table = _read_marks(folder, lambda name: name in (ID_COLUMN, SPLIT_COLUMN, *SHORTCUTS) or name.startswith(SET_FACT))
    marked = [name for name in table.column_names if name not in (ID_COLUMN, SPLIT_COLUMN)]
    place = {one: k for k, one in enumerate(table[ID_COLUMN].to_pylist())}
    rows = np.array([place.get(str(v), -1) for v in records.question.values] or [-1])[records.question.codes]
    if not (rows >= 0).any():
        raise UserError(f"{folder}: the audit has none of the questions that were asked")
    facts = dict(records.facts)
    for name, source in ((AUDIT_SPLIT, SPLIT_COLUMN), *((name, name) for name in marked)):
        words = table[source].combine_chunks().dictionary_encode()
        values = tuple(words.dictionary.to_pylist())
        codes = words.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        facts[name] = Column(values, np.where(rows >= 0, codes[rows], -1).astype(np.int32))
    return replace(records, facts=tuple(facts.items()))


def read_splits(folder: Path) -> dict[str, str]:
    """Which part of an audit every question is in, by its id as text."""
    table = _read_marks(folder, (ID_COLUMN, SPLIT_COLUMN).__contains__)
    return dict(zip(table[ID_COLUMN].to_pylist(), table[SPLIT_COLUMN].to_pylist(), strict=True))


def read_shortcut_marks(folder: Path) -> tuple[list[str], dict[str, Column], dict[str, Column]]:
    """The ids of an audit's questions; of each shortcut, the concept and part (head, tail, nothing) of every one."""
    table = _read_marks(folder, lambda name: not name.startswith(SET_FACT))
    columns = {}
    for name in (one for one in table.column_names if one not in (ID_COLUMN, SPLIT_COLUMN)):
        words = table[name].combine_chunks().dictionary_encode()
        codes = words.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        columns[name] = Column(tuple(words.dictionary.to_pylist()), codes)
    there = [shortcut for shortcut in SHORTCUTS if shortcut in columns]
    groups = {name: columns[f"{name} concept"] for name in there if f"{name} concept" in columns}
    return table[ID_COLUMN].to_pylist(), groups, {name: columns[name] for name in there}


def _read_marks(folder: Path, wanted: Callable[[str], bool]) -> Any:
    """The columns so named that the marks of an audit have."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    identify_audit(folder)
    path = folder / MARKS_FILE
    try:
        with open_arrow_file(path) as opened, pq.ParquetFile(opened) as file:
            table = file.read([name for name in file.schema_arrow.names if wanted(name)])
        table.select([ID_COLUMN, SPLIT_COLUMN])
        return table
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:  # also while the audit is made anew
        why = " ".join(str(error).split())
        raise UserError(f"{path} cannot be read ({why}); run the same shiftscope audit again") from None


def _build_dictionary(codes: np.typing.NDArray[np.int32], words: Any) -> Any:
    """Numbers into words, as Parquet keeps them; -1 is nothing."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words)

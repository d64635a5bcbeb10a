"""The page of a suite's study, as Markdown and as HTML, from stored entries alone; and what its tables share."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..folder import lock_path
from ..metrics.bootstrap import REPLICATES
from ..metrics.transfer_matrix import TransferMatrix
from ..result import Score
from ..run.study.entries import StudyRecord
from ..run.study.entry_store import build_transfer_matrix, list_scales
from ..suites import NOTHING_REPORTED, ReportedFigures, load_suite
from ..suites.study import FactorGrid, load_study
from .markup import tag
from .number_format import count_noun, format_score
from .page import Page, write_page
from .table import Table

DIGITS = 2  # of a percentage, as in the paper


def read_matrix(
    records: Iterable[StudyRecord], data_version: int | None = None, scale: Any | None = None
) -> TransferMatrix:
    """The matrix of the largest scale that there are entries of; smaller ones are never shown beside it.

    `scale` is whose empty matrix it is where there are none. It also says whose study it is, where records are of
    several: those of the study that its page sets beside it are a matrix of their own, of the same scale.
    """
    listed = list(records)
    own = [record for record in listed if scale is None or record.origin.suite == scale.suite]
    scales = list_scales(own) or ([scale] if scale else [])
    if not scales:
        raise UserError("there are no entries to make a page of; run shiftscope study SUITE first")
    matrix = build_transfer_matrix(own, scales[0], data_version)
    others = [one for one in listed if one.origin.suite == matrix.study.beside]
    alike = [one for one in list_scales(others) if one.name == matrix.scale.name]
    return replace(matrix, beside=build_transfer_matrix(others, alike[0])) if alike else matrix


def render_markdown(records: Iterable[StudyRecord], data_version: int | None = None, scale: Any | None = None) -> str:
    """The page as Markdown, as docs/results has it; with a scale also where nothing is measured yet."""
    matrix = read_matrix(records, data_version, scale)
    study = matrix.study
    made_by = f"shiftscope study {study.suite} --tables --cells docs/results/{study.stored}"
    made_by += f" --known docs/results/{load_study(study.beside).stored}" if study.beside else ""
    made_by += f" --page docs/results/{study.suite}.md"
    made_by += f" --data-version {data_version}" if data_version is not None else ""
    done = sum((model, *pair) in matrix.entries for model in study.planned for pair in study.pairs)
    begun = set(study.pairs) & set(matrix.list_pairs())
    degrade = (
        f"those of Relative Degrade are from {REPLICATES:,} draws of whole scenes, the same draws in every entry, "
        "so that differences and ratios are paired; "
    )
    parts = [
        f"<!-- made by `{made_by}`; do not edit -->",
        f"# {study.title}, measured",
        describe_scale(matrix),
        describe_data(matrix),
        f"{study.describe_scale(matrix.scale)} {done} of {len(study.planned) * len(study.pairs)} entries of the "
        f"transfer matrix are finished ({count_noun(len(begun), 'pair')} of training and test set, each with up to "
        f"{len(study.planned)} models; other seeds and conditions are not counted); a dash is an entry that is not. "
        "The folder given with `--cells` holds the entries.",
        f"Figures are *measured* on the test split unless they say *reported* ({study.notes['reported']}). Intervals "
        f"are 95%, over scenes (docs/decisions/022); {degrade if len(study.pairs) > 1 else ''}p-values are from a "
        "permutation test that exchanges two models' answers scene by scene.",
        *study.terms.values(),
        *(f"**{text}**" for text in describe_mixed_rows(matrix)),
        *(table.to_markdown() for table in list_tables(matrix)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def list_tables(matrix: TransferMatrix) -> list[Table]:
    """The tables of all sections, in the order of the page; an unfinished entry is a dash."""
    return [table for _, section in build_study_page(matrix).build_sections() for table in section.tables]


def describe_scale(matrix: TransferMatrix) -> str:
    """What no reader of a small study may overlook."""
    if matrix.scale.name == "paper":
        return ""
    return (
        f"**Scale {matrix.scale.name}: a trial run of the pipeline. With so few images, neither figures nor verdicts "
        "say anything about the models.**"
    )


def describe_data(matrix: TransferMatrix) -> str:
    """That the figures are of data as an earlier version made them."""
    today = load_suite(matrix.study.suite).spec.version
    if matrix.data_version in (None, today):
        return ""
    return (
        f"**All entries are of version {matrix.data_version} of the suite's data. Today's code makes version {today} "
        "(CHANGELOG.md), on which figures may differ.**"
    )


def describe_mixed_rows(matrix: TransferMatrix) -> list[str]:
    """A sentence for each thing that the rows shown do not have in common."""
    sentences = []
    families = dict.fromkeys(entry.origin.family for entry in matrix.entries.values())
    # Families of models have recipes of their own.
    fields = [*(("recipe", f"recipes of {family}", family) for family in families)]
    for field, name, family in (*fields, ("version", "versions of shiftscope", ""), ("device", "devices", "")):
        groups = matrix.group_rows_by(field, family)
        if len(groups) > 1:
            listed = "; ".join(
                f"{value[:8] if field == 'recipe' else value}: {', '.join(t.label for t in rows)}"
                for value, rows in sorted(groups.items())
            )
            sentences.append(f"The rows are of {len(groups)} different {name} ({listed}).")
    return sentences


def write_study_page(
    out: Path, records: Iterable[StudyRecord], data_version: int | None = None, scale: Any | None = None
) -> Path:
    """Write the page of the largest scale there is; one that is there is replaced."""
    matrix = read_matrix(records, data_version, scale)
    with lock_path(out):
        return write_page(build_study_page(matrix), out).path


def build_study_page(matrix: TransferMatrix) -> Page:
    """The page of a study, before its sections are made."""
    lead = (
        f"Scale {matrix.scale.name}: {matrix.scale.train_images:,} training images, "
        f"{matrix.scale.test_images:,} test images; {count_noun(len(matrix.entries), 'entry', 'entries')}."
    )
    warnings = [text.strip("*") for text in (describe_scale(matrix), describe_data(matrix)) if text]
    opening = [
        tag("p", lead, class_="lead"),
        [tag("p", tag("b", text), class_="verdict") for text in warnings],
        [tag("p", text) for text in (*describe_mixed_rows(matrix), *matrix.study.terms.values())],
    ]
    return Page("study", matrix, matrix.study.title, opening)


def format_figure(score: Score | None) -> str:
    """84.21 ± 0.33, the longer side."""
    return format_score(score, DIGITS, None)


def describe_measure(matrix: TransferMatrix, name: str) -> str:
    """What a part of a model was measured by, in words."""
    plain = name.replace("_", " ")
    return str(matrix.study.measures.get(plain, plain))


def select_reported(matrix: TransferMatrix, group: str) -> ReportedFigures:
    """What the suite's paper reports of questions of a group: it is of the first."""
    is_first = group == matrix.study.question_groups[0]
    return load_suite(matrix.study.suite).reported if is_first else NOTHING_REPORTED


def select_grids(matrix: TransferMatrix) -> list[FactorGrid]:
    """Those that the entries are of; one entry alone may be another factor's, that of the default in domain."""
    there = {(trained, tested) for _, trained, tested in matrix.entries}
    grids: tuple[FactorGrid, ...] = matrix.study.grids
    return [grid for grid in grids if sum(pair in there for pair in grid.pairs) > 1] or [grids[0]]


def describe_caveats(grids: Iterable[FactorGrid]) -> list[str]:
    """What is to be said wherever figures of these factors stand."""
    return [f"{grid.factor.capitalize()}: {grid.caveat[0].lower()}{grid.caveat[1:]}" for grid in grids if grid.caveat]

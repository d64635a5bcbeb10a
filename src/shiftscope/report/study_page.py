"""The page of a Super-CLEVR study, as Markdown and as HTML, from stored entries alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import UserError
from ..folder import lock_path
from ..metrics.bootstrap import REPLICATES
from ..metrics.transfer_matrix import TransferMatrix
from ..run.study.entries import StudyRecord
from ..run.study.transfer_matrix import build_transfer_matrix, list_scales
from ..suites.superclevr.findings import list_pairs
from ..suites.superclevr.study import MODELS, list_grids
from .markup import tag
from .number_format import count_noun
from .page import Page, write_page
from .study_tables import ADAPTATION_NOTE
from .table import Table

GENERATED_BY = (
    "<!-- made by `shiftscope study superclevr --tables --cells docs/results/cells --page "
    "docs/results/superclevr.md`; do not edit -->"
)
NO_ENTRIES = "No entry is stored yet; `shiftscope study superclevr --cells docs/results/cells --out DIR` makes them."


def render_markdown(records: Iterable[StudyRecord]) -> str:
    """The page: the largest scale that there are entries of; smaller ones are never shown beside it."""
    listed = list(records)
    scales = list_scales(listed)
    parts = [GENERATED_BY, "# NSVQA, P-NSVQA and exact inference on Super-CLEVR, measured"]
    if not scales:
        return "\n\n".join([*parts, NO_ENTRIES]) + "\n"
    matrix = build_transfer_matrix(listed, scales[0])
    return "\n\n".join([*parts, _render_opening(matrix), *(one.to_markdown() for one in list_tables(matrix))]) + "\n"


def list_tables(matrix: TransferMatrix) -> list[Table]:
    """The tables of all sections, in the order of the page; an unfinished entry is a dash."""
    return [table for _, section in build_study_page(matrix).build_sections() for table in section.tables]


def _render_opening(matrix: TransferMatrix) -> str:
    scale = matrix.scale
    width, height = scale.size
    wanted = {(t, at) for one in list_grids() for _, t in one.trained for _, at in one.tested}
    done = sum((m, *key) in matrix.entries for m in MODELS for key in wanted)
    begun = wanted & set(list_pairs(matrix))
    lines = [
        describe_scale(matrix),
        f"Scale *{scale.name}*: {scale.images * 2 // 3:,} images to train on, {scale.test_images:,} to validate, "
        f"{scale.test_images:,} to test, {width}×{height}, {scale.questions} object and "
        f"{scale.part_questions} part questions per image. {done} of {len(MODELS) * len(wanted)} entries of the "
        "transfer matrix are finished "
        f"({count_noun(len(begun), 'pair')} of training and test); a dash is an entry that is not.",
        "Figures are *measured* on the test split unless they say *reported* (the paper's Tables 1 and 2, "
        "which are of its validation split, its images and its parsers). Intervals are 95%, over scenes "
        "(docs/decisions/022); those of Relative Degrade are from "
        f"{REPLICATES:,} draws of whole scenes, the same draws in every entry, so that differences and ratios "
        "are paired; p is of a permutation test that exchanges two models' answers scene by scene. "
        f"{ADAPTATION_NOTE}",
        *(f"**{text}**" for text in describe_mixed_rows(matrix)),
    ]
    return "\n\n".join(filter(None, lines))


def describe_scale(matrix: TransferMatrix) -> str:
    """What no reader of a small study may overlook."""
    if matrix.scale.name == "paper":
        return ""
    return (
        f"**Scale {matrix.scale.name}: a trial of the machinery. With so few images these figures say nothing "
        "about the models.**"
    )


def describe_mixed_rows(matrix: TransferMatrix) -> list[str]:
    """A sentence for each thing that the rows shown do not have in common."""
    made = []
    for field, name in (("recipe", "recipes"), ("version", "versions of shiftscope"), ("device", "devices")):
        found = matrix.group_rows_by(field)
        if len(found) > 1:
            listed = "; ".join(
                f"{value[:8] if field == 'recipe' else value}: {', '.join(t.label for t in rows)}"
                for value, rows in sorted(found.items())
            )
            made.append(f"The rows are of {len(found)} different {name} ({listed}).")
    return made


def write_study_page(out: Path, records: Iterable[StudyRecord]) -> Path:
    """Write the page of the largest scale there is; one that is there is replaced."""
    listed = list(records)
    scales = list_scales(listed)
    if not scales:
        raise UserError("there are no entries to make a page of; run shiftscope study superclevr first")
    with lock_path(out):
        return write_page(build_study_page(build_transfer_matrix(listed, scales[0])), out).path


def build_study_page(matrix: TransferMatrix) -> Page:
    """The page of a study, before its sections are made."""
    lead = (
        f"Scale {matrix.scale.name}: {matrix.scale.images * 2 // 3:,} training images, "
        f"{matrix.scale.test_images:,} test images; {count_noun(len(matrix.entries), 'entry', 'entries')}."
    )
    warned = describe_scale(matrix).strip("*")
    opening = [
        tag("p", lead, class_="lead"),
        tag("p", tag("b", warned), class_="verdict") if warned else None,
        [tag("p", text) for text in describe_mixed_rows(matrix)],
    ]
    return Page("study", matrix, "NSVQA, P-NSVQA and exact inference on Super-CLEVR", opening)

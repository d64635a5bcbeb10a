"""Page: a study's board as one file of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...errors import UserError
from ...run.study.board import Board, board_of, scales_of
from ...run.study.cell import Record
from ...run.study.findings import paper_findings, targets
from ...store.lock import locked_name
from ...whole import utf8, write_whole
from ..markup import Html, tag, text
from ..number import several
from ..page import document
from ..section import Section
from . import calibration, degrade, transfer
from .costs import speed, trainings
from .diagnosis import diagnosis
from .markdown import mixtures, warning
from .plain import plain
from .tables import OTHER_SPEEDS, by_cell, findings_table, in_domain
from .text_table import Table
from .world import differences


def write_study_page(out: Path, records: Iterable[Record]) -> Path:
    """Write the page of the largest scale there is; one that is there is replaced."""
    listed = list(records)
    scales = scales_of(listed)
    if not scales:
        raise UserError("there are no cells to make a page of; run shiftscope study superclevr first")
    with locked_name(out):
        write_whole(out, utf8(page(board_of(listed, scales[0]))))
    return out


def page(board: Board) -> str:
    """The page as text; a section without anything to tell is left out."""
    made: list[tuple[str, Section]] = []
    for name, section in (
        ("verdicts", _verdicts(board)),
        ("world", _tables("Another world than the paper's", [differences(board)])),
        ("in-domain", _tables("In domain", [in_domain(board)])),
        ("transfer", transfer.section(board)),
        ("degrade", degrade.section(board)),
        ("models", _tables("Model against model", [by_cell(board)])),
        ("calibration", calibration.section(board)),
        ("diagnosis", _tables("Where the pipeline loses answers", list(diagnosis(board)))),
        ("trainings", _tables("Trainings and speed", [*trainings(board), speed(board)])),
        ("left-out", _left_out(board)),
    ):
        if section is not None:
            made.append((name, section))
    return document("ShiftScope study: Super-CLEVR", _header(board), made)


def _header(board: Board) -> Html:
    lead = (
        f"Scale {board.scale.name}: {board.scale.images * 2 // 3:,} training images, "
        f"{board.scale.tested:,} test images; {several(len(board.cells), 'cell')}."
    )
    warned = warning(board).strip("*")
    return tag(
        "header",
        tag("h1", "NSVQA, P-NSVQA and exact inference on Super-CLEVR"),
        tag("p", lead, class_="lead"),
        tag("p", tag("b", warned), class_="verdict") if warned else None,
        [tag("p", told) for told in mixtures(board)],
    )


def _verdicts(board: Board) -> Section:
    parts = [
        findings_table("Targets", tuple(targets(board)), OTHER_SPEEDS),
        findings_table("The paper's findings, as far as they speak of NSVQA", tuple(paper_findings(board))),
    ]
    return Section(
        "What holds", text([plain(one) for one in parts]), "Each line states the rule it is decided by."
    )


def _tables(title: str, tables: Sequence[Table]) -> Section | None:
    there = [one for one in tables if one.rows]
    return Section(title, text([plain(one) for one in there])) if there else None


def _left_out(board: Board) -> Section | None:
    if not board.left_out:
        return None
    return Section(
        "Left out", plain(Table("Records not mixed with the others", ("record", "why"), board.left_out))
    )

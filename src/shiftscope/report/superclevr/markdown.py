"""Markdown: the results page of the repository, made from stored cells alone."""

from __future__ import annotations

from collections.abc import Iterable

from ...metrics._resample import REPLICATES
from ...run.study.board import Board, board_of, scales_of
from ...run.study.cell import Record
from ...run.study.findings import pairs
from ...run.study.matrix import MODELS, every_grid
from ..number import several
from .tables import READS, every_table
from .text_table import Table

MADE = (
    "<!-- made by `shiftscope study superclevr --tables --cells docs/results/cells --page "
    "docs/results/superclevr.md`; do not edit -->"
)
NOTHING = (
    "No cell is stored yet; `shiftscope study superclevr --cells docs/results/cells --out DIR` makes them."
)


def results_page(records: Iterable[Record]) -> str:
    """The page: the largest scale that there are cells of; smaller ones are never shown beside it."""
    listed = list(records)
    scales = scales_of(listed)
    parts = [MADE, "# NSVQA, P-NSVQA and exact inference on Super-CLEVR, measured"]
    if not scales:
        return "\n\n".join([*parts, NOTHING]) + "\n"
    board = board_of(listed, scales[0])
    parts += [_opening(board), *(_table(one) for one in every_table(board))]
    return "\n\n".join(parts) + "\n"


def _opening(board: Board) -> str:
    scale = board.scale
    width, height = scale.size
    wanted = {(t, at) for one in every_grid() for _, t in one.trained for _, at in one.tested}
    done = sum((m, *key) in board.cells for m in MODELS for key in wanted)
    begun = wanted & set(pairs(board))
    lines = [
        warning(board),
        f"Scale *{scale.name}*: {scale.images * 2 // 3:,} images to train on, {scale.tested:,} to validate, "
        f"{scale.tested:,} to test, {width}×{height}, {scale.questions} object and "
        f"{scale.part_questions} part questions an image. {done} of {len(MODELS) * len(wanted)} cells of the "
        "matrix are finished "
        f"({several(len(begun), 'pair')} of training and test); a dash is a cell that is not.",
        "Figures are *measured* on the test split unless they say *reported* (the paper's Tables 1 and 2, "
        "which are of its validation split, its images and its parsers). Intervals are 95%, over scenes "
        "(docs/decisions/022); those of Relative Degrade are from "
        f"{REPLICATES:,} draws of whole scenes, the same draws in every cell, so that differences and ratios "
        "are paired; p is of a permutation test that exchanges two models' answers scene by scene. "
        f"{READS}",
        *(f"**{told}**" for told in mixtures(board)),
    ]
    return "\n\n".join(filter(None, lines))


def warning(board: Board) -> str:
    """What no reader of a small study may overlook."""
    if board.scale.name == "paper":
        return ""
    return (
        f"**Scale {board.scale.name}: a trial of the machinery. With so few images these figures say nothing "
        "about the models.**"
    )


def mixtures(board: Board) -> list[str]:
    """A sentence for each thing that the rows shown do not have in common."""
    made = []
    for field, name in (("recipe", "recipes"), ("version", "versions of shiftscope"), ("device", "devices")):
        found = board.mixed(field)
        if len(found) > 1:
            told = "; ".join(
                f"{value[:8] if field == 'recipe' else value}: {', '.join(t.label for t in rows)}"
                for value, rows in sorted(found.items())
            )
            made.append(f"The rows are of {len(found)} different {name} ({told}).")
    return made


def _table(table: Table) -> str:
    heads = f"| {' | '.join(map(_cell, table.columns))} |"
    rule = f"|{'---|' * len(table.columns)}"
    rows = [f"| {' | '.join(map(_cell, row))} |" for row in table.rows]
    return "\n\n".join(filter(None, [f"## {table.title}", "\n".join([heads, rule, *rows]), table.note]))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

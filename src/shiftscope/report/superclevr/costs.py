"""Costs: how long trainings took and what they reached, and how fast tests were answered."""

from __future__ import annotations

from collections.abc import Iterator

from ...run.study.board import Board
from ...run.study.matrix import MODELS
from ...run.study.pace import pace, training_seconds
from ..number import NONE, percent
from ..number import seconds as duration
from .figures import DIGITS, measure_name
from .text_table import Table


def trainings(board: Board) -> Iterator[Table]:
    """When, on what and for how long each row was trained, and what it then reached on validation data."""
    listed = sorted(board.trainings.items())
    rows = []
    for trained, one in listed:
        whole = training_seconds(one)
        took = dict(one.seconds)
        stages = [time for parser in ("scenes", "questions") for time in _stages(took, parser)]
        hashes = " ".join(value[:8] for _, value in one.origin.weights)
        rows.append(
            (
                trained.label,
                one.origin.device,
                *(NONE if t is None else duration(t) for t in stages),
                NONE if whole is None else f"{whole / 60:.2f} min",
                hashes,
                one.origin.made[:10],
            )
        )
    heads = (
        "trained on",
        "device",
        *(f"{p}: {s}" for p in ("scenes", "questions") for s in ("data", "training")),
        "total with data",
        "weights",
        "made",
    )
    note = (
        "Training holds calibration and measuring; the total is of both parsers. A study makes data while "
        "another parser is trained; the total is as if one came after the other. Where several studies "
        "shared a GPU, each training took longer than alone. Rows that share a parser each count it in full."
    )
    yield Table("Trainings", heads, tuple(rows), note)
    commands = tuple((trained.label, one.command) for trained, one in listed)
    yield Table("Trainings: commands", ("", "scenes; questions"), commands)
    names = dict.fromkeys(name for _, one in listed for name, _ in one.validation)
    order = sorted(names, key=lambda name: name.startswith("part"))
    reached = [dict(one.validation) for _, one in listed]
    yield Table(
        "Trainings: reached on validation data, %",
        ("", *(trained.label for trained, _ in listed)),
        tuple((measure_name(n), *(percent(r.get(n), DIGITS) for r in reached)) for n in order),
    )


def _stages(took: dict[str, float], parser: str) -> tuple[float | None, float | None]:
    """Seconds of making a parser's data, and of all the rest."""
    data, whole = took.get(f"{parser}, data"), took.get(f"{parser}, all")
    return data, None if data is None or whole is None else whole - data


def speed(board: Board) -> Table:
    """How fast whole tests were answered: the median over cells, start-up and compilation included."""
    rows = []
    for model in MODELS:
        cells = [cell for key, cell in board.cells.items() if key[0] == model]
        middle = pace(cells)
        if middle:
            devices = {cell.origin.device for cell in cells}
            rows.append((model, *(f"{rate:,.0f}" for rate in middle), ", ".join(sorted(devices))))
    heads = ("model", "images seen/s", "questions read/s", "programs run/s", "questions answered/s", "device")
    note = (
        "Medians over the cells. Answered: seen, read and run, one stage after the other; images are in "
        "memory, and made apart. p_nsvqa_exact's seeing holds attuning. Tests that were asked while others "
        "used the GPU took longer."
    )
    return Table("Speed", heads, tuple(rows), note)

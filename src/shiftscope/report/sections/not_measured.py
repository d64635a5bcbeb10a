"""What of a study is not measured, and the command that would measure it."""

from ...metrics.transfer_matrix import TransferMatrix
from ..page import Section
from ..table import Table

PLACES = {"study": 78}


def section(matrix: TransferMatrix) -> Section | None:
    table = missing_table(matrix)
    return Section("Not measured", [table]) if table.rows else None


def missing_table(matrix: TransferMatrix) -> Table:
    """Model by model, the trainings that lack entries; those of other conditions, seeds and splits are in its note."""
    study, rows = matrix.study, []
    for model in study.planned:
        missing: dict[str, int] = {}
        for trained, tested in study.pairs:
            if (model, trained, tested) not in matrix.entries:
                missing[trained.label] = missing.get(trained.label, 0) + 1
        if model not in study.models:
            rows.append((model, f"all {len(study.pairs)} pairs", "no such model in this version"))
        elif missing:
            listed = ", ".join(f"{label} ({count})" for label, count in missing.items())
            rows.append(
                (
                    model,
                    listed,
                    f"shiftscope study {study.suite} --scale {matrix.scale.name} --models {model} --out DIR",
                )
            )
    heads = ("model", "trainings, and how many of their tests are missing", "command")
    return Table("Not measured", heads, tuple(rows), study.notes.get("not measured", ""))

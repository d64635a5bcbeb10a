"""Ablations: every model under every condition, over the pairs of training and test that all of them have."""

from collections.abc import Sequence
from typing import Any

from ...metrics.transfer_matrix import TransferMatrix
from ...suites.study import Contender
from ..number_format import DASH, format_percent
from ..page import Section
from ..study_page import DIGITS
from ..table import Table

PLACES = {"study": 45}


def section(matrix: TransferMatrix) -> Section | None:
    table = ablation_table(matrix)
    lead = (
        "One row for each rule or inference, positions and adaptation; the means are over the same pairs in all rows."
    )
    return Section("Ablations", [table], lead) if len(table.rows) > 1 else None


def ablation_table(matrix: TransferMatrix) -> Table:
    """Means over shared pairs, and the default's own row where shifts are strongest."""
    study = matrix.study
    entries: dict[Contender, dict[Any, Any]] = {}
    for (_, trained, tested), entry in matrix.entries.items():
        if entry.contender.model in study.list_positioned(entry.contender.positions):
            entries.setdefault(entry.contender, {})[trained, tested] = entry
    # A condition that was tried on a few pairs would leave few for all: those with most pairs decide.
    most = max(map(len, entries.values()), default=0)
    whole = {contender: mine for contender, mine in entries.items() if 2 * len(mine) >= most}
    shared = sorted(set.intersection(*map(set, whole.values()))) if whole else []
    far = [pair for pair in dict.fromkeys([study.default, *(grid.farthest for grid in study.grids)]) if pair in shared]
    order = {name: k for k, name in enumerate((*study.models, *study.positions, *study.adaptations))}
    rows = []
    for one in sorted(whole, key=lambda c: (order[c.positions], order[c.adapt], order[c.model])):
        kept = [entry for pair, entry in whole[one].items() if entry.adapted and pair in shared]
        means = [_mean(matrix, one, shared, group) for group in study.question_groups]
        each = [_mean(matrix, one, [pair], study.question_groups[0]) for pair in far]
        tried = any(entry.adapted is not None for entry in whole[one].values())
        rows.append((one.model, one.positions, one.adapt, f"{len(kept)}" if tried else DASH, *means, *each))
    heads = (
        "rules, inference",
        "positions",
        "adaptation",
        "kept in",
        *(f"mean, {group}s" for group in study.question_groups),
        *(f"{trained.label} → {tested.label}" for trained, tested in far),
    )
    note = (
        f"Means over {len(shared)} pairs of training and test, which all rows have. {study.notes.get('ablations', '')}"
    )
    return Table("Rules, positions, adaptation and inference, accuracy in %", heads, tuple(rows), note.strip())


def _mean(matrix: TransferMatrix, contender: Contender, pairs: Sequence[Any], group: str) -> str:
    scores = [matrix.find_score(contender.label, trained, tested, group) for trained, tested in pairs]
    values = [s.value for s in scores if s is not None and s.value is not None]
    return format_percent(sum(values) / len(values), DIGITS) if values else DASH

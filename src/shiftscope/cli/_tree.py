"""A program's tree with its trace: lines for a person, plain data for a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..lang.trace import Line


def print_tree(tree: Sequence[Line], margin: int = 0) -> None:
    """Ops indented by depth, their values in a column beside."""
    width = max((2 * line.depth + len(line.text) for line in tree), default=0)
    for line in tree:
        left = f"{'  ' * line.depth}{line.text}"
        print(f"{' ' * margin}{left:<{width}}  {line.value}".rstrip())


def tree_data(tree: Sequence[Line]) -> list[dict[str, Any]]:
    return [{"node": t.node, "depth": t.depth, "op": t.text, "value": t.value} for t in tree]

"""Imports point one way: a module may import what stands before it in the order, never after."""

import ast
from pathlib import Path

import pytest

import shiftscope

ROOT = Path(shiftscope.__file__).parent

# Each line may import from itself and from the lines above; names on one line in braces of the design
# (models, metrics, store) are siblings and do not import each other.
ORDER = (
    ("errors", "whole", "pretrained", "rng", "catalog", "bits", "canonical", "compiled", "record", "schema", "schemas", "scene", "_free_place", "edit", "scenetable"),
    ("lang", "answer", "_reply_words", "reply"),
    ("question", "result"),
    ("formats",),
    ("geometry",),
    ("render",),
    ("world",),
    ("ask",),
    ("act",),
    ("graph",),
    ("audit",),
    ("shift",),
    ("models",), ("metrics",), ("store",),
    ("suites",),
    ("run",),
    ("report",),
    ("cli",),
    ("docs",),
)  # fmt: skip
SIBLINGS = {"models", "metrics", "store"}
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
MODULES = sorted(p for p in ROOT.rglob("*.py") if p not in (ROOT / "__init__.py", ROOT / "__main__.py"))


def top(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """The top-level parts of the package that a file imports, wherever in the file it does."""
    package = ("shiftscope", *path.relative_to(ROOT).parent.parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module.split(".") if node.module else ()))
            names = [(*full, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        else:
            continue
        found |= {name[1] for name in names if name[0] == "shiftscope" and len(name) > 1 and name[1] in RANK}
    return found


def test_every_part_has_its_place():
    assert {top(p) for p in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path):
    here = top(path)
    for other in imported(path) - {here}:
        assert RANK[other] <= RANK[here], f"{here} may not import {other}"
        assert not {here, other} <= SIBLINGS, f"{here} and {other} are siblings"


HEAVY = {"torch", "transformers", "datasets", "webdataset", "mitsuba", "trimesh", "ray", "fastapi"}
NOT_EVERYWHERE = {"msgspec"}  # a bare GPU node has none
NETWORKS = {"_scene_parser", "_question_parser"}  # made of torch; imported only where one is used


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_is_not_always_installed_is_imported_where_it_is_used(path):
    body = ast.parse(path.read_text("utf-8")).body
    names = {
        name.split(".")[0]
        for node in body
        for name in (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    if path.parent.name in NETWORKS:
        names.discard("torch")
    else:
        relative = [n.module or "" for n in body if isinstance(n, ast.ImportFrom) and n.level]
        assert not NETWORKS & {word for module in relative for word in module.split(".")}
    assert not names & (HEAVY | NOT_EVERYWHERE)

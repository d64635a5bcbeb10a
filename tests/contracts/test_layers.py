"""The shape of the tree: imports point one way, names are unique and say what they are, nothing is required for nothing."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import shiftscope

ROOT = Path(shiftscope.__file__).parent
PROJECT = ROOT.parent.parent

# Each line may import from itself and from the lines above; SIBLINGS do not import each other.
ORDER = (
    (
        "errors",
        "deprecated",
        "rng",
        "registry",
        "url_path",
        "files",
        "c_compiler",
        "kernel_cache",
        "kernels",
        "arrow_array",
        "records",
        "row_texts",
        "json_files",
        "trust_remote_code",
        "object_store",
        "lease",
        "folder",
        "remote_folder",
        "executor",
        "cluster_nodes",
        "ray_executor",
        "shared_memory",
    ),
    ("english.inflection", "english.word_lists", "english.foreign"),  # schemas and replies need these
    ("scene", "schema", "schemas", "scene_table", "edit", "answer"),
    ("lang",),
    (
        "columns",
        "question",
        "token_usage",
        "result",
        "expected_answer",
        "response_text",
        "response",
        "picture",
        "model",
        "question_table",
        "question_join",
        "prompt",
        "server_identity",
        "trained_folder",
        "batch_mean",
        "trainable",
    ),
    ("english",),
    ("formats",),
    ("geometry",),
    ("render",),
    ("world",),
    ("scene_graph",),
    ("questions",),
    ("shortcuts",),
    ("shift",),
    ("models", "metrics", "store"),
    ("suites",),
    ("train",),
    ("run",),
    ("report",),
    ("explore",),
    ("cli",),
)
SIBLINGS = {"models", "metrics", "store"}
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FILES = sorted(set(ROOT.rglob("*.py")) - {ROOT / "__init__.py", ROOT / "__main__.py"})

HEAVY = {
    "torch",
    "transformers",
    "datasets",
    "webdataset",
    "mitsuba",
    "trimesh",
    "ray",
    "fastapi",
    "uvicorn",
    "aiohttp",
    "fsspec",
    "s3fs",
    "h5py",
}
NETWORKS = {"scene_parser", "question_parser"}  # folders made of torch; imported only where one is used
# single files that are
NETWORK_FILES = {"shared_batch_norm", "network", "initial_weights", "image_features", "execution", "loss"}
NETWORK_FILES |= {"caption_reader", "layers", "short_attention", "column_sums"}

ODD = {
    *("built", "asked", "told", "said", "made", "found", "known", "seen", "drawn", "heard", "taken", "given", "kept"),
    *("shown", "read_off", "worded", "attuned", "chosen", "held", "packed", "joined"),
}
NO_PARTICIPLES = {"embed", "feed", "need", "seed", "speed"}
DISTRIBUTIONS = {"pillow": "PIL", "pyyaml": "yaml", "scikit-learn": "sklearn"}  # name → what is imported


@cache
def parse_file(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def show(path: Path) -> str:
    return str(path.relative_to(ROOT))


def find_part(name: tuple[str, ...]) -> str:
    """The entry of ORDER that a module belongs to."""
    return ".".join(name[:2]) if ".".join(name[:2]) in RANK else name[0]


def top(path: Path) -> str:
    return find_part(path.relative_to(ROOT).with_suffix("").parts)


def list_imports(path: Path, nodes: Iterator[ast.AST]) -> Iterator[tuple[str, ...]]:
    """The full names of what a file imports: ("shiftscope", "scene", "Scene"), ("numpy",)."""
    package = ("shiftscope", *path.relative_to(ROOT).parent.parts)
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            full = (*base, *(node.module.split(".") if node.module else ()))
            yield from ((*full, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)


def list_own_imports(path: Path) -> Iterator[tuple[str, ...]]:
    return (
        name for name in list_imports(path, ast.walk(parse_file(path))) if name[0] == "shiftscope" and len(name) > 1
    )


def test_every_part_has_its_place():
    assert {top(path) for path in FILES} <= set(RANK)


def test_imports_point_one_way():
    wrong = []
    for path in FILES:
        here = top(path)
        others = {find_part(name[1:]) for name in list_own_imports(path)} & set(RANK) - {here}
        above = [o for o in sorted(others) if RANK[o] > RANK[here] or {here, o} <= SIBLINGS]
        wrong += [f"{show(path)} imports {other}" for other in above]
    assert not wrong, "\n".join(wrong)


def test_no_file_imports_another_folders_private_module():
    wrong = []
    for path in FILES:
        home = ("shiftscope", *path.relative_to(ROOT).parent.parts)
        for name in list_own_imports(path):
            private = next((k for k, part in enumerate(name) if re.match(r"_(?!_)", part)), None)
            if private is not None and home[:private] != name[:private]:
                wrong.append(f"{show(path)} imports {'.'.join(name)}")
    assert not wrong, "\n".join(wrong)


def test_suites_are_found_by_name_and_not_imported():
    outside = [path for path in FILES if top(path) != "suites"]
    imported = {(show(path), ".".join(name[1:3])) for path in outside for name in list_own_imports(path)}
    suites = {f"suites.{folder.name}" for folder in (ROOT / "suites").iterdir() if folder.is_dir()}
    assert [f"{path} imports {name}" for path, name in sorted(imported) if name in suites] == []


def test_what_is_not_always_installed_is_imported_where_it_is_used():
    wrong = []
    for path, tree in zip(FILES, map(parse_file, FILES), strict=True):
        networks = NETWORKS & set(path.relative_to(ROOT).parts[:-1]) or path.stem in NETWORK_FILES
        allowed = {"torch"} if networks else set()
        heavy = {name[0] for name in list_imports(path, iter(tree.body))} & HEAVY - allowed
        wrong += [f"{show(path)} imports {name}" for name in sorted(heavy)]
    assert not wrong, "\n".join(wrong)


def test_class_names_are_unique():
    places = defaultdict(list)
    for path, tree in zip(FILES, map(parse_file, FILES), strict=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(show(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_functions_are_named_by_what_they_do():
    wrong = []
    for path, tree in zip(FILES, map(parse_file, FILES), strict=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = node.name.strip("_").split("_")[0]
                participle = re.fullmatch(r"[a-z]{4,}ed", first) and not node.decorator_list
                if first in ODD or (participle and first not in NO_PARTICIPLES):
                    wrong.append(f"{show(path)}: {node.name}")
    assert not wrong, "\n".join(wrong)


def test_every_dependency_is_imported():
    required = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    names = [re.match(r"[A-Za-z0-9_.-]+", line)[0].lower() for line in required]
    imported = {name[0] for path in FILES for name in list_imports(path, ast.walk(parse_file(path)))}
    assert [n for n in names if DISTRIBUTIONS.get(n, n.replace("-", "_")) not in imported] == []

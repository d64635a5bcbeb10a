"""Nothing that is read from a file or a folder is run: no pickles, no code of a model's own."""

import ast
from pathlib import Path

import pytest

import shiftscope

ROOT = Path(shiftscope.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
RUNNING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
CALLED = {"eval", "exec", "__import__"}
ATTRIBUTES = {"torch.load", "ForkingPickler.loads"}
OPTIONS = {("allow_pickle", True), ("trust_remote_code", True), ("weights_only", False)}


def running(tree):
    """What in a file would run what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] in RUNNING)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            if (node.module or "").split(".")[0] in RUNNING:
                yield node.module
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in CALLED:
                yield node.func.id
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in ATTRIBUTES:
                yield ast.unparse(node.func)
            for word in node.keywords:
                if isinstance(word.value, ast.Constant) and (word.arg, word.value.value) in OPTIONS:
                    yield f"{word.arg}={word.value.value}"


OWN_PROCESSES = {  # what they unpack comes from processes of their own, through pipes
    ROOT / "executor.py",
    ROOT / "train" / "beside.py",
}


@pytest.mark.parametrize("path", [p for p in MODULES if p not in OWN_PROCESSES], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_runs_what_it_reads(path):
    assert list(running(ast.parse(path.read_text("utf-8")))) == []


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "eval(text)",
        "Auto.from_pretrained(name, trust_remote_code=True)",
    ],
)
def test_what_is_looked_for(text):
    assert list(running(ast.parse(text)))

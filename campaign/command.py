"""The command line as a target: words that no one would type, in one process, near data that it may spoil.

Verbs that make or train end where their work would begin; everything else is done, on data of a few rows.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from hypothesis import strategies as st

from shiftscope.errors import UserError

from . import examples
from .mutate import Edit, Inputs, edit_of
from .targets import FILES, Target
from .toys import toy_dataset

_TYPED = """
list models --json
show data --split test --index 1 --json
show clevr_questions.json --scenes clevr_scenes.json --index 2
show superclevr_scenes.json --index 0
show data --verify
answer --scenes clevr_scenes.json --questions clevr_questions.json --references default --json --out OUT
answer --graphs gqa_graphs.json --questions gqa_questions.json --trace
render --scenes clevr_scenes.json --size 24x16 --layers rgb,mask --out OUT
score run --by kind --metric accuracy --json
score r.json --annotations a.json --form thirds --normalise always
select run --metric accuracy --split test --on-ood
report run --data data --out OUT.html --json
export data --to clevr --out OUT --json
export data --to webdataset --out OUT
split data --hold-out has_count --shots 1 --seed 3 --test test --out OUT
split --list --json
audit --questions q.json --annotations a.json --objects o.json --shares 70,5,25 --no-blind --out OUT
audit data --seed 5 --types learned --rare 1.2 --no-blind --recipe gqa_ood --gqa-alpha 0.2 --out OUT
run --model majority --data data --split test --limit 2 --condition blind --mode free --seed 5 --out OUT
run --model predictions:p.json --data data --out OUT --price 1,2 --timeout 3 --parameters {} --variant x
run --model random --data data --part ids.json --temperature 0.5 --max-tokens 9 --in-flight 3 --out OUT
make questions --scenes clevr_scenes.json --seed 2 --out OUT.json
make clevr --images 4 --questions 2 --size 48x32 --shard 2 --workers 1 --seed 1 --out OUT
make superclevr --visual hard --images 4 --distribution c.csv --workers 1 --out OUT
make clevr_hyp --images 4 --scenes clevr_scenes.json --placements 3 --workers 1 --out OUT
make covr --graphs gqa_graphs.json --questions 3,1,1 --share 50 --workers 1 --out OUT
make gqa --graphs gqa_graphs.json --questions 3 --overlap wordnet --workers 1 --out OUT
train --model nsvqa --data superclevr --images 4 --epochs 1 --device cpu --only scene --out OUT
gallery --out OUT --of superclevr --seed 3
serve --model majority --data data --port 0 --host 127.0.0.1 --idle 1
test contrast --model majority --data data --limit 2 --draw 3 --out OUT
"""
COMMANDS = tuple(tuple(line.split()) for line in _TYPED.splitlines() if line)
VALUES = (
    "", " ", "-", "--", "-1", "0", "1", "2", "3.5", "1e9", "99999999999", "9" * 40,
    "-9223372036854775809", "nan",
    "inf", "-inf", "1e-320", "٣", "0x10", "1_000", "None", "true", "\x00", "\n", "a\nb", "\ud800", "é",
    "\u202e",
    "🦆", "x" * 300, "x" * 5000, "a b", "'", '"', "$HOME", "`id`", "%s", "{}", "[]", "[1]",
    '{"a": NaN}', "null", ",",
    ",,", "1,2,3", "70,30", "1,-1", "100,0,0", "16", "16x", "x16", "0x0", "-4x4", "16x12x3",
    "100000x100000", "1e3x5",
    ".", "..", "./", "missing", "missing/deep/er", "data", "run", "data/manifest.json", "run/run.json",
    "q.json",
    "a.json", "o.json", "p.json", "clevr_scenes.json", "clevr_questions.json", "gqa_graphs.json",
    "empty.json",
    "broken.json", "/dev/null", "ids.json", "data:train", "c.csv", "test", "train", "val", "all",
    "rgb", "depth,rgb,",
    "accuracy", "vqa_accuracy", "kind", "kind,template", "has_num_3 | ~ans_3", "~" * 200, "((((",
    "has_count &",
    "random", "oracle", "openai:", "openai:x@", "openai:x@ftp://y", "openai:x@http://[", "hf:",
    "predictions:",
    "predictions:a.json", "no_such:Class", "no such", ":", "::", "a:b:c", "nsvqa:data",
    "p_nsvqa:missing",
)  # fmt: skip
HEAVY = (  # module, and what of it takes long
    ("suites", "Suite.make"),
    ("suites.superclevr.make_variants", "make_study"),
    ("train.train", "train"),
    ("run.study.study", "study"),
    ("run.serve", "serve"),
    ("run.make", "resolve_data"),
    ("run.gallery", "make_gallery"),
)
LONGEST = 700  # characters of a complaint


@cache
def command_target() -> Target:
    return Target("command line", lambda folder: lines(), call, "words.json", given=around, examples=100)


def lines() -> Inputs:
    def make(which: int, numbers: list[int]) -> list[bytes]:
        made, found = list(COMMANDS[which]), []
        for number in numbers:
            made = edit_words(made, edit_of(number))
            found.append(json.dumps(made).encode())
        return found

    numbers = st.lists(st.integers(0, (1 << 28) - 1), min_size=1, max_size=4)
    return st.builds(make, st.integers(0, len(COMMANDS) - 1), numbers)


def edit_words(words: list[str], edit: Edit) -> list[str]:
    at, what, which = edit
    first = 2 if words[:1] in (["make"], ["test"]) else 1
    made, value = list(words), VALUES[which % len(VALUES)]
    if len(made) <= first:
        return [*made, value]
    here = first + at % (len(made) - first)
    if what < 8:  # a value rather than the name of an option
        near = [k for k in range(first, len(made)) if not made[k].startswith("--")]
        here = near[at % len(near)] if near else here
        made[here] = value
    elif what < 10:
        del made[here]
    elif what < 12:
        made[here:here] = [value]
    elif what < 14:
        made += made[here : here + 2]
    else:
        made[here], made[-1] = made[-1], made[here]
    return made


def around(folder: Path) -> None:
    """A folder with data of every kind to name."""
    from shiftscope.run.evaluate import RunSpec, evaluate

    inside = folder / "around" / "in"
    inside.mkdir(parents=True)
    for path in FILES.glob("*.json"):
        (inside / path.name).write_bytes(path.read_bytes())
    examples.vqa_files(inside)
    made = toy_dataset(inside / "data", 3, 3)
    evaluate(RunSpec("majority", made.folder), inside / "run")
    ids = [q.id for q in made.questions("test")]
    (inside / "p.json").write_text(json.dumps(dict.fromkeys(ids, "yes")))
    (inside / "ids.json").write_text(json.dumps(ids[:2]))
    (inside / "c.csv").write_text(examples.CONCEPTS)
    (inside / "empty.json").write_text("")
    (inside / "broken.json").write_text('{"scenes": [')


def call(path: Path) -> Any:
    """Run the command in a folder within the input's; what a user must not read is a fault."""
    words = [str(word) for word in json.loads(path.read_bytes())]
    inside = path.parent / "around" / "in"
    out = f"out{path.stat().st_mtime_ns}"
    code, complaint = run([word.replace("OUT", out) for word in words], inside)
    if code == 0 or (code == 1 and words[:1] == ["run"]):
        return None
    assert code == 2, f"exit code {code}: {complaint[-300:]}"
    lines = complaint.strip().splitlines()
    helped = complaint.startswith("Usage:")  # a command alone
    assert helped or (len(lines) == 1 and len(lines[0]) < LONGEST), f"not one line: {complaint[-500:]!r}"
    assert "Traceback" not in complaint
    raise UserError(lines[0])


def run(words: list[str], inside: Path) -> tuple[Any, str]:
    from shiftscope.cli import main

    out, complaints, argv, here = io.StringIO(), io.StringIO(), sys.argv, Path.cwd()
    code: Any = None
    try:
        os.chdir(inside)
        sys.argv = ["shiftscope", *words]
        with without_heavy_work(), redirect_stdout(out), redirect_stderr(complaints):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        os.chdir(here)
        sys.argv = argv
    return code, complaints.getvalue()


@contextmanager
def without_heavy_work() -> Iterator[None]:
    """What would take long says so instead; the data of a run must be a folder that is there."""
    held: list[tuple[Any, str, Callable[..., Any]]] = []
    for module, name in HEAVY:
        where: Any = import_module(f"shiftscope.{module}")
        *owners, name = name.split(".")
        for owner in owners:
            where = getattr(where, owner)
        held.append((where, name, getattr(where, name)))
        setattr(where, name, only_there if name == "resolve_data" else too_heavy)
    try:
        yield
    finally:
        for where, name, function in held:
            setattr(where, name, function)


def too_heavy(*given: Any, **named: Any) -> NoReturn:
    raise UserError("this would take long")


def only_there(data: str, *rest: Any) -> Path:
    if not Path(data).is_dir():
        raise UserError(f"{data}: not there")
    return Path(data)

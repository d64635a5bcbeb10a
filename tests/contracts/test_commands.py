"""Commands that are printed can be typed: their verbs and options exist, and they mean what they were made from."""

import ast
import re
import shlex
from contextlib import suppress
from pathlib import Path

import pytest
import typer

import shiftscope
from report_toys import log, right
from shiftscope import registry as catalog
from shiftscope.cli._app import app
from shiftscope.report.runs import arrange_runs
from shiftscope.report.sections.reproduce import list_commands
from shiftscope.store.manifest import format_command
from shiftscope.suites import load_suite
from shiftscope.suites.clevr import suite as clevr
from shiftscope.suites.clevr_hyp import suite as clevr_hyp
from shiftscope.suites.covr import suite as covr
from shiftscope.suites.superclevr import suite as superclevr
from shiftscope.suites.superclevr.study import SCALES, STUDY
from shiftscope.suites.superclevr.variants import VARIANTS
from shiftscope.world.superclevr.concepts import ConceptDistribution

ROOT = Path(__file__).parents[2]
SOURCE = Path(shiftscope.__file__).parent
CLICK = typer.main.get_command(app)


def leaves(command=CLICK, path=()):
    """Every command by its words, and the options that it takes."""
    if hasattr(command, "commands"):
        own = {name: command.get_command(None, name) for name in command.list_commands(None)}
        return {k: v for name, one in own.items() for k, v in leaves(one, (*path, name)).items()}
    return {path: {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | {"--help"}}


LEAVES = leaves()
PRINTED = re.compile(r"(?<![\w/.-])shiftscope ((?:[a-z_]+)(?: [a-z_-]+)?)([^`;\n]*)")


def unknown_options(text):
    """The options in the commands of a text that their verbs do not take, each with its verb."""
    for verb, rest in PRINTED.findall(text.replace("\\\n", " ")):
        words = tuple(verb.split())
        fit = [path for path in LEAVES if path == words] or [path for path in LEAVES if path[0] == words[0]]
        taken = {option for path in fit for option in LEAVES[path]}
        yield from ((verb, one) for one in re.findall(r"(?<=\s)--[a-z][a-z-]*", f" {rest}") if fit and one not in taken)


def texts(path):
    """The texts of a Python file, formatted ones with X where something is put in."""
    tree = ast.parse(path.read_text("utf-8"))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(p.value if isinstance(p, ast.Constant) else "X" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def test_what_the_program_says_can_be_typed():
    found = [text for path in sorted(SOURCE.rglob("*.py")) for text in texts(path) if "shiftscope " in text]
    assert sum(bool(PRINTED.search(text)) for text in found) > 60
    assert [wrong for text in found for wrong in unknown_options(text)] == []


def test_what_the_pages_say_can_be_typed():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    assert [(page.name, wrong) for page in pages for wrong in unknown_options(page.read_text("utf-8"))] == []


def test_what_can_not_be_typed_is_found():
    assert list(unknown_options("see shiftscope make superclevr --meshes X --images 3; or --this")) == [
        ("make superclevr", "--meshes")
    ]


class Asked(Exception):
    """The command was understood; this is the order."""


SHARES = ConceptDistribution(material=(0.25, 0.75))
ORDERS = [
    ("clevr", clevr.ClevrSpec()),
    ("clevr", clevr.ClevrSpec(9, -3, (64, 48), 0, 7)),
    ("clevr_hyp", clevr_hyp.ClevrHypSpec()),
    ("clevr_hyp", clevr_hyp.ClevrHypSpec(9, 3, (64, 48), 1, False, "a model", 7)),
    ("covr", covr.CovrSpec()),
    ("covr", covr.CovrSpec(n=31, size=(64, 48), questions=(20, 17, 15), sources=5, subgraphs=3, share=4, seed=2)),
    ("covr", covr.CovrSpec(easy_distractors=True, paraphrased=True, shard=9)),
    *(("superclevr", superclevr.SuperclevrSpec.from_variant(name)) for name in VARIANTS),
    *(
        (
            "superclevr",
            superclevr.SuperclevrSpec.from_variant(name, visual, images=12, seed=5, size=(64, 48), questions=0),
        )
        for name, one in VARIANTS.items()
        for visual in ("easy", "mid", "hard")
        if one.factor != "visual"
    ),
    ("superclevr", superclevr.SuperclevrSpec(part_questions=3, shard=11)),
]


@pytest.mark.parametrize(("suite", "order"), ORDERS)
def test_a_dataset_is_made_again_by_an_order_that_is_the_same(suite, order, monkeypatch):
    def asked(self, spec, *words, **rest):
        raise Asked(spec.spec())

    monkeypatch.setattr(type(load_suite(suite)), "make", asked)
    again = load_suite(suite).make_command(order.spec())
    assert not again.needs
    words = shlex.split(format_command(f"shiftscope make {suite}", {**again.options, "out": "a folder"}))
    with pytest.raises(Asked) as found:
        app(words[1:], standalone_mode=False)
    assert found.value.args[0] == order.spec()


@pytest.mark.parametrize("name", catalog.SUITES.names())
def test_every_suite_says_how_its_data_are_made_again(name):
    again = load_suite(name).make_command(load_suite(name).spec().spec())
    assert {f"--{option}" for option in again.options} <= LEAVES["make", name]


def test_what_only_the_user_has_is_said():
    given = superclevr.SuperclevrSpec(images=4).spec() | {"given": "abc", "pictured": False, "size": None}
    again = superclevr.SUITE.make_command(given)
    assert "images" not in again.options
    assert again.needs == ("SCENES: the file or folder of scenes that was given (content abc)",)
    own = superclevr.SUITE.make_command(superclevr.SuperclevrSpec(concepts=SHARES).spec())
    assert own.options["distribution"] == "SHARES"
    assert own.needs[0].startswith("SHARES: the files of shares that were given")
    other = superclevr.SUITE.make_command(superclevr.SuperclevrSpec().spec() | {"meshes": "of another version"})
    assert other.why_not == "its vehicles have other meshes than those of this version"


def taken(line):
    """Whether the command line would take it, words, options and values."""
    words = shlex.split(line, comments=True)[1:]
    command = CLICK
    while hasattr(command, "commands"):
        command, *words = command.get_command(None, words[0]), *words[1:]
    with suppress(SystemExit):
        command.make_context("shiftscope", words)
        return True
    return False


@pytest.mark.parametrize("name", catalog.GENERALIZATION_TESTS.names())
def test_the_options_of_a_test_can_be_typed(name):
    words = catalog.GENERALIZATION_TESTS.load(name).OPTIONS().to_cli_options()
    assert {f"--{option}" for option in words} <= LEAVES["test", name.replace("_", "-")]


SPEC = {
    "model": "openai:m@http://host/v1",
    "data": "d",
    "data_id": "x",
    "split": "val",
    "limit": 20,
    "conditions": ["as_is", "blind"],
    "seed": 3,
    "prompt": {"mode": "free"},
    "max_tokens": 64,
    "temperature": 0.5,
    "parameters": {"top_p": 0.9},
    "price": [0.15, 0.6],
    "dtype": "float32",
    "trained_on": "easy",
    "variant": "a harder one",
    "joined": True,
    "learned_from": "y",
    "part": {"name": "s:test_comp"},
    "learned_part": {"name": "s:train_iid"},
    "places": {"images": "p q", "learn_from": "l", "part": "s:test_comp", "learn_part": "s:train_iid"},
}


def printed(folder, **spec):
    """What the page of a run in that folder says, but for the page's own command."""
    *lines, shown = list_commands(arrange_runs([(log(right(5), **spec), Path(folder))]))
    assert taken(shown)
    return [line for line in lines if not line.startswith("#")]


def test_the_command_of_a_run_holds_all_of_it():
    (line,) = printed("a run", **SPEC)
    assert taken(line)
    for words in (
        "--joined --learn-from l --learn-part s:train_iid --trained-on easy --variant 'a harder one'",
        "--images 'p q'",
        "--part s:test_comp --limit 20 --condition as_is --condition blind --mode free",
        "--parameters '{\"top_p\": 0.9}' --dtype float32 --seed 3 --out 'a run'",
    ):
        assert words in line


@pytest.mark.parametrize("scale", [*SCALES.values(), STUDY.find_scale("small", 60)], ids=lambda s: s.name)
def test_the_command_of_a_study_can_be_typed(scale):
    spec = {"suite": "superclevr", "scale": scale.to_json(), "model": "nsvqa", "seed": 1, "data": None}
    (line,) = printed("my study/runs/visual-hard/nsvqa-easy-mid", **spec)
    assert taken(line)
    name, _, images = scale.name.partition("-")
    assert line.startswith(f"shiftscope study superclevr --scale {name} ")
    assert ("--images 60" in line) == (images == "60")
    assert line.endswith("--visual hard --seeds 0,1 --runs --out 'my study'")

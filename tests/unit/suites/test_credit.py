"""What the card of a dataset says of its licence: ours where all was generated, else whose files were used."""

from dataclasses import replace
from pathlib import Path

import pytest

from shiftscope.suites import load_suite, load_suites
from shiftscope.suites.graph_inputs import GraphInputs
from shiftscope.suites.superclevr.inputs import UserScenes

DATA = Path(__file__).parents[3] / "examples" / "data"
CLEVR, SUPERCLEVR, GQA = DATA / "clevr_scenes.json", DATA / "superclevr_scenes.json", DATA / "gqa_graphs.json"


@pytest.mark.parametrize("name", [n for n, s in load_suites().items() if s.world or n == "clevr_hyp"])
def test_what_is_generated_is_cc_by_and_owes_nothing(name):
    suite = load_suite(name)
    assert suite.credit(suite.spec()) == suite.about
    assert (suite.about.license, suite.about.sources) == ("cc-by-4.0", "")


def credit(name, inputs, **fields):
    suite = load_suite(name)
    return suite.credit(suite.spec(**fields), inputs)


def test_covr_is_cc_by_of_a_world_and_credits_graphs():
    assert credit("covr", None).sources == ""
    about = credit("covr", GraphInputs((GQA,)), world="", graphs=("given",))
    assert (about.license, about.sources) == (
        "cc-by-4.0",
        "- `gqa_graphs.json`, in the format of GQA, which is released under cc-by-4.0",
    )


@pytest.mark.parametrize(("name", "fields"), [("covr", {"world": "", "graphs": ("given",)}), ("gqa", {})])
def test_pictures_of_others_have_licences_of_their_own(name, fields):
    about = credit(name, GraphInputs((GQA,), images=DATA), **fields)
    assert about.license == "other"
    assert about.sources.splitlines()[1:] == ["- the pictures in `data`, each under the licence of whoever took it"]


@pytest.mark.parametrize(
    ("name", "inputs", "file"),
    [("clevr_hyp", (CLEVR, None), CLEVR), ("superclevr", UserScenes(SUPERCLEVR), SUPERCLEVR)],
)
def test_scenes_given_are_credited(name, inputs, file):
    about = credit(name, inputs)
    assert about.sources.startswith(f"- `{file.name}`")
    assert replace(about, license="cc-by-4.0", sources="") == load_suite(name).about

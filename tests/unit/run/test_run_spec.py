"""What a run's spec says of the diagnostic set that the run is a part of."""

import json

import pytest

from asked import dataset
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.question_source import open_source
from shiftscope.store.run_log import read_spec

SET = {"version": 1, "digest": "ab12", "part": "textures", "seed": 0}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("spec") / "data").folder


def test_a_run_outside_a_diagnosis_says_nothing_of_one(data):
    assert not {"factor", "diagnostic"} & RunSpec("majority", data).spec(open_source(data)).keys()


def test_the_factor_and_the_set_are_part_of_the_spec(data, tmp_path):
    run = RunSpec("majority", data, factor="Visual complexity", diagnostic=SET)
    evaluate(run, tmp_path / "run")
    kept = read_spec(tmp_path / "run")
    assert (kept["factor"], kept["diagnostic"]) == ("Visual complexity", SET)
    assert json.loads(json.dumps(kept)) == kept


def test_a_run_of_another_set_does_not_resume_it(data, tmp_path, refuses):
    evaluate(RunSpec("majority", data, diagnostic=SET), tmp_path / "run")
    evaluate(RunSpec("majority", data, diagnostic=SET), tmp_path / "run")
    with refuses("diagnostic"):
        evaluate(RunSpec("majority", data, diagnostic=SET | {"version": 2}), tmp_path / "run")

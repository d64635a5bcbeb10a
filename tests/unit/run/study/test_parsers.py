"""Parsers of a study: the shipped ones are taken where they are what the study would train."""

from dataclasses import replace
from types import SimpleNamespace

from shiftscope.models.nsvqa.trained_model import PARSERS, SHIPPED, TrainedModel, read_trained_model
from shiftscope.suites.superclevr.study import STUDY

WHOLE = read_trained_model(SHIPPED / "superclevr")


def test_the_shipped_parsers_stand_for_the_default_row_of_seed_0():
    (row,) = STUDY.plan_rows(["visual"], only=["default"])
    parts = STUDY.list_parts(row.trained, STUDY.find_scale("paper"), TrainedModel.KIND)
    assert [stage for part in parts for stage in part.stages] == list(PARSERS)
    for part in parts:
        (stage,) = part.stages
        found = STUDY.find_shipped(part)
        assert found.read_bytes(stage) == WHOLE.read_bytes(stage)
        assert found.about["seconds"]["all"] > 0  # its own, as a training leaves it
        assert STUDY.find_shipped(replace(part, seed=1)) is None
        assert STUDY.find_shipped(replace(part, settings=(("questions", "plain"),))) is None


def test_a_training_record_says_by_how_much_a_model_still_rose():
    about = {"answerer": {"val": {"right": 0.5}, "rise": 0.0012}, "scene_parser": {"val": {"color": 0.9}, "rise": 0.1}}
    found = STUDY.list_validation([SimpleNamespace(parts=tuple(about), about=about)])
    assert found == {"right": 0.5, "answerer: rise over the last quarter of its epochs": 0.0012, "color": 0.9}


def test_no_other_scale_or_variant_takes_them():
    rows = STUDY.plan_rows(["visual"], only=["default", "hard"])
    for row, scale in ((rows[0], "small"), (rows[1], "paper")):
        parts = STUDY.list_parts(row.trained, STUDY.find_scale(scale), TrainedModel.KIND)
        assert not any(STUDY.find_shipped(part) for part in parts if "scene_parser" in part.stages)

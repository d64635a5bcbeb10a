"""Trainings are told apart by all that they depend on, and share an id where the seed alone differs."""

from pathlib import Path

from shiftscope.models.visualbert.training import TrainedVisualBertText

PART = {"config": {"sizes": {"width": 32}}, "data": {"data_id": "some"}, "recipe": {"epochs": 2}}


def describe(seed, start="", width=32):
    part = {**PART, "seed": seed, "config": {"sizes": {"width": width}}}
    planned = {"spec": {"parsers": {"answerer": {"start": start}}}} if start else {}
    return TrainedVisualBertText(Path("models/some"), {"answerer": part, **planned}).describe_training()


def test_trainings_that_differ_in_the_seed_alone_share_an_id():
    assert [describe(seed, "glorot")["seed"] for seed in (0, 1)] == [0, 1]
    assert describe(0, "glorot")["id"] == describe(1, "glorot")["id"]


def test_how_a_training_begins_is_part_of_its_id():
    ids = {describe(0, start)["id"] for start in ("", "glorot", "deepnet")} | {describe(0, "glorot", 64)["id"]}
    assert len(ids) == 4

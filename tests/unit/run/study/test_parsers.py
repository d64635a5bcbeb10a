"""Parsers of a study: the shipped ones are found by the hash of their weights."""

from shiftscope.models.nsvqa.trained_model import PARSERS, SHIPPED, read_trained_model
from shiftscope.suites.superclevr.study import STUDY


def test_a_shipped_parser_is_found_by_its_hash_alone():
    whole = read_trained_model(SHIPPED / "superclevr")
    for part in PARSERS:
        found = STUDY.find_shipped(part, whole.about[part]["blake2b"])
        assert found.read_bytes(part) == whole.read_bytes(part)
        assert found.about["seconds"]["all"] > 0  # its own, as a training leaves it
        assert STUDY.hash_recipes([found, found]) == STUDY.hash_recipes([whole, whole])
        assert STUDY.find_shipped(part, "another") is None
        assert STUDY.find_shipped(part, None) is None

"""Parsers of a study: the shipped ones are found by the hash of their weights."""

from shiftscope.models._weights import PARSERS, SHIPPED, read_trained
from shiftscope.run.study.weights import recipe_id, shipped


def test_a_shipped_parser_is_found_by_its_hash_alone():
    whole = read_trained(SHIPPED / "superclevr")
    for part in PARSERS:
        found = shipped(part, whole.about[part]["blake2b"])
        assert found.bytes(part) == whole.bytes(part)
        assert found.about["seconds"]["all"] > 0  # its own, as a training leaves it
        assert recipe_id(found, found) == recipe_id(whole, whole)
        assert shipped(part, "another") is None
        assert shipped(part, None) is None

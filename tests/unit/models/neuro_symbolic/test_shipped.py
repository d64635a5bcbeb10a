"""The question parser as it ships: small, found by the schema of the data, and able to read the world's questions."""

import pytest

from shiftscope.errors import UserError
from shiftscope.lang.text import format_program
from shiftscope.models.neuro_symbolic.training import PARSER, TrainedQuestionParser, find_stage
from shiftscope.schemas.clevr import SCHEMA as CLEVR
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.trainable import load_stage

MOST_BYTES = 6_000_000


@pytest.fixture(scope="module")
def shipped():
    return TrainedQuestionParser.find("neuro_symbolic", "", SCHEMA)


def test_it_is_small(shipped):
    assert sum(path.stat().st_size for path in shipped.folder.iterdir()) < MOST_BYTES


def test_it_reads_questions_of_the_world(shipped):
    module = load_stage(shipped, find_stage(shipped.config(PARSER)), "cpu")
    jets = "filter(scene(), shape=jet)"
    texts = {
        "There are exactly 3 red jets.": f"equal(count(filter({jets}, color=red)), 3)",
        "How many images contain at least 2 small jets?": f"count(keep(group(filter({jets}, size=small)), at_least, 2))",
        "Is the jet red or blue?": f"choose(unique({jets}), color, red, blue)",
    }
    found = module.parse(list(texts))
    assert [one and format_program(one) for one in found] == list(texts.values())


def test_for_other_data_there_is_none():
    with pytest.raises(UserError, match="ships no weights for clevr data"):
        TrainedQuestionParser.find("neuro_symbolic", "", CLEVR)

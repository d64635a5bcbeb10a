"""Programs as tokens, in both logical forms, and back."""

import pytest

from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.models.neuro_symbolic.logical_forms import FORMS, express_program, read_tokens, write_tokens
from shiftscope.schema import OPEN

QUANTIFIED = 'all(find(man), exist(intersect(it(), related(find("city street"), "standing on"))))'
PROGRAMS = (QUANTIFIED, "at_least(count(keep(group(find(dog)), at_most, 2)), 1)", "query(unique(find(cat)), color)")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", PROGRAMS)
def test_tokens_give_the_program_back(form, text):
    program = parse_program(text).canonicalize()
    assert read_tokens(write_tokens(program, form, OPEN), form, OPEN).canonicalize() == program


def test_a_quantifier_has_its_sub_program_in_brackets():
    tokens = write_tokens(parse_program(QUANTIFIED), "compositional", OPEN)
    assert tokens[:3] == ("find", "=man", ";")
    assert tokens.count("[") == tokens.count("]") == 1 and "map" in tokens and "=city street" in tokens


@pytest.mark.parametrize("tokens", [(), ("find",), ("map", "=and", "[", "find", "=dog", ";"), ("=dog", ";"), ("]",)])
def test_what_is_no_program_is_refused(tokens):
    with pytest.raises(ProgramError):
        read_tokens(tokens, "original", OPEN)


def test_the_compositional_form_has_no_unique():
    said = "query(unique(related(unique(find(car)), behind, object)), name)"
    programs = (express_program(parse_program(said), form, OPEN) for form in ("original", "compositional"))
    kept, lost = map(format_program, programs)
    assert kept.count("unique") == 2 and lost.count("unique") == 1

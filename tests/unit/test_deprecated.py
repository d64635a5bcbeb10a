"""Python names that documentation gave away still work, with a warning that says the new one."""

from importlib import import_module

import pytest

from shiftscope.model import Response


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("shiftscope.models._model", "Reply", "shiftscope.model.Response"),
        ("shiftscope.models._model", "Setting", "shiftscope.model.ModelSetting"),
        ("shiftscope.lang.text", "parse", "shiftscope.lang.text.parse_program"),
        ("shiftscope.shift.held_out.expression", "prop", "shiftscope.shift.held_out.predicates.get_property"),
        ("shiftscope.shift.held_out.expression", "parse", "shiftscope.shift.held_out.predicates.parse_expression"),
    ],
)
def test_an_old_name_gives_the_new_thing(module, old, new):
    home, _, name = new.rpartition(".")
    with pytest.warns(FutureWarning, match=new.replace(".", r"\.")):
        found = getattr(import_module(module), old)
    assert found is getattr(import_module(home), name)


def test_a_name_that_never_was_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'Answer'"):
        getattr(import_module("shiftscope.models._model"), "Answer")  # noqa: B009


def test_a_response_still_takes_and_gives_its_old_field():
    with pytest.warns(DeprecationWarning, match=r"Response\.belief is now Response\.confidence"):
        response = Response(answer=True, belief=0.5)
    assert response == Response(answer=True, confidence=0.5)
    with pytest.warns(DeprecationWarning, match="goes in the next version"):
        assert response.belief == 0.5

"""An action and a question, put together into one program and taken apart again."""

from shiftscope.lang.acted import apart, joined
from shiftscope.lang.text import parse, show


def test_the_question_starts_from_what_the_action_gives():
    action = parse("change(filter(scene(), shape=cube), color=red)")
    question = parse("count(filter(scene(), color=red))")
    assert (
        show(joined(action.nodes, question))
        == "count(filter(change(filter(scene(), shape=cube), color=red), color=red))"
    )


def test_taking_apart_gives_both_back():
    text = "less(count(filter(swap(scene(), unique(filter(scene(), color=red)), unique(filter(scene(), color=blue))), size=small)), 2)"
    action, question = apart(parse(text))
    assert (
        show(action)
        == "swap(scene(), unique(filter(scene(), color=red)), unique(filter(scene(), color=blue)))"
    )
    assert show(question) == "less(count(filter(scene(), size=small)), 2)"


def test_two_actions_are_one_side():
    first = "remove(scene(), filter(scene(), color=red))"
    action, question = apart(parse(f"exist(change(filter({first}, shape=cube), size=small))"))
    assert show(action) == f"change(filter({first}, shape=cube), size=small)"
    assert show(question) == "exist(scene())"


def test_a_question_without_an_action_is_all_question():
    program = parse("exist(scene())")
    assert apart(program) == (None, program)

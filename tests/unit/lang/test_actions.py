"""An action and a question, put together into one program and taken apart again."""

from shiftscope.lang.program import join_action, split_action
from shiftscope.lang.text import format_program, parse_program


def test_the_question_starts_from_what_the_action_gives():
    action = parse_program("change(filter(scene(), shape=cube), color=red)")
    question = parse_program("count(filter(scene(), color=red))")
    assert (
        format_program(join_action(action.nodes, question))
        == "count(filter(change(filter(scene(), shape=cube), color=red), color=red))"
    )


def test_taking_apart_gives_both_back():
    text = "less(count(filter(swap(scene(), unique(filter(scene(), color=red)), unique(filter(scene(), color=blue))), size=small)), 2)"
    action, question = split_action(parse_program(text))
    assert (
        format_program(action)
        == "swap(scene(), unique(filter(scene(), color=red)), unique(filter(scene(), color=blue)))"
    )
    assert format_program(question) == "less(count(filter(scene(), size=small)), 2)"


def test_two_actions_are_one_side():
    first = "remove(scene(), filter(scene(), color=red))"
    action, question = split_action(parse_program(f"exist(change(filter({first}, shape=cube), size=small))"))
    assert format_program(action) == f"change(filter({first}, shape=cube), size=small)"
    assert format_program(question) == "exist(scene())"


def test_a_question_without_an_action_is_all_question():
    program = parse_program("exist(scene())")
    assert split_action(program) == (None, program)

"""Programs and their meanings determine each other; what a law says of one op holds of the others."""

import pytest

from shiftscope.lang.program import ProgramError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.models.neuro_symbolic.meaning import ALT, LEAF, asks_choices, has_program, read_meaning, write_program

CAR = "filter(scene(), shape=sedan)"
PROGRAMS = (
    f"count({CAR})",
    f"verify(unique({CAR}), color=red)",
    f"choose(unique({CAR}), color, red, blue)",
    f"choose_relation(unique({CAR}), filter(scene(), shape=truck), left, right, object)",
    "choose(unique(intersect(union(find(dog), find(cat)), related(unique(find(man)), holding, object))), name, dog, cat)",
    f"query(unique(related(unique({CAR}), behind, object)), shape)",
    f"at_least(count(keep(group(filter({CAR}, color=red)), at_most, 1)), 2)",
    f"greater(count(images({CAR})), count(images(filter(scene(), shape=truck))))",
    f"all(intersect({CAR}, related(filter(scene(), shape=truck), left)), verify(it(), size=large))",
    f"none({CAR}, exist(intersect(intersect(it(), related(find(cat), on)), related(find(dog), on))))",
    f"equal(query(unique({CAR}), color), query(unique(filter(scene(), shape=truck)), color))",
    "alike(find(sign), find(sign), color)",
    f"not(some({CAR}, verify(it(), color=red)))",
    f"or(exist({CAR}), exist(find(dog)))",
)


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_meaning_gives_its_program_back(text):
    program = parse_program(text).canonicalize()
    assert format_program(write_program(read_meaning(program))) == format_program(program)


def test_asking_which_of_two_is_asking_whether_with_an_alternative():
    choose = read_meaning(parse_program(f"choose(unique({CAR}), color, red, blue)"))
    verify = read_meaning(parse_program(f"verify(unique({CAR}), color=red)"))
    assert choose[:2] == verify[:2]
    assert choose[2] == ("be", ("alt", (LEAF, "color", "red"), (LEAF, "color", "blue")))


def test_one_set_and_two_are_alike_by_the_same_label():
    two = f"equal(query(unique({CAR}), size), query(unique(find(dog)), size))"
    one = f"alike({CAR}, {CAR}, size)"
    assert read_meaning(parse_program(one))[0] == read_meaning(parse_program(two))[0] == "same"


def test_a_tree_that_no_program_says_is_refused():
    mixed = ("alt", (LEAF, "color", "red"), (LEAF, "size", "large"))
    with pytest.raises(ProgramError, match="no program says"):
        write_program(("is", ("unique", ("find", (LEAF, "name", "dog"))), ("be", mixed)))
    with pytest.raises(ProgramError, match="no op 'both'"):
        write_program(("count", ("both", ("find", (LEAF, "name", "dog")), ("find", (LEAF, "name", "cat")))))


def test_only_a_choice_that_is_asked_about_has_a_program():
    red, blue = ((LEAF, "color", word) for word in ("red", "blue"))
    car, left = ("find", (LEAF, "shape", "sedan")), (LEAF, "relation", "left")
    either = "find", (ALT, (LEAF, "shape", "truck"), (LEAF, "shape", "jet"))
    for asked in (
        ("be", (ALT, red, blue)),
        ("pred", either, left),
        ("pred_alt", car, left, (LEAF, "relation", "right")),
    ):
        assert asks_choices(asked) and asks_choices(("is", ("unique", car), asked))
        assert write_program(("is", ("unique", car), asked))
        for stray in (("with", car, asked), ("all", car, ("also", asked, ("be", red)))):
            assert not all(asks_choices(node) for node in (stray, stray[2]))
            with pytest.raises(ProgramError):
                write_program(stray)
    for stray in (("exist", either), ("filter", car, (ALT, red, blue)), ("is", ("unique", either), ("be", red))):
        assert not all(asks_choices(node) for node in (stray, stray[1]))
        with pytest.raises(ProgramError):
            write_program(stray)


def test_images_are_told_by_what_they_show_or_by_how_many():
    car, one = ("find", (LEAF, "shape", "sedan")), (LEAF, "number", "1")
    shown = "images", ("exist", car)
    for told in (shown, ("images", ("equal", ("count", car), one))):
        assert has_program(told) and write_program(("count", told))
    for stray in (
        ("images", ("all", car, ("be", (LEAF, "color", "red")))),
        ("images", ("greater", ("count", car), ("count", car))),
        ("images", ("is", car, ("be", (LEAF, "color", "red")))),
    ):
        assert not has_program(stray)
        with pytest.raises(ProgramError):
            write_program(("count", stray))
    assert not has_program(("images", ("equal", ("count", shown), one)))  # as typing says later


def test_only_a_predicate_is_about_this_and_that():
    both = "both", ("find", (LEAF, "shape", "sedan")), ("find", (LEAF, "shape", "jet"))
    assert has_program(("pred", both, (LEAF, "relation", "left")))
    assert not has_program(("count", both)) and not has_program(("both", both, both[1]))

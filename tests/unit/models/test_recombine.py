"""Questions recombined: what is made is said and meant as the language that the old ones were drawn from would have it."""

import random
from itertools import product

import pytest

from shiftscope.lang.program import Program
from shiftscope.lang.text import parse_program
from shiftscope.models.scene_edit.recombine import (
    SetPhrase,
    find_places,
    join_places,
    join_words,
    list_cuts,
    measure_depth,
    outline,
    recombine,
)
from shiftscope.models.scene_edit.training import QUESTION_STAGES, RECOMBINED
from shiftscope.trainable import SplitData

COLORS, SHAPES = ("red", "blue", "green", "gray"), ("cube", "ball", "cylinder")
WHERE = {"left": "left of", "behind": "behind"}
PLAIN = [(f"{c} {s}", f"filter(filter(scene(), color={c}), shape={s})") for c, s in product(COLORS, SHAPES)]
PLAIN += [(s, f"filter(scene(), shape={s})") for s in SHAPES]
SHAPE = {"cube": "cube", "ball": "sphere", "cylinder": "cylinder"}


def relate(thing, relation, other):
    """A ball that is behind the cube: words, and a program."""
    (words, program), (seen, meant) = thing, other
    return f"{words} that is {WHERE[relation]} the {seen}", program.replace(
        "scene()", f"relate(unique({meant}), {relation})"
    )


def ask(form, *things):
    """One of four questions."""
    words, programs = zip(*things, strict=True)
    if form == "color":
        return f"What color is the {words[0]}?", f"query(unique({programs[0]}), color)"
    if form == "size":
        return f"Find the {words[0]}; how large is it?", f"query(unique({programs[0]}), size)"
    if form == "same":
        same = ", ".join(f"query(unique({p}), shape)" for p in programs)
        return f"Is the {words[0]} of the same shape as the {words[1]}?", f"equal({same})"
    either = ", ".join(f"relate(unique({p}), left)" for p in programs)
    return f"Is anything left of the {words[0]} or left of the {words[1]}?", f"exist(union({either}))"


@pytest.fixture(scope="module")
def language():
    """All plain things, some related ones and a few related to such; these only in questions about colours and sizes."""
    random_one = random.Random(0)
    deep = [relate(*random_one.sample(PLAIN, 1), r, *random_one.sample(PLAIN, 1)) for r in WHERE for _ in range(40)]
    old = [ask(form, thing) for form in ("color", "size") for thing in PLAIN + deep]
    old += [ask("color", relate(PLAIN[k], "left", deep[k])) for k in range(8)]
    old += [ask(form, *random_one.sample(PLAIN, 2)) for form in ("same", "or") for _ in range(120)]
    return [(text, parse(program)) for text, program in dict(old).items()]


def parse(program: str) -> Program:
    for word, shape in SHAPE.items():
        program = program.replace(f"shape={word}", f"shape={shape}")
    return parse_program(program).canonicalize()


def read(text: str) -> Program:
    """What a text of this language means, by the forms above: written apart from what is tested."""
    import re

    def read_thing(words):
        head, _, rest = words.partition(" that is ")
        *color, shape = head.split()
        inner = "scene()"
        for relation, said in WHERE.items():
            if rest.startswith(f"{said} the "):
                inner = f"relate(unique({read_thing(rest.removeprefix(f'{said} the '))}), {relation})"
        for one in color:
            inner = f"filter({inner}, color={one})"
        return f"filter({inner}, shape={shape})"

    forms = {
        r"What color is the (.*)\?": "query(unique({}), color)",
        r"Find the (.*); how large is it\?": "query(unique({}), size)",
        r"Is the (.*) of the same shape as the (.*)\?": "equal(query(unique({}), shape), query(unique({}), shape))",
        r"Is anything left of the (.*) or left of the (.*)\?": (
            "exist(union(relate(unique({}), left), relate(unique({}), left)))"
        ),
    }
    for pattern, form in forms.items():
        if found := re.fullmatch(pattern, text):
            return parse(form.format(*map(read_thing, found.groups())))
    raise AssertionError(text)


def test_all_that_is_made_means_what_it_says(language):
    made = recombine(language, 100)
    assert len(made) == 100
    assert {text for text, program in made if read(text) != program} == set()
    known = {outline(program) for _, program in language}
    assert all(outline(program) not in known for _, program in made)
    deepest = max(map(measure_depth, known))
    assert all(measure_depth(outline(program)) <= deepest for _, program in made)
    assert any("union" in [n.op for n in program.nodes] for _, program in made)  # with a thing that relates to others
    assert made == recombine(language, 100)


def test_a_place_says_nothing_of_what_its_phrases_mean(language):
    places = find_places([(tuple(text.replace("?", " ?").replace(";", " ;").split()), p) for text, p in language])
    assert places
    for place in places:
        assert not {"red", "cube", "ball"} & {*place.before[-1:], *place.after[:1]}


def test_places_are_one_if_they_have_three_phrases_in_common():
    phrases = [SetPhrase((word,), ()) for word in "abcdefgh"]
    joined = join_places([phrases[:4], phrases[1:5], phrases[3:6], phrases[6:]])
    assert [sorted(p.words[0] for p in group) for group in joined] == [["g", "h"], ["d", "e", "f"], [*"abcde"]]


def test_a_question_parser_learns_from_what_is_made(language):
    stage = QUESTION_STAGES["recombined"]()
    data = SplitData(None, (), {stage.name: language})
    learned = stage.encode(data, {}, "cpu").supervision[stage.name]
    assert len(learned) == len(language) + round(RECOMBINED * len(language))
    assert set(language) < set(learned)


def test_nothing_is_made_of_questions_that_have_nothing_in_common(language):
    assert recombine(language[:3], 10) == []
    assert recombine([], 10) == []


def test_a_set_that_a_filter_narrows_is_no_phrase():
    program = parse("count(filter(filter(scene(), color=red), shape=cube))")
    (cut,) = list_cuts(program)
    assert [op for op, _, _ in cut.filler] == ["scene", "filter", "filter"]
    assert [op for op, _, _ in cut.context] == ["", "count"]


def test_sentences_are_written_as_they_were():
    assert join_words(("Find", "it", ";", "how", "large", "?")) == "Find it; how large?"

"""Contrast sets: text and program change together, and every label is what execution gives."""

from dataclasses import replace

import pytest

from covr_rows import quantified, rows
from covr_toys import asked, dataset, questions_of, scenes_of
from graphs import graph
from shiftscope.answer import is_same_answer, spell
from shiftscope.formats import covr
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.notations import covr_compositional
from shiftscope.lang.notations.gqa.steps import VERIFY_REL
from shiftscope.lang.program import Program, node
from shiftscope.lang.text import format_program, parse_program
from shiftscope.question import Question
from shiftscope.questions.gqa.wording import question_text
from shiftscope.run.evaluate import RunSpec
from shiftscope.run.generalization import SourceSplit, contrast
from shiftscope.run.generalization._object_substitution import NO_NAME, NO_OTHER, ObjectSubstitution, _find_places
from shiftscope.run.generalization.contrast import CHANGES, ContrastOptions
from shiftscope.run.test import test as take_test
from shiftscope.scene import Object, Scene
from shiftscope.schemas import clevr
from shiftscope.schemas.gqa import SCHEMA
from shiftscope.shift.held_out.facts import find_shape
from shiftscope.store.run_log import read_run

SCENES = scenes_of(40)
GROUPED = "count(keys(keep(group(find(dog)), at_least, 2)))"
WHITE = "verify(it(), attribute=white)"


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    made = {"train": questions_of(60, SCENES, "train"), "test": questions_of(200, SCENES)}
    return dataset(tmp_path_factory.mktemp("covr") / "data", made, SCENES).folder


def changed(text, program):
    """level → text and program after every change that applies."""
    shape = find_shape(parse_program(program))
    return {
        f"{c.before} → {c.after}": (
            c.change_text(text, shape),
            format_program(c.change_program(parse_program(program))),
        )
        for c in CHANGES
        if c.applies_to(shape)
    }


def test_at_least_becomes_no_less_than_in_a_count_of_images():
    found = changed("How many images contain at least 2 gray elephants?", GROUPED)
    assert found == {"at least → no less than": ("How many images contain no fewer than 2 gray elephants?", GROUPED)}


def test_at_least_becomes_less_than_in_a_statement_of_how_many():
    found = changed("There are at least four people that are buttering pan", "at_least(count(find(person)), 4)")
    assert found == {
        "at least → no less than": (
            "There are no fewer than four people that are buttering pan",
            "at_least(count(find(person)), 4)",
        ),
        "at least → less than": (
            "There are fewer than four people that are buttering pan",
            "less(count(find(person)), 4)",
        ),
    }


def test_of_two_at_leasts_the_one_of_images_is_changed():
    found = changed("At least 3 images contain at least 2 dogs.", f"at_least({GROUPED}, 3)")
    assert found["at least → less than"] == ("Fewer than 3 images contain at least 2 dogs.", f"less({GROUPED}, 3)")


@pytest.mark.parametrize(
    ("text", "program", "expected"),
    [
        (
            "No boys that have a large tree behind them are wearing jeans.",
            f"none(find(boy), {WHITE})",
            {
                "no → some": ("Some boys that have a large tree behind them are wearing jeans.", f"some(find(boy), {WHITE})"),
                "no → at least one": (
                    "At least one of the boys that have a large tree behind them is wearing jeans.",
                    f"some(find(boy), {WHITE})",
                ),
            },
        ),
        (
            "Some dogs have a tail",
            f"some(find(dog), {WHITE})",
            {
                "some → no": ("No dogs have a tail", f"none(find(dog), {WHITE})"),
                "some → none of the": ("None of the dogs have a tail", f"none(find(dog), {WHITE})"),
            },
        ),
        (
            "All dogs are white",
            f"all(find(dog), {WHITE})",
            {"all → either none or only some": ("Not all of the dogs are white", f"not(all(find(dog), {WHITE}))")},
        ),
        (
            "None of the dogs that are on a bed are white.",
            f"none(find(dog), {WHITE})",
            {
                "no → some": ("Some of the dogs that are on a bed are white.", f"some(find(dog), {WHITE})"),
                "no → at least one": ("At least one of the dogs that are on a bed is white.", f"some(find(dog), {WHITE})"),
            },
        ),
        (
            "Some of the dogs have a tail.",
            f"some(find(dog), {WHITE})",
            {
                "some → no": ("Not one of the dogs has a tail.", f"none(find(dog), {WHITE})"),
                "some → none of the": ("None of the dogs have a tail.", f"none(find(dog), {WHITE})"),
            },
        ),
        (
            "None of the poles that are on a road support a light.",
            f"none(find(pole), {WHITE})",
            {
                "no → some": ("Some of the poles that are on a road support a light.", f"some(find(pole), {WHITE})"),
                "no → at least one": (
                    "At least one of the poles that are on a road supports a light.",
                    f"some(find(pole), {WHITE})",
                ),
            },
        ),
        (
            "All of the dogs are white.",
            f"all(find(dog), {WHITE})",
            {"all → either none or only some": ("Not all of the dogs are white.", f"not(all(find(dog), {WHITE}))")},
        ),
    ],
)  # fmt: skip
def test_quantifiers_turn_into_their_opposites(text, program, expected):
    assert changed(text, program) == expected


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("Every dog is white", f"all(find(dog), {WHITE})"),
        ("All dogs that all men like are white", f"all(find(dog), {WHITE})"),
        ("There are at least 3 dogs", "at_least(count(find(dog)), 2)"),  # another number
        ("There are two or more dogs", "at_least(count(find(dog)), 2)"),
        ("How many images contain dogs?", "count(images(find(dog)))"),
        ("Nobody knows some things", f"none(find(dog), {WHITE})"),
    ],
)
def test_words_that_do_not_stand_there_exactly_once_are_refused(text, program):
    assert {said for said, _ in changed(text, program).values()} == {None}


def test_labels_agree_with_execution_for_every_item(toys):
    data = SourceSplit(toys)
    (exam,) = contrast.plan(data, ContrastOptions()).test_sets
    originals = {q.id: q for q in exam.questions if q.note("twin") is None}
    variants = [q for q in exam.questions if q.note("twin") is not None]
    assert {q.note("level") for q in variants} == {c.level for c in CHANGES} | {"another object"}
    for question in exam.questions:
        assert is_same_answer(execute(question.program, data.scenes(question.scenes)).answer, question.answer)
    altering = {c.level for c in CHANGES if c.alters} | {"another object"}
    for variant in variants:
        original = originals[variant.note("twin")]
        assert variant.scenes == original.scenes
        assert variant.text != original.text
        assert (spell(variant.answer) != spell(original.answer)) == (variant.note("level") in altering)


def test_every_row_of_the_papers_table_is_there_and_the_oracle_scores_all(toys, tmp_path):
    made = take_test("contrast", RunSpec("oracle", toys), tmp_path / "out")
    assert [(dict(line.of)["template"], dict(line.of)["change"]) for line in made.lines] == [
        ("count_group_by", "at least → at least"),
        ("count_group_by", "at least → no less than"),
        ("verify_count", "at least → at least"),
        ("verify_count", "at least → no less than"),
        ("verify_count", "at least → less than"),
        ("verify_count_group_by", "at least → at least"),
        ("verify_count_group_by", "at least → no less than"),
        ("verify_count_group_by", "at least → less than"),
        ("verify_quant", "no → no, some → some"),
        ("verify_quant", "no ↔ some"),
        ("verify_quant", "no → no"),
        ("verify_quant", "no → at least one"),
        ("verify_quant", "some → some"),
        ("verify_quant", "some → none of the"),
        ("verify_quant", "all → all"),
        ("verify_quant", "all → either none or only some"),
        ("one image", "as asked"),
        ("one image", "another object"),
        ("all", "all of a question's variants"),
    ]
    for line in made.lines:
        scores = {s.metric: s for s in line.scores}
        assert scores["accuracy"].value == 1
        flips = dict(line.of)["answer"] == "changed"
        assert "local_coherency" not in scores or scores["local_coherency"].value == float(not flips)


def test_a_model_that_never_looks_at_quantifiers_is_all_coherency_and_no_consistency(toys, tmp_path):
    made = take_test("contrast", RunSpec("majority", toys), tmp_path / "out", ContrastOptions(("quantifiers",)))
    by = {
        (dict(line.of)["template"], dict(line.of)["change"]): {s.metric: s for s in line.scores} for line in made.lines
    }
    turned = by["verify_quant", "no ↔ some"]
    assert (turned["local_coherency"].value, turned["consistency"].value) == (1, 0)
    assert turned["accuracy"].value == pytest.approx(1 - turned["original"].value)
    assert by["verify_quant", "no → no, some → some"]["accuracy"].value == turned["original"].value
    log = read_run(made.runs[0])
    assert len(log.records) == log.questions == made.asked


def put(tmp_path, scenes, *questions):
    return SourceSplit(dataset(tmp_path / "data", {"test": list(questions)}, scenes, 1).folder)


def test_all_of_nothing_is_left_out_for_none_of_it_are_so_either(tmp_path):
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "white dog, black dog"))}
    empty = asked("e", "All dogs are white", f"all(find(dog), {WHITE})", scenes, ("a",))
    full = asked("f", "All dogs are white", f"all(find(dog), {WHITE})", scenes, ("a", "b"))
    plan = contrast.plan(put(tmp_path, scenes, empty, full), ContrastOptions(("quantifiers",)))
    assert [q.id for q in plan.test_sets[0].questions] == ["f", "f+all_to_either_none_or_only_some"]
    assert dict(plan.left_out) == {f"verify_quant, all → either none or only some: {contrast.OVER_NOTHING}": 1}


def test_a_label_that_execution_does_not_bear_out_is_dropped_and_counted(tmp_path, monkeypatch):
    """A change whose program does not mean the opposite: what a flip taken on trust would hide."""
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "white dog, black dog"))}
    one = asked("q", "Some dogs are white", f"some(find(dog), {WHITE})", scenes, ("a", "b"))
    monkeypatch.setattr(contrast.QuantifierChange, "change_program", lambda self, program: program)
    plan = contrast.plan(put(tmp_path, scenes, one), ContrastOptions(("quantifiers",)))
    assert not plan.test_sets
    assert dict(plan.left_out) == {
        f"verify_quant, no ↔ some: {contrast.DISAGREES}": 1,
        f"verify_quant, some → none of the: {contrast.DISAGREES}": 1,
    }


def solid(shape, color="red"):
    return Object((("size", "small"), ("color", color), ("material", "metal"), ("shape", shape)))


def substituted(tmp_path, scene, text, program):
    one = asked("q", text, program, {scene.id: scene}, (scene.id,))
    plan = contrast.plan(put(tmp_path, {scene.id: scene}, one), ContrastOptions(("objects",)))
    if plan.test_sets:
        return [(q.text, q.answer) for q in plan.test_sets[0].questions[1:]]
    return [reason for reason, _ in plan.left_out]


def test_a_shape_word_gives_way_to_another_whatever_synonym_was_said(tmp_path):
    scene = Scene((solid("sphere"), solid("sphere"), solid("cube")), schema=clevr.SCHEMA, id="s")
    found = substituted(
        tmp_path, scene, "How many red balls are there?", "count(filter(scene(), color=red, shape=sphere))"
    )
    assert found in ([("How many red cubes are there?", 1)], [("How many red cylinders are there?", 0)])


def test_an_article_goes_with_its_noun_and_a_person_is_no_stand_in_for_a_man(tmp_path):
    scene = graph("s", "man, elephant")
    found = substituted(tmp_path, scene, "Is there a man?", "exist(find(man))")
    assert found == [f"another object: {NO_OTHER}"]  # there is an elephant, too, and no other name is known
    scene = graph("t", "man, person")
    assert substituted(tmp_path / "t", scene, "Is there a cow?", "exist(find(cow))") == [f"another object: {NO_OTHER}"]
    scene = graph("u", "elephant")
    found = substituted(tmp_path / "u", scene, "Is there a cow near here?", "exist(find(cow))")
    assert found == [("Is there an elephant near here?", True)]


def test_no_is_not_read_out_of_what_a_photographs_annotation_leaves_unsaid(tmp_path):
    scene = graph("s", "black dog, cat")
    program = "verify(unique(find(dog)), attribute=black)"
    assert substituted(tmp_path, scene, "Is the dog black?", program) == [f"another object: {NO_OTHER}"]
    scene = graph("t", "black dog, white cat")
    back = "verify(unique(find(cat)), attribute=black)"
    assert substituted(tmp_path / "t", scene, "Is the cat black?", back) == [("Is the dog black?", True)]


def test_a_name_that_stands_there_twice_is_left_alone(tmp_path):
    things = (solid("sphere"), solid("cube"))
    placed = tuple(Object(o.attributes, position=(float(k), 0.0, 0.0)) for k, o in enumerate(things))
    scene = Scene(placed, directions=(("left", (-1.0, 0.0, 0.0)),), schema=clevr.SCHEMA, id="s")
    program = "exist(filter(relate(unique(filter(scene(), shape=cube)), left), shape=cube))"
    found = substituted(tmp_path, scene, "Is there a cube left of the cube?", program)
    assert found == [f"another object: {NO_NAME}"]


def test_of_two_that_go_by_one_name_nobody_knows_which_the_words_are_of(tmp_path):
    scene = Scene((solid("sphere"), solid("cube")), schema=clevr.SCHEMA, id="s")
    program = "or(exist(filter(scene(), shape=cube)), exist(filter(scene(), color=blue, shape=cube)))"
    found = substituted(tmp_path, scene, "Is there a cube or a blue one of that shape?", program)
    assert found == [f"another object: {NO_NAME}"]


def test_answers_spelled_as_text_stay_text(tmp_path):
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "white dog, black dog"))}
    one = asked("q", "Some dogs are white", f"some(find(dog), {WHITE})", scenes, ("a", "b"))
    text = Question(one.id, one.text, one.scenes, one.program, "True", provenance=one.provenance)
    plan = contrast.plan(put(tmp_path, scenes, text), ContrastOptions(("quantifiers",)))
    assert [q.answer for q in plan.test_sets[0].questions] == ["True", "False", "False"]


def picture(scenes, *questions):
    """Scene graphs as a dataset; questions are worded as ours are."""
    made = [
        asked(f"q{k}", question_text(parse_program(program)), program, scenes, (image,))
        for k, (image, program) in enumerate(questions)
    ]
    return scenes, made


STREET = {
    s.id: s
    for s in (
        graph("a", "man, robes, cow", "0 wearing 1"),
        *(graph(f"b{k}", "man, hat, horse, bear, bridge, cattle, dogs", "0 wearing 1") for k in range(3)),
    )
}
ROBED = "exist(filter(related(find(man), wearing, object), name=robes))"


def test_what_is_spoken_of_as_known_is_there_after_the_change(tmp_path):
    """No "is the bridge wearing robes?" of a picture without a bridge: it is neither yes nor no."""
    meant = parse_program(ROBED)
    said = Program((*meant.nodes[:-1], node("exist", meant.root.inputs, (), (("said", VERIFY_REL),))))
    scenes, _ = picture(STREET)
    one = Question("q", question_text(said), ("a",), said, True)
    assert one.text == "Is the man wearing robes?"
    data = put(tmp_path, scenes, one)
    for seed in range(20):
        found = ObjectSubstitution(data, seed).substitute(one)
        assert found == NO_OTHER or found[0].startswith("Is the man wearing"), found
        known = [n.params[0] for n in found[1].nodes if n.op == "find"] if found != NO_OTHER else []
        assert set(known) <= {"man"}


def test_another_name_is_frequent_keeps_the_number_and_is_worded_again(tmp_path):
    scenes, questions = picture(STREET, ("a", "exist(find(cow))"))
    (one,) = questions
    data = put(tmp_path, scenes, one)
    said = {ObjectSubstitution(data, seed).substitute(one)[0] for seed in range(20)}
    assert said == {"Is there a horse?", "Is there a bear?"}  # no "a dogs"; a bridge is no animal


def test_no_is_not_read_out_of_a_region_that_does_not_mention_a_thing(tmp_path):
    scenes = {name: replace(scene, notes=(("caption", "words"),)) for name, scene in STREET.items()}
    scenes, (one,) = picture(scenes, ("a", "exist(find(cow))"))
    assert ObjectSubstitution(put(tmp_path, scenes, one), 0).substitute(one) == NO_OTHER


def test_a_kind_that_is_asked_for_stays():
    program = "query(unique(filter(related(find(man), riding, object), name=animal)), name)"
    places = _find_places(Question("q", "?", ("a",), parse_program(program), "horse"), "name", None, True)
    assert [parse_program(program).nodes[k].params[-1] for k in places] == ["man"]


def test_consistency_over_all_variants_is_no_greater_than_over_those_of_one_change(toys, tmp_path):
    made = take_test("contrast", RunSpec("question_only", toys), tmp_path / "out", ContrastOptions(("quantifiers",)))
    by = {dict(line.of)["change"]: {s.metric: s for s in line.scores} for line in made.lines}
    overall = by["all of a question's variants"]
    questions = made.plan.test_sets[0].questions
    assert overall["consistency"].n == sum(q.note("twin") is None for q in questions)
    assert overall["accuracy"].n == sum(q.note("twin") is not None for q in questions)
    assert overall["consistency"].value <= min(overall["accuracy"].value, overall["original"].value)


def test_a_count_of_images_without_a_quantifier_is_told_as_such(tmp_path):
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "dog"))}
    one = asked("q", "How many images contain a dog?", "count(images(find(dog)))", scenes, ("a", "b"))
    plan = contrast.plan(put(tmp_path, scenes, one), ContrastOptions(("quantifiers",)))
    assert dict(plan.left_out) == {f"count_group_by, at least → no less than: {contrast.UNSAID}": 1}


def test_a_folder_that_is_no_wordnet_is_refused_whatever_the_data(toys, tmp_path, refuses):
    with refuses("WordNet is not in"):
        contrast.plan(SourceSplit(toys), ContrastOptions(wordnet=str(tmp_path / "nowhere")))


def test_an_unknown_set_is_refused(refuses):
    with refuses("no contrast set 'words'"):
        ContrastOptions(("words",))


def test_at_least_one_is_left_as_it_is(tmp_path):
    scenes = {s.id: s for s in (graph("a", "dog"), graph("b", "dog"))}
    one = asked("q", "There is at least 1 dog.", "at_least(count(find(dog)), 1)", scenes, ("a", "b"))
    plan = contrast.plan(put(tmp_path, scenes, one), ContrastOptions(("quantifiers",)))
    assert not plan.test_sets
    assert sum(count for why, count in dict(plan.left_out).items() if why.endswith(contrast.OF_ONE)) == 2


def test_questions_of_the_official_files_do_as_they_are(tmp_path):
    scenes = {s.id: s for s in (graph("61", "black dog, white dog"), graph("62", "white dog"))}
    raw = {
        "qid": "val_7",
        "utterance": "All dogs are white",
        "rephrase": "Every dog is white.",
        "scenes": ["61", "62"],
        "program": [*rows("find dog"), *quantified("all", [], rows("scene", "filter white [0]"), 0)],
        "answer": "False",
        "pattern_name": "quantifier",
        "properties": ["has_quantifier"],
    }
    grouped = {
        "qid": "val_8",
        "utterance": "There are at least 2 images that contain at least 2 dogs",
        "scenes": ["61", "62"],
        "program": rows("find dog", "group_by_images [0]", "keep_if_values_count_geq 2 [1]", "keys [2]", "count [3]", "geq 2 [4]"),
        "answer": "False",
        "pattern_name": "verify_count_group_by",
        "properties": [],
    }  # fmt: skip
    data = put(tmp_path, scenes, covr.parse_question(raw, SCHEMA), covr.parse_question(grouped, SCHEMA))
    found = {q.text: q for q in contrast.plan(data, ContrastOptions()).test_sets[0].questions}
    assert {text: q.answer for text, q in found.items()} == {
        "All dogs are white": "False",
        "Not all of the dogs are white": "True",
        "There are at least 2 images that contain at least 2 dogs": "False",
        "There are no fewer than 2 images that contain at least 2 dogs": "False",
        "There are fewer than 2 images that contain at least 2 dogs": "True",
    }
    turned = found["Not all of the dogs are white"]
    assert turned.note("rephrase") is None
    assert covr_compositional.write(turned.program)[-1]["operation"] == "logic_not"

"""Transfer: which questions count, what names stand for, and the figures of a toy whose answers are known."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

import bird_toys
from command import here
from shiftscope.errors import UserError
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.question import Question
from shiftscope.result import Prediction, QuestionRecord, records_of
from shiftscope.run.evaluate import RunSpec
from shiftscope.run.generalization import _name_dictionary as names
from shiftscope.run.generalization import measure_gap, select_common
from shiftscope.run.generalization.transfer import COUNTING, NOT_SHARED, UNANSWERED, TransferOptions, explain_exclusion
from shiftscope.run.test import test as take_test
from shiftscope.scene_graph.wordnet import WordNet
from shiftscope.schemas import clevr, superclevr
from shiftscope.shortcuts.audit_folder import ANSWERS_SUFFIX, QUESTIONS_SUFFIX, TEST_FOLDER, TRAIN_FOLDER, set_file
from shiftscope.store.run_log import read_run


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    """The one says bird and shows birds, the other says bird and shows parrots."""
    folder = tmp_path_factory.mktemp("birds")
    bird_toys.dataset(folder / "home", "parrot", "oak")
    bird_toys.dataset(folder / "away", "macaw", "elm")
    return folder


def found(outcome, learned, asked, kind):
    """The figures of one line, in percent."""
    line = next(one for one in outcome.lines if [v for _, v in one.of] == [learned, asked, kind])
    return {s.metric: s for s in line.scores}


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        ("red", "query", ""),
        (True, "exist", ""),
        ("Red ", "query", ""),
        ("blue", "query", NOT_SHARED),
        (None, "query", UNANSWERED),
        (3, "count", COUNTING),
        ("3", "what", COUNTING),
        ("many", "number", COUNTING),
    ],
)
def test_a_question_counts_if_its_answer_is_shared_and_no_number(answer, kind, reason):
    asked = Question("q", "?", ("s",), answer=answer, kind=kind)
    assert explain_exclusion(asked, frozenset(("yes", "no", "red", "3", "many"))) == reason


def test_the_questions_that_count_are_asked_and_all_others_counted(birds, tmp_path):
    made = take_test("transfer", RunSpec("majority", birds / "away"), tmp_path, TransferOptions(str(birds / "home")))
    assert made.plan.considered == 60
    assert dict(made.plan.left_out) == {
        f"home: {COUNTING}": 6,
        f"away: {COUNTING}": 6,
        f"home: {NOT_SHARED}": 6,
        f"away: {NOT_SHARED}": 8,  # elm, and blue, which no question of the other has
    }
    assert made.asked == 34
    assert [tuple(v for _, v in line.of) for line in made.lines] == [
        ("home", "home", "binary"),
        ("home", "home", "open"),
        ("home", "away", "binary"),
        ("home", "away", "open"),
    ]


def test_both_ways_compare_with_a_model_that_learned_there(birds, tmp_path):
    options = TransferOptions(str(birds / "home"), back="same")
    order = RunSpec("majority_per_template", birds / "away")
    made = take_test("transfer", order, tmp_path, options)
    assert len(made.lines) == 8
    there, native = found(made, "home", "away", "open"), found(made, "away", "away", "open")
    assert (there["accuracy"].value, there["accuracy"].n) == (0.5, 4)  # green; of red, blue and green without blue
    assert native["accuracy"].value == 0  # blue, which comes first of equals
    assert there["native_drop"].value == -0.5
    assert there["home_drop"].value == 0
    assert "native_drop" not in native
    specs = {run.name: dict(read_run(run).spec) for run in made.runs}
    assert {name: (s["trained_on"], s["variant"]) for name, s in specs.items()} == {
        f"{x}_to_{y}": (x, y) for x in ("home", "away") for y in ("home", "away")
    }
    assert take_test("transfer", order, tmp_path, options).to_json() == made.to_json()


def test_programs_are_run_on_the_true_scenes_and_with_names_put_right(birds, tmp_path):
    """Training programs of home point at what it calls parrots; the table adds what away calls them."""
    table = tmp_path / "table.csv"
    table.write_text("program,scene\nbird,macaw\n")
    order = RunSpec("bird_toys:Reader", birds / "away")
    made = take_test("transfer", order, tmp_path / "out", TransferOptions(str(birds / "home"), names=str(table)))
    home, away = (found(made, "home", asked, "open") for asked in ("home", "away"))
    assert [round(home[name].value, 3) for name in ("accuracy", "true_scenes", "true_missing")] == [0.5, 0, 1]
    assert (home["renamed"].value, home["renamed_missing"].value) == (1, 0)
    assert (away["true_scenes"].value, away["renamed"].value, away["renamed"].n) == (0, 1, 4)
    assert away["accuracy"].value == 0.5
    assert away["unheard_names"].value == 0
    with (tmp_path / "out/runs/home_to_home/names.csv").open() as file:
        assert list(csv.reader(file)) == [["program", "scene", "source"], ["bird", "parrot", "annotated"]]
    assert "bird,macaw,table" in (tmp_path / "out/runs/home_to_away/names.csv").read_text()


def test_a_model_without_programs_has_no_figures_of_them(birds, tmp_path):
    made = take_test("transfer", RunSpec("majority", birds / "away"), tmp_path, TransferOptions(str(birds / "home")))
    assert set(found(made, "home", "away", "open")) == {"accuracy", "home_drop", "unheard_names"}


def vqa_files(folder: Path, answers: list[str]) -> Path:
    """The folder of an audit with these answers to train on and to test."""
    for name in (TRAIN_FOLDER, TEST_FOLDER):
        for what in (QUESTIONS_SUFFIX, ANSWERS_SUFFIX):
            rows = []
            for k, answer in enumerate(answers):
                row = {"question_id": k, "image_id": k}
                if what == QUESTIONS_SUFFIX:
                    row["question"] = "What is it?"
                else:
                    kind = "number" if answer.isdecimal() else "other"
                    row |= {"question_type": "what is", "answer_type": kind}
                    row |= {"multiple_choice_answer": answer, "answers": []}
                rows.append(row)
            path = set_file(folder, name, what)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(rows))
    (folder / "audit.json").write_text("{}")
    (folder / "marks.parquet").write_bytes(b"")
    return folder


def test_the_files_of_two_audits_are_two_datasets(tmp_path):
    home = vqa_files(tmp_path / "home", ["red", "red", "yes", "2", "oak"])
    away = vqa_files(tmp_path / "away", ["red", "blue", "no", "yes", "4"])
    made = take_test("transfer", RunSpec("majority", away), tmp_path / "out", TransferOptions(str(home)))
    assert found(made, "home", "away", "open")["accuracy"].value == 1  # of red alone
    assert found(made, "home", "away", "binary")["accuracy"].n == 1  # yes, but not no
    assert dict(made.plan.left_out)[f"away: {NOT_SHARED}"] == 2


@pytest.mark.parametrize(
    ("home", "said"), [("", "--from"), ("away", "is the data itself"), ("nowhere", "no dataset there")]
)
def test_what_can_not_be_compared_is_refused(birds, tmp_path, home, said):
    options = TransferOptions(str(birds / home) if home else "")
    with pytest.raises(UserError, match=said):
        take_test("transfer", RunSpec("majority", birds / "away"), tmp_path, options)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"names": "nofile.csv"}, "nofile.csv: cannot be read"),
        ({"wordnet": "/nowhere"}, "WordNet is not in /nowhere"),
        ({"back": "majorty"}, "did you mean 'majority'"),
        ({"at_home": "predictions:gone"}, "there is no gone"),
    ],
)
def test_what_can_not_be_used_is_refused_before_anything_is_asked(birds, tmp_path, chosen, said):
    with pytest.raises(UserError, match=said):
        take_test(
            "transfer",
            RunSpec("majority", birds / "away"),
            tmp_path / "out",
            TransferOptions(str(birds / "home"), **chosen),
        )
    assert not (tmp_path / "out").exists()


def test_how_often_programs_and_scenes_call_an_object_differently_is_told(birds, tmp_path):
    """The training questions of the toys point at their objects: asked, they all say bird of a macaw."""
    made = take_test(
        "transfer", RunSpec("majority", birds / "away", "train"), tmp_path, TransferOptions(str(birds / "home"))
    )
    open_ = found(made, "home", "away", "open")
    assert (open_["mismatched_names"].value, open_["mismatched_names"].n) == (1, 4)
    assert open_["still_mismatched"].value == 0  # home's training says bird of parrots alone, WordNet of macaws
    assert found(made, "home", "home", "open")["still_mismatched"].value == 0


def test_datasets_without_a_common_answer_are_refused(birds, tmp_path):
    other = vqa_files(tmp_path / "other", ["4", "7", "chess"])
    with pytest.raises(UserError, match=r"no question of other counts for transfer: .*a counting question"):
        take_test("transfer", RunSpec("majority", birds / "away"), tmp_path / "out", TransferOptions(str(other)))


# --- names ----------------------------------------------------------------------------------------------


def test_a_schema_tells_synonyms_and_kinds():
    made = names.build_dictionary(
        ("car", "sedan", "ball"), ("sedan", "suv", "sphere"), (superclevr.SCHEMA, clevr.SCHEMA)
    )
    assert made.pairs == (("ball", "sphere", "schema"), ("car", "sedan", "schema"), ("car", "suv", "schema"))
    assert made.look_up("car") == ("sedan", "suv")
    assert made.look_up("sedan") == ()


def test_wordnet_tells_narrower_words_and_not_wider_ones():
    made = names.build_dictionary(
        ("bird", "parrot", "person"), ("parrot", "bird", "turkey", "girls"), wordnet=WordNet()
    )
    assert made.pairs == (("bird", "parrot", "wordnet"), ("bird", "turkey", "wordnet"), ("person", "girls", "wordnet"))


def test_the_first_source_that_knows_a_pair_is_named():
    made = names.build_dictionary(
        ("a",), ("b", "c"), annotated=[("a", "b"), ("x", "b")], table=[("a", "b"), ("a", "z")]
    )
    assert made.pairs == (("a", "b", "table"),)


def test_a_scene_under_the_dictionary_has_what_the_program_names():
    shown = bird_toys.scene("s", "parrot", "red")
    meant = parse_program("query(unique(find(bird)), color)")
    made = names.NameDictionary((("bird", "parrot", "table"),))
    assert not execute(meant, shown).is_defined
    (seen,) = names.apply_dictionary(made, [shown], {})
    assert execute(meant, seen).answer == "red"
    assert execute(parse_program("exist(find(parrot))"), seen).answer is True
    assert shown == replace(seen, schema=shown.schema)


def test_kinds_that_a_schema_has_are_kept():
    wide = names.NameDictionary((("car", "cart", "table"), ("thing", "cart", "table"))).extend_schema(superclevr.SCHEMA)
    kinds = dict(wide.attribute("shape").kinds)
    assert kinds["car"] == (*dict(superclevr.SCHEMA.attribute("shape").kinds)["car"], "cart")
    assert kinds["thing"] == ("cart",)
    assert wide.attribute("color") == superclevr.SCHEMA.attribute("color")


def test_programs_tell_what_the_objects_they_point_at_are_called():
    shown = bird_toys.scene("s", "parrot", "red")
    asked = Question("q", "?", ("s",), bird_toys.pointing("exist(find(bird))", bird="1"))
    assert list(names.iter_annotated_pairs(asked, [shown])) == [("bird", "parrot")]
    assert names.check_mismatch(asked, [shown], names.NameDictionary()) == (True, True)
    assert names.check_mismatch(asked, [shown], names.NameDictionary((("bird", "parrot", "x"),))) == (True, False)
    assert names.check_mismatch(
        replace(asked, program=parse_program("exist(find(bird))")), [shown], names.NameDictionary()
    ) == (False, False)


def test_names_of_parts_are_not_names_of_things():
    meant = parse_program("exist(filter(parts(filter(scene(), shape=sedan)), name=roof))")
    assert [word for _, word in names.iter_program_words(meant)] == ["sedan"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("word,scene\na,b\n", "columns program and scene"), ("program,scene\na,\n", "line 2 lacks a name")],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, said):
    path = tmp_path / "names.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        names.read_name_table(path)
    with pytest.raises(UserError, match="cannot be read"):
        names.read_name_table(tmp_path / "nothing.csv")


def test_a_written_dictionary_can_be_given_again(tmp_path):
    names.NameDictionary((("a", "b", "schema"), ("a", "c, d", "table"))).write(tmp_path / "n.csv")
    assert names.read_name_table(tmp_path / "n.csv") == (("a", "b"), ("a", "c, d"))


# --- gaps -----------------------------------------------------------------------------------------------


def rows(answers, prefix="q", scene="s"):
    return records_of(
        (QuestionRecord(f"{prefix}{k}", (f"{scene}{k}",), "yes"), None if a is None else Prediction(f"{prefix}{k}", a))
        for k, a in enumerate(answers)
    )


def test_a_gap_is_the_difference_of_two_accuracies():
    made = measure_gap("drop", rows(["yes"] * 3 + ["no"]), rows(["yes"] * 2 + ["no"] * 6, "r", "t"))
    assert (made.metric, made.value, made.n) == ("drop", 0.5, 8)
    assert made.low < 0.5 < made.high


def test_over_the_same_questions_it_is_paired():
    first, second = ["yes", "no"] * 40, ["yes", "no"] * 39 + ["no", "no"]
    alike, apart = (measure_gap("x", rows(first), rows(second)), measure_gap("x", rows(first), rows(second, "r", "t")))
    assert alike.value == apart.value == pytest.approx(1 / 80)
    assert alike.high - alike.low < (apart.high - apart.low) / 3


def test_what_has_no_reply_counts_as_wrong():
    made = measure_gap("x", rows(["yes", None]), rows(["no", "no"]))
    assert (made.value, made.n) == (0.5, 2)
    lost = measure_gap("x", rows(["yes"]), rows([None]))
    assert (lost.value, lost.missing) == (1, 1)
    left, right = select_common(rows(["yes", None, "no"]), rows(["no", "no", "no"]))
    assert left.question.to_list() == right.question.to_list() == ["q0", "q1", "q2"]


def test_the_command_prints_a_line_for_each_direction_and_kind(birds, tmp_path):
    words = ("--data", birds / "away", "--from", birds / "home", "--out", tmp_path / "out")
    made = here("test", "transfer", "--model", "majority", *words, "--json")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert [line["of"]["questions"] for line in told["lines"]] == ["binary", "open"] * 2
    assert told["options"]["home"] == str(birds / "home")

"""Splits by a held-out property: the lists for training, stopping early and testing, and who may use them."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

import several_toys
from covr_rows import quantified, rows
from shiftscope.formats.covr import read_questions, write_questions
from shiftscope.lang.check import check
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.notations import covr
from shiftscope.question import Provenance, Question
from shiftscope.records import content_id
from shiftscope.run.split import SplitQuestions, SplitSpec, split, survey
from shiftscope.schemas import clevr
from shiftscope.shift import held_out
from shiftscope.shift.held_out import COVR_SPLITS, name_split
from shiftscope.shift.held_out.facts import ProgramFacts
from shiftscope.shift.held_out.predicates import get_property, parse_expression
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.exports import covr as export
from shiftscope.store.question_part import read_part, read_split_manifest

NAMES = ("man", "dog", "hat", "cup", "car", "tree")
BLACK = rows("scene", "filter black [0]")


def question(k: int, split: str) -> Question:
    """Question k of a small world: six kinds of programs, about pairs of names."""
    a, b = NAMES[k % 6], NAMES[(k // 6) % 6]
    kinds = {
        "count": (rows(f"find {a}", "count [0]"), k % 4),
        "verify_count": (rows(f"find {a}", "count [0]", f"geq {k % 4} [1]"), k % 2 == 0),
        "compare_count": (rows(f"find {a}", "count [0]", f"find {b}", "count [2]", "gt [1, 3]"), k % 2 == 0),
        "verify_quant": ([*rows(f"find {a}"), *quantified(("all", "some")[k % 2], [], BLACK, 0)], k % 3 == 0),
        "verify_logic": (rows(f"find {a}", "exists [0]", f"find {b}", "exists [2]", "logic_and [1, 3]"), k % 2 == 0),
        "query_object": (
            rows(f"find {a}", f"find {b}", "with_relation_object holding [0, 1]", "unique [2]", "query_name [3]"),
            b,
        ),
    }
    template = sorted(kinds)[(k // 36) % 6]
    said, answer = kinds[template]
    scenes = (f"{split}{k % 5}", f"{split}{k % 7}x")
    return Question(
        f"{split}-{k}",
        f"{template} {a} {b}?",
        scenes,
        covr.read(said),
        answer,
        provenance=Provenance("covr", split, template),
    )


class Given(SplitQuestions):
    """Questions that are at hand."""

    def __init__(self, questions):
        self._given, self.splits = questions, {role: role for role in SIZES}

    def read_role(self, role):
        return (q for q in self._given if q.provenance.split == role)

    def data_id(self):
        return "given"


SIZES = {"train": 432, "val": 216, "test": 216}
ALL = [question(k, role) for role, size in SIZES.items() for k in range(size)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("covr")
    for role in SIZES:
        write_questions(folder / f"{role}.jsonl", [q for q in ALL if q.provenance.split == role])
    return folder


@pytest.fixture
def questions():
    return Given(ALL)


def ids(made, name):
    return set(next(p.ids for p in made.parts if p.name == name))


# --- what is listed -----------------------------------------------------------------------------------------


def test_zero_shot_leaves_out_all_that_has_the_property(questions):
    made = split(SplitSpec("has_quant & has_quant_all"), questions)
    held = {q.id for q in ALL if q.provenance.template == "verify_quant" and int(q.id.split("-")[1]) % 2 == 0}
    assert ids(made, "test_comp") == {i for i in held if i.startswith("test")}
    assert ids(made, "train_zero_shot") == ids(made, "train_iid") - held
    assert made.filtered == len(ids(made, "train_iid") & held) == 36
    assert ids(made, "train_text_only") == ids(made, "train_iid") == {q.id for q in ALL if q.id.startswith("train")}
    assert len(ids(made, "train_iid_size")) == len(ids(made, "train_zero_shot"))
    assert ids(made, "train_iid_size") < ids(made, "train_iid")
    assert ids(made, "train_iid_size") & held
    assert not ids(made, "val_without") & held
    assert ids(made, "val_without") | ids(made, "val_comp") == {q.id for q in ALL if q.id.startswith("val")}
    assert ids(made, "test_iid") == {q.id for q in ALL if q.id.startswith("test")}


def test_few_shot_keeps_so_many_with_the_property(questions):
    made = split(SplitSpec(name="has_num_3_ans_3", shots=10), questions)
    held = set(made.marked["train"].held)
    assert len(ids(made, "train_m_shot") & held) == 10
    assert made.filtered == len(held) - 10
    assert len(ids(made, "train_iid_size")) == SIZES["train"] - len(held) + 10
    other = split(SplitSpec(name="has_num_3_ans_3", shots=10, seed=1), questions)
    assert ids(made, "train_m_shot") != ids(other, "train_m_shot")
    assert ids(made, "test_comp") == ids(other, "test_comp")


def test_a_named_split_brings_its_shots_and_what_is_reported(questions, refuses):
    with refuses("72 training questions have has_quant: with 250 shots none is held out; give fewer with --shots"):
        split(SplitSpec(name="has_quant"), questions)
    told = split(SplitSpec(name="HAS-COMPAR-MORE", shots=3), questions).to_json()
    assert told["reported"] == {"filtered": "7.6k", "table": 7}
    assert (told["name"], told["hold_out"], told["shots"]) == ("has_compar_more", "has_compar_more", 3)


def test_the_shift_is_a_function_of_questions():
    sets = {s.name: {ALL[k].id for k in s.rows} for s in held_out.sets(ALL, held_out.HeldOutSettings("has_quant", 5))}
    made = split(SplitSpec("has_quant", shots=5), Given(ALL))
    assert sets == {p.name: set(p.ids) for p in made.parts}


def test_the_order_of_questions_changes_nothing():
    for order in (
        SplitSpec("has_quant", shots=5),
        SplitSpec(name="program_split_2"),
        SplitSpec(name="lexical_split_3"),
    ):
        assert split(order, Given(ALL)) == split(order, Given(ALL[::-1]))


def test_what_is_drawn_for_a_lexical_split_is_never_learned_together(questions):
    made = split(SplitSpec(name="lexical_split_1"), questions)
    pairs = [set(pair) for pair in get_property("lexical_split_1").fit(questions.build_corpus(), 0).drawn]
    together = {q.id for q in ALL if any(pair <= ProgramFacts(q).names for pair in pairs)}
    assert pairs and ids(made, "train_zero_shot")
    assert not ids(made, "train_zero_shot") & together
    assert ids(made, "test_comp") == {i for i in together if i.startswith("test")}


def test_all_named_splits_are_counted_at_once(questions):
    found = survey(questions)
    assert found["has_quant"] == {"train": 72, "val": 36, "test": 36}
    assert found["has_groupby"] == {"train": 0, "val": 0, "test": 0}
    assert found["program_split_1"] == {
        role: len(marked.held) for role, marked in split(SplitSpec(name="program_split_1"), questions).marked.items()
    }


def test_without_a_test_split_val_is_tested_on(files):
    made = split(SplitSpec("has_quant"), SplitQuestions((str(files / "train.jsonl"), f"val={files / 'val.jsonl'}")))
    assert ids(made, "test_comp") == ids(made, "val_comp")
    assert {p.name: made.to_json()["parts"][p.name]["split"] for p in made.parts}["test_comp"] == "val"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A dataset with a split to develop on, and one to test on."""
    splits = {"train": 2, "val": 1, "test": 1}
    return build_dataset(
        tmp_path_factory.mktemp("stored") / "data", several_toys.SPEC, splits, several_toys.make
    ).folder


def test_val_can_be_tested_on_where_there_is_a_test_split(stored):
    made = split(SplitSpec("has_count"), SplitQuestions((str(stored),), "val"))
    assert {p.name: made.splits[p.role] for p in made.parts if not p.name.startswith("train")} == {
        "val_without": "val",
        "val_comp": "val",
        "test_comp": "val",
        "test_iid": "val",
    }
    assert ids(made, "test_comp") == ids(made, "val_comp") == ids(made, "test_iid") - ids(made, "val_without")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("has_quant", "has_quant"),
        ("~has_count", "not_has_count"),
        ("has_quant & ans_yes", "has_quant_and_ans_yes"),
        ("has_quant | ans_yes", "has_quant_or_ans_yes"),
        ("has_num_3 | ans_3", "has_num_3_or_ans_3"),
        ("~(has_quant & has_num)", "not_has_quant_and_has_num_" + content_id("~(has_quant & has_num)")[:8]),
    ],
)
def test_a_name_tells_the_expression(text, name):
    assert name_split(parse_expression(text)) == name


def test_no_two_expressions_have_one_name_nor_one_of_the_papers():
    texts = ["v | c & rm", "(v | c) & rm", "~(v & c)", "~v & c", "v & c", "v | c", "~v | c"]
    taken = "tpl_verify_count_tpl_verify_count_group_by"  # read as the one template of that name
    texts += [taken, f"{taken} | v", " & ".join(["has_quant_compscope"] * 9), " & ".join(["has_quant_compscope"] * 8)]
    names = [name_split(parse_expression(text)) for text in texts]
    assert len(set(names)) == len(texts)
    assert not set(names) & set(COVR_SPLITS)
    assert max(map(len, names)) < 120


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("has_groupby", "no question has has_groupby"),
        ("has_quant | tpl_verify_logc", "no question has tpl_verify_logc; did you mean 'tpl_verify_logic'?"),
        ("lexical_tre & has_num", "no question has lexical_tre; did you mean 'lexical_tree'?"),
        ("has_quant & has_num", "no training question has has_quant & has_num, so that nothing would be held out"),
        ("has_quant | ~has_quant", "every training question has has_quant | ~has_quant, so that none would be left to train on"),
    ],
)  # fmt: skip
def test_nothing_to_hold_out_or_nothing_to_train_on(text, sentence, questions, refuses):
    with refuses(sentence):
        split(SplitSpec(text), questions)


def test_nothing_to_test_on(refuses):
    kept = [q for q in ALL if q.provenance.split == "train" or q.provenance.template != "verify_quant"]
    with refuses("no test question has has_quant, so that nothing would be tested"):
        split(SplitSpec("has_quant"), Given(kept))


def test_questions_and_orders_that_can_not_be_split(files, stored, tmp_path, refuses):
    twice = [*ALL, replace(ALL[0], provenance=Provenance("covr", "test", "count"))]
    with refuses("question 'train-0' appears twice"):
        split(SplitSpec("has_quant"), Given(twice))
    with refuses("there are none for testing"):
        split(SplitSpec("has_quant"), SplitQuestions((str(files / "train.jsonl"),)))
    with refuses("there are none for training"):
        split(SplitSpec("has_quant"), SplitQuestions((str(files / "test.jsonl"),)))
    write_questions(tmp_path / "covr.jsonl", ALL)
    with refuses("its name does not say which split it is"):
        SplitQuestions((str(tmp_path / "covr.jsonl"),))
    with refuses("--test names a split of a dataset"):
        SplitQuestions((str(files / "test.jsonl"),), "test")
    with refuses("no such file or folder"):
        SplitQuestions((str(tmp_path / "train.jsonl"),))
    with refuses("train is what is trained on; test on another split"):
        SplitQuestions((str(stored),), "train")
    for wrong in (SplitSpec, lambda: SplitSpec("has_quant", "has_quant")):
        with refuses("say what to hold out"):
            wrong()
    bare = [replace(ALL[-1], program=None), *ALL[:-1]]
    with refuses("question 'test-215' has no program"):
        split(SplitSpec("has_quant"), Given(bare))


# --- what is written ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(questions, tmp_path):
    split(SplitSpec("has_quant", shots=5), questions, tmp_path / "split")
    return tmp_path / "split"


def test_files_give_the_same_as_the_questions_in_them(files, questions):
    read = SplitQuestions(tuple(str(files / f"{role}.jsonl") for role in SIZES))
    made, given = (split(SplitSpec("has_quant", shots=5), one) for one in (read, questions))
    assert made.parts == given.parts


def test_the_lists_are_written_whole_and_once(folder, questions):
    assert [p.name for p in folder.parent.iterdir()] == ["split"]
    before = {p: p.read_bytes() for p in folder.rglob("*.json")}
    split(SplitSpec("has_quant", shots=5), questions, folder)
    assert {p: p.read_bytes() for p in folder.rglob("*.json")} == before
    about = json.loads((folder / "split.json").read_text())
    assert about["with_property"] == {"train": 72, "val": 36, "test": 36}
    assert about["filtered"] == 67
    for name, part in about["parts"].items():
        assert len(json.loads((folder / f"{name}.json").read_text())) == part["questions"]


def test_official_lists_have_the_official_meaning(folder):
    """iid: without the property, comp: with it."""
    official = {p.name: json.loads(p.read_text()) for p in (folder / "official").iterdir()}
    assert {f"has_quant_{role}_{kind}.json" for role in ("train", "val") for kind in ("iid", "comp")} <= set(official)
    assert official["has_quant_train_comp.json"]["split_name"] == "train"
    assert official["has_quant_val_comp.json"]["ids"] == json.loads((folder / "val_comp.json").read_text())
    assert official["has_quant_val_iid.json"]["ids"] == json.loads((folder / "val_without.json").read_text())
    assert len(official["has_quant_train_comp.json"]["ids"]) == 72


def test_a_folder_of_something_else_is_left_alone(folder, questions, tmp_path, refuses):
    with refuses("holds another split"):
        split(SplitSpec("has_quant", shots=6), questions, folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with refuses("is there already and is no split"):
        split(SplitSpec("has_quant", shots=5), questions, tmp_path / "mine")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["notes.txt"]


SCRIPT = """
import sys
from pathlib import Path
from shiftscope.run.split import SplitQuestions, SplitSpec, split
*files, out = sys.argv[1:]
for spec in (SplitSpec(name="has_num_3_ans_3", shots=20), SplitSpec(name="program_split_1"), SplitSpec(name="lexical_split_1")):
    split(spec, SplitQuestions(tuple(files)), Path(out) / spec.name)
"""


def test_the_same_bytes_whatever_the_hash_seed_and_the_order_of_files(files, tmp_path):
    listed = [str(files / f"{role}.jsonl") for role in SIZES]
    found = []
    for seed, given in (("0", listed), ("4242", listed[::-1])):
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *given, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        written = sorted((tmp_path / seed).rglob("*.json"))
        found.append({str(p.relative_to(tmp_path / seed)): p.read_bytes() for p in written})
    assert len(found[0]) == 3 * (8 + 6 + 1)
    assert found[0] == found[1]


# --- who uses it --------------------------------------------------------------------------------------------


def test_a_part_is_read_with_what_to_stop_early_by(folder):
    part = read_part(f"{folder}:train_m_shot")
    assert (part.name, part.split, len(part.ids)) == ("has_quant:train_m_shot", "train", SIZES["train"] - 67)
    learned = [q.id for q in part.select("train", ALL)]
    assert set(learned) == part.ids
    stopped = {q.id for q in part.select("val", ALL)}
    assert stopped == set(json.loads((folder / "val_without.json").read_text()))
    assert read_part(f"{folder}:test_comp").early is None


def test_a_plain_list_of_ids_is_a_part(folder, tmp_path):
    official = read_part(str(folder / "official" / "has_quant_val_comp.json"))
    assert official.ids == read_part(f"{folder}:val_comp").ids
    (tmp_path / "ids.json").write_text("[1, 2]")
    assert read_part(str(tmp_path / "ids.json")).ids == {"1", "2"}


def test_parts_that_do_not_fit_are_refused(folder, tmp_path, refuses):
    part = read_part(f"{folder}:test_comp")
    with refuses("part has_quant:test_comp is of another dataset"):
        part.check("other", "test", part.ids)
    with refuses("is of the split 'test', not of 'val'"):
        part.check(part.data_id, "val", part.ids)
    with refuses("lists 36 questions that split 'test' has not, 'test-180' for one"):
        part.check(part.data_id, "test", [])
    with refuses(f"no part 'tset_comp' in {folder}; did you mean 'test_comp'?"):
        read_part(f"{folder}:tset_comp")
    with refuses("holds several parts; name one, as in"):
        read_part(str(folder))
    with refuses("neither FOLDER:PART of a shiftscope split nor a JSON file of ids"):
        read_part(str(tmp_path / "none"))
    (tmp_path / "ids.json").write_text('{"ids": "all"}')
    with refuses("expected a JSON list of question ids"):
        read_part(str(tmp_path / "ids.json"))
    (tmp_path / "ids.json").write_text("[]")
    with refuses("there are no ids in it"):
        read_part(str(tmp_path / "ids.json"))
    (folder / "test_comp.json").write_text('["test-180"]')
    with refuses("has 1 questions, 36 were written"):
        read_part(f"{folder}:test_comp")
    (folder / "split.json").write_text("{}")
    with refuses("not what shiftscope split writes"):
        read_part(f"{folder}:test_comp")
    (folder / "split.json").unlink()
    for lost in (folder, tmp_path / "none"):
        with refuses(f"{lost} is no folder that shiftscope split made: there is no split.json"):
            read_split_manifest(lost)


def test_questions_split_alike_after_they_are_exported_and_read_again(stored, tmp_path):
    exported, schema = Dataset.open(stored), clevr.SCHEMA
    before = survey(SplitQuestions((str(stored),)))
    assert before["has_count_has_attr"]["train"] and before["has_groupby"]["train"]
    for form in ("", "compositional"):
        out = tmp_path / (form or "original")
        out.mkdir()
        export.write(exported, out, lambda done, total, what: None, form=form)
        assert '{"operation": "find", "arguments": ["cube"]}' in (out / "test.jsonl").read_text()
        assert survey(SplitQuestions(tuple(str(out / f"{role}.jsonl") for role in SIZES))) == before
        scenes = {image.id: image.scene for image in exported.images("test")}
        for question in read_questions(out / "test.jsonl", schema):
            check(question.program, schema)
            assert execute(question.program, [scenes[s] for s in question.scenes]).answer == question.answer

"""The folder of an audit as a source of questions, with pictures from a folder of images."""

import io
import json
import os
import shutil

import pytest
from PIL import Image

import store_toys
from shiftscope.run.audit import AuditFiles, audit_files
from shiftscope.run.question_source import DatasetSource, VqaFiles, open_source
from shiftscope.shortcuts.audit import AuditSettings
from shiftscope.store.build_dataset import build_dataset

NAMES = {"train": 3, "val": 1, "test": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six questions with their splits named: 1 to 3 train, 4 val, 5 and 6 test."""
    out = tmp_path_factory.mktemp("audit")
    questions, answers, k = [], [], 0
    for split, many in NAMES.items():
        for _ in range(many):
            k += 1
            questions.append({"question_id": k, "image_id": 10 * k, "question": f"Is it {k}?", "split": split})
            said = [{"answer": a, "answer_id": n} for n, a in enumerate(("yes", "yes", "no"), 1)]
            answers.append({"question_id": k, "image_id": 10 * k, "multiple_choice_answer": "yes", "answers": said})
    paths = out / "q.json", out / "a.json"
    for path, rows in zip(paths, (questions, answers), strict=True):
        path.write_text(json.dumps(rows))
    audit_files(AuditFiles((paths[0],), (paths[1],)), out / "audit", AuditSettings(split="given"), blind=False)
    return out / "audit"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Pictures under the names they may have: the id, the id of COCO 2017, that of COCO 2014."""
    out = tmp_path_factory.mktemp("images")
    for k, name in enumerate(("10.png", "000000000050.jpg", "COCO_val2014_000000000060.jpg")):
        Image.new("RGB", (4 + k, 3), "red").save(out / name)
    (out / "20.txt").write_text("not a picture")
    (out / "30.png").write_text("not a picture either")
    return out


def test_a_folder_is_known_for_what_it_is(folder, tmp_path):
    assert isinstance(open_source(folder), VqaFiles)
    build_dataset(tmp_path, store_toys.SPEC, {"test": 1}, store_toys.make)
    source = open_source(tmp_path)
    assert isinstance(source, DatasetSource)
    question = next(source.questions("test"))
    assert [scene.id for scene in source.scenes(question)] == list(question.scenes)


def test_a_dataset_is_one_though_an_audit_lies_in_it(folder, tmp_path, refuses):
    build_dataset(tmp_path, store_toys.SPEC, {"test": 1}, store_toys.make)
    for name in ("audit.json", "marks.parquet"):
        shutil.copy(folder / name, tmp_path)
    assert isinstance(open_source(tmp_path), DatasetSource)
    with refuses("a dataset holds its images; omit --images"):
        open_source(tmp_path, tmp_path)


def test_an_audit_without_its_figures_is_not_finished(folder, tmp_path, refuses):
    shutil.copytree(folder, tmp_path / "a")
    (tmp_path / "a" / "audit.json").unlink()
    with refuses("a: the audit there was not finished (no audit.json)"):
        open_source(tmp_path / "a")


def test_a_split_without_questions_is_none(folder, tmp_path, refuses):
    shutil.copytree(folder, tmp_path / "a")
    (tmp_path / "a" / "Val" / "Val-Ques.json").write_text("[]\n")
    source = VqaFiles(tmp_path / "a")
    assert source.splits == ("train", "test")
    with refuses("no split 'val'"):
        list(source.questions("val"))


def test_a_folder_that_is_neither_is_refused(refuses, tmp_path):
    with refuses(str(tmp_path)):
        open_source(tmp_path)


def test_splits_and_questions(folder):
    source = VqaFiles(folder)
    assert source.splits == ("train", "val", "test")
    assert [(q.id, q.text, q.scenes, q.answer) for q in source.questions("test")] == [
        ("5", "Is it 5?", ("50",), "yes"),
        ("6", "Is it 6?", ("60",), "yes"),
    ]
    assert next(source.questions("train")).answers == ("yes", "yes", "no")
    assert source.scenes(next(source.questions("train"))) == ()


def test_an_unknown_split_is_refused(folder, refuses):
    with refuses("no split 'tset'"):
        list(VqaFiles(folder).questions("tset"))


def test_prompts_hold_the_question_without_its_answer(folder):
    prompts = VqaFiles(folder).prompts("test", "short")
    assert prompts.ids() == ["5", "6"]
    assert prompts.ids(1) == ["5"]
    items = list(prompts.iter_examples("as_is", done=frozenset({"5"})))
    assert [item.question.id for item in items] == ["6"]
    assert items[0].question.answer == "yes"
    assert (items[0].prompt.question.answer, items[0].prompt.question.answers) == (None, ())
    assert "Is it 6?" in items[0].prompt.text
    assert [i.question.id for i in prompts.iter_examples("as_is", limit=1)] == ["5"]


def test_conditions_that_need_scenes_are_refused(folder, refuses):
    with refuses("condition 'scene_text' needs scenes, which VQA files do not have; use as_is or blind"):
        list(VqaFiles(folder).prompts("test", "short").iter_examples("scene_text"))


def test_pictures_are_found_by_the_usual_names(folder, images):
    source = VqaFiles(folder, images)
    sizes = [Image.open(io.BytesIO(source.read_picture(name))).size for name in ("10", "50", "60")]
    assert sizes == [(4, 3), (5, 3), (6, 3)]
    assert source.read_picture("20") is None
    assert VqaFiles(folder).read_picture("10") is None


def test_an_id_is_a_name_and_no_pattern_or_path(folder, images):
    Image.new("RGB", (9, 3)).save(images / "a*.png")
    (images.parent / "x.png").write_bytes((images / "10.png").read_bytes())
    source = VqaFiles(folder, images)
    assert [source.read_picture(name) for name in ("1*", "**x", "../x", "/etc/passwd", "[1]0", "")] == [None] * 6
    assert Image.open(io.BytesIO(source.read_picture("a*"))).size == (9, 3)


def test_the_folder_of_images_is_listed_once(folder, images, monkeypatch):
    source = VqaFiles(folder, images)
    source.read_picture("10")
    monkeypatch.setattr("pathlib.Path.iterdir", None)
    assert source.read_picture("50") is not None
    assert source.read_picture("nowhere") is None


def test_the_blind_see_no_picture(folder, images):
    prompts = VqaFiles(folder, images).prompts("test", "short")
    assert [len(item.prompt.images) for item in prompts.iter_examples("as_is")] == [1, 1]
    assert [len(item.prompt.images) for item in prompts.iter_examples("blind")] == [0, 0]


def test_a_broken_picture_and_a_missing_folder_are_refused(folder, images, refuses, tmp_path):
    with refuses("30.png: cannot be read as an image"):
        VqaFiles(folder, images).read_picture("30")
    with refuses(f"{tmp_path / 'gone'}: no such folder of images"):
        VqaFiles(folder, tmp_path / "gone")


def test_the_content_has_one_name(folder, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert VqaFiles(copy).data_id() == VqaFiles(folder).data_id()
    file = copy / "IID-Test" / "IID-Test-Ques.json"
    file.write_text(file.read_text().replace("Is it 5?", "Is it five?"))
    assert VqaFiles(copy).data_id() != VqaFiles(folder).data_id()


def test_an_audit_that_is_made_anew_while_it_is_read_is_refused(folder, tmp_path, refuses):
    shutil.copytree(folder, tmp_path / "audit")
    source = VqaFiles(tmp_path / "audit")
    assert len(list(source.questions("test"))) == 2
    (path,) = (tmp_path / "audit" / "IID-Test").glob("*Ques.json")
    path.write_text(path.read_text().replace("Is it 5?", "Is it 7?"))
    with refuses("the audit changed while it was read; run the same command again"):
        list(source.questions("test"))
    assert [q.text for q in VqaFiles(tmp_path / "audit").questions("test")] == ["Is it 7?", "Is it 6?"]


def test_a_pipe_among_the_pictures_is_not_waited_for(folder, tmp_path, refuses):
    os.mkfifo(tmp_path / "10.png")
    with refuses("10.png is a pipe that nothing writes to"):
        VqaFiles(folder, tmp_path).read_picture("10")


def test_a_picture_that_would_fill_the_memory_is_refused(folder, tmp_path, refuses, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    Image.new("RGB", (100, 100)).save(tmp_path / "10.png")
    with refuses("10.png: cannot be read as an image"):
        VqaFiles(folder, tmp_path).read_picture("10")

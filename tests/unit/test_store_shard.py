"""A shard reads back as the records it was made of, and the same records give the same bytes."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from shiftscope.errors import UserError
from shiftscope.lang.text import parse
from shiftscope.question import Provenance, Question
from shiftscope.store.image import StoredImage
from shiftscope.store.shard import Shard, read_images, read_questions, write_shard
from store_toys import make, picture, questions, scene, stored

SPEC = {"images_per_shard": 40}


@pytest.fixture
def records():
    return make(SPEC, "train", 0)


def test_records_survive(tmp_path, records):
    images, asked = records
    bare = StoredImage(scene("bare", 1), picture("bare"))
    strange = Question(
        *("odd", 'Say "Ünïcode"\n?', ("bare", "toy_train_000000")),
        answer="Fire Truck",
        answers=("fire truck", "Truck"),
        action="Paint it red.",
        provenance=Provenance(family=0),
        notes=(("z", [1, {"a": None}]), ("a", 1.5)),
    )
    silent = Question("silent", "?", ("bare",))
    false = Question("false", "?", ("bare",), parse("exist(scene())"), False)
    images, asked = [*images, bare], [*asked, strange, silent, false]
    shard = write_shard(tmp_path, "train", 0, images, asked)
    found = list(read_images(tmp_path / shard.images.path))
    assert found == images
    assert [i.scene.notes for i in found] == [i.scene.notes for i in images]
    again = list(read_questions(tmp_path / shard.questions.path))
    assert again == asked
    assert [type(q.answer) for q in again] == [type(q.answer) for q in asked]


def test_same_records_same_bytes(tmp_path, records):
    one = write_shard(tmp_path / "a", "train", 7, *records)
    two = write_shard(tmp_path / "b", "train", 7, *make(SPEC, "train", 0))
    assert one == two
    assert one.images.path == "images/train/00007.parquet"
    assert [f.is_whole(tmp_path / "b") for f in one.files] == [True, True]
    assert Shard.from_json(one.to_json()) == one


def test_columns_read_without_us(tmp_path, records):
    shard = write_shard(tmp_path, "train", 0, *records)
    row = pq.read_table(tmp_path / shard.questions.path).to_pylist()[1]
    assert row["program_text"] == "exist(filter(scene(), color=red))"
    assert (row["answer"], row["answer_type"], row["question_type"]) == ("yes", "bool", "exist")
    assert (row["template"], row["family"], row["split"]) == ("zero_hop.json", 3, "train")
    file = pq.ParquetFile(tmp_path / shard.images.path)
    assert {file.metadata.row_group(0).column(i).compression for i in range(file.metadata.num_columns)} == {
        "ZSTD"
    }


def test_nothing_gives_no_file(tmp_path):
    shard = write_shard(tmp_path, "train", 0, [stored("a")], [])
    assert shard.questions is None and len(shard.files) == 1
    assert not (tmp_path / "questions").exists()


def test_an_id_is_used_once(tmp_path):
    with pytest.raises(ValueError, match="id 'a' is used twice"):
        write_shard(tmp_path, "train", 0, [stored("a"), stored("a")], [])
    image = stored("a")
    with pytest.raises(ValueError, match="id 'a-0' is used twice"):
        write_shard(tmp_path, "train", 0, [image], questions(image, "train") * 2)


def test_a_damaged_file_says_how_to_repair_it(tmp_path, records):
    shard = write_shard(tmp_path, "train", 0, *records)
    path = tmp_path / shard.questions.path
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(UserError, match=r"is damaged .*--repair"):
        list(read_questions(path))
    path.unlink()
    with pytest.raises(UserError, match=r"is missing; .*--repair"):
        list(read_questions(path))


def test_a_stored_image_agrees_with_itself():
    image = stored("a")
    with pytest.raises(ValueError, match="not encoded as PNG"):
        replace(image, png=b"GIF89a")
    with pytest.raises(ValueError, match=r"is \(8, 8\) pixels, its mask \(24, 16\)"):
        replace(image, png=picture("a", size=(8, 8)))
    with pytest.raises(ValueError, match="1 boxes for 2 objects"):
        replace(image, boxes=image.boxes[:1])
    assert (image.id, image.size) == ("a", (24, 16))

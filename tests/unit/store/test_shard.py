"""A shard reads back as the records it was made of, and the same records give the same bytes."""

import errno
import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from shiftscope.errors import UserError
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.scene import Part
from shiftscope.store.image import StoredImage, StoredParts, encode_mask
from shiftscope.store.shard import Shard, SharedImages, read_images, read_questions, write_shard
from shiftscope.store.tables import build_image_table, parse_images
from store_toys import content, make, picture, questions, scene, stored

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
    false = Question("false", "?", ("bare",), parse_program("exist(scene())"), False)
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
    group = file.metadata.row_group(0)
    packed = {(column := group.column(i)).path_in_schema: column.compression for i in range(group.num_columns)}
    assert packed.pop("image.bytes") == "UNCOMPRESSED"  # a PNG is compressed already
    assert set(packed.values()) == {"ZSTD"}


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
    with pytest.raises(ValueError, match="1 counts of visible pixels for 2 objects"):
        replace(image, visible=image.visible[:1])
    assert (image.id, image.size) == ("a", (24, 16))


PLAIN_COLUMNS = [
    *("image", "image_id", "width", "height", "num_objects", "scene", "boxes", "visible_pixels"),
    *("mask_values", "mask_lengths"),
]


def with_parts(name, part_mask=None):
    image = stored(name)
    first, second = image.scene.objects
    listed = replace(first, parts=(Part("roof", (("color", "red"),)), Part("trunk", (("color", "blue"),))))
    return replace(image, scene=replace(image.scene, objects=(listed, second)), part_mask=part_mask)


def showing(most):
    mask = np.zeros((16, 24), np.uint8)
    mask[2:5, 3:9] = most
    return encode_mask(mask)


def test_images_without_masks_of_parts_have_the_columns_they_always_had():
    assert build_image_table([stored("a"), with_parts("b")]).column_names == PLAIN_COLUMNS
    noted = json.loads(build_image_table([stored("a")]).schema.metadata[b"huggingface"])
    assert list(noted["info"]["features"]) == PLAIN_COLUMNS


def test_masks_of_parts_survive():
    images = [with_parts("a", showing(2)), stored("b")]
    table = build_image_table(images)
    assert table.column_names == [*PLAIN_COLUMNS, "part_values", "part_lengths"]
    assert list(parse_images(table)) == images


EVERY_PART = StoredParts(
    showing(2), (("roof", "trunk"), ()), (((3, 2, 6, 3), (0, 0, 0, 0)), ()), ((18, 0), ())
)  # of the two objects of a toy image, the second of which has none


def test_masks_of_every_part_survive():
    images = [replace(stored("a"), parts=EVERY_PART), stored("b")]
    table = build_image_table(images)
    more = ("every_part_values", "every_part_lengths", "every_part_names", "every_part_boxes", "every_part_pixels")
    assert table.column_names == [*PLAIN_COLUMNS, *more]
    assert list(parse_images(table)) == images


def test_every_part_has_a_name_a_box_and_pixels():
    with pytest.raises(ValueError, match="a part needs a name, a box and a count"):
        replace(EVERY_PART, names=(("roof",), ()))
    with pytest.raises(ValueError, match="parts of 2 objects, the scene lists 3"):
        replace(stored("a", 3), parts=EVERY_PART)


def test_a_mask_of_parts_has_the_size_of_its_image():
    with pytest.raises(ValueError, match=r"is \(24, 16\) pixels, its mask \(4, 3\)"):
        replace(stored("a"), part_mask=encode_mask(np.zeros((3, 4), np.uint8)))


def test_masks_show_only_what_the_scene_lists():
    with pytest.raises(ValueError, match="its mask shows part 3, the scene lists 2"):
        with_parts("a", showing(3))
    with pytest.raises(ValueError, match="its mask shows object 3, the scene lists 2"):
        replace(stored("a"), mask=showing(3))


def test_only_flat_columns_are_coded_by_a_dictionary(tmp_path, records):
    shard = write_shard(tmp_path, "train", 0, *records)
    group = pq.read_metadata(tmp_path / shard.images.path).row_group(0)
    coded = {c.path_in_schema for c in map(group.column, range(group.num_columns)) if c.has_dictionary_page}
    assert {"image_id", "width", "height", "num_objects"} <= coded
    assert not [path for path in coded if "." in path]


def test_a_shard_that_differs_from_before_touches_nothing(tmp_path, records):
    images, asked = records
    before = write_shard(tmp_path, "train", 0, images, asked)
    kept = content(tmp_path)
    with pytest.raises(UserError, match="came out differently than the first time, so nothing was changed"):
        write_shard(tmp_path, "train", 0, images, asked[:-1], before)
    assert content(tmp_path) == kept
    assert write_shard(tmp_path, "train", 0, images, asked, before) == before


def test_a_shared_file_can_not_be_written_to_and_is_shared_again(tmp_path, records):
    images, asked = records
    base, twin = tmp_path / "base", tmp_path / "twin"
    first = write_shard(base, "train", 0, images, [])
    shared = SharedImages(base, first.images)
    second = write_shard(twin, "train", 0, shared, asked)
    mine, theirs = base / first.images.path, twin / second.images.path
    assert mine.samefile(theirs)
    assert mine.stat().st_mode & 0o777 == 0o444
    mine.chmod(0o644)
    mine.write_bytes(b"damaged in both")
    with pytest.raises(UserError, match=r"base/images/train/00000\.parquet is not what was written there"):
        write_shard(twin, "train", 0, shared, asked, second)
    mine.chmod(0o444)
    write_shard(base, "train", 0, images, [], first)  # over a file that can not be written to
    assert not second.images.is_whole(twin)
    assert write_shard(twin, "train", 0, shared, asked, second) == second
    assert second.images.is_whole(twin) and mine.samefile(theirs)
    assert mine.stat().st_mode & 0o777 == 0o444


def test_a_copy_that_the_disk_has_no_room_for_leaves_nothing(tmp_path, refuses, monkeypatch):
    base, made = tmp_path / "base", tmp_path / "made"
    first = write_shard(base, "test", 0, [stored("a")], [])

    def refuse(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    def fill(source, target):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("shutil.copyfile", fill)
    with refuses("the disk is full"):
        write_shard(made, "test", 0, SharedImages(base, first.images), [])
    assert [p.name for p in made.rglob("*.partial")] == []

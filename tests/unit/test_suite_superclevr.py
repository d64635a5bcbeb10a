"""Super-CLEVR's suite: what an order makes, and that a twin made from its base is the same as made alone."""

from dataclasses import replace

import pytest

from shiftscope.geometry.vehicles.stored import digest
from shiftscope.run.make import make
from shiftscope.run.make_study import plan
from shiftscope.store.build import build
from shiftscope.store.dataset import Dataset
from shiftscope.store.shard import Shared
from shiftscope.suites._concept_counts import _scan
from shiftscope.suites._superclevr_given import shown
from shiftscope.suites._superclevr_variants import VARIANTS
from shiftscope.suites.superclevr import (
    Order,
    frequencies,
    make_shard,
    make_twin_shard,
    passage,
    questions_of,
    together,
)
from shiftscope.world.concepts import Concepts
from shiftscope.world.superclevr import Rules, scene

SMALL = {"images": 6, "shard": 3, "size": (160, 112), "questions": 3, "part_questions": 3}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("superclevr") / "default"
    return make("superclevr", Order(**SMALL), folder, workers=1)


def test_the_variants():
    assert list(VARIANTS) == [
        *("default", "easy", "hard", "rd-", "rd+"),
        *("slt", "long", "head", "tail", "oppo", "co-1", "co-2"),
    ]


def test_splits_are_those_of_the_release():
    assert Order().splits() == {"train": 20_000, "val": 5_000, "test": 5_000}
    assert Order("tail").splits() == {"test": 5_000}
    assert Order(images=5).splits() == {"train": 5}
    assert Order(images=1000, shard=250).jobs() == {"train": 3, "val": 1, "test": 1}


def test_an_order_as_a_user_names_it():
    assert Order.named("mid") == Order.named("co-0") == Order.named("default", "mid") == Order()
    assert Order.named("default", "hard") == Order.named("hard") == Order("hard", "hard")
    assert Order.named("slt", "hard") == Order("slt", "hard")
    assert Order("slt", "hard").base() == Order("hard", "hard")
    assert Order("hard", "hard").base() == Order()


def test_a_study_at_another_visual_level_has_its_bases_there():
    found = {member.name: (member.base, order.visual) for member, order in plan(Order(), "hard")}
    assert found["default"] == (None, "mid")
    assert found["hard"] == ("default", "hard")
    assert found["slt"] == found["rd+"] == found["co-2"] == ("hard", "hard")
    assert {member.name: member.base for member, _ in plan(Order())}["slt"] == "default"


def test_an_order_with_concepts_of_its_own_survives_its_spec():
    order = Order(concepts=Concepts(material=(0.1, 0.9)), seed=3, **SMALL)
    assert Order.of(order.spec()) == order
    assert order.name == "own"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"variant": "lng"}, "no variant 'lng' in superclevr; did you mean 'long'?"),
        ({"variant": "head", "images": 5}, "5 images are too few for head: at least 6, of which one in 6"),
        ({"variant": "easy", "visual": "hard"}, "variant easy is easy; it can not be made hard"),
        ({"visual": "middle"}, "no visual level 'middle'; did you mean 'mid'?"),
        ({"questions": 5000}, "questions an image from 0 to 1,000"),
        ({"variant": "long", "concepts": Concepts()}, "variant long has its own distribution"),
    ],
)
def test_silly_orders_are_refused(refuses, wrong, sentence):
    with refuses(sentence):
        Order(**wrong)


def test_an_image_has_questions_about_vehicles_and_about_parts(base):
    assert {split: base.count(split) for split in base.splits} == {
        "train": (4, 24),
        "val": (1, 6),
        "test": (1, 6),
    }
    asked = list(base.questions("train"))
    assert [q.id for q in asked[:6]] == [
        *(f"superclevr_train_000000_{k}" for k in range(3)),
        *(f"superclevr_train_000000_part{k}" for k in range(3)),
    ]
    assert len({q.note("question_index") for q in asked}) == 24
    assert all(q.note("variant") == "default" and q.note("twin") is None for q in asked)
    assert all(image.part_mask is not None for image in base.images())


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "default"])
def test_a_twin_made_from_its_base_is_the_same_as_made_alone(base, name):
    spec = Order.named(name, **SMALL).spec()
    images, questions = make_twin_shard(base.folder, spec, "test", 0)
    alone, asked = make_shard(spec, "test", 0)
    assert questions == asked
    if isinstance(images, Shared):
        assert name in ("rd-", "rd+")
        images = list(Dataset.open(base.folder).images("test"))
    assert list(images) == list(alone)


def test_a_twin_names_its_original(base):
    spec = Order.named("rd+", **SMALL).spec()
    _, questions = make_twin_shard(base.folder, spec, "test", 0)
    originals = {q.id: q for q in base.questions("test")}
    for question in questions:
        assert question.id == f"{question.note('twin')}_rd+"
        assert dict(question.notes)["factor"] == "redundancy"
        assert question.answer == originals[question.note("twin")].answer
    assert any(q.text != originals[q.note("twin")].text for q in questions)


@pytest.mark.parametrize(
    ("order", "name", "twin"),
    [
        (Order(), "superclevr_test_000000_0", None),
        (Order("hard", "hard"), "superclevr_test_000000_0_hard", "superclevr_test_000000_0"),
        (Order("rd-"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0"),
        (Order("rd-", "hard"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0_hard"),
        (Order("rd-", "easy"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0_easy"),
        (Order("long"), "superclevr_test_000000_0_long", None),
        (Order("long", "hard"), "superclevr_test_000000_0_long", None),
        (Order("co-1"), "superclevr_test_000000_0_co-1", None),
        (Order(concepts=Concepts(material=(0.1, 0.9))), "superclevr_test_000000_0_own", None),
    ],
)
def test_a_question_has_a_name_of_its_variant_and_a_twin_names_its_base(order, name, twin):
    order = replace(order, images=6, size=(160, 112), questions=1, part_questions=0)
    (question,) = questions_of(order, [scene(0, "test", 0, order.rules())], "test", 0)
    assert (question.id, question.note("twin")) == (name, twin)
    assert question.scenes == ("superclevr_test_000000",)


def test_frequencies_stand_beside_what_was_asked(base):
    found = {(f.attribute, f.value): f for f in frequencies(base)}
    assert found["shape", "jet"].asked == pytest.approx(1 / 21)
    vehicles = sum(len(image.scene.objects) for image in base.images())
    for attribute in ("shape", "color", "material", "size"):
        assert sum(f.vehicles for (a, _), f in found.items() if a == attribute) == vehicles
    assert "| material | rubber | 50.00% |" in (base.folder / "README.md").read_text()


def test_sizes_and_their_share_are_explained(base):
    assert "about 47% are large" in (base.folder / "README.md").read_text()
    assert "## Colors of each shape" not in passage(base)
    assert together(base) == []


def test_scenes_are_counted_once_for_the_card_and_for_the_command_line(base):
    _scan.cache_clear()
    assert passage(base) and frequencies(base) and together(base) == []
    assert _scan.cache_info().misses == 1


def test_colors_of_each_shape_stand_beside_what_was_asked(tmp_path):
    order = Order("co-1", images=12, shard=12, size=(160, 112), questions=0, part_questions=0)
    made = make("superclevr", order, tmp_path / "co-1", workers=1)
    cells = together(made)
    assert len(cells) == 21 * 8
    assert (cells[0].shape, cells[0].color, cells[0].asked) == ("jet", "gray", pytest.approx(128 / 255))
    vehicles = [o for i in made.images() for o in i.scene.objects]
    assert sum(c.vehicles for c in cells) == len(vehicles)
    for cell in cells:
        of = [o for o in vehicles if o.values("shape") == (cell.shape,)]
        same = sum(o.values("color") == (cell.color,) for o in of)
        assert cell.measured == (same / len(of) if of else None)
    card = (made.folder / "README.md").read_text()
    assert "| shape | gray | red |" in card and "| jet | 50.2 / " in card


def test_the_spec_knows_the_meshes(monkeypatch):
    before = Order().spec()
    monkeypatch.setattr("shiftscope.suites.superclevr.digest", lambda: "others")
    assert Order().spec() == before | {"meshes": "others"}
    assert before["meshes"] == digest()
    assert len(digest()) == 32


def test_an_order_that_no_scene_can_meet_is_refused_before_anything_is_written(tmp_path, refuses):
    with refuses("whole vehicles in a picture of 480×32 pixels (size); make the picture larger"):
        make("superclevr", Order(images=6, size=(480, 32)), tmp_path / "flat", workers=1)
    assert not (tmp_path / "flat").exists()


def test_a_given_scene_gets_the_boxes_of_its_picture():
    made = scene(0, "test", 0, Rules(size=(160, 112)))
    bare = replace(
        made,
        objects=tuple(
            replace(o, box=None, parts=tuple(replace(p, box=None) for p in o.parts)) for o in made.objects
        ),
    )
    assert shown(bare, (160, 112)).scene == made
    twice = shown(bare, (320, 224)).scene
    assert twice.size == (320, 224)
    for one, two in zip(made.objects, twice.objects, strict=True):
        assert two.pixel[:2] == pytest.approx((2 * one.pixel[0], 2 * one.pixel[1]), abs=1.5)
        assert two.box[2] == pytest.approx(2 * one.box[2], abs=4)


def test_shared_images_take_no_space(base, tmp_path):
    order = Order.named("rd-", **SMALL)
    twin = build(tmp_path / "rd-", order.spec(), order.jobs(), TwinOf(base.folder))
    mine, theirs = (d.folder / d.shards("test")[0].images.path for d in (twin, base))
    assert mine.samefile(theirs)
    twin.verify()
    assert not list(tmp_path.rglob("*.partial"))


def test_images_that_were_damaged_are_not_shared(base, tmp_path, refuses):
    order = Order.named("rd-", **SMALL)
    file = base.shards("test")[0].images
    shared = Shared(base.folder, replace(file, digest="0" * 64))
    with refuses("is not what was written there"):
        build(tmp_path / "rd-", order.spec(), {"test": 1}, lambda *_: (shared, []))


class TwinOf:
    """A function of a shard that remembers its base."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, spec, split, k):
        return make_twin_shard(self.folder, spec, split, k)

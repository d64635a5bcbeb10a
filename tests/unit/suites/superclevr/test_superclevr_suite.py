"""Super-CLEVR's suite: what an order makes, and that a twin made from its base is the same as made alone."""

from dataclasses import replace
from functools import partial

import pytest

from shiftscope.geometry.shapes.superclevr import vehicles_digest
from shiftscope.run.make import make
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.shard import SharedImages
from shiftscope.suites.superclevr.inputs import _scan, render_user_scene
from shiftscope.suites.superclevr.make_variants import plan_study
from shiftscope.suites.superclevr.suite import SUITE, SuperclevrSpec, make_questions, measure_concepts
from shiftscope.suites.superclevr.variants import VARIANTS
from shiftscope.world.superclevr import SuperClevrRules, sample_scene
from shiftscope.world.superclevr.concepts import ConceptDistribution

SMALL = {"images": 6, "shard": 3, "size": (160, 112), "questions": 3, "part_questions": 3}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("superclevr") / "default"
    return make("superclevr", SuperclevrSpec(**SMALL), folder, workers=1)


def test_the_variants():
    assert list(VARIANTS) == [
        *("default", "easy", "hard", "rd-", "rd+"),
        *("slt", "long", "head", "tail", "oppo", "co-1", "co-2"),
    ]


def test_splits_are_those_of_the_release():
    assert SuperclevrSpec().splits() == {"train": 20_000, "val": 5_000, "test": 5_000}
    assert SuperclevrSpec("tail").splits() == {"test": 5_000}
    assert SuperclevrSpec(images=5).splits() == {"train": 5}
    assert SuperclevrSpec(images=1000, shard=250).jobs() == {"train": 3, "val": 1, "test": 1}


def test_an_order_as_a_user_names_it():
    assert (
        SuperclevrSpec.from_variant("mid")
        == SuperclevrSpec.from_variant("co-0")
        == SuperclevrSpec.from_variant("default", "mid")
        == SuperclevrSpec()
    )
    assert (
        SuperclevrSpec.from_variant("default", "hard")
        == SuperclevrSpec.from_variant("hard")
        == SuperclevrSpec("hard", "hard")
    )
    assert SuperclevrSpec.from_variant("slt", "hard") == SuperclevrSpec("slt", "hard")
    assert SuperclevrSpec("slt", "hard").base() == SuperclevrSpec("hard", "hard")
    assert SuperclevrSpec("hard", "hard").base() == SuperclevrSpec()


def test_a_study_at_another_visual_level_has_its_bases_there():
    found = {member.name: (member.base, order.visual) for member, order in plan_study(SuperclevrSpec(), "hard")}
    assert found["default"] == (None, "mid")
    assert found["hard"] == ("default", "hard")
    assert found["slt"] == found["rd+"] == found["co-2"] == ("hard", "hard")
    assert {member.name: member.base for member, _ in plan_study(SuperclevrSpec())}["slt"] == "default"


def test_an_order_with_concepts_of_its_own_survives_its_spec():
    order = SuperclevrSpec(concepts=ConceptDistribution(material=(0.1, 0.9)), seed=3, **SMALL)
    assert SuperclevrSpec.of(order.spec()) == order
    assert order.name == "own"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"variant": "lng"}, "no variant 'lng' in superclevr; did you mean 'long'?"),
        ({"variant": "head", "images": 5}, "5 images are too few for head: at least 6, of which one in 6"),
        ({"variant": "easy", "visual": "hard"}, "variant easy is easy; it cannot be made hard"),
        ({"visual": "middle"}, "no visual level 'middle'; did you mean 'mid'?"),
        ({"questions": 5000}, "questions per image from 0 to 1,000"),
        ({"variant": "long", "concepts": ConceptDistribution()}, "variant long has its own distribution"),
    ],
)
def test_silly_orders_are_refused(refuses, wrong, sentence):
    with refuses(sentence):
        SuperclevrSpec(**wrong)


def test_an_image_has_questions_about_vehicles_and_about_parts(base):
    assert {split: base.count(split) for split in base.splits} == {"train": (4, 24), "val": (1, 6), "test": (1, 6)}
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
    spec = SuperclevrSpec.from_variant(name, **SMALL).spec()
    images, questions = SUITE.make_shard(spec, "test", 0, base.folder)
    alone, asked = SUITE.make_shard(spec, "test", 0)
    assert questions == asked
    if isinstance(images, SharedImages):
        assert name in ("rd-", "rd+")
        images = list(Dataset.open(base.folder).images("test"))
    assert list(images) == list(alone)


def test_a_twin_names_its_original(base):
    spec = SuperclevrSpec.from_variant("rd+", **SMALL).spec()
    _, questions = SUITE.make_shard(spec, "test", 0, base.folder)
    originals = {q.id: q for q in base.questions("test")}
    for question in questions:
        assert question.id == f"{question.note('twin')}_rd+"
        assert dict(question.notes)["factor"] == "redundancy"
        assert question.answer == originals[question.note("twin")].answer
    assert any(q.text != originals[q.note("twin")].text for q in questions)


@pytest.mark.parametrize(
    ("order", "name", "twin"),
    [
        (SuperclevrSpec(), "superclevr_test_000000_0", None),
        (SuperclevrSpec("hard", "hard"), "superclevr_test_000000_0_hard", "superclevr_test_000000_0"),
        (SuperclevrSpec("rd-"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0"),
        (SuperclevrSpec("rd-", "hard"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0_hard"),
        (SuperclevrSpec("rd-", "easy"), "superclevr_test_000000_0_rd-", "superclevr_test_000000_0_easy"),
        (SuperclevrSpec("long"), "superclevr_test_000000_0_long", None),
        (SuperclevrSpec("long", "hard"), "superclevr_test_000000_0_long", None),
        (SuperclevrSpec("co-1"), "superclevr_test_000000_0_co-1", None),
        (SuperclevrSpec(concepts=ConceptDistribution(material=(0.1, 0.9))), "superclevr_test_000000_0_own", None),
    ],
)
def test_a_question_has_a_name_of_its_variant_and_a_twin_names_its_base(order, name, twin):
    order = replace(order, images=6, size=(160, 112), questions=1, part_questions=0)
    (question,) = make_questions(order, [sample_scene(0, "test", 0, order.rules())], "test", 0, False)
    assert (question.id, question.note("twin")) == (name, twin)
    assert question.scenes == ("superclevr_test_000000",)


def test_frequencies_stand_beside_what_was_asked(base):
    found = {(f.attribute, f.value): f for f in measure_concepts(base).frequencies}
    assert found["shape", "jet"].asked == pytest.approx(1 / 21)
    vehicles = sum(len(image.scene.objects) for image in base.images())
    for attribute in ("shape", "color", "material", "size"):
        assert sum(f.vehicles for (a, _), f in found.items() if a == attribute) == vehicles
    assert "| material | rubber | 50.00% |" in (base.folder / "README.md").read_text()


def test_sizes_and_their_share_are_explained(base):
    assert "about 47% are large" in (base.folder / "README.md").read_text()
    assert "## Colors of each shape" not in SUITE.summarize(None, base)
    assert measure_concepts(base).shape_colors == []


def test_scenes_are_counted_once_for_the_card_and_for_the_command_line(base):
    _scan.cache_clear()
    assert SUITE.summarize(None, base) and measure_concepts(base).frequencies
    assert _scan.cache_info().misses == 1


def test_colors_of_each_shape_stand_beside_what_was_asked(tmp_path):
    order = SuperclevrSpec("co-1", images=12, shard=12, size=(160, 112), questions=0, part_questions=0)
    made = make("superclevr", order, tmp_path / "co-1", workers=1)
    cells = measure_concepts(made).shape_colors
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
    before = SuperclevrSpec().spec()
    monkeypatch.setattr("shiftscope.suites.superclevr.suite.vehicles_digest", lambda: "others")
    assert SuperclevrSpec().spec() == before | {"meshes": "others"}
    assert before["meshes"] == vehicles_digest()
    assert len(vehicles_digest()) == 32


def test_an_order_that_no_scene_can_meet_is_refused_before_anything_is_written(tmp_path, refuses):
    with refuses("whole vehicles in a picture of 480×32 pixels (size); make the picture larger"):
        make("superclevr", SuperclevrSpec(images=6, size=(480, 32)), tmp_path / "flat", workers=1)
    assert not (tmp_path / "flat").exists()


def test_a_given_scene_gets_the_boxes_of_its_picture():
    made = sample_scene(0, "test", 0, SuperClevrRules(size=(160, 112)))
    bare = replace(
        made,
        objects=tuple(replace(o, box=None, parts=tuple(replace(p, box=None) for p in o.parts)) for o in made.objects),
    )
    assert render_user_scene(bare, (160, 112)).scene == made
    twice = render_user_scene(bare, (320, 224)).scene
    assert twice.size == (320, 224)
    for one, two in zip(made.objects, twice.objects, strict=True):
        assert two.pixel[:2] == pytest.approx((2 * one.pixel[0], 2 * one.pixel[1]), abs=1.5)
        assert two.box[2] == pytest.approx(2 * one.box[2], abs=4)


def test_shared_images_take_no_space(base, tmp_path):
    order = SuperclevrSpec.from_variant("rd-", **SMALL)
    twin = build_dataset(tmp_path / "rd-", order.spec(), order.jobs(), partial(SUITE.make_shard, inputs=base.folder))
    mine, theirs = (d.folder / d.shards("test")[0].images.path for d in (twin, base))
    assert mine.samefile(theirs)
    twin.verify()
    assert not list(tmp_path.rglob("*.partial"))


def test_images_that_were_damaged_are_not_shared(base, tmp_path, refuses):
    order = SuperclevrSpec.from_variant("rd-", **SMALL)
    file = base.shards("test")[0].images
    shared = SharedImages(base.folder, replace(file, digest="0" * 64))
    with refuses("is not what was written there"):
        build_dataset(tmp_path / "rd-", order.spec(), {"test": 1}, lambda *_: (shared, []))

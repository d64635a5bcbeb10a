"""The feed: training batches straight from a world, the same for any number of workers and any batch size."""

from dataclasses import dataclass, replace

import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.scene import Object, Part, Scene
from shiftscope.schemas.clevr import SCHEMA as CLEVR
from shiftscope.schemas.superclevr import SCHEMA as SUPERCLEVR
from shiftscope.suites.clevr import suite as clevr
from shiftscope.train.feed import Feed, SuiteSource, render_source

torch = lazy("torch")


SMALL = clevr.ClevrSpec(images=10, size=(96, 64), questions=2, shard=4)
BUS = Object(
    (("size", "large"), ("color", "cyan"), ("material", "metal"), ("shape", "school")),
    parts=(Part("wheel_back_left", (("size", "large"), ("color", "green"), ("material", "metal"))),),
    position=(0.0, 0.0, 0.3),
    rotation=30.0,
)


@dataclass(frozen=True)
class Toy:
    """Block k: one scene of k + 1 balls, and none of the questions."""

    size: tuple[int, int] = (64, 48)

    def blocks(self):
        return 3

    def block(self, k):
        balls = tuple(
            Object(
                (("size", "small"), ("color", "red"), ("material", "rubber"), ("shape", "sphere")),
                position=(1.5 * i, 0.0, 0.35),
            )
            for i in range(k + 1)
        )
        return ((Scene(balls, schema=CLEVR, id=f"toy{k}"), ()),)


class Vehicle(Toy):
    def blocks(self):
        return 1

    def block(self, k):
        return ((Scene((BUS,), schema=SUPERCLEVR, id="bus"), ()),)


def test_a_feed_gives_what_make_would_write():
    first, second = Feed(SuiteSource("clevr", SMALL), batch=5, device="cpu")
    _, questions = clevr.SUITE.make_shard(SMALL.spec(), "train", 0)
    plain = [replace(q, grounding=()) for q in questions]  # which training does not ask for
    assert [q for asked in first.questions[:4] for q in asked] == plain
    assert [s.id for s in (*first.scenes, *second.scenes)] == [f"clevr_train_{i:06d}" for i in range(8)]
    assert first.images.rgb.shape == (5, 64, 96, 3)
    assert len(second.scenes) == 3  # the last batch is what is left


def test_boxes_are_those_of_the_scenes():
    (batch,) = Feed(SuiteSource("clevr", SMALL, "val"), batch=8, device="cpu")
    (scene,) = batch.scenes
    assert batch.images.boxes[0].tolist() == [[int(v) for v in o.box] for o in scene.objects]


def test_parts_are_drawn():
    (batch,) = Feed(Vehicle(), batch=1, device="cpu")
    assert int((batch.images.parts[0] == 1).sum()) == int(batch.images.part_visible[0, 0])


def test_questions_are_grounded_only_if_that_is_wanted():
    def list_phrases(source):
        return [question.grounding for _, questions in source.block(0) for question in questions]

    source = SuiteSource("clevr", SMALL)
    assert not any(list_phrases(source))
    assert any(list_phrases(replace(source, grounding=True)))


@pytest.mark.full
def test_workers_do_not_change_what_is_fed():
    source = SuiteSource("clevr", SMALL)
    for one, two in zip(Feed(source, 3, "cpu", workers=1), Feed(source, 3, "cpu", workers=2), strict=True):
        assert one.scenes == two.scenes
        assert one.questions == two.questions
        assert torch.equal(one.images.rgb, two.images.rgb)


def test_what_can_not_be_fed():
    with pytest.raises(UserError, match="no suite 'clever'"):
        SuiteSource("clever", SMALL)
    with pytest.raises(UserError, match="no split 'tset'"):
        SuiteSource("clevr", SMALL, "tset")
    with pytest.raises(UserError, match="a batch of 0 images"):
        Feed(Toy(), 0, "cpu")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="cannot render on 'cuda'"):
            Feed(Toy())


def test_on_a_gpu_scenes_travel_packed_and_meshes_not_at_all(monkeypatch):
    from shiftscope.render.gpu import pack, raster
    from shiftscope.render.gpu import raster as host

    drawn = []

    def draw(packed, device):
        drawn.append(packed)
        return host.render_batch_on_cpu(Toy().block(0)[0][:1], (64, 48))

    monkeypatch.setattr(raster, "check_device", lambda device: None)
    monkeypatch.setattr(raster, "render_batch", draw)
    feed = Feed(Toy(), batch=3, device="meta")
    (batch,) = feed
    whole = pack.pack_batch(batch.scenes, (64, 48))
    assert drawn[0].meshes == whole.meshes  # the very meshes of this process
    assert drawn[0].poses.tolist() == whole.poses.tolist()
    assert drawn[0].first.tolist() == [0, 1, 3, 6]


def names(some):
    """The summary of some images."""
    return [scene.id for scene, _ in some]


def test_only_summaries_come_with_the_images():
    made = list(render_source(SuiteSource("clevr", SMALL), names, batch=3, device="cpu", workers=1))
    assert [summary for _, summary in made] == [
        [f"clevr_train_{i:06d}" for i in some] for some in ((0, 1, 2), (3,), (4, 5, 6), (7,))
    ]
    (batch,) = Feed(SuiteSource("clevr", SMALL), batch=8, device="cpu")
    assert torch.equal(torch.cat([images.rgb for images, _ in made]), batch.images.rgb)
    with pytest.raises(UserError, match="a batch of 0 images"):
        next(render_source(Toy(), names, batch=0, device="cpu", workers=1))


def test_a_block_travels_as_one_packed_batch(monkeypatch):
    from shiftscope.render.gpu import pack, raster

    seen = []
    monkeypatch.setattr(raster, "check_device", lambda device: None)
    monkeypatch.setattr(raster, "render_batch", lambda packed, device: seen.append(packed))
    source = SuiteSource("clevr", SMALL)
    assert len(list(render_source(source, names, batch=256, device="meta", workers=1))) == len(seen) == 2
    for k, packed in enumerate(seen):
        whole = pack.pack_batch([scene for scene, _ in source.block(k)], SMALL.size)
        assert len(packed) == 4 and packed.meshes == whole.meshes
        for name in (*pack.FLAT_FIELDS, "mesh_of", "image_of", "first", "block_first", "lump_first", "surfaces"):
            assert getattr(packed, name).tolist() == getattr(whole, name).tolist()

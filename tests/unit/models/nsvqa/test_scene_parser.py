"""The scene parser without training: labels, targets, what is read, and how it is measured."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from lazy import lazy
from shiftscope.errors import UserError
from shiftscope.lang.posterior_calibration import Calibration, correct_prior, estimate_label_shift
from shiftscope.models.nsvqa.labels import SceneLabels, join_labels, label_scenes
from shiftscope.rng import derive
from shiftscope.scene import OPEN, Object, Part, Scene, load_schema
from shiftscope.schema import Attribute, Schema

adapt = lazy("shiftscope.models.nsvqa.scene_parser.adapt")
config_module = lazy("shiftscope.models.nsvqa.scene_parser.config")
decode = lazy("shiftscope.models.nsvqa.scene_parser.decode")
loss = lazy("shiftscope.models.nsvqa.scene_parser.loss")
network = lazy("shiftscope.models.nsvqa.scene_parser.network")
scene_parser = lazy("shiftscope.models.nsvqa.scene_parser")
torch = lazy("torch")

SUPERCLEVR, CLEVR = load_schema("superclevr"), load_schema("clevr")
DIRECTIONS = (("right", (1.0, 0.0, 0.0)), ("front", (0.0, -1.0, 0.0)))
TINY = {
    "stem": 8, "widths": (8, 8, 12, 12), "depths": (1, 1, 1, 1), "coarse": 16, "fine": 12, "grid": 3,
    "part_grid": 2, "patch": 8, "part_patch": 8, "hidden": 24, "part_hidden": 16, "objects": 6, "parts": 8,
}  # fmt: skip


@cache
def mirror_tables():
    return loss.make_mirror_tables(SUPERCLEVR, torch.device("cpu"))


def test_blocks_of_pixels_are_convolved_as_pixels_are():
    torch.manual_seed(0)
    pixels = torch.randn(2, 3, 32, 64, dtype=torch.double).to(memory_format=torch.channels_last)
    weight = torch.nn.Parameter(torch.randn(8, 3, 7, 7, dtype=torch.double))
    slopes = []
    made = [network.StemConvolution(weight)(pixels), network.convolve_blocks(pixels, weight)]
    for found in made:
        slopes += torch.autograd.grad(found.square().sum(), weight)
    assert torch.allclose(*made) and torch.allclose(*slopes)


def vehicle(shape, color, box, position=(0.0, 0.0, 0.5), parts=()):
    named = (("size", "large"), ("color", color), ("material", "metal"), ("shape", shape))
    return Object(named, box=box, position=position, parts=parts)


def part(name, color, box):
    return Part(name, (("size", "large"), ("color", color), ("material", "rubber")), box=box)


DOOR = part("front_left_door", "red", (20.0, 20.0, 8.0, 8.0))
WHEEL = part("wheel_back", "blue", (62.0, 42.0, 6.0, 6.0))
LAMP = part("headlight_center", "green", (63.0, 43.0, 4.0, 4.0))  # in the very cell of the wheel's middle
SCENES = (
    Scene(
        (
            vehicle("sedan", "blue", (8.0, 8.0, 32.0, 24.0), (1.0, 2.0, 0.5), (DOOR,)),
            vehicle("chopper", "cyan", (56.0, 32.0, 24.0, 24.0), (-1.5, 0.5, 0.3), (WHEEL, LAMP)),
        ),
        directions=DIRECTIONS,
        schema=SUPERCLEVR,
        id="two",
    ),
    Scene((vehicle("jet", "red", (40.0, 20.0, 30.0, 16.0)),), directions=DIRECTIONS, schema=SUPERCLEVR, id="one"),
)
WIDTH, HEIGHT = 96, 64


def tiny(schema=SUPERCLEVR, **given):
    return config_module.SceneParserConfig(schema, **TINY | given)


def code(attribute, value, *, part=False):
    return SUPERCLEVR.attribute(attribute, part=part).values.index(value)


def batch(seed=0):
    generator = torch.Generator().manual_seed(seed)
    images = torch.randint(0, 256, (2, HEIGHT, WIDTH, 3), dtype=torch.uint8, generator=generator)
    return loss.SceneParserBatch(images, label_scenes(SCENES).to_tensors())


# Labels


def test_labels_are_padded_arrays_of_what_is_seen():
    found = label_scenes(SCENES)
    assert found.boxes.tolist() == [[[8, 8, 32, 24], [56, 32, 24, 24]], [[40, 20, 30, 16], [0, 0, 0, 0]]]
    sedan = [code("size", "large"), code("color", "blue"), code("material", "metal"), code("shape", "sedan")]
    assert found.attributes[0, 0].tolist() == sedan and found.attributes.dtype == np.int16
    assert found.attributes[1, 1].tolist() == [-1, -1, -1, -1]
    assert found.places[0].tolist() == [[1.0, -2.0], [-1.5, -0.5]]
    assert np.isnan(found.places[1, 1]).all()
    door = [
        code("size", "large"),
        code("color", "red"),
        code("material", "rubber"),
        code("name", "front_left_door", part=True),
    ]
    assert found.part_attributes[0, 0].tolist() == door
    assert found.owners[:, :3].tolist() == [[0, 1, 1], [-1, -1, -1]] and found.owners.dtype == np.int16
    assert found.owners.shape == (2, 32) and (found.owners[:, 3:] == -1).all()
    assert found.part_boxes[0, 1].tolist() == [62, 42, 6, 6] and found.part_boxes[1].sum() == 0
    assert found.boxes.dtype == found.places.dtype == found.part_boxes.dtype == np.float32


def test_labels_of_some_images_and_as_tensors():
    found = label_scenes(SCENES)
    one = found.take(np.array([1]))
    assert len(one) == 1 and one.boxes[0, 0].tolist() == [40, 20, 30, 16]
    on_device = found.to_tensors("cpu")
    assert on_device.owners.dtype == torch.int16
    assert torch.equal(on_device.take(torch.tensor([1, 1])).boxes[1], torch.tensor(found.boxes[1]))


def test_labels_of_a_schema_without_parts():
    cube = Object(
        (("size", "small"), ("color", "red"), ("material", "metal"), ("shape", "cube")), box=(1.0, 2.0, 3.0, 4.0)
    )
    found = label_scenes([Scene((cube,), schema=CLEVR)])
    assert found.boxes.tolist() == [[[1, 2, 3, 4], [0, 0, 0, 0]]] and found.part_boxes.shape == (1, 0, 4)
    assert found.part_attributes.shape == (1, 0, 0) and found.owners.shape == (1, 0)
    assert np.isnan(found.places).all()  # no position, no place


NAMED = ("boxes", "attributes", "places", "part_boxes", "part_attributes", "owners")


def test_labels_come_in_rows_that_fit_other_datasets():
    bare = [replace(s, objects=tuple(replace(o, parts=()) for o in s.objects)) for s in SCENES]
    crowd = replace(SCENES[0], objects=(replace(SCENES[0].objects[0], parts=(DOOR,) * 33),) * 3)
    for scenes, rows, parts in ((SCENES, 2, 32), (bare, 2, 32), ([crowd], 4, 128)):
        found = label_scenes(scenes)
        assert found.attributes.shape == (len(scenes), rows, 4) and found.places.shape[1] == rows
        assert found.part_attributes.shape == (len(scenes), parts, 4) and found.owners.shape[1] == parts


def test_labels_of_blocks_are_joined_as_if_made_together():
    crowd = replace(SCENES[0], objects=(replace(SCENES[0].objects[0], parts=(DOOR,) * 33),) * 3)
    scenes = (*SCENES, crowd, SCENES[1])
    apart = join_labels([label_scenes(scenes[:2]), label_scenes(scenes[2:3]), label_scenes(scenes[3:])])
    together = label_scenes(scenes)
    for name in NAMED:
        ours, theirs = getattr(apart, name), getattr(together, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(UserError, match="no labels to join"):
        join_labels([])


def test_rows_of_nothing_change_no_error_and_no_count():
    whole = batch().labels
    tight = SceneLabels(*(getattr(whole, n)[:, : 3 if n.startswith(("part", "owners")) else 2] for n in NAMED))
    wide = join_labels([label_scenes([replace(SCENES[0], objects=SCENES[0].objects * 5)]), label_scenes(SCENES)])
    wide = wide.take(slice(1, None)).to_tensors()
    assert [x.boxes.shape[1] for x in (tight, whole, wide)] == [2, 2, 10]
    torch.manual_seed(0)
    module, images = network.SceneParser(tiny()).eval(), batch().images
    free = module(images)
    beliefs = decode.decode_posterior(free, module.config)
    beliefs = replace(beliefs, exists=torch.ones_like(beliefs.exists), boxes=beliefs.boxes.clone())
    beliefs.boxes[:, :2] = tight.boxes  # so that something is matched
    said = []
    for labels in (tight, whole, wide):
        shown = loss.mirror_batch(loss.SceneParserBatch(images, labels), mirror_tables(), torch.tensor([True, False]))
        with torch.no_grad():
            readings = module(images, loss.make_locations(shown.labels, astray=False))
        targets = loss.make_targets(shown.labels, module.config, (WIDTH, HEIGHT))
        errors = loss.compute_errors(readings, shown, targets, module.config)[1]
        counts = decode.compare_posterior(beliefs, free, labels, module.config)
        said.append((errors, {n: (int(right), int(of)) for n, (right, of) in counts.items()}))
    for errors, counts in said[1:]:
        assert counts == said[0][1] and counts["recall"] == (3, 3) and counts["part_recall"][1] == 3
        assert errors.keys() == said[0][0].keys()
        for name, error in errors.items():
            torch.testing.assert_close(error, said[0][0][name])


def test_of_images_without_parts_nothing_is_measured_of_parts():
    bare = [replace(s, objects=tuple(replace(o, parts=()) for o in s.objects)) for s in SCENES]
    module = network.SceneParser(tiny()).eval()
    found = decode.measure(module, loss.SceneParserBatch(batch().images, label_scenes(bare).to_tensors()))
    assert found.keys() == decode.measure(module, batch()).keys()  # whatever a process is given, to be summed
    assert {int(of) for name, (_, of) in found.items() if name.startswith("part_")} == {0}
    assert int(decode.measure(module, batch())["part_exact"][1]) == 2


@pytest.mark.parametrize(
    ("scenes", "message"),
    [
        ([], "no scenes to label"),
        ([Scene((), schema=OPEN, id="s")], "'s' has an open vocabulary"),
        ([SCENES[0], Scene((), schema=CLEVR, id="s")], "'s' is in clevr, others in superclevr"),
        ([Scene((replace(SCENES[0].objects[0], box=None),), schema=SUPERCLEVR, id="s")], "object 0 has no box"),
        ([Scene((vehicle("boat", "red", (0.0, 0.0, 9.0, 9.0)),), schema=SUPERCLEVR, id="s")], "shape 'boat' is not in"),
        ([Scene((vehicle("suv", "red", (0.0, 0.0, 9.0, 9.0), parts=(replace(DOOR, box=None),)),), schema=SUPERCLEVR)], "part 'front_left_door' of object 0 has no box"),
    ],
)  # fmt: skip
def test_scenes_that_can_not_be_labelled(scenes, message):
    with pytest.raises(UserError, match=message):
        label_scenes(scenes)


# Mirroring


def test_a_mirrored_batch_swaps_left_and_right():
    before = batch()
    after = loss.mirror_batch(before, mirror_tables(), torch.tensor([True, False]))
    assert torch.equal(after.images[0], before.images[0].flip(1))
    assert torch.equal(after.images[1], before.images[1])
    assert after.labels.boxes[0].tolist() == [[96 - 8 - 32, 8, 32, 24], [96 - 56 - 24, 32, 24, 24]]
    assert after.labels.boxes[1].tolist() == [[40, 20, 30, 16], [0, 0, 0, 0]]
    assert after.labels.places[0].tolist() == [[-1.0, -2.0], [1.5, -0.5]]
    assert after.labels.part_attributes[0, 0, 3] == code("name", "front_right_door", part=True)
    assert after.labels.part_attributes[0, 1, 3] == code("name", "wheel_back", part=True)
    assert after.labels.owners.tolist() == before.labels.owners.tolist()


def test_a_mirror_in_a_mirror_shows_the_original():
    before, both = batch(), torch.tensor([True, True])
    after = loss.mirror_batch(loss.mirror_batch(before, mirror_tables(), both), mirror_tables(), both)
    assert torch.equal(after.images, before.images)
    for name in ("boxes", "attributes", "places", "part_boxes", "part_attributes", "owners"):
        old, new = getattr(before.labels, name), getattr(after.labels, name)
        assert torch.equal(old.nan_to_num(), new.nan_to_num()), name


def test_part_names_in_a_mirror():
    names = SUPERCLEVR.attribute("name", part=True).values
    seen = {name: names[k] for name, k in zip(names, loss.mirror_names(SUPERCLEVR)[3], strict=True)}
    assert seen["left_mirror"] == "right_mirror" and seen["door_right_s"] == "door_left_s"
    assert seen["roof"] == "roof" and seen["taillight_center"] == "taillight_center"
    assert all(seen[seen[name]] == name for name in names)
    assert loss.mirror_names(CLEVR) == ()


@pytest.mark.parametrize("seed", range(4))
def test_a_lesson_is_the_loss_of_images_mirrored_at_random(seed):
    config, one = tiny(), batch()
    module = network.SceneParser(config)
    torch.manual_seed(seed)
    found = loss.compute_augmented_loss(module, one)[0]
    torch.manual_seed(seed)
    which = torch.rand(2) < 0.5
    assert torch.equal(found, loss.compute_loss(module, loss.mirror_batch(one, mirror_tables(), which))[0])
    torch.manual_seed(seed)
    plain = loss.compute_augmented_loss(module, one, flip=False)[0]
    torch.manual_seed(seed)
    assert torch.equal(plain, loss.compute_loss(module, one)[0])


# Attuning


def norms_of(module):
    return [part for part in module.modules() if isinstance(part, torch.nn.BatchNorm2d)]


def some_images(count, seed=0, darkest=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(darkest, 256, (count, HEIGHT, WIDTH, 3), dtype=torch.uint8, generator=generator)


def test_averages_change_and_weights_stay():
    module = network.SceneParser(tiny()).eval()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    made = adapt.adapt_normalisation(module, some_images(4))
    assert not any(part.training for part in made.modules())
    for name, value in made.state_dict().items():
        averages = name.endswith(("running_mean", "running_var", "num_batches_tracked"))
        assert torch.equal(value, before[name]) != averages, name
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())


@pytest.mark.parametrize("count", [1, 5, 40])
def test_averages_are_of_the_images_and_of_sixteen_as_learned(count):
    module, images = network.SceneParser(tiny()).eval(), some_images(count)
    first = norms_of(module)[0]
    first.running_mean += 3
    seen, spread = [], []

    def look_at(norm, given):
        seen.append(given[0].mean((0, 2, 3)))
        spread.append(given[0].var((0, 2, 3)))

    hook = first.register_forward_pre_hook(look_at)
    with torch.no_grad():
        for half in images.chunk(1 if count < 32 else 2):  # no more than 32 are looked at together
            module(half)
    hook.remove()
    found, share = norms_of(adapt.adapt_normalisation(module, images))[0], count / (count + 16)
    for new, rows, old in (
        (found.running_mean, seen, first.running_mean),
        (found.running_var, spread, first.running_var),
    ):
        wanted = share * torch.stack(rows).mean(0) + (1 - share) * old
        torch.testing.assert_close(new, wanted, rtol=1e-4, atol=1e-5)


def test_other_averages_make_up_for_other_light():
    torch.manual_seed(0)
    module = network.SceneParser(tiny())
    bright = some_images(96, darkest=128)
    dark = bright - 100
    with torch.no_grad():
        for norm in norms_of(module):
            norm.momentum = None
        module.train()(bright)
        module.eval()
        usual, off = module(bright).heat, module(dark).heat
        found = adapt.adapt_normalisation(module, dark)(dark).heat
    assert (found - usual).abs().mean() < 0.5 * (off - usual).abs().mean()


@pytest.mark.parametrize(
    ("doubted", "found", "kept"),
    [(0.47, 100, True), (0.48, 100, False), (0.6, 200, False), (0.1, 91, True), (0.1, 89, False)],
)
def test_a_parser_is_attuned_where_that_makes_it_surer_of_as_many_things(monkeypatch, doubted, found, kept):
    module, images = network.SceneParser(tiny()).eval(), some_images(3)

    def looked(one, shown):
        assert torch.equal(shown, images)
        return (0.5, 100) if one is module else (doubted, found)

    expected = []
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.parse_all", looked)
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.measure_uncertainty", lambda told: told)
    monkeypatch.setattr(
        "shiftscope.models.nsvqa.scene_parser.adapt.correct_priors",
        lambda *given: expected.append(given) or ("used", ("part priors",)),
    )
    calibration = uneven(1.0)
    told = ("norm", "part priors") if kept else ("part priors",)
    assert adapt.adapt_parser(module, images, calibration) == ("used", told)
    ((one, believed, same),) = expected
    assert (one is not module) == kept and same is calibration
    assert believed == ((doubted, found) if kept else (0.5, 100))  # of the very parser that is then shifted


def uneven(temperature):
    """A calibration after scenes in which the first value of each attribute was the commonest."""

    def falling(attributes):
        counts = [range(len(a.values), 0, -1) for a in attributes]
        return tuple(tuple(n / sum(each) for n in each) for each in counts)

    shares, part_shares = falling(SUPERCLEVR.attributes), falling(SUPERCLEVR.part_attributes)
    warm, part_warm = (temperature,) * len(shares), (temperature,) * len(part_shares)
    return Calibration(warm, part_warm, (1.0, 0.0), (1.0, 0.0), shares=shares, part_shares=part_shares)


def test_with_nothing_to_see_a_parser_stays_as_it_is():
    module = network.SceneParser(tiny()).eval()
    assert adapt.adapt_parser(module, some_images(0), uneven(1.0)) == (module, ())


def finds(module):
    """The same module, which now finds objects and parts everywhere."""
    module.heat.bias.data += 10
    module.part_heat.bias.data += 10
    return module


def half_there(beliefs):
    """The same beliefs, but that half of the things are likely not there."""
    drawn = derive("there").random
    return replace(beliefs, exists=drawn(beliefs.exists.shape), part_exists=drawn(beliefs.part_exists.shape))


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_calibrated_beliefs_are_weighed_by_how_much_likelier_values_seem_to_be(monkeypatch, temperature):
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.MUCH_SURER", 10.0)
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.LEAST", 1)
    torch.manual_seed(3)
    module, images = finds(network.SceneParser(tiny()).eval()), some_images(40)
    calibration = replace(uneven(temperature), exists=(1.7, -0.6), part_exists=(1.3, -0.1))
    found = half_there(adapt.parse_all(module, images))
    used, kept = adapt.correct_priors(module, found, calibration)
    assert kept == ("object priors", "part priors")
    before, after = (calibration.apply(half_there(adapt.parse_all(one, images))) for one in (module, used))
    own = [a.name for a in SUPERCLEVR.part_attributes].index
    sorts = [
        (before.exists, before.attributes, after.attributes, calibration.shares, range(4)),
        (before.part_exists, before.part_attributes, after.part_attributes, calibration.part_shares,
         [own(a.name) for a in tiny().own_part_attributes]),
    ]  # fmt: skip
    for exists, old, new, shares, columns in sorts:
        there = exists > 0.5
        assert there.any() and not there.all()
        for k in columns:
            rows = old[k][there].astype(float)
            odds = estimate_label_shift(rows, exists[there].astype(float), np.array(shares[k]))
            assert np.abs(np.log(odds)).max() > 0.05
            np.testing.assert_allclose(new[k][there], correct_prior(rows, odds), atol=1e-5)
    for name in ("exists", "boxes", "places"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    for one, other in zip(found.attributes, adapt.parse_all(module, images).attributes, strict=True):
        np.testing.assert_array_equal(one, other)  # the parser that was given stays as it is


@pytest.mark.parametrize(("objects", "parts"), [(0.8, 1.1), (1.1, 0.8), (0.89, 0.91), (np.nan, 0.8), (0.8, np.nan)])
def test_what_does_not_make_much_surer_is_not_expected(monkeypatch, objects, parts):
    told = iter([objects, 1.0, parts, 1.0])  # after and before, of objects and then of parts
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.LEAST", 1)
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.mean_entropy", lambda attributes: next(told))
    module, calibration = finds(network.SceneParser(tiny()).eval()), uneven(1.0)
    made, kept = adapt.correct_priors(module, adapt.parse_all(module, some_images(8)), calibration)
    assert kept == tuple(n for n, x in (("object priors", objects), ("part priors", parts)) if x < 0.9)
    moved = [
        not torch.equal(one.attributes[0].bias, other.attributes[0].bias)
        for one, other in ((module.object, made.object), (module.part, made.part))
    ]
    assert moved == [objects < 0.9, parts < 0.9]


@pytest.mark.parametrize("least", [1, 10_000])
def test_of_a_few_things_nothing_is_told(monkeypatch, least):
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.MUCH_SURER", 10.0)
    monkeypatch.setattr("shiftscope.models.nsvqa.scene_parser.adapt.LEAST", least)
    module = finds(network.SceneParser(tiny()).eval())
    made, _ = adapt.correct_priors(module, adapt.parse_all(module, some_images(2)), uneven(1.0))
    old, new = (one.object.attributes[0].bias for one in (module, made))
    assert torch.equal(old, new) == (least > 1)


def test_a_parser_that_finds_nothing_or_learned_no_shares_expects_what_it_did():
    module, images = network.SceneParser(tiny()).eval(), some_images(3)
    for calibration in (uneven(1.0), Calibration.identity(SUPERCLEVR)):
        made, kept = adapt.correct_priors(module, adapt.parse_all(module, images), calibration)
        assert kept == ()
        for (name, old), (_, new) in zip(module.named_parameters(), made.named_parameters(), strict=True):
            assert torch.equal(old, new), name


def test_doubt_is_entropy_of_the_attributes_of_what_is_found():
    module, images = network.SceneParser(tiny()).eval(), some_images(40)
    assert adapt.measure_uncertainty(adapt.parse_all(module, images)) == (np.inf, 0)  # it finds nothing yet
    module.heat.bias.data += 10
    beliefs = decode.parse(module, images)
    rows = [(-a * a.log()).sum(-1)[beliefs.exists > 0.5] for a in beliefs.attributes]
    unsure, found = adapt.measure_uncertainty(adapt.parse_all(module, images))
    assert found == len(rows[0]) > 0 and unsure == pytest.approx(float(sum(rows).mean()), rel=1e-4)


# Targets and seats


def test_a_map_is_one_where_a_middle_lies():
    made = loss.make_targets(batch().labels, tiny(), (WIDTH, HEIGHT))
    assert made.heat.shape == (2, 1, 8, 12)
    # middles (24, 20) and (68, 44) at stride 8: x = 3.0 lies on a border, y = 2.5 and x = 8.5, y = 5.5 do not
    assert (made.heat[0, 0] == 1).nonzero().tolist() == [[2, 2], [2, 3], [5, 8]]
    assert (made.heat[1, 0] == 1).nonzero().tolist() == [[3, 6], [3, 7]]  # x = 6.875 is nearly 7
    beside = made.heat[0, 0, 5, 7].item()  # a cell further: half a cell beyond the middle's own, spread 0.5
    assert beside == pytest.approx(np.exp(-((0.5 / 0.5) ** 2) / 2), abs=1e-6)
    assert made.there.tolist() == [[True, True], [True, False]]


def test_parts_of_different_colours_have_different_maps():
    made = loss.make_targets(batch().labels, tiny(), (WIDTH, HEIGHT))
    assert made.part_heat.shape == (2, 8, 16, 24)
    red, blue, green = (code("color", c) for c in ("red", "blue", "green"))
    at = {tuple(k) for k in (made.part_heat[0] == 1).nonzero().tolist()}
    assert {(red, 5, 5), (red, 6, 6), (blue, 11, 16), (green, 11, 16)} <= at
    assert {k[0] for k in at} == {red, blue, green} and not made.part_heat[1].any()
    together = loss.make_targets(batch().labels, tiny(apart=""), (WIDTH, HEIGHT))
    assert torch.equal(together.part_heat[:, 0], made.part_heat.amax(1))


def test_seats_are_the_truth_or_a_little_beside():
    labels = batch().labels
    exact = loss.make_locations(labels, astray=False)
    assert exact.points[0].tolist() == [[24, 20], [68, 44]] and torch.equal(exact.boxes, labels.boxes)
    assert exact.owners[:, :3].tolist() == [[0, 1, 1], [0, 0, 0]]
    torch.manual_seed(0)
    near = loss.make_locations(labels)
    assert 0 < (near.points - exact.points).abs().max() <= 6
    assert network.box_iou(near.boxes[0], labels.boxes[0]).min() > 0.6 and not torch.equal(near.boxes, labels.boxes)


# Peaks, boxes, looking


def test_peaks_come_best_first_and_stand_alone():
    heat = torch.full((1, 2, 4, 4), -9.0)
    heat[0, 0, 1, 1], heat[0, 0, 1, 2], heat[0, 1, 1, 2], heat[0, 0, 3, 3] = 2.0, 1.5, 3.0, 5.0
    scores, points = network.find_peaks(heat, 3, 8, (28, 24))  # the last row of cells lies beyond the image
    assert scores[0, :2].tolist() == [3.0, 2.0] and scores[0, 2] < 0
    assert points[0, :2].tolist() == [[20, 12], [12, 12]]
    assert network.find_peaks(heat, 99, 8, (32, 32))[0].shape == (1, 32)


def test_looking_at_a_point_and_through_a_box():
    across = torch.arange(8.0).expand(1, 1, 4, 8)  # stride 8: cell x has its middle at 8 x + 4
    assert network.sample_features(across, torch.tensor([[[12.0, 9.0], [16.0, 9.0]]]), 8).tolist() == [[[1.0, 1.5]]]
    points = network.spread_points(torch.tensor([0.0, 10.0, 4.0, 8.0]), 2)
    assert points.tolist() == [[[1, 12], [3, 12]], [[1, 16], [3, 16]]]


def test_overlap_of_boxes():
    box, half, apart = (torch.tensor(b) for b in ([0.0, 0, 4, 4], [2.0, 0, 4, 4], [8.0, 0, 4, 4]))
    assert network.box_iou(box, half).item() == pytest.approx(8 / 24)
    assert network.box_iou(box, apart).item() == 0
    assert network.box_iou(box, apart, general=True).item() == pytest.approx(-16 / 48)


def test_a_part_belongs_to_the_object_it_points_to():
    boxes = torch.tensor([[[0.0, 0, 10, 10], [20.0, 0, 10, 10], [21.0, 0, 10, 10]]])
    there = torch.tensor([[True, True, False]])
    assert network.find_nearest_object(torch.tensor([[[9.0, 5], [26.0, 5]]]), boxes, there).tolist() == [[0, 1]]


# Reading and decoding


@cache
def perfect_parser():
    class Perfect(torch.nn.Module):
        """Paints the true maps and reads the truth at every peak."""

        def __init__(self, labels, config, spoil=None):
            super().__init__()
            self.labels, self.config, self.spoil = labels, config, spoil or (lambda readings: readings)

        def forward(self, images):
            size, labels, config = (images.shape[2], images.shape[1]), self.labels, self.config
            made = loss.make_targets(labels, config, size)
            heat, part_heat = (torch.logit(m, 1e-4) for m in (made.heat, made.part_heat))
            scores, points = network.find_peaks(heat, config.objects, 8, size)
            part_scores, part_points = network.find_peaks(part_heat, config.parts, 4, size)
            nearby = self.truth(points, labels.boxes)
            boxes = labels.boxes.gather(1, nearby[..., None].expand(*nearby.shape, 4))
            scores = network.suppress_duplicates(scores, boxes)
            # two parts may share a cell: their map tells them apart, so read each by its own colour
            which = self.truth(part_points, labels.part_boxes)
            cells = part_heat.flatten(2)
            at = (part_points[..., 1] // 4 * part_heat.shape[3] + part_points[..., 0] // 4).long()
            here = torch.stack([c.gather(1, at) for c in cells.unbind(1)], -1)
            for i, k in (part_scores > 0).nonzero().tolist():
                taken = [j for j in range(k) if torch.equal(part_points[i, j], part_points[i, k])]
                colour = here[i, k].topk(len(taken) + 1).indices[-1]
                same = (labels.part_attributes[i, :, 1] == colour).nonzero().flatten()
                which[i, k] = same[0]
            part_boxes = labels.part_boxes.gather(1, which[..., None].expand(*which.shape, 4))
            owners = labels.owners.long().clamp(min=0).gather(1, which)
            pointed = boxes_middle(labels.boxes).gather(1, owners[..., None].expand(*owners.shape, 2))
            names = [a.name for a in config.schema.part_attributes]
            return self.spoil(
                network.SceneParserOutput(
                    size, heat, part_heat,
                    network.QueryLocations(points, boxes, part_points, part_boxes, network.find_nearest_object(pointed, boxes, scores > 0)),
                    scores, part_scores, boxes, part_boxes, pointed,
                    labels.places.nan_to_num().gather(1, nearby[..., None].expand(*nearby.shape, 2)),
                    tuple(hot(labels.attributes[..., k], nearby, a) for k, a in enumerate(config.schema.attributes)),
                    tuple(hot(labels.part_attributes[..., names.index(a.name)], which, a) for a in config.own_part_attributes),
                )
            )  # fmt: skip

        @staticmethod
        def truth(points, boxes):
            away = (points[:, :, None] - boxes_middle(boxes)[:, None]).abs().sum(-1)
            return away.masked_fill((boxes[..., 2] == 0)[:, None], 1e9).argmin(-1)

    return Perfect


def boxes_middle(boxes):
    return boxes[..., :2] + boxes[..., 2:] / 2


def hot(codes, rows, attribute):
    chosen = codes.long().clamp(min=0).gather(1, rows)
    return torch.nn.functional.one_hot(chosen, len(attribute.values)).float() * 20


def test_perfect_maps_decode_to_the_truth():
    labels, config = batch().labels, tiny()
    beliefs = decode.parse(perfect_parser()(labels, config), batch().images)
    assert (beliefs.exists > 0.5).sum(1).tolist() == [2, 1]
    assert beliefs.size == (WIDTH, HEIGHT) and beliefs.schema is SUPERCLEVR and len(beliefs) == 2
    rows = {int(b[0]): k for k, b in enumerate(beliefs.boxes[0]) if beliefs.exists[0, k] > 0.5}
    sedan, chopper = rows[8], rows[56]
    assert beliefs.boxes[0, sedan].tolist() == [8, 8, 32, 24]
    assert beliefs.attributes[3][0, chopper].argmax() == code("shape", "chopper")
    assert beliefs.attributes[1][0, sedan, code("color", "blue")] > 0.99
    assert all(torch.allclose(a.sum(-1), torch.ones(())) for a in beliefs.attributes)
    assert beliefs.places[0, sedan].tolist() == [1.0, -2.0]
    found = {
        (SUPERCLEVR.attribute("name", part=True).values[int(name)], int(owner))
        for name, owner, there in zip(
            beliefs.part_attributes[3][0].argmax(-1), beliefs.part_owner[0], beliefs.part_exists[0], strict=True
        )
        if there > 0.5
    }
    assert found == {("front_left_door", sedan), ("wheel_back", chopper), ("headlight_center", chopper)}
    assert not (beliefs.part_exists[1] > 0).any()


def test_the_truth_measures_as_right():
    labels, config = batch().labels, tiny()
    counts = {n: (int(a), int(b)) for n, (a, b) in decode.measure(perfect_parser()(labels, config), batch()).items()}
    objects = dict.fromkeys(("recall", "precision", "size", "color", "material", "shape", "place"), (3, 3))
    parts = {f"part_{n}": (3, 3) for n in ("recall", "precision", "size", "color", "material", "name", "owner")}
    assert counts == objects | parts | {"exact": (2, 2), "part_exact": (2, 2)}


def test_a_wrong_colour_and_a_missed_object_are_counted():
    labels, config = batch().labels, tiny()

    def spoil(readings):
        readings.attributes[1].neg_()  # of every object the true colour is the unlikeliest
        readings.scores[1, :] = -9.0
        return readings

    counts = {
        n: (int(a), int(b)) for n, (a, b) in decode.measure(perfect_parser()(labels, config, spoil), batch()).items()
    }
    assert counts["recall"] == (2, 3) and counts["precision"] == (2, 2)
    assert counts["color"] == (0, 2) and counts["shape"] == (2, 2)
    assert counts["exact"] == (0, 2) and counts["part_exact"] == (0, 2)


def test_the_likest_pairs_are_matched_first():
    likeness = torch.tensor([[[0.6, 0.9], [0.55, 0.8], [0.3, 0.2]]])
    yes = torch.ones(1, 3, dtype=torch.bool)
    assert decode.assign_greedily(likeness, yes[:, :2], yes, 0.5).tolist() == [[1, 0, -1]]
    assert decode.assign_greedily(likeness, yes[:, :2], torch.tensor([[False, True, True]]), 0.5).tolist() == [
        [-1, 1, -1]
    ]
    assert decode.assign_greedily(likeness, torch.tensor([[True, False]]), yes, 0.58).tolist() == [[0, -1, -1]]


def test_the_size_of_a_part_is_believed_of_its_object():
    torch.manual_seed(0)
    module = network.SceneParser(tiny(least=0.0)).eval()
    beliefs = decode.parse(module, batch().images)
    owners = beliefs.part_owner[..., None].expand(2, beliefs.part_owner.shape[1], 2)
    assert torch.equal(beliefs.part_attributes[0], beliefs.attributes[0].gather(1, owners))
    assert [a.name for a in module.config.own_part_attributes] == ["color", "material", "name"]


def test_one_thing_found_twice_counts_once():
    labels, config = batch().labels, tiny()

    def spoil(readings):
        readings.part_scores[0, 3:5] = 3.0  # the door again, in a colour of another map
        readings.seats.part_points[0, 3:5] = readings.seats.part_points[0, :1] + 4
        readings.seats.owners[0, 3:5] = readings.seats.owners[0, 0]
        for scores in readings.part_attributes:
            scores[0, 3] = scores[0, 0]
        readings.part_attributes[2][0, 4] = hot(
            torch.tensor([[5]]), torch.tensor([[0]]), config.own_part_attributes[2]
        )[0, 0]
        return readings

    beliefs = decode.parse(perfect_parser()(labels, config, spoil), batch().images)
    assert (beliefs.part_exists[0] > 0).tolist() == [True, True, True, False, True, False, False, False]


# The network


def test_images_are_read_alone_as_together():
    torch.manual_seed(0)
    module = network.SceneParser(tiny(least=0.0)).eval()
    images = batch().images
    both, alone = decode.parse(module, images), decode.parse(module, images[1:])
    assert torch.allclose(both.exists[1], alone.exists[0], atol=1e-5)
    assert torch.allclose(both.attributes[3][1], alone.attributes[3][0], atol=1e-4)
    for kept in (both.exists, both.boxes, both.places, *both.attributes, *both.part_attributes, both.part_exists):
        assert kept.dtype == torch.float32 and torch.isfinite(kept).all()
    assert both.part_owner.dtype == torch.int64
    corners = both.boxes[..., :2] + both.boxes[..., 2:]
    assert (both.boxes >= 0).all() and (corners <= torch.tensor([WIDTH, HEIGHT])).all()


def test_an_image_is_padded_to_whole_cells():
    torch.manual_seed(0)
    module = network.SceneParser(tiny(least=0.0)).eval()
    beliefs = decode.parse(module, torch.zeros(1, 40, 70, 3, dtype=torch.uint8))
    assert beliefs.size == (70, 40)
    middles = boxes_middle(module(torch.zeros(1, 40, 70, 3, dtype=torch.uint8)).seats.points.repeat(1, 1, 2))
    assert (middles > 0).all()


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((1, 3, 64, 64), "uint8", r"not \[1, 3, 64, 64\] of uint8"),
        ((1, 64, 64, 3), "float32", r"not \[1, 64, 64, 3\] of float32"),
        ((1, 16, 64, 3), "uint8", "64×16 is too small"),
    ],
)
def test_what_is_no_image_is_refused(shape, dtype, message):
    with pytest.raises(UserError, match=message):
        network.SceneParser(tiny())(torch.zeros(shape, dtype=getattr(torch, dtype)))


def test_a_schema_without_parts_has_none():
    torch.manual_seed(0)
    config = tiny(CLEVR)
    beliefs = decode.parse(network.SceneParser(config).eval(), batch().images)
    assert beliefs.part_exists.shape == (2, 0) and beliefs.part_attributes == ()
    cube = Object((("color", "red"), ("shape", "cube")), box=(1.0, 2.0, 30.0, 20.0))
    labels = label_scenes([Scene((cube,), schema=CLEVR)] * 2).to_tensors()
    total, errors = loss.compute_loss(network.SceneParser(config), loss.SceneParserBatch(batch().images, labels))
    assert torch.isfinite(total) and set(errors) == {"heat", "box", "place", "size", "color", "material", "shape"}
    assert errors["size"] == 0 and errors["place"] == 0 and errors["color"] > 0  # what no label tells


def test_images_without_parts_teach_the_maps_of_parts():
    bare = [replace(s, objects=tuple(replace(o, parts=()) for o in s.objects)) for s in SCENES]
    module = network.SceneParser(tiny())
    total, errors = loss.compute_loss(module, loss.SceneParserBatch(batch().images, label_scenes(bare).to_tensors()))
    total.backward()
    assert errors["part_name"] == 0 and errors["owner"] == 0 and errors["part_heat"] > 0
    assert module.part_heat.weight.grad.abs().sum() > 0


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a processor without bfloat16
def test_half_precision_keeps_places_and_scores_whole():
    torch.manual_seed(0)
    module = network.SceneParser(tiny())
    with torch.autocast("cpu", torch.bfloat16):
        total, _ = loss.compute_loss(module, batch())
        readings = module.eval()(batch().images)
    assert total.dtype == torch.float32 and torch.isfinite(total)
    kept = (readings.heat, readings.part_heat, readings.boxes, readings.places, readings.pointed)
    assert {t.dtype for t in (*kept, *readings.attributes, *readings.part_attributes)} == {torch.float32}


@pytest.mark.full
def test_it_learns_four_images_by_heart():
    """Squares of two colours and two shapes, some with a part: after a few steps all is found and named."""
    words = (Attribute("color", ("red", "blue")), Attribute("shape", ("flat", "tall")))
    schema = Schema("squares", words, (Attribute("color", ("red", "blue")), Attribute("name", ("dot",))))
    looks = {"red": (230, 20, 20), "blue": (20, 20, 230)}
    images, scenes = np.full((4, 64, 96, 3), 120, np.uint8), []
    for k in range(4):
        color, other = ("red", "blue") if k % 2 else ("blue", "red")
        width, height = (32, 16) if k < 2 else (16, 32)
        left, top = 8 + 12 * k, 20 - 4 * k
        images[k, top : top + height, left : left + width] = looks[color]
        images[k, top + 2 : top + 8, left + 2 : left + 8] = looks[other]
        dot = Part("dot", (("color", other),), box=(left + 2.0, top + 2.0, 6.0, 6.0))
        box = (float(left), float(top), float(width), float(height))
        thing = Object((("color", color), ("shape", "flat" if k < 2 else "tall")), box=box, parts=(dot,))
        scenes.append(Scene((thing,), schema=schema))
    torch.manual_seed(0)
    module = network.SceneParser(tiny(schema)).train()
    learned = loss.SceneParserBatch(torch.from_numpy(images), label_scenes(scenes).to_tensors())
    optimiser = torch.optim.AdamW(module.parameters(), lr=1e-2)
    sums = []
    for _ in range(120):
        total, _ = loss.compute_loss(module, learned)
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
        sums.append(total.item())
    assert sums[-1] < sums[0] / 4
    with torch.no_grad():
        for _ in range(15):  # the running means of the norms catch up
            loss.compute_loss(module, learned)
    counts = {n: (int(a), int(b)) for n, (a, b) in decode.measure(module.eval(), learned).items()}
    assert counts["recall"] == counts["color"] == counts["shape"] == (4, 4)
    assert min(counts[f"part_{name}"][0] for name in ("recall", "color", "owner")) >= 3


# Config and recipe


def test_a_config_comes_back_from_json():
    for config in (
        config_module.SceneParserConfig(SUPERCLEVR),
        tiny(CLEVR),
        tiny(Schema("own", (Attribute("color", ("red", "blue")),))),
    ):
        assert config_module.SceneParserConfig.from_json(config.to_json()) == config
    assert config_module.SceneParserConfig(SUPERCLEVR).to_json()["schema"] == "superclevr"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grids": 3}, "no setting 'grids' in the scene parser's config; did you mean 'grid'"),
        ({"widths": [8, 8]}, "four stages"),
        ({"hidden": 0}, "whole numbers from 1 up"),
        ({"least": 1.0}, "least must be a score"),
        ({"schema": "open"}, "needs a closed schema"),
    ],
)
def test_a_config_that_can_not_be(change, message):
    with pytest.raises(UserError, match=message):
        config_module.SceneParserConfig.from_json(tiny().to_json() | change)


def test_a_wrapped_module_knows_its_config():
    module = network.SceneParser(tiny())
    wrapped = SimpleNamespace(module=module)
    from shiftscope.models.nsvqa.scene_parser.loss import get_config

    assert get_config(wrapped) is module.config and get_config(module) is module.config
    assert decode.decode_posterior(module.eval()(batch().images), module.config).size == (WIDTH, HEIGHT)

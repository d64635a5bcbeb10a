"""Super-CLEVR's world: every rule holds, twins share what they can, and what can not be met is named."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.geometry.camera import camera_of
from shiftscope.geometry.mesh import bodies_of, build_scene_mesh
from shiftscope.geometry.shapes.superclevr import load_vehicle
from shiftscope.geometry.visibility import list_parts, measure_visibility, part_labels
from shiftscope.scene import Scene, derive_rows
from shiftscope.shift import compositionality, concept_distribution, visual_complexity
from shiftscope.world.superclevr import RULES, SuperClevrRules, concept_twin, sample_scene, visual_twin
from shiftscope.world.superclevr.concepts import ConceptDistribution

SEED = 5
SCENES: list[Scene] = []
LEAST, LEAST_PART = 100, 10  # of 200 and 20 at 640×480, at half the area


@pytest.fixture(scope="module", autouse=True)
def sample_scenes():
    SCENES[:] = [sample_scene(SEED, "train", i) for i in range(40)]


def variant(concepts, k, **rules):
    return sample_scene(SEED, "train", k, SuperClevrRules(concepts=concepts, **rules))


def test_a_scene_is_a_function_of_seed_split_and_index():
    assert sample_scene(SEED, "train", 3) == SCENES[3]
    others = [sample_scene(6, "train", 3), sample_scene(SEED, "val", 3), sample_scene(SEED, "train", 4)]
    assert len({s.content_id() for s in [SCENES[3], *others]}) == 4


def test_counts_run_from_three_to_ten():
    assert {len(s.objects) for s in SCENES} == set(range(3, 11))


def test_margins_are_kept():
    for s in SCENES:
        known = dict(s.directions)
        for i, a in enumerate(s.objects):
            for b in s.objects[:i]:
                offset = np.subtract(a.position, b.position)
                assert abs(offset @ known["right"]) >= RULES.margin
                assert abs(offset @ known["front"]) >= RULES.margin


def test_no_two_vehicles_touch():
    axes = np.array([(np.cos(t), np.sin(t)) for t in np.linspace(0, np.pi, 90)])
    for s in SCENES[:12]:
        flat = [build_scene_mesh([body]).vertices[:, :2] @ axes.T for body in bodies_of(s)]
        for i, one in enumerate(flat):
            for two in flat[:i]:
                gaps = np.maximum(one.min(0) - two.max(0), two.min(0) - one.max(0))
                assert gaps.max() > 0  # some line separates them


def test_vehicles_stand_on_the_ground_and_are_whole_in_the_picture():
    for s in SCENES:
        for body in bodies_of(s):
            vertices = build_scene_mesh([body]).vertices
            assert vertices[:, 2].min() == pytest.approx(0, abs=1e-9)
            x, y, _ = camera_of(s).project(vertices, s.size).T
            assert x.min() >= 0 and y.min() >= 0 and x.max() <= 480 and y.max() <= 320


def test_every_vehicle_and_every_part_of_its_own_is_seen():
    for s in SCENES:
        stage = build_scene_mesh(bodies_of(s))
        seen = measure_visibility(stage, camera_of(s), s.size, part_labels(s, stage.bodies))
        assert seen.visible.min() >= LEAST
        assert [o.box for o in s.objects] == [tuple(map(float, b)) for b in seen.boxes.tolist()]
        for label, part in enumerate((p for o in s.objects for p in o.parts), 1):
            rows, columns = np.nonzero(seen.parts == label)
            assert len(rows) >= LEAST_PART
            left, top, width, height = part.box
            assert (left, top) == (columns.min(), rows.min())
            assert (width, height) == (columns.max() + 1 - left, rows.max() + 1 - top)


def test_parts_have_a_color_of_their_own_and_follow_in_size():
    for o in (o for s in SCENES for o in s.objects):
        names = [p.name for p in o.parts]
        assert len(set(names)) == len(names) <= 3
        assert set(names) <= set(list_parts(load_vehicle(*o.values("shape"))))
        for part in o.parts:
            attributes = dict(part.attributes)
            assert list(attributes) == ["size", "color", "material"]
            assert (attributes["size"],) == o.values("size")
            assert (attributes["color"],) != o.values("color")
    assert Counter(len(o.parts) for s in SCENES for o in s.objects)[3] > 200


def test_concepts_are_even_and_large_vehicles_nearly_so():
    """Concepts are drawn once; only sizes give way where there is no room."""
    things = [o for s in SCENES for o in s.objects]
    for attribute, share in (("material", 1 / 2), ("color", 1 / 8)):
        counts = Counter(o.values(attribute)[0] for o in things)
        assert all(abs(n / len(things) - share) < 0.1 for n in counts.values())
    assert 0.4 < sum(o.values("size") == ("large",) for o in things) / len(things) < 0.6


def test_relations_and_notes_follow_from_the_layout():
    for s in SCENES:
        positions = [o.position for o in s.objects]
        for relation in s.relations:
            assert relation.rows == derive_rows(positions, dict(s.directions)[relation.name])
    assert SCENES[7].id == "superclevr_train_000007"
    assert dict(SCENES[7].notes).keys() == {"image_index", "image_filename", "split", "camera", "lamps"}


def test_a_scene_survives_json():
    again = Scene.from_json(SCENES[0].to_json())
    assert again == SCENES[0]
    assert camera_of(again) == camera_of(SCENES[0])


# Twins


def test_easy_is_mid_without_parts_and_hard_is_mid_with_textures():
    textures: Counter[str] = Counter()
    for k, mid in enumerate(SCENES):
        easy, hard = (visual_twin(mid, level, SEED) for level in ("easy", "hard"))
        if k < 5:
            assert easy == sample_scene(SEED, "train", k, SuperClevrRules(visual="easy"))
            assert hard == sample_scene(SEED, "train", k, SuperClevrRules(visual="hard"))
        assert not any(o.parts or o.texture for o in easy.objects)
        assert visual_complexity.breaches(mid, easy) == visual_complexity.breaches(mid, hard) == []
        textures.update(t for o in hard.objects for t in (o.texture, *(p.texture for p in o.parts)))
    assert set(textures) == {"", "dotted", "checkered", "striped"}
    assert max(textures.values()) < 1.3 * min(textures.values())


@pytest.mark.parametrize("name", ["slt", "long", "head", "tail", "oppo"])
def test_a_distribution_changes_concepts_alone(name):
    concepts = concept_distribution.concepts(name)
    moved = 0
    for k, base in enumerate(SCENES[:8]):
        twin = variant(concepts, k)
        assert concept_distribution.breaches(base, twin) == []
        assert twin == concept_twin(base, SEED, SuperClevrRules(concepts=concepts))
        moved += len(twin.note("moved", ()))
        asked = concepts.frequencies()
        for o in twin.objects:
            assert all(asked[a][v] > 0 for a, v in o.attributes if a != "size")
        assert measure_visibility(build_scene_mesh(bodies_of(twin)), camera_of(twin), twin.size).visible.min() >= LEAST
    assert moved <= 2


@pytest.mark.parametrize("name", ["co-1", "co-2"])
def test_compositionality_changes_colors_alone(name):
    changed = 0
    for k, base in enumerate(SCENES[:10]):
        twin = variant(compositionality.concepts(name), k)
        assert compositionality.breaches(base, twin) == []
        changed += twin != base
    assert changed == 10


def test_what_should_not_differ_is_found():
    base = SCENES[0]
    first, *rest = base.objects
    turned = replace(base, objects=(replace(first, rotation=1.0), *rest))
    smaller = replace(first, attributes=(("size", "tiny"), *first.attributes[1:]))
    assert concept_distribution.breaches(base, turned) == ["rotation of object 0"]
    assert compositionality.breaches(base, turned) == ["rotation of object 0"]
    assert visual_complexity.breaches(base, turned) == ["rotation of object 0"]
    assert concept_distribution.breaches(base, replace(base, objects=(smaller, *rest)))[0] == "size of object 0"
    assert compositionality.breaches(base, replace(base, objects=tuple(rest)))[0] == "number of objects"
    assert visual_complexity.breaches(base, replace(base, size=(2, 2), notes=())) == ["size", "notes"]
    moved = replace(base, notes=(*base.notes, ("moved", (0,))))
    assert visual_complexity.breaches(base, moved) == compositionality.breaches(base, moved) == ["notes"]
    assert concept_distribution.breaches(base, moved) == ["note moved of object 0"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"box": (1.0, 2.0, 3.0, 4.0)}, "box"),
        ({"pixel": (1.0, 2.0, 3.0)}, "pixel"),
        ({"position": (0.0, 0.0, 9.0)}, "height"),
        ({"texture": "dotted"}, "texture"),
        ({"parts": ()}, "parts"),
    ],
)
def test_fields_of_a_vehicle_that_a_distribution_may_not_change(change, found):
    """The same shapes in the same places: nothing follows from the concepts then."""
    base = SCENES[0]
    first, *rest = base.objects
    if "position" in change:
        change = {"position": (*first.position[:2], 9.0)}
    off = replace(base, objects=(replace(first, **change), *rest))
    assert concept_distribution.breaches(base, off) == [f"{found} of object 0"]


def with_part(base, **change):
    first, *rest = base.objects
    part, *others = first.parts
    return replace(base, objects=(replace(first, parts=(replace(part, **change), *others)), *rest))


def test_fields_of_a_part_that_may_not_change():
    base = SCENES[0]
    part = base.objects[0].parts[0]
    tiny = with_part(base, attributes=(("size", "tiny"), *part.attributes[1:]))
    assert concept_distribution.breaches(base, tiny) == [f"size of {part.name} of object 0"]
    taken = with_part(base, attributes=(part.attributes[0], ("color", *base.objects[0].values("color"))))
    assert concept_distribution.breaches(base, taken) == [f"color of {part.name} of object 0"]
    assert compositionality.breaches(base, taken)[-1] == f"{part.name} of object 0"
    boxed = with_part(base, box=(1.0, 2.0, 3.0, 4.0))
    for shift in (visual_complexity, compositionality, concept_distribution):
        assert shift.breaches(base, boxed) == ["parts of object 0"]
    dotted = with_part(base, texture="dotted")
    assert concept_distribution.breaches(base, dotted) == ["part textures of object 0"]
    assert visual_complexity.breaches(base, dotted) == []


def test_a_scene_that_is_not_of_its_level():
    mid = SCENES[0]
    easy, hard = (visual_twin(mid, level, SEED) for level in ("easy", "hard"))
    assert visual_complexity.off_level(mid, easy, "easy") == []
    assert visual_complexity.off_level(mid, hard, "hard") == []
    assert visual_complexity.off_level(mid, hard, "easy") == ["parts", "textures"]
    assert visual_complexity.off_level(mid, easy, "hard") == ["parts"]
    head = variant(concept_distribution.concepts("head"), 0)
    assert concept_distribution.off_level(mid, head, "head") == []
    assert "rubber of object 0" in concept_distribution.off_level(mid, head, "tail")


def test_a_twin_keeps_its_sizes_or_is_refused(refuses):
    """Ten airliners where anything stood: moved, but not made smaller."""
    planes = ConceptDistribution(shape=tuple(1.0 if k == 6 else 0.0 for k in range(21)))
    for k, base in enumerate(SCENES[:12]):
        twin = variant(planes, k)
        assert [o.values("size") for o in twin.objects] == [o.values("size") for o in base.objects]
    with refuses("vehicles at least 20 apart (gap); ask for larger shares of small shapes"):
        concept_twin(SCENES[0], SEED, SuperClevrRules(gap=20.0, arrangements=2, concepts=planes))


def test_a_distribution_of_the_users_own_may_move_vehicles():
    """Planes where bicycles stood have no room: what is moved is named, and all rules hold."""
    planes = ConceptDistribution(shape=tuple(1.0 if k == 0 else 0.0 for k in range(21)))
    moved = 0
    for k, base in enumerate(SCENES[:10]):
        twin = variant(planes, k)
        assert {o.values("shape") for o in twin.objects} == {("jet",)}
        moved += len(twin.note("moved", ()))
        if len(base.objects) < 8:
            assert concept_distribution.breaches(base, twin) == []
        assert measure_visibility(build_scene_mesh(bodies_of(twin)), camera_of(twin), twin.size).visible.min() >= LEAST
    assert moved > 0


def test_other_sizes_scale_the_pixel_rules():
    small = sample_scene(0, "train", 0, SuperClevrRules(size=(240, 160)))
    assert measure_visibility(build_scene_mesh(bodies_of(small)), camera_of(small), (240, 160)).visible.min() >= 25


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (
            SuperClevrRules(pixels=100_000, arrangements=3),
            "at least 100000 visible pixels a vehicle at 640×480 (pixels)",
        ),
        (SuperClevrRules(margin=5.0, arrangements=3), "an offset of at least 5 along each direction (margin)"),
        (SuperClevrRules(gap=20.0, arrangements=3), "vehicles at least 20 apart (gap)"),
        (SuperClevrRules(size=(480, 16), arrangements=3), "whole vehicles in a picture of 480×16 pixels (size)"),
    ],
)
def test_what_can_not_be_met_is_named(refuses, rules, sentence):
    with refuses(sentence):
        sample_scene(0, "train", 0, rules)


def test_silly_rules_are_refused(refuses):
    with refuses("objects must go from 1 to 60 at most, fewest first, not 5 to 3"):
        SuperClevrRules(objects=(5, 3))
    with refuses("no visual level 'middle'; did you mean 'mid'?"):
        SuperClevrRules(visual="middle")


@pytest.mark.full
def test_ten_thousand_scenes_without_a_stuck_sampler():
    for i in range(10_000):
        sample_scene(1, "long", i)

"""Inference over possible scenes, against enumeration of all of them by the exact executor."""

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from random_programs import generate_random_program
from shiftscope.lang.exec import possible_worlds as possible
from shiftscope.lang.exec.exact import Undefined, execute
from shiftscope.lang.exec.packed import PACKED_OPS, execute_many
from shiftscope.lang.exec.possible_worlds import build_most_likely_scenes, truncate_to_word
from shiftscope.lang.exec.soft import execute_soft
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.posterior_calibration import BY_PLACES, SpatialLikelihood
from shiftscope.lang.scene_posterior import ScenePosterior, build_certain_posterior
from shiftscope.lang.text import format_program, parse_program
from shiftscope.rng import derive
from shiftscope.scene import Object, Part, Relation, Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schema import Attribute, Schema
from shiftscope.schemas import clevr, superclevr
from toy import TRAFFIC
from worlds import random_scene

COLOR = Attribute("color", ("red", "green", "blue"), (("warm", ("red", "green")),))
SIZE = Attribute("size", ("small", "large"))
TINY = Schema(
    "tiny",
    (SIZE, COLOR),
    (Attribute("color", ("red", "green", "blue")), Attribute("name", ("door", "wheel"))),
    ("left", "right", "front", "behind"),
)
OPS = tuple(sorted(PACKED_OPS))
ALL = 1 << 14  # more worlds than a tiny scene has
NOISE = SpatialLikelihood("places", ((3.0, 0.0), (0.0, 5.0)), (0.6, 1.0))


def tiny(seed: int, *, parts: bool) -> ScenePosterior:
    """A scene of two objects (one perhaps with a part), all uncertain."""
    rng = derive("tiny beliefs", seed)
    return ScenePosterior(
        schema=TINY,
        size=(640, 480),
        exists=np.array([[1.0, rng.uniform(0.2, 0.9)]]),
        attributes=tuple(rng.dirichlet(np.ones(len(a.values)), (1, 2)) for a in TINY.attributes),
        boxes=rng.uniform(10, 200, (1, 2, 4)),
        part_exists=rng.uniform(0.3, 0.9, (1, 1)) if parts else np.zeros((1, 0)),
        part_owner=rng.integers(0, 2, (1, 1)) if parts else np.zeros((1, 0), np.int64),
        part_attributes=tuple(
            rng.dirichlet(np.ones(len(a.values)), (1, 1 if parts else 0)) for a in TINY.part_attributes
        ),
        places=rng.uniform(-0.6, 0.6, (1, 2, 2)),
    )


def outcomes(beliefs: ScenePosterior, relation: SpatialLikelihood):
    """Every possible scene of a tiny one with its chance, written out the long way."""

    def things(exists, attributes, row, k):
        if exists < 1:
            yield None, 1 - exists
        for values in product(*(range(p.shape[-1]) for p in attributes)):
            yield values, exists * np.prod([p[0, k, v] for p, v in zip(attributes, values, strict=True)])

    beyond = relation.compute_probabilities(beliefs)[0]
    sides = [[(1, beyond[a, 0, 1]), (-1, beyond[a, 1, 0]), (0, 1 - beyond[a, 0, 1] - beyond[a, 1, 0])] for a in (0, 1)]
    objects = [list(things(beliefs.exists[0, k], beliefs.attributes, 0, k)) for k in range(2)]
    parts = [
        list(things(beliefs.part_exists[0, k], beliefs.part_attributes, 0, k))
        for k in range(beliefs.part_exists.shape[1])
    ]
    for chosen in product(*objects, *sides, *parts):
        chance = np.prod([p for _, p in chosen])
        (first, _), (second, _), (x, _), (y, _), *rest = chosen
        made, number = [], {}
        for k, values in enumerate((first, second)):
            if values is None:
                continue
            own = tuple(
                Part(TINY.part_attributes[1].values[v[1]], (("color", TINY.part_attributes[0].values[v[0]]),))
                for p, (v, _) in enumerate(rest)
                if v is not None and beliefs.part_owner[0, p] == k
            )
            pairs = tuple((a.name, a.values[v]) for a, v in zip(TINY.attributes, values, strict=True))
            number[k] = len(made)
            made.append(Object(pairs, parts=own))
        triples = {name: [] for name in TINY.relations}
        if len(made) == 2:
            for side, more, less in ((x, "right", "left"), (y, "front", "behind")):
                if side:
                    subject, target = (1, 0) if side > 0 else (0, 1)
                    triples[more].append((subject, target))
                    triples[less].append((target, subject))
        relations = tuple(Relation.of(name, found, len(made)) for name, found in triples.items())
        yield Scene(tuple(made), relations, schema=TINY), chance


def enumerated(program, scenes):
    """Each answer's share among the scenes that the program is well founded in."""
    weight = defaultdict(float)
    for world, chance in scenes:
        found = execute(program, world).answer
        if not isinstance(found, Undefined):
            weight[found] += chance
    total = sum(weight.values())
    return {k: w / total for k, w in weight.items()} if total > 0 else {}


@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_all_worlds_give_the_answer_of_enumeration(seed, parts):
    beliefs = tiny(seed, parts=parts)
    scenes = [(ExecutionWorld((s,)), p) for s, p in outcomes(beliefs, NOISE)]
    assert sum(p for _, p in scenes) == pytest.approx(1)
    rng = derive("possible", seed, int(parts))
    ops = OPS if parts else tuple(o for o in OPS if o not in ("parts", "owners"))
    programs = [generate_random_program(rng, TINY, ops, depth=4) for _ in range(40)]
    found = possible.infer_answers(programs, beliefs, [0] * 40, relation=NOISE, worlds=ALL, cover=0)
    settled = 0
    for i, program in enumerate(programs):
        shares = enumerated(program, scenes)
        assert found.settled[i] == bool(shares), format_program(program)
        if shares:
            best = max(shares.values())
            assert shares[found[i]] == pytest.approx(best), format_program(program)
            assert found.confidence[i] == pytest.approx(best, abs=1e-5), format_program(program)
            settled += 1
    assert settled > 20


@pytest.mark.parametrize("worlds", [1, 3, 10, 64])
def test_the_likeliest_worlds_are_those_of_enumeration(worlds):
    """A program that tells everything apart sees the K likeliest scenes, with their chances."""
    beliefs = replace(tiny(5, parts=False), exists=np.ones((1, 2)))
    text = (
        "and(and(equal(query(unique(filter(scene(), size=small)), color), query(unique(filter(scene(), size=large)), color)),"
        " exist(relate(unique(filter(scene(), size=small)), right))), exist(relate(unique(filter(scene(), size=small)), front)))"
    )
    chances = sorted((p for _, p in outcomes(beliefs, NOISE)), reverse=True)
    mass = masses([parse_program(text)], beliefs, worlds)
    assert mass[0] == pytest.approx(sum(chances[:worlds]))


def masses(programs, beliefs, worlds):
    """What the likeliest worlds have of the chance, for each program, straight from the loop."""
    from shiftscope.lang.exec import possible_worlds_kernels as _worlds_loop

    caught = []
    kept = _worlds_loop.build_worlds

    def caught_worlds(*given):
        made = kept(*given)
        caught.append(given[-1][2].copy())
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_worlds_loop, "build_worlds", caught_worlds)
        possible.infer_answers(programs, beliefs, [0] * len(programs), relation=NOISE, worlds=worlds, cover=0)
    return caught[0]


def test_what_a_program_can_not_tell_apart_is_one_world():
    beliefs = replace(tiny(5, parts=True), exists=np.ones((1, 2)))
    assert masses([parse_program("count(scene())")], beliefs, 1)[0] == pytest.approx(1)
    assert masses([parse_program("count(filter(scene(), color=red))")], beliefs, 4)[0] == pytest.approx(1)
    assert masses([parse_program("count(filter(scene(), color=warm))")], beliefs, 4)[0] == pytest.approx(1)
    assert masses([parse_program("count(filter(parts(scene()), name=door))")], beliefs, 3)[0] == pytest.approx(1)


def test_sampled_worlds_come_near_to_enumeration_and_to_themselves():
    beliefs = tiny(7, parts=False)
    scenes = [(ExecutionWorld((s,)), p) for s, p in outcomes(beliefs, NOISE)]
    program = parse_program("query(unique(filter(scene(), size=small)), color)")
    asked = {"relation": NOISE, "worlds": 8, "cover": 1.0}
    found = possible.infer_answers([program], beliefs, [0], **asked)
    shares = enumerated(program, scenes)
    assert found.confidence[0] == pytest.approx(shares[found[0]], abs=0.15)
    again = possible.infer_answers([parse_program("count(scene())"), program], beliefs, [0, 0], **asked)
    assert again.confidence[1] == found.confidence[0]


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_certain_beliefs_give_exact_answers(schema):
    ops = OPS if schema.part_attributes else tuple(o for o in OPS if o not in ("parts", "owners"))
    table = pack_scenes([random_scene(schema, k) for k in range(60)])
    worlds = [ExecutionWorld((scene,)) for scene in table]
    rng = derive("possible certain", schema.name)
    programs = [generate_random_program(rng, schema, ops) for _ in range(2000)]
    rows = rng.integers(0, 60, 2000)
    beliefs = build_certain_posterior(table)
    beliefs = replace(beliefs, boxes=rng.uniform(10, 90, beliefs.boxes.shape))
    answers = possible.infer_answers(programs, beliefs, rows, relation=BY_PLACES)
    for i, (program, row) in enumerate(zip(programs, rows, strict=True)):
        expected = execute(program, worlds[row]).answer
        assert answers.settled[i] != isinstance(expected, Undefined), (format_program(program), row)
        if answers.settled[i]:
            assert answers[i] == expected and type(answers[i]) is type(expected), (format_program(program), row)
            assert answers.confidence[i] == 1
    assert not answers.settled.all()


def test_a_question_that_fits_no_scene_is_answered_softly_and_counted():
    beliefs = build_certain_posterior(pack_scenes([TRAFFIC]))
    programs = [parse_program("query(unique(filter(scene(), color=green)), size)"), parse_program("count(scene())")]
    found = possible.infer_answers(programs, beliefs, [0, 0])
    assert found.settled.tolist() == [False, True]
    assert found[0] == execute_soft(programs[:1], beliefs, [0])[0]
    assert found[1] == 3


def test_the_presupposition_corrects_the_parser():
    """Both cars seem blue; that one is red, asked about, is believed over what is seen."""
    base = build_certain_posterior(pack_scenes([TRAFFIC]))
    colors = base.attributes[1].copy()
    red, gray = (
        superclevr.SCHEMA.attributes[1].values.index("red"),
        superclevr.SCHEMA.attributes[1].values.index("gray"),
    )
    colors[0, :] = 0
    colors[0, :, gray] = [0.9, 0.999, 1.0]
    colors[0, :, red] = [0.1, 0.001, 0.0]
    beliefs = replace(base, attributes=(base.attributes[0], colors, *base.attributes[2:]))
    program = parse_program("query(unique(filter(scene(), color=red)), shape)")
    found = possible.infer_answers([program], beliefs, [0])
    assert found[0] == "sedan" and found.confidence[0] > 0.98
    assert isinstance(execute_many([program], build_most_likely_scenes(beliefs), [0])[0], Undefined)


def test_likeliest_reports_what_is_likely():
    base = build_certain_posterior(pack_scenes([TRAFFIC]))
    exists, part_exists = base.exists.copy(), base.part_exists.copy()
    exists[0, 0], part_exists[0, 2] = 0.4, 0.6
    boxes = np.array([[[0, 0, 9, 9], [50, 20, 10, 10], [20, 40, 10, 10]]], np.float32)
    table = build_most_likely_scenes(replace(base, exists=exists, part_exists=part_exists, boxes=boxes))
    (scene,) = table
    assert [dict(o.attributes)["shape"] for o in scene.objects] == ["school", "tandem"]
    assert [[p.name for p in o.parts] for o in scene.objects] == [["roof"], []]
    assert scene.relation("left") == (0b10, 0)  # of the first: the second, whose centre is further left
    assert scene.relation("front") == (0b10, 0)
    assert scene.relation("right") == (0, 0b1)
    texts = ["count(scene())", "query(unique(filter(parts(scene()), name=roof)), color)"]
    answers = execute_many([parse_program(t) for t in texts], table, [0, 0])
    assert [answers[i] for i in range(2)] == [2, "blue"]


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_the_likeliest_of_certain_scenes_are_those_scenes(schema):
    table = pack_scenes([random_scene(schema, k) for k in range(50)])
    found = build_most_likely_scenes(build_certain_posterior(table))
    for scene, again in zip(table, found, strict=True):
        assert [o.attributes for o in again.objects] == [o.attributes for o in scene.objects]
        assert [o.parts for o in again.objects] == [o.parts for o in scene.objects]


def test_a_hundred_objects_leave_the_sixty_four_likeliest():
    rng = derive("many")
    many = ScenePosterior(
        TINY, (640, 480), rng.permutation(100)[None] / 100,
        tuple(rng.dirichlet(np.ones(len(a.values)), (1, 100)) for a in TINY.attributes),
        rng.uniform(0, 90, (1, 100, 4)), np.full((1, 70), 0.9), rng.integers(0, 100, (1, 70)),
        tuple(rng.dirichlet(np.ones(len(a.values)), (1, 70)) for a in TINY.part_attributes),
    )  # fmt: skip
    kept = truncate_to_word(many)
    assert kept.exists.min() == 0.36
    at = int(np.flatnonzero(kept.part_exists[0])[0])
    assert (kept.boxes[0, kept.part_owner[0, at]] == many.boxes[0, many.part_owner[0, at]]).all()
    assert len(build_most_likely_scenes(many)[0].objects) == 49  # those above 0.5


def test_a_scene_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="not in the posterior"):
        possible.infer_answers([parse_program("count(scene())")], build_certain_posterior(pack_scenes([TRAFFIC])), [1])

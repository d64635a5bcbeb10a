"""NS-CL: differentiable programs give the answers of soft execution, and gradients; lessons grow longer."""

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

from lazy import lazy
from shiftscope.lang.exec.soft import execute_soft
from shiftscope.lang.program import ProgramError
from shiftscope.lang.scene_posterior import ScenePosterior, build_certain_posterior
from shiftscope.lang.text import parse_program
from shiftscope.models.nscl.training import NEVER, ConceptStage, ProgramData, ProgramExamples, find_place, give_answer
from shiftscope.scene import load_schema
from shiftscope.scene_table import pack_scenes
from shiftscope.suites import load_suite

execution = lazy("shiftscope.models.nscl.execution")
network = lazy("shiftscope.models.nscl.network")
regions = lazy("shiftscope.models.nsvqa.scene_parser.regions")
torch = lazy("torch")

SCHEMA = load_schema("superclevr")


@cache
def ask():
    """Scenes with all their questions, each with the number of its scene."""
    suite = load_suite("superclevr")
    spec = suite.spec.from_variant("", "")
    scenes = suite.sample_scenes(spec, "train", 0, range(8))
    place = {scene.id: k for k, scene in enumerate(scenes)}
    questions = list(suite.ask(spec, "train", 0, scenes))
    return scenes, questions, np.array([place[q.scenes[0]] for q in questions])


@cache
def make_certain_posterior():
    """With the relations that the scenes have."""
    scenes, _, _ = ask()
    certain = build_certain_posterior(pack_scenes(scenes)).to("cpu")
    width, relations = certain.exists.shape[1], execution.ConceptLowering(SCHEMA).relations
    pairs = torch.zeros(len(scenes), len(relations), width, width)
    for k, scene in enumerate(scenes):
        for r, name in enumerate(relations):
            for i, row in enumerate(scene.relation(name)):
                pairs[k, r, i] = torch.tensor([row >> j & 1 for j in range(width)])
    held = {f.name: getattr(certain, f.name) for f in fields(ScenePosterior)}
    return network.ConceptPosterior(**held, relations=pairs)


def answer(posterior, programs, rows):
    lowered = execution.ConceptLowering(SCHEMA)(programs, rows)
    return network.answer_programs(posterior, execution.schedule_programs(lowered))


def test_every_question_has_its_true_answer_in_a_certain_scene():
    _, questions, rows = ask()
    programs = [q.program for q in questions]
    chances = answer(make_certain_posterior(), programs, rows)
    found = [give_answer(p, k, SCHEMA) for p, k in zip(programs, chances.argmax(1).tolist(), strict=True)]
    assert found == [q.answer for q in questions]
    assert float(chances.max(1).values.min()) > 0.999
    assert {n.op for p in programs for n in p.nodes} >= {"owners", "same", "union", "intersect", "less", "relate"}


def test_answers_are_those_of_soft_execution():
    _, questions, rows = ask()
    kept = [k for k, q in enumerate(questions) if all(n.op != "relate" for n in q.program.nodes)]
    programs, rows = [questions[k].program for k in kept], rows[kept]
    soft = execute_soft(programs, build_certain_posterior(pack_scenes(ask()[0])), rows)
    found = answer(make_certain_posterior(), programs, rows).argmax(1).tolist()
    assert [give_answer(p, k, SCHEMA) for p, k in zip(programs, found, strict=True)] == [
        soft[i] for i in range(len(kept))
    ]


def test_an_answer_reaches_attributes_and_relations():
    certain = make_certain_posterior()
    soft = certain.map_arrays(lambda a: (a * 0.8 + 0.05).requires_grad_() if a.is_floating_point() else a)
    program = parse_program("query(unique(relate(unique(filter(scene(), color=red)), left)), shape)")
    answer(soft, [program], [0])[0, 0].log().backward()
    color, shape = (next(k for k, a in enumerate(SCHEMA.attributes) if a.name == n) for n in ("color", "shape"))
    assert soft.attributes[color].grad[0].abs().sum() > 0 and soft.attributes[shape].grad[0].abs().sum() > 0
    assert soft.relations.grad[0].abs().sum() > 0 and soft.relations.grad[1].abs().sum() == 0


def test_a_count_is_the_distribution_of_how_many_are_in():
    members = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.25, 0.0]])
    assert execution.count_members(members).tolist() == [[0.25, 0.5, 0.25, 0.0], [0.0, 0.75, 0.25, 0.0]]


def test_what_has_no_differentiable_meaning_is_refused_by_name():
    program = parse_program("verify(unique(filter(scene(), color=red)), shape=car)")
    with pytest.raises(ProgramError, match=r"verify.*differentiable execution does not cover"):
        execution.ConceptLowering(SCHEMA).prepare([program])


def test_places_of_answers_are_those_that_the_program_gives():
    count, shape = parse_program("count(scene())"), parse_program("query(unique(scene()), shape)")
    assert find_place(count, 3, SCHEMA) == 3 and find_place(count, True, SCHEMA) == NEVER
    assert give_answer(shape, find_place(shape, "suv", SCHEMA), SCHEMA) == "suv"
    assert find_place(shape, "red", SCHEMA) == NEVER


def make_examples():
    _, questions, rows = ask()
    programs = [q.program for q in questions]
    prepared = execution.ConceptLowering(SCHEMA).prepare(programs)
    targets = np.array([find_place(q.program, q.answer, SCHEMA) for q in questions])
    seen, there = torch.Generator().manual_seed(0), make_certain_posterior()
    codes = torch.cat(there.attributes, -1)[:, :, : regions.MOST]
    part_codes = torch.cat(there.part_attributes, -1)
    noise = torch.randn(*codes.shape, generator=seen) * 0.1
    held = regions.Regions(
        *((480, 320), there.exists, there.boxes, (codes + noise).half()),
        *(there.part_exists, there.boxes.gather(1, there.part_owner[..., None].expand(-1, -1, 4))),
        *(part_codes.half(), there.part_owner),
    )
    return ProgramExamples(ProgramData(held, prepared, targets, rows, np.zeros(len(rows), bool)), "cpu")


def test_lessons_begin_with_the_shortest_programs():
    examples = make_examples()
    first, last = examples.lesson(0.0), examples.lesson(0.9)
    batches = first.epoch(32, np.random.default_rng(0))
    assert len(batches) == len(examples) // 32 and {len(rows) for rows in batches} == {32}
    assert examples.long[np.concatenate(batches)].max() <= np.quantile(examples.long, 0.15, method="higher")
    assert sorted(np.concatenate(last.epoch(1, np.random.default_rng(0)))) == list(range(len(examples)))


def test_concepts_are_learned_from_answers():
    examples = make_examples()
    torch.manual_seed(0)
    held = examples.data.regions
    config = network.ConceptConfig(SCHEMA, held.features.shape[2], held.part_features.shape[2], hidden=32)
    module = network.ConceptSpace(network.ConceptConfig.from_json(config.to_json()))
    optimizer = torch.optim.Adam(module.parameters(), 1e-2)
    batch, losses = examples.batch(torch.arange(len(examples))), []
    for _ in range(12):
        chances = network.answer_programs(module(batch.regions), batch.programs)
        losses.append(-(chances.gather(1, batch.targets[:, None]) + 1e-8).log().mean())
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.8 * losses[0]


def test_a_batch_whose_programs_look_at_nothing_teaches_nothing():
    """As a question parser that has hardly learned makes them: how many things are there?"""
    examples = make_examples()
    prepared = execution.ConceptLowering(SCHEMA).prepare([parse_program("count(scene())")] * len(examples))
    held = replace(examples, data=replace(examples.data, programs=prepared))
    batch = held.batch(torch.arange(2))
    numbers = batch.regions.features.shape[-1], batch.regions.part_features.shape[-1]
    module = network.ConceptSpace(network.ConceptConfig(SCHEMA, *numbers))
    loss, _ = ConceptStage().loss(module, batch)
    loss.backward()
    assert not module.relations.grad.any()

"""Possible-worlds inference: the most probable answer, over the scenes that the question fits.

Independent probabilities: that each object and part exists, what it is, and on which side of each other two
objects stand. A question is run on the K most likely joint outcomes (exactly those of what it mentions) and,
where these leave much out, on sampled ones, which share the rest. Scenes in which a reference fails do not
count: the answer is conditioned on what the question presupposes, which the product rules of soft execution
cannot do. Also the single most likely scene of each posterior, as a SceneTable (what NSVQA executes on).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...scene_table import ABSENT, WORD, SceneTable, Terms, term_masks
from ...schema import Schema
from ..execution_world import PAPER, PIXELS, SIDES, SoftRules
from ..posterior_calibration import SpatialLikelihood, build_centre_likelihood, choose_default_likelihood
from ..scene_posterior import OBJECT_FIELDS, PART_FIELDS, ScenePosterior
from .packed import LoweredPrograms, PreparedPrograms, ProgramLowering, Programs, ResultTypes, gather_words, run_lowered
from .soft import SoftAnswers, execute_soft

Bits = NDArray[np.uint64]


def build_most_likely_scenes(
    posterior: ScenePosterior, detected: float = PAPER.detected, relation: SpatialLikelihood | None = None
) -> SceneTable:
    """Things whose `exists` is above `detected`, each with its likeliest values and sides.

    Without a likelihood of relations sides are those of box centres: further down in the image is in front.
    """
    known = truncate_to_word(posterior.to_numpy())
    schema = known.schema
    terms, part_terms = Terms.of(schema.attributes), Terms.of(schema.part_attributes)
    there = known.exists > detected
    owner = known.part_owner.clip(0, max(there.shape[1] - 1, 0))
    part_there = known.part_exists > detected
    if there.shape[1]:
        part_there = part_there & np.take_along_axis(there, owner, 1)
    start, part_start = _compute_starts(there), _compute_starts(part_there)
    codes = find_most_likely_codes(known.attributes, terms)
    part_codes = find_most_likely_codes(known.part_attributes, part_terms)
    bits, part_bits = _assign_bits(there), _assign_bits(part_there)
    number = np.cumsum(there, 1) - 1
    scene, local = np.nonzero(there)
    part_scene, part_local = np.nonzero(part_there)
    owners = np.take_along_axis(number, owner, 1)[part_there] if there.shape[1] else np.zeros(0, np.int64)
    parts_of = np.zeros(len(scene), np.uint64)
    np.bitwise_or.at(parts_of, start[part_scene] + owners, part_bits[part_scene, part_local])
    knows = np.array([name in SIDES for name in schema.relations], np.bool_)
    numbers = np.full((len(scene), 11), np.nan)
    numbers[:, 7:] = known.boxes[scene, local]
    stored = tuple(name for name in schema.relations if name in SIDES)
    same = {"size": known.size, "directions": (), "attributes": (), "notes": (), "stored": stored}
    sides = tuple(
        same | {"id": str(k), "object_ids": ("",) * n, "textures": ("",) * n, "part_looks": (("", None),) * m}
        for k, (n, m) in enumerate(zip(there.sum(1).tolist(), part_there.sum(1).tolist(), strict=True))
    )
    return SceneTable(
        schema=schema,
        terms=terms,
        part_terms=part_terms,
        relations=schema.relations,
        start=start,
        codes=codes[scene, local],
        masks=term_masks(codes[scene, local], start, terms),
        everything=np.bitwise_or.reduce(bits, axis=1, initial=np.uint64(0)),
        rows=_compute_relation_rows(known, bits, relation)[scene, local],
        knows=np.repeat(knows[None], len(known), 0),
        part_start=part_start,
        part_codes=part_codes[part_scene, part_local],
        part_masks=term_masks(part_codes[part_scene, part_local], part_start, part_terms),
        owner=owners.astype(np.int64),
        parts_of=parts_of,
        numbers=numbers,
        sides=sides,
    )


def truncate_to_word(posterior: ScenePosterior) -> ScenePosterior:
    """The same with no more rows of objects, and of parts, than a mask has bits: the likeliest stay."""

    def choose_rows(exists: NDArray[np.float32]) -> NDArray[np.int64]:
        return np.sort(np.argsort(-exists, 1, kind="stable")[:, :WORD], 1)

    def take_rows(kept: NDArray[np.int64]) -> Callable[[NDArray[Any]], NDArray[Any]]:
        return lambda array: np.take_along_axis(array, kept if array.ndim == 2 else kept[:, :, None], 1)

    if posterior.exists.shape[1] > WORD:
        kept = choose_rows(posterior.exists)
        owned = kept[:, None, :] == posterior.part_owner[:, :, None]
        posterior = replace(
            posterior.map_fields(OBJECT_FIELDS, take_rows(kept)),
            part_owner=owned.argmax(2),
            part_exists=posterior.part_exists * owned.any(2),
        )
    if posterior.part_exists.shape[1] > WORD:
        posterior = posterior.map_fields(PART_FIELDS, take_rows(choose_rows(posterior.part_exists)))
    return posterior


def find_most_likely_codes(attributes: tuple[NDArray[np.float32], ...], terms: Terms) -> NDArray[np.int16]:
    """[scene, thing, attribute] code of the likeliest value; ABSENT where no value has any chance."""
    columns = [
        np.where(p.max(-1, initial=0) > 0, p.argmax(-1) + first, ABSENT)
        for p, first in zip(attributes, terms.first, strict=True)
    ]
    return np.stack(columns, -1).astype(np.int16) if columns else np.zeros((0, 0, 0), np.int16)


def _compute_starts(there: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(there.sum(1, dtype=np.int64))])


def _assign_bits(there: NDArray[np.bool_]) -> Bits:
    """[scene, thing] the bit of the thing's number among those that are there."""
    numbers = (np.cumsum(there, 1) - 1).clip(0).astype(np.uint64)
    return np.where(there, np.uint64(1) << numbers, np.uint64(0))


def _compute_relation_rows(posterior: ScenePosterior, bits: Bits, relation: SpatialLikelihood | None) -> Bits:
    """[scene, object, relation] the objects that stand in the relation to this one."""
    centres = posterior.boxes[:, :, :2] + posterior.boxes[:, :, 2:] / 2
    beyond = relation.compute_probabilities(posterior) if relation else None
    rows = np.zeros((*bits.shape, len(posterior.schema.relations)), np.uint64)
    for r, name in enumerate(posterior.schema.relations):
        if name in SIDES:
            axis, sign = SIDES[name]
            if beyond is None:
                ahead = sign * (centres[:, None, :, axis] - centres[:, :, None, axis]) > 0
            else:
                ahead = (beyond[:, axis] if sign > 0 else beyond[:, axis].swapaxes(1, 2)) > 0.5
            rows[:, :, r] = np.where(ahead, bits[:, None, :], np.uint64(0)).sum(2, dtype=np.uint64)
    return rows


# The rule of `relate` as soft execution has it; each of two opposite sides counts by its share of both.
BY_PAPER = build_centre_likelihood((PAPER.b * PIXELS[0], PAPER.b * PIXELS[1]), (-PAPER.a * PAPER.b,) * 2)

MAX_WORLDS = 32  # 16 and 64 answered as well on a trained parser's posterior, at twice and half the speed
MIN_COVERAGE = 0.1  # the likeliest worlds with less of the chance than this get sampled ones beside them
RETRY_FACTORS = (8,)  # times as many worlds for a question that fits none of them; more settle hardly any
ROWS = 1 << 14  # worlds built at a time; bounds the memory


def prepare_programs(programs: Programs, schema: Schema) -> PreparedPrograms:
    """Programs lowered for `infer_answers`, to be run in several calls."""
    return ProgramLowering(schema, [name for name in schema.relations if name in SIDES]).prepare(programs)


def infer_answers(
    programs: Programs,
    posterior: ScenePosterior,
    rows: Iterable[int] | NDArray[np.int64],
    *,
    relation: SpatialLikelihood | None = None,
    worlds: int = MAX_WORLDS,
    cover: float = MIN_COVERAGE,
    rules: SoftRules = PAPER,
) -> SoftAnswers:
    """Answer program i of the scene posterior in row `rows[i]`; `confidence` is the answer's share of the worlds.

    Where no world fits, more are tried; where none of those does, the soft rules answer, `settled` is False.
    """
    known = truncate_to_word(posterior.to_numpy()).pad()
    scene = np.fromiter(rows, np.int64) if not isinstance(rows, np.ndarray) else rows
    if len(scene) and int(scene.max()) >= len(known):
        raise ValueError("a program names a scene that is not in the posterior")
    prepared = prepare_programs(programs, known.schema)
    lowered = prepared.assign_scenes(scene)
    size = len(lowered)
    value, confidence = np.zeros(size, np.int64), np.zeros(size, np.float32)
    settled, exhaustive = np.zeros((2, size), np.bool_)  # any world fits; no other world is worth a thought
    inference = _PossibleWorldsInference(known, prepared.relations, relation or choose_default_likelihood(known))
    todo = np.arange(size)  # places in `lowered`
    for times in (1, *RETRY_FACTORS):
        most = worlds * times
        step = min(max(1, ROWS // (2 * most)), max(len(todo), 1))
        table = inference.allocate_table(2 * most * step)
        for i in range(0, len(todo), step):
            at = lowered.order[todo[i : i + step]]
            found = inference.run(lowered, todo[i : i + step], most, cover, table)
            value[at], confidence[at], settled[at], exhaustive[at] = found
        at = lowered.order[todo]
        todo = todo[~settled[at] & ~exhaustive[at]]
        if not len(todo):
            break
    rest = np.flatnonzero(~settled)
    if len(rest):
        soft = execute_soft(prepared.take(rest), known, scene[rest], rules)
        value[rest], confidence[rest] = soft.value, soft.confidence
    return SoftAnswers(value, confidence, settled, lowered.kinds, inference.terms, inference.part_terms)


class _PossibleWorldsInference:
    """A posterior in the layout of the compiled loop."""

    def __init__(self, posterior: ScenePosterior, relations: tuple[str, ...], relation: SpatialLikelihood) -> None:
        self.schema, self.relations = posterior.schema, relations
        self.terms, self.part_terms = Terms.of(self.schema.attributes), Terms.of(self.schema.part_attributes)
        self.objects, self.parts = posterior.exists.shape[1], posterior.part_exists.shape[1]
        self.posterior = (
            np.ascontiguousarray(posterior.exists, np.float64),
            _scatter_to_terms(posterior.attributes, self.terms),
            np.ascontiguousarray(posterior.part_exists, np.float64),
            np.ascontiguousarray(posterior.part_owner.clip(0, self.objects - 1), np.int64),
            _scatter_to_terms(posterior.part_attributes, self.part_terms),
            _share_sides(relation.compute_probabilities(posterior)),
        )
        axes, signs = zip(*(SIDES[name] for name in relations), strict=True) if relations else ((), ())
        self.vocabulary = (
            _encode_vocabulary(self.terms),
            _encode_vocabulary(self.part_terms),
            (np.array(axes, np.int64), np.array(signs, np.int64)),
        )

    def run(
        self, lowered: LoweredPrograms, places: NDArray[np.int64], worlds: int, cover: float, table: SceneTable
    ) -> tuple[NDArray[Any], ...]:
        """For each of those programs the answer, its share, whether any world fits, and whether all were tried."""
        from .possible_worlds_kernels import build_worlds, weigh_answers

        count = len(places)
        start = lowered.start.astype(np.int64)
        words, begin = gather_words(lowered.words, start[places], start[places + 1])
        weight, mass = np.zeros(2 * worlds * count), np.zeros(count)
        first_world = np.zeros(count + 1, np.int64)
        made = build_worlds(
            (words, begin, lowered.scene[places].astype(np.int64)),
            self.posterior,
            self.vocabulary,
            worlds,
            float(cover),
            (
                *(table.codes, table.masks, table.everything, table.rows),
                *(table.part_codes, table.part_masks, table.owner, table.parts_of),
            ),
            (weight, first_world, mass),
        )
        program = np.repeat(np.arange(count), np.diff(first_world))
        all_words, all_begin = gather_words(words, begin[program], begin[program + 1])
        each, kinds = np.arange(made), ResultTypes((), np.zeros(0, np.int64))
        every = LoweredPrograms(
            self.schema, all_words, all_begin.astype(np.uint64), each.astype(np.uint64), each, kinds
        )
        found = run_lowered(every, table)
        answers = np.zeros(count, np.int64), np.zeros(count, np.float32), np.zeros(count, np.bool_)
        weigh_answers(first_world, weight, found.value, found.reason, answers)
        return *answers, mass > 1 - 1e-9

    def allocate_table(self, worlds: int) -> SceneTable:
        """A table for that many worlds; every row has room for all objects and parts."""
        n, m = self.objects, self.parts
        return SceneTable(
            schema=self.schema,
            terms=self.terms,
            part_terms=self.part_terms,
            relations=self.relations,
            start=np.arange(worlds + 1) * n,
            codes=np.empty((worlds * n, len(self.terms.attributes)), np.int16),
            masks=np.empty((worlds, len(self.terms.names)), np.uint64),
            everything=np.empty(worlds, np.uint64),
            rows=np.empty((worlds * n, len(self.relations)), np.uint64),
            knows=np.ones((worlds, len(self.relations)), np.bool_),
            part_start=np.arange(worlds + 1) * m,
            part_codes=np.empty((worlds * m, len(self.part_terms.attributes)), np.int16),
            part_masks=np.empty((worlds, len(self.part_terms.names)), np.uint64),
            owner=np.empty(worlds * m, np.int64),
            parts_of=np.empty(worlds * n, np.uint64),
            numbers=np.empty((0, 11)),
            sides=(),
        )


def _share_sides(beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """[scene, axis, first, second] the same, with no more than 1 for two opposite sides together."""
    return np.ascontiguousarray(beyond / np.maximum(beyond + beyond.swapaxes(2, 3), 1.0))


def _scatter_to_terms(attributes: tuple[NDArray[Any], ...], terms: Terms) -> NDArray[np.float64]:
    """[scene, thing, term] chance of each value, at its code; 0 at the codes of kinds."""
    if not attributes:
        return np.zeros((1, 1, 1))
    found = np.zeros((*attributes[0].shape[:2], len(terms.names)))
    for p, first in zip(attributes, terms.first, strict=True):
        found[:, :, first : first + p.shape[-1]] = p
    return found


def _encode_vocabulary(terms: Terms) -> tuple[NDArray[Any], ...]:
    """[term] its attribute; [term, value] whether it takes that in; [attribute] first value, how many."""
    size = len(terms.names)
    attribute_of = np.zeros(size, np.int64)
    contains = np.eye(size, dtype=np.bool_)
    for column, (attribute, first) in enumerate(zip(terms.attributes, terms.first, strict=True)):
        attribute_of[first : first + len(attribute.terms)] = column
        for kind, members in attribute.kinds:
            for value in members:
                contains[terms.code[attribute.name, kind], terms.code[attribute.name, value]] = True
    counts = np.array([len(a.values) for a in terms.attributes], np.int64)
    return attribute_of, contains, np.array(terms.first, np.int64), counts

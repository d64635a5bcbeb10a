"""The likeliest scene of each Beliefs: what a parser without doubts would report, as a SceneTable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...scenetable import ABSENT, WORD, SceneTable, Terms, term_masks
from ..beliefs import Beliefs
from ..soft_world import PAPER, SIDES

Bits = NDArray[np.uint64]


def likeliest(beliefs: Beliefs, detected: float = PAPER.detected) -> SceneTable:
    """Things whose `exists` is above `detected`, each with its likeliest values; sides by box centres.

    One thing stands left of another when its centre does; further down in the image is in front.
    """
    known = at_most_a_word(beliefs.numpy())
    schema = known.schema
    terms, part_terms = Terms.of(schema.attributes), Terms.of(schema.part_attributes)
    there = known.exists > detected
    owner = known.part_owner.clip(0, max(there.shape[1] - 1, 0))
    part_there = known.part_exists > detected
    if there.shape[1]:
        part_there = part_there & np.take_along_axis(there, owner, 1)
    start, part_start = _starts(there), _starts(part_there)
    codes, part_codes = (
        likeliest_codes(known.attributes, terms),
        likeliest_codes(known.part_attributes, part_terms),
    )
    bits, part_bits = _bits(there), _bits(part_there)
    number = np.cumsum(there, 1) - 1
    scene, local = np.nonzero(there)
    part_scene, part_local = np.nonzero(part_there)
    owners = np.take_along_axis(number, owner, 1)[part_there] if there.shape[1] else np.zeros(0, np.int64)
    parts_of = np.zeros(len(scene), np.uint64)
    np.bitwise_or.at(parts_of, start[part_scene] + owners, part_bits[part_scene, part_local])
    knows = np.array([name in SIDES for name in schema.relations], np.bool_)
    numbers = np.full((len(scene), 11), np.nan)
    numbers[:, 7:] = known.boxes[scene, local]
    return SceneTable(
        schema=schema,
        terms=terms,
        part_terms=part_terms,
        relations=schema.relations,
        start=start,
        codes=codes[scene, local],
        masks=term_masks(codes[scene, local], start, terms),
        everything=np.bitwise_or.reduce(bits, axis=1, initial=np.uint64(0)),
        rows=_rows(known, bits)[scene, local],
        knows=np.repeat(knows[None], len(known), 0),
        part_start=part_start,
        part_codes=part_codes[part_scene, part_local],
        part_masks=term_masks(part_codes[part_scene, part_local], part_start, part_terms),
        owner=owners.astype(np.int64),
        parts_of=parts_of,
        numbers=numbers,
        sides=_sides(known, np.diff(start), np.diff(part_start)),
    )


def at_most_a_word(beliefs: Beliefs) -> Beliefs:
    """The same with no more rows of objects, and of parts, than a mask has bits: the likeliest stay."""
    found = beliefs
    if beliefs.exists.shape[1] > WORD:
        kept = np.sort(np.argsort(-beliefs.exists, 1, kind="stable")[:, :WORD], 1)
        renumbered = (kept[:, None, :] == beliefs.part_owner[:, :, None]).argmax(2)
        stays = (kept[:, None, :] == beliefs.part_owner[:, :, None]).any(2)
        found = replace(
            found,
            exists=np.take_along_axis(beliefs.exists, kept, 1),
            attributes=tuple(np.take_along_axis(a, kept[:, :, None], 1) for a in beliefs.attributes),
            boxes=np.take_along_axis(beliefs.boxes, kept[:, :, None], 1),
            places=None
            if beliefs.places is None
            else np.take_along_axis(beliefs.places, kept[:, :, None], 1),
            part_owner=renumbered,
            part_exists=beliefs.part_exists * stays,
        )
    if found.part_exists.shape[1] > WORD:
        kept = np.sort(np.argsort(-found.part_exists, 1, kind="stable")[:, :WORD], 1)
        found = replace(
            found,
            part_exists=np.take_along_axis(found.part_exists, kept, 1),
            part_owner=np.take_along_axis(found.part_owner, kept, 1),
            part_attributes=tuple(np.take_along_axis(a, kept[:, :, None], 1) for a in found.part_attributes),
        )
    return found


def likeliest_codes(attributes: tuple[NDArray[np.float32], ...], terms: Terms) -> NDArray[np.int16]:
    """[scene, thing, attribute] code of the likeliest value; ABSENT where no value has any chance."""
    columns = [
        np.where(p.max(-1, initial=0) > 0, p.argmax(-1) + first, ABSENT)
        for p, first in zip(attributes, terms.first, strict=True)
    ]
    return np.stack(columns, -1).astype(np.int16) if columns else np.zeros((0, 0, 0), np.int16)


def _starts(there: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(there.sum(1, dtype=np.int64))])


def _bits(there: NDArray[np.bool_]) -> Bits:
    """[scene, thing] the bit of the thing's number among those that are there."""
    numbers = (np.cumsum(there, 1) - 1).clip(0).astype(np.uint64)
    return np.where(there, np.uint64(1) << numbers, np.uint64(0))


def _rows(beliefs: Beliefs, bits: Bits) -> Bits:
    """[scene, object, relation] the objects that stand in the relation to this one."""
    centres = beliefs.boxes[:, :, :2] + beliefs.boxes[:, :, 2:] / 2
    rows = np.zeros((*bits.shape, len(beliefs.schema.relations)), np.uint64)
    for r, name in enumerate(beliefs.schema.relations):
        if name in SIDES:
            axis, sign = SIDES[name]
            ahead = sign * (centres[:, None, :, axis] - centres[:, :, None, axis]) > 0
            rows[:, :, r] = np.where(ahead, bits[:, None, :], np.uint64(0)).sum(2, dtype=np.uint64)
    return rows


def _sides(beliefs: Beliefs, objects: NDArray[np.int64], parts: NDArray[np.int64]) -> tuple[dict, ...]:  # type: ignore[type-arg]
    stored = tuple(name for name in beliefs.schema.relations if name in SIDES)
    same = {"size": beliefs.size, "directions": (), "attributes": (), "notes": (), "stored": stored}
    return tuple(
        same | {"id": str(k), "object_ids": ("",) * n, "textures": ("",) * n, "part_looks": (("", None),) * m}
        for k, (n, m) in enumerate(zip(objects.tolist(), parts.tolist(), strict=True))
    )

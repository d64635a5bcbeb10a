"""Mirroring: an image seen in a mirror, with all that its labels say of left and right."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import torch

from ...schema import Schema
from .labels import Batch

Names = tuple[torch.Tensor | None, ...]  # for each part attribute [value] what it is in a mirror

_SIDE = re.compile(r"(?<![a-z])(left|right)(?![a-z])")


@cache
def mirrored_names(schema: Schema) -> tuple[tuple[int, ...], ...]:
    """For each part attribute, what each value is in a mirror: left_mirror is right_mirror."""
    tables = []
    for attribute in schema.part_attributes:
        number = {value: k for k, value in enumerate(attribute.values)}
        tables.append(tuple(number.get(_mirrored(value), k) for value, k in number.items()))
    return tuple(tables)


@cache
def names_on(schema: Schema, device: torch.device) -> Names:
    """The same as tensors; None where a mirror changes nothing."""
    return tuple(
        None if table == tuple(range(len(table))) else torch.tensor(table, dtype=torch.int16, device=device)
        for table in mirrored_names(schema)
    )


def mirror(batch: Batch, names: Names, which: torch.Tensor) -> Batch:
    """The batch with the images of `which` ([image] bool, on the batch's device) mirrored."""
    labels, width = batch.labels, batch.images.shape[2]
    images = torch.where(which[:, None, None, None], batch.images.flip(2), batch.images)
    codes = labels.part_attributes
    if codes.shape[1]:
        columns = []
        for column, table in enumerate(names):
            old = codes[..., column]
            if table is None:
                columns.append(old)
                continue
            new = table[old.clamp(min=0).long()]
            columns.append(torch.where(which[:, None] & (old >= 0), new, old))
        codes = torch.stack(columns, -1)
    sign = torch.where(which, -1.0, 1.0)[:, None]
    return Batch(
        images,
        replace(
            labels,
            boxes=_boxes(labels.boxes, width, which),
            places=torch.stack([labels.places[..., 0] * sign, labels.places[..., 1]], -1),
            part_boxes=_boxes(labels.part_boxes, width, which),
            part_attributes=codes,
        ),
    )


def _mirrored(name: str) -> str:
    return _SIDE.sub(lambda found: "right" if found[0] == "left" else "left", name)


def _boxes(boxes: torch.Tensor, width: int, which: torch.Tensor) -> torch.Tensor:
    """Boxes from the other side; those of no width stand for nothing and stay."""
    left, top, across, down = boxes.unbind(-1)
    turned = torch.where(which[:, None] & (across > 0), width - left - across, left)
    return torch.stack([turned, top, across, down], -1)

"""What the grid that `film` and `cnn_lstm` look at tells of a vehicle: `python -m benchmarks.grid_probe [--images N]`.

A small network reads each attribute of a vehicle off the cell in which the middle of its box lies, or off that cell and
the eight around it, of the shipped scene parser's features. A fifth of the images is held out. What it reads well is
there for whoever knows where to look; what a model over the grid answers worse, it does not find.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.table import table
from shiftscope.models.end_to_end.image_features import SHIPPED, STRIDE, describe_features, load_features
from shiftscope.train.data import TRAIN, gather_split, open_training_data
from shiftscope.trainable import IMAGES, SCENES, TrainStage

TOGETHER = 8  # images
EPOCHS, BATCH, HIDDEN = 12, 256, 256
AROUND = {"one cell": 0, "nine cells": 1}


class SceneStage(TrainStage):
    """Learns nothing: its examples are the scenes."""

    name = "scenes"
    supervision = frozenset((IMAGES, SCENES))

    def collect(self, scenes: Any, questions: Any) -> list[Any]:
        return list(scenes)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--images", type=int, default=1500)
    options.add_argument("--workers", type=int, default=2)
    given = options.parse_args()
    data = open_training_data("superclevr", images=given.images)
    split = gather_split(data, TRAIN, [SceneStage()], device="cpu", workers=given.workers)
    scenes, about = split.supervision["scenes"], describe_features(SHIPPED, data.schema)
    features, pixels = load_features(about, SHIPPED), torch.from_numpy(np.asarray(split.pixels))
    with torch.no_grad():
        grid = torch.cat([features(pixels[k : k + TOGETHER]).half() for k in range(0, len(pixels), TOGETHER)])
    at, held = [], []
    for k, scene in enumerate(scenes):
        for one in scene.objects:
            x, y, width, height = one.box
            row = min(int((y + height / 2) / STRIDE), grid.shape[1] - 1)
            at.append((k, row, min(int((x + width / 2) / STRIDE), grid.shape[2] - 1)))
            held.append(k % 5 == 0)
    places, tested = torch.tensor(at), torch.tensor(held)
    rows = []
    for name in (attribute.name for attribute in data.schema.attributes):
        values = [one.values(name)[0] for scene in scenes for one in scene.objects]
        known = sorted(set(values))
        target = torch.tensor([known.index(value) for value in values])
        most = target[tested].bincount().max().item() / int(tested.sum())
        seen = [f"{100 * probe(read_cells(grid, places, reach), target, tested):.1f}" for reach in AROUND.values()]
        rows.append((name, len(known), f"{100 * most:.1f}", *seen))
        print(rows[-1], flush=True)
    title = (
        f"Read off the grid: {int((~tested).sum()):,} vehicles to learn from, {int(tested.sum()):,} held out, right %"
    )
    table(title, ("attribute", "values", "most frequent", *AROUND), rows)


def read_cells(grid: Tensor, places: Tensor, reach: int) -> Tensor:
    """[vehicle, number] the features of its cell and of those so near; of those outside the image zeros."""
    wide = nn.functional.pad(grid, (0, 0, reach, reach, reach, reach))
    k, y, x = places.unbind(1)
    side = range(2 * reach + 1)
    return torch.cat([wide[k, y + down, x + right] for down in side for right in side], 1).float()


def probe(given: Tensor, target: Tensor, tested: Tensor) -> float:
    """The share of the held-out that a network with one hidden layer has right."""
    torch.manual_seed(0)
    mean, spread = given[~tested].mean(0), given[~tested].std(0).clamp(min=1e-3)
    given, count = (given - mean) / spread, int(target.max()) + 1
    network = nn.Sequential(nn.Linear(given.shape[1], HIDDEN), nn.ReLU(), nn.Dropout(0.3), nn.Linear(HIDDEN, count))
    learn = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.05)
    rows = (~tested).nonzero()[:, 0]
    for _ in range(EPOCHS):
        order = rows[torch.randperm(len(rows))]
        for k in range(0, len(order), BATCH):
            some = order[k : k + BATCH]
            loss: Any = nn.functional.cross_entropy(network(given[some]), target[some])
            learn.zero_grad()
            loss.backward()
            learn.step()
    with torch.no_grad():
        right = network.eval()(given[tested]).argmax(1) == target[tested]
    return float(right.float().mean())


if __name__ == "__main__":
    main()

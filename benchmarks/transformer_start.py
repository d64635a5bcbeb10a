"""How soon an LXMERT that begins from nothing sees, by how its layers begin: `python -m benchmarks.transformer_start`.

A world of six coloured things with places; questions ask for a thing's colour, how many of a kind there are, and
whether one is left of or behind another. New examples at each step, so nothing can be learned by heart.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from shiftscope.models.end_to_end.network import AnswerBatch
from shiftscope.models.end_to_end.pretrained import BERT, GLOROT
from shiftscope.models.end_to_end.questions import END, FIRST_WORD, AnswererConfig
from shiftscope.models.lxmert.training import LxmertStage
from shiftscope.models.region_vqa.network import RegionGroup, RegionTable

KINDS, COLOURS, THINGS, NUMBERS, MOST = 6, 4, 6, 64, 5
ASKED = ("colour", "count", "left of", "behind")
WORDS = (*(f"kind {k}" for k in range(KINDS)), *ASKED)
ANSWERS = (*(f"colour {k}" for k in range(COLOURS)), *map(str, range(MOST + 1)), "yes", "no")


@dataclass(frozen=True, slots=True)
class ToyQuestions:
    batch: AnswerBatch
    answers: Tensor
    asked: Tensor  # which of ASKED


class ToyWorld:
    """Regions look like the sum of what their kind and their colour look like."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)
        self.kinds, self.colours = (self._draw_looks(n) for n in (KINDS, COLOURS))

    def _draw_looks(self, count: int) -> Tensor:
        return 1.8 * torch.randn(count, NUMBERS, generator=self.random).relu()

    def _draw(self, most: int, *shape: int) -> Tensor:
        return torch.randint(most, shape, generator=self.random)

    def ask(self, count: int) -> ToyQuestions:
        asked, kind = self._draw(len(ASKED), count), self._draw(KINDS, count)
        other = (kind + 1 + self._draw(KINDS - 1, count)) % KINDS
        colours, kinds = self._draw(COLOURS, count, THINGS), self._draw(KINDS - 2, count, THINGS)
        for taken in (torch.minimum(kind, other), torch.maximum(kind, other)):  # of neither kind
            kinds = kinds + (kinds >= taken[:, None]).long()
        counts = asked == 1
        many = (torch.rand(count, THINGS, generator=self.random) < 0.35) & counts[:, None]
        kinds = torch.where(many, kind[:, None], kinds)
        kinds[:, 0] = torch.where(counts, kinds[:, 0], kind)
        kinds[:, 1] = torch.where(asked >= 2, other, kinds[:, 1])
        start = 0.7 * torch.rand(count, THINGS, 2, generator=self.random)
        size = 0.1 + 0.2 * torch.rand(count, THINGS, 2, generator=self.random)
        middle = start + size / 2
        ahead = middle[:, 0] < middle[:, 1]
        yes = torch.where(asked == 2, ahead[:, 0], ahead[:, 1])
        told = COLOURS + MOST + 1 + (~yes).long()
        number = COLOURS + many.sum(1).clamp(max=MOST)
        answers = torch.where(asked == 0, colours[:, 0], torch.where(counts, number, told))
        noise = 0.2 * torch.randn(count, THINGS, NUMBERS, generator=self.random)
        looks = self.kinds[kinds] + self.colours[colours] + noise
        second = torch.where(asked >= 2, FIRST_WORD + other, END)
        words = torch.stack([FIRST_WORD + KINDS + asked, FIRST_WORD + kind, second], 1)
        there = torch.ones(count, THINGS, dtype=torch.bool)
        seen: Any = RegionTable((RegionGroup(looks, torch.cat([start, start + size], -1), there),))
        return ToyQuestions(AnswerBatch(words, torch.full((count,), 3), seen), answers, asked)


class ToyLxmert(nn.Module):
    """The study's network, whose regions are those of the toy world."""

    def __init__(self, start: str, width: int, layers: str) -> None:
        """`layers` over words, over regions, across both."""
        super().__init__()
        sizes = {"width": width, "heads": 4, "inside": 4 * width}
        sizes |= dict(zip(("text_layers", "image_layers", "layers"), map(int, layers.split("+")), strict=True))
        stage = LxmertStage().configure({**{k: str(v) for k, v in sizes.items()}, "visual": "64", "start": start})
        config = AnswererConfig(WORDS, ANSWERS, (480, 320), {}, dict(stage.sizes))
        self.network: Any = stage.build_network(config)
        stage.load_pretrained(self.network, config)
        self.network.object = nn.Sequential(nn.Linear(NUMBERS, NUMBERS), nn.LayerNorm(NUMBERS))

    def forward(self, batch: AnswerBatch) -> Tensor:
        scores: Tensor = self.network(batch)
        return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", default="2+1+2", help="Over words, over regions, across both.")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", action="append", choices=(BERT, GLOROT))
    given = parser.parse_args()
    for start in given.start or (BERT, GLOROT):
        learn(start, given)


def learn(start: str, given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    model, world = ToyLxmert(start, given.width, given.layers), ToyWorld(given.seed)
    rate = torch.optim.AdamW(model.parameters(), lr=given.lr, weight_decay=0.01)
    warm = torch.optim.lr_scheduler.LambdaLR(rate, lambda step: min(1.0, (step + 1) / 100))
    held, began = world.ask(2000), time.monotonic()
    for step in range(1, given.steps + 1):
        some = world.ask(given.batch)
        loss = nn.functional.cross_entropy(model.train()(some.batch), some.answers)
        rate.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        rate.step()
        warm.step()
        if step % 150 == 0 or step == given.steps:
            with torch.no_grad():
                right = model.eval()(held.batch).argmax(-1) == held.answers
            shares = (100 * right[held.asked == k].float().mean() for k in range(len(ASKED)))
            told = ", ".join(f"{name} {float(share):.0f}%" for name, share in zip(ASKED, shares, strict=True))
            what = f"{start}, width {given.width}, {given.layers}, step {step}"
            print(f"{what}: {told}; {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""How soon a model over several images sees, by how its layers begin: `python -m benchmarks.image_sets_start`.

A question names a kind, among words that are always the same; the answer is how many of its images show it. Every
image has a thing of that kind in one case of two, so that the question alone tells next to nothing. New questions at
each step, so nothing can be learned by heart. A training ends when it is right in more than 93 of 100.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import Tensor, nn

from shiftscope.models.end_to_end.pretrained import DEEPNET, GLOROT
from shiftscope.models.end_to_end.questions import FIRST_WORD, AnswererConfig
from shiftscope.models.several_images.network import CORNERS, ImageSetBatch
from shiftscope.models.several_images.training import ImageSetStage
from shiftscope.train.train import find_trainable

KINDS, IMAGES, REGIONS, FILLER, PATCH = 6, 3, 4, 7, 4
LOOKS = 3 * PATCH**2  # numbers that say what a region looks like
WORDS = (*(f"kind {k}" for k in range(KINDS)), *(f"word {k}" for k in range(FILLER)))
ANSWERS = tuple(map(str, range(IMAGES + 1)))
SHOWN, ENOUGH = 100, 0.93  # steps between two lines; a share of right answers


class ToyWorld:
    """Regions look like their kind, and a little of nothing."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)
        self.looks = torch.randn(KINDS, LOOKS, generator=self.random)

    def ask(self, count: int) -> ImageSetBatch:
        kind = torch.randint(KINDS, (count,), generator=self.random)
        others = torch.randint(KINDS - 1, (count, IMAGES, REGIONS), generator=self.random)
        others = others + (others >= kind[:, None, None]).long()
        shown = torch.rand(count, IMAGES, generator=self.random) < 0.5
        place = torch.randint(REGIONS, (count, IMAGES, 1), generator=self.random)
        here = shown[..., None] & (torch.arange(REGIONS) == place)
        kinds = torch.where(here, kind[:, None, None], others)
        looks = self.looks[kinds] + 0.3 * torch.randn(count, IMAGES, REGIONS, LOOKS, generator=self.random)
        corners = torch.rand(count, IMAGES, REGIONS, CORNERS, generator=self.random)
        regions = torch.cat([looks, corners, torch.ones_like(corners[..., :1])], -1)
        filler = torch.arange(FILLER).expand(count, -1) + FIRST_WORD + KINDS
        words = torch.cat([filler[:, : FILLER // 2], FIRST_WORD + kind[:, None], filler[:, FILLER // 2 :]], 1)
        return ImageSetBatch(words, regions, torch.ones_like(shown), shown.sum(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=("visualbert", "vilbert"))
    parser.add_argument("--start", action="append", choices=(DEEPNET, GLOROT))
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="product=1 of visualbert")
    given = parser.parse_args()
    for model in given.model or ("visualbert", "vilbert"):
        for start in given.start or (DEEPNET, GLOROT):
            for seed in given.seed or (0,):
                learn(model, start, seed, given)


def learn(model: str, start: str, seed: int, given: argparse.Namespace) -> None:
    torch.manual_seed(seed)
    own = dict(one.partition("=")[::2] for one in given.set)
    network, world = build_network(model, start, given.width, own), ToyWorld(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=given.lr, betas=(0.9, 0.98), weight_decay=0.01)
    warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 100))
    held, began = world.ask(1000), time.monotonic()
    for step in range(1, given.steps + 1):
        some = world.ask(given.batch)
        loss = nn.functional.cross_entropy(network.train()(some), some.taught)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        warm.step()
        if step % SHOWN == 0 or step == given.steps:
            right = measure_right(network, held)
            what = ", ".join((model, start, *given.set, f"width {given.width}", f"seed {seed}", f"step {step}"))
            print(f"{what}: {100 * right:.0f}%; {time.monotonic() - began:.0f} s", flush=True)
            if right > ENOUGH:
                return


def build_network(model: str, start: str, width: int, own: dict[str, str]) -> nn.Module:
    """The study's network, narrower, and without captions to begin from."""
    sizes = {"width": width, "inside": 4 * width, "patch": PATCH}
    settings = {name: str(size) for name, size in sizes.items()} | {"backbone": "scratch", "captions": "0"}
    stage = find_trainable(model).configure(settings | own).stages[-1]
    assert isinstance(stage, ImageSetStage)
    stage.start = start
    config = AnswererConfig(WORDS, ANSWERS, (480, 320), {"pixels": PATCH, "trained": True}, dict(stage.sizes))
    network: nn.Module = stage.build_network(config)
    stage.load_pretrained(network, config)
    return network


@torch.no_grad()
def measure_right(network: nn.Module, held: ImageSetBatch) -> float:
    scores: Tensor = network.eval()(held)
    return float((scores.argmax(-1) == held.taught).float().mean())


if __name__ == "__main__":
    main()

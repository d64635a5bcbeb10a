"""FiLM's blocks and head on a toy, with and without what keeps from overfitting: `python -m benchmarks.film_toy`.

Five things of ten shapes lie on a small grid, each with a colour and a material, and the question is "what colour is
the X?". Prints how many of the last 250 steps' answers are right, every 250 steps. A few minutes a row on one core.
"""

import argparse

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from shiftscope.models.end_to_end.network import AnswerHead, PlacedConv
from shiftscope.models.film.network import FilmTrunk

SHAPES, COLORS, MATERIALS, THINGS = 10, 8, 2, 5
CHANNELS, HEIGHT, WIDTH = 96, 4, 5
CELLS, BLOCKS, POOLED, HIDDEN, BATCH, TOLD = 48, 4, 96, 128, 64, 250
ROWS = {  # dropout of the head, of the question's state, weight decay
    "as the recipe": (0.2, 0.2, 0.1),
    "less decay": (0.2, 0.2, 0.01),
    "head's dropout alone": (0.2, 0.0, 0.01),
    "question's dropout alone": (0.0, 0.2, 0.01),
    "decay alone": (0.0, 0.0, 0.1),
    "neither": (0.0, 0.0, 0.01),
}


class ToyFilm(nn.Module):
    def __init__(self, dropout: float, question_dropout: float) -> None:
        super().__init__()
        self.read = nn.Sequential(nn.Embedding(SHAPES, 64), nn.Linear(64, HIDDEN), nn.Tanh())
        self.drop, self.film = nn.Dropout(question_dropout), nn.Linear(HIDDEN, 2 * BLOCKS * CELLS)
        self.stem = nn.Sequential(
            *(PlacedConv(CHANNELS, CELLS, even=True), nn.BatchNorm2d(CELLS), nn.ReLU()),
            *(nn.Conv2d(CELLS, CELLS, 3, 1, 1), nn.BatchNorm2d(CELLS), nn.ReLU()),
        )
        self.trunk = FilmTrunk(CELLS, BLOCKS, POOLED)
        self.answer = AnswerHead(2 * POOLED, 256, COLORS, dropout)

    def forward(self, images: Tensor, shapes: Tensor) -> Tensor:
        scales, shifts = self.film(self.drop(self.read(shapes))).view(len(images), 2, BLOCKS, -1).unbind(1)
        scores: Tensor = self.answer(self.trunk(self.stem(images), 1 + scales, shifts))
        return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1250)
    parser.add_argument("--row", action="append", choices=ROWS, help="only this one; may be given several times")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name in args.row or ROWS:
        _train(name, args.steps)


def _train(name: str, steps: int) -> None:
    dropout, question_dropout, decay = ROWS[name]
    torch.manual_seed(0)
    codes = torch.randn(SHAPES + COLORS + MATERIALS, CHANNELS, generator=torch.Generator().manual_seed(1))
    network = ToyFilm(dropout, question_dropout)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=decay, betas=(0.9, 0.98))
    right = 0
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = 1e-3 * min(1.0, step / 100)
        images, shapes, colors = _sample(codes)
        scores = network(images, shapes)
        optimizer.zero_grad()
        F.cross_entropy(scores, colors).backward()
        optimizer.step()
        right += int((scores.argmax(-1) == colors).sum())
        if step % TOLD == 0:
            print(f"{name}: {step} steps, {100 * right / (TOLD * BATCH):.1f}% right of the last {TOLD}", flush=True)
            right = 0


def _sample(codes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Images [image, channel, y, x], the shape that each is asked about, and its colour."""
    images = torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH) * 0.3
    shapes = torch.stack([torch.randperm(SHAPES)[:THINGS] for _ in range(BATCH)])
    colors, materials = (torch.randint(0, n, shapes.shape) for n in (COLORS, MATERIALS))
    places = torch.stack([torch.randperm(HEIGHT * WIDTH)[:THINGS] for _ in range(BATCH)])
    things = codes[shapes] + codes[SHAPES + colors] + codes[SHAPES + COLORS + materials]
    cells = images.view(BATCH, CHANNELS, -1)
    cells.scatter_add_(2, places[:, None].expand(-1, CHANNELS, -1), things.transpose(1, 2).contiguous())
    rows, asked = torch.arange(BATCH), torch.randint(0, THINGS, (BATCH,))
    return images.relu(), shapes[rows, asked], colors[rows, asked]


if __name__ == "__main__":
    main()

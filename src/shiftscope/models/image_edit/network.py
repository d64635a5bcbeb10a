"""A picture and an action's text to the picture after the action: an encoder and a decoder with residual gating.

After Vo et al. (2019), "Composing text and image for image retrieval": what the text leaves as it is passes through a
gate, what it changes is added. The original retrieves; this one has a decoder that draws, with the encoder's finer
maps beside it, and only says how the picture differs. A layer of attention lets far places know of each other.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..end_to_end.network import PlacedConv, QuestionEncoder
from .config import EditorConfig

STRIDE = 8  # pixels a side that a cell of the gated map covers
FINE = 4  # pixels that a cell of the finest map covers, two by two
WORDS = 128


class EditBlock(nn.Module):
    """A residual block whose norm the text scales and shifts."""

    def __init__(self, width: int, text: int) -> None:
        super().__init__()
        self.before = PlacedConv(width, width)
        self.look = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(8, width, affine=False)
        self.tell = nn.Linear(text, 2 * width)

    def forward(self, cells: Tensor, text: Tensor) -> Tensor:
        scale, shift = self.tell(text)[:, :, None, None].chunk(2, 1)
        found = F.relu(self.before(cells))
        return cells + F.relu(self.norm(self.look(found)) * (1 + scale) + shift)


class FarLook(nn.Module):
    """Cells, taken two by two, look at each other."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.place = PlacedConv(width, width)
        self.norm = nn.LayerNorm(width)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, cells: Tensor) -> Tensor:
        small = F.avg_pool2d(self.place(cells), 2, ceil_mode=True)
        tokens = self.norm(small.flatten(2).transpose(1, 2))
        found = self.attend(tokens, tokens, tokens, need_weights=False)[0].transpose(1, 2).reshape(small.shape)
        return cells + F.interpolate(found, cells.shape[2:], mode="nearest")


class ImageEditor(nn.Module):
    """`forward(images, words, lengths)` is the picture after, [image, 3, height, width] from 0 to 1."""

    def __init__(self, config: EditorConfig) -> None:
        super().__init__()
        self.config = config
        width, text = int(config.sizes["width"]), int(config.sizes["text"])
        self.text = QuestionEncoder(config.words.tokens, WORDS, text, nn.GRU)
        self.first = nn.Conv2d(3, width // 4, 5, 2, 2)
        self.second = nn.Conv2d(width // 4, width // 2, 3, 2, 1)
        self.third = nn.Conv2d(width // 2, width, 3, 2, 1)
        self.gate, self.change = (nn.Conv2d(width + text, width, 1) for _ in range(2))
        self.shares = nn.Parameter(torch.tensor([1.0, 1.0]))  # of what is kept, and of what is changed
        blocks: list[nn.Module] = []
        for k in range(int(config.sizes["layers"])):
            blocks.append(EditBlock(width, text))
            if k % 2:
                blocks.append(FarLook(width, int(config.sizes["heads"])))
        self.blocks = nn.ModuleList(blocks)
        self.up = nn.Conv2d(width + width // 2, width // 2, 3, padding=1)
        self.higher = nn.Conv2d(width // 2 + width // 4, width // 4, 3, padding=1)
        self.paint = nn.Conv2d(width // 4 + 3 * FINE, 4 * FINE, 3, padding=1)
        self.answerer: Any = None
        if config.answerer is not None:
            from ..lxmert.network import Lxmert

            self.answerer = Lxmert(config.answerer).requires_grad_(False)

    def train(self, mode: bool = True) -> "ImageEditor":
        """What answers was trained before."""
        super().train(mode)
        if self.answerer is not None:
            self.answerer.eval()
        return self

    def forward(self, images: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """Images are [image, height, width, 3] of uint8."""
        height, width = images.shape[1:3]
        pixels = images.permute(0, 3, 1, 2).float() / 255
        pixels = F.pad(pixels, (0, width % 2, 0, height % 2), mode="replicate")  # two by two
        return self.draw(pixels, self.text(words, lengths))[:, :, :height, :width]

    def draw(self, pixels: Tensor, told: Tensor) -> Tensor:
        """The pictures after, of those before, from 0 to 1, and the texts' states."""
        fine = F.relu(self.first(pixels - 0.5))
        middle = F.relu(self.second(fine))
        cells = F.relu(self.third(middle))
        both = torch.cat([cells, told[:, :, None, None].expand(-1, -1, *cells.shape[2:])], 1)
        cells = self.shares[0] * torch.sigmoid(self.gate(both)) * cells + self.shares[1] * self.change(both)
        for block in self.blocks:
            cells = block(cells, told) if isinstance(block, EditBlock) else block(cells)
        found = F.relu(self.up(torch.cat([F.interpolate(cells, middle.shape[2:], mode="nearest"), middle], 1)))
        found = F.relu(self.higher(torch.cat([F.interpolate(found, fine.shape[2:], mode="nearest"), fine], 1)))
        drawn = F.pixel_shuffle(self.paint(torch.cat([found, F.pixel_unshuffle(pixels, 2)], 1)), 2)
        new, share = torch.sigmoid(drawn[:, :3]), torch.sigmoid(drawn[:, 3:] - 2)  # at first most stays as it is
        return (1 - share) * pixels + share * new


def draw_edited(module: Any, images: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
    """The pictures after, [image, height, width, 3] of uint8."""
    found = module(images, words, lengths)
    drawn: Tensor = (found.float().clamp(0, 1) * 255).round().byte().permute(0, 2, 3, 1).contiguous()
    return drawn

"""A vision transformer over patches, and a decoder that reads the question and attends to the patches.

The token after the end of a question is its answer. All questions about an image attend to it together.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...batch_mean import average_cross_entropy
from ...errors import UserError
from ..end_to_end.network import AnswerBatch, Answerer
from ..end_to_end.questions import END, PAD, UNKNOWN, UNSEEN, AnswererConfig

LONGEST = 256  # tokens of a question that have a place of their own; later ones share the last


class PatchEncoder(nn.Module):
    """From pixels to one vector per patch, which knows of all others."""

    def __init__(self, patch: int, width: int, heads: int, layers: int, size: tuple[int, int], dropout: float) -> None:
        super().__init__()
        if patch % 4 or width % (4 * heads):
            raise UserError(
                f"a patch of {patch} pixels, or a width of {width} with {heads} heads, cannot be built: the patch is a "
                "multiple of 4, the width of four times the heads"
            )
        stem = patch // 4
        self.patch = patch
        self.cut = nn.Sequential(nn.Conv2d(3, width // 4, stem, stem), nn.GELU(), nn.Conv2d(width // 4, width, 4, 4))
        columns, rows = (-(-side // patch) for side in size)
        self.places = nn.ParameterList(nn.Parameter(0.02 * torch.randn(n, width)) for n in (rows, columns))
        self.layers = nn.ModuleList(DecoderLayer(width, heads, dropout, sees=False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, images: Tensor) -> Tensor:
        """[image, patch, width] of images [image, height, width, 3] of uint8."""
        height, width = images.shape[1:3]
        pixels = images.permute(0, 3, 1, 2).float().mul(1 / 64).sub(2.0)
        cells = self.cut(F.pad(pixels, (0, -width % self.patch, 0, -height % self.patch)))
        rows, columns = self.places
        found = cells.flatten(2).transpose(1, 2) + (rows[:, None] + columns).flatten(0, 1)
        for layer in self.layers:
            found = layer(found, causal=False)
        normed: Tensor = self.norm(found)
        return normed


class DecoderLayer(nn.Module):
    """Self-attention, attention to an image if it sees one, and two dense layers; each adds to what is there."""

    def __init__(self, width: int, heads: int, dropout: float, *, sees: bool) -> None:
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(dropout)
        self.before, self.mix, self.mixed = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        if sees:
            self.before_look, self.ask = nn.LayerNorm(width), nn.Linear(width, width)
            self.look, self.looked = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(
            *(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        )

    def forward(self, rows: Tensor, *, causal: bool, seen: Tensor | None = None, group: Tensor | None = None) -> Tensor:
        """[row, place, width]; `seen` is [image, patch, width], and `group` [image, seat] the rows about each image."""
        asked, keys, values = (self._split(part) for part in self.mix(self.before(rows)).chunk(3, -1))
        found = _join(F.scaled_dot_product_attention(asked, keys, values, is_causal=causal))
        rows = rows + self.drop(self.mixed(found))
        if seen is not None and group is not None:
            rows = rows + self.drop(self.looked(self._look(rows, seen, group)))
        answer: Tensor = rows + self.drop(self.dense(rows))
        return answer

    def _look(self, rows: Tensor, seen: Tensor, group: Tensor) -> Tensor:
        asked = self.ask(self.before_look(rows))
        together = asked[group.clamp(min=0)].flatten(1, 2)  # [image, seat · place, width]
        keys, values = (self._split(part) for part in self.look(seen).chunk(2, -1))
        found = _join(F.scaled_dot_product_attention(self._split(together), keys, values))
        seats = found.view(group.numel(), *rows.shape[1:])
        back = torch.zeros(len(rows) + 1, dtype=torch.int64, device=rows.device)  # the last for empty seats
        return seats[back.scatter(0, group.flatten() % (len(rows) + 1), _count_up(group))[:-1]]

    def _split(self, rows: Tensor) -> Tensor:
        return rows.reshape(*rows.shape[:-1], self.heads, -1).transpose(1, 2)


class VitLmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        width, heads, dropout = self.size("width"), self.size("heads"), self.share("dropout")
        self.eyes = PatchEncoder(self.size("patch"), width, heads, self.size("layers"), config.image_size, dropout)
        self.embed = nn.Embedding(config.tokens + len(config.answers), width, padding_idx=PAD)
        nn.init.normal_(self.embed.weight, std=0.02)
        with torch.no_grad():
            self.embed.weight[[PAD, UNKNOWN]] = 0.0
        self.places = nn.Parameter(0.02 * torch.randn(LONGEST, width))
        self.layers = nn.ModuleList(
            DecoderLayer(width, heads, dropout, sees=True) for _ in range(self.size("read_layers"))
        )
        self.norm = nn.LayerNorm(width)

    def encode_images(self, images: Tensor) -> Tensor:
        return self.eyes(images) if images.dtype == torch.uint8 else images

    def read(self, batch: AnswerBatch) -> Tensor:
        """[question, token, width] what is known after each token."""
        assert batch.images is not None
        seen = self.encode_images(batch.images)
        place = torch.arange(batch.words.shape[1], device=batch.words.device).clamp(max=LONGEST - 1)
        found = self.embed(batch.words) + self.places[place]
        group = group_by_image(batch, len(seen))
        for layer in self.layers:
            found = layer(found, causal=True, seen=seen, group=group)
        normed: Tensor = self.norm(found)
        return normed

    def score_answers(self, known: Tensor, lengths: Tensor) -> Tensor:
        last = known[torch.arange(len(known), device=known.device), lengths - 1]
        return F.linear(last, self.embed.weight[self.config.tokens :])

    def forward(self, batch: AnswerBatch) -> Tensor:
        return self.score_answers(self.read(batch), batch.lengths)


def compute_loss(module: VitLmAnswerer, batch: AnswerBatch) -> tuple[Tensor, Mapping[str, Tensor]]:
    """Of the answer, and of the next word at each place of the question."""
    assert batch.targets is not None
    known = module.read(batch)
    answer = average_cross_entropy(module.score_answers(known, batch.lengths).float(), batch.targets, UNSEEN)
    following = batch.words[:, 1:].masked_fill(batch.words[:, 1:] == END, PAD)
    words = F.linear(known[:, :-1], module.embed.weight[: module.config.tokens])
    language = average_cross_entropy(words.flatten(0, 1).float(), following.flatten(), PAD)
    return answer + module.config.sizes["language"] * language, {"answer": answer, "language": language}


def group_by_image(batch: AnswerBatch, images: int) -> Tensor:
    """[image, seat] the questions about each image; −1 where a seat is empty. Nothing waits for the device."""
    count = torch.arange(len(batch), device=batch.words.device)
    if batch.rows is None:
        return count[:, None]
    order = batch.rows.argsort(stable=True)
    image = batch.rows[order]
    seat = count - torch.searchsorted(image, torch.arange(images, device=image.device))[image]
    seats = torch.full((images * batch.most,), -1, device=image.device)
    return seats.scatter(0, image * batch.most + seat, order).view(images, batch.most)


def _join(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2)


def _count_up(group: Tensor) -> Tensor:
    return torch.arange(group.numel(), device=group.device)

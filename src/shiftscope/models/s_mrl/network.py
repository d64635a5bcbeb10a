"""S-MRL's network: question and region are fused bilinearly for each region, and the largest values are kept."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..end_to_end.network import AnswerBatch
from ..end_to_end.questions import AnswererConfig
from ..region_vqa.network import AlignedLinear, AnswerClassifier, Perceptron, RegionAnswerer


class BlockFusion(nn.Module):
    """BLOCK (Ben-younes et al., 2019): a bilinear map whose tensor is block-diagonal, each block of low rank."""

    def __init__(self, first: int, second: int, width: int, chunks: int, rank: int) -> None:
        super().__init__()
        self.chunks, self.rank, size = chunks, rank, width // chunks
        self.first, self.second = nn.Linear(first, chunks * size), AlignedLinear(second, chunks * size)
        self.factors = nn.ParameterList(
            nn.Parameter(torch.empty(chunks, size, rank * size).uniform_(-1, 1) / size**0.5) for _ in range(2)
        )
        self.last = nn.Linear(chunks * size, width)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """[row, region, width] of [row, number] and [row, region, number].

        The first is worked into the second's factors: a small matrix per row and chunk, instead of `rank` numbers for
        each region and output.
        """
        rows, chunks, rank = len(first), self.chunks, self.rank
        asked = torch.einsum("ncs,cst->nct", self.first(first).view(rows, chunks, -1), self.factors[0])
        factors = self.factors[1].view(chunks, -1, rank, asked.shape[-1] // rank)
        maps = torch.einsum("cskt,nckt->ncst", factors, asked.view(rows, chunks, rank, -1))
        seen = self.second(second).view(rows, second.shape[1], chunks, -1)
        product = torch.einsum("nrcs,ncst->nrct", seen, maps).float()
        rooted = product.sign() * (product.abs() + 1e-8).sqrt()
        found: Tensor = self.last(F.normalize(rooted, dim=-1).flatten(2))
        return found


class SMrl(RegionAnswerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        hidden, width, dropout = self.size("hidden"), self.size("fusion"), float(config.sizes["dropout"])
        self.fuse = BlockFusion(hidden, self.seen, width, self.size("chunks"), self.size("rank"))
        self.first = Perceptron(width, hidden)
        self.answer = AnswerClassifier(hidden, hidden, len(config.answers), dropout)
        self.joint_size = hidden

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        fused = self.fuse(question, seen).masked_fill(~there[..., None], -1e4)
        joint = self.first(fused.amax(1))
        return self.answer(joint), joint

"""BLOCK's bilinear map, against its formula written out."""

import pytest

from lazy import lazy

torch = lazy("torch")


def test_a_fusion_is_the_sum_of_products_of_each_block_and_rank():
    from shiftscope.models.s_mrl.network import BlockFusion

    torch.manual_seed(0)
    chunks, rank, size = 3, 2, 4
    fuse = BlockFusion(5, 7, chunks * size, chunks, rank)
    first, second = torch.randn(2, 5), torch.randn(2, 6, 7)
    one, other = fuse.first(first).view(2, 1, chunks, size), fuse.second(second).view(2, 6, chunks, size)
    blocks = []
    for chunk in range(chunks):
        sides = [side[:, :, chunk] @ factor[chunk] for side, factor in zip((one, other), fuse.factors, strict=True)]
        ranks = (sides[0] * sides[1]).view(2, 6, rank, size).sum(2)
        blocks.append(torch.nn.functional.normalize(ranks.sign() * (ranks.abs() + 1e-8).sqrt(), dim=-1))
    expected = fuse.last(torch.cat(blocks, -1))
    assert fuse(first, second).detach().numpy() == pytest.approx(expected.detach().numpy(), abs=1e-5)

"""Attention among few tokens is torch's own: values and slopes, and a share of the weights dropped.

Without a GPU, `TRITON_INTERPRET=1` runs it on a processor where triton is installed.
"""

import os
from importlib.util import find_spec

import pytest

from lazy import lazy

torch = lazy("torch")
ROWS, HEADS, WIDTH = 3, 2, 16


@pytest.fixture
def device():
    found = "cuda" if torch.cuda.is_available() else "cpu"
    if find_spec("triton") is None or (found == "cpu" and not os.environ.get("TRITON_INTERPRET")):
        pytest.skip("needs a GPU and triton")
    return found


def draw(device, *shape):
    return torch.randn(*shape, device=device, requires_grad=True)


def split_heads(table):
    return table.unflatten(-1, (HEADS, WIDTH)).transpose(1, 2)


@pytest.mark.parametrize("alone", [True, False])
def test_it_is_torchs_own(device, alone):
    from shiftscope.models.several_images.short_attention import attend_short

    torch.manual_seed(0)
    asking, there = (19, 19) if alone else (1, 37)
    whole = HEADS * WIDTH
    absent = torch.where(torch.rand(ROWS, there, device=device) < 0.3, -10_000.0, 0.0)
    absent[:, 0] = 0.0
    given = [draw(device, ROWS, there, 3 * whole)]
    query, keys, values = given[0].chunk(3, -1)
    if not alone:
        given = [draw(device, ROWS, asking, whole), draw(device, ROWS, there, 2 * whole)]
        query, (keys, values) = given[0], given[1].chunk(2, -1)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *map(split_heads, (query, keys, values)), absent[:, None, None]
    )
    wanted = wanted.transpose(1, 2).flatten(2)
    found = attend_short(given[0], None if alone else given[1], absent, HEADS, 0.0)
    assert torch.allclose(found, wanted, atol=1e-5)
    pull = torch.randn_like(wanted)
    slopes = (torch.autograd.grad((x * pull).sum(), given, retain_graph=True) for x in (found, wanted))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*slopes, strict=True))


def test_a_share_is_dropped_and_the_same_on_the_way_back(device):
    """With values of one, what is found is the weights that are kept; slopes of values are these weights."""
    from shiftscope.models.several_images.short_attention import attend_short

    torch.manual_seed(0)
    places, rows = 16, 64
    query = torch.zeros(rows, places, WIDTH, device=device)  # every weight is a sixteenth
    known = torch.ones(rows, places, 2 * WIDTH, device=device, requires_grad=True)
    absent = torch.zeros(rows, places, device=device)
    found = attend_short(query, known, absent, 1, 0.25)
    kept = found[..., 0] * places * 0.75  # how many of sixteen, of each token
    assert torch.allclose(kept, kept.round(), atol=1e-3)
    assert 0.72 < kept.mean() / places < 0.78 and kept.std() > 0.5
    (slope,) = torch.autograd.grad(found[..., 0].sum(), known)
    counted = slope[..., WIDTH] * places * 0.75  # of each place, by how many tokens
    assert torch.allclose(counted, counted.round(), atol=1e-3)
    assert torch.allclose(counted.sum(), kept.sum(), rtol=1e-4)
    again = attend_short(query, known, absent, 1, 0.25)
    assert not torch.equal(found, again)

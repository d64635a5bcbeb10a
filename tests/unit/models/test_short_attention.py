"""Attention among few tokens is torch's own: values and slopes, and a share of the weights dropped.

Without a GPU it runs in Triton's interpreter.
"""

import pytest

from lazy import lazy

torch = lazy("torch")
ROWS, HEADS, WIDTH = 3, 2, 16


@pytest.fixture
def device():
    pytest.importorskip("triton")
    return "cuda" if torch.cuda.is_available() else "cpu"


def draw(device, *shape):
    return torch.randn(*shape, device=device, requires_grad=True)


def split_heads(table):
    return table.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def attend_plainly(tables, absent, kept):
    """The same in as many steps as there are."""
    query, keys, values = (split_heads(table.double()) for table in tables)
    scores = query @ keys.transpose(2, 3) / query.shape[-1] ** 0.5 + absent[:, None, None].double()
    return (scores.softmax(-1) * kept @ values).transpose(1, 2).flatten(2)


def test_in_half_the_precision_it_is_torchs_own_up_to_the_most_tokens(device):
    from shiftscope.models.several_images.short_attention import HEADS as WIDTHS
    from shiftscope.models.several_images.short_attention import LONGEST, attend_short, fits

    torch.manual_seed(0)
    width, half = max(WIDTHS), torch.bfloat16 if device == "cuda" else torch.float16  # which triton can interpret
    assert fits(width, LONGEST, LONGEST) and not fits(width, 1, LONGEST + 1) and not fits(width + 1, 1)
    given = torch.randn(2, LONGEST, 3 * HEADS * width, device=device).to(half).requires_grad_()
    absent = torch.where(torch.rand(2, LONGEST, device=device) < 0.3, -10_000.0, 0.0)
    found, wanted = attend_short(given, None, absent, HEADS, 0.0), attend_plainly(given.chunk(3, -1), absent, 1.0)
    assert found.dtype == half and torch.allclose(found.double(), wanted, atol=0.02)
    pull = torch.randn_like(found)
    slopes = [torch.autograd.grad((x * pull).sum(), given, retain_graph=True)[0].double() for x in (found, wanted)]
    assert (slopes[0] - slopes[1]).norm() < 0.02 * slopes[1].norm()


def test_slopes_are_those_of_the_weights_that_were_kept(device):
    """Values that are one at a place of their own show which weights are kept; then all is computed again."""
    from shiftscope.models.several_images.short_attention import attend_short

    places = 16
    query, keys = draw(device, ROWS, places, WIDTH), draw(device, ROWS, places, WIDTH)
    shown = torch.eye(places, WIDTH, device=device).expand(ROWS, -1, -1)
    absent = torch.zeros(ROWS, places, device=device)
    weights = (query @ keys.transpose(1, 2) / WIDTH**0.5).softmax(-1)
    torch.manual_seed(1)
    found = attend_short(query, torch.cat([keys, shown], -1), absent, 1, 0.25)
    kept = (found / weights).detach().round(decimals=2)
    assert kept.unique().tolist() == pytest.approx([0, 1 / 0.75], abs=0.01)
    pull = torch.randn_like(found)
    wanted = weights * (kept > 0) / 0.75
    slopes = (torch.autograd.grad((x * pull).sum(), (query, keys), retain_graph=True) for x in (found, wanted))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*slopes, strict=True))


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


def test_each_row_head_and_token_drops_places_of_its_own(device):
    """Values that are one at a place of their own show which weights are kept."""
    from shiftscope.models.several_images.short_attention import attend_short

    torch.manual_seed(0)
    rows, heads, places = 8, 4, 16
    query = torch.zeros(rows, places, heads * WIDTH, device=device)  # every weight is a sixteenth
    shown = torch.eye(places, WIDTH, device=device).repeat(1, heads).expand(rows, -1, -1)
    found = attend_short(query, torch.cat([query, shown], -1), torch.zeros(rows, places, device=device), heads, 0.25)
    kept = found.unflatten(-1, (heads, WIDTH)).transpose(1, 2).flatten(0, 1) > 0  # [program, token, place]
    assert len(kept.flatten(1).unique(dim=0)) == rows * heads
    assert len(kept.flatten(0, 1).unique(dim=0)) > 300  # of 512 tokens
    shares = kept.float().mean((0, 1)), kept.float().mean((0, 2))  # of each place, and of each token
    assert all(share.min() > 0.65 and share.max() < 0.85 for share in shares)
    apart = kept.flatten(1).float().corrcoef().fill_diagonal_(0).abs()
    assert apart.max() < 0.35

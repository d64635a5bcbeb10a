"""Linear maps of many tokens are torch's own, slopes included. Without a GPU they run in Triton's interpreter."""

import pytest

from lazy import lazy

torch = lazy("torch")


@pytest.fixture
def device():
    pytest.importorskip("triton")
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (513, 129), (1100, 256)])
def test_columns_are_summed_wherever_a_program_ends(device, shape):
    from shiftscope.models.several_images.column_sums import STEPS, TALL, WIDE, sum_columns

    assert TALL * STEPS < 513 and WIDE < 129  # so that several programs take part
    torch.manual_seed(0)
    table = torch.randn(*shape, device=device)
    assert torch.allclose(sum_columns(table), table.sum(0), rtol=1e-4, atol=1e-3)
    half = table.to(torch.bfloat16 if device == "cuda" else torch.float16)  # which triton can interpret
    found = sum_columns(half)
    assert found.dtype == torch.float32 and torch.allclose(found, half.float().sum(0), rtol=1e-4, atol=1e-3)
    tall = table.T.contiguous().T  # columns that do not lie side by side
    assert torch.allclose(sum_columns(tall), table.sum(0), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", [(5, 8), (3, 5, 8)])
def test_a_map_and_its_slopes_are_torchs_own(device, shape):
    from shiftscope.models.several_images.column_sums import map_tokens

    torch.manual_seed(0)
    given = [torch.randn(*one, device=device, requires_grad=True) for one in (shape, (6, 8), (6,))]
    found, wanted = map_tokens(*given), torch.nn.functional.linear(*given)
    assert torch.allclose(found, wanted, atol=1e-6)
    pull = torch.randn_like(wanted)
    slopes = (torch.autograd.grad((x * pull).sum(), given, retain_graph=True) for x in (found, wanted))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*slopes, strict=True))
    alone = map_tokens(given[0].detach(), *given[1:])
    of_weight, of_bias = torch.autograd.grad((alone * pull).sum(), given[1:])
    assert torch.allclose(of_bias, pull.flatten(0, -2).sum(0), atol=1e-4) and of_weight.shape == (6, 8)


def test_layers_on_a_gpu_learn_as_by_torchs_own_maps():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    from shiftscope.models.several_images.layers import apply_together, runs_triton

    assert runs_triton(torch.device("cuda"))
    torch.manual_seed(0)
    maps = [torch.nn.Linear(256, 256).cuda() for _ in range(3)]
    states = torch.randn(1280, 37, 256, device="cuda", requires_grad=True)
    learned = [states, *(weight for one in maps for weight in one.parameters())]
    for some, chosen in ((states, maps), (states[:, :1], maps[:1])):
        with torch.autocast("cuda", torch.bfloat16):
            weight, bias = (torch.cat([getattr(one, name) for one in chosen]) for name in ("weight", "bias"))
            found, wanted = apply_together(chosen, some), torch.nn.functional.linear(some, weight, bias)
        assert found.dtype == torch.bfloat16 and torch.equal(found, wanted)
        pull = torch.randn_like(wanted)
        slopes = [
            torch.autograd.grad((made * pull).sum(), learned, retain_graph=True, allow_unused=True)
            for made in (found, wanted)
        ]
        for one, other in zip(*slopes, strict=True):
            assert (one is None) == (other is None)
            assert one is None or (one - other).norm() < 0.01 * other.norm()

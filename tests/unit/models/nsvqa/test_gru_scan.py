"""The GRU of a GPU is torch's own: values and slopes, one way or two.

Without a GPU, `TRITON_INTERPRET=1` runs it on a processor where triton is installed.
"""

import os
from importlib.util import find_spec

import pytest

from lazy import lazy

torch = lazy("torch")


@pytest.mark.parametrize("ways", [1, 2])
def test_it_is_torchs_own(ways):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if find_spec("triton") is None or (device == "cpu" and not os.environ.get("TRITON_INTERPRET")):
        pytest.skip("needs a GPU and triton")
    from shiftscope.models.nsvqa.question_parser.gru_scan import scan_gru

    torch.manual_seed(0)
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    many, steps, width = 5, 7, 12
    layers = [torch.nn.GRU(6, width, batch_first=True).to(device) for _ in range(ways)]
    tables = [torch.randn(many, steps, 6, device=device, requires_grad=True) for _ in range(ways)]
    start = torch.randn(ways, many, width, device=device, requires_grad=True)
    wanted = torch.stack([g(t, start[k, None])[0] for k, (g, t) in enumerate(zip(layers, tables, strict=True))])
    sums = [t @ g.weight_ih_l0.T + g.bias_ih_l0 for g, t in zip(layers, tables, strict=True)]
    weight, bias = (torch.stack([getattr(g, name) for g in layers]) for name in ("weight_hh_l0", "bias_hh_l0"))
    found = scan_gru(torch.stack(sums).permute(2, 0, 1, 3), weight, bias, start).permute(1, 2, 0, 3)
    assert torch.allclose(found, wanted, atol=1e-5)
    pull = torch.randn_like(wanted)
    learned = [*tables, start, *(p for g in layers for p in g.parameters())]
    slopes = (torch.autograd.grad((x * pull).sum(), learned, retain_graph=True) for x in (found, wanted))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*slopes, strict=True))
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before

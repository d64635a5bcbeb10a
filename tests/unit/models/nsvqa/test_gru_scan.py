"""The GRU of a GPU is torch's own: values and slopes, one way or two; without a GPU, in Triton's interpreter."""

import pytest

from lazy import lazy

torch = lazy("torch")


@pytest.mark.filterwarnings("ignore:RNN module weights")  # of torch's own, which is given one way's weights of two
@pytest.mark.parametrize("ways", [1, 2])
def test_it_is_torchs_own(ways):
    pytest.importorskip("triton")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    from shiftscope.models.nsvqa.question_parser.gru_scan import scan_layer

    torch.manual_seed(0)
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    many, steps, width = 5, 7, 12
    gru = torch.nn.GRU(6, width, batch_first=True, bidirectional=ways == 2).to(device)
    tables = [torch.randn(many, steps, 6, device=device, requires_grad=True) for _ in range(ways)]
    start = torch.randn(ways, many, width, device=device, requires_grad=True)
    wanted = []
    for k, way in enumerate(("", "_reverse")[:ways]):
        own = [getattr(gru, f"{name}_l0{way}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        wanted.append(torch._VF.gru(tables[k], start[k, None], own, True, 1, 0.0, True, False, True)[0])
    wanted, found = torch.stack(wanted), torch.stack(tuple(scan_layer(gru, 0, tables, start)))
    assert torch.allclose(found, wanted, atol=1e-5)
    pull = torch.randn_like(wanted)
    learned = [*tables, start, *gru.parameters()]
    slopes = (torch.autograd.grad((x * pull).sum(), learned, retain_graph=True) for x in (found, wanted))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*slopes, strict=True))
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before

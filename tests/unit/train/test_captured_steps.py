"""Captured steps: what a GPU replays is what it would have done, and no stage that is captured waits for the device."""

import pytest

from device_waits import WAITS, list_operations
from lazy import lazy
from shiftscope.models.nsvqa.training import QuestionParserStage, SceneParserStage
from shiftscope.train.captured_steps import CapturedSteps, iterate_device_tensors
from shiftscope.train.data import gather_split, open_training_data

torch = lazy("torch")


def test_a_watch_sees_what_waits():
    """What a GPU alone waits for, as the slope of `prod`, it does not see."""
    assert "nonzero" in list_operations(lambda: torch.arange(3).nonzero())
    assert "_local_scalar_dense" in list_operations(lambda: torch.arange(3).sum().item())


@pytest.fixture(scope="module")
def data():
    found = open_training_data("superclevr", images=6)
    stages = (SceneParserStage(), QuestionParserStage())
    return found.schema, gather_split(found, "train", stages, device="cpu", workers=1)


@pytest.mark.parametrize("stage", [SceneParserStage(), QuestionParserStage()], ids=lambda stage: stage.name)
def test_the_parsers_never_wait_for_the_device(stage, data):
    schema, train = data
    assert stage.captured
    config = stage.fit_vocabulary(schema, train)
    module = stage.build(config, {}).train()
    batch = stage.make_examples(train, config, "cpu").batch(torch.arange(3))
    seen = list_operations(lambda: stage.loss(module, batch)[0].backward())
    assert "mm" in seen or "addmm" in seen
    assert not seen & set(WAITS)


def test_what_lies_on_the_host_is_no_input():
    assert not list(iterate_device_tensors((torch.zeros(2), [torch.zeros(3)], 4)))


def test_graphs_find_what_plain_passes_find():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).cuda()

    def run(batch):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(module(x), y)
        loss.backward()
        return loss.detach(), {}

    parameters = list(module.parameters())
    captured = CapturedSteps(run, parameters)
    for k in range(8):
        many = 6 if k % 2 else 9
        batch = torch.randn(many, 4, device="cuda"), torch.randint(0, 2, (many,), device="cuda")
        found, slopes = None, []
        for step in (run, captured):
            for p in parameters:
                p.grad = None
            loss, _ = step(batch)
            wanted = found
            found, slopes = float(loss), [*slopes, [p.grad.clone() for p in parameters]]
        assert found == pytest.approx(wanted, rel=1e-5)
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(*slopes, strict=True))
        with torch.no_grad():
            for p in parameters:
                p -= 0.1 * p.grad
    assert len(captured._graphs) == 2 and all(captured._graphs.values())

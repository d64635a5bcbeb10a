import torch
from torch import nn

from shiftscope.train.compile_methods import compile_methods


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(2, 2)

    def draw(self, given):
        return self.part(given) / 2


def test_methods_of_a_module_and_of_its_parts_are_compiled_and_weights_keep_their_names(monkeypatch):
    seen = []

    def compile_as_it_is(method):
        seen.append(method.__name__)
        return lambda *given: method(*given)

    monkeypatch.setattr(torch, "compile", compile_as_it_is)
    module, given = Halves(), torch.ones(1, 2)
    names, before = list(module.state_dict()), module.draw(given)
    compile_methods(module, ("draw", "part.forward"))
    assert seen == ["draw", "forward"]
    assert list(module.state_dict()) == names
    assert torch.equal(module.draw(given), before)

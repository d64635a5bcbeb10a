"""What a GPU's step may not do if it is to be captured: wait until the host knows what it computed."""

from lazy import lazy

torch = lazy("torch")
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero")


def list_operations(run):
    """The names of torch's operations, backward ones included."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            seen.add(operation.name().removeprefix("aten::").split(".")[0])
            return operation(*args, **kwargs or {})

    seen = set()
    with Watch(), torch.autograd.set_multithreading_enabled(False):
        run()
    return seen

"""What a GPU's step may not do if it is to be captured: wait until the host knows what it computed."""

from lazy import lazy

torch = lazy("torch")
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero")


def list_operations(run):
    """The names of torch's operations, backward ones included."""
    return {name for name, _ in _watch_operations(run)}


def list_host_operations(run):
    """The names of those that read or make a tensor on the host: of a step whose tensors lie on `meta`, there is none."""
    return {name for name, hosted in _watch_operations(run) if hosted}


def _watch_operations(run):
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            found = operation(*args, **kwargs or {})
            touched = [one for one in tree_leaves((args, kwargs, found)) if isinstance(one, torch.Tensor)]
            name = operation.name().removeprefix("aten::").split(".")[0]
            seen.add((name, any(one.device.type == "cpu" for one in touched)))
            return found

    seen = set()
    with Watch(), torch.autograd.set_multithreading_enabled(False):
        run()
    return seen

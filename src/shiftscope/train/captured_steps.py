"""Captured steps: forward and backward passes as CUDA graphs, where a GPU would wait for Python to launch kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ..trainable import Losses

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    Pass = tuple[torch.Tensor, Losses]  # the loss and its terms


@dataclass(frozen=True, slots=True, eq=False)
class StepGraph:
    """A pass on one shape of batch: what it reads, and where it leaves what it found."""

    graph: torch.cuda.CUDAGraph
    inputs: list[Tensor]
    output: Pass
    slopes: list[Tensor | None]  # of the parameters


class CapturedSteps:
    """Passes that launch one graph for each shape of batch.

    A shape is taken as it comes the first time, which lets libraries choose their kernels, and captured the
    second. A graph reads the batch's tensors on the device and nothing else: a loss that looks at what lies on the
    host, or waits for the device, cannot be captured.
    """

    def __init__(self, run: Callable[[Any], Pass], parameters: Sequence[nn.Parameter]) -> None:
        self.run, self.parameters = run, parameters  # `run` leaves the slopes in the parameters
        self._graphs: dict[tuple[Any, ...], StepGraph | None] = {}  # None: seen once
        self._pool: Any = None  # memory that the graphs share, as one runs at a time
        self._stream: Any = None  # of all passes: slopes are summed on the stream that made the first

    def __call__(self, batch: Any) -> Pass:
        """The loss and its terms, which hold until the next call."""
        import torch

        tensors = list(iterate_device_tensors(batch))
        shape = tuple((t.shape, t.dtype, t.stride()) for t in tensors)
        if shape not in self._graphs:
            self._graphs[shape] = None
            self._stream = self._stream or torch.cuda.Stream()  # type: ignore[no-untyped-call]
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                output = self.run(batch)
            torch.cuda.current_stream().wait_stream(self._stream)
            torch.cuda.synchronize()  # what was made on one stream is freed on another
            return output
        found = self._graphs[shape] or self._capture(shape, batch, tensors)
        torch._foreach_copy_(found.inputs, tensors)
        found.graph.replay()
        for parameter, slope in zip(self.parameters, found.slopes, strict=True):
            parameter.grad = slope
        return found.output

    def _capture(self, shape: tuple[Any, ...], batch: Any, tensors: list[Tensor]) -> StepGraph:
        import torch

        graph = torch.cuda.CUDAGraph()
        for parameter in self.parameters:
            parameter.grad = None
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            output = self.run(batch)
        self._pool = self._pool or graph.pool()
        found = StepGraph(graph, tensors, output, [p.grad for p in self.parameters])
        self._graphs[shape] = found
        return found


def iterate_device_tensors(value: Any) -> Iterator[Tensor]:
    """The tensors of a batch that lie on a device: a tensor, a record, or a sequence of them."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.is_cuda:
            yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from iterate_device_tensors(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from iterate_device_tensors(one)

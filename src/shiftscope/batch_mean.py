"""Batch mean: what a loss divides by, where several processes train and each has a part of the batch.

A mean over the things of a batch (its objects, its tokens) is not the mean of its parts' means: parts hold more
things or fewer. So a part divides its sum by what the whole batch holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def divide_by_batch(total: Tensor, count: Tensor) -> Tensor:
    """A sum over this process's part of a batch, divided by the count (1 at least) over the whole batch.

    It is scaled so that the mean over processes, which is what they learn from, is the mean over the whole batch.
    Every process must call it for every term: one that has nothing to count has a sum of 0 and a count of 0.
    """
    processes = count_processes()
    if processes == 1:
        return total / count.clamp(min=1)
    from torch import distributed

    whole = count.detach().to(total.dtype, copy=True)
    distributed.all_reduce(whole)
    return total * (processes / whole.clamp(min=1))


def average_cross_entropy(scores: Tensor, targets: Tensor, ignored: int) -> Tensor:
    """The mean over the whole batch of the cross entropy of [example, class], targets of `ignored` left out.

    Targets are numbers of classes, or shares [example, class]: then an example without any share is left out.
    """
    from torch.nn.functional import cross_entropy

    if targets.is_floating_point():
        return divide_by_batch(-(targets * scores.log_softmax(-1)).sum(), (targets.sum(-1) > 0).sum())
    summed = cross_entropy(scores, targets, ignore_index=ignored, reduction="sum")
    return divide_by_batch(summed, (targets != ignored).sum())


def average_binary_cross_entropy(scores: Tensor, targets: Tensor, ignored: int) -> Tensor:
    """The same with a sigmoid for each class: the cross entropies of an example's classes are summed.

    Targets are numbers of classes, or [example, class] from 0 to 1: an example whose targets are all 0 is left out.
    """
    from torch.nn.functional import softplus

    if targets.is_floating_point():
        known, right = targets.sum(-1) > 0, (targets * scores).sum(-1)
    else:
        known, right = targets != ignored, scores.gather(1, targets.clamp(min=0)[:, None])[:, 0]
    return divide_by_batch(((softplus(scores).sum(-1) - right) * known).sum(), known.sum())


def count_processes() -> int:
    """Those that train together: 1 where none but this one does."""
    from torch import distributed

    initialized = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if initialized else 1

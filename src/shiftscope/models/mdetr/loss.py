"""The grounding loss: regions find the words that speak of them, words their regions, and boxes their edges."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from ...batch_mean import divide_by_batch
from ...trainable import Counts, Losses
from ..end_to_end.network import AnswerBatch
from ..end_to_end.questions import PAD
from ..nsvqa.scene_parser.network import box_iou, normalise_points
from .network import FusedQuestions, Mdetr

MATCH, PART_MATCH = 0.5, 0.3  # boxes that overlap by as much may show one thing
UNSPOKEN = 0.1  # weight of a region that no word speaks of
WEIGHTS = {"words": 1.0, "regions": 1.0, "edges": 2.0, "overlap": 0.5}


@dataclass(frozen=True, slots=True, eq=False)
class GroundingBatch(AnswerBatch):
    """Questions with their phrases, and which true things the regions of their images show."""

    spans: Tensor | None = None  # [question, phrase, 2] first word and how many; none where there is no phrase
    masks: Tensor | None = None  # [question, phrase, 2] objects and parts, by their bits
    truth: Tensor | None = None  # [image, region, 2] number of the object and of the part that it shows, or −1
    true_boxes: Tensor | None = None  # [image, region, 4] of what it shows


@dataclass(frozen=True, slots=True, eq=False)
class GroundingTargets:
    """What speaks of what."""

    phrases: Tensor  # [question, phrase, token] bool, its words
    members: Tensor  # [question, phrase, region] bool, the regions it speaks of
    empty: Tensor  # [question, phrase] bool, whether it speaks of nothing in the image
    aligned: Tensor  # [question, region, token] bool


def match_boxes(found: Tensor, true: Tensor, least: float) -> Tensor:
    """[image, box] the number of the true box each is paired with, best overlaps first, each once; −1 for none."""
    overlap = box_iou(found[:, :, None], true[:, None])
    overlap = torch.where(true[:, None, :, 2:].prod(-1) > 0, overlap, -1.0)
    images = torch.arange(len(found), device=found.device)
    numbers = torch.full(found.shape[:2], -1, device=found.device)
    for _ in range(min(overlap.shape[1:])):
        best, at = overlap.flatten(1).max(1)
        one, other = at // overlap.shape[2], at % overlap.shape[2]
        numbers[images, one] = torch.where(best >= least, other, numbers[images, one])
        overlap[images, one, :] = -1
        overlap[images, :, other] = -1
    return numbers


def find_targets(batch: GroundingBatch, tokens: int) -> GroundingTargets:
    """The truth about a batch whose questions have so many tokens."""
    assert batch.spans is not None and batch.masks is not None and batch.truth is not None and batch.rows is not None
    first, count = batch.spans.unbind(-1)
    column = torch.arange(tokens, device=first.device)
    phrases = (column >= first[..., None]) & (column < (first + count)[..., None])
    truth = batch.truth.index_select(0, batch.rows)[:, None]  # [question, 1, region, 2]
    named = (batch.masks[:, :, None] >> truth.clamp(min=0)) & 1
    members = ((named > 0) & (truth >= 0)).any(-1)
    aligned = torch.einsum("qpr,qpt->qrt", members.float(), phrases.float()) > 0
    return GroundingTargets(phrases, members, (batch.masks == 0).all(-1), aligned)


def compute_grounding_loss(module: Mdetr, batch: GroundingBatch, fused: FusedQuestions) -> tuple[Tensor, Losses]:
    targets = find_targets(batch, fused.words.shape[1])
    read = batch.words[:, : fused.words.shape[1]] != PAD
    terms = compute_alignment_loss(module.align(fused), targets, read, fused.there)
    assert batch.true_boxes is not None and batch.rows is not None
    spoken = targets.aligned.any(-1)
    terms |= compute_box_loss(
        module.find_boxes(fused), batch.true_boxes.index_select(0, batch.rows), spoken, module.config.image_size
    )
    loss = torch.stack([WEIGHTS[name] * value for name, value in terms.items()]).sum()
    return loss, {name: value.detach() for name, value in terms.items()}


def compute_alignment_loss(scores: Tensor, targets: GroundingTargets, read: Tensor, there: Tensor) -> dict[str, Tensor]:
    """Cross entropy of `Mdetr.align`, both ways; scores of [question, region + 1, token + 1]."""
    words, regions = targets.aligned.shape[2], targets.aligned.shape[1]
    shown, hidden = F.pad(there, (0, 1), value=True), ~read
    # Each word of a phrase looks for its regions, or for the row of nothing.
    logs = scores[:, :, :words].masked_fill(~shown[:, :, None], -1e4).log_softmax(1)
    nothing = torch.einsum("qp,qpt->qt", targets.empty.float(), targets.phrases.float()) > 0
    wanted = torch.cat([targets.aligned & there[..., None], nothing[:, None]], 1).float()
    of_words = _average(_cross_entropy(logs, wanted, 1), (wanted.sum(1) > 0).float())
    # Each region looks for the words that speak of it, or for the column of nothing.
    logs = scores[:, :regions].masked_fill(F.pad(hidden, (0, 1))[:, None], -1e4).log_softmax(2)
    unspoken = ~targets.aligned.any(-1)
    wanted = torch.cat([targets.aligned, unspoken[..., None]], 2).float()
    weight = torch.where(unspoken, UNSPOKEN, 1.0) * there
    return {"words": of_words, "regions": _average(_cross_entropy(logs, wanted, 2), weight)}


def compute_box_loss(boxes: Tensor, true: Tensor, spoken: Tensor, size: tuple[int, int]) -> dict[str, Tensor]:
    """How far edges are off, as a share of the image, and how little boxes overlap, where a word speaks of them."""
    weight = spoken.float()
    off = torch.cat([normalise_points(side, size) for side in torch.split(boxes - true, 2, -1)], -1).abs().sum(-1)
    return {"edges": _average(off, weight), "overlap": _average(1 - box_iou(boxes, true, general=True), weight)}


def _cross_entropy(logs: Tensor, wanted: Tensor, dim: int) -> Tensor:
    """Of a target spread evenly over what is wanted."""
    return -(logs * wanted / wanted.sum(dim, keepdim=True).clamp(min=1)).sum(dim)


def _average(values: Tensor, weight: Tensor) -> Tensor:
    return divide_by_batch((values * weight).sum(), weight.sum())


def measure_grounding(module: Mdetr, batch: GroundingBatch) -> Counts:
    """Of phrases, how many find one of their regions, or that there is none, by their last word."""
    assert batch.spans is not None
    fused = module.fuse(batch)
    targets = find_targets(batch, fused.words.shape[1])
    scores = module.align(fused).masked_fill(~F.pad(fused.there, (0, 1), value=True)[..., None], -1e4)
    first, count = batch.spans.unbind(-1)
    last = (first + count - 1).clamp(0, fused.words.shape[1] - 1)
    at = scores.transpose(1, 2).gather(1, last[..., None].expand(-1, -1, scores.shape[1]))  # [question, phrase, region]
    counted = count > 0
    best = at.argmax(-1)
    nothing = best == at.shape[-1] - 1
    inside = targets.members.gather(2, best.clamp(max=at.shape[-1] - 2)[..., None]).squeeze(-1)
    right = torch.where(targets.empty, nothing, inside & ~nothing)
    return {"phrases": ((right & counted).sum(), counted.sum())}

"""Notes: what a run asked besides the questions, and what that moved; for scores and reports, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..metrics.mean_accuracy import PHRASING, measure, summarize_replies
from ..metrics.position_bias import find_position_bias
from ..result import RunLog, Score
from ..store.run_log import ENDPOINT_PREFIX, JUDGE_FIELD
from ..token_usage import TokenUse

TOKENS = "tokens"  # begins the terms of what calls cost


def list_run_notes(log: RunLog) -> Iterator[tuple[str, str]]:
    """A term and a sentence for everything that is not as by default."""
    spec = dict(log.spec)
    prompt = spec.get("prompt")
    prompt = prompt if isinstance(prompt, Mapping) else {}
    scores: dict[Any, str] = {}
    if summary := summarize_replies(log.records):
        scores = {score.slice: _format_score(score) for score in measure(log.records)}
        yield "replies", f"{summary}; a single reply is right in {scores[()]}"
    for number, instruction in enumerate(prompt.get("instructions") or (), 1):
        right = scores.get(((PHRASING, number),))
        yield f"phrasing {number}", f"{instruction!r}" + (f", right in {right}" if right else "")
    if prompt.get("system"):
        yield "system prompt", repr(str(prompt["system"]))
    if bias := find_position_bias(log.records):
        yield f"multiple choice, up to {prompt.get('choices')} options", str(bias)
    cut = int((log.records.truncated).sum())
    if cut:
        limit = spec.get("max_tokens")
        yield "truncated", f"{cut:,} responses were cut at {limit} tokens and are not right; see --max-tokens"
    if sent := log.images_sent:
        yield "images", _describe_images(sent, spec.get("resize"))
    if log.usage and log.usage.calls:
        yield TOKENS, _describe_tokens(log, spec)
    if log.judge_usage and log.judge_usage.calls:
        judge = spec.get(JUDGE_FIELD) or {}
        yield f"{TOKENS} of the judge", _format_tokens(log.judge_usage, judge.get("price"))


def _format_score(score: Score) -> str:
    if score.value is None or score.low is None or score.high is None:
        return "no figure"
    return f"{100 * score.value:.1f}% (95% interval {100 * score.low:.1f}% to {100 * score.high:.1f}%)"


def _describe_images(sent: Mapping[str, Any], resize: Any) -> str:
    smallest, largest = ("x".join(map(str, sent.get(name) or ())) for name in ("smallest", "largest"))
    sizes = smallest if smallest == largest else f"{smallest} to {largest}"
    return f"sent as {sent.get('encoding')}, {sizes} pixels" + (f" (--resize {resize})" if resize else "")


def _describe_tokens(log: RunLog, spec: Mapping[str, Any]) -> str:
    assert log.usage is not None
    said = _format_tokens(log.usage, spec.get("price"))
    said += f"; {log.cache.replies:,} replies among them came from the cache" if log.cache and log.cache.replies else ""
    seconds = log.records.seconds[log.records.seconds == log.records.seconds].sum()
    if str(spec.get("model", "")).startswith(ENDPOINT_PREFIX) or not seconds > 0:
        return said
    return f"{said}; {log.usage.wrote / seconds:,.1f} tokens written per second"


def _format_tokens(use: TokenUse, price: Any) -> str:
    lacking = f", {use.uncounted:,} of them without usage" if use.uncounted else ""
    cost = f", at a cost of {use.price(price):.6g}" if isinstance(price, list) and len(price) == 2 else ""
    return f"{use.read:,} read and {use.wrote:,} written in {use.calls:,} calls{lacking}{cost}"

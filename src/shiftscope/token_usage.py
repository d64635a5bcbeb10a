"""Token usage: what calls to a model read and wrote, as its server counts it, and what that costs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class CallUsage(NamedTuple):
    """The tokens of one call as the server counts them, attempts that came to nothing included."""

    call: str  # the same for rows that share one response; "" of a model without a server
    read: int | None  # None: the server did not say
    wrote: int | None
    judge: bool = False  # whether a judge was called


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Calls and their tokens, as the server counts them; each call once, however many rows share its response."""

    calls: int = 0
    read: int = 0
    wrote: int = 0
    uncounted: int = 0  # calls whose tokens the server did not say

    @classmethod
    def from_calls(cls, calls: Iterable[CallUsage]) -> "TokenUse":
        found = {call.call or f"{k}": call for k, call in enumerate(calls)}.values()
        lacking = sum(one.read is None or one.wrote is None for one in found)
        return cls(len(found), sum(c.read or 0 for c in found), sum(c.wrote or 0 for c in found), lacking)

    def price(self, price: Sequence[float]) -> float:
        """What they cost at the prices of a million tokens read, and written."""
        return (self.read * price[0] + self.wrote * price[1]) / 1e6

    def to_json(self, price: Sequence[float] | None = None) -> dict[str, Any]:
        figures: dict[str, Any] = {"calls": self.calls, "prompt_tokens": self.read, "completion_tokens": self.wrote}
        figures |= {"calls_without_usage": self.uncounted} if self.uncounted else {}
        return figures | ({"cost": round(self.price(price), 9)} if price else {})

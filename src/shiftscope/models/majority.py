"""Majority: the answer that training questions have most often, whatever is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._counts import Tally, answered
from ._model import Prompt, Reply, Setting

LOOKS = False  # at no picture


@dataclass(frozen=True, slots=True)
class Majority:
    """One reply for everything."""

    reply: Reply

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return [self.reply] * len(batch)


def build(target: str, setting: Setting) -> Majority:
    tally = Tally()
    for _, answer in answered(setting, "majority"):
        tally.add(answer)
    answer, share = tally.commonest()
    return Majority(Reply(answer=answer, belief=share))

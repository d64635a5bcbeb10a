"""Oracle: the question's own program, run on the scene that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..lang.exec.exact import Undefined, execute
from ..lang.world import World
from ..scene import Scene
from ._model import Prompt, Reply, Setting

LOOKS = False  # at no picture


@dataclass(slots=True)
class Oracle:
    """Sees and parses perfectly. Shown nothing, it has no answer; shown another scene, that scene's."""

    _last: tuple[tuple[Scene, ...], World] | None = field(default=None, init=False)

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return [self._reply(prompt) for prompt in batch]

    def _reply(self, prompt: Prompt) -> Reply:
        program = prompt.question.program
        if program is None:
            return Reply(status="undefined", reason="no program")
        if not prompt.scenes:
            return Reply(status="undefined", reason="no scene")
        answer = execute(program, self._world(prompt.scenes)).answer
        if isinstance(answer, Undefined):
            return Reply(status="undefined", reason=answer.reason)
        return Reply(answer=answer, belief=1.0)

    def _world(self, scenes: tuple[Scene, ...]) -> World:
        """Questions about the same scenes come one after the other."""
        if self._last is None or list(map(id, self._last[0])) != list(map(id, scenes)):
            self._last = scenes, World(scenes)
        return self._last[1]


def build(target: str, setting: Setting) -> Oracle:
    return Oracle()

"""Object only: softmax regression over what kinds of objects the image shows; reads no question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import UserError
from ..scene import Object, Scene
from ._bag import Bag, BagRegression, fit
from ._counts import answered, chosen_by
from ._model import Prompt, Reply, Setting

LOOKS = False  # at no picture
KINDS = ("name", "shape")  # what says the kind of an object
MANY = 4  # counts of one kind beyond this are not told apart


@dataclass(frozen=True, slots=True, eq=False)
class ObjectOnly:
    """A regression on which kinds are there, and how many of each."""

    fitted: BagRegression

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return self.fitted.replies([_bag(p.scenes) for p in batch])


def build(target: str, setting: Setting) -> ObjectOnly:
    learned = [(_bag(setting.scenes(q)), answer) for q, answer in answered(setting, "object_only")]
    if not any(bag for bag, _ in learned):
        raise UserError(
            "model 'object_only' learns from the objects of images, and none is known of the training images"
        )
    choosing = ((_bag(setting.scenes(q)), answer) for q, answer in chosen_by(setting))
    return ObjectOnly(fit(learned, choosing, bag=frozenset, name="object_only", seed=setting.options.seed))


def _bag(scenes: Iterable[Scene]) -> Bag:
    counts = Counter(kind for scene in scenes for o in scene.objects for kind in _kinds(o))
    return frozenset(feature for kind, n in counts.items() for feature in (kind, f"{kind} × {min(n, MANY)}"))


def _kinds(thing: Object) -> tuple[str, ...]:
    return next((v for a in KINDS if (v := thing.values(a))), ())

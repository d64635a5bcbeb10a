"""Object only: softmax regression over what kinds of objects the image shows; reads no question."""

from collections import Counter
from collections.abc import Iterable

from ..errors import UserError
from ..model import SCENES, ModelSetting, ModelTraits
from ..scene import Scene
from ._baselines import Bag, BagModel, fit_bag_regression, read_training_answers, read_validation_answers

TRAITS = ModelTraits(reads=frozenset((SCENES,)), learns=True)
KINDS = ("name", "shape")  # what says the kind of an object
MANY = 4  # counts of one kind beyond this are not told apart


def build(target: str, setting: ModelSetting) -> BagModel:
    learned = [(_make_bag(setting.scenes(q)), answer) for q, answer in read_training_answers(setting, "object_only")]
    if not any(bag for bag, _ in learned):
        raise UserError(
            "model 'object_only' learns from the objects of images, and none is known of the training images"
        )
    choosing = ((_make_bag(setting.scenes(q)), answer) for q, answer in read_validation_answers(setting))
    fitted = fit_bag_regression(learned, choosing, bag=frozenset, name="object_only", seed=setting.options.seed)
    return BagModel(fitted, lambda prompt: _make_bag(prompt.scenes))


def _make_bag(scenes: Iterable[Scene]) -> Bag:
    """Which kinds of objects are there, and how many of each."""
    objects = [thing for scene in scenes for thing in scene.objects]
    kinds = [next(filter(None, map(thing.values, KINDS)), ()) for thing in objects]
    counts = Counter(kind for several in kinds for kind in several)
    return frozenset(feature for kind, n in counts.items() for feature in (kind, f"{kind} × {min(n, MANY)}"))

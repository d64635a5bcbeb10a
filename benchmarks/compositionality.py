"""Why co-0 → co-1 hardly hurts here and costs 14 points in the paper: `python -m benchmarks.compositionality`.

First the paper's own Table 1: what models lose from co-0 to co-1 beside what they lose from mid to hard. Then the
shipped scene parser on default, co-1 and co-2, as they are and with textures; how much of the loss colours can explain;
and colour heads on its features, one for all shapes and one per shape, trained on few vehicles.
`--images 0` prints the first table alone. What came out: docs/decisions/052.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.table import table
from shiftscope.answer import is_same_answer
from shiftscope.lang.exec.exact import Undefined
from shiftscope.lang.exec.packed import execute_many
from shiftscope.lang.program import Program
from shiftscope.lang.scene_posterior import ScenePosterior, concatenate_posteriors, match_to_truth
from shiftscope.models import nsvqa, p_nsvqa
from shiftscope.models.nsvqa.neuro_symbolic import CPU_IMAGES, NsvqaParsers, load_parsers
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.picture import Picture, stack
from shiftscope.question import Question
from shiftscope.rng import derive
from shiftscope.scene import Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.shift.compositionality import concepts
from shiftscope.suites.superclevr import reported
from shiftscope.suites.superclevr.suite import SHARE, SUITE, SuperclevrSpec
from shiftscope.world.superclevr.concepts import COLORS, SHAPES

TESTS = (("default", "mid"), ("co-1", "mid"), ("co-2", "mid"), ("", "hard"), ("co-1", "hard"), ("co-2", "hard"))
FEW = (125, 500, 2000, 8000)  # vehicles that a colour head learns from
WRONG = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2)  # shares of vehicles whose colour is misread
SHAPE, COLOR = (next(k for k, a in enumerate(SCHEMA.attributes) if a.name == name) for name in ("shape", "color"))
Ints = npt.NDArray[np.int64]


def main() -> None:
    """Print all tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--images", type=int, default=100, help="of each test set")
    options.add_argument("--train", type=int, default=100, help="images that colour heads learn from")
    given = options.parse_args()
    print_reported()
    if not given.images:
        return
    parsers = load_parsers(read_trained_model(SHIPPED / "superclevr"), "cpu")
    seen = {name: _see(parsers, *name, "test", given.images) for name in TESTS}
    print_measured(seen)
    print_bound(seen)
    print_misread(seen[TESTS[0]])
    print_heads(_see(parsers, "default", "mid", "train", given.train), seen)


# The paper's table


def print_reported() -> None:
    """What each model keeps when it is trained on mid, or co-0: the same dataset; and the other way round."""
    shifts = [("compositionality", "co-0", other) for other in ("co-1", "co-2")] + [("visual", "mid", "hard")]
    found = {s: 100 * np.array([reported.find_accuracies(m, s[0])[s[1:]] for m in reported.MODELS]) for s in shifts}
    rows = [[f"{a} → {b}", *(f"{x:.2f}" for x in found[f, a, b])] for f, a, b in shifts]
    *others, hard = shifts
    rows += [[f"{a} → {b} less {hard[1]} → {hard[2]}", *(f"{x:+.2f}" for x in found[f, a, b] - found[hard])]
             for f, a, b in others]  # fmt: skip
    back = [(f, b, to) for f, a, b in shifts for to in (b, a)]
    for factor, own, tested in [*back, ("distribution", "bal", "bal")]:
        told = [100 * reported.find_accuracies(m, factor)[own, tested] for m in reported.MODELS]
        rows.append([f"{own} → {tested}", *(f"{x:.2f}" for x in told)])
    table("The paper's accuracy", ("trained → tested", *reported.MODELS), rows)


# The shipped scene parser


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A test set, what the scene parser made of it, and its vehicles that were found."""

    scenes: list[Scene]
    questions: list[Question]
    rows: list[int]  # of each question, its scene
    programs: list[Program]  # as parsed
    posterior: ScenePosterior
    where: tuple[Ints, Ints]  # of each vehicle found: its scene, and its row in the posterior
    things: list[Any]  # the true vehicles, in this order
    features: npt.NDArray[np.float32]  # what the parser's heads see of each
    right: dict[str, list[bool]]  # of each question: whether NSVQA and P-NSVQA answer it

    def true(self, attribute: int) -> Ints:
        own = SCHEMA.attributes[attribute]
        return np.array([own.values.index(thing.values(own.name)[0]) for thing in self.things])

    def found(self, attribute: int) -> Ints:
        return np.asarray(self.posterior.attributes[attribute][self.where].argmax(-1), np.int64)


def _see(parsers: NsvqaParsers, variant: str, visual: str, split: str, images: int) -> Seen:
    import torch

    from shiftscope.models.nsvqa.scene_parser.decode import decode_posterior
    from shiftscope.models.nsvqa.scene_parser.loss import get_config

    whole = images * SHARE if split == "test" else images * SHARE // 4
    spec = SuperclevrSpec.from_variant(variant, visual, images=whole, part_questions=0, shard=max(images, 250))
    made, questions = SUITE.make_shard(spec.spec(), split, 0)
    pieces, features = [], []
    for start in range(0, len(made), CPU_IMAGES):
        pictures = [Picture(image.png) for image in made[start : start + CPU_IMAGES]]
        with torch.inference_mode():
            readings = parsers.scene(stack(pictures, "cpu", parsers.trained.size))
            pieces.append(decode_posterior(readings, get_config(parsers.scene)))
            features.append(readings.known.numpy())
    posterior = concatenate_posteriors(pieces).to_numpy()
    scenes = [image.scene for image in made]
    found = match_to_truth(posterior, pack_scenes(scenes)).objects
    where = np.nonzero(found >= 0)
    things = [scenes[i].objects[found[i, k]] for i, k in zip(*where, strict=True)]
    number = {scene.id: k for k, scene in enumerate(scenes)}
    rows = [number[q.scenes[0]] for q in questions]
    programs = parsers.parse_questions([q.text for q in questions]) if split == "test" else []
    seen = Seen(scenes, questions, rows, programs, posterior, where, things, np.concatenate(features)[where], {})
    if programs:
        right = {name: _answer(parsers, seen, name, posterior) for name in ("nsvqa", "p_nsvqa")}
        right["nsvqa, true colours"] = _answer(parsers, seen, "nsvqa", _mend_colors(seen))
        seen = replace(seen, right=right)
    print(f"{variant or 'default'} {visual} {split}: {len(scenes)} images, {len(things)} vehicles found", flush=True)
    return seen


def _answer(parsers: NsvqaParsers, seen: Seen, model: str, posterior: ScenePosterior) -> list[bool]:
    executor = {"nsvqa": nsvqa, "p_nsvqa": p_nsvqa}[model].make_executor(parsers.trained)  # type: ignore[attr-defined]
    said = executor.execute(seen.programs, posterior, np.array(seen.rows))
    return [
        r.answer is not None and is_same_answer(r.answer, q.answer)  # type: ignore[arg-type]
        for r, q in zip(said, seen.questions, strict=True)
    ]


def _mend_colors(seen: Seen) -> ScenePosterior:
    """The posterior with the true colour of every vehicle that was found."""
    colors = np.array(seen.posterior.attributes[COLOR])
    colors[seen.where] = np.eye(len(COLORS), dtype=colors.dtype)[seen.true(COLOR)]
    attributes = tuple(colors if k == COLOR else a for k, a in enumerate(seen.posterior.attributes))
    return replace(seen.posterior, attributes=attributes)


def print_measured(seen: dict[tuple[str, str], Seen]) -> None:
    """Accuracy of each test, and of what the parser tells of vehicles."""
    rows = []
    for (variant, visual), one in seen.items():
        shares = [np.mean(one.right[name]) for name in ("nsvqa", "nsvqa, true colours", "p_nsvqa")]
        told = [np.mean(one.true(k) == one.found(k)) for k in (COLOR, SHAPE)]
        recall = len(one.things) / sum(len(scene.objects) for scene in one.scenes)
        rows.append([f"{variant or 'default'}, {visual}", *(f"{100 * x:.2f}" for x in (*shares, recall, *told))])
    heads = ("tested on", "nsvqa", "nsvqa, true colours", "p_nsvqa", "vehicles found", "their colour", "their shape")
    table(f"The shipped parsers, {len(next(iter(seen.values())).questions):,} questions per test", heads, rows)


def print_bound(seen: dict[tuple[str, str], Seen]) -> None:
    """How much oftener co-1 and co-2 can make an error in colour that depends on shape and colour alone."""
    default = seen[TESTS[0]]
    wrong = default.true(COLOR) != default.found(COLOR)
    parts = [{dict(p.attributes).get("color") for p in thing.parts} for thing in default.things]
    taken = [COLORS[c] in own for c, own in zip(default.found(COLOR), parts, strict=True)]
    rows = [["colours misread", f"{wrong.sum()} of {len(wrong)}", f"{100 * wrong.mean():.2f}"]]
    rows.append(["  of these, the colour of one of its parts", f"{(wrong & taken).sum()}", ""])
    for variant in ("co-1", "co-2"):
        shares = concepts(variant).together
        assert shares is not None
        times = len(COLORS) * np.array(shares)  # how much oftener than in co-0
        shape = [SHAPES.index(thing.values("shape")[0]) for thing in default.things]
        weight = times[shape, default.true(COLOR)]
        rows.append([f"the same, its pairs weighted as in {variant}", "", f"{100 * (weight * wrong).mean():.2f}"])
        rows.append([f"at most, were all errors in its commonest pairs (× {times.max():.2f})", "",
                     f"{100 * times.max() * wrong.mean():.2f}"])  # fmt: skip
        own = seen[variant, "mid"]
        misread = own.true(COLOR) != own.found(COLOR)
        rows.append([f"measured on {variant}", f"{misread.sum()} of {len(misread)}", f"{100 * misread.mean():.2f}"])
    table("Colours of vehicles, default", ("", "vehicles", "%"), rows)


def print_misread(default: Seen) -> None:
    """What misread colours cost: true scenes and programs, a share of the vehicles in another colour."""
    programs = [q.program for q in default.questions]
    rows = []
    for share in WRONG:
        draw = derive("misread", round(1000 * share))
        scenes = [_misread(scene, share, draw) for scene in default.scenes]
        found = execute_many(programs, pack_scenes(scenes), default.rows)  # type: ignore[arg-type]
        said = [found[i] for i in range(len(found))]
        right = [
            not isinstance(a, Undefined) and is_same_answer(a, q.answer)  # type: ignore[arg-type]
            for a, q in zip(said, default.questions, strict=True)
        ]
        rows.append([f"{100 * share:.0f}", f"{100 * np.mean(right):.2f}"])
    table("What misread colours cost", ("% of vehicles in another colour", "accuracy on true scenes, otherwise"), rows)


def _misread(scene: Scene, share: float, draw: Any) -> Scene:
    def change(thing: Any) -> Any:
        if draw.random() >= share:
            return thing
        own = thing.values("color")[0]
        others = [c for c in COLORS if c != own]
        new = others[int(draw.integers(len(others)))]
        return replace(thing, attributes=tuple((k, new if k == "color" else v) for k, v in thing.attributes))

    return replace(scene, objects=tuple(change(thing) for thing in scene.objects))


# Colour heads on the parser's features


def print_heads(train: Seen, seen: dict[tuple[str, str], Seen]) -> None:
    """Colours told by a softmax regression that is trained on the first vehicles of default's train split."""
    tests = [name for name in TESTS if name[1] == "mid"]
    rows = []
    for few in [n for n in FEW if n <= len(train.things)]:
        for apart in (False, True):
            shares = _train_heads(train, few, [seen[name] for name in tests], apart)
            rows.append([f"{few:,}", "one per shape" if apart else "shared", *(f"{100 * s:.2f}" for s in shares)])
    heads = ("vehicles", "head", *(name[0] for name in tests))
    table("Colour heads trained on default, accuracy of colour", heads, rows)


def _train_heads(train: Seen, few: int, tests: Sequence[Seen], apart: bool) -> list[float]:
    import torch
    from torch.nn import functional as F

    torch.manual_seed(0)
    given = (train.features, train.true(COLOR), train.true(SHAPE))
    features, colors, shapes = (torch.from_numpy(a[:few]) for a in given)
    middle, spread = features.mean(0), features.std(0) + 1e-3
    groups = range(len(SCHEMA.attributes[SHAPE].values)) if apart else [None]
    found = [np.zeros(len(test.things), np.int64) for test in tests]
    for shape in groups:
        mine = shapes == shape if shape is not None else torch.ones(few, dtype=torch.bool)
        head = torch.nn.Linear(features.shape[1], len(COLORS))
        best = torch.optim.LBFGS(head.parameters(), max_iter=100, line_search_fn="strong_wolfe")
        x, y = (features[mine] - middle) / spread, colors[mine]

        def loss() -> Any:
            best.zero_grad()  # noqa: B023
            error = F.cross_entropy(head(x), y) + 1e-3 * head.weight.square().sum()  # noqa: B023
            error.backward()
            return error

        if len(y):
            best.step(loss)
        for test, told in zip(tests, found, strict=True):
            rows = test.true(SHAPE) == shape if shape is not None else np.ones(len(told), bool)
            with torch.no_grad():
                told[rows] = head((torch.from_numpy(test.features[rows]) - middle) / spread).argmax(-1).numpy()
    return [float(np.mean(told == test.true(COLOR))) for test, told in zip(tests, found, strict=True)]


if __name__ == "__main__":
    main()

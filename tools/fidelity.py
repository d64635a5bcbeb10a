"""Measures what `docs/results/fidelity.md` states, on data made for it: `python -m tools.fidelity [FOLDER]`.

The page's words are in `tools/fidelity.md`; every figure in braces there is measured here. FOLDER keeps the datasets.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from shiftscope.cli import main as run_command
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.program import split_action
from shiftscope.question import Question
from shiftscope.questions.clevr.redundancy.check import check_minimal, check_saturated, check_twin
from shiftscope.questions.covr.templates import __path__ as covr_templates
from shiftscope.scene import Object, Scene
from shiftscope.shift import concept_distribution
from shiftscope.store.dataset import Dataset
from shiftscope.suites.superclevr.variants import VARIANTS

TEXT, PAGE = Path(__file__).with_suffix(".md"), Path("docs/results/fidelity.md")
DATASETS = {
    "superclevr": ("superclevr", "--study", "--images", 60),
    "clevr_hyp": ("clevr_hyp", "--images", 70, "--no-images"),
    "covr": ("covr", "--world", "superclevr", "-n", 180, "--size", "120x80", "--questions", "600,120,120"),
}


def make_datasets(folder: Path) -> dict[str, Path]:
    """Make what is missing in the folder."""
    for name, words in DATASETS.items():
        sys.argv = ["shiftscope", "make", *map(str, words), "--out", str(folder / name)]
        try:
            run_command()
        except SystemExit as end:
            if end.code:
                raise
    return {name: folder / name for name in DATASETS}


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "–"


def count_words(texts: Iterable[str]) -> float:
    return mean(len(text.split()) for text in texts)


def spread(counts: Iterable[int]) -> str:
    """The least and the largest count."""
    values = [*counts]
    return f"{min(values):,}–{max(values):,}"


def compare_shares(variant: str, objects: Sequence[Object]) -> dict[str, str]:
    """The ratio between neighbouring stated shares of colours, and how far the measured shares lie from the stated."""
    stated = VARIANTS[variant].concepts.frequencies()
    ordered = sorted((share for share in stated["color"].values() if share), reverse=True)
    distances = []
    for attribute, shares in stated.items():
        seen = Counter(o.values(attribute)[0] for o in objects)
        distances.append(sum(abs(share - seen[value] / len(objects)) for value, share in shares.items()) / 2)
    return {f"shares_{variant}": f"{ordered[0] / ordered[1]:.1f}", f"distance_{variant}": f"{max(distances):.2f}"}


def measure_superclevr(study: Path) -> dict[str, str]:
    data = {name: Dataset.open(study / name) for name in VARIANTS}
    scenes = {name: {i.id: i for i in dataset.images()} for name, dataset in data.items()}
    questions = {name: [*dataset.questions()] for name, dataset in data.items()}
    images = scenes["default"].values()
    parts = [len(o.parts) for i in images for o in i.scene.objects]
    found = {
        "images": f"{len(images):,}",
        "objects": spread(len(i.scene.objects) for i in images),
        "visible": f"{min(min(i.visible) for i in images):,}",
        "parts_3": percent(parts.count(3), len(parts)),
        "parts_most": str(max(parts)),
        "object_questions": f"{sum(not is_part(q) for q in questions['default']) / len(images):.2f}",
        "part_questions": f"{sum(map(is_part, questions['default'])) / len(images):.2f}",
        "part_names": percent(
            sum(q.kind == "partquery_partname" for q in questions["default"]), sum(map(is_part, questions["default"]))
        ),
        "shares": " / ".join(percent(data["default"].count(s)[0], len(images)) for s in ("train", "val", "test")),
    }
    found |= compare_levels(scenes, questions) | check_redundancy(scenes, questions)
    for name in ("default", *concept_distribution.FACTOR.variants[1:]):
        found |= compare_shares(name, [o for image in scenes[name].values() for o in image.scene.objects])
    return found


def is_part(question: Question) -> bool:
    return question.provenance.template.startswith("part")


def compare_levels(scenes: dict, questions: dict) -> dict[str, str]:  # type: ignore[type-arg]
    """How many scenes of easy and hard are elsewhere laid out, and how many of their questions are other ones."""

    def lay_out(scene: Scene) -> list[object]:
        return [(o.position, o.rotation, o.attributes) for o in scene.objects]

    texts = {
        name: {q.id.removesuffix(f"_{name}"): (q.text, q.answer) for q in questions[name]}
        for name in ("default", "easy", "hard")
    }
    moved = sum(
        lay_out(scenes[n][k].scene) != lay_out(i.scene) for n in ("easy", "hard") for k, i in scenes["default"].items()
    )
    other = sum(texts["default"].get(k) != v for n in ("easy", "hard") for k, v in texts[n].items())
    return {"moved": str(moved), "other_questions": str(other)}


def check_redundancy(scenes: dict, questions: dict) -> dict[str, str]:  # type: ignore[type-arg]
    by_id = {q.id: q for q in questions["default"]}
    found = {}
    for name, check in (("rd-", check_minimal), ("rd+", check_saturated)):
        troubles = twins = 0
        rows = [q for q in questions[name] if not is_part(q)]
        for question in rows:
            base, scene = by_id[question.note("twin")], scenes[name][question.scenes[0]].scene
            troubles += bool(check(scene, question) if name == "rd-" else check_saturated(scene, question, base))
            twins += bool(check_twin(scene, question, base))
        found[f"{name} faults"] = f"{troubles} of {len(rows):,}"
        found[f"{name} other"] = f"{twins} of {len(rows):,}"
        found[f"{name} words"] = f"{count_words(q.text for q in rows):.1f}"
    rows = [q for q in questions["default"] if not is_part(q)]
    found["rd words"] = f"{count_words(q.text for q in rows):.1f}"
    return found


def measure_clevr_hyp(folder: Path) -> dict[str, str]:
    data = Dataset.open(folder)
    scenes = {i.id: i.scene for i in data.images()}
    rows = {split: [*data.questions(split)] for split in data.splits}
    original, balanced = rows["train"], rows["balanced_train"]
    before = [answer_before(q, scenes) for q in original]
    changed = sum(b is not None and b != q.answer for b, q in zip(before, original, strict=True))
    found = {
        "hyp_objects": spread(len(s.objects) for s in scenes.values()),
        "hyp_pairs": f"{mean(Counter(q.scenes[0] for q in original).values()):.1f}",
        "hyp_kinds": ", ".join(
            f"{k} {percent(n, len(original))}"
            for k, n in sorted(Counter(q.note("action_kind") for q in original).items())
        ),
        "hyp_same": str(sum(b == q.answer for b, q in zip(before, original, strict=True))),
        "hyp_changed": percent(changed, len(original)),
        "hyp_undefined": percent(before.count(None), len(original)),
        "hyp_answers": str(len({str(q.answer) for q in balanced})),
        "hyp_balance": spread(Counter(str(q.answer) for q in balanced).values()),
        "hyp_unique_actions": percent(len({q.action for q in original}), len({(q.scenes, q.action) for q in original})),
        "hyp_unique_questions": percent(len({q.text for q in original}), len(original)),
        "hyp_rare": percent(
            sum(any(n.op in ("copy", "swap") for n in q.program.nodes) for q in original), len(original)
        ),
        "hyp_logic": percent(sum(bool(q.note("logic")) for q in original), len(original)),
    }
    for split in ("train", "balanced_train", "two_hop_actions", "two_hop_questions"):
        found[f"hyp_q_{split}"] = f"{count_words(q.text for q in rows[split]):.1f}"
        found[f"hyp_a_{split}"] = f"{count_words(q.action for q in rows[split]):.1f}"
    return found


def answer_before(question: Question, scenes: dict[str, Scene]) -> object:
    """The answer on the scene as it was; None where there is none."""
    _, asked = split_action(question.program)
    run = execute(asked, scenes[question.scenes[0]])
    return run.answer if run.is_defined else None


def measure_covr(folder: Path) -> dict[str, str]:
    data = Dataset.open(folder)
    rows = {split: [*data.questions(split)] for split in data.splits}
    train = rows["train"]
    per_template = Counter(q.provenance.template for q in train)
    distances = Counter(d for q in train for _, d in q.note("distractors", ()))
    answers: dict[str, set[str]] = {}
    for q in train:
        answers.setdefault(q.text, set()).add(str(q.answer))
    counts = [q.answer for q in train if isinstance(q.answer, int) and not isinstance(q.answer, bool)]
    return {
        "covr_questions": f"{len(train):,}",
        "covr_templates": f"{len(per_template)} of {len([*Path(covr_templates[0]).glob('[a-z]*.py')])}",
        "covr_per_template": spread(per_template.values()),
        "covr_near": percent(distances[1] + distances[2], distances.total()),
        "covr_images": f"{mean(len(q.scenes) for q in train):.1f}",
        "covr_most_images": str(max(len(q.scenes) for q in train)),
        "covr_counts": spread(counts),
        "covr_twice": percent(sum(len(answers[q.text]) > 1 for q in train), len(train)),
        "covr_words": f"{count_words(q.text for q in train):.1f}",
        "covr_shared_texts": str(len({q.text for q in rows["val"]} & {q.text for q in rows["test"]})),
        "covr_structures": str(len({(q.note("size"), q.note("depth")) for q in train})),
        "covr_shared_images": str(
            len({s for q in train for s in q.scenes} & {s for n in ("val", "test") for q in rows[n] for s in q.scenes})
        ),
    }


MEASURES: dict[str, Callable[[Path], dict[str, str]]] = {
    "superclevr": measure_superclevr,
    "clevr_hyp": measure_clevr_hyp,
    "covr": measure_covr,
}


def main(folder: Path) -> None:
    figures: dict[str, str] = {}
    for name, path in make_datasets(folder).items():
        figures |= MEASURES[name](path)
    for name, figure in figures.items():
        print(f"{name:24} {figure}")
    page = TEXT.read_text("utf-8")
    for name, figure in figures.items():
        page = page.replace("{" + name + "}", figure)
    PAGE.write_text(page, "utf-8")
    print(PAGE)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as temporary:
            main(Path(temporary))

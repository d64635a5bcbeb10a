"""CLEVR_HYP's study: the paper's four baselines and ours, trained on Original and run on the four test sets.

All that is trained learns from Original's train split; the scene parser, and the LXMERT that looks at edited pictures,
learn from CLEVR's scenes, the latter with questions about them in Original's words. Two-hop texts are for testing
alone (decision 047), but for those that the recombined rows make of Original's (decision 051).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...lang.exec.exact import execute
from ...lang.program import split_action
from ...metrics.intervals import wilson_interval
from ...models.scene_edit.outcome import describe_outcome, match_outcome
from ...store.dataset import Dataset, ImageIndex
from ...store.run_log import read_rows
from ...store.shard import read_questions
from ..model_study import ACCURACY, ACTION, OUTCOME, Figure, ModelRow, ModelScale, ModelStudy, ModelTraining
from ..study import Finding
from .reported import SLICES, TESTS
from .suite import ClevrHypSpec

if TYPE_CHECKING:
    from ..model_study import StudyResults

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # what it says besides figures
SCENE, PLAIN, TUNED, RECOMBINED = "clevr_scene", "scene_edit", "scene_edit_reinforced", "scene_edit_recombined"
READER, LXMERT, LOOKER, EDITOR = "text_reader", "lxmert", "lxmert_clevr", "image_edit"
PARSERS = "actions,questions"
LOOKED, READ = 48, 24  # epochs: after half as many, answers still rose by two points, and by 0.6, in the last quarter
TAIL = "16"  # epochs more of the first, at most: after 48 answers still rose by 0.4
TRAININGS = {
    SCENE: ModelTraining("nsvqa", "clevr", only="scene"),
    PLAIN: ModelTraining("scene_edit", only=PARSERS, other=SCENE),
    TUNED: ModelTraining("scene_edit", only=PARSERS, other=PLAIN, folders=(("reinforce", PLAIN),)),
    RECOMBINED: ModelTraining("scene_edit", only="questions", other=PLAIN, settings=(("questions", "recombined"),)),
    READER: ModelTraining("text_reader", only="reader", other=SCENE, epochs=READ),
    LXMERT: ModelTraining("lxmert", folders=(("backbone", SCENE),)),
    LOOKER: ModelTraining(
        "lxmert", "clevr:hypothetical", folders=(("backbone", SCENE),), settings=(("tail", TAIL),), epochs=LOOKED
    ),
    EDITOR: ModelTraining("image_edit", folders=(("answerer", LOOKER),)),
}
ROWS = {
    "random (27 answers alike)": ModelRow("random_uniform", paper="random"),
    "random (by type)": ModelRow("random"),
    "question_only": ModelRow("question_only"),
    "text_reader, parsed scene": ModelRow("text_reader", READER, paper="BL1"),
    "text_reader, oracle scene": ModelRow("text_reader", READER, "scene_text"),
    "lxmert": ModelRow("lxmert", LXMERT, paper="BL2"),
    "image_edit": ModelRow("image_edit", EDITOR, paper="BL3", acts=OUTCOME),
    "image_edit, true picture": ModelRow("image_edit", EDITOR, "true_outcome"),
    "scene_edit": ModelRow("scene_edit", PLAIN, acts=ACTION),
    "scene_edit, reinforced": ModelRow("scene_edit", TUNED, paper="BL4", acts=ACTION),
    "scene_edit, oracle scene": ModelRow("scene_edit", PLAIN, "scene_text"),
    "scene_edit, recombined": ModelRow("scene_edit", RECOMBINED, acts=ACTION),
    "scene_edit_soft, recombined": ModelRow("scene_edit_soft", RECOMBINED),
    "scene_edit_worlds, recombined (ours)": ModelRow("scene_edit_worlds", RECOMBINED),
}
SCALES = {
    "small": ModelScale("small", 70, (240, 160), epochs=1, shard=10),
    "paper": ModelScale("paper", 7000, (480, 320), drawn=20_000),
}


class ClevrHypStudy(ModelStudy):
    suite = "clevr_hyp"
    title = "CLEVR_HYP: models that imagine what an action leads to"
    trainings = TRAININGS
    rows = ROWS
    tests = TESTS
    # What the paper reports by kind of action is of actions, by type of question of answers: these average to its
    # overall accuracy, and those do not.
    slices = tuple((*one, (ACCURACY, ACTION, OUTCOME) if one[1] == "action" else (ACCURACY,)) for one in SLICES)
    by = ("action", "kind", "logic")
    scales = SCALES
    reported_tables = ("hypothetical_accuracy", "hypothetical_slices")
    people = "people"
    terms = TEXTS["terms"]
    notes = TEXTS["notes"]

    def build_spec(self, scale: ModelScale) -> ClevrHypSpec:
        return ClevrHypSpec(images=scale.images, size=scale.size, shard=scale.shard)

    def measure_more(self, dataset: Dataset, split: str, run: Path) -> dict[str, dict[str, Figure]]:
        return measure_outcomes(dataset, split, run)

    def check_findings(self, results: StudyResults) -> Iterator[tuple[str, Sequence[Finding]]]:
        from .findings import check_paper_findings, check_targets

        yield "Targets", tuple(check_targets(results))
        yield "The paper's findings", tuple(check_paper_findings(results))

    def list_differences(self) -> Sequence[tuple[str, str, str]]:
        return [(row["of"], row["paper"], row["here"]) for row in TEXTS["differences"]]


def measure_outcomes(dataset: Dataset, split: str, run: Path) -> dict[str, dict[str, Figure]]:
    """How often the scene that a model took an action to lead to is the true one; each action of an image counts once.

    Objects exactly, places by relations. Nothing where the run's responses tell no scene.
    """
    traces = {question.question: prediction.trace for question, prediction in read_rows(run)}
    if not any(text.startswith("{") for text in traces.values()):
        return {}
    index = ImageIndex(dataset.folder, dataset.shards(), dataset.check_file)
    counts: dict[str, list[int]] = {}
    known: set[tuple[str, str]] = set()
    for shard in dataset.shards(split):
        for question in read_questions(dataset.folder / shard.questions.path) if shard.questions else ():
            key = (question.scenes[0], question.action)
            action = split_action(question.program)[0] if question.program is not None else None
            if question.id not in traces or key in known or action is None:
                continue
            known.add(key)
            after: Any = execute(action, index.get(question.scenes[0], shard).scene).worlds[-1].scenes[0]
            right = match_outcome(traces[question.id], describe_outcome(after))
            for name in ("", f"action={question.note('action_kind')}"):
                pair = counts.setdefault(name, [0, 0])
                pair[0] += right
                pair[1] += 1
    return {OUTCOME: {name: (right / of, *wilson_interval(right, of), of) for name, (right, of) in counts.items()}}


STUDY = ClevrHypStudy()

"""scene_edit's parsers of texts, on true scenes: exact programs and right answers on CLEVR_HYP's four test sets.

`python -m benchmarks.hyp_parsers --data data/hyp MODEL [MODEL …]`, folders that `train --model scene_edit --only
actions,questions` wrote; no scene parser is needed, and no GPU. Prints a table, and --json FILE keeps its figures.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.table import table
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.program import ProgramError, join_action, split_action
from shiftscope.metrics.intervals import wilson_interval
from shiftscope.models.nsvqa.trained_model import QUESTION_PARSER
from shiftscope.models.scene_edit.scene_editing import EditParsers
from shiftscope.models.scene_edit.training import ACTION_PARSER, SceneEditTraining, TrainedSceneEditor
from shiftscope.store.dataset import Dataset
from shiftscope.suites.clevr_hyp.reported import TESTS

COUNTED = ("exact actions", "exact questions", "right answers")


def load_text_parsers(folder: Path, device: str) -> EditParsers:
    trained, stages = TrainedSceneEditor.read(folder), SceneEditTraining()
    loaded = {}
    for part in (ACTION_PARSER, QUESTION_PARSER):
        stage = stages.stage(part)
        loaded[part] = trained.load(part, stage.build(stage.read_config(trained.config(part)), {})).to(device)
    return EditParsers(trained, device, None, loaded[QUESTION_PARSER], actions=loaded[ACTION_PARSER])


def count_right(parsers: EditParsers, data: Dataset, split: str) -> dict[str, Counter[str]]:
    """How many are right, of all and by kind of action, type of question and word of logic; "of" is how many there are.

    An action counts once per image.
    """
    scenes = {image.id: image.scene for image in data.images("test")}
    questions = [q for q in data.questions(split) if q.program is not None]
    told, asked = sorted({q.action for q in questions}), sorted({q.text for q in questions})
    actions = dict(zip(told, parsers.parse_actions(told), strict=True))
    programs = dict(zip(asked, parsers.parse_questions(asked), strict=True))
    counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTED}
    known: set[tuple[str, str]] = set()
    for q in questions:
        assert q.program is not None
        action, question = split_action(q.program)
        assert action is not None
        parts = ("", f"action={q.note('action_kind')}", f"kind={q.kind}", f"logic={q.note('logic') or 'none'}")
        found = {"exact questions": programs[q.text] == question.canonicalize()}
        if (q.scenes[0], q.action) not in known:
            known.add((q.scenes[0], q.action))
            found["exact actions"] = actions[q.action] == action.canonicalize()
        try:
            run = execute(join_action(actions[q.action].nodes, programs[q.text]), scenes[q.scenes[0]])
            found["right answers"] = type(run.answer) is type(q.answer) and run.answer == q.answer
        except ProgramError:
            found["right answers"] = False
        for name, right in found.items():
            for part in parts:
                counts[name][part] += right
                counts[name][f"of {part}"] += 1
    return counts


def format_share(counts: Counter[str], part: str) -> str:
    right, of = counts[part], counts[f"of {part}"]
    if not of:
        return ""
    low, high = wilson_interval(right, of)
    return f"{100 * right / of:.1f} ({100 * low:.1f}–{100 * high:.1f}) of {of:,}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", type=Path, nargs="+")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--device", default="cpu")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    data = Dataset.open(given.data)
    kept: dict[str, Any] = {}
    for folder in given.models:
        parsers = load_text_parsers(folder, given.device)
        found = {split: count_right(parsers, data, split) for split in TESTS}
        rows = [(TESTS[split], *(format_share(found[split][name], "") for name in COUNTED)) for split in TESTS]
        table(f"{folder}: %, with Wilson's intervals", ("test set", *COUNTED), rows)
        for split, counts in found.items():
            parts = sorted(p for p in counts["right answers"] if p and not p.startswith("of "))
            rows = [(part, *(format_share(counts[name], part) for name in COUNTED)) for part in parts]
            table(f"{folder} on {TESTS[split]}", ("part", *COUNTED), rows)
        kept[str(folder)] = found
    if given.json:
        given.json.write_text(json.dumps(kept) + "\n", "utf-8")


if __name__ == "__main__":
    main()

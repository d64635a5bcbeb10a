"""Given: what the stories are given, made by commands: data, two runs over it, and questions to audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shiftscope import rng

SIZE = ("--size", "48x32", "--workers", "1")


def lay_out(folder: Path) -> None:
    """Write the files that no command makes."""
    for name, content in zip("qa", audited(300), strict=True):
        (folder / f"{name}.json").write_text(json.dumps(content))


def commands(folder: Path) -> list[tuple[str, ...]]:
    """Make the rest; and do once all that the stories do without training, for whoever wants it loaded."""
    f = str(folder)
    run = ("run", "--data", f"{f}/data", "--model")
    return [
        ("make", "superclevr", "--images", "12", *SIZE, "--out", f"{f}/data"),
        (*run, "random", "--out", f"{f}/run0"),
        (*run, "random", "--seed", "1", "--out", f"{f}/run1"),
        ("make", "clevr", "--images", "9", *SIZE, "--out", f"{f}/clevr"),
        ("make", "clevr_hyp", "--images", "9", *SIZE, "--out", f"{f}/hyp"),
        (*run, "question_only", "--out", f"{f}/run2"),
        ("audit", "--questions", f"{f}/q.json", "--annotations", f"{f}/a.json", "--out", f"{f}/audit"),
        ("split", f"{f}/data", "--hold-out", "has_count", "--out", f"{f}/split"),
        ("test", "contrast", "--model", "oracle", "--data", f"{f}/data", "--out", f"{f}/test"),
        ("export", f"{f}/data", "--to", "clevr", "--out", f"{f}/files"),
        ("export", f"{f}/data", "--to", "webdataset", "--out", f"{f}/tar"),
        ("report", f"{f}/run0", f"{f}/run1", "--data", f"{f}/data", "--out", f"{f}/report.html"),
    ]


NEEDED = 3  # of the commands, by the stories


def audited(count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Questions and annotations as VQA has them, with words that give answers away."""
    random = rng.derive("campaign", "audited")
    asked, answered = [], []
    for k in range(count):
        thing = ("cat", "dog", "bus", "cup")[int(random.integers(4))]
        color = ("red", "blue", "green")[int(random.integers(3))]
        forms = (
            (f"What color is the {thing}?", "red" if thing == "bus" else color, "what color is the"),
            (f"Is there a {thing}?", "yes" if thing == "dog" or random.random() < 0.5 else "no", "is there a"),
            (f"How many {thing}s are there?", str(int(random.integers(4))), "how many"),
        )
        text, answer, start = forms[int(random.integers(3))]
        kind = {"is there a": "yes/no", "how many": "number"}.get(start, "other")
        place = {"question_id": k, "image_id": k // 3}
        asked.append({**place, "question": text})
        answers = [{"answer": answer, "answer_confidence": "yes", "answer_id": n + 1} for n in range(10)]
        said = {"multiple_choice_answer": answer, "answers": answers}
        answered.append({**place, "question_type": start, "answer_type": kind, **said})
    return {"questions": asked}, {"annotations": answered}

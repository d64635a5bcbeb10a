"""Answer official-format questions by running their programs: CLEVR, Super-CLEVR, CLEVR_HYP and GQA."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"

STEPS = (
    ("A scene as a table", "show", DATA / "clevr_scenes.json"),
    ("A question as a tree, with its trace", "show", DATA / "clevr_questions.json", "--index", "1"),
    ("CLEVR", "answer", "--scenes", DATA / "clevr_scenes.json", "--questions", DATA / "clevr_questions.json"),
    (
        "Super-CLEVR, with parts",
        *("answer", "--scenes", DATA / "superclevr_scenes.json"),
        *("--questions", DATA / "superclevr_questions.json"),
    ),
    (
        "CLEVR_HYP: what would be true after an action",
        *("answer", "--scenes", DATA / "clevr_scenes.json", "--questions", DATA / "clevr_hyp_questions.json"),
    ),
    (
        "GQA: a scene graph",
        *("answer", "--graphs", DATA / "gqa_graphs.json", "--questions", DATA / "gqa_questions.json"),
    ),
)

for title, *words in STEPS:
    command = ["shiftscope", *(str(w) for w in words)]
    shown = " ".join(c.replace(f"{DATA}/", "examples/data/") for c in command)
    print(f"\n── {title}\n$ {shown}\n", flush=True)
    subprocess.run([sys.executable, "-m", *command], check=True)

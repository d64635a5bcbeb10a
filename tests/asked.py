"""A toy dataset to run models on, and prompts about toy scenes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shiftscope.lang.text import parse_program
from shiftscope.model import Prompt
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from store_toys import make
from toy import THREE_AND_ONE

SPEC = {"suite": "toy", "seed": 0, "images_per_shard": 6}
JOBS = {"train": 2, "test": 2}


def dataset(folder: Path, spec: Mapping[str, Any] = SPEC) -> Dataset:
    """12 images of train and 12 of test, three questions each."""
    build_dataset(folder, spec, JOBS, make)
    return Dataset.open(folder)


def asked(program: str, *scenes: Scene, text: str = "", name: str = "q") -> Prompt:
    """A prompt about toy scenes, the usual one unless others are given."""
    shown = scenes or (THREE_AND_ONE,)
    question = Question(name, text or program, tuple(s.id for s in shown), parse_program(program))
    return Prompt(question, text, scenes=shown)

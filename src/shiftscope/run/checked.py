"""Checked: what is told of a COVR dataset about incomplete graphs, on its card and in reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..formats import _json
from ..store.manifest import read_manifest

YIELD = "yield.json"
WAYS = {
    "beliefs": "with a belief",
    "answers": "by yes or no alone, taken as 1 and 0",
    "unread": "in a way that can not be read, taken as yes",
}


def told_of(folder: Path) -> str:
    """The same of a finished dataset; nothing where it is not of scene graphs."""
    manifest = read_manifest(folder)
    if manifest is None or manifest.spec.get("suite") != "covr":
        return ""
    path = folder / YIELD
    return checked_by(manifest.spec, _json.load(path).get("checked", {}) if path.is_file() else {})


def checked_by(spec: Mapping[str, Any], tally: Mapping[str, int]) -> str:
    """Who checked that graphs lack nothing, by a dataset's spec, and what came of it."""
    if spec.get("world"):
        return "Graphs are complete, so that nothing had to be checked."
    if not spec.get("verify"):
        return "Graphs were taken to be complete: no model looked for what they lack."
    said = f"Incomplete graphs were checked by {spec['verify']}"
    if tally.get("lessons"):
        said += (
            f", taught five ways on {tally['lessons']:,} lessons from the graphs, each image judged by one "
            "that was not shown it"
        )
    if answers := [f"{tally[way]:,} times {words}" for way, words in WAYS.items() if tally.get(way)]:
        said += f", which was asked whether there is such a thing and answered {', '.join(answers)}"
    distractors, counted = (_dropped(tally, way) for way in ("distractors", "counted"))
    unboxed = (
        f" {tally['unboxed']:,} more to count in were not looked at for others of the kind: the annotated "
        "ones have no boxes to paint over."
        if tally.get("unboxed")
        else ""
    )
    return (
        f"{said}. It dropped {distractors} distractors, for they seem to show what is asked about, and "
        f"{counted} images to count in, for there seems to be one more than annotated."
        f"{unboxed}"
    )


def _dropped(tally: Mapping[str, int], way: str) -> str:
    return f"{tally.get(f'{way}_dropped', 0):,} of {tally.get(way, 0):,}"

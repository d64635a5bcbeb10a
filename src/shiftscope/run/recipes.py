"""Recipes: further ways to part the samples of an audit, each with its settings and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..audit.audit import Audit
from ..audit.folder import CHANGING_PRIORS, GQA_OOD
from ..audit.sets import SampleSet
from ..errors import unknown
from ..shift import changing_priors, gqa_ood

Options = Mapping[str, Any]  # settings by name; what is not there is as usual
SETTINGS: dict[str, Any] = {"gqa_ood": gqa_ood.Settings, "changing_priors": changing_priors.Settings}


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The sets of one recipe."""

    recipe: str
    settings: Mapping[str, Any]
    counts: Mapping[str, float]  # of the samples of each set, and what else the recipe counts
    sets: tuple[SampleSet, ...]


def check(recipes: Mapping[str, Options]) -> None:
    """Refuse recipes and settings that there are not."""
    for recipe, options in recipes.items():
        if recipe not in SETTINGS:
            raise unknown("recipe", recipe, SETTINGS)
        names = [f.name for f in fields(SETTINGS[recipe])]
        for name in options:
            if name not in names:
                raise unknown(f"setting of {recipe}", name, names)


def made(recipe: str, found: Audit, options: Options) -> Made:
    """The sets of a recipe; `gqa_ood` parts the IID test, `changing_priors` all samples."""
    if recipe == "gqa_ood":
        # By GQA's own groups, else by the nearest that other data have.
        usual = {"by": gqa_ood.LOCAL if found.samples.local is not None else "QT+KW"}
        chosen = gqa_ood.Settings(**usual | dict(options))
        sets = gqa_ood.sets_of(found, chosen)
        return Made(recipe, asdict(chosen), {s.name: len(s) for s in sets}, _under(GQA_OOD, sets))
    given: dict[str, Any] = {"seed": found.settings.seed, "types": found.settings.types} | dict(options)
    settings = changing_priors.Settings(**given)
    parted = changing_priors.build(found.samples, settings)
    counts = {"Train": len(parted.train), "Test": len(parted.test)}
    sets = (SampleSet("Train", parted.train), SampleSet("Test", parted.test))
    counted = counts | {"groups": parted.groups, "covered": parted.covered}
    return Made(recipe, asdict(settings), counted, _under(CHANGING_PRIORS, sets))


def _under(folder: str, sets: tuple[SampleSet, ...]) -> tuple[SampleSet, ...]:
    return tuple(SampleSet(f"{folder}/{s.name}", s.rows) for s in sets)

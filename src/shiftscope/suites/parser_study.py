"""Studies whose models stand on a scene parser and a question parser: what a row trains, and what is shipped of it.

A suite's own study says what there is to train and test on. Stages that learn from different data are trained apart, so
that rows can share them; every other model stands on the parsers of its row, or is trained as a whole.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..model import get_traits
from ..models.nsvqa import trained_model as _trained
from ..registry import MODELS as _MODELS
from ..trainable import ANSWERS, IMAGES, TrainStage
from ..trained_folder import MODEL_FILE
from .study import Study, find_family

SHARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # what their pages say alike
PLANNED = tuple(SHARED["models"])
MODELS = tuple(name for name in PLANNED if name in _MODELS.names())  # of those planned, what there is
OBJECT = "object"  # questions about whole objects
JOINT = frozenset((IMAGES, ANSWERS))
SHIPPED_BACKBONE = "shipped"  # what a stage names whose backbone is a scene parser
BACKBONE = "backbone"  # the setting, and the attribute of a stage, that names what sees images
FAMILY = _trained.TrainedModel.KIND  # of the models that are a scene parser and a question parser
FEWEST_IMAGES = 12

Settings = tuple[tuple[str, str], ...]


def read_texts(file: Path) -> dict[str, Any]:
    """A suite's TOML of what its page says, {shared} in a term or a note replaced by what all pages say there."""
    texts = tomllib.loads(file.read_text("utf-8"))
    for kind in ("terms", "notes"):
        shared = SHARED[kind]
        texts[kind] = {name: text.replace("{shared}", shared.get(name, "")) for name, text in texts[kind].items()}
    return texts | {"measures": SHARED["measures"] | texts.get("measures", {})}


@dataclass(frozen=True, slots=True)
class PartTraining:
    """What a study trains at once: one stage of a model, or all of them."""

    model: str  # whose Trainable it is; models of one family share it
    stages: tuple[str, ...]
    only: str  # as `train --only` calls it; nothing for all stages
    domain: Any  # what it learns from
    seed: int
    scale: Any
    settings: Settings = ()  # as `train --set` gives them
    base: tuple[PartTraining, ...] = ()  # the row's parsers that it stands on, trained before

    @property
    def name(self) -> str:
        """Of its folder."""
        label = "-".join([self.domain.label.replace("@", "-"), *(value for _, value in self.settings)])
        what = self.model if self.base else self.only or self.model
        return f"{self.scale.name}-{what}-{label}-{self.seed}"

    def use_base(self, folder: Path) -> dict[str, Any]:
        """What a TrainSpec says of the base: other parts of the model are taken from there, or it is the backbone."""
        return {"other": folder} if self.only else {"settings": (*self.settings, (BACKBONE, str(folder)))}

    @property
    def epochs(self) -> int | None:
        return None if self.scale.epochs is None else int(self.scale.epochs)


class ParserStudy(Study):
    """A study of the models above; NSVQA's ways to answer share one training."""

    models = MODELS
    planned = PLANNED
    comparisons = (("p_nsvqa", "nsvqa"), ("p_nsvqa", "p_nsvqa_referent"), ("p_nsvqa_exact", "p_nsvqa"))
    seeds = (0, 1, 2)  # all but the default's training is of the first
    scales: Mapping[str, Any]
    test_share: str  # of the images, in words

    # What a suite's own study says.

    def find_domain(self, trained: Any, supervision: frozenset[str]) -> Any:
        """What a stage learns from, by what supervises it."""
        raise NotImplementedError

    def list_settings(self, trained: Any, stage: TrainStage) -> Settings:
        """How a parser is trained otherwise than by default."""
        return ()

    # What follows from it.

    def find_scale(self, name: str, images: int | None = None) -> Any:
        """One of the scales; with another number of images it gets a name of its own."""
        if name not in self.scales:
            raise unknown("scale", name, self.scales)
        scale = self.scales[name]
        if images is None or images == scale.images:
            return scale
        if images < FEWEST_IMAGES:
            raise UserError(
                f"{images} images are too few for a study: at least {FEWEST_IMAGES}, "
                f"of which {self.test_share} is tested"
            )
        return replace(scale, name=f"{name}-{images}", images=images)

    def list_parts(self, trained: Any, scale: Any, family: str) -> tuple[PartTraining, ...]:
        """Stages that learn from different things are trained apart, so that rows can share them.

        Whatever looks at images by a scene parser, or reads by a question parser, has those of its own row: what they
        learned from is what the row is trained on, and nothing else.
        """
        model = self.list_models(family)[0]
        trainable = get_traits(model).trainable
        assert trainable is not None
        stages = trainable.stages
        if family != FAMILY:
            return (self._plan_whole(model, stages, trained, scale),)
        return tuple(
            PartTraining(
                model,
                (stage.name,),
                stage.option,
                self.find_domain(trained, stage.supervision),
                trained.seed,
                scale,
                self.list_settings(trained, stage),
            )
            for stage in stages
        )

    def _plan_whole(self, model: str, stages: Sequence[TrainStage], trained: Any, scale: Any) -> PartTraining:
        """All stages of a model at once, but those that are parsers of the row."""
        parsers = {part.stages[0]: part for part in self.list_parts(trained, scale, FAMILY)}
        taken = tuple(parsers[stage.name] for stage in stages if stage.name in parsers)
        seeing = any(getattr(stage, BACKBONE, "") == SHIPPED_BACKBONE for stage in stages)
        base = taken or ((parsers[_trained.SCENE_PARSER],) if seeing else ())
        only = ",".join(stage.option for stage in stages if stage.name not in parsers) if taken else ""
        names, domain = tuple(stage.name for stage in stages), self.find_domain(trained, JOINT)
        return PartTraining(model, names, only, domain, trained.seed, scale, base=base)

    def find_shipped(self, part: PartTraining) -> _trained.TrainedModel | None:
        folder = _trained.SHIPPED / self.suite
        if find_family(part.model) != FAMILY or part.settings or not (folder / MODEL_FILE).is_file():
            return None
        shipped, (stage,) = _trained.read_trained_model(folder), part.stages
        spec = part.domain.build_spec(part.scale)
        entry = shipped.about.get(stage, {})
        if (entry.get("seed"), entry.get("data")) != (part.seed, spec.spec() | spec.identify()):
            return None
        seconds = shipped.about["seconds"].get(part.only)
        if not isinstance(seconds, dict):  # the folder tells the times of its last training, not those of each part
            seconds = {part.only: entry["seconds"]}
        return _trained.TrainedModel(folder, shipped.about | {"seconds": seconds})

    def combine_parts(self, folder: Path, parts: Sequence[Any]) -> None:
        _trained.write_combined_model(folder, *parts)

    def list_validation(self, parts: Sequence[Any]) -> dict[str, float]:
        found: dict[str, float] = {}
        for trained in parts:
            for stage in trained.parts:
                entry = trained.about[stage]
                figures = entry["val"]
                found |= {"program": figures["exact"]} if stage == _trained.QUESTION_PARSER else figures
                if (
                    stage not in _trained.PARSERS and "rise" in entry
                ):  # by which it is judged whether it was trained out
                    found[f"{stage}: rise over the last quarter of its epochs"] = entry["rise"]
        return found


def check_rows(
    only: Iterable[str],
    tests: Iterable[str],
    seeds: Iterable[int],
    trainings: Collection[str],
    domains: Collection[str],
) -> None:
    """Refuse trainings, test sets and seeds that there are not."""
    for noun, given, known in (("training", only, trainings), ("test set", tests, domains)):
        for name in given:
            if name not in known:
                raise unknown(noun, name, known, "the factors chosen")
    for seed in seeds:
        if seed < 0:
            raise UserError(f"a seed is 0 or more, not {seed}")

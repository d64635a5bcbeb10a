"""`--verify`: the model that checks incomplete graphs, and how its checks are reported.

A model that gives a confidence with its answer is trusted that far; one that only answers is taken at its
word.
"""

import inspect
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ... import json_files as _json
from ... import model as _model
from ...errors import UserError, warn
from ...expected_answer import TRUTH
from ...files import find_cache_folder
from ...models.hf import TRUST
from ...picture import Picture
from ...prompt import format_prompt
from ...question import Question
from ...render.png import encode_png
from ...response import parse_response
from ...scene_graph.subgraph_classifier import ImageArray, SubgraphClassifier, explain_model_errors
from ...store.response_cache import DiskResponseCache
from ...trust_remote_code import refuse_untrusted

BATCH = 64  # prompts at once, for a model that does not say
KIND = "yes/no"


@dataclass(frozen=True, slots=True)
class NamedClassifier:
    """A verifier by its name; a worker makes it anew."""

    name: str
    is_prompted: bool = False  # a model that is asked questions; else one with probability(texts, images)
    learns: bool = False  # a class with fit(texts, images, truths)
    trusted: bool = False  # a transformers model may run code of its own
    cache: Path | None = None  # where an endpoint's replies are kept; else in the user's folder
    use_cache: bool = True

    def make(self) -> SubgraphClassifier:
        if not self.is_prompted:
            found = _import_object(self.name)
            with explain_model_errors(f"--verify {self.name}: it cannot be made (", ")"):
                classifier: SubgraphClassifier = found() if isinstance(found, type) else found
            return classifier
        cached = self.use_cache and _model.parse_model_name(self.name).traits.cached
        memory = DiskResponseCache(self.cache or find_cache_folder()) if cached else None
        options = _model.ModelOptions(trust_remote_code=self.trusted)
        setting = _model.ModelSetting(options=options, memory=memory, warn=warn)
        return PromptedClassifier(self.name, _model.build_model(self.name, setting))

    def identify(self) -> _model.ServerIdentity:
        """What an endpoint says of itself: checks of another are not mixed with its own."""
        if not _model.parse_model_name(self.name).traits.cached:
            return {}
        model = _model.build_model(self.name, _model.ModelSetting())
        return (model.identify() or {}) if isinstance(model, _model.ServedModel) else {}


class PromptedClassifier:
    """A model's answers as probabilities."""

    def __init__(self, name: str, model: _model.Model) -> None:
        self._name, self._model = name, model
        self.answer_counts: Counter[str] = Counter()  # in which ways it answered last

    def probability(self, texts: Sequence[str], images: Sequence[ImageArray]) -> list[float]:
        """That the answer to each question is yes."""
        prompts = []
        for k, (text, image) in enumerate(zip(texts, images, strict=True)):
            question = Question(id=f"verify {k}", text=text, scenes=(f"picture {k}",), kind=KIND)
            prompts.append(
                _model.Prompt(question, text=format_prompt(question), pictures=(Picture(encode_png(image)),))
            )
        size = getattr(self._model, "batch", None) or BATCH
        self.answer_counts.clear()
        scores: list[float] = []
        for first in range(0, len(prompts), size):
            batch = prompts[first : first + size]
            scores += map(self._parse_probability, batch, _model.predict_checked(self._model, batch, self._name))
        return scores

    def _parse_probability(self, prompt: _model.Prompt, reply: _model.Response) -> float:
        """What cannot be read vouches for nothing: the thing may be there."""
        if reply.stored is not None:
            self.answer_counts["cached"] += 1
        if reply.status in ("failed", "missing"):
            why = reply.reason or "no reply"
            raise UserError(f"--verify {self._name}: no answer to {prompt.question.text!r} ({why})")
        answer = reply.answer
        if answer is None and not reply.status:
            answer = parse_response(reply.raw, TRUTH)
        if isinstance(answer, str):
            answer = parse_response(answer, TRUTH)
        if not isinstance(answer, bool):
            self.answer_counts["unread"] += 1
            return 1.0
        if reply.confidence is None:
            self.answer_counts["answers"] += 1
            return float(answer)
        self.answer_counts["beliefs"] += 1
        return reply.confidence if answer else 1 - reply.confidence


def find_classifier(name: str, *, tried: bool = False, trusted: bool = False) -> NamedClassifier:
    """The verifier that a user names; `tried` makes a model once, to say at once what it lacks."""
    kind = _model.parse_model_name(name).kind
    if (reads := _model.get_reads(name)) is not None and _model.IMAGES not in reads:
        raise UserError(f"--verify {name}: it does not look at pictures; name a model that does")
    if kind == "python":
        found = _import_object(name)
        if callable(getattr(found, "probability", None)):
            if isinstance(found, type) and (needs := _find_required_argument(found)):
                raise UserError(f"--verify {name}: it is made without arguments, and needs {needs}")
            return NamedClassifier(name, learns=isinstance(found, type) and callable(getattr(found, "fit", None)))
        if not callable(getattr(found, "predict", None)):
            raise UserError(f"--verify {name}: it has no method probability(texts, images), nor predict(batch)")
    named = NamedClassifier(name, is_prompted=True, trusted=trusted)
    if tried and kind != "hf":
        named.make()
    elif tried and not trusted:  # it takes long to load, but is soon looked at
        refuse_untrusted(_model.parse_model_name(name).target, TRUST)
    return named


def _import_object(name: str) -> Any:
    """What MODULE:NAME is; the module may stand in the folder of the command."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    with explain_model_errors(f"--verify {name}: it cannot be imported (", ")"):
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise UserError(f"--verify {name}: {error}") from None


def _find_required_argument(kind: type) -> str:
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (ValueError, TypeError):
        return ""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return next((p.name for p in parameters if p.default is p.empty and p.kind not in several), "")


# What a COVR dataset's card and reports say about incomplete graphs.

YIELD_FILE = "yield.json"
WAYS = {
    "beliefs": "with a confidence",
    "answers": "by yes or no alone, taken as 1 and 0",
    "unread": "in a way that cannot be read, taken as yes",
}


def describe_verification(folder: Path, spec: Mapping[str, Any]) -> str:
    """The same of a finished dataset."""
    path = folder / YIELD_FILE
    return describe_verifier(spec, _json.load_json(path).get("checked", {}) if path.is_file() else {})


def describe_verifier(spec: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Who checked that graphs lack nothing, by a dataset's spec, and what came of it."""
    if spec.get("world"):
        return "Graphs are complete, so that nothing had to be checked."
    if not spec.get("verify"):
        return "Graphs were taken to be complete: no model looked for what they lack."
    text = f"Incomplete graphs were checked by {spec['verify']}"
    if counts.get("lessons"):
        text += (
            f", trained five ways on {counts['lessons']:,} examples from the graphs, each image checked by one "
            "that was not shown it"
        )
    if answers := [f"{counts[way]:,} times {words}" for way, words in WAYS.items() if counts.get(way)]:
        text += f", which was asked whether there is such a thing and answered {', '.join(answers)}"
    checks = ("distractors", "counted")
    of = {check: f"{counts.get(f'{check}_dropped', 0):,} of {counts.get(check, 0):,}" for check in checks}
    text += (
        f". It dropped {of['distractors']} distractors, for they seem to show what is asked about, and "
        f"{of['counted']} images to count in, for there seems to be one more than annotated."
    )
    if counts.get("unboxed"):
        text += (
            f" {counts['unboxed']:,} more to count in were not looked at for others of the kind: the annotated "
            "ones have no boxes to paint over."
        )
    return text

"""Who checks what graphs may lack: a model that sees images, asked yes or no, or what has `probability`.

A model that gives a belief with its answer is believed so far; one that only answers is taken at its word.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..graph.verify import Picture, Seer, told
from ..models._model import Model, Options, Prompt, Reply, Setting, replies
from ..models._name import TRAINED, build, read_name
from ..models._server import Identity
from ..models.hf import TRUST
from ..models.openai import OpenAI
from ..pretrained import refuse_untrusted
from ..question import Question
from ..render.png import png
from ..reply import TRUTH, read_reply
from .memory import DiskMemory, default_folder
from .prompts import prompt_text

SIGHTED = ("openai", "hf", "python", *TRAINED)
BATCH = 64  # prompts at once, for a model that does not say
KIND = "yes/no"


@dataclass(frozen=True, slots=True)
class Named:
    """A verifier by its name; a worker makes it anew."""

    name: str
    asked: bool = False  # a model that is asked questions; else one with probability(texts, images)
    learns: bool = False  # a class with fit(texts, images, truths)
    trusted: bool = False  # a transformers model may run code of its own
    cache: Path | None = None  # where an endpoint's replies are kept; else in the user's folder
    use_cache: bool = True

    def make(self) -> Seer:
        if not self.asked:
            found = _imported(self.name)
            try:
                made: Seer = found() if isinstance(found, type) else found
            except UserError:
                raise
            except Exception as error:
                raise UserError(f"--verify {self.name}: it can not be made ({told(error)})") from error
            return made
        cached = self.use_cache and read_name(self.name).kind == "openai"
        memory = DiskMemory(self.cache or default_folder()) if cached else None
        options = Options(trust_remote_code=self.trusted)
        return Asked(self.name, build(self.name, Setting(options=options, memory=memory, warn=_warn)))

    def identify(self) -> Identity:
        """What an endpoint says of itself: what another judged is not to be mixed with it."""
        if read_name(self.name).kind != "openai":
            return {}
        model = build(self.name, Setting())
        return (model.identify() or {}) if isinstance(model, OpenAI) else {}


class Asked:
    """A model's answers as probabilities."""

    def __init__(self, name: str, model: Model) -> None:
        self._name, self._model = name, model
        self.said: Counter[str] = Counter()  # how it gave what it said last

    def probability(self, texts: Sequence[str], images: Sequence[Picture]) -> list[float]:
        """That the answer to each question is yes."""
        prompts = [_prompt(k, *pair) for k, pair in enumerate(zip(texts, images, strict=True))]
        size = getattr(self._model, "batch", None) or BATCH
        self.said.clear()
        return [
            self._read(prompt, reply)
            for first in range(0, len(prompts), size)
            for prompt, reply in zip(
                prompts[first : first + size],
                replies(self._model, prompts[first : first + size], self._name),
                strict=True,
            )
        ]

    def _read(self, prompt: Prompt, reply: Reply) -> float:
        """What can not be read vouches for nothing: the thing may be there."""
        if reply.stored is not None:
            self.said["cached"] += 1
        if reply.status in ("failed", "missing"):
            why = reply.reason or "no reply"
            raise UserError(f"--verify {self._name}: no answer to {prompt.question.text!r} ({why})")
        answer = reply.answer
        if answer is None and not reply.status:
            answer = read_reply(reply.raw, TRUTH)
        if isinstance(answer, str):
            answer = read_reply(answer, TRUTH)
        if not isinstance(answer, bool):
            self.said["unread"] += 1
            return 1.0
        if reply.belief is None:
            self.said["answers"] += 1
            return float(answer)
        self.said["beliefs"] += 1
        return reply.belief if answer else 1 - reply.belief


def seeing_named(
    name: str,
    *,
    tried: bool = False,
    trusted: bool = False,
    cache: Path | None = None,
    use_cache: bool = True,
) -> Named:
    """The verifier that a user names; `tried` makes a model once, to say at once what it lacks."""
    kind = read_name(name).kind
    if kind not in SIGHTED:
        raise UserError(f"--verify {name}: it does not look at pictures; name a model that does")
    if kind == "python":
        found = _imported(name)
        if callable(getattr(found, "probability", None)):
            if isinstance(found, type) and _needs(found):
                raise UserError(f"--verify {name}: it is made without arguments, and needs {_needs(found)}")
            return Named(name, learns=isinstance(found, type) and callable(getattr(found, "fit", None)))
        if not callable(getattr(found, "predict", None)):
            raise UserError(
                f"--verify {name}: it has no method probability(texts, images), nor predict(batch)"
            )
    named = Named(name, asked=True, trusted=trusted, cache=cache, use_cache=use_cache)
    if tried and kind != "hf":
        named.make()
    elif tried and not trusted:  # it takes long to load, but is soon looked at
        refuse_untrusted(read_name(name).target, TRUST)
    return named


def _warn(sentence: str) -> None:
    print(f"shiftscope: {sentence}", file=sys.stderr)


def _prompt(k: int, text: str, image: Picture) -> Prompt:
    question = Question(id=f"verify {k}", text=text, scenes=(f"picture {k}",), kind=KIND)
    return Prompt(question, text=prompt_text(question), images=(png(image),))


def _imported(name: str) -> Any:
    """What MODULE:NAME is; the module may stand in the folder of the command."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"--verify {name}: {error}") from None
    except Exception as error:
        raise UserError(f"--verify {name}: it can not be imported ({told(error)})") from error


def _needs(kind: type) -> str:
    """The first argument without which the class can not be made."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (ValueError, TypeError):
        return ""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return next((p.name for p in parameters if p.default is p.empty and p.kind not in several), "")

"""Ask: a question in a user's own words, put to a loaded model about the images in view."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..answer import spell
from ..errors import UserError
from ..model import EVERYTHING, Model, ModelOptions, Prompt, get_reads, predict_checked
from ..picture import Picture
from ..prompt import format_prompt
from ..question import Question
from ..questions.answer_space import infer_expected
from ..response import Unread, read_response
from ..run.evaluate import RunSpec, build_run_model
from ..run.question_source import open_source
from ..store.image import StoredImage

LONGEST_QUESTION = 2000  # characters


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model says, and what it is read as."""

    question: str
    answer: str | None
    raw: str
    reason: str = ""  # why there is no answer
    confidence: float | None = None
    program: str = ""
    trace: str = ""


def join_words(question: Question) -> str:
    """The action and the question as one text, as the page offers it to be changed."""
    return " ".join(f"{question.action} {question.text}".split())


class ModelAsker:
    """A model that is asked one question at a time."""

    def __init__(self, name: str, model: Model) -> None:
        self.name, self._model = name, model
        self._reads = get_reads(name, model) or EVERYTHING
        self._one_at_a_time = threading.Lock()

    def ask(self, text: str, question: Question, images: Sequence[StoredImage]) -> ModelReply:
        """Put the text to the model instead of the example's own; only its own text comes with the program."""
        words = " ".join(text.split())
        if not words:
            raise UserError("there is no question; type one")
        if len(words) > LONGEST_QUESTION:
            raise UserError(f"a question may have {LONGEST_QUESTION:,} characters; this one has {len(words):,}")
        own = words == join_words(question)
        put = replace(question, answer=None, answers=(), grounding=())
        if not own:
            put = Question(question.id, words, question.scenes)
        prompt = Prompt(
            question=put,
            text=format_prompt(put),
            pictures=tuple(Picture(i.png, name=i.id) for i in images if i.png),
            scenes=tuple(i.scene for i in images),
        ).restrict(self._reads)
        with self._one_at_a_time:
            [response] = predict_checked(self._model, [prompt], self.name)
        answer, reason = response.answer, response.reason
        if answer is None and not response.status:
            read = read_response(response.raw, infer_expected(put, images[0].scene.schema))
            answer, reason = (None, reason or read.value) if isinstance(read, Unread) else (read, reason)
        return ModelReply(
            words,
            None if answer is None else spell(answer),
            response.raw,
            reason or response.status,
            response.confidence,
            response.program,
            response.trace,
        )


def load_asker(model: str, data: Path, *, warn: Callable[[str], None], trust_remote_code: bool = False) -> ModelAsker:
    """The model that a string names, as `shiftscope run` builds it for this data."""
    options = ModelOptions(trust_remote_code=trust_remote_code)
    return ModelAsker(model, build_run_model(RunSpec(model, data, options=options), open_source(data), warn=warn))

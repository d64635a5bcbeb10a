"""Judge: a second model that reads the replies which the rules cannot, and a sample of those which they can.

It is shown the question, the answers that it admits and the reply, never the true answer. What it reads is stored in
the row (`judged`), beside what the rules read; the sample tells how far the two agree.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import rng
from ..answer import Answer, spell
from ..errors import UserError
from ..expected_answer import ExpectedAnswer
from ..model import Model, ModelOptions, ModelSetting, Prompt, Response, build_model, get_identity, parse_model_name
from ..prompt import JUDGE_VERSION, format_judge_prompt
from ..questions.answer_space import infer_expected
from ..response import Unread, read_response
from ..result import BLIND, Prediction, QuestionRecord
from ..schema import OPEN
from ..store.run_log import RowKey, RunWriter, read_rows
from .conditions import EvalExample
from .question_source import SplitPrompts

BY_JUDGE = "judge"  # in `read_by`: the answer is the judge's
UNCLEAR = "-"  # in `judged`: the judge read no answer either
KEPT_DECISIONS = 64  # written together

Rows = dict[RowKey, tuple[QuestionRecord, Prediction]]
Ask = Callable[[Iterator[EvalExample]], Iterator[tuple[EvalExample, Response] | None]]


@dataclass(frozen=True, slots=True)
class Judge:
    """Which model judges, and how many replies that the rules read it is shown, to be compared with them."""

    model: str
    sample: int = 50
    price: tuple[float, float] | None = None  # for a million tokens read, and written

    def build(self, options: ModelOptions, **given: Any) -> Model:
        """The model, at temperature 0 and without what was meant for the model that is run."""
        if not parse_model_name(self.model).traits.prompted:
            raise UserError(
                f"--judge {self.model} reads no prompts; name a language model, as in --judge openai:MODEL@URL"
            )
        plain = replace(options, temperature=0.0, parameters={}, price=None)
        return build_model(self.model, ModelSetting(options=plain, **given))

    def spec(self, model: Model) -> dict[str, Any]:
        """What a run's spec says of its judge."""
        priced = {"price": list(self.price)} if self.price else {}
        own = {"model": self.model, "version": JUDGE_VERSION, "sample": self.sample}
        return own | priced | get_identity(model, {})


def judge_replies(judge: Judge, ask: Ask, prompts: SplitPrompts, limit: int | None, writer: RunWriter) -> int:
    """Have the judge read what is left to read; how many calls failed, which the same command repeats."""
    rows = _select_rows(read_rows(writer.folder), judge.sample)
    failed, kept = 0, []
    for pair in ask(_iter_questions(rows, prompts, limit)):
        if pair is None:
            continue
        item, response = pair
        record, prediction = rows[item.question.id, item.prompt.condition]
        spent = tuple(call._replace(judge=True) for call in response.usage)
        prediction = replace(prediction, usage=prediction.usage + spent)
        if response.status or not (response.raw or response.answer is not None):
            failed += 1
            if not spent:
                continue
        else:
            prediction = decide(prediction, response, _expect(item))
        kept.append((record, prediction))
        if len(kept) == KEPT_DECISIONS:
            writer.add(kept, again=True)
            kept = []
    writer.add(kept, again=True)
    return failed


def decide(prediction: Prediction, response: Response, expected: ExpectedAnswer) -> Prediction:
    """The prediction with what the judge reads in it; what the rules read stays as it is."""
    said = response.raw if response.answer is None else spell(response.answer)
    found = read_response(said, expected)
    answer = None if isinstance(found, Unread) or not _is_admitted(found, expected) else found
    judged = replace(prediction, judged=UNCLEAR if answer is None else spell(answer))
    if prediction.status != "unreadable" or answer is None:
        return judged
    return replace(judged, answer=answer, status="answered", read_by=BY_JUDGE)


def _is_admitted(answer: Answer, expected: ExpectedAnswer) -> bool:
    if expected.kind == "word":
        return answer in dict(expected.forms).values()
    return isinstance(answer, bool) == (expected.kind == "truth") and isinstance(answer, str) == (
        expected.kind == "open"
    )


def _select_rows(rows: Iterable[tuple[QuestionRecord, Prediction]], sample: int) -> Rows:
    """Every reply without an answer, and a sample of the others, the same however often the run was stopped."""
    wanted: Rows = {}
    read: Rows = {}
    for record, prediction in rows:
        key = prediction.question, prediction.condition
        if prediction.raw.strip() and prediction.status == "unreadable" and not prediction.judged:
            wanted[key] = record, prediction
        elif prediction.raw.strip() and prediction.status == "answered" and prediction.read_by != BY_JUDGE:
            read[key] = record, prediction
    drawn = sorted(read, key=lambda key: rng.derive("judge", *key).random())[:sample]
    return wanted | {key: read[key] for key in drawn if not read[key][1].judged}


def _iter_questions(rows: Rows, prompts: SplitPrompts, limit: int | None) -> Iterator[EvalExample]:
    """The judge's prompts, without pictures."""
    conditions: dict[str, list[str]] = {}
    for question, condition in rows:
        conditions.setdefault(question, []).append(condition)
    others = frozenset(prompts.ids()) - conditions.keys()
    for item in prompts.iter_examples(BLIND, limit, others):
        for condition in conditions[item.question.id]:
            reply = rows[item.question.id, condition][1].raw
            text = format_judge_prompt(item.prompt.question, describe_answers(_expect(item)), reply)
            yield replace(item, prompt=Prompt(item.prompt.question, text, condition=condition))


def _expect(item: EvalExample) -> ExpectedAnswer:
    return infer_expected(item.question, item.scenes[0].schema if item.scenes else OPEN)


def describe_answers(expected: ExpectedAnswer) -> str:
    """The answers that a question admits, for the judge."""
    words = ", ".join(dict.fromkeys(answer for _, answer in expected.forms))
    return {"truth": "yes, no", "number": "a whole number", "word": words}.get(expected.kind, "a few words")

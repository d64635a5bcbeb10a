"""Scene editing: a scene parser sees, an action parser and a question parser read; the action is done to the parsed

scene and the question is asked of the outcome. What the model took the action for, and the scene that it led to, are
part of each response, so that action accuracy is counted without asking again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program, ProgramError, join_action, split_action
from ...lang.text import format_program
from ...model import ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...scene import Scene
from ...schema import Schema
from ..nsvqa.neuro_symbolic import NeuroSymbolicModel, NsvqaParsers, ParserCache, ProgramExecutor, load_parsers
from .action_tokens import read_action
from .clauses import read_actions
from .outcome import describe_outcome
from .parsed_scenes import WeighedScene, take_objects
from .training import ACTION_PARSER, SceneEditTraining, TrainedSceneEditor

CACHED_STATES = 4096  # scenes, and outcomes of actions on them, that are remembered: their questions come together
UNSETTLED = "the action or the question fits none of the possible scenes"


@dataclass(frozen=True, slots=True, eq=False)
class EditParsers(NsvqaParsers):
    """The three parsers, on a device."""

    actions: Any = None
    told: ParserCache = field(default_factory=ParserCache)  # by an action's text: program

    def parse_actions(self, texts: Sequence[str]) -> list[Program]:
        """The program of each text, which may tell several actions."""
        return read_actions(texts, self._parse_clauses, self.trained.schema) if texts else []

    def _parse_clauses(self, texts: Sequence[str]) -> list[Program]:
        import torch

        from ..nsvqa.question_parser.decode import BATCH, decode_greedily
        from ..nsvqa.question_parser.vocabulary import PAD, SPECIAL_TOKENS, pad_rows

        vocabulary = self.actions.config.vocabulary
        found: list[Program] = []
        for start in range(0, len(texts), BATCH):
            ids = [vocabulary.encode_text(text) for text in texts[start : start + BATCH]]
            words = torch.from_numpy(pad_rows(ids)).to(self.device).long()
            rows = decode_greedily(self.actions, words).tolist()
            found += [read_action([vocabulary.tokens[k - SPECIAL_TOKENS] for k in row if k != PAD]) for row in rows]
        return found


class OutcomeWorld(NamedTuple):
    """A possible scene after the action; nothing where the action cannot be done in it, and why."""

    weight: float
    world: ExecutionWorld | None
    reason: str = ""


class WorldExecutor:
    """Acts and asks in each of some possible worlds, and adds up; one world is exact execution."""

    def __init__(self, build: Callable[[Any, str, int], list[WeighedScene]], worlds: tuple[int, ...] = (1,)) -> None:
        self.build, self.worlds = build, worlds  # so many worlds, and so many more where the question fits none
        self._states: OrderedDict[Any, Any] = OrderedDict()

    def respond(self, key: Any, seen: Any, action: Program | None, question: Program) -> Response:
        """The answer; `seen` are an image's ParsedObjects, or a Scene that is known, and `key` names them."""
        sizes = (1,) if isinstance(seen, Scene) else self.worlds
        outcomes: list[OutcomeWorld] = []
        tally: dict[Any, float] = {}
        reasons: list[str] = []
        for size in sizes:
            outcomes = self._act(key, seen, action, size)
            tally, reasons = _ask(outcomes, question)
            if tally:
                break
        outcome = next((o.world for o in outcomes if o.world is not None), None)
        trace = describe_outcome(outcome.scenes[0]) if outcome is not None else ""
        if not tally:
            reason = reasons[0] if sizes == (1,) else UNSETTLED
            return Response(status="undefined", reason=reason, trace=trace)
        best = max(tally, key=lambda one: (tally[one], str(one)))
        sure = None if self.worlds == (1,) else min(1.0, tally[best] / sum(tally.values()))
        return Response(answer=best[1], confidence=sure, trace=trace)

    def _act(self, key: Any, seen: Any, action: Program | None, size: int) -> list[OutcomeWorld]:
        place = (key, action, size)
        if place in self._states:
            self._states.move_to_end(place)
            found: list[OutcomeWorld] = self._states[place]
            return found
        worlds = self._states.get((key, size))
        if worlds is None:
            scenes = [WeighedScene(1.0, seen)] if isinstance(seen, Scene) else self.build(seen, key, size)
            worlds = self._states[key, size] = [(w, ExecutionWorld((scene,))) for w, scene in scenes]
        made = [_apply(weight, world, action) for weight, world in worlds]
        self._states[place] = made
        while len(self._states) > CACHED_STATES:
            self._states.popitem(last=False)
        return made


def _apply(weight: float, world: ExecutionWorld, action: Program | None) -> OutcomeWorld:
    if action is None:
        return OutcomeWorld(weight, world)
    try:
        run = execute(action, world)
    except ProgramError as error:
        return OutcomeWorld(weight, None, str(error))
    if isinstance(run.answer, Undefined):
        return OutcomeWorld(weight, None, run.answer.reason)
    return OutcomeWorld(weight, run.worlds[-1])


def _ask(outcomes: Sequence[OutcomeWorld], question: Program) -> tuple[dict[Any, float], list[str]]:
    """The weight of each answer, by its type and value; and why there is none, world by world."""
    tally: dict[Any, float] = {}
    reasons = []
    for weight, world, reason in outcomes:
        if world is None:
            reasons.append(reason)
            continue
        try:
            answer = execute(question, world).answer
        except ProgramError as error:
            reasons.append(str(error))
            continue
        if isinstance(answer, Undefined):
            reasons.append(answer.reason)
        else:
            tally[type(answer), answer] = tally.get((type(answer), answer), 0.0) + weight
    return tally, reasons


class SceneEditModel(NeuroSymbolicModel):
    """Sees, reads, acts and answers."""

    def __init__(self, parsers: EditParsers, executor: Any) -> None:
        super().__init__(parsers, ProgramExecutor(_refuse))
        self.editors, self.outcomes = parsers, executor

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        why = [_explain_unsupported(prompt) for prompt in batch]
        left = [prompt for prompt, reason in zip(batch, why, strict=True) if not reason]
        actions, questions = self._find_actions(left), self._find_questions(left)
        places = iter(self._locate_scenes([p for p in left if not p.scene_text]))
        start = time.perf_counter()
        responses = []
        for prompt, action, question in zip(left, actions, questions, strict=True):
            if prompt.scene_text:
                key: Any = prompt.scenes[0]
                seen: Any = key
            else:
                key = prompt.pictures[0].id
                seen = self._take_objects(key, *next(places))
            made = self.outcomes.respond(key, seen, action, question)
            whole = join_action(action.nodes, question) if action is not None else question
            responses.append(replace(made, program=format_program(whole.canonicalize())))
        self.stage_seconds["execute"] += time.perf_counter() - start
        answered = iter(responses)
        return [Response(status="undefined", reason=reason) if reason else next(answered) for reason in why]

    def predict_columns(self, batch: Sequence[Prompt]) -> Any:
        raise ValueError("scene_edit answers one by one")

    def _take_objects(self, key: str, posterior: Any, row: int) -> Any:
        last = getattr(self, "_last", None)
        if last is None or last[0] != key:  # questions about an image come one after the other
            last = self._last = (key, take_objects(posterior, row))
        return last[1]

    def _find_actions(self, prompts: Sequence[Prompt]) -> list[Program | None]:
        told = self.editors.told
        asked = [p.question for p in prompts]
        unread = list(dict.fromkeys(q.action for q in asked if q.action and q.action not in told))
        start = time.perf_counter()
        told |= dict(zip(unread, self.editors.parse_actions(unread), strict=True))
        self.stage_seconds["read"] += time.perf_counter() - start
        found: list[Program | None] = []
        for prompt, question in zip(prompts, asked, strict=True):
            if prompt.program_text and question.program is not None:
                found.append(split_action(question.program)[0])
            else:
                found.append(told[question.action] if question.action else None)
        return found

    def _find_questions(self, prompts: Sequence[Prompt]) -> list[Program]:
        plain = []
        for prompt in prompts:
            program = prompt.question.program if prompt.program_text else None
            asked = split_action(program)[1] if program is not None else None
            plain.append(replace(prompt, question=replace(prompt.question, program=asked)))
        return [program for program, _ in self._find_programs(plain)]


def _refuse(*_: Any) -> Any:
    raise ValueError("scene_edit executes outcomes, not scene posteriors")


def _explain_unsupported(prompt: Prompt) -> str:
    if prompt.scene_text:
        return "" if len(prompt.scenes) == 1 else f"{len(prompt.scenes)} scenes; this model looks at one"
    if len(prompt.pictures) != 1:
        return f"{len(prompt.pictures)} images; this model looks at one" if prompt.pictures else "no image"
    return ""


def make_traits(model: str) -> ModelTraits:
    return ModelTraits(
        target=f"{model} or {model}:FOLDER",
        stored=True,
        answers_blind=False,
        most_images=1,
        trainable=SceneEditTraining(),
    )


def describe_model(model: str, target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return TrainedSceneEditor.find(model, target, schema()).describe_weights()


def load_edit_parsers(model: str, target: str, setting: ModelSetting) -> EditParsers:
    """The parsers of the weights that a model string names, on the device of the options or the best."""
    trained = TrainedSceneEditor.find(model, target, setting.schema)
    parsers = load_parsers(trained, setting.options.device)
    stage = SceneEditTraining().stage(ACTION_PARSER)
    actions = trained.load(ACTION_PARSER, stage.build(stage.read_config(trained.config(ACTION_PARSER)), {}))
    held = (parsers.trained, parsers.device, parsers.scene, parsers.questions)
    return EditParsers(*held, seen=parsers.seen, read=parsers.read, actions=actions.to(parsers.device))

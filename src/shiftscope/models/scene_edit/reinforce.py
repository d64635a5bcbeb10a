"""REINFORCE: a parser that learned from programs goes on by what its programs lead to.

After CLEVR_HYP, section 4.4: programs are sampled, and one is rewarded if running it gives exactly what the true one
gives: the same scene after an action, the same answer to a question. A program that is the true one needs no running.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program, ProgramError, join_action
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import ACTIONS, PROGRAMS, SCENES, Counts, Losses, Rows, SplitData, TrainRecipe
from ..nsvqa.question_parser.tokens import ProgramReader
from ..nsvqa.question_parser.vocabulary import PAD, SPECIAL_TOKENS, QuestionParserConfig
from .action_tokens import encode_actions, read_action
from .one_hop import TextProgram, TextPrograms, collect_actions, collect_questions, join_text_programs
from .training import ActionParserStage, OutcomeQuestionStage, TrainedSceneEditor

if TYPE_CHECKING:
    import torch

# The paper has batches of 32, a rate of 1e-5 and up to a million steps. Sampling takes as long for 256 as for 32.
RECIPE = TrainRecipe(epochs=4, batch=256, lr=3e-5, weight_decay=0.0, warmup=0.02, ema=0.99, clip=1.0)
READERS: dict[str, Callable[[Any], Callable[[Sequence[int]], Program]]] = {
    ActionParserStage.name: lambda tokens: lambda numbers: read_action([tokens[k] for k in numbers]),
    OutcomeQuestionStage.name: lambda tokens: ProgramReader(tokens).read_program,
}


@dataclass(frozen=True, slots=True, eq=False)
class RewardedBatch:
    """Texts with their programs, and what tells a program's worth."""

    encoded: Any  # a QuestionParserBatch
    pairs: Sequence[TextProgram]
    examples: RewardedExamples

    def __len__(self) -> int:
        return len(self.pairs)


class RewardedExamples:
    """Texts as tables of numbers, and the scenes that they are about."""

    def __init__(self, part: str, data: TextPrograms, encoded: tuple[Any, Any], tokens: Any, device: str) -> None:
        from ..nsvqa.question_parser.loss import QuestionParserBatch

        self.part, self.data = part, data
        self.all = QuestionParserBatch.from_encoded(*encoded, device)
        self.read = READERS[part](tokens)
        self._worlds: dict[int, ExecutionWorld] = {}
        self._outcomes: dict[TextProgram, Any] = {}

    def __len__(self) -> int:
        return len(self.all)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        from ..nsvqa.question_parser.loss import make_batches

        return make_batches(self.all.lengths[:, 0].numpy(), batch, random)

    def batch(self, rows: torch.Tensor) -> RewardedBatch:
        return RewardedBatch(self.all.take(rows), [self.data.pairs[k] for k in rows.tolist()], self)

    def reward(self, numbers: Sequence[int], pair: TextProgram) -> float:
        """1 if the program of these tokens leads to what the true one leads to."""
        program = self.read(numbers)
        if program == pair.program:
            return 1.0
        if pair not in self._outcomes:
            self._outcomes[pair] = self._run(pair, pair.program)
        found = self._run(pair, program)
        return float(found is not None and found == self._outcomes[pair])

    def _run(self, pair: TextProgram, program: Program) -> Any:
        """The scene after an action, or the answer with its type; None where there is none."""
        if pair.scene not in self._worlds:
            self._worlds[pair.scene] = ExecutionWorld((self.data.scenes[pair.scene],))
        whole = join_action(pair.action.nodes, program) if pair.action is not None else program
        try:
            run = execute(whole, self._worlds[pair.scene])
        except ProgramError:
            return None
        if isinstance(run.answer, Undefined):
            return None
        return run.worlds[-1].scenes[0] if self.part == ActionParserStage.name else (type(run.answer), run.answer)


def reinforce(module: Any, batch: RewardedBatch) -> tuple[torch.Tensor, Losses]:
    """The loss whose slope is REINFORCE's, against the mean reward of the others in the batch; and that mean."""
    import torch
    from torch.nn.functional import pad

    module.eval()  # what is sampled and what is scored are one distribution
    words = batch.encoded.words
    made, allowed = sample_programs(module, words)
    rewards = torch.tensor(compute_rewards(made, batch), device=words.device)
    others = (rewards.sum() - rewards) / max(1, len(rewards) - 1)
    begun = pad(made, (1, 0), value=1)[:, :-1]  # BEGIN first
    scores = module(words, begun).float().masked_fill(~allowed, float("-inf"))
    chosen = scores.log_softmax(-1).gather(2, made[..., None]).squeeze(2)
    chosen = torch.where(made != PAD, chosen, 0.0)
    return -((rewards - others) * chosen.sum(1)).mean(), {"reward": rewards.mean()}


def compute_rewards(made: torch.Tensor, batch: RewardedBatch) -> list[float]:
    long = (made != PAD).sum(1).tolist()
    rows = (made - SPECIAL_TOKENS).tolist()
    return [batch.examples.reward(row[:end], pair) for row, end, pair in zip(rows, long, batch.pairs, strict=True)]


def sample_programs(module: Any, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[text, token] sampled programs, PAD behind, and [text, token, next token] what the grammar allowed there."""
    import torch

    grammar, longest = module.grammar, module.config.longest_program
    made, allowed = [], []
    with torch.no_grad():
        memory, table = module.encode_words(words), module.tables.embed_tokens()
        state, stack = module.start_state(memory), grammar.start(len(words))
        last = torch.ones(len(words), dtype=torch.long, device=words.device)
        for at in range(longest):
            scores, state = module.score_tokens(last[:, None], memory, state, table)
            allowed.append(grammar.mask_allowed(stack, longest - at))
            chances = torch.where(allowed[-1], scores[:, 0].float(), float("-inf")).softmax(-1)
            last = torch.multinomial(chances, 1).squeeze(1)
            stack = grammar.push(stack, last)
            made.append(last)
            if not bool(stack.depth.any()):
                break
    return torch.stack(made, 1), torch.stack(allowed, 1)


class Reinforced:
    """What both stages share: they go on from a folder's parser, in its own vocabulary."""

    name: str
    start: TrainedSceneEditor

    def describe(self, schema: Schema) -> dict[str, Any]:
        return {"from": self.start.about[self.name]["blake2b"], "reward": "execution"}

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        return QuestionParserConfig.from_json(self.start.config(self.name))

    def join(self, pieces: Sequence[TextPrograms]) -> TextPrograms:
        return join_text_programs(pieces)

    def load_pretrained(self, module: Any, config: Any) -> None:
        """The supervised weights."""
        tensors = {name: t.float() for name, t in self.start.read_tensors(self.name).items()}
        module.load_state_dict(tensors)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        return reinforce(module, batch)

    def measure(self, module: Any, batch: Any) -> Counts:
        """Exact: the program is the true one; executed: it leads to the same."""
        from ..nsvqa.question_parser.decode import decode_greedily, measure

        rewards = compute_rewards(decode_greedily(module, batch.encoded.words), batch)
        return measure(module, batch.encoded) | {"executed": (int(sum(rewards)), len(rewards))}

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["executed"]


class ReinforcedActionStage(Reinforced, ActionParserStage):
    supervision = frozenset((PROGRAMS, ACTIONS, SCENES))
    recipe = RECIPE
    learns_vocabulary = captured = False

    def __init__(self, start: TrainedSceneEditor) -> None:
        self.start = start

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> TextPrograms:
        return collect_actions(scenes, questions)

    def make_examples(self, data: SplitData, config: Any, device: str) -> RewardedExamples:
        held: TextPrograms = data.supervision[self.name]
        encoded = encode_actions(config.vocabulary, [(p.text, p.program) for p in held.pairs], lenient=True)
        return RewardedExamples(self.name, held, encoded, config.vocabulary.tokens, device)


class ReinforcedQuestionStage(Reinforced, OutcomeQuestionStage):
    supervision = frozenset((PROGRAMS, SCENES))
    recipe = replace(RECIPE, epochs=2)
    learns_vocabulary = captured = False

    def __init__(self, start: TrainedSceneEditor) -> None:
        self.start = start

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        return collect_questions(scenes, questions)

    def make_examples(self, data: SplitData, config: Any, device: str) -> Any:
        held: TextPrograms = data.supervision[self.name]
        pairs = [(p.text, p.program) for p in held.pairs]
        encoded = config.vocabulary.encode(pairs, lenient=True)
        return RewardedExamples(self.name, held, encoded, config.vocabulary.tokens, device)

"""Multiple choice: options drawn for a question, and the option that a reply picks.

Distractors are answers that other questions of the same answer space have, so that their form tells nothing. Nor does
how common they are: sets of options are drawn so that each of their members is equally often the true one, and who
sees the options alone is right once in K times. (Conditional Poisson sampling, Hájek 1964: the chance to be offered is
K times an answer's share. One with a larger share than 1/K is always offered, and likelier than the others.) The order
is drawn for each question from the run's seed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..answer import Answer, spell
from ..expected_answer import ExpectedAnswer
from ..prompt import LETTERS
from ..question import Question
from ..questions.answer_space import list_answers
from ..response import Unread, read_response
from ..response_text import strip_thinking
from ..result import CORRECT_OPTION, OPTIONS, Facts, Floats
from ..rng import derive
from ..schema import Schema
from .conditions import EvalExample

FITS = 50  # steps
MOST_FITTED = 64  # answers
MOST_TRIES = 1000
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OptionPlan:
    """How the options of an answer space are drawn: some always, of the others some by their weights."""

    always: tuple[str, ...]
    weights: Mapping[str, float]
    drawn: int  # of those with a weight, the true answer included where it is one of them

    def draw_distractors(self, truth: str, random: np.random.Generator) -> list[str]:
        """Sets by the product of their weights: draws with replacement, until all are different."""
        names = [answer for answer in self.weights if answer != truth]
        size = min(self.drawn - (truth in self.weights), len(names))
        weights = np.array([self.weights[answer] for answer in names])
        drawn: set[int] = set()
        if size > 0:
            ends = weights.cumsum() / weights.sum()
            for _ in range(MOST_TRIES):
                drawn = set(np.minimum(np.searchsorted(ends, random.random(size), "right"), len(names) - 1).tolist())
                if len(drawn) == size:
                    break
            while len(drawn) < size:  # hardly ever
                drawn.add(int(random.integers(len(names))))
        return [*(answer for answer in self.always if answer != truth), *(names[k] for k in sorted(drawn))]


def plan_options(counts: Mapping[str, int], size: int) -> OptionPlan:
    """The plan by which every option is equally often the true one, where answers have these counts."""
    names = sorted(counts)
    always: list[str] = []
    while True:
        rest = [answer for answer in names if answer not in always]
        left, mass = size - len(always), sum(counts[answer] for answer in rest)
        over = [answer for answer in rest if left * counts[answer] >= mass]
        if len(rest) <= left:
            return OptionPlan(tuple(names), {}, 0)
        if not over:
            break
        always += over
    wanted = np.array([left * counts[answer] / mass for answer in rest])
    weights = wanted / (1 - wanted)
    for _ in range(FITS if len(rest) <= MOST_FITTED else 0):  # many answers are each too rare for it to matter
        weights *= wanted / _compute_inclusion(weights, left)
        weights /= weights.sum()
    return OptionPlan(tuple(always), dict(zip(rest, weights.tolist(), strict=True)), left)


def _compute_inclusion(weights: Floats, size: int) -> Floats:
    """How likely each item is in a set of that size, if sets go by the product of their weights."""
    made = np.empty(len(weights))
    for k in range(len(weights)):
        sums = np.zeros(size + 1)  # elementary symmetric polynomials of the others
        sums[0] = 1.0
        for weight in np.delete(weights, k):
            sums[1:] += weight * sums[:-1].copy()
        inside = weights[k] * sums[size - 1]
        made[k] = inside / (inside + sums[size])
    return made


class OptionDraw:
    """Draws the options of a split's questions."""

    def __init__(self, size: int, seed: int, questions: Callable[[], Iterable[Question]], schema: Schema) -> None:
        self._size, self._seed, self._questions, self._schema = size, seed, questions, schema
        self._pools: dict[Key, Counter[str]] = {}
        self._plans: dict[Key, OptionPlan] = {}

    def draw_options(self, item: EvalExample) -> tuple[str, ...]:
        """The options in order, the true answer among them; none where there is no other answer to offer."""
        question = item.question
        if question.answer is None:
            return ()
        if not self._pools:
            for one in self._questions():
                if one.answer is not None:
                    self._pools.setdefault(self._find_space(one), Counter())[spell(one.answer)] += 1
        truth, space = spell(question.answer), self._find_space(question)
        random = derive("choices", self._seed, question.id)
        if space not in self._plans:
            self._plans[space] = plan_options(self._pools.get(space, Counter()), self._size)
        drawn = self._plans[space].draw_distractors(truth, random)
        known = sorted({spell(a) for a in list_answers(question, self._schema)} - {truth, *drawn})
        while known and len(drawn) < self._size - 1:  # answers that no question of the split happens to have
            drawn.append(known.pop(int(random.integers(len(known)))))
        if not drawn:
            return ()
        options = [truth, *drawn]
        return tuple(options[k] for k in random.permutation(len(options)).tolist())

    def _find_space(self, question: Question) -> Key:
        """The same for questions whose answers are of one kind."""
        known = list_answers(question, self._schema)
        if known:
            return tuple(map(spell, known))
        return ("open", str(question.note("answer_type", "")), question.kind, type(question.answer).__name__)


def build_option_facts(options: Sequence[str], truth: Answer | None) -> Facts:
    """What a run's row says of its options."""
    if not options or truth is None:
        return ()
    return ((OPTIONS, " | ".join(options)), (CORRECT_OPTION, LETTERS[options.index(spell(truth))]))


_MARK = r"(?:answer|option|choice)\b[\"'*]*\s*(?:is|:|=)?\s*[:=]?\s*(?:option\s+)?[\"'*(\[{]*"
_END = r"(?=\s*(?:$|[.):,;\]}*\"'\n]))"


def read_choice(text: str, options: Sequence[str], expected: ExpectedAnswer) -> Answer | Unread:
    """The option that a reply picks, by its letter or its words; an answer that is no option stays as it is."""
    said = strip_thinking(text).strip()
    letters = LETTERS[: len(options)]
    alone = re.fullmatch(rf"\W*(?:option\s+)?([{letters}{letters.lower()}])\W*", said)
    both = re.fullmatch(rf"\W*([{letters}])\W+(?:(?:or|and)\W+)?([{letters}])\W*", said)
    if both and both[1] != both[2]:
        return Unread.TWO_ANSWERS
    found = [alone[1]] if alone else re.findall(rf"\\boxed\{{\s*(?:\\\w+\{{)?\(?([{letters}])\b", said)
    found = found or re.findall(rf"(?i:{_MARK})([{letters}]){_END}", said)
    found = found or re.findall(rf"(?im:^\W*answer\W+)([{letters.lower()}])\W*$", said, re.MULTILINE)
    found = found or re.findall(rf"^[\"'*(\[]*([{letters}])[.):\]*]", said)
    if found:
        option = options[letters.index(found[-1].upper())]
        return {"truth": option == "yes", "number": int(option) if option.isdecimal() else option}.get(
            expected.kind, option
        )
    return read_response(text, expected)

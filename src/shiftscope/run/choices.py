"""Multiple choice: options drawn for a question, and the option that a reply picks.

Distractors are answers that other questions of the same answer space have, each as likely to be drawn as it is to be
an answer there, so that neither their form nor how common they are tells them from the true one. The order is drawn
for each question from the run's seed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..answer import Answer, spell
from ..expected_answer import ExpectedAnswer
from ..prompt import LETTERS
from ..question import Question
from ..questions.answer_space import list_answers
from ..response import Unread, read_response
from ..response_text import strip_thinking
from ..result import CORRECT_OPTION, OPTIONS, Facts
from ..rng import derive
from ..schema import Schema
from .conditions import EvalExample

Key = tuple[str, ...]


class OptionDraw:
    """Draws the options of a split's questions."""

    def __init__(self, size: int, seed: int, questions: Callable[[], Iterable[Question]], schema: Schema) -> None:
        self._size, self._seed, self._questions, self._schema = size, seed, questions, schema
        self._pools: dict[Key, Counter[str]] = {}

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
        pool = self._pools.get(space, Counter())
        weights = {answer: pool[answer] for answer in sorted(pool) if answer != truth}
        drawn: list[str] = []
        while weights and len(drawn) < self._size - 1:
            at = int(random.integers(sum(weights.values())))
            for answer, weight in weights.items():
                at -= weight
                if at < 0:
                    drawn.append(answer)
                    break
            del weights[drawn[-1]]
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

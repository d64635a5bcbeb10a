"""Questions about outcomes of actions: found by search, put into words, answered a second time.

What a question asks is what *would* be: the picture shows the scene before the action.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import Answer
from ...english.synonyms import Lexicon
from ...english.word_lists import word_table
from ...lang.exec.exact import answer_after
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program
from ..clevr.compiled_templates import EMPTY_SLOT, FIELDS, OPEN_SLOT, CompiledTemplates, compile_templates
from ..clevr.generator import AnswerMismatch
from ..clevr.template import OPTIONAL, SLOT, NodesByInputs, ProgramPiece, TemplateProgramBuilder, share_nodes
from ..clevr.wording import OPTION_BITS, QuestionWording
from .action import IN_PLANE, LOOKS, ON
from .logic_templates import list_one_hop_templates, list_two_hop_templates
from .outcome_templates import OUTCOME_SCHEMA, HypotheticalTemplate
from .scene_arrays import TERMS, Ints, OutcomeLayout

SYNONYMS = tuple(word_table("actions", "relations").items())
MOST_COUNTED = 9  # so that there are 27 answers
SAID_ANYWAY = {"shape": 1, "relation": 4}  # words of a noun, and of a relation in plain words at most
MOST_WORDS = 35  # of a question that is not of two hops
ATTEMPTS = 12  # fillings tried for a template before the next is
PATIENCE = 3  # valid questions of a template whose answers do not do, before the next is tried
NO, YES, FIRST_TERM = 10, 11, 12  # numbers of answers: 0 to 9 are counts
ANSWERS = FIRST_TERM + len(TERMS.names)
NO_LIMIT = 1 << 60
EVERY_OTHER, ALL = 1, 2
ANY_THINGS = re.compile(r"\bany (?:things|objects)\b")
NO_NOUN = r"(?= (?:or|and|be|equal)\b|[?;.,])"
# Materials with no noun after them, and the adjectives for them; one pattern each, which starts with what to look for.
PREDICATES = tuple((re.compile(word + NO_NOUN), looks[0]) for word, looks in LOOKS.items())


def number_answer(answer: Answer) -> int:
    """Which of the 27 answers it is."""
    if isinstance(answer, bool):
        return YES if answer else NO
    return answer if isinstance(answer, int) else FIRST_TERM + TERMS.names.index(str(answer))


class OutcomeJob(NamedTuple):
    """An outcome to ask about, as rows of a layout."""

    after: int  # the scene after the action
    places: int  # how many follow it in which a free place was taken elsewhere
    without: int  # the first scene that lacks an action
    lacking: int  # how many of those there are
    placed: int  # how many follow them in which a free place was taken elsewhere
    by_place: bool  # some action changes nothing but where things stand
    look: int  # where, among the looks, there are those of what the action touched
    mine: int  # how many
    others: int  # and how many after them of what another action touched
    tells: int  # where, among what is told, there is what the actions' words tell
    tell: int  # and how much


class OutcomeMatch(NamedTuple):
    job: int
    template: int
    code: int  # a number, a truth or a term's code
    values: list[int]  # codes of the slots
    dice: int  # random bits for the wording
    refused: list[int]  # before it: for an answer that the action does not change, that a place decides
    defined: int  # whether it has an answer before the action


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How many questions are wanted about one action, and how hard to look for them."""

    questions: int  # at most
    per_slot: int = 1
    whole: bool = False  # an action that some slot stays empty for is of no use
    persistence: int = 200  # questions of a slot whose answers do not do, before it stays empty
    defined: int = EVERY_OTHER  # questions with an answer before the action: every other one if there is, or all
    rounds: int = 3  # over the templates of a slot; from the second on, also answers that already lead


@dataclass(slots=True)
class AnswerBalance:
    """How often families, answers and slots were used so far, and how many of each answer are wanted."""

    counts: Ints
    uses: Ints
    taken: Ints
    wanted: Ints = field(default_factory=lambda: np.full(ANSWERS, NO_LIMIT, np.int64))
    refused: Ints = field(default_factory=lambda: np.zeros(2, np.int64))


class OutcomeQuestioner:
    """Families bound to the vocabulary of outcomes."""

    def __init__(self, families: tuple[HypotheticalTemplate, ...]) -> None:
        self.families = families
        templates = tuple(f.template for f in families)
        self.lowered = compile_templates(templates, OUTCOME_SCHEMA, SYNONYMS)
        words = self.lowered.vocabulary
        lexicon = Lexicon(OUTCOME_SCHEMA, SYNONYMS)
        programs = {t: _OutcomeProgramBuilder(t, words) for t in dict.fromkeys(templates)}  # one may be listed twice
        texts = {t: QuestionWording(t, words, lexicon) for t in programs}
        self.programs = [programs[t] for t in templates]
        self.texts = [texts[t] for t in templates]
        self.slots = 1 + max(f.slot for f in families)
        self._slot_of = np.array([f.slot for f in families], np.int64)
        ends = [t.nodes[-1].meaning for t in templates]
        self._most_said = np.zeros((len(families), 1 + self.lowered.initial.shape[1]), np.int64)
        for row, family in zip(self._most_said, families, strict=True):
            row[0] = _limit_adjectives(family)
            row[1 : 1 + len(family.template.params)] = [p.attribute not in SAID_ANYWAY for p in family.template.params]
        self._choices = _list_word_choices(self.lowered)
        self._arrays = self.lowered.list_arrays()
        self._first_answers = [FIRST_TERM if e.op == "query" else 0 if "count" in (e.op, e.tail) else NO for e in ends]
        self._numbers = np.array(self._first_answers)

    def create_balance(self) -> AnswerBalance:
        """Nothing used yet, and no limit to any answer."""
        most = max(2, int(self.lowered.answers[:, 1].max()))
        each = len(self.families)
        return AnswerBalance(*(np.zeros(shape, np.int64) for shape in ((each, most + 1), (each,), (self.slots,))))

    def find_matches(
        self,
        layout: OutcomeLayout,
        looks: Ints,
        told: Ints,
        jobs: list[OutcomeJob],
        seeds: list[int],
        balance: AnswerBalance,
        wish: SearchLimits,
    ) -> list[OutcomeMatch]:
        """Questions about each job's outcome whose answer depends on what was done and on no free place.

        None is answered by the words of the action: "Remove the ball. How many balls would there be?"
        """
        from .outcome_search import search_outcome_questions

        low, words = self.lowered, self.lowered.vocabulary
        most = len(jobs) * wish.questions
        found = (
            *(np.zeros(most, np.int64) for _ in range(3)),
            np.full((most, low.initial.shape[1]), EMPTY_SLOT, np.int64),
            np.zeros(most, np.uint64),
            np.zeros((most, 2), np.int64),
            np.zeros(most, np.int64),
        )
        size = search_outcome_questions(
            (
                *(wish.questions, wish.per_slot, self.slots, wish.rounds, ATTEMPTS, PATIENCE),
                *(wish.persistence, MOST_COUNTED, wish.whole, len(IN_PLANE), wish.defined),
            ),
            np.array(seeds, np.uint64),
            self._arrays,
            layout,
            (words.offers, words.covers, words.value),
            *(np.array(jobs, np.int64), looks, told, self._choices, self._slot_of, self._numbers, self._most_said),
            *(balance.wanted, balance.counts, balance.uses, balance.taken, found, balance.refused),
        )
        return [OutcomeMatch(*row) for row in zip(*(column[:size].tolist() for column in found), strict=True)]

    def word_question(self, found: OutcomeMatch) -> tuple[str, int]:
        """The question in one of its template's wordings, and the number of that wording.

        One that is too long is said in plain words, without the optional ones, in a wording that is short enough.
        """
        wording = self.texts[found.template]
        count = len(wording.template.texts)
        which = (found.dice >> OPTION_BITS) % count
        text = wording(found.values, found.dice)
        if self.families[found.template].logic:  # balls that are not matte, and never not rubber
            for material, look in PREDICATES:
                text = material.sub(look, text)
            return text, which
        if " any " in text:
            text = ANY_THINGS.sub("anything", text)
        if text.count(" ") < MOST_WORDS:
            return text, which
        plain = []
        for k in (*range(which, count), *range(which)):
            plain.append((wording(found.values, k << OPTION_BITS), k))
            if plain[-1][0].count(" ") < MOST_WORDS:
                return plain[-1]
        return min(plain, key=lambda p: p[0].count(" "))

    def check_answer(self, found: OutcomeMatch, program: Program, start: int, after: ExecutionWorld) -> Answer:
        """The answer, computed again by the plain executor on the scene after the action.

        That is executed once for all questions about it; the nodes from `start` on ask this one.
        """
        number = self._first_answers[found.template]
        answer: Answer = found.code
        if number == FIRST_TERM:
            answer = TERMS.names[found.code]
        elif number == NO:
            answer = bool(found.code)
        exact = answer_after(program, start, after)
        if type(exact) is not type(answer) or exact != answer:
            where = f"{self.families[found.template].template.location} on scene {after.scenes[0].id}"
            raise AnswerMismatch(f"{where}: search says {answer!r}, execution {exact!r}")
        return answer


def _limit_adjectives(family: HypotheticalTemplate) -> int:
    """How many slots may be filled so that the question has a wording of at most MOST_WORDS words."""
    template = family.template
    if family.logic:
        return len(template.params)
    slots = {p.name: p.attribute for p in template.params}
    bare = []
    for text in template.texts:
        tokens = [SLOT.findall(t) for t in OPTIONAL.sub("", text).split()]
        bare.append(sum(1 if not t else SAID_ANYWAY.get(slots[t[0]], 0) for t in tokens))
    return MOST_WORDS - min(bare)


def _list_word_choices(low: CompiledTemplates) -> npt.NDArray[np.uint64]:
    """For each step, a bit for each choice of its four words, as bits, that may be said together; the last at 48."""
    found = np.zeros(len(low.steps), np.uint64)
    needs = FIELDS.index("needs")
    for initial, begin, end in zip(low.initial, low.start, low.start[1:], strict=False):
        for k in range(begin, end):
            slots = low.steps[k, len(FIELDS) :]
            free = sum(1 << c for c, slot in enumerate(slots) if slot >= 0 and initial[slot] == OPEN_SLOT)
            fit = (
                bits for bits in range(1 << len(slots)) if bits & ~free == 0 and bits.bit_count() >= low.steps[k, needs]
            )
            found[k] = sum(1 << bits for bits in fit) | free << 48
    return found


class _OutcomeProgramBuilder(TemplateProgramBuilder):
    """Programs in which "below" is what an object is on."""

    def _list_nodes(self, piece: ProgramPiece) -> Sequence[NodesByInputs]:
        listed = super()._list_nodes(piece)
        if piece.op != "relate":
            return listed
        below = share_nodes("related", (ON, "object"))
        return [below if nodes.params == ("below",) else nodes for nodes in listed]


@cache
def get_generator(two_hop: bool = False) -> OutcomeQuestioner:
    """For the five question types, or for the two-hop questions with "and", "or" and "not"."""
    return OutcomeQuestioner(list_two_hop_templates() if two_hop else list_one_hop_templates())

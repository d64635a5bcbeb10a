"""Questions about outcomes of actions: CLEVR's templates for five question types, and with and, or, not.

What a question asks is what *would* be: the picture shows the scene before the action.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ...answer import Answer
from ...english.synonyms import Lexicon
from ...english.word_lists import rewrite_rules
from ...lang.exec.exact import execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Node, Program, node
from ...schema import Schema, Words
from ...schemas.clevr import SCHEMA
from ..clevr.compiled_templates import EMPTY_SLOT, compile_templates
from ..clevr.generator import AnswerMismatch
from ..clevr.template import Template, TemplateProgramBuilder, check_template
from ..clevr.templates import TEMPLATE_GROUPS, TemplateBuilder, build_templates
from ..clevr.wording import QuestionWording
from .scene_arrays import RELATIONS, TERMS, Ints, OutcomeLayout

# Of the slots, those that are hardest to fill come first: an action for which they stay empty is dropped.
QUESTION_TYPES = ("exist", "count", "query_attribute", "compare_attribute", "compare_integer")
LOGIC_SLOTS = (("and", "count"), ("and", "query_attribute"), ("or", "count"), ("not", "count"), ("not", "exist"))

OUTCOME_SCHEMA: Schema = replace(SCHEMA, relations=RELATIONS)  # an outcome may have one object on another
OUTCOME_SYNONYMS: Words = (("on", ("on top of",)), ("below", ("below", "underneath")))

CONDITIONAL_RULES = rewrite_rules("actions", "conditional")  # from what the picture shows to what there would be
ENDS = {"count": "count", "exist": "exist", "query": "query_attribute"}  # a program's last op → its question type
NEGATION_FILE = "negation.json"
NOT_COUNT = ("How many {1s} that are not {V} would there be?", "How many of the {1s} would not be {V}?")
NOT_EXIST = ("Would there be any {1s} that are not {V}?", "Would you see a {1} that is not {v}?")
NOT_COUNT_RELATED = ("How many {2s} that are not {V} would there be <R> the {1}?",)
NOT_EXIST_RELATED = ("Would there be any {2s} that are not {V} <R> the {1}?",)
MOST_COUNTED = 9  # so that there are 27 answers
ATTEMPTS = 12  # fillings tried for a template before the next is
PATIENCE = 3  # valid questions of a template whose answers do not do, before the next is tried
NO, YES, FIRST_TERM = 10, 11, 12  # numbers of answers: 0 to 9 are counts
ANSWERS = FIRST_TERM + len(TERMS.names)
NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class HypotheticalTemplate:
    """A template, the slot that its questions fill and what a report calls it."""

    template: Template
    slot: int
    kind: str
    logic: str = ""


def list_question_type_templates() -> tuple[HypotheticalTemplate, ...]:
    """One slot for each question type; none of the templates that join two things by and, or, same."""
    found = []
    for template in _list_clevr_templates():
        last, kind = template.nodes[-1].meaning.question_type, ""
        if template.file.endswith("_hop.json"):
            kind = ENDS[last]
        elif template.file == "compare_integer.json":
            kind = "compare_integer"
        elif template.file == "comparison.json" or (template.file == "same_relate.json" and last == "exist"):
            kind = "compare_attribute"
        if kind:
            found.append(HypotheticalTemplate(template, QUESTION_TYPES.index(kind), kind))
    return tuple(found)


def list_logic_templates() -> tuple[HypotheticalTemplate, ...]:
    """Slots for questions with "and", "or" and "not"."""
    found = []
    for template in (*_list_clevr_templates(), *(check_template(t) for t in _build_negation_templates())):
        kind = ENDS.get(template.nodes[-1].meaning.question_type, "")
        logic = {"single_and.json": "and", "single_or.json": "or", NEGATION_FILE: "not"}.get(template.file, "")
        if logic:
            found.append(HypotheticalTemplate(template, LOGIC_SLOTS.index((logic, kind)), kind, logic))
    return tuple(found)


def _list_clevr_templates() -> Iterator[Template]:
    for template in build_templates(TEMPLATE_GROUPS, OUTCOME_SCHEMA):
        yield check_template(replace(template, texts=tuple(map(make_conditional, template.texts))))


def make_conditional(text: str) -> str:
    for shown, conditional in CONDITIONAL_RULES:
        text = shown.sub(conditional, text)
    return text


def _build_negation_templates() -> Iterator[Template]:
    """Things of a description that do not have a value, in the scene or in a relation to another."""
    family = 0
    for end, plain, related in (("count", NOT_COUNT, NOT_COUNT_RELATED), ("exist", NOT_EXIST, NOT_EXIST_RELATED)):
        for attribute in OUTCOME_SCHEMA.attributes:
            for hops, texts in enumerate((plain, related)):
                sketch = TemplateBuilder(OUTCOME_SCHEMA)
                at = sketch.describe("filter" if hops == 0 else "filter_unique", 1)
                if hops:
                    at = sketch.describe_related("relate_filter", 2, at, 1)
                value = sketch.add_slot(attribute.name, hops + 2)
                at = sketch.add_node(f"not_{attribute.name}", at, slots=[value])
                sketch.add_node(end, at)
                sketch.keep_empty(attribute.name, hops + 1)
                noun = attribute.name == sketch.noun
                many, one = (f"{value}s", f"a {value}") if noun else (value, value)
                filled = [t.replace("{V}", many).replace("{v}", one) for t in texts]
                yield sketch.build_template(NEGATION_FILE, family, filled)
                family += 1


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


class OutcomeMatch(NamedTuple):
    job: int
    template: int
    code: int  # a number, a truth or a term's code
    values: list[int]  # codes of the slots
    dice: int  # random bits for the wording
    refused: list[int]  # before it: for an answer that the action does not change, that a place decides


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How many questions are wanted about one action, and how hard to look for them."""

    questions: int  # at most
    per_slot: int = 1
    whole: bool = False  # an action that some slot stays empty for is of no use
    persistence: int = 200  # questions of a slot whose answers do not do, before it stays empty
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
        self.lowered = compile_templates(templates, OUTCOME_SCHEMA, OUTCOME_SYNONYMS)
        words = self.lowered.vocabulary
        lexicon = Lexicon(OUTCOME_SCHEMA, OUTCOME_SYNONYMS)
        self.programs = [_OutcomeProgramBuilder(t, words) for t in templates]
        self.texts = [QuestionWording(t, words, lexicon) for t in templates]
        self.slots = 1 + max(f.slot for f in families)
        self._slot_of = np.array([f.slot for f in families], np.int64)
        ends = [t.nodes[-1].meaning for t in templates]
        self._numbers = np.array(
            [FIRST_TERM if e.op == "query" else 0 if "count" in (e.op, e.tail) else NO for e in ends]
        )

    def create_balance(self) -> AnswerBalance:
        """Nothing used yet, and no limit to any answer."""
        most = max(2, int(self.lowered.answers[:, 1].max()))
        each = len(self.families)
        return AnswerBalance(*(np.zeros(shape, np.int64) for shape in ((each, most + 1), (each,), (self.slots,))))

    def find_matches(
        self,
        layout: OutcomeLayout,
        looks: Ints,
        jobs: list[OutcomeJob],
        seeds: list[int],
        balance: AnswerBalance,
        wish: SearchLimits,
    ) -> list[OutcomeMatch]:
        """Questions about each job's outcome whose answer depends on what was done and on no free place."""
        from ..clevr.search import search_outcome_questions

        low, words = self.lowered, self.lowered.vocabulary
        most = len(jobs) * wish.questions
        found = (
            *(np.zeros(most, np.int64) for _ in range(3)),
            np.full((most, low.initial.shape[1]), EMPTY_SLOT, np.int64),
            np.zeros(most, np.uint64),
            np.zeros((most, 2), np.int64),
        )
        size = search_outcome_questions(
            (
                *(wish.questions, wish.per_slot, self.slots, wish.rounds, ATTEMPTS, PATIENCE),
                *(wish.persistence, MOST_COUNTED, wish.whole),
            ),
            np.array(seeds, np.uint64),
            low.list_arrays(),
            layout,
            (words.offers, words.covers, words.value),
            *(np.array(jobs, np.int64), looks, self._slot_of, self._numbers),
            *(balance.wanted, balance.counts, balance.uses, balance.taken, found, balance.refused),
        )
        return [OutcomeMatch(*row) for row in zip(*(column[:size].tolist() for column in found), strict=True)]

    def check_answer(self, found: OutcomeMatch, program: Program, after: ExecutionWorld) -> Answer:
        """The answer, computed again by the plain executor on the scene after the action."""
        number = int(self._numbers[found.template])
        answer: Answer = found.code
        if number == FIRST_TERM:
            answer = TERMS.names[found.code]
        elif number == NO:
            answer = bool(found.code)
        exact = execute(program, after).answer
        if type(exact) is not type(answer) or exact != answer:
            where = f"{self.families[found.template].template.location} on scene {after.scenes[0].id}"
            raise AnswerMismatch(f"{where}: search says {answer!r}, execution {exact!r}")
        return answer


class _OutcomeProgramBuilder(TemplateProgramBuilder):
    """Programs in which "below" is what an object is on."""

    def _build_node(self, number: int, left: int, right: int, code: int) -> Node:
        made = super()._build_node(number, left, right, code)
        if made.op == "relate" and made.params == ("below",):
            return node("related", made.inputs, ("on", "object"))
        return made


@cache
def get_generator(logic: bool = False) -> OutcomeQuestioner:
    """For the five question types, or for questions with "and", "or" and "not"."""
    return OutcomeQuestioner(list_logic_templates() if logic else list_question_type_templates())

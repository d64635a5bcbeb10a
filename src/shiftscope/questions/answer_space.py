"""Answer space: the answers a question admits, read from its program, its type or the notes of its file."""

from functools import lru_cache

from ..answer import Answer
from ..english.synonyms import Lexicon
from ..expected_answer import ANYTHING, NUMBER, TRUTH, ExpectedAnswer, expect_value, expect_words
from ..lang.check import plan_program
from ..lang.op import BOOL, INT, VALUE
from ..question import JOINED, Question
from ..schema import Schema

MOST_COUNTED = 10  # objects in a CLEVR scene
MOST_COUNTED_AFTER_ACTION = 9  # and in the outcome of a hypothetical action
TRUTH_KINDS = frozenset({"exist", "greater_than", "less_than", "equal_integer", "yes/no"})
NUMBER_KINDS = frozenset({"count", "number"})
CHOICES = {"choose": 1, "choose_image": 1, "choose_relation": 0}  # where an op's two answers begin


def infer_expected(question: Question, schema: Schema) -> ExpectedAnswer:
    """What a response to the question is parsed as."""
    form, attribute, part = _find_answer_form(question)
    if form == "choose":
        return _expect_choice(schema, *find_choices(question))
    if form == "value":
        return _expect_value(schema, attribute, part)
    return {"truth": TRUTH, "number": NUMBER}.get(form, ANYTHING)


def list_answers(question: Question, schema: Schema) -> tuple[Answer, ...]:
    """Every answer the question's type admits; none where the vocabulary is open."""
    form, attribute, part = _find_answer_form(question)
    if form == "truth":
        return (False, True)
    if form == "number":
        hypothetical = bool(question.action) or question.note(JOINED) is not None
        return tuple(range((MOST_COUNTED_AFTER_ACTION if hypothetical else MOST_COUNTED) + 1))
    if form == "choose":
        return find_choices(question)
    known = {a.name: a.values for a in (schema.part_attributes if part else schema.attributes)}
    return known.get(attribute, ()) if form == "value" and schema.closed else ()


def find_choices(question: Question) -> tuple[str, ...]:
    """The two answers that a question names ("red or blue?"); none where it names none."""
    root = question.program.root if question.program is not None else None
    if root is None or root.op not in CHOICES:
        return ()
    at = CHOICES[root.op]
    return root.params[at : at + 2]


@lru_cache(maxsize=4096)
def _expect_choice(schema: Schema, *words: str) -> ExpectedAnswer:
    """Either word in any of its spellings; a spelling of both counts as neither."""
    ways = {word: {word} for word in words}
    for word, said in ways.items():
        verb, space, _ = word.partition(" ")
        if schema.closed:
            said.update(Lexicon(schema).list_accepted_phrases(word))
        elif space and verb.endswith("ing"):  # "lying" is enough for "lying in"
            said.add(verb)
    shared = set.intersection(*ways.values()) if len(ways) > 1 else set()
    return expect_words((way, word) for word in ways for way in sorted(ways[word] - shared))


@lru_cache(maxsize=256)
def _expect_value(schema: Schema, attribute: str, part: bool) -> ExpectedAnswer:
    known = schema.part_attributes if part else schema.attributes
    if attribute not in (a.name for a in known):
        return ANYTHING
    return expect_value(schema, attribute, part=part)


def _find_answer_form(question: Question) -> tuple[str, str, bool]:
    """truth, number, value, choose or open; the attribute of a value, and whether it is a part's."""
    if question.program is not None:
        plan, root = plan_program(question.program), question.program.root
        if root.op in CHOICES:
            return "choose", "", False
        if plan.types[-1] == VALUE:
            return "value", root.params[0], plan.steps[-1].on_parts
        return {BOOL: "truth", INT: "number"}.get(plan.types[-1], "open"), "", False
    kinds = (str(question.note("answer_type", "")), question.kind)
    if any(k in TRUTH_KINDS or k.startswith("equal_") for k in kinds):
        return "truth", "", False
    if any(k in NUMBER_KINDS for k in kinds):
        return "number", "", False
    if question.kind.startswith("query_"):
        return "value", question.kind.removeprefix("query_"), False
    return "open", "", False

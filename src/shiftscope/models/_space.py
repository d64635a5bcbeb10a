"""The answers a question admits, told from its program, its kind or its file's notes."""

from __future__ import annotations

from functools import lru_cache

from ..answer import Answer
from ..ask.lexicon import Lexicon
from ..lang.check import plan_of
from ..lang.types import BOOL, INT, VALUE
from ..question import Question
from ..reply import ANYTHING, NUMBER, TRUTH, Expected, expected_value, expected_words
from ..schema import Schema

MOST_COUNTED = 10  # objects in a CLEVR scene
COUNTED = {"clevr_hyp": 9}  # suites whose answers end at another number
TRUTH_KINDS = frozenset({"exist", "greater_than", "less_than", "equal_integer", "yes/no"})
NUMBER_KINDS = frozenset({"count", "number"})
CHOICES = {"choose": 1, "choose_image": 1, "choose_relation": 0}  # where an op's two answers begin


def expected_of(question: Question, schema: Schema) -> Expected:
    """What a reply to the question is read as."""
    form, attribute, part = _form(question)
    if form == "choose":
        return _either(schema, *offered(question))
    if form == "value":
        return _value(schema, attribute, part)
    return {"truth": TRUTH, "number": NUMBER}.get(form, ANYTHING)


def space_of(question: Question, schema: Schema) -> tuple[Answer, ...]:
    """Every answer the question's type admits; none where the vocabulary is open."""
    form, attribute, part = _form(question)
    if form == "truth":
        return (False, True)
    if form == "number":
        return tuple(range(COUNTED.get(question.provenance.source, MOST_COUNTED) + 1))
    if form == "choose":
        return offered(question)
    known = {a.name: a.values for a in (schema.part_attributes if part else schema.attributes)}
    return known.get(attribute, ()) if form == "value" and schema.closed else ()


def offered(question: Question) -> tuple[str, ...]:
    """The two answers that a question names ("red or blue?"); none where it names none."""
    root = question.program.root if question.program is not None else None
    if root is None or root.op not in CHOICES:
        return ()
    at = CHOICES[root.op]
    return root.params[at : at + 2]


@lru_cache(maxsize=4096)
def _either(schema: Schema, *words: str) -> Expected:
    """Either word, in any way that it may be said; what could be both is neither."""
    ways = {word: {word, *_ways(schema, word)} for word in words}
    shared = set.intersection(*ways.values()) if len(ways) > 1 else set()
    return expected_words((way, word) for word in ways for way in sorted(ways[word] - shared))


def _ways(schema: Schema, word: str) -> tuple[str, ...]:
    """As a closed schema has it; else "lying" is enough for "lying in"."""
    if schema.closed:
        return Lexicon(schema).heard(word)
    verb, space, _ = word.partition(" ")
    return (verb,) if space and verb.endswith("ing") else ()


@lru_cache(maxsize=256)
def _value(schema: Schema, attribute: str, part: bool) -> Expected:
    known = schema.part_attributes if part else schema.attributes
    if attribute not in (a.name for a in known):
        return ANYTHING
    return expected_value(schema, attribute, part=part)


def _form(question: Question) -> tuple[str, str, bool]:
    """truth, number, value, choose or open; the attribute of a value, and whether it is a part's."""
    if question.program is not None:
        plan, root = plan_of(question.program), question.program.root
        if root.op in CHOICES:
            return "choose", "", False
        kind = plan.types[-1]
        if kind == BOOL:
            return "truth", "", False
        if kind == INT:
            return "number", "", False
        if kind == VALUE:
            return "value", root.params[0], plan.steps[-1].on_parts
        return "open", "", False
    kinds = (str(question.note("answer_type", "")), question.kind)
    if any(k in TRUTH_KINDS or k.startswith("equal_") for k in kinds):
        return "truth", "", False
    if any(k in NUMBER_KINDS for k in kinds):
        return "number", "", False
    if question.kind.startswith("query_"):
        return "value", question.kind.removeprefix("query_"), False
    return "open", "", False

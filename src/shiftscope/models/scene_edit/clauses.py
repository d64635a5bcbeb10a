"""Texts of several actions: read clause by clause, each by the parser that learned single actions.

English says the order of actions with a few words ("then", "after that"); a text is cut there. A later clause may
speak of what the one before was about as "it", or of what it added as "the new cube". The parser reads such a clause
with a description in its place that occurs nowhere else in it, and the description is then replaced by what was meant.
Nothing here is learned, and nothing is taken from how our texts are worded but these words of English.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...lang.program import Node, Program, ProgramBuilder, join_action
from ...schema import Schema

SEQUENCE = re.compile(r"\s*[,;.]?\s*(?:\band\s+)?\b(?:then|afterwards|after that|next|subsequently)\b,?\s+", re.I)
# What an earlier clause was about; in a clause that names something first, "it" is that.
PRONOUN = re.compile(r"\bit\b", re.I)
NEW = re.compile(r"\bthe new (?:\w+)\b", re.I)
NAMED = re.compile(r"\b(?:the|an?|all)\b", re.I)

Parse = Callable[[Sequence[str]], list[Program]]


class ActionClause(NamedTuple):
    """One action of a text, with a description in place of what refers back."""

    text: str
    stand_in: tuple[str, str] | None  # the attribute and value of the description
    new: bool  # whether it refers to what was added


def split_clauses(text: str, schema: Schema) -> list[ActionClause]:
    """The actions that a text tells, in order."""
    pieces = [piece.strip().rstrip(".") for piece in SEQUENCE.split(text)]
    pieces = [piece for piece in pieces if piece] or [text]
    return [
        _resolve(f"{piece}.", schema) if k else ActionClause(f"{piece}.", None, False) for k, piece in enumerate(pieces)
    ]


def _resolve(text: str, schema: Schema) -> ActionClause:
    new, pronoun, named = NEW.search(text), PRONOUN.search(text), NAMED.search(text)
    found = new or (pronoun if pronoun and (named is None or pronoun.start() < named.start()) else None)
    if found is None:
        return ActionClause(text, None, False)
    pair = _choose_stand_in(text, schema)
    return ActionClause(f"{text[: found.start()]}the {pair[1]} object{text[found.end() :]}", pair, found is new)


def _choose_stand_in(text: str, schema: Schema) -> tuple[str, str]:
    """A value that the text does not mention, of the attribute that has the most."""
    attribute = max(schema.attributes, key=lambda a: len(a.values))
    synonyms = dict(schema.synonyms)
    words = set(re.findall(r"\w+", text.lower()))
    free = [v for v in attribute.values if not words & {v, *synonyms.get(v, ())}]
    return attribute.name, (free or attribute.values)[0]


def read_actions(texts: Sequence[str], parse: Parse, schema: Schema) -> list[Program]:
    """The program of each text, of one action or of several."""
    split = [split_clauses(text, schema) for text in texts]
    unread = list(dict.fromkeys(clause.text for clauses in split for clause in clauses))
    known = dict(zip(unread, parse(unread), strict=True))
    return [_join_clauses(clauses, [known[clause.text] for clause in clauses], schema) for clauses in split]


def _join_clauses(clauses: Sequence[ActionClause], programs: Sequence[Program], schema: Schema) -> Program:
    joined, before = programs[0], programs[0]
    for clause, program in zip(clauses[1:], programs[1:], strict=True):
        if clause.stand_in is not None:
            program = _replace_stand_in(program, clause, describe_antecedent(before, schema, new=clause.new))
        joined, before = join_action(joined.nodes, program), program
    return joined.canonicalize()


def _replace_stand_in(program: Program, clause: ActionClause, described: tuple[Node, ...] | None) -> Program:
    """The program with what the clause before was about in place of the description that stood for it."""
    assert clause.stand_in is not None
    if described is None:
        return program
    draft = ProgramBuilder()
    place: list[int] = []
    for i, n in enumerate(program.nodes):
        if n.op == "unique" and _is_stand_in(program.nodes, i, clause.stand_in):
            place.append(_append(draft, described))
        else:
            place.append(draft.put(n.op, *(place[j] for j in n.inputs), words=n.params))
    return draft.build().canonicalize()


def _is_stand_in(nodes: Sequence[Node], i: int, pair: tuple[str, str]) -> bool:
    inner = nodes[nodes[i].inputs[0]]
    return inner.op == "filter" and inner.params == pair and nodes[inner.inputs[0]].op == "scene"


def _append(draft: ProgramBuilder, nodes: Sequence[Node]) -> int:
    start = len(draft.nodes)
    for n in nodes:
        draft.put(n.op, *(start + j for j in n.inputs), words=n.params)
    return len(draft.nodes) - 1


def describe_antecedent(action: Program, schema: Schema, *, new: bool) -> tuple[Node, ...] | None:
    """A reference to what an action was about, as it is after it; None where it was about no single thing."""
    nodes, last = action.nodes, action.root
    if last.op == "change":
        subject, changes = last.inputs[0], dict(zip(last.params[::2], last.params[1::2], strict=True))
    elif last.op in ("move", "swap"):
        subject, changes = last.inputs[1], {}
    elif last.op in ("add", "add_beside"):
        return _describe(_list_looks(nodes, last.inputs[1]), schema)
    else:
        return None
    if new or nodes[subject].op != "unique":
        return None
    return _describe(_list_filters(nodes, nodes[subject].inputs[0]) | changes, schema)


def _list_looks(nodes: Sequence[Node], at: int) -> dict[str, str]:
    """What the words say of a new thing; what it has from another is not among them."""
    n = nodes[at]
    if n.op == "thing":
        return dict(zip(n.params[::2], n.params[1::2], strict=True))
    if n.op == "inherit":
        return {k: v for k, v in _list_looks(nodes, n.inputs[0]).items() if k != n.params[0]}
    return _list_filters(nodes, nodes[n.inputs[0]].inputs[0])


def _list_filters(nodes: Sequence[Node], at: int) -> dict[str, str]:
    pairs: dict[str, str] = {}
    while nodes[at].op == "filter":
        pairs = {nodes[at].params[0]: nodes[at].params[1]} | pairs
        at = nodes[at].inputs[0]
    return pairs


def _describe(pairs: dict[str, str], schema: Schema) -> tuple[Node, ...]:
    draft = ProgramBuilder()
    at = draft.put("scene")
    names = [a.name for a in schema.attributes]
    for pair in sorted(pairs.items(), key=lambda pair: names.index(pair[0])):
        at = draft.put("filter", at, words=pair)
    draft.put("unique", at)
    return tuple(draft.nodes)

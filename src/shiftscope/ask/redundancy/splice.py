"""Splicing: a relation put into a template that has none there, nodes and texts alike.

"Find the <Z> <C> <M> <S>; how large is it?" becomes "Find the <Z> <C> <M> <S> that is <R_5> the <Z_5> …; how
large is it?". The slots of the template keep their numbers, new ones follow.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from ...errors import UserError
from ...schema import Schema
from ..lexicon import noun_of
from ..template import NULL, RELATION, Slot, Template, TemplateNode, check_template


class Graft(NamedTuple):
    """A chain of relations for the set that a template node describes."""

    node: int
    length: int  # of the chain
    bare: bool  # "every cube left of …", without "that is"


def spliced(template: Template, grafts: tuple[Graft, ...], schema: Schema) -> Template:
    """The template with the chains put in."""
    noun = noun_of(schema.attributes)
    names = [a.name for a in schema.attributes if a.name != noun] + [noun]
    params = list(template.params)
    texts = template.texts
    nodes: list[TemplateNode] = []
    at: list[int] = []  # new number of each old node
    by_node = {g.node: g for g in grafts}
    freed = {template.nodes[g.node].inputs[0] for g in grafts}
    for number, n in enumerate(template.nodes):
        if number in freed:
            at.append(-1)
            continue
        graft = by_node.get(number)
        if graft is None:
            nodes.append(replace(n, inputs=tuple(at[i] for i in n.inputs)))
        else:
            if not n.function.startswith("filter") or n.meaning.takes != "many":
                raise UserError(f"{template.where}: node {number} ({n.function}) takes no relation")
            links = [_slots(RELATION, names, len(params) + k * (len(names) + 1)) for k in range(graft.length)]
            params += [slot for link in links for slot in link]
            texts = tuple(_said(t, _noun(template, n, noun), links, graft.bare) for t in texts)
            nodes.append(TemplateNode("scene"))
            function = "filter_unique"
            relation: tuple[str, ...] = ()
            for link in reversed(links):
                words = tuple(slot.name for slot in link[1:])
                nodes.append(TemplateNode(function, (len(nodes) - 1,), relation + words))
                function, relation = "relate_filter_unique", (link[0].name,)
            nodes.append(TemplateNode(f"relate_{n.function}", (len(nodes) - 1,), relation + n.slots))
        at.append(len(nodes) - 1)
    kept = tuple(c for c in template.constraints if c.type == NULL)
    made = replace(template, params=tuple(params), texts=texts, nodes=tuple(nodes), constraints=kept)
    return check_template(made)


def _slots(relation: str, names: list[str], number: int) -> list[Slot]:
    return [Slot(f"<{name}_{number}>", name.capitalize()) for name in (relation, *names)]


def _noun(template: Template, n: TemplateNode, noun: str) -> str:
    for slot in n.slots:
        if template.params[template.slot(slot)].attribute == noun:
            return slot
    raise UserError(f"{template.where}: {n.function} has no noun that a relation could follow")


def _said(text: str, noun: str, links: list[list[Slot]], bare: bool) -> str:
    """The text with the chain after the noun, wherever it is mentioned."""
    phrase = ""
    for link in reversed(links):
        relation, *words = (slot.name for slot in link)
        that = "" if bare and link is links[0] else "that is "
        phrase = f" {that}{relation} the {' '.join(words)}{phrase}"
    pattern = re.compile(rf"{re.escape(noun)}(s(?![a-z]))?")
    if not pattern.search(text):
        raise UserError(f"the text {text!r} has no {noun} that a relation could follow")

    def put(found: re.Match[str]) -> str:
        plural = phrase.replace(" that is ", " that are ", 1) if found[1] and not bare else phrase
        return found[0] + plural

    return pattern.sub(put, text)

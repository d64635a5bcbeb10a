"""Action: what is done to a scene, as a record; its program, and what it does to the arrays of a scene."""

from __future__ import annotations

from dataclasses import dataclass

from ..lang.program import Node, node
from .ref import Pairs, Ref

KINDS = ("add", "remove", "change", "move_in_plane", "move_on_top")  # the five of the paper
ON = "on"


@dataclass(frozen=True, slots=True)
class New:
    """An object that comes into the scene: described, perhaps but for one attribute, or copied."""

    pairs: Pairs  # all it will be
    source: Ref | None = None  # the object it is like
    attribute: str = ""  # the attribute it has from the source; empty: all of them


@dataclass(frozen=True, slots=True)
class Action:
    """One action. Which fields are filled depends on the op."""

    kind: str  # of KINDS
    op: str  # of our language: add, add_beside, remove, change, move, swap
    subject: Ref | None = None  # what is removed, changed, moved or swapped
    anchor: Ref | None = None  # what it is put beside or on, or swapped with
    relation: str = ""
    new: New | None = None
    attribute: str = ""
    value: str = ""

    @property
    def form(self) -> str:
        """What the wordings are listed under."""
        if self.op == "move":
            return "put_on" if self.relation == ON else "move"
        if self.new is not None and self.new.source is not None:
            how = "inheriting" if self.new.attribute else "copy"
            return f"{self.op}_{how}"
        many = "_all" if self.subject is not None and self.subject.many else ""
        return f"{self.op}{f'_{self.attribute}' if self.op == 'change' else ''}{many}"

    @property
    def free(self) -> bool:
        """Whether its words leave a place open."""
        return self.op in ("add", "add_beside") or (self.op == "move" and self.relation != ON)


def program_nodes(action: Action, before: tuple[Node, ...] = ()) -> tuple[Node, ...]:
    """The action's nodes, after those of an action before it, whose outcome it is about."""
    draft = _Draft(before)
    state = draft.state
    if action.op in ("add", "add_beside"):
        assert action.new is not None
        inputs = [state, draft.new(action.new)]
        inputs += [draft.some(action.anchor)] if action.anchor else []
        draft.put(action.op, *inputs, words=(action.relation,) if action.relation else ())
    elif action.op == "remove":
        assert action.subject is not None
        draft.put("remove", state, draft.some(action.subject))
    elif action.op == "change":
        assert action.subject is not None
        draft.put("change", draft.some(action.subject), words=(action.attribute, action.value))
    else:
        assert action.subject is not None and action.anchor is not None
        inputs = [state, draft.some(action.subject), draft.some(action.anchor)]
        draft.put(action.op, *inputs, words=(action.relation,) if action.relation else ())
    return tuple(draft.nodes)


class _Draft:
    """Nodes in the making, on one state of the scene."""

    def __init__(self, before: tuple[Node, ...]) -> None:
        self.nodes = list(before) or [node("scene")]
        self.state = len(self.nodes) - 1

    def put(self, op: str, *inputs: int, words: tuple[str, ...] = ()) -> int:
        self.nodes.append(node(op, inputs, words))
        return len(self.nodes) - 1

    def some(self, ref: Ref) -> int:
        """The objects meant; a single one is asked to be single."""
        at = self.state
        if ref.anchor is not None:
            at = self.put("relate", self.some(ref.anchor), words=(ref.relation,))
        for pair in ref.pairs:
            at = self.put("filter", at, words=pair)
        return at if ref.many else self.put("unique", at)

    def new(self, new: New) -> int:
        if new.source is None:
            return self.thing(new.pairs)
        if not new.attribute:
            return self.put("copy", self.some(new.source))
        told = self.thing(tuple(p for p in new.pairs if p[0] != new.attribute))
        return self.put("inherit", told, self.some(new.source), words=(new.attribute,))

    def thing(self, pairs: Pairs) -> int:
        return self.put("thing", words=tuple(w for pair in pairs for w in pair))

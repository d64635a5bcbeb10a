"""Hypothetical action: what is done to a scene, as a record, how it refers to objects, and its program."""

from dataclasses import dataclass

from ...lang.program import Node, ProgramBuilder, node
from ...schemas.clevr import SCHEMA

Pairs = tuple[tuple[str, str], ...]

ATTRIBUTES = ("size", "color", "material", "shape")  # in the order of words
IN_PLANE = SCHEMA.relations
SUBSETS = tuple(tuple(a for i, a in enumerate(ATTRIBUTES) if bits >> i & 1) for bits in range(1, 16))


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """What is true of those meant and of no other object: in words and in a program."""

    pairs: Pairs
    mask: int  # the objects meant
    relation: str = ""
    anchor: "ObjectReference | None" = None  # what they stand in that relation to
    many: bool = False
    words: str = ""  # in place of a description: it, the new cube

    @property
    def index(self) -> int:
        """The number of the one object meant."""
        return self.mask.bit_length() - 1


KINDS = ("add", "remove", "change", "move_in_plane", "move_on_top")  # the five of the paper
ON = "on"


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object that comes into the scene: described, perhaps but for one attribute, or copied."""

    pairs: Pairs  # all it will be
    source: ObjectReference | None = None  # the object it is like
    attribute: str = ""  # the attribute it has from the source; empty: all of them


@dataclass(frozen=True, slots=True)
class HypotheticalAction:
    """One action. Which fields are filled depends on the op."""

    kind: str  # of KINDS
    op: str  # of our language: add, add_beside, remove, change, move, swap
    subject: ObjectReference | None = None  # what is removed, changed, moved or swapped
    anchor: ObjectReference | None = None  # what it is put beside or on, or swapped with
    relation: str = ""
    new: NewObject | None = None
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
    def leaves_place_open(self) -> bool:
        return self.op in ("add", "add_beside") or (self.op == "move" and self.relation != ON)


def build_action_nodes(action: HypotheticalAction, before: tuple[Node, ...] = ()) -> tuple[Node, ...]:
    """The action's nodes, after those of an action before it, whose outcome it is about."""
    draft = _ActionBuilder(before)
    changes = action.op == "change"
    inputs = [] if changes else [draft.state]
    words = (action.attribute, action.value) if changes else (action.relation,) if action.relation else ()
    inputs += [draft.add_new_object(action.new)] if action.new else []
    inputs += [draft.add_reference(ref) for ref in (action.subject, action.anchor) if ref]
    draft.put(action.op, *inputs, words=words)
    return tuple(draft.nodes)


class _ActionBuilder(ProgramBuilder):
    """Nodes on one state of the scene."""

    def __init__(self, before: tuple[Node, ...]) -> None:
        self.nodes = list(before) or [node("scene")]
        self.state = len(self.nodes) - 1

    def add_reference(self, ref: ObjectReference) -> int:
        at = self.state
        if ref.anchor is not None:
            at = self.put("relate", self.add_reference(ref.anchor), words=(ref.relation,))
        for pair in ref.pairs:
            at = self.put("filter", at, words=pair)
        return at if ref.many else self.put("unique", at)

    def add_new_object(self, new: NewObject) -> int:
        if new.source is None:
            return self.add_thing(new.pairs)
        if not new.attribute:
            return self.put("copy", self.add_reference(new.source))
        described = self.add_thing(tuple(p for p in new.pairs if p[0] != new.attribute))
        return self.put("inherit", described, self.add_reference(new.source), words=(new.attribute,))

    def add_thing(self, pairs: Pairs) -> int:
        return self.put("thing", words=tuple(w for pair in pairs for w in pair))

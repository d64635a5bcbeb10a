"""Meanings: programs as trees that compose, an intermediate form between a question's words and its program.

A program of the language and its meaning determine each other. The laws used are the language's own, whatever the
words:

- asking which of two holds is asking whether *this or that* holds: `choose(unique(X), color, red, blue)` is
  `is(X, be(alt(red, blue)))`, `verify(unique(X), color=red)` is `is(X, be(red))`, and so for relations and nouns;
- the images kept by the size of their group are those for which a statement about a count is true;
- `alike` is about all objects of its two sets, so that of one set twice it is about that set;
- what is intersected with related objects is described by a predicate, as is what a quantifier ranges over.

A tree is `(label, child, …)`, and a leaf `("leaf", kind, word)`, where the kind is `relation`, `number`, `attr`
(the name of an attribute) or the attribute that the word is a value of. Ops that no law concerns are labels as they
are, their words leaves.
"""

from typing import Any

from ...errors import UserError
from ...lang.op import get_op
from ...lang.program import Program, ProgramBuilder, ProgramError

Tree = tuple[Any, ...]

LEAF, ALT = "leaf", "alt"
RELATION, NUMBER, ATTR = "relation", "number", "attr"
TESTS = ("equal", "at_least", "at_most", "less", "greater")
QUANTIFIERS = ("all", "some", "none")
WHAT = "what "  # before the attribute that names the thing asked for, which no word of the question says
SUBJECT, OBJECT = "subject", "object"
WORD_KINDS = {"relation": RELATION, "number": NUMBER, "attribute": ATTR}


def is_leaf(tree: Tree) -> bool:
    return bool(tree[0] == LEAF)


def list_leaves(tree: Tree) -> list[Tree]:
    return [tree] if is_leaf(tree) else [leaf for child in tree[1:] for leaf in list_leaves(child)]


def is_choice(tree: Tree) -> bool:
    """Whether a tree says *this or that*, for the node above it to ask which."""
    if tree[0] in ("find", "be"):
        return bool(tree[1][0] == ALT)
    return tree[0] in (ALT, "pred_alt") or (tree[0] == "pred" and tree[1][0] == "find" and is_choice(tree[1]))


def asks_choices(tree: Tree) -> bool:
    """Whether a node may have these children: a choice is asked about by `is`, and no program says any other."""
    for k, child in enumerate(tree[1:]):
        if is_choice(child):
            passed_on = (tree[0], child[0]) in (("find", ALT), ("be", ALT), ("pred", "find"))
            if not (passed_on or (tree[0] == "is" and k == 1)):
                return False
    return True


def has_program(tree: Tree) -> bool:
    """Whether some program has a node with such children, as far as these tell; readings without one are not kept.

    Images are told by what they show or by how many things they do, and only a predicate is about *this and that*.
    """
    match tree:
        case "images", ("exist", _):
            pass
        case "images", (test, ("count", (counted, *_)), number):
            if test not in TESTS or counted == "images" or not is_leaf(number):
                return False
        case "images", _:
            return False
    return asks_choices(tree) and (tree[0] == "pred" or all(child[0] != "both" for child in tree[1:]))


# From programs.


def read_meaning(program: Program) -> Tree:
    """The meaning of a program; a result used twice is said twice."""
    trees: list[Tree] = []
    for node in program.nodes:
        trees.append(_reduce(node.op, node.params, [trees[i] for i in node.inputs]))
    return trees[-1]


def _reduce(op: str, params: tuple[str, ...], given: list[Tree]) -> Tree:
    """The meaning of one op on meanings."""
    match op, params, given:
        case "filter", (attribute, value), [("scene",)]:
            return "find", (LEAF, attribute, value)
        case "find", (name,), []:
            return "find", (LEAF, "name", name)
        case "filter", (attribute, value), [objects]:
            return "filter", objects, (LEAF, attribute, value)
        case "number", (number,), []:
            return LEAF, NUMBER, number
        case "related", (relation, role), [others]:
            return ("pred" if role == SUBJECT else "related_object"), others, (LEAF, RELATION, relation)
        case "intersect", (), [objects, ("pred", *_) as predicate] if objects[0] != "union":
            return _describe(objects, predicate)
        case "verify", (attribute, value), [objects]:
            return "is", objects, ("be", (LEAF, attribute, value))
        case "exist", (), [("with", ("it",), predicate)]:
            return "is", ("it",), predicate
        case "choose", (attribute, this, that), [objects]:
            both = (ALT, (LEAF, attribute, this), (LEAF, attribute, that))
            match objects:
                case "unique", ("intersect", ("union", one, other), ("related_object", subject, relation)):
                    if (one, other) == (_name(attribute, this), _name(attribute, that)):
                        return "is", subject, ("pred", ("find", both), relation)
            return "is", objects, ("be", both)
        case "choose_relation", (this, that, role), [objects, others] if role == OBJECT:
            return "is", objects, ("pred_alt", others, (LEAF, RELATION, this), (LEAF, RELATION, that))
        case "all" | "some" | "none", (), [objects, ("is", ("it",), predicate)]:
            return op, objects, predicate
        case "images", (), [objects]:
            return "images", ("exist", objects)
        case "keep", (test, number), [("group", objects)]:
            return "images", (test, ("count", objects), (LEAF, NUMBER, number))
        case "equal", (), [("query", ("unique", one), first), ("query", ("unique", other), second)] if first == second:
            return "same", one, other, first
        case "alike", (attribute,), [one, other] if one == other:
            return "same", one, (LEAF, ATTR, attribute)
        case "query", (attribute,), [("unique", ("related_object", subject, relation))]:
            return WHAT + attribute, subject, relation
    words = get_op(op).params
    return (op, *given, *((LEAF, WORD_KINDS.get(name, name), word) for name, word in zip(words, params, strict=True)))


def _name(attribute: str, value: str) -> Tree:
    return "find", (LEAF, attribute, value)


def _describe(objects: Tree, predicate: Tree) -> Tree:
    """Predicates of one thing, the outermost first; of two with one relation, this is said once."""
    if objects[0] != "with":
        return "with", objects, predicate
    _, described, before = objects
    first = before[1] if before[0] == "also" else before
    if predicate[0] == first[0] == "pred" and predicate[2] == first[2]:
        joined: Tree = ("pred", ("both", predicate[1], first[1]), predicate[2])
        return "with", described, ("also", joined, *before[2:]) if before[0] == "also" else joined
    return "with", described, ("also", predicate, *(before[1:] if before[0] == "also" else (before,)))


# To programs.


class MeaningError(ProgramError):
    """A tree that no program of the language says."""


def write_program(tree: Tree) -> Program:
    """The program with this meaning; a MeaningError where there is none."""
    builder = _MeaningBuilder()
    try:
        builder.write(tree)
        return builder.build().canonicalize()
    except (UserError, ValueError, IndexError, KeyError, TypeError, AssertionError) as error:
        raise MeaningError(f"no program says {tree!r} ({error})") from None


def _rank_predicate(predicate: Tree) -> tuple[str, str]:
    """By relation, and then by the thing that it is a relation to; what is no relation comes first."""
    if predicate[0] != "pred":
        return "", ""
    return predicate[2][2], list_leaves(predicate[1])[0][2]


class _MeaningBuilder(ProgramBuilder):
    def write(self, tree: Tree) -> int:
        label, *children = tree
        written = getattr(self, f"write_{label}", None)
        if written is not None:
            number: int = written(*children)
            return number
        if label.startswith(WHAT):
            related = self.write_related_object(*children)
            return self.put("query", self.put("unique", related), words=(label.removeprefix(WHAT),))
        if label in TESTS or label == "count":
            return self.put(label, *(self.write(child) for child in children))
        op = get_op(label)
        inputs, words = children[: op.arity], children[op.arity :]
        return self.put(label, *(self.write(child) for child in inputs), words=tuple(leaf[2] for leaf in words))

    def write_leaf(self, kind: str, word: str) -> int:
        assert kind == NUMBER
        return self.put("number", words=(word,))

    def write_find(self, leaf: Tree) -> int:
        assert is_leaf(leaf)
        _, attribute, value = leaf
        if attribute == "name":
            return self.put("find", words=(value,))
        return self.put("filter", self.put("scene"), words=(attribute, value))

    def write_filter(self, objects: Tree, leaf: Tree) -> int:
        assert is_leaf(leaf)
        return self.put("filter", self.write(objects), words=leaf[1:])

    def write_with(self, objects: Tree, predicate: Tree) -> int:
        return self.apply(self.write(objects), predicate)

    def apply(self, objects: int, predicate: Tree) -> int:
        """Those of a set of which a predicate is true. Predicates commute: they are written in one fixed order."""
        label, *children = predicate
        if label == "also":
            for child in sorted(children, key=_rank_predicate):
                objects = self.apply(objects, child)
            return objects
        if label == "be":
            assert is_leaf(children[0])
            return self.put("filter", objects, words=children[0][1:])
        assert label == "pred" and is_leaf(children[1])
        others, relation = children
        for one in sorted(others[1:] if others[0] == "both" else (others,), key=lambda tree: list_leaves(tree)[0][2]):
            related = self.put("related", self.write(one), words=(relation[2], SUBJECT))
            objects = self.put("intersect", objects, related)
        return objects

    def write_related_object(self, others: Tree, relation: Tree) -> int:
        return self.put("related", self.write(others), words=(relation[2], OBJECT))

    def write_is(self, objects: Tree, predicate: Tree) -> int:
        match predicate:
            case "be", (kind, attribute, value) if kind == LEAF:
                return self.put("verify", self.write(objects), words=(attribute, value))
            case "be", (kind, (_, attribute, this), (_, other, that)) if kind == ALT:
                assert attribute == other
                return self.put("choose", self.write(objects), words=(attribute, this, that))
            case "pred_alt", others, (_, _, this), (_, _, that):
                inputs = self.write(objects), self.write(others)
                return self.put("choose_relation", *inputs, words=(this, that, OBJECT))
            case "pred", ("find", (kind, one, other)), relation if kind == ALT:
                assert one[1] == other[1]
                union = self.put("union", self.write(_name(*one[1:])), self.write(_name(*other[1:])))
                related = self.write_related_object(objects, relation)
                found = self.put("unique", self.put("intersect", union, related))
                return self.put("choose", found, words=(one[1], one[2], other[2]))
        return self.put("exist", self.apply(self.write(objects), predicate))

    def write_quantifier(self, quantifier: str, objects: Tree, predicate: Tree) -> int:
        among = self.write(objects)
        return self.put(quantifier, among, self.write_is(("it",), predicate))

    def write_all(self, objects: Tree, predicate: Tree) -> int:
        return self.write_quantifier("all", objects, predicate)

    def write_some(self, objects: Tree, predicate: Tree) -> int:
        return self.write_quantifier("some", objects, predicate)

    def write_none(self, objects: Tree, predicate: Tree) -> int:
        return self.write_quantifier("none", objects, predicate)

    def write_images(self, statement: Tree) -> int:
        match statement:
            case "exist", objects:
                return self.put("images", self.write(objects))
            case test, ("count", objects), (kind, _, number) if test in TESTS and kind == LEAF:
                return self.put("keep", self.put("group", self.write(objects)), words=(test, number))
        raise MeaningError(f"no images are told by {statement!r}")

    def write_same(self, *children: Tree) -> int:
        *sets, leaf = children
        if len(sets) == 1:
            objects = self.write(sets[0])
            return self.put("alike", objects, objects, words=(leaf[2],))
        one, other = (self.put("query", self.put("unique", self.write(s)), words=(leaf[2],)) for s in sets)
        return self.put("equal", one, other)

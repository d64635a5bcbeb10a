"""Templates compiled to arrays that the search walks, bound to one schema.

A step is a template node, or a description and the count or exist that ends it. What a slot may hold is a
term of the schema's vocabulary (a value or a kind), so that filling it is one AND on the scene's masks.

What the words alone tell about each node's set is derived here too: "the other cyan cubes like the cyan cube"
are none in any scene, because `same` and `relate` never give the thing they start from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import UserError, did_you_mean
from ...scene_table import WORD
from ...schema import Schema, Words
from .template import APART, MANY, NAMED, NOUN, OTHER, OUT_NEQ, OUTSIDE, TOKEN, UNLIKE, Template, suggest_description
from .vocabulary import Numbers, SlotVocabulary, Truths
from .wording import ANOTHER

OPPOSITE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
OPPOSITE |= {"on": "below", "below": "on"}  # in what an action leads to

SlotRow = tuple[int, ...]  # [column] the slot whose word every member fits, or -1


class KnownSet(NamedTuple):
    said: SlotRow
    whole: bool  # it holds all of the scene's objects that fit the words
    without: frozenset[int]  # nodes giving a single thing, the only one of its words, that is left out


def derive_known_sets(template: Template, rows: Sequence[SlotRow], columns: Sequence[int]) -> list[KnownSet]:
    """For each node; `rows` are the slots that a node describes with, `columns` what `same` compares."""
    found: list[KnownSet] = []
    nothing = KnownSet((-1,) * len(rows[0]), False, frozenset())
    for n, own, column in zip(template.nodes, rows, columns, strict=True):
        f = n.meaning
        before = [found[i] for i in n.inputs]
        made = nothing
        if f.op == "scene":
            made = nothing._replace(whole=True)
        elif f.relate or f.op in ("relate", "same"):
            said = own
            if f.op == "same":  # what the words say of the one thing's color holds of the others' too
                said = tuple(slot if c == column else -1 for c, slot in enumerate(before[0].said))
            made = KnownSet(said, False, frozenset(n.inputs) if before[0].whole else frozenset())
        elif f.op == "parts":  # the words of their owners; the words for parts have columns of their own
            made = nothing._replace(said=before[0].said)
        elif f.op == "describe":
            made = before[0]._replace(said=_overlay(own, before[0].said))
        elif f.op == "unique":
            made = before[0]
        elif f.op == "exclude":
            made = before[0]._replace(whole=False)
        elif f.op == "intersect":
            left, right = before
            made = KnownSet(_overlay(left.said, right.said), left.whole and right.whole, left.without | right.without)
        elif f.op == "union":
            made = nothing._replace(without=before[0].without & before[1].without)
        found.append(made)
    return found


def _overlay(top: SlotRow, below: SlotRow) -> SlotRow:
    return tuple(a if a >= 0 else b for a, b in zip(top, below, strict=True))


EMPTY_SLOT = -1  # a slot that is filled with nothing
OPEN_SLOT = -2  # a slot that is not decided yet

OPS = (
    *("scene", "describe", "unique", "relate", "union", "intersect", "count", "exist"),
    *("query", "same", "equal", "less", "greater", "parts", "owners", "exclude"),
)
# Rules: two outputs differ; by the words, neither of two descriptions contains the other, the one thing that
# fits a set's words is not left out of it, two sets are not worded alike, its owners can have such parts, no chain of
# relations leads back into it; where the text has "other", the thing that the others are like is one of them, and
# perhaps called so. A part's words are true of the picture, too; where a vehicle's parts are counted, there may be
# several; not both of two numbers are zero; there are two things at least; a slot is filled.
DIFFER, WORDS_APART, WORDS_LEAVE, WORDS_ALIKE, CAN_HAVE, NO_WAY_BACK, ONE_OF_THEM, PICTURED, SEVERAL = range(9)
NOT_ZERO, TWO, SAID = range(9, 12)
RULES = {OUT_NEQ: DIFFER, APART: WORDS_APART, OUTSIDE: WORDS_LEAVE, UNLIKE: WORDS_ALIKE, MANY: TWO}
FIELDS = ("op", "first", "second", "column", "relation", "single", "on_parts", "needs", "empty", "drops")

# How often, in eighths, a description is offered that nothing fits: as often as not for questions of
# existence, and about as often as a single match where things are counted.
EMPTY_EXIST, EMPTY_COUNT = 4, 2
COLOR = "color"  # what tells the parts that a scene lists from those that it does not
MOST_COUNTED = 10  # balance looks at 0 to 10, as the official generator does; more parts are not counted


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTemplates:
    templates: tuple[Template, ...]
    vocabulary: SlotVocabulary
    steps: Numbers  # [step, field, then for each column the slot that a description takes it from, or -1]
    said: Numbers  # [step, column] the slot whose word all of the step's things fit, or -1
    start: Numbers  # [template + 1] first step
    # [rule, 4] kind, first and second step; CAN_HAVE: step, slots of the owner and the part; PICTURED: step of the
    # owners, slots of the color and, where one part of one owner is meant, of the name; SEVERAL: slot of the name;
    # ONE_OF_THEM: the steps, and the column of nouns where the thing must be called what the others are, or -1
    rules: Numbers
    rule_start: Numbers  # [step + 1] the rules that can be judged once the step is done
    initial: Numbers  # [template, slot] OPEN_SLOT, or EMPTY_SLOT where a constraint says so
    answers: Numbers  # [template, 3] code of the first possible answer, how many are balanced, most there are
    opposite: Numbers  # [relation] the one that holds the other way round, or -1

    def list_arrays(self) -> tuple[Numbers | Truths, ...]:
        arrays = (self.steps, self.said, self.start, self.rules, self.rule_start, self.initial, self.answers)
        names = np.diag(
            self.vocabulary.outright
        )  # of a part's name with itself: whether it is of one part of a vehicle
        return (*arrays, self.opposite, self.vocabulary.can_have | names)


def compile_templates(templates: tuple[Template, ...], schema: Schema, synonyms: Words = ()) -> CompiledTemplates:
    """Bind templates to a schema; one that the schema has no words for is refused by name."""
    if not schema.closed:
        raise UserError(f"questions are searched over closed vocabularies; {schema.name} is open")
    if not templates:
        raise UserError("there are no templates to ask from")
    vocabulary = SlotVocabulary.from_schema(schema, synonyms)
    widest = max(1, *(len(t.params) for t in templates))
    number_of = {relation: k for k, relation in enumerate(schema.relations)}
    steps: list[list[int]] = []
    said: list[list[int]] = []
    rules: list[list[int]] = []
    start, rule_start, answers = [0], [0], []
    initial = np.full((len(templates), widest), EMPTY_SLOT, np.int64)
    for number, template in enumerate(templates):
        binder = _TemplateCompiler(template, vocabulary)
        initial[number, : len(template.params)] = OPEN_SLOT
        initial[number, list(template.empty_slots)] = EMPTY_SLOT
        for at in range(len(template.nodes)):
            for step in binder.build_steps(at):
                steps.append(step)
                said.append(list(binder.known[at].said))
                rule_start.append(len(rules))
            rules += binder.build_rules(at)
            rule_start[-1] = len(rules)
        start.append(len(steps))
        answers.append(binder.compute_answer_range())
    return CompiledTemplates(
        templates=templates,
        vocabulary=vocabulary,
        steps=np.array(steps, np.int64),
        said=np.array(said, np.int64),
        start=np.array(start, np.int64),
        rules=np.array(rules, np.int64).reshape(-1, 4),
        rule_start=np.array(rule_start, np.int64),
        initial=initial,
        answers=np.array(answers, np.int64),
        opposite=np.array([number_of.get(OPPOSITE.get(r, ""), -1) for r in schema.relations], np.int64),
    )


class _TemplateCompiler:
    def __init__(self, template: Template, vocabulary: SlotVocabulary) -> None:
        self.template, self.vocabulary, self.schema = template, vocabulary, vocabulary.schema
        self.names = {p.name: i for i, p in enumerate(template.params)}
        self.begun: list[int] = []  # first and last step of each node
        self.ended: list[int] = []
        for n in template.nodes:
            self.begun.append(self.ended[-1] + 1 if self.ended else 0)
            self.ended.append(self.begun[-1] + (n.meaning.tail in ("count", "exist")))
        nodes = range(len(template.nodes))
        rows = [tuple(self.list_slots(at)) for at in nodes]
        self.known = derive_known_sets(template, rows, [self.find_queried_column(at) for at in nodes])
        self.queried = {n.inputs[0] for n in template.nodes if n.meaning.op == "query"}
        words = {word.lower() for text in template.texts for word in TOKEN.findall(text)}
        self.says_other = bool(words & {OTHER, ANOTHER})

    def build_steps(self, at: int) -> list[list[int]]:
        n = self.template.nodes[at]
        f = n.meaning
        relation = -1
        if f.relate or f.op == "relate":
            relation = self.names[n.slots[0]]
            if not self.schema.relations:
                problem = f"node {at} relates objects, and schema {self.schema.name} has no relations"
                raise UserError(f"{self.template.location}: {problem}")
        first, second = (*(self.ended[i] for i in n.inputs), 0, 0)[:2]
        if f.op == "owners":  # the objects whose parts they were found by
            source = n
            while source.meaning.op != "parts":
                source = self.template.nodes[source.inputs[0]]
            second = self.ended[source.inputs[0]]
        column = self.find_queried_column(at)
        if f.op == "equal":
            column = int(bool(f.attribute) and f.attribute not in ("integer", "object"))  # compares values
        main = [
            *(OPS.index(f.op), first, second, column, relation, int(f.tail == "unique")),
            *(int(f.on_parts), int(self.needs_a_word(at)), self.compute_empty_rate(at)),
            int(relation >= 0 or self.must_matter(at)),
            *self.list_slots(at),
        ]
        if self.begun[at] == self.ended[at]:
            return [main]
        end = [OPS.index(f.tail), self.begun[at], 0, 0, -1, 0, 0, 0, 0, 0]
        return [main, end + [-1] * (len(main) - len(end))]

    def find_queried_column(self, at: int) -> int:
        f = self.template.nodes[at].meaning
        return self.find_column(f.attribute, f.on_parts, at) if f.op in ("query", "same") else 0

    def list_slots(self, at: int) -> list[int]:
        n = self.template.nodes[at]
        f = n.meaning
        row = [-1] * len(self.vocabulary.columns)
        if f.op in ("describe", "exclude"):
            for name in n.slots[1:] if f.relate else n.slots:
                slot = self.names[name]
                attribute = f.attribute or self.template.params[slot].attribute
                row[self.find_column(attribute, f.on_parts, at)] = slot
        return row

    def build_rules(self, at: int) -> list[list[int]]:
        found = []
        for c in self.template.constraints:
            if c.type in RULES and max(int(p) for p in c.params) == at:
                place = self.ended if c.type in (OUT_NEQ, MANY) else self.begun
                found.append([RULES[c.type], *(place[int(p)] for p in (*c.params, 0)[:2]), 0])
            if c.type == NOUN and c.params[0] == at:
                found.append([SAID, self.list_slots(at)[self.vocabulary.nouns[0]], 0, 0])
        found += [[WORDS_LEAVE, self.begun[at], self.ended[i], 0] for i in sorted(self.known[at].without)]
        n = self.template.nodes[at]
        f = n.meaning
        if at in self.queried or (f.relate and f.tail == "unique"):  # no thing is described by means of itself
            found += [[DIFFER, self.ended[at], self.ended[i], 0] for i in self.list_references(at)]
        if f.op in ("equal", "less", "greater") and all(self.is_number(i) for i in n.inputs):
            found.append([NOT_ZERO, *(self.ended[i] for i in n.inputs), 0])
        if f.op == "describe":
            before = self.template.nodes[n.inputs[0]]
            if f.on_parts:
                owner, part = (self.known[at].said[c] for c in self.vocabulary.nouns)
                found += [[CAN_HAVE, self.begun[at], owner, part]] if owner >= 0 and part >= 0 else []
                found += self.build_picture_rules(at)
            elif f.relate and f.tail == "exist":
                found.append([NO_WAY_BACK, self.begun[at], 0, 0])
            elif before.meaning.op == "same" and self.says_other:
                named = any(c.type == NAMED for c in self.template.constraints)
                noun = self.vocabulary.nouns[0] if named else -1
                found.append([ONE_OF_THEM, self.begun[at], self.ended[before.inputs[0]], noun])
        return found

    def build_picture_rules(self, at: int) -> list[list[int]]:
        """What keeps the words for parts true of the picture, which also shows parts that the scene does not list."""
        n = self.template.nodes[at]
        parts = n
        while parts.meaning.op != "parts":
            parts = self.template.nodes[parts.inputs[0]]
        row = self.list_slots(at)
        columns = self.vocabulary.columns
        color = row[columns.index((COLOR, True))] if (COLOR, True) in columns else -1
        name = row[self.vocabulary.nouns[-1]]
        of_one = self.is_single(parts.inputs[0])
        found = [[PICTURED, self.ended[parts.inputs[0]], color, name if of_one and n.meaning.tail == "unique" else -1]]
        if of_one and n.meaning.tail == "count" and name >= 0:
            found.append([SEVERAL, name, 0, 0])
        return found

    def is_single(self, at: int) -> bool:
        """Whether the node gives one thing."""
        n = self.template.nodes[at]
        return n.meaning.question_type == "unique" or (n.meaning.op == "owners" and self.is_single(n.inputs[0]))

    def is_number(self, at: int) -> bool:
        return self.template.nodes[at].meaning.question_type == "count"

    def list_references(self, at: int) -> list[int]:
        """The nodes before this one that give a single thing, a part if this one does."""
        found, todo = set(), list(self.template.nodes[at].inputs)
        while todo:
            i = todo.pop()
            n = self.template.nodes[i]
            if n.meaning.question_type == "unique" and self.gives_parts(i) == self.gives_parts(at):
                found.add(i)
            todo += n.inputs
        return sorted(found)

    def gives_parts(self, at: int) -> bool:
        n = self.template.nodes[at]
        if n.meaning.op in ("parts", "owners") or not n.inputs:
            return n.meaning.op == "parts"
        return n.meaning.on_parts or self.gives_parts(n.inputs[0])

    def compute_answer_range(self) -> list[int]:
        last = self.template.nodes[-1].meaning
        if last.op == "query":
            column = self.find_column(last.attribute, last.on_parts, len(self.template.nodes) - 1)
            attribute = self.schema.attribute(last.attribute, part=last.on_parts)
            return [self.vocabulary.terms(column).start, len(attribute.values), len(attribute.values)]
        if "count" in (last.op, last.tail):
            parts = any(n.meaning.on_parts for n in self.template.nodes)
            return [0, MOST_COUNTED + 1, MOST_COUNTED if parts else WORD]
        return [0, 2, 2]

    def needs_a_word(self, at: int) -> bool:
        """Whether a description must say something: all but `how many things are there?` of a whole scene."""
        n = self.template.nodes[at]
        f = n.meaning
        if f.op != "describe" or f.relate:
            return False
        before = self.template.nodes[n.inputs[0]]
        if before.function == "object2part":
            before = self.template.nodes[before.inputs[0]]
        counts_all = f.tail == "count" and at == len(self.template.nodes) - 1
        return not f.tail or (before.function == "scene" and not counts_all)

    def compute_empty_rate(self, at: int) -> int:
        """How often nothing may fit, in eighths; only what is counted or tested for existence may be missing."""
        f = self.template.nodes[at].meaning
        if f.op != "describe":
            return 0
        ends = {f.tail} if f.tail else self.list_reader_ops(at)
        if not ends or not ends <= {"count", "exist"}:
            return 0
        return EMPTY_EXIST if "exist" in ends else EMPTY_COUNT

    def list_reader_ops(self, at: int) -> set[str]:
        """What the nodes that read this one do; whose parts they are is no end in itself."""
        found: set[str] = set()
        for i, n in enumerate(self.template.nodes):
            if at in n.inputs:
                found |= self.list_reader_ops(i) if n.meaning.op == "owners" else {n.meaning.op}
        return found

    def must_matter(self, at: int) -> bool:
        """Whether a question must need the node: owners always, and whose the parts are that it counts.

        Of a single part, whose it is always matters: the picture shows more front wheels than those with
        attributes of their own.
        """
        n = self.template.nodes[at]
        if n.meaning.op == "parts":
            return self.template.nodes[n.inputs[0]].function != "scene" and self.is_counted(at)
        return n.meaning.op == "owners"

    def is_counted(self, at: int) -> bool:
        """Whether what the node gives, perhaps after descriptions, is counted or tested for existence."""
        readers = [(i, n.meaning.question_type) for i, n in enumerate(self.template.nodes) if at in n.inputs]
        return any(kind in ("count", "exist") or (kind == "describe" and self.is_counted(i)) for i, kind in readers)

    def find_column(self, attribute: str, on_parts: bool, at: int) -> int:
        if (attribute, on_parts) in self.vocabulary.columns:
            return self.vocabulary.columns.index((attribute, on_parts))
        what = "part attribute" if on_parts else "attribute"
        hint = did_you_mean(attribute, [name for name, part in self.vocabulary.columns if part == on_parts])
        hint = hint or suggest_description(self.template.nodes[at].function)
        problem = f"node {at} uses the {what} {attribute!r}, not in schema {self.schema.name}{hint}"
        raise UserError(f"{self.template.location}: {problem}")

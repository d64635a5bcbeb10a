"""Reference graphs: what a program refers to, drawn as a graph of things and relations (COVR's subgraph).

    exist(intersect(filter(scene(), shape=bus), related(filter(scene(), color=red), left)))

is a bus with an arrow `left` to a red thing. A box stands for the program's node that gives these objects, so that it
lights them in the images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..lang.check import plan_program
from ..lang.op import OBJECT, OBJECTS, PART, PARTS, get_op
from ..lang.program import Program
from ..report.markup import Html, shorten_text, tag

COLUMN_GAP, ROW_HEIGHT, BOX_HEIGHT = 110, 46, 28
CHARACTER = 6.6  # pixels, of the type the boxes are labelled in
LONGEST = 34  # characters of a label
BACK = "← "
SETS = (OBJECTS, OBJECT, PARTS, PART)


@dataclass(frozen=True, slots=True)
class ReferredThing:
    """Objects by their description, and how they stand to others."""

    node: int
    words: tuple[str, ...] = ()
    noun: str = ""
    links: tuple[tuple[str, ReferredThing], ...] = ()  # a relation that begins with ← holds the other way round

    @property
    def label(self) -> str:
        return shorten_text(" ".join((*self.words, self.noun or "thing")), LONGEST)


def find_references(program: Program) -> tuple[ReferredThing, ...]:
    """The things that the program refers to by themselves: each set that something other than a set is made of."""
    types = plan_program(program).types
    used = [j for i, n in enumerate(program.nodes) for j in n.inputs if types[i] not in SETS and types[j] in SETS]
    return tuple(_describe(program, j) for j in dict.fromkeys(used))


def _describe(program: Program, i: int) -> ReferredThing:
    n = program.nodes[i]
    inputs = [_describe(program, j) for j in n.inputs if plan_program(program).types[j] in SETS]
    if get_op(n.op).edits:
        return ReferredThing(i)  # as they are after the action, which the question is about
    match n.op:
        case "find":
            return ReferredThing(i, (), n.params[0])
        case "it":
            return ReferredThing(i, (), "each of them")
        case "filter" | "exclude":
            value = n.params[-1] if n.op == "filter" else f"not {n.params[-1]}"
            if n.params[0] in ("shape", "name") and not inputs[0].noun:
                return replace(inputs[0], node=i, noun=value)
            return replace(inputs[0], node=i, words=(*inputs[0].words, value))
        case "unique":
            return replace(inputs[0], node=i)
        case "intersect":
            one, other = inputs
            words = (*one.words, *other.words, *((one.noun,) if one.noun and other.noun else ()))
            return ReferredThing(i, words, other.noun or one.noun, (*one.links, *other.links))
        case "relate" | "related":
            passive = n.op == "related" and n.params[1:] == ("object",)
            return ReferredThing(i, links=((f"{BACK if passive else ''}{n.params[0]}", inputs[0]),))
        case "same":
            return ReferredThing(i, ("other",), links=((f"same {n.params[0]}", inputs[0]),))
        case "parts":
            return ReferredThing(i, noun="part", links=(("of", inputs[0]),))
        case "owners":
            return ReferredThing(i, links=(("has", inputs[0]),))
        case "union":
            return ReferredThing(i, noun="either of", links=tuple(("", one) for one in inputs))
    return ReferredThing(i, noun="" if n.op == "scene" else n.op, links=tuple((n.op, one) for one in inputs))


def draw_references(program: Program, *, alone: bool = False) -> Html | None:
    """The graph as SVG; None where no thing stands in a relation to another, unless `alone` draws these too."""
    roots = [root for root in find_references(program) if root.links or program.nodes[root.node].op != "it"]
    if not roots or not (alone or any(root.links for root in roots)):
        return None
    drawing = _GraphDrawing()
    for root in roots:
        drawing.place(root, 0)
    width = max(x + w for x, _, w in drawing.boxes.values()) + 4
    height = drawing.rows * ROW_HEIGHT
    words = "; ".join(map(_say, roots))
    return tag(
        "svg",
        drawing.arrows,
        drawing.shapes,
        class_="graph",
        viewBox=f"0 0 {width:.0f} {height}",
        width=round(width),
        height=height,
        role="group",
        aria_label=f"What the question refers to: {words}",
    )


def _say(thing: ReferredThing) -> str:
    links = " and ".join(f"{relation.removeprefix(BACK)} {_say(other)}" for relation, other in thing.links)
    return f"{thing.label} {links}".strip()


class _GraphDrawing:
    """Boxes from left to right, a row for each leaf."""

    def __init__(self) -> None:
        self.rows = 0
        self.boxes: dict[int, tuple[float, float, float]] = {}  # drawing order → left, middle, width
        self.shapes: list[Html] = []
        self.arrows: list[Html] = []

    def place(self, thing: ReferredThing, left: float) -> tuple[float, float]:
        """Draw a thing and what hangs on it; where its box begins, and its middle."""
        width = 18 + CHARACTER * len(thing.label)
        longest = max((len(relation) for relation, _ in thing.links), default=0)
        step = left + width + max(COLUMN_GAP - 30, 24 + CHARACTER * longest)
        placed = [(relation, *self.place(other, step)) for relation, other in thing.links]
        if placed:
            middle = sum(at for *_, at in placed) / len(placed)
        else:
            middle = (self.rows + 0.5) * ROW_HEIGHT
            self.rows += 1
        for relation, x, at in placed:
            start, end = left + width, x - 3
            bend = (start + end) / 2
            curve = f"M{start:.1f} {middle:.1f}C{bend:.1f} {middle:.1f} {bend:.1f} {at:.1f} {end:.1f} {at:.1f}"
            self.arrows.append(tag("path", d=curve, class_="arrow"))
            tip = (
                f"M{start:.1f} {middle:.1f}l6 -3.5v7z"
                if relation.startswith(BACK)
                else f"M{end:.1f} {at:.1f}l-6 -3.5v7z"
            )
            self.arrows.append(tag("path", d=tip, class_="arrow-head"))
            words = shorten_text(relation.removeprefix(BACK), LONGEST)
            place = {"x": bend, "y": (middle + at) / 2 - 5, "text_anchor": "middle"}
            self.arrows.append(tag("text", words, class_="relation", **place))
        box = tag("rect", x=left + 1, y=middle - BOX_HEIGHT / 2, width=width, height=BOX_HEIGHT, rx=7)
        text = tag("text", thing.label, x=left + 1 + width / 2, y=middle + 4, text_anchor="middle", class_="figure")
        group = tag(
            "g", box, text, class_="thing", role="button", tabindex="0", data_node=thing.node, aria_label=thing.label
        )
        self.shapes.append(group)
        self.boxes[len(self.boxes)] = (left, middle, width)
        return left + 1, middle

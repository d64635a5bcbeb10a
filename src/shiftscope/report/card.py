"""Card: one example with its pictures, what was asked, what is true and what each contender said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..answer import Answer, spell
from ..lang.program import ProgramError
from ..lang.world import World
from ..run.described import described
from ..store.dataset import Example
from ..store.image import StoredImage
from .chart.mark import legend_mark
from .level import spelled
from .markup import NOTHING, Html, tag
from .parting import Parting, left_out, tree
from .picture import picture

FACTS = ("kind", "action", "template", "objects", "length", "steps", "factor", "level", "variant")
LEFT_OUT = 3  # steps marked, at most, for one answer
MOST_LAID = 5  # pictures that the page has an arrangement for
MOST_TOLD = 500  # letters of a scene that has no picture


@dataclass(frozen=True, slots=True)
class Reply:
    """What one contender made of the example."""

    contender: str
    series: int
    answer: str | None
    status: str
    right: bool
    reason: str = ""
    raw: str = ""  # shown where no answer could be read
    program: str = ""  # the one the model wrote, where it is not the true one
    trace: str = ""  # what the model tells of its steps


def card(
    example: Example,
    replies: Sequence[Reply],
    facts: Mapping[str, object],
    *,
    sides: Sequence[Html] = (),
    partings: Sequence[Parting] = (),
    **data: str,
) -> Html:
    """The card; `data` are attributes that the page filters by."""
    question = example.question
    known = [f"{name} {spelled(facts[name])}" for name in FACTS if name in facts]
    return tag(
        "article",
        pictures(example),
        tag(
            "div",
            tag("p", f"{question.action} " if question.action else "", question.text, class_="asked"),
            said(question.answer, replies),
            *sides,
            tag("p", " · ".join([*known, f"question {question.id}"]), class_="facts"),
            program(example, replies, partings),
            class_="words",
        ),
        class_="card wide" if len(example.images) > 2 else "card",
        **data,
    )


def pictures(example: Example) -> Html:
    """Every picture of the question in its order, numbered where there are several."""
    many = len(example.images)
    shown = [_shown(image, k, many) for k, image in enumerate(example.images, 1)]
    return tag("div", shown, class_=f"pictures of-{min(many, MOST_LAID)}")


def _shown(image: StoredImage, place: int, many: int) -> Html:
    """A picture; where the dataset has none, its scene in words."""
    said = f"Image {image.id}: a scene of {len(image.scene.objects)} objects"
    number = tag("span", place, class_="place", title=said) if many > 1 else None
    if image.png:
        return tag("div", picture(image.png, said), number, class_="shot")
    told = _cut(described(image.scene), MOST_TOLD)
    return tag("div", number, tag("p", f"No picture. {told}", class_="facts"), class_="shot told")


def said(truth: Answer | None, replies: Sequence[Reply]) -> Html:
    """The true answer and every reply, in words and signs as well as in colour."""
    true = tag("td", "not known" if truth is None else spell(truth))
    rows = [tag("tr", tag("th", "Truth", scope="row"), true)]
    for reply in replies:
        name = tag("th", legend_mark(reply.series), reply.contender, scope="row", class_="name")
        rows.append(tag("tr", name, _answer(reply)))
    return tag("table", tag("tbody", rows), class_="said")


def _answer(reply: Reply) -> Html:
    if reply.answer is not None:
        sign, look = ("✓", "is-right") if reply.right else ("✗", "is-wrong")
        return tag(
            "td",
            f"{reply.answer} ",
            tag("span", sign, aria_label="right" if reply.right else "wrong"),
            class_=look,
        )
    shown = f"{reply.status}: “{_cut(reply.raw)}”" if reply.raw else reply.status
    return tag("td", shown, class_="is-none", title=reply.reason or None)


def program(example: Example, replies: Sequence[Reply], partings: Sequence[Parting] = ()) -> Html:
    """The program with its trace, folded; steps that explain a wrong answer are marked."""
    question = example.question
    if question.program is None:
        return NOTHING
    world = World(tuple(image.scene for image in example.images))
    try:
        marked = [*partings, *explained(example, world, replies)]
        shown = tree(question.program, world, marked)
    except ProgramError:
        return NOTHING
    hint = " and where a wrong answer may part from it" if marked else ""
    told = [
        tag("p", f"{reply.contender} {verb}: ", tag("span", what, class_="code"), class_="facts")
        for reply in replies
        for verb, what in (("read it as", reply.program), ("tells", _cut(reply.trace, 400)))
        if what
    ]
    return tag("details", tag("summary", f"Program, step by step{hint}"), shown, told)


def explained(example: Example, world: World, replies: Sequence[Reply]) -> list[Parting]:
    """Steps that, left out alone, give a wrong answer that was given."""
    found: dict[int, str] = {}
    assert example.question.program is not None
    for answer in dict.fromkeys(r.answer for r in replies if r.answer is not None and not r.right):
        for node in left_out(example.question.program, world, answer)[:LEFT_OUT]:
            found.setdefault(node, f"without this step: {answer}")
    return [Parting(node, why) for node, why in found.items()]


def _cut(raw: str, most: int = 90) -> str:
    flat = " ".join(raw.split())
    return flat if len(flat) <= most else f"{flat[:most].rstrip()}…"

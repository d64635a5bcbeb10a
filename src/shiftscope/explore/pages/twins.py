"""Two examples side by side: an original and its twin, with the step at which they part."""

from __future__ import annotations

from ...answer import spell
from ...report.chart.frame import draw_legend_mark
from ...report.markup import Child, Html, tag
from ...report.number_format import count_noun
from ..collection import RIGHT
from ..example_view import ExampleView
from .example import render_steps
from .frame import PageFrame, render_heading


def render_twins(frame: PageFrame, one: ExampleView, other: ExampleView) -> str:
    parting = find_parting_step(one, other)
    changes = _list_changes(one, other)
    lead = (
        f"{count_noun(len(changes), 'difference')} between the two"
        if changes
        else "Text, program and scene are the same."
    )
    sides = [_render_side(view, name, parting) for view, name in ((one, "Left"), (other, "Right"))]
    listed = tag("ul", [tag("li", text) for text in changes], class_="changes") if changes else None
    body = [render_heading("Twins", lead), listed, tag("div", sides, class_="side-by-side")]
    return frame.render("Twins", tag("div", body, class_="wide-page"), data=one.data, keys="example")


def find_parting_step(one: ExampleView, other: ExampleView) -> int | None:
    """The first step whose value differs, where both programs have the same steps."""
    if one.program is None or other.program is None or one.trace is None or other.trace is None:
        return None
    shapes = [[(n.op, n.inputs) for n in view.program.nodes] for view in (one, other) if view.program]
    if shapes[0] != shapes[1]:
        return None
    pairs = zip(one.trace.execution.values, other.trace.execution.values, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), None)


def _list_changes(one: ExampleView, other: ExampleView) -> list[str]:
    """What differs, in words."""
    changes = []
    if one.question.text != other.question.text:
        changes.append("the words of the question")
    if one.program_text != other.program_text:
        changes.append("the program")
    if _spell(one) != _spell(other):
        changes.append(f"the answer: {_spell(one)} and {_spell(other)}")
    if one.question.scenes != other.question.scenes and [i.png for i in one.images] != [i.png for i in other.images]:
        changes.append("the images")
    elif [i.png for i in one.images] != [i.png for i in other.images]:
        changes.append("the pictures")
    for k, (a, b) in enumerate(zip(one.scenes, other.scenes, strict=False)):
        differing = [
            i for i, (x, y) in enumerate(zip(a.objects, b.objects, strict=False)) if x.attributes != y.attributes
        ]
        textured = [i for i, (x, y) in enumerate(zip(a.objects, b.objects, strict=False)) if x.texture != y.texture]
        where = f" of image {k + 1}" if len(one.scenes) > 1 else ""
        if len(a.objects) != len(b.objects):
            changes.append(f"how many objects there are{where}: {len(a.objects)} and {len(b.objects)}")
        if differing:
            changes.append(f"attributes of {count_noun(len(differing), 'object')}{where}")
        if textured:
            changes.append(f"textures of {count_noun(len(textured), 'object')}{where}")
    return changes


def _spell(view: ExampleView) -> str:
    return "not known" if view.question.answer is None else spell(view.question.answer)


def _render_side(view: ExampleView, name: str, parting: int | None) -> Html:
    shots: list[Html] = []
    for k, image in enumerate(view.images):
        if image.png:
            width, height = image.size
            picture = tag("img", src=view.picture_address(0, k), alt=f"Image {image.id}", width=width, height=height)
            canvas = tag("canvas", width=width, height=height, aria_hidden="true")
            masks = view.picture_address(0, k, "masks")
            shots.append(tag("div", picture, canvas, class_="lit", data_masks=masks, data_stage=0, data_image=k))
    rows: list[Child] = [tag("tr", tag("th", "Answer", scope="row"), tag("td", _spell(view)))]
    for k, run in enumerate(view.data.runs):
        answer, outcome = run.get_answer(view.row), str(run.outcome[view.row])
        look = "is-right" if outcome == RIGHT else "is-wrong" if outcome == "wrong" else "is-none"
        label = tag("th", draw_legend_mark(k), run.name, scope="row")
        rows.append(tag("tr", label, tag("td", f"{answer or outcome} ({outcome})", class_=look)))
    notes = {} if parting is None else {parting: "here they part"}
    items = render_steps(view.trace, notes) if view.trace else []
    where = f"{view.data.name}, question {view.row}"
    return tag(
        "section",
        tag("h2", tag("a", where, href=view.link)),
        tag("p", f"{view.question.action} {view.question.text}".strip(), class_="asked"),
        tag("div", shots, class_="shots one" if len(shots) == 1 else "shots many"),
        tag("table", tag("tbody", rows), class_="said"),
        tag("ol", items, class_="steps") if items else None,
        class_="side",
        aria_label=f"{name}: {where}",
    )

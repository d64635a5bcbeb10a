"""The page of one example: images, program, answers; and what would be if the scene or the program were another."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from ...answer import is_same_answer, spell
from ...lang.exec.exact import describe_object
from ...lang.execution_world import ExecutionWorld
from ...lang.program import ProgramError
from ...report.chart.frame import draw_legend_mark
from ...report.examples import find_decisive_steps
from ...report.markup import Child, Html, render_details, tag
from ...report.measure import spell_fact
from ...report.number_format import format_percent
from ..ask import ModelAsker, ModelReply, join_words
from ..collection import RIGHT, Collection, OpenedData
from ..example_view import ExampleView, explain_no_drawing
from ..reference_graph import draw_references
from ..scene_edit import STANDARD_SIZE, explain_undrawable
from ..trace_view import TraceView
from .edit_forms import render_edit_forms
from .frame import PageFrame
from .places import can_move_in_picture, render_handles

PHRASE_HUES = 7
STAGE_NAMES = ("Before", "After")
SHOWN_RAW = 1500  # characters of a response


def render_example(
    frame: PageFrame, collection: Collection, view: ExampleView, asker: ModelAsker | None, reply: ModelReply | None
) -> str:
    data, question = view.data, view.question
    hint = f"Question {question.id}"
    title = tag("div", _render_position(view), tag("h1", _render_text(view)), class_="question-head")
    left = tag("div", _render_shots(view), _render_graph(view), class_="stage-column")
    right = tag(
        "div",
        tag("p", view.problem, class_="alert", role="alert") if view.problem else None,
        _render_answers(view),
        _render_steps(view),
        class_="program-column",
    )
    more = [
        render_edit_forms(view),
        _render_ask(view, asker, reply),
        _render_twins(collection, view),
        _render_facts(view),
    ]
    body = tag("div", title, tag("div", left, right, class_="example"), more, class_="example-page")
    return frame.render(hint, body, data=data, here="", keys="example")


def _render_position(view: ExampleView) -> Html:
    """Where the example stands in the list it was opened from, and the way to its neighbours."""
    rows = np.flatnonzero(view.chosen.select(view.data))
    at = int(np.searchsorted(rows, view.row))
    inside = at < len(rows) and rows[at] == view.row
    before, after = at - 1, at + 1 if inside else at
    up = f"/d/{view.data.number}{view.chosen.to_query(page=at // 24 + 1 if at >= 24 else '')}"

    def link(text: str, place: int, key: str) -> Html:
        if not 0 <= place < len(rows):
            return tag("span", text, class_="button", aria_disabled="true")
        address = f"/d/{view.data.number}/e/{rows[place]}{view.chosen.to_query()}"
        return tag("a", text, href=address, class_="button", data_key=key, data_keep="show")

    where = f"{at + 1:,} of {len(rows):,}" if inside else "not in this list"
    return tag(
        "nav",
        tag("a", "↑ List", href=up, class_="button", data_key="u"),
        link("← Previous", before, "p"),
        tag("span", where),
        link("Next →", after, "n"),
        aria_label="Examples",
        class_="position",
    )


def _render_text(view: ExampleView) -> list[Child]:
    """The action and the question, its phrases marked in the colours of their boxes."""
    question, pieces, at = view.question, list[Child](), 0
    for k, phrase in enumerate(question.grounding):
        if phrase.start < at:  # phrases inside each other: the outer one is marked
            continue
        pieces.append(question.text[at : phrase.start])
        words = question.text[phrase.start : phrase.end]
        pieces.append(tag("mark", words, class_=f"phrase hue-{k % PHRASE_HUES}", data_phrase=k))
        at = phrase.end
    action: Child = tag("span", question.action, " ", class_="action") if question.action else None
    return [action, *pieces, question.text[at:]]


def _render_shots(view: ExampleView) -> Html:
    """Every image of every stage, with a canvas over it that a script lights up."""
    stages = view.trace.stages if view.trace else (view.scenes,)
    undrawable = explain_no_drawing(view) if len(stages) > 1 or view.edits else ""
    shots = []
    for stage, scenes in enumerate(stages):
        for k in range(len(scenes)):
            name = _name_shot(view, stage, k, len(stages))
            drawn = bool(stage) or view.is_changed(k)
            shots.append(_render_shot(view, stage, k, name, undrawable if drawn else ""))
    blank = not any(image.png or not explain_undrawable(image.scene) for image in view.images)
    toggles = [
        tag(
            "label",
            tag("input", type="checkbox", data_layer=layer, checked=blank and layer == "boxes"),
            text,
            tag("kbd", key),
        )
        for layer, text, key in (
            ("masks", "Masks", "m"),
            ("boxes", "Boxes", "b"),
            ("parts", "Parts", "a"),
            ("grounding", "Grounding", "g"),
            ("places", "Move objects", "v"),
        )
        if _has_layer(view, layer)
    ]
    many = "one" if len(shots) == 1 else "two" if len(shots) == 2 else "many"
    return tag(
        "div",
        tag("div", shots, class_=f"shots {many}", data_grounding=_describe_grounding(view)),
        tag("fieldset", tag("legend", "Overlays", class_="unseen"), toggles, class_="layers") if toggles else None,
        class_="shots-block",
    )


def _name_shot(view: ExampleView, stage: int, image: int, stages: int) -> str:
    if stages > 1:
        return STAGE_NAMES[min(stage, 1)] + (f" action {stage}" if stage and stages > 2 else " the action")
    name = f"Image {image + 1}" if len(view.images) > 1 else ""
    return (f"{name}, edited" if name else "Edited") if view.is_changed(image) else name


def _render_shot(view: ExampleView, stage: int, k: int, name: str, undrawable: str) -> Html:
    scenes = view.trace.stages[stage] if view.trace else view.scenes
    scene, stored = scenes[k], view.images[k]
    words = ", ".join(describe_object(o) for o in scene.objects[:12])
    alt = f"{name or 'Image'}: {len(scene.objects)} objects: {words}" if scene.objects else f"Image {stored.id}"
    caption = tag("figcaption", name) if name else None
    has_picture = bool(stored.png) or not explain_undrawable(scene)
    boxed = scene.size is not None and any(o.box for o in scene.objects)
    if not (has_picture or boxed):
        return tag("figure", caption, tag("p", f"There is no picture. {alt}", class_="no-picture"), class_="shot")
    width, height = stored.size if stored.png else scene.size or STANDARD_SIZE
    source = view.picture_address(stage, k)
    picture = tag("img", src=source, alt=alt, width=width, height=height) if has_picture else None
    overlays = {"data_masks": view.picture_address(stage, k, "masks"), "data_stage": stage, "data_image": k}
    if picture is None:  # boxes on nothing, with their names
        overlays |= {"role": "img", "aria_label": alt}
    canvas = tag("canvas", width=width, height=height, aria_hidden="true")
    handles = render_handles(view, k, (width, height)) if has_picture and not stage else None
    lit = tag("div", picture, canvas, handles, class_="lit" if has_picture else "lit blank", **overlays)
    note = f"The picture is as it was: {undrawable}." if undrawable and has_picture else ""
    return tag("figure", caption, lit, tag("p", note, class_="note") if note else None, class_="shot")


def _has_layer(view: ExampleView, layer: str) -> bool:
    images = view.images
    if layer == "masks":
        return any(i.mask for i in images)
    if layer == "parts":
        return any(i.parts or i.part_mask for i in images)
    if layer == "places":
        return any(can_move_in_picture(view, k) for k in range(len(images)))
    if layer == "grounding":
        return bool(view.question.grounding) and not view.edits
    return any(i.boxes or any(o.box for o in i.scene.objects) for i in images)


def _describe_grounding(view: ExampleView) -> str | None:
    """The boxes of each phrase; of an edited scene they are elsewhere."""
    if not view.question.grounding or view.edits:
        return None
    image = view.images[0]
    phrases = []
    for phrase in view.question.grounding:
        things = [*((i, "") for i in phrase.objects if i < len(image.scene.objects)), *phrase.parts]
        phrases.append([box for i, part in things if (box := image.find_box(i, part))])
    return json.dumps(phrases)


def _render_answers(view: ExampleView) -> Html:
    """The stored answer, what the program gives now, and what runs answered."""
    truth = view.question.answer
    rows = [tag("tr", tag("th", "Answer", scope="row"), tag("td", "not known" if truth is None else spell(truth)))]
    if view.trace is not None and (view.edited or truth is None or not _agrees(view)):
        look = "changed" if not _agrees(view) else ""
        same = tag("span", " (unchanged)", class_="quiet") if not look and view.edited and truth is not None else None
        now = tag("td", tag("strong", view.trace.spelled, id="answer-now"), same, class_=look or None)
        rows.append(tag("tr", tag("th", "Now" if view.edited else "By execution", scope="row"), now))
    rows += [_render_run(view, k) for k in range(len(view.data.runs))]
    return tag("table", tag("caption", "Answers", class_="unseen"), tag("tbody", rows), class_="said")


def _agrees(view: ExampleView) -> bool:
    trace, truth = view.trace, view.question.answer
    return trace is None or truth is None or (trace.answer is not None and is_same_answer(trace.answer, truth))


def _render_run(view: ExampleView, k: int) -> Html:
    run = view.data.runs[k]
    prediction = run.read_prediction(view.question.id)
    outcome, answer = str(run.outcome[view.row]), run.get_answer(view.row)
    sign = {RIGHT: "✓", "wrong": "✗"}.get(outcome, "")
    told: list[Child] = []
    if prediction is not None:
        if prediction.confidence is not None:
            told.append(tag("p", f"Confidence {format_percent(prediction.confidence)}%"))
        for name, text in (
            ("Response", prediction.raw),
            ("Reason", prediction.reason),
            ("Program", prediction.program),
            ("Steps", prediction.trace),
        ):
            if text and text != answer:
                told.append(tag("p", f"{name}: ", tag("span", text[:SHOWN_RAW], class_="code")))
    look = {"right": "is-right", "wrong": "is-wrong"}.get(outcome, "is-none")
    cell = tag(
        "td",
        answer if answer is not None else outcome,
        tag("span", f" {sign}", aria_hidden="true") if sign else None,
        tag("span", f" ({outcome})", class_="unseen"),
        render_details("more", told) if told else None,
        class_=look,
    )
    return tag("tr", tag("th", draw_legend_mark(k), run.name, scope="row"), cell)


def _render_steps(view: ExampleView) -> Html | None:
    """The program as a tree of buttons; each lights what it gives."""
    if view.trace is None or view.program is None:
        return (
            tag("p", "The question has no program that can be run.", class_="quiet") if view.program is None else None
        )
    items = render_steps(view.trace, _find_notes(view))
    bar = tag(
        "div",
        tag("button", "←", type="button", data_move="-1", aria_label="Step back", class_="button"),
        tag("button", "→", type="button", data_move="1", aria_label="Step on", class_="button"),
        tag("output", f"{len(items)} steps", aria_live="polite", id="step-now"),
        class_="step-bar",
    )
    title = tag("h2", "Program", tag("span", " edited", class_="quiet") if view.has_own_program else None)
    return tag("section", title, bar, tag("ol", items, class_="steps"), class_="program", aria_label="Program")


def render_steps(trace: TraceView, notes: Mapping[int, str]) -> list[Html]:
    """The steps of a program as buttons, in a tree; some are marked, and say why."""
    items = []
    for line in trace.steps:
        why = notes.get(line.node)
        button = tag(
            "button",
            tag("span", line.text, class_="code"),
            tag("span", line.value, class_="value"),
            tag("span", why, class_="why") if why else None,
            type="button",
            class_=f"step depth-{min(line.depth, 24)}" + (" parts" if why else ""),
            data_step=json.dumps(line.to_json()),
            data_node=line.node,
            aria_pressed="false",
        )
        items.append(tag("li", button))
    return items


def _find_notes(view: ExampleView) -> dict[int, str]:
    """Steps that, left out alone, give the wrong answer of a run: a hint, not a proof."""
    notes: dict[int, str] = {}
    if view.edited or view.program is None:
        return notes
    world = ExecutionWorld(view.scenes)
    for run in view.data.runs:
        answer = run.get_answer(view.row)
        if answer is None or run.outcome[view.row] != "wrong":
            continue
        try:
            for node in find_decisive_steps(view.program, world, answer):
                notes.setdefault(node, f"without this step: {answer} ({run.name})")
        except ProgramError:
            continue
    return notes


def _render_graph(view: ExampleView) -> Html | None:
    if view.program is None or view.trace is None:
        return None
    graph = draw_references(view.program, alone=len(view.images) > 1)  # a COVR question always has a subgraph
    if graph is None:
        return None
    frame = tag(
        "div", graph, class_="scroll", tabindex="0", role="group", aria_label="Graph of what the question refers to"
    )
    return tag("section", tag("h2", "What it refers to"), frame, class_="references")


def _render_ask(view: ExampleView, asker: ModelAsker | None, reply: ModelReply | None) -> Html | None:
    if asker is None:
        return None
    said = None
    if reply is not None:
        rows = [tag("p", tag("strong", reply.answer or f"No answer: {reply.reason}"), class_="reply-answer")]
        for name, text in (("Response", reply.raw), ("Program", reply.program), ("Steps", reply.trace)):
            if text and text != reply.answer:
                rows.append(tag("p", f"{name}: ", tag("span", text[:SHOWN_RAW], class_="code")))
        if reply.confidence is not None:
            rows.append(tag("p", f"Confidence {format_percent(reply.confidence)}%"))
        said = tag(
            "div", tag("p", f"“{reply.question}”", class_="quiet"), rows, class_="reply", role="status", id="reply"
        )
    field = tag(
        "label",
        tag("span", "Your question" + (", about the picture as edited" if view.edits else "")),
        tag(
            "textarea",
            reply.question if reply else join_words(view.question),
            name="question",
            rows=2,
            id="ask-field",
            maxlength=2000,
        ),
    )
    form = tag(
        "form",
        field,
        tag("button", f"Ask {asker.name}"),
        method="post",
        action=f"{view.to_address('/ask')}#reply",
        data_keep="show step",
    )
    return tag("section", tag("h2", "Ask the model"), form, said, class_="ask")


def _render_twins(collection: Collection, view: ExampleView) -> Html | None:
    twins = collection.find_twins(view.data, view.question, view.row)
    if not twins:
        return None
    items = [
        tag(
            "li",
            tag("a", f"{what} in {other.name}, question {row}", href=compare_address(view.data, view.row, other, row)),
        )
        for what, other, row in twins
    ]
    return tag("section", tag("h2", "Twins"), tag("ul", items), class_="twin-links")


def compare_address(one: OpenedData, row: int, other: OpenedData, other_row: int) -> str:
    return f"/twins?a={one.number}.{row}&b={other.number}.{other_row}"


def _render_facts(view: ExampleView) -> Html:
    question, origin = view.question, view.question.provenance
    facts: dict[str, object] = {
        "id": question.id,
        "split": origin.split,
        "type": question.kind,
        "template": origin.template,
        "images": ", ".join(question.scenes),
    }
    for run in view.data.runs[:1]:
        facts |= run.get_facts(view.row)
    if view.data.marks:
        for shortcut, column in view.data.marks.groups.items():
            part = view.data.marks.parts[shortcut][view.row]
            group = column[view.row]
            if group is not None:
                facts[f"{shortcut} group"] = f"{group}{f' ({part})' if part else ''}"
    notes = {k: v for k, v in question.notes if isinstance(v, str | int | float) and len(str(v)) < 200}
    listed = {**{k: v for k, v in facts.items() if v not in (None, "")}, **notes}
    rows = [(tag("dt", spell_fact(name)), tag("dd", str(value))) for name, value in listed.items()]
    return render_details("All facts", tag("dl", rows, class_="method"))

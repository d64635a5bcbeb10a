"""Forms that change an example: its program as text; its objects in a table and on a plan of the ground."""

from __future__ import annotations

from functools import cache

from ...lang.exec.exact import describe_object
from ...lang.op import all_ops
from ...report.markup import Child, Html, render_details, tag
from ...report.measure import spell_fact
from ...scene import Object, Scene
from ..example_view import ExampleView, explain_no_drawing
from .frame import render_hidden
from .places import can_move_in_picture, render_plan


def render_edit_forms(view: ExampleView) -> list[Html | None]:
    return [_render_program_form(view), _render_scene_form(view)]


def _render_program_form(view: ExampleView) -> Html | None:
    if not any(image.scene.objects for image in view.images):
        return None
    kept = render_hidden([*(("edit", one) for one in view.edits), *view.chosen.conditions])
    field = tag(
        "label",
        tag("span", "Program"),
        tag(
            "textarea", view.program_text, name="program", rows=3, spellcheck="false", class_="code", id="program-field"
        ),
    )
    reset = (
        tag("a", "The question's own", href=f"{view.link}{view.chosen.to_query()}", data_keep="show")
        if view.edited
        else None
    )
    end = tag("div", tag("button", "Run it"), reset, class_="form-end")
    form = tag("form", kept, field, end, method="get", action=view.link, data_keep="show")
    return tag("section", tag("h2", "Edit the program"), form, _render_operations(), class_="edit-program")


@cache
def _render_operations() -> Html:
    """Every op with its meaning, to look up while typing."""
    rows = [(tag("dt", op.usage, class_="code"), tag("dd", op.summary)) for op in all_ops().values()]
    return render_details("Operations", tag("dl", rows, class_="method operations"))


def _render_scene_form(view: ExampleView) -> Html | None:
    if not any(image.scene.objects for image in view.images):
        return None
    why = explain_no_drawing(view)
    note = (
        f"No picture can be drawn of it ({why}); the answer changes all the same."
        if why
        else "The picture is drawn anew, and the program runs on the edited scene."
    )
    if any(can_move_in_picture(view, k) for k in range(len(view.images))):
        note += " Objects can be moved in the picture, too: switch on “Move objects” below it."
    kept = render_hidden(
        [*((("program", view.program_text),) if view.has_own_program else ()), *view.chosen.conditions]
    )
    tables: list[Child] = []
    for k in range(len(view.images)):
        table = _render_table(view, k)
        plan = render_plan(view, k)
        inside = tag("div", plan, table, class_="scene-editor")
        if len(view.images) > 1:
            changed = " (edited)" if view.is_changed(k) else ""
            inside = tag("details", tag("summary", f"Image {k + 1}{changed}"), inside, open=view.is_changed(k))
        tables.append(inside)
    reset = (
        tag("a", "As it was", href=f"{view.link}{view.chosen.to_query()}", data_keep="show step")
        if view.edits
        else None
    )
    end = tag("div", tag("button", "Show what changes"), reset, class_="form-end")
    form = tag(
        "form", kept, tables, end, method="get", action=f"{view.link}/edit", id="scene-form", data_keep="show step"
    )
    return tag("section", tag("h2", "Edit the scene"), tag("p", note, class_="note"), form, class_="edit-scene")


def _find_edited(view: ExampleView, image: int) -> dict[str, str]:
    """The values that edits give fields of the form: `2.color` → red."""
    found = {}
    for edit in view.edits:
        number, _, rest = edit.partition(":")
        if number == str(image):
            name, equals, value = rest.partition("=")
            found[name] = value if equals else "1"
    return found


def _render_table(view: ExampleView, image: int) -> Html:
    scene = view.images[image].scene
    edited = _find_edited(view, image)
    placed = any(o.position for o in scene.objects)
    names = list(dict.fromkeys(a for o in scene.objects for a, _ in o.attributes if len(o.values(a)) == 1))
    head = [*(spell_fact(n) for n in names), *(("x", "y") if placed else ()), "remove"]
    rows = []
    for i, thing in enumerate(scene.objects):
        cells = [_render_value(scene, image, i, thing, name, edited) for name in names]
        if placed:
            cells += [_render_place(image, i, thing, axis, edited) for axis in (0, 1)]
        box = tag(
            "input",
            type="checkbox",
            name=f"{image}:{i}.remove",
            value="1",
            checked=f"{i}.remove" in edited,
            aria_label=f"Remove object {i}",
        )
        cells.append(tag("td", box))
        name = tag("th", f"{i} ", tag("span", describe_object(thing), class_="unseen"), scope="row")
        rows.append(tag("tr", name, cells, data_object=i))
        rows += [_render_part(scene, image, i, k, names, placed, edited) for k in range(len(thing.parts))]
    heads = [tag("th", tag("span", "Object", class_="unseen"), scope="col"), *(tag("th", h, scope="col") for h in head)]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), class_="scene-table")
    return tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=f"Objects of image {image + 1}")


def _render_value(scene: Scene, image: int, i: int, thing: Object, name: str, edited: dict[str, str]) -> Html:
    values = thing.values(name)
    if len(values) != 1:
        return tag("td", ", ".join(values))
    field, shown = f"{image}:{i}.{name}", edited.get(f"{i}.{name}", values[0])
    changed = "changed" if f"{i}.{name}" in edited else None
    if scene.schema.closed:
        options = [(v, spell_fact(v)) for v in scene.schema.attribute(name).values]
        return tag("td", _render_menu(f"{name} of object {i}", field, options, shown), class_=changed)
    text = tag("input", type="text", name=field, value=shown, aria_label=f"{name} of object {i}", maxlength=60)
    return tag("td", text, class_=changed)


def _render_menu(label: str, name: str, options: list[tuple[str, str]], chosen: str) -> Html:
    listed = [tag("option", text, value=value, selected=value == chosen) for value, text in options]
    return tag("select", listed, name=name, aria_label=label)


def _render_place(image: int, i: int, thing: Object, axis: int, edited: dict[str, str]) -> Html:
    if thing.position is None:
        return tag("td")
    moved = edited.get(f"{i}.place", "").split(",")
    shown = moved[axis] if len(moved) == 2 else f"{thing.position[axis]:.2f}"
    field = tag(
        "input",
        type="number",
        step="0.01",
        name=f"{image}:{i}.{'xy'[axis]}",
        value=shown,
        aria_label=f"{'xy'[axis]} of object {i}",
    )
    return tag("td", field, class_="changed" if len(moved) == 2 else None)


def _render_part(
    scene: Scene, image: int, i: int, k: int, names: list[str], placed: bool, edited: dict[str, str]
) -> Html:
    """A row for a part: those of the columns that it has."""
    part = scene.objects[i].parts[k]
    own = dict(part.attributes)
    cells = []
    for name in names:
        key = f"{i}.{part.name}.{name}"
        if name not in own or name == "size" or not scene.schema.closed:
            cells.append(tag("td", own.get(name, "")))
            continue
        options = [(v, spell_fact(v)) for v in scene.schema.attribute(name, part=True).values]
        menu = _render_menu(
            f"{name} of {part.name} of object {i}", f"{image}:{key}", options, edited.get(key, own[name])
        )
        cells.append(tag("td", menu, class_="changed" if key in edited else None))
    label = tag("th", spell_fact(part.name), scope="row", class_="part-name")
    return tag("tr", label, cells, [tag("td")] * (3 if placed else 1), class_="part-row")

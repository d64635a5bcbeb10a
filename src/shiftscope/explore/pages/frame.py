"""The frame of every page: the bar above, the keys, and what several pages draw alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ... import __version__
from ...report.markup import Child, Html, tag
from ...report.number_format import format_count
from ..collection import Collection, OpenedData

SCRIPTS = ("lights.js", "places.js", "script.js")  # in this order; they share one scope
KEYS = (  # what the keyboard does, by page; `script.js` reads the same attributes
    ("everywhere", (("?", "these keys"), ("/", "search the questions"), ("u", "up to the list"))),
    (
        "list",
        (
            ("j k", "next, previous example"),
            ("Enter", "open it"),
            ("n p", "next, previous page"),
            ("r", "a random example"),
        ),
    ),
    (
        "example",
        (
            ("← →", "step back, step on through the program"),
            ("Home End", "first, last step"),
            ("Esc", "no step"),
            ("n p", "next, previous example of the list"),
            ("m b a g", "masks, boxes, parts, grounding"),
            ("v", "move objects in the picture: Tab to one, arrow keys (Shift: further), Enter"),
            ("e", "edit the program"),
            ("s", "edit the scene"),
            ("q", "ask the model"),
        ),
    ),
    ("annotate", (("1 2 3 4", "accept, cannot understand, cannot determine, wrong"), ("Ctrl Enter", "save"))),
)


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What stands around a page: what is open, and where this page is."""

    collection: Collection
    annotating: bool = False

    def render(self, title: str, body: Child, *, data: OpenedData | None = None, here: str = "", keys: str = "") -> str:
        """The whole page; `here` is the link of the bar that it belongs to."""
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="generator", content=f"shiftscope {__version__}"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", f"{title} · ShiftScope"),
            tag("link", rel="icon", href="data:,"),
            tag("link", rel="stylesheet", href="/static/report.css"),
            tag("link", rel="stylesheet", href="/static/style.css"),
            [tag("script", src=f"/static/{name}", defer=True) for name in SCRIPTS],
        )
        main = tag("main", body, id="content", tabindex="-1")
        skip = tag("a", "Skip to the content", href="#content", class_="skip")
        page = tag("body", skip, self._render_bar(data, here), main, _render_keys(keys), data_keys=keys or None)
        return f"<!doctype html>\n{tag('html', head, page, lang='en')}\n"

    def _render_bar(self, data: OpenedData | None, here: str) -> Html:
        links = [] if self.annotating or data is None else self._list_links(data)
        items = [
            tag("li", tag("a", name, href=link, aria_current="page" if link == here else None)) for name, link in links
        ]
        others = self.collection.data if len(self.collection.data) > 1 and not self.annotating else ()
        folders = [
            tag("li", tag("a", one.name, href=f"/d/{one.number}", aria_current="true" if one is data else None))
            for one in others
        ]
        return tag(
            "header",
            tag("a", "ShiftScope", href="/", class_="brand"),
            tag("nav", tag("ul", folders), aria_label="Opened folders", class_="folders") if folders else None,
            tag("nav", tag("ul", items), aria_label="Views") if items else None,
            tag("button", "Keys ", tag("kbd", "?"), type="button", class_="quiet-button", data_open="keys"),
            class_="bar",
        )

    def _list_links(self, data: OpenedData) -> list[tuple[str, str]]:
        links = [("Examples", f"/d/{data.number}")]
        if data.runs:
            links.append(("Slices", f"/d/{data.number}/slices"))
        if len(data.runs) > 1:
            links.append(("Two models", f"/d/{data.number}/models"))
        if data.marks:
            links.append(("Shortcuts", f"/d/{data.number}/shortcuts"))
        return links


def _render_keys(page: str) -> Html:
    groups = []
    for name, keys in KEYS:
        if name in ("everywhere", page):
            rows = [(tag("dt", [[tag("kbd", k), " "] for k in keys_.split()]), tag("dd", what)) for keys_, what in keys]
            groups.append(tag("dl", rows))
    close = tag("form", tag("button", "Close"), method="dialog")
    return tag("dialog", tag("h2", "Keys", id="keys-title"), groups, close, id="keys", aria_labelledby="keys-title")


def render_select(label: str, name: str, options: Iterable[tuple[str, str]], chosen: str = "") -> Html:
    """A labelled menu; options are values and what they are called."""
    listed = [tag("option", text, value=value, selected=value == chosen) for value, text in options]
    return tag("label", tag("span", label), tag("select", listed, name=name))


def render_menus(menus: Sequence[Html], action: str) -> Html:
    """A row of menus that show what they choose at once; the button is for whoever runs no script."""
    show = tag("button", "Show")
    return tag("form", menus, show, method="get", action=action, class_="menu-row", data_autosubmit=True)


def link_count(n: int, address: str) -> Child:
    """A number of examples that leads to them; nothing to be seen leads nowhere."""
    return tag("a", format_count(n), href=address) if n else "0"


def render_hidden(pairs: Iterable[tuple[str, str]]) -> list[Html]:
    """What a form sends along unseen."""
    return [tag("input", type="hidden", name=name, value=value) for name, value in pairs]


def render_error(title: str, sentence: str, *, back: str = "/") -> Html:
    return tag(
        "div",
        tag("h1", title),
        tag("p", sentence, class_="alert", role="alert"),
        tag("p", tag("a", "Back", href=back)),
        class_="plain",
    )


def render_heading(title: Child, lead: Child = None) -> Html:
    return tag("div", tag("h1", title), tag("p", lead, class_="lead") if lead else None, class_="heading")

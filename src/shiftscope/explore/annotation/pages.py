"""The annotators' pages: a name, a question to answer, the stored answer to judge and the words to change; progress.

A person answers before the stored answer is shown, so that the answers measure what people get right.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from ...answer import spell
from ...errors import UserError, unknown
from ...report.markup import Child, Html, tag
from ...report.number_format import count_noun
from ...report.table import Table, TableCell, TableHead
from ...store.dataset import data_id
from ..collection import Collection
from ..pages.frame import PageFrame, render_heading
from ..question_index import DatasetQuestions
from ..scene_edit import complete_image
from .export import parse_human_answer
from .progress import render_progress
from .qualification import QualificationRound
from .store import LONGEST_TEXT, VERDICTS, Annotation, AnnotationStore

COOKIE = "shiftscope_annotator"
LONGEST_NAME = 60  # characters


class AnnotationPages:
    """The pages over one store; each method takes a request and returns a starlette response."""

    def __init__(self, collection: Collection, store: AnnotationStore, split: str) -> None:
        index = collection.data[0].index
        assert isinstance(index, DatasetQuestions)
        self.index, self.store, self.split = index, store, split
        self.frame = PageFrame(collection, annotating=True)
        self.first = int(index.column("split").equals(split).argmax())  # the row of the split's first question

    def list_routes(self) -> list[tuple[str, str, Any]]:
        return [
            ("GET", "/", self.show_start),
            ("POST", "/name", self.save_name),
            ("GET", "/next", self.show_next),
            ("GET", "/task/{place}", self.show_task),
            ("GET", "/task/{place}/picture/{image}", self.send_picture),
            ("POST", "/task/{place}/answer", self.save_answer),
            ("POST", "/task/{place}/judge", self.save_judgement),
            ("GET", "/qualification", self.show_qualification),
            ("GET", "/progress", self.show_progress),
        ]

    def _find_annotator(self, request: Any) -> str:
        return unquote((request.cookies or {}).get(COOKIE, ""))

    def _require_annotator(self, request: Any) -> str:
        name = self._find_annotator(request)
        if not name:
            raise UserError("say who you are first")
        return name

    def show_start(self, request: Any) -> Any:
        if self._find_annotator(request) and not request.get("rename"):
            return _redirect("/next")
        field = tag(
            "label",
            tag("span", "Your name, or any name that stays yours"),
            tag(
                "input",
                type="text",
                name="name",
                required=True,
                maxlength=LONGEST_NAME,
                autofocus=True,
                autocomplete="nickname",
            ),
        )
        form = tag("form", field, tag("button", "Begin"), method="post", action="/name", class_="name-form")
        steps = [
            "Look at the pictures and answer the question yourself.",
            "Then you see the stored answer: say whether it is correct, wrong, or cannot be told.",
            "Reword the question in fluent English of your own, with the same meaning.",
        ]
        n = self.store.read_round().questions
        note = tag("p", f"The first {count_noun(n, 'question')} qualify you for the others.") if n else None
        lead = f"{count_noun(self.store.count_questions(), 'question')} of the split {self.split}"
        body = tag(
            "div",
            render_heading("Validate and paraphrase", lead),
            tag("ol", [tag("li", s) for s in steps]),
            note,
            form,
            class_="plain",
        )
        return self._html("Annotate", body)

    def save_name(self, request: Any) -> Any:
        name = " ".join(dict(request.form).get("name", "").split())[:LONGEST_NAME]
        if not name or not name.isprintable():
            raise UserError("a name has at least one letter")
        response = _redirect("/next")
        response.set_cookie(COOKIE, quote(name), httponly=True, samesite="lax", max_age=90 * 86400)
        return response

    def show_next(self, request: Any) -> Any:
        name = self._require_annotator(request)
        place = self.store.assign(name)
        result = self.store.measure_round(name) if place is None else None
        if result is not None and not result.passed:
            return _redirect("/qualification")
        if place is None:
            body = tag(
                "div",
                render_heading("All done", "There is no question left for you. Thank you!"),
                _render_links(None, name),
                class_="plain",
            )
            return self._html("Done", body)
        return _redirect(f"/task/{place}")

    def show_task(self, request: Any) -> Any:
        name, place = self._require_annotator(request), request.get_number("place")
        mine = self.store.get(place, name)
        if mine is None:
            return _redirect("/next")
        question = self.index.read_question(self.first + place)
        shots = [
            tag(
                "figure",
                tag("figcaption", f"Image {k + 1}") if len(question.scenes) > 1 else None,
                tag("img", src=f"/task/{place}/picture/{k}", alt=f"Image {k + 1}", width=480, height=320),
                class_="shot",
            )
            for k in range(len(question.scenes))
        ]
        many = "one" if len(shots) == 1 else "two" if len(shots) == 2 else "many"
        text = f"{question.action} {question.text}".strip()
        stored = "not known" if question.answer is None else spell(question.answer)
        form = self._render_answer_form(place) if mine.answer is None else _render_judgement(mine, stored, text)
        links = _render_links(self.store.find_previous(place, name), name)
        qualification = self.store.read_round()
        where = f"Qualification round, question {place + 1} of {qualification.questions}"
        in_round = tag("p", where, class_="note") if place < qualification.questions else None
        body = tag(
            "div",
            tag("div", in_round, tag("h1", text), class_="question-head"),
            tag(
                "div",
                tag("div", tag("div", shots, class_=f"shots {many}"), class_="stage-column"),
                tag("div", form, links, class_="program-column"),
                class_="example task",
            ),
            class_="example-page",
        )
        return self._html("Annotate", body)

    def _render_answer_form(self, place: int) -> Html:
        field = tag(
            "label",
            tag("span", "1. Your answer"),
            tag("input", type="text", name="answer", id="answer", autofocus=True, autocomplete="off", maxlength=200),
        )
        hint = tag("p", "One word or number. The stored answer is shown afterwards.", class_="note")
        buttons = tag(
            "div",
            tag("button", "Save my answer"),
            tag("button", "I cannot answer", name="skip", value="1", class_="quiet-button"),
            class_="form-end",
        )
        return tag("form", field, hint, buttons, method="post", action=f"/task/{place}/answer", class_="annotate-form")

    def send_picture(self, request: Any) -> Any:
        row = self.first + request.get_number("place")
        [one] = self.index.read_rows([row])
        k = request.get_number("image")
        if one.error or k >= len(one.images):
            raise UserError(one.error or f"there is no image {k}")
        image = complete_image(self.index.read_image(one.images[k], row))
        if not image.png:
            raise UserError(f"there is no picture of image {k}")
        return _respond(image.png, "image/png")

    def save_answer(self, request: Any) -> Any:
        name, place = self._require_annotator(request), request.get_number("place")
        fields = dict(request.form)
        given = "" if fields.get("skip") else " ".join(fields.get("answer", "").split())
        if not given and not fields.get("skip"):
            raise UserError("type an answer, or choose “I cannot answer”")
        row = self.first + place
        question = self.index.read_question(row)
        schema = self.index.read_image(question.scenes[0], row).scene.schema
        self.store.save_answer(place, name, given, parse_human_answer(given, question, schema))
        return _redirect(f"/task/{place}")

    def save_judgement(self, request: Any) -> Any:
        name, place = self._require_annotator(request), request.get_number("place")
        fields = dict(request.form)
        words, remark = (" ".join(fields.get(key, "").split()) for key in ("paraphrase", "comment"))
        self.store.save_judgement(place, name, fields.get("verdict", ""), words, remark)
        result = self.store.measure_round(name)
        over = result is not None and result.complete and place < result.round.questions
        return _redirect("/qualification" if over else "/next")

    def show_qualification(self, request: Any) -> Any:
        """What came of the round; whoever passed sees where the expert judged otherwise."""
        name = self._require_annotator(request)
        result = self.store.measure_round(name)
        if result is None:
            return _redirect("/next")
        n = count_noun(result.round.questions, "question")
        if not result.ready:
            title, lead = ("Not open yet", f"The expert has not yet judged the {n} of the qualification round.")
        elif not result.complete:
            title, lead = "Qualification round", f"You have judged {result.judged} of {n}."
        else:
            title = "You are qualified" if result.passed else "Thank you"
            lead = f"You judged {result.right} of {n} as the expert did; more than {result.round.above:g}% are needed."
            lead += "" if result.passed else " There are no further questions for you."
        feedback = self._render_feedback(name, result.round) if result.passed else None
        links = _render_links(None, name) if result.passed or not result.complete else None
        return self._html(title, tag("div", render_heading(title, lead), feedback, links, class_="plain"))

    def _render_feedback(self, name: str, qualification: QualificationRound) -> Table | Html:
        rows = []
        for place in range(qualification.questions):
            mine, known = (self.store.get(place, one) for one in (name, qualification.expert))
            if mine and known and mine.verdict and known.verdict and mine.verdict != known.verdict:
                [one] = self.index.read_rows([self.first + place])
                rows.append([TableCell(one.text), *(TableCell(VERDICTS[a.verdict or ""]) for a in (mine, known))])
        if not rows:
            return tag("p", "You judged every one as the expert did.")
        return Table("Where the expert judged otherwise", [TableHead(h) for h in ("Question", "You", "Expert")], rows)

    def show_progress(self, request: Any) -> Any:
        body = [*render_progress(self.store, self.index, self.first), _render_links(None)]
        return self._html("Progress", tag("div", body, class_="wide-page"))

    def _html(self, title: str, body: Child) -> Any:
        return _respond(
            self.frame.render(title, body, keys="annotate").encode("utf-8", "replace"), "text/html; charset=utf-8"
        )


def _render_judgement(mine: Annotation, stored: str, text: str) -> Html:
    """The stored answer beside one's own, COVR's four choices, and the words."""
    own = mine.answer or "none"
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", what))
        for name, what in (("Your answer", own), ("Stored answer", tag("strong", stored)))
    ]
    choices = [
        tag(
            "label",
            tag("input", type="radio", name="verdict", value=key, required=True, checked=mine.verdict == key),
            tag("kbd", n),
            f" {words}",
            class_="choice",
        )
        for n, (key, words) in enumerate(VERDICTS.items(), 1)
    ]
    paraphrase = tag(
        "label",
        tag("span", "3. The same question in your own words"),
        tag("textarea", mine.paraphrase, name="paraphrase", rows=3, maxlength=LONGEST_TEXT, placeholder=text),
    )
    comment = tag(
        "label",
        tag("span", "A problem with this example (the question is then left out)"),
        tag("input", type="text", name="comment", value=mine.comment, maxlength=500, autocomplete="off"),
    )
    return tag(
        "form",
        tag("table", tag("tbody", rows), class_="said"),
        tag("fieldset", tag("legend", "2. Is the stored answer correct?"), choices),
        paraphrase,
        comment,
        tag("div", tag("button", "Save and go on"), class_="form-end"),
        method="post",
        action=f"/task/{mine.place}/judge",
        class_="annotate-form",
        id="judge",
    )


def _render_links(previous: int | None, name: str = "") -> Html:
    back = tag("a", "Previous question", href=f"/task/{previous}") if previous is not None else None
    return tag(
        "p",
        back,
        " " if back else None,
        tag("a", "Next question", href="/next"),
        " ",
        tag("a", "Progress", href="/progress"),
        [" ", tag("a", f"You are {name}. Not you?", href="/?rename=1")] if name else None,
        class_="annotate-links",
    )


def _redirect(address: str) -> Any:
    return _respond(b"", "text/plain", 303, Location=address)


def _respond(body: bytes, kind: str, status: int = 200, **headers: str) -> Any:
    from starlette.responses import Response

    return Response(body, status, {**headers, "Cache-Control": "no-store"}, kind)


def open_annotation(
    collection: Collection,
    store: AnnotationStore,
    split: str,
    limit: int | None,
    per_question: int,
    qualification: QualificationRound | None = None,
) -> AnnotationPages:
    """The annotators' pages over a split; the store is made, or checked, for its questions."""
    index = collection.data[0].index
    if not isinstance(index, DatasetQuestions):
        raise UserError(f"{collection.data[0].folder} is no dataset; annotations are of one that shiftscope make made")
    if split not in index.splits:
        raise unknown("split", split, index.splits, str(index.dataset.folder))
    rows = np.flatnonzero(index.column("split").equals(split))[:limit]
    listed = index.read_rows(rows.tolist())
    if damaged := next((one.error for one in listed if one.error), ""):
        raise UserError(damaged)
    if not listed:
        raise UserError(f"{index.dataset.folder}: there are no questions in split {split!r}")
    store.prepare(data_id(index.dataset), split, [one.id for one in listed], per_question, qualification)
    return AnnotationPages(collection, store, split)

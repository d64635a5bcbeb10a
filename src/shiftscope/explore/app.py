"""The explorer's web application: addresses to pages, and what may not pass.

Every page is made on the server and has an address. Nothing comes from elsewhere, and the content security policy lets
nothing from elsewhere in, nor any script in the page itself. A request must name this server (no rebinding of names),
and one that changes something must come from its own pages. Where it listens wider than this machine it wants a token.
"""

from __future__ import annotations

import hmac
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import numpy as np

from ..errors import UserError
from .annotation.pages import AnnotationPages
from .ask import ModelAsker, ModelReply
from .collection import Collection, OpenedData
from .example_view import ExampleView, build_view, describe_masks, read_edit_form
from .filters import ASKED, RUN, ExampleFilter, read_place, read_run_number
from .pages.example import render_example
from .pages.example_list import render_list
from .pages.frame import SCRIPTS, PageFrame, render_error
from .pages.models import prepare_models, render_models
from .pages.shortcuts import render_shortcuts
from .pages.slices import render_slices
from .pages.twins import render_twins
from .scene_edit import complete_image, draw_scene, explain_undrawable

POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
STATIC = {
    "report.css": ("shiftscope.report", "style.css", "text/css"),
    "style.css": ("shiftscope.explore", "style.css", "text/css"),
    **{name: ("shiftscope.explore", name, "text/javascript") for name in SCRIPTS},
}
LARGEST_FORM = 1 << 20  # bytes
MOST_FIELDS = 5000  # a scene of many objects with parts has a thousand
LARGEST_NUMBER = 10**12  # of a row, an image or a page
COOKIE = "shiftscope_token"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask: the names that this server goes by, and the token that it wants, if any."""

    hosts: frozenset[str] = frozenset(LOOPBACK)
    token: str = ""


@dataclass(frozen=True, slots=True)
class WebRequest:
    """What a page needs to know of a request."""

    path: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    form: tuple[tuple[str, str], ...] = ()
    cookies: Mapping[str, str] | None = None

    def get(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.query if key == name), default)

    def get_number(self, name: str) -> int:
        text = self.path.get(name) or self.get(name)
        number = read_place(text, LARGEST_NUMBER)
        if number is None:
            raise UserError(f"{text[:40]!r} is no number")
        return number


Page = Callable[[WebRequest], Any]


class ExplorerPages:
    """The pages of a collection; each method takes a request and returns a starlette response."""

    def __init__(self, collection: Collection, asker: ModelAsker | None) -> None:
        self.collection, self.asker = collection, asker
        self.frame = PageFrame(collection)
        self._warmed = False
        self._prepared = set[int]()  # datasets whose first two runs are being compared, or are

    def list_routes(self) -> list[tuple[str, str, Page]]:
        return [
            ("GET", "/", self.show_home),
            ("GET", "/d/{data}", self.show_list),
            ("GET", "/d/{data}/random", self.show_any),
            ("GET", "/d/{data}/slices", self.show_slices),
            ("GET", "/d/{data}/models", self.show_models),
            ("GET", "/d/{data}/shortcuts", self.show_shortcuts),
            ("GET", "/d/{data}/e/{row}", self.show_example),
            ("GET", "/d/{data}/e/{row}/edit", self.edit_example),
            ("GET", "/d/{data}/e/{row}/picture/{image}", self.send_picture),
            ("GET", "/d/{data}/e/{row}/masks/{image}", self.send_masks),
            ("POST", "/d/{data}/e/{row}/ask", self.ask_model),
            ("GET", "/d/{data}/e/{row}/ask", self.show_example),  # a reply that is loaded again
            ("GET", "/twins", self.show_twins),
        ]

    def _get_data(self, request: WebRequest) -> OpenedData:
        return self.collection.get(request.get_number("data"))

    def show_home(self, request: WebRequest) -> Any:
        """The examples of the first folder; of a run, those that it was asked."""
        chosen = ExampleFilter(((f"{RUN}0", ASKED),) if self.collection.data[0].runs else ())
        return _redirect(f"/d/0{chosen.to_query()}")

    def show_list(self, request: WebRequest) -> Any:
        page = request.get_number("page") if request.get("page") else 1
        chosen, more = ExampleFilter.parse(request.query), bool(request.get("more"))
        data = self._get_data(request)
        listed = _html(render_list(self.frame, data, chosen, page, more))
        if len(data.runs) > 1 and data.number not in self._prepared:
            self._prepared.add(data.number)
            threading.Thread(target=prepare_models, args=(data,), daemon=True).start()
        return listed

    def show_any(self, request: WebRequest) -> Any:
        data, chosen = self._get_data(request), ExampleFilter.parse(request.query)
        rows = np.flatnonzero(chosen.select(data))
        if not len(rows):
            return _redirect(f"/d/{data.number}{chosen.to_query()}")
        return _redirect(f"/d/{data.number}/e/{random.choice(rows.tolist())}{chosen.to_query()}")

    def show_slices(self, request: WebRequest) -> Any:
        data = self._get_data(request)
        _require_runs(data, 1)
        return _html(render_slices(self.frame, data, read_run_number(data, request.get("run", "0")), request.get("by")))

    def show_models(self, request: WebRequest) -> Any:
        data = self._get_data(request)
        _require_runs(data, 2)
        one, other = (read_run_number(data, request.get(name, default)) for name, default in (("a", "0"), ("b", "1")))
        return _html(render_models(self.frame, data, one, other, request.get("by")))

    def show_shortcuts(self, request: WebRequest) -> Any:
        data = self._get_data(request)
        if data.marks is None:
            raise UserError("no audit of these questions was opened; name its folder too")
        return _html(render_shortcuts(self.frame, data, data.marks, request.get("shortcut")))

    def _build_view(self, request: WebRequest) -> ExampleView:
        return build_view(self._get_data(request), request.get_number("row"), request.query)

    def show_example(self, request: WebRequest, reply: ModelReply | None = None) -> Any:
        view = self._build_view(request)
        self._warm_renderer(view)
        return _html(render_example(self.frame, self.collection, view, self.asker, reply))

    def _warm_renderer(self, view: ExampleView) -> None:
        """Draw something while the first example is looked at: the first picture takes seconds, later ones none."""
        if not self._warmed and view.scenes and not explain_undrawable(view.scenes[0]):
            self._warmed = True
            threading.Thread(target=draw_scene, args=(view.scenes[0],), daemon=True).start()

    def edit_example(self, request: WebRequest) -> Any:
        """The address of the state that a filled form describes."""
        view = self._build_view(request)
        edits = read_edit_form(view.images, dict(request.query))
        program = [("program", view.program_text)] if view.has_own_program else []
        seen = [(name, request.get(name)) for name in ("show", "step") if name in dict(request.query)]
        listed = [*program, *(("edit", one) for one in edits), *view.chosen.conditions, *seen]
        return _redirect(f"{view.link}{f'?{urlencode(listed)}' if listed else ''}")

    def ask_model(self, request: WebRequest) -> Any:
        if self.asker is None:
            raise UserError("no model was loaded; start with --model")
        view = self._build_view(request)
        images = [view.load_image(0, k) for k in range(len(view.images))]
        reply = self.asker.ask(dict(request.form).get("question", ""), view.question, images)
        return self.show_example(request, reply)

    def send_picture(self, request: WebRequest) -> Any:
        image, k = self._build_image(request)
        if not image.png:
            raise UserError(f"there is no picture of image {k}")
        return _respond(image.png, "image/png", {"Cache-Control": "private, max-age=60"})

    def send_masks(self, request: WebRequest) -> Any:
        from starlette.responses import JSONResponse

        return JSONResponse(describe_masks(self._build_image(request)[0]))

    def _build_image(self, request: WebRequest) -> tuple[Any, int]:
        k = request.get_number("image")
        data, row = self._get_data(request), request.get_number("row")
        stage = request.get_number("stage") if request.get("stage") else 0
        if not stage and not request.get("edit"):  # a list shows many: nothing is run for them
            [one] = data.index.read_rows([row])
            if one.error:
                raise UserError(one.error)
            if k >= len(one.images):
                raise UserError(f"there is no image {k} of question {row}")
            return complete_image(data.index.read_image(one.images[k], row)), k
        return self._build_view(request).load_image(stage, k), k

    def show_twins(self, request: WebRequest) -> Any:
        views = []
        for name in ("a", "b"):
            number, row = (read_place(part, LARGEST_NUMBER) for part in request.get(name).partition(".")[::2])
            if number is None or row is None:
                raise UserError("a pair is written a=DATA.ROW&b=DATA.ROW")
            views.append(build_view(self.collection.get(number), row, ()))
        return _html(render_twins(self.frame, *views))


def _require_runs(data: OpenedData, least: int) -> None:
    if len(data.runs) < least:
        raise UserError(f"{data.name} was opened with {len(data.runs)} runs; this page needs {least}")


def _html(text: str, status: int = 200) -> Any:
    return _respond(text.encode("utf-8", "replace"), "text/html; charset=utf-8", {"Cache-Control": "no-store"}, status)


def _respond(body: bytes, kind: str, headers: Mapping[str, str], status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(body, status, dict(headers), kind)


def _redirect(address: str) -> Any:
    return _respond(b"", "text/plain", {"Location": address, "Cache-Control": "no-store"}, 303)


def build_app(
    collection: Collection,
    asker: ModelAsker | None = None,
    access: Access | None = None,
    annotation: AnnotationPages | None = None,
) -> Any:
    """The application; with annotation pages it serves these alone, for they do not show the answers at once."""
    try:
        from fastapi import FastAPI
    except ImportError:
        raise UserError("the explorer needs FastAPI and uvicorn: pip install 'shiftscope[serve]'") from None

    app = FastAPI(title="ShiftScope explorer", openapi_url=None, docs_url=None, redoc_url=None)
    pages = annotation or ExplorerPages(collection, asker)
    frame = PageFrame(collection, annotating=annotation is not None)
    for method, path, page in pages.list_routes():
        app.add_route(path, _build_endpoint(page, frame), methods=[method])
    app.add_route("/static/{name}", _send_static, methods=["GET"])
    app.add_exception_handler(
        404, lambda request, error: _show_problem(frame, "Not found", "There is no such page.", 404)
    )
    app.add_exception_handler(500, lambda request, error: _show_fault(frame))
    app.add_middleware(_build_guard(access or Access()))
    return app


def _show_problem(frame: PageFrame, title: str, sentence: str, status: int) -> Any:
    data = frame.collection.data[0] if frame.collection.data else None
    return _html(frame.render(title, render_error(title, sentence), data=data), status)


def _show_fault(frame: PageFrame) -> Any:
    """A fault of ours: the server says which where it was started; this page comes past the guard."""
    response = _show_problem(frame, "Something went wrong", "The terminal of shiftscope explore says what.", 500)
    response.headers.update(HEADERS)
    return response


def _build_endpoint(page: Page, frame: PageFrame) -> Any:
    """A page as starlette calls it: in a thread of its own, a UserError as a page that says so."""
    from starlette.concurrency import run_in_threadpool

    async def respond(request: Any) -> Any:
        form = await _read_form(request) if request.method == "POST" else ()
        query = _parse_fields(request.url.query)
        if form is None or query is None:
            sizes = f"A form may have {LARGEST_FORM:,} bytes and {MOST_FIELDS:,} fields."
            return _show_problem(frame, "Too large", sizes, 413)
        asked = WebRequest(dict(request.path_params), query, form, dict(request.cookies))

        def run() -> Any:
            try:
                return page(asked)
            except UserError as error:
                return _show_problem(frame, "This cannot be shown", str(error), 400)

        return await run_in_threadpool(run)

    return respond


async def _read_form(request: Any) -> tuple[tuple[str, str], ...] | None:
    """The fields of a form; None where it is too large."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_FORM:
            return None
    return _parse_fields(body.decode("utf-8", "replace"))


def _parse_fields(text: str) -> tuple[tuple[str, str], ...] | None:
    """The fields of a form or an address; None where there are too many."""
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        return None


async def _send_static(request: Any) -> Any:
    name = request.path_params["name"]
    if name not in STATIC:
        return _respond(b"there is no such file", "text/plain", {}, 404)
    package, file, kind = STATIC[name]
    body = files(package).joinpath(file).read_bytes()
    return _respond(body, f"{kind}; charset=utf-8", {"Cache-Control": "private, max-age=60"})


def _build_guard(access: Access) -> Any:
    """Middleware that lets only those in who may be, and sends the policy with every response."""
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.responses import PlainTextResponse

    class ExplorerGuard(BaseHTTPMiddleware):
        async def dispatch(self, request: Any, call_next: Any) -> Any:
            response = self.refuse(request) or await call_next(request)
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        def refuse(self, request: Any) -> Any:
            host = _split_address(f"//{request.headers.get('host', '')}").hostname
            if access.hosts and host not in access.hosts:
                return PlainTextResponse("This server does not go by that name.", 421)
            if request.method != "GET" and not _is_own(request):
                return PlainTextResponse("This form was sent from another page.", 403)
            if not access.token:
                return None
            given = request.query_params.get("token", "")
            if given and hmac.compare_digest(given.encode(), access.token.encode()):
                rest = [(k, v) for k, v in request.query_params.multi_items() if k != "token"]
                path = f"/{request.url.path.lstrip('/')}"  # two slashes would lead to another server
                response = _redirect(f"{path}{f'?{urlencode(rest)}' if rest else ''}")
                # lax, not strict: a link to a view opens from a mail, too; forms are refused by their origin
                response.set_cookie(COOKIE, access.token, httponly=True, samesite="lax", max_age=30 * 86400)
                return response
            if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), access.token.encode()):
                return None
            return PlainTextResponse("Open the address that shiftscope explore printed: it holds the token.", 401)

    return ExplorerGuard


def _split_address(text: str) -> SplitResult:
    """An address in parts; all empty where a header holds none."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _is_own(request: Any) -> bool:
    """Whether a form was sent by a page of this server, as every browser of today says."""
    origin = request.headers.get("origin")
    if origin is not None:
        return bool(_split_address(origin).netloc == request.headers.get("host", ""))
    return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def list_hosts(host: str) -> frozenset[str]:
    """The names that a server on this address may be asked by; none: any, for it has a token."""
    return frozenset(LOOPBACK) if host in LOOPBACK else frozenset()

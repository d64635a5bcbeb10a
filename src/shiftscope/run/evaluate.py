"""Evaluate: ask a model every question of a split, under each condition, and keep all that it says.

A run goes on where it stopped; what an endpoint was paid for is kept as it arrives.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..models._model import DEFAULTS, Model, Options, Reply, Setting, Stopped, identity_of, replies
from ..models._name import TRAINED, build, looks, read_name
from ..models._space import expected_of
from ..models._weights import trained_named
from ..models.openai import OpenAI
from ..models.predictions import Predictions
from ..question import Question
from ..reply import read_reply
from ..result import AS_IS, Asked, Prediction, RunLog, asked_of
from ..schema import OPEN
from ..store.runlog import PLACES, SERVER, RunWriter, read_spec, refuse_foreign
from .conditions import Item
from .memory import DiskMemory, default_folder
from .one_server import of_one_server, warn_of_fingerprints
from .part import Part
from .pictures import Pictures
from .prompts import in_one_text, prompt_spec
from .source import Prompts, Source, open_source

BATCH = 64  # prompts at once, for a model that does not say
KEPT_ROWS = 512  # written together
KEPT_SECONDS = 10.0  # or after this long
GRACE_SECONDS = 2.0  # to wait for calls under way where one of them ends the run
LONGEST_RAW = 40_000  # characters that a run keeps of a reply: its beginning and its end
QUIET_SECONDS = 5.0  # without a reply, after which progress is told all the same

Tell = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True)
class Order:
    """What to run: everything that the replies depend on."""

    model: str
    data: Path
    split: str = "test"
    limit: int | None = None
    conditions: tuple[str, ...] = (AS_IS,)
    mode: str = "short"
    learn_from: Path | None = None  # a dataset whose train split the model learns from; else `data`
    options: Options = DEFAULTS
    trained_on: str = ""  # what the model was trained on, for the report's comparisons
    variant: str = ""  # what the data is called there
    images: Path | None = None  # where the pictures of an audit's VQA files lie
    joined: bool = False  # an action and the question about its outcome are told in one text
    part: Part | None = None  # of the split: only its questions are asked
    learn_part: Part | None = None  # of the train split: only its questions are learned from
    allow_missing: bool = False  # ask what has no picture without it, under a condition of its own

    def spec(self, source: Source) -> dict[str, Any]:
        """The run's spec; no secret is in it, and nothing that only changes how fast it runs."""
        o = self.options
        learned = open_source(self.learn_from) if self.learn_from else source
        kind = read_name(self.model).kind
        spec: dict[str, Any] = {
            "model": self.model,
            "data": str(self.data.resolve()),
            "data_id": source.data_id(),
            "split": self.split,
            "limit": self.limit,
            "conditions": list(self.conditions),
            "seed": o.seed,
        }
        if kind in ("openai", "hf", "python"):
            spec |= {
                "prompt": prompt_spec(self.mode),
                "max_tokens": o.max_tokens,
                "temperature": o.temperature,
            }
        if kind == "openai":
            spec |= {"parameters": dict(o.parameters), "price": list(o.price) if o.price else None}
        elif kind == "hf":
            spec |= {"dtype": o.dtype}
            spec |= {"trust_remote_code": True} if o.trust_remote_code else {}
        elif kind in TRAINED:
            trained = trained_named(kind, read_name(self.model).target, learned.schema())
            spec |= {"weights": trained.id(), "trained_on": trained.trained_on}
            if kind == "p_nsvqa_exact":
                from ..models.p_nsvqa_exact import ATTUNED, ATTUNING

                spec |= {"attuned": ATTUNED, "attuning": ATTUNING}
        elif kind not in ("oracle", "predictions"):
            spec |= {"learned_from": learned.data_id()}
            spec |= {"learned_part": self.learn_part.spec()} if self.learn_part else {}
        known = spec.get("trained_on")
        if known and self.trained_on not in ("", known):
            raise UserError(
                f"model {self.model!r} was trained on {known}, as its weights say; not on {self.trained_on}"
            )
        spec |= {"trained_on": self.trained_on} if self.trained_on else {}
        spec |= {"variant": self.variant} if self.variant else {}
        spec |= {"joined": True} if self.joined else {}
        spec |= {"part": self.part.spec()} if self.part else {}
        spec |= {PLACES: places} if (places := self._places()) else {}
        if self.learn_part and "learned_part" not in spec:
            raise UserError(f"model {self.model!r} learns nothing when it is run; leave --learn-part away")
        return spec

    def _places(self) -> dict[str, str]:
        """Where files lie whose content the spec tells: for the command that runs it again."""
        found = {
            "images": str(self.images.resolve()) if self.images else "",
            "learn_from": str(self.learn_from.resolve()) if self.learn_from else "",
            "part": self.part.place if self.part else "",
            "learn_part": self.learn_part.place if self.learn_part else "",
        }
        return {name: place for name, place in found.items() if place}


def evaluate(
    order: Order,
    out: Path,
    *,
    cache: Path | None = None,
    use_cache: bool = True,
    tell: Tell = lambda done, total: None,
    warn: Callable[[str], None] = lambda sentence: None,
    count: Tell = lambda new, before: None,
) -> RunLog:
    """Run it; the same call again goes on where it stopped, and asks anew what failed.

    `count` is told at the end how many rows are new, and how many were there before. Replies of endpoints are
    kept in `cache`, else in the user's; without `use_cache` none is read or kept.
    """
    refuse_foreign(out)
    source = open_source(order.data, order.images)
    prompts = source.prompts(
        order.split, order.mode, order.joined, order.part.ids if order.part is not None else None
    )
    every = prompts.ids()
    ids = every if order.limit is None else every[: order.limit]
    if order.part is not None:
        order.part.check(source.data_id(), order.split, every)
    if not ids:
        raise UserError(f"{order.data}: there are no questions in split {order.split!r}")
    spec = order.spec(source)
    pictures = Pictures(prompts, order.conditions, order.limit, allow_missing=order.allow_missing)
    pictures.settle(looks(order.model), order.model)
    with ExitStack() as held:
        memory = None
        if use_cache and read_name(order.model).kind == "openai":
            memory = held.enter_context(closing(DiskMemory(cache or default_folder())))
        model = built(order, source, memory, lambda: _shown(order, source), warn)
        pictures.settle(looks(order.model, model), order.model)
        spec |= identity_of(model, read_spec(out)) | pictures.spec()
        server = model.identify() if isinstance(model, OpenAI) else None
        spec |= {SERVER: server} if server else {}
        if isinstance(model, Predictions):
            _check_ids(model, order, source, frozenset(ids), warn)
        whole = every if order.part is None else source.prompts(order.split, order.mode).ids()
        writer = held.enter_context(
            RunWriter(
                out,
                spec,
                len(ids),
                population=len(whole),
                lineage=source.lineage(),
                beside=pictures.beside(),
            )
        )
        pictures.resume(writer, len(ids))
        before = len(writer.done)
        if before and writer.unrecorded:
            warn(_unrecorded(out, writer.unrecorded))
        items = pictures.items(_wanted(order, prompts, writer), writer, order.mode)
        if isinstance(model, OpenAI):
            items = of_one_server(model, server, writer, items)
        try:
            said = _identified(writer, model, _answered(model, items, order.model))
            _fill(writer, said, tell, pictures.total(len(ids), len(order.conditions)))
        except Stopped as error:
            kept = "what was asked before is kept, run the same command again to go on"
            raise UserError(f"{error}; {kept}") from error
        if isinstance(model, OpenAI):
            warn_of_fingerprints(model, writer, warn)
        pictures.count(writer, len(ids))
        _note_sources(writer, model)
        log = writer.finish(ids)
        count(writer.added, before)
        return log


def _check_ids(
    model: Predictions,
    order: Order,
    source: Source,
    asked: frozenset[str],
    warn: Callable[[str], None],
) -> None:
    """Refuse a file that has no reply to any question; tell of replies to none."""
    questions = list(source.questions(order.split))
    there = model.unknown([q for q in questions if q.id in asked])
    if len(there) == len(model.replies):
        raise UserError(
            f"model {order.model!r} has no reply to any of the {len(asked)} questions "
            f"of split {order.split!r} of {order.data}"
        )
    unknown = model.unknown(questions)
    if unknown:
        warn(
            f"{len(unknown)} of the {len(model.replies)} ids in {model.name} are of no question "
            f"of split {order.split!r}, {unknown[0]!r} for one"
        )


def _identified(
    writer: RunWriter, model: Model, said: Iterator[tuple[Item, Reply] | None]
) -> Iterator[tuple[Item, Reply] | None]:
    """The same; before the first is kept, the spec knows what the model loaded to give it."""
    for k, pair in enumerate(said):
        if k == 0:
            _note_sources(writer, model)
        yield pair


def _note_sources(writer: RunWriter, model: Model) -> None:
    """Add what a class of the user's loaded by now; what is known of a file stays as it was at first."""
    sources = identity_of(model, writer.spec).get("sources")
    if sources:
        writer.spec["sources"] = {**sources, **writer.spec.get("sources", {})}


def _unrecorded(run: Path, fields: Sequence[str]) -> str:
    """What is not known of a run that an earlier version began, in words."""
    sentence = (
        f"{run} was begun by an earlier version, which did not keep what its replies depend on by content"
    )
    if "images_id" in fields:
        return f"{sentence}: where a picture was missing, it asked without; to be sure, choose another --out"
    return f"{sentence}; that nothing changed since is taken for granted"


def built(
    order: Order,
    source: Source,
    memory: DiskMemory | None = None,
    shown: Callable[[], Iterable[tuple[str, bytes]]] = tuple,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Model:
    """The order's model, with what it may learn from and be chosen by, and the images it may get used to."""
    learned = open_source(order.learn_from) if order.learn_from else source
    if order.learn_part is not None:
        order.learn_part.check(learned.data_id(), "train", (q.id for q in learned.questions("train")))

    def questions(split: str) -> Callable[[], Iterator[Question]]:
        def read() -> Iterator[Question]:
            found = learned.questions(split) if split in learned.splits else iter(())
            if order.learn_part is not None:
                found = order.learn_part.of(split, found)
            return map(in_one_text, found) if order.joined else found

        return read

    setting = Setting(
        train=questions("train"),
        schema=learned.schema(),
        options=order.options,
        memory=memory,
        choosing=questions("val"),
        scenes=learned.scenes,
        shown=shown,
        warn=warn,
    )
    return build(order.model, setting)


def _shown(order: Order, source: Source) -> Iterator[tuple[str, bytes]]:
    """The images that questions of the split are about, whichever of these are asked: names and PNG."""
    seen: set[str] = set()
    for item in source.prompts(order.split, order.mode).items(AS_IS):
        for name, png in zip(item.question.scenes, item.prompt.images, strict=False):
            if name not in seen:
                seen.add(name)
                yield name, png


def _wanted(order: Order, prompts: Prompts, writer: RunWriter) -> Iterator[Item]:
    for condition in order.conditions:
        done = frozenset(question for question, under in writer.done if under == condition)
        yield from prompts.items(condition, order.limit, done)


def _fill(writer: RunWriter, said: Iterator[tuple[Item, Reply] | None], tell: Tell, total: int) -> None:
    """Ask, read and keep; what was answered is kept however this ends. None: no reply came for a while."""
    rows: list[tuple[Asked, Prediction]] = []
    done = len(writer.done)
    last = time.monotonic()
    tell(done, total)
    try:
        for pair in said:
            if pair is not None:
                item, reply = pair
                done += 1
                asked = asked_of(item.question, item.scenes, content=item.content)
                rows.append((asked, prediction_of(item, reply)))
            if len(rows) >= KEPT_ROWS or (rows and time.monotonic() - last > KEPT_SECONDS):
                kept, rows = rows, []
                writer.add(kept)
                last = time.monotonic()
            tell(done, total)
    finally:
        writer.add(rows)


def prediction_of(item: Item, reply: Reply) -> Prediction:
    """A reply as the log keeps it; text is read as what the question expects."""
    answer, status, reason = reply.answer, reply.status, reply.reason
    if answer is None and not status:
        schema = item.scenes[0].schema if item.scenes else OPEN
        answer = read_reply(reply.raw, expected_of(item.question, schema))
        if answer is None:
            status = "unreadable"
    return Prediction(
        question=item.question.id,
        answer=answer,
        raw=shortened(reply.raw),
        status="answered" if answer is not None else status,
        reason=reason,
        seconds=reply.seconds,
        cost=reply.cost,
        tokens=reply.tokens,
        belief=reply.belief,
        condition=item.prompt.condition,
        trace=reply.trace,
        program=reply.program,
        stored=reply.stored,
        fingerprint=reply.fingerprint,
    )


def shortened(raw: str) -> str:
    """A reply as a run keeps it: a very long one without its middle, and with its length."""
    if len(raw) <= LONGEST_RAW:
        return raw
    half = LONGEST_RAW // 2
    return f"{raw[:half]}\n[… the middle of a reply of {len(raw):,} characters is left out …]\n{raw[-half:]}"


def _answered(model: Model, items: Iterator[Item], name: str) -> Iterator[tuple[Item, Reply] | None]:
    """Every item with its reply, as they come; None now and then while nothing comes."""
    if hasattr(model, "ask"):
        yield from _streamed(model, items)
        return
    size = getattr(model, "batch", BATCH)
    if type(size) is not int or size < 1:
        raise UserError(f"model {name!r}: batch must be a whole number from 1 up, not {size!r}")
    while block := list(islice(items, size)):
        prompts = [item.prompt for item in block]
        if hasattr(model, "ready"):
            model.ready(prompts)
        start = time.perf_counter()
        made = replies(model, prompts, name)
        each = (time.perf_counter() - start) / len(block)
        for item, reply in zip(block, made, strict=True):
            yield item, reply if reply.seconds is not None else _timed(reply, each)


def _streamed(model: Any, items: Iterator[Item]) -> Iterator[tuple[Item, Reply] | None]:
    """For an endpoint: a new call begins as soon as one ends, so that a slow one holds up no other."""
    first = list(islice(items, 1))
    if not first:
        return  # nothing to ask: the server need not even be there
    items = chain(first, items)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()  # run directly: Runner.run sets a signal handler each time, which is slow
        stop = _interrupt(loop)
        loop.run_until_complete(model.__aenter__())
        under_way: dict[asyncio.Future[Any], Item] = {}
        try:
            while True:
                for item in islice(items, model.in_flight - len(under_way)):
                    under_way[loop.create_task(model.ask(item.prompt))] = item
                if not under_way:
                    return
                waited = asyncio.wait(
                    {*under_way, stop}, timeout=QUIET_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                done, _ = loop.run_until_complete(waited)
                if not done:
                    yield None
                for task in done - {stop}:
                    yield under_way.pop(task), task.result()
                if stop in done:
                    raise KeyboardInterrupt
        except Exception:
            if under_way:  # what was sent is paid for, and kept if it comes
                loop.run_until_complete(asyncio.wait(under_way, timeout=GRACE_SECONDS))
            raise
        finally:
            for task in under_way:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*under_way, return_exceptions=True))
            loop.run_until_complete(model.__aexit__(None, None, None))


def _interrupt(loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
    """Done once the user interrupts: an interrupt in the midst of a call would leave it half finished."""
    stop = loop.create_future()

    def interrupted() -> None:
        if not stop.done():
            stop.set_result(None)

    if threading.current_thread() is threading.main_thread():
        loop.add_signal_handler(signal.SIGINT, interrupted)
    return stop


def _timed(reply: Reply, seconds: float) -> Reply:
    return replace(reply, seconds=seconds)

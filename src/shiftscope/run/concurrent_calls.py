"""Concurrent calls: ask an endpoint many prompts at once, and hear the responses as they come."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ..model import Response
from .conditions import EvalExample

if TYPE_CHECKING:
    import asyncio

GRACE_SECONDS = 2.0  # to wait for calls under way where one of them ends the run
QUIET_SECONDS = 5.0  # without a response, after which progress is reported all the same

Responses = Iterator[tuple[EvalExample, Response] | None]  # None: no response came for a while


def stream_responses(model: Any, items: Iterator[EvalExample], reads: frozenset[str]) -> Responses:
    """For an endpoint: a new call begins as soon as one ends, so that a slow one holds up no other."""
    import asyncio

    first = next(items, None)
    if first is None:
        return  # nothing to ask: the server need not even be there
    items = chain([first], items)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()  # run directly: Runner.run sets a signal handler each time, which is slow
        stop = _watch_interrupt(loop)
        loop.run_until_complete(model.__aenter__())
        under_way: dict[asyncio.Future[Any], EvalExample] = {}
        try:
            while True:
                for item in islice(items, model.in_flight - len(under_way)):
                    under_way[loop.create_task(model.ask(item.prompt.restrict(reads)))] = item
                if not under_way:
                    return
                waited = asyncio.wait({*under_way, stop}, timeout=QUIET_SECONDS, return_when=asyncio.FIRST_COMPLETED)
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


def _watch_interrupt(loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
    """Done once the user interrupts: an interrupt in the midst of a call would leave it half finished."""
    stop = loop.create_future()

    def set_stop() -> None:
        if not stop.done():
            stop.set_result(None)

    if threading.current_thread() is threading.main_thread():
        loop.add_signal_handler(signal.SIGINT, set_stop)
    return stop

"""One server: the replies of a run come from one server, as far as it tells who it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from ..errors import UserError
from ..models._server import Identity, differ, show
from ..models.openai import OpenAI
from ..store.runlog import SERVER, RunWriter
from .conditions import Item


def of_one_server(
    model: OpenAI, identity: Identity | None, writer: RunWriter, items: Iterator[Item]
) -> Iterator[Item]:
    """The items, unless the rows that are there came from another server.

    A server that can not be reached is waited for only where there is something to ask.
    """
    before = writer.spec.get(SERVER) or {}
    refuse_another_server(writer, before, identity or {})
    for first in islice(items, 1):
        if identity is None:
            found = model.identify(patient=True) or {}
            refuse_another_server(writer, before, found)
            writer.spec |= {SERVER: before or found} if found else {}
        return chain([first], items)
    return items


def refuse_another_server(writer: RunWriter, before: Identity, now: Identity) -> None:
    if differ(before, now):
        raise UserError(
            f"{writer.folder} holds a run of another server: it was {show(before)}, and the one there now "
            f"says it is {show(now)}; choose another folder for --out"
        )


def warn_of_fingerprints(model: OpenAI, writer: RunWriter, warn: Callable[[str], None]) -> None:
    """Tell what only the replies of this session could show: that others came from another system."""
    now = {name for name in model.fingerprints if name}
    if now and writer.fingerprints and not now & writer.fingerprints:
        warn(
            f"the rows that were there came with system_fingerprint {_listed(writer.fingerprints)}, those of "
            f"now with {_listed(now)}: the model may have changed; ask all anew in another --out"
        )
    if now and model.unconfirmed:
        warn(
            f"{model.unconfirmed} replies from the cache came without a system_fingerprint, and the server "
            f"now gives one ({_listed(now)}): they may be another model's; ask anew in another --out, with "
            "--no-cache"
        )


def _listed(names: Iterable[str]) -> str:
    first, *rest = sorted(names)
    return f"{first} and {len(rest)} more" if rest else first

"""A quantifier or an object of a question replaced, and the answer with it."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _asking as asking
from ._asking import run_and_show


def command(
    model: asking.MODEL,
    data: asking.DATA,
    out: asking.OUT = None,
    split: asking.SPLIT = "test",
    limit: asking.LIMIT = 0,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="quantifiers or objects; both unless said; may be repeated."),
    ] = None,
    wordnet: Annotated[
        str,
        typer.Option(
            help="Folder of WordNet, which tells objects' names apart; else Debian's, if it is there."
        ),
    ] = "",
    draw: asking.DRAW = 0,
    learn_from: asking.LEARN_FROM = None,
    mode: asking.MODE = "short",
    in_flight: asking.IN_FLIGHT = 16,
    parameters: asking.PARAMETERS = "",
    key_env: asking.KEY_ENV = "OPENAI_API_KEY",
    cache: asking.CACHE = None,
    no_cache: asking.NO_CACHE = False,
    batch: asking.BATCH = 8,
    device: asking.DEVICE = "auto",
    trust_remote_code: asking.TRUST = False,
    seed: asking.SEED = 0,
    as_json: asking.JSON = False,
) -> None:
    """Ask questions with a quantifier or an object replaced, and compare with the questions as they are."""
    from ...graph.wordnet import FOLDER
    from ...run.generalization.contrast import SETS, Options

    words = wordnet or (str(FOLDER) if FOLDER.is_dir() else "")
    run_and_show(
        "contrast",
        model,
        data,
        out,
        options=Options(tuple(sets) if sets else SETS, draw, words),
        split=split,
        limit=limit,
        learn_from=learn_from,
        mode=mode,
        in_flight=in_flight,
        parameters=parameters,
        key_env=key_env,
        cache=cache,
        no_cache=no_cache,
        batch=batch,
        device=device,
        trust_remote_code=trust_remote_code,
        seed=seed,
        as_json=as_json,
    )

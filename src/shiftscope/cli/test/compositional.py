"""Ask about combinations that training held out, and about the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _asking as asking
from ._asking import run_and_show


def command(
    model: asking.MODEL,
    data: asking.DATA,
    out: asking.OUT = None,
    from_split: Annotated[
        Path | None, typer.Option(help="What is held out: a folder that shiftscope split made.")
    ] = None,
    name: Annotated[str, typer.Option(help="What is held out: a split of the COVR paper by its name.")] = "",
    hold_out: Annotated[str, typer.Option(help="What is held out: an expression of properties.")] = "",
    shots: Annotated[
        int,
        typer.Option(min=-1, help="Questions with the property to learn from; -1: as the named split."),
    ] = -1,
    draw: asking.DRAW = 0,
    text: Annotated[
        str,
        typer.Option(
            help="The text-only model: the folder of its run, or a model that learns here; same for the "
            "model itself without the images."
        ),
    ] = "",
    upper: Annotated[
        str,
        typer.Option(
            help="The upper bound, trained on as many questions drawn from all: the folder of its run, or a "
            "model that learns here; same for the model itself."
        ),
    ] = "",
    split: asking.SPLIT = "test",
    limit: asking.LIMIT = 0,
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
    """Compositional generalization: questions with a held-out property beside the rest, and the score."""
    from ...run.generalization.compositional import Options

    options = Options(
        split=str(from_split) if from_split else "",
        name=name,
        hold_out=hold_out,
        shots=shots,
        seed=draw,
        text=text,
        upper=upper,
    )
    run_and_show(
        "compositional",
        model,
        data,
        out,
        options=options,
        split=split,
        limit=limit,
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

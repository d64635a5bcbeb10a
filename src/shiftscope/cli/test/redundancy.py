"""GQA questions with ever less of what they need not say."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import UserError
from .._console import table
from . import _asking as asking
from ._asking import run_and_show


def command(
    model: asking.MODEL,
    data: asking.DATA,
    out: asking.OUT = None,
    split: asking.SPLIT = "test",
    limit: asking.LIMIT = 0,
    shares: Annotated[
        str, typer.Option(help="Percents of the redundant operations that are removed.")
    ] = "0,14,32,70,91,100",
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
    """Ask GQA questions with a growing share of their redundant operations removed, worded anew."""
    from ...run.generalization.redundancy import Options

    try:
        wanted = tuple(int(word.strip().removesuffix("%")) for word in shares.split(","))
    except ValueError:
        raise UserError(f"--shares {shares}: expected whole percents, as in 0,14,32,70,91,100") from None
    run_and_show(
        "redundancy",
        model,
        data,
        out,
        options=Options(wanted, draw),
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
    if not as_json:
        _tell_reported()


def _tell_reported() -> None:
    from ...suites._reported_gqa import ACCURACY, CHANGE, SHARES, SOURCE

    rows = [(name, ACCURACY[name], *(f"{points:+.2f}" for points in CHANGE[name][1:])) for name in CHANGE]
    heads = ("model", "accuracy %", *(f"{share}%" for share in SHARES[1:]))
    table(heads, rows, f"change of accuracy in points on GQA testdev, {SOURCE}")

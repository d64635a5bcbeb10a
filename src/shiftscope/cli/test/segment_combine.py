"""Each image of a question asked about among irrelevant ones, and the replies put together."""

from __future__ import annotations

from . import _asking as asking
from ._asking import run_and_show


def command(
    model: asking.MODEL,
    data: asking.DATA,
    out: asking.OUT = None,
    split: asking.SPLIT = "test",
    limit: asking.LIMIT = 0,
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
    """Ask about each image among irrelevant ones, put the replies together, compare with the question."""
    from ...run.generalization.segment_combine import Options

    run_and_show(
        "segment_combine",
        model,
        data,
        out,
        options=Options(seed=draw),
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

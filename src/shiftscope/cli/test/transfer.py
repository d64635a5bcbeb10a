"""Ask a model that learned from one dataset about another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _asking as asking


def command(
    model: asking.MODEL,
    data: asking.DATA,
    home: Annotated[
        str,
        typer.Option("--from", help="The dataset, audit or suite that the model learned from."),
    ],
    out: asking.OUT = None,
    split: asking.SPLIT = "test",
    home_split: Annotated[str, typer.Option(help="Which questions at home; else the same split.")] = "",
    limit: asking.LIMIT = 0,
    at_home: Annotated[
        str, typer.Option(help="The model to ask at home, where that is another: predictions:FILE.")
    ] = "",
    back: Annotated[
        str,
        typer.Option(
            help="Also the way back, by this model that learned from the data; same: it learns here."
        ),
    ] = "",
    names: Annotated[
        Path | None,
        typer.Option(
            help="Your table of names: columns program and scene, for what programs name otherwise."
        ),
    ] = None,
    wordnet: Annotated[
        Path | None, typer.Option(help="Folder of WordNet's files, for names: /usr/share/wordnet.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of pictures, where the data are an audit's VQA files.")
    ] = None,
    mode: asking.MODE = "short",
    in_flight: asking.IN_FLIGHT = 16,
    batch: asking.BATCH = 8,
    device: asking.DEVICE = "auto",
    trust_remote_code: asking.TRUST = False,
    seed: asking.SEED = 0,
    parameters: asking.PARAMETERS = "",
    key_env: asking.KEY_ENV = "OPENAI_API_KEY",
    cache: asking.CACHE = None,
    no_cache: asking.NO_CACHE = False,
    as_json: asking.JSON = False,
) -> None:
    """Cross-benchmark transfer: on shared answers, counting left out, yes-or-no and open questions apart."""
    from ...run.data import data_folder
    from ...run.generalization.transfer import Options
    from .._console import shard_bar

    with shard_bar(f"making {home}") as making:
        folder = data_folder(home, making)
    options = Options(
        home=str(folder),
        home_split=home_split,
        at_home=at_home,
        back=back,
        names=str(names) if names else "",
        wordnet=str(wordnet) if wordnet else "",
    )
    asking.run_and_show(
        "transfer",
        model,
        data,
        out,
        options=options,
        split=split,
        limit=limit,
        mode=mode,
        in_flight=in_flight,
        batch=batch,
        device=device,
        trust_remote_code=trust_remote_code,
        seed=seed,
        parameters=parameters,
        key_env=key_env,
        cache=cache,
        no_cache=no_cache,
        images=images,
        as_json=as_json,
    )

"""Serve a model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ._console import json_line


def command(
    model: Annotated[str, typer.Option(help="Any model that shiftscope run takes.")],
    data: Annotated[Path, typer.Option(help="The dataset whose questions are asked.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Who can connect: 127.0.0.1 is this machine alone.")
    ] = "127.0.0.1",
    learn_from: Annotated[
        Path | None, typer.Option(help="Dataset whose train split a built-in model learns from.")
    ] = None,
    seed: Annotated[int, typer.Option(help="For models that use chance.")] = 0,
    idle: Annotated[float, typer.Option(min=0, help="Stop after so many seconds without a request.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when ready.")] = False,
) -> None:
    """Put a model behind POST /v1/chat/completions; it is asked in text and pictures, like any other."""
    from ..models._model import Options
    from ..run.evaluate import Order, built
    from ..run.recognise import Recogniser
    from ..run.serve import Service, serve
    from ..run.source import DatasetSource
    from ..store.dataset import Dataset

    dataset = Dataset.open(data)
    order = Order(model, data, learn_from=learn_from, options=Options(seed=seed))
    service = Service(model, built(order, DatasetSource(dataset)), Recogniser(dataset))

    def ready(url: str) -> None:
        if as_json:
            json_line({"model": model, "url": url})
            sys.stdout.flush()
        else:
            print(
                f"serving {model} at {url}; ask it with: shiftscope run --model openai:{model}@{url}",
                flush=True,
            )

    serve(service, host, port, idle=idle, ready=ready)

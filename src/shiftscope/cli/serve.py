"""Serve a model behind an OpenAI-compatible endpoint."""

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from . import _console as shared
from ._console import print_json


def command(
    model: Annotated[str, typer.Option(help="Any model that shiftscope run takes.")],
    data: Annotated[Path, typer.Option(help="The dataset whose questions are asked.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8000,
    host: Annotated[str, typer.Option(help="Who can connect: 127.0.0.1 is this machine alone.")] = "127.0.0.1",
    learn_from: shared.LearnFrom = None,
    trust_remote_code: shared.TrustRemoteCode = False,
    seed: shared.Seed = 0,
    idle: Annotated[float, typer.Option(min=0, help="Stop after so many seconds without a request.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when ready.")] = False,
) -> None:
    """Put a model behind POST /v1/chat/completions; it is asked in text and pictures, like any other.

    A request may have 64 MB, 32 pictures of 64 million pixels each, and 60 seconds to arrive; all requests
    that are held at once may have 256 MB, and there may be 256 connections.
    """
    from ..model import ModelOptions
    from ..run.evaluate import RunSpec, build_run_model
    from ..run.question_matcher import QuestionMatcher
    from ..run.question_source import DatasetSource
    from ..run.serve import ModelService, build_root_name, serve
    from ..store.dataset import Dataset

    dataset = Dataset.open(data)
    options = ModelOptions(seed=seed, trust_remote_code=trust_remote_code)
    spec, source = RunSpec(model, data, learn_from=learn_from, options=options), DatasetSource(dataset)
    root = build_root_name(spec, source)
    service = ModelService(model, build_run_model(spec, source), QuestionMatcher(dataset), root)

    def print_ready(url: str) -> None:
        if as_json:
            print_json({"model": model, "url": url})
            sys.stdout.flush()
        else:
            print(
                f"serving {model} at {url}; ask it with: shiftscope run --model "
                f"{quote(f'openai:{model}@{url}')} --data {quote(str(data))} --out RUN",
                flush=True,
            )

    serve(service, host, port, idle=idle, ready=print_ready)

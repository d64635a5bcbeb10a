"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ModelName = Annotated[
    str, typer.Option(help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL, predictions:FILE, or module:Class.")
]
LearnFrom = Annotated[Path | None, typer.Option(help="Dataset whose train split a built-in model learns from.")]
ImageFolder = Annotated[Path | None, typer.Option(help="Folder of pictures, where the data are an audit's VQA files.")]
Mode = Annotated[str, typer.Option(help="short: a one-word answer; free: reasoning first.")]
InFlight = Annotated[int, typer.Option(min=1, help="Concurrent calls to an endpoint.")]
Parameters = Annotated[str, typer.Option(help="More JSON to send to an endpoint; null drops a parameter.")]
KeyEnv = Annotated[str, typer.Option(help="The environment variable that holds the endpoint's key.")]
CacheFolder = Annotated[Path | None, typer.Option(help="Folder of responses already paid for; shared by all runs.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Pay for every response: neither read nor write the cache.")]
Batch = Annotated[int, typer.Option(min=1, help="Prompts per batch, for hf models.")]
Device = Annotated[str, typer.Option(help="For local models: cpu, cuda, cuda:1, mps.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="For hf models: run their own code, and load pickled weights.")
]
Seed = Annotated[int, typer.Option(help="For models that use chance.")]

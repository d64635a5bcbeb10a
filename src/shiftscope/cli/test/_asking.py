"""What the tests' commands have in common: how the model is asked, and how the outcome is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._console import json_line, shard_bar, table
from ..run import _parameters, refuse_both, tell_cache

if TYPE_CHECKING:
    from ...result import Score
    from ...run.generalization._frame import Line, Outcome

MODEL = Annotated[
    str,
    typer.Option(
        help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL, predictions:FILE, or module:Class."
    ),
]
DATA = Annotated[
    str, typer.Option(help="The folder of a dataset, or a suite: its dataset is then made once.")
]
OUT = Annotated[
    Path | None,
    typer.Option(help="Folder of the test's questions, runs and result; an unfinished test is gone on with."),
]
SPLIT = Annotated[str, typer.Option(help="Which questions.")]
LIMIT = Annotated[
    int, typer.Option(min=0, help="Only the first so many questions that the test can use; 0 for all.")
]
LEARN_FROM = Annotated[
    Path | None, typer.Option(help="Dataset whose train split a built-in model learns from; else the data.")
]
MODE = Annotated[str, typer.Option(help="short: one word is asked for; free: reasoning first.")]
IN_FLIGHT = Annotated[int, typer.Option(min=1, help="Calls to an endpoint at once.")]
BATCH = Annotated[int, typer.Option(min=1, help="Prompts at once, for hf models.")]
DEVICE = Annotated[str, typer.Option(help="For models run here: cpu, cuda, cuda:1, mps.")]
TRUST = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code", help="For hf models: run code of their own, and load pickled weights."
    ),
]
SEED = Annotated[int, typer.Option(help="For models that use chance.")]
PARAMETERS = Annotated[str, typer.Option(help="JSON sent to an endpoint besides; null drops a parameter.")]
KEY_ENV = Annotated[str, typer.Option(help="The environment variable that holds the endpoint's key.")]
CACHE = Annotated[
    Path | None, typer.Option(help="Folder of the replies already paid for; shared by all runs.")
]
NO_CACHE = Annotated[
    bool, typer.Option("--no-cache", help="Pay for every reply: read none from the cache, keep none there.")
]
DRAW = Annotated[int, typer.Option(help="Which of the possible questions chance makes.")]
JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def run_and_show(
    name: str,
    model: str,
    data: str,
    out: Path | None,
    *,
    options: Any = None,
    split: str = "test",
    limit: int = 0,
    learn_from: Path | None = None,
    mode: str = "short",
    in_flight: int = 16,
    batch: int = 8,
    device: str = "auto",
    trust_remote_code: bool = False,
    seed: int = 0,
    parameters: str = "",
    key_env: str = "OPENAI_API_KEY",
    cache: Path | None = None,
    no_cache: bool = False,
    images: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run a test of the catalogue and print its table; without --out it goes to `test-NAME` here."""
    from ...models._model import Options
    from ...run.data import data_folder
    from ...run.evaluate import Order
    from ...run.test import test

    refuse_both(cache, no_cache)
    with shard_bar(f"making {data}") as making:
        folder = data_folder(data, making)
    asking = Options(
        seed=seed,
        parameters=_parameters(parameters),
        batch=batch,
        device=device,
        trust_remote_code=trust_remote_code,
        in_flight=in_flight,
        key_env=key_env,
    )
    order = Order(
        model, folder, split, limit or None, mode=mode, learn_from=learn_from, options=asking, images=images
    )
    target = out or Path(f"test-{name.replace('_', '-')}")
    with shard_bar(f"asking {model}") as tell:
        made = test(
            name,
            order,
            target,
            options,
            cache=cache,
            use_cache=not no_cache,
            tell=lambda exam, d, n: tell(d, n, exam),
            warn=_warn,
        )
    if as_json:
        json_line(made.data() | {"asked_now": made.new})
    else:
        show(made, target)
    if not any(score.n for line in made.lines for score in line.scores):
        raise typer.Exit(1)  # no reply at all


def show(made: Outcome, out: Path) -> None:
    """The table, what was left out and where everything is."""
    metrics = list(dict.fromkeys(s.metric for line in made.lines for s in line.scores))
    facts = list(dict.fromkeys(name for line in made.lines for name, _ in line.of))
    apart = [
        name
        for name in ("missing", "undefined", "unreadable", "failed")
        if any(getattr(s, name) for line in made.lines for s in line.scores)
    ]
    rows = [
        [
            *(dict(line.of).get(name, "") for name in facts),
            max((s.n for s in line.scores), default=0),
            *(_cell(line, metric) for metric in metrics),
            *(max(getattr(s, name) for s in line.scores) for name in apart),
        ]
        for line in made.lines
    ]
    names = [f"{metric.replace('_', ' ')} %" for metric in metrics]
    table([*facts, "n", *names, *apart], rows)
    for why, n in made.plan.left_out:
        print(f"left out: {n:,} ({why})")
    tell_cache(made.cache, made.asked)
    done = f"wrote {out}" if made.new else f"nothing to do: all replies were in {out} already"
    print(f"{done}; next: shiftscope report {' '.join(quote(str(run)) for run in made.shown)}")


def _cell(line: Line, metric: str) -> str:
    """A figure with its 95% interval, in percent."""
    score: Score | None = next((s for s in line.scores if s.metric == metric), None)
    if score is None:
        return ""
    if score.value is None:
        return "nothing to score"
    interval = (
        "" if score.low is None or score.high is None else f" [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    )
    return f"{100 * score.value:.1f}{interval}"


def _warn(sentence: str) -> None:
    print(f"shiftscope: {sentence}", file=sys.stderr)

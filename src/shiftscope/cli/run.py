"""Run a model on a dataset: every question, under each condition, every reply kept."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..canonical import canonical_json
from ..errors import UserError
from ._console import json_line, shard_bar, table

if TYPE_CHECKING:
    from ..result import Records, RunLog


def command(
    model: Annotated[
        str,
        typer.Option(
            help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL, predictions:FILE, or module:Class."
        ),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="The folder of a dataset or of an audit, or a suite: its dataset is then made once."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run's folder; an unfinished run is gone on with.")],
    split: Annotated[str, typer.Option(help="Which questions.")] = "test",
    part: Annotated[
        str,
        typer.Option(help="Only these of them: FOLDER:PART of shiftscope split, or a JSON file of ids."),
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many questions; 0 for all.")] = 0,
    condition: Annotated[
        list[str] | None,
        typer.Option(help="as_is, blind, other_image, scene_text, program_text, or all; may be repeated."),
    ] = None,
    mode: Annotated[str, typer.Option(help="short: one word is asked for; free: reasoning first.")] = "short",
    joined: Annotated[
        bool,
        typer.Option("--joined", help="Tell an action and the question about its outcome in one sentence."),
    ] = False,
    learn_from: Annotated[
        Path | None, typer.Option(help="Dataset whose train split a built-in model learns from.")
    ] = None,
    learn_part: Annotated[
        str, typer.Option(help="Only these of the train split, as for --part; FOLDER tells what to stop by.")
    ] = "",
    in_flight: Annotated[int, typer.Option(min=1, help="Calls to an endpoint at once.")] = 16,
    price: Annotated[
        str, typer.Option(help="Price of a million tokens read and written, as in 0.15,0.60.")
    ] = "",
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens a reply may have.")] = 512,
    temperature: Annotated[float, typer.Option(min=0, help="0 for the likeliest reply.")] = 0.0,
    parameters: Annotated[
        str, typer.Option(help="JSON sent to the endpoint besides; null drops a parameter.")
    ] = "",
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for a call.")] = 120.0,
    retries: Annotated[int, typer.Option(min=0, help="Further attempts at a call that failed.")] = 8,
    key_env: Annotated[
        str, typer.Option(help="The environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    cache: Annotated[
        Path | None, typer.Option(help="Folder of the replies already paid for; shared by all runs.")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Prompts at once, for hf models.")] = 8,
    device: Annotated[str, typer.Option(help="For models run here: cpu, cuda, cuda:1, mps.")] = "auto",
    dtype: Annotated[str, typer.Option(help="For hf models: float32, bfloat16, float16.")] = "auto",
    seed: Annotated[int, typer.Option(help="For models that use chance.")] = 0,
    trained_on: Annotated[
        str, typer.Option(help="What the model was trained on; the report compares by it.")
    ] = "",
    variant: Annotated[str, typer.Option(help="What the report calls this data.")] = "",
    images: Annotated[
        Path | None, typer.Option(help="Folder of pictures, where the data are an audit's VQA files.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Ask a model the questions of a dataset and keep every reply; the same command again goes on."""
    from ..models._model import Options
    from ..run.conditions import read_conditions
    from ..run.data import data_folder
    from ..run.evaluate import Order, evaluate
    from ..run.part import read_part

    for name, value in (("temperature", temperature), ("timeout", timeout)):
        if not math.isfinite(value):
            raise UserError(f"--{name} must be a finite number, not {value}")
    options = Options(
        seed=seed,
        max_tokens=max_tokens,
        temperature=temperature,
        parameters=_parameters(parameters),
        dtype=dtype,
        batch=batch,
        device=device,
        in_flight=in_flight,
        timeout=timeout,
        retries=retries,
        price=_price(price),
        key_env=key_env,
    )
    conditions = read_conditions(condition or ["as_is"])
    with shard_bar(f"making {data}") as making:
        folder = data_folder(data, making)
    order = Order(
        model,
        folder,
        split,
        limit or None,
        conditions,
        mode,
        learn_from,
        options,
        trained_on,
        variant,
        images,
        joined,
        read_part(part) if part else None,
        read_part(learn_part) if learn_part else None,
    )
    with shard_bar(f"asking {model}") as tell:
        log = evaluate(order, out, cache=cache, tell=lambda done, total: tell(done, total, ""), warn=_warn)
    _summary(log, out, as_json)
    if log.records.status.equals("failed").all():
        raise typer.Exit(1)


def _warn(sentence: str) -> None:
    print(f"shiftscope: {sentence}", file=sys.stderr)


def _price(text: str) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        read, written = map(float, text.split(","))
        if not (0 <= read < math.inf and 0 <= written < math.inf):
            raise ValueError
    except ValueError:
        raise UserError(f"{text!r} is not a price; write two numbers as in 0.15,0.60") from None
    return read, written


def _parameters(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
        canonical_json(found).encode()  # refuses NaN, infinity and halves of letters
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError(f"--parameters must be a JSON object, as in '{{\"top_p\": 0.9}}', not {text!r}")
    return found


def _commonest(records: Records) -> str:
    """The reason most failures have."""
    failed = records.take(records.status.equals("failed")).reason.listed()
    counts = Counter(reason or "no reason given" for reason in failed)
    return str(min(counts, key=lambda reason: (-counts[reason], reason)))


def _summary(log: RunLog, out: Path, as_json: bool) -> None:
    """How many replies there are of each kind, under each condition."""
    import numpy as np

    from ..result import STATUSES

    rows = []
    for condition in dict.fromkeys(log.records.condition.listed()):
        some = log.records.under(condition)
        row: dict[str, Any] = {"condition": condition, "questions": log.questions, "replies": len(some)}
        for status in STATUSES:
            row[status] = int(some.status.equals(status).sum())
        known = int((some.truth.codes >= 0).sum())
        row["right"] = round(100 * float(some.right.sum()) / known, 2) if known else None
        if log.questions is not None and len(some) < log.questions:
            row["missing"] = log.questions - len(some)
        if row["failed"]:
            row["reason"] = _commonest(some)
        row["cost"] = None if np.isnan(some.cost).all() else round(float(np.nansum(some.cost)), 6)
        rows.append(row)
    if as_json:
        json_line({"folder": str(out), "conditions": rows})
        return
    names = ("condition", "questions", "replies", *STATUSES, "missing", "right", "cost")
    shown = [k for k in names if any(row.get(k) is not None for row in rows)]
    table(
        [f"{k} %" if k == "right" else k for k in shown],
        [[row.get(k, 0 if k == "missing" else None) for k in shown] for row in rows],
    )
    for row in rows:
        if row["failed"]:
            print(f"{row['condition']}: {row['failed']} failed, most often with: {row['reason']}")
    print(f"wrote {out}; next: shiftscope score {out}")

"""Run a model on a dataset: every question, under each condition, every response kept."""

from __future__ import annotations

import json
import math
import shlex
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError, warn
from ..executor import open_executor
from ..records import canonical_json
from . import _console as shared
from ._console import print_json, print_table, shard_bar

if TYPE_CHECKING:
    from ..result import CacheUse, RunLog


def command(
    model: shared.ModelName,
    data: Annotated[str, typer.Option(help="Folder of a dataset or an audit, or a suite, which is then made once.")],
    out: Annotated[Path, typer.Option(help="The run's folder; an unfinished run resumes.")],
    split: Annotated[str, typer.Option(help="Which questions.")] = "test",
    part: Annotated[str, typer.Option(help="Only these: FOLDER:PART of shiftscope split, or a JSON file of ids.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many questions; 0 for all.")] = 0,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="as_is, blind, other_image, scene_text, program_text, or all of these; or true_outcome, for data with "
            "actions; may be repeated."
        ),
    ] = None,
    mode: shared.Mode = "short",
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help="Replies per question, with --temperature above 0: vote and mean.")
    ] = 1,
    prompts: Annotated[
        Path | None,
        typer.Option(help="File of instructions to ask every question with: one per line, or a JSON or YAML list."),
    ] = None,
    system: Annotated[str, typer.Option(help="System prompt, or a file that holds it.")] = "",
    choices: Annotated[
        int, typer.Option(min=0, max=10, help="Multiple choice of up to so many options; 0 for open answers.")
    ] = 0,
    resize: Annotated[str, typer.Option(help="Size of the images sent: the longer side, or WIDTHxHEIGHT.")] = "",
    joined: Annotated[bool, typer.Option("--joined", help="Put an action and its question into one text.")] = False,
    learn_from: shared.LearnFrom = None,
    learn_part: Annotated[str, typer.Option(help="Train only on these, as --part; FOLDER sets what to stop by.")] = "",
    in_flight: shared.InFlight = 16,
    price: shared.Price = "",
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens a response may have, reasoning included; longer ones are truncated.")
    ] = 512,
    reasoning_effort: Annotated[
        str, typer.Option(help="How much a reasoning model at an endpoint may think, as in low or high.")
    ] = "",
    temperature: shared.Temperature = 0.0,
    parameters: shared.Parameters = "",
    timeout: shared.Timeout = 120.0,
    retries: shared.Retries = 8,
    key_env: shared.KeyEnv = "OPENAI_API_KEY",
    cache: shared.CacheFolder = None,
    no_cache: shared.NoCache = False,
    batch: shared.Batch = 8,
    device: shared.Device = "auto",
    replicas: shared.Replicas = 1,
    dtype: shared.Dtype = "auto",
    attention: Annotated[
        str, typer.Option(help="For hf models: flash, sdpa, eager; auto takes flash where there is one.")
    ] = "auto",
    trust_remote_code: shared.TrustRemoteCode = False,
    seed: shared.Seed = 0,
    trained_on: Annotated[str, typer.Option(help="What the model was trained on; the report compares by it.")] = "",
    variant: Annotated[str, typer.Option(help="What the report calls this data.")] = "",
    images: shared.ImageFolder = None,
    adapt: Annotated[
        str, typer.Option(help="Test-time adaptation of neuro-symbolic models: none, norm, prior or both.")
    ] = "none",
    adapt_from: Annotated[
        str, typer.Option(help="Images to adapt to: DATA, SPLIT or DATA:SPLIT; else the val split. Never the one run.")
    ] = "",
    positions: Annotated[
        str, typer.Option(help="For neuro-symbolic models, where things stand: boxes, fitted or predicted.")
    ] = "boxes",
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Ask without missing pictures, as a condition missing_image.")
    ] = False,
    judge: Annotated[
        str, typer.Option(help="Model that reads replies which the rules cannot; named as --model. It sees no answers.")
    ] = "",
    judge_sample: Annotated[
        int, typer.Option(min=0, help="Replies that the rules read which the judge reads too, to show the agreement.")
    ] = 50,
    judge_price: Annotated[str, typer.Option(help="The judge's price, as --price.")] = "",
    cluster: shared.Cluster = "",
    as_json: shared.AsJson = False,
) -> None:
    """Ask a model the questions of a dataset and keep every response; the same command again resumes."""
    from ..model import ModelOptions
    from ..run.adaptation import Adaptation
    from ..run.conditions import read_conditions
    from ..run.evaluate import RunSpec, evaluate
    from ..run.judge import Judge
    from ..run.local_replicas import count_replicas
    from ..run.make import resolve_data
    from ..run.prompt_options import PromptOptions, parse_size, read_instructions, read_system
    from ..store.question_part import read_part

    for name, value in (("temperature", temperature), ("timeout", timeout)):
        if not math.isfinite(value):
            raise UserError(f"--{name} must be a finite number, not {value}")
    if choices == 1:
        raise UserError("--choices takes the number of options, 2 or more; 0 for open answers")
    shares = count_replicas(replicas)
    if shares is None:  # one of several processes of accelerate launch, the first of which does all of it
        return
    sent = parse_parameters(parameters)
    if reasoning_effort:
        if "reasoning_effort" in sent:
            raise UserError("give --reasoning-effort, or reasoning_effort in --parameters, not both")
        sent |= {"reasoning_effort": reasoning_effort}
    options = ModelOptions(
        seed=seed,
        max_tokens=max_tokens,
        temperature=temperature,
        parameters=sent,
        dtype=dtype,
        attention=attention,
        trust_remote_code=trust_remote_code,
        positions=positions,
        batch=batch,
        device=device,
        replicas=shares,
        in_flight=in_flight,
        timeout=timeout,
        retries=retries,
        price=parse_price(price),
        key_env=key_env,
    )
    refuse_cache_conflict(cache, no_cache)
    executor = open_executor(cluster=cluster)
    conditions = read_conditions(condition or ["as_is"])
    with shard_bar(f"making {data}") as making:
        folder = resolve_data(data, making)
    spec = RunSpec(
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
        allow_missing,
        Judge(judge, judge_sample, parse_price(judge_price)) if judge else None,
        prompts=PromptOptions(
            samples,
            read_instructions(prompts) if prompts else (),
            read_system(system),
            choices,
            parse_size(resize),
            prompts,
        ),
        adapt=Adaptation(adapt, adapt_from),
    )
    counts: list[tuple[int, int]] = []
    with shard_bar(f"asking {model}") as tell:
        log = evaluate(
            spec,
            out,
            cache=cache,
            use_cache=not no_cache,
            executor=executor,
            tell=lambda done, total: tell(done, total, ""),
            warn=warn,
            count=lambda new, before: counts.append((new, before)),
        )
    _print_summary(log, out, as_json, *counts[-1])
    if log.records.status.equals("failed").all():
        raise typer.Exit(1)


def refuse_cache_conflict(cache: Path | None, no_cache: bool) -> None:
    if no_cache and cache is not None:
        raise UserError("--cache and --no-cache exclude each other; give one of them")


def print_cache_use(use: CacheUse | None, responses: int) -> None:
    """How much of what was answered an endpoint did not say just now."""
    if use is None:
        return
    age = ""
    if use.oldest is not None:  # in the largest unit that is not too coarse: 95 minutes, 2 days
        seconds = max(0.0, time.time() - use.oldest)
        units = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))
        size, unit = next((one for one in units if seconds >= 2 * one[0]), units[-1])
        age = f", the oldest {seconds / size:,.0f} {unit} old"
    print(f"{use.replies:,} of {responses:,} replies came from the cache{age}")


def parse_price(text: str) -> tuple[float, float] | None:
    if not text:
        return None
    try:
        read, written = map(float, text.split(","))
        if not (0 <= read < math.inf and 0 <= written < math.inf):
            raise ValueError
    except ValueError:
        raise UserError(f"{text!r} is not a price; write two numbers as in 0.15,0.60") from None
    return read, written


def parse_parameters(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
        canonical_json(found).encode()  # refuses NaN, infinity and halves of letters
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError(f"--parameters must be a JSON object, as in '{{\"top_p\": 0.9}}', not {text!r}")
    return found


def _summarize_condition(log: RunLog, condition: str) -> dict[str, Any]:
    """How many responses there are of each kind; a question without one counts as wrong."""
    import numpy as np

    from ..metrics.accuracy import score_rows
    from ..result import MISSING, STATUSES

    rows = log.records.filter_condition(condition)
    summary: dict[str, Any] = {"condition": condition, "questions": log.count_expected(condition)}
    summary |= {status: int(rows.status.equals(status).sum()) for status in (*STATUSES, MISSING)}
    if cut := int(rows.truncated.sum()):
        summary["truncated"] = cut
        summary["unreadable"] = int((rows.status.equals("unreadable") & ~rows.truncated).sum())
    summary["replies"] = len(rows) - summary["failed"] - summary[MISSING]
    scored = score_rows(rows)
    known = scored.values[scored.scorable]
    summary["accuracy"] = round(100 * float(known.mean()), 2) if len(known) else None
    summary |= {"metric": scored.metric} | ({"form": scored.form} if scored.form else {})
    summary["share_answered"] = round(100 * summary["replies"] / len(rows), 2)
    if summary["failed"]:  # the reason that most failures have
        reasons = rows.take(rows.status.equals("failed")).reason.to_list()
        counts = Counter(reason or "no reason given" for reason in reasons)
        summary["reason"] = str(min(counts, key=lambda reason: (-counts[reason], reason)))
    summary["cost"] = None if np.isnan(rows.cost).all() else round(float(np.nansum(rows.cost)), 6)
    return summary


def describe_usage(log: RunLog) -> dict[str, Any]:
    """Tokens, images, replies and positions of a run, for JSON; nothing that the run does not have."""
    from ..metrics.mean_accuracy import summarize_replies
    from ..metrics.position_bias import find_position_bias

    spec, made = dict(log.spec), {}
    if log.usage:
        made["usage"] = log.usage.to_json(spec.get("price"))
    if log.judge_usage:
        made["judge_usage"] = log.judge_usage.to_json((spec.get("judge") or {}).get("price"))
    if log.images_sent:
        made["images_sent"] = dict(log.images_sent)
    for name, found in (
        ("reply_summary", summarize_replies(log.records)),
        ("position_bias", find_position_bias(log.records)),
    ):
        made |= {name: asdict(found)} if found else {}
    return made


def _print_summary(log: RunLog, out: Path, as_json: bool, new: int, before: int) -> None:
    """A row for each condition, and how many of the responses are new."""
    from ..result import MISSING, STATUSES
    from ..run.notes import list_run_notes
    from ..run.score import describe_sample

    rows = [_summarize_condition(log, condition) for condition in dict.fromkeys(log.records.condition.to_list())]
    sample = describe_sample(log)
    if as_json:
        summary: dict[str, Any] = {"folder": str(out), "asked": new, "asked_before": before}
        summary |= {"sample": sample} if sample else {}
        summary |= {"cache": log.cache.to_json()} if log.cache else {}
        summary |= {"judge": asdict(log.judge)} if log.judge else {}
        summary |= describe_usage(log)
        print_json(summary | {"conditions": rows})
        return
    always = ("condition", "questions", "replies", "share_answered", "accuracy")
    counts = (*STATUSES, "truncated", MISSING)
    names = ("condition", "questions", "replies", *counts, "share_answered", "accuracy", "cost")
    shown = [k for k in names if any(row.get(k) for row in rows) or k in always]
    forms = {row.get("form") for row in rows if row["metric"] == "vqa_accuracy"}
    accuracy = f"VQA accuracy ({', '.join(sorted(map(str, forms)))})" if forms else "accuracy"
    titles = {"share_answered": "answered %", "accuracy": f"{accuracy} %", "answered": "legible"}
    print_table([titles.get(k, k) for k in shown], [[row.get(k) for k in shown] for row in rows])
    if sample:
        print(f"a sample: {sample}")
    for row in rows:
        if row["failed"]:
            print(f"{row['condition']}: {row['failed']} failed, most often with: {row['reason']}")
    if log.missing_images:
        print(
            f"missing_image: {log.missing_images:,} questions have no picture; they were asked without one, "
            "and count in no other row"
        )
    print_cache_use(log.cache, len(log.records))
    if log.judge:
        print(f"judge: {log.judge}")
    for term, sentence in list_run_notes(log):
        print(f"{term}: {sentence}")
    if new:
        done = f"wrote {out}" + (f" (new replies: {new:,}; from before: {before:,})" if before else "")
    elif lost := int(log.records.status.equals(MISSING).sum()):
        done = f"nothing to do: all {before:,} questions were asked in {out} already, and {lost:,} have no reply"
    else:
        done = f"nothing to do: all {before:,} replies were in {out} already"
    print(f"{done}; next: shiftscope score {shlex.quote(str(out))}")

"""Diagnose a model: the diagnostic set, every factor and stage, and a verdict, in one command."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError, warn
from . import _console as shared
from ._console import print_json, print_table, shard_bar
from .run import parse_parameters, parse_price, refuse_cache_conflict

if TYPE_CHECKING:
    from ..run.diagnosis_plan import DiagnosisPlan


def command(
    model: Annotated[str, typer.Argument(help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL or module:Class.")],
    budget: Annotated[int, typer.Option(min=1, help="Calls to the model, at most.")] = 2000,
    out: Annotated[
        Path | None, typer.Option(help="The diagnosis's folder, else diagnosis-MODEL; an unfinished one resumes.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="0: the public set; another: a private one, with other scenes and questions.")
    ] = 0,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only make the set and print what would be asked.")] = False,
    mode: shared.Mode = "short",
    learn_from: shared.LearnFrom = None,
    in_flight: shared.InFlight = 16,
    price: shared.Price = "",
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens a response may have.")] = 512,
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
    trust_remote_code: shared.TrustRemoteCode = False,
    as_json: shared.AsJson = False,
) -> None:
    """Find where a model breaks, and why: ask it a frozen set, and write a report that opens with the verdict."""
    from ..model import IMAGES, SCENES, ModelOptions, get_reads
    from ..run.diagnose import diagnose, refuse_other_diagnosis
    from ..run.diagnosis_plan import DiagnosisSpec, plan_diagnosis
    from ..run.local_replicas import count_replicas

    for name, value in (("temperature", temperature), ("timeout", timeout)):
        if not math.isfinite(value):
            raise UserError(f"--{name} must be a finite number, not {value}")
    refuse_cache_conflict(cache, no_cache)
    shares = count_replicas(replicas)
    if shares is None:  # one of several processes of accelerate launch, the first of which does all of it
        return
    options = ModelOptions(
        max_tokens=max_tokens,
        temperature=temperature,
        parameters=parse_parameters(parameters),
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        batch=batch,
        device=device,
        replicas=shares,
        in_flight=in_flight,
        timeout=timeout,
        retries=retries,
        price=parse_price(price),
        key_env=key_env,
    )
    plan = plan_diagnosis(DiagnosisSpec(model, budget, seed, mode, learn_from, options), shard_bar)
    folder = out or Path(f"diagnosis-{re.sub(r'[^A-Za-z0-9._+-]+', '_', model).strip('_')}")
    refuse_other_diagnosis(folder, plan)
    if not as_json:
        _print_plan(plan)
    if plan.too_small:
        warn(f"the budget is too small to estimate {', '.join(plan.too_small)}; give a larger --budget")
    reads = get_reads(model)
    if reads is not None and not reads & {IMAGES, SCENES}:
        warn(f"model {model!r} looks at no images: what it loses or gains on a shift of images is chance")
    if plan_only:
        if as_json:
            print_json(plan.identify() | {"plan": plan.to_json()})
        return
    with shard_bar(f"asking {model}") as bar:
        done = diagnose(
            plan,
            folder,
            cache=cache,
            use_cache=not no_cache,
            tell=lambda part, calls, total: bar(calls, total, part),
            warn=warn,
            say=warn,
        )
    _print_verdict(done, as_json)
    if done.failed == plan.count("calls"):
        raise typer.Exit(1)


def _print_plan(plan: DiagnosisPlan) -> None:
    """What will be asked, before the first call."""
    found = plan.set
    which = f"seed {found.seed}, private" if found.seed else "public"
    print(f"diagnostic set version {found.version} ({which}, {found.digest})")
    rows = []
    for run in plan.runs:
        smallest = run.detectable if run.part.factor else None
        shown = "" if smallest is None else "none" if smallest >= 1 else f"{100 * smallest:.1f} points"
        under = f"{len(run.subset.ids)} × {len(run.conditions) - 1}" if run.subset else ""
        asked = len(run.questions.ids)
        rows.append((run.part.name, run.part.factor, run.scenes, asked, under, run.calls, shown))
    heads = ("part", "factor", "scenes", "questions", "under conditions", "calls", "smallest drop shown")
    print_table(heads, rows)
    for name, why in plan.left_out.items():
        print(f"left out: {name}: {why}")
    tokens = f"about {plan.count('read'):,} tokens read and {plan.count('written'):,} written"
    print(f"{plan.count('calls'):,} calls with {plan.count('images'):,} images, {tokens}", flush=True)
    if plan.price is not None:
        print(f"about {plan.price:,.2f} at the price given", flush=True)


def _print_verdict(done: Any, as_json: bool) -> None:
    """The report, and its verdict in the terminal."""
    from ..report.run_page import report
    from ..report.runs import read_runs
    from ..report.verdict import find_verdict, spell_verdict

    plan, page = done.plan, done.out / "report.html"
    written = report(done.folders, page)
    read = read_runs(done.folders)
    verdicts = [find_verdict(read, contender) for contender in read.contenders]
    if as_json:
        print_json(
            plan.identify()
            | {"out": str(done.out), "report": str(written.path), "seconds": round(done.seconds, 1)}
            | {"asked": done.new, "failed": done.failed, "plan": plan.to_json()}
            | {"verdicts": [one.to_json() for one in verdicts]}
        )
        return
    for one in verdicts:
        print()
        for line in spell_verdict(one):
            print(line)
    if done.failed:
        print(f"\n{done.failed:,} calls failed and count as wrong; run the same command again to repeat them")
    print(f"\nwrote {written.path} ({done.new:,} new replies in {done.seconds:,.0f} seconds)")

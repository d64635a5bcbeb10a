"""Put a model through a generalization test; options and help come from the file of each test."""

from __future__ import annotations

from functools import cache as remember
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import UserError, warn
from ..executor import open_executor
from ..registry import GENERALIZATION_TESTS
from ..url_path import parse_path
from . import _console as shared
from ._console import print_json, print_table, shard_bar
from ._plain_options import read_plainly
from .run import parse_parameters, print_cache_use, refuse_cache_conflict

if TYPE_CHECKING:
    from ..run.generalization import FindingsRow, GeneralizationOptions
    from ..run.test import GeneralizationOutcome

SHARED = ("learn_from", "images")  # taken by the tests that name them


class GeneralizationTestGroup(TyperGroup):
    """The tests of the registry; a test's file is imported when its options are needed."""

    @property
    def commands(self) -> dict[str, Any]:
        return {name.replace("_", "-"): _build_command(name) for name in GENERALIZATION_TESTS.names()}

    @commands.setter
    def commands(self, known: object) -> None:
        """The registry alone knows them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name.replace("_", "-") for name in GENERALIZATION_TESTS.names()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _build_command(cmd_name.replace("-", "_")) if cmd_name in self.list_commands(ctx) else None


group = typer.Typer(
    cls=GeneralizationTestGroup,
    help="Put a model through a generalization test: segment-combine, contrast, …",
    no_args_is_help=True,
)


@remember
def _build_command(test: str) -> Any:
    module = GENERALIZATION_TESTS.load(test)
    known = list(signature(run_test, eval_str=True).parameters.values())[2:]
    own = [_build_parameter(flag, f) for flag, f in module.OPTIONS.list_flags().items()]
    at = [p.name for p in known].index("limit") + 1
    taken = [p for p in (*known[:at], *own, *known[at:]) if p.name not in SHARED or p.name in module.OPTIONS.shared]

    def command(**given: Any) -> None:
        options = {p.name.removeprefix("own_"): given.pop(p.name) for p in own}
        run_test(test, _read_options(module.OPTIONS, options), **given)
        if hasattr(module, "list_reported") and not given["as_json"]:
            print_table(*module.list_reported())

    needs = module.APPLIES[0].upper() + module.APPLIES[1:]
    command.__doc__ = f"{GENERALIZATION_TESTS.summary(test)}\n\n{needs}."
    command.__signature__ = Signature(taken)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in taken}
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(test.replace("_", "-"))(command)
    return read_plainly(typer.main.get_command(alone))


def _build_parameter(flag: str, option: Any) -> Parameter:
    """The parameter of a command that gives a field of a test's options."""
    about, default = option.metadata, option.default
    kind: Any = type(default)
    if about.get("path"):
        kind, default = Path | None, None
    elif isinstance(default, tuple) and all(isinstance(one, int) for one in default):
        kind, default = str, ",".join(map(str, default))
    elif isinstance(default, tuple):
        kind, default = list[str] | None, None
    if about.get("required"):
        default = Parameter.empty
    annotation = Annotated[kind, typer.Option(f"--{flag}", help=about["help"], min=about.get("min"))]
    return Parameter(f"own_{option.name}", Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _read_options(options: type[GeneralizationOptions], given: dict[str, Any]) -> GeneralizationOptions:
    values = {}
    for flag, option in options.list_flags().items():
        value = given[option.name]
        if option.metadata.get("data"):
            value = _resolve_data(value)
        elif isinstance(option.default, tuple):
            value = option.default if not value else _read_tuple(flag, value, option.default)
        values[option.name] = ("" if value is None else str(value)) if isinstance(option.default, str) else value
    return options(**values)


def _read_tuple(flag: str, value: str | list[str], default: tuple[Any, ...]) -> tuple[Any, ...]:
    if not isinstance(value, str):
        return tuple(value)
    try:
        return tuple(int(word.strip().removesuffix("%")) for word in value.split(","))
    except ValueError:
        example = ",".join(map(str, default))
        raise UserError(f"--{flag} {value}: expected whole percents, as in {example}") from None


def _resolve_data(data: str) -> str:
    from ..run.make import resolve_data

    with shard_bar(f"making {data}") as progress:
        return str(resolve_data(data, progress))


def run_test(
    test: str,
    options: Any,
    *,
    model: shared.ModelName,
    data: Annotated[str, typer.Option(help="Folder of a dataset, or a suite, which is then made once.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the test; an unfinished test resumes.")] = None,
    split: Annotated[str, typer.Option(help="Which questions.")] = "test",
    limit: Annotated[int, typer.Option(min=0, help="Use only the first so many questions that fit; 0 for all.")] = 0,
    learn_from: shared.LearnFrom = None,
    images: shared.ImageFolder = None,
    mode: shared.Mode = "short",
    in_flight: shared.InFlight = 16,
    parameters: shared.Parameters = "",
    key_env: shared.KeyEnv = "OPENAI_API_KEY",
    cache: shared.CacheFolder = None,
    no_cache: shared.NoCache = False,
    batch: shared.Batch = 8,
    device: shared.Device = "auto",
    trust_remote_code: shared.TrustRemoteCode = False,
    seed: shared.Seed = 0,
    cluster: shared.Cluster = "",
    as_json: shared.AsJson = False,
) -> None:
    """Run a test and print its table; without --out it goes to `test-NAME` here."""
    from ..model import ModelOptions
    from ..run.evaluate import RunSpec
    from ..run.test import test as run_generalization_test

    refuse_cache_conflict(cache, no_cache)
    executor = open_executor(cluster=cluster)
    folder = parse_path(_resolve_data(data))
    model_options = ModelOptions(
        seed=seed,
        parameters=parse_parameters(parameters),
        batch=batch,
        device=device,
        trust_remote_code=trust_remote_code,
        in_flight=in_flight,
        key_env=key_env,
    )
    spec = RunSpec(
        model, folder, split, limit or None, mode=mode, learn_from=learn_from, options=model_options, images=images
    )
    target = out or Path(f"test-{test.replace('_', '-')}")
    with shard_bar(f"asking {model}") as progress:
        outcome = run_generalization_test(
            test,
            spec,
            target,
            options,
            cache=cache,
            use_cache=not no_cache,
            executor=executor,
            tell=lambda test_set, done, total: progress(done, total, test_set),
            warn=warn,
        )
    if as_json:
        print_json(outcome.to_json() | {"asked_now": outcome.new})
    else:
        _print_outcome(outcome, target)
    if not any(score.n for line in outcome.lines for score in line.scores):
        raise typer.Exit(1)  # no response at all


def _print_outcome(outcome: GeneralizationOutcome, out: Path) -> None:
    """The table, what was left out and where everything is."""
    from ..metrics.slices import WITHOUT_ANSWER

    scores = [s for line in outcome.lines for s in line.scores]
    metrics = list(dict.fromkeys(s.metric for s in scores))
    facts = list(dict.fromkeys(name for line in outcome.lines for name, _ in line.of))
    apart = [name for name in WITHOUT_ANSWER if any(getattr(s, name) for s in scores)]
    rows = [
        [
            *(dict(line.of).get(name, "") for name in facts),
            max((s.n for s in line.scores), default=0),
            *(_format_score(line, metric) for metric in metrics),
            *(max(getattr(s, name) for s in line.scores) for name in apart),
        ]
        for line in outcome.lines
    ]
    names = [f"{metric.replace('_', ' ')} %" for metric in metrics]
    print_table([*facts, "n", *names, *apart], rows)
    for why, n in outcome.plan.left_out:
        print(f"left out: {n:,} ({why})")
    print_cache_use(outcome.cache, outcome.asked)
    done = f"wrote {out}" if outcome.new else f"nothing to do: all replies were in {out} already"
    print(f"{done}; next: shiftscope report {' '.join(quote(str(run)) for run in outcome.shown)}")


def _format_score(line: FindingsRow, metric: str) -> str:
    """A figure with its 95% interval, in percent."""
    score = next((s for s in line.scores if s.metric == metric), None)
    if score is None:
        return ""
    if score.value is None:
        return "nothing to score"
    interval = "" if score.low is None or score.high is None else f" [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    return f"{100 * score.value:.1f}{interval}"

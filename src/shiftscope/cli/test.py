"""Put a model through a generalization test; options and help come from the file of each test."""

from __future__ import annotations

from functools import cache as remember
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import UserError
from ..registry import GENERALIZATION_TESTS
from ._console import print_json, print_table, shard_bar, warn
from .run import parse_parameters, print_cache_use, refuse_cache_conflict

if TYPE_CHECKING:
    from ..result import Score
    from ..run.generalization import FindingsRow, GeneralizationOptions, GeneralizationOutcome

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
    return typer.main.get_command(alone)


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
    asked = typer.Option(f"--{flag}", help=about["help"], min=about.get("min"))
    if about.get("required"):
        default = Parameter.empty
    return Parameter(f"own_{option.name}", Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, asked])


def _read_options(options: type[GeneralizationOptions], given: dict[str, Any]) -> GeneralizationOptions:
    found = {}
    for flag, option in options.list_flags().items():
        value = given[option.name]
        if not value and "fallback" in option.metadata:
            value = option.metadata["fallback"]()
        if option.metadata.get("data"):
            value = _resolve_data(value)
        elif isinstance(option.default, tuple):
            value = option.default if not value else _read_tuple(flag, value, option.default)
        found[option.name] = ("" if value is None else str(value)) if isinstance(option.default, str) else value
    return options(**found)


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
    model: Annotated[
        str,
        typer.Option(help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL, predictions:FILE, or module:Class."),
    ],
    data: Annotated[str, typer.Option(help="The folder of a dataset, or a suite: its dataset is then made once.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the test's questions, runs and result; an unfinished test resumes.")
    ] = None,
    split: Annotated[str, typer.Option(help="Which questions.")] = "test",
    limit: Annotated[int, typer.Option(min=0, help="Use only the first so many questions that fit; 0 for all.")] = 0,
    learn_from: Annotated[
        Path | None, typer.Option(help="Dataset whose train split a built-in model learns from; else the data.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of pictures, where the data are an audit's VQA files.")
    ] = None,
    mode: Annotated[str, typer.Option(help="short: a one-word answer; free: reasoning first.")] = "short",
    in_flight: Annotated[int, typer.Option(min=1, help="Concurrent calls to an endpoint.")] = 16,
    parameters: Annotated[str, typer.Option(help="More JSON to send to an endpoint; null drops a parameter.")] = "",
    key_env: Annotated[
        str, typer.Option(help="The environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    cache: Annotated[
        Path | None, typer.Option(help="Folder of responses already paid for; shared by all runs.")
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Pay for every response: neither read nor write the cache.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Prompts per batch, for hf models.")] = 8,
    device: Annotated[str, typer.Option(help="For local models: cpu, cuda, cuda:1, mps.")] = "auto",
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="For hf models: run their own code, and load pickled weights.")
    ] = False,
    seed: Annotated[int, typer.Option(help="For models that use chance.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a test and print its table; without --out it goes to `test-NAME` here."""
    from ..model import ModelOptions
    from ..run.evaluate import RunSpec
    from ..run.test import test as run_generalization_test

    refuse_cache_conflict(cache, no_cache)
    folder = Path(_resolve_data(data))
    asking = ModelOptions(
        seed=seed,
        parameters=parse_parameters(parameters),
        batch=batch,
        device=device,
        trust_remote_code=trust_remote_code,
        in_flight=in_flight,
        key_env=key_env,
    )
    spec = RunSpec(model, folder, split, limit or None, mode=mode, learn_from=learn_from, options=asking, images=images)
    target = out or Path(f"test-{test.replace('_', '-')}")
    with shard_bar(f"asking {model}") as progress:
        made = run_generalization_test(
            *(test, spec, target, options),
            cache=cache,
            use_cache=not no_cache,
            tell=lambda test_set, done, total: progress(done, total, test_set),
            warn=warn,
        )
    if as_json:
        print_json(made.to_json() | {"asked_now": made.new})
    else:
        print_outcome(made, target)
    if not any(score.n for line in made.lines for score in line.scores):
        raise typer.Exit(1)  # no response at all


def print_outcome(made: GeneralizationOutcome, out: Path) -> None:
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
            *(_format_score(line, metric) for metric in metrics),
            *(max(getattr(s, name) for s in line.scores) for name in apart),
        ]
        for line in made.lines
    ]
    names = [f"{metric.replace('_', ' ')} %" for metric in metrics]
    print_table([*facts, "n", *names, *apart], rows)
    for why, n in made.plan.left_out:
        print(f"left out: {n:,} ({why})")
    print_cache_use(made.cache, made.asked)
    done = f"wrote {out}" if made.new else f"nothing to do: all replies were in {out} already"
    print(f"{done}; next: shiftscope report {' '.join(quote(str(run)) for run in made.shown)}")


def _format_score(line: FindingsRow, metric: str) -> str:
    """A figure with its 95% interval, in percent."""
    score: Score | None = next((s for s in line.scores if s.metric == metric), None)
    if score is None:
        return ""
    if score.value is None:
        return "nothing to score"
    interval = "" if score.low is None or score.high is None else f" [{100 * score.low:.1f}, {100 * score.high:.1f}]"
    return f"{100 * score.value:.1f}{interval}"

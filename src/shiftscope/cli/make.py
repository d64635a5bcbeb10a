"""Make datasets, scenes or questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import UserError
from ..executor import open_executor
from ..files import resolve_links
from ..registry import SUITES
from ._console import Cluster, print_json, print_table, shard_bar, track_progress
from ._plain_options import read_plainly

if TYPE_CHECKING:
    from ..question import Question
    from ..suites import MakeReport, Option, Suite

Out = Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is resumed.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0 for one per core.")]
Repair = Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")]
Device = Annotated[str, typer.Option(help="Where pictures are drawn: cpu, or cuda for a GPU.")]
COMMON: dict[str, tuple[Any, Any]] = {
    "workers": (Workers, 0),
    "cluster": (Cluster, ""),
    "repair": (Repair, False),
    "device": (Device, "cpu"),
    "as_json": (Annotated[bool, typer.Option("--json", help="Print JSON.")], False),
}


class SuiteGroup(TyperGroup):
    """Besides its own commands, one for each suite, which is loaded when its command is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*SUITES.names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in self.commands and name in SUITES.names():
            self.commands[name] = build_suite_command(name)
        return super().get_command(ctx, name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Suites are listed by their summaries, so that none is loaded."""
        own = [(name, (self.commands[name].help or "").splitlines()[0]) for name in super().list_commands(ctx)]
        listed = [(name, SUITES.summary(name)) for name in SUITES.names()]
        rows = [*listed, *(row for row in own if row[0] not in dict(listed))]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


group = typer.Typer(
    cls=SuiteGroup,
    help="Make a dataset, scenes and images alone, or questions about given scenes.",
    no_args_is_help=True,
)


@group.command("scenes")
def make_scenes(
    out: Out,
    world: Annotated[str, typer.Option(help="Which world to sample from (shiftscope list worlds).")] = "clevr",
    n: Annotated[int, typer.Option("-n", min=1, help="How many scenes, over train, val and test.")] = 1000,
    seed: Annotated[int, typer.Option(help="Another seed makes other scenes.")] = 0,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    shard: Annotated[int, typer.Option(min=1, help="Images per shard; part of the spec.")] = 250,
    workers: Workers = 0,
    cluster: Cluster = "",
    repair: Repair = False,
    device: Device = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make scenes with images and masks alone."""
    from ..geometry.camera import read_size
    from ..suites import describe_splits, load_world_suite

    suite = load_world_suite(world)
    none = dict.fromkeys(suite.spec.question_fields, 0)
    spec = suite.spec(images=n, seed=seed, size=read_size(size), shard=shard, **none)
    executor = open_executor(workers, cluster)
    made = suite.make(spec, out, executor=executor, repair=repair, bar=shard_bar, device=device)
    print_report(describe_splits(made.dataset), as_json)


@group.command("questions")
def make_questions(
    scenes: Annotated[
        Path, typer.Option(help="CLEVR or Super-CLEVR scenes: a file, a folder of them, or a dataset's folder.")
    ],
    out: Annotated[Path, typer.Option(help="The question file to write, in CLEVR's format; .gz is gzipped.")],
    split: Annotated[
        list[str] | None, typer.Option(help="Of a dataset, only the scenes of this split; may be repeated.")
    ] = None,
    templates: Annotated[Path | None, typer.Option(help="Template files in CLEVR's format; ours by default.")] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="Ask as many questions about parts as well (Super-CLEVR).")
    ] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="Questions a scene, where the scene allows.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed asks other questions.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the distributions as JSON lines.")] = False,
) -> None:
    """Ask valid, balanced questions about given scenes, each with its program and answer."""
    from ..formats.clevr import spell_official_answer, write_questions
    from ..questions import count_questions
    from ..questions.clevr.generator import generate_all_questions
    from ..questions.clevr.template_sets import builtin_part_templates, builtin_templates, load_templates
    from ..run.scene_source import describe_licenses, read_given_scenes

    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}")
    if resolve_links(out) == resolve_links(scenes):
        raise UserError(f"{out} holds the scenes; write the questions to another file")
    given = read_given_scenes(scenes, split or ())
    chosen = load_templates(templates) if templates else builtin_templates(given[0].schema)
    sets = [chosen, builtin_part_templates(given[0].schema)] if parts else [chosen]
    asked: list[Question] = []
    for one in sets:
        more = generate_all_questions(given, one, per_image=n, seed=seed, start=len(asked))
        for question in track_progress(more, "asking", len(given) * n):
            assert question.answer is not None
            asked.append(replace(question, answer=spell_official_answer(question.answer, given[0].schema)))
    if not asked:
        raise UserError(f"{scenes}: no question could be asked about these scenes")
    write_questions(out, asked, describe_licenses([scenes]))
    found = count_questions(asked)
    if as_json:
        print_json(found.to_json() | {"out": str(out)})
        return
    rows = []
    for kind, count in found.types.items():
        shares = ", ".join(f"{a} {100 * n / count:.0f}%" for a, n in list(found.answers[kind].items())[:8])
        rows.append((kind, count, f"{100 * count / found.questions:.1f}%", shares))
    print_table(("type", "questions", "share", "answers"), rows)
    print(f"wrote {found.questions:,} questions about {len(given):,} scenes to {out}")


def build_suite_command(name: str) -> Any:
    """`shiftscope make NAME`, with the options that the suite's spec and inputs give."""
    from ..suites import load_suite

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    suite = load_suite(name)
    app.command(name, help=suite.help)(build_callback(suite))
    command = typer.main.get_command(app)
    command.name = name
    return read_plainly(command)


def build_callback(suite: Suite[Any]) -> Callable[..., None]:
    """A function whose parameters are the options."""
    options = suite.spec.list_options() | suite.options

    def callback(
        out: Path, workers: int, repair: bool, device: str, as_json: bool, cluster: str = "", **given: Any
    ) -> None:
        executor = open_executor(workers, cluster)
        made = suite.run(given, out, executor=executor, repair=repair, bar=shard_bar, device=device)
        for report in made:
            print_report(report, as_json)

    keyword, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    annotated = {name: (_annotate(name, o), empty if o.required else o.default) for name, o in options.items()}
    listed = {"out": (Out, empty)} | annotated | COMMON
    parameters = [inspect.Parameter(name, keyword, annotation=kind, default=d) for name, (kind, d) in listed.items()]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {name: kind for name, (kind, _) in listed.items()}
    return callback


def _annotate(name: str, option: Option) -> Any:
    """An option as Typer reads it: a switch has one spelling, and no `--no-` beside it."""
    kind = option.type or type(option.default)
    spelled = f"--{option.name or name.replace('_', '-')}"
    spellings = [spelled, option.short] if option.short else [spelled]
    made = typer.Option(*spellings, min=option.min, help=option.help, show_default=option.show_default)
    return Annotated[kind if option.required or option.default is not None else kind | None, made]


def print_report(report: MakeReport, as_json: bool) -> None:
    """One JSON object, or lines and tables; flushed, for the next may take hours."""
    if as_json:
        if report.data:
            print_json(report.data)
        return
    for block in report.text:
        if isinstance(block, str):
            print(block, flush=True)
        else:
            print_table(*block)

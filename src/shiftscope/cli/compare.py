"""Compare two models on the same questions: what got better, what got worse, and whether a drop is sure."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from . import _console as shared
from ._console import print_json, print_table


def command(
    first: Annotated[str, typer.Argument(help="The model before: folder of a run, of several runs, or a diagnosis.")],
    second: Annotated[str, typer.Argument(help="The model after, run on the same data.")],
    fail_below: Annotated[
        float | None,
        typer.Option(help="Exit with 1 if a change below this many points is sure: -2, or 0 for any drop."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="Slices by kind, answer, about (default), template, …; may be repeated.")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Examples that got worse, and as many that got better.")] = 3,
    md: Annotated[Path | None, typer.Option(help="Also write a Markdown summary here, as for a pull request.")] = None,
    as_json: shared.AsJson = False,
) -> None:
    """Compare two models by their runs on the same questions, overall, per factor and per slice.

    A change is the second model's accuracy less the first's, paired by question, with a 95% interval clustered
    by scene. With --fail-below T the exit code is 1 if, for all questions, for a factor or for a slice, the upper
    end of that interval is below T and the permutation test by scene against T has one-sided p < 0.025. For
    factors and slices p is Holm-corrected over all of them. Otherwise it is 0; bad input exits with 2. A missing,
    failed or unparseable response counts as wrong.
    """
    from ..files import encode_utf8, write_whole
    from ..report import comparison as words
    from ..run.compare import SLICES, compare

    if fail_below is not None and not -100 < fail_below <= 0:
        raise UserError(
            f"--fail-below is a change in points, from 0 down to -100, not {fail_below:g}; a drop is negative"
        )
    threshold = None if fail_below is None else fail_below / 100
    made = compare(first, second, threshold=threshold, by=tuple(by) if by else SLICES, examples=examples)
    if md is not None:
        write_whole(md, encode_utf8(words.build_markdown(made)))
    if as_json:
        print_json(words.to_json(made))
    else:
        print(f"compared on {words.describe_coverage(made)}")
        print_table(words.list_columns(made), words.list_rows(made))
        for direction, parts in words.list_directions(made):
            print(f"{direction}: {parts}")
        if made.examples:
            print_table((*words.EXAMPLE_COLUMNS, made.first, made.second), words.list_examples(made), "\nexamples")
        for note in made.notes:
            print(f"note: {note}")
        print(words.describe_verdict(made))
    if made.failing:
        raise typer.Exit(1)

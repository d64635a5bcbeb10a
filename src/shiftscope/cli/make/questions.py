"""Ask questions about a user's own scenes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import UserError
from ...files import resolve_links
from .._console import print_json, print_table, track_progress

if TYPE_CHECKING:
    from ...question import Question


def command(
    scenes: Annotated[Path, typer.Option(help="CLEVR or Super-CLEVR scenes: a file, or a folder of them.")],
    out: Annotated[Path, typer.Option(help="The question file to write, in CLEVR's format; .gz is gzipped.")],
    templates: Annotated[Path | None, typer.Option(help="Template files in CLEVR's format; ours by default.")] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="Ask as many questions about parts as well (Super-CLEVR).")
    ] = False,
    n: Annotated[int, typer.Option("-n", min=1, help="Questions a scene, where the scene allows.")] = 10,
    seed: Annotated[int, typer.Option(help="Another seed asks other questions.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the distributions as JSON lines.")] = False,
) -> None:
    """Ask valid, balanced questions about given scenes, each with its program and answer."""
    from ...formats import read_scenes
    from ...formats.clevr import write_questions
    from ...questions.clevr.generator import generate_all_questions
    from ...questions.clevr.template_sets import builtin_part_templates, builtin_templates, load_templates
    from ...questions.distribution import count_questions

    if not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}")
    if resolve_links(out) == resolve_links(scenes):
        raise UserError(f"{out} holds the scenes; write the questions to another file")
    given = read_scenes(scenes)
    chosen = load_templates(templates) if templates else builtin_templates(given[0].schema)
    sets = [chosen, builtin_part_templates(given[0].schema)] if parts else [chosen]
    asked: list[Question] = []
    for one in sets:
        more = generate_all_questions(given, one, per_image=n, seed=seed, start=len(asked))
        asked += track_progress(more, "asking", len(given) * n)
    if not asked:
        raise UserError(f"{scenes}: no question could be asked about these scenes")
    write_questions(out, asked)
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

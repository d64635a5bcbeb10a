"""Make questions about one image each, in GQA's manner."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from .._console import json_line, shard_bar, table
from .clevr import done


def command(
    graphs: Annotated[
        list[Path],
        typer.Option(
            help="Scene graphs: GQA, Visual Genome regions, imSitu; several files are taken together."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is gone on with.")],
    images: Annotated[
        Path | None, typer.Option(help="The folder of their pictures; graphs without one are left out.")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="Of an image, so many at most.")] = 4,
    share: Annotated[int, typer.Option(min=3, help="One image in so many is for val, and one for test.")] = 6,
    overlap: Annotated[
        list[str] | None,
        typer.Option(
            help="Who says which words exclude which: schema, wordnet, wordnet:FOLDER, table:FILE, "
            "nli:MODEL; may be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed makes other questions.")] = 0,
    shard: Annotated[int, typer.Option(min=1, help="Images a shard; part of what is made.")] = 1000,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make GQA-style questions: about one image each, from scene graphs, saying more than they must."""
    from ...run.make_gqa import make_gqa, order_of

    order, inputs = order_of(
        graphs, images, overlap or [], questions=questions, share=share, seed=seed, shard=shard
    )
    made, left_out = make_gqa(order, out, inputs, workers=workers or None, repair=repair, bar=shard_bar)
    forms = {s: Counter(q.provenance.template for q in made.questions(s)) for s in made.splits}
    if as_json:
        splits = {s: {"images": made.count(s)[0], "questions": dict(sorted(forms[s].items()))} for s in forms}
        whole = {"folder": str(made.folder), "shards_made": made.made, "splits": splits}
        json_line(whole | {"graphs_left_out": left_out})
        return
    names = sorted({name for found in forms.values() for name in found})
    rows = [(name, *(f"{found[name]:,}" for found in forms.values())) for name in names]
    rows.append(("all", *(f"{made.count(s)[1]:,} about {made.count(s)[0]:,} images" for s in made.splits)))
    table(("form", *made.splits), rows)
    told = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in left_out.items() if n)
    if told:
        print(f"graphs left out: {told}")
    print(done(made))

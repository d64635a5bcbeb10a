"""Make a COVR dataset."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UserError
from .._console import json_line, shard_bar, table
from .._size import read_size
from ..run import refuse_both
from .clevr import done

if TYPE_CHECKING:
    from ...run.make_covr import Yield
    from ...store.dataset import Dataset

SCENES, SIZE = 3000, "480x320"
SUBGRAPHS = {True: 8, False: 60}  # of a scene of ours, in which everything is related, and of a graph


class World(StrEnum):
    SUPERCLEVR = "superclevr"


def command(
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is gone on with.")],
    graphs: Annotated[
        list[Path] | None,
        typer.Option(
            help="Scene graphs: GQA, Visual Genome regions, imSitu, CLEVR or Super-CLEVR scenes, or a "
            "dataset of ours; several files are taken together."
        ),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="The folder of their pictures; graphs without one are left out.")
    ] = None,
    val: Annotated[
        list[Path] | None,
        typer.Option(help="Graphs for val and test, half of the images each; else --share says how many."),
    ] = None,
    world: Annotated[
        World | None, typer.Option(help="Sample and render new scenes instead of reading graphs.")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("--n", "-n", min=1, help="How many scenes of the world, over all splits; else 3,000."),
    ] = None,
    size: Annotated[str, typer.Option(help="Width and height of their pictures; else 480x320.")] = "",
    questions: Annotated[
        str, typer.Option(help="At most so many a split, or three numbers: train,val,test.")
    ] = "9000,1500,1500",
    sources: Annotated[
        int,
        typer.Option(
            min=0, help="Images a split that are asked about; 0: as many as questions. Others distract."
        ),
    ] = 0,
    subgraphs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Of an image, so many pieces at most are asked about; else 60, or 8 of the world's."
        ),
    ] = None,
    share: Annotated[int, typer.Option(min=3, help="One image in so many is for val, and one for test.")] = 6,
    easy_distractors: Annotated[
        bool, typer.Option("--easy-distractors", help="Random images instead of nearly right ones.")
    ] = False,
    paraphrased: Annotated[
        bool, typer.Option("--paraphrased", help="Tell the questions in other, freer words.")
    ] = False,
    overlap: Annotated[
        list[str] | None,
        typer.Option(
            help="Who says which words exclude which: schema, wordnet, wordnet:FOLDER, table:FILE, "
            "nli:MODEL; may be repeated. Else WordNet for open vocabularies and the schema for closed ones."
        ),
    ] = None,
    keep_spatial: Annotated[
        bool, typer.Option("--keep-spatial", help="Ask about left and right too, where graphs are open.")
    ] = False,
    verify: Annotated[
        str,
        typer.Option(
            help="For graphs that lack things seen: any model of `shiftscope run` that sees images, or "
            "MODULE:NAME of a class with probability(texts, images); one with fit is taught here."
        ),
    ] = "",
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder of the replies already paid for, where --verify names an endpoint."),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Pay for every reply: read none from the cache, keep none there."),
    ] = False,
    trust_remote_code: Annotated[
        bool,
        typer.Option(
            "--trust-remote-code",
            help="With --verify hf:MODEL: run code of its own, and load pickled weights.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Another seed makes other questions.")] = 0,
    shard: Annotated[int, typer.Option(min=1, help="Questions a shard; part of what is made.")] = 500,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a COVR dataset: questions over several images, from scene graphs or from a world of ours."""
    refuse_both(cache, no_cache)
    if bool(graphs) == bool(world):
        raise UserError("give either --graphs FILE or --world superclevr")
    if trust_remote_code and not verify:
        raise UserError("--trust-remote-code is for the model of --verify; leave it out")
    common: dict[str, Any] = {
        "questions": _counts(questions),
        "sources": sources,
        "subgraphs": subgraphs or SUBGRAPHS[bool(world)],
        "share": share,
        "easy_distractors": easy_distractors,
        "paraphrased": paraphrased,
        "seed": seed,
        "shard": shard,
    }
    from ...run.make_covr import make_covr, order_of
    from ...suites.covr import Order

    if world:
        given = {"--images": images, "--val": val, "--overlap": overlap, "--keep-spatial": keep_spatial}
        _refuse(given | {"--verify": verify}, f"--world {world.value} makes its own scenes and pictures")
        order, inputs = Order(world.value, n or SCENES, read_size(size or SIZE), **common), None
    else:
        _refuse({"-n": n, "--size": size}, "given graphs are as they are")
        if verify and images is None and not any((path / "manifest.json").is_file() for path in graphs or ()):
            raise UserError("--verify looks at pictures; name their folder with --images")
        order, inputs = order_of(
            *(graphs or [], val or [], images, overlap or []),
            keep_spatial=keep_spatial,
            verify=verify,
            trust_remote_code=trust_remote_code,
            **common,
        )
    made, came = make_covr(
        order,
        out,
        inputs,
        workers=workers or None,
        repair=repair,
        bar=shard_bar,
        cache=cache,
        use_cache=not no_cache,
    )
    _tell(made, came, as_json)


def _counts(text: str) -> tuple[int, ...]:
    """`9000`, the same for every split, or `9000,1500,1500`."""
    try:
        found = tuple(int(word.replace("_", "")) for word in text.split(","))
    except ValueError:
        found = ()
    if len(found) not in (1, 3):
        raise UserError(f"--questions {text}: expected one number, or three as in 9000,1500,1500")
    return found if len(found) == 3 else found * 3


def _refuse(given: dict[str, Any], why: str) -> None:
    unfit = [name for name, value in given.items() if value]
    if unfit:
        raise UserError(f"{why}; leave out {unfit[0]}")


def _tell(dataset: Dataset, came: Yield, as_json: bool) -> None:
    """The statistics of what was made."""
    from ...graph.ask.statistics import OPERATIONS, template_names
    from ...run.checked import checked_by
    from ...run.make_covr import lacking, statistics

    found = statistics(dataset)
    if as_json:
        splits = {f.split: f.to_json() | {"images": dataset.count(f.split)[0]} for f in found}
        told = {"folder": str(dataset.folder), "shards_made": dataset.made, "yield": came.to_json()}
        json_line(told | {"splits": splits})
        return
    heads = [f.split for f in found]
    rows = [(name, *(_cell(f.table()[name]) for f in found)) for name in found[0].table()]
    table(("", *heads), rows, "statistics, as in the paper's Table 3")
    asked = [
        (name, *(f"{f.templates[name]:,} of {came.asked[f.split][name]:,}" for f in found))
        for name in template_names(found, came.asked)
    ]
    table(("template", *heads), asked, "kept of what could be asked")
    for f in found:
        print(f"{f.split}: top answers {_listed(f.top_answers(), f.questions)}")
        print(f"{f.split}: images a question {_listed(sorted(f.images_each.items()), f.questions)}")
        for name in OPERATIONS:
            counts = sorted(f.operations.get(name, {}).items())
            print(f"{f.split}: {name} a question {_listed(counts, f.questions)}")
    left_out = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in came.left_out.items() if n)
    for line in lacking(came, dataset.splits):
        print(line)
    if left_out:
        print(f"graphs left out: {left_out}")
    if came.checked:
        print(checked_by(dataset.manifest.spec, came.checked))
        if came.checked.get("cached"):
            print(f"{came.checked['cached']:,} of the verifier's replies came from the cache")
    print(done(dataset))


def _listed(counts: Any, total: int) -> str:
    return ", ".join(f"{name} {n / max(total, 1):.1%}" for name, n in counts)


def _cell(value: int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"

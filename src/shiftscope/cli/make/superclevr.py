"""Make a Super-CLEVR dataset, or all variants of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import UserError
from .._console import json_line, shard_bar, table
from .._size import read_size
from .clevr import done

if TYPE_CHECKING:
    from ...run.check_study import Checked
    from ...store.dataset import Dataset
    from ...suites.superclevr import Order

IMAGES, SIZE = 30_000, "480x320"
VARIANTS = (
    "default (mid, rd, bal and co-0), easy, hard, rd-, rd+, slt, long, head, tail, oppo, co-1 or co-2; "
    "head, tail and oppo have a test split alone."
)


class Visual(StrEnum):
    EASY = "easy"
    MID = "mid"
    HARD = "hard"


def command(
    out: Annotated[Path, typer.Option(help="The folder to make; an unfinished one is gone on with.")],
    variant: Annotated[str, typer.Option(help=VARIANTS)] = "default",
    visual: Annotated[
        Visual | None, typer.Option(help="Whole vehicles, parts of their own colour, or textures too.")
    ] = None,
    study: Annotated[bool, typer.Option("--study", help="Make every variant, each in OUT/VARIANT.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the twins of the study field by field.")
    ] = False,
    images: Annotated[
        int | None, typer.Option(min=1, help="How many, over train, val and test (4 : 1 : 1); else 30,000.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed makes other data.")] = 0,
    questions: Annotated[int, typer.Option(min=0, help="Questions about vehicles, an image.")] = 10,
    part_questions: Annotated[int, typer.Option(min=0, help="Questions about parts, an image.")] = 10,
    distribution: Annotated[
        list[Path] | None,
        typer.Option(help="Your own shares of shapes, colors, materials or colors by shape: .npz or .csv."),
    ] = None,
    scenes: Annotated[
        Path | None, typer.Option(help="Ask about these Super-CLEVR scenes instead of new ones.")
    ] = None,
    no_images: Annotated[bool, typer.Option("--no-images", help="Do not render the given scenes.")] = False,
    size: Annotated[
        str, typer.Option(help="Width and height in pixels; else 480x320, or what the given scenes say.")
    ] = "",
    shard: Annotated[int, typer.Option(min=1, help="Images a shard; part of what is made.")] = 250,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Make a Super-CLEVR dataset or a study of all its variants, with parts, masks, questions and answers."""
    if no_images and scenes is None:
        raise UserError("--no-images asks about given scenes alone; name them with --scenes")
    if no_images and size:
        raise UserError("--no-images renders nothing; leave out --size")
    if check and not study:
        raise UserError("--check compares the twins of a study; add --study")
    if study and (scenes or variant != "default"):
        raise UserError("a study is made of all variants of its own scenes; leave out --variant and --scenes")
    if study and distribution:
        raise UserError("a study has the distributions of its variants; make your own without --study")
    from ...suites.superclevr import Order

    if scenes is not None:
        _refuse_unfit(variant, {"--visual": visual, "--distribution": distribution, "--images": images})
    order = Order.named(
        "default" if study else variant,
        visual.value if visual and not study else "",
        images=IMAGES if images is None else images,
        seed=seed,
        size=read_size(size or SIZE),
        questions=questions,
        part_questions=part_questions,
        shard=shard,
        concepts=_concepts(distribution or []),
    )
    if study:
        _study(order, visual.value if visual else "mid", out, workers, repair, check, as_json)
        return
    if scenes is not None:
        made = _given(order, scenes, not no_images, not size, out, workers, repair)
    else:
        from ...run.make import make

        with shard_bar(f"making superclevr {order.name}") as progress:
            made = make("superclevr", order, out, workers=workers or None, repair=repair, progress=progress)
    _tell(made, as_json)
    if not as_json:
        print(done(made))


def _concepts(files: list[Path]) -> Any:
    """What several files say together; None where there are none."""
    if not files:
        return None
    from ...world.concept_file import read_concepts
    from ...world.concepts import BALANCED

    found = BALANCED
    for path in files:
        found = read_concepts(path, found)
    return found


def _refuse_unfit(variant: str, given: dict[str, Any]) -> None:
    """Given scenes are as they are: only what is asked about them can be chosen."""
    from ...suites._superclevr_variants import DEFAULT, variant_named

    if variant_named(variant).name != DEFAULT and variant_named(variant).factor != "redundancy":
        raise UserError(
            f"given scenes can not be made {variant}; with --scenes a --variant is default, rd- or rd+"
        )
    unfit = [name for name, value in given.items() if value]
    if unfit:
        raise UserError(f"{unfit[0]} is for new scenes; leave it out with --scenes")


def _given(
    order: Order, scenes: Path, pictured: bool, own_size: bool, out: Path, workers: int, repair: bool
) -> Dataset:
    from ...run.make import make_given

    with shard_bar("asking") as progress:
        return make_given(
            *(order, scenes, out),
            pictured=pictured,
            own_size=own_size,
            workers=workers or None,
            repair=repair,
            progress=progress,
        )


def _study(
    order: Order, visual: str, out: Path, workers: int, repair: bool, check: bool, as_json: bool
) -> None:
    from ...run.check_study import check_study
    from ...run.make_study import make_study

    made = make_study(
        order,
        out,
        visual=visual,
        workers=workers or None,
        repair=repair,
        bar=lambda name: shard_bar(f"making {name}"),
    )
    shards = 0
    for member, dataset in made:
        shards += dataset.made or 0
        counts = {split: dataset.count(split) for split in dataset.splits}
        if as_json:
            told = {"variant": member.name, "base": member.base, "shards_made": dataset.made}
            json_line(told | {"splits": _splits(counts)})
        else:
            pictures, asked = (sum(c[k] for c in counts.values()) for k in (0, 1))
            print(f"{member.name:<8} {pictures:>8,} images {asked:>10,} questions", flush=True)
    if not as_json:
        what = f"wrote {out}" if shards else f"nothing to do: {out} was whole already"
        print(f"{what} (study.json there names the twins)", flush=True)
    if check:
        _check(check_study(out, bar=lambda name: shard_bar(f"checking {name}")), as_json)


def _check(checks: Iterable[Checked], as_json: bool) -> None:
    """What was compared, variant by variant as it is done; refuses the study if any is not a twin."""
    bad: list[Checked] = []
    if not as_json:
        print("twin     base       scenes compared  questions compared  vehicles moved     wrong")
    for one in checks:
        if as_json:
            json_line(asdict(one) | {"moved_share": one.moved_share})
        else:
            print(
                f"{one.variant:<8} {one.base:<8} {one.scenes:>17,} {one.questions:>19,} "
                f"{one.moved_share:>15.2%} {one.wrong:>9,}",
                flush=True,
            )
        bad += [one] if one.wrong else []
    if bad:
        raise UserError(
            f"{bad[0].variant} differs from {bad[0].base} in more or less than its factor: "
            f"{bad[0].wrong:,} faults, the first: {bad[0].examples[0]}"
        )


def _splits(counts: dict[str, tuple[int, int]]) -> dict[str, dict[str, int]]:
    return {split: {"images": images, "questions": asked} for split, (images, asked) in counts.items()}


def _tell(dataset: Dataset, as_json: bool) -> None:
    """How much was made, and how often concepts occur beside how often they were asked for."""
    from ...suites._concept_counts import sentence
    from ...suites.superclevr import frequencies, together, unseen

    counts = {split: dataset.count(split) for split in dataset.splits}
    found, matrix, hidden = frequencies(dataset), together(dataset), unseen(dataset)
    if as_json:
        told: dict[str, Any] = {"folder": str(dataset.folder), "shards_made": dataset.made}
        told["splits"] = _splits(counts)
        told["concepts"] = [f._asdict() for f in found]
        told |= {"colors_by_shape": [t._asdict() for t in matrix]} if matrix else {}
        told |= {"below_pixel_limits": hidden._asdict()} if hidden else {}
        json_line(told)
        return
    what = "images" if dataset.manifest.spec.get("pictured", True) else "scenes"
    for split, (pictures, asked) in counts.items():
        print(f"{split:<6} {pictures:>8,} {what} {asked:>10,} questions")
    if found:
        rows = [
            (f.attribute, f.value, "" if f.asked is None else f"{f.asked:.1%}", f"{f.measured:.1%}")
            for f in found
        ]
        table(("attribute", "value", "asked for", "measured"), rows)
    if matrix:
        print("README.md has the colors of each shape, asked for beside measured")
    if hidden:
        print(sentence(hidden))

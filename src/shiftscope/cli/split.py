"""Split a dataset by a property of its questions that is held out of training and tested on."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError
from ._console import counting_bar, print_json, print_table

if TYPE_CHECKING:
    from ..run.split import HeldOutSplit, SplitQuestions


def command(
    data: Annotated[
        list[str] | None,
        typer.Argument(help="A dataset's folder, or files of questions: train.jsonl val.jsonl, train=FILE."),
    ] = None,
    hold_out: Annotated[str, typer.Option(help="Properties, with | & ~ and (): 'has_quant_all & ~has_num_3'.")] = "",
    name: Annotated[str, typer.Option(help="A split of the COVR paper instead: has_num_3_ans_3, …")] = "",
    out: Annotated[Path | None, typer.Option(help="New folder for the lists.")] = None,
    shots: Annotated[
        int | None, typer.Option(min=0, help="Questions with the property to train on all the same; 0, or as named.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    test: Annotated[str, typer.Option(help="Split of the dataset to test on, if not test (or val).")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List properties and splits; with DATA, also counts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Hold out the questions with a property: lists to train, to stop early, and to test on."""
    from ..run.split import SplitQuestions, SplitSpec, split

    questions = SplitQuestions(tuple(data), test) if data else None
    if listed:
        _list_splits(questions, seed, as_json)
        return
    spec = SplitSpec(hold_out, name, shots, seed)
    spec.settings()
    if questions is None:
        raise UserError("name the folder of a dataset, or files of questions, to split")
    if out is None:
        raise UserError("name a new folder for the lists with --out")
    with counting_bar("looking at questions", None) as tell:
        made = split(spec, questions, out, tell)
    if as_json:
        print_json({"folder": str(out), "new": made.new, **made.to_json()})
    else:
        _print_split(made, out)


def _print_split(made: HeldOutSplit, out: Path) -> None:
    shots = made.settings.shots
    kind = f"few-shot, {shots:,} with it are trained on" if shots else "zero-shot"
    reported = f"{made.paper.reported} (COVR, Table {made.paper.table})" if made.paper else ""
    rows = []
    for role, marked in made.marked.items():
        row = [made.splits[role], f"{len(marked.held) + len(marked.rest):,}", f"{len(marked.held):,}"]
        filtered = [f"{made.filtered:,}", reported] if role == "train" else ["", ""]
        rows.append(row + filtered[: 2 if reported else 1])
    columns = ["split", "questions", "with it", "filtered", *(["filtered, reported"] if reported else [])]
    print_table(columns, rows, f"{made.name}: hold out {made.hold_out} ({kind})")
    print_table(["part", "questions", "what for"], [[p.name, f"{len(p.ids):,}", p.use] for p in made.parts])
    comp = next(p.name for p in made.parts if p.name in ("train_m_shot", "train_zero_shot"))
    done = f"wrote {out}" if made.new else f"nothing to do: {out} holds this split already"
    print(
        f"{done}; next: train on {comp}, train_text_only and train_iid_size, run each of the three with "
        f"--part {quote(f'{out}:test_comp')}, then: shiftscope score MODEL TEXT UPPER --metric "
        "generalization_score"
    )


def _list_splits(questions: SplitQuestions | None, seed: int, as_json: bool) -> None:
    from ..run.split import survey
    from ..shift.held_out import COVR_SPLITS
    from ..shift.held_out.predicates import DRAWS, LEXICAL_SPLIT, PROGRAM_SPLIT
    from ..shift.held_out.properties import FAMILIES

    draws = ", ".join(map(str, DRAWS))
    properties = [
        *((", ".join(f.names), f.summary) for f in FAMILIES.values()),
        (f"{PROGRAM_SPLIT}_N", f"The program is one of a fifth that is drawn (N: {draws})."),
        (f"{LEXICAL_SPLIT}_N", "It has both names of a pair out of a fifth that is drawn."),
    ]
    counts: dict[str, dict[str, int]] = {}
    if questions is not None:
        with counting_bar("looking at questions", None) as tell:
            counts = survey(questions, seed, tell)
    rows: list[dict[str, Any]] = []
    for split in COVR_SPLITS.values():
        row: dict[str, Any] = {"name": split.name, "kind": split.kind, "hold_out": split.hold_out}
        row |= {"reported": split.reported, "table": split.table}
        rows.append(row | ({"with_property": counts[split.name]} if counts else {}))
    if as_json:
        for names, summary in properties:
            print_json({"properties": names, "summary": summary})
        for row in rows:
            print_json(row)
        return
    print_table(("properties", ""), properties)
    roles = list(questions.splits) if questions else []
    print_table(
        ("named split", "", "holds out", *roles, "filtered of train, reported"),
        [
            [r["name"], r["kind"], r["hold_out"], *(counts[r["name"]].get(k, "none") for k in roles), text]
            for r, text in zip(rows, (f"{r['reported']} (Table {r['table']})" for r in rows), strict=True)
        ],
    )

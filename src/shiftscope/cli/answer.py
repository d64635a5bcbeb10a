"""Answer official questions by running their programs on official scenes, and check the stored answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import UserError
from ._console import print_json, print_table, print_tree, track_progress, tree_to_json

if TYPE_CHECKING:
    from ..run.answer import AnsweredQuestion, SceneLookup

SHOWN = 3  # disagreements printed in full


def command(
    questions: Annotated[Path, typer.Option(help="Questions with programs: CLEVR, Super-CLEVR, CLEVR_HYP, GQA, COVR.")],
    scenes: Annotated[Path | None, typer.Option(help="Scene file or folder.")] = None,
    graphs: Annotated[Path | None, typer.Option(help="GQA scene graphs.")] = None,
    templates: Annotated[
        Path | None, typer.Option(help="Templates of the questions, to recover programs from their text.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write [{question_index, answer}] here.")] = None,
    references: Annotated[
        Literal["strict", "default"],
        typer.Option(help="strict: an ill-founded reference is undefined; default: take the first."),
    ] = "strict",
    trace: Annotated[bool, typer.Option("--trace", help="Print every question's trace.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per disagreement and undefined answer, the summary last.")
    ] = False,
) -> None:
    """Run the programs of a question file on its scenes and compare with the stored answers."""
    from ..formats import read_questions, read_scenes
    from ..json_files import write_json
    from ..questions.clevr.template_sets import load_templates
    from ..run.answer import SceneLookup, answer

    source = scenes or graphs
    if source is None or (scenes and graphs):
        raise UserError("give the scenes with --scenes FILE, or GQA scene graphs with --graphs FILE")
    if out is not None and not out.parent.is_dir():
        raise UserError(f"{out}: there is no folder {out.parent}")
    known = read_scenes(source)
    lookup, schema = SceneLookup(known), known[0].schema if known else None
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    shown: list[AnsweredQuestion] = []
    rows: list[dict[str, Any]] = []
    given = load_templates(templates) if templates else None
    stored = read_questions(questions, schema if schema and schema.closed else None)
    for one in track_progress(answer(stored, lookup, references, given), "answering"):
        verdicts[one.verdict] += 1
        if one.undefined:
            reasons[one.undefined] += 1
        if (one.verdict == "undefined" and as_json) or (one.verdict == "disagree" and (as_json or len(shown) < SHOWN)):
            shown.append(one)
        if out is not None:
            rows.append(_row_to_json(one))
        if trace:
            _print_question(one, lookup, as_json)
    if templates and verdicts and reasons["not understood"] == verdicts.total():
        raise UserError(
            f"{templates}: none of the {verdicts.total()} questions matches these templates; "
            "give the ones that they were made with"
        )
    if out is not None:
        write_json(out, rows)
    for one in [] if trace else shown:
        _print_question(one, lookup, as_json)
    _print_summary(verdicts, reasons, out, as_json)


def _row_to_json(one: AnsweredQuestion) -> dict[str, Any]:
    name = one.question.id
    number = int(name) if name.isdecimal() and len(name) < 16 else name
    return {"question_index": number if str(number) == name else name, "answer": one.format_answer()}


def _print_question(one: AnsweredQuestion, lookup: SceneLookup, as_json: bool) -> None:
    """One question with its trace."""
    from ..answer import spell
    from ..lang.exec.exact import format_trace

    program, execution = one.question.program, one.execution
    tree = list(format_trace(program, execution, lookup.build_world(one.question))) if program else []
    if as_json:
        made = _row_to_json(one) | {"verdict": one.verdict, "stored": one.question.answer, "text": one.question.text}
        why = {"reason": one.undefined, "detail": one.explain_undefined()} if one.undefined else {}
        print_json(made | why | {"trace": tree_to_json(tree)})
        return
    answer = "undefined" if one.answer is None else spell(one.answer)
    stored = "" if one.question.answer is None else f", stored {spell(one.question.answer)}"
    print(f"question {one.question.id}: {one.question.text}\n  {one.verdict}: {answer}{stored}")
    print_tree(tree, margin=4)
    print()


def _print_summary(verdicts: Counter[str], reasons: Counter[str], out: Path | None, as_json: bool) -> None:
    checked = verdicts["agree"] + verdicts["disagree"]
    if as_json:
        counts = {name: verdicts[name] for name in ("agree", "disagree", "undefined", "unchecked")}
        print_json({"questions": verdicts.total(), **counts, "reasons": dict(sorted(reasons.items()))})
        return
    rows: list[tuple[str, object, str]] = [("questions", verdicts.total(), "")]
    if checked:
        rows.append(("agree", verdicts["agree"], f"{100 * verdicts['agree'] / checked:.2f}% of those checked"))
        rows.append(("disagree", verdicts["disagree"], ""))
    if verdicts["unchecked"]:
        rows.append(("answered", verdicts["unchecked"], "no stored answer to compare with"))
    rows.append(("undefined", verdicts["undefined"], ", ".join(f"{r}: {n}" for r, n in reasons.most_common())))
    print_table(("", "", ""), rows)
    if out is not None:
        print(f"wrote {out}")

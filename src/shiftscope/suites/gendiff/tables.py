"""The paper's tables (Zhu et al., 2022, Tables 1 to 5 and 8) of what is measured, beside what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...metrics.held_out_matrix import HeldOutMatrix
from ...metrics.held_out_records import (
    EXACT,
    GT_EXEC,
    HELD_OUT,
    IID,
    K_SHOT,
    MISSING,
    ORIGINAL,
    OTHER,
    PARAPHRASED,
    PLAIN,
    SAME,
    VARIANT,
    HeldOutTraining,
    name_bits,
)
from ...result import Score
from ...shift.held_out import DRAWN_SPLITS
from ...shift.held_out.predicates import DRAWS
from ..held_out_study import NO_GAP, FigureCell, FigureTable, mark_blind
from .reported import COMBINED, CONTRAST_ROWS, GEN, GQA, LOCAL_COHERENCY, REPORTED, SHOT_ROWS, SHOTS, VQA
from .reported import ORIGINAL as REPORTED_ORIGINAL
from .study import (
    COMPOSING,
    CONTRAST,
    LXMERT,
    MODELS,
    NEURO_SYMBOLIC,
    NSVQA,
    OBJECTS,
    OF_ONE_IMAGE,
    OTHER_QUESTIONS,
    OTHER_SPLIT,
    SEEN,
    SEGMENTS,
    STUDY,
    T5,
    T5_ORIGINAL,
    TABLE_4,
    TEXT_ONLY,
    VISUALBERT,
    ZERO_SHOT_SPLITS,
    name_row,
)

Row = tuple[FigureCell | str, ...]
MEASURED = "Accuracy, %: measured (reported). Of neuro-symbolic models GenExec, and under [GT] GTExec."
COLUMNS = (*((name, "") for name in SEEN), *((name, how) for name in NEURO_SYMBOLIC for how in ("", GT_EXEC)))
HEADS = tuple(f"{name} [GT]" if how else name for name, how in COLUMNS)
SEGMENT_KINDS = ("count_group_by", "verify_count_group_by")
OWN_KIND = "verify_count_group_by, exactly 1"  # a row that the paper does not have
DROP = "drop"
BENCHMARKS = {GQA: "COVR-style (GQA)", VQA: "Super-CLEVR-style (VQA)"}
OBJECT_ROWS = ("as asked", "another object")


def list_tables(matrix: HeldOutMatrix | None) -> Iterator[FigureTable]:
    yield _build_in_domain(matrix)
    yield _build_segments(matrix)
    yield _build_objects(matrix)
    yield _build_contrast(matrix)
    yield _build_coherency(matrix)
    yield _build_compositional(matrix)
    yield _build_parsers(matrix)
    yield _build_transfer(matrix)
    yield _build_shots(matrix)


def measure(
    matrix: HeldOutMatrix | None,
    training: HeldOutTraining,
    test_set: str = "",
    row: str = "",
    of: str = PLAIN,
    how: str = "",
) -> Score | None:
    """A share with its interval, over the rows of a test set; None where it is not measured or has no such row."""
    found = None if matrix is None else matrix.find_test_set(test_set)
    if found is None or (row and row not in found.test.marks):
        return None
    return found.measure_accuracy(training, split=row, wording=name_bits(of, how))


def measure_drop(
    matrix: HeldOutMatrix | None, training: HeldOutTraining, test_set: str, row: str, how: str = ""
) -> Score | None:
    """How much less is right of the variants than of their originals, paired."""
    found = None if matrix is None else matrix.find_test_set(test_set)
    if found is None or row not in found.test.marks:
        return None
    sides = name_bits(ORIGINAL, how), name_bits(VARIANT, how)
    pair = found.compare(training, training, split=row, wording=sides[0], than=sides[1])
    if pair is None or pair.drop is None:
        return None
    return Score(DROP, pair.drop, len(found.find_rows(row)), pair.low, pair.high)


def _write_how(how: str) -> str:
    """What the reported figures call it."""
    return how or GEN


def find_reported(table: str, row: Sequence[str], model: str, how: str) -> float | None:
    return REPORTED.find(table, *row, model, "" if model in SEEN else _write_how(how))


def _build_in_domain(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for name in (*STUDY.baselines, TEXT_ONLY, *(one for one in MODELS if one not in (TEXT_ONLY, *OF_ONE_IMAGE))):
        training = HeldOutTraining(name)
        cells: list[FigureCell | str] = [str(len(matrix.list_seeds(training)) or "–") if matrix else "–"]
        programs = bool(MODELS[name].settings) if name in MODELS else False
        cells += [
            FigureCell(measure(matrix, training, of=wording, how=how)) if programs or not how else ""
            for how in ("", GT_EXEC, EXACT, MISSING)
            for wording in (PLAIN, PARAPHRASED)
        ]
        rows.append((name, *cells))
    heads = ["model", "seeds"]
    heads += [
        f"{what}{more}" for what in ("accuracy", "GTExec", "Exact", "missing objects") for more in ("", ", para.")
    ]
    return FigureTable(
        "In-domain, all test questions",
        tuple(heads),
        tuple(rows),
        "%, of the generated and the paraphrased (para.) test questions; of several seeds the mean. Accuracy of "
        "neuro-symbolic models is GenExec. Missing objects: programs that name one which is not in the scene as seen. "
        "The paper reports an Exact above 98.5 for all parsers, of the questions of Table 1. Seeds of the parser that "
        "composes have one grammar and differ in little but the order in which its rules are seen.",
    )


def _build_segments(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for kind in (*SEGMENT_KINDS, OWN_KIND):
        for side, of in ((REPORTED_ORIGINAL, ORIGINAL), (COMBINED, VARIANT)):
            cells = [
                FigureCell(
                    measure(matrix, HeldOutTraining(model), SEGMENTS, kind, of, how),
                    find_reported("segment_combine", (kind, side), model, how),
                )
                for model, how in COLUMNS
            ]
            rows.append((kind, "original query" if side == REPORTED_ORIGINAL else "segment-combine", *cells))
        drops = [FigureCell(measure_drop(matrix, HeldOutTraining(m), SEGMENTS, kind, how)) for m, how in COLUMNS]
        rows.append((kind, DROP, *drops))
    return FigureTable(
        "Table 1: segment-combine",
        ("template", "setting", *HEADS),
        tuple(rows),
        f"{MEASURED} drop: points, paired by question. The paper has no questions with *exactly 1*.",
    )


def _build_objects(matrix: HeldOutMatrix | None) -> FigureTable:
    """Of models trained on the other benchmark, whose questions are about one image."""
    columns = [(name, "") for name in (LXMERT, *SEEN, "vinvl")]
    columns += [(name, how) for name in (*NEURO_SYMBOLIC[:-1], NSVQA) for how in ("", GT_EXEC)]
    rows: list[Row] = []
    for change, of in zip(OBJECT_ROWS, (ORIGINAL, VARIANT), strict=True):
        row = name_row("one image", "as asked" if of == ORIGINAL else change)
        cells = [
            FigureCell(
                measure(matrix, HeldOutTraining(model, OTHER), OBJECTS, row, of, how),
                REPORTED.find("objects", change, model, _write_how(how) if model in NEURO_SYMBOLIC else ""),
                mark_blind(matrix, HeldOutTraining(model, OTHER)),
            )
            for model, how in columns
        ]
        rows.append((change, *cells))
    row = name_row("one image", OBJECT_ROWS[1])
    rows.append((DROP, *(_measure_object(matrix, model, row, how, DROP) for model, how in columns)))
    rows.append(("local coherency", *(_measure_object(matrix, model, row, how, SAME) for model, how in columns)))
    heads = tuple(f"{name} [GT]" if how else name for name, how in columns)
    return FigureTable(
        "Table 2: another object, questions about one image",
        ("questions", *heads),
        tuple(rows),
        f"{MEASURED} Trained on Super-CLEVR questions about one image; nsvqa as shipped, trained on the same world "
        "with questions about parts besides. VinVL is not in this study; on GQA's photographs not testable here: "
        "`shiftscope test contrast --set objects --model MODEL --data GQA`.",
    )


def _measure_object(matrix: HeldOutMatrix | None, model: str, row: str, how: str, what: str) -> FigureCell:
    training = HeldOutTraining(model, OTHER)
    if what == DROP:
        return FigureCell(measure_drop(matrix, training, OBJECTS, row, how))
    return FigureCell(measure(matrix, training, OBJECTS, row, SAME, how))


def _build_contrast(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for kind, change in CONTRAST_ROWS:
        first, _, then = change.partition(" → ")
        of = ORIGINAL if first == then or ", " in change else VARIANT
        cells = [
            FigureCell(
                measure(matrix, HeldOutTraining(model), CONTRAST, name_row(kind, change), of, how),
                find_reported("contrast", (kind, change), model, how),
            )
            for model, how in COLUMNS
        ]
        rows.append((kind, change, *cells))
    return FigureTable(
        "Table 3: contrast sets of quantifiers",
        ("template", "change", *HEADS),
        tuple(rows),
        f"{MEASURED} A change to the same words is the original question. Where a model is right in about half of the "
        "originals it guesses, and loses nothing by any change.",
    )


def _build_coherency(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for row in SHOT_ROWS:
        cells = [
            FigureCell(
                measure(matrix, HeldOutTraining(model), CONTRAST, name_row(*row), SAME, how),
                LOCAL_COHERENCY.get(row) if (model, how) == (VISUALBERT, "") else None,
            )
            for model, how in COLUMNS
        ]
        alters = "same" if row[1] == "at least → no less than" else "changes"
        rows.append((*row, alters, *cells))
    return FigureTable(
        "Local coherency",
        ("template", "change", "answer", *HEADS),
        tuple(rows),
        "How often a variant gets the original's answer, %: measured (reported, of the end-to-end systems together and "
        "for no one template). Where the answer changes, a high figure means that the change is overlooked.",
    )


def _build_compositional(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for split in TABLE_4:
        columns = (
            ("text", HeldOutTraining(TEXT_ONLY), ""),
            ("iid", HeldOutTraining(VISUALBERT), ""),
            ("iid_t5", HeldOutTraining(T5), ""),
            ("held_out", HeldOutTraining(VISUALBERT, HELD_OUT, split), ""),
            *(
                (f"{model} {how}".strip(), HeldOutTraining(model, HELD_OUT, split), how)
                for model in (T5, T5_ORIGINAL, COMPOSING)
                for how in ("", GT_EXEC)
            ),
        )
        cells = [
            FigureCell(
                measure(matrix, one, row=split, how=how),
                REPORTED.find("compositional", split, column),
                _mark(matrix, one, split),
            )
            for column, one, how in columns
        ]
        rows.append((split, *cells))
    held = [f"{name}{more}" for name in (T5, T5_ORIGINAL, COMPOSING) for more in ("", " [GT]")]
    return FigureTable(
        "Table 4: compositional generalization",
        ("split", "text-only", "visualbert, all", "t5, all", VISUALBERT, *held),
        tuple(rows),
        f"{MEASURED} Test questions with the property; *all* is trained on all questions, the others on what the split "
        "leaves. t5 writes the compositional logical form, t5_original COVR's own.",
    )


def _mark(matrix: HeldOutMatrix | None, training: HeldOutTraining, split: str) -> str:
    """What a figure of visualbert on a split is to be read with."""
    if matrix is None or split not in matrix.test.marks or training.model != VISUALBERT:
        return ""
    if blind := mark_blind(matrix, training):
        return blind
    none = training.kind == IID and matrix.has_gap(training, HeldOutTraining(TEXT_ONLY), split, PLAIN) is False
    return NO_GAP if none else ""


def _build_parsers(matrix: HeldOutMatrix | None) -> FigureTable:
    drawn = tuple(f"{name}_{n}" for name, _ in DRAWN_SPLITS for n in DRAWS)
    rows: list[Row] = []
    for split in ("", *(name for name in ZERO_SHOT_SPLITS if name not in drawn), *drawn):
        cells = []
        for model in (T5_ORIGINAL, T5, COMPOSING):
            training = HeldOutTraining(model, HELD_OUT, split) if split else HeldOutTraining(model)
            cells += [
                FigureCell(measure(matrix, training, row=split, of=wording, how=how))
                for how in (GT_EXEC, EXACT)
                for wording in ((PLAIN, PARAPHRASED) if model == COMPOSING else (PLAIN,))
            ]
        rows.append((split or "in-domain", *cells))
    heads = [f"{name} {how}" for name in (T5_ORIGINAL, T5) for how in ("GTExec", "Exact")]
    heads += [f"{COMPOSING} {how}{more}" for how in ("GTExec", "Exact") for more in ("", ", para.")]
    return FigureTable(
        "Question parsers on every zero-shot split",
        ("split", *heads),
        tuple(rows),
        "%, of the test questions with the property; para.: the same questions paraphrased, which training never "
        "shows.",
    )


def _build_transfer(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for learned, tested in ((VQA, VQA), (GQA, VQA), (GQA, GQA), (VQA, GQA)):
        for kind in ("binary", "open"):
            cells = []
            for model, how, column in (
                (LXMERT, "", "end_to_end"),
                *((name, "", "") for name in SEEN),
                (T5, "", "t5"),
                (T5, MISSING, "missing_objects"),
                (COMPOSING, "", ""),
                (COMPOSING, MISSING, ""),
                (NSVQA, "", ""),
            ):
                training = HeldOutTraining(model, IID if learned == GQA else OTHER)
                test_set = "" if tested == GQA else OTHER_SPLIT
                reported = REPORTED.find("transfer", learned, tested, kind, column)
                cells.append(FigureCell(measure(matrix, training, test_set, kind, PLAIN, how), reported))
            rows.append((f"{BENCHMARKS[learned]} → {BENCHMARKS[tested]}", kind, *cells))
    parsers = (T5, f"{T5}, missing", COMPOSING, f"{COMPOSING}, missing")
    return FigureTable(
        "Table 5: transfer to another benchmark",
        ("learned → tested", "questions", LXMERT, *SEEN, *parsers, NSVQA),
        tuple(rows),
        "Accuracy (GenExec), and programs that name an object which is not in the scene as seen, %: measured "
        "(reported, on the benchmarks in brackets). Questions with an answer that both benchmarks have, counting "
        f"questions left out; Super-CLEVR-style ones are the first {OTHER_QUESTIONS:,} of their test split, eight an "
        "image, as in Table 2. T5 does not learn from Super-CLEVR's programs, which COVR's form cannot say; lxmert "
        "reads one image, so that it neither learns nor answers COVR-style questions. Who guesses is right in about "
        "half of the binary questions; COVR-style questions are about two images or more. Between GQA and VQA not "
        "testable here: `shiftscope test transfer --model MODEL --data VQA --from GQA`.",
    )


def measure_shots(
    matrix: HeldOutMatrix | None, model: str, row: tuple[str, str], shots: int, how: str = ""
) -> tuple[Score | None, int]:
    """Accuracy on a row of the contrast set with K examples of it, in the mean of the draws, and how many there are."""
    name, training = name_row(*row), name_shots(model, row, shots)
    score = measure(matrix, training, CONTRAST, name, VARIANT, how)
    found = None if matrix is None else matrix.find_test_set(CONTRAST)
    return score, len(found.list_seeds(training)) if found is not None and shots and score is not None else 0


def name_shots(model: str, row: tuple[str, str], shots: int) -> HeldOutTraining:
    return HeldOutTraining(model, K_SHOT, name_row(*row), shots) if shots else HeldOutTraining(model)


def _build_shots(matrix: HeldOutMatrix | None) -> FigureTable:
    rows: list[Row] = []
    for row in SHOT_ROWS:
        for shots in SHOTS:
            cells = []
            counts = set()
            for model, how, column in (
                (VISUALBERT, "", VISUALBERT),
                (T5, "", GEN),
                (T5, GT_EXEC, GT_EXEC),
                (COMPOSING, "", ""),
                (COMPOSING, GT_EXEC, ""),
            ):
                score, draws = measure_shots(matrix, model, row, shots, how)
                if score is not None:
                    counts.add(draws)
                mark = mark_blind(matrix, name_shots(model, row, shots))
                cells.append(FigureCell(score, REPORTED.find("k_shot", *row, shots, column), mark))
            rows.append(
                (*row, str(shots), f"{min(counts)}–{max(counts)}" if len(counts) > 1 else _count(counts or {0}), *cells)
            )
    return FigureTable(
        "Table 8: K examples of the contrast set learned from",
        ("template", "change", "K", "draws", VISUALBERT, T5, f"{T5} [GT]", COMPOSING, f"{COMPOSING} [GT]"),
        tuple(rows),
        f"{MEASURED} K variants of training questions are added to the whole training set, and the model (of "
        "neuro-symbolic ones the question parser) is trained again. Of several draws, whose words all differ, the "
        "mean, with an interval over images and draws. An example of *no ↔ some* is of either direction; one that "
        "asks for some, like all of *some → none of the*, is in words that training has.",
    )


def _count(counts: set[int]) -> str:
    return str(next(iter(counts)) or "–")

"""Generalization differences (Zhu et al., 2022), Tables 1 to 5 and 8: figures the paper reports, none measured here.

Models by the names they have in this study; neuro-symbolic ones with GenExec, and GTExec beside it. Rows of contrast
sets by the names that `shiftscope test contrast` gives them.
"""

from collections.abc import Mapping, Sequence

from .. import ReportedFigures

SOURCE = "reported: Generalization Differences (Zhu et al., 2022)"
END_TO_END = ("visualbert", "vilbert")
PARSERS = ("bart", "gpt2", "t5")  # in the paper's order, compositional logical form
GEN, GT = "gen_exec", "gt_exec"
ORIGINAL, COMBINED = "original", "combined"

# VisualBERT, ViLBERT, then GenExec and GTExec with BART, GPT-2 and T5; percent.
_SEGMENT_COMBINE: Mapping[tuple[str, str], Sequence[float]] = {  # Table 1
    ("count_group_by", ORIGINAL): (55.8, 52.4, 48.8, 99.0, 49.0, 99.7, 49.0, 99.9),
    ("count_group_by", COMBINED): (44.6, 40.1, 48.7, 98.9, 48.9, 99.6, 49.0, 99.7),
    ("verify_count_group_by", ORIGINAL): (72.1, 73.6, 70.7, 99.5, 70.8, 99.6, 70.9, 99.7),
    ("verify_count_group_by", COMBINED): (52.5, 55.7, 70.7, 99.3, 70.8, 99.6, 70.8, 99.7),
}
_CONTRAST: Mapping[tuple[str, str], Sequence[float]] = {  # Table 3
    ("count_group_by", "at least → at least"): (53.3, 53.0, 48.9, 99.0, 49.0, 100.0, 49.0, 100.0),
    ("count_group_by", "at least → no less than"): (54.0, 52.9, 23.7, 43.6, 21.7, 38.8, 21.5, 39.4),
    ("verify_count", "at least → at least"): (87.6, 84.3, 75.1, 99.1, 75.6, 100.0, 75.6, 100.0),
    ("verify_count", "at least → no less than"): (68.3, 67.0, 49.9, 69.8, 48.2, 67.4, 48.4, 67.8),
    ("verify_count", "at least → less than"): (21.1, 24.5, 52.3, 64.0, 53.0, 65.5, 52.9, 65.6),
    ("verify_count_group_by", "at least → at least"): (74.8, 70.5, 71.4, 99.3, 71.6, 99.5, 71.4, 99.5),
    ("verify_count_group_by", "at least → no less than"): (65.8, 63.2, 56.2, 77.5, 55.0, 76.0, 55.6, 76.2),
    ("verify_count_group_by", "at least → less than"): (28.5, 32.1, 50.8, 51.8, 49.9, 50.4, 51.1, 50.6),
    ("verify_quant", "no → no, some → some"): (86.5, 90.2, 75.2, 97.4, 75.5, 97.9, 75.5, 97.8),
    ("verify_quant", "no ↔ some"): (74.9, 80.6, 75.1, 97.3, 75.7, 97.9, 75.6, 97.8),
    ("verify_quant", "no → no"): (94.4, 92.1, 77.3, 96.7, 77.6, 97.0, 77.4, 96.9),
    ("verify_quant", "no → at least one"): (83.9, 78.6, 53.7, 61.2, 54.5, 61.4, 53.9, 61.1),
    ("verify_quant", "some → some"): (80.3, 88.7, 75.4, 98.3, 75.6, 98.7, 75.6, 98.6),
    ("verify_quant", "some → none of the"): (67.8, 68.2, 71.9, 92.1, 75.3, 97.3, 75.5, 97.8),
    ("verify_quant", "all → all"): (80.2, 79.9, 77.0, 98.2, 78.0, 98.9, 78.1, 99.1),
    ("verify_quant", "all → either none or only some"): (36.2, 39.2, 54.0, 66.4, 55.1, 67.6, 57.5, 69.8),
}
LOCAL_COHERENCY: Mapping[tuple[str, str], float] = {  # section 5.3: of the end-to-end systems, for no one template
    ("verify_count", "at least → less than"): 0.963,
    ("verify_quant", "all → either none or only some"): 0.802,
}
_COMPOSITIONAL: Mapping[str, Sequence[float]] = {
    # Table 4: text only; in-distribution VisualBERT, T5 (CLF); held out VisualBERT, T5 (CLF) GenExec, GTExec, T5 (OLF)
    "tpl_choose_object": (52.0, 62.6, 62.0, 1.6, 46.2, 50.9, 0.0, 0.0),
    "tpl_verify_quant_attr": (50.4, 76.9, 70.5, 71.2, 44.8, 48.4, 0.0, 0.0),
    "tpl_verify_attr": (49.6, 75.4, 67.6, 0.0, 24.9, 34.4, 0.0, 0.0),
    "has_count_has_attr": (41.2, 62.6, 72.4, 58.7, 70.9, 99.1, 68.1, 93.4),
    "has_count_rm_v_c": (40.5, 82.2, 76.1, 74.1, 76.1, 100.0, 75.0, 98.4),
    "has_sameattr_color": (49.8, 71.2, 67.7, 66.0, 67.7, 100.0, 67.7, 100.0),
}
COMPOSITIONAL_COLUMNS = ("text", "iid", "iid_t5", "held_out", "t5", "t5 gt_exec", "t5_original", "t5_original gt_exec")
OBJECT_MODELS = ("lxmert", "vilbert", "vinvl")
_OBJECTS: Mapping[str, Sequence[float]] = {  # Table 2: LXMERT, ViLBERT, VinVL, then the neuro-symbolic ones
    "as asked": (83.9, 83.5, 89.1, 65.6, 78.1, 71.8, 80.4, 74.3, 85.1),
    "another object": (66.5, 68.2, 73.3, 64.8, 78.8, 71.9, 82.3, 74.1, 85.0),
}
VQA, GQA = "vqa", "gqa"
_TRANSFER: Mapping[tuple[str, str, str], Sequence[float | None]] = {  # Table 5: LXMERT, T5, missing objects
    (VQA, VQA, "binary"): (97.4, None, None),
    (VQA, VQA, "open"): (90.0, None, None),
    (GQA, VQA, "binary"): (86.4, 52.0, 78.4),
    (GQA, VQA, "open"): (78.7, 8.3, 80.2),
    (GQA, GQA, "binary"): (90.6, 78.6, 3.8),
    (GQA, GQA, "open"): (81.8, 60.1, 5.3),
    (VQA, GQA, "binary"): (82.5, None, None),
    (VQA, GQA, "open"): (66.2, None, None),
}
TRANSFER_COLUMNS = ("end_to_end", "t5", "missing_objects")
_SHOTS: Mapping[tuple[str, str], Sequence[Sequence[float]]] = {
    # Table 8: for K = 0, 1 and 5 VisualBERT, GenExec and GTExec with T5
    ("count_group_by", "at least → no less than"): ((54.0, 21.5, 39.4), (53.3, 28.8, 47.5), (56.3, 39.2, 70.3)),
    ("verify_count", "at least → no less than"): ((68.3, 48.4, 67.8), (68.8, 55.1, 77.9), (78.7, 69.8, 91.1)),
    ("verify_count", "at least → less than"): ((21.1, 52.9, 65.6), (20.1, 58.0, 73.3), (45.5, 70.7, 91.5)),
    ("verify_count_group_by", "at least → no less than"): ((65.8, 55.6, 76.2), (66.2, 59.5, 82.3), (68.3, 65.2, 92.0)),
    ("verify_count_group_by", "at least → less than"): ((28.5, 51.1, 50.6), (29.4, 58.0, 70.5), (51.9, 66.5, 86.9)),
    ("verify_quant", "no ↔ some"): ((74.9, 75.6, 97.8), (73.5, 76.1, 99.5), (75.4, 76.1, 99.5)),
    ("verify_quant", "no → at least one"): ((83.9, 53.9, 61.1), (84.5, 61.2, 80.2), (84.6, 71.3, 95.1)),
    ("verify_quant", "some → none of the"): ((67.8, 75.5, 97.8), (67.3, 75.8, 98.6), (66.3, 75.9, 99.5)),
    ("verify_quant", "all → either none or only some"): ((36.2, 57.5, 69.8), (52.5, 69.2, 89.0), (56.0, 73.9, 97.9)),
}
SHOTS = (0, 1, 5)

_BOTH = [(model, "") for model in END_TO_END] + [(model, how) for model in PARSERS for how in (GEN, GT)]
_OBJECT_COLUMNS = [(model, "") for model in OBJECT_MODELS] + _BOTH[len(END_TO_END) :]
REPORTED = ReportedFigures(
    SOURCE,
    (*END_TO_END, *PARSERS),
    {
        "segment_combine": {
            (*row, *column): percent / 100
            for row, figures in _SEGMENT_COMBINE.items()
            for column, percent in zip(_BOTH, figures, strict=True)
        },
        "contrast": {
            (*row, *column): percent / 100
            for row, figures in _CONTRAST.items()
            for column, percent in zip(_BOTH, figures, strict=True)
        },
        "objects": {
            (row, *column): percent / 100
            for row, figures in _OBJECTS.items()
            for column, percent in zip(_OBJECT_COLUMNS, figures, strict=True)
        },
        "compositional": {
            (split, column): percent / 100
            for split, figures in _COMPOSITIONAL.items()
            for column, percent in zip(COMPOSITIONAL_COLUMNS, figures, strict=True)
        },
        "transfer": {
            (*row, column): percent / 100
            for row, figures in _TRANSFER.items()
            for column, percent in zip(TRANSFER_COLUMNS, figures, strict=True)
            if percent is not None
        },
        "k_shot": {
            (*row, shots, column): percent / 100
            for row, by_shots in _SHOTS.items()
            for shots, figures in zip(SHOTS, by_shots, strict=True)
            for column, percent in zip(("visualbert", GEN, GT), figures, strict=True)
        },
    },
)
CONTRAST_ROWS = tuple(_CONTRAST)
SHOT_ROWS = tuple(_SHOTS)

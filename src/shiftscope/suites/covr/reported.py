"""COVR (Bogin et al., 2021), Tables 3, 6 to 8 and 12 to 17: figures the paper reports, none measured here."""

from collections.abc import Mapping

from .. import ReportedFigures

SOURCE = "reported: COVR (Bogin et al., 2021)"
STATISTICS: Mapping[str, tuple[float, float]] = {  # Table 3: train, and val with test
    "questions": (248_100, 13_900),
    "unique questions": (122_000, 7_600),
    "unique answers": (3_666, 1_268),
    "unique images": (79_000, 9_500),
    "anonymised programs": (635, 291),
    "true/false": (133_300, 7_500),
    "or": (50_000, 2_900),
    "how many": (33_300, 1_800),
    "open": (31_500, 1_700),
    "words a question": (14.0, 13.5),
    "images a question": (4.4, 3.4),
}
_OVERALL = {  # Table 6, percent: generated val and test, paraphrased val and test
    "Maj": (26.4, 26.8, 26.4, 26.8),
    "MajTempl": (42.1, 41.5, 42.1, 41.5),
    "VB text": (45.6, 44.8, 40.9, 39.9),
    "VB iid": (69.2, 67.6, 61.1, 57.9),
    "VB easy distractors": (56.4, 56.9, 50.2, 49.0),
    "Humans": (None, None, None, 91.9),
}
_TEMPLATES = {  # Tables 12 and 13, percent on test, in the order of _TEMPLATE_COLUMNS
    "verify_attr": (49.6, 73.5, 46.5, 69.0),
    "choose_attr": (52.0, 69.5, 48.5, 62.1),
    "query_attr": (36.2, 47.1, 23.3, 35.2),
    "compare_count": (54.3, 80.0, 50.9, 67.8),
    "count": (26.2, 73.1, 25.2, 67.6),
    "verify_count": (50.0, 87.7, 50.2, 80.9),
    "count_group_by": (26.6, 60.3, 29.6, 46.0),
    "verify_count_group_by": (49.5, 71.2, 50.0, 67.1),
    "verify_logic": (50.4, 77.5, 47.7, 71.1),
    "verify_quant": (51.2, 80.7, 50.0, 68.7),
    "verify_quant_attr": (50.4, 80.3, 50.0, 75.6),
    "choose_object": (52.0, 66.4, 19.6, 41.9),
    "query_object": (11.0, 14.4, 6.3, 8.3),
    "verify_same_attr": (52.1, 62.3, 47.9, 50.7),
    "choose_rel": (58.1, 65.9, 51.8, 52.2),
}
# Tables 7 and 8 (VisualBERT), 14 and 15 (the same, paraphrased), 16 and 17 (ViLBERT), percent on test: text-only, with
# the property held out (few-shot or zero-shot), trained on as many (iid-size), trained on all (iid). Each split by the
# name it has here; program_split and lexical_split are means of three draws. ViLBERT's row of has_groupby is not
# legible in the text that these were read from.
_FEW_SHOT = {
    "has_quant": ((50.8, 55.8, 78.1, 80.5), (50.0, 48.8, 70.9, 72.1), (51.1, 65.6, 78.5, 80.7)),
    "has_quant_all": ((50.7, 69.2, 75.2, 77.6), (50.2, 58.7, 70.1, 74.1), (50.9, 60.9, 74.1, 77.6)),
    "has_quant_compscope": ((50.8, 60.4, 78.1, 80.3), (49.8, 53.8, 70.3, 72.5), (50.9, 67.5, 78.1, 80.2)),
    "has_compar": ((54.3, 57.5, 76.4, 80.0), (50.9, 44.8, 64.8, 67.8), (54.3, 64.2, 76.8, 77.7)),
    "has_compar_more": ((53.8, 79.8, 81.3, 84.0), (50.8, 60.7, 70.6, 72.9), (53.8, 79.8, 79.0, 81.7)),
    "has_groupby": ((38.1, 56.5, 62.8, 65.7), (39.8, 54.0, 57.8, 56.6), None),
    "has_logic": ((50.4, 69.3, 75.4, 77.5), (47.7, 55.7, 71.9, 71.1), (50.2, 72.1, 76.2, 75.0)),
    "has_logic_and": ((50.4, 74.8, 72.3, 75.2), (49.6, 72.7, 73.4, 73.0), (50.0, 70.9, 75.5, 74.5)),
    "has_num_3": ((44.8, 68.8, 70.8, 71.9), (42.7, 65.6, 63.5, 63.5), (43.8, 67.7, 68.8, 71.9)),
    "has_num_3_ans_3": ((26.2, 25.8, 65.6, 66.8), (24.2, 25.4, 54.5, 51.6), (25.4, 27.5, 66.4, 68.0)),
    "ans_num": ((26.4, 32.2, 64.9, 67.0), (27.3, 28.8, 57.9, 57.3), (24.1, 38.5, 64.0, 65.8)),
}
_ZERO_SHOT = {
    "has_quant_compscope_has_quant_all": (
        (50.8, 57.7, 77.3, 78.2), (50.1, 54.5, 68.9, 75.0), (50.8, 64.7, 76.4, 77.4),
    ),
    "has_count_has_attr": ((41.2, 58.7, 62.6, 63.6), (40.9, 52.7, 53.0, 55.7), (39.6, 57.4, 62.6, 62.6)),
    "has_count_rm_v_c": ((40.5, 74.1, 82.2, 82.0), (39.9, 68.5, 76.3, 76.5), (39.9, 71.4, 81.1, 81.9)),
    "has_sameattr_color": ((49.8, 66.0, 71.2, 72.6), (47.7, 59.3, 61.6, 63.5), (48.5, 64.7, 67.7, 71.4)),
    "tpl_choose_object": ((52.0, 1.6, 62.6, 66.4), (19.6, 1.6, 34.8, 41.9), (51.0, 2.0, 58.9, 63.8)),
    "tpl_verify_quant_attr": ((50.4, 71.2, 76.9, 80.3), (50.0, 57.8, 72.0, 75.6), (50.4, 61.2, 76.1, 78.2)),
    "tpl_verify_attr": ((49.6, 0.0, 75.4, 73.5), (46.5, 8.1, 64.0, 69.0), (50.2, 0.0, 70.0, 75.4)),
    "tpl_verify_count_tpl_verify_count_group_by": (
        (49.8, 41.7, 77.6, 79.8), (50.1, 47.7, 73.7, 74.3), (49.6, 29.5, 78.0, 77.1),
    ),
    "program_split": ((43.8, 49.5, 61.5, 64.8), (38.6, 42.8, 52.3, 55.5), (43.6, 49.0, 61.9, 64.6)),
    "lexical_split": ((46.4, 71.5, 72.2, 73.0), (42.7, 61.2, 63.0, 64.3), (45.6, 71.5, 70.6, 73.6)),
}  # fmt: skip
SPLIT_COLUMNS = ("text", "held_out", "iid_size", "iid")
SPLIT_TABLES = (("visualbert", "generated"), ("visualbert", "paraphrased"), ("vilbert", "generated"))
MODELS = tuple(_OVERALL)
_TEMPLATE_COLUMNS = (("VB text", ""), ("VB iid", ""), ("VB text", "paraphrased"), ("VB iid", "paraphrased"))
REPORTED = ReportedFigures(
    SOURCE,
    MODELS,
    {
        "template_accuracy": {
            (model, template, wording): percent / 100
            for template, row in _TEMPLATES.items()
            for (model, wording), percent in zip(_TEMPLATE_COLUMNS, row, strict=True)
        },
        "held_out_accuracy": {
            (model, wording, split, column): percent / 100
            for split, tables in (_FEW_SHOT | _ZERO_SHOT).items()
            for (model, wording), row in zip(SPLIT_TABLES, tables, strict=True)
            if row is not None
            for column, percent in zip(SPLIT_COLUMNS, row, strict=True)
        },
    },
    {
        "template_accuracy": "Tables 12 and 13: VisualBERT on the questions alone, and trained on everything. On "
        "photographs, so that templates can be compared with each other and not with the figures above."
    },
)


def find_accuracy(model: str, split: str, *, paraphrased: bool = False) -> float | None:
    """Table 6, as a share; None where the paper has none."""
    percent = _OVERALL[model][("val", "test").index(split) + 2 * paraphrased]
    return None if percent is None else percent / 100

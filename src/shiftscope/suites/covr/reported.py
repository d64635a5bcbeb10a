"""COVR (Bogin et al., 2021), Tables 3, 6 and 12: figures the paper reports, none measured here."""

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
        }
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

"""CLEVR_HYP (Sampat et al., 2021), Table 3 and section 4: figures the paper reports, none measured here."""

from collections.abc import Mapping

from .. import ReportedFigures

SOURCE = "reported: CLEVR_HYP (Sampat et al., 2021)"
TESTS = {  # the paper's test sets, as our splits are called
    "test": "Original",
    "balanced_test": "Balanced",
    "two_hop_actions": "2HopT_A",
    "two_hop_questions": "2HopQ_H",
}
_OVERALL: Mapping[str, tuple[float | None, ...]] = {  # percent, in the order of TESTS
    "random": (3.7, 3.7, 3.7, 3.7),
    "people": (98.4, None, 96.2, 96.6),
    "BL1": (57.2, 55.3, 53.3, 55.2),  # text_reader
    "BL2": (63.9, 65.2, 49.2, 52.9),  # lxmert
    "BL3": (64.7, 69.5, 55.6, 58.7),  # image_edit
    "BL4": (70.5, 68.6, 64.4, 66.5),  # scene_edit
}
# Percent of baselines 3 and 4. Kinds of actions are of "their ability to understand actions and make appropriate
# changes": exact programs of baseline 4, of baseline 3 scenes parsed from its pictures; on Original and 2HopT_A. Types
# of questions are of answers, since they average to the overall accuracies; on Original and 2HopQ_H.
_SLICES = {
    ("test", "action"): {
        "add": (58.2, 65.9),
        "remove": (89.4, 88.6),
        "change": (88.7, 91.2),
        "move_in_plane": (61.5, 69.4),
        "move_on_top": (53.3, 66.1),
    },
    ("two_hop_actions", "action"): {
        "add+remove": (53.6, 63.2),
        "add+change": (55.4, 64.7),
        "add+move": (49.7, 57.5),
        "remove+change": (82.1, 85.5),
        "remove+move": (52.6, 66.4),
        "change+move": (53.8, 63.3),
    },
    ("test", "kind"): {
        "count": (60.2, 74.3),
        "exist": (69.6, 72.6),
        "compare_integer": (56.7, 67.3),
        "compare_attribute": (68.7, 70.5),
        "query_attribute": (65.4, 68.1),
    },
    ("two_hop_questions", "logic"): {"and": (59.2, 67.1), "or": (58.8, 67.4), "not": (58.1, 65.0)},
}
MODELS = tuple(_OVERALL)
SLICES = tuple((split, by, tuple(rows)) for (split, by), rows in _SLICES.items())
REPORTED = ReportedFigures(
    SOURCE,
    MODELS,
    {
        "hypothetical_accuracy": {
            (model, split): percent / 100
            for model, row in _OVERALL.items()
            for split, percent in zip(TESTS, row, strict=True)
            if percent is not None
        },
        "hypothetical_slices": {
            (model, split, by, name): percent / 100
            for (split, by), rows in _SLICES.items()
            for name, row in rows.items()
            for model, percent in zip(("BL3", "BL4"), row, strict=True)
        },
    },
    {"hypothetical_accuracy": "Table 3 and sections 4.1 and 4.2; people answered 500 questions."},
)

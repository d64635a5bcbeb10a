"""Model selection: what choosing the epoch on OOD data adds (Table 4 of VQA-VS)."""

from ...metrics.model_selection import IID_VAL, OOD_TEST, OOD_VAL, SelectionResults
from ..number_format import DASH, format_points
from ..page import Section
from ..selection_page import MARK, STRATEGY_NAMES, find_reported, format_figure, format_reported, format_seeds
from ..table import Table

PLACES = {"selection_study": 40}
SHOWN = (OOD_TEST, OOD_VAL, IID_VAL)


def section(results: SelectionResults) -> Section | None:
    reported = find_reported(results)
    rows = []
    for method in results.study.methods:
        gain = results.find_selection_gain(OOD_TEST, method.label)
        told = "" if gain is None or gain.low is None or gain.high is None else _format_ends(gain.low, gain.high)
        epochs = ", ".join(map(str, results.list_epochs(method.label, IID_VAL)))
        rows.append(
            (
                method.label,
                format_seeds(results.list_seeds(method.label)),
                epochs or DASH,
                *(format_figure(results.find_mean(method.label, strategy)) for strategy in SHOWN),
                DASH if gain is None else f"{format_points(gain.value, 2)}{told}",
                *(format_reported(reported.find("model_selection", method.label, strategy)) for strategy in SHOWN),
            )
        )
    names = [STRATEGY_NAMES[strategy] for strategy in SHOWN]
    heads = ("", "seeds", "epochs by IID val", *names, "OOD test − IID val", *(f"{name}, reported" for name in names))
    note = f"{results.study.notes['selection']} {MARK}. {reported.notes.get('model_selection', '')}".strip()
    return Section("Model selection", [Table("Selection strategies (Table 4)", heads, rows, note)])


def _format_ends(low: float, high: float) -> str:
    return f" ({format_points(low, 2)} to {format_points(high, 2)})"

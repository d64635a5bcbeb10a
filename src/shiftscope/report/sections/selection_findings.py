"""Which of the paper's findings hold in a study of model selection, each with its rule."""

from ...metrics.model_selection import SelectionResults
from ...suites.study import FAILS
from ..number_format import MINUS
from ..page import Section
from ..table import Table
from .findings import MINUS_SIGN

PLACES = {"selection_study": 10}
LEAD = (
    "Each line states the rule it is decided by; surely means by a 95% interval over scenes and seeds. Where a figure "
    "rests on one seed, its interval is over scenes alone, and the verdict is on these trainings only."
)


def section(results: SelectionResults) -> Section | None:
    found = list(results.study.check_findings(results))
    trial = results.world is not None and results.world.scale != "paper"
    verdict = "verdict (trial, no evidence)" if trial else "verdict"
    rows = [(f.says, f.rule, f.verdict, MINUS_SIGN.sub(MINUS, f.figures)) for f in found]
    table = Table("The paper's findings", ("", "rule", verdict, "measured"), rows, LEAD, loud="" if trial else FAILS)
    return Section("Findings", [table])

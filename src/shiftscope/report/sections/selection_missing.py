"""What of a study of model selection is not measured, and the command that would measure it."""

from ...metrics.model_selection import LANGUAGE, PRIORS, PROPORTION, WHOLE, SelectionResults
from ..number_format import count_noun
from ..page import Section
from ..table import Table

PLACES = {"selection_study": 90}


def section(results: SelectionResults) -> Section | None:
    study = results.study
    scale, _, images = (results.world.scale if results.world else "paper").partition("-")
    size = f"{scale} --images {images}" if images else scale
    missing: dict[tuple[str, str], list[str]] = {}
    for job in study.plan_trainings((WHOLE, PRIORS, PROPORTION), (), study.seeds):
        # Parts that are trained with one seed are measured by any.
        seeds = results.list_seeds(job.method, training=job.training)
        if job.seed not in seeds if job.training == WHOLE else not seeds:
            part = PROPORTION if job.training.startswith(PROPORTION) else job.training
            what = f"seed {job.seed}" if part == WHOLE else job.training.removeprefix(f"{PROPORTION}/")
            missing.setdefault((job.method, part), []).append(what)
    rows = [
        (
            method,
            part,
            ", ".join(what) if len(what) <= 4 else count_noun(len(what), "training"),
            f'shiftscope study {study.suite} --scale {size} --methods "{method}" --parts {part} --out DIR',
        )
        for (method, part), what in missing.items()
    ]
    done = results.language.runs if results.language else {}
    language: dict[str, list[str]] = {}
    for job in study.plan_language((), study.seeds) if study.language_methods else ():
        if (job.method, job.seed, job.training) not in done:
            language.setdefault(job.method, []).append(f"seed {job.seed}")
    rows += [
        (
            method,
            LANGUAGE,
            ", ".join(what),
            f'shiftscope study {study.suite} --audit AUDIT --methods "{method}" --out DIR',
        )
        for method, what in language.items()
    ]
    table = Table("Not measured", ("method", "part", "missing", "command"), rows)
    return Section("Not measured", [table]) if rows else None

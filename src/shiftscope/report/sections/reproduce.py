"""Reproduce: the commands that make these runs and this page again, from the runs' own specs.

A line that begins with # is no command: it says what cannot be made again from here, and why.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

from ...errors import UserError
from ...json_files import load_json
from ...registry import GENERALIZATION_TESTS, SUITES
from ...shortcuts.audit_folder import is_audit
from ...store.dataset import Dataset, data_id
from ...store.manifest import MakeCommand, format_command
from ...store.question_part import MANIFEST as SPLIT
from ...store.question_part import read_split_manifest
from ...store.run_log import JUDGE_FIELD, PLACES_FIELD
from ...suites import load_suite
from ...url_path import parse_path
from ..examples import has_dataset
from ..markup import render_details, tag
from ..page import Section
from ..runs import ReportRun, ReportRuns, read_part
from .tests import find_result

PLACES = {"report": 90}
RUN_OPTIONS = (
    *("model", "data", "split", "part", "limit", "condition", "mode", "samples", "prompts", "system", "choices"),
    *("resize", "joined", "learn-from", "learn-part"),
    *("trained-on", "variant", "images", "allow-missing", "price", "max-tokens", "temperature", "parameters", "dtype"),
    *("attention", "trust-remote-code", "seed", "judge", "judge-sample", "judge-price", "out"),
)
DIAGNOSIS = "diagnosis.json"  # beside the runs of a diagnosis
NO_SOURCES: Mapping[str, str] = MappingProxyType({})
SECRET = re.compile(r"(://)[^/@\s]+@")  # a name and a password inside an address


def section(report: ReportRuns) -> Section | None:
    specs = []
    for run in report.runs:
        for one in run.each:
            name = f"{one.contender} on {one.test}" + (f", seed {one.seed}" if run.seeds else "")
            spec = json.dumps(strip_credentials(one.spec), indent=1, ensure_ascii=False, default=str)
            specs.append(render_details(name, tag("pre", spec, class_="commands")))
    commands = tag("pre", "\n".join(list_commands(report)), class_="commands", tabindex="0")
    return Section("Reproduce", [commands, tag("h3", "The full spec of each run"), specs])


def list_commands(report: ReportRuns) -> list[str]:
    """Every command once: those that make data, then runs, then the page."""
    runs = report.each
    sources = {str(r.spec["data_id"]): str(r.spec.get("data")) for r in runs if r.spec.get("data_id")}
    data_commands = [line for run in runs for line in _list_data_commands(run)]
    evaluated = []
    for run in runs:
        result = _read_result(run)
        if result is not None:
            evaluated.append(generalization_command(run, result))
        elif run.spec.get("diagnostic"):
            evaluated.append(diagnosis_command(run))
        elif "scale" in run.spec and not run.spec.get("data"):
            evaluated.append(study_command(run))
        else:
            unknown = "" if run.spec.get("data") else "# the data of this run are not known: "
            evaluated.append(unknown + run_command(run, sources))
    shown: list[str] = []
    if all(r.folder for r in runs):
        moved = [str(r.data) for r in runs if r.data and str(r.data) != str(r.spec.get("data"))]
        words = [*(str(r.folder) for r in runs), *(["--data", moved[0]] if moved else [])]
        shown.append(" ".join(["shiftscope report", *map(quote, words), "--out report.html"]))
    return list(dict.fromkeys([*data_commands, *evaluated, *shown]))


def run_command(run: ReportRun, sources: Mapping[str, str] = NO_SOURCES) -> str:
    """The command line of a run, with all that its spec holds, so that it resumes in the run's own folder.

    `sources` says where the dataset of an id is, for a run that does not say where its model learned.
    """
    spec = strip_credentials(run.spec)
    prompt, learned = spec.get("prompt"), spec.get("learned_from")
    places = spec.get(PLACES_FIELD) or {}
    judge = spec.get(JUDGE_FIELD) or {}
    asked = prompt if isinstance(prompt, Mapping) else {}
    elsewhere = learned not in (None, spec.get("data_id"))
    given = {name: spec.get(name.replace("-", "_")) for name in RUN_OPTIONS} | {
        "part": places.get("part"),
        "condition": spec.get("conditions"),
        "mode": asked.get("mode"),
        "prompts": places.get("prompts"),
        "system": asked.get("system"),
        "choices": asked.get("choices"),
        "joined": bool(spec.get("joined")),
        "learn-from": places.get("learn_from") or (sources.get(str(learned)) if elsewhere else None),
        "learn-part": places.get("learn_part"),
        "images": places.get("images"),
        "allow-missing": run.log.missing_images > 0,
        "judge": judge.get("model"),
        "judge-sample": judge.get("sample"),
        "judge-price": ",".join(map(str, judge["price"])) if judge.get("price") else None,
        **_list_model_options(spec),
        "out": str(run.folder) if run.folder else None,
    }
    needed = {
        "learn-from": f"the dataset of id {learned}" if elsewhere else "",
        "part": read_part(spec),
        "prompts": f"a file of {json.dumps(asked['instructions'])}" if asked.get("instructions") else "",
        "learn-part": read_part(spec, "learned_part"),
    }
    lacking = [f"--{name}: {what}" for name, what in needed.items() if what and not given[name]]
    return format_command("shiftscope run", given, [f"add {', '.join(lacking)}"] if lacking else [])


def generalization_command(run: ReportRun, result: Mapping[str, Any]) -> str:
    """The command of the test that made a run, from the result beside it."""
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in result["options"].items()}
    given = {
        "model": strip_credentials(result["model"]),
        "data": result["data"],
        "split": result["split"],
        "limit": result["limit"],
        **GENERALIZATION_TESTS.load(result["test"]).OPTIONS(**options).to_cli_options(),
        **result.get("given", {"seed": run.spec.get("seed")}),
        "out": str(run.folder.parent.parent) if run.folder else None,
    }
    return format_command(f"shiftscope test {result['test'].replace('_', '-')}", given)


def diagnosis_command(run: ReportRun) -> str:
    """The command of the diagnosis that a run is a part of; the same for all of them."""
    folder = run.folder.resolve().parents[1] if run.folder else None
    path = folder / DIAGNOSIS if folder else None
    read = load_json(path) if path and path.is_file() else {}
    about: Mapping[str, Any] = read if isinstance(read, Mapping) else {}
    spec = strip_credentials(run.spec)
    seed = spec["diagnostic"].get("seed") if isinstance(spec["diagnostic"], Mapping) else None
    given = {"budget": about.get("budget"), "seed": seed or None, "mode": about.get("mode")}
    given |= {"learn-from": (spec.get(PLACES_FIELD) or {}).get("learn_from"), **_list_model_options(spec)}
    given["out"] = str(folder) if folder else None
    return format_command(f"shiftscope diagnose {quote(str(spec.get('model')))}", given)


def _list_model_options(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a spec says of how the model is to answer, as options of any verb that asks it."""
    plain = {name: spec.get(name.replace("-", "_")) for name in ("max-tokens", "temperature", "dtype")}
    return plain | {
        "price": ",".join(map(str, spec["price"])) if spec.get("price") else None,
        "parameters": json.dumps(spec["parameters"]) if spec.get("parameters") else None,
        "trust-remote-code": bool(spec.get("trust_remote_code")),
    }


def study_command(run: ReportRun) -> str:
    """The command of the study that a run is an entry of."""
    scale, spec = run.spec["scale"], run.spec
    name, _, images = str(scale["name"]).partition("-")
    given = {
        "scale": name,
        "images": images,
        "visual": "hard" if run.folder and run.folder.parent.name.endswith("-hard") else "",
        "seeds": ",".join(dict.fromkeys(["0", str(spec.get("seed") or 0)])) if spec.get("seed") else "",
        "runs": True,
        "out": str(run.folder.parents[2]) if run.folder and len(run.folder.parents) > 2 else "STUDY",
    }
    return format_command(f"shiftscope study {spec['suite']}", given)


def _read_result(run: ReportRun) -> dict[str, Any] | None:
    """What the test that made a run wrote beside it; None where no test did."""
    path = find_result(run)
    result = load_json(path) if path else None
    if not isinstance(result, dict) or not {"test", "model", "data", "split", "limit", "options"} <= result.keys():
        return None
    return result if result["test"] in GENERALIZATION_TESTS.names() else None


def _list_data_commands(run: ReportRun) -> Iterator[str]:
    """What makes the data that a run needs: to test on, to learn from, and parts of them."""
    spec, result = run.spec, _read_result(run)
    places = spec.get(PLACES_FIELD) or {}
    if spec.get("diagnostic"):
        return  # a diagnosis makes its own
    if result is not None:
        given = result.get("given") or {}
        for place in (result["data"], result["options"].get("home"), given.get("learn-from")):
            if place:
                yield _folder_command(parse_path(place), str(place))
        return
    if tested := dataset_command(run):
        yield tested
    learned = places.get("learn_from", "")
    if learned:
        folder = parse_path(learned)
        same = has_dataset(folder) and data_id(Dataset.open(folder)) == spec.get("learned_from")
        yield _folder_command(folder if same else None, learned)
    for name, data in (("part", spec.get("data")), ("learn_part", learned or spec.get("data"))):
        if made := _split_command(places.get(name, ""), str(data)):
            yield made


def dataset_command(run: ReportRun) -> str | None:
    """The command that makes a run's dataset, or why there is none; None of a run that names no data."""
    place = str(run.spec.get("data") or run.data or "")
    return _folder_command(run.data, place) if place else None


def _folder_command(folder: Path | None, place: str) -> str:
    """The command that makes what is in a folder, from its own spec, at that place."""
    if is_audit(parse_path(place)):
        return f"# {place} is an audit, which shiftscope audit makes from files of your own"
    if folder is None or not has_dataset(folder):
        return f"# {place} does not hold the data that were used"
    spec = dict(Dataset.open(folder).manifest.spec)
    suite = spec.get("suite")
    if suite not in SUITES.names():
        return f"# {place} is a dataset of your own"
    known = load_suite(suite)
    version = spec.get("version")
    try:
        again: MakeCommand = known.make_command(spec)
    except (KeyError, TypeError):
        again = MakeCommand({}, why_not="its spec is not one of this version's")
    if version != known.spec.version:
        again = MakeCommand({}, why_not=f"{suite} is at version {known.spec.version} now, and it is of {version}")
    if again.why_not:
        return f"# {place} cannot be made again: {again.why_not}"
    return format_command(f"shiftscope make {suite}", {**again.options, "out": place}, again.needs)


def _split_command(place: str, data: str) -> str | None:
    """The command that made the folder that a part is of; None for a mere list of ids."""
    folder = Path(place.rpartition(":")[0])
    if not place or not (folder / SPLIT).is_file():
        return None
    try:
        about = read_split_manifest(folder)
        named = {"name": about["name"]} if about["reported"] else {"hold-out": about["hold_out"]}
        test = next(part["split"] for name, part in about["parts"].items() if name.startswith("test"))
        given = named | {"shots": about["shots"], "seed": about["seed"], "test": test, "out": str(folder)}
    except (UserError, KeyError, StopIteration):
        return None
    return format_command(f"shiftscope split {quote(data)}", given)


def strip_credentials(data: Any) -> Any:
    """Without names and passwords in addresses, which a spec should not hold in the first place."""
    if isinstance(data, Mapping):
        return {key: strip_credentials(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [strip_credentials(value) for value in data]
    return SECRET.sub(r"\1", data) if isinstance(data, str) else data

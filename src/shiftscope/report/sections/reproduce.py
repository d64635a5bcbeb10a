"""Reproduce: the commands that make these runs and this page again, from the runs' own specs.

A line that begins with # is no command: it says what can not be made again from here, and why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

from ...audit.folder import is_audit
from ...catalog import SUITES, TESTS
from ...errors import UserError
from ...formats import _json
from ...run.part import MANIFEST as SPLIT
from ...run.part import read_manifest
from ...run.source import data_id
from ...run.test import RESULT
from ...store.dataset import Dataset
from ...store.runlog import PLACES
from ...suites._again import Again, command_line
from ..library import has_data
from ..markup import tag, text
from ..roles import asked_part
from ..section import Section
from ..study import Run, Study

PLACE = 90
NO_SOURCES: Mapping[str, str] = MappingProxyType({})
SECRET = re.compile(r"(://)[^/@\s]+@")  # a name and a password inside an address


def section(study: Study) -> Section | None:
    specs = [
        tag(
            "details",
            tag(
                "summary", f"{run.contender} on {run.test}", f", seed {run.spec.get('seed')}" if many else ""
            ),
            tag(
                "pre",
                json.dumps(clean(run.spec), indent=1, ensure_ascii=False, default=str),
                class_="commands",
            ),
        )
        for shown in study.runs
        for many in [len(shown.each) > 1]
        for run in shown.each
    ]
    body = text(
        [
            tag("pre", "\n".join(commands(study)), class_="commands", tabindex="0"),
            tag("h3", "What each run was, in full"),
            specs,
        ]
    )
    return Section("Make it again", body)


def commands(study: Study) -> list[str]:
    """Every command once: those that make data, then those that ask, then that of the page."""
    runs = study.each
    sources = {str(r.spec["data_id"]): str(r.spec.get("data")) for r in runs if r.spec.get("data_id")}
    made = [line for run in runs for line in _data_commands(run)]
    asked = [_asking_command(run, sources) for run in runs]
    shown: list[str] = []
    if all(r.folder for r in runs):
        moved = [str(r.data) for r in runs if r.data and str(r.data) != str(r.spec.get("data"))]
        words = [*(str(r.folder) for r in runs), *(["--data", moved[0]] if moved else [])]
        shown.append(" ".join(["shiftscope report", *map(quote, words), "--out report.html"]))
    return list(dict.fromkeys([*made, *asked, *shown]))


def _asking_command(run: Run, sources: Mapping[str, str]) -> str:
    """What asked the questions of a run: a test, a study, or `run` itself."""
    found = _result(run)
    if found is not None:
        return test_command(run, found)
    if "scale" in run.spec and not run.spec.get("data"):
        return study_command(run)
    line = command(run, sources)
    return line if run.spec.get("data") else f"# it is not known what was asked about: {line}"


def command(run: Run, sources: Mapping[str, str] = NO_SOURCES) -> str:
    """The command line of a run, with all that its spec holds, so that it goes on in the run's own folder.

    `sources` tells where the dataset of an id is, for a run that does not say where its model learned.
    """
    spec = clean(run.spec)
    prompt, price, learned = spec.get("prompt"), spec.get("price"), spec.get("learned_from")
    places = spec.get(PLACES) or {}
    elsewhere = learned not in (None, spec.get("data_id"))
    given = {
        "model": spec.get("model"),
        "data": spec.get("data"),
        "split": spec.get("split"),
        "part": places.get("part"),
        "limit": spec.get("limit"),
        "condition": spec.get("conditions"),
        "mode": prompt.get("mode") if isinstance(prompt, Mapping) else None,
        "joined": bool(spec.get("joined")),
        "learn-from": places.get("learn_from") or (sources.get(str(learned)) if elsewhere else None),
        "learn-part": places.get("learn_part"),
        "trained-on": spec.get("trained_on"),
        "variant": spec.get("variant"),
        "images": places.get("images"),
        "allow-missing": run.log.missing_images > 0,
        "price": ",".join(map(str, price)) if price else None,
        "max-tokens": spec.get("max_tokens"),
        "temperature": spec.get("temperature"),
        "parameters": json.dumps(spec["parameters"]) if spec.get("parameters") else None,
        "dtype": spec.get("dtype"),
        "trust-remote-code": bool(spec.get("trust_remote_code")),
        "seed": spec.get("seed"),
        "out": str(run.folder) if run.folder else None,
    }
    needed = {
        "learn-from": f"the dataset of id {learned}" if elsewhere else "",
        "part": asked_part(spec),
        "learn-part": str((spec.get("learned_part") or {}).get("name") or ""),
    }
    lacking = [f"--{name}: {what}" for name, what in needed.items() if what and not given[name]]
    return command_line("shiftscope run", given, [f"add {', '.join(lacking)}"] if lacking else [])


def test_command(run: Run, found: Mapping[str, Any]) -> str:
    """The command of the test that made a run, from the result beside it."""
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in found["options"].items()}
    given = {
        "model": clean(found["model"]),
        "data": found["data"],
        "split": found["split"],
        "limit": found["limit"],
        **TESTS.load(found["test"]).Options(**options).words(),
        **found.get("given", {"seed": run.spec.get("seed")}),
        "out": str(run.folder.parent.parent) if run.folder else None,
    }
    return command_line(f"shiftscope test {found['test'].replace('_', '-')}", given)


test_command.__test__ = False  # type: ignore[attr-defined]  # what pytest looks at: this is no test of ours


def study_command(run: Run) -> str:
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
    return command_line(f"shiftscope study {spec['suite']}", given)


def _result(run: Run) -> dict[str, Any] | None:
    """What the test that made a run wrote beside it; None where no test did."""
    folder = run.folder.resolve() if run.folder else None
    if folder is None or folder.parent.name != "runs" or not (folder.parent.parent / RESULT).is_file():
        return None
    found = _json.load(folder.parent.parent / RESULT)
    whole = isinstance(found, dict) and {"test", "model", "data", "split", "limit", "options"} <= found.keys()
    return found if whole and found["test"] in TESTS.names() else None


def _data_commands(run: Run) -> Iterator[str]:
    """What makes the data that a run needs: those asked about, those learned from, the parts of them."""
    spec, found = run.spec, _result(run)
    places = spec.get(PLACES) or {}
    if found is not None:
        given = found.get("given") or {}
        for place in (found["data"], found["options"].get("home"), given.get("learn-from")):
            if place:
                yield _make_command(Path(place), str(place))
        return
    asked = make_command(run)
    if asked:
        yield asked
    learned = places.get("learn_from", "")
    if learned:
        same = _data_id(Path(learned)) == spec.get("learned_from")
        yield _make_command(Path(learned) if same else None, learned)
    for name, data in (("part", spec.get("data")), ("learn_part", learned or spec.get("data"))):
        made = _split_command(places.get(name, ""), str(data))
        if made:
            yield made


def _data_id(folder: Path) -> str:
    return data_id(Dataset.open(folder)) if has_data(folder) else ""


def make_command(run: Run) -> str | None:
    """The command that makes a run's dataset, or why there is none; None of a run that names no data."""
    place = str(run.spec.get("data") or run.data or "")
    return _make_command(run.data, place) if place else None


def _make_command(folder: Path | None, place: str) -> str:
    """The command that makes what is in a folder, from its own spec, at that place."""
    if is_audit(Path(place)):
        return f"# {place} is an audit, which shiftscope audit makes from files of your own"
    if folder is None or not has_data(folder):
        return f"# {place} does not hold the data that were used"
    spec = dict(Dataset.open(folder).manifest.spec)
    suite = spec.get("suite")
    if suite not in SUITES.names():
        return f"# {place} is a dataset of your own"
    module = SUITES.load(suite)
    version = spec.get("version")
    try:
        again: Again = module.again(spec)
    except (KeyError, TypeError):
        again = Again({}, why_not="its spec is not one of this version's")
    if version != module.VERSION:
        again = Again({}, why_not=f"{suite} is at version {module.VERSION} now, and it is of {version}")
    if again.why_not:
        return f"# {place} can not be made again: {again.why_not}"
    return command_line(f"shiftscope make {suite}", {**again.options, "out": place}, again.needs)


def _split_command(place: str, data: str) -> str | None:
    """The command that made the folder that a part is of; None for a mere list of ids."""
    folder = Path(place.rpartition(":")[0])
    if not place or not (folder / SPLIT).is_file():
        return None
    try:
        about = read_manifest(folder)
        named = {"name": about["name"]} if about["reported"] else {"hold-out": about["hold_out"]}
        test = next(part["split"] for name, part in about["parts"].items() if name.startswith("test"))
        given = named | {"shots": about["shots"], "seed": about["seed"], "test": test, "out": str(folder)}
    except (UserError, KeyError, StopIteration):
        return None
    return command_line(f"shiftscope split {quote(data)}", given)


def clean(data: Any) -> Any:
    """Without names and passwords in addresses, which a spec should not hold in the first place."""
    if isinstance(data, Mapping):
        return {key: clean(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [clean(value) for value in data]
    return SECRET.sub(r"\1", data) if isinstance(data, str) else data

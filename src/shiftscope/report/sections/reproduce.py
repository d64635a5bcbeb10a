"""Reproduce: the commands that make these runs and this page again, from the runs' own specs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from shlex import quote
from types import MappingProxyType
from typing import Any

from ...catalog import SUITES
from ...store.dataset import Dataset
from ..library import has_data
from ..markup import tag, text
from ..roles import asked_part, learned_part
from ..section import Section
from ..study import Run, Study

PLACE = 90
FILES = ("graphs", "val", "images")  # that a dataset was made from
NO_SOURCES: Mapping[str, str] = MappingProxyType({})
SECRET = re.compile(r"(://)[^/@\s]+@")  # a name and a password inside an address


def section(study: Study) -> Section | None:
    runs = study.each
    sources = {str(r.spec["data_id"]): str(r.spec.get("data")) for r in runs if r.spec.get("data_id")}
    commands = [*dict.fromkeys(filter(None, map(make_command, runs))), *(command(r, sources) for r in runs)]
    if all(r.folder for r in runs):
        moved = [str(r.data) for r in runs if r.data and str(r.data) != str(r.spec.get("data"))]
        words = [*(str(r.folder) for r in runs), *(["--data", moved[0]] if moved else [])]
        commands.append(" ".join(["shiftscope report", *map(quote, words), "--out report.html"]))
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
            tag("pre", "\n".join(commands), class_="commands", tabindex="0"),
            tag("h3", "What each run was, in full"),
            specs,
        ]
    )
    return Section("Make it again", body)


def command(run: Run, sources: Mapping[str, str] = NO_SOURCES) -> str:
    """The command line of a run, with all that its spec holds, so that it goes on in the run's own folder.

    `sources` tells where the dataset of an id is, for a model that learned from another one.
    """
    spec = clean(run.spec)
    prompt, price, learned = spec.get("prompt"), spec.get("price"), spec.get("learned_from")
    elsewhere = learned not in (None, spec.get("data_id"))
    given = {
        "model": spec.get("model"),
        "data": spec.get("data"),
        "split": spec.get("split"),
        "limit": spec.get("limit"),
        "condition": spec.get("conditions"),
        "mode": prompt.get("mode") if isinstance(prompt, Mapping) else None,
        "learn-from": sources.get(str(learned)) if elsewhere else None,
        "trained-on": spec.get("trained_on"),
        "price": ",".join(map(str, price)) if price else None,
        "max-tokens": spec.get("max_tokens"),
        "temperature": spec.get("temperature"),
        "parameters": json.dumps(spec["parameters"]) if spec.get("parameters") else None,
        "dtype": spec.get("dtype"),
        "seed": spec.get("seed"),
        "out": str(run.folder) if run.folder else None,
    }
    lacking = [f"--learn-from: the dataset of id {learned}"] if elsewhere and not given["learn-from"] else []
    lacking += [f"--part: {asked_part(spec)}"] if asked_part(spec) else []
    lacking += [f"--learn-part: {spec['learned_part']['name']}"] if learned_part(spec) else []
    return _words("shiftscope run", given) + (f"  # add {', '.join(lacking)}" if lacking else "")


def make_command(run: Run) -> str | None:
    """The command that makes a run's dataset, from the dataset's own spec; None where that is not known."""
    if run.data is None or not has_data(run.data):
        return None
    spec = dict(Dataset.open(run.data).manifest.spec)
    if spec.get("suite") not in SUITES.names():
        return None
    given = {
        name.replace("_", "-"): value for name, value in spec.items() if name not in ("suite", "version")
    }
    if isinstance(given.get("size"), list | tuple):
        given["size"] = "x".join(map(str, given["size"]))
    files = [name for option in FILES for name in _several(given.get(option))] if "graphs" in given else []
    if files:
        given |= {option: [_typed(name) for name in _several(given.get(option))] for option in FILES}
        given["overlap"] = [_judge(name) for name in _several(given.get("overlap"))]
    made = _words(f"shiftscope make {spec['suite']}", {**given, "out": str(run.spec.get("data") or run.data)})
    return made + (f"  # by name and content: {', '.join(files)}" if files else "")


def _several(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list | tuple) else [value]) if one]


def _typed(spelled: str) -> str:
    """The name of a file that a spec spells by name and digest."""
    return spelled.rpartition(" ")[0] or spelled


def _judge(spelled: str) -> str:
    """As `--overlap` takes it: `wordnet DIGEST` is `wordnet`, `table NAME DIGEST` is `table:NAME`."""
    kind, _, rest = spelled.partition(" ")
    name = {"wordnet": "", "table": _typed(rest)}.get(kind, rest)
    return f"{kind}:{name}" if name else kind


def _words(verb: str, given: Mapping[str, Any]) -> str:
    words = [verb]
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is True:
                words.append(f"--{name}")
            elif one not in (None, "") and one is not False:
                words += [f"--{name}", quote(str(one))]
    return " ".join(words)


def clean(data: Any) -> Any:
    """Without names and passwords in addresses, which a spec should not hold in the first place."""
    if isinstance(data, Mapping):
        return {key: clean(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [clean(value) for value in data]
    return SECRET.sub(r"\1", data) if isinstance(data, str) else data

"""Failures: examples that went wrong, with picture, answers and the step where they may part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from zlib import crc32

from ...result import Prediction
from ...store.dataset import Example
from ..card import Reply, card
from ..library import examples, has_data, replies
from ..markup import Html, tag, text
from ..number import count
from ..section import Section
from ..study import Run, Study, judged

PLACE = 70
MOST = 24  # cards


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that went wrong, and the row each run has for it."""

    question: str
    scene: str
    kind: str
    rows: tuple[tuple[Run, int], ...]
    wrong: tuple[Run, ...]


def section(study: Study) -> Section | None:
    study = study.home()
    shown: list[tuple[Failure, Example]] = []
    total = 0
    tests = [t for t in study.tests if any(r.test == t and r.data and has_data(r.data) for r in study.runs)]
    for test in tests:
        asked = [r for r in study.runs if r.test == test]
        runs = judged(asked)
        found = failures(runs)
        total += len(found)
        wanted = picked(found, -(-MOST // len(tests)))
        folder = next(r.data for r in asked if r.data and has_data(r.data))
        known = examples(folder, [f.question for f in wanted], str(runs[0].spec.get("split") or "") or None)
        shown += [(f, known[f.question]) for f in wanted if f.question in known]
    shown = shown[:MOST]
    if not shown:
        return None
    kinds = sorted({f.kind for f, _ in shown if f.kind})
    names = list(dict.fromkeys(r.contender for f, _ in shown for r in f.wrong))
    told = {run: replies(run, asked) for run, asked in _asked([f for f, _ in shown]).items()}
    cards = [_card(study, f, example, kinds, told) for f, example in shown]
    wide = sum(len(example.images) > 2 for _, example in shown)
    look = "cards many" if 2 * wide > len(cards) else "cards"
    body = text([_filters(study, names, kinds), tag("div", cards, class_=look, id="failure-cards")])
    lead = (
        f"{len(cards)} of {count(total)} questions that some model got wrong, taken in turn from every kind, "
        "those that most models got wrong first. A marked step of the program is one that, left out alone, "
        "gives just the wrong answer: a hint, not a proof of what the model did."
    )
    return Section("Failures, one by one", body, lead)


def failures(runs: Sequence[Run]) -> list[Failure]:
    """Every question that one of the runs got wrong; one without a known answer can not be."""
    rows: dict[str, list[tuple[Run, int]]] = defaultdict(list)
    wrong: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        bad = (run.records.truth.codes >= 0) & ~run.records.right
        for row, (question, failed) in enumerate(
            zip(run.records.question.listed(), bad.tolist(), strict=True)
        ):
            rows[question].append((run, row))
            if failed:
                wrong[question].append(run)
    return [
        Failure(question, *_place(*rows[question][0]), tuple(rows[question]), tuple(bad))
        for question, bad in wrong.items()
    ]


def _place(run: Run, row: int) -> tuple[str, str]:
    """The scene and the kind of a row."""
    kinds = dict(run.records.facts).get("kind")
    return str(run.records.cluster[row]), str(kinds[row] or "") if kinds is not None else ""


def picked(found: Iterable[Failure], most: int) -> list[Failure]:
    """A few of them: each kind in turn, the commonest failures first, one a scene while there are others.

    Among equals a checksum of the name decides, so that the choice is mixed and always the same.
    """
    by_kind: dict[str, list[Failure]] = defaultdict(list)
    for failure in sorted(found, key=lambda f: (-len(f.wrong), crc32(f.question.encode()))):
        by_kind[failure.kind].append(failure)
    in_turn = [
        f for turn in zip_longest(*(by_kind[k] for k in sorted(by_kind))) for f in turn if f is not None
    ]
    seen: set[str] = set()
    first: list[Failure] = []
    later: list[Failure] = []
    for failure in in_turn:
        (later if failure.scene in seen else first).append(failure)
        seen.add(failure.scene)
    return [*first, *later][:most]


def _asked(found: Sequence[Failure]) -> Mapping[Run, list[str]]:
    asked: dict[Run, list[str]] = defaultdict(list)
    for failure in found:
        for run, _ in failure.rows:
            asked[run].append(failure.question)
    return asked


def reply(study: Study, run: Run, row: int, said: Prediction | None = None) -> Reply:
    """What a run has in a row; `said` is the same in full, where that was read."""
    records = run.records
    answer = records.answer[row]
    astray = said is not None and records.program_right[row] == 0
    return Reply(
        run.contender,
        study.series(run.contender),
        None if answer is None else str(answer),
        str(records.status[row]),
        bool(records.right[row]),
        str(records.reason[row] or ""),
        said.raw if said and answer is None else "",
        said.program if said and astray else "",
        said.trace if said else "",
    )


def facts_of(run: Run, row: int) -> Mapping[str, object]:
    return {name: column[row] for name, column in run.records.facts if column[row] is not None}


def _card(
    study: Study,
    failure: Failure,
    example: Example,
    kinds: Sequence[str],
    told: Mapping[Run, Mapping[str, Prediction]],
) -> Html:
    return card(
        example,
        [reply(study, run, row, told[run].get(failure.question)) for run, row in failure.rows],
        facts_of(*failure.rows[0]),
        data_wrong=" ".join(str(study.series(run.contender)) for run in failure.wrong),
        data_kind=str(kinds.index(failure.kind)) if failure.kind else "",
    )


def _filters(study: Study, names: Sequence[str], kinds: Sequence[str]) -> Html:
    """Menus that a script shows and serves; without one they stay hidden and all cards are shown."""
    chosen = [
        ("wrong", "Wrong for", [(study.series(n), n) for n in names]),
        ("kind", "Kind", list(enumerate(kinds))),
    ]
    menus = [
        tag(
            "label",
            f"{label} ",
            tag(
                "select",
                tag("option", "any", value=""),
                [tag("option", n, value=v) for v, n in of],
                name=name,
            ),
        )
        for name, label, of in chosen
        if len(of) > 1
    ]
    return tag("div", menus, tag("output"), class_="filters", hidden=True, data_for="failure-cards")

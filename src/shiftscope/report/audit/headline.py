"""Headline: what the audit found, in two or three sentences and a few figures."""

from __future__ import annotations

from collections.abc import Iterator

from ...audit.tables import Line
from ...result import Score
from ..markup import Child, Html, tag
from ..number import count, percent, several
from .evidence import KNOWS, MOST_UNSEEN, Evidence, called

TELLING = ("question_only", "object_only", "prior")  # the models to tell of first


def title(shown: Evidence) -> str:
    return f"Shortcuts in {shown.source or 'the dataset'}"


def header(shown: Evidence) -> Html:
    verdict = [tag("p", said, class_="verdict") for said in _verdict(shown)]
    tiles = [
        tag("div", tag("dt", name), tag("dd", figure, tag("small", about)))
        for name, figure, about in _tiles(shown)
    ]
    return tag("header", tag("h1", title(shown)), verdict, tag("dl", tiles, class_="tiles"))


def _verdict(shown: Evidence) -> Iterator[Child]:
    top = shown.strongest
    if top is None:
        yield (
            "No shortcut was found: no group of the IID test has answers uneven enough "
            f"(normalised entropy below {shown.audit.settings.imbalanced:g}) with rare ones among them, so "
            "there is no OOD test set.",
        )
        return
    name = called(top.shortcut)
    yield [
        "The strongest shortcut is ",
        tag("b", top.shortcut),
        f", the {name}: {_uneven(shown, top)}, and ",
        tag("b", count(top.tail)),
        f" of {several(shown.audit.test[top.shortcut].grouped, 'IID test sample')}"
        f"{' whose objects are known' if top.outside else ''} have an answer that is rare for theirs: its "
        "OOD set.",
    ]
    told = [said for model in TELLING if (said := _blind(shown, model, top))][:2]
    if told:
        yield [told, _worst(shown, top)]
    elif guess := shown.guesses.get(top.shortcut):
        yield [
            "Always giving the answer that it most often had in training is right for ",
            *_two(guess.iid, guess.ood),
            ".",
        ]
    if shown.unseen > MOST_UNSEEN:
        yield (
            f"The objects of {percent(shown.unseen)}% of the samples are not known: what is said of "
            "shortcuts with KO holds for the others only."
        )


def _uneven(shown: Evidence, top: Line) -> str:
    same = f"answers that go with the same {called(top.shortcut)} are uneven"
    if shown.audit.train[top.shortcut].imbalanced.any():
        return f"in training, {same} (E = {top.degree:.2f}, where 1 is even)"
    return f"in the IID test, though not in training, {same}"


def _blind(shown: Evidence, model: str, top: Line) -> Child:
    iid, ood = shown.score(model, "iid"), shown.score(model, "ood", top.shortcut)
    return [f"A model that {KNOWS[model]} reaches ", *_two(iid, ood), ". "] if iid and ood else None


def _two(iid: Score, ood: Score) -> Iterator[Child]:
    yield tag("b", f"{percent(iid.value)}%")
    yield " of the IID test and "
    yield tag("b", f"{percent(ood.value)}%")
    yield " of that OOD set"


def _worst(shown: Evidence, top: Line) -> str:
    """Where the blind models fall furthest, if that is another set."""
    largest = _largest(shown)
    if largest is None or largest[2] == top.shortcut:
        return "No other OOD set costs blind models more." if len(shown.ranked) > 1 else ""
    gap, model, name = largest
    return f"The widest gap is that of {model} to the OOD set of {name}: {percent(gap)} points."


def _tiles(shown: Evidence) -> Iterator[tuple[str, str, str]]:
    audit = shown.audit
    parts = audit.split.counts()
    yield (
        "Samples",
        count(len(audit.samples)),
        f"{count(parts['train'])} train, {count(parts['val'])} val, {count(parts['test'])} IID test",
    )
    yield (
        "Shortcuts found",
        f"{len(shown.ranked)} of {len(audit.labels) + len(audit.missing)}",
        f"{len(audit.missing)} could not be looked for" if audit.missing else "all could be looked for",
    )
    if top := shown.strongest:
        yield "Most imbalanced", top.shortcut, f"evenness of answers {top.degree:.2f}; 1 is even"
    else:
        yield "Imbalanced groups", "0", f"of {several(sum(s.test_groups for s in shown.lines), 'group')}"
    drop = _largest(shown)
    if drop:
        yield "Largest blind gap", f"{percent(drop[0])} points", f"{drop[1]}, from IID test to OOD {drop[2]}"


def _largest(shown: Evidence) -> tuple[float, str, str] | None:
    found = [
        (gap.value, model, name)
        for model in shown.models
        for name in shown.audit.labels
        if (gap := shown.score(model, "gap", name)) and gap.value is not None
    ]
    return max(found, key=lambda one: one[0], default=None)

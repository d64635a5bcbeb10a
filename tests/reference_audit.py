"""The audit once more, slowly: plain Python from the formulas of VQA-VS, sharing no code with the fast one.

A sample is a dict with id, image, question, answer and type (or None). Concepts are tuples of words, with
None where there is nothing; a sample whose image is not annotated has None for a whole concept by objects,
and is in no group. Entropies are compared with a limit in whole numbers: with counts c of M answers,
N in all, H/log M < p/q means N^(qN) < M^(pN) · Π c^(qc).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

PARTS = {
    "QT": "t", "KW": "w", "KWP": "wW", "QT+KW": "tw", "KO": "o", "KOP": "oO",
    "QT+KO": "to", "KW+KO": "wo", "QT+KW+KO": "two",
}  # fmt: skip

Sample = dict[str, Any]


def words(text: str) -> list[str]:
    """Runs of letters and digits; an apostrophe or hyphen between two of them joins them."""
    found, now = [], ""
    low = text.lower().replace("’", "'")
    for k, mark in enumerate(low):
        inside = mark in "'-" and now and now[-1].isalnum() and low[k + 1 : k + 2].isalnum()
        if mark.isalnum() or inside:
            now += mark
        elif now:
            found.append(now)
            now = ""
    return [*found, now] if now else found


def type_of(sample: Sample, prefixes: tuple[str, ...]) -> str:
    """The given type, else the longest prefix that the question begins with."""
    if sample["type"]:
        return sample["type"]
    said = words(sample["question"])
    fits = [p for p in prefixes if said[: len(p.split())] == p.split()]
    return max(fits, key=lambda p: len(p.split()), default="none of the above")


def begins(sample: Sample, kind: str) -> bool:
    return words(sample["question"])[: len(words(kind))] == words(kind)


def rests(samples: list[Sample], types: list[str], prefixes: tuple[str, ...], whole: bool) -> list[set[str]]:
    """The words of each outside its type; one that is not of VQA must begin 99 of 100 of its questions."""
    if whole:
        return [set(words(s["question"])) for s in samples]
    how = {kind: [begins(s, kind) for s, t in zip(samples, types, strict=True) if t == kind] for kind in set(types)}
    cut = {
        kind for kind, all_ in how.items() if kind in prefixes or Fraction(sum(all_), len(all_)) >= Fraction(99, 100)
    }
    return [
        set(words(s["question"])[len(words(t)) if t in cut and begins(s, t) else 0 :])
        for s, t in zip(samples, types, strict=True)
    ]


def best(bags: list[set[str]], answers: list[str], counted: list[bool]) -> tuple[list[tuple[Any, Any]], Any]:
    """The two members of each bag with most information about the answer, and (pairs, samples, blind) unseen."""
    alone: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for bag, answer, counts in zip(bags, answers, counted, strict=True):
        if counts:
            alone.update(bag)
            together.update((w, answer) for w in bag)

    def rank(w: str, a: str) -> tuple[Any, ...]:
        share = Fraction(together[w, a], alone[w]) if alone[w] else Fraction(0)
        return (-share, -together[w, a], w)

    found = []
    for bag, answer in zip(bags, answers, strict=True):
        order = sorted(bag, key=lambda w, a=answer: rank(w, a))
        found.append(tuple([*order, None, None][:2]))
    never = {(w, a) for bag, a in zip(bags, answers, strict=True) for w in bag if not together[w, a]}
    holding = [[(w, a) in never for w in bag] for bag, a in zip(bags, answers, strict=True)]
    return found, (len(never), sum(map(any, holding)), sum(bool(h) and all(h) for h in holding))


def concepts(
    samples: list[Sample],
    objects: dict[Any, list[str]] | None,
    prefixes: tuple[str, ...],
    counted: list[bool] | None = None,
    pairs: str = "two",
    type_words: str = "out",
) -> tuple[dict[str, list[tuple[Any, ...] | None]], dict[str, Any]]:
    """Every sample's concept of each shortcut, and what was unseen of words and objects.

    `objects` names every annotated image, be it with nothing in it.
    """
    marked = counted or [True] * len(samples)
    answers = [s["answer"] for s in samples]
    types = [type_of(s, prefixes) for s in samples]
    keywords, unseen = best(rests(samples, types, prefixes, type_words == "in"), answers, marked)
    missed = {"words": unseen}
    letters: dict[str, list[Any]] = {"t": types, "w": [k[0] for k in keywords], "W": [k[1] for k in keywords]}
    if objects is not None:
        things, unseen = best([set(objects.get(s["image"], ())) for s in samples], answers, marked)
        missed["objects"] = unseen
        letters |= {"o": [k[0] for k in things], "O": [k[1] for k in things]}
    made = {
        shortcut: [
            concept if objects is None or s["image"] in objects or not set(parts) & set("oO") else None
            for s, *concept in zip(samples, *(letters[p] for p in parts), strict=True)
        ]
        for shortcut, parts in PARTS.items()
        if set(parts) <= letters.keys()
    }
    if pairs == "two":
        made["KWP"] = [concept if None not in concept else None for concept in made["KWP"]]
    return {name: [c and tuple(c) for c in found] for name, found in made.items()}, missed


def grouped(keys: list[Any], answers: list[str], rows: list[int]) -> dict[Any, Counter[str]]:
    found: dict[Any, Counter[str]] = defaultdict(Counter)
    for k in rows:
        if keys[k] is not None:
            found[keys[k]][answers[k]] += 1
    return dict(found)


def entropy(counts: Counter[str]) -> float:
    """Normalised; 1 for one answer."""
    if len(counts) == 1:
        return 1.0
    total = counts.total()
    return -math.fsum(c / total * math.log(c / total) for c in counts.values()) / math.log(len(counts))


def below(counts: Counter[str], limit: Fraction) -> bool:
    if len(counts) == 1:
        return False
    n, p, q = counts.total(), limit.numerator, limit.denominator
    return n ** (q * n) < len(counts) ** (p * n) * math.prod(c ** (q * c) for c in counts.values())


def heads_and_tails(groups: dict[Any, Counter[str]], kept: set[Any], rare: Fraction) -> dict[tuple[Any, str], str]:
    """head or tail of each (group, answer) of the groups kept."""
    made = {}
    for key in kept:
        mean = Fraction(groups[key].total(), len(groups[key]))
        for answer, count in groups[key].items():
            made[key, answer] = "tail" if count < rare * mean else "head"
    return made


def vqa_vs(keys: list[Any], answers: list[str], rows: list[int], limit: Fraction, rare: Fraction) -> dict[str, Any]:
    """Everything that the paper says of one shortcut's groups among some of the samples."""
    groups = grouped(keys, answers, rows)
    kept = {key for key, counts in groups.items() if below(counts, limit)}
    part = heads_and_tails(groups, kept, rare)
    return {
        "groups": groups,
        "imbalanced": kept,
        "head": [k for k in rows if part.get((keys[k], answers[k])) == "head"],
        "tail": [k for k in rows if part.get((keys[k], answers[k])) == "tail"],
        "degree": sum(entropy(c) * c.total() for c in groups.values())
        / max(1, sum(c.total() for c in groups.values())),
    }


def gqa_ood(keys: list[Any], answers: list[str], rows: list[int], rare: Fraction) -> dict[str, list[int]]:
    """Groups with a normalised entropy of at most mean − deviation over all groups are kept."""
    groups = grouped(keys, answers, rows)
    with localcontext() as context:
        context.prec = 80
        values = {key: _entropy(counts) for key, counts in groups.items()}
        mean = sum(values.values(), Decimal(0)) / len(values)
        deviation = (sum(((v - mean) ** 2 for v in values.values()), Decimal(0)) / len(values)).sqrt()
        kept = {key for key, value in values.items() if value <= mean - deviation + Decimal("1e-50")}
    part = heads_and_tails(groups, kept, rare)
    return {name: [k for k in rows if part.get((keys[k], answers[k])) == name] for name in ("head", "tail")}


def _entropy(counts: Counter[str]) -> Decimal:
    shares = [Decimal(c) / counts.total() for c in counts.values()]
    return -sum((p * p.ln() for p in shares), Decimal(0)) / Decimal(len(shares)).ln() if len(shares) > 1 else Decimal(1)

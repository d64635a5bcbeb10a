"""Questions about vehicles and their programs, to learn a parser from; none asks whether one thing is so."""

from itertools import product

NOUNS = {"sedan": "sedan", "truck": "truck", "school": "school bus", "jet": "jet", "wagon": "wagon"}
RELATIONS = {"left": "to the left of", "behind": "behind"}
COLORS = ("red", "blue", "green")


def find(shape):
    return f"filter(scene(), shape={shape})"


def plural(shape):
    return f"{NOUNS[shape]}es" if NOUNS[shape].endswith("s") else f"{NOUNS[shape]}s"


def build_pairs():
    """Questions which, how many, whether all are so; statements of how many; none asks whether one thing is so."""
    for (one, other), (name, said), (c, d) in product(
        zip(NOUNS, (*list(NOUNS)[1:], "sedan"), strict=True), RELATIONS.items(), (COLORS[:2], COLORS[1:])
    ):
        kind = "size" if name == "left" else "material"
        related = f"intersect({find(one)}, related({find(other)}, {name}))"
        thing, things = (
            f"{NOUNS[one]} that is {said} a {NOUNS[other]}",
            f"{plural(one)} that are {said} a {NOUNS[other]}",
        )
        yield f"Is the {thing} {c} or {d}?", f"choose(unique({related}), color, {c}, {d})"
        yield f"Is the {NOUNS[one]} {c} or {d}?", f"choose(unique({find(one)}), color, {c}, {d})"
        yield f"How many {plural(one)} are {said} a {NOUNS[other]}?", f"count({related})"
        yield f"All of the {things} are {c}.", f"all({related}, verify(it(), color={c}))"
        yield f"None of the {plural(one)} are {d}.", f"none({find(one)}, verify(it(), color={d}))"
        yield f"What is the color of the {thing}?", f"query(unique({related}), color)"
        for number, test in ((1, "at_least"), (2, "equal")):
            words = {"at_least": "at least", "equal": "exactly"}[test]
            kept = f"keep(group(filter({find(one)}, color={c})), {test}, {number})"
            yield (
                f"How many images contain {words} {number} {c} {NOUNS[one] if number == 1 else plural(one)}?",
                f"count({kept})",
            )
        yield (
            f"Is the {thing} the same {kind} as the {c} {NOUNS[one]}?",
            f"equal(query(unique({related}), {kind}), query(unique(filter({find(one)}, color={c})), {kind}))",
        )
        yield f"There are more {things} than {plural(other)}.", f"greater(count({related}), count({find(other)}))"

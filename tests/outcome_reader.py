"""A reader of CLEVR_HYP's texts that knows nothing of the templates: English in, a program out.

Written from the sentences alone, so that a wording that says something else than its program is found out.
"""

import re

from shiftscope.lang.program import Program, ProgramBuilder
from shiftscope.schemas.clevr import SCHEMA

VALUES = {v: (a.name, v) for a in SCHEMA.attributes for v in a.values} | {
    **dict.fromkeys(("big", "large"), ("size", "large")),
    **dict.fromkeys(("tiny", "small"), ("size", "small")),
    **dict.fromkeys(("metallic", "shiny", "metal"), ("material", "metal")),
    **dict.fromkeys(("matte", "rubber"), ("material", "rubber")),
    **dict.fromkeys(("ball", "sphere", "balls", "spheres"), ("shape", "sphere")),
    **dict.fromkeys(("block", "cube", "blocks", "cubes"), ("shape", "cube")),
    **dict.fromkeys(("cylinder", "cylinders"), ("shape", "cylinder")),
}
THINGS = ("thing", "things", "object", "objects")
PLACES = {
    **{f"to the {side} of": side for side in ("left", "right")},
    **{f"on the {side} side of": side for side in ("left", "right")},
    "in front of": "front",
    "behind": "behind",
    "on top of": "on",
    "below": "below",
    "underneath": "below",
}
PLACE = "|".join(PLACES)
A = r"(?P<a>size|color|material|shape)"
ADJECTIVE = "|".join(w for w, (a, _) in VALUES.items() if a != "shape")
NOUN = rf"(?:(?:{ADJECTIVE}) )*(?:" + "|".join((*THINGS, *(w for w, (a, _) in VALUES.items() if a == "shape"))) + r")\b"
NEAR, FAR = rf"(?:{PLACE}) the {NOUN}", rf"(?:{PLACE}) the .+"
MANY, ANY = "(?:how many of the|how many)", "(?:any of the|any other|any|an|a)"
DESCRIBED = re.compile(rf"({NOUN})(?: (?:that (?:is|are) )?({FAR}))?")
VERBS = re.compile(r"^(?:there be|you count|you see|you find|be|that are|that)\b ?")


class OutcomeReader(ProgramBuilder):
    """Reads one question about the outcome that some nodes lead to."""

    def __init__(self, outcome: Program) -> None:
        self.nodes = list(outcome.nodes)
        self.scene = len(self.nodes) - 1

    def read(self, text: str) -> Program:
        text = text[0].lower() + text[1:].rstrip("?")
        text = re.sub(r"\banything(?! else)", "any things", text)
        text = text.removesuffix(" as it")  # as the thing to look at or to find
        if not (self.read_value(text) or self.read_two_values(text) or self.read_numbers(text) or self.read_set(text)):
            raise AssertionError(f"nobody understands {text!r}")
        return self.build()

    # Phrases.

    def describe(self, words: str, at: int) -> int:
        for word in words.split():
            if word not in THINGS:
                at = self.put("filter", at, words=VALUES[word])
        return at

    def several(self, text: str) -> int:
        """Red cubes that are behind the ball, or both behind one and left of another, or not red."""
        for link, op in ((f"both ({NEAR}) and ({FAR})", "intersect"), (f"either ({NEAR}) or ({FAR})", "union")):
            if found := re.fullmatch(rf"({NOUN}) that (?:are|is) {link}", text):
                return self.describe(found[1], self.put(op, self.place(found[2]), self.place(found[3])))
        if found := re.fullmatch(rf"({NOUN}) that (?:are|is) not (?:a )?(\w+)(?: and (?:are|is) ({FAR}))?", text):
            at = self.describe(found[1], self.place(found[3]) if found[3] else self.scene)
            return self.put("exclude", at, words=VALUES[found[2]])
        if found := re.fullmatch(rf"things that are either ({NOUN}) or ({NOUN})", text):
            return self.put("union", *[self.describe(found[k], self.scene) for k in (1, 2)])
        found = DESCRIBED.fullmatch(text)
        if not found:
            raise AssertionError(f"no things: {text!r}")
        return self.describe(found[1], self.place(found[2]) if found[2] else self.scene)

    def one(self, text: str) -> int:
        return self.put("unique", self.several(text.removeprefix("the ")))

    def place(self, text: str) -> int:
        words = next(p for p in PLACES if text.startswith(f"{p} "))
        one = self.one(text.removeprefix(f"{words} "))
        if PLACES[words] == "below":
            return self.put("related", one, words=("on", "object"))
        return self.put("relate", one, words=(PLACES[words],))

    # Questions.

    def read_value(self, text: str) -> bool:
        start = "(?:find|look at|think of|consider|start from) (?P<X>the .+?)[;.] "
        beside = f"the (?P<T>{NOUN}) (?P<R>{PLACE}) it"
        for pattern, fixed in (
            (f"what would be the {A} of (?P<X>.+)", ""),
            (f"after that, what {A} is (?P<X>.+)", ""),
            (f"after that, what is the {A} of (?P<X>.+)", ""),
            ("after that, how large is (?P<X>.+)", "size"),
            (f"{start}[Ww]hat {A} would it (?:be|be made of)", ""),
            (f"{start}how large would it be", "size"),
            (f"{start}[Ww]hat would it be made of", "material"),
            (f"{start}[Ww]hat would be the {A} of {beside}", ""),
        ):
            if found := re.fullmatch(pattern, text):
                groups = found.groupdict()
                steps = f"the {groups['T']} that is {groups['R']} {found['X']}" if groups.get("T") else found["X"]
                self.put("query", self.one(steps), words=(fixed or found["a"],))
                return True
        return False

    def read_two_values(self, text: str) -> bool:
        for pattern, fixed in (
            (f"would (?P<X>the .+) (?:have|be|be of|be made of) the same {A} as (?P<Y>the .+)", ""),
            (
                f"(?:look at|find|consider) (?P<X>the .+)[.;] [Ww]ould it (?:have|be|be made of) the same {A} as (?P<Y>the .+)",
                "",
            ),
            (f"compare (?P<X>the {NOUN}) with (?P<Y>the .+)\\. Would they (?:have|be made of) the same {A}", ""),
        ):
            if found := re.fullmatch(pattern, text):
                asked = (fixed or found["a"],)
                self.put("equal", *[self.put("query", self.one(found[k]), words=asked) for k in "XY"])
                return True
        return False

    def read_numbers(self, text: str) -> bool:
        both = "count the (?P<X>.+), (?:then|and then count) the (?P<Y>.+)\\. Would"
        number = "would the number of (?P<X>.+)"
        for op, patterns in {
            "equal": (
                "would (?:there be exactly|you count just) as many (?P<X>.+) as (?P<Y>.+)",
                f"{both} (?:the two numbers be equal|the two numbers be the same|you get the same number both times)",
                f"{number} (?:equal|be the same as) the number of (?P<Y>.+)",
            ),
            "less": (
                "would (?:there be|you count) fewer (?P<X>.+) than (?P<Y>.+)",
                f"{both} (?:the first number be (?:smaller|lower than the second)|your first count be lower than your second)",
                f"{number} be (?:lower|smaller) than the number of (?P<Y>.+)",
            ),
            "greater": (
                "would (?:there be|you count) more (?P<X>.+) than (?P<Y>.+)",
                f"{both} (?:the first number be (?:greater|higher than the second)|your first count be higher than your second)",
                f"{number} be (?:higher|greater) than the number of (?P<Y>.+)",
            ),
        }.items():
            for pattern in patterns:
                if found := re.fullmatch(pattern, text):
                    self.put(op, *[self.put("count", self.several(found[k])) for k in "XY"])
                    return True
        return False

    def read_set(self, text: str) -> bool:
        """How many, or whether any: in whichever order the things, their place and what is said of them come."""
        alike = f"(?:have|of|be|be of|made of|be made of) the same {A}"
        others = f"(?:anything else|(?:any )?(?:other )?(?P<T>{NOUN}))"
        for pattern in (
            f"(?:find|look at|consider) (?P<X>the .+)[;.] (?P<how>{MANY}|would) {others}(?: would)? {alike}",
            f"(?P<how>would|{MANY}) (?:there be |you find )?{others}(?: would)?(?: you see)? {alike} as (?P<X>the .+)",
        ):
            if found := re.fullmatch(pattern, text, re.IGNORECASE):
                how = "exist" if found["how"].lower() == "would" else "count"
                return self.end(how, self.same(found["a"], found["X"], found["T"] or "things"))
        found = re.fullmatch(
            f"(?:find|look at|consider) (?P<X>the .+)[;.] (?P<how>{MANY}|would) (?:any )?(?:other )?(?P<T>{NOUN}) "
            f"(?:of the same|that share its) {A}(?: would)? be (?P<P>{FAR})",
            text,
            re.IGNORECASE,
        )
        if found:
            same = self.same(found["a"], found["X"], found["T"])
            how = "exist" if found["how"].lower() == "would" else "count"
            return self.end(how, self.put("intersect", same, self.place(found["P"])))
        if found := re.fullmatch("what would be the number of (?P<X>.+)", text):
            return self.end("count", self.several(found["X"]))
        for start, end in (
            (f"(?:consider all the|of the) (?P<T>{NOUN})[;,] how many would (?P<rest>.+)", "count"),
            (
                f"(?:among|look at) the (?P<T>{NOUN})(?: (?P<P>{FAR}))?[;,] would there be any (?P<rest>that are not .+)",
                "exist",
            ),
            (f"find (?P<X>the .+); {MANY} (?:other )?(?P<T>{NOUN}) (?P<R>{PLACE}) it would (?P<rest>.+)", "count"),
            (f"find (?P<X>the .+); would {ANY} (?P<T>{NOUN}) (?P<R>{PLACE}) it (?P<rest>.+)", "exist"),
            (f"find (?P<X>the .+); {MANY} (?P<T>{NOUN}) would be (?P<R>{PLACE}) it(?P<rest>)", "count"),
            (
                f"find (?P<X>the .+); would there be {ANY} (?P<T>{NOUN}) (?P<R>{PLACE}) it(?P<rest>| that are not .+)",
                "exist",
            ),
            (f"look at (?:all )?the (?P<T>{NOUN})(?: (?P<P>{FAR}))?; how many of them would (?P<rest>.+)", "count"),
            (f"look at the (?P<T>{NOUN})(?: (?P<P>{FAR}))?; would any of them (?P<rest>.+)", "exist"),
            (f"{MANY} (?:other )?(?P<T>{NOUN})(?: (?P<P>{FAR}))? would (?P<rest>.+)", "count"),
            (f"would {ANY} (?P<T>{NOUN}) (?P<P>{FAR}) (?P<rest>not be .+)", "exist"),
            (f"would {ANY} (?P<T>{NOUN}) (?P<P>{FAR}) (?P<rest>also be .+)", "exist"),
            (f"would {ANY} (?P<T>{NOUN}) (?P<P>{FAR}) (?P<rest>(?:be|have) .+)", "exist"),
            (f"after that, how many (?P<T>{NOUN}) are there(?P<rest>)", "count"),
            (f"after that, are there any (?P<T>{NOUN})(?P<rest>)", "exist"),
            (f"would (?:there be|you find|you see) {ANY} (?P<T>{NOUN}) ?(?P<rest>.*)", "exist"),
            (f"would {ANY} (?P<T>{NOUN}) (?P<rest>(?:be|have) .+)", "exist"),
        ):
            if found := re.fullmatch(start, text):
                groups = found.groupdict()
                place = f"{groups['R']} {groups['X']}" if groups.get("R") else groups.get("P")
                return self.end(end, self.read_clause(groups["T"], place, groups["rest"]))
        return False

    def read_clause(self, things: str, place: str | None, rest: str) -> int:
        """What is said of some things, perhaps in a place, after the verb."""
        rest = (
            VERBS.sub("", VERBS.sub("", rest.strip().removeprefix("also "))).removeprefix("also ").removeprefix("are ")
        )
        among = self.place(place) if place else self.scene
        if not rest:
            return self.describe(things, among)
        for pattern, op in (
            (f"(?:both )?({NEAR}) and (?:also )?({FAR})", "intersect"),
            (f"(?:either )?({NEAR}) or ({FAR})", "union"),
        ):
            if found := re.fullmatch(pattern, rest):
                return self.describe(things, self.put(op, self.place(found[1]), self.place(found[2])))
        if found := re.fullmatch(f"({NEAR}) (?:and also have|and also be made of) the same {A} as (.+)", rest):
            return self.put("intersect", self.same(found["a"], found[3], things), self.place(found[1]))
        if found := re.fullmatch(f"(?:have |made of )?the same {A} as (.+)", rest):
            alike = self.same(found["a"], found[2], things)
            return self.put("intersect", alike, among) if place else alike
        if found := re.fullmatch(rf"(?:either )?(\w+|{NOUN}) or (\w+|{NOUN})", rest):
            described = self.describe(things, among)
            return self.put("union", *[self.describe(found[k], described) for k in (1, 2)])
        if found := re.fullmatch(rf"not (?:be )?(\w+)(?: and are ({FAR}))?", rest):
            at = self.place(found[2]) if found[2] else among
            return self.put("exclude", self.describe(things, at), words=VALUES[found[1]])
        if re.fullmatch(FAR, rest):
            at = self.place(rest)
            return self.describe(things, self.put("intersect", among, at) if place else at)
        raise AssertionError(f"no clause: {rest!r}")

    def same(self, attribute: str, one: str, things: str) -> int:
        return self.describe(things, self.put("same", self.one(one), words=(attribute,)))

    def end(self, op: str, at: int) -> bool:
        self.put(op, at)
        return True

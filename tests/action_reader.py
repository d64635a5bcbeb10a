"""A reader of CLEVR_HYP's action texts that knows nothing of how they are worded: English and a scene in, a scene out.

Written from the sentences alone; what is read twice must mean the same.
"""

import re

from shiftscope.edit import AddObject, ChangeAttributes, MoveObject, RemoveObjects, SwapObjects
from shiftscope.scene import Object, Scene
from shiftscope.schemas.clevr import SCHEMA

WORDS = {
    **{v: (a.name, v) for a in SCHEMA.attributes for v in a.values},
    "big": ("size", "large"),
    "tiny": ("size", "small"),
    **dict.fromkeys(("metallic", "shiny"), ("material", "metal")),
    "matte": ("material", "rubber"),
    "ball": ("shape", "sphere"),
    "block": ("shape", "cube"),
}
SHAPES = [w for w, (attribute, _) in WORDS.items() if attribute == "shape"]
ADJECTIVES = [w for w in WORDS if w not in SHAPES]
PLACES = {
    **{f"to the {side} of": side for side in ("left", "right")},
    **{f"on the {side} side of": side for side in ("left", "right")},
    "in front of": "front",
    "behind": "behind",
    "onto": "on",
    "on top of": "on",
    "on": "on",
}
ADJECTIVE, PLACE = f"(?:{'|'.join(ADJECTIVES)})", f"(?:{'|'.join(PLACES)})"
NOUN = rf"(?:{ADJECTIVE} )*(?:(?:{'|'.join(SHAPES)}|thing|object)s?)\b"
PHRASE = rf"(?:(?:the|all|all the|all of the) {NOUN}(?: that (?:is|are) {PLACE} the {NOUN})?|it|the copy|the new \w+)"
OLD, ANCHOR, SOURCE = (rf"(?P<{name}>{PHRASE})" for name in ("old", "anchor", "source"))
NEW, AT, THERE = rf"(?P<new>an? {NOUN})", rf"(?P<place>{PLACE}) {ANCHOR}", "(?:(?:to|into|in|somewhere in) the scene)"
LOOK = rf"(?P<look>(?:an? )?{NOUN}|{ADJECTIVE}(?:, {ADJECTIVE})*(?: and {ADJECTIVE})?)"
A, BE = "(?P<attribute>size|color|material|shape)", "(?:is|are)"
ADD, ADDED = (
    "(?:adds?|puts?|brings?(?: in)?|places?|introduces?|sets? down|positions?)",
    "(?:added|put|brought|placed|set down)",
)
SO = r"so that (?:it|they) (?:is|are|becomes?)"
LIKE = rf"(?:that has|of) the same {A} as {SOURCE}"
READINGS = {
    "remove": (
        f"(?:removes?|deletes?) {OLD} from the scene",
        f"takes? {OLD} out of the scene",
        f"(?:takes? away|clears? away|gets? rid of) {OLD}",
        f"{OLD} {BE} (?:removed from the scene|taken away|taken out of the scene)",
        f"{OLD} (?:disappears?|(?:vanish|vanishes) from the scene)",
    ),
    "move": (
        f"(?:moves?|lifts?|puts?) {OLD} {AT}",
        f"(?:moves?|shifts?) {OLD} {SO} {AT}",
        f"lifts? {OLD} and sets? it down {AT}",
        f"(?:takes?|picks? up) {OLD} and (?:places?|puts?) it (?:down )?{AT}",
        f"{OLD} is (?:moved|put|lifted|stacked|placed) {AT}",
        f"{OLD} is (?:moved|shifted) {SO} {AT}",
        f"{OLD} is (?:picked up|lifted) and (?:put down|set down|placed) {AT}",
    ),
    "swap": (
        f"(?:swaps?|switches|switch|exchanges?) the positions of {OLD} and {ANCHOR}",
        f"(?:lets?|makes?) {OLD} (?:trade|swap) places with {ANCHOR}",
        f"{OLD} (?:swaps|trades|changes) places with {ANCHOR}",
        f"the positions of {OLD} and {ANCHOR} are (?:swapped|exchanged)",
    ),
    "add": (
        f"{ADD} {NEW} (?:{THERE}|{AT})",
        f"{NEW} (?:is {ADDED}|appears) (?:{THERE}|{AT})",
        f"{ADD} {NEW} {LIKE}(?: {THERE})?",
        f"{ADD} {NEW}, {LIKE}, {AT}",
        f"{NEW} {LIKE} (?:is {ADDED}|appears)(?: {THERE}| {AT})?",
        f"(?:clones?|copy|copies|duplicates?) {SOURCE} and (?:puts?|places?) the copy {AT}",
        f"makes? a copy of {SOURCE} and sets? it down {AT}",
        f"(?:copy|copies) {SOURCE} and sets? the copy down {AT}",
        f"{SOURCE} is (?:cloned|copied) and the copy is (?:put|placed) {AT}",
        f"a copy of {SOURCE} (?:appears|is set down|is added) {AT}",
    ),
    "change": (
        f"(?:paints?|colors?|makes?) {OLD} {LOOK}",
        f"takes? {OLD} and (?:paints?|makes?) (?:it|them) {LOOK}",
        f"takes? {OLD} and turns? (?:it|them) into {LOOK}",
        f"changes? the {A} of {OLD} to {LOOK}",
        f"(?:turns?|reshapes?|transforms?|changes?|converts?) {OLD} into {LOOK}",
        f"remakes? {OLD} in {LOOK}",
        f"(?:changes?|alters?|transforms?) {OLD} {SO} {LOOK}",
        f"(?P<grow>enlarge|shrink)s? {OLD}",
        f"takes? {OLD} and (?P<grow>enlarge|shrink)s? (?:it|them)",
        f"changes? {OLD} so that (?:it is|they are) made of {LOOK}",
        f"{OLD} {BE} changed so that (?:it is|they are) made of {LOOK}",
        f"{OLD} {BE} (?:painted|repainted|made) {LOOK}",
        f"{OLD} (?:turns?|becomes?) {LOOK}",
        f"the {A} of {OLD} is changed to {LOOK}",
        f"{OLD} {BE} (?:turned|transformed|reshaped|changed|converted) into {LOOK}",
        f"{OLD} {BE} remade in {LOOK}",
        f"{OLD} {BE} (?:changed|altered|transformed|resized) {SO} {LOOK}",
        f"{OLD} {BE} (?P<grow>enlarged|shrunk)",
    ),
}
PATTERNS = [(op, re.compile(pattern)) for op, patterns in READINGS.items() for pattern in patterns]


class ActionReader:
    """Does what a text says to a scene; each sentence to what the one before it left."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.spoken_of: int | None = None  # what "it" is

    def read(self, text: str) -> Scene:
        for clause in re.split(r"; then |, and then ", text.removesuffix(".")):
            clause = re.sub(r"^(?:(?!All |The )[A-Z]\w+|she|he) (?=\w+s\b)", "", clause)
            clause = clause[0].lower() + clause[1:]
            readings = {}
            for op, pattern in PATTERNS:
                if found := pattern.fullmatch(clause):
                    groups = {name: said for name, said in found.groupdict().items() if said}
                    if op == "change":
                        groups.pop("attribute", None)  # the value tells
                    readings[op, tuple(sorted(groups.items()))] = op, groups
            if len(readings) != 1:
                raise AssertionError(f"{len(readings)} ways to understand {clause!r}: {list(readings)}")
            ((op, groups),) = readings.values()
            self.scene = getattr(self, f"do_{op}")(groups).apply(self.scene)
        return self.scene

    def do_remove(self, said: dict[str, str]) -> RemoveObjects:
        return RemoveObjects(tuple(self.find(said["old"])))

    def do_move(self, said: dict[str, str]) -> MoveObject:
        return MoveObject(self.find_one(said["old"]), PLACES[said["place"]], self.find_one(said["anchor"]))

    def do_swap(self, said: dict[str, str]) -> SwapObjects:
        return SwapObjects(self.find_one(said["old"]), self.find_one(said["anchor"]))

    def do_add(self, said: dict[str, str]) -> AddObject:
        values = dict(read_values(said.get("new", "")))
        if "source" in said:
            like = self.scene.objects[self.find_one(said["source"])]
            asked = [said["attribute"]] if "attribute" in said else [a.name for a in SCHEMA.attributes]
            assert not values.keys() & set(asked), said
            values |= {a: like.values(a)[0] for a in asked}
        thing = Object(tuple((a.name, values[a.name]) for a in SCHEMA.attributes))
        if "place" not in said:
            return AddObject(thing)
        return AddObject(thing, PLACES[said["place"]], self.find_one(said["anchor"]))

    def do_change(self, said: dict[str, str]) -> ChangeAttributes:
        grown = {"enlarge": "large", "enlarged": "large", "shrink": "small", "shrunk": "small"}
        values = dict(read_values(said.get("look", "")))
        if "grow" in said:
            assert values.get("size", grown[said["grow"]]) == grown[said["grow"]]
            values["size"] = grown[said["grow"]]
        things = self.find(said["old"])
        self.spoken_of = things[0] if len(things) == 1 else None
        order = [a.name for a in SCHEMA.attributes]
        return ChangeAttributes(tuple(things), tuple(sorted(values.items(), key=lambda pair: order.index(pair[0]))))

    def find_one(self, phrase: str) -> int:
        (one,) = self.find(phrase)
        return one

    def find(self, phrase: str) -> list[int]:
        if phrase == "it":
            assert self.spoken_of is not None
            return [self.spoken_of]
        objects = self.scene.objects
        if phrase == "the copy" or phrase.startswith("the new "):
            assert all(value in objects[-1].values(a) for a, value in read_values(phrase))
            return [len(objects) - 1]
        words, _, rest = phrase.partition(" that ")
        things = [i for i, o in enumerate(objects) if all(value in o.values(a) for a, value in read_values(words))]
        if rest:
            place, anchor = re.fullmatch(rf"(?:is|are) ({PLACE}) (the {NOUN})", rest).groups()
            near = self.scene.relation(PLACES[place])[self.find_one(anchor)]
            things = [i for i in things if near >> i & 1]
        assert len(things) == 1 if words.startswith("the ") else len(things) > 1, phrase
        return things


def read_values(words: str) -> list[tuple[str, str]]:
    known = (WORDS.get(w) or WORDS.get(w.removesuffix("s")) for w in re.findall(r"\w+", words))
    return [pair for pair in known if pair]

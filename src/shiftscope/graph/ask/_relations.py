"""Relations as English predicates: "on", "wearing", "wears", "wear", "pv:attach to", "has".

A predicate is said either with "be" ("is on", "is wearing") or with a verb of its own in the simple present
("has", "surrounds").
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ...ask.english import gerund, past_participle, third_person
from ._listed import listed


class Predicate(NamedTuple):
    """A relation without its object; `verb` is empty where it is said with "be"."""

    verb: str  # "have", "surround"
    rest: str  # after the verb or after "be": "", "to", "on", "wearing", "parked on"

    @property
    def manner(self) -> int:
        """Where something is, what it is doing, what it does: such are not mixed after a noun."""
        if self.verb:
            return 2 if self.verb != "have" else 3
        return 1 if self.rest.partition(" ")[0].endswith("ing") else 0

    @property
    def is_place(self) -> bool:
        """Whether it says where something is, up to its object: "sitting on", not "wearing" nor "made of"."""
        return self.rest.rpartition(" ")[2] in _LOCATING and not self.rest.startswith(_NOT_LOCATING)

    def finite(self, plural: bool) -> str:
        """is on, are wearing, has, surround."""
        if not self.verb:
            return f"{'are' if plural else 'is'} {self.rest}"
        return _joined(self.verb if plural else third_person(self.verb), self.rest)

    def reduced(self) -> str:
        """After a noun, without "that is": on, wearing, with, surrounding."""
        if not self.verb:
            return self.rest
        return "with" if self.verb == "have" and not self.rest else _joined(gerund(self.verb), self.rest)

    def bare(self) -> str:
        """In a question, after "is it" or "does it": on, wearing, have, surround."""
        return _joined(self.verb, self.rest)


_LOCATING = listed(
    """on, in, at, by, near, under, over, above, below, behind, beside, inside, into, onto, from,
    through, across, along, to, of"""
)
_NOT_LOCATING = (
    "covered",
    "filled",
    "made",
    "full",
    "mixed",
    "topped",
    "wrapped",
    "in the shape",
    "grazing on",
)
# What may stand after "is" and before a noun.
PLACES = listed(
    """on, in, at, by, near, under, over, above, below, behind, beside, beneath, underneath, inside,
    outside, against, around, across, along, alongside, atop, beyond, within, amid, between, among,
    amongst, on top of, in front of, next to, close to, to the left of, to the right of, to the side of,
    opposite, across from, away from, far from, in the middle of, in the center of, on the side of, on
    the back of, on the front of, on the edge of, at the edge of, on the bottom of, at the bottom of, at
    the top of, on the top of, at the end of, at the base of, at the foot of, at the rear of, in the
    corner of, on the corner of, on the face of, on the far side of, on the other side of, on the left
    side of, on the right side of, on both sides of, on either side of, on each side of, on the rim of,
    on the curb of, side by side with, in the back of, in the shape of, parallel to, perpendicular to,
    adjacent to, up against, past, on the inside of, on the outside of, facing, in between, full of,
    halfway up, surrounded by, covered by, covered in, covered with, made of, filled with, on the tip
    of, on the surface of, on the lid of, on the hood of, on the chest of, in the rear of"""
)
# As files have it → as it is said.
_SAID = {
    "in back of": "behind",
    "on back of": "on the back of",
    "on middle of": "in the middle of",
    "in middle of": "in the middle of",
    "on center of": "in the center of",
    "on bottom of": "at the bottom of",
    "on end of": "at the end of",
    "in end of": "at the end of",
    "in side of": "inside",
    "in edge of": "on the edge of",
    "in face of": "on the face of",
    "at left of": "to the left of",
    "at the left of": "to the left of",
    "at the right of": "to the right of",
    "left of": "to the left of",
    "right of": "to the right of",
    "on the left of": "to the left of",
    "on the right of": "to the right of",
    "to left of": "to the left of",
    "to right of": "to the right of",
    "left": "to the left of",
    "right": "to the right of",
    "front": "in front of",
    "back": "behind",
    "upon": "on",
    "perch on": "perched on",
    "perching on": "perched on",
    "on inside of": "inside",
    "opposite of": "opposite",
    "on either sides of": "on either side of",
    "on top": "on top of",
    "beneath of": "beneath",
    "underneath of": "underneath",
    "under neath": "underneath",
    "inside of": "inside",
    "outside of": "outside",
    "near to": "near",
    "with": "have",
    "has on": "wear",
    "have on": "wear",
    "having": "have",
    "contains": "contain",
    "look out": "look out of",
    "wash upon": "wash up on",
}
_BEFORE_OF = (
    *("side", "back", "front", "middle", "center", "edge", "bottom", "end", "base", "foot", "rear", "corner"),
    *(
        "face",
        "rim",
        "curb",
        "top",
        "tip",
        "surface",
        "lid",
        "hood",
        "chest",
        "shape",
        "far side",
        "left side",
    ),
    *("right side", "other side", "inside", "outside"),
)
AFTER_VERBS = PLACES | listed(  # particles and prepositions between a verb and its object
    """to, from, into, onto, through, up, down, off, with, for, toward, towards, about, after, before,
    without"""
)
# Verbs of states and of what things are there for: said in the simple present.
STATES = listed(
    """have, contain, surround, support, cover, face, overlook, line, border, separate, show, depict,
    display, belong, match, connect, lead, enclose, encircle, reflect, feature, form, span, decorate,
    adorn, protect, own, need, like, want, love, block, resemble, divide, extend, stick, protrude,
    illuminate, mark, say, shade, top, overlap, obscure, advertise, provide, include, fill, frame, host,
    house, sell, consist, project, jut, stretch"""
)
# Verbs that take no object without a preposition.
WITHOUT_OBJECT = listed(
    """sit, stand, lie, lay, wait, rest, hang, go, look, work, stroll, lean, pose, stare, sleep, kneel,
    crouch, squat, gaze, smile, talk, float, swim, run, come, arrive, belong, lead, fall, emerge,
    protrude, extend, grow, perch, graze, hover, land, travel, crash, shine, gather, consist, appear,
    point, step, bend, curl, dine, dive, fight, flow, gallop, glide, head, jog, jut, listen, lounge,
    peek, peep, relax, shop, sail, snooze, soar, stay, sunbathe, trot, turn, wade, interact,
    concentrate, project, stick, stretch, reach, trick, move, skate, ski, skateboard, snowboard,
    surfboard, do, set, put, place, get, is, be, take, give, end, see, miss, care, cool, clump, mound,
    heap, hand, shape, side, color, screen, rail, plate, rig, wind, start, finish, bat, stop, park,
    close, wave, blow, spread, drape, tie, text, attach, mount, breath, butt, order, perform, stunt,
    count, form, convert, mix, suspend, want, taste, test, attend, shake, train, draw, roll, slide,
    wrap, splash, fold, connect, reveal, access, fit"""
)
# Verbs that do not go without an object: "holding in a hand" says nothing.
NEEDS_OBJECT = listed(
    """hold, wear, carry, touch, use, throw, grab, hit, put, enjoy, transport, attach, mount, catch,
    release, greet, steer, handle, lick, kick, support, tie, give, make, take, bat, prop, place,
    surround, enclose, watch, cover, contain, wash, assist, bury, emit, investigate, cast, convert,
    decorate, serve, sell, count, herd, hand, border, block, have, own, mark, line, text, do, provide,
    feature, illuminate, need, want, show, depict, separate, display, form, fill, search, chase, pet,
    hug, kiss, cross, paint, plate, board, secure"""
)
_PARTICLES = listed(
    "hold up, hold onto, put on, grab onto, cross over, throw up, lead up to, cast on, search in"
)
VERBS = listed(
    """access, adjust, adorn, advertise, aim, approach, arrange, arrive, ascend, assemble, assist,
    attach, attend, balance, bake, bark, bat, bathe, beat, belong, bend, bite, block, blow, board,
    border, bow, break, browse, brush, build, bump, bury, buy, call, carry, carve, cast, catch, chase,
    chat, check, cheer, chew, chop, clap, clean, climb, cling, close, comb, come, connect, contain,
    control, cook, cool, count, cover, crash, crawl, cross, crouch, cuddle, curl, curve, cut, dance,
    decorate, depict, descend, dig, dine, dip, direct, display, dive, divide, do, drag, drape, draw,
    dress, drift, drink, drive, drop, dry, eat, embrace, emerge, emit, encircle, enclose, end, enjoy,
    enter, examine, exit, extend, face, fall, feature, feed, fight, fill, fish, fix, flap, flip, float,
    flow, fly, fold, follow, form, frame, gallop, gather, gaze, get, give, glide, go, grab, grasp,
    graze, greet, grill, grip, groom, grow, guard, guide, hand, handle, hang, have, head, help, herd,
    hide, hike, hit, hold, hop, hover, hug, hunch, illuminate, inspect, interact, investigate, jog,
    jump, jut, kick, kiss, kneel, knit, land, laugh, launch, lay, lead, lean, leap, leave, lick, lie,
    lift, light, like, line, listen, load, look, lounge, love, lower, make, maneuver, mark, match,
    measure, meet, milk, mount, move, mow, munch, need, nibble, nurse, nuzzle, observe, obscure, open,
    operate, overlap, overlook, own, paddle, paint, park, pass, pat, paw, peck, pedal, peek, peel, peep,
    perch, perform, pet, photograph, pick, pitch, play, plow, point, poke, polish, pose, pour, practice,
    prepare, press, project, protect, protrude, provide, pull, punch, push, put, race, raise, rake,
    reach, read, receive, reflect, relax, release, repair, rest, return, ride, roam, roast, roll, row,
    rub, run, sail, salute, scratch, search, secure, sell, separate, serve, sew, shade, shake, shave,
    shield, shine, shoot, shop, show, sing, sip, sit, skate, skateboard, ski, skip, sleep, slice, slide,
    smell, smile, smoke, sniff, snooze, snowboard, soar, span, spill, spin, splash, spray, spread,
    squat, squeeze, stand, stare, stay, steer, step, stick, stir, straddle, stretch, stroke, stroll,
    sunbathe, support, surf, surround, swim, swing, take, talk, taste, teach, throw, tie, toss, touch,
    tow, train, transport, travel, trim, trot, turn, type, use, wade, wait, walk, wash, watch, water,
    wave, wear, weigh, wipe, work, wrap, write, yawn, want, resemble, include, host, house, top, trick,
    text, say, snack, hunt"""
)
_TRICK = "doing a trick"
_AS_MEANT = {"lay": "lie"}  # what lies is said to "lay" in most captions
_GERUNDS = {gerund(verb): verb for verb in sorted(VERBS)} | {"laying": "lay", "layed": "lay"}
_THIRD = {third_person(verb): verb for verb in sorted(VERBS)}
_PARTICIPLES = {past_participle(verb): verb for verb in sorted(VERBS)}
_NO_GERUND = listed(
    "during, according, including, regarding, considering, concerning, string, ring, king, wing"
)
REFUSED = listed(
    """of, part of, as, is, are, more than, less than, from, to, for, into, onto, through, up, down,
    off, out, out of, toward, towards, up to, about, like, than, same as, and, or, not, without, via,
    per, upside of, be, both, on the shape of, take in, take at, take on, missing, see, seen in, splash
    out of, splash from, in order to, shape of, type of, kind of, say, saying, called, named, consist,
    consist of, come with, called by, used as, used for, used in"""
)


@lru_cache(maxsize=8192)
def predicate(relation: str) -> Predicate | None:
    """The relation as a predicate, or nothing if we have no good way to say it."""
    words = relation.strip().lower()
    passive = words.startswith("pv:")
    words = words.removeprefix("pv:").removeprefix("v:")
    words = _SAID.get(words, words)
    if words.startswith(("is ", "are ")):
        words = words.partition(" ")[2]
    if words in REFUSED or not words.replace(" ", "").replace("-", "").isalpha():
        return None
    words = _with_the(words.removesuffix("upon") + "on" if words.endswith(" upon") else words)
    if words in PLACES and not passive:
        return Predicate("", words)
    first, _, tail = words.partition(" ")
    if passive:
        known = tail in AFTER_VERBS or (first, tail) == ("make", "of")
        return Predicate("", f"{past_participle(first)} {tail}") if known else None
    if first.endswith("er") and tail == "than":
        return Predicate("", words)
    if first in ("trick", "tricking") and tail in AFTER_VERBS:
        return Predicate("", f"{_TRICK} {tail}")
    if words.startswith(_TRICK) and words.removeprefix(_TRICK).strip() in AFTER_VERBS:
        return Predicate("", words)
    return _with_verb(first, tail)


def _with_verb(first: str, tail: str) -> Predicate | None:
    verb = next((table[first] for table in (_GERUNDS, _THIRD) if first in table), first)
    if tail and tail not in AFTER_VERBS:
        return None
    if verb in VERBS:
        if (verb in NEEDS_OBJECT and f"{verb} {tail}" not in _PARTICLES) if tail else verb in WITHOUT_OBJECT:
            return None
        if verb in ("lay", "lie") and tail == "down":
            return None
        verb = _AS_MEANT.get(verb, verb)
        return Predicate(verb, tail) if verb in STATES else Predicate("", _joined(gerund(verb), tail))
    if first in _PARTICIPLES or (first.endswith("ed") and len(first) > 4):
        return Predicate("", f"{first} {tail}") if tail else None
    if first.endswith("ing") and len(first) > 4 and first not in _NO_GERUND:
        return Predicate("", _joined(first, tail))
    return None


def _with_the(words: str) -> str:
    """on side of → on the side of, sit on edge of → sit on the edge of."""
    for short, said in _SAID.items():
        if words.endswith(f" {short}") and short.endswith(" of") and not words.endswith(f" the {short}"):
            return f"{words.removesuffix(short)}{said}"
    head, space, _ = words.rpartition(" of")
    if space and words.endswith(" of"):
        for noun in _BEFORE_OF:
            for preposition in ("on", "in", "at"):
                start = f"{preposition} {noun}"
                if (head == start or head.endswith(f" {start}")) and start not in ("on top", "in front"):
                    return f"{head.removesuffix(start)}{preposition} the {noun} of"
    return words


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)

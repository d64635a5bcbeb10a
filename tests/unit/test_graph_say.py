"""Subgraphs in English: articles, number, agreement, relations of every form, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import random_graph
from shiftscope.graph.ask import inquire, say
from shiftscope.graph.extract import subgraphs
from shiftscope.graph.pack import pack
from shiftscope.graph.subgraph import Link, Modifier, Thing
from shiftscope.schemas import superclevr
from shiftscope.schemas.gqa import SCHEMA as GQA

WOMAN = Thing("woman", "", (Link("wearing", Thing("glasses")),))


def thing(name, *links, attribute=""):
    """A thing and its relations, each (relation, name or thing)."""
    return Thing(name, attribute, tuple(Link(r, t if isinstance(t, Thing) else Thing(t)) for r, t in links))


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("sink", ("below", "towel")), "the sink that is below a towel"),
        (thing("trees", ("behind", "zebra")), "the trees that are behind a zebra"),
        (thing("grass", ("in", "field")), "the grass that is in a field"),
        (thing("people", ("with", "umbrellas")), "the people that have umbrellas"),
        (thing("man", attribute="looking up"), "the man that is looking up"),
        (
            thing("cup", ("on", thing("table", ("in front of", "man")))),
            "the cup that is on a table that is in front of a man",
        ),
        (
            thing("woman", ("wearing", "dress"), ("holding", "bouquet")),
            "the woman that is holding a bouquet and is wearing a dress",
        ),
        (thing("tv", attribute="old"), "the old TV"),
    ],
)
def test_one(subgraph, said):
    assert say.sayable(subgraph)
    assert say.one(subgraph) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("apple", "an apple"),
        ("pants", "pants"),
        ("hair", "hair"),
        ("sky", "the sky"),
        ("table cloth", "a table cloth"),
        ("toilet paper", "toilet paper"),
        ("bottle of wine", "a bottle of wine"),
        ("bus", "a bus"),
        ("SUV", "an SUV"),
    ],
)
def test_an_article_is_what_the_noun_wants(name, said):
    assert say.one(Thing(name), "a") == said


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("man", ("in", "water")), "men that are in the water"),
        (thing("person", ("wearing", "hat")), "people that are wearing a hat"),
        (thing("giraffe", ("has", Thing("tail", "long"))), "giraffes that have a long tail"),
        (thing("people", ("on", "beach")), "people that are on the beach"),
        (thing("water", ("in", "pool")), "water that is in a pool"),
        (thing("sheep", ("eating", "grass")), "sheep that are eating grass"),
    ],
)
def test_many(subgraph, said):
    assert say.many(subgraph) == said


@pytest.mark.parametrize(
    ("relation", "singular", "plural", "after_a_noun"),
    [
        ("on", "is on a hat", "are on a hat", "on a hat"),
        ("left", "is to the left of a hat", "are to the left of a hat", "to the left of a hat"),
        ("wearing", "is wearing a hat", "are wearing a hat", "wearing a hat"),
        ("wears", "is wearing a hat", "are wearing a hat", "wearing a hat"),
        ("wear", "is wearing a hat", "are wearing a hat", "wearing a hat"),
        ("sit on", "is sitting on a hat", "are sitting on a hat", "sitting on a hat"),
        ("lay on", "is lying on a hat", "are lying on a hat", "lying on a hat"),
        ("has", "has a hat", "have a hat", "with a hat"),
        ("with", "has a hat", "have a hat", "with a hat"),
        ("cover", "covers a hat", "cover a hat", "covering a hat"),
        ("pv:attach to", "is attached to a hat", "are attached to a hat", "attached to a hat"),
        ("parked on", "is parked on a hat", "are parked on a hat", "parked on a hat"),
        ("on side of", "is on the side of a hat", "are on the side of a hat", "on the side of a hat"),
        ("taller than", "is taller than a hat", "are taller than a hat", "taller than a hat"),
        ("trick on", "is doing a trick on a hat", "are doing a trick on a hat", "doing a trick on a hat"),
        ("is near", "is near a hat", "are near a hat", "near a hat"),
    ],
)
def test_relations_of_every_form(relation, singular, plural, after_a_noun):
    link = Link(relation, Thing("hat"))
    assert say.clause(link) == singular
    assert say.clause(link, plural=True) == plural
    assert say.reduced(link) == after_a_noun


def test_one_is_with_somebody_but_has_something():
    assert say.clause(Link("with", Thing("dog"))) == "is with a dog"
    assert say.clause(Link("with", Thing("camera"))) == "has a camera"


def test_a_modifier_follows_the_object():
    uncorking = Link("uncorking", Thing("bottle"), (Modifier("with", Thing("corkscrew")),))
    man = Thing("man", "standing", (uncorking,))
    assert say.sayable(man)
    assert say.one(man, "a") == "a standing man that is uncorking a bottle with a corkscrew"
    assert inquire.either_object(Thing("man"), uncorking, "jar") == (
        "Is the man uncorking a bottle or a jar with a corkscrew"
    )


def test_articles_depend_on_the_relation():
    assert say.clause(Link("standing in", Thing("grass"))) == "is standing in the grass"
    assert say.clause(Link("eating", Thing("grass"))) == "is eating grass"
    assert say.clause(Link("covered in", Thing("snow"))) == "is covered in snow"
    assert say.clause(Link("playing", Thing("tennis"))) == "is playing tennis"
    assert say.clause(Link("playing", Thing("frisbee"))) == "is playing frisbee"
    assert say.clause(Link("holding", Thing("frisbee"))) == "is holding a frisbee"


def test_the_relation_that_goes_on_comes_last():
    chair = thing("chair", ("next to", "window"))
    man = thing("man", ("holding", chair), ("wearing", "hat"))
    assert say.one(man) == "the man that is wearing a hat and is holding a chair that is next to a window"


def test_two_relations_of_an_inner_thing_are_held_together():
    cup = thing("cup", ("on", "table"), ("next to", "plate"))
    said = say.one(thing("man", ("holding", cup)))
    assert said == "the man that is holding a cup that is both next to a plate and on a table"


def test_a_relation_to_two_things_is_said_once():
    man = thing("man", ("wearing", "hat"), ("wearing", Thing("shirt", "red")))
    assert say.one(man) == "the man that is wearing a hat and a red shirt"


def test_another_of_the_same_name():
    assert say.one(thing("cow", ("sniffing", "cow"))) == "the cow that is sniffing another cow"
    assert not say.sayable(thing("man", ("wearing", "man")))


@pytest.mark.parametrize(
    "subgraph",
    [
        thing("white"),
        thing("him"),
        thing("2"),
        thing("background"),
        thing("side of road"),
        thing("man", ("of", "dog")),
        thing("hoodie", ("part of", "shirt")),
        thing("man", ("sit", "chair")),
        thing("man", ("hold in", "hand")),
        thing("man", ("next to", "left")),
        thing("trees", attribute="group of"),
        thing("wall", attribute="piece"),
        thing("plant", attribute="larger"),
        thing("tennis player", attribute="tennis"),
        thing("man", ("with", "head")),
        thing("man", ("on", "stomach")),
        thing("nose", ("on", "face")),
        thing("face", ("behind", "shirt")),
        thing("train", ("has", "number")),
        thing("ball", ("between", "tree")),
        thing("man", ("on", thing("horse", ("under", "man")))),
        thing("man", ("on", "chair"), ("near", "chair")),
        thing("dog", ("walking on", "road"), attribute="walking"),
        Thing(
            "man", "", (Link("cutting", thing("cake", ("on", "table")), (Modifier("with", Thing("knife")),)),)
        ),
        thing("man", ("on", thing("bed", ("in", "room"))), ("near", thing("cat", ("on", "rug")))),
    ],
    ids=str,
)
def test_what_cannot_be_said_well_is_refused(subgraph):
    assert not say.sayable(subgraph)


def test_nouns_that_look_like_something_else_are_nouns():
    assert all(map(say.sayable, map(thing, ("leaves", "shorts", "glasses", "t-shirt", "building", "wii"))))


def test_a_body_is_a_place_for_somebody_else():
    assert say.sayable(thing("bird", ("on", "head")))
    assert say.sayable(thing("train", ("has", Thing("number", "white"))))


def test_what_can_be_counted():
    assert say.countable(thing("man"))
    assert not any(say.countable(thing(name)) for name in ("water", "trees", "pants", "sky", "people"))


def test_questions():
    sink = thing("sink", ("below", "towel"))
    assert inquire.is_it(sink, "white") == "Is the sink that is below a towel white"
    assert inquire.is_it(thing("trees"), "green") == "Are the trees green"
    assert (
        inquire.is_it(thing("dog", ("on", "bed")), "black", plural=True)
        == "Are the dogs that are on a bed black"
    )
    assert inquire.what_of(WOMAN, "holding") == "What is the woman that is wearing glasses holding"
    assert inquire.what_of(thing("car"), "has") == "What does the car have"
    assert inquire.what_of(thing("trees"), "line") == "What do the trees line"
    assert inquire.does_it(thing("car"), Link("has", Thing("tire"))) == "Does the car have a tire"
    assert inquire.either_object(WOMAN, Link("carry", Thing("bottle")), "purse") == (
        "Is the woman that is wearing glasses carrying a bottle or a purse"
    )


def test_two_relations_to_choose_from():
    man = thing("man", attribute="sitting")
    holding = Link("holding", Thing("hat"))
    assert inquire.comparable(holding, "wearing")
    assert (
        inquire.either_relation(man, holding, "wearing") == "Is the sitting man holding a hat or wearing it"
    )
    assert inquire.either_relation(man, Link("on", Thing("skis")), "carrying") == (
        "Is the sitting man on skis or carrying them"
    )
    assert inquire.either_relation(thing("fence"), Link("surround", Thing("field")), "behind") == (
        "Is the fence surrounding a field or behind it"
    )
    assert inquire.either_relation(thing("fence"), Link("surround", Thing("field")), "cover") == (
        "Is the fence surrounding a field or covering it"
    )
    assert not inquire.comparable(holding, "hold")  # the same in other words
    assert not inquire.comparable(holding, "has")
    assert not inquire.comparable(holding, "of")
    on_a_bed = Link("on", thing("bed", ("in", "room")))
    assert not inquire.comparable(on_a_bed, "under")  # is it the room that it may be under?


def test_relations_that_may_both_be_said_of_one_are_not_to_choose_from():
    sitting = Link("sitting on", Thing("table"))
    assert inquire.comparable(sitting, "standing on", "cat")
    assert not inquire.comparable(sitting, "standing on", "cup")
    assert not inquire.comparable(sitting, "on", "cup")
    assert inquire.comparable(sitting, "under", "cup")
    assert not inquire.comparable(Link("on top of", Thing("water")), "in", "boat")
    assert inquire.comparable(Link("on top of", Thing("box")), "in", "cat")


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("boy"), "How many boys are there"),
        (thing("boy", attribute="young"), "How many young boys are there"),
        (thing("boy", attribute="looking up"), "How many boys are looking up"),
        (thing("boy", ("wearing", "hat")), "How many boys are wearing a hat"),
        (thing("giraffe", ("has", Thing("tail", "long"))), "How many giraffes have a long tail"),
        (
            thing("cup", ("on", thing("table", ("near", "man")))),
            "How many cups are on a table that is near a man",
        ),
        (
            thing("boy", ("wearing", "hat"), ("holding", "bat")),
            "How many boys that are holding a bat and are wearing a hat are there",
        ),
        (
            thing("boy", ("wearing", "hat"), attribute="looking up"),
            "How many boys that are looking up and are wearing a hat are there",
        ),
    ],
)
def test_how_many(subgraph, said):
    assert inquire.how_many(subgraph) == said


def test_two_things_that_a_modifier_may_lead_to():
    lighting = Link("lighting", Thing("cigar"), (Modifier("using", Thing("candle")),))
    woman = Thing("woman", "", (Link("lighting", Thing("cigar")),))
    assert inquire.either_modifier(woman, lighting, "lighter") == (
        "Is the woman that is lighting a cigar lighting it using a candle or a lighter"
    )


def test_attributes_that_can_be_asked_for():
    assert all(map(say.predicative, ("white", "standing", "looking up", "metal", "light blue", "parked")))
    refused = ("baseball", "double decker", "group of", "3", "larger", "front", "adult")
    assert not any(map(say.predicative, refused))
    assert say.state("taking photo", plural=True) == "are taking a photo"


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (WOMAN, "the woman wearing glasses"),
        (thing("cup", ("on", thing("table", ("near", "man")))), "the cup on a table that is near a man"),
        (
            thing("woman", ("wearing", "dress"), ("holding", "bouquet")),
            "the woman holding a bouquet and wearing a dress",
        ),
        (
            thing("man", ("on", "horse"), ("wearing", "hat")),  # it is not the horse that wears it
            "the man who is on a horse and is wearing a hat",
        ),
        (thing("wing", attribute="down"), "the wing that is down"),
    ],
)
def test_short(subgraph, said):
    assert say.short(subgraph) == said


def test_a_closed_schema_is_put_into_words_first():
    suv = Thing("suv", "red", (Link("left", Thing("double", "metal")),))
    said = say.worded(suv, superclevr.SCHEMA)
    assert say.sayable(said)
    assert say.one(said, "a") == "a red SUV that is to the left of a metal double-decker bus"
    assert say.many(said) == "red SUVs that are to the left of a metal double-decker bus"
    assert say.worded(WOMAN, GQA) is WOMAN


def test_every_vehicle_can_be_said_and_counted():
    shapes = next(a for a in superclevr.SCHEMA.attributes if a.name == "shape")
    assert len(shapes.values) == 21
    for shape in shapes.values:
        said = say.worded(Thing(shape), superclevr.SCHEMA)
        assert say.sayable(said)
        assert say.countable(said)


def test_a_relation_without_words_is_no_silent_nonsense():
    with pytest.raises(ValueError, match="'of'"):
        say.clause(Link("of", Thing("hat")))
    with pytest.raises(ValueError, match="'baseball'"):
        inquire.is_it(Thing("player"), "baseball")


@given(st.integers(0, 10_000))
def test_different_subgraphs_have_different_words(seed):
    graphs = pack([random_graph(seed, 0)])
    found = [one for one in subgraphs(graphs, 0, seed, most=100) if say.sayable(one)]
    for words in (say.one, say.many, say.short):
        said = [words(one) for one in found]
        assert len(set(said)) == len(found)
        assert all(text == " ".join(text.split()) for text in said)


@pytest.mark.parametrize(
    "subgraph",
    [
        thing("man", attribute="older"),
        thing("train", ("have", "head")),
        thing("umbrella", ("on", "head")),
        thing("grass", ("in", "fields")),
        thing("sky", ("have", "clouds"), ("above", "house")),
    ],
)
def test_what_makes_no_sense_is_refused(subgraph):
    assert not say.sayable(subgraph)


@pytest.mark.parametrize(
    "subgraph",
    [
        thing("teddy bear", ("have", "eyes")),
        thing("hat", ("on", "head")),
        thing("bird", ("on", "head")),
        thing("chair", ("have", "legs")),
    ],
)
def test_what_is_much_like_it_is_not(subgraph):
    assert say.sayable(subgraph)


def test_where_something_is_done_comes_last_and_is_in_a_room():
    with_knife, at_kitchen = Modifier("with", Thing("knife")), Modifier("at", Thing("kitchen"))
    cutting = Link("cutting", Thing("bread"), (at_kitchen, with_knife))
    assert say.clause(cutting) == "is cutting bread with a knife in a kitchen"

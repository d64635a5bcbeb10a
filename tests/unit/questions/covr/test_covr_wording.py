"""Subgraphs in English: articles, number, agreement, relations of every form, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import random_graph
from shiftscope.english.adjectives import is_predicative
from shiftscope.english.nouns import classify_garment, is_countable
from shiftscope.questions.covr import fluency
from shiftscope.questions.covr import phrases as say
from shiftscope.questions.covr import wording as inquire
from shiftscope.questions.covr.alternatives import are_alternatives
from shiftscope.scene_graph.extract import extract_subgraphs
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.subgraph import ObjectNode, RelationModifier, SubgraphLink
from shiftscope.schemas import superclevr
from shiftscope.schemas.gqa import SCHEMA as GQA

WOMAN = ObjectNode("woman", "", (SubgraphLink("wearing", ObjectNode("glasses")),))


def thing(name, *links, attribute=""):
    """A thing and its relations, each (relation, name or thing)."""
    return ObjectNode(
        name, attribute, tuple(SubgraphLink(r, t if isinstance(t, ObjectNode) else ObjectNode(t)) for r, t in links)
    )


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("sink", ("below", "towel")), "the sink that is below a towel"),
        (thing("trees", ("behind", "zebra")), "the trees that are behind a zebra"),
        (thing("grass", ("in", "park")), "the grass that is in a park"),
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
    assert fluency.is_sayable(subgraph)
    assert say.phrase_one(subgraph) == said


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
    assert say.phrase_one(ObjectNode(name), "a") == said


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("man", ("in", "water")), "men that are in the water"),
        (thing("person", ("wearing", "hat")), "people that are wearing a hat"),
        (thing("giraffe", ("has", ObjectNode("tail", "long"))), "giraffes that have a long tail"),
        (thing("people", ("on", "beach")), "people that are on the beach"),
        (thing("water", ("in", "pool")), "water that is in a pool"),
        (thing("sheep", ("eating", "grass")), "sheep that are eating grass"),
    ],
)
def test_many(subgraph, said):
    assert say.phrase_many(subgraph) == said


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
    link = SubgraphLink(relation, ObjectNode("hat"))
    assert say.phrase_clause(link) == singular
    assert say.phrase_clause(link, plural=True) == plural
    assert f"{say.get_predicate(link).write_reduced()} a hat" == after_a_noun


def test_one_is_with_somebody_but_has_something():
    assert say.phrase_clause(SubgraphLink("with", ObjectNode("dog"))) == "is with a dog"
    assert say.phrase_clause(SubgraphLink("with", ObjectNode("camera"))) == "has a camera"


def test_a_modifier_follows_the_object():
    uncorking = SubgraphLink("uncorking", ObjectNode("bottle"), (RelationModifier("with", ObjectNode("corkscrew")),))
    man = ObjectNode("man", "standing", (uncorking,))
    assert fluency.is_sayable(man)
    assert say.phrase_one(man, "a") == "a standing man that is uncorking a bottle with a corkscrew"
    assert inquire.ask_either_object(ObjectNode("man"), uncorking, "jar") == (
        "Is the man uncorking a bottle or a jar with a corkscrew"
    )


def test_articles_depend_on_the_relation():
    assert say.phrase_clause(SubgraphLink("standing in", ObjectNode("grass"))) == "is standing in the grass"
    assert say.phrase_clause(SubgraphLink("eating", ObjectNode("grass"))) == "is eating grass"
    assert say.phrase_clause(SubgraphLink("covered in", ObjectNode("snow"))) == "is covered in snow"
    assert say.phrase_clause(SubgraphLink("playing", ObjectNode("tennis"))) == "is playing tennis"
    assert say.phrase_clause(SubgraphLink("playing", ObjectNode("frisbee"))) == "is playing frisbee"
    assert say.phrase_clause(SubgraphLink("holding", ObjectNode("frisbee"))) == "is holding a frisbee"
    assert say.phrase_clause(SubgraphLink("playing", ObjectNode("piano"))) == "is playing the piano"
    assert say.phrase_clause(SubgraphLink("walking in", ObjectNode("street"))) == "is walking in the street"
    assert say.phrase_clause(SubgraphLink("walking on", ObjectNode("street"))) == "is walking on a street"
    assert say.phrase_clause(SubgraphLink("walking up", ObjectNode("stairs"))) == "is walking up the stairs"


def test_the_relation_that_goes_on_comes_last():
    chair = thing("chair", ("next to", "window"))
    man = thing("man", ("holding", chair), ("wearing", "hat"))
    assert say.phrase_one(man) == "the man that is wearing a hat and is holding a chair that is next to a window"


def test_two_relations_of_an_inner_thing_are_held_together():
    cup = thing("cup", ("on", "table"), ("next to", "plate"))
    said = say.phrase_one(thing("man", ("holding", cup)))
    assert said == "the man that is holding a cup that is both next to a plate and on a table"


def test_a_relation_to_two_things_is_said_once():
    man = thing("man", ("wearing", "hat"), ("wearing", ObjectNode("shirt", "red")))
    assert say.phrase_one(man) == "the man that is wearing a hat and a red shirt"


def test_another_of_the_same_name():
    assert say.phrase_one(thing("cow", ("sniffing", "cow"))) == "the cow that is sniffing another cow"
    assert not fluency.is_sayable(thing("man", ("wearing", "man")))


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
        ObjectNode(
            "man",
            "",
            (
                SubgraphLink(
                    "cutting", thing("cake", ("on", "table")), (RelationModifier("with", ObjectNode("knife")),)
                ),
            ),
        ),
        thing("man", ("on", thing("bed", ("in", "room"))), ("near", thing("cat", ("on", "rug")))),
    ],
    ids=str,
)
def test_what_cannot_be_said_well_is_refused(subgraph):
    assert not fluency.is_sayable(subgraph)


def test_nouns_that_look_like_something_else_are_nouns():
    assert all(map(fluency.is_sayable, map(thing, ("leaves", "shorts", "glasses", "t-shirt", "building", "wii"))))


def test_a_body_is_no_place_without_its_owner():
    assert not fluency.is_sayable(thing("bird", ("on", "head")))
    assert not fluency.is_sayable(thing("pizza", ("in", "hand")))
    assert fluency.is_sayable(thing("train", ("has", ObjectNode("number", "white"))))


def test_what_can_be_counted():
    assert is_countable("man")
    assert not any(is_countable(name) for name in ("water", "trees", "pants", "sky", "people"))


def test_questions():
    sink = thing("sink", ("below", "towel"))
    assert inquire.ask_is(sink, "white") == "Is the sink that is below a towel white"
    assert inquire.ask_is(thing("trees"), "green") == "Are the trees green"
    assert inquire.ask_is(thing("dog", ("on", "bed")), "black", plural=True) == "Are the dogs that are on a bed black"
    assert inquire.ask_what(WOMAN, "holding") == "What is the woman that is wearing glasses holding"
    assert inquire.ask_what(thing("car"), "has") == "What does the car have"
    assert inquire.ask_what(thing("trees"), "line") == "What do the trees line"
    assert inquire.ask_does(thing("car"), SubgraphLink("has", ObjectNode("tire"))) == "Does the car have a tire"
    assert inquire.ask_either_object(WOMAN, SubgraphLink("carry", ObjectNode("bottle")), "purse") == (
        "Is the woman that is wearing glasses carrying a bottle or a purse"
    )


@pytest.mark.parametrize(
    ("relation", "name", "said"),
    [
        ("in", "stands", "in the stands"),
        ("hanging from", "ropes", "hanging from the ropes"),
        ("next to", "flowers", "next to the flowers"),
        ("under", "food", "under the food"),
        ("wearing", "sunglasses", "wearing sunglasses"),
        ("surrounded by", "trees", "surrounded by trees"),
        ("talking to", "people", "talking to people"),
        ("in", "jeans", "in jeans"),
        ("in", "traffic", "in traffic"),
    ],
)
def test_several_and_masses_take_the_after_a_preposition_of_space_only(relation, name, said):
    assert say.phrase_one(thing("man", (relation, name))) == f"the man that is {said}"


def test_places_and_parts_that_tell_nothing_are_refused():
    assert not fluency.is_sayable(thing("bench", ("on", "ground")))
    assert fluency.is_sayable(thing("bag", ("on", "ground")))
    assert not fluency.is_sayable(thing("desk", ("in", "room")))
    assert not fluency.is_sayable(thing("building", ("in", "city")))
    assert not fluency.is_sayable(thing("sky", ("above", "train")))
    assert not fluency.is_sayable(thing("glass", ("with", "wine")))
    assert not fluency.is_sayable(thing("face", ("on", "building")))
    assert not fluency.is_sayable(thing("sink ledge", ("in", "bathroom")))
    assert not fluency.is_sayable(thing("right hand", ("holding", "toothbrush")))
    assert not fluency.is_sayable(thing("glass", ("on", "window")))
    assert fluency.is_sayable(thing("glass", ("on", "table")))
    assert not fluency.is_sayable(thing("liquid", ("in", "bottle"), attribute="orange colored"))
    assert not fluency.is_sayable(thing("dog", attribute="blond"))


def test_sizes_and_colors_of_persons_are_not_asked_in_open_vocabularies():
    assert fluency.can_be_asked("white", "bench", closed=False)
    assert not fluency.can_be_asked("large", "bench", closed=False)
    assert fluency.can_be_asked("large", "cube", closed=True)
    assert fluency.can_be_asked("blond", "woman", closed=False)
    assert not fluency.can_be_asked("white", "woman", closed=False)
    assert not fluency.can_be_asked("main", "street", closed=True)


def test_two_relations_to_choose_from():
    man = thing("man", attribute="sitting")
    holding = SubgraphLink("holding", ObjectNode("hat"))
    assert inquire.are_comparable(holding, "wearing")
    assert inquire.ask_either_relation(man, holding, "wearing") == "Is the sitting man holding a hat or wearing it"
    assert inquire.ask_either_relation(man, SubgraphLink("on", ObjectNode("skis")), "carrying") == (
        "Is the sitting man on skis or carrying them"
    )
    assert inquire.ask_either_relation(thing("fence"), SubgraphLink("surround", ObjectNode("field")), "behind") == (
        "Is the fence surrounding a field or behind it"
    )
    assert inquire.ask_either_relation(thing("fence"), SubgraphLink("surround", ObjectNode("field")), "cover") == (
        "Is the fence surrounding a field or covering it"
    )
    assert not inquire.are_comparable(holding, "hold")  # the same in other words
    assert not inquire.are_comparable(holding, "has")
    assert not inquire.are_comparable(holding, "of")
    on_a_bed = SubgraphLink("on", thing("bed", ("in", "room")))
    assert not inquire.are_comparable(on_a_bed, "under")  # is it the room that it may be under?


def test_relations_that_may_both_be_said_of_one_are_not_to_choose_from():
    sitting = SubgraphLink("sitting on", ObjectNode("table"))
    assert inquire.are_comparable(sitting, "standing on", "cat")
    assert not inquire.are_comparable(sitting, "standing on", "cup")
    assert not inquire.are_comparable(sitting, "on", "cup")
    assert not inquire.are_comparable(sitting, "under", "cup")  # a verb and a bare place
    assert not inquire.are_comparable(SubgraphLink("painted on", ObjectNode("vase")), "in", "flowers")
    assert inquire.are_comparable(SubgraphLink("under", ObjectNode("table")), "on", "cup")
    assert not inquire.are_comparable(SubgraphLink("running on", ObjectNode("grass")), "eating", "horse")
    assert not inquire.are_comparable(SubgraphLink("on top of", ObjectNode("water")), "in", "boat")
    assert inquire.are_comparable(SubgraphLink("on top of", ObjectNode("box")), "in", "cat")
    assert not inquire.are_comparable(SubgraphLink("sitting in", ObjectNode("sink")), "on", "cat")
    assert not inquire.are_comparable(SubgraphLink("flying", ObjectNode("kite")), "making", "woman")
    assert not inquire.are_comparable(SubgraphLink("crossing", ObjectNode("street")), "standing on", "man")
    assert not inquire.are_comparable(SubgraphLink("leaning against", ObjectNode("wall")), "standing against", "man")
    assert not inquire.are_comparable(SubgraphLink("standing on", ObjectNode("skis")), "wearing", "woman")
    assert inquire.are_comparable(SubgraphLink("holding", ObjectNode("skis")), "wearing", "woman")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("bottle", "cup", True),
        ("remote", "controller", False),  # the same in other words
        ("racket", "food", False),
        ("motorcycle", "wave", False),
        ("pizza", "sandwich", True),
    ],
)
def test_what_is_set_against_each_other(one, other, alike):
    assert are_alternatives(one, other) is alike
    assert are_alternatives(other, one) is alike


@pytest.mark.parametrize(
    ("relation", "asked"),
    [("between", False), ("on the side of", False), ("at", False), ("on", True), ("attached to", True)],
)
def test_places_that_nobody_asks_for(relation, asked):
    assert fluency.is_askable_place(say.require_predicate(relation)) is asked


def test_a_preposition_is_said_again_where_the_second_has_another_article():
    on_board = SubgraphLink("on", ObjectNode("cutting board"))
    assert inquire.phrase_two_objects(thing("onions"), on_board, "broccoli") == "a cutting board or on the broccoli"
    assert inquire.phrase_two_objects(thing("onions"), on_board, "plate") == "a cutting board or a plate"


@pytest.mark.parametrize(
    ("subgraph", "said"),
    [
        (thing("boy"), "How many boys are there"),
        (thing("boy", attribute="young"), "How many young boys are there"),
        (thing("boy", attribute="looking up"), "How many boys are looking up"),
        (thing("boy", ("wearing", "hat")), "How many boys are wearing a hat"),
        (thing("giraffe", ("has", ObjectNode("tail", "long"))), "How many giraffes have a long tail"),
        (thing("cup", ("on", thing("table", ("near", "man")))), "How many cups are on a table that is near a man"),
        (thing("boy", ("wearing", "hat"), ("holding", "bat")), "How many boys are holding a bat and are wearing a hat"),
        (
            thing("boy", ("wearing", "hat"), attribute="looking up"),
            "How many boys are looking up and are wearing a hat",
        ),
    ],
)
def test_how_many(subgraph, said):
    assert inquire.ask_how_many(subgraph) == said


def test_two_things_that_a_modifier_may_lead_to():
    lighting = SubgraphLink("lighting", ObjectNode("cigar"), (RelationModifier("using", ObjectNode("candle")),))
    woman = ObjectNode("woman", "", (SubgraphLink("lighting", ObjectNode("cigar")),))
    assert inquire.ask_either_modifier(woman, lighting, "lighter") == (
        "Is the woman that is lighting a cigar lighting it using a candle or a lighter"
    )


def test_attributes_that_can_be_asked_for():
    assert all(map(is_predicative, ("white", "standing", "looking up", "metal", "light blue", "parked")))
    refused = ("baseball", "double decker", "group of", "3", "larger", "front", "adult")
    assert not any(map(is_predicative, refused))
    assert say.phrase_state("taking photo", plural=True) == "are taking a photo"


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
    assert say.phrase_short(subgraph) == said


def test_a_closed_schema_is_put_into_words_first():
    suv = ObjectNode("suv", "red", (SubgraphLink("left", ObjectNode("double", "metal")),))
    said = say.spell_subgraph(suv, superclevr.SCHEMA)
    assert fluency.is_sayable(said)
    assert say.phrase_one(said, "a") == "a red SUV that is to the left of a metal double-decker bus"
    assert say.phrase_many(said) == "red SUVs that are to the left of a metal double-decker bus"
    assert say.spell_subgraph(WOMAN, GQA) is WOMAN


def test_every_vehicle_can_be_said_and_counted():
    shapes = next(a for a in superclevr.SCHEMA.attributes if a.name == "shape")
    assert len(shapes.values) == 21
    for shape in shapes.values:
        said = say.spell_subgraph(ObjectNode(shape), superclevr.SCHEMA)
        assert fluency.is_sayable(said)
        assert is_countable(said.name)


def test_a_relation_without_words_is_no_silent_nonsense():
    with pytest.raises(ValueError, match="'of'"):
        say.phrase_clause(SubgraphLink("of", ObjectNode("hat")))
    with pytest.raises(ValueError, match="'baseball'"):
        inquire.ask_is(ObjectNode("player"), "baseball")


@given(st.integers(0, 10_000))
def test_different_subgraphs_have_different_words(seed):
    graphs = pack_graphs([random_graph(seed, 0)])
    found = [one for one in extract_subgraphs(graphs, 0, seed, most=100) if fluency.is_sayable(one)]
    for words in (say.phrase_one, say.phrase_many, say.phrase_short):
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
        thing("mustache", ("on", "refrigerator")),
        thing("sidewalk", ("walking on", "people")),
        thing("bowl", ("with", "bear")),
        thing("giraffe", ("in", "photograph")),
        thing("chair", ("have", "legs")),
        thing("road", ("under", "sky")),
        thing("man", ("wearing", "bananas")),
        thing("man", ("wearing", thing("glasses", ("on", "face")))),
        thing("bottle", ("in", "table")),
        thing("hat", ("on", "head")),
        thing("clouds", ("in", "sky")),
        thing("hair", ("on", "man")),
        thing("beard", ("on", "man")),
        thing("man", ("wearing", "outfit")),
        thing("table", ("next to", "table")),
        thing("man", ("standing near", "man")),
        thing("plate", ("has", "food")),
        thing("dessert", ("has", "spoon")),
        thing("cabinet", ("has", thing("glass", ("on", "door")))),
        thing("shirt", ("on", "man")),
        thing("man", ("carrying", thing("flowers", ("on", "bike")))),
        thing("man", ("holding", thing("bag", ("from", "store")))),
        thing("stop sign", ("in", "road"), attribute="red"),
        thing("giraffe", ("has", ObjectNode("neck", "long"))),
        thing("plate", ("on", ObjectNode("surface", "black"))),
        thing("man", ("wearing", ObjectNode("shirt", "white")), ("wearing", thing("shorts", ("have", "stripes")))),
        thing("player", ("wearing", ObjectNode("uniforms", "white"))),
        thing("man", ("wearing", "pants"), ("wearing", "shirt")),
        thing("man", ("wearing", "pants")),
        thing("zebra", ("have", "stripes")),
        thing("chicken", ("on", "rice")),
        thing("girl", ("eating", "food")),
        thing("grass", ("near", "house"), attribute="large"),
        thing("man", ("playing", "ball")),
        thing("bus", ("parked in", "street")),
        thing("bear", ("behind", "grass")),
        thing("sleeve", attribute="long"),
        thing("receipt", ("on", "table"), attribute="paper"),
        thing("sun", ("on", "building")),
        thing("umbrella", ("in", "sun")),
        thing("skateboard", ("has", "wheels")),
        thing("park bench", ("has", "seat")),
        thing("car", ("has", "front window")),
        thing("refrigerator", ("in", "kitchen")),
        thing("couch", ("under", "woman")),
        thing("water", ("under", "bird")),
        thing("ram", ("has", ObjectNode("head", "up"))),
        thing("boy", ("wearing", "shoe")),
        thing("man", ("wearing", "dress")),
        thing("person", ("on", "horses")),
        thing("man", ("next to", "person")),
        thing("man", ("has", ObjectNode("head", "gray"))),
        thing("man", ("on", "blanket"), ("riding", "snowboard")),
        thing("man", ("holding", "racket"), ("playing", "tennis")),
        thing("man", ("wearing", "suit"), ("wearing", "shirt")),
        thing("man", ("wearing", ObjectNode("shirt", "red")), ("wearing", ObjectNode("t-shirt", "blue"))),
        thing("pole", ("holding", "sign")),
        thing("women", ("wearing", "shirt")),
        thing("son", ("watching", "kite")),
    ],
)
def test_what_makes_no_sense_is_refused(subgraph):
    assert not fluency.is_sayable(subgraph)


@pytest.mark.parametrize(
    "subgraph",
    [
        thing("teddy bear", ("have", ObjectNode("eyes", "blue"))),
        thing("hat", ("on", "chair")),
        thing("couch", ("has", "pillows")),
        thing("building", ("has", "clock tower")),
        thing("man", ("riding", thing("motorcycle", ("on", "road")))),
        thing("chair", ("have", ObjectNode("legs", "wooden"))),
        thing("beard", ("on", "statue")),
        thing("hair", ("on", "chair")),
        thing("shelf", ("holding", "books")),
        thing("man", ("with", "dog")),
        thing("players", ("wearing", ObjectNode("uniforms", "white"))),
        thing("player", ("wearing", ObjectNode("shoes", "white"))),
        thing("man", ("wearing", ObjectNode("shirt", "blue"))),
        thing("cat", ("have", "stripes")),
        thing("chicken", ("on", "grass")),
        thing("girl", ("eating", "cake")),
        thing("grass", ("near", "house"), attribute="dry"),
        thing("man", ("wearing", "pants"), ("wearing", ObjectNode("shirt", "blue"))),
        thing("man", ("playing", "video game")),
        thing("bus", ("parked on", "street")),
        thing("bear", ("behind", "bush")),
        thing("sleeve", ("on", "chair"), attribute="long"),
        thing("cup", ("on", "table"), attribute="paper"),
        thing("skateboard", ("has", ObjectNode("wheels", "green"))),
        thing("sink", ("in", "kitchen")),
        thing("plate", ("under", "sandwich")),
        thing("boy", ("wearing", "boots")),
        thing("people", ("on", "horses")),
        thing("man", ("has", ObjectNode("hair", "gray"))),
        thing("man", ("on", "street"), ("riding", "bike")),
        thing("man", ("wearing", "suit"), ("wearing", "tie")),
        thing("man", ("wearing", "shirt")),
    ],
)
def test_what_is_much_like_it_is_not(subgraph):
    assert fluency.is_sayable(subgraph)


def test_where_something_is_done_comes_last_and_is_in_a_room():
    with_knife, at_kitchen = (
        RelationModifier("with", ObjectNode("knife")),
        RelationModifier("at", ObjectNode("kitchen")),
    )
    cutting = SubgraphLink("cutting", ObjectNode("bread"), (at_kitchen, with_knife))
    assert say.phrase_clause(cutting) == "is cutting bread with a knife in a kitchen"


def test_what_could_be_misread_is_named_first():
    near = thing("truck", ("in front of", "bus"))
    ask = lambda it, plural: inquire.ask_what(near, "behind", plural, it)  # noqa: E731
    assert inquire.is_ambiguous(near, "behind")
    assert inquire.is_ambiguous(thing("man", ("wearing", "hat")), "sitting on")
    assert not inquire.is_ambiguous(thing("man", ("wearing", "hat")), "holding")
    assert inquire.ask_about(near, ask, True) == "Look at the truck that is in front of a bus. What is it behind?"
    assert inquire.ask_about(near, ask, False) == "What is the truck that is in front of a bus behind?"


def test_what_has_no_attribute_comes_first_of_two():
    man = thing("man", ("wearing", ObjectNode("shirt", "white")), ("wearing", "shorts"))
    assert say.phrase_one(man) == "the man that is wearing shorts and a white shirt"  # which are not white


def test_two_places_share_one_verb_and_an_inner_thing_has_both():
    jet = thing("jet", ("to the left of", "bus"), ("behind", "sedan"))
    assert say.phrase_many(jet) == "jets that are behind a sedan and to the left of a bus"
    between = thing("cruiser", ("behind", "bus"), ("behind", "plane"))
    assert say.phrase_one(thing("wagon", ("near", between)), "a") == (
        "a wagon that is near a cruiser that is behind both a bus and a plane"
    )


def test_an_attribute_is_not_read_on():
    assert not inquire.is_read_on(thing("jet", ("behind", "bus")), "red")
    assert inquire.is_read_on(thing("jet", ("behind", "bus")), "metal")
    assert inquire.is_read_on(thing("jet", ("behind", ObjectNode("bus", "rubber"))), "red")
    assert inquire.is_read_on(thing("jet", ("behind", "bus"), ("near", "car")), "red")
    assert inquire.is_read_on(thing("car", ("under", "light")), "silver")
    assert inquire.is_read_on(thing("man", ("riding", "horse")), "standing")
    assert not inquire.is_read_on(thing("man"), "standing")


def test_a_preposition_is_said_again_before_another_article():
    flying = SubgraphLink("flying in", ObjectNode("sky"))
    assert inquire.phrase_two_objects(thing("airplane"), flying, "valley") == "the sky or in a valley"
    assert (
        inquire.phrase_two_objects(thing("airplane"), SubgraphLink("on", ObjectNode("box")), "bed") == "a box or a bed"
    )


def test_what_is_counted():
    assert fluency.can_be_counted(thing("man"))
    assert fluency.can_be_counted(thing("hand", ("on", "table")))
    assert not any(map(fluency.can_be_counted, (thing("river", ("near", "bridge")), thing("tail"), thing("water"))))
    assert not fluency.can_be_counted(thing("tree", ("in", "forest"), attribute="tall"))
    assert fluency.can_be_counted(thing("tree", ("near", "house"), attribute="tall"))
    assert not fluency.can_be_counted(thing("tile", ("on", ObjectNode("floor", "brown"))))


def test_several_are_not_in_one_suit_nor_on_one_bike():
    alone = [thing("woman", ("on", "bike")), thing("man", ("sitting on", "horse")), thing("girl", ("in", "dress"))]
    assert all(map(fluency.can_be_counted, alone))  # images with one of them
    assert not any(map(fluency.can_be_several, alone))
    assert all(map(fluency.can_be_several, (thing("woman", ("on", "bus")), thing("man", ("riding", "horse")))))


def test_what_a_pronoun_might_mean_besides_is_named_again():
    def ask(one):
        return inquire.ask_about(one, lambda it, plural: inquire.ask_is(one, "black", plural, it), True)

    chairs = thing("chairs", ("have", ObjectNode("legs", "white")))
    assert ask(chairs) == "Look at the chairs that have white legs. Are the chairs black?"
    boat = thing("boat", ("has", "sail"))
    assert ask(boat) == "Look at the boat that has a sail. Is the boat black?"
    assert ask(thing("boat", ("on", "water"))) == "Look at the boat that is on the water. Is it black?"
    assert ask(thing("letters", ("on", "sign"))) == "Look at the letters that are on a sign. Are they black?"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("blue shirt", "t-shirt", True),
        ("shirt", "jacket", False),
        ("shirt", "pants", False),
        ("uniform", "shirt", False),
        ("cap", "helmet", True),
    ],
)
def test_garments_that_are_worn_on_one_part_of_the_body(one, other, alike):
    assert (classify_garment(one) == classify_garment(other)) is alike

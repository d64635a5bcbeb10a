"""Replies as models write them, and the answer each one gives."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.expected_answer import ANYTHING, NUMBER, TRUTH, expect_value, expect_words
from shiftscope.lang.program import Program, node
from shiftscope.question import Question
from shiftscope.questions.answer_space import infer_expected
from shiftscope.response import parse_response
from shiftscope.schema import OPEN
from shiftscope.schemas import clevr, superclevr

COLOR = expect_value(clevr.SCHEMA, "color")
SHAPE = expect_value(clevr.SCHEMA, "shape")
SIZE = expect_value(clevr.SCHEMA, "size")
MATERIAL = expect_value(clevr.SCHEMA, "material")
VEHICLE = expect_value(superclevr.SCHEMA, "shape")
PART = expect_value(superclevr.SCHEMA, "name", part=True)

TRUTHS = [
    ("yes", True),
    ("Yes.", True),
    ("YES!", True),
    ("no", False),
    ("No, there isn't.", False),
    ("no.\n", False),
    ("True", True),
    ("False.", False),
    ("Yes, there is a red cube behind the sphere.", True),
    ("No, the two objects have different colors.", False),
    ("Yes, there is no cube in front of it.", True),
    ("**Yes**", True),
    ("**Answer:** No", False),
    ("Answer: yes", True),
    ("answer - the sphere is shiny.\nFinal answer: no", False),
    ("The answer is yes.", True),
    ("The answer is: **no**.", False),
    ("I notice several objects in the image.", None),
    ("Nothing to note here about the knot.", None),
    ("The sphere is red. The cube is blue. Therefore, no.", False),
    ("There is no cylinder, but the cube matches. So the answer is yes.", True),
    ("<think>No... wait, there is one. Hmm, no?</think>Yes", True),
    ("<think>\nThe answer is no.\n</think>\n\nyes", True),
    ("<think>I should look at the scene and yes", None),
    ("Reasoning without an opening tag, the answer is no</think> Yes", True),
    ("Let me see.\n1. The red cube is small.\n2. The ball is small.\nYes", True),
    ("There are no red cubes.", False),
    ("There is a red cube to the left of the sphere.", True),
    ("They do not have the same size.", False),
    ("They have the same size.", True),
    ("I'm not sure.", None),
    ("I'm not sure, but I think yes.", True),
    ("There is no answer: no scene.", None),
    ("undefined (no scene)", None),
    ("There is no way to tell.", None),
    ("Answer: cannot be determined, as there is no image", None),
    ("I see no image.", None),
    ("The image is not provided, so I would have to guess.", None),
    ("I cannot determine that from the image.", None),
    ("Could be yes or no.", None),
    ('{"answer": "yes"}', True),
    ("{'answer': 'No'}", False),
    ('{"answer": true, "why": "no cube is there"}', True),
    ("\\boxed{\\text{yes}}", True),
    ("$\\boxed{no}$", False),
    ("<answer>Yes</answer>", True),
    ("<answer>\nno\n</answer>", False),
    ("No. Wait, actually there is one, so yes.", True),
    ("Yeah", True),
    ("Nope.", False),
    ("Correct.", True),
    ("", None),
    ("   \n", None),
    ("red", None),
    ("3", 3),  # legible, and wrong
    ("Answer: 1", 1),
    ("There are 2.", 2),
    ("none", None),
    ("The answer to the question is no, because the ball is matte.", False),
    ("A: yes", True),
    ("‘Yes’", True),
    ('"no"', False),
]

NUMBERS = [
    ("3", 3),
    ("3.", 3),
    ("three", 3),
    ("Three.", 3),
    ("Zero", 0),
    ("none", 0),
    ("There are 3 cubes.", 3),
    ("There are three metal cubes.", 3),
    ("There are no cubes.", 0),
    ("There is one cube.", 1),
    ("There is only one.", 1),
    ("A single cube.", 1),
    ("a couple", 2),
    ("The answer is 5.", 5),
    ("Answer: 4 objects", 4),
    ("**4**", 4),
    ("Count: **7**", 7),
    ("The count is 2 because there is 1 red cube and 1 blue cube", 2),
    ("There are 3 red cubes and 2 blue spheres, so 5 in total.", 5),
    ("2 + 3 = 5", 5),
    ("I see 2 cubes on the left and 1 on the right. The total is 3.", 3),
    ("1. red cube\n2. blue cube\n\nThere are two cubes.", 2),
    ("1) a red cube\n2) a blue cube\n3) a ball\nTotal: 2", 2),
    ("The red one is behind the other; 2 things remain.", 2),
    ("3.0", 3),
    ("3.5", None),
    ("1,000", 1000),
    ("ten", 10),
    ("Eleven!", 11),
    ("<think>1, 2, 3, 4 objects</think>\n3", 3),
    ("<think>1, 2, 3, 4 obj", None),
    ("\\boxed{6}", 6),
    ("#### 8", 8),
    ("The final answer is $\\boxed{2}$.", 2),
    ("Answer:\n\n5", 5),
    ("**Answer:**\n5", 5),
    ("Final Answer: There are **two** things.", 2),
    ("Step 1: find the ball. Step 2: count the cubes left of it. Answer: 1", 1),
    ("several", None),
    ("No.", False),  # legible, and wrong
    ("No cubes are visible.", 0),
    ("undefined (none found)", None),
    ("There is no image, so there is nothing to count.", None),
    ("I see no spheres.", 0),
    ("I don't see an image, but let me guess: 2", 2),
    ("yes", True),
    ("Answer: yes", True),
    ("red", None),
    ("I can't tell how many there are.", None),
    ("2 or 3", None),
    ("either 2 or 3", None),
    ("It is 4, not 5.", 4),
    ("not 5 but 4", 4),
    ("someone", None),
    ('{"answer": 3}', 3),
    ("The number of cubes is 4.", 4),
    ("0 (zero)", 0),
    ("Looking at the image, the objects left of the cube are a ball and a cylinder.\n\nSo there are 2.", 2),
]

COLORS = [
    ("red", "red"),
    ("Red.", "red"),
    ("RED", "red"),
    ("The color is red.", "red"),
    ("a red one", "red"),
    ("It is grey.", "gray"),
    ("Grey", "gray"),
    ("The sphere is blue.", "blue"),
    ("The sphere to the left of the red cube is blue.", "blue"),
    ("So the sphere next to the green cube is **purple**.", "purple"),
    ("The cube is red, and the ball in front of it is cyan. Answer: cyan", "cyan"),
    ("The answer is cyan, not blue.", "cyan"),
    ("First, the red cube. Then, the blue ball.\nThe ball's color: yellow", "yellow"),
    ("The large thing is brown while the cube is green.\n\nFinal answer: **brown**", "brown"),
    ("<answer>green</answer>", "green"),
    ("It is red or blue.", None),
    ("either red or blue", None),
    ("pink", "pink"),
    ("Answer: Orange.", "orange"),
    ("dark red", "red"),
    ("light blue", "blue"),
    ("The color is turquoise.", "turquoise"),
    ("yes", True),  # legible, and wrong
    ("3", 3),
    ("unknown", None),
    ("I am sorry, but there is no image attached.", None),
    ("I'm unable to view images.", None),
    ("Unfortunately the picture does not load on my side.", None),
    ("`red`", "red"),
    ('"Purple"', "purple"),
    ("*yellow*", "yellow"),
    ("red red red", "red"),
    ('{"answer": "blue", "reason": "the red cube is behind it"}', "blue"),
    ("Blue.\n\nExplanation: the red cube stands behind it.\nAnswer: Blue", "blue"),
    ("The hundred colored reds", "red"),
    ("bored", "bored"),  # readable and wrong; the red in it is no answer
]

WORDS = [
    (SHAPE, "cubes", "cube"),
    (SHAPE, "It's a ball.", "sphere"),
    (SHAPE, "balls", "sphere"),
    (SHAPE, "a block", "cube"),
    (SHAPE, "The object is spherical.", "sphere"),
    (SHAPE, "cylindrical", "cylinder"),
    (SHAPE, "pyramid", "pyramid"),
    (SHAPE, "The thing left of the cylinder is a cube", "cube"),
    (SIZE, "big", "large"),
    (SIZE, "It is tiny.", "small"),
    (SIZE, "The large cube is behind the ball, which is small.", "small"),
    (MATERIAL, "shiny metal", "metal"),
    (MATERIAL, "It is made of rubber.", "rubber"),
    (MATERIAL, "metallic", "metal"),
    (MATERIAL, "matte", "rubber"),
    (MATERIAL, "The cube is made from metal and the ball is made of rubber.\nAnswer: rubber", "rubber"),
    (VEHICLE, "school bus", "school"),
    (VEHICLE, "It's a double-decker bus.", "double"),
    (VEHICLE, "mountain bikes", "mountain"),
    (VEHICLE, "SUV", "suv"),
    (VEHICLE, "An articulated bus", "articulated"),
    (VEHICLE, "airplane", "aeroplane"),
    (VEHICLE, "a motorcycle", "motorbike"),
    (PART, "the back left wheel", "back_left_wheel"),
    (PART, "roof", "roof"),
    (PART, "back_left_wheel", "back_left_wheel"),
]  # fmt: skip

VERBOSE = [
    (NUMBER, "Based on the image, there are **3** metallic spheres: 1 blue, 1 red, and 1 green.", 3),
    (NUMBER, "Based on the image, there are 3 metallic spheres: 1 blue, 1 red, and 1 green.", 3),
    (NUMBER, "**Answer: 2**\n\nThere are 3 large things, but only 2 are metal.", 2),
    (NUMBER, '```json\n{"answer": 3}\n```', 3),
    (NUMBER, "I count: 1, 2, 3, 4. Four cubes in total.", 4),
    (NUMBER, "Total = 4", 4),
    (NUMBER, "There aren't any cubes.", 0),
    (NUMBER, "I do not see any cubes.", 0),
    (NUMBER, "There is a cube and a sphere to its left, making it 2 objects.", 2),
    (NUMBER, "Only the red cube matches, so 1.", 1),
    (NUMBER, "The number of objects that are either cubes or red things is 5.", 5),
    (NUMBER, "Objects that are either small cubes or large spheres: 5", 5),
    (NUMBER, "Answer: \n", None),
    (NUMBER, "2\n\nExplanation: there are 3 cubes, of which 2 are red.", 2),
    (TRUTH, "Yes, the number of red cubes (2) is equal to the number of balls (2).", True),
    (TRUTH, "There are 2 cubes and 3 spheres. Since 2 < 3, the answer is yes.", True),
    (TRUTH, "The final answer is:\n\n**no**", False),
    (TRUTH, "Both objects are made of metal, so yes, they share the same material.", True),
    (TRUTH, "The cube is rubber and the ball is metal, so they do not share the same material.", False),
    (TRUTH, "It appears that the answer would be No", False),
    (TRUTH, "There are more cubes (3) than spheres (2). Yes.", True),
    (TRUTH, "Answer: Yes/No", None),
    (TRUTH, "no\n\nYes would require a cube.", False),
    (COLOR, "Its color is the same as the cube: green", "green"),
    (COLOR, "Question: What color is the red cube's neighbour? Answer: blue", "blue"),
    (COLOR, "The tiny rubber thing in front of the purple cylinder is the color yellow.", "yellow"),
    (COLOR, "Yellow is the color of the ball left of the red cube.", "yellow"),
    (COLOR, "**Color:** Blue", "blue"),
    (COLOR, "blue\nThe red cube is left of it.", "blue"),
    (COLOR, "Red</s>", "red"),
    (COLOR, "red<|im_end|>", "red"),
    (COLOR, "assistant\nred", "red"),
    (SIZE, "The answer is 'large'.", "large"),
    (SHAPE, "The shape of the object is a cube (small, red).", "cube"),
    (SHAPE, "The object to the right of the sphere has the shape of a cylinder.", "cylinder"),
    (SHAPE, "Sphere\n\nThe sphere is behind the cube.", "sphere"),
    (MATERIAL, "The big thing has a shiny, reflective surface, indicating that it is metal.", "metal"),
]

LEADS = [
    (COLOR, "Blue. The red cube is to its left.", "blue"),
    (COLOR, "Blue. Wait, actually it is the red one.", "red"),
    (COLOR, "Blue, as the red cube is to its left.", "blue"),
    (NUMBER, "5. There are 3 cubes and 2 spheres.", 5),
    (NUMBER, "5, consisting of 3 cubes and 2 spheres", 5),
    (NUMBER, "5 (3 cubes and 2 spheres)", 5),
    (NUMBER, "Five: 3 cubes and 2 spheres", 5),
    (NUMBER, "3 (red) and 2 (blue), so 5 in total.", 5),
    (NUMBER, "2 red, 3 blue, so 5.", 5),
    (NUMBER, "1. red cube\n2. blue cube\nSo 2.", 2),
]

NAMED_TWICE = [
    (NUMBER, "3-4", None),
    (NUMBER, "3–4 cubes", None),
    (NUMBER, "between 2 and 4", None),
    (NUMBER, "There are between 2 and 4 cubes.", None),
    (NUMBER, "The difference between 5 and 3 is 2.", 2),
    (NUMBER, "Answer: 3-4", None),
    (NUMBER, "2, 3", None),
    (NUMBER, "one or two", None),
    (NUMBER, "1, 2, 3. So 3.", 3),
    (COLOR, "red, blue", None),
    (COLOR, "red/blue", None),
    (COLOR, "Red and blue.", None),
    (COLOR, "Answer: red, blue", None),
    (TRUTH, "yes and no", None),
    (SHAPE, "cube, sphere", None),
    (SHAPE, "The large red metal cube is in front of the sphere.", None),
    (SHAPE, "It is a cube. The cube is in front of the sphere.", "cube"),
]

SIGNS_AND_WORDS = [
    (NUMBER, "-1", None),
    (NUMBER, "Answer: -1", None),
    (NUMBER, "minus one", None),
    (NUMBER, "5 - 3 = 2", 2),
    (NUMBER, "twenty-one", 21),
    (NUMBER, "There are thirty two cubes.", 32),
    (NUMBER, "Forty.", 40),
    (TRUTH, "That is not correct.", False),
    (TRUTH, "That isn't true.", False),
    (TRUTH, "That is not false.", True),
    (TRUTH, "Not at all", False),
    (TRUTH, "I don't see any cubes.", False),
    (TRUTH, "I don't think so.", False),
    (TRUTH, "I don't see any image.", None),
]

OPENS = [
    ("Red and white", "red and white"),
    ("a dog.", "dog"),
    ("Answer: the kitchen", "kitchen"),
    ("The man in the picture is wearing a large brown hat on his head.", None),
    ("Yes, the man is wearing a very large brown hat.", "yes"),
    ("He is holding an umbrella in the picture.\n\nUmbrella", "umbrella"),
    ("<think>is it a cat?</think>Cat", "cat"),
    ("2", "2"),
    ("", None),
]


@pytest.mark.parametrize(("reply", "answer"), TRUTHS)
def test_a_truth(reply, answer):
    assert parse_response(reply, TRUTH) is answer


@pytest.mark.parametrize(("reply", "answer"), NUMBERS)
def test_a_number(reply, answer):
    found = parse_response(reply, NUMBER)
    assert (found, type(found)) == (answer, type(answer))


@pytest.mark.parametrize(("reply", "answer"), COLORS)
def test_a_color(reply, answer):
    assert parse_response(reply, COLOR) == answer


@pytest.mark.parametrize(("expected", "reply", "answer"), WORDS)
def test_a_word_of_the_vocabulary(expected, reply, answer):
    assert parse_response(reply, expected) == answer


@pytest.mark.parametrize(("expected", "reply", "answer"), [*VERBOSE, *LEADS, *NAMED_TWICE, *SIGNS_AND_WORDS])
def test_a_verbose_reply(expected, reply, answer):
    found = parse_response(reply, expected)
    assert (found, type(found)) == (answer, type(answer))


@pytest.mark.parametrize(("reply", "answer"), OPENS)
def test_an_open_answer(reply, answer):
    assert parse_response(reply, ANYTHING) == answer


@pytest.mark.parametrize("value", [v for a in clevr.SCHEMA.attributes for v in a.values])
@pytest.mark.parametrize("form", ["{}", "{}.", "Answer: {}", "The answer is {}.", "**{}**", "<think>x</think>\n{}"])
def test_every_value_is_read_however_it_is_wrapped(value, form):
    expected = expect_value(clevr.SCHEMA, clevr.SCHEMA.attribute_of(value))
    assert parse_response(form.format(value), expected) == value
    assert parse_response(form.format(value.capitalize()), expected) == value


_MARKS = "<think>|</think>|<answer>|\\boxed{|}|{|\"|'|= |1. |- |####|é| |\n|.|:|,|**"
_WORDS = "yes|no|3|red|cube|answer|is|so|not|or|any|but|because"
PIECES = st.sampled_from(f"{_MARKS}|{_WORDS}".split("|"))


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from([TRUTH, NUMBER, COLOR, ANYTHING]))
def test_any_text_can_be_read(text, expected):
    found = parse_response(text, expected)
    other = (bool, int)  # given as the answer, though the question admits none such
    kinds = {TRUTH: other, NUMBER: other, COLOR: (*other, str), ANYTHING: (str,)}
    assert found is None or type(found) in kinds[expected]


@pytest.mark.parametrize(
    "piece", ["\n", " ", "<think>", "answer is ", "answer to ", "red cube so ", "1. ", "\\boxed{", "**a", ", so"]
)
def test_a_long_reply_takes_no_longer_than_its_length(piece):
    start = time.perf_counter()
    parse_response(piece * (40_000 // len(piece)), COLOR)
    assert time.perf_counter() - start < 3


def test_a_long_count_takes_no_longer_than_its_length():
    start = time.perf_counter()
    assert parse_response(", ".join(map(str, range(8000))), NUMBER) is None
    assert time.perf_counter() - start < 3


FILLER = "The scene has many objects in it, and I go through them one by one. "
RAMBLE = FILLER * 30_000  # 2 MB


@pytest.mark.parametrize(
    ("expected", "reply", "answer"),
    [
        (COLOR, f"{RAMBLE}\nAnswer: red", "red"),
        (COLOR, f"{RAMBLE}\nRed", "red"),
        (COLOR, f"{RAMBLE}So the ball is red.", "red"),
        (COLOR, f"{RAMBLE}It is **red**.", "red"),
        (COLOR, f"Red\n\n{RAMBLE}", "red"),
        (COLOR, f"Red. {RAMBLE}", "red"),
        (TRUTH, f"Yes, there is one. {RAMBLE}", True),
        (NUMBER, f"{RAMBLE}\nThe answer is 5. {RAMBLE}", 5),
        (NUMBER, f"{RAMBLE} The final answer is $\\boxed{{7}}$. {RAMBLE}", 7),
        (NUMBER, f"{RAMBLE}\n#### 8\n{RAMBLE}", 8),
        (NUMBER, f'{RAMBLE}\n{{"ANSWER": 4}}\n{RAMBLE}', 4),
        (COLOR, f"Answer: blue. {RAMBLE}<answer>\nred\n</answer>{RAMBLE}", "red"),  # the last mark counts
        (COLOR, f"{RAMBLE}Answer: blue. {RAMBLE}\nAnswer: red\n{RAMBLE}", "red"),
        (COLOR, f"{RAMBLE}Answer: red. {'They give no answer there. ' * 50}{RAMBLE}", "red"),
        (COLOR, f"{RAMBLE}Answer: red or blue. {RAMBLE}", None),
        (ANYTHING, f"{RAMBLE}\nAnswer: The Kitchen\n{RAMBLE}", "kitchen"),
        (ANYTHING, f"{RAMBLE}\n\nUmbrella", "umbrella"),
        (COLOR, f"<think>{RAMBLE}Answer: blue</think>red", "red"),
        (COLOR, f"<think>{RAMBLE}Answer: blue", None),
        (COLOR, f"{RAMBLE}\nAnswer: {'ü' * 2_000_000}", None),
    ],
)
def test_a_reply_of_megabytes_is_read_by_its_marks_and_its_ends(expected, reply, answer):
    found = parse_response(reply, expected)
    assert (found, type(found)) == (answer, type(answer))


@pytest.mark.parametrize(
    ("expected", "reply"),
    [
        (COLOR, RAMBLE),
        (COLOR, f"{FILLER}The ball is red. {RAMBLE}"),  # what is concluded early may be taken back unseen
        (COLOR, f"{FILLER}It is **red**. {RAMBLE}"),
        (COLOR, f"{FILLER}\nA: red\n{RAMBLE}"),
        (COLOR, f"Red. {RAMBLE}Wait, that was wrong. {RAMBLE}"),
        (COLOR, f"{RAMBLE}The ball is red. {RAMBLE}"),
        (COLOR, f"{RAMBLE}vitamin A: red {RAMBLE}"),
        (NUMBER, f"{RAMBLE}The answer: {'7' * 5000} {RAMBLE}"),  # no number is cut to another
        (COLOR, f"red{' and then' * 300_000} blue"),  # one sentence
        (TRUTH, f"no{' and then' * 300_000} yes"),
    ],
)
def test_what_a_reply_of_megabytes_says_in_passing_is_no_answer(expected, reply):
    assert parse_response(reply, expected) is None


BEFORE = ["", "answer to", "**", "red, 3-4"]
REPEATED = [
    *("\n", " ", "\t", " \n", "answer", "answer is ", "answer to ", "answer: red\n", "final ", "<answer>", "\\boxed{"),
    *("{", "]", "(", ")", "*", "** ", "**a", "__", "#", "#### red\n", "1", "1,000,", "1. ", "- ", '"', "'", "<", "<a>"),
    *('"answer": "', "answer\":'", "<think>", "</think>", "a", "red", "red, ", "red cube so ", "so ", ", so", "wait "),
    *("I don't know. ", "can't be a", "is the ", "A:", "= ", ". ", "é", "İ", "x\n", "because ", "yes ", "3 "),
]  # fmt: skip


@pytest.mark.parametrize("piece", REPEATED)
def test_no_long_text_takes_long(piece):
    """A fraction of a second each; what takes the square of the length takes minutes."""
    start = time.process_time()
    for before, expected in zip(BEFORE, (COLOR, TRUTH, NUMBER, COLOR), strict=True):
        parse_response(before + piece * (500_000 // len(piece)), expected)
        parse_response(before + piece * (30_000 // len(piece)), expected)  # read whole
    assert time.process_time() - start < 5


def test_an_open_schema_expects_anything():
    assert expect_value(OPEN, "color") is ANYTHING


def test_words_of_ones_own():
    animals = expect_words([("cat", "cat"), ("kitty", "cat"), ("dog", "dog")])
    assert parse_response("Two kitties.", animals) == "cat"
    assert parse_response("The dog is chased by cats", animals) == "cat"


def choosing(this, that):
    find = node("find", (), ("cow",)), node("unique", (0,)), node("find", (), ("grass",))
    return Question("q", "?", ("s",), Program((*find, node("choose_relation", (1, 2), (this, that, "object")))))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        *(("lying in", "lying in"), ("Lying in it.", "lying in"), ("lying", "lying in")),
        *(("The cow is lying in the grass.", "lying in"), ("standing on", "standing on")),
        ("eating", "eating"),  # readable, and wrong
    ],
)
def test_a_relation_that_a_question_offers(reply, answer):
    assert parse_response(reply, infer_expected(choosing("lying in", "standing on"), OPEN)) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("in front of", "front"), ("It is in front of the jet.", "front"), ("front", "front"), ("Behind", "behind")],
)
def test_a_relation_of_a_closed_schema_in_plain_english(reply, answer):
    assert parse_response(reply, infer_expected(choosing("front", "behind"), superclevr.SCHEMA)) == answer


def test_what_two_offered_words_share_is_neither():
    expected = infer_expected(choosing("sitting on", "sitting under"), OPEN)
    assert parse_response("sitting", expected) not in ("sitting on", "sitting under")
    assert parse_response("sitting under it", expected) == "sitting under"


@pytest.mark.parametrize(("reply", "answer"), [("a dirt bike", "dirtbike"), ("double-decker bus", "double")])
def test_a_shape_that_a_question_offers_in_plain_english(reply, answer):
    program = Program((node("scene"), node("unique", (0,)), node("choose", (1,), ("shape", "double", "dirtbike"))))
    expected = infer_expected(Question("q", "?", ("s",), program), superclevr.SCHEMA)
    assert parse_response(reply, expected) == answer

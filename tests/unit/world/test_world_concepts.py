"""Distributions of concepts: the official shares, what a number stands for, and a user's own files."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.shift import compositionality, concept_distribution
from shiftscope.world.superclevr.concepts import (
    BALANCED,
    COLORS,
    MATERIALS,
    SHAPES,
    ConceptDistribution,
    inverse_cdf,
    read_concept_file,
)

DISTRIBUTIONS = concept_distribution.FACTOR.variants


def shares(variant: str, attribute: str) -> dict[str, float]:
    return concept_distribution.concepts(variant).frequencies()[attribute]


@pytest.mark.parametrize(
    ("variant", "attribute", "value", "share"),
    [
        # a^-rank over the sum, as the official files have it
        ("slt", "color", "gray", 0.2630116962661437),
        ("slt", "color", "yellow", 0.041915205145986734),
        ("slt", "material", "rubber", 0.5652173913043479),
        ("slt", "shape", "suv", 0.10791422469277284),  # cars come first in slt …
        ("slt", "shape", "jet", 0.08301094207136372),
        ("slt", "shape", "tandem", 0.017197892452625266),
        ("long", "shape", "jet", 0.2729211087420043),  # … and aeroplanes in long
        ("long", "shape", "suv", 0.13646055437100216),
        ("long", "shape", "tandem", 0.0021321961620469087),
        ("long", "color", "gray", 128 / 255),
        ("long", "material", "metal", 1 / 3),
        ("oppo", "shape", "tandem", 0.27292110874200426),
        ("oppo", "shape", "airliner", 0.008528784648187633),  # by its place in the list, not by its rank
        ("oppo", "shape", "minivan", 0.017057569296375266),  # of airliner's rank in long
        ("oppo", "color", "yellow", 128 / 255),
        ("oppo", "material", "metal", 2 / 3),
        ("head", "shape", "double", 1 / 11),
        ("head", "shape", "sedan", 0.0),
        ("head", "color", "green", 0.25),
        ("head", "material", "metal", 0.0),
        ("tail", "shape", "double", 1 / 11),
        ("tail", "shape", "chopper", 0.0),
        ("tail", "color", "brown", 0.25),
        ("tail", "material", "metal", 1.0),
        ("bal", "shape", "school", 1 / 21),
    ],
)
def test_shares_are_the_official_ones(variant, attribute, value, share):
    assert shares(variant, attribute)[value] == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("variant", DISTRIBUTIONS)
def test_shares_sum_to_one(variant):
    for attribute in ("shape", "color", "material"):
        assert sum(shares(variant, attribute).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("variant", "shape", "commonest"),
    [
        ("co-1", "jet", "gray"),
        ("co-1", "fighter", "yellow"),
        ("co-1", "truck", "brown"),
        ("co-1", "suv", "gray"),
        ("co-2", "jet", "gray"),
        ("co-2", "airliner", "gray"),
        ("co-2", "suv", "yellow"),
        ("co-2", "school", "cyan"),
        ("co-2", "chopper", "purple"),
        ("co-2", "tandem", "brown"),
    ],
)
def test_which_color_goes_with_a_shape(variant, shape, commonest):
    row = compositionality.concepts(variant).together[SHAPES.index(shape)]
    assert COLORS[row.index(max(row))] == commonest
    assert sorted(row) == pytest.approx([2**k / 255 for k in range(8)])


def test_shapes_and_colors_are_independent_in_co_0():
    assert compositionality.concepts("co-0") == BALANCED


@given(st.floats(0, 1, exclude_max=True), st.sampled_from(DISTRIBUTIONS))
def test_a_number_never_stands_for_a_share_of_nothing(at, variant):
    concepts = concept_distribution.concepts(variant)
    assert concepts.shape[inverse_cdf(concepts.shape, at)] > 0


@given(st.lists(st.sampled_from((0.0, 1e-9, 0.1, 1 / 3)), min_size=1, max_size=8), st.floats(0, 1), st.data())
def test_a_number_falls_on_the_first_share_that_reaches_beyond_it(parts, at, data):
    shares = tuple(part / (sum(parts) or 1.0) for part in parts)
    ends = list(accumulate(shares))
    at = data.draw(st.sampled_from((at, *ends)))  # right at an end, too
    possible = [k for k, share in enumerate(shares) if share > 0] or [0]
    expected = next((k for k in possible if at < ends[k]), possible[-1])
    assert inverse_cdf(shares, at) == expected


def test_numbers_fall_as_often_as_the_shares_say():
    drawn = [inverse_cdf((0.5, 0.0, 0.25, 0.25), k / 1000) for k in range(1000)]
    assert [drawn.count(k) for k in range(4)] == [500, 0, 250, 250]


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True), st.sampled_from(COLORS))
def test_a_part_never_has_the_color_of_its_vehicle(first, second, of):
    for concepts in (BALANCED, concept_distribution.concepts("long"), only("red")):
        assert concepts.choose_part_color(of, first, second) != of


def test_a_part_keeps_its_color_when_its_vehicle_takes_another():
    red = COLORS.index("red") / 8 + 0.01
    assert BALANCED.choose_part_color("blue", red, 0.9) == BALANCED.choose_part_color("gray", red, 0.9) == "red"
    assert BALANCED.choose_part_color("red", red, 0.999) == "yellow"


def only(color: str) -> ConceptDistribution:
    return ConceptDistribution(color=tuple(float(c == color) for c in COLORS))


def test_concepts_survive_json():
    for concepts in (concept_distribution.concepts("slt"), compositionality.concepts("co-2")):
        assert ConceptDistribution.from_json(concepts.to_json()) == concepts


def test_colors_over_all_shapes_are_told():
    asked = compositionality.concepts("co-2").frequencies()["color"]
    assert sum(asked.values()) == pytest.approx(1)
    assert asked["gray"] == pytest.approx((4 * 128 + 5 * 64 + 4 * 32 + 4 * 16 + 4 * 8) / 255 / 21)


# A user's own files


def test_an_npz_of_shares(tmp_path):
    np.savez(tmp_path / "mine.npz", names=np.array(["metal", "rubber"]), dist=np.array([0.9, 0.1]))
    assert read_concept_file(tmp_path / "mine.npz") == ConceptDistribution(material=(0.1, 0.9))


def test_an_npz_matrix_in_any_order_of_names(tmp_path):
    matrix = np.zeros((21, 8))
    matrix[:, 3] = 1.0
    names = np.array([*sorted(SHAPES), *sorted(COLORS)])
    np.savez(tmp_path / "mine.npz", names=names, dist=matrix)
    assert read_concept_file(tmp_path / "mine.npz").together == (only("gray").color,) * 21


def test_a_csv_of_shares_with_a_heading(tmp_path):
    (tmp_path / "mine.csv").write_text("name,share\nred,0.75\nblue,0.25\nrubber,1\n")
    found = read_concept_file(tmp_path / "mine.csv")
    assert found.frequencies()["color"]["red"] == 0.75
    assert found.material == (1.0, 0.0)
    assert found.shape == BALANCED.shape


def test_a_csv_matrix(tmp_path):
    lines = [",".join(["", *COLORS]), *(",".join([s, "1", *"0" * 7]) for s in SHAPES)]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    assert read_concept_file(tmp_path / "mine.csv").together == (only("gray").color,) * 21


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("red,0.5\nbleu,0.5\n", "no shape, color or material 'bleu'"),
        ("red,0.5\nblue,0.4\n", "the shares of color sum to 0.9, not to 1"),
        ("red,1.5\nblue,-0.5\n", "a share of color is -0.5, which is no share; it must be 0 or more"),
        ("red,nan\n", "a share of color is nan, which is no share"),
        ("red,half\n", "'half' is not a number"),
        ("red,0.5\nred,0.5\n", "'red' stands there twice"),
        ("", "the file is empty"),
        ("shape,red,blue\nsuv,1,0\n", "needs every shape once; 'airliner' is missing"),
        ("shape,red,blue\nsuv,1\n", "the line of 'suv' has 2 cells, not 3"),
        ("shape,red,blu\nsuv,1,0\n", "'airliner' is missing"),
        ("grey,half\nred,1\n", "'half' is not a number"),
        ("grey,1\n", "no shape, color or material 'grey'"),
        ("name,share\n", "there is nothing below the heading"),
        ("gray;0.5\nred;0.5\n", "the line 'gray;0.5' has one cell; a line is like red,0.5 with a comma"),
        ("red\nblue\n", "the line 'red' has one cell"),
        ("red,0.5\nblue,0.5,0\n", "the line of 'blue' has 3 cells, not 2"),
        ("addi,0.25\nsuv,0.75\n", "addi has a share of 0.25, but no vehicle is one; it can have 0"),
        ("red," + "1" * 131_073, "not a text file of comma-separated cells"),
    ],
)
def test_a_bad_csv_is_refused_in_one_sentence(tmp_path, refuses, text, sentence):
    (tmp_path / "mine.csv").write_text(text)
    with refuses(sentence):
        read_concept_file(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffred,1\n",  # as spreadsheets write it
        "Name,Share\nred,1\n",
        "red,1\naddi,0\n",  # a 22nd shape that no scene has
        " red , 1.0 \n\n",
    ],
)
def test_a_csv_may_be_written_in_several_ways(tmp_path, text):
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    assert read_concept_file(tmp_path / "mine.csv") == only("red")


def test_names_may_be_bytes(tmp_path):
    np.savez(tmp_path / "mine.npz", names=np.array([b"red", b"addi"]), dist=np.array([1, 0]))
    assert read_concept_file(tmp_path / "mine.npz") == only("red")


PLAIN = "not an .npz file of plain numbers and names"


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"shares": np.ones(2) / 2}, "needs the arrays names and dist, has shares"),
        ({"names": MATERIALS, "dist": np.ones(3) / 3}, "2 names do not go with shares of shape [3]"),
        ({"names": np.array([], str), "dist": np.array([])}, "it names nothing"),
        ({"names": MATERIALS, "dist": np.array([0.5 + 1j, 0.5])}, PLAIN),
        ({"names": MATERIALS, "dist": np.array(["half", "half"])}, PLAIN),
        ({"names": np.array([1, 2]), "dist": np.ones(2) / 2}, PLAIN),
        ({"names": np.array([b"\xff", b"metal"]), "dist": np.ones(2) / 2}, PLAIN),
        ({"names": np.array(["red"], object), "dist": np.ones(1)}, PLAIN),
    ],
)
def test_a_bad_npz_is_refused_in_one_sentence(tmp_path, refuses, arrays, sentence):
    np.savez(tmp_path / "mine.npz", **arrays)
    with refuses(sentence):
        read_concept_file(tmp_path / "mine.npz")


def test_other_bad_files_are_refused(tmp_path, refuses):
    with refuses("no such file"):
        read_concept_file(tmp_path / "none.csv")
    (tmp_path / "folder.npz").mkdir()
    with refuses("folder.npz: a folder; a distribution is an .npz or a .csv file"):
        read_concept_file(tmp_path / "folder.npz")
    (tmp_path / "mine.txt").write_text("red,1")
    with refuses("a distribution is an .npz or a .csv file"):
        read_concept_file(tmp_path / "mine.txt")
    with (tmp_path / "single.npz").open("wb") as file:
        np.save(file, np.ones(2) / 2)
    for name, data in (("text.npz", b"red,1"), ("empty.npz", b""), ("cut.npz", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(data)
    for name in ("single.npz", "text.npz", "empty.npz", "cut.npz"):
        with refuses(f"{name}: {PLAIN}"):
            read_concept_file(tmp_path / name)


def test_an_unknown_distribution_gets_the_nearest(refuses):
    with refuses("no concept distribution 'lonk'; did you mean 'long'?"):
        concept_distribution.concepts("lonk")
    with refuses("no compositionality 'co1'; did you mean 'co-1'?"):
        compositionality.concepts("co1")

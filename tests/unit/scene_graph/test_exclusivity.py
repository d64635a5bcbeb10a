"""What excludes what: schemas, our own tables, WordNet's files, a user's table, an NLI model, in that order."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.exclusivity import REPORTED, judge_pairs, measure_accuracy
from shiftscope.errors import UserError
from shiftscope.files import file_digest
from shiftscope.scene_graph.exclusivity import THRESHOLD, MutualExclusivity, build_exclusivity, read_exclusivity_table
from shiftscope.scene_graph.wordnet import SHIPPED, WordNet, identify_wordnet, load_wordnet, read_folder
from shiftscope.schemas import clevr, gqa, superclevr

EVERYDAY = build_exclusivity(gqa.SCHEMA)


@pytest.mark.parametrize(
    ("kind", "first", "second", "verdict"),
    [
        ("attribute", "red", "blue", 1),
        ("attribute", "red", "rubber", 0),
        ("object", "sedan", "tandem", 1),
        ("object", "sedan", "car", 0),
        ("object", "car", "bus", 1),
        ("object", "sedan", "sedan", 0),
        ("relation", "left", "behind", 0),
    ],
)
def test_in_a_closed_schema_values_exclude_each_other(kind, first, second, verdict):
    assert build_exclusivity(superclevr.SCHEMA).get_exclusivity(kind, first, second) == verdict


def test_a_schema_without_kinds():
    assert build_exclusivity(clevr.SCHEMA).score_exclusivity("object", "cube", ["sphere", "cube", "cone"]) == [1, 0, 0]


@pytest.mark.parametrize(
    ("kind", "first", "second", "verdict"),
    [
        ("object", "dog", "cat", 1),
        ("object", "dog", "puppy", 0),
        ("object", "dogs", "dog", 0),
        ("object", "man", "person", 0),
        ("object", "man", "player", 0),
        ("object", "man", "woman", 1),
        ("object", "lady", "boy", 1),
        ("object", "cup", "mugs", 0),
        ("object", "table", "picnic table", 0),
        ("object", "gizmo", "dog", 0),  # nobody knows
        ("attribute", "white", "black", 1),
        ("attribute", "green", "light green", 0),
        ("attribute", "silver", "gray", 0),
        ("attribute", "white", "large", 0),
        ("attribute", "standing", "sitting", 1),
        ("attribute", "sitting", "eating", 0),
        ("relation", "riding on", "near", 1),
        ("relation", "near", "riding on", 0),
        ("relation", "riding", "standing near", 1),
        ("relation", "on", "next to", 1),
        ("relation", "next to", "on", 0),
        ("relation", "holding", "using", 0),
        ("relation", "hold", "wearing", 1),
        ("relation", "sitting on", "lying on", 1),
        ("relation", "under", "on top of", 1),
        ("relation", "in", "on", 0),
        ("modifier", "from", "into", 1),
        ("modifier", "with", "in", 0),
    ],
)
def test_everyday_words(kind, first, second, verdict):
    assert EVERYDAY.get_exclusivity(kind, first, second) == verdict


class Always:
    def score_exclusivity(self, kind, first, seconds, target=""):
        return [None if second == "cat" else 0.7 for second in seconds]


class Never:
    def __init__(self):
        self.asked = []

    def score_exclusivity(self, kind, first, seconds, target=""):
        self.asked += seconds
        return [0.1 for _ in seconds]


def test_the_first_source_that_knows_decides():
    last = Never()
    assert MutualExclusivity([Always(), last]).score_exclusivity("object", "dog", ["cow", "cat", "dog"]) == [
        0.7,
        0.1,
        0.0,
    ]
    assert last.asked == ["cat"]


def test_a_users_table_comes_first_and_is_read_in_its_own_direction(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("first,second,type,exclusive\ndog,cat,object,no\nusing,holding,relation,0.9\n")
    overlap = build_exclusivity(gqa.SCHEMA, table=path)
    assert overlap.get_exclusivity("object", "dog", "cat") == 0
    assert overlap.get_exclusivity("object", "cat", "dog") == 1
    assert overlap.get_exclusivity("relation", "using", "holding") == 0.9
    assert overlap.get_exclusivity("relation", "holding", "using") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "expected the columns first,second,type,exclusive"),
        ("first,second,type,exclusive\ndog,cat,thing,1\n", "line 2: the type is one of object, attribute"),
        ("first,second,type,exclusive\ndog,cat,object,maybe\n", "line 2: exclusive is yes, no or a number"),
        ("first,second,type,exclusive\ndog,cat,object,2\n", "exclusive is yes, no or a number"),
        ("first,second,type,exclusive\ndog,cat\n", "line 2: expected 4 columns, got 2"),
        ("first,second,type,exclusive\na,b,object,1\na,b,object,0\n", "line 3: 'a' and 'b' come twice"),
    ],
)
def test_a_malformed_table_is_refused(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_exclusivity_table(path)


NOUNS = {  # synset: its words, and where it points
    "entity": ("entity", ""),
    "person": ("person", "@ entity"),
    "man": ("man", "@ person, ! woman"),
    "woman": ("woman", "@ person, ! man"),
    "lady": ("lady", "@ woman"),
    "player": ("player", "@ person"),
    "tool": ("tool", "@ entity"),
    "wrench": ("wrench spanner", "@ tool"),
    "pipe_wrench": ("pipe_wrench", "@ wrench"),
    "hammer": ("hammer", "@ tool"),
    "color": ("chromatic_color", "@ entity"),
    "gray": ("achromatic_color", "@ entity"),
    "red": ("red", "@ color"),
    "crimson": ("crimson", "@ red"),
    "teal": ("teal", "@ color"),
}
ADJECTIVES = {
    "hot": ("hot", "! cold, & scorching"),
    "cold": ("cold", "! hot, & icy"),
    "scorching": ("scorching", "& hot"),
    "icy": ("icy frozen", "& cold"),
    "crisp": ("crisp", ""),
}


def write_wordnet(folder: Path) -> Path:
    """A WordNet of a few synsets, laid out as the real one is."""
    for pos, letter, synsets in (("noun", "n", NOUNS), ("adj", "a", ADJECTIVES)):
        head = "  1 a licence\n"
        lines, offsets, at = {}, {}, len(head)
        for name, (words, pointers) in synsets.items():
            listed = words.split()
            to = [p.split() for p in pointers.split(", ") if p]
            said = " ".join(f"{w} 0" for w in listed)
            ptrs = "".join(f" {s} {{{t}}} {letter} 0000" for s, t in to)
            lines[name] = f"{{{name}}} 03 {letter} {len(listed):02x} {said} {len(to):03d}{ptrs} | gloss\n"
            offsets[name] = at
            at += len(lines[name].format(**dict.fromkeys(synsets, "0" * 8)))
        numbers = {name: f"{offset:08d}" for name, offset in offsets.items()}
        (folder / f"data.{pos}").write_text(head + "".join(line.format(**numbers) for line in lines.values()))
        index = [
            f"{word} {letter} 1 1 @ 1 0 {numbers[name]}  \n"
            for name, (words, _) in synsets.items()
            for word in words.split()
        ]
        (folder / f"index.{pos}").write_text(head + "".join(sorted(index)))
    (folder / "noun.exc").write_text("women woman\n")
    return folder


@pytest.mark.parametrize(
    ("kind", "first", "second", "verdict"),
    [
        ("object", "wrench", "spanner", 0.0),  # a synonym
        ("object", "pipe wrench", "tool", 0.0),  # a wider word
        ("object", "tool", "wrenches", 0.0),  # a narrower one, in the plural
        ("object", "wrench", "hammer", 1.0),
        ("object", "rusty hammer", "hammer", 0.0),  # the phrase is not there, its last word is
        ("object", "man", "player", 0.0),
        ("object", "man", "women", 1.0),
        ("object", "man", "lady", 1.0),
        ("object", "gizmo", "hammer", None),
        ("attribute", "hot", "cold", 1.0),
        ("attribute", "scorching", "icy", None),  # like opposites, no opposites
        ("attribute", "hot", "scorching", 0.0),
        ("attribute", "icy", "frozen", 0.0),
        ("attribute", "hot", "crisp", None),
        ("attribute", "red", "teal", 1.0),
        ("attribute", "red", "crimson", 0.0),
        ("relation", "on", "under", None),
    ],
)
def test_wordnet(tmp_path, kind, first, second, verdict):
    assert WordNet(write_wordnet(tmp_path)).score_exclusivity(kind, first, [second]) == [verdict]


def test_the_shipped_wordnet_is_read_once_and_a_users_own_each_time(tmp_path, refuses):
    assert load_wordnet() is load_wordnet(SHIPPED)
    assert load_wordnet().score_exclusivity("object", "dog", ["cat", "animal"]) == [1.0, 0.0]
    folder = write_wordnet(tmp_path)
    assert load_wordnet(folder).score_exclusivity("object", "man", ["lady"]) == [1.0]
    (folder / "data.noun").unlink()
    with refuses("apt-get install wordnet-base"):
        load_wordnet(folder)


def test_a_folder_without_wordnet_says_how_to_get_it(tmp_path):
    with pytest.raises(UserError, match="apt-get install wordnet-base"):
        WordNet(tmp_path)


def test_files_that_are_not_wordnets_are_refused(tmp_path):
    write_wordnet(tmp_path)
    (tmp_path / "data.noun").write_text("00000000 03 n 01 thing 0 001 @ 99999999 n 0000 | gloss\n")
    with pytest.raises(UserError, match="these are not WordNet's files"):
        WordNet(tmp_path)
    (tmp_path / "mine.npz").write_bytes(b"no zip")
    with pytest.raises(UserError, match="this is not WordNet as shiftscope stores it"):
        WordNet(tmp_path / "mine.npz")


def test_what_is_stored_of_a_folder_tells_the_same(tmp_path):
    folder = write_wordnet(tmp_path)
    np.savez_compressed(tmp_path / "stored.npz", **read_folder(folder))
    read, stored = WordNet(folder), WordNet(tmp_path / "stored.npz")
    assert identify_wordnet(folder) == identify_wordnet(tmp_path / "stored.npz")
    words = [word for names, _ in NOUNS.values() for word in names.replace("_", " ").split()]
    for first in words:
        assert read.score_exclusivity("object", first, words) == stored.score_exclusivity("object", first, words)


ALONE = """
import builtins, sys
sys.modules["nltk"] = None  # importing it fails
opened, plain = [], builtins.open
builtins.open = lambda path, *a, **k: opened.append(str(path)) or plain(path, *a, **k)
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.wordnet import SHIPPED
from shiftscope.schemas import gqa
m = build_exclusivity(gqa.SCHEMA, wordnet=SHIPPED)
print(m.score_exclusivity("object", "city bus", ["vehicle", "taxi", "spatula"]))
print(m.score_exclusivity("attribute", "wet", ["dry"]))
print([path for path in opened if "wordnet" in path and "shiftscope" not in path])
"""


def test_the_package_alone_has_wordnet():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[0.0, 1.0, 1.0]", "[1.0]", "[]"]


def test_the_wordnet_that_ships_is_the_one_that_was_measured():
    assert file_digest(SHIPPED)[:16] == "04b51d50d6012b64"
    assert identify_wordnet()[:16] == "bce031e3d8e542d8"  # as specs name Debian's wordnet-base 1:3.0
    assert SHIPPED.stat().st_size < 3_000_000
    licence = SHIPPED.with_name("LICENSE.wordnet.txt").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence
    assert "provided that you agree to comply" in licence


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("city bus", "vehicle", 0),
        ("city bus", "car", 1),
        ("glass table", "desk", 0),  # as a table may be
        ("home plate", "saucer", 1),  # WordNet has it: no plate
        ("wetsuit", "clothes", 0),  # written in one
        ("wetsuit", "truck", 1),
        ("crane", "person", 1),  # Stephen Crane is none to look for
        ("left hand", "hands", 0),
        ("slice of pizza", "truck", 1),
        ("child", "woman", 1),
        ("girl", "woman", 0),
        ("background", "truck", 0),
    ],
)
def test_nouns_of_several_words_fall_back_to_their_head(first, second, verdict):
    known = build_exclusivity(gqa.SCHEMA, wordnet=SHIPPED)
    assert known.get_exclusivity("object", first, second) == known.get_exclusivity("object", second, first) == verdict


@pytest.mark.parametrize(
    ("first", "second", "target", "verdict"),
    [
        ("in", "on top of", "box", 1),
        ("in", "on top of", "grass", 0),
        ("in", "on", "suitcase", 1),
        ("in", "on", "bed", 0),
        ("on", "carrying", "surfboard", 1),
        ("on", "holding", "handle", 0),
        ("holding", "have", "arm", 1),  # said of an arm, "have" says that nothing else is to be said
        ("holding", "have", "umbrella", 0),
        ("standing on", "skateboarding on", "skateboard", 0),
        ("standing in", "skiing in", "snow", 1),
        ("eating", "holding", "donut", 1),
        ("holding", "eating", "donut", 0),
        ("parked on", "driving down", "street", 1),
        ("made of", "holding", "wood", 0),
        ("close to", "next to", "wall", 0),
        ("gizmoing", "holding", "cup", 0),
    ],
)
def test_relations_depend_on_what_they_lead_to(first, second, target, verdict):
    assert EVERYDAY.get_exclusivity("relation", first, second, target) == verdict


@pytest.mark.parametrize(("kind", "least"), [("object", 94), ("attribute", 95), ("relation", 83)])
def test_the_filter_agrees_with_labels_by_hand_as_well_as_the_papers(kind, least):
    judged = judge_pairs()
    assert sum(one.kind == kind and one.reported for one in judged) >= REPORTED
    assert measure_accuracy(judged, kind) >= least


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny untrained classifier of sentence pairs, as `from_pretrained` opens it."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[UNK]", "[PAD]", "[SEP]"]
    words.train_from_iterator(["There is a dog cat cow . It"], trainers.WordLevelTrainer(special_tokens=special))
    folder = tmp_path_factory.mktemp("nli")
    tokens = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    tokens.save_pretrained(folder)
    torch.manual_seed(0)
    labels = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, id2label=labels, label2id={v: k for k, v in labels.items()},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_an_nli_model_gives_the_chance_of_a_contradiction(model):
    from shiftscope.scene_graph.exclusivity import NLI

    nli = NLI(str(model))
    both = nli.score_exclusivity("object", "dog", ["cat", "cow"])
    assert all(0 < chance < 1 for chance in both)
    assert nli.score_exclusivity("object", "dog", ["cow"]) == pytest.approx(both[1:], rel=1e-4)
    overlap = build_exclusivity(gqa.SCHEMA, nli=str(model))
    assert overlap.score_exclusivity("object", "dog", ["cat"]) == [1.0]  # the schema knows
    assert overlap.score_exclusivity("object", "gizmo", ["cat"]) == nli.score_exclusivity("object", "gizmo", ["cat"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_what_is_no_nli_model_is_refused(model, tmp_path):
    import json
    import shutil

    from shiftscope.scene_graph.exclusivity import NLI

    with pytest.raises(UserError, match="is no text classifier that opens here"):
        NLI(str(tmp_path))
    other = tmp_path / "other"
    shutil.copytree(model, other)
    config = json.loads((other / "config.json").read_text())
    config |= {"id2label": {"0": "good", "1": "bad", "2": "so"}, "label2id": {"good": 0, "bad": 1, "so": 2}}
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="none of its labels is 'contradiction'"):
        NLI(str(other))


def test_whether_words_overlap_is_only_said_where_a_source_knows():
    assert EVERYDAY.find_overlaps("object", "cup", ["glass", "dog", "gizmo"]) == [True, False, False]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("grey", "small", 0),
        ("grey", "young", 0),
        ("older", "small", 0),
        ("stuffed", "empty", 0),
        ("burgundy", "maroon", 0),
        ("blonde", "gold", 0),
        ("dark", "gray", 0),
        ("burgundy", "green", 1),
        ("wet", "dry", 1),
    ],
)
def test_attributes_exclude_each_other_in_one_family_or_as_opposites(first, second, verdict):
    known = build_exclusivity(gqa.SCHEMA, wordnet=SHIPPED)
    assert (known.get_exclusivity("attribute", first, second), known.get_exclusivity("attribute", second, first)) == (
        (verdict, verdict)
    )


@pytest.mark.parametrize("wordnet", [None, SHIPPED])
def test_all_nouns_at_once_are_judged_as_one_by_one(wordnet: Path | None) -> None:
    kinds = next(a.kinds for a in gqa.SCHEMA.attributes if a.name == "name")
    names = sorted({noun for _, nouns in kinds for noun in nouns})
    names += ["thing", "city bus", "picnic table", "zzz", "slice of pizza", "home plate", "tennis player", "boys"]
    overlap = build_exclusivity(gqa.SCHEMA, wordnet=wordnet)
    judge = overlap.judge_nouns(names)
    assert judge is not None
    for name in [*names[::37], *names[-8:], "man", "boy", "girl", "child", "dog"]:
        known = judge(name)
        one_by_one = np.array(overlap.score_exclusivity("object", name, names)) > THRESHOLD
        decided = known >= 0
        assert decided.all() or wordnet is not None
        assert (known[decided] == one_by_one[decided]).all(), name

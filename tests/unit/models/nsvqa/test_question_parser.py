"""The question parser's network: what it writes is well-typed, and it learns."""

import json
from collections import Counter
from functools import cache

import numpy as np
import pytest

from lazy import lazy
from parser_tokens import decode_program
from shiftscope.errors import UserError
from shiftscope.lang.check import check
from shiftscope.lang.program import Program, node
from shiftscope.lang.text import parse_program as program
from shiftscope.models.nsvqa.training import QuestionParserStage
from shiftscope.schemas import clevr, superclevr

add_modifiers = lazy("shiftscope.models.nsvqa.question_parser.add_modifiers")
decode = lazy("shiftscope.models.nsvqa.question_parser.decode")
loss = lazy("shiftscope.models.nsvqa.question_parser.loss")
network_module = lazy("shiftscope.models.nsvqa.question_parser.network")
rnn = lazy("torch.nn.utils.rnn")
torch = lazy("torch")
vocabulary_module = lazy("shiftscope.models.nsvqa.question_parser.vocabulary")

SCHEMA = superclevr.SCHEMA
DOORS_AND_WHEELS = Program(
    (
        node("scene"),
        node("filter", (0,), ("shape", "car")),
        node("unique", (1,)),
        node("parts", (2,)),
        node("filter", (3,), ("name", "door")),
        node("count", (4,)),
        node("filter", (3,), ("name", "wheel")),
        node("count", (6,)),
        node("greater", (5, 7)),
    )
)
QUESTIONS = (
    ("What color is the bus?", program("query(unique(filter(scene(), shape=bus)), color)")),
    ("What size is the red car?", program("query(unique(filter(scene(), color=red, shape=car)), size)")),
    ("What is the material of the small thing?", program("query(unique(filter(scene(), size=small)), material)")),
    ("How many buses are there?", program("count(filter(scene(), shape=bus))")),
    ("How many tiny blue things are there?", program("count(filter(scene(), size=small, color=blue))")),
    ("Is there a jet?", program("exist(filter(scene(), shape=jet))")),
    ("Is there a green truck?", program("exist(filter(scene(), color=green, shape=truck))")),
    (
        "What color is the bus left of the truck?",
        program("query(unique(filter(relate(unique(filter(scene(), shape=truck)), left), shape=bus)), color)"),
    ),
    (
        "How many things are behind the jet?",
        program("count(relate(unique(filter(scene(), shape=jet)), behind))"),
    ),
    (
        "Are there more buses than cars?",
        program("greater(count(filter(scene(), shape=bus)), count(filter(scene(), shape=car)))"),
    ),
    (
        "Are there as many cars as jets?",
        program("equal(count(filter(scene(), shape=car)), count(filter(scene(), shape=jet)))"),
    ),
    (
        "Does the bus have the color of the jet?",
        program("equal(query(unique(filter(scene(), shape=bus)), color), query(unique(filter(scene(), shape=jet)), color))"),
    ),
    ("How many things are buses or red?", program("count(union(filter(scene(), shape=bus), filter(scene(), color=red)))")),
    ("What color is the roof of the bus?", program("query(unique(filter(parts(unique(filter(scene(), shape=bus))), name=roof)), color)")),
    ("How many things have a red wheel?", program("count(owners(filter(parts(scene()), color=red, name=wheel)))")),
    ("Does the car have more doors than wheels?", DOORS_AND_WHEELS),
)  # fmt: skip
TEXTS = [text for text, _ in QUESTIONS]
STRANGE = ["", "?", "xyzzy plugh", "the " * 3000, "Ünïcödé 車 🚗", "What color is the bus? " * 40]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other cost such small networks more than they save."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def config(**sizes):
    sizes = {
        "width": 32,
        "heads": 2,
        "dropout": 0.0,
        "forget": 0.0,
        "enriched": 0.0,
        "stripped": 0.0,
        "longest_program": 40,
    } | sizes
    return vocabulary_module.QuestionParserConfig(vocabulary_module.ParserVocabulary.learn(QUESTIONS, SCHEMA), **sizes)


def made(seed=0, **sizes):
    torch.manual_seed(seed)
    return network_module.QuestionParser(config(**sizes))


@cache
def everything():
    return loss.QuestionParserBatch.from_encoded(*config().vocabulary.encode(QUESTIONS))


@cache
def enrich():
    return add_modifiers.ModifierAdder(config().vocabulary)


@cache
def trained():
    module = made(1, width=48)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)
    losses = []
    module.train()
    for _ in range(80):
        with network_module.small_products():
            lost, _ = loss.compute_loss(module, everything().take(torch.arange(16)))
            optimizer.zero_grad()
            lost.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        losses.append(lost.item())
    return module, losses


@pytest.mark.full
def test_the_loss_falls_and_what_was_learned_is_parsed_exactly():
    module, losses = trained()
    assert losses[0] > 2 and losses[-1] < 0.05
    assert decode.parse(module, TEXTS) == [p.canonicalize() for _, p in QUESTIONS]
    counts = decode.measure(module, everything().take(torch.arange(16)))
    assert counts["exact"] == (16, 16)
    assert counts["token"] == (91, 91)


def test_measure_counts_what_is_wrong():
    swapped = [(text, QUESTIONS[k - 1][1]) for k, (text, _) in enumerate(QUESTIONS)]
    batch = loss.QuestionParserBatch.from_encoded(*config().vocabulary.encode(swapped)).take(torch.arange(16))
    counts = decode.measure(trained()[0], batch)
    assert counts["exact"] == (0, 16)
    assert counts["token"][0] < counts["token"][1]


def test_a_program_that_only_begins_as_expected_is_not_exact():
    """Programs are measured to the length of the longest expected; what is decoded of longer ones is the same."""
    module = made(2)
    words = everything().words.long()
    whole = decode.decode_greedily(module, words)
    lengths = (whole != vocabulary_module.PAD).sum(1)
    for cut in (3, 7):
        assert torch.equal(decode.decode_greedily(module, words, cut), whole[:, :cut])
    assert torch.equal(decode.decode_greedily(module, words, 1000), whole)
    begin = torch.full((len(words), 1), vocabulary_module.BEGIN)
    for expected, right in ((whole[:, : lengths.max()], len(words)), (whole[:, : lengths.min() - 1], 0)):
        tokens = torch.cat([begin, expected], 1).numpy()
        batch = loss.QuestionParserBatch.from_encoded(words.numpy(), tokens)
        assert decode.measure(module, batch)["exact"] == (right, len(words))


def test_measure_counts_varied_questions_too_and_an_epoch_is_chosen_by_both():
    counts = decode.measure(made(enriched=0.5), everything().take(torch.arange(16)))
    assert counts["varied"] == (0, 16) and decode.find_augmenter.cache_info().currsize
    assert "varied" not in decode.measure(made(), everything().take(torch.arange(16)))
    assert QuestionParserStage().choose_by({"exact": 1.0, "varied": 0.5, "token": 0.0}) == 0.75
    assert QuestionParserStage().choose_by({"exact": 0.5, "token": 0.0}) == 0.5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("longest", [4, 9, 40])
def test_random_weights_write_well_typed_programs(seed, longest):
    """Sharp scores, so that every seed writes others; short limits, so that programs must be ended in time."""
    module = made(seed, longest_program=longest)
    with torch.no_grad():
        module.bias.normal_(0, 5)
        for part in module.say.parameters():
            part.mul_(20)
    for found in decode.parse(module, [*TEXTS, *STRANGE]):
        check(found, SCHEMA)
        # A node is written once however often it is read; two relations to one thing are three nodes.
        assert len(found) <= 1.5 * longest


def test_random_walks_of_the_grammar_are_well_typed_and_read_nodes_again():
    grammar, vocabulary = made().grammar, config().vocabulary
    again = {k + vocabulary_module.SPECIAL_TOKENS for k, t in enumerate(vocabulary.tokens) if t.op == "again"}
    assert again
    generator = torch.Generator().manual_seed(0)
    stack, rows = grammar.start(400), []
    for left in range(40, 0, -1):
        allowed = grammar.mask_allowed(stack, left).float()
        allowed[:, list(again)] *= 50
        rows.append(torch.multinomial(allowed, 1, generator=generator).squeeze(1))
        stack = grammar.push(stack, rows[-1])
    assert not stack.depth.any() and not stack.need.any()
    walks = [[k for k in row if k != vocabulary_module.PAD] for row in torch.stack(rows, 1).tolist()]
    for walk in walks:
        check(decode_program(vocabulary, walk), SCHEMA)
    assert sum(bool(again & set(walk)) for walk in walks) > 20


def test_strange_texts_are_answered_with_some_program():
    found = decode.parse(trained()[0], STRANGE)
    assert len(found) == len(STRANGE)
    assert decode.parse(trained()[0], []) == []


def test_a_word_never_seen_in_training_is_read_by_its_meaning():
    """No question says gray or grey, so both are only what the schema says of them; nor is an unknown word noise."""
    module, vocabulary = trained()[0], config().vocabulary
    vectors = module.tables.embed_words().detach()
    _, gray, grey, green, unknown = (vectors[k] for k in vocabulary.encode_text("gray grey green xyzzy"))
    assert torch.equal(gray, grey) and gray.any()
    assert not torch.equal(gray, green)
    assert not unknown.any()


def test_reading_leaves_the_threads_as_they_were():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        decode.parse(trained()[0], TEXTS[:2])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_neighbours_in_a_batch_do_not_matter():
    module = trained()[0]
    together = decode.parse(module, [*TEXTS, *STRANGE])
    assert together == [decode.parse(module, [text])[0] for text in [*TEXTS, *STRANGE]]


def test_a_config_comes_back_and_builds_the_same_network():
    module = trained()[0]
    again = network_module.QuestionParser(
        vocabulary_module.QuestionParserConfig.from_json(json.loads(json.dumps(module.config.to_json())))
    )
    again.load_state_dict({name: t.half().float() for name, t in module.state_dict().items()})
    assert again.config == module.config
    assert decode.parse(again, TEXTS) == decode.parse(module, TEXTS)


def test_a_config_from_before_questions_were_stripped_is_read():
    """And says so, even where all of its questions were enriched."""
    old = config(enriched=1.0).to_json()
    del old["stripped"]
    assert vocabulary_module.QuestionParserConfig.from_json(old) == config(enriched=1.0)
    assert vocabulary_module.QuestionParserConfig.list_default_sizes()["stripped"] > 0


@pytest.mark.parametrize(
    "shares, said",
    [
        ({"stripped": 1.5}, "are shares"),
        ({"longest_program": 400}, "at most 341 tokens"),
        ({"enriched": 0.7, "stripped": 0.4}, "together are 1 at most"),
    ],
)
def test_shares_that_can_not_be_are_refused(shares, said):
    with pytest.raises(UserError, match=said):
        config(**shares)


def test_the_default_network_is_small():
    module = network_module.QuestionParser(
        vocabulary_module.QuestionParserConfig(vocabulary_module.ParserVocabulary.learn(QUESTIONS, SCHEMA))
    )
    assert sum(t.numel() for t in module.state_dict().values()) < 1_500_000


def test_another_schema_gives_another_vocabulary():
    questions = [("How many cubes?", program("count(filter(scene(), shape=cube))"))]
    module = network_module.QuestionParser(
        vocabulary_module.QuestionParserConfig(
            vocabulary_module.ParserVocabulary.learn(questions, clevr.SCHEMA), width=16, heads=2
        )
    )
    (found,) = decode.parse(module, ["How many spheres?"])
    check(found, clevr.SCHEMA)


def test_an_epoch_shows_whole_batches_of_like_length():
    lengths = np.random.default_rng(0).integers(5, 60, 1000)
    rows = loss.make_batches(lengths, 64, np.random.default_rng(1))
    assert {len(r) for r in rows} == {64} and len(rows) == 15
    assert len(np.unique(np.concatenate(rows))) == 960
    assert np.mean([np.ptp(lengths[r]) for r in rows]) < 15
    assert [len(r) for r in loss.make_batches(lengths[:10], 64, np.random.default_rng(1))] == [10]


def test_enriched_questions_say_what_their_programs_ask():
    """Each value and relation that comes into the program comes into the text, and nothing else does."""
    vocabulary = config().vocabulary
    torch.manual_seed(3)
    batch = everything().take(torch.arange(16).repeat(20))
    every = torch.ones(len(batch), dtype=torch.bool)
    words, tokens = enrich()(batch.words, batch.tokens, every)
    described = related = 0
    for k, (text, ids) in enumerate(zip(words.tolist(), tokens[:, 1:].tolist(), strict=True)):
        found = decode_program(vocabulary, [i for i in ids if i != vocabulary_module.PAD])
        check(found, SCHEMA)
        old, new = (Counter((n.op, *n.params) for n in p.nodes) for p in (QUESTIONS[k % 16][1], found))
        assert not old - new
        filters = sum(n for key, n in (new - old).items() if key[0] == "filter")
        relations = sum(n for key, n in (new - old).items() if key[0] == "relate")
        more = len([w for w in text if w != vocabulary_module.PAD]) - int(
            (batch.words[k] != vocabulary_module.PAD).sum()
        )
        if not relations:
            assert more == filters
        said = {vocabulary.terms[t] for w in text for t in vocabulary.meanings[w]}
        assert {key[-1] for key in new if key[0] in ("filter", "relate")} <= said
        described += filters > 0
        related += relations > 0
    assert described > 100 and related > 50
    wide = batch.words.shape[1]
    assert torch.equal(enrich()(batch.words, batch.tokens, ~every)[0][:, :wide], batch.words)


def test_a_relation_is_added_where_a_description_ends():
    vocabulary = config().vocabulary
    torch.manual_seed(0)
    one = loss.QuestionParserBatch.from_encoded(*vocabulary.encode([QUESTIONS[6]])).take(
        torch.zeros(50, dtype=torch.long)
    )
    words, tokens = enrich()._add_relations(one.words, one.tokens, torch.ones(50, dtype=torch.bool))
    for text, ids in zip(words.tolist(), tokens[:, 1:].tolist(), strict=True):
        said = " ".join(vocabulary.words[w] for w in text if w > vocabulary_module.BEGIN)
        found = [vocabulary.tokens[k - vocabulary_module.SPECIAL_TOKENS] for k in ids if k != vocabulary_module.PAD]
        if len(found) > 4:  # exist, green, truck, scene
            assert said.startswith("is there a green truck ") and " the " in said and said.endswith(" ?")
            assert [t.op for t in found[:5]] == ["exist", "filter", "filter", "relate", "unique"]
            assert found[-1].op == "scene"
            assert found[3].words[0] in said
    assert any(len([k for k in ids if k != vocabulary_module.PAD]) > 5 for ids in tokens.tolist())


def test_enriching_puts_adjectives_in_their_order():
    vocabulary = config().vocabulary
    torch.manual_seed(0)
    one = loss.QuestionParserBatch.from_encoded(*vocabulary.encode([QUESTIONS[6]])).take(
        torch.zeros(600, dtype=torch.long)
    )
    words, tokens = enrich()(one.words, one.tokens, torch.ones(600, dtype=torch.bool))
    found = {
        " ".join(vocabulary.words[w] for w in text if w > vocabulary_module.BEGIN): decode_program(
            vocabulary, [i for i in ids if i != vocabulary_module.PAD]
        )
        for text, ids in zip(words.tolist(), tokens[:, 1:].tolist(), strict=True)
    }
    wanted = program("exist(filter(scene(), size=small, color=green, material=metal, shape=truck))")
    assert found["is there a small green metal truck ?"] == wanted
    full = [p for p in found.values() if len(p) == len(wanted)]
    assert all([n.params[0] for n in p.nodes[1:-1]] == ["size", "color", "material", "shape"] for p in full)
    assert found["is there a green truck ?"] == QUESTIONS[6][1]


def test_both_ways_of_reading_are_those_of_torch():
    """Values and gradients are those of its packed sequences; tables may be wider than their texts."""
    parser = made().eval()
    generator = torch.Generator().manual_seed(0)
    lengths = torch.tensor([3, 7, 1, 7, 4])
    seen = torch.arange(9) < lengths[:, None]
    table = torch.randn(5, 9, parser.config.width, generator=generator, requires_grad=True)
    run = rnn.pack_padded_sequence(table, lengths, batch_first=True, enforce_sorted=False)
    wanted, _ = rnn.pad_packed_sequence(parser.reader(run)[0], batch_first=True, total_length=9)
    weight = torch.randn(wanted.shape, generator=generator)
    slope = torch.autograd.grad((wanted * weight).sum(), table)[0]
    found = parser._read_both_ways(table, seen)
    assert torch.allclose(found, wanted, atol=1e-6) and not found[~seen].any()
    assert torch.allclose(torch.autograd.grad((found * weight).sum(), table)[0], slope, atol=1e-6)


@pytest.mark.parametrize("together", [1, 3])
def test_an_epoch_gives_the_same_batches_wherever_it_is_begun(together):
    rows = np.split(np.random.default_rng(0).permutation(16), 4)

    def epoch(seed=1):
        made = loss.QuestionEpoch(
            everything(), rows, loss.QuestionAugmenter(config(enriched=1.0)), np.random.default_rng(seed)
        )
        made._together = together
        return made

    whole, late = epoch(), epoch()
    batches = [whole.batch(torch.from_numpy(some)) for some in rows]
    for k in (3, 2):
        again = late.batch(torch.from_numpy(rows[k]))
        assert torch.equal(again.words, batches[k].words) and torch.equal(again.tokens, batches[k].tokens)
    for batch in batches:
        first = (batch.words != vocabulary_module.PAD).sum(1)
        assert torch.equal(batch.lengths, torch.stack([first, (batch.tokens != vocabulary_module.PAD).sum(1)], 1))
        assert list(batch.lengths.amax(0)) == [batch.words.shape[1], batch.tokens.shape[1]]
    more = sum(len(b.words) * b.words.shape[1] for b in batches)
    assert more > everything().words.numel()
    other = epoch(2).batch(torch.from_numpy(rows[0]))
    assert other.words.shape != batches[0].words.shape or not torch.equal(other.words, batches[0].words)
    assert whole.batch(torch.from_numpy(rows[0][::-1].copy())) is None


def test_a_program_without_tokens_can_not_be_got_right():
    vocabulary = config().vocabulary
    strange = ("Which?", program("count(same(unique(filter(scene(), shape=bus)), color))"))
    with pytest.raises(UserError, match="no token for same, color"):
        vocabulary.encode([*QUESTIONS, strange])
    words, tokens = vocabulary.encode([*QUESTIONS, strange, strange], lenient=True)
    plain = vocabulary.encode(QUESTIONS)
    assert np.array_equal(words[:16], plain[0]) and np.array_equal(tokens[:16], plain[1])
    assert (
        tokens[16:, :2].tolist() == [[vocabulary_module.BEGIN, vocabulary_module.BEGIN]] * 2
        and not tokens[16:, 2:].any()
    )

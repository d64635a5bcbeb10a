"""What moves a score besides the model: samples, phrasings, system prompt, sizes and options, against an endpoint."""

import base64
import io
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from asked import dataset
from command import here, refused
from endpoints import completion, serving
from shiftscope.expected_answer import NUMBER, TRUTH, expect_words
from shiftscope.metrics.position_bias import find_position_bias
from shiftscope.response import Unread
from shiftscope.result import Prediction
from shiftscope.rng import derive
from shiftscope.run.choices import plan_options, read_choice
from shiftscope.run.prompt_options import read_instructions, read_system
from shiftscope.run.replies import combine_replies
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run


@pytest.fixture
def server(monkeypatch):
    """Says what `say(body)` does, and counts its tokens, a different number for each call."""
    with serving(monkeypatch) as running:
        running.say = lambda body: "2"
        running.usage = [0, 0, 0]  # calls, read, wrote

        def reply(handler, status):
            body = running.bodies[-1]
            number = len(running.bodies)
            read, wrote = 100 + number * 7 % 13, 1 + number % 5
            running.usage = [a + b for a, b in zip(running.usage, (1, read, wrote), strict=True)]
            said = running.say(body)
            made = said if isinstance(said, dict) else completion(said)[1]
            return made | {"usage": {"prompt_tokens": read, "completion_tokens": wrote}}

        running.replies = [(200, reply)]
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("prompt_options") / "data").folder


def call(server, data, out, *more, cache=True):
    kept = ["--cache", out.parent / "cache"] if cache else ["--no-cache"]
    words = ["run", "--model", f"openai:toy@{server.url}", "--data", data, "--out", out, "--in-flight", 1]
    return here(*words, "--retries", 0, *kept, "--json", *more)


def run(server, data, out, *more, **how):
    result = call(server, data, out, *more, **how)
    assert not result.returncode, result.stderr
    return json.loads(result.stdout)


def text_of(body):
    return body["messages"][-1]["content"][-1]["text"]


def in_turn(*answers):
    """What a server says, one after the other, again and again."""
    said = []

    def say(body):
        said.append(body)
        return answers[(len(said) - 1) % len(answers)]

    return say


SAMPLED = ("--samples", 3, "--temperature", 0.7)


def test_samples_are_kept_and_vote(server, data, tmp_path):
    server.say = in_turn("2", "3", "2")
    told = run(server, data, tmp_path / "run", *SAMPLED, "--limit", 6)
    rows = list(read_rows(tmp_path / "run"))
    assert len(server.bodies) == 18
    assert [[r.raw for r in p.replies] for _, p in rows] == [["2", "3", "2"]] * 6
    counts = [p.answer for record, p in rows if isinstance(record.truth, int) and record.truth is not True]
    assert counts == [2, 2]
    assert told["reply_summary"]["replies"] == 3
    log = read_run(tmp_path / "run")
    assert dict(log.spec)["samples"] == 3
    scored = {s["metric"]: s for s in map(json.loads, here("score", tmp_path / "run", "--json").stdout.splitlines())}
    # the first image has two cubes, the second three: the vote is right once, single replies two and one time in three
    assert scored["accuracy"]["value"] == pytest.approx(100 / 6)
    assert scored["mean_accuracy"]["value"] == pytest.approx(100 * (2 / 3 + 1 / 3) / 6)


def test_a_run_of_samples_resumes_and_pays_for_nothing_twice(server, data, tmp_path):
    server.say = in_turn("2", "3", "2", "yes", "no")
    good, n = server.replies[0], 0

    def stop(handler, status):
        nonlocal n
        n += 1
        return good[1](handler, status) if n <= 8 else handler.send_error(401)

    server.replies = [(200, stop)]
    stopped = call(server, data, tmp_path / "run", *SAMPLED, "--limit", 6)
    assert stopped.returncode == 2 and "refused the key" in stopped.stderr
    asked = len(server.bodies)
    server.replies = [good]
    run(server, data, tmp_path / "run", *SAMPLED, "--limit", 6)
    assert len(server.bodies) == asked + 18 - 8
    again = run(server, data, tmp_path / "again", *SAMPLED, "--limit", 6)
    assert again["cache"]["replies"] == 6
    assert compute_run_content_id(tmp_path / "run") == compute_run_content_id(tmp_path / "again")
    other = refused(call(server, data, tmp_path / "run", "--samples", 2, "--temperature", 0.7, "--limit", 6))
    assert "samples" in other


def test_questions_of_the_same_words_do_not_share_samples_and_seeds_are_others(server, data, tmp_path):
    blind = ("--condition", "blind", "--limit", 6, *SAMPLED)
    run(server, data, tmp_path / "run", *blind)
    assert len(server.bodies) == 18
    run(server, data, tmp_path / "other", *blind, "--seed", 1)
    assert len(server.bodies) == 36
    run(server, data, tmp_path / "sent", "--limit", 1, *SAMPLED, "--parameters", '{"seed": 5}')
    assert [body["seed"] for body in server.bodies[36:]] == [5, 6, 7]


def test_samples_need_chance_and_prompts_a_model_that_reads_them(server, data, tmp_path):
    assert "at temperature 0 all samples are the same" in refused(call(server, data, tmp_path / "run", "--samples", 2))
    words = ["run", "--model", "oracle", "--data", data, "--out", tmp_path / "run", "--samples", 2, "--choices", 4]
    assert refused(here(*words)).endswith("model 'oracle' reads no prompts; omit --samples, --choices")
    judged = call(server, data, tmp_path / "run", *SAMPLED, "--judge", f"openai:wise@{server.url}")
    assert "a judge reads one open reply per question" in refused(judged)


def test_a_failed_sample_is_asked_again(server, data, tmp_path):
    server.say = in_turn("2")
    good = server.replies[0]
    server.replies = [good, (400, "no"), good]
    told = run(server, data, tmp_path / "run", *SAMPLED, "--limit", 2)
    assert told["conditions"][0]["failed"] == 1
    assert told["conditions"][0]["reason"] == "1 of 3 replies failed: HTTP 400, no"
    again = run(server, data, tmp_path / "run", *SAMPLED, "--limit", 2)
    assert again["conditions"][0]["failed"] == 0
    assert len(server.bodies) == 7


def vote(*answers):
    replies = [Prediction("q", a, status="unreadable" if a is None else "answered") for a in answers]
    return combine_replies(replies)


@pytest.mark.parametrize(
    ("answers", "winner"),
    [(("red", "blue", "blue"), "blue"), (("red", "blue"), "red"), ((None, None, "red"), "red"), ((1, True, 1), 1)],
)
def test_the_majority_votes_and_the_first_of_equals_wins(answers, winner):
    assert vote(*answers).answer == winner


def test_without_any_answer_there_is_none():
    assert (vote(None, None).answer, vote(None, None).status) == (None, "unreadable")


def test_phrasings_are_all_asked_and_their_spread_is_told(server, data, tmp_path):
    (tmp_path / "prompts.txt").write_text("One word.\n\nBe brief, please.\n")
    server.say = lambda body: "2" if text_of(body).endswith("One word.") else "yes"
    given = ("--limit", 6, "--prompts", tmp_path / "prompts.txt", "--system", "You look closely.")
    told = run(server, data, tmp_path / "run", *given)
    ends = [text_of(body).splitlines()[-1] for body in server.bodies]
    assert ends == ["One word.", "Be brief, please."] * 6
    assert {body["messages"][0]["content"] for body in server.bodies} == {"You look closely."}
    assert not any("Answer with one word" in text_of(body) for body in server.bodies)
    prompt = dict(read_run(tmp_path / "run").spec)["prompt"]
    assert prompt["instructions"] == ["One word.", "Be brief, please."]
    assert prompt["system"] == "You look closely."
    # of two images the counts are 2 and 3 and both have something red
    assert told["reply_summary"]["lowest"] == pytest.approx(1 / 6)
    assert told["reply_summary"]["highest"] == pytest.approx(2 / 6)
    scored = [*map(json.loads, here("score", tmp_path / "run", "--json").stdout.splitlines())]
    by = {s["slice"]["phrasing"]: s["value"] for s in scored if "phrasing" in s.get("slice", {})}
    assert by == {1: pytest.approx(100 / 6), 2: pytest.approx(200 / 6)}
    (tmp_path / "prompts.txt").write_text("One word.\n")
    assert "prompt" in refused(call(server, data, tmp_path / "run", *given))


def test_files_of_prompts(tmp_path, refuses):
    for name, text in (("a.txt", "One.\nTwo.\n"), ("a.json", '["One.", "Two."]'), ("a.yaml", "- One.\n- Two.\n")):
        (tmp_path / name).write_text(text)
        assert read_instructions(tmp_path / name) == ("One.", "Two.")
    for text in ("{}", "[]", '["a", 1]', "[", '["a", "a"]'):
        (tmp_path / "b.json").write_text(text)
        with refuses(str(tmp_path / "b.json")):
            read_instructions(tmp_path / "b.json")
    with refuses("nowhere.txt"):
        read_instructions(tmp_path / "nowhere.txt")
    (tmp_path / "system.txt").write_text("Be kind.\n")
    assert (read_system(str(tmp_path / "system.txt")), read_system("Be kind.")) == ("Be kind.", "Be kind.")


def test_truncated_replies_are_counted_apart(server, data, tmp_path):
    cut = {"choices": [{"message": {"content": "Let me think: there are", "reasoning_content": "Hm"}}]}
    cut["choices"][0]["finish_reason"] = "length"
    wrong_and_cut = {"choices": [{"message": {"content": "2"}, "finish_reason": "length"}]}
    server.say = in_turn(cut, "no idea, my friend", "red", wrong_and_cut)
    told = run(server, data, tmp_path / "run", "--limit", 4, "--max-tokens", 7, "--reasoning-effort", "low")
    told = told["conditions"][0]
    assert (told["truncated"], told["unreadable"]) == (2, 1)  # the fourth question has three cubes
    assert {(body["max_tokens"], body["reasoning_effort"]) for body in server.bodies} == {(7, "low")}
    (scored,) = map(json.loads, here("score", tmp_path / "run", "--json").stdout.splitlines())
    assert (scored["truncated"], scored["unreadable"], scored["n"]) == (2, 1, 4)
    assert next(p.trace for _, p in read_rows(tmp_path / "run") if p.trace) == "Hm"
    said = here("score", tmp_path / "run").stdout
    assert "truncated: 2 responses were cut at 7 tokens and are not right" in said


@pytest.mark.parametrize(("given", "size"), [("12", (12, 8)), ("30x30", (30, 30)), ("", (24, 16))])
def test_images_are_sent_in_the_size_that_the_run_says(server, data, tmp_path, given, size):
    told = run(server, data, tmp_path / "run", "--limit", 2, *(["--resize", given] if given else []))
    for body in server.bodies:
        url = body["messages"][-1]["content"][0]["image_url"]["url"]
        picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        assert (picture.size, picture.format) == (size, "PNG")
    assert told["images_sent"] == {"encoding": "PNG", "smallest": list(size), "largest": list(size)}
    again = run(server, data, tmp_path / "run", "--limit", 2, *(["--resize", given] if given else []))
    assert again["images_sent"] == told["images_sent"]
    assert dict(read_run(tmp_path / "run").spec).get("resize", "") == given
    assert "resize" in refused(call(server, data, tmp_path / "run", "--limit", 2, "--resize", 7))


@pytest.mark.parametrize("wrong", ["0", "x", "12x", "99999", "12x0"])
def test_a_size_that_is_none(server, data, tmp_path, wrong):
    assert "--resize takes the longer side" in refused(call(server, data, tmp_path / "run", "--resize", wrong))


OPTION = re.compile(r"^([A-J])\. (.+)$", re.MULTILINE)


def test_options_hold_the_answer_in_every_place_and_nothing_tells_it(server, data, tmp_path):
    server.say = lambda body: "A"
    told = run(server, data, tmp_path / "run", "--choices", 4)
    truths = {q.id: q.answer for q in Dataset.open(data).questions("test")}
    rows = list(read_rows(tmp_path / "run"))
    places = []
    for (record, prediction), body in zip(rows, server.bodies, strict=True):
        options = dict(OPTION.findall(text_of(body)))
        spelled = {True: "yes", False: "no"}.get(truths[record.question], str(truths[record.question]))
        if isinstance(truths[record.question], int) and truths[record.question] is not True:
            spelled = str(truths[record.question])
            assert all(option.isdecimal() for option in options.values())
        assert list(options.values()).count(spelled) == 1
        assert len(options) == (2 if spelled in ("yes", "no") else 4)
        assert text_of(body).endswith("Answer with the letter of the right option and nothing else.")
        assert str(prediction.answer).lower().replace("true", "yes").replace("false", "no") == options["A"]
        places.append(next(k for k, v in options.items() if v == spelled))
    assert {"A", "B", "C", "D"} == set(places)
    bias = told["position_bias"]
    assert bias["picked"] == [36, 0, 0, 0]
    assert bias["correct"] == [places.count(letter) for letter in "ABCD"]
    assert bias["p"] < 0.001
    by = here("score", tmp_path / "run", "--by", "correct_option", "--json").stdout
    assert {s["slice"]["correct_option"]: s["value"] for s in map(json.loads, by.splitlines()[1:])}["A"] == 100
    again = run(server, data, tmp_path / "again", "--choices", 4, cache=False)
    assert again["position_bias"] == bias
    other = run(server, data, tmp_path / "other", "--choices", 4, "--seed", 1)
    assert other["position_bias"]["correct"] != bias["correct"]


def test_a_choice_that_goes_by_content_shows_no_bias(server, data, tmp_path):
    def say(body):
        options = dict(OPTION.findall(text_of(body)))
        return min(options, key=lambda letter: options[letter])

    server.say = say
    bias = run(server, data, tmp_path / "run", "--choices", 4)["position_bias"]
    assert bias["p"] > 0.01
    assert find_position_bias(read_run(tmp_path / "run").records).unpicked == 0


@pytest.mark.parametrize("size", [2, 3])
def test_options_alone_do_not_tell_which_is_true(size):
    """However uneven answers are: the commonest of the options is the true one once in K times."""
    counts = {"a": 30, "b": 25, "c": 20, "d": 15, "e": 10}
    plan, random, hits = plan_options(counts, size), derive("options", size), []
    truths = random.choice(list(counts), 6000, p=np.array(list(counts.values())) / 100)
    for truth in truths.tolist():
        options = {truth, *plan.draw_distractors(truth, random)}
        assert len(options) == size
        hits.append(min(options) == truth)  # "a" is the commonest
    assert np.mean(hits) == pytest.approx(1 / size, abs=0.025)


def test_an_answer_with_too_large_a_share_is_always_offered():
    plan = plan_options({"yes": 70, "no": 20, "maybe": 10}, 2)
    assert plan.always == ("yes",)
    assert set(plan.draw_distractors("yes", derive("x"))) < {"no", "maybe"}
    assert plan.draw_distractors("no", derive("x")) == ["yes"]
    assert plan_options({"yes": 1, "no": 1}, 4).draw_distractors("no", derive("x")) == ["yes"]
    assert plan_options({}, 4).draw_distractors("no", derive("x")) == []


COLORS = expect_words((c, c) for c in ("red", "blue", "gray"))


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("B", "blue"), ("b", "blue"), ("(B)", "blue"), ("B. blue", "blue"), ("**B**", "blue"), ("Option B", "blue"),
        ("Answer: C", "gray"), ("The answer is B.", "blue"), ("\\boxed{C}", "gray"), ('{"answer": "C"}', "gray"),
        ("A cube is there, and it is gray.\nAnswer: C", "gray"), ("A gray cube.", "gray"), ("It is blue.", "blue"),
        ("blue", "blue"), ("Answer: b", "blue"), ("<think>A or B?</think>C", "gray"), ("A or B", Unread.TWO_ANSWERS),
        ("A, B", Unread.TWO_ANSWERS), ("The answer is A red cube", "red"), ("The answer is a gray cube", "gray"),
    ],
)  # fmt: skip
def test_an_option_is_read_by_letter_or_by_words(said, read):
    assert read_choice(said, ("red", "blue", "gray"), COLORS) == read


def test_options_are_read_as_what_they_are():
    assert read_choice("B", ("yes", "no"), TRUTH) is False
    assert read_choice("A", ("7", "3"), NUMBER) == 7
    assert read_choice("3", ("7", "3"), NUMBER) == 3


@pytest.mark.parametrize("more", [(), ("--condition", "blind"), SAMPLED])
def test_tokens_are_those_that_the_server_counts(server, data, tmp_path, more):
    told = run(server, data, tmp_path / "run", "--price", "1,2", *more)
    calls, read, wrote = server.usage
    cost = pytest.approx((read + 2 * wrote) / 1e6)
    assert told["usage"] == {"calls": calls, "prompt_tokens": read, "completion_tokens": wrote, "cost": cost}
    assert calls == len(server.bodies) == {(): 36, SAMPLED: 108}.get(more, 3)  # blind, three questions in other words
    assert f"tokens: {read:,} read and {wrote:,} written in {calls:,} calls" in here("score", tmp_path / "run").stdout


def test_tokens_of_attempts_in_vain_and_of_the_judge_count_too(server, data, tmp_path, monkeypatch):
    half = {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 30}}
    with serving(monkeypatch) as judge:
        judge.replies = [(200, half), completion("2")]
        server.say = in_turn("Well, the thing is rather like a lobster.", "2")
        good = server.replies[0]
        server.replies = [(200, half), good]
        words = ("--limit", 4, "--judge", f"openai:wise@{judge.url}", "--judge-sample", 1, "--judge-price", "1,1")
        told = run(server, data, tmp_path / "run", *words, "--retries", 2)
        _, read, wrote = server.usage
        assert told["usage"] == {"calls": 4, "prompt_tokens": read + 1000, "completion_tokens": wrote + 30}
        counted = len(judge.bodies) - 1
        assert counted == 3
        assert told["judge_usage"] == {
            "calls": counted,
            "prompt_tokens": 100 * counted + 1000,
            "completion_tokens": 10 * counted + 30,
            "cost": pytest.approx((110 * counted + 1030) / 1e6),
        }
        again = run(server, data, tmp_path / "run", *words)
        assert (again["usage"], again["judge_usage"]) == (told["usage"], told["judge_usage"])
        anew = run(server, data, tmp_path / "anew", *words)
        assert (anew["usage"], anew["judge_usage"]) == (told["usage"], told["judge_usage"])
        assert len(judge.bodies) == counted + 1


def test_tokens_of_a_call_that_failed_count_when_it_is_made_again(server, data, tmp_path):
    half = {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 30}}
    good = server.replies[0]
    for times in (1, 2):
        server.replies = [(200, half), (200, half), good]
        told = run(server, data, tmp_path / "run", "--limit", 2, "--retries", 1)
        assert told["conditions"][0]["failed"] == 1
        assert told["usage"]["prompt_tokens"] == server.usage[1] + 2000 * times
    server.replies = [good]
    told = run(server, data, tmp_path / "run", "--limit", 2)
    assert told["conditions"][0]["failed"] == 0
    assert told["usage"]["prompt_tokens"] == server.usage[1] + 4000
    assert told["usage"]["completion_tokens"] == server.usage[2] + 120


def test_rows_of_an_earlier_version_are_told_to_lack_their_tokens(server, data, tmp_path):
    run(server, data, tmp_path / "run", "--limit", 4)
    file = tmp_path / "run" / "predictions.parquet"
    table = pq.read_table(file)
    usage = table.column("usage").to_pylist()
    at = table.column_names.index("usage")
    pq.write_table(table.set_column(at, "usage", pa.array([None, *usage[1:]], pa.string())), file)
    use = read_run(tmp_path / "run").usage
    assert (use.calls, use.uncounted) == (4, 1)
    assert "4 calls, 1 of them without usage" in here("score", tmp_path / "run").stdout


def test_the_report_says_how_it_was_asked_and_how_to_ask_again(server, data, tmp_path):
    (tmp_path / "prompts.txt").write_text("One word.\nBe brief.\n")
    server.say = in_turn("2", "yes", "gray")
    given = ("--limit", 6, *SAMPLED, "--prompts", tmp_path / "prompts.txt", "--resize", 12, "--choices", 3)
    run(server, data, tmp_path / "run", *given)
    made = here("report", tmp_path / "run", "--out", tmp_path / "report.html")
    assert not made.returncode, made.stderr
    page = (tmp_path / "report.html").read_text()
    for said in ("2 phrasings with 3 samples each", "Adding Error Bars", "sent as PNG, 12x8", "picks by position"):
        assert said in page
    command = re.search(r"shiftscope run --model [^<]+", page)[0]
    for word in ("--samples 3", "--resize 12", "--choices 3", f"--prompts {tmp_path / 'prompts.txt'}"):
        assert word in command

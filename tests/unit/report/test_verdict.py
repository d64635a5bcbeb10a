"""The verdict names what costs most, how surely, in which stage, and where a model is weakest."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from test_factors import answers, of, questions

import store_toys
from report_toys import asked, body, log, right, study
from shiftscope import rng
from shiftscope.metrics.intervals import SceneClusters
from shiftscope.metrics.significance import PairedTest, add_seed_variance, compare_models, run_paired_test
from shiftscope.report.measure import compute_p_value
from shiftscope.report.mentions import list_mentions, list_vocabulary
from shiftscope.report.run_page import build_report
from shiftscope.report.sections.worst_slices import WorstSlice, describe_slice
from shiftscope.report.verdict import find_detectable_drop, find_verdict, list_judged, spell_verdict
from shiftscope.result import CONDITIONS, Prediction, QuestionRecord, RunLog, records_of
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.store.build_dataset import build_dataset


def twins(variant, whole, parts=0.2, factor="visual", **more):
    """All twins of the default: right about these shares of vehicles and parts."""
    rows = answers(questions(variant, factor=factor, twins=True), whole, parts)
    return log(rows, variant=variant, data_id=variant, lineage=(variant, "default"), **more)


def three():
    return study(of("default", 0.8), twins("hard", 0.4), twins("rd+", 0.76, factor="redundancy"))


def test_the_factor_that_costs_most_stands_first():
    verdict = find_verdict(three(), "toy")
    assert [(f.factor, f.base, f.to) for f in verdict.factors] == [
        ("Visual complexity", "default", "hard"),
        ("Question redundancy", "default", "rd+"),
    ]
    worst = verdict.worst
    assert worst.drop == pytest.approx(0.2)
    assert (worst.n, worst.scenes, worst.paired, worst.is_sure) == (400, 40, True, True)
    assert (worst.base_accuracy, worst.accuracy) == (pytest.approx(0.5), pytest.approx(0.3))
    assert worst.low < 0.2 < worst.high
    assert worst.p < worst.p_holm < 0.001
    assert 0 < worst.detectable < worst.drop
    said = spell_verdict(verdict)[0]
    assert said.startswith("Visual complexity (default → hard) costs toy most: 20.0 points (")
    assert "Holm-corrected p < 0.001" in said and "would have shown" in said


def test_holm_is_over_the_drops_of_one_model():
    alone = find_verdict(study(of("default", 0.8), twins("rd+", 0.76, factor="redundancy")), "toy")
    assert alone.factors[0].p_holm == alone.factors[0].p
    both = find_verdict(three(), "toy").factors
    assert both[0].p_holm == pytest.approx(min(1, 2 * both[0].p))
    assert both[1].p_holm == both[1].p


def test_a_large_drop_that_is_not_sure_does_not_come_before_a_sure_one():
    few = [q for q in questions("tail", factor="visual", twins=True) if q.scenes[0] in ("s0", "s1", "s2")]
    rows = [(q, "no") for q in few]
    tail = log(rows, variant="tail", data_id="tail", lineage=("tail", "default"))
    verdict = find_verdict(study(of("default", 0.8), twins("hard", 0.4), tail), "toy")
    assert [f.to for f in verdict.factors] == ["hard", "tail"]
    assert verdict.factors[1].drop > verdict.factors[0].drop
    assert "The drop is larger, but not sure, for Visual complexity (default → tail, " in spell_verdict(verdict)[0]


def test_a_model_that_loses_nothing_is_told_what_would_have_shown():
    verdict = find_verdict(study(of("default", 1.0), twins("hard", 1.0)), "toy")
    assert verdict.worst is None
    assert verdict.factors[0].drop == 0
    assert "The one shift that toy was tested on costs nothing. Drops from" in spell_verdict(verdict)[0]


def test_all_right_has_a_page_and_no_slices():
    sure = [
        log([(q, "yes") for q in questions()], variant="default", data_id="default", lineage=("default", "default"))
    ]
    hard = [(q, "yes") for q in questions("hard", factor="visual", twins=True)]
    sure.append(log(hard, variant="hard", data_id="hard", lineage=("hard", "default")))
    verdict = find_verdict(study(*sure), "toy")
    assert verdict.slices == () and verdict.worst is None
    assert "nan" not in build_report(study(*sure)).render().lower().partition("verdict-title")[2][:3000]


def test_without_a_base_no_factor_is_named():
    verdict = find_verdict(study(twins("hard", 0.4)), "toy")
    assert verdict.factors == () and verdict.worst is None
    assert spell_verdict(verdict)[0] == (
        "No factor was tested: there is no run on the base of Visual complexity (hard)."
    )
    plain = find_verdict(study(log(right(8))), "toy")
    assert spell_verdict(plain)[0].startswith("No factor was tested: these runs hold no twins")


def test_one_scene_says_nothing_surely():
    def rows(variant, answer, **more):
        return [(asked(f"{variant}{k}", "yes", "s", **dict.fromkeys(more, f"default{k}")), answer) for k in range(8)]

    made = study(
        log(rows("default", "yes"), variant="default", data_id="d", lineage=("default", "default")),
        log(rows("hard", "no", twin=1), variant="hard", data_id="h", lineage=("hard", "default")),
    )
    (worst,) = find_verdict(made, "toy").factors
    assert (worst.drop, worst.scenes, worst.is_sure, worst.detectable) == (1.0, 1, False, None)
    assert "too few to tell much" in spell_verdict(find_verdict(made, "toy"))[0]
    assert "nan" not in body("verdict", made)


def test_twins_that_are_missing_are_not_pairs():
    some = [q for q in questions("hard", factor="visual", twins=True) if int(q.scenes[0][1:]) < 20]
    hard = log(answers(some, 0.4), variant="hard", data_id="hard", lineage=("hard", "default"))
    (worst,) = find_verdict(study(of("default", 0.8), hard), "toy").factors
    assert (worst.n, worst.scenes) == (200, 20)


def test_the_page_opens_with_a_block_per_model_and_references_have_none():
    other = [replace(one, spec=tuple((dict(one.spec) | {"model": "film"}).items())) for one in logs(three())]
    floor = [replace(one, spec=tuple((dict(one.spec) | {"model": "majority"}).items())) for one in logs(three())]
    made = study(*logs(three()), *other, *floor)
    assert list_judged(made) == ["toy", "film"]
    name, section = next(iter(build_report(made).build_sections()))
    assert (name, section.title) == ("verdict", "Verdict")
    assert section.body.count("<h3>") == 2
    assert section.body.count("<svg") >= 2
    assert "costs film most" in section.body


def logs(made):
    return [run.log for run in made.runs]


def test_a_run_says_its_factor_in_its_spec():
    def plain(variant, whole, **spec):
        rows = []
        for q, answer in answers(questions(variant if variant != "default" else "", twins=variant != "default"), whole):
            facts = tuple(f for f in q.facts if f[0] not in ("factor", "variant"))
            rows.append((replace(q, facts=facts), answer))
        return log(rows, data=variant, data_id=variant, lineage=(variant, "default"), **spec)

    known = {"version": 1, "digest": "d", "seed": 0}
    made = study(
        plain("default", 0.8, diagnostic=known | {"part": "base"}),
        plain("hard", 0.4, factor="Textures", diagnostic=known | {"part": "textures"}),
    )
    (worst,) = find_verdict(made, "toy").factors
    assert (worst.factor, worst.drop) == ("Textures", pytest.approx(0.2))
    assert "Textures" in body("shifts", made)


def conditioned(variant, mended, every=CONDITIONS, twin=False):
    """Wrong about half of the twins and right again under one condition."""
    rows = []
    for k in range(80):
        q = asked(f"{k}{variant}", "yes", f"s{k}", f"{k}" if twin else "", kind="exist")
        for condition in every:
            right = not twin or k % 2 == 0 or condition == mended
            answer = "yes" if right else f"no {condition}"  # never the same: no language prior
            rows.append((q, (answer, condition)))
    name = variant or "default"
    return log(rows, variant=name, data_id=name, lineage=(name, "default"))


@pytest.mark.parametrize(
    ("condition", "stage"), [("scene_text", "seeing"), ("program_text", "reading the question"), (None, "reasoning")]
)
def test_the_condition_that_mends_the_drop_names_the_stage(condition, stage):
    verdict = find_verdict(study(conditioned("", condition), conditioned("hard", condition, twin=True)), "toy")
    assert verdict.stages.main.stage == stage
    assert verdict.stages.main.points == pytest.approx(0.5)
    assert (verdict.stages.base, verdict.stages.test, verdict.commands) == ("default", "hard", ())
    assert f"most arises in {stage}: 50.0 of 50.0 points" in spell_verdict(verdict)[1]


def named_rarely(variant, rubber, mended="scene_text", conditions=("as_is", "scene_text", "program_text")):
    """Wrong about all questions with a material, of which there are so many in ten, and right under a condition."""
    rows = []
    for k in range(300):
        about = {"material": "rubber" if k % 10 < rubber else "other", "kind": "exist"}
        q = asked(f"{k}{variant}", "yes", f"s{k // 2}", f"{k}" if variant else "", **about)
        for condition in conditions:
            wrong = (about["material"] == "rubber" and condition != mended) or k % 29 == 0
            rows.append((q, (f"no {condition}" if wrong else "yes", condition)))
    name = variant or "default"
    return log(rows, variant=name, data_id=name, lineage=(name, "default"))


def test_a_drop_that_comes_from_a_slice_is_told_as_such():
    verdict = find_verdict(study(named_rarely("", 1), named_rarely("rd+", 6)), "toy")
    worst = verdict.worst
    assert worst.is_sure and worst.drop == pytest.approx(0.5, abs=0.02)
    assert worst.is_explained and (worst.controlled.drop, worst.controlled.n) == (0, 150)
    comes = "The drop comes from questions with material rubber: over the 150 pairs that are alike in this, it is 0.0"
    assert comes in spell_verdict(verdict)[0]
    assert "Of its wrong answers on questions with material rubber, most arise in seeing" in spell_verdict(verdict)[1]
    plain = find_verdict(study(conditioned("", None), conditioned("hard", None, twin=True)), "toy").worst
    assert plain.is_sure and not plain.is_explained


def test_the_stage_is_that_of_the_worst_slice_where_no_factor_costs():
    verdict = find_verdict(study(named_rarely("", 2, None), named_rarely("rd+", 2, None)), "toy")
    assert not verdict.worst
    assert verdict.stages.main.stage == "reasoning" and verdict.stages.n == 120
    assert verdict.stages.test == "questions with material rubber"
    few = study(named_rarely("", 2, None), named_rarely("rd+", 2, None, ("as_is",)))
    assert find_verdict(few, "toy").stages.n == 60


def test_conditions_that_do_not_tell_name_no_stage():
    few = ("as_is", "scene_text")
    verdict = find_verdict(study(conditioned("", None, few), conditioned("hard", None, few, twin=True)), "toy")
    assert verdict.stages.main is None
    assert verdict.stages.lacking == ("program_text",)
    assert "no stage can be named (not told apart" in spell_verdict(verdict)[1]


def test_without_conditions_the_commands_that_would_tell_are_given(tmp_path):
    from shiftscope.report.runs import arrange_runs

    base, hard = of("default", 0.8), twins("hard", 0.4)
    hard = replace(hard, spec=(*hard.spec, ("split", "test"), ("conditions", ["as_is"])))
    made = arrange_runs([(base, tmp_path / "a"), (hard, tmp_path / "b")])
    commands = find_verdict(made, "toy").commands
    assert commands[1] == (
        f"shiftscope run --model toy --data toys --split test --condition all --variant hard "
        f"--out {tmp_path / 'b-conditions'}"
    )
    assert commands[2] == f"shiftscope report {tmp_path / 'a-conditions'} {tmp_path / 'b-conditions'} --out report.html"
    assert commands[1] in body("verdict", made).replace("&#x27;", "'")


def test_seeds_are_one_contender_and_their_spread_widens_the_interval():
    def seeds(*shares):
        base = [replace(of("default", 0.8), spec=(*of("default", 0.8).spec, ("seed", k))) for k in range(len(shares))]
        return study(*base, *(twins("hard", share, seed=k) for k, share in enumerate(shares)))

    alike, apart = seeds(0.6, 0.6, 0.6), seeds(0.8, 0.6, 0.4)
    assert apart.contenders == ("toy",)
    (one,), (two,) = (find_verdict(made, "toy").factors for made in (alike, apart))
    assert one.drop == pytest.approx(two.drop) == pytest.approx(0.1)
    assert (one.seeds, two.seeds, two.n) == (3, 3, 1200)
    assert two.high - two.low > 2 * (one.high - one.low)
    assert one.is_sure and not two.is_sure
    assert "3 seeds" in spell_verdict(find_verdict(apart, "toy"))[0]


def test_the_variance_of_seeds_is_that_of_students_t_where_scenes_say_nothing():
    exact = PairedTest(10_000, 0, 0, 0.1, 0.1, 0.1, 1e-9, 1000)
    made = add_seed_variance(exact, [[0.08, 0.10, 0.12]])
    half = 4.302653 * 0.02 / math.sqrt(3)
    assert (made.low, made.high) == (pytest.approx(0.1 - half, abs=1e-6), pytest.approx(0.1 + half, abs=1e-6))
    assert made.p == pytest.approx(0.013072, abs=1e-5)
    assert made.seeds == 3
    assert add_seed_variance(exact, [[0.1, 0.1]]) == replace(exact, seeds=2)


@pytest.mark.parametrize("apart", [0.0015, 0.0017])
def test_two_seeds_are_never_surer_than_by_themselves(apart):
    """Whichever makes the wider interval: the chance by two seeds alone is that of Student's t with one degree."""
    scenes = PairedTest(10_000, 0, 0, 0.035, 0.035 - 0.0196, 0.035 + 0.0196, 1e-9, 1000)
    alone = 2 / math.pi * math.atan(apart / 0.035)
    assert add_seed_variance(scenes, [[0.035 - apart, 0.035 + apart]]).p == pytest.approx(alone, rel=1e-6)


def test_a_detectable_drop_is_the_interval_made_wider_for_power():
    test = PairedTest(100, 5, 0, 0.05, 0.01, 0.09, 0.01, 50)
    assert find_detectable_drop(test) == pytest.approx(0.04 * (1.959964 + 0.841621) / 1.959964, rel=1e-5)
    assert find_detectable_drop(test, 5) == pytest.approx(0.04 * (2.575829 + 0.841621) / 1.959964, rel=1e-5)  # at 1%
    assert find_detectable_drop(replace(test, scenes=1)) is None
    assert find_detectable_drop(PairedTest(0, 0, 0, None, None, None, None)) is None


def test_a_verdict_is_json():
    verdict = find_verdict(three(), "toy")
    data = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert data["contender"] == "toy"
    assert data["factors"][0]["factor"] == "Visual complexity"
    assert data["text"] == list(spell_verdict(verdict))
    assert data["factors"] == json.loads(json.dumps([asdict(f) for f in verdict.factors]))


def test_slices_are_told_in_words():
    def words(*facts):
        return describe_slice(WorstSlice(facts, 40, 0.2, 0.8, 0.01))

    assert words(("kind", "count"), ("objects", "8–10")) == "questions of type count, about 8–10 objects"
    assert words(("mentions rubber", "yes")) == "questions that mention rubber"
    assert words(("number", "4–6")) == "questions whose answer is a number, 4–6"
    assert words(("{hostile}", "{0}")) == "questions with {hostile} {0}"


def test_counts_above_three_are_found_as_numbers():
    rows = [
        (asked(f"q{k}", str(k % 8), f"s{k // 3}", kind="count"), str(k % 8 if k % 8 < 4 else 99)) for k in range(480)
    ]
    verdict = find_verdict(study(log(rows)), "toy")
    assert [describe_slice(one) for one in verdict.slices] == ["questions whose answer is a number, 4 or more"]


def test_words_of_the_vocabulary_are_found_in_the_plural_and_by_synonym():
    words = list_vocabulary(SCHEMA)
    assert {"rubber", "car", "red"} <= set(list_mentions("Are there more red rubber cars than buses?", words))
    assert "red" not in list_mentions("How many hundred things?", words)


def test_a_model_that_fails_on_a_word_is_found_out(tmp_path):
    dataset = build_dataset(tmp_path / "data", store_toys.SPEC, {"test": 60}, store_toys.make)
    rows = []
    for e in dataset.examples("test"):
        wrong = "red" in e.question.text
        said = Prediction(e.question.id, "wrong" if wrong else "right")
        rows.append((QuestionRecord(e.question.id, e.question.scenes, "right"), said))
    spec = {"model": "film", "data": str(dataset.folder), "split": "test"}
    verdict = find_verdict(study(RunLog(tuple(spec.items()), records_of(rows))), "film")
    assert any("that mention red" in describe_slice(one) for one in verdict.slices)


def seeded(model, *rights):
    """A model asked 200 questions about 50 scenes under several seeds: right about so many of them."""
    many = [asked(f"q{k}", "yes", f"s{k // 4}", kind="exist" if k % 2 else "count") for k in range(200)]
    return [log(right(n, many), model=model, seed=k) for k, n in enumerate(rights)]


def test_models_of_several_seeds_are_tested_over_seeds_and_scenes():
    steady = study(*seeded("a", 190, 190, 190), *seeded("b", 150, 150, 150))
    unsteady = study(*seeded("a", 190, 190, 190), *seeded("b", 190, 190, 70))
    one, two = (compute_p_value(*made.runs) for made in (steady, unsteady))
    assert one == compare_models(seeded("a", 190)[0].records, seeded("b", 150)[0].records).p
    assert one < 0.001 < 0.05 < two  # the same mean, but for one seed
    shown = body("headline", unsteady)
    assert "its p-values are over seeds and scenes" in shown
    assert 'class="mark-worse" title="significantly lower"' in body("headline", steady)
    by_type = body("headline", steady).partition("Accuracy by question type")[2]
    assert by_type.count("significantly lower") >= 2  # both types, tested over seeds too


def test_the_interval_over_seeds_covers():
    """Seeds and scenes both vary: of simulated differences, about 95% of the intervals hold the true one."""
    random = rng.derive("test", "seeds")
    held, runs, scenes, seeds = 0, 200, 60, 4
    for _ in range(runs):
        place = random.normal(0, 0.15, scenes)  # how a scene moves the drop
        moved = random.normal(0, 0.04, seeds)  # how a seed does
        rates = np.clip(0.2 + place[None, :] + moved[:, None], -1, 1)
        lost = random.random((seeds, scenes, 5)) < np.abs(rates)[:, :, None]
        change = lost * np.sign(rates)[:, :, None]
        clusters = SceneClusters(np.tile(np.repeat(np.arange(scenes), 5), seeds))
        test = run_paired_test(np.maximum(change, 0).ravel(), np.maximum(-change, 0).ravel(), clusters)
        made = add_seed_variance(test, [change.mean(axis=(1, 2)).tolist()])
        held += made.low <= 0.2 <= made.high
    assert held / runs >= 0.94


def test_trainings_that_differ_in_the_seed_alone_are_one_model():
    def trained(folder, weights, seed, recipe="r", **more):
        training = {"seed": seed, "id": recipe}
        return log(right(5), model=f"p_nsvqa:{folder}", weights=weights, training=training, seed=0, **more)

    made = study(trained("a", "1", 0), trained("b", "2", 1))
    assert made.contenders == ("p_nsvqa",)
    assert [one.seed for one in made.runs[0].seeds] == ["0 of training 0", "0 of training 1"]
    other = study(trained("a", "1", 0), trained("b", "2", 1, recipe="another"))
    assert other.contenders == ("p_nsvqa:a", "p_nsvqa:b")
    assert study(trained("a", "1", 0), trained("b", "2", 0)).contenders == ("p_nsvqa:a", "p_nsvqa:b")


def test_a_model_trained_on_two_variants_is_judged_where_it_was_trained():
    made = study(
        *(
            log(
                answers(questions("" if at == "default" else at, "visual", twins=at != "default"), share),
                trained_on=trained,
                variant=at,
                data_id=at,
                lineage=(at, "default"),
            )
            for trained, at, share in (
                *(("default", "default", 0.9), ("default", "hard", 0.3)),
                *(("hard", "default", 0.8), ("hard", "hard", 0.8)),
            )
        )
    )
    assert list_judged(made) == ["toy"]
    (worst,) = find_verdict(made, "toy").factors
    assert worst.drop == pytest.approx(0.3)


def test_the_commands_of_a_diagnosis_are_one(tmp_path):
    from shiftscope.report.runs import arrange_runs
    from shiftscope.report.sections.reproduce import list_commands

    folder = tmp_path / "mine"
    (folder / "runs").mkdir(parents=True)
    (folder / "diagnosis.json").write_text('{"budget": 500, "mode": "free"}')
    asked_so = {"max_tokens": 900, "temperature": 0.0, "price": [1.0, 2.0], "parameters": {"top_k": 3}}
    asked_so |= {"prompt": {"mode": "short"}, "trust_remote_code": True}
    runs = [
        (log(right(5), data=part, diagnostic={"part": part, "seed": 3}, **asked_so), folder / "runs" / part)
        for part in "ab"
    ]
    commands = list_commands(arrange_runs(runs))
    assert [c for c in commands if c.startswith("shiftscope diagnose")] == [
        "shiftscope diagnose toy --budget 500 --seed 3 --mode free --max-tokens 900 --temperature 0.0 --price 1.0,2.0 "
        f"--parameters '{{\"top_k\": 3}}' --trust-remote-code --out {folder}"
    ]


def test_questions_without_a_response_are_told_of():
    hard = [(q, answer if k % 4 else "[failed]") for k, (q, answer) in enumerate(rows_of(twins("hard", 0.8)))]
    made = study(of("default", 0.8), log(hard, variant="hard", data_id="hard", lineage=("hard", "default")))
    (worst,) = find_verdict(made, "toy").factors
    assert (worst.unanswered, worst.n) == (100, 400)
    assert (
        "100 questions of the two runs have no response, and count as wrong."
        in spell_verdict(find_verdict(made, "toy"))[0]
    )


def rows_of(one):
    asked_about = questions("hard", factor="visual", twins=True)
    said = dict(zip(one.records.question.to_list(), one.records.answer.to_list(), strict=True))
    return [(q, said[q.question]) for q in asked_about]


def test_an_unknown_model_has_no_verdict(refuses):
    with refuses("no model 'tyo' in the report; did you mean 'toy'?"):
        find_verdict(three(), "tyo")


def test_a_figure_that_is_not_a_number_is_no_value():
    from shiftscope.report.export import list_values
    from shiftscope.report.table import Table, TableCell

    table = Table("t", ("a", "b"), [(TableCell("x", float("nan")), TableCell("1", 1.0)), ("y", "2")])
    assert list_values(table) == [[None, 1.0], [None, None]]


def test_variants_within_a_run_count_whatever_the_model_was_trained_on():
    rows = [(asked(f"o{k}", "yes", f"s{k}"), "yes") for k in range(40)]
    rows += [
        (asked(f"v{k}", "no", f"s{k}", f"o{k}", factor="Another object"), "no" if k % 2 else "yes") for k in range(40)
    ]
    contrast = log(rows, variant="contrast", data_id="contrast", trained_on="default")
    hard = [
        replace(one, spec=(*one.spec, ("trained_on", "default"))) for one in (of("default", 0.8), twins("hard", 0.4))
    ]
    found = find_verdict(study(*hard, contrast), "toy").factors
    assert [(one.factor, one.to) for one in found] == [
        ("Another object", "its variants"),
        ("Visual complexity", "hard"),
    ]
    assert found[0].drop == pytest.approx(0.5)

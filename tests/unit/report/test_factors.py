"""What a shift costs: every factor by name, paired where twins exist, over kinds that all levels share."""

import pytest
from test_sections import cells

from report_toys import asked, body, log, study
from shiftscope.report.drops import find_shifts, find_twin_runs, load_factors
from shiftscope.report.measure import reweight_question_types
from shiftscope.report.sections.degrade import measure_degrade
from shiftscope.report.sections.slopes import measure_slopes
from shiftscope.result import records_of

SCENES = 40
BASE = ("default", "default")


def questions(variant="", factor="", twins=False, parts=True, scenes=SCENES, level=None):
    """Five questions a scene about vehicles and, unless there are none, five about their parts."""
    made = []
    for s in range(scenes):
        for k in range(10 if parts else 5):
            name = f"{s}-{k}"
            facts = {"template": "parts" if k >= 5 else "whole", "kind": "exist", "variant": variant or "default"}
            facts |= {"factor": factor} if factor else {}
            facts |= {"level": level} if level is not None else {}
            made.append(asked(name + variant, "yes", f"s{s}", name if twins else "", **facts))
    return made


def answers(asked_about, whole, parts=0.2):
    """Right about these shares of the questions on vehicles and on parts, spread over the scenes."""
    rows, count = [], {"whole": 0, "parts": 0}
    for q in asked_about:
        kind = dict(q.facts)["template"]
        share = whole if kind == "whole" else parts
        count[kind] += 1
        hit = int(count[kind] * share + 1e-9) > int((count[kind] - 1) * share + 1e-9)
        rows.append((q, "yes" if hit else "no"))
    return rows


def of(variant, whole, **more):
    about = questions(variant, **more) if variant != "default" else questions(**more)
    return log(answers(about, whole), variant=variant, data_id=variant, lineage=(variant, "default"))


def visual():
    """Vehicles 80, 80 and 60%, parts 20%: whole easy scenes have none."""
    return study(
        of("default", 0.8),
        of("easy", 0.8, factor="visual", twins=True, parts=False, level=0),
        of("hard", 0.6, factor="visual", twins=True, level=2),
    )


def test_the_trend_agrees_with_the_paired_drops():
    # Over all questions easy would be 30 points above the default, for want of parts.
    ((name, made),) = measure_slopes(visual(), "toy")
    assert name == "Visual complexity: easy → default → hard"
    assert made.per_level == pytest.approx(-0.1)  # through 80, 80 and 60
    drops = {s.to: s.measure_drop().drop for s in find_shifts(visual())}
    assert drops == {"easy": pytest.approx(0), "hard": pytest.approx(0.1)}  # of hard over parts as well


def test_a_trend_needs_the_true_levels_and_takes_the_default_in():
    two = study(of("default", 0.8), of("hard", 0.6, factor="visual", twins=True, level=2))
    ((name, made),) = measure_slopes(two, "toy")
    assert (name, made.per_level) == ("Visual complexity: default → hard", pytest.approx(-0.1))
    ends = study(
        of("default", 0.8),
        of("easy", 0.8, factor="visual", twins=True, level=0),
        of("hard", 0.6, factor="visual", twins=True, level=2),
    )
    assert dict(measure_slopes(ends, "toy")).popitem()[1].per_level == pytest.approx(-0.05)  # parts do not change


@pytest.mark.parametrize("factor", ["distribution", "compositionality"])
def test_what_has_no_order_has_no_trend(factor):
    names = [v for v in load_factors()[factor].variants if v != load_factors()[factor].base]
    runs = [of(v, 0.9 - 0.1 * k, factor=factor, level=k) for k, v in enumerate(names, 1)]
    assert list(measure_slopes(study(of("default", 0.8), *runs), "toy")) == []


def test_every_factor_is_named_and_says_whether_it_is_paired():
    made = study(
        of("default", 0.8),
        of("hard", 0.6, factor="visual", twins=True, level=2),
        of("tail", 0.6, factor="distribution", level=4),
        of("co-1", 0.7, factor="compositionality", level=1),
    )
    shown = body("shifts", made)
    rows = [cells(shown, "th")[4:], cells(shown)]
    assert rows[0] == ["Visual complexity", "Concept distribution", "Concept compositionality"]
    assert rows[1][:2] == ["default → hard", "paired"]
    assert rows[1][3:5] == ["default → tail", "unpaired"]
    assert rows[1][5].startswith("−10.0")
    assert rows[1][6:8] == ["default → co-1", "unpaired"]
    assert "Not among these runs: question redundancy." in shown


def test_an_unpaired_drop_is_over_kinds_that_both_have_weighed_as_in_the_base():
    # 20 points down on vehicles, none on parts; but of parts there is hardly a question left.
    rare = [q for k, q in enumerate(questions("tail", factor="distribution")) if k % 10 < 5 or k % 40 == 9]
    tail = log(answers(rare, 0.6), variant="tail", data_id="tail", lineage=("tail", "default"))
    (shift,) = find_shifts(study(of("default", 0.8), tail))
    assert shift.twins is None
    assert shift.measure_drop().drop == pytest.approx(0.1)
    assert shift.measure_drop().low < 0.1 < shift.measure_drop().high


def test_a_level_without_its_base_is_told():
    shown = body("shifts", study(of("tail", 0.6, factor="distribution"), of("default", 0.8, parts=False)))
    assert "unpaired" in shown
    alone = body("shifts", study(of("tail", 0.6, factor="distribution")))
    assert cells(alone) == ["tail", "no run on its base"]


def test_data_of_another_seed_are_nobodys_twins():
    # The same ids and names of scenes, but made with another seed.
    other = log(
        answers(questions("hard", factor="visual", twins=True), 0.1),
        variant="hard",
        data_id="h",
        lineage=("hard 5", "default 5"),
    )
    made = study(of("default", 0.8), other)
    assert find_twin_runs(made) == ()
    assert list(find_shifts(made)) == []
    assert cells(body("shifts", made)) == ["hard", "no run on its base"]


def test_the_matrix_compares_kinds_that_all_its_tests_have():
    runs = [
        log(
            answers(questions(test if test != "default" else "", parts=test != "easy"), 0.9 if i == test else 0.8),
            trained_on=i,
            variant=test,
            data_id=test,
        )
        for i in ("easy", "default", "hard")
        for test in ("easy", "default", "hard")
    ]
    shown = body("transfer", study(*runs))
    assert "Visual complexity, 1 of 2 question types" in shown
    assert set(cells(shown.partition("<details")[0])) == {"90.0", "80.0 −10.0"}
    # The default data stand for mid: of the six drops each is 1 / 9.
    made = measure_degrade(study(*runs), "printed")["toy", "visual"]
    assert made.value == pytest.approx(1 / 9)


def test_relative_degrade_is_over_seeds():
    runs = [
        log(answers(questions(), 0.8 if i == test else shifted), trained_on=i, variant=test, data_id=test, seed=seed)
        for seed, shifted in enumerate((0.6, 0.4))
        for i in ("easy", "default", "hard")
        for test in ("easy", "default", "hard")
    ]
    one, two = (measure_degrade(study(*some), "printed")["toy", "visual"].value for some in (runs[:9], runs[9:]))
    made = measure_degrade(study(*runs), "printed")["toy", "visual"]
    assert one < made.value < two
    assert made.value == pytest.approx((one + two) / 2)
    assert made.low < one and two < made.high  # two seeds say little


def test_weights_give_every_run_the_mixture_of_the_first():
    def rows(*kinds):
        return records_of((asked(f"{k}", "yes", "", kind=kind), None) for k, kind in enumerate(kinds))

    made = reweight_question_types([rows("a", "a", "b", "b", "c"), rows("a", "b", "b", "b", "b", "b"), rows("b", "a")])
    assert (made.shared, made.types) == (2, 3)
    assert made.weights[0].tolist() == [1, 1, 1, 1, 0]
    assert made.weights[1].tolist() == pytest.approx([3, 0.6, 0.6, 0.6, 0.6, 0.6])
    assert made.weights[2].tolist() == [1, 1]
    untold = reweight_question_types([records_of([(asked("1"), None)])] * 2)
    assert [w.tolist() for w in untold.weights] == [[1], [1]]


def test_models_asked_different_tests_are_not_compared_by_kind():
    easy, hard = of("default", 0.9), of("tail", 0.3, factor="distribution")
    both = [log(answers(questions(), 0.9), model="b", variant="default", data_id="default", lineage=BASE)]
    shown = body("headline", study(easy, hard, *both))
    found = cells(shown, "table")
    assert len(found) == 1  # one kind: nothing to compare; but pooled over default and tail it would differ
    kinds = [asked(f"{k}", "yes", f"s{k}", kind="exist" if k % 2 else "count") for k in range(40)]
    one = [(q, "yes") for q in kinds]
    two = [(asked(f"t{k}", "yes", f"s{k}", kind="exist" if k % 2 else "count"), "no") for k in range(40)]
    made = study(
        log(one, model="a", variant="x", data_id="x"),
        log(two, model="a", variant="y", data_id="y"),
        log(one, model="b", variant="x", data_id="x"),
    )
    by_kind = body("headline", made).rpartition("Accuracy by question type")[2]
    assert all(cell.startswith("100.0") for cell in cells(by_kind))


def test_incomplete_runs_are_not_ranked():
    rows = [(asked(f"{k}", "yes", f"s{k}"), "yes" if k < 30 else None) for k in range(40)]
    half = [(asked(f"{k}", "yes", f"s{k}"), "yes" if k < 25 else "no") for k in range(40)]
    shown = body("headline", study(log(rows, model="few"), log(half, model="all")))
    found = cells(shown)
    assert found[2] == "best"  # the complete one stands first, though it has fewer right
    assert "not ranked" in found
    assert "75% answered" in shown


def test_a_declared_sample_is_named():
    rows = [(asked(f"{k}", "yes", f"s{k}"), "yes") for k in range(20)]
    made = study(log(rows, questions=20, population=500, limit=20))
    assert "toy on toys: a sample, the first 20 of 500 questions." in body("headline", made)
    whole = [(asked(f"{k}", "yes", f"s{k}"), "yes") for k in range(500)]
    two = study(log(rows, questions=20, population=500, limit=20), log(whole, questions=500, population=500, model="b"))
    assert len(two.tests) == 2  # not compared with one that was asked all


def test_few_scenes_are_said():
    rows = [(asked(f"{k}", "yes", f"s{k % 6}"), "yes" if k % 5 else "no") for k in range(60)]
    assert "too few scenes (6)" in body("headline", study(log(rows)))


def test_vqa_accuracy_is_the_accuracy_of_the_page():
    from dataclasses import replace

    rows = [(replace(asked(f"{k}", "red", f"s{k}"), answers=("red",) * 8 + ("blue",) * 2), "blue") for k in range(20)]
    made = study(log(rows))
    assert "VQA accuracy (official form) on toys" in body("headline", made)
    assert cells(body("headline", made))[1].startswith("60.0")
    assert cells(body("outcomes", made), "th")[3] == "Partly"

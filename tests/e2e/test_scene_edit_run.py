"""scene_edit from data to score: made, trained for one epoch, run on images and on true scenes, and scored."""

import json

import pytest

from shiftscope.metrics import action_accuracy
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.make import make
from shiftscope.store.run_log import read_rows
from shiftscope.suites.clevr_hyp.suite import ClevrHypSpec
from shiftscope.train.train import TrainSpec, train


@pytest.mark.full
def test_scene_edit_is_trained_run_and_scored(tmp_path):
    data = tmp_path / "data"
    make("clevr_hyp", ClevrHypSpec(images=14, size=(240, 160), shard=14), data, workers=1)
    spec = TrainSpec("scene_edit", str(data), epochs=1, device="cpu")
    made = train(spec, tmp_path / "plain")
    assert made.parts == ("scene_parser", "action_parser", "question_parser")
    tuned = train(
        TrainSpec(
            "scene_edit",
            str(data),
            epochs=1,
            device="cpu",
            only="actions",
            other=tmp_path / "plain",
            settings=(("reinforce", str(tmp_path / "plain")),),
        ),
        tmp_path / "tuned",
    )
    began = tuned.about["spec"]["parsers"]["action_parser"]["from"]
    assert began == made.about["action_parser"]["blake2b"]
    assert "executed" in tuned.about["action_parser"]["val"]  # what it was chosen by
    assert tuned.read_bytes("question_parser") == made.read_bytes("question_parser")
    for model in ("scene_edit", "scene_edit_soft", "scene_edit_worlds"):
        run = RunSpec(f"{model}:{tmp_path / 'tuned'}", data, limit=20, conditions=("as_is", "scene_text"))
        log = evaluate(run, tmp_path / model, use_cache=False)
        assert len(log.records) == 40 and not log.records.status.equals("failed").any()
        score = action_accuracy.measure(log.records)[0]
        assert score.n == 20 and 0 <= score.value <= 1  # counted from the log, without the model
    traces = [prediction.trace for _, prediction in read_rows(tmp_path / "scene_edit") if prediction.trace]
    assert all({"objects", "on"} == json.loads(trace).keys() for trace in traces)

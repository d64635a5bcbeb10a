"""The condition true_outcome: the picture after the action, and the question without it."""

import numpy as np
import pytest

from asked import dataset as plain_dataset
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.op import get_op
from shiftscope.lang.program import split_action
from shiftscope.render import open_renderer
from shiftscope.run.conditions import DatasetPrompts
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.make import make
from shiftscope.suites.clevr_hyp.suite import ClevrHypSpec

SIZE = (240, 160)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make("clevr_hyp", ClevrHypSpec(images=14, size=SIZE, shard=10), tmp_path_factory.mktemp("hyp") / "made")


def draw(scene):
    (image,) = open_renderer(workers=1).render([scene], ("rgb",), SIZE)
    return image.rgb


def test_the_scene_after_the_action_is_shown_and_nothing_is_said_of_it(data):
    items = list(DatasetPrompts(data, "test", "short").iter_examples("true_outcome"))
    assert [i.question.id for i in items] == [q.id for q in data.questions("test")]
    changed = set()
    for item in items:
        action, asked = split_action(item.question.program)
        after = execute(action, item.scenes[0]).worlds[-1].scenes[0]
        prompt = item.prompt
        assert prompt.scenes == (after,) and item.scenes != prompt.scenes
        assert execute(asked, after).answer == item.question.answer
        assert prompt.question.answer is None and not prompt.question.action
        assert item.question.action not in prompt.text and item.question.text in prompt.text
        assert item.question.action not in str(prompt.question.notes)
        assert not any(get_op(n.op).edits for n in prompt.question.program.nodes)
        changed.add((prompt.pictures[0].id, item.question.scenes[0], item.question.action))
    assert len({image for image, _, _ in changed}) == len(changed) >= 9
    for item in items[::10]:
        assert np.array_equal(item.prompt.pictures[0].pixels(), draw(item.prompt.scenes[0]))
        assert not np.array_equal(item.prompt.pictures[0].pixels(), draw(item.scenes[0]))


def test_with_the_true_outcome_nobody_need_act(data, tmp_path):
    """The oracle executes what is left of the program; who ignores actions is right, too."""
    for split in ("test", "two_hop_actions"):
        for model in ("oracle", "action_ignored"):
            spec = RunSpec(model, data.folder, split, conditions=("true_outcome",))
            log = evaluate(spec, tmp_path / f"{model}-{split}", use_cache=False)
            assert len(log.records.right) == len(list(data.questions(split)))
            assert log.records.right.all()


def test_questions_without_an_action_are_refused(tmp_path, refuses):
    feed = DatasetPrompts(plain_dataset(tmp_path / "data"), "test", "short")
    with refuses("could be shown; leave out --condition true_outcome"):
        list(feed.iter_examples("true_outcome"))

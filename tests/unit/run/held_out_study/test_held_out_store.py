"""Records of a study of held-out splits from another machine: what was measured anew takes the place of the old."""

from dataclasses import replace

import numpy as np

from shiftscope.metrics.held_out_records import PLAIN, HeldOutEntry, HeldOutTraining, pack_bits
from shiftscope.run.held_out_study.held_out_study import HeldOutStore
from shiftscope.run.study.entry_store import merge_records


def test_what_was_measured_anew_takes_the_place_of_the_old(tmp_path):
    right = {PLAIN: pack_bits(np.ones(8, bool))}
    old = HeldOutEntry("covr", "small", "d", HeldOutTraining("visualbert"), 5, right, plan="old")
    new, other = replace(old, plan="new"), replace(old, training=HeldOutTraining("vilbert"))
    first, then = HeldOutStore(tmp_path / "first.jsonl"), HeldOutStore(tmp_path / "then.jsonl")
    first.add(old)
    then.add(new)
    then.add(other)
    cells = tmp_path / "cells"
    assert merge_records([first.path], cells, HeldOutStore) == (1, 1, 0, ())
    assert merge_records([then.path], cells, HeldOutStore) == (2, 1, 1, ())
    assert merge_records([then.path], cells, HeldOutStore) == (2, 0, 0, ())
    assert {one.plan for one in HeldOutStore(cells).read_records() if one.training == new.training} == {"new"}
    assert merge_records([first.path, then.path], tmp_path / "both", HeldOutStore) == (3, 2, 0, ())
    assert HeldOutStore(tmp_path / "both").read_records() == HeldOutStore(cells).read_records()

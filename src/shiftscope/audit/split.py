"""Split: which samples are for training, which for choosing a model, and which are the IID test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..rng import derive
from .samples import EXAMPLES, Remark, Rows, Samples

TRAIN, VAL, TEST = "train", "val", "test"
NAMES = (TRAIN, VAL, TEST)
AUDIT_SPLIT = "audit_split"  # the fact of a run's row that says which of these it is
OURS = "shiftscope"  # the source of samples from a dataset of ours
SHARES = (0.70, 0.05)  # of the samples: train and val; the rest is the test
_CALLED = {
    TRAIN: (TRAIN, "train2014", "train2017", "training"),
    VAL: (VAL, "valid", "val2014", "val2017", "dev", "validation"),
    TEST: (TEST, "test2014", "test2015", "testdev", "iid-test"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The part of every sample; together the parts are everything."""

    codes: npt.NDArray[np.int8]  # [sample] place in NAMES; -1: in none of them
    made: bool  # by us at random, not taken from the files

    def rows(self, name: str) -> Rows:
        return np.flatnonzero(self.codes == NAMES.index(name))

    def counts(self) -> dict[str, int]:
        return {name: int((self.codes == k).sum()) for k, name in enumerate(NAMES)}


def drawn(samples: Samples, seed: int = 0, shares: tuple[float, float] = SHARES) -> Split:
    """A random split by samples, as the paper draws it; a function of the seed and of the set of ids.

    The order of the files does not matter: ids are sorted before they are shuffled.
    """
    train, val = shares
    if not (train > 0 and val >= 0 and train + val < 1):
        raise UserError(f"the shares of train and val must be above 0 and leave some for the test: {shares}")
    order = sorted(range(len(samples)), key=lambda k: (isinstance(samples.ids[k], str), samples.ids[k]))
    places = np.asarray(order)[derive("audit", "split", seed).permutation(len(samples))]
    first, second = round(len(samples) * train), round(len(samples) * (train + val))
    if not 0 < first <= second < len(samples):
        raise UserError(
            f"{len(samples):,} samples are too few to draw a train split and a test from; "
            "give both, with --train and --test"
        )
    codes = np.full(len(samples), NAMES.index(TEST), np.int8)
    codes[places[:first]], codes[places[first:second]] = 0, 1
    return Split(codes, made=True)


def given(samples: Samples) -> Split:
    """The split that the files name (`split` fields, or which files were given as train, val and test)."""
    if samples.splits is None:
        raise UserError("the files name no split; leave it out, and 70/5/25 % are drawn")
    codes = _parts(samples)
    for needed in (0, 2):
        if not (codes == needed).any():
            named = ", ".join(map(str, samples.splits.values))
            raise UserError(f"no sample is of the split {NAMES[needed]!r}; the files name {named or 'none'}")
    return Split(codes, made=False)


def usual(samples: Samples) -> str:
    """How to split when nobody says: as given by a dataset of ours that has a train and a test, else drawn.

    Official files are merged and split anew, as VQA-VS does with VQA v2.
    """
    if samples.source != OURS or samples.splits is None:
        return "drawn"
    codes = _parts(samples)
    return "given" if (codes == 0).any() and (codes == 2).any() else "drawn"


def outside(samples: Samples, split: Split) -> tuple[Remark, ...]:
    """What to say of samples that are in none of the three parts, with the names of their splits."""
    rows = np.flatnonzero(split.codes < 0)
    if not len(rows) or samples.splits is None:
        return ()
    codes = np.unique(samples.splits.codes[rows]).tolist()
    names = ", ".join("none is named" if c < 0 else str(samples.splits.values[c]) for c in codes)
    examples = tuple(samples.ids[k] for k in rows[:EXAMPLES].tolist())
    what = f"samples of a split other than train, val and test ({names})"
    return (Remark(what, "in no set, and not counted", len(rows), examples),)


def _parts(samples: Samples) -> npt.NDArray[np.int8]:
    """[sample] the part that its split's name means, -1 for none of them."""
    assert samples.splits is not None
    part = {called: k for k, name in enumerate(NAMES) for called in _CALLED[name]}
    table = np.array([part.get(str(v).lower(), -1) for v in samples.splits.values] + [-1], np.int8)
    return table[samples.splits.codes]

"""Redundancy removal on GQA testdev (Li et al., 2023), Table 3: figures the paper reports, none measured here."""

from .. import ReportedFigures

SHARES = (0, 14, 32, 70, 91, 100)  # percent of the redundant operations removed
ACCURACY = {"mDETR": 61.67, "NSCL": 56.13, "NSVQA": 39.58, "P-NSVQA": 39.66}  # on the questions as they came
CHANGE = {  # of accuracy, in points
    "mDETR": (0, -4.82, -8.46, -13.16, -13.88, -14.56),
    "NSCL": (0, -0.14, -0.34, -1.09, -1.71, -2.59),
    "NSVQA": (0, -3.47, -4.80, -7.01, -7.02, -7.02),
    "P-NSVQA": (0, -1.93, -3.15, -5.73, -5.91, -5.78),
}
REPORTED = ReportedFigures(
    "reported: Super-CLEVR (Li et al., 2023), Table 3",
    tuple(CHANGE),
    {
        "redundancy": {
            (model, share): points / 100
            for model, changes in CHANGE.items()
            for share, points in zip(SHARES, changes, strict=True)
        },
        "redundancy, base": {(model,): percent / 100 for model, percent in ACCURACY.items()},
    },
)

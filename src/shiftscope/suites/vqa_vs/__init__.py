"""VQA-VS (Si et al., 2022): debiasing methods over nine OOD test sets, on a world with planted shortcuts.

The sets themselves are an audit's (`shift/vqa_vs.py`); here are the study and the paper's figures. For example,
`shiftscope study vqa_vs --out study` makes a biased Super-CLEVR world, trains UpDn, chooses its epoch on IID val, and
tells its accuracy on the IID test and on the rare answers of every shortcut.
"""

STUDY_KIND = "selection"

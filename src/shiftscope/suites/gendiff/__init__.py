"""Generalization differences (Zhu et al., 2022): end-to-end and neuro-symbolic models on generalization tests.

The tests themselves are those of `shiftscope test`; here are the study and the paper's figures. For example,
`shiftscope study gendiff --out study` makes COVR-style questions over rendered images, trains both families of models,
and tells how much each loses when "at least 2 jets" becomes "fewer than 2 jets".
"""

STUDY_KIND = "held_out"

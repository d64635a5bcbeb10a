"""Generalization tests, one file each, found by its name: `segment_combine` is `shiftscope test segment-combine`.

A file holds

    APPLIES    one sentence: which data the test applies to
    OPTIONS    a `GeneralizationOptions`: its fields give the options of the command line and the JSON
    plan(data: SourceSplit, options) -> GeneralizationPlan
               the test sets: which questions are asked, of which dataset, learned from what; what was left
               out, and how often; an empty plan has `why_not`, the error that the user sees (exit code 2)
    findings(plan, runs: Mapping[str, GeneralizationRun], options) -> Findings
               the table, from the run of each test set by its name

and may hold `list_reported()`, a table of the paper's figures. The records are in `run.generalization_test`.

`run.test.test` does the rest: it writes the questions of a test set as a dataset of its own (`OUT/data/NAME`,
images shared with the dataset they are from), asks the model (`OUT/runs/NAME`, a run like any other: it
resumes, and `shiftscope report OUT/runs/*` shows it) and writes `OUT/result.json`.

A question that was made from another names it in its notes: `twin` (the other's id), `factor` (the test's
name), `level` (what was changed). Both are in one test set where they are compared, so that metrics pair them.
After Zhu et al. (2022), section 4.
"""

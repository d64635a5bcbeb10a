"""Generalization tests: what a model is asked besides, how its replies are put together, what is measured.

A file here is a test, found by its name (`segment_combine` is `shiftscope test segment-combine`). It holds

    APPLIES    one sentence: which data the test applies to, and what it asks of them
    Options    a frozen dataclass of what a user may choose; every field has a default and is plain JSON data;
               `words()` gives them as options of the command line
    plan(data: Material, options: Options) -> Plan
               the exams: which questions are asked, of which dataset, learned from what; what was left out,
               and how often; an empty plan has `why_not`, the sentence that the user is told (exit code 2)
    findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings
               the table, from the run of each exam (by the exam's name)

with the records of `_frame`.

`run.test.test` does the rest: it writes an exam's questions as a dataset of its own (`OUT/data/EXAM`, images
shared with the dataset they are from, which costs no space), asks the model (`OUT/runs/EXAM`, a run like any
other: it resumes, and `shiftscope report OUT/runs/*` shows it) and writes `OUT/result.json`.

A question that was made from another says so in its notes: `twin` (the other's id), `factor` (the test's
name), `level` (what was changed). Both stand in one exam where they are compared, so that metrics pair them.
After Zhu et al. (2022), section 4.
"""

"""COVR: questions over several images, from any scene graphs, with distractors that are nearly right.

For example, of five images, two of which show a man catching a frisbee and one a woman catching one: "How
many images contain a man that is catching a frisbee?", 2; a distractor differs from what is asked about in
one or two words.

Bogin et al., COVR: a test-bed for visually grounded compositional generalization with real images, 2021.
"""

STUDY_KIND = "held_out"

"""CLEVR_HYP: questions about what would be true of a picture's scene after an action described in words.

For example, of a scene with a small red cube and two blue balls: "Paint the small cube blue." and "How many
blue objects would there be?", count(filter(change(unique(filter(filter(scene(), size=small), shape=cube)),
color=blue), color=blue)), 3.

Sampat et al., CLEVR_HYP: a challenge dataset and baselines for visual question answering with hypothetical
actions over images, 2021.
"""

STUDY_KIND = "of_models"

"""CLEVR: questions about solids on a plane; the world, questions and answers are made from nothing.

For example, of a scene with a red cube left of a blue ball: "What color is the cube to the left of the blue
sphere?", query(unique(filter(relate(unique(filter(filter(scene(), color=blue), shape=sphere)), left),
shape=cube)), color), red.

Johnson et al., CLEVR: a diagnostic dataset for compositional language and elementary visual reasoning, 2017.
"""

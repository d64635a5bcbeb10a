"""Super-CLEVR: vehicles with parts, and four factors of shift that are told apart by twins.

For example, of a scene with a blue bus, whose door is red, left of a green truck: "What color is the bus to
the left of the truck?", query(unique(filter(relate(unique(filter(scene(), shape=truck)), left), shape=bus)),
color), blue; and of its part "What is the color of the door of the bus?", red. The twin *rd-* asks "What
color is the bus?"; *easy* shows the bus without the red door; *long* shows a jet in its place.

Li et al., Super-CLEVR: a virtual benchmark to diagnose domain robustness in visual reasoning, 2023.
"""

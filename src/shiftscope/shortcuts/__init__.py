"""Which shortcuts a dataset holds: concepts of its samples, their groups, and the rare answers in them."""

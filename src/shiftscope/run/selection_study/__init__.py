"""Studies of model selection: one world, many trainings, every epoch measured on every set."""

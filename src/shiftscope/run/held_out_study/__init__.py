"""Studies of held-out splits: data in memory, derived test sets, trainings and how they are asked."""

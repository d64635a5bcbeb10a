"""What the verbs do: make, render, answer, evaluate, score, test, study; training is in train/."""

"""What the verbs do: make, answer, train, evaluate, study."""

"""Training: the feed, one loop for every model that learns here, and checkpoints to resume from."""

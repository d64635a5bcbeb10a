"""Training: one loop for every model that learns here; stops and goes on, chosen on validation data alone."""

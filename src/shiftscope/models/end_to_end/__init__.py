"""What models share that learn from questions and answers alone; each has a folder of its own beside this one."""

"""One self-contained page from the logs of runs: where a model breaks, how surely, and on what."""

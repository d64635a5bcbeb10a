"""Speed and memory, measured: `make bench` runs every file here that has a `main`."""

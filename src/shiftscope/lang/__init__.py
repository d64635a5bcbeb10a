"""The typed program language: what a question asks, written so that it can be run."""

"""The web explorer: examples, programs, runs and audits in a browser, and a page for annotators; `app.py` serves it."""

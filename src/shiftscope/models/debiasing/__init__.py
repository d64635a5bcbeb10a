"""Debiasing: what can stand behind a model's name and a plus, as in `updn+lmh`; one file each.

A file has `WRAPPER`, an EntryWrapper (see wrapper.py). Its neighbours without one are what they share.
"""

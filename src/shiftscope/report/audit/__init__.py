"""The page of an audit: which shortcuts a dataset has, how strong they are, and the samples behind them."""

from .page import write_audit_page

__all__ = ["write_audit_page"]

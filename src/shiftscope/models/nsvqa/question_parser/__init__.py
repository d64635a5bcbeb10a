"""The question parser: from a question's text to its program. Its modules import torch."""

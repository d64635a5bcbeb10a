"""The question parser: from a question's text to its program.

Needs torch as soon as it is imported. Training calls `Vocabulary.learn` on texts with programs, `build` on a
Config, `Batch.of` on what the vocabulary encodes, then `loss` on batches (within `small_products`, where a
processor trains); afterwards `parse` reads texts.
"""

from .config import Config
from .decode import parse
from .epoch import Epoch
from .loss import Batch, loss
from .measure import Counts, measure
from .network import QuestionParser, build
from .products import small_products
from .recipe import Recipe, batches
from .vary import Vary
from .vocabulary import Encoded, Vocabulary

__all__ = [
    "Batch",
    "Config",
    "Counts",
    "Encoded",
    "Epoch",
    "QuestionParser",
    "Recipe",
    "Vary",
    "Vocabulary",
    "batches",
    "build",
    "loss",
    "measure",
    "parse",
    "small_products",
]

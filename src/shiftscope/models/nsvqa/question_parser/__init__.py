"""The question parser: from a question's text to its program.

Needs torch as soon as it is imported. Training calls `Vocabulary.learn` on texts with programs, `build` on a
Config, `Batch.of` on what the vocabulary encodes, then `loss` on batches (within `small_products`, where a
processor trains); afterwards `parse` reads texts.
"""

from .config import QuestionParserConfig, QuestionParserRecipe, make_batches
from .decode import Counts, measure, parse
from .loss import QuestionAugmenter, QuestionEpoch, QuestionParserBatch, compute_loss
from .network import QuestionParser, build, small_products
from .vocabulary import EncodedQuestions, ParserVocabulary

__all__ = [
    "Counts",
    "EncodedQuestions",
    "ParserVocabulary",
    "QuestionAugmenter",
    "QuestionEpoch",
    "QuestionParser",
    "QuestionParserBatch",
    "QuestionParserConfig",
    "QuestionParserRecipe",
    "build",
    "compute_loss",
    "make_batches",
    "measure",
    "parse",
    "small_products",
]

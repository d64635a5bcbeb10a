"""A program as the question parser's tokens, and back."""

from lazy import lazy

tokens_module = lazy("shiftscope.models.nsvqa.question_parser.tokens")
vocabulary_module = lazy("shiftscope.models.nsvqa.question_parser.vocabulary")


def tokenize_program(program):
    parts = (step.generalize() for step in tokens_module.order_tokens(program))
    return tuple(step.make_token(program.nodes[at].params) for at, step in parts)


def build_program(tokens):
    return tokens_module.ProgramReader(tokens).read_program(range(len(tokens)))


def decode_program(vocabulary, ids):
    return build_program([vocabulary.tokens[k - vocabulary_module.SPECIAL_TOKENS] for k in ids])

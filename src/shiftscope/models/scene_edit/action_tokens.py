"""An action's program as a sequence of typed tokens, in the order in which English says it, and back.

The edit comes first and every node before its inputs, as in the question parser's tokens. Filters that stand one
after another are written innermost first, as adjectives are, and each attribute that a new or changed object has is
a token of its own. That the edit is of the scene as it is goes without saying: a text tells one action.
"""

from collections.abc import Iterable, Sequence

from ...edit import ON
from ...errors import UserError
from ...lang.op import OBJECT, OBJECTS, THING, Type, get_op
from ...lang.program import Program, ProgramBuilder
from ...schema import Schema
from ..nsvqa.question_parser.tokens import FILTER, OUTCOME, RELATE, ParserToken
from ..nsvqa.question_parser.vocabulary import BEGIN, SPECIAL_TOKENS, Ids, ParserVocabulary, pad_rows

LOOK, MORE_LOOK, LOOKS_END = "look", "more_look", "looks_end"  # an attribute that an object is given, another, no more
LOOKS, MORE_LOOKS = Type("Looks"), Type("More looks")  # at least one, any number
CHANGE, SCENE, UNIQUE = "change", "scene", "unique"

# What each op reads besides the state of the scene that it edits, and what it gives.
PLAIN: dict[str, tuple[tuple[Type, ...], Type]] = {
    "add": ((THING,), OUTCOME),
    "remove": ((OBJECTS,), OUTCOME),
    CHANGE: ((OBJECTS, LOOKS), OUTCOME),
    "swap": ((OBJECT, OBJECT), OUTCOME),
    "thing": ((LOOKS,), THING),
    "copy": ((OBJECT,), THING),
    LOOKS_END: ((), MORE_LOOKS),
    UNIQUE: ((OBJECTS,), OBJECT),
    SCENE: ((), OBJECTS),
}
OF_RELATION: dict[str, tuple[tuple[Type, ...], Type]] = {
    "add_beside": ((THING, OBJECT), OUTCOME),
    "move": ((OBJECT, OBJECT), OUTCOME),
    RELATE: ((OBJECT,), OBJECTS),
}
OF_ATTRIBUTE = {"inherit": ((THING, OBJECT), THING)}
OF_VALUE = {FILTER: ((OBJECTS,), OBJECTS), LOOK: ((MORE_LOOKS,), LOOKS), MORE_LOOK: ((MORE_LOOKS,), MORE_LOOKS)}
KINDS = PLAIN | OF_RELATION | OF_ATTRIBUTE | OF_VALUE


def list_action_tokens(schema: Schema) -> list[ParserToken]:
    """Every token that an action on scenes of a schema may need."""
    names, relations = [a.name for a in schema.attributes], schema.relations
    pairs = [(a.name, value) for a in schema.attributes for value in a.values]
    found = [_make_token(op) for op in PLAIN]
    found += [_make_token(op, r) for op in OF_RELATION for r in (*relations, *((ON,) if op != RELATE else ()))]
    found += [_make_token(op, name) for op in OF_ATTRIBUTE for name in names]
    return found + [_make_token(op, *pair) for op in OF_VALUE for pair in pairs]


def _make_token(op: str, *words: str) -> ParserToken:
    return ParserToken(op, words, *KINDS[op])


def write_action(program: Program) -> list[ParserToken]:
    """The tokens of one action; a UserError says what cannot be written."""
    nodes = program.nodes
    out: list[ParserToken] = []

    def write(i: int) -> None:
        n = nodes[i]
        if n.op not in KINDS:
            raise UserError(f"an action parser does not write {n.op}")
        edits = get_op(n.op).edits
        if edits and i != len(nodes) - 1:
            raise UserError("an action parser is taught one action a text, and this program has two")
        run = [i]
        while nodes[run[-1]].op == FILTER:
            run.append(nodes[run[-1]].inputs[0])
        if len(run) > 1:
            out.extend(_make_token(FILTER, *nodes[j].params) for j in reversed(run[:-1]))
            return write(run[-1])
        looks = get_op(n.op).pairs  # words of any number
        out.append(_make_token(n.op) if looks else _make_token(n.op, *n.params))
        inputs = n.inputs[1:] if edits and n.op != CHANGE else n.inputs
        if edits and n.op != CHANGE and nodes[n.inputs[0]].op != SCENE:
            raise UserError("an action parser is taught one action a text, and this program has two")
        for j in inputs:
            write(j)
        if looks:
            pairs = zip(n.params[::2], n.params[1::2], strict=True)
            out.extend(_make_token(MORE_LOOK if k else LOOK, *pair) for k, pair in enumerate(pairs))
            out.append(_make_token(LOOKS_END))
        return None

    write(len(nodes) - 1)
    if out[0].output != OUTCOME:
        raise UserError(f"{nodes[-1].op} is no action")
    return out


def read_action(tokens: Sequence[ParserToken]) -> Program:
    """The program, in canonical order; the tokens must be those of a whole action."""
    draft = ProgramBuilder()
    at = 0

    def read_looks() -> tuple[str, ...]:
        nonlocal at
        words: dict[str, str] = {}
        while tokens[at].op != LOOKS_END:
            words.setdefault(*tokens[at].words)  # an attribute that is given twice keeps what came first
            at += 1
        at += 1
        return tuple(word for pair in words.items() for word in pair)

    def read() -> int:
        nonlocal at
        token = tokens[at]
        at += 1
        if token.op == FILTER:
            run = [token]
            while tokens[at].op == FILTER:
                run.append(tokens[at])
                at += 1
            node = read()
            for one in run:
                node = draft.put(FILTER, node, words=one.words)
            return node
        state = get_op(token.op).edits and token.op != CHANGE
        inputs = [draft.put(SCENE)] if state else []
        inputs += [read() for kind in token.inputs if kind != LOOKS]
        words = read_looks() if LOOKS in token.inputs else token.words
        return draft.put(token.op, *inputs, words=words)

    read()
    if at != len(tokens):
        raise ValueError(f"{len(tokens) - at} tokens after the end of an action")
    return draft.build().canonicalize()


def encode_actions(
    vocabulary: ParserVocabulary, pairs: Iterable[tuple[str, Program]], lenient: bool = False
) -> tuple[Ids, Ids]:
    """Texts and their programs as two tables, BEGIN first and PAD behind.

    A program that cannot be written is a UserError; to the lenient it is BEGIN twice, which is never written.
    """
    number = {token: k + SPECIAL_TOKENS for k, token in enumerate(vocabulary.tokens)}
    texts, rows = [], []
    for text, program in pairs:
        texts.append(vocabulary.encode_text(text))
        try:
            rows.append([BEGIN, *(number[token] for token in write_action(program))])
        except (UserError, KeyError):
            if not lenient:
                raise
            rows.append([BEGIN, BEGIN])
    return pad_rows(texts), pad_rows(rows)

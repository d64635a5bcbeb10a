"""The text notation: programs as a person reads and types them.

    count(filter(relate(unique(filter(scene(), shape=sphere)), left), color=red))

Inputs come first, then words. A word of several parts is quoted: `find("fire truck")`. `filter` takes several
`attribute=value` words at once, and `attribute!=value` for exclude. A result used twice is named:
`red = change(filter(scene(), shape=cube), color=red); equal(count(filter(red, color=red)), 2)`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from ..deprecated import forward_names
from ..errors import did_you_mean
from .op import PAIR, Op, all_ops, get_op
from .program import Node, Program, ProgramBuilder, ProgramError

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<word>[^\W\d][\w\-]*|\d+)
    | (?P<quoted>"(?:[^"\\]|\\.)*")
    | (?P<mark>!=|[(),=;])
    )""",
    re.VERBOSE,
)
_BARE = re.compile(r"[^\W\d][\w\-]*|\d+")

MAX_DEPTH = 200  # ops inside each other


class ProgramToken(NamedTuple):
    kind: str  # word, quoted, mark or end
    text: str
    at: int


def parse_program(text: str) -> Program:
    """The program a text says; an error points at the character."""
    return _ProgramTextParser(text).parse_program()


def format_program(program: Program) -> str:
    """The program as text on one line; what `parse_program` makes of it has the same canonical form."""
    nodes = program.nodes
    uses = [0] * len(nodes)  # by those nodes that the answer depends on; the answer itself once
    uses[-1] = 1
    for i in range(len(nodes) - 1, -1, -1):
        if uses[i]:
            for j in nodes[i].inputs:
                uses[j] += 1
    names: Iterator[str] | None = None
    said: list[str] = []  # of each node, how others refer to it
    depth: list[int] = []  # ops inside each other in that
    lines: list[str] = []
    for n, used in zip(nodes, uses, strict=True):
        before, after = _split_call(n) if used else ("", "")
        if not used:
            text, deep = "", 0
        elif len(n.inputs) == 1:
            at = n.inputs[0]
            text, deep = f"{before}{said[at]}{after}", 1 + depth[at]
        else:
            text = f"{before}{', '.join([said[j] for j in n.inputs])}{after}"
            deep = 1 + max([depth[j] for j in n.inputs], default=0)
        if n.inputs and (used > 1 or deep == MAX_DEPTH):
            names = names or _list_free_names(program)
            name = next(names)
            lines.append(f"{name} = {text}")
            text, deep = name, 0
        said.append(text)
        depth.append(deep)
    return "; ".join([*lines, said[-1]])


def _list_free_names(program: Program) -> Iterator[str]:
    letters = (f"{c}{k or ''}" for k in count() for c in "abcdefghijklmnopqrstuvwxyz")
    return (x for x in letters if x not in all_ops() and not any(x in n.params for n in program.nodes))


@lru_cache(maxsize=100_000)
def _split_call(n: Node) -> tuple[str, str]:
    """One op as written, before and after its inputs."""
    if n.op == "number":
        return n.params[0], ""
    words = ", ".join(_format_words(n))
    return f"{n.op}(", f"{', ' if words and n.inputs else ''}{words})"


def format_call(n: Node, inputs: list[str]) -> str:
    """One op as written, given how its inputs are written."""
    if n.op == "number":
        return n.params[0]
    return f"{n.op}({', '.join([*inputs, *_format_words(n)])})"


@lru_cache(maxsize=100_000)
def _format_words(n: Node) -> tuple[str, ...]:
    """A node's words as written: pairs with =, defaults left out, several words quoted."""
    op = get_op(n.op)
    quoted = ('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in n.params)
    words = [word if _BARE.fullmatch(word) else said for word, said in zip(n.params, quoted, strict=True)]
    if op.pairs:
        return tuple(f"{a}={v}" for a, v in zip(words[::2], words[1::2], strict=True))
    for default, word in zip(reversed(op.defaults), reversed(n.params), strict=False):
        if word != default:
            break
        words.pop()
    if op.params[:2] == PAIR:
        words = [f"{words[0]}={words[1]}", *words[2:]]
    return tuple(words)


class _ProgramTextParser(ProgramBuilder):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.tokens = self._tokenize()
        self.i = 0
        self.names: dict[str, int] = {}
        self.depth = 0  # ops whose arguments are being read

    def _tokenize(self) -> list[ProgramToken]:
        found, at = [], 0
        while at < len(self.text.rstrip()):
            match = _TOKEN.match(self.text, at)
            if match is None:
                skip = len(self.text[at:]) - len(self.text[at:].lstrip())
                mark = self.text[at + skip]
                why = "this quote is not closed" if mark == '"' else f"a {mark!r} means nothing here"
                raise self.build_error(why, at + skip)
            kind = str(match.lastgroup)
            found.append(ProgramToken(kind, match[kind], match.start(kind)))
            at = match.end()
        return [*found, ProgramToken("end", "", len(self.text.rstrip()))]

    def build_error(self, what: str, at: int) -> ProgramError:
        start, end = max(0, at - 30), at + 30
        shown = f"{'…' if start else ''}{self.text[start:at]}⟨here⟩{self.text[at:end]}"
        return ProgramError(f"character {at + 1}: {what}: {shown}")

    def next(self) -> ProgramToken:
        self.i += 1
        return self.tokens[self.i - 1]

    def peek(self, ahead: int = 0) -> ProgramToken:
        return self.tokens[min(self.i + ahead, len(self.tokens) - 1)]

    def expect(self, mark: str, wanted: str = "") -> ProgramToken:
        token = self.next()
        if token.text != mark or token.kind == "quoted":
            raise self.build_error(f"expected {wanted or repr(mark)}, got {token.text or 'the end'!r}", token.at)
        return token

    def parse_program(self) -> Program:
        while self.peek().kind == "word" and self.peek(1).text == "=":
            name = self.next()
            self.expect("=")
            if name.text in self.names:
                raise self.build_error(f"{name.text!r} is named twice", name.at)
            value = self.parse_expression()
            self.expect(";")
            self.names[name.text] = value
        root = self.parse_expression()
        end = self.next()
        if end.kind != "end":
            raise self.build_error("the program ended before this", end.at)
        if root != len(self.nodes) - 1:
            raise self.build_error("the last expression must be a call, not a name", self.tokens[self.i - 2].at)
        return self.build()

    def parse_expression(self) -> int:
        token = self.next()
        if self.depth > MAX_DEPTH:
            raise self.build_error(f"more than {MAX_DEPTH} ops inside each other", token.at)
        if token.kind != "word":
            raise self.build_error(f"expected an op, got {token.text or 'the end'!r}", token.at)
        if token.text.isdigit():
            return self.put("number", words=(token.text,))
        if self.peek().text != "(":
            if token.text in self.names:
                return self.names[token.text]
            raise self.build_error(f"expected an input, got the word {token.text!r}", token.at)
        if token.text not in all_ops():
            raise self.build_error(f"there is no op {token.text!r}{did_you_mean(token.text, all_ops())}", token.at)
        return self.parse_arguments(get_op(token.text), token.at)

    def parse_arguments(self, op: Op, at: int) -> int:
        self.expect("(")
        self.depth += 1
        inputs: list[int] = []
        words: list[tuple[str, ...]] = []  # (word,) or (attribute, mark, value)
        while self.peek().text != ")":
            if inputs or words:
                self.expect(",", "',' or ')'")
            if len(inputs) < op.arity:
                inputs.append(self.parse_expression())
            else:
                words.append((self.parse_word(),))
                if self.peek().text in ("=", "!="):
                    words[-1] = (*words[-1], self.next().text, self.parse_word())
        self.expect(")")
        self.depth -= 1
        return self.build_node(op, tuple(inputs), words, at)

    def parse_word(self) -> str:
        token = self.next()
        if token.kind == "quoted":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind != "word":
            raise self.build_error(f"expected a word, got {token.text or 'the end'!r}", token.at)
        if self.peek().text == "(":
            raise self.build_error("more inputs than the op takes", token.at)
        return token.text

    def build_node(self, op: Op, inputs: tuple[int, ...], words: list[tuple[str, ...]], at: int) -> int:
        if len(inputs) < op.arity:
            raise self.build_error(f"{op.usage} takes {op.arity} inputs, got {len(inputs)}", at)
        if op.name == "filter" and words and all(len(w) == 3 for w in words):
            for attribute, mark, value in words:
                inputs = (self.put("filter" if mark == "=" else "exclude", *inputs, words=(attribute, value)),)
            return inputs[0]
        named = [w for w in words if len(w) == 3]
        if any(w[1] == "!=" for w in named):
            raise self.build_error("only filter takes !=", at)
        pairs_wanted = len(words) if op.pairs else int(op.params[:2] == PAIR)
        if len(named) != pairs_wanted or any(len(w) == 3 for w in words[pairs_wanted:]):
            raise self.build_error(f"expected the words of {op.usage}", at)
        params = [p for w in words for p in ((w[0], w[2]) if len(w) == 3 else w)]
        missing = len(op.params) - len(params)
        if not op.pairs and 0 < missing <= len(op.defaults):
            params += op.defaults[-missing:]
        if (not params) if op.pairs else len(params) != len(op.params):
            raise self.build_error(f"expected the words of {op.usage}", at)
        return self.put(op.name, *inputs, words=tuple(params))


__getattr__ = forward_names(__name__, {"parse": f"{__name__}:parse_program"})

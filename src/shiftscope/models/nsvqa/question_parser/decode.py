"""Decoding: the likeliest token at each step among those the grammar allows, and how often programs are exact."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ....lang.program import Program
from .loss import QuestionParserBatch, find_augmenter
from .network import QuestionParser, use_one_thread
from .tokens import ProgramReader
from .vocabulary import BEGIN, PAD, SPECIAL_TOKENS, pad_rows

BATCH = 256  # texts at a time on a processor
GPU_BATCH = 16384  # a step takes as many launches, and nearly the same time, for few
MOST_WORDS = 1 << 20  # of the texts of a batch, with the padding: long texts need memory
PAUSE = 4  # tokens between two looks at which programs have ended; a GPU would wait at every look


def parse(module: QuestionParser, texts: Sequence[str], batch: int | None = None) -> list[Program]:
    """A well-typed program for each text, the likeliest as far as a greedy search finds it."""
    found: dict[int, Program] = {}
    vocabulary, device = module.config.vocabulary, module.bias.device
    reading = ProgramReader(vocabulary.tokens)
    batch = batch or (BATCH if device.type == "cpu" else GPU_BATCH)
    ids = [vocabulary.encode_text(text) for text in texts]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))  # texts of like length together
    with use_one_thread(device):
        while order:
            some = order[:batch]
            some = some[: max(1, MOST_WORDS // len(ids[some[-1]]))]
            order = order[len(some) :]
            words = torch.from_numpy(pad_rows([ids[i] for i in some])).to(device).long()
            made = decode_greedily(module, words)
            long = (made != PAD).sum(1).tolist()
            rows = (made[:, : max(long)] - SPECIAL_TOKENS).tolist()
            for i, row, end in zip(some, rows, long, strict=True):
                found[i] = reading.read_program(row[:end])
    return [found[i] for i in range(len(texts))]


@torch.inference_mode()
def decode_greedily(module: QuestionParser, words: Tensor, most: int | None = None) -> Tensor:
    """[question, token] the tokens of a program for each question, PAD behind; no more than so many of each."""
    module.eval()
    grammar, longest = module.grammar, module.config.longest_program
    steps = longest if most is None else min(most, longest)
    memory, table = module.encode_words(words), module.tables.embed_tokens()
    state, stack = module.start_state(memory), grammar.start(len(words))
    last = torch.full((len(words),), BEGIN, device=words.device)
    made = torch.full((len(words), steps), PAD, device=words.device)
    rows = torch.arange(len(words), device=words.device)  # those still going
    for at in range(steps):
        scores, state = module.score_tokens(last[:, None], memory, state, table)
        allowed = grammar.mask_allowed(stack, longest - at)
        last = torch.where(allowed, scores[:, 0], float("-inf")).argmax(-1)
        stack = grammar.push(stack, last)
        made[rows, at] = last
        if at % PAUSE == PAUSE - 1:
            going = stack.depth.nonzero().squeeze(1)
            if not len(going):
                break
            if len(going) < 0.75 * len(rows):
                rows, last, stack, memory = rows[going], last[going], stack.take(going), memory.take(going)
                state = tuple(part[going] for part in state)
    return made


Counts = dict[str, tuple[int, int]]  # name -> right, of


VARIED_SPLITS = 8  # of a batch that is varied, by length


@torch.inference_mode()
def measure(module: QuestionParser, batch: QuestionParserBatch) -> Counts:
    """Exact: every token is right, which means that the canonical programs are equal; varied: the same where
    questions have more or less in them, as in training."""
    module.eval()
    counts = {"exact": (_count_exact(module, batch), len(batch))}
    if module.config.enriched or module.config.stripped:
        vary = find_augmenter(module.config, module.bias.device)
        varied = batch.augment(vary, torch.Generator(module.bias.device).manual_seed(0)).sort()
        parts = varied.split(1 + len(varied) // VARIED_SPLITS)
        counts["varied"] = (sum(_count_exact(module, part) for part in parts), len(batch))
    true = batch.tokens[:, 1:]
    counted = true != PAD
    right = (module(batch.words, batch.tokens[:, :-1]).argmax(-1) == true) & counted
    return counts | {"token": (int(right.sum()), int(counted.sum()))}


def _count_exact(module: QuestionParser, batch: QuestionParserBatch) -> int:
    true = batch.tokens[:, 1:]
    wide = true.shape[1] + 1  # a program that is longer than all of these is not theirs, whatever it ends in
    both = (decode_greedily(module, batch.words, wide), true)
    decoded, expected = (torch.nn.functional.pad(t, (0, wide - t.shape[1]), value=PAD) for t in both)
    return int((decoded == expected).all(1).sum())

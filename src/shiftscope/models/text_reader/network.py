"""RoBERTa's encoder over the words of a text, and a head over answers on its first state."""

from typing import Any

import torch
from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch, Answerer
from ..end_to_end.questions import END, PAD, AnswererConfig

LONGEST = 512  # tokens that are read, the first one included


class TextReader(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        from transformers import RobertaConfig, RobertaModel

        super().__init__(config)
        width, dropout = self.size("width"), float(config.sizes["dropout"])
        body: Any = RobertaConfig(
            vocab_size=config.tokens,
            hidden_size=width,
            num_hidden_layers=self.size("layers"),
            num_attention_heads=self.size("heads"),
            intermediate_size=self.size("inside"),
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            max_position_embeddings=LONGEST + PAD + 2,
            type_vocab_size=1,
            pad_token_id=PAD,
            bos_token_id=END,
            eos_token_id=END,
        )
        kind: Any = RobertaModel
        self.body = kind(body, add_pooling_layer=False)
        self.answer = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Dropout(dropout),
            nn.Linear(width, len(config.answers)),
        )

    def forward(self, batch: AnswerBatch) -> Tensor:
        first = torch.full_like(batch.words[:, :1], END)
        words = torch.cat([first, batch.words], 1)[:, :LONGEST]
        states = self.body(input_ids=words, attention_mask=(words != PAD).long()).last_hidden_state
        found: Tensor = self.answer(states[:, 0])
        return found

"""VisualBERT's embeddings and layers, of transformers, over the words of a question and the regions of an image."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..end_to_end.questions import PAD, AnswererConfig
from ..region_vqa.network import ALIGNED
from ..several_images.network import ABSENT, LONGEST, EncodedPairs, ImageSetAnswerer


class VisualBertAnswerer(ImageSetAnswerer):
    def __init__(self, config: AnswererConfig) -> None:
        from transformers import VisualBertConfig, VisualBertModel

        super().__init__(config)
        width, dropout = self.size("width"), float(config.sizes["dropout"])
        given: dict[str, Any] = {
            "vocab_size": config.tokens,
            "hidden_size": width,
            "visual_embedding_dim": width,
            "num_hidden_layers": self.size("layers"),
            "num_attention_heads": self.size("heads"),
            "intermediate_size": self.size("inside"),
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
            "max_position_embeddings": LONGEST,
            "pad_token_id": PAD,
        }
        kind: Any = VisualBertModel
        self.body = kind(VisualBertConfig(**given), add_pooling_layer=False)

    @property
    def word_table(self) -> nn.Parameter:
        table: nn.Parameter = self.body.embeddings.word_embeddings.weight
        return table

    def encode_pairs(
        self, words: Tensor, read: Tensor, seen: Tensor, there: Tensor, *, each: bool = False
    ) -> EncodedPairs:
        # Its parts and not the whole model, which looks at its masks on the host: a step could not be captured.
        more = -(words.shape[1] + seen.shape[1]) % ALIGNED if seen.is_cuda else 0  # regions that are not there
        absent = torch.cat([read, F.pad(there, (0, more), value=ABSENT)], -1)
        states = self.body.embeddings(input_ids=words, visual_embeds=F.pad(seen, (0, 0, 0, more)))
        *layers, last = self.body.encoder.layer
        for layer in layers:
            states = self.run_layer(layer, states, states, absent)
        if not each:  # what the last makes of others than the first is read by nobody
            first = self.run_layer(last, states[:, :1], states, absent)
            return EncodedPairs(first[:, 0], first)
        found = self.run_layer(last, states, states, absent)
        tokens, end = words.shape[1], words.shape[1] + seen.shape[1]
        return EncodedPairs(found[:, 0], found[:, :tokens], found[:, tokens:end])

    def run_layer(self, layer: Any, asking: Tensor, states: Tensor, absent: Tensor) -> Tensor:
        """What a layer makes of those that ask, of [row, token, width] states; its attention in one kernel."""
        attention = layer.attention.self

        def split_heads(given: Tensor) -> Tensor:
            return given.reshape(*given.shape[:2], attention.num_attention_heads, -1).transpose(1, 2)

        found = F.scaled_dot_product_attention(
            split_heads(attention.query(asking)),
            split_heads(attention.key(states)),
            split_heads(attention.value(states)),
            absent,
            attention.dropout.p if layer.training else 0.0,
        )
        heard = layer.attention.output(found.transpose(1, 2).flatten(2), asking)
        made: Tensor = layer.feed_forward_chunk(heard)
        return made

"""VisualBERT's embeddings and layers, of transformers, over the words of a question and the regions of an image."""

from typing import Any

import torch
from torch import Tensor, nn

from ..end_to_end.questions import PAD, AnswererConfig
from ..several_images.layers import mask_absent
from ..several_images.network import LONGEST, EncodedPairs, ImageSetAnswerer, join_streams, pair_up
from .training import PRODUCT


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
        self.joins = bool(config.sizes.get(PRODUCT))

    @property
    def word_table(self) -> nn.Parameter:
        table: nn.Parameter = self.body.embeddings.word_embeddings.weight
        return table

    def encode_pairs(self, words: Tensor, seen: Tensor, there: Tensor, *, each: bool = False) -> EncodedPairs:
        # Its parts and not the whole model, which looks at its masks on the host: a step could not be captured.
        states = self.embed(words, seen)
        absent = torch.cat([mask_absent(pair_up(words != PAD, len(seen))), there], -1)
        *layers, last = self.body.encoder.layer
        for layer in layers:
            states = self.run_layer(layer, states, states, absent)
        tokens = words.shape[1]
        if each:
            found = self.run_layer(last, states, states, absent)
            told, sight = found[:, :tokens], found[:, tokens:]
        else:  # what the last makes of other words is read by nobody, and what of regions only where they are joined
            read = torch.cat([states[:, :1], states[:, tokens:]], 1) if self.joins else states[:, :1]
            found = self.run_layer(last, read, states, absent)
            told, sight = found[:, :1], found[:, 1:]
        first = told[:, 0]
        return EncodedPairs(join_streams(first, sight, there) if self.joins else first, told, sight)

    def embed(self, words: Tensor, seen: Tensor) -> Tensor:
        """[pair, token and region, width] as the embeddings of transformers have it; words once for each question."""
        table = self.body.embeddings
        places, kinds = table.position_embeddings.weight[: words.shape[1]], table.token_type_embeddings.weight[0]
        text = table.LayerNorm(table.word_embeddings(words) + places + kinds)
        shown = table.visual_projection(seen)
        place, kind = table.visual_position_embeddings.weight[0], table.visual_token_type_embeddings.weight[1]
        sight = table.LayerNorm(shown + place + kind).to(shown.dtype)
        states: Tensor = table.dropout(torch.cat([pair_up(text.to(shown.dtype), len(seen)), sight], 1))
        return states

"""VisualBERT's embeddings and layers, of transformers, over the words of a question and the regions of an image."""

from typing import Any

import torch
from torch import Tensor

from ..end_to_end.questions import PAD, AnswererConfig
from ..several_images.network import LONGEST, ImageSetAnswerer


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

    def encode_pairs(self, words: Tensor, read: Tensor, seen: Tensor, there: Tensor) -> Tensor:
        # Its parts and not the whole model, which looks at its masks on the host: a step could not be captured.
        states = self.body.embeddings(input_ids=words, visual_embeds=seen)
        found: Tensor = self.body.encoder(states, torch.cat([read, there], -1)).last_hidden_state
        return found[:, 0]

"""Pretrained: a T5, BART or GPT-2 of transformers, by folder or name, that a question parser begins as.

Its layers are taken as they are. Words of questions and tokens of programs remain the vocabulary that training
learns; each begins as the mean of the pieces that the pretrained tokenizer makes of it.
"""

from __future__ import annotations

import re
from typing import Any

from ...errors import UserError
from ...trained_folder import LONGEST_ERROR
from ...trust_remote_code import load_options, refuse_untrusted, weight_load_options
from .network import FIRST, MARKS, SequenceParser, get_network_class
from .training import PRETRAINED

OWN_FIELDS = ("architectures", "dtype", "model_type", "torch_dtype", "transformers_version", "vocab_size")
POSITIONS = {"bart": "max_position_embeddings", "gpt2": "n_positions"}  # T5 has none of its own
_SIGNS = re.compile(r"[_=#]+")


def read_architecture(parser: str, name: str) -> dict[str, Any]:
    """The fields of a pretrained configuration that a network is built by, without its vocabulary and marks."""
    from transformers import AutoConfig

    refuse_untrusted(name, "choose another")
    try:
        config = AutoConfig.from_pretrained(name, **load_options())
        if config.model_type != parser:
            raise ValueError(f"it is a {config.model_type}")
    except Exception as error:  # whatever transformers says of a name, a connection or a kind of model
        raise _refuse(parser, name, error) from None
    fields = type(config)().to_dict().keys() - set(OWN_FIELDS)
    kept = {field: value for field, value in config.to_dict().items() if field in fields}
    return {field: value for field, value in sorted(kept.items()) if not field.endswith("_token_id")}


def check_length(parser: str, architecture: dict[str, Any], longest: int) -> None:
    """Refuse questions and programs that are longer than a pretrained network's positions."""
    places = architecture.get(POSITIONS.get(parser, ""), longest)
    if places < longest:
        raise UserError(f"the pretrained {parser} reads {places:,} tokens, and the questions take up to {longest:,}")


def copy_pretrained(module: SequenceParser, name: str) -> None:
    """Give a new parser the layers of a pretrained network, and its words the mean of their pieces."""
    import torch
    from transformers import AutoTokenizer

    parser, network = module.config.parser, module.network
    try:
        given: Any = get_network_class(parser).from_pretrained(name, **weight_load_options())
        tokenizer: Any = AutoTokenizer.from_pretrained(name, **load_options())
    except Exception as error:
        raise _refuse(parser, name, error) from None
    known = given.state_dict()
    sides = [(one, other) for one, other in _pair_embeddings(network, given) if one.shape[1:] == other.shape[1:]]
    rows = {tensor.data_ptr() for tensor, _ in sides}
    with torch.no_grad():
        for key, tensor in network.state_dict().items():
            if tensor.data_ptr() not in rows and key in known and known[key].shape == tensor.shape:
                tensor.copy_(known[key])
        marks = {k: getattr(tokenizer, f"{mark}_token_id", None) for mark, k in MARKS.items()}
        pieces = {k: [number] for k, number in marks.items() if number is not None}
        for k, word in enumerate(module.config.words, FIRST):
            said = _SIGNS.sub(" ", word).strip() or word
            pieces[k] = tokenizer(f" {said}", add_special_tokens=False).input_ids
        for mine, theirs in sides:
            for k, numbers in pieces.items():
                if numbers:
                    mine[k] = theirs[numbers].mean(0)


def _pair_embeddings(network: Any, given: Any) -> list[tuple[Any, Any]]:
    """What words are read by and written by, ours and theirs; the same where the two are tied."""
    return [
        (network.get_input_embeddings().weight, given.get_input_embeddings().weight),
        (network.get_output_embeddings().weight, given.get_output_embeddings().weight),
    ]


def _refuse(parser: str, name: str, error: Exception) -> UserError:
    why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
    return UserError(f"{PRETRAINED}={name}: no {parser} can be loaded there ({why})")

"""A Llava of a few thousand weights: CLIP's eye on 16×16 pixels, one layer of Llama, a vocabulary of words."""

WORDS = "yes no red gray blue cube sphere how many cubes are there ? is anything what color it answer with one word or number and nothing else . 0 1 2 3"
CHAT = "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}{% endif %} {% endfor %}{% endfor %}"


def save_tiny_llava(folder):
    """Made from its configuration, untrained, and saved as any model of the hub is."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<pad>", "<s>", "</s>", "<image>"]
    words.train_from_iterator([WORDS], trainers.WordLevelTrainer(special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        additional_special_tokens=["<image>"],
    )  # fmt: skip
    eye = CLIPImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    processor = LlavaProcessor(
        image_processor=eye, tokenizer=tokenizer, patch_size=8, chat_template=CHAT,
        vision_feature_select_strategy="default", num_additional_image_tokens=1,
    )  # fmt: skip
    small = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**small, num_hidden_layers=2, image_size=16, patch_size=8, projection_dim=16),
        text_config=LlamaConfig(
            **small, vocab_size=len(tokenizer), num_hidden_layers=1, num_key_value_heads=2, pad_token_id=1, bos_token_id=2, eos_token_id=3
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    torch.manual_seed(0)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)

"""Tiny models that write texts, random, saved by transformers itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.embedding.checkpoints import SIDE, seeded
from tests.models.tiny_text_models import SENTENCES, byte_pairs, livelier

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def _tokenizer(*marks: str) -> Any:
    from transformers import PreTrainedTokenizerFast

    cut = byte_pairs(SENTENCES, 400, ["<pad>", "<s>", "</s>", "<unk>"])
    cut.add_special_tokens(list(marks))
    return PreTrainedTokenizerFast(
        tokenizer_object=cut,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=4096,
    )


def save_llama(folder: Path) -> str:
    """Save a model that reads and writes texts."""
    import transformers

    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    with seeded(7):
        config = transformers.LlamaConfig(**_TEXT, vocab_size=len(tokenizer))
        network = transformers.LlamaForCausalLM(config)
        livelier(network, 0.2)
    network.save_pretrained(folder)
    return str(folder)


def save_llava(folder: Path) -> str:
    """Save a model that sees one picture or more, and writes."""
    import transformers
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokenizer = _tokenizer("<image>")
    pictures = CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    with seeded(8):
        config = transformers.LlavaConfig(
            vision_config={
                "model_type": "clip_vision_model",
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "image_size": SIDE,
                "patch_size": 8,
            },
            text_config={"model_type": "llama", **_TEXT, "vocab_size": len(tokenizer)},
            image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
            vision_feature_layer=-1,
        )
        network = transformers.LlavaForConditionalGeneration(config)
        livelier(network, 0.2)
    tokenizer.save_pretrained(folder)
    pictures.save_pretrained(folder)
    network.save_pretrained(folder)
    transformers.LlavaProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    return str(folder)


def save_qwen(folder: Path) -> str:
    """Save a model whose processor prepares films as well."""
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    tokenizer = _tokenizer(*marks)
    ids = dict(zip(marks, tokenizer.convert_tokens_to_ids(list(marks)), strict=True))
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3]}
    with seeded(9):
        config = transformers.Qwen2VLConfig(
            text_config={**_TEXT, "vocab_size": len(tokenizer), "rope_parameters": rope},
            vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2},
            image_token_id=ids["<|image_pad|>"],
            video_token_id=ids["<|video_pad|>"],
            vision_start_token_id=ids["<|vision_start|>"],
            vision_end_token_id=ids["<|vision_end|>"],
        )
        network = transformers.Qwen2VLForConditionalGeneration(config)
        livelier(network, 0.2)
    tokenizer.save_pretrained(folder)
    Qwen2VLImageProcessorPil(min_pixels=56 * 56, max_pixels=56 * 56).save_pretrained(folder)
    network.save_pretrained(folder)
    return str(folder)

"""Tiny networks of the kinds that Socratis used, saved as published checkpoints are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from affectlab.models._torch import quiet_transformers
from affectlab.recipes._socratis_pairs import SIDE

__all__ = ["WIDTH", "new_bart", "new_blip2", "new_clip", "save_network"]

WIDTH = 48
_LAYERS, _HEADS, _PATCH = 2, 4, 8
_WORDS = 800
_QUERIES = 4
_CLIP_TOKENS = 128
"""More than the 77 of CLIP, as words that the tiny one does not know are spelt."""
_RARE = -20.0
"""Score of a letter: no word that is known is spelt."""


def save_network(folder: Path, *parts: Any) -> str:
    """Save a network and what prepares its inputs."""
    with quiet_transformers():
        for part in parts:
            part.save_pretrained(folder)
    return str(folder)


def new_blip2(texts: Sequence[str]) -> tuple[Any, Any]:
    """Give a BLIP-2 with a T5 inside, and its processor, whose tokens are pieces of the texts."""
    from transformers import (
        Blip2Config,
        Blip2ForConditionalGeneration,
        Blip2QFormerConfig,
    )
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil

    # Some names are made as the library is imported; type checkers do not see them.
    kinds: Any = import_module("transformers")
    words = kinds.T5TokenizerFast(vocab=_pieces(texts), extra_ids=4, model_max_length=512)
    processor = kinds.Blip2Processor(
        BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}), words, _QUERIES
    )
    writer = kinds.T5Config(
        vocab_size=len(words) + 3,
        d_model=WIDTH,
        d_kv=WIDTH // _HEADS,
        d_ff=2 * WIDTH,
        num_layers=_LAYERS,
        num_heads=_HEADS,
        dropout_rate=0.0,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        relative_attention_num_buckets=32,
        relative_attention_max_distance=64,
    )
    former = Blip2QFormerConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=_HEADS,
        intermediate_size=2 * WIDTH,
        encoder_hidden_size=WIDTH,
        cross_attention_frequency=1,
    )
    config = Blip2Config(
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 2 * WIDTH,
            "num_hidden_layers": _LAYERS,
            "num_attention_heads": _HEADS,
            "image_size": SIDE,
            "patch_size": _PATCH,
        },
        qformer_config=former.to_dict(),
        text_config=writer.to_dict() | {"model_type": "t5"},
        num_query_tokens=_QUERIES,
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )
    return Blip2ForConditionalGeneration(config), processor


def new_bart(texts: Sequence[str]) -> tuple[Any, Any]:
    """Give a BART, and its tokenizer."""
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    cut = _byte_pairs(texts, specials, ("</s>", 2), ("<s>", 0), lower=False)
    tokenizer: Any = PreTrainedTokenizerFast
    words = tokenizer(
        tokenizer_object=cut,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=128,
    )
    config = BartConfig(
        vocab_size=cut.get_vocab_size(),
        d_model=WIDTH,
        dropout=0.0,
        encoder_layers=_LAYERS,
        decoder_layers=_LAYERS,
        encoder_attention_heads=_HEADS,
        decoder_attention_heads=_HEADS,
        encoder_ffn_dim=2 * WIDTH,
        decoder_ffn_dim=2 * WIDTH,
        max_position_embeddings=128,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
    )
    return BartForConditionalGeneration(config), words


def new_clip(texts: Sequence[str]) -> tuple[Any, Any, Any]:
    """Give a CLIP, its tokenizer, and what prepares its images."""
    from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    start, end = "<|startoftext|>", "<|endoftext|>"
    cut = _byte_pairs(texts, [start, end], (end, 1), (start, 0), lower=True)
    tokenizer: Any = PreTrainedTokenizerFast
    words = tokenizer(
        tokenizer_object=cut,
        bos_token=start,
        eos_token=end,
        pad_token=end,
        unk_token=end,
        model_max_length=_CLIP_TOKENS,
    )
    images = CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    shared = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "projection_dim": WIDTH // 2,
    }
    config = CLIPConfig(
        projection_dim=WIDTH // 2,
        text_config=shared
        | {
            "vocab_size": cut.get_vocab_size(),
            "max_position_embeddings": _CLIP_TOKENS,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "pad_token_id": 1,
        },
        vision_config=shared | {"image_size": SIDE, "patch_size": _PATCH},
    )
    return CLIPModel(config), words, images


def _pieces(texts: Sequence[str]) -> list[tuple[str, float]]:
    """Give whole words with their log frequencies, and letters, of which all else is made."""
    counts = Counter(f"\u2581{word}" for text in texts for word in re.findall(r"\w+", text))
    total = counts.total()
    letters = sorted({letter for text in texts for letter in text if not letter.isspace()})
    found = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", _RARE)]
    found += [(word, math.log(n / total)) for word, n in counts.most_common(_WORDS)]
    known = {word for word, _ in found}
    return found + [(one, _RARE) for one in ("\u2581", *letters) if one not in known]


def _byte_pairs(
    texts: Sequence[str],
    specials: list[str],
    end: tuple[str, int],
    start: tuple[str, int],
    *,
    lower: bool,
) -> Any:
    """Train byte pairs on texts; every byte is known, so that every text can be read."""
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    cut = Tokenizer(models.BPE())
    if lower:
        cut.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    cut.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_WORDS,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    cut.train_from_iterator(list(texts), trainer)
    cut.post_processor = processors.RobertaProcessing(
        end, start, trim_offsets=False, add_prefix_space=False
    )
    return cut

"""Tiny T5 and BLIP-2 with random weights and real tokenizers, saved as published ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from affectlab.models.devices import private_seed, quiet_transformers
from affectlab.models.reactions.items import ReactionItem

QUERIES = 4
SIDE = 16
SENTENCES = (
    "Question: Why does a person feel sad after seeing this image and reading the news caption",
    "Answer: They would feel hope because someone is standing up for the people.",
    "Polar bear cubs were last raised in the UK in the early 1990s.",
    "A person feels affection towards this adorable animal, and happy for the baby.",
    "The storm has hit the coast; homes are lost and nobody knows why.",
)


def tokenizer() -> Any:
    """A fast T5 tokenizer, of pieces trained on a few sentences, that knows all their letters."""
    from tokenizers import SentencePieceUnigramTokenizer
    from transformers import T5TokenizerFast

    trained = SentencePieceUnigramTokenizer()
    trained.train_from_iterator(
        [*SENTENCES, " ".join("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")],
        vocab_size=160,
        special_tokens=["<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    import json

    vocabulary = json.loads(trained.to_str())["model"]["vocab"]
    return T5TokenizerFast(
        vocab=[(piece, score) for piece, score in vocabulary], extra_ids=4, model_max_length=512
    )


def _t5_config(words: int) -> Any:
    from transformers import T5Config

    return T5Config(
        vocab_size=words,
        d_model=24,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=3,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=32,
    )


def _lively(network: Any, writer: Any) -> None:
    """Widen the weights, so that prompts differ in what is written, and some answers end.

    As in FLAN-T5, the matrix that gives the words is not the one that reads them.
    """
    import torch

    writer.lm_head.weight = torch.nn.Parameter(torch.empty_like(writer.lm_head.weight))
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() > 1 and "layer_norm" not in name:
                weight.normal_(0, 0.25)


def save_t5(folder: Path, seed: int = 0) -> Path:
    """Save a T5 with its tokenizer."""
    from transformers import T5ForConditionalGeneration

    words = tokenizer()
    with private_seed(seed), quiet_transformers():
        network = T5ForConditionalGeneration(_t5_config(len(words) + 3))
        _lively(network, network)
        network.save_pretrained(folder)
        words.save_pretrained(folder)
    return folder


def save_blip2(folder: Path, seed: int = 4) -> Path:
    """Save a BLIP-2 whose language model is a T5, with its processor."""
    from transformers import (
        Blip2Config,
        Blip2ForConditionalGeneration,
        Blip2Processor,
        Blip2QFormerConfig,
        Blip2VisionConfig,
    )
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil

    words = tokenizer()
    with private_seed(seed), quiet_transformers():
        processor = Blip2Processor(
            BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}), words, QUERIES
        )
        vision = Blip2VisionConfig(
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            image_size=SIDE,
            patch_size=8,
        )
        former = Blip2QFormerConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            encoder_hidden_size=16,
        )
        config = Blip2Config(
            vision_config=vision.to_dict(),
            qformer_config=former.to_dict(),
            text_config=_t5_config(len(words) + 3).to_dict() | {"model_type": "t5"},
            num_query_tokens=QUERIES,
            image_token_index=words.convert_tokens_to_ids("<image>"),
        )
        network = Blip2ForConditionalGeneration(config)
        _lively(network, network.language_model)
        network.save_pretrained(folder)
        processor.save_pretrained(folder)
    return folder


CAPTIONS = (
    "Polar bear cubs were last raised in the UK in the early 1990s",
    "Storm hits coast",
    "The oldest woman in the valley turns 108, and has invited everyone who knows her",
    "A margarita available soon in powdered form",
    "Cup won",
)
EMOTIONS = ("sad", "Hope", "happy")


def save_pairs(folder: Path, n: int = 5) -> list[ReactionItem]:
    """Save images of noise, and give pairs with up to three emotions each."""
    rng = np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for k in range(n):
        place = folder / f"pair{k}.png"
        noise = rng.integers(0, 256, (20 + k, 24, 3), dtype=np.uint8)
        Image.fromarray(noise).save(place)
        caption = CAPTIONS[k % len(CAPTIONS)] + ("" if k < len(CAPTIONS) else f" ({k})")
        items += [
            ReactionItem(f"pair{k}", caption, emotion, place)
            for emotion in EMOTIONS[: 1 + k % len(EMOTIONS)]
        ]
    return items

"""Tiny checkpoints of many architectures with random weights, saved as published ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..text.tiny import save_bert  # noqa: TID252

SIDE = 32
WORDS = ("happy", "sad", "so", "am", "i", "the", "train", "late")
VIT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "image_size": SIDE,
    "patch_size": 8,
}
_TEXT = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 16,
    "vocab_size": 64,
}


@contextmanager
def seeded(seed: int = 0) -> Iterator[None]:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def pictures(n: int = 5, seed: int = 0, side: int = 48) -> list[Image.Image]:
    """Random pictures of several sizes."""
    rng = np.random.default_rng(seed)
    return [
        Image.fromarray(rng.integers(0, 256, (side + 4 * k, side + 9 * k, 3), dtype=np.uint8))
        for k in range(n)
    ]


def save_tokenizer(folder: Path) -> None:
    """Save a tokenizer of whole words that ends texts with a mark, as CLIP's does."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    names = ["<pad>", "<unk>", "<s>", "</s>", *WORDS]
    cut = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, "<unk>"))
    cut.pre_tokenizer = pre_tokenizers.Whitespace()
    cut.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=cut, pad_token="<pad>", unk_token="<unk>", eos_token="</s>"
    ).save_pretrained(folder)


def _sized(kind: str, **more: Any) -> Any:
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    return ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}, **more)


def _two_towers(name: str) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        import transformers

        if name == "Siglip2":
            from transformers.models.siglip2.image_processing_pil_siglip2 import (
                Siglip2ImageProcessorPil,
            )

            shape = {**VIT, "num_patches": 16}
            shape.pop("image_size")
            processor: Any = Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16)
        else:
            shape, processor = dict(VIT), _sized(name)
        text = {**_TEXT, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
        sizes: dict[str, Any] = {"vision_config": shape, "text_config": text}
        if name == "CLIP":
            sizes["projection_dim"] = 20
            shape["projection_dim"] = text["projection_dim"] = 20
        else:
            text["projection_size"] = 24
        config = getattr(transformers, f"{name}Config")(**sizes)
        return getattr(transformers, f"{name}Model")(config), processor

    return make


def _of_images(name: str, **sizes: Any) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        import transformers

        config = getattr(transformers, f"{name}Config")(**(sizes or VIT))
        return getattr(transformers, f"{name}Model")(config), _sized(name)

    return make


MAKERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "clip": _two_towers("CLIP"),
    "siglip": _two_towers("Siglip"),
    "siglip2": _two_towers("Siglip2"),
    "vit": _of_images("ViT"),
    "dinov2": _of_images("Dinov2"),
    "vit_mae": _of_images("ViTMAE"),
    "resnet": _of_images(
        "ResNet", embedding_size=8, hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1]
    ),
    "convnext": _of_images("ConvNext", hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1]),
}
TWO_TOWERS = ("clip", "siglip", "siglip2")


def save_checkpoint(name: str, folder: Path) -> Path:
    """Save a checkpoint with how images are prepared, and a tokenizer where it reads texts."""
    if name == "bert":
        return Path(save_bert(folder))
    with seeded():
        network, processor = MAKERS[name]()
    network.save_pretrained(folder)
    processor.save_pretrained(folder)
    if name in TWO_TOWERS:
        save_tokenizer(folder)
    return folder

"""Tiny checkpoints of each kind that others publish, random, saved by transformers itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.embedding.checkpoints import MAKERS, SIDE, VIT, save_tokenizer, seeded
from tests.models.tiny_text_models import livelier

FER = ("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral")
TEXTS = ("so happy", "i am so sad", "the train am i late so so so", "late")


def _labels(names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id2label": dict(enumerate(names)),
        "label2id": {name: at for at, name in enumerate(names)},
    }


def save_text(
    folder: Path, names: tuple[str, ...], problem: str | None = None, kind: str = "Roberta"
) -> str:
    """Save a classifier of texts."""
    import transformers

    save_tokenizer(folder)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=12,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=40,
        max_position_embeddings=16,
        pad_token_id=0,
        type_vocab_size=2,
        problem_type=problem,
        **_labels(names),
    )
    with seeded(3):
        network = getattr(transformers, f"{kind}ForSequenceClassification")(config)
        livelier(network, 0.3)
    network.save_pretrained(folder)
    return str(folder)


def save_image(folder: Path, names: tuple[str, ...], problem: str | None = None) -> str:
    """Save a ViT classifier of pictures."""
    import transformers
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    config = transformers.ViTConfig(**VIT, problem_type=problem, **_labels(names))
    with seeded(4):
        network = transformers.ViTForImageClassification(config)
        livelier(network, 0.3)
    network.save_pretrained(folder)
    return str(folder)


def save_two_towers(folder: Path, kind: str) -> str:
    """Save CLIP or SigLIP."""
    import transformers

    network, processor = MAKERS[kind]()
    with seeded(5):
        if kind != "clip":
            # Towers of one width, as the published ones are, which are compared with each other.
            config = network.config
            config.text_config.projection_size = config.vision_config.hidden_size
            network = getattr(transformers, type(network).__name__)(config)
        livelier(network, 0.3)
    save_tokenizer(folder)
    processor.save_pretrained(folder)
    network.save_pretrained(folder)
    return str(folder)


def save_sound(folder: Path, names: tuple[str, ...]) -> str:
    """Save a wav2vec2 classifier of sounds."""
    import transformers

    transformers.Wav2Vec2FeatureExtractor(sampling_rate=16_000).save_pretrained(folder)
    config = transformers.Wav2Vec2Config(
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        conv_dim=(8, 8),
        conv_stride=(5, 4),
        conv_kernel=(10, 8),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        classifier_proj_size=12,
        **_labels(names),
    )
    with seeded(6):
        network = transformers.Wav2Vec2ForSequenceClassification(config)
        livelier(network, 0.3)
    network.save_pretrained(folder)
    return str(folder)

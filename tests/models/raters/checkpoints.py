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


SPECIALS = {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}
OF_TEXT: dict[str, dict[str, Any]] = {
    "Roberta": {"type_vocab_size": 2},
    "Bert": {"type_vocab_size": 2},
    "XLMRoberta": {},
    "Electra": {"embedding_size": 24},
    "Albert": {"embedding_size": 16},
    "DebertaV2": {"type_vocab_size": 0},
    "ModernBert": {**SPECIALS, "local_attention": 8},
    "DistilBert": {"dim": 24, "n_layers": 2, "n_heads": 2, "hidden_dim": 40},
    "Llama": SPECIALS,
}
"""What each kind has beside the sizes that all have."""


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
        problem_type=problem,
        **OF_TEXT[kind],
        **_labels(names),
    )
    with seeded(3):
        network = getattr(transformers, f"{kind}ForSequenceClassification")(config)
        livelier(network, 0.3)
    network.save_pretrained(folder)
    return str(folder)


STAGES: dict[str, Any] = {"hidden_sizes": [8, 12, 16, 24], "depths": [1, 1, 1, 1]}
SWIN: dict[str, Any] = {
    "image_size": SIDE,
    "patch_size": 4,
    "embed_dim": 8,
    "window_size": 4,
    "depths": [1, 1],
    "num_heads": [2, 2],
}
OF_IMAGES: dict[str, dict[str, Any]] = {
    "ViT": VIT,
    "Beit": VIT,
    "DeiT": VIT,
    "Dinov2": VIT,
    "Siglip": {"vision_config": VIT},
    "CLIP": {"vision_config": VIT, "projection_dim": 16},
    "Swin": SWIN,
    "Swinv2": SWIN,
    "ConvNext": STAGES,
    "ConvNextV2": STAGES,
    "ResNet": {"embedding_size": 8, **STAGES},
    "EfficientNet": {
        "image_size": SIDE,
        "width_coefficient": 0.25,
        "depth_coefficient": 0.1,
        "hidden_dim": 320,
    },
}


def save_image(
    folder: Path, names: tuple[str, ...], problem: str | None = None, kind: str = "ViT"
) -> str:
    """Save a classifier of pictures."""
    import transformers
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    config = getattr(transformers, f"{kind}Config")(
        **OF_IMAGES[kind], problem_type=problem, **_labels(names)
    )
    with seeded(4):
        network = getattr(transformers, f"{kind}ForImageClassification")(config)
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


_LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
WAVES: dict[str, Any] = {
    "hidden_size": 24,
    **_LAYERS,
    "classifier_proj_size": 12,
    "conv_dim": (8, 8),
    "conv_stride": (5, 4),
    "conv_kernel": (10, 8),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
}
"""Sizes of networks that hear samples."""
OF_SOUND: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Wav2Vec2": ("Wav2Vec2", {}, WAVES),
    "Hubert": ("Wav2Vec2", {}, {**WAVES, "use_weighted_layer_sum": True}),
    "WavLM": ("Wav2Vec2", {}, WAVES),
    "Wav2Vec2Bert": (
        "SeamlessM4T",
        {"num_mel_bins": 8},
        {"hidden_size": 24, **_LAYERS, "feature_projection_input_dim": 16},
    ),
    "AST": (
        "AST",
        {"max_length": 60, "num_mel_bins": 16},
        {"hidden_size": 24, **_LAYERS, "max_length": 60, "num_mel_bins": 16},
    ),
    "Whisper": (
        "Whisper",
        {"feature_size": 8, "chunk_length": 1},
        {
            "num_mel_bins": 8,
            "d_model": 24,
            "encoder_layers": 2,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32,
            "max_source_positions": 50,
            "vocab_size": 32,
            "pad_token_id": 0,
            "classifier_proj_size": 12,
        },
    ),
}
"""How each kind hears, with settings of that and of the network."""


def save_speech(
    folder: Path,
    names: tuple[str, ...],
    last: str = "out_proj",
    kind: str = "Wav2Vec2",
    **more: Any,
) -> tuple[str, dict[str, Any]]:
    """Save a classifier of the class that circulates outside transformers; gives its head, too."""
    import json

    import torch
    import transformers
    from safetensors.torch import save_file

    transformers.Wav2Vec2FeatureExtractor(sampling_rate=16_000).save_pretrained(folder)
    config = getattr(transformers, f"{kind}Config")(**WAVES, **_labels(names))
    with seeded(7):
        network = getattr(transformers, f"{kind}Model")(config)
        livelier(network, 0.3)
        head = {
            "classifier.dense.weight": torch.randn(24, 24),
            "classifier.dense.bias": torch.randn(24),
            f"classifier.{last}.weight": torch.randn(len(names), 24),
            f"classifier.{last}.bias": torch.randn(len(names)),
        }
    # As older versions of torch have named what parametrizes a weight.
    old = {"parametrizations.weight.original0": "weight_g"}
    old["parametrizations.weight.original1"] = "weight_v"
    state = dict(head)
    for name, part in network.state_dict().items():
        for new, before in old.items():
            name = name.replace(new, before)
        state[f"{network.base_model_prefix}.{name}"] = part.contiguous()
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    settings = config.to_dict() | {"architectures": [f"{kind}ForSpeechClassification"]} | more
    (folder / "config.json").write_text(json.dumps(settings))
    return str(folder), head


def save_sound(folder: Path, names: tuple[str, ...], kind: str = "Wav2Vec2") -> str:
    """Save a classifier of sounds."""
    import transformers

    ears, hearing, sizes = OF_SOUND[kind]
    made = getattr(transformers, f"{ears}FeatureExtractor")(sampling_rate=16_000, **hearing)
    made.save_pretrained(folder)
    config = getattr(transformers, f"{kind}Config")(**sizes, **_labels(names))
    task = "Audio" if kind in ("AST", "Whisper") else "Sequence"
    with seeded(6):
        network = getattr(transformers, f"{kind}For{task}Classification")(config)
        livelier(network, 0.3)
    network.save_pretrained(folder)
    return str(folder)

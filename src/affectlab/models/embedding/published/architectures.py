"""Networks for weights under their authors' names: names and shapes become a network with settings.

Sizes are read from the shapes of the weights; every weight must be known and used, or belong to
another part of the published model. Attention heads alone show in no weight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any, TypeAlias

import torch
import transformers
from torch import Tensor, nn

from affectlab.core.errors import InputError
from affectlab.models.embedding.published.clip_resnet import ClipResNet, ClipResNetConfig

__all__ = ["NETWORKS", "build_network"]

_New: TypeAlias = str | Callable[[re.Match[str]], str]
_Names: TypeAlias = Mapping[str, _New]


@dataclass(frozen=True)
class _Architecture:
    """How the weights of a network are called elsewhere, and what network they are."""

    names: _Names
    """From patterns of foreign names to ours; ``{}`` is one of q, k and v, which are one weight
    there."""
    rest: str
    """Pattern of names that belong to other parts of the published model."""
    config: Callable[[_Shapes, int | None], Any]
    make: Callable[[Any], nn.Module]
    transposed: tuple[str, ...] = ()
    """Matrices that have their axes the other way round."""


@dataclass(frozen=True)
class _Shapes:
    """Shapes of weights under our names; one that is missing, or has other axes, is refused."""

    weights: Mapping[str, Tensor]
    file: str

    def of(self, name: str, ndim: int) -> tuple[int, ...]:
        """Give the shape of a weight with so many axes."""
        found = self.weights.get(name)
        if found is None or found.ndim != ndim or not found.numel():
            said = "has no weight" if found is None else f"has the shape {tuple(found.shape)} for"
            raise InputError(f"{self.file} {said} what becomes {name}; expected all of an encoder")
        return tuple(found.shape)

    def depth(self, pattern: str) -> int:
        """Count the blocks whose names begin so, and refuse gaps."""
        numbers = {int(m[1]) for name in self.weights if (m := re.match(pattern, name))}
        if not numbers or numbers != set(range(len(numbers))):
            raise InputError(
                f"{self.file}: blocks {sorted(numbers)[:5]}; expected 0, 1, 2 and so on"
            )
        return len(numbers)

    def side(self, places: int, pixels: int) -> int:
        """Give the side of pictures with so many places beside the one for all, in pixels."""
        across = isqrt(max(places - 1, 0))
        if across < 1 or across * across != places - 1:
            raise InputError(
                f"{self.file}: positions of {places - 1} patches; expected a square, and one more"
            )
        return across * pixels

    def heads(self, width: int, heads: int | None) -> int:
        """Give the number of attention heads: in published networks 64 wide, or 16 in large ones.

        ViT-H, -g and -G have 16 heads of 80, 88 and 104 numbers.
        """
        found = heads or (16 if width in (1280, 1408, 1664) else max(width // 64, 1))
        if width % found:
            raise InputError(
                f"{self.file}: width {width} and {found} heads; expected a divisor of the width"
            )
        return found


def build_network(
    kind: str, weights: Mapping[str, Tensor], file: str, heads: int | None = None
) -> Any:
    """Make a network of published weights, in single precision and without gradients.

    Parameters
    ----------
    kind
        One of :data:`NETWORKS`.
    heads
        Attention heads, where there are others than in published sizes.

    Returns
    -------
    torch.nn.Module
        With ``config``, as networks of transformers have it.

    Raises
    ------
    InputError
        When a weight is missing, not known, or of a shape that does not fit.
    """
    this = NETWORKS[kind]
    given = _renamed(weights, this, file)
    config = this.config(_Shapes(given, file), heads)
    try:
        # Without memory for weights that are replaced at once.
        with torch.device("meta"):
            expected = this.make(config).state_dict()
    except (ValueError, TypeError, RuntimeError) as error:
        first = " ".join(str(error).split())[:160]
        raise InputError(f"{file}: sizes that no encoder has ({first})") from None
    for name, part in expected.items():
        found = given.get(name)
        if found is None and name.endswith(".num_batches_tracked"):
            # Older files do not count batches, which no row depends on.
            given[name] = torch.zeros((), dtype=torch.long)
        elif found is None or found.shape != part.shape:
            said = "is missing" if found is None else f"has shape {tuple(found.shape)}"
            raise InputError(
                f"{file}: what becomes {name} {said}; expected shape {tuple(part.shape)}"
            )
    if more := sorted(given.keys() - expected.keys()):
        raise InputError(f"{file}: what becomes {more[0]} is not known in an encoder of this size")
    network = this.make(config)
    network.load_state_dict(given)
    return network.float().eval().requires_grad_(False)


def _renamed(weights: Mapping[str, Tensor], this: _Architecture, file: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, part in weights.items():
        for pattern, new in this.names.items():
            if match := re.fullmatch(pattern, name):
                into = match.expand(new) if isinstance(new, str) else new(match)
                if "{}" in into:
                    pieces = part.chunk(3) if part.ndim else (part,) * 3
                    found |= {into.format(one): p for one, p in zip("qkv", pieces, strict=False)}
                else:
                    found[into] = part.T if into in this.transposed else part
                break
        else:
            if not re.fullmatch(this.rest, name):
                raise InputError(f"{file}: weight {name!r} is not known; expected an encoder alone")
    return found


# CLIP, vision transformer.


_CLIP_REST = (
    r"positional_embedding|text_projection|logit_scale|input_resolution|context_length|vocab_size|"
    r"(?:transformer|token_embedding|ln_final)\..+|visual\.(?:lm_|ln_lm|mask_token).*"
)
_IN_CLIP, _CLIP_BLOCK = r"visual\.transformer\.resblocks\.(\d+)\.", r"vision_model.encoder.layers."


def _clip_config(activation: str) -> Callable[[_Shapes, int | None], Any]:
    def config(shapes: _Shapes, heads: int | None) -> Any:
        kernel = shapes.of("vision_model.embeddings.patch_embedding.weight", 4)
        places = shapes.of("vision_model.embeddings.position_embedding.weight", 2)[0]
        return transformers.CLIPVisionConfig(
            hidden_size=kernel[0],
            intermediate_size=shapes.of(f"{_CLIP_BLOCK}0.mlp.fc1.weight", 2)[0],
            projection_dim=shapes.of("visual_projection.weight", 2)[0],
            num_hidden_layers=shapes.depth(re.escape(_CLIP_BLOCK) + r"(\d+)\."),
            num_attention_heads=shapes.heads(kernel[0], heads),
            image_size=shapes.side(places, kernel[-1]),
            patch_size=kernel[-1],
            hidden_act=activation,
        )

    return config


def _clip_vit(activation: str) -> _Architecture:
    return _Architecture(
        {
            r"visual\.conv1\.weight": "vision_model.embeddings.patch_embedding.weight",
            r"visual\.class_embedding": "vision_model.embeddings.class_embedding",
            r"visual\.positional_embedding": "vision_model.embeddings.position_embedding.weight",
            r"visual\.proj": "visual_projection.weight",
            r"visual\.ln_pre\.(.+)": r"vision_model.pre_layrnorm.\1",
            r"visual\.ln_post\.(.+)": r"vision_model.post_layernorm.\1",
            _IN_CLIP + r"attn\.in_proj_(.+)": _CLIP_BLOCK + r"\1.self_attn.{}_proj.\2",
            _IN_CLIP + r"attn\.(out_proj\..+)": _CLIP_BLOCK + r"\1.self_attn.\2",
            _IN_CLIP + r"ln_([12]\..+)": _CLIP_BLOCK + r"\1.layer_norm\2",
            _IN_CLIP + r"mlp\.c_fc\.(.+)": _CLIP_BLOCK + r"\1.mlp.fc1.\2",
            _IN_CLIP + r"mlp\.c_proj\.(.+)": _CLIP_BLOCK + r"\1.mlp.fc2.\2",
        },
        _CLIP_REST,
        _clip_config(activation),
        transformers.CLIPVisionModelWithProjection,
        ("visual_projection.weight",),
    )


# CLIP, residual network.


def _clip_resnet_config(shapes: _Shapes, heads: int | None) -> Any:
    if heads:
        raise InputError(f"{shapes.file}: heads of this network are 64 wide; expected no heads")
    depths = tuple(shapes.depth(rf"layer{stage}\.(\d+)\.") for stage in (1, 2, 3, 4))
    return ClipResNetConfig(
        width=shapes.of("conv3.weight", 4)[0],
        depths=depths,
        projection_dim=shapes.of("attnpool.c_proj.weight", 2)[0],
        image_size=shapes.side(shapes.of("attnpool.positional_embedding", 2)[0], 32),
    )


# ResNet, as torchvision names it.


def _resnet_config(shapes: _Shapes, heads: int | None) -> Any:
    if heads:
        raise InputError(f"{shapes.file}: this network has no attention; expected no heads")
    first = [f"encoder.stages.{stage}.layers." for stage in range(4)]
    return transformers.ResNetConfig(
        embedding_size=shapes.of("embedder.embedder.convolution.weight", 4)[0],
        hidden_sizes=[shapes.of(f"{one}0.layer.2.convolution.weight", 4)[0] for one in first],
        depths=[shapes.depth(re.escape(one) + r"(\d+)\.") for one in first],
    )


def _stage(match: re.Match[str]) -> str:
    return f"encoder.stages.{int(match[1]) - 1}.layers.{match[2]}."


_PARTS = {"conv": "convolution", "bn": "normalization", "0": "convolution", "1": "normalization"}
_IN_RESNET = r"(?:encoder_q\.)?"
_RESNET = _Architecture(
    {
        _IN_RESNET + r"(conv|bn)1\.(.+)": lambda m: f"embedder.embedder.{_PARTS[m[1]]}.{m[2]}",
        _IN_RESNET + r"layer([1-4])\.(\d+)\.(conv|bn)([1-3])\.(.+)": lambda m: (
            f"{_stage(m)}layer.{int(m[4]) - 1}.{_PARTS[m[3]]}.{m[5]}"
        ),
        _IN_RESNET + r"layer([1-4])\.(\d+)\.downsample\.([01])\.(.+)": lambda m: (
            f"{_stage(m)}shortcut.{_PARTS[m[3]]}.{m[4]}"
        ),
    },
    r"(?:encoder_k|(?:encoder_q\.)?fc)\..+|queue|queue_ptr",
    _resnet_config,
    transformers.ResNetModel,
)


# Vision transformers of masked autoencoders, as timm names them.


class _MeanOfPatches(nn.Module):
    """The mean over patches, normalised, in the place of a pooler."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, tokens: Tensor) -> Tensor:
        found: Tensor = self.norm(tokens[:, 1:].mean(dim=1))
        return found


def _plain_vit(config: Any) -> nn.Module:
    return transformers.ViTModel(config, add_pooling_layer=False)


def _vit_fc_norm(config: Any) -> nn.Module:
    network: Any = transformers.ViTModel(config, add_pooling_layer=False)
    # Fine-tuned for means, these have no norm behind the last block.
    network.layernorm, network.pooler = nn.Identity(), _MeanOfPatches(config.hidden_size)
    made: nn.Module = network
    return made


def _vit_config(shapes: _Shapes, heads: int | None) -> Any:
    kernel = shapes.of("embeddings.patch_embeddings.projection.weight", 4)
    places = shapes.of("embeddings.position_embeddings", 3)[1]
    return transformers.ViTConfig(
        hidden_size=kernel[0],
        intermediate_size=shapes.of("layers.0.mlp.fc1.weight", 2)[0],
        num_hidden_layers=shapes.depth(r"layers\.(\d+)\."),
        num_attention_heads=shapes.heads(kernel[0], heads),
        image_size=shapes.side(places, kernel[-1]),
        patch_size=kernel[-1],
        layer_norm_eps=1e-6,
    )


def _vit(norm: Sequence[str], rest: str, make: Callable[[Any], nn.Module]) -> _Architecture:
    return _Architecture(
        {
            r"cls_token": "embeddings.cls_token",
            r"pos_embed": "embeddings.position_embeddings",
            r"patch_embed\.proj\.(.+)": r"embeddings.patch_embeddings.projection.\1",
            rf"{norm[0]}\.(.+)": rf"{norm[1]}.\1",
            r"blocks\.(\d+)\.attn\.qkv\.(.+)": r"layers.\1.attention.{}_proj.\2",
            r"blocks\.(\d+)\.attn\.proj\.(.+)": r"layers.\1.attention.o_proj.\2",
            r"blocks\.(\d+)\.norm1\.(.+)": r"layers.\1.layernorm_before.\2",
            r"blocks\.(\d+)\.norm2\.(.+)": r"layers.\1.layernorm_after.\2",
            r"blocks\.(\d+)\.(mlp\.fc[12]\..+)": r"layers.\1.\2",
        },
        rest,
        _vit_config,
        make,
    )


NETWORKS: Mapping[str, _Architecture] = {
    "clip_vit": _clip_vit("quick_gelu"),
    "clip_vit_gelu": _clip_vit("gelu"),
    "clip_resnet": _Architecture(
        {r"visual\.(.+)": r"\1"}, _CLIP_REST, _clip_resnet_config, ClipResNet
    ),
    "resnet": _RESNET,
    "vit": _vit(("norm", "layernorm"), r"decoder_.+|mask_token", _plain_vit),
    "vit_fc_norm": _vit(("fc_norm", "pooler.norm"), r"(?:(?:AU_|ID_)?head\d*)\..+", _vit_fc_norm),
}
"""What the layouts are read into."""

"""Writes random networks under the names that published face encoders use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from .checkpoints import seeded


def tiny_clip(width: int = 128) -> Any:
    """A visual tower of CLIP whose heads are 64 wide, as published ones are."""
    from transformers import CLIPVisionConfig, CLIPVisionModelWithProjection

    with seeded(3):
        return CLIPVisionModelWithProjection(
            CLIPVisionConfig(
                hidden_size=width,
                intermediate_size=96,
                projection_dim=24,
                num_hidden_layers=3,
                num_attention_heads=max(width // 64, 1),
                image_size=48,
                patch_size=16,
                initializer_factor=5.0,
            )
        ).eval()


def tiny_vit() -> Any:
    """The encoder of a masked autoencoder, with positions and biases that are not zero."""
    from transformers import ViTConfig, ViTModel

    with seeded(4):
        network = ViTModel(
            ViTConfig(
                hidden_size=128,
                intermediate_size=96,
                num_hidden_layers=3,
                num_attention_heads=2,
                image_size=48,
                patch_size=16,
                layer_norm_eps=1e-6,
                initializer_range=0.2,
            ),
            add_pooling_layer=False,
        ).eval()
        for part in network.parameters():
            part.data += 0.05 * torch.randn_like(part)
    return network


def _stacked(state: Mapping[str, Tensor], names: list[str], end: str) -> Tensor:
    return torch.cat([state[f"{name}.{end}"] for name in names])


def as_openai(network: Any) -> dict[str, Tensor]:
    """Name the weights of a visual tower of CLIP as OpenAI's code does, and FaRL's."""
    state = network.state_dict()
    found = {
        "visual.conv1.weight": state["vision_model.embeddings.patch_embedding.weight"],
        "visual.class_embedding": state["vision_model.embeddings.class_embedding"],
        "visual.positional_embedding": state["vision_model.embeddings.position_embedding.weight"],
        "visual.proj": state["visual_projection.weight"].T.contiguous(),
    }
    for end in ("weight", "bias"):
        found[f"visual.ln_pre.{end}"] = state[f"vision_model.pre_layrnorm.{end}"]
        found[f"visual.ln_post.{end}"] = state[f"vision_model.post_layernorm.{end}"]
        for block in range(network.config.num_hidden_layers):
            old = f"vision_model.encoder.layers.{block}"
            new = f"visual.transformer.resblocks.{block}"
            queries = [f"{old}.self_attn.{kind}_proj" for kind in "qkv"]
            found[f"{new}.attn.in_proj_{end}"] = _stacked(state, queries, end)
            found[f"{new}.attn.out_proj.{end}"] = state[f"{old}.self_attn.out_proj.{end}"]
            found[f"{new}.ln_1.{end}"] = state[f"{old}.layer_norm1.{end}"]
            found[f"{new}.ln_2.{end}"] = state[f"{old}.layer_norm2.{end}"]
            found[f"{new}.mlp.c_fc.{end}"] = state[f"{old}.mlp.fc1.{end}"]
            found[f"{new}.mlp.c_proj.{end}"] = state[f"{old}.mlp.fc2.{end}"]
    return found


def text_tower() -> dict[str, Tensor]:
    """What a whole CLIP has beside its visual tower."""
    return {
        "positional_embedding": torch.zeros(4, 8),
        "text_projection": torch.zeros(8, 24),
        "logit_scale": torch.zeros(()),
        "token_embedding.weight": torch.zeros(10, 8),
        "transformer.resblocks.0.ln_1.weight": torch.ones(8),
        "ln_final.bias": torch.zeros(8),
    }


def as_timm(network: Any) -> dict[str, Tensor]:
    """Name the weights of a ViT as timm and the masked autoencoder's code do."""
    state = network.state_dict()
    found = {
        "cls_token": state["embeddings.cls_token"],
        "pos_embed": state["embeddings.position_embeddings"],
    }
    for end in ("weight", "bias"):
        found[f"patch_embed.proj.{end}"] = state[f"embeddings.patch_embeddings.projection.{end}"]
        found[f"norm.{end}"] = state[f"layernorm.{end}"]
        for block in range(network.config.num_hidden_layers):
            old, new = f"layers.{block}", f"blocks.{block}"
            queries = [f"{old}.attention.{kind}_proj" for kind in "qkv"]
            found[f"{new}.attn.qkv.{end}"] = _stacked(state, queries, end)
            found[f"{new}.attn.proj.{end}"] = state[f"{old}.attention.o_proj.{end}"]
            found[f"{new}.norm1.{end}"] = state[f"{old}.layernorm_before.{end}"]
            found[f"{new}.norm2.{end}"] = state[f"{old}.layernorm_after.{end}"]
            found[f"{new}.mlp.fc1.{end}"] = state[f"{old}.mlp.fc1.{end}"]
            found[f"{new}.mlp.fc2.{end}"] = state[f"{old}.mlp.fc2.{end}"]
    return found


def decoder() -> dict[str, Tensor]:
    """What a masked autoencoder has beside its encoder."""
    return {
        "mask_token": torch.zeros(1, 1, 8),
        "decoder_pos_embed": torch.zeros(1, 10, 8),
        "decoder_embed.weight": torch.zeros(8, 128),
        "decoder_blocks.0.attn.qkv.weight": torch.zeros(24, 8),
        "decoder_pred.bias": torch.zeros(12),
    }


def plain_forward(weights: Mapping[str, Tensor], pixels: Tensor, heads: int) -> Tensor:
    """Compute the class token of OpenAI's visual tower step by step, from foreign names alone."""
    part = {name.removeprefix("visual."): value for name, value in weights.items()}
    norm, linear = torch.nn.functional.layer_norm, torch.nn.functional.linear
    kernel = part["conv1.weight"]
    width, patch = kernel.shape[0], kernel.shape[-1]
    tokens = torch.nn.functional.conv2d(pixels, kernel, stride=patch).flatten(2).transpose(1, 2)
    first = part["class_embedding"].expand(len(pixels), 1, width)
    x = torch.cat([first, tokens], dim=1) + part["positional_embedding"]
    x = norm(x, (width,), part["ln_pre.weight"], part["ln_pre.bias"])
    depth = len({name.split(".")[2] for name in part if name.startswith("transformer.")})
    for block in range(depth):
        own = f"transformer.resblocks.{block}."
        y = norm(x, (width,), part[own + "ln_1.weight"], part[own + "ln_1.bias"])
        mixed = linear(y, part[own + "attn.in_proj_weight"], part[own + "attn.in_proj_bias"])
        query, key, value = (
            piece.unflatten(-1, (heads, width // heads)).transpose(1, 2)
            for piece in mixed.chunk(3, dim=-1)
        )
        shares = (query @ key.transpose(-1, -2) / (width // heads) ** 0.5).softmax(dim=-1)
        seen = (shares @ value).transpose(1, 2).flatten(2)
        x = x + linear(seen, part[own + "attn.out_proj.weight"], part[own + "attn.out_proj.bias"])
        y = norm(x, (width,), part[own + "ln_2.weight"], part[own + "ln_2.bias"])
        y = linear(y, part[own + "mlp.c_fc.weight"], part[own + "mlp.c_fc.bias"])
        y = y * torch.sigmoid(1.702 * y)
        x = x + linear(y, part[own + "mlp.c_proj.weight"], part[own + "mlp.c_proj.bias"])
    last = norm(x[:, 0], (width,), part["ln_post.weight"], part["ln_post.bias"])
    return last @ part["proj"]

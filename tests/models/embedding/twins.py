"""Published networks written out from their papers and names alone: random weights, and rows.

Each pair makes a small network's weights under the names its authors use, and computes its row step
by step with functions of torch: no class of transformers, and nothing of affectlab.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor
from torch.nn.functional import (
    avg_pool2d,
    batch_norm,
    conv2d,
    gelu,
    layer_norm,
    linear,
    max_pool2d,
    multi_head_attention_forward,
)

Weights = dict[str, Tensor]
SIDE = 48
"""Pixels of the pictures that transformers here take, in 3 x 3 patches."""


class _Draw:
    """Weights at random, the same at each call."""

    def __init__(self, seed: int) -> None:
        self.made: Weights = {}
        self._source = torch.Generator().manual_seed(seed)

    def draw(self, name: str, *shape: int, scale: float = 0.1, around: float = 0.0) -> None:
        self.made[name] = around + scale * torch.randn(*shape, generator=self._source)

    def linear(self, name: str, given: int, made: int) -> None:
        self.draw(f"{name}.weight", made, given, scale=given**-0.5)
        self.draw(f"{name}.bias", made)

    def norm(self, name: str, width: int) -> None:
        self.draw(f"{name}.weight", width, around=1.0)
        self.draw(f"{name}.bias", width)

    def conv(self, name: str, given: int, made: int, side: int) -> None:
        self.draw(f"{name}.weight", made, given, side, side, scale=(given * side**2) ** -0.5)

    def batch_norm(self, name: str, width: int) -> None:
        self.norm(name, width)
        self.draw(f"{name}.running_mean", width)
        self.draw(f"{name}.running_var", width, around=1.0)
        self.made[f"{name}.num_batches_tracked"] = torch.tensor(7)


def _block(
    x: Tensor, get: Callable[[str], Tensor], heads: int, act: Callable[..., Tensor]
) -> Tensor:
    """One block of a transformer with norms in front; `get` gives its weights in a fixed order."""
    width = x.shape[-1]
    y = layer_norm(x, (width,), get("norm1.weight"), get("norm1.bias"), get("eps").item())
    parts = linear(y, get("qkv.weight"), get("qkv.bias")).chunk(3, dim=-1)
    query, key, value = (p.unflatten(-1, (heads, width // heads)).transpose(1, 2) for p in parts)
    shares = (query @ key.transpose(-1, -2) / (width // heads) ** 0.5).softmax(dim=-1)
    seen = (shares @ value).transpose(1, 2).flatten(2)
    x = x + linear(seen, get("out.weight"), get("out.bias"))
    y = layer_norm(x, (width,), get("norm2.weight"), get("norm2.bias"), get("eps").item())
    inner = act(linear(y, get("fc1.weight"), get("fc1.bias")))
    return x + linear(inner, get("fc2.weight"), get("fc2.bias"))


# CLIP's vision transformer.


_CLIP_NAMES = {
    "norm1": "ln_1", "norm2": "ln_2", "out": "attn.out_proj", "fc1": "mlp.c_fc",
    "fc2": "mlp.c_proj",
}  # fmt: skip


def clip_vit(width: int = 128, depth: int = 2) -> Weights:
    some = _Draw(1)
    some.conv("visual.conv1", 3, width, 16)
    some.draw("visual.class_embedding", width, scale=0.5)
    some.draw("visual.positional_embedding", (SIDE // 16) ** 2 + 1, width, scale=0.5)
    some.draw("visual.proj", width, 24)
    for norm in ("ln_pre", "ln_post"):
        some.norm(f"visual.{norm}", width)
    for number in range(depth):
        block = f"visual.transformer.resblocks.{number}"
        some.draw(f"{block}.attn.in_proj_weight", 3 * width, width, scale=2 * width**-0.5)
        some.draw(f"{block}.attn.in_proj_bias", 3 * width)
        some.linear(f"{block}.attn.out_proj", width, width)
        some.norm(f"{block}.ln_1", width)
        some.norm(f"{block}.ln_2", width)
        some.linear(f"{block}.mlp.c_fc", width, 96)
        some.linear(f"{block}.mlp.c_proj", 96, width)
    return some.made


def clip_vit_row(w: Weights, pixels: Tensor, heads: int = 2, *, quick: bool = True) -> Tensor:
    width = w["visual.conv1.weight"].shape[0]
    tokens = conv2d(pixels, w["visual.conv1.weight"], stride=16).flatten(2).transpose(1, 2)
    first = w["visual.class_embedding"].expand(len(pixels), 1, width)
    x = torch.cat([first, tokens], dim=1) + w["visual.positional_embedding"]
    x = layer_norm(x, (width,), w["visual.ln_pre.weight"], w["visual.ln_pre.bias"])

    def named(block: str) -> Callable[[str], Tensor]:
        def get(name: str) -> Tensor:
            if name == "eps":
                return torch.tensor(1e-5)
            part, _, end = name.partition(".")
            own = f"attn.in_proj_{end}" if part == "qkv" else f"{_CLIP_NAMES[part]}.{end}"
            return w[f"{block}.{own}"]

        return get

    def act(y: Tensor) -> Tensor:
        return y * torch.sigmoid(1.702 * y) if quick else gelu(y)

    for number in range(sum(name.endswith("in_proj_bias") for name in w)):
        x = _block(x, named(f"visual.transformer.resblocks.{number}"), heads, act)
    last = layer_norm(x[:, 0], (width,), w["visual.ln_post.weight"], w["visual.ln_post.bias"])
    return last @ w["visual.proj"]


def clip_texts() -> Weights:
    """What a whole CLIP has beside its visual tower."""
    return {
        "positional_embedding": torch.zeros(4, 8),
        "text_projection": torch.zeros(8, 24),
        "logit_scale": torch.zeros(()),
        "token_embedding.weight": torch.zeros(10, 8),
        "transformer.resblocks.0.ln_1.weight": torch.ones(8),
        "ln_final.bias": torch.zeros(8),
    }


def openai_sizes() -> Weights:
    """What OpenAI's own files have more."""
    names = ("input_resolution", "context_length", "vocab_size")
    return {name: torch.tensor(48) for name in names}


# Vision transformers of masked autoencoders.


_VIT_NAMES = {
    "norm1": "norm1", "norm2": "norm2", "qkv": "attn.qkv", "out": "attn.proj", "fc1": "mlp.fc1",
    "fc2": "mlp.fc2",
}  # fmt: skip


def vit(norm: str = "norm", width: int = 128, depth: int = 2) -> Weights:
    some = _Draw(2)
    some.draw("cls_token", 1, 1, width, scale=0.5)
    some.draw("pos_embed", 1, (SIDE // 16) ** 2 + 1, width, scale=0.5)
    some.conv("patch_embed.proj", 3, width, 16)
    some.draw("patch_embed.proj.bias", width)
    some.norm(norm, width)
    for number in range(depth):
        block = f"blocks.{number}"
        some.linear(f"{block}.attn.qkv", width, 3 * width)
        some.linear(f"{block}.attn.proj", width, width)
        some.norm(f"{block}.norm1", width)
        some.norm(f"{block}.norm2", width)
        some.linear(f"{block}.mlp.fc1", width, 96)
        some.linear(f"{block}.mlp.fc2", 96, width)
    return some.made


def vit_row(w: Weights, pixels: Tensor, heads: int = 2) -> Tensor:
    """The class token, or the mean over patches where the norm is one for means."""
    width = w["cls_token"].shape[-1]
    kernel, bias = w["patch_embed.proj.weight"], w["patch_embed.proj.bias"]
    tokens = conv2d(pixels, kernel, bias, stride=16).flatten(2).transpose(1, 2)
    x = torch.cat([w["cls_token"].expand(len(pixels), 1, width), tokens], dim=1) + w["pos_embed"]

    def named(block: str) -> Callable[[str], Tensor]:
        def get(name: str) -> Tensor:
            part, _, end = name.partition(".")
            return torch.tensor(1e-6) if part == "eps" else w[f"{block}.{_VIT_NAMES[part]}.{end}"]

        return get

    for number in range(sum(name.endswith("attn.qkv.bias") for name in w)):
        x = _block(x, named(f"blocks.{number}"), heads, gelu)
    if "fc_norm.weight" in w:
        mean = x[:, 1:].mean(dim=1)
        return layer_norm(mean, (width,), w["fc_norm.weight"], w["fc_norm.bias"], 1e-6)
    return layer_norm(x, (width,), w["norm.weight"], w["norm.bias"], 1e-6)[:, 0]


def mae_decoder() -> Weights:
    """What a masked autoencoder has beside its encoder."""
    return {
        "mask_token": torch.zeros(1, 1, 8),
        "decoder_pos_embed": torch.zeros(1, 10, 8),
        "decoder_embed.weight": torch.zeros(8, 128),
        "decoder_blocks.0.attn.qkv.weight": torch.zeros(24, 8),
        "decoder_pred.bias": torch.zeros(12),
    }


def heads_of(*names: str) -> Weights:
    """Layers for labels behind a fine-tuned network."""
    return {f"{name}.{end}": torch.zeros(12, 128) for name in names for end in ("weight", "bias")}


# Residual networks.


DEPTHS = (1, 2, 1, 1)


def _bottlenecks(some: _Draw, before: str, width: int) -> None:
    given = width
    for stage, depth in enumerate(DEPTHS):
        inner = width * 2**stage
        for number in range(depth):
            block = f"{before}layer{stage + 1}.{number}"
            for layer, sizes in enumerate(
                ((given, inner, 1), (inner, inner, 3), (inner, 4 * inner, 1))
            ):
                some.conv(f"{block}.conv{layer + 1}", *sizes)
                some.batch_norm(f"{block}.bn{layer + 1}", sizes[1])
            if number == 0:
                some.conv(f"{block}.downsample.0", given, 4 * inner, 1)
                some.batch_norm(f"{block}.downsample.1", 4 * inner)
            given = 4 * inner


def _normed(w: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    ends = ("running_mean", "running_var", "weight", "bias")
    return batch_norm(x, *(w[f"{name}.{end}"] for end in ends))


def _blocks(w: Weights, before: str) -> Iterator[tuple[str, int]]:
    for stage, depth in enumerate(DEPTHS):
        for number in range(depth):
            yield f"{before}layer{stage + 1}.{number}", 2 if stage and not number else 1


def resnet(before: str = "") -> Weights:
    some = _Draw(3)
    some.conv(f"{before}conv1", 3, 8, 7)
    some.batch_norm(f"{before}bn1", 8)
    _bottlenecks(some, before, 8)
    return some.made


def resnet_row(w: Weights, pixels: Tensor, before: str = "") -> Tensor:
    """He et al. 2016, with the stride in the 3 x 3 convolution, as torchvision has it."""
    x = conv2d(pixels, w[f"{before}conv1.weight"], stride=2, padding=3)
    x = max_pool2d(_normed(w, f"{before}bn1", x).relu(), 3, stride=2, padding=1)
    for block, stride in _blocks(w, before):
        y = _normed(w, f"{block}.bn1", conv2d(x, w[f"{block}.conv1.weight"])).relu()
        y = conv2d(y, w[f"{block}.conv2.weight"], stride=stride, padding=1)
        y = _normed(w, f"{block}.bn2", y).relu()
        y = _normed(w, f"{block}.bn3", conv2d(y, w[f"{block}.conv3.weight"]))
        if f"{block}.downsample.0.weight" in w:
            x = conv2d(x, w[f"{block}.downsample.0.weight"], stride=stride)
            x = _normed(w, f"{block}.downsample.1", x)
        x = (x + y).relu()
    return x.mean(dim=(2, 3))


def moco_others() -> Weights:
    """What momentum contrast has beside the encoder that is trained."""
    return {
        "encoder_q.fc.0.weight": torch.zeros(4, 4),
        "encoder_q.fc.2.bias": torch.zeros(4),
        "encoder_k.conv1.weight": torch.zeros(8, 3, 7, 7),
        "queue": torch.zeros(4, 8),
        "queue_ptr": torch.zeros(1),
    }


def clip_resnet() -> Weights:
    some = _Draw(4)
    for number, (given, made) in enumerate(((3, 8), (8, 8), (8, 16))):
        some.conv(f"visual.conv{number + 1}", given, made, 3)
        some.batch_norm(f"visual.bn{number + 1}", made)
    _bottlenecks(some, "visual.", 16)
    some.draw("visual.attnpool.positional_embedding", 5, 512, scale=0.5)
    for name, made in (("q", 512), ("k", 512), ("v", 512), ("c", 24)):
        some.linear(f"visual.attnpool.{name}_proj", 512, made)
    return some.made


def clip_resnet_row(w: Weights, pixels: Tensor) -> Tensor:
    """Radford et al. 2021: means before what halves the size, and attention over all places."""
    x = pixels
    for number in (1, 2, 3):
        x = conv2d(x, w[f"visual.conv{number}.weight"], stride=2 if number == 1 else 1, padding=1)
        x = _normed(w, f"visual.bn{number}", x).relu()
    x = avg_pool2d(x, 2)
    for block, stride in _blocks(w, "visual."):
        y = _normed(w, f"{block}.bn1", conv2d(x, w[f"{block}.conv1.weight"])).relu()
        y = _normed(w, f"{block}.bn2", conv2d(y, w[f"{block}.conv2.weight"], padding=1)).relu()
        y = avg_pool2d(y, stride) if stride > 1 else y
        y = _normed(w, f"{block}.bn3", conv2d(y, w[f"{block}.conv3.weight"]))
        if f"{block}.downsample.0.weight" in w:
            x = avg_pool2d(x, stride) if stride > 1 else x
            x = conv2d(x, w[f"{block}.downsample.0.weight"])
            x = _normed(w, f"{block}.downsample.1", x)
        x = (x + y).relu()
    pool = {n.removeprefix("visual.attnpool."): part for n, part in w.items() if "attnpool" in n}
    tokens = x.flatten(2).permute(2, 0, 1)
    tokens = torch.cat([tokens.mean(dim=0, keepdim=True), tokens])
    tokens = tokens + pool["positional_embedding"][:, None]
    found, _ = multi_head_attention_forward(
        tokens, tokens, tokens, 512, 8, None,
        torch.cat([pool[f"{one}_proj.bias"] for one in "qkv"]), None, None, False, 0.0,
        pool["c_proj.weight"], pool["c_proj.bias"], training=False, need_weights=False,
        use_separate_proj_weight=True, q_proj_weight=pool["q_proj.weight"],
        k_proj_weight=pool["k_proj.weight"], v_proj_weight=pool["v_proj.weight"],
    )  # fmt: skip
    return found[0]

"""The residual network of CLIP: its stem, its way to halve sizes, and attention in place of a mean.

Radford et al. 2021, Learning transferable visual models from natural language supervision, section
2.4: a ResNet-50 with three convolutions in front, with means before what halves the size (Zhang
2019, Making convolutional networks shift-invariant again), and pooled by attention whose query is
the mean. Weights are named as OpenAI names them.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPooling

__all__ = ["ClipResNet", "ClipResNetConfig"]


@dataclass(frozen=True)
class ClipResNetConfig:
    """Sizes of the network."""

    width: int
    """Channels behind the stem."""
    depths: tuple[int, ...]
    """Blocks of the four stages."""
    projection_dim: int
    """Numbers of a row."""
    image_size: int
    """Side of pictures, in pixels."""
    model_type: str = "clip_resnet"


class _Block(nn.Module):
    """Three convolutions beside a shortcut; the second is followed by a mean where size halves."""

    def __init__(self, given: int, inner: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(given, inner, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3 = nn.Conv2d(inner, 4 * inner, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * inner)
        self.shrink = nn.AvgPool2d(stride)
        self.downsample: nn.Module | None = None
        if stride > 1 or given != 4 * inner:
            self.downsample = nn.Sequential(
                nn.Conv2d(given, 4 * inner, 1, bias=False), nn.BatchNorm2d(4 * inner)
            )

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn1(self.conv1(x)).relu()
        y = self.shrink(self.bn2(self.conv2(y)).relu())
        y = self.bn3(self.conv3(y))
        beside = x if self.downsample is None else self.downsample(self.shrink(x))
        found: Tensor = (y + beside).relu()
        return found


class _AttentionPool(nn.Module):
    """One row of all places: the mean asks, all places and the mean answer."""

    def __init__(self, places: int, width: int, heads: int, given: int) -> None:
        super().__init__()
        self.heads = heads
        self.positional_embedding = nn.Parameter(torch.empty(places + 1, width))
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.c_proj = nn.Linear(width, given)

    def forward(self, x: Tensor) -> Tensor:
        places = x.flatten(2).transpose(1, 2)
        tokens = torch.cat([places.mean(dim=1, keepdim=True), places], dim=1)
        tokens = tokens + self.positional_embedding
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.q_proj(tokens[:, :1]), self.k_proj(tokens), self.v_proj(tokens))
        )
        seen = nn.functional.scaled_dot_product_attention(query, key, value)
        found: Tensor = self.c_proj(seen.transpose(1, 2).flatten(1))
        return found


class ClipResNet(nn.Module):
    """The network."""

    def __init__(self, config: ClipResNetConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        sizes = (3, width // 2, width // 2, width)
        for number in (1, 2, 3):
            stride = 2 if number == 1 else 1
            given, made = sizes[number - 1], sizes[number]
            conv = nn.Conv2d(given, made, 3, stride=stride, padding=1, bias=False)
            self.add_module(f"conv{number}", conv)
            self.add_module(f"bn{number}", nn.BatchNorm2d(made))
        given = width
        for number, depth in enumerate(config.depths):
            inner = width * 2**number
            blocks = []
            for block in range(depth):
                blocks.append(_Block(given, inner, 2 if number and not block else 1))
                given = 4 * inner
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
        # Heads are 64 wide; the last places are 32 pixels apart.
        places = (config.image_size // 32) ** 2
        self.attnpool = _AttentionPool(places, given, given // 64, config.projection_dim)

    def forward(self, pixel_values: Tensor) -> BaseModelOutputWithPooling:
        """Give the last places, shape (n, width, side, side), and rows, shape (n, projection)."""
        x = pixel_values
        for number in (1, 2, 3):
            x = self.get_submodule(f"bn{number}")(self.get_submodule(f"conv{number}")(x)).relu()
        x = nn.functional.avg_pool2d(x, 2)
        for number in (1, 2, 3, 4):
            x = self.get_submodule(f"layer{number}")(x)
        return BaseModelOutputWithPooling(last_hidden_state=x, pooler_output=self.attnpool(x))

"""Settings of encoders by name, checked before anything is loaded."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "FaceSettings",
    "HogSettings",
    "LbpSettings",
    "NoSettings",
    "OpenClipSettings",
    "PublishedSettings",
    "TextSettings",
    "TowerSettings",
    "TransformersSettings",
]

Side = Annotated[int, Field(ge=32, le=1024)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NoSettings(_Settings):
    """Of an encoder that was trained: its folder says all."""


class HogSettings(_Settings):
    """Of ``hog``."""

    size: Side = 128
    """Side in pixels to which images are brought."""
    cell: Annotated[int, Field(ge=4, le=128)] = 8
    """Side of a cell in pixels; `size` is a multiple of it."""
    orientations: Annotated[int, Field(ge=2, le=32)] = 8
    """Directions that are told apart."""


class LbpSettings(_Settings):
    """Of ``lbp``."""

    size: Side = 128
    """Side in pixels to which images are brought."""
    grid: Annotated[int, Field(ge=1, le=64)] = 8
    """Regions per side; `size` is a multiple of it."""
    radii: Annotated[tuple[Annotated[int, Field(ge=1, le=16)], ...], Field(min_length=1)] = (
        1,
        2,
        4,
    )
    """Distances in pixels at which neighbours are compared."""


class FaceSettings(_Settings):
    """Of ``faces``, which has none: its numbers are the same everywhere."""


class TextSettings(_Settings):
    """Of ``texts``."""

    width: Annotated[int, Field(ge=16, le=8192)] = 512
    """Numbers per text."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Of the projection."""


class TowerSettings(_Settings):
    """Of networks in torch."""

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where it computes."""
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    """What it computes in; by default half precision on GPUs that are fast at it."""
    batch: Annotated[int, Field(ge=1, le=65_536)] = 32
    """Inputs at a time."""


class PublishedSettings(TowerSettings):
    """Of a file of weights."""

    pooling: Literal["auto", "image_features", "pooler", "cls", "mean"] = "auto"
    """What makes one row of many tokens; by default what its authors take."""
    heads: Annotated[int, Field(ge=1)] | None = None
    """Attention heads, which no weight tells; by default those of published sizes."""


class OpenClipSettings(TowerSettings):
    """Of ``open_clip:NAME/PRETRAINED``."""

    kind: Literal["auto", "image", "text"] = "auto"
    """Which tower; by default the one for images."""


class TransformersSettings(TowerSettings):
    """Of ``transformers:PLACE`` and its short names."""

    kind: Literal["auto", "image", "text"] = "auto"
    """Which tower; by default the one for images, where there is one."""
    pooling: Literal["auto", "image_features", "text_features", "pooler", "cls", "mean"] = "auto"
    """What makes one row of many tokens; by default what suits the architecture."""
    max_tokens: Annotated[int, Field(ge=3)] | None = None
    """Tokens of a text that are read; by default as many as the encoder can."""

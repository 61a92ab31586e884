"""What is measured of heads on a GPU, and how it is written down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

__all__ = ["TINY", "Ceilings", "Found", "Sizes", "page"]

_GOAL_SECONDS = 10.0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    big_rows: int = 203_201
    """Images of the large set; a tenth of the ratings of a label are not 0, at most 5,000."""
    human_rows: int = 65_686
    """Answers of people, each to one label."""
    epochs: tuple[int, int] = (5, 200)
    heads: int = 40
    width: int = 1152
    batch: int = 256
    shape: tuple[int, ...] = (1024, 512, 256)
    steps: int = 30
    product: int = 8192
    """Rows and columns of the product that shows what the device can do."""
    copied_mb: int = 2048
    images: tuple[int, ...] = (32, 128, 256)
    """Batches of images."""
    encoder: tuple[int, int, int, int, int] = (1152, 27, 4304, 16, 384)
    """Width, layers, units between them, attention heads, and pixels of a side."""


TINY = Sizes(
    big_rows=600,
    human_rows=400,
    epochs=(2, 3),
    heads=3,
    width=16,
    batch=32,
    shape=(8, 4),
    steps=2,
    product=64,
    copied_mb=1,
    images=(2,),
    encoder=(32, 2, 64, 2, 28),
)


@dataclass(frozen=True)
class Ceilings:
    """What the device reaches at its best."""

    bytes_per_s: float
    flops_per_s: float


@dataclass(frozen=True)
class Found:
    """What was measured."""

    device: str
    precision: str
    ceilings: Ceilings
    step_ms: float
    head_samples_per_s: float
    floor_ms: float
    """What a step takes at the ceilings: its products, and the bytes that Adam moves."""
    stage_s: tuple[float, float]
    best_loss: tuple[float, float]
    """Mean over heads in either stage."""
    images_per_s: dict[str, float]
    """Per size of a batch."""
    encoder_share: float
    """Of the ceiling of products, for the best batch."""

    @property
    def share(self) -> float:
        """Share of the roofline that a step reaches."""
        return self.floor_ms / self.step_ms

    @property
    def both_stages_s(self) -> float:
        """Time of the complete training."""
        return sum(self.stage_s)


def page(found: Found, sizes: Sizes) -> str:
    """Say it in words."""
    images = ", ".join(f"{rate:,.0f} (batch {n})" for n, rate in found.images_per_s.items())
    one, two = found.stage_s
    return f"""# Heads on a GPU

Written by `python -m benchmarks.heads_gpu` on {datetime.now(UTC).date().isoformat()}: \
{found.device}, torch {version("torch")}, {found.precision}.

| what | measured |
|---|---|
| large copy, read and written | {found.ceilings.bytes_per_s / 1e9:,.0f} GB/s |
| large product in bf16 | {found.ceilings.flops_per_s / 1e12:,.1f} TFLOP/s |
| step of {sizes.heads} heads, batch {sizes.batch} | {found.step_ms:,.2f} ms |
| head-samples per second | {found.head_samples_per_s:,.0f} |
| the same step at these limits (products, and bytes of Adam) | {found.floor_ms:,.2f} ms |
| share of the roofline | {found.share:.0%} |
| {sizes.big_rows:,} rows, {sizes.epochs[0]} epochs | {one:,.2f} s |
| {sizes.human_rows:,} answers, {sizes.epochs[1]} epochs | {two:,.2f} s |
| both stages (goal: under {_GOAL_SECONDS:.0f} s) | {found.both_stages_s:,.2f} s |
| mean validation loss of the stages | {found.best_loss[0]:.4f}, {found.best_loss[1]:.4f} |
| images per second of the encoder, random weights | {images} |
| share of the limit of products, best batch | {found.encoder_share:.0%} |

Heads have the layers {sizes.width}-{"-".join(map(str, sizes.shape))}-1. Ratings are simulated: at \
most 5,000 per label are not 0 in the large set, and each answer of people is to one label.
"""

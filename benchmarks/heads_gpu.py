"""``python -m benchmarks.heads_gpu``: a bank of 40 heads on a GPU, as one stack of matrices.

Measures what the device can do (bytes moved, bf16 products), steps of training beside that, the
complete training in two stages at the size of EmoNet-Face, and an encoder of the size of
SigLIP2-so400m with random weights. Writes ``HEADS_GPU.md``. ``--tiny`` runs anywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Workload
from benchmarks._heads_gpu_page import TINY, Ceilings, Found, Sizes, page

WORKLOADS: tuple[Workload, ...] = ()
"""None: there is no peer to compare with, and most machines have no GPU."""

_HERE = Path(__file__).parent


def _wait(device: Any) -> None:
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _best(call: Callable[[], Any], device: Any, times: int = 5) -> float:
    """Least seconds of a call, after a first one."""
    call()
    _wait(device)
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        _wait(device)
        found.append(time.perf_counter() - start)
    return min(found)


def ceilings(sizes: Sizes, device: Any) -> Ceilings:
    """Measure a large copy and a large product."""
    import torch

    n = sizes.copied_mb * 1_000_000 // 4
    source = torch.rand(n, device=device)
    into = torch.empty_like(source)
    copied = _best(lambda: into.copy_(source), device)
    a, b = (
        torch.randn(sizes.product, sizes.product, device=device, dtype=torch.bfloat16)
        for _ in range(2)
    )
    multiplied = _best(lambda: a @ b, device)
    return Ceilings(8 * n / copied, 2 * sizes.product**3 / multiplied)


def make(sizes: Sizes) -> tuple[Any, Any]:
    """Make embeddings and ratings of both sets, float16 as they are stored."""
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((sizes.width, sizes.heads), dtype=np.float32)
    direction /= np.sqrt(sizes.width)

    def embeddings(n: int) -> NDArray[np.float16]:
        return rng.standard_normal((n, sizes.width), dtype=np.float32).astype(np.float16)

    big = embeddings(sizes.big_rows)
    score = big.astype(np.float32) @ direction
    some = min(5_000, sizes.big_rows // 10)
    edge = np.partition(score, -some, axis=0)[-some]
    above = (score - edge) / score.std()
    ratings = np.where(above >= 0, np.clip(np.ceil(3 * above + 1e-6), 1, 7), 0).astype(np.float32)
    human = embeddings(sizes.human_rows)
    asked = rng.integers(0, sizes.heads, sizes.human_rows)
    own = (human.astype(np.float32) @ direction)[np.arange(sizes.human_rows), asked]
    answers = np.full((sizes.human_rows, sizes.heads), np.nan, dtype=np.float32)
    # Half of the answers are yes: images were made to show the emotion that was asked for.
    answers[np.arange(sizes.human_rows), asked] = own > 0
    return (big, ratings), (human, answers)


def _rows(ratings: NDArray[np.float32], seed: int) -> list[Any]:
    from affectlab.models.heads.sampling import balanced_rows

    return [
        balanced_rows(ratings[:, k], binarised=True, seed=seed, label=k)
        for k in range(ratings.shape[1])
    ]


def two_stages(sizes: Sizes, device: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Train in two stages; give the seconds and the mean loss of each.

    Choosing rows, moving embeddings to the device and validation count.
    """
    from affectlab.models.heads.fit import train_stage
    from affectlab.models.heads.shape import HeadShape
    from affectlab.models.heads.training.stage import Stage
    from affectlab.models.heads.weights import StackedWeights

    shape = HeadShape(sizes.shape, dropout=0.2)
    weights = StackedWeights.initial(shape, sizes.width, sizes.heads)
    times, losses = [], []
    for seed, ((x, y), epochs) in enumerate(zip(make(sizes), sizes.epochs, strict=True)):
        start = time.perf_counter()
        found = train_stage(
            weights,
            x,
            y,
            _rows(y, seed),
            Stage(epochs=epochs, batch=sizes.batch, dropout=shape.dropout, binarised=True),
            device=device,
            seed=seed,
            stack=sizes.heads,
        )
        times.append(time.perf_counter() - start)
        losses.append(float(np.nanmean(found.best_loss)))
        weights = found.weights
    return (times[0], times[1]), (losses[0], losses[1])


def steps(sizes: Sizes, device: Any, limits: Ceilings) -> tuple[str, float, float]:
    """Give the precision, the seconds of a step of all heads, and its floor."""
    from affectlab.models.heads.shape import HeadShape
    from affectlab.models.heads.training.progress import HeadPart
    from affectlab.models.heads.training.stack import Plan, Stack, head_precision
    from affectlab.models.heads.training.stage import Stage
    from affectlab.models.heads.weights import StackedWeights

    shape = HeadShape(sizes.shape, dropout=0.2)
    n = sizes.steps * sizes.batch
    rng = np.random.default_rng(1)
    embeddings = rng.standard_normal((n + sizes.batch, sizes.width), dtype=np.float32)
    targets = rng.random(len(embeddings))
    rows = np.arange(n), np.arange(n, len(embeddings))
    parts = tuple(HeadPart(k, f"head {k}", *rows, targets) for k in range(sizes.heads))
    plan = Plan(
        weights=StackedWeights.initial(shape, sizes.width, sizes.heads),
        embeddings=embeddings,
        parts=parts,
        stage=Stage(epochs=1, batch=sizes.batch, dropout=shape.dropout),
        seed=0,
        device=device,
        precision=head_precision("auto", device),
    )
    stack = Stack(plan, parts)
    seconds = _best(stack.learn, device, times=3) / sizes.steps
    layers = shape.sizes(sizes.width)
    products = [2 * a * b for a, b in pairwise(layers)]
    # Forward and both gradients; embeddings have none.
    per_row = 3 * sum(products) - products[0]
    # Adam reads weight, two moments and a gradient in bf16, and writes the first three and the
    # weight in bf16.
    moved = sizes.heads * shape.n_parameters(sizes.width) * (12 + 2 + 12 + 2)
    flops = sizes.heads * sizes.batch * per_row
    return plan.precision, seconds, flops / limits.flops_per_s + moved / limits.bytes_per_s


def encoder(sizes: Sizes, device: Any, limits: Ceilings) -> tuple[dict[str, float], float]:
    """Give images per second by size of a batch, and the share of the ceiling of products."""
    import torch
    from transformers import SiglipVisionConfig, SiglipVisionModel

    width, layers, between, attention, side = sizes.encoder
    patch = 14
    config = SiglipVisionConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        intermediate_size=between,
        num_attention_heads=attention,
        image_size=side,
        patch_size=patch,
    )
    network = SiglipVisionModel(config).to(device, torch.bfloat16).eval()
    tokens = (side // patch) ** 2
    # Projections of attention, both products of attention, and the layers between.
    per_layer = 2 * tokens * (4 * width**2 + 2 * width * between) + 4 * tokens**2 * width
    per_image = layers * per_layer + 2 * tokens * 3 * patch**2 * width
    found = {}
    for batch in sizes.images:
        x = torch.rand(batch, 3, side, side, device=device, dtype=torch.bfloat16)
        with torch.inference_mode():
            seconds = _best(lambda x=x: network(pixel_values=x), device, times=3)  # type: ignore[misc]
        found[str(batch)] = batch / seconds
    return found, max(found.values()) * per_image / limits.flops_per_s


def measure(sizes: Sizes, device: str) -> Found:
    """Measure everything."""
    import torch

    from affectlab.models.devices import pick_device

    where = pick_device(device)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else where.type
    limits = ceilings(sizes, where)
    precision, seconds, floor = steps(sizes, where, limits)
    times, losses = two_stages(sizes, where.type)
    images, share = encoder(sizes, where, limits)
    return Found(
        device=name,
        precision=precision,
        ceilings=limits,
        step_ms=1e3 * seconds,
        head_samples_per_s=sizes.heads * sizes.batch / seconds,
        floor_ms=1e3 * floor,
        stage_s=times,
        best_loss=losses,
        images_per_s=images,
        encoder_share=share,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heads_gpu", description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--tiny", action="store_true", help="sizes that take a moment anywhere")
    parser.add_argument("--dry", action="store_true", help="keep HEADS_GPU.md as it is")
    chosen = parser.parse_args(arguments)
    sizes = TINY if chosen.tiny else Sizes()
    found = measure(sizes, chosen.device)
    text = page(found, sizes)
    print(text)
    if not (chosen.dry or chosen.tiny):
        (_HERE / "HEADS_GPU.md").write_text(text, encoding="utf-8")
        stored = json.dumps(asdict(found), indent=1)
        (_HERE / "heads_gpu.json").write_text(stored + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

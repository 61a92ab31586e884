"""``python -m benchmarks.text_metrics_gpu``: pairs per second at the size of bart-large.

Saves a BART of the size of ``facebook/bart-large`` with random weights, and measures BARTScore in
one direction, in single and in half precision, on the best device there is. ``--tiny`` runs
anywhere; without it a GPU is needed. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._harness import Workload
from benchmarks.text_metrics import _text

WORKLOADS: tuple[Workload, ...] = ()
"""None: there is no peer to compare with, and most machines have no GPU."""

_LARGE: dict[str, Any] = {
    "width": 1024,
    "layers": 12,
    "heads": 16,
    "between": 4096,
    "positions": 1024,
    "words": 50265,
}
_TINY: dict[str, Any] = {
    "width": 24,
    "layers": 2,
    "heads": 2,
    "between": 48,
    "positions": 128,
    "words": 400,
}


def save(folder: Path, shape: dict[str, Any]) -> str:
    """Save a BART of that shape, with the tokenizer of the tests and a vocabulary of that size."""
    import torch
    from tests.models.tiny_text_models import save_bart
    from transformers import BartConfig, BartForConditionalGeneration

    place = save_bart(folder, positions=shape["positions"])
    torch.manual_seed(0)
    network = BartForConditionalGeneration(
        BartConfig(
            vocab_size=shape["words"],
            d_model=shape["width"],
            encoder_layers=shape["layers"],
            decoder_layers=shape["layers"],
            encoder_attention_heads=shape["heads"],
            decoder_attention_heads=shape["heads"],
            encoder_ffn_dim=shape["between"],
            decoder_ffn_dim=shape["between"],
            max_position_embeddings=shape["positions"],
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
        )
    )
    network.save_pretrained(folder)
    return place


def measure(place: str, n: int, device: str) -> dict[str, Any]:
    """Give pairs per second by precision and size of a batch, and how far scores are apart."""
    import torch

    from affectlab.models.text_metrics import BartScore

    rng = np.random.default_rng(0)
    candidates, references = ([_text(rng) for _ in range(n)] for _ in range(2))
    found: dict[str, Any] = {"pairs": n, "runs": []}
    scores: dict[str, Any] = {}
    for precision in ("fp32", "bf16"):
        for batch in (32, 128):
            metric = BartScore(
                place,
                direction="precision",
                device=device,
                precision=precision,
                batch_size=batch,
            )
            metric.score(candidates[: 2 * batch], references[: 2 * batch])
            start = time.perf_counter()
            scores[precision] = metric.score(candidates, references)
            seconds = time.perf_counter() - start
            found["runs"].append(
                {"precision": precision, "batch": batch, "pairs_per_s": n / seconds}
            )
            found["parameters"] = sum(part.numel() for part in metric.writer.network.parameters())
            del metric
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
    found["tokens_per_text"] = float(scores["fp32"].n_tokens.mean())
    apart = np.abs(scores["bf16"].scores - scores["fp32"].scores)
    found["bf16_apart_at_most"] = float(apart.max())
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    import torch

    parser = argparse.ArgumentParser(prog="python -m benchmarks.text_metrics_gpu")
    parser.add_argument("--tiny", action="store_true", help="a tiny network, on any device")
    parser.add_argument("--pairs", type=int, default=4096)
    chosen = parser.parse_args(arguments)
    if not (chosen.tiny or torch.cuda.is_available()):
        print("there is no GPU here; --tiny runs anywhere", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        place = save(Path(folder) / "bart", _TINY if chosen.tiny else _LARGE)
        found = measure(
            place, 64 if chosen.tiny else chosen.pairs, "cpu" if chosen.tiny else "auto"
        )
    name = torch.cuda.get_device_name() if torch.cuda.is_available() and not chosen.tiny else "CPU"
    print(json.dumps({"device": name, **found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

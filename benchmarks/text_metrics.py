"""BARTScore and CLIPScore of 2,000 pairs, beside batches by transformers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks._harness import Size, Workload, require_close

_SPOKEN = (
    *("people", "water", "house", "children", "river", "help", "fire", "team", "dog", "street"),
    *("because", "feels", "since", "when", "after", "happy", "sad", "proud", "angry", "calm"),
    *("the", "a", "of", "in", "and", "to", "it", "they", "was", "looks", "very", "lost", "won"),
)
_BATCH = 64
_IMAGES = 400
"""Different images of 2,000 pairs: people react to one image several times."""


@dataclass(frozen=True)
class Pairs:
    """Texts beside references and images, and the folders of two checkpoints."""

    candidates: list[str]
    references: list[str]
    images: list[Image.Image]
    bart: str
    clip: str


def _text(rng: np.random.Generator) -> str:
    words = rng.choice(_SPOKEN, rng.integers(5, 25))
    return " ".join(words).capitalize() + "."


@cache
def _checkpoints() -> tuple[str, str]:
    # The tiny ones that tests use, so that both measure the same models.
    from tests.models.tiny_text_models import save_bart, save_clip

    root = Path(tempfile.mkdtemp(prefix="affectlab-bench-"))
    return save_bart(root / "bart", positions=128), save_clip(root / "clip")


def _make(size: Size, different: int = _IMAGES) -> Pairs:
    n = {"tiny": 12, "quick": 300, "full": 2000}[size]
    rng = np.random.default_rng(11)
    kept = max(2, n * different // 2000)
    images = [
        Image.fromarray(rng.integers(0, 256, (32, 40, 3), dtype=np.uint8)) for _ in range(kept)
    ]
    return Pairs(
        [_text(rng) for _ in range(n)],
        [_text(rng) for _ in range(n)],
        [images[k % kept] for k in range(n)],
        *_checkpoints(),
    )


def _all_different(size: Size) -> Pairs:
    return _make(size, 2000)


@cache
def _bart(place: str) -> Any:
    from affectlab.models.text_metrics import BartScore

    return BartScore(place, direction="f", device="cpu")


def _our_bart(data: Pairs) -> NDArray[np.float64]:
    found: NDArray[np.float64] = _bart(data.bart).score(data.candidates, data.references).scores
    return found


def _their_bart(data: Pairs) -> NDArray[np.float64]:
    """Compute in batches, as the scripts of the paper do: cut both texts, run the network twice."""
    import torch

    network, tokenizer = _bart(data.bart).writer.network, _bart(data.bart).writer.tokenizer

    def batch(sources: list[str], targets: list[str]) -> NDArray[np.float64]:
        read, wanted = (
            tokenizer(texts, return_tensors="pt", padding=True) for texts in (sources, targets)
        )
        labels, there = wanted["input_ids"], wanted["attention_mask"].double()
        logits = network(
            input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels
        ).logits
        each = torch.log_softmax(logits, dim=2).gather(2, labels[:, :, None])[:, :, 0].double()
        found: NDArray[np.float64] = ((each * there).sum(1) / there.sum(1)).numpy()
        return found

    with torch.inference_mode():
        return np.concatenate(
            [
                (batch(references, candidates) + batch(candidates, references)) / 2
                for candidates, references in _batches(data.candidates, data.references)
            ]
        )


def _batches(*lists: list[Any]) -> Iterator[tuple[list[Any], ...]]:
    for start in range(0, len(lists[0]), _BATCH):
        yield tuple(one[start : start + _BATCH] for one in lists)


@cache
def _clip(place: str) -> Any:
    import transformers

    from affectlab.models.devices import quiet_transformers

    with quiet_transformers():
        network = transformers.CLIPModel.from_pretrained(place).eval()
        tokenizer: Any = transformers.AutoTokenizer
        images: Any = transformers.AutoImageProcessor
        return (
            network,
            tokenizer.from_pretrained(place),
            images.from_pretrained(place, backend="pil"),
        )


@cache
def _towers(place: str) -> Any:
    from affectlab.models.text_metrics import ClipScore

    return ClipScore(place, device="cpu")


def _our_clip(data: Pairs) -> NDArray[np.float64]:
    from affectlab.models.text_metrics.rows import KeptRows

    metric = _towers(data.clip)
    # Nothing that an earlier round has encoded is used again.
    for rows in (metric.texts, metric.images):
        rows.kept = KeptRows(None, "")
    found: NDArray[np.float64] = metric.score(data.candidates, data.images).scores
    return found


def _their_clip(data: Pairs) -> NDArray[np.float64]:
    """Compute in batches: both towers for each pair."""
    import torch

    network, tokenizer, prepare = _clip(data.clip)
    found = []
    with torch.inference_mode():
        for texts, images in _batches(data.candidates, data.images):
            words = tokenizer(
                texts, return_tensors="pt", padding=True, truncation=True, max_length=77
            )
            given = network(
                input_ids=words["input_ids"],
                attention_mask=words["attention_mask"],
                pixel_values=prepare(images=images, return_tensors="pt")["pixel_values"],
            )
            a, b = given.image_embeds.double(), given.text_embeds.double()
            cosine = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))
            found.append(2.5 * cosine.clamp(min=0).numpy())
    return np.concatenate(found)


def _check(data: Pairs, ours: Any, theirs: Any) -> str:
    del data
    return require_close(ours, theirs, 1e-5, "scores")


_BEST = "Batches as they come; one pair at a time takes many times as long."
_NOTE = "tiny networks with random weights: what is saved is calls, padding and repeated work"
WORKLOADS = (
    Workload(
        name="BARTScore F, 2,000 pairs, tiny BART",
        peer="transformers, batches of 64 pairs",
        make=_make,
        ours=_our_bart,
        theirs=_their_bart,
        check=_check,
        faster=0.8,
        packages=("torch", "transformers"),
        best=_BEST,
        note=_NOTE,
    ),
    Workload(
        name="CLIPScore, 2,000 pairs on 400 images, tiny CLIP",
        peer="transformers, batches of 64 pairs",
        make=_make,
        ours=_our_clip,
        theirs=_their_clip,
        check=_check,
        faster=0.8,
        packages=("torch", "transformers"),
        best=_BEST,
        note=_NOTE,
    ),
    Workload(
        name="CLIPScore, 2,000 pairs on 2,000 images, tiny CLIP",
        peer="transformers, batches of 64 pairs",
        make=_all_different,
        ours=_our_clip,
        theirs=_their_clip,
        check=_check,
        faster=0.8,
        packages=("torch", "transformers"),
        best=_BEST,
        note=_NOTE,
    ),
)

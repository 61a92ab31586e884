"""Training the tiny networks on the spot, on what simulated people wrote about other pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affectlab._types import Ints
from affectlab.models._torch import private_seed
from affectlab.models.reactions import ReactionItem, reaction_prompt
from affectlab.models.text_metrics import candidate_sentence
from affectlab.recipes._socratis_networks import new_bart, new_blip2, new_clip, save_network

__all__ = ["Example", "train_bart", "train_blip2", "train_clip"]

_BATCH = 32
_NOT_COUNTED = -100
"""What losses of transformers pass over."""


@dataclass(frozen=True)
class Example:
    """A reaction to learn from."""

    item: ReactionItem
    text: str

    @property
    def sentence(self) -> str:
        """The sentence of section 4, for models that look at images."""
        return candidate_sentence(self.text, emotion=self.item.emotion, caption=self.item.caption)


def train_blip2(examples: Sequence[Example], folder: Path, steps: int, seed: int) -> str:
    """Train a BLIP-2 to write reasons, and its T5 to do so without the image.

    Every second batch is without images, so that the language model inside can be asked alone, as
    FLAN-T5 is in the paper's Table 3.
    """
    prompts = [reaction_prompt(one.item) for one in examples]
    with private_seed(seed):
        network, processor = new_blip2([*prompts, *(one.text for one in examples)])
        tokenizer = processor.tokenizer
        asked = [tokenizer(text)["input_ids"] for text in prompts]
        wanted = [tokenizer(one.text)["input_ids"] for one in examples]
        shown = _Pictures(examples, processor.image_processor)
        writer = network.language_model

        def loss(rows: Ints, step: int) -> Tensor:
            tokens, mask = _padded([asked[k] for k in rows], 0)
            inputs = writer.get_input_embeddings()(tokens)
            if step % 2 == 0:
                images = network.get_image_features(shown.of(rows), return_dict=True)
                inputs = torch.cat([images.pooler_output, inputs], dim=1)
                mask = torch.cat([mask.new_ones(images.pooler_output.shape[:2]), mask], dim=1)
            labels, _ = _padded([wanted[k] for k in rows], _NOT_COUNTED)
            found: Tensor = writer(inputs_embeds=inputs, attention_mask=mask, labels=labels).loss
            return found

        _train(network, loss, len(examples), steps, seed, rate=3e-3)
    return save_network(folder, network, processor)


def train_bart(examples: Sequence[Example], folder: Path, steps: int, seed: int) -> str:
    """Train a BART to write what another person wrote of the same pair and emotion."""
    cells: dict[tuple[str, str], list[int]] = {}
    for k, one in enumerate(examples):
        cells.setdefault((one.item.stimulus, one.item.emotion), []).append(k)
    two = [(a, b) for cell in cells.values() for a in cell for b in cell if a != b]
    with private_seed(seed):
        network, tokenizer = new_bart([one.text for one in examples])
        cut = [tokenizer(one.text)["input_ids"] for one in examples]

        def loss(rows: Ints, _step: int) -> Tensor:
            tokens, mask = _padded([cut[two[k][0]] for k in rows], 1)
            labels, _ = _padded([cut[two[k][1]] for k in rows], _NOT_COUNTED)
            found: Tensor = network(input_ids=tokens, attention_mask=mask, labels=labels).loss
            return found

        _train(network, loss, len(two), steps, seed, rate=2e-3)
    return save_network(folder, network, tokenizer)


def train_clip(examples: Sequence[Example], folder: Path, steps: int, seed: int) -> str:
    """Train a CLIP to tell which sentence is about which image."""
    with private_seed(seed):
        network, tokenizer, images = new_clip([one.sentence for one in examples])
        cut = [tokenizer(one.sentence)["input_ids"] for one in examples]
        shown = _Pictures(examples, images)

        def loss(rows: Ints, _step: int) -> Tensor:
            tokens, mask = _padded([cut[k] for k in rows], 1)
            found: Tensor = network(
                input_ids=tokens,
                attention_mask=mask,
                pixel_values=shown.of(rows),
                return_loss=True,
            ).loss
            return found

        _train(network, loss, len(examples), steps, seed, rate=1e-3)
    return save_network(folder, network, tokenizer, images)


def _train(
    network: Any,
    loss: Callable[[Ints, int], Tensor],
    n: int,
    steps: int,
    seed: int,
    *,
    rate: float,
) -> None:
    """Take steps of AdamW, faster at first and ever slower."""
    network.train()
    chooser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01)
    pace = torch.optim.lr_scheduler.OneCycleLR(chooser, rate, total_steps=steps, pct_start=0.1)
    for step, rows in enumerate(_batches(n, steps, seed)):
        chooser.zero_grad()
        value = loss(rows, step)
        value.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        chooser.step()
        pace.step()
    network.eval()


def _batches(n: int, steps: int, seed: int) -> Iterator[Ints]:
    """Give the rows of each batch; all are seen before one is seen again."""
    rng = np.random.default_rng([7_003, seed])
    order = np.empty(0, dtype=np.int64)
    for _ in range(steps):
        while order.size < _BATCH:
            order = np.concatenate([order, rng.permutation(n)])
        yield order[:_BATCH]
        order = order[_BATCH:]


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    tokens = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    return tokens, (torch.arange(longest)[None] < lengths[:, None]).long()


class _Pictures:
    """The pictures of examples, each prepared once."""

    def __init__(self, examples: Sequence[Example], processor: Any) -> None:
        from affectlab.models.images import load_image

        files = [one.item.image for one in examples if one.item.image is not None]
        place = {file: k for k, file in enumerate(dict.fromkeys(files))}
        pictures = [load_image(file) for file in place]
        self._pixels: Tensor = processor(images=pictures, return_tensors="pt")["pixel_values"]
        self._rows = torch.tensor([place[file] for file in files])

    def of(self, rows: Ints) -> Tensor:
        return self._pixels[self._rows[torch.from_numpy(rows)]]

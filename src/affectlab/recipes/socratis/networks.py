"""Tiny networks of the kinds that Socratis used, saved as published checkpoints are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affectlab.core.types import Ints
from affectlab.models import private_seed, quiet_transformers
from affectlab.models.reactions import ReactionItem, reaction_prompt
from affectlab.models.text_metrics import candidate_sentence
from affectlab.recipes.socratis.pairs import SIDE

__all__ = [
    "WIDTH",
    "Example",
    "new_bart",
    "new_blip2",
    "new_clip",
    "save_network",
    "train_bart",
    "train_blip2",
    "train_clip",
]

WIDTH = 48
_LAYERS, _HEADS, _PATCH = 2, 4, 8
_WORDS = 800
_QUERIES = 4
_CLIP_TOKENS = 128
"""More than the 77 of CLIP, as words that the tiny one does not know are spelt."""
_RARE = -20.0
"""Score of a letter: no word that is known is spelt."""


def save_network(folder: Path, *parts: Any) -> str:
    """Save a network and what prepares its inputs."""
    with quiet_transformers():
        for part in parts:
            part.save_pretrained(folder)
    return str(folder)


def new_blip2(texts: Sequence[str]) -> tuple[Any, Any]:
    """Give a BLIP-2 with a T5 inside, and its processor, whose tokens are pieces of the texts."""
    from transformers import (
        Blip2Config,
        Blip2ForConditionalGeneration,
        Blip2QFormerConfig,
    )
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil

    # Some names are made as the library is imported; type checkers do not see them.
    kinds: Any = import_module("transformers")
    words = kinds.T5TokenizerFast(vocab=_pieces(texts), extra_ids=4, model_max_length=512)
    processor = kinds.Blip2Processor(
        BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}), words, _QUERIES
    )
    writer = kinds.T5Config(
        vocab_size=len(words) + 3,
        d_model=WIDTH,
        d_kv=WIDTH // _HEADS,
        d_ff=2 * WIDTH,
        num_layers=_LAYERS,
        num_heads=_HEADS,
        dropout_rate=0.0,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        relative_attention_num_buckets=32,
        relative_attention_max_distance=64,
    )
    former = Blip2QFormerConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=_HEADS,
        intermediate_size=2 * WIDTH,
        encoder_hidden_size=WIDTH,
        cross_attention_frequency=1,
    )
    config = Blip2Config(
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 2 * WIDTH,
            "num_hidden_layers": _LAYERS,
            "num_attention_heads": _HEADS,
            "image_size": SIDE,
            "patch_size": _PATCH,
        },
        qformer_config=former.to_dict(),
        text_config=writer.to_dict() | {"model_type": "t5"},
        num_query_tokens=_QUERIES,
        image_token_index=words.convert_tokens_to_ids("<image>"),
    )
    return Blip2ForConditionalGeneration(config), processor


def new_bart(texts: Sequence[str]) -> tuple[Any, Any]:
    """Give a BART, and its tokenizer."""
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    cut = _byte_pairs(texts, specials, ("</s>", 2), ("<s>", 0), lower=False)
    tokenizer: Any = PreTrainedTokenizerFast
    words = tokenizer(
        tokenizer_object=cut,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=128,
    )
    config = BartConfig(
        vocab_size=cut.get_vocab_size(),
        d_model=WIDTH,
        dropout=0.0,
        encoder_layers=_LAYERS,
        decoder_layers=_LAYERS,
        encoder_attention_heads=_HEADS,
        decoder_attention_heads=_HEADS,
        encoder_ffn_dim=2 * WIDTH,
        decoder_ffn_dim=2 * WIDTH,
        max_position_embeddings=128,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
    )
    return BartForConditionalGeneration(config), words


def new_clip(texts: Sequence[str]) -> tuple[Any, Any, Any]:
    """Give a CLIP, its tokenizer, and what prepares its images."""
    from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    start, end = "<|startoftext|>", "<|endoftext|>"
    cut = _byte_pairs(texts, [start, end], (end, 1), (start, 0), lower=True)
    tokenizer: Any = PreTrainedTokenizerFast
    words = tokenizer(
        tokenizer_object=cut,
        bos_token=start,
        eos_token=end,
        pad_token=end,
        unk_token=end,
        model_max_length=_CLIP_TOKENS,
    )
    images = CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    )
    shared = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "projection_dim": WIDTH // 2,
    }
    config = CLIPConfig(
        projection_dim=WIDTH // 2,
        text_config=shared
        | {
            "vocab_size": cut.get_vocab_size(),
            "max_position_embeddings": _CLIP_TOKENS,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "pad_token_id": 1,
        },
        vision_config=shared | {"image_size": SIDE, "patch_size": _PATCH},
    )
    return CLIPModel(config), words, images


def _pieces(texts: Sequence[str]) -> list[tuple[str, float]]:
    """Give whole words with their log frequencies, and letters, of which all else is made."""
    counts = Counter(f"\u2581{word}" for text in texts for word in re.findall(r"\w+", text))
    total = counts.total()
    letters = sorted({letter for text in texts for letter in text if not letter.isspace()})
    found = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", _RARE)]
    found += [(word, math.log(n / total)) for word, n in counts.most_common(_WORDS)]
    known = {word for word, _ in found}
    return found + [(one, _RARE) for one in ("\u2581", *letters) if one not in known]


def _byte_pairs(
    texts: Sequence[str],
    specials: list[str],
    end: tuple[str, int],
    start: tuple[str, int],
    *,
    lower: bool,
) -> Any:
    """Train byte pairs on texts; every byte is known, so that every text can be read."""
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    cut = Tokenizer(models.BPE())
    if lower:
        cut.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    cut.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_WORDS,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    cut.train_from_iterator(list(texts), trainer)
    cut.post_processor = processors.RobertaProcessing(
        end, start, trim_offsets=False, add_prefix_space=False
    )
    return cut


# Training the tiny networks on the spot, on what simulated people wrote about other pairs.


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

"""A tiny encoder with random weights, saved as a checkpoint, and texts it can learn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

WORDS = {
    "joy": ("happy", "glad", "delight", "smile"),
    "sadness": ("sad", "cry", "tears", "grief"),
    "anger": ("angry", "rage", "furious", "mad"),
}
FILLERS = ("the", "a", "day", "was", "it", "so", "and", "they", "went", "home", "we", "saw")


def texts_of(n: int, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts of 3 to 14 words; each emotion word makes its label true."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        chosen = rng.choice(list(WORDS), size=rng.choice([1, 1, 2]), replace=False)
        words = list(rng.choice(FILLERS, size=rng.integers(2, 12)))
        for label in chosen:
            words.insert(rng.integers(len(words) + 1), str(rng.choice(WORDS[label])))
        texts.append(" ".join(words))
        labels.append(sorted(chosen.tolist()))
    return texts, labels


def save_bert(
    folder: Path, *, layers: int = 2, dropout: float = 0.1, tokenizer: bool = True
) -> str:
    """Save a BERT with random weights and a vocabulary of whole words and letters."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *FILLERS]
    vocabulary += [word for words in WORDS.values() for word in words]
    vocabulary += [sign for sign in letters if sign not in FILLERS]
    vocabulary += ["##" + sign for sign in letters] + ["!", "?", "."]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = BertModel(
            BertConfig(
                vocab_size=len(vocabulary),
                hidden_size=32,
                num_hidden_layers=layers,
                num_attention_heads=2,
                intermediate_size=64,
                max_position_embeddings=32,
                hidden_dropout_prob=dropout,
                attention_probs_dropout_prob=dropout,
            )
        )
    network.save_pretrained(folder)
    if tokenizer:
        words = folder / "vocab.txt"
        words.write_text("\n".join(vocabulary), encoding="utf-8")
        BertTokenizer(vocab=str(words)).save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Compute on one thread: several only wait for each other on networks this small."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

"""Tiny BART, CLIP and BERT with random weights and real tokenizers, saved as published ones are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SENTENCES = (
    "The children are laughing because the dog jumped into the water.",
    "I feel sad, since the old house burned down and nobody could help.",
    "Human feels proud, when seeing this image with a team because they won.",
    "It makes me angry that the river is full of waste again!",
    "They look calm; the sea is quiet, and the sun is setting.",
    "Does anyone know why 3,000 people had to leave their homes?",
)
"""What the tokenizers are trained on; any text can be read, since they know all bytes."""
SIDE = 32
"""Pixels of the side of an image that the tiny CLIP reads."""


@contextmanager
def seeded(seed: int = 0) -> Iterator[None]:
    """Make weights of a seed, and leave the random numbers of the caller as they were."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def livelier(network: Any, spread: float) -> None:
    """Draw all matrices wider than networks start with, so that texts differ in their scores."""
    import torch

    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 2:
                weight.normal_(0.0, spread)


def byte_pairs(
    texts: Sequence[str], vocabulary: int, specials: Sequence[str], *, lower: bool = False
) -> Any:
    """Train byte pairs on texts: every byte is known, so that every text can be read."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    cut = Tokenizer(models.BPE())
    if lower:
        cut.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    cut.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(specials),
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    cut.train_from_iterator(list(texts), trainer)
    return cut


def save_bart(
    folder: Path,
    *,
    texts: Sequence[str] = SENTENCES,
    positions: int = 64,
    width: int = 24,
    layers: int = 2,
    heads: int = 2,
    vocabulary: int = 400,
    spread: float = 0.15,
    seed: int = 0,
) -> str:
    """Save a BART for generation, with a byte-pair tokenizer that writes <s> and </s>.

    Parameters
    ----------
    positions
        Tokens that it can read, which its tokenizer says, too.
    spread
        SD of its weights; wide ones make the scores of texts differ.
    """
    from tokenizers import processors
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    folder = Path(folder)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    cut = byte_pairs(texts, vocabulary, specials)
    cut.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    PreTrainedTokenizerFast(
        tokenizer_object=cut,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=positions,
    ).save_pretrained(folder)
    with seeded(seed):
        network = BartForConditionalGeneration(
            BartConfig(
                vocab_size=cut.get_vocab_size(),
                d_model=width,
                encoder_layers=layers,
                decoder_layers=layers,
                encoder_attention_heads=heads,
                decoder_attention_heads=heads,
                encoder_ffn_dim=2 * width,
                decoder_ffn_dim=2 * width,
                max_position_embeddings=positions,
                bos_token_id=0,
                pad_token_id=1,
                eos_token_id=2,
                decoder_start_token_id=2,
                forced_eos_token_id=2,
            )
        )
        livelier(network, spread)
    network.save_pretrained(folder)
    return str(folder)


def save_clip(
    folder: Path,
    *,
    texts: Sequence[str] = SENTENCES,
    positions: int = 77,
    width: int = 32,
    layers: int = 2,
    heads: int = 2,
    vocabulary: int = 700,
    spread: float = 0.15,
    seed: int = 0,
) -> str:
    """Save a CLIP of images of 32 pixels, with a byte-pair tokenizer and its image processor."""
    from tokenizers import processors
    from transformers import CLIPConfig, CLIPModel, PreTrainedTokenizerFast
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    folder = Path(folder)
    start, end = "<|startoftext|>", "<|endoftext|>"
    cut = byte_pairs(texts, vocabulary, [], lower=True)
    cut.add_special_tokens([start, end])
    begin, finish = cut.token_to_id(start), cut.token_to_id(end)
    cut.post_processor = processors.RobertaProcessing(
        (end, finish), (start, begin), trim_offsets=False, add_prefix_space=False
    )
    PreTrainedTokenizerFast(
        tokenizer_object=cut,
        bos_token=start,
        eos_token=end,
        pad_token=end,
        unk_token=end,
        model_max_length=positions,
    ).save_pretrained(folder)
    CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}
    ).save_pretrained(folder)
    with seeded(seed):
        network = CLIPModel(
            CLIPConfig(
                projection_dim=20,
                text_config={
                    "vocab_size": cut.get_vocab_size(),
                    "hidden_size": width,
                    "intermediate_size": 2 * width,
                    "num_hidden_layers": layers,
                    "num_attention_heads": heads,
                    "max_position_embeddings": positions,
                    "projection_dim": 20,
                    "bos_token_id": begin,
                    "eos_token_id": finish,
                    "pad_token_id": finish,
                },
                vision_config={
                    "hidden_size": width,
                    "intermediate_size": 2 * width,
                    "num_hidden_layers": layers,
                    "num_attention_heads": heads,
                    "image_size": SIDE,
                    "patch_size": 8,
                    "projection_dim": 20,
                },
            )
        )
        livelier(network, spread)
    network.save_pretrained(folder)
    return str(folder)


def save_bert(
    folder: Path,
    *,
    texts: Sequence[str] = SENTENCES,
    positions: int = 64,
    width: int = 32,
    layers: int = 3,
    heads: int = 2,
    vocabulary: int = 300,
    spread: float = 0.15,
    seed: int = 0,
) -> str:
    """Save a BERT, with a tokenizer of word pieces that writes [CLS] and [SEP]."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = Path(folder)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    cut = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    cut.normalizer = normalizers.BertNormalizer(lowercase=True)
    cut.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cut.decoder = decoders.WordPiece()
    letters = [chr(at) for at in range(ord("a"), ord("z") + 1)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        special_tokens=specials,
        initial_alphabet=[*letters, *"0123456789.,;:!?'-"],
        show_progress=False,
    )
    cut.train_from_iterator(list(texts), trainer)
    cut.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=cut,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=positions,
    ).save_pretrained(folder)
    with seeded(seed):
        network = BertModel(
            BertConfig(
                vocab_size=cut.get_vocab_size(),
                hidden_size=width,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                intermediate_size=2 * width,
                max_position_embeddings=positions,
            )
        )
        livelier(network, spread)
    network.save_pretrained(folder)
    return str(folder)


def pictures(n: int = 4, seed: int = 0) -> list[Image.Image]:
    """Random pictures of several sizes, coarse enough that they differ after resizing."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        coarse = rng.integers(0, 256, (4, 4 + k % 3, 3), dtype=np.uint8)
        found.append(Image.fromarray(coarse).resize((40 + 6 * k, 36 + 3 * k)))
    return found

"""Writing reactions with an encoder and a decoder, and what their tokens are worth."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural, shown
from affectlab.models.pretrained import (
    check_place,
    load_config,
    load_image_processor,
    load_pretrained,
)
from affectlab.models.reactions.decoding import Decoding
from affectlab.models.reactions.items import key_of
from affectlab.models.reactions.ledger import Ledger, Progress, Written
from affectlab.models.text.encoders import fingerprint_of_tokenizer, load_tokenizer
from affectlab.models.training import fingerprint_of, fingerprint_of_weights

__all__ = [
    "DTYPES",
    "Asked",
    "Checkpoint",
    "ReactionNetwork",
    "Task",
    "do_all",
    "likelihood_task",
    "load_checkpoint",
    "writing_task",
]

# Checkpoints that write reactions: BLIP-2 with a T5 inside, and T5 alone.


DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_BLIP2 = "blip-2"
_EXPECTED = "BLIP-2 with a T5 inside (such as blip2-flan-t5-xl), or a T5 with text_only"


@dataclass(frozen=True)
class Checkpoint:
    """A network that writes, with what prepares its inputs."""

    network: Any
    """BLIP-2; None where texts alone are read."""
    writer: Any
    """The encoder and decoder for texts, such as FLAN-T5."""
    tokenizer: Any
    images: Any
    """Prepares pictures; None where texts alone are read."""
    fingerprint: str
    """Hash of all weights that are used, of the settings, of the tokenizer and of how pictures
    are prepared."""


def load_checkpoint(
    place: str, *, text_only: bool, precision: str, device: torch.device
) -> Checkpoint:
    """Load a checkpoint; nothing in it is executed.

    Parameters
    ----------
    text_only
        Take the language model alone: of BLIP-2 the one inside it, as the paper does for its
        Table 3, or a T5 checkpoint as it is.
    precision
        ``"fp32"``, ``"bf16"`` or ``"fp16"``: what weights are held in.

    Raises
    ------
    InputError
        When there is no such checkpoint, or it cannot be used for this.
    """
    check_place(place)
    network = load_pretrained(
        _class_of(place, text_only), place, _EXPECTED, dtype=DTYPES[precision]
    ).network
    multimodal = network.config.model_type == _BLIP2
    writer = network.language_model if multimodal else network
    if not writer.config.is_encoder_decoder:
        raise InputError(
            f"checkpoint {place!r} has a language model without an encoder "
            f"({writer.config.model_type}); expected {_EXPECTED}"
        )
    images = None if text_only else load_image_processor(place)
    tokenizer = load_tokenizer(place)
    held = writer.get_input_embeddings().num_embeddings
    used = writer if text_only else network
    words = sum(number < held for number in tokenizer.get_vocab().values())
    # The mark of an image that a processor adds has no row of its own in older checkpoints.
    if words < len(tokenizer) - 1:
        raise InputError(
            f"checkpoint {place!r}: its tokenizer has {len(tokenizer):,} tokens, its network "
            f"{held:,}; expected a tokenizer and weights that belong together"
        )
    used = used.to(device).eval().requires_grad_(False)
    return Checkpoint(
        None if text_only else used,
        used if text_only else used.language_model,
        tokenizer,
        images,
        _fingerprint(used, tokenizer, images),
    )


def _class_of(place: str, text_only: bool) -> Any:
    config = load_config(place, _EXPECTED)
    if config.model_type == _BLIP2:
        return transformers.Blip2ForConditionalGeneration
    if text_only:
        return transformers.AutoModelForSeq2SeqLM
    raise InputError(
        f"checkpoint {place!r} is {config.model_type}, which reads no images; expected "
        f"{_EXPECTED} (--text-only)"
    )


def _fingerprint(network: nn.Module, tokenizer: Any, images: Any) -> str:
    """Hash what decides about an answer."""
    settings: Any = network.config
    told = [_plain(settings.to_dict()), fingerprint_of_tokenizer(tokenizer)]
    if images is not None:
        told.append(_plain(images.to_dict()))
    return fingerprint_of(fingerprint_of_weights(network), *told)


def _plain(settings: Any) -> str:
    """Write settings in a fixed order, without the folder and the version that read them."""

    def kept(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {
            str(name): kept(value)
            for name, value in part.items()
            if not str(name).startswith("_") and name != "transformers_version"
        }

    return json.dumps(kept(settings), sort_keys=True, default=str)


# The next token: the likeliest one, or one drawn by numbers that belong to an answer alone.


class _Draws(transformers.LogitsProcessor):
    """Leaves each answer one token: one drawn by a stream of numbers that is its own.

    So the answers beside it, and their number, decide nothing. Greedily, all tokens stay.
    """

    def __init__(self, decoding: Decoding, names: Sequence[str]) -> None:
        self._decoding = decoding
        self._streams = [
            np.random.Generator(np.random.PCG64([decoding.seed % 2**64, int(name[:32], 16)]))
            for name in names
            if not decoding.greedy
        ]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:  # noqa: ARG002
        _check_finite(scores)
        if self._decoding.greedy:
            return scores
        # Drawn in double precision: another size of batch changes the last digits of logits.
        scaled = scores.double().cpu().numpy() / self._decoding.temperature
        uniform = np.array([stream.random() for stream in self._streams])
        drawn = torch.from_numpy(drawn_tokens(scaled, self._decoding.top_p, uniform))
        return torch.full_like(scores, -torch.inf).scatter(1, drawn.to(scores.device)[:, None], 0.0)


def drawn_tokens(logits: Floats, top_p: float, uniform: Floats) -> Ints:
    """Invert the cumulative distribution of each row, its tokens in the order of their numbers.

    The smallest set of tokens whose probabilities reach `top_p` is kept, as in nucleus sampling.

    Parameters
    ----------
    logits
        Of shape (answers, tokens).
    uniform
        Numbers from 0 up to 1, one for each answer.

    Notes
    -----
    In the order of their probabilities, two tokens that are nearly equally likely would change
    places, and with them what is drawn, when logits change in their last digits.

    Examples
    --------
    >>> drawn_tokens(np.log([[0.2, 0.5, 0.3]] * 3), 0.8, np.array([0.0, 0.7, 0.99])).tolist()
    [1, 2, 2]
    """
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-logits, axis=1, kind="stable")
        ordered = np.take_along_axis(p, order, axis=1)
        # A sum that reaches top_p but for rounding has reached it; the first token always stays.
        out = np.cumsum(ordered, axis=1) - ordered >= top_p - 1e-12
        ordered[out] = 0.0
        np.put_along_axis(p, order, ordered, axis=1)
    below = np.cumsum(p, axis=1)
    wanted = uniform * below[:, -1]
    # Sums that end a rounding error below leave the last token that may be drawn.
    last = p.shape[1] - 1 - (p > 0)[:, ::-1].argmax(axis=1)
    found: Ints = np.minimum((below <= wanted[:, None]).sum(axis=1), last)
    return found


_IMAGES_HELD = 1024
"""Images whose encoding is kept, since people name several emotions of each pair."""


@dataclass(frozen=True)
class Asked:
    """One prompt, as numbers of tokens, with the image that goes before it."""

    tokens: tuple[int, ...]
    image: Path | None
    sha256: str
    """Of the image; "" without one."""


class ReactionNetwork:
    """Encodes prompts, and decodes answers.

    Parameters
    ----------
    checkpoint
        The network with its tokenizer.
    device
        Where its weights are.
    """

    def __init__(self, checkpoint: Checkpoint, device: torch.device) -> None:
        self._checkpoint = checkpoint
        self._device = device
        self._seen: OrderedDict[str, Tensor] = OrderedDict()
        config = checkpoint.writer.generation_config
        ends = config.eos_token_id if config.eos_token_id is not None else _end(checkpoint)
        self._ends = [ends] if isinstance(ends, int) else list(ends)
        self._pad: int = checkpoint.tokenizer.pad_token_id
        own = checkpoint.writer.config.decoder_start_token_id
        starts = (config.decoder_start_token_id, own, self._pad)
        self._start: int = next(one for one in starts if one is not None)
        # Whatever else a checkpoint says of decoding, such as beams, is not how these are written.
        settings: Any = transformers.GenerationConfig
        checkpoint.writer.generation_config = settings(
            decoder_start_token_id=self._start,
            eos_token_id=self._ends,
            pad_token_id=self._pad,
            return_dict_in_generate=True,
            output_logits=True,
        )

    def tokens(self, text: str) -> tuple[int, ...]:
        """Turn a text into tokens, its end included; nothing is cut."""
        found = self._checkpoint.tokenizer(text, truncation=False, verbose=False)["input_ids"]
        return tuple(found)

    @torch.inference_mode()
    def write(self, asked: Sequence[Asked], names: Sequence[str], decoding: Decoding) -> list[Any]:
        """Write an answer to each prompt of a batch.

        Parameters
        ----------
        names
            Names of the answers, which seed their draws.

        Returns
        -------
        list of Written
        """
        encoded, mask = self._encoded(asked)
        writer = self._checkpoint.writer
        found = writer.generate(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            attention_mask=mask,
            max_new_tokens=decoding.max_new_tokens,
            logits_processor=[_Draws(decoding, names)],
        )
        tokens = found.sequences[:, 1:]
        worth = writer.compute_transition_scores(
            found.sequences, found.logits, normalize_logits=True
        )
        ends = torch.isin(tokens, torch.tensor(self._ends, device=self._device))
        own = ends.cumsum(dim=1) - ends.long() == 0
        # Added on the processor: some devices have no double precision.
        values = torch.where(own, worth, 0.0).cpu().double().sum(dim=1)
        return [
            Written(self._text(row[:length]), value, length, done)
            for row, value, length, done in zip(
                tokens.tolist(),
                values.tolist(),
                own.sum(dim=1).tolist(),
                ends.any(dim=1).tolist(),
                strict=True,
            )
        ]

    def _text(self, tokens: list[int]) -> str:
        found: str = self._checkpoint.tokenizer.decode(tokens, skip_special_tokens=True)
        return found.strip()

    @torch.inference_mode()
    def log_likelihood(
        self, asked: Sequence[Asked], targets: Sequence[tuple[int, ...]]
    ) -> list[float]:
        """Sum the natural log-probabilities of the tokens of given answers.

        Parameters
        ----------
        targets
            Tokens of the answers, the token of the end included.
        """
        encoded, mask = self._encoded(asked)
        wanted = self._padded(targets)
        real = _mask(targets, self._device)
        start = torch.full_like(wanted[:, :1], self._start)
        logits = self._checkpoint.writer(
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
            attention_mask=mask,
            # What stands behind the end of an answer is not seen by what is before it.
            decoder_input_ids=torch.cat([start, wanted[:, :-1]], dim=1),
            use_cache=False,
        ).logits
        _check_finite(logits)
        log_p = torch.log_softmax(logits.float(), dim=-1)
        picked = torch.where(real, log_p.gather(2, wanted[..., None])[..., 0], 0.0)
        found: list[float] = picked.cpu().double().sum(dim=1).tolist()
        return found

    def _encoded(self, asked: Sequence[Asked]) -> tuple[Tensor, Tensor]:
        """Encode prompts, each different one once.

        Returns
        -------
        Hidden states of shape (prompts, tokens, width), and which of the tokens are real.
        """
        place = {one: k for k, one in enumerate(dict.fromkeys(asked))}
        different = list(place)
        writer = self._checkpoint.writer
        tokens = [one.tokens for one in different]
        inputs = writer.get_input_embeddings()(self._padded(tokens))
        mask = _mask(tokens, self._device)
        if self._checkpoint.network is not None:
            shown = self._images(different).to(inputs.dtype)
            inputs = torch.cat([shown, inputs], dim=1)
            mask = torch.cat([mask.new_ones(shown.shape[:2]), mask], dim=1)
        mask = mask.long()
        found = writer.get_encoder()(inputs_embeds=inputs, attention_mask=mask)
        rows = torch.tensor([place[one] for one in asked], device=self._device)
        return found.last_hidden_state[rows], mask[rows]

    def _images(self, asked: Sequence[Asked]) -> Tensor:
        """Encode images as tokens of the language model, each different one once."""
        held = {one.sha256: self._seen[one.sha256] for one in asked if one.sha256 in self._seen}
        new = list({one.sha256: one for one in asked if one.sha256 not in held}.values())
        if new:
            pixels = self._pixels([one.image for one in new])
            found = self._checkpoint.network.get_image_features(pixels, return_dict=True)
            held |= zip([one.sha256 for one in new], found.pooler_output, strict=True)
        for sha256, tokens in held.items():
            self._seen[sha256] = tokens
            self._seen.move_to_end(sha256)
        while len(self._seen) > _IMAGES_HELD:
            self._seen.popitem(last=False)
        return torch.stack([held[one.sha256] for one in asked])

    def _pixels(self, images: Sequence[Path | None]) -> Tensor:
        from affectlab.models.images import load_image

        pictures = [load_image(image) for image in images if image is not None]
        found = self._checkpoint.images(images=pictures, return_tensors="pt")["pixel_values"]
        pixels: Tensor = found.to(self._device)
        return pixels

    def _padded(self, rows: Sequence[tuple[int, ...]]) -> Tensor:
        """Put rows of tokens into a table, padded behind: distances between tokens stay."""
        longest = max(map(len, rows))
        return torch.tensor(
            [[*row, *[self._pad] * (longest - len(row))] for row in rows], device=self._device
        )


def _check_finite(logits: Tensor) -> None:
    if not bool(torch.isfinite(logits).all()):
        raise InputError(
            "the network gives numbers beyond the range of its precision; expected bf16 or fp32"
        )


def _mask(rows: Sequence[tuple[int, ...]], device: torch.device) -> Tensor:
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.arange(int(lengths.max()), device=device)[None] < lengths[:, None]


def _end(checkpoint: Checkpoint) -> int:
    end: int = checkpoint.tokenizer.eos_token_id
    return end


# What is still to be written or computed, batch by batch, with a ledger.


@dataclass(frozen=True)
class Task:
    """One answer that is wanted."""

    key: str
    """Names it by all that decides about it."""
    asked: Asked
    name: str
    """Seeds the draws of a generation."""
    target: tuple[int, ...]
    """Tokens of the answer whose likelihood is wanted; empty for a generation."""
    told: Mapping[str, Any]
    """What readers of the ledger should know."""


def writing_task(
    asked: Asked, rater: str, decoding: Decoding, sample: int, told: Mapping[str, Any]
) -> Task:
    """Want an answer written.

    Parameters
    ----------
    rater
        Names the network and its precision.
    """
    # Greedily there is one answer; a number would only file it twice.
    numbered = {} if decoding.greedy else {"n": sample}
    return _task(asked, rater, {**decoding.settings(), **numbered}, sample, (), told)


def likelihood_task(
    asked: Asked, rater: str, target: tuple[int, ...], told: Mapping[str, Any]
) -> Task:
    """Want the likelihood of an answer."""
    return _task(asked, rater, {"likelihood_of": list(target)}, 0, target, told)


def _task(
    asked: Asked,
    rater: str,
    what: Mapping[str, Any],
    sample: int,
    target: tuple[int, ...],
    told: Mapping[str, Any],
) -> Task:
    question = key_of(json.dumps(asked.tokens), asked.sha256)
    key = key_of(rater, question, json.dumps(what, sort_keys=True))
    return Task(key, asked, key_of(question, str(sample)), target, told)


def do_all(
    tasks: Sequence[Task],
    network: ReactionNetwork,
    decoding: Decoding,
    *,
    batch_size: int,
    path: str | Path | None,
    what: str,
    progress: Progress | None,
) -> list[Written]:
    """Do what the ledger does not hold yet, each task once, and give all that was wanted.

    Raises
    ------
    InputError
        When a batch cannot be done; those before it are in the ledger.
    """
    with Ledger(path) as ledger:
        todo = {task.key: task for task in tasks if ledger.get(task.key) is None}
        total = len({task.key for task in tasks})
        done = total - len(todo)
        for batch in _batches(list(todo.values()), batch_size):
            if progress is not None:
                progress(what, done, total)
            answers = _answers(batch, network, decoding)
            ledger.add(
                [(task.key, task.told, one) for task, one in zip(batch, answers, strict=True)]
            )
            done += len(batch)
        if progress is not None:
            progress(what, done, total)
        found = {task.key: ledger.get(task.key) for task in tasks}
    # Every key was held or has been added.
    return [one for task in tasks if (one := found[task.key]) is not None]


def _batches(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """Give tasks of about one length together, the longest first: what fits fits to the end."""
    order = sorted(tasks, key=lambda one: (-len(one.asked.tokens), -len(one.target), one.key))
    for first in range(0, len(order), size):
        yield order[first : first + size]


def _answers(batch: Sequence[Task], network: ReactionNetwork, decoding: Decoding) -> list[Written]:
    asked = [task.asked for task in batch]
    try:
        if not batch[0].target:
            return network.write(asked, [task.name for task in batch], decoding)
        targets = [task.target for task in batch]
        values = network.log_likelihood(asked, targets)
    except InputError as error:
        names = ", ".join(dict.fromkeys(shown(task.told["stimulus"], 30) for task in batch[:3]))
        raise InputError(f"a batch with {names}: {error}") from None
    except torch.OutOfMemoryError:
        raise InputError(
            f"{plural(len(batch), 'prompt')} at a time do not fit into the memory of the GPU; "
            "expected a smaller batch_size (--config batch_size=), or bf16"
        ) from None
    return [
        Written("", value, len(target), True) for value, target in zip(values, targets, strict=True)
    ]

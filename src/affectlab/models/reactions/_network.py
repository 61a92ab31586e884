"""Writing reactions with an encoder and a decoder, and what their tokens are worth."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from affectlab.errors import InputError
from affectlab.models.reactions._checkpoint import Checkpoint
from affectlab.models.reactions._decoding import Decoding
from affectlab.models.reactions._draws import Draws
from affectlab.models.reactions._ledger import Written

__all__ = ["Asked", "ReactionNetwork"]

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
        draws = Draws(decoding, names)
        n = len(asked)
        last = torch.full((n, 1), self._start, dtype=torch.long, device=self._device)
        ends = torch.tensor(self._ends, device=self._device)
        over = torch.zeros(n, dtype=torch.bool, device=self._device)
        total = torch.zeros(n, dtype=torch.float64)
        count = torch.zeros(n, dtype=torch.long, device=self._device)
        written, past = [], None
        for _ in range(decoding.max_new_tokens):
            found = self._checkpoint.writer(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                attention_mask=mask,
                decoder_input_ids=last,
                past_key_values=past,
                use_cache=True,
            )
            past = found.past_key_values
            logits = self._finite(found.logits[:, -1])
            tokens, log_p = draws.choose(logits)
            tokens = torch.where(over, self._pad, tokens)
            # Added on the processor: some devices have no double precision.
            total += torch.where(over, 0.0, log_p).cpu().double()
            count += (~over).long()
            written.append(tokens)
            over |= torch.isin(tokens, ends)
            last = tokens[:, None]
            if bool(over.all()):
                break
        rows = torch.stack(written, dim=1).tolist()
        return [
            Written(self._text(row[:length]), value, length, done)
            for row, value, length, done in zip(
                rows, total.tolist(), count.tolist(), over.tolist(), strict=True
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
        logits = self._finite(
            self._checkpoint.writer(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                attention_mask=mask,
                # What stands behind the end of an answer is not seen by what is before it.
                decoder_input_ids=torch.cat([start, wanted[:, :-1]], dim=1),
                use_cache=False,
            ).logits
        )
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

    def _finite(self, logits: Tensor) -> Tensor:
        if not bool(torch.isfinite(logits).all()):
            raise InputError(
                "the network gives numbers beyond the range of its precision; expected bf16 or fp32"
            )
        return logits


def _mask(rows: Sequence[tuple[int, ...]], device: torch.device) -> Tensor:
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.arange(int(lengths.max()), device=device)[None] < lengths[:, None]


def _end(checkpoint: Checkpoint) -> int:
    end: int = checkpoint.tokenizer.eos_token_id
    return end

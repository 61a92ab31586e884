"""Tokens of two texts, matched by the states of an encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from affectlab._types import Bools, Floats, Ints
from affectlab.models.text._transformer import collate
from affectlab.models.text_metrics._tokens import CutTexts, batches

__all__ = ["Matcher", "begins_with_a_space"]

_STATES = 256 * 2**20
"""Bytes of states that are held at once."""


def begins_with_a_space(tokenizer: Any) -> bool:
    """Say whether a space goes before a text, so that its first word is one like the others.

    Pairs of bytes, as RoBERTa and BART have them, hold a word with the space before it; the package
    of the authors of BERTScore gives the first word its space, too.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and "ByteLevel" in repr(backend.pre_tokenizer)


@dataclass(frozen=True, eq=False)
class Matcher:
    """Encodes texts, and matches the tokens of each with those of another one."""

    network: Any
    layer: int
    """Whose states are compared; 0 are word vectors."""
    padding: int
    device: torch.device
    batch_size: int
    all_match: bool
    """Whether marks of start and end, which do not count, may be matched."""

    @torch.inference_mode()
    def matched(
        self, cut: CutTexts, counted: list[Bools], own: Ints, others: Ints
    ) -> dict[str, Floats]:
        """Give precision, recall and F of pairs of texts, each of shape (pairs,).

        Parameters
        ----------
        counted
            Of each text, which of its tokens count.
        own, others
            Where the candidate and the reference of each pair are, shape (pairs,).
        """
        precision, recall = np.zeros(len(own)), np.zeros(len(own))
        for group in self._groups(cut.lengths, own, others):
            states = self._states(cut, np.unique([own[group], others[group]]))
            longest = np.maximum(cut.lengths[own[group]], cut.lengths[others[group]])
            for batch in batches(longest, self.batch_size, 4 * 4096):
                rows = np.arange(group.start, group.stop)[batch]
                x, of_x, to_x = self._side(states, counted, own[rows])
                y, of_y, to_y = self._side(states, counted, others[rows])
                cosine = x @ y.transpose(1, 2)
                nearest = cosine.masked_fill(~to_y[:, None], -2.0).amax(dim=2)
                precision[rows] = _mean(nearest, of_x)
                nearest = cosine.masked_fill(~to_x[:, :, None], -2.0).amax(dim=1)
                recall[rows] = _mean(nearest, of_y)
        total = precision + recall
        f = 2 * precision * recall / np.where(total != 0, total, 1.0)
        return {"precision": precision, "recall": recall, "f": f}

    def _groups(self, lengths: Ints, own: Ints, others: Ints) -> Iterator[slice]:
        """Cut pairs, in their order, where the states of their texts get too large."""
        most = max(1, _STATES // (4 * int(self.network.config.hidden_size)))
        begin, n, held = 0, 0, set[int]()
        for place, pair in enumerate(zip(own.tolist(), others.tolist(), strict=True)):
            more = sum(int(lengths[text]) for text in set(pair) - held)
            if held and n + more > most:
                yield slice(begin, place)
                begin, n, held = place, 0, set()
                more = sum(int(lengths[text]) for text in set(pair))
            held.update(pair)
            n += more
        if len(own):
            yield slice(begin, len(own))

    def _states(self, cut: CutTexts, texts: Ints) -> dict[int, Tensor]:
        """Give the states of texts, of length 1, shape (tokens, width) each."""
        found: dict[int, Tensor] = {}
        for batch in batches(cut.lengths[texts], self.batch_size, 4 * 4096):
            inputs = collate([cut.ids[row] for row in texts[batch]], self.padding)
            inputs = {name: part.to(self.device) for name, part in inputs.items()}
            layers = self.network(**inputs, output_hidden_states=True).hidden_states
            states = torch.nn.functional.normalize(layers[self.layer].float(), dim=-1)
            for place, row in enumerate(texts[batch].tolist()):
                # A copy: a view would hold the padding of the whole batch.
                found[row] = states[place, : len(cut.ids[row])].clone()
        return found

    def _side(
        self, states: Mapping[int, Tensor], counted: list[Bools], rows: Ints
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give states of texts, which of them count, and which may be matched."""
        padded = pad_sequence([states[row] for row in rows.tolist()], batch_first=True)
        of = pad_sequence([torch.from_numpy(counted[row]) for row in rows], batch_first=True)
        of = of.to(self.device)
        if not self.all_match:
            return padded, of, of
        lengths = torch.tensor([len(counted[row]) for row in rows], device=self.device)
        return padded, of, torch.arange(padded.shape[1], device=self.device) < lengths[:, None]


def _mean(nearest: Tensor, counted: Tensor) -> Floats:
    total = torch.where(counted, nearest, 0.0).cpu().double().sum(dim=1)
    mean: Floats = (total / counted.sum(dim=1).cpu()).numpy()
    return mean

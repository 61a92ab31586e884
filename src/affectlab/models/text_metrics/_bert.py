"""BERTScore: how well the tokens of two texts match in the states of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from affectlab._types import Bools, Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.models._checkpoints import fingerprint_of, fingerprint_of_weights
from affectlab.models._pretrained import check_place
from affectlab.models._torch import pick_device
from affectlab.models.embedding._transformers_checkpoint import load_network, read_checkpoint
from affectlab.models.text._pretrained import (
    context_of,
    fingerprint_of_tokenizer,
    load_tokenizer,
)
from affectlab.models.text._transformer import collate
from affectlab.models.text_metrics._item import TextItem, check_items, name_of, text_items
from affectlab.models.text_metrics._load_network import model_name, pick_dtype
from affectlab.models.text_metrics._scores import (
    OverReferences,
    TextScores,
    check_over,
    names_of,
    over_references,
    warn_of_cut_items,
)
from affectlab.models.text_metrics._tokens import CutTexts, batches, cut_texts

__all__ = ["BertScore"]

_Direction: TypeAlias = Literal["precision", "recall", "f"]
_WAYS = {
    "precision": "candidate tokens in references",
    "recall": "reference tokens in candidates",
    "f": "harmonic mean of precision and recall",
}
_LAYERS = MappingProxyType(
    {
        "bert-base-uncased": 9,
        "bert-large-uncased": 18,
        "bert-base-multilingual-cased": 9,
        "roberta-base": 10,
        "roberta-large": 17,
        "roberta-large-mnli": 19,
        "distilbert-base-uncased": 5,
        "distilroberta-base": 5,
        "microsoft/deberta-xlarge-mnli": 40,
    }
)
"""Layers that the authors found best, by the name of the checkpoint."""
_ORGANISATIONS = ("google-bert/", "FacebookAI/", "distilbert/")
"""Under which the same checkpoints stand today."""


class BertScore:
    """How well each token of a text matches the nearest token of another one.

    With states x_i of the candidate and y_j of the reference, of length 1:
    P = mean_i max_j x_i·y_j, R = mean_j max_i x_i·y_j, F = 2 P R / (P + R). Marks of start and end
    are no tokens here. Neither weights by rarity nor baselines are applied.

    Parameters
    ----------
    model
        Folder or name of a checkpoint of an encoder.
    layer
        Whose states are compared; 0 are word vectors. None: the one that the authors recommend
        for that name, or the last one. The name of the metric says which.
    direction
        ``"precision"``, ``"recall"`` or ``"f"``.
    references
        What becomes of several references: the ``"max"`` of their scores, as published, or the
        ``"mean"``.
    batch_size, max_tokens, device, precision
        As for :class:`BartScore`.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    Notes
    -----
    States of all texts are held at once: 4 bytes times tokens times the width of the layer.

    References
    ----------
    Zhang et al. (2020), BERTScore, section 3.

    Examples
    --------
    ::

        BertScore("roberta-large").score(["They won."], ["The team has won."]).scores
    """

    def __init__(
        self,
        model: str | Path = "roberta-large",
        *,
        layer: int | None = None,
        direction: _Direction = "f",
        references: OverReferences = "max",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
    ) -> None:
        if direction not in get_args(_Direction):
            raise unknown_name("direction", direction, get_args(_Direction))
        check_over(references)
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r}; expected a whole number from 1 on")
        self.model, self.direction, self.references = str(model), direction, references
        self.device, self.batch_size = pick_device(device), batch_size
        self.precision, dtype = pick_dtype(precision, self.device)
        check_place(self.model)
        checkpoint = read_checkpoint(self.model, "text")
        self.tokenizer = load_tokenizer(self.model)
        loaded = load_network(checkpoint, dtype)
        lacking = [name for name in loaded.lacking if "pooler" not in name]
        if lacking:
            raise InputError(
                f"checkpoint {self.model!r} lacks weights ({lacking[0]}, {len(lacking)} in all); "
                "expected an encoder of texts with its weights"
            )
        whole = loaded.network
        if getattr(checkpoint.config, "is_encoder_decoder", False):
            whole = whole.get_encoder()
        whole = getattr(whole, "text_model", whole)
        self.network: Any = whole.eval().requires_grad_(False).to(self.device)
        self.limit = context_of(self.network, self.tokenizer, max_tokens)
        self.layer = self._layer(layer)
        marks = ("cls", "sep", "bos", "eos", "pad")
        numbers = {getattr(self.tokenizer, f"{mark}_token_id", None) for mark in marks}
        self._marks = np.array(sorted(number for number in numbers if number is not None))
        self.name = self._named(direction)

    def _layer(self, layer: int | None) -> int:
        last = int(self.network.config.num_hidden_layers)
        if layer is None:
            name = self.model
            for start in _ORGANISATIONS:
                name = name.removeprefix(start)
            return min(_LAYERS.get(name, last), last)
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= last:
            raise InputError(
                f"layer {layer!r}; expected a whole number from 0 (word vectors) to {last}"
            )
        return layer

    def _named(self, direction: str) -> str:
        half = "" if self.precision == "fp32" else f", {self.precision}"
        return (
            f"BERTScore {direction} [{model_name(self.model)}, layer {self.layer}, "
            f"{self.references} of references{half}]"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {
            "model": model_name(self.model),
            "layer": self.layer,
            "direction": self.direction,
            "references": self.references,
            "max_tokens": self.limit,
            "precision": self.precision,
        }

    def fingerprint(self) -> str:
        """Hash weights, tokenizer, layer, length and precision."""
        return fingerprint_of(
            fingerprint_of_weights(self.network),
            fingerprint_of_tokenizer(self.tokenizer),
            self.layer,
            self.limit,
            self.precision,
        )

    def score(
        self,
        candidates: Sequence[str] | Sequence[TextItem],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    ) -> TextScores:
        """Score n candidates against their references.

        Parameters
        ----------
        candidates
            n texts, or n items that have their references.
        references
            n texts, or n lists of texts.

        Returns
        -------
        TextScores
            From -1 to 1; `parts` has precision, recall and F but for the score itself.

        Raises
        ------
        InputError
            When a text is empty or has no token, or an item has no reference.

        Warns
        -----
        TruncatedTextWarning
            When texts are longer than the model reads.
        """
        return self.score_items(text_items(candidates, references))

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; see :meth:`score`."""
        check_items(items, "BERTScore", references=True)
        sizes = np.array([len(item.references) for item in items], dtype=np.int64)
        cut = cut_texts(
            self.tokenizer,
            [text for item in items for text in (item.candidate, *item.references)],
            self.limit,
        )
        own = cut.rows(item.candidate for item in items)
        others = cut.rows(text for item in items for text in item.references)
        counted = self._counted(cut)
        for place, item in enumerate(items):
            for text in (item.candidate, *item.references):
                if not counted[cut.place[text]].any():
                    raise InputError(
                        f"{name_of(item, place)}: a text has no token that BERTScore could match; "
                        "expected words"
                    )
        states = self._states(cut, counted)
        found = self._matched(states, np.repeat(own, sizes), others)
        held = {
            way: over_references(values, sizes, self.references) for way, values in found.items()
        }
        truncated, longest = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)
        if len(items):
            start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            truncated = np.logical_or.reduceat(cut.too_long(others), start) | cut.too_long(own)
            longest = np.maximum.reduceat(cut.n_tokens[others], start)
        warn_of_cut_items(self.name, truncated, cut.limit, int(cut.n_tokens.max(initial=0)))
        return TextScores(
            metric=self.name,
            scores=held.pop(self.direction),
            items=names_of(items),
            n_tokens=cut.n_tokens[own],
            n_reference_tokens=longest,
            truncated=truncated,
            limit=cut.limit,
            model=self.model,
            direction=_WAYS[self.direction],
            settings=self.settings,
            parts={self._named(way): values for way, values in held.items()},
        )

    def _counted(self, cut: CutTexts) -> list[Bools]:
        return [~np.isin(ids, self._marks) for ids in cut.ids]

    @torch.inference_mode()
    def _states(self, cut: CutTexts, counted: Sequence[Bools]) -> list[Tensor]:
        """Give the states of each text, of length 1, shape (tokens, width) each."""
        found: list[Tensor] = [torch.empty(0)] * len(cut.ids)
        padding = self.tokenizer.pad_token_id
        for batch in batches(cut.lengths, self.batch_size, 4 * 4096):
            inputs = collate([cut.ids[row] for row in batch], padding)
            inputs = {name: part.to(self.device) for name, part in inputs.items()}
            layers = self.network(**inputs, output_hidden_states=True).hidden_states
            states = torch.nn.functional.normalize(layers[self.layer].float(), dim=-1)
            for place, row in enumerate(batch):
                kept = torch.from_numpy(np.flatnonzero(counted[row])).to(self.device)
                found[row] = states[place, kept]
        return found

    @torch.inference_mode()
    def _matched(self, states: Sequence[Tensor], own: Ints, others: Ints) -> dict[str, Floats]:
        """Give precision, recall and F of pairs of texts, each of shape (pairs,)."""
        lengths = np.array([len(part) for part in states], dtype=np.int64)
        precision, recall = np.zeros(len(own)), np.zeros(len(own))
        for batch in batches(np.maximum(lengths[own], lengths[others]), self.batch_size, 4 * 4096):
            sides = []
            for rows in (own[batch], others[batch]):
                padded = pad_sequence([states[row] for row in rows], batch_first=True)
                n = torch.from_numpy(lengths[rows]).to(self.device)
                there = torch.arange(padded.shape[1], device=self.device) < n[:, None]
                sides.append((padded, there, n))
            (x, has_x, n_x), (y, has_y, n_y) = sides
            cosine = x @ y.transpose(1, 2)
            nearest = cosine.masked_fill(~has_y[:, None], -2.0).amax(dim=2)
            precision[batch] = (nearest * has_x).double().sum(dim=1).div(n_x).cpu().numpy()
            nearest = cosine.masked_fill(~has_x[:, :, None], -2.0).amax(dim=1)
            recall[batch] = (nearest * has_y).double().sum(dim=1).div(n_y).cpu().numpy()
        total = precision + recall
        f = 2 * precision * recall / np.where(total != 0, total, 1.0)
        return {"precision": precision, "recall": recall, "f": f}

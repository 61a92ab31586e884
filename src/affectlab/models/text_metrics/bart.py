"""BARTScore: how likely a network that writes texts finds one text after another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.models.devices import pick_device
from affectlab.models.text.encoders import (
    collate,
    context_of,
    fingerprint_of_tokenizer,
    load_tokenizer,
)
from affectlab.models.text_metrics.items import TextItem, check_items, text_items
from affectlab.models.text_metrics.networks import (
    CutTexts,
    batches,
    cut_texts,
    load_seq2seq,
    model_name,
    pick_dtype,
)
from affectlab.models.text_metrics.scores import (
    OverReferences,
    TextScores,
    check_over,
    names_of,
    over_references,
    warn_of_cut_items,
)
from affectlab.models.training import fingerprint_of, fingerprint_of_weights

__all__ = [
    "BartScore",
    "Direction",
    "Writer",
]

# How likely a network that writes texts finds one text after another.


_STATES = 128 * 2**20
"""Bytes of encoded sources that are held at once."""
_IGNORED = -100


class Writer:
    """A network with an encoder and a decoder, and how likely it finds texts.

    Parameters
    ----------
    place
        A folder, or the name of a checkpoint.
    batch_size
        Pairs of texts at a time, fewer where texts are long.
    max_tokens
        Tokens of a text that are read; by default as many as the network can.
    device, precision
        Where and in what it computes.
    """

    def __init__(
        self,
        place: str,
        *,
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
    ) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r}; expected a whole number from 1 on")
        self.device = pick_device(device)
        self.precision, dtype = pick_dtype(precision, self.device)
        self.tokenizer = load_tokenizer(place)
        self.network = load_seq2seq(place, dtype).to(self.device)
        self.limit = context_of(self.network, self.tokenizer, max_tokens)
        self.batch_size = batch_size
        start = self.network.config.decoder_start_token_id
        if start is None:
            raise InputError(
                f"checkpoint {place!r} does not say with which token its decoder starts; expected "
                "decoder_start_token_id in config.json"
            )
        self.start = int(start)
        self._fingerprint = ""

    def fingerprint(self) -> str:
        """Hash weights, tokenizer, length and precision."""
        if not self._fingerprint:
            self._fingerprint = fingerprint_of(
                fingerprint_of_weights(self.network),
                fingerprint_of_tokenizer(self.tokenizer),
                self.limit,
                self.precision,
            )
        return self._fingerprint

    def cut(self, texts: Sequence[str]) -> CutTexts:
        """Cut different texts into tokens, each once."""
        return cut_texts(self.tokenizer, texts, self.limit)

    @torch.inference_mode()
    def mean_log_probabilities(self, texts: CutTexts, source: Ints, target: Ints) -> Floats:
        """Give the mean log-probability of the tokens of each target after its source.

        Each source is encoded once, and each pair of texts is computed once.

        Parameters
        ----------
        texts
            What sources and targets are in.
        source, target
            Where they are, shape (n,).

        Returns
        -------
        ndarray
            Natural logarithms per token, marks of start and end included; shape (n,).
        """
        pairs, back = np.unique(np.stack([source, target], axis=1), axis=0, return_inverse=True)
        found = np.zeros(len(pairs))
        # Pairs of one source stand together, long sources first.
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -texts.lengths[pairs[:, 0]]))
        for group in self._groups(texts, pairs[order, 0]):
            rows = order[group]
            sources, held = np.unique(pairs[rows, 0], return_inverse=True)
            states, mask = self._encoded(texts, sources)
            lengths = texts.lengths[pairs[rows, 1]]
            for batch in batches(lengths, self.batch_size):
                at = torch.from_numpy(held[batch])
                ids = [texts.ids[row] for row in pairs[rows[batch], 1]]
                found[rows[batch]] = self._decoded(states, mask, at, ids)
        return found[back.reshape(-1)]

    def _groups(self, texts: CutTexts, source: Ints) -> list[slice]:
        """Cut pairs, sorted by source, where what is held of sources gets too large."""
        width = int(self.network.config.hidden_size) * self.network.dtype.itemsize
        most = max(1, _STATES // width)
        new = np.flatnonzero(np.diff(source, prepend=-1))
        found, begin, n, longest = [], 0, 0, 0
        for place in new:
            length = int(texts.lengths[source[place]])
            longest = max(longest, length)
            if n and (n + 1) * longest > most:
                found.append(slice(begin, int(place)))
                begin, n, longest = int(place), 0, length
            n += 1
        return [*found, slice(begin, len(source))] if len(source) else []

    def _encoded(self, texts: CutTexts, sources: Ints) -> tuple[Tensor, Tensor]:
        """Give states of shape (sources, tokens, width) and their mask."""
        lengths = texts.lengths[sources]
        longest = int(lengths.max())
        width = int(self.network.config.hidden_size)
        states = torch.zeros(
            (len(sources), longest, width), dtype=self.network.dtype, device=self.device
        )
        mask = torch.zeros((len(sources), longest), dtype=torch.int64, device=self.device)
        encoder = self.network.get_encoder()
        for batch in batches(lengths, self.batch_size, 4 * 4096):
            inputs = collate([texts.ids[row] for row in sources[batch]], self.padding)
            inputs = {name: part.to(self.device) for name, part in inputs.items()}
            given = encoder(**inputs).last_hidden_state
            rows = torch.from_numpy(batch).to(self.device)
            states[rows, : given.shape[1]] = given
            mask[rows, : given.shape[1]] = inputs["attention_mask"]
        return states, mask

    def _decoded(self, states: Tensor, mask: Tensor, at: Tensor, targets: Sequence[Ints]) -> Floats:
        from transformers.modeling_outputs import BaseModelOutput

        rows = at.to(self.device)
        mask = mask[rows]
        longest = int(mask.sum(dim=1).max())
        found = self.log_probabilities(
            self.network,
            targets,
            encoder_outputs=BaseModelOutput(last_hidden_state=states[rows, :longest]),
            attention_mask=mask[:, :longest],
        )
        total = found.double().sum(dim=1).cpu().numpy()
        return cast("Floats", total / np.array([len(ids) for ids in targets]))

    def log_probabilities(self, network: Any, targets: Sequence[Ints], **source: Any) -> Tensor:
        """Give the log-probability of each token of targets, 0 behind their ends.

        Parameters
        ----------
        network
            That of the writer, as it is or wrapped.
        source
            What it reads before, as arguments of the network.

        Returns
        -------
        Tensor
            Natural logarithms, shape (targets, tokens).
        """
        length = max(len(ids) for ids in targets)
        labels = torch.full((len(targets), length), _IGNORED, dtype=torch.int64)
        before = torch.full((len(targets), length), self.padding, dtype=torch.int64)
        before[:, 0] = self.start
        for row, ids in enumerate(targets):
            own = torch.from_numpy(ids)
            labels[row, : len(ids)] = own
            before[row, 1 : len(ids)] = own[:-1]
        logits = network(**source, decoder_input_ids=before.to(self.device), use_cache=False).logits
        wrong = functional.cross_entropy(
            logits.flatten(0, 1).float(),
            labels.flatten().to(self.device),
            ignore_index=_IGNORED,
            reduction="none",
        )
        return -wrong.view(len(targets), length)

    @property
    def padding(self) -> Any:
        """Token for padding."""
        return self.tokenizer.pad_token_id


Direction: TypeAlias = Literal["precision", "recall", "f"]
_WAYS = {
    "precision": "reference -> candidate",
    "recall": "candidate -> reference",
    "f": "mean of reference -> candidate and candidate -> reference",
}


class BartScore:
    """Mean log-probability of the tokens of one text after another was read.

    With tokens y_1 … y_m of the target, marks of start and end included, and the source x,
    BARTScore(x -> y) = 1/m sum_t ln p(y_t | y_<t, x); it is never above 0, and nearer 0 is better.
    Precision is reference -> candidate, recall candidate -> reference, F their mean.

    Parameters
    ----------
    model
        Folder or name of a checkpoint with an encoder and a decoder.
    direction
        ``"precision"``, ``"recall"`` or ``"f"``.
    references
        What becomes of several references: the ``"mean"`` of their scores, or the ``"max"``.
    batch_size
        Pairs at a time, fewer where texts are long; it does not change a score.
    max_tokens
        Tokens of a text that are read; by default as many as the model can.
    device
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
    precision
        ``"fp32"``, ``"bf16"``, ``"fp16"``, or ``"auto"``: half on a GPU. Half precision changes
        scores, so that it is part of the name.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    References
    ----------
    Yuan, Neubig and Liu (2021), BARTScore, section 3. Deng et al. (2023), Socratis, section 4.

    Examples
    --------
    ::

        metric = BartScore("facebook/bart-large-cnn", direction="recall")
        metric.score(["They won."], [["The team has won.", "A victory!"]]).scores
    """

    def __init__(
        self,
        model: str | Path = "facebook/bart-large-cnn",
        *,
        direction: Direction = "f",
        references: OverReferences = "mean",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
    ) -> None:
        check_choice("direction", direction, get_args(Direction))
        check_over(references)
        self.model, self.direction, self.references = str(model), direction, references
        self.writer = Writer(
            self.model,
            batch_size=batch_size,
            max_tokens=max_tokens,
            device=device,
            precision=precision,
        )
        self.name = self._named(direction)

    def _named(self, direction: str) -> str:
        half = self.writer.precision
        more = "" if half == "fp32" else f", {half}"
        return (
            f"BARTScore {direction} [{model_name(self.model)}, {self.references} of references"
            f"{more}]"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {
            "model": model_name(self.model),
            "direction": self.direction,
            "references": self.references,
            "max_tokens": self.writer.limit,
            "precision": self.writer.precision,
        }

    def fingerprint(self) -> str:
        """Hash weights, tokenizer, length and precision."""
        return self.writer.fingerprint()

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
            Mean log-probabilities per token, 0 or less; `parts` has both directions for F.

        Raises
        ------
        InputError
            When a text is empty, or an item has no reference.

        Warns
        -----
        TruncatedTextWarning
            When texts are longer than the model reads.
        """
        return self.score_items(text_items(candidates, references))

    def score_items(self, items: Sequence[TextItem]) -> TextScores:
        """Score items; see :meth:`score`."""
        check_items(items, "BARTScore", references=True)
        sizes = np.array([len(item.references) for item in items], dtype=np.int64)
        texts = self.writer.cut(
            [text for item in items for text in (item.candidate, *item.references)]
        )
        own = texts.rows(item.candidate for item in items)
        candidate = np.repeat(own, sizes)
        reference = texts.rows(text for item in items for text in item.references)
        of: dict[str, Floats] = {}
        if self.direction != "recall":
            of["precision"] = self.writer.mean_log_probabilities(texts, reference, candidate)
        if self.direction != "precision":
            of["recall"] = self.writer.mean_log_probabilities(texts, candidate, reference)
        if self.direction == "f":
            of["f"] = (of["precision"] + of["recall"]) / 2
        held = {way: over_references(values, sizes, self.references) for way, values in of.items()}
        longest, truncated = texts.of_items(own, reference, sizes)
        warn_of_cut_items(self.name, truncated, texts.limit, int(texts.n_tokens.max(initial=0)))
        return TextScores(
            metric=self.name,
            scores=held.pop(self.direction),
            items=names_of(items),
            n_tokens=texts.n_tokens[own],
            n_reference_tokens=longest,
            truncated=truncated,
            limit=texts.limit,
            model=self.model,
            direction=_WAYS[self.direction],
            settings=self.settings,
            parts={self._named(way): values for way, values in held.items()},
        )

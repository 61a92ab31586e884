"""BERTScore: how well the tokens of two texts match in the states of an encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Bools, Floats, Ints
from affectlab.models.devices import pick_device
from affectlab.models.embedding import load_network, read_checkpoint
from affectlab.models.pretrained import (
    lacks_weights,
)
from affectlab.models.text.encoders import (
    collate,
    context_of,
    fingerprint_of_tokenizer,
    load_tokenizer,
)
from affectlab.models.text_metrics.items import TextItem, check_items, name_of, text_items
from affectlab.models.text_metrics.networks import (
    CutTexts,
    batches,
    cut_texts,
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
    "BertScore",
    "Matcher",
    "begins_with_a_space",
    "recommended_layer",
]

# Tokens of two texts, matched by the states of an encoder.


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


# The layers whose states make the best BERTScore, as its authors found.


_LAYERS = MappingProxyType(
    {
        "bert-base-uncased": 9,
        "bert-large-uncased": 18,
        "bert-base-multilingual-cased": 9,
        "roberta-base": 10,
        "roberta-large": 17,
        "roberta-large-mnli": 19,
        "xlm-roberta-base": 9,
        "xlm-roberta-large": 17,
        "distilbert-base-uncased": 5,
        "distilroberta-base": 5,
        "microsoft/deberta-large-mnli": 18,
        "microsoft/deberta-xlarge-mnli": 40,
        "microsoft/mpnet-base": 8,
    }
)
"""By the name of the checkpoint, from the table of bert-score 0.3.13."""
_ORGANISATIONS = ("google-bert/", "FacebookAI/", "distilbert/")
"""Under which the same checkpoints stand today."""


def recommended_layer(model: str, last: int) -> int:
    """Give the layer that the authors of BERTScore recommend for a checkpoint, or the last one.

    Parameters
    ----------
    model
        Name of a checkpoint, or a folder, whose own name is looked up.
    last
        Number of the last layer.

    Examples
    --------
    >>> recommended_layer("FacebookAI/roberta-large", 24), recommended_layer("mine/encoder", 6)
    (17, 6)
    """
    name = Path(model).resolve().name if Path(model).is_dir() else model
    for start in _ORGANISATIONS:
        name = name.removeprefix(start)
    layer = next(
        (layer for known, layer in _LAYERS.items() if name in (known, known.split("/")[-1])), last
    )
    # A folder may have the name of a checkpoint, and hold a smaller network.
    return min(layer, last)


_Direction: TypeAlias = Literal["precision", "recall", "f"]
_WAYS = {
    "precision": "candidate tokens in references",
    "recall": "reference tokens in candidates",
    "f": "harmonic mean of precision and recall",
}


class BertScore:
    """How well each token of a text matches the nearest token of another one.

    With states x_i of the candidate and y_j of the reference, of length 1:
    P = mean_i max_j x_i·y_j, R = mean_j max_i x_i·y_j, F = 2 P R / (P + R). Marks of start and end
    are not among the tokens whose mean is taken, but a token may match one, as in the package of
    the authors (bert-score 0.3.13). Neither weights by rarity nor baselines are applied.

    Parameters
    ----------
    model
        Folder or name of a checkpoint of an encoder.
    layer
        Whose states are compared; 0 are word vectors. None: the one that the authors recommend
        for a checkpoint or a folder of that name, or the last one. The name of the metric says
        which.
    direction
        ``"precision"``, ``"recall"`` or ``"f"``.
    references
        What becomes of several references: the ``"max"`` of their scores, as published, or the
        ``"mean"``.
    match_marks
        Whether tokens may match marks of start and end; torchmetrics leaves these out.
    batch_size, max_tokens, device, precision
        As for :class:`BartScore`.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    Notes
    -----
    A tokenizer of pairs of bytes (RoBERTa, BART) is given a space before each text, as in that
    package: the first word is cut as it would be elsewhere in a sentence. One thing is not as
    there: where all cosines of a token are below 0, padding of a batch counts as 0 there.

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
        match_marks: bool = True,
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
    ) -> None:
        check_choice("direction", direction, get_args(_Direction))
        check_over(references)
        if not isinstance(match_marks, bool):
            raise InputError(f"match_marks {match_marks!r}; expected true or false")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size {batch_size!r}; expected a whole number from 1 on")
        self.model, self.direction, self.references = str(model), direction, references
        self.device, self.batch_size = pick_device(device), batch_size
        self.precision, dtype = pick_dtype(precision, self.device)
        checkpoint = read_checkpoint(self.model, "text")
        self.tokenizer = load_tokenizer(self.model)
        loaded = load_network(checkpoint, dtype)
        lacking = [name for name in loaded.lacking if "pooler" not in name]
        if lacking:
            raise lacks_weights(self.model, lacking, "an encoder of texts")
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
        self.match_marks, self._spaced = match_marks, begins_with_a_space(self.tokenizer)
        self._matcher = Matcher(
            self.network,
            self.layer,
            self.tokenizer.pad_token_id,
            self.device,
            batch_size,
            match_marks,
        )
        self.name = self._named(direction)

    def _layer(self, layer: int | None) -> int:
        last = int(self.network.config.num_hidden_layers)
        if layer is None:
            return recommended_layer(self.model, last)
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= last:
            raise InputError(
                f"layer {layer!r}; expected a whole number from 0 (word vectors) to {last}"
            )
        return layer

    def _named(self, direction: str) -> str:
        half = "" if self.precision == "fp32" else f", {self.precision}"
        half += "" if self.match_marks else ", no marks"
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
            "match_marks": self.match_marks,
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
        texts = [self._read(text) for item in items for text in (item.candidate, *item.references)]
        cut = cut_texts(self.tokenizer, texts, self.limit)
        own = cut.rows(self._read(item.candidate) for item in items)
        others = cut.rows(self._read(text) for item in items for text in item.references)
        counted = self._counted(cut)
        for place, item in enumerate(items):
            for text in (item.candidate, *item.references):
                if not counted[cut.place[self._read(text)]].any():
                    raise InputError(
                        f"{name_of(item, place)}: a text has no token that BERTScore could match; "
                        "expected words"
                    )
        found = self._matcher.matched(cut, counted, np.repeat(own, sizes), others)
        held = {
            way: over_references(values, sizes, self.references) for way, values in found.items()
        }
        longest, truncated = cut.of_items(own, others, sizes)
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

    def _read(self, text: str) -> str:
        """Give a text as it is cut into tokens."""
        return f" {text.strip()}" if self._spaced else text.strip()

    def _counted(self, cut: CutTexts) -> list[Bools]:
        return [~np.isin(ids, self._marks) for ids in cut.ids]

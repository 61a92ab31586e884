"""BARTScore: how likely a network that writes texts finds one text after another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.models.text_metrics._item import TextItem, check_items, text_items
from affectlab.models.text_metrics._load_network import model_name
from affectlab.models.text_metrics._scores import (
    OverReferences,
    TextScores,
    check_over,
    names_of,
    over_references,
    warn_of_cut_items,
)
from affectlab.models.text_metrics._seq2seq import Writer

__all__ = ["BartScore", "Direction"]

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
        if direction not in get_args(Direction):
            raise unknown_name("direction", direction, get_args(Direction))
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

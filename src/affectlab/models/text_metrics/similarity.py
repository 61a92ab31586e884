"""How near the embeddings of two texts are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.models.text_metrics.items import TextItem, check_items, text_items
from affectlab.models.text_metrics.networks import model_name
from affectlab.models.text_metrics.rows import TextRows
from affectlab.models.text_metrics.scores import (
    OverReferences,
    TextScores,
    check_over,
    names_of,
    over_references,
    warn_of_cut_items,
)

__all__ = ["SentenceSimilarity"]


class SentenceSimilarity:
    """Cosine of the embeddings of a candidate and of a reference.

    An embedding is the mean of the last states over tokens, or what else `pooling` says.

    Parameters
    ----------
    model
        Folder or name of a checkpoint of an encoder of texts.
    pooling
        ``"mean"`` over tokens, ``"cls"``, or ``"auto"``: the features of a model with two towers,
        the mean of others.
    references
        What becomes of several references: the ``"mean"`` of their cosines, or the ``"max"``.
    batch_size, max_tokens, device, precision, cache
        As for :class:`ClipScore`.

    Raises
    ------
    InputError
        When a setting is not known, or the checkpoint cannot be used.

    References
    ----------
    Reimers and Gurevych (2019), Sentence-BERT, section 3.

    Examples
    --------
    ::

        metric = SentenceSimilarity("sentence-transformers/all-MiniLM-L6-v2")
        metric.score(["They won."], ["The team has won."]).scores
    """

    def __init__(
        self,
        model: str | Path = "sentence-transformers/all-MiniLM-L6-v2",
        *,
        pooling: str = "auto",
        references: OverReferences = "mean",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        precision: str = "fp32",
        cache: str | Path | None = None,
    ) -> None:
        check_over(references)
        self.model, self.references = str(model), references
        self.texts = TextRows(
            self.model,
            pooling=pooling,
            batch_size=batch_size,
            max_tokens=max_tokens,
            device=device,
            precision=precision,
            cache=cache,
        )
        half = "" if self.texts.precision == "fp32" else f", {self.texts.precision}"
        self.name = (
            f"sentence similarity [{model_name(self.model)}, {self.texts.tower.pooling}, "
            f"{references} of references{half}]"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {
            "model": model_name(self.model),
            "pooling": self.texts.tower.pooling,
            "references": self.references,
            "max_tokens": self.texts.limit,
            "precision": self.texts.precision,
        }

    def fingerprint(self) -> str:
        """Hash what decides on the embedding of a text."""
        return self.texts.fingerprint()

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
            From -1 to 1.

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
        check_items(items, "sentence similarity", references=True)
        sizes = np.array([len(item.references) for item in items], dtype=np.int64)
        own = [item.candidate for item in items]
        others = [text for item in items for text in item.references]
        cut = self.texts.cut([*own, *others])
        at, of_others = cut.rows(own), cut.rows(others)
        longest, truncated = cut.of_items(at, of_others, sizes)
        scores = np.zeros(0)
        if len(items):
            candidate = self.texts.rows(own, cut)[np.repeat(np.arange(len(items)), sizes)]
            cosine = np.einsum("ij,ij->i", candidate, self.texts.rows(others, cut))
            scores = over_references(cosine, sizes, self.references)
        warn_of_cut_items(self.name, truncated, cut.limit, int(cut.n_tokens.max(initial=0)))
        return TextScores(
            metric=self.name,
            scores=scores,
            items=names_of(items),
            n_tokens=cut.n_tokens[at],
            n_reference_tokens=longest,
            truncated=truncated,
            limit=cut.limit,
            model=self.model,
            direction="candidate and reference",
            settings=self.settings,
        )

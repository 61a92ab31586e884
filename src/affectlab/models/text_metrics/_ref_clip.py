"""RefCLIPScore: how near a text is to an image and to what people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.models.text_metrics._clip import ClipScore
from affectlab.models.text_metrics._clip_formulas import clip_score, ref_clip_score
from affectlab.models.text_metrics._item import TextItem, text_items
from affectlab.models.text_metrics._scores import TextScores
from affectlab.models.text_metrics._tokens import CutTexts

__all__ = ["RefClipScore", "ReferenceScale"]

ReferenceScale: TypeAlias = Literal["scaled", "unscaled"]


class RefClipScore(ClipScore):
    """The harmonic mean of CLIPScore and of how near the candidate is to the nearest reference.

    RefCLIP-S = H(CLIP-S(v, c), max(max_k cos(c, r_k), 0)).

    Parameters
    ----------
    reference_scale
        ``"scaled"``: CLIP-S with its w is in the harmonic mean, as published. ``"unscaled"``: the
        cosine of image and candidate without w is, which is the reading that the .42 of Socratis
        fits.
    **settings
        Of :class:`ClipScore`.
    """

    _title = "RefCLIPScore"
    _direction = "image and references, and candidate"
    reads_references = True

    def __init__(
        self,
        model: str | Path = "openai/clip-vit-base-patch32",
        *,
        reference_scale: ReferenceScale = "scaled",
        **settings: Any,
    ) -> None:
        if reference_scale not in get_args(ReferenceScale):
            raise unknown_name("reference_scale", reference_scale, get_args(ReferenceScale))
        self.reference_scale = reference_scale
        super().__init__(model, **settings)

    def _said(self) -> list[str]:
        scaled = self.reference_scale == "scaled"
        return [*super()._said(), "scaled image" if scaled else "unscaled image"]

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, fit for JSON."""
        return {**super().settings, "reference_scale": self.reference_scale}

    def score(
        self,
        candidates: Sequence[str] | Sequence[TextItem],
        images: Sequence[Any] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    ) -> TextScores:
        """Score n candidates against their images and references.

        Parameters
        ----------
        candidates
            n texts, or n items that have both.
        images
            n files, or n images of Pillow.
        references
            n texts, or n lists of texts.

        Returns
        -------
        TextScores
            `parts` has what the image and what the references say.

        Raises
        ------
        InputError
            When a text is empty, an item has no reference, or an image is missing or damaged.
        """
        return self.score_items(text_items(candidates, references, images))

    def _scored(
        self, cosine: Floats, candidate: Floats, others: list[list[str]], cut: CutTexts
    ) -> tuple[Floats, dict[str, Floats]]:
        flat = [text for several in others for text in several]
        sizes = np.array([len(several) for several in others], dtype=np.int64)
        nearest = np.zeros(0)
        if len(sizes):
            repeated = candidate[np.repeat(np.arange(len(sizes)), sizes)]
            each = np.einsum("ij,ij->i", repeated, self.texts.rows(flat, cut))
            start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            nearest = np.maximum.reduceat(each, start)
        of_references = np.maximum(nearest, 0.0)
        of_image = clip_score(cosine, self.scale if self.reference_scale == "scaled" else 1.0)
        parts = {
            self._named("CLIPScore", super()._said()): clip_score(cosine, self.scale),
            self._named("nearest reference", super()._said()[1:]): of_references,
        }
        return ref_clip_score(of_image, of_references), parts

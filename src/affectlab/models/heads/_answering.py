"""Heads as a rater: from images, or embeddings of them, to a table of ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from affectlab._types import Device
from affectlab.models.embedding import Embeddings
from affectlab.models.heads._calibrated import CalibratedHeads
from affectlab.models.heads._stage import Report
from affectlab.ratings import Ratings

__all__ = ["AnsweringHeads"]


class AnsweringHeads(CalibratedHeads):
    """Heads that rate images; :class:`HeadBank` says how."""

    def embed(
        self,
        images: Any,
        *,
        encoder: Any = None,
        device: Device = "auto",
        cache: str | Path | None = None,
        on_bad: Literal["raise", "set_aside"] = "raise",
        progress: Report | None = None,
    ) -> Embeddings:
        """Embed images with the encoder that the heads were trained on.

        Parameters
        ----------
        images
            As :func:`affectlab.models.embedding.embed` takes them; embeddings are given back.
        encoder
            The encoder, a name of one, or the folder it lies in; by default it is loaded by the
            name on its card. One with another fingerprint is refused.
        cache, on_bad
            Of :func:`affectlab.models.embedding.embed`.

        Raises
        ------
        InputError
            When the images or the encoder cannot be used.
        """
        from affectlab.models.heads._rate import embedded

        settings = {"cache": cache, "on_bad": on_bad}
        return embedded(self, images, encoder, device, progress, **settings)

    def rate(
        self,
        images: Any,
        *,
        rater: str | None = None,
        intervals: bool = False,
        scores: bool = False,
        encoder: Any = None,
        device: Device = "auto",
        progress: Report | None = None,
    ) -> Ratings:
        """Answer as a rater: a rating from 0 to 7 of every label for every stimulus.

        Parameters
        ----------
        images
            :class:`~affectlab.models.embedding.Embeddings`; or images, as
            :func:`~affectlab.models.embedding.embed` takes them, which the encoder embeds.
        rater
            Name of the rater; by default that of the bank.
        intervals
            Add columns ``low`` and ``high``.
        scores
            Add a column ``score``: what the head gave, before any of the three steps.
        encoder
            As for :meth:`embed`.

        Returns
        -------
        Ratings
            On the interval scale 0 to 7, ``rater_kind`` model. What was done to the scores stands
            in the rater's ``answers``, and in the history.

        Raises
        ------
        InputError
            When the images, the encoder or the embeddings do not fit.
        """
        from affectlab.models.heads._rate import rate_embeddings

        self._trained()
        if intervals:
            self.check_intervals()
        found = self.embed(images, encoder=encoder, device=device, progress=progress)
        return rate_embeddings(
            self, found, rater, intervals=intervals, scores=scores, device=device
        )

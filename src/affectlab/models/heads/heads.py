"""Heads with what was learned and how it was calibrated, and the answers that they give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_once
from affectlab.core.types import Device, Floats
from affectlab.models.embedding import EncoderCard
from affectlab.models.heads.calibration import Intervals, Neutral, ScaleMap
from affectlab.models.heads.rows import Rows, rows_of
from affectlab.models.heads.shape import HeadShape, head_shape
from affectlab.models.heads.targets import HIGH
from affectlab.models.heads.training.stack import predict_heads
from affectlab.models.heads.training.stage import HeadPrecision
from affectlab.models.heads.weights import StackedWeights
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Heads", "labels_of", "taxonomy_of"]

# Which labels a bank has heads for.


def taxonomy_of(given: str | Path | Taxonomy | Sequence[str]) -> Taxonomy:
    """Give the taxonomy that is meant: by name, by file, or made of a list of labels."""
    if isinstance(given, str | Path | Taxonomy):
        return load_taxonomy(given)
    return Taxonomy.from_labels(given, name="heads")


def labels_of(taxonomy: Taxonomy, labels: Sequence[str] | None) -> tuple[str, ...]:
    """Give canonical names of labels, in the order given; None: all of the taxonomy.

    Raises
    ------
    InputError
        When a label is not known, occurs twice, or there is none.
    """
    if labels is None:
        return taxonomy.labels
    if isinstance(labels, str) or not len(labels):
        raise InputError("labels: expected a list of names, at least one")
    found = tuple(taxonomy.name_of(label) for label in labels)
    check_once("label", found)
    return found


# Trained heads as they answer: scores, ratings of them, and intervals around ratings.


class Heads:
    """Heads with their calibration; :class:`HeadBank` says what the parameters are."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        labels: Sequence[str] | None = None,
        *,
        encoder: EncoderCard | None = None,
        shape: HeadShape | None = None,
        binarised: bool = False,
        name: str = "",
        seed: int = 0,
    ) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"seed = {seed!r}: expected a whole number from 0 on")
        self.taxonomy = taxonomy
        self.labels = labels_of(taxonomy, labels)
        self.encoder = encoder
        self.shape = head_shape("small") if shape is None else shape
        self.binarised = bool(binarised)
        self.name = name or "head bank"
        self.seed = seed
        self.weights: StackedWeights | None = None
        """What was learned."""
        self.stages: list[dict[str, Any]] = []
        """What each stage of training saw and did, with the losses of every head."""
        self.scale_map = self._default_map()
        self.neutral: Neutral | None = None
        self.intervals: Intervals | None = None
        self.seen: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        """Hashes of the rows that were used in training and calibration, sorted."""

        self.judged: dict[str, Any] | None = None
        """How near the heads came to ratings that were kept aside: ``by``, ``how``, ``steps`` and
        ``labels``, the rows of :func:`head_agreement`; None: that is not known."""

    def _default_map(self) -> ScaleMap:
        return ScaleMap(HIGH if self.binarised else 1.0, (None,) * len(self.labels))

    def scores(
        self,
        X: Any,
        *,
        device: Device = "auto",
        precision: HeadPrecision = "fp32",
        batch: int | None = None,
    ) -> NDArray[np.float32]:
        """Give what the heads give, before any calibration.

        Parameters
        ----------
        X
            As for :meth:`fit`.
        device, precision, batch
            Of :func:`predict_heads`; by default float32 on the fastest device. ``"bf16"`` is faster
            where the processor has it, and rounds to about three digits.

        Returns
        -------
        numpy.ndarray
            Shape (n, heads): about 0 to 7, or about 0 to 1 of binarised heads.

        Raises
        ------
        InputError
            When X does not fit, or the bank is not trained.
        """
        rows = self._rows(X)
        return predict_heads(
            self._trained(), rows.values, device=device, precision=precision, batch=batch
        )

    def predict(
        self,
        X: Any,
        *,
        clip: bool = True,
        device: Device = "auto",
        precision: HeadPrecision = "fp32",
        batch: int | None = None,
    ) -> Floats:
        """Give ratings from 0 to 7, shape (n, heads).

        Parameters
        ----------
        clip
            False leaves the last step out: below 0 is less than in neutral stimuli.
        device, precision, batch
            As for :meth:`scores`.

        Raises
        ------
        InputError
            As :meth:`scores`.
        """
        given = self.scores(X, device=device, precision=precision, batch=batch)
        return self.on_scale(given, clip=clip)

    def on_scale(self, scores: NDArray[Any], *, clip: bool = True) -> Floats:
        """Make ratings of scores: map, neutral, clipping; shape (n, heads)."""
        found = self.scale_map.apply(scores)
        if self.neutral is not None:
            found -= np.asarray(self.neutral.offsets)
        return np.clip(found, 0.0, HIGH) if clip else found

    def predict_intervals(self, X: Any, **settings: Any) -> tuple[Floats, Floats]:
        """Give lower and upper ends of intervals, each of shape (n, heads).

        Raises
        ------
        InputError
            As :meth:`scores`, or when :meth:`calibrate_intervals` was not called.
        """
        return self.check_intervals().bounds(self.predict(X, **settings))

    @property
    def steps(self) -> str:
        """What is done to scores before they are clipped, in words."""
        if self.neutral is None:
            return f"scores {self.scale_map.said}"
        return f"scores {self.scale_map.said}; {self.neutral.said}"

    @property
    def said(self) -> str:
        """What the answers are, in words."""
        kind = "presence (0/1)" if self.binarised else "intensity (0 to 7)"
        on = f"embeddings of {self.encoder.name}" if self.encoder else "embeddings"
        neutral = "" if self.neutral else "; not calibrated on neutral stimuli"
        return (
            f"ratings of the head bank {self.name!r}, trained on {kind} over {on}; {self.steps}; "
            f"clipped to 0 to 7{neutral}"
        )

    @property
    def width(self) -> int | None:
        """Numbers per embedding; None: not known yet."""
        if self.weights is not None:
            return self.weights.width
        return self.encoder.width if self.encoder else None

    def _trained(self) -> StackedWeights:
        if self.weights is None:
            raise InputError("these heads are not trained yet; call fit, or load a bank")
        return self.weights

    def check_intervals(self) -> Intervals:
        """Give the intervals.

        Raises
        ------
        InputError
            When none are calibrated yet.
        """
        if self.intervals is None:
            raise InputError(
                "the heads have no intervals yet; call calibrate_intervals, or affectlab calibrate "
                "--intervals"
            )
        return self.intervals

    def _rows(self, X: Any, what: str = "X") -> Rows:
        return rows_of(X, self.width, self.encoder, what)

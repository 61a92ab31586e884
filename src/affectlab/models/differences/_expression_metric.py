"""A metric of how different two expressions look, learned from what people said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Floats, Image, torch
from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models.differences._learned_cross import (
    Progress,
    checked_baselines,
    cross_validated,
)
from affectlab.models.differences._learned_data import SCALE, PairSamples, samples_of
from affectlab.models.differences._learned_report import CrossValidation
from affectlab.models.differences._learned_settings import learner_settings
from affectlab.models.differences._learned_trainers import Distance, trainer_of, unfinished
from affectlab.models.differences._learned_warnings import (
    FallingLossWarning,
    UnfinishedLearningWarning,
)
from affectlab.models.differences._prepared import PreparedMetric
from affectlab.models.differences._splits import check_seed
from affectlab.models.embedding import Encoder

if TYPE_CHECKING:
    from affectlab.models.embedding import EncoderCard

__all__ = ["ExpressionMetric"]


class ExpressionMetric(PreparedMetric):
    """Predicts how different people find two expressions, from 0 (identical) to 100.

    It is a difference metric as any other (:meth:`differences`), and a loss through which gradients
    flow (:meth:`loss`). The order of two faces does not matter.

    Parameters
    ----------
    learner
        ``"ridge"``, ``"svr"`` or ``"siamese"``; see :func:`cross_validate`.
    encoder
        What makes embeddings of pictures: an encoder, or the name of one. None: that of the
        embeddings it is fitted on.
    name
        What it is called as a rater.
    seed
        Of a network's first weights and of the order of pairs.
    **settings
        Of the learner.

    Raises
    ------
    InputError
        When the learner or a setting is not known.

    Examples
    --------
    >>> frames = {"a": [0.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0], "d": [1.0, 1.0]}
    >>> pairs = {"actor": ["ann"] * 4, "file_a": ["a", "a", "b", "a"],
    ...          "file_b": ["b", "c", "d", "d"], "value": [20.0, 60.0, 60.0, 80.0]}
    >>> metric = ExpressionMetric("ridge", strength=1e-6).fit(pairs, embeddings=frames)
    >>> metric.predict_embeddings([[1.0, 1.0]], [[0.0, 0.0]]).round(0).tolist()
    [80.0]
    """

    higher_is_more_different = True

    def __init__(
        self,
        learner: str = "ridge",
        *,
        encoder: Any = None,
        name: str = "expression",
        seed: int = 0,
        **settings: Any,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"name {name!r}: expected a text")
        self.learner_settings = learner_settings(learner, settings)
        self.name = name
        self.seed = check_seed(seed)
        self.version = "not fitted"
        self.settings: Mapping[str, Any] = {"learner": learner, **self.learner_settings.to_dict()}
        self.report: CrossValidation | None = None
        """What :meth:`cross_validate` found; None before."""
        self.encoder: EncoderCard | None = None
        """What made the embeddings it was fitted on; None: plain numbers."""
        self._given = encoder
        self._loaded: Encoder | None = None
        self._distance: Distance | None = None
        self._loss: torch.nn.Module | None = None

    @property
    def learner(self) -> str:
        """Name of the learner."""
        return self.learner_settings.learner

    @property
    def distance(self) -> Distance:
        """What was learned.

        Raises
        ------
        InputError
            Before :meth:`fit`.
        """
        if self._distance is None:
            raise InputError(f"metric {self.name!r} is not fitted; expected fit or load before")
        return self._distance

    @property
    def learned_actors(self) -> tuple[str, ...]:
        """Actors that it was learned from; empty where that is not known."""
        return tuple(self.distance.details.get("actors", ()))

    @property
    def width(self) -> int:
        """Numbers per face."""
        return self.distance.width

    def fit(self, pairs: Any, scores: Any = None, embeddings: Any = None) -> ExpressionMetric:
        """Learn from the pairs of all actors; a :attr:`report` about other data is dropped.

        Parameters
        ----------
        pairs, scores, embeddings
            See :func:`cross_validate`; as embeddings also a folder of pictures, which are embedded
            with the encoder that was given.

        Raises
        ------
        InputError
            When they cannot be used.

        Warns
        -----
        UnfinishedLearningWarning
            When learning stopped before it had converged.
        """
        data = self._samples(pairs, scores, embeddings)
        trainer = trainer_of(data, self.learner_settings, self.seed)
        found = trainer.fit(range(len(data.actors)))
        mark = data.mark
        found.details.update(actors=list(data.actors), data=mark)
        doubt = unfinished([found.details], self.learner)
        if doubt:
            warnings.warn(doubt, UnfinishedLearningWarning, stacklevel=2)
        self._adopt(found, data.encoder)
        if self.report is not None and self.report.data != mark:
            self.report = None
        return self

    def cross_validate(
        self,
        pairs: Any,
        scores: Any = None,
        embeddings: Any = None,
        *,
        n_test: int = 2,
        n_splits: int | None = None,
        baselines: Any = None,
        n_boot: int = 1000,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> CrossValidation:
        """Say how well this learner does on actors it was not learned from, and keep it as report.

        What was fitted stays as it is. See :func:`cross_validate` for parameters and errors.
        """
        data = self._samples(pairs, scores, embeddings)
        self.report = cross_validated(
            data,
            self.learner_settings,
            n_test=n_test,
            n_splits=n_splits,
            baselines=checked_baselines(baselines, data),
            n_boot=n_boot,
            confidence=confidence,
            seed=self.seed,
            progress=progress,
        )
        return self.report

    def predict_embeddings(self, first: Any, second: Any, *, clip: bool = False) -> Floats:
        """Predict the difference of rows of embeddings.

        Parameters
        ----------
        first, second
            Arrays of shape (n, width).
        clip
            Bring what lies outside 0 to 100 to the nearer end; linear learners may go beyond.

        Returns
        -------
        ndarray
            Shape (n,), in points of the scale.

        Raises
        ------
        InputError
            When shapes do not fit, or a number is not finite.
        """
        rows = [self._rows(side, what) for side, what in ((first, "first"), (second, "second"))]
        if len(rows[0]) != len(rows[1]):
            raise InputError(
                f"{len(rows[0])} first and {len(rows[1])} second rows; expected as many of both"
            )
        found = self.distance.predict(*rows)
        return np.clip(found, *SCALE) if clip else found

    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Embed pictures, with the encoder of the embeddings that it was fitted on."""
        from affectlab.models.differences._deep import encoded_features

        rows = encoded_features(self.image_encoder(), pictures)
        return [row.astype(np.float32) for row in rows]

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Compare embeddings of pictures, shape (n,), not clipped."""
        return self.predict_embeddings(np.stack(list(first)), np.stack(list(second)))

    def loss(
        self, first: torch.Tensor, second: torch.Tensor, *, reduction: str = "mean"
    ) -> torch.Tensor:
        """Give the predicted difference as a loss of torch, 0 for identical faces.

        Parameters
        ----------
        first, second
            Embeddings of shape (n, width), or pictures of shape (n, 3, height, width) in RGB from 0
            to 1; gradients flow to both. Pictures need an encoder of the transformers library.
        reduction
            ``"mean"``, ``"sum"`` or ``"none"``: one number for each pair.

        Returns
        -------
        Tensor
            In points of the scale, less what two identical faces get. Where a linear learner has
            weights below 0 (:attr:`is_distance` is False), it falls below 0 without end where a
            face may go anywhere: learn with ``non_negative=True`` of ridge, or ``siamese``.

        Raises
        ------
        InputError
            When shapes do not fit, or gradients cannot flow through the encoder.

        Warns
        -----
        FallingLossWarning
            Once, when weights are below 0.
        """
        found: torch.Tensor = self.as_module()(first, second, reduction=reduction)
        return found

    def as_module(self) -> torch.nn.Module:
        """Give the loss as a module of torch; see :meth:`loss`."""
        if self._loss is None:
            if not self.is_distance:
                warnings.warn(
                    f"metric {self.name!r} has weights below 0, so that its loss falls below 0 "
                    "without end where a face may go anywhere; expected ridge with "
                    "non_negative=True, or siamese",
                    FallingLossWarning,
                    stacklevel=3,
                )
            # Before torch itself, to say what to install where it is not.
            import affectlab.models._torch  # noqa: F401
            from affectlab.models.differences._loss import ExpressionLoss

            self._loss = ExpressionLoss(self.distance, self)
        return self._loss

    @property
    def is_distance(self) -> bool:
        """Whether no change of a number makes two faces more alike."""
        return self.distance.is_distance

    def save(self, path: str | Path) -> Path:
        """Write a folder: what was learned, how, and the report, where there is one.

        Raises
        ------
        InputError
            When it is not fitted, or the folder holds anything else or cannot be written.
        """
        from affectlab.models.differences._expression_metric_folder import save_metric

        return save_metric(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, encoder: Any = None) -> ExpressionMetric:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        encoder
            The encoder, where it lies elsewhere than when the metric was fitted.

        Raises
        ------
        InputError
            When the folder holds no such metric, or was damaged.
        """
        from affectlab.models.differences._expression_metric_folder import load_metric

        return load_metric(cls, Path(path), encoder)

    def image_encoder(self) -> Encoder:
        """Give the encoder of pictures, and check that it is the one that it was fitted with.

        Raises
        ------
        InputError
            When it was fitted on plain numbers, or the encoder cannot be loaded or is another.
        """
        if self._loaded is None:
            self._loaded = self._find_encoder()
        return self._loaded

    def _find_encoder(self) -> Encoder:
        if self.encoder is None:
            raise InputError(
                f"metric {self.name!r} was fitted on plain numbers, not on embeddings of an "
                "encoder; expected embeddings in place of pictures"
            )
        if self.encoder.kind != "image":
            raise InputError(
                f"metric {self.name!r} was fitted on {self.encoder.kind}s; expected embeddings of "
                "pictures"
            )
        from affectlab.models.heads._encoder_of import encoder_of

        try:
            return encoder_of(self.encoder, self._given)
        except InputError as error:
            said = str(error).replace("the heads were trained", "the metric was fitted")
            raise InputError(f"metric {self.name!r}: {said}") from None

    def _samples(self, pairs: Any, scores: Any, embeddings: Any) -> PairSamples:
        if isinstance(embeddings, str | Path):
            embeddings = self._embedded(Path(embeddings))
        return samples_of(pairs, scores, embeddings)

    def _embedded(self, place: Path) -> Any:
        """Open a folder of embeddings, or embed one of pictures."""
        from affectlab.models.embedding import Embeddings, embed
        from affectlab.models.embedding._folder import CARD

        if (place / CARD).is_file():
            return Embeddings.load(place)
        if self._given is None:
            raise InputError(
                f"{place} holds no embeddings; expected a folder that affectlab embed wrote, or an "
                "encoder for the pictures in it"
            )
        return embed(place, self._given)

    def _adopt(self, distance: Distance, encoder: EncoderCard | None) -> None:
        """Take what was learned, and forget what belonged to something else."""
        from affectlab.models.embedding._encoder import digest

        arrays = distance.arrays()
        self._distance = distance
        self._loss = None
        if self._loaded is not None and (encoder is None or not encoder.same(self._loaded)):
            self._loaded = None
        self.encoder = encoder
        mark = digest(*(arrays[name].tobytes() for name in sorted(arrays)))
        self.version = f"1-{mark[:12]}"
        self.settings = {
            "learner": self.learner,
            **self.learner_settings.to_dict(),
            "encoder": None if encoder is None else encoder.name,
            "encoder_fingerprint": None if encoder is None else encoder.fingerprint,
        }

    def _rows(self, given: Any, what: str) -> Any:
        try:
            rows = np.asarray(given)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.shape[1] != self.width:
            raise InputError(
                f"{what}: {rows.dtype} of shape {rows.shape}; expected embeddings of shape "
                f"(n, {self.width})"
            )
        if not np.isfinite(rows).all():
            place = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise InputError(f"{what}: row {place} has numbers that are not finite")
        return rows

    def __repr__(self) -> str:
        """Say what it is, and what it was learned from."""
        if self._distance is None:
            return f"ExpressionMetric({self.learner!r}, not fitted)"
        n = self._distance.details.get("n_pairs")
        of = "plain numbers" if self.encoder is None else str(self.encoder)
        learned = "" if n is None else f", learned from {plural(n, 'pair')}"
        return f"ExpressionMetric({self.learner!r} on {of}{learned})"

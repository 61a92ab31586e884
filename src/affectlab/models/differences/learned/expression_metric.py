"""A metric of how different two expressions look, learned from what people said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Image, torch
from affectlab.core.words import number, plural
from affectlab.models.differences.learned.cross_validation import (
    CrossValidation,
    Progress,
    cross_validated,
    fitted_on,
)
from affectlab.models.differences.learned.distances import (
    Distance,
    learner_name,
    make_learner,
)
from affectlab.models.differences.learned.samples import SCALE, PairSamples, pair_samples
from affectlab.models.differences.metric import PreparedMetric
from affectlab.models.embedding import Encoder, EncoderCard
from affectlab.models.runs import (
    META,
    HubModel,
    file_hash,
    front_matter,
    load_arrays,
    read_json,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)

__all__ = ["SCHEMA", "ExpressionMetric", "FallingLossWarning"]


class FallingLossWarning(UserWarning):
    """A loss can fall below 0 without end, since some weights are below 0."""


class ExpressionMetric(HubModel, PreparedMetric, BaseEstimator):  # type: ignore[misc]
    """Predicts how different people find two expressions, from 0 (identical) to 100.

    It is a difference metric as any other (:meth:`differences`), and a loss through which gradients
    flow (:meth:`loss`). The order of two faces does not matter.

    Parameters
    ----------
    learner
        ``"ridge"``, ``"svr"`` or ``"siamese"``; or one of their classes with settings, such as
        ``RidgeDistance(non_negative=True)``, by itself or in a search of scikit-learn.
    encoder
        What makes embeddings of pictures: an encoder, or the name of one. None: that of the
        embeddings it is fitted on.
    name
        What it is called as a rater.

    Raises
    ------
    InputError
        When the learner is not known.

    Examples
    --------
    >>> from affectlab.models.differences import RidgeDistance
    >>> frames = {"a": [0.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0], "d": [1.0, 1.0]}
    >>> pairs = {"actor": ["ann"] * 4, "file_a": ["a", "a", "b", "a"],
    ...          "file_b": ["b", "c", "d", "d"], "value": [20.0, 60.0, 60.0, 80.0]}
    >>> metric = ExpressionMetric(RidgeDistance(1e-6)).fit(pairs, embeddings=frames)
    >>> metric.predict_embeddings([[1.0, 1.0]], [[0.0, 0.0]]).round(0).tolist()
    [80.0]
    """

    higher_is_more_different = True
    validation: Mapping[str, Any] | None = None
    """What :meth:`cross_validate` found, as plain values; None before."""
    _loaded: Encoder | None = None
    _loss: torch.nn.Module | None = None
    encoder_: EncoderCard | None
    """What made the embeddings it was fitted on; None: plain numbers."""
    details_: dict[str, Any]
    """What it was learned from, fit for JSON."""

    def __init__(
        self, learner: Any = "ridge", *, encoder: Any = None, name: str = "expression"
    ) -> None:
        self.learner = learner
        self.encoder = encoder
        self.name = name

    @property
    def distance(self) -> Distance:
        """What was learned.

        Raises
        ------
        InputError
            Before :meth:`fit`.
        """
        found: Distance | None = getattr(self, "distance_", None)
        if found is None:
            raise InputError(f"metric {self.name!r} is not fitted; expected fit or load before")
        return found

    @property
    def learned_actors(self) -> tuple[str, ...]:
        """Actors that it was learned from; empty where that is not known."""
        self.distance  # noqa: B018
        return tuple(self.details_.get("actors", ()))

    @property
    def width(self) -> int:
        """Numbers per face."""
        return int(self.distance.n_features_in_)

    @property
    def version(self) -> str:  # type: ignore[override]
        """Hash of what was learned, or that nothing was."""
        from affectlab.models.embedding import digest

        if not hasattr(self, "distance_"):
            return "not fitted"
        arrays = self.distance.arrays()
        return f"1-{digest(*(arrays[name].tobytes() for name in sorted(arrays)))[:12]}"

    @property
    def settings(self) -> dict[str, Any]:  # type: ignore[override]
        """What was chosen of the learner, and the encoder; nothing before :meth:`fit`."""
        if not hasattr(self, "distance_"):
            return {}
        card = self.encoder_
        return {
            "learner": learner_name(self.distance),
            **self.distance.get_params(),
            "encoder": None if card is None else card.name,
            "encoder_fingerprint": None if card is None else card.fingerprint,
        }

    def fit(self, pairs: Any, scores: Any = None, embeddings: Any = None) -> ExpressionMetric:
        """Learn from the pairs of all actors; a :attr:`validation` of other data is dropped.

        Parameters
        ----------
        pairs, scores, embeddings
            See :func:`cross_validate`; as embeddings also a folder of pictures, which are embedded
            with the encoder that was given.

        Raises
        ------
        InputError
            When they cannot be used, or the learner makes no distance.
        """
        data = self._samples(pairs, scores, embeddings)
        found = fitted_on(make_learner(self.learner), data)
        details: dict[str, Any] = {"n_pairs": len(data), "actors": list(data.actors)}
        details["data"] = data.mark
        if isinstance(found, GridSearchCV):
            tried, errors = found.cv_results_["params"], -found.cv_results_["mean_test_score"]
            details["tried"] = [
                {**one, "error": float(error)} for one, error in zip(tried, errors, strict=True)
            ]
            found = found.best_estimator_
        if not isinstance(found, Distance):
            raise InputError(
                f"learner {type(found).__name__}: expected ridge, svr or siamese; any other "
                "regressor can be cross-validated, but is no distance that a metric keeps"
            )
        self._adopt(found, data.encoder, details)
        if self.validation is not None and self.validation["data"] != data.mark:
            self.validation = None
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
        seed: int = 0,
        progress: Progress | None = None,
    ) -> CrossValidation:
        """Say how well this learner does on actors it was not learned from, and keep that.

        What was fitted stays as it is. See :func:`cross_validate` for parameters and errors.
        """
        found = cross_validated(
            self._samples(pairs, scores, embeddings),
            make_learner(self.learner),
            n_test=n_test,
            n_splits=n_splits,
            baselines=baselines,
            n_boot=n_boot,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
        self.validation = {"data": found.data, **found.to_dict()}
        return found

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
        first, second = (side.astype(np.float32) for side in rows)
        found = self.distance.predict(first - second) if len(first) else np.empty(0)
        return np.clip(found, *SCALE) if clip else found

    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Embed pictures, with the encoder of the embeddings that it was fitted on."""
        from affectlab.models.differences.deep import encoded_features

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
            face may go anywhere: learn with ``RidgeDistance(non_negative=True)``, or ``siamese``.

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
            import affectlab.models.devices  # noqa: F401
            from affectlab.models.differences.learned.loss import ExpressionLoss

            self._loss = ExpressionLoss(self.distance, self)
        return self._loss

    @property
    def is_distance(self) -> bool:
        """Whether no change of a number makes two faces more alike."""
        return self.distance.is_distance_

    def save(self, path: str | Path) -> Path:
        """Write a folder: what was learned, how, and the report, where there is one.

        Raises
        ------
        InputError
            When it is not fitted, or the folder holds anything else or cannot be written.
        """

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
        card = self.encoder_
        if card is None:
            raise InputError(
                f"metric {self.name!r} was fitted on plain numbers, not on embeddings of an "
                "encoder; expected embeddings in place of pictures"
            )
        if card.kind != "image":
            raise InputError(
                f"metric {self.name!r} was fitted on {card.kind}s; expected embeddings of pictures"
            )
        from affectlab.models.embedding import encoder_of

        try:
            return encoder_of(card, self.encoder)
        except InputError as error:
            said = str(error).replace("the heads were trained", "the metric was fitted")
            raise InputError(f"metric {self.name!r}: {said}") from None

    def _samples(self, pairs: Any, scores: Any, embeddings: Any) -> PairSamples:
        if isinstance(embeddings, str | Path):
            embeddings = self._embedded(Path(embeddings))
        return pair_samples(pairs, scores, embeddings)

    def _embedded(self, place: Path) -> Any:
        """Open a folder of embeddings, or embed one of pictures."""
        from affectlab.models.embedding import CARD, Embeddings, embed

        if (place / CARD).is_file():
            return Embeddings.load(place)
        if self.encoder is None:
            raise InputError(
                f"{place} holds no embeddings; expected a folder that affectlab embed wrote, or an "
                "encoder for the pictures in it"
            )
        return embed(place, self.encoder)

    def _adopt(
        self, distance: Distance, encoder: EncoderCard | None, details: dict[str, Any]
    ) -> None:
        """Take what was learned, and forget what belonged to something else."""
        self._loss = None
        if self._loaded is not None and (encoder is None or not encoder.same(self._loaded)):
            self._loaded = None
        self.distance_, self.encoder_, self.details_ = distance, encoder, details

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


# Learned metrics in folders: weights as arrays, all else as JSON; nothing is ever executed.


SCHEMA = "affectlab/expression-metric/1"
_KEYS = ("name", "learner", "settings", "encoder", "details", "hashes")
_WEIGHTS = "weights.npz"
_REPORT = "cross_validation.json"
_EXPECTED = "expected what save wrote"


def save_metric(metric: ExpressionMetric, folder: Path) -> Path:
    """Write a metric; see :meth:`ExpressionMetric.save`."""
    distance = metric.distance
    try:
        with replacing(folder, (_WEIGHTS, _REPORT)) as place:
            save_arrays(place / _WEIGHTS, distance.arrays())
            hashes = {_WEIGHTS: file_hash(place / _WEIGHTS)}
            if metric.validation is not None:
                write_json(place / _REPORT, metric.validation)
                hashes[_REPORT] = file_hash(place / _REPORT)
            (place / "README.md").write_text(_card(metric), encoding="utf-8", newline="\n")
            write_json(
                place / META,
                {
                    "schema": SCHEMA,
                    "affectlab": __version__,
                    "name": metric.name,
                    "learner": learner_name(distance),
                    "settings": distance.get_params(),
                    "encoder": None if metric.encoder_ is None else metric.encoder_.to_dict(),
                    "details": metric.details_,
                    "hashes": hashes,
                },
            )
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def load_metric(cls: type[ExpressionMetric], folder: Path, encoder: Any) -> ExpressionMetric:
    """Read a metric; see :meth:`ExpressionMetric.load`."""
    meta = read_meta(folder, SCHEMA, _KEYS, "learned metric of expressions")
    where = folder / META
    for name in ("settings", "details", "hashes"):
        if not isinstance(meta[name], dict):
            raise InputError(f"{where}: {name} is {meta[name]!r:.60}; {_EXPECTED}")
    for name in ("name", "learner"):
        if not isinstance(meta[name], str):
            raise InputError(f"{where}: {name} is {meta[name]!r:.60}; {_EXPECTED}")
    n, actors = (meta["details"].get(name) for name in ("n_pairs", "actors"))
    if not isinstance(n, int) or not isinstance(actors, list) or not {*map(type, actors)} <= {str}:
        raise InputError(f"{where}: details are {meta['details']!r:.60}; {_EXPECTED}")
    card = None
    try:
        learner = make_learner(meta["learner"], meta["settings"])
        if meta["encoder"] is not None:
            card = EncoderCard.from_dict(meta["encoder"], "encoder")
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    _check_hash(folder / _WEIGHTS, meta["hashes"])
    try:
        distance = learner.restore(load_arrays(folder / _WEIGHTS))
    except (KeyError, ValueError, AttributeError) as error:
        raise InputError(f"{folder / _WEIGHTS} cannot be used ({error}); {_EXPECTED}") from None
    if card is not None and card.width != distance.n_features_in_:
        raise InputError(
            f"{where}: the encoder gives {card.width} numbers per face, and the weights are of "
            f"{distance.n_features_in_}; {_EXPECTED}"
        )
    metric = cls(clone(distance), encoder=encoder, name=meta["name"])
    metric._adopt(distance, card, meta["details"])
    if (folder / _REPORT).is_file():
        _check_hash(folder / _REPORT, meta["hashes"])
        metric.validation = read_json(folder / _REPORT)
    return metric


def _check_hash(path: Path, hashes: Mapping[str, Any]) -> None:
    try:
        found = file_hash(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the model folder is not complete") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    if hashes.get(path.name) != found:
        raise InputError(
            f"{path} is not the file that save wrote: its content was changed or damaged since; "
            "copy the folder again"
        )


def _card(metric: ExpressionMetric) -> str:
    """Say in words what lies in the folder."""
    distance, card = metric.distance, metric.encoder_
    lines = [
        front_matter("image-feature-extraction"),
        "",
        f"# {metric.name}",
        "",
        "A metric of how different people find two expressions, from 0 (identical) to 100, as "
        "`affectlab.models.differences.ExpressionMetric` reads it.",
        "",
        f"- learner: {learner_name(distance)}",
        f"- embeddings: {card if card is not None else 'plain numbers'}",
        f"- learned from: {plural(metric.details_['n_pairs'], 'pair')}",
        f"- two identical faces get: {number(distance.identical_, 2)}",
        "- no change of a number makes two faces more alike: "
        + ("yes" if distance.is_distance_ else "no, some weights are below 0"),
    ]
    if metric.validation is not None:
        same = metric.validation["data"] == metric.details_["data"]
        title = "On actors that were not learned from"
        lines += ["", f"## {title if same else 'This learner on other pairs, by actor'}", ""]
        lines += [f"- {sentence}" for sentence in metric.validation["sentences"]]
    return "\n".join(lines) + "\n"

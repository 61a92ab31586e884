"""A metric of how different two expressions look, learned from what people said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.types import Floats, Image, torch
from affectlab.core.words import number, plural
from affectlab.models.differences.learned.cross_validation import (
    Progress,
    checked_baselines,
    cross_validated,
)
from affectlab.models.differences.learned.report import CrossValidation
from affectlab.models.differences.learned.samples import SCALE, PairSamples, samples_of
from affectlab.models.differences.learned.settings import learner_settings
from affectlab.models.differences.learned.splits import check_seed
from affectlab.models.differences.learned.trainers.distances import (
    LinearDistance,
    SiameseDistance,
)
from affectlab.models.differences.learned.trainers.trainer import Distance, trainer_of, unfinished
from affectlab.models.differences.learned.warnings import (
    FallingLossWarning,
    UnfinishedLearningWarning,
)
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

__all__ = [
    "SCHEMA",
    "ExpressionMetric",
    "load_metric",
    "save_metric",
]


class ExpressionMetric(HubModel, PreparedMetric):
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
            import affectlab.models.devices  # noqa: F401
            from affectlab.models.differences.learned.loss import ExpressionLoss

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
        from affectlab.models.embedding import encoder_of

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
        from affectlab.models.embedding import CARD, Embeddings, embed

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
        from affectlab.models.embedding import digest

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


# Learned metrics in folders: weights as arrays, all else as JSON; nothing is ever executed.


SCHEMA = "affectlab/expression-metric/1"
_KEYS = ("name", "learner", "settings", "seed", "encoder", "details", "weights", "width")
_LINEAR = "weights.npz"
_SIAMESE = "weights.safetensors"
_REPORT = "cross_validation.json"
_EXPECTED = "expected what save wrote"
_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
_POLARS = (pl.exceptions.PolarsError,)


def save_metric(metric: ExpressionMetric, folder: Path) -> Path:
    """Write a metric; see :meth:`ExpressionMetric.save`."""
    distance = metric.distance
    file = _SIAMESE if isinstance(distance, SiameseDistance) else _LINEAR
    try:
        with replacing(folder, (_LINEAR, _SIAMESE, _REPORT)) as place:
            if isinstance(distance, SiameseDistance):
                _safetensors().save_file(distance.arrays(), place / file)
            else:
                save_arrays(place / file, distance.arrays())
            report = None
            if metric.report is not None:
                write_json(place / _REPORT, metric.report.stored())
                report = {"blake2b": file_hash(place / _REPORT)}
            (place / "README.md").write_text(_card(metric), encoding="utf-8", newline="\n")
            write_json(
                place / META,
                {
                    "schema": SCHEMA,
                    "affectlab": __version__,
                    "name": metric.name,
                    "learner": metric.learner,
                    "settings": metric.learner_settings.to_dict(),
                    "seed": metric.seed,
                    "width": distance.width,
                    "encoder": None if metric.encoder is None else metric.encoder.to_dict(),
                    "details": distance.details,
                    "weights": {"file": file, "blake2b": file_hash(place / file)},
                    "report": report,
                },
            )
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def load_metric(cls: type[ExpressionMetric], folder: Path, encoder: Any) -> ExpressionMetric:
    """Read a metric; see :meth:`ExpressionMetric.load`."""
    meta = read_meta(folder, SCHEMA, _KEYS, "learned metric of expressions")
    where = folder / META
    try:
        for name, kind in (
            ("settings", dict),
            ("details", dict),
            ("weights", dict),
            ("seed", int),
            ("width", int),
        ):
            if not isinstance(meta[name], kind) or isinstance(meta[name], bool):
                raise InputError(f"{name} is {meta[name]!r}; {_EXPECTED}")
        _check_details(meta["details"])
        metric = cls(
            meta["learner"],
            encoder=encoder,
            name=meta["name"],
            seed=meta["seed"],
            **meta["settings"],
        )
        card = None
        if meta["encoder"] is not None:
            card = EncoderCard.from_dict(meta["encoder"], f"{where}, encoder")
    except InputError as error:
        said = str(error)
        raise InputError(said if said.startswith(str(where)) else f"{where}: {said}") from None
    except TypeError as error:
        raise InputError(f"{where} cannot be used ({error}); {_EXPECTED}") from None
    distance = _distance_of(folder, meta)
    if card is not None and card.width != distance.width:
        raise InputError(
            f"{where}: the encoder gives {card.width} numbers per face, and the weights are of "
            f"{distance.width}; {_EXPECTED}"
        )
    metric._adopt(distance, card)
    metric.report = _report_of(folder / _REPORT, meta.get("report"))
    return metric


def _check_details(details: dict[str, Any]) -> None:
    """Refuse details of which the rest of the package would make something else."""
    n = details.get("n_pairs", 0)
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise InputError(f"details, n_pairs is {n!r}; {_EXPECTED}")
    actors = details.get("actors", [])
    if not isinstance(actors, list) or not all(isinstance(one, str) for one in actors):
        raise InputError(f"details, actors are {actors!r:.60}; {_EXPECTED}")


def _distance_of(folder: Path, meta: dict[str, Any]) -> Distance:
    siamese = meta["learner"] == "siamese"
    path = folder / (_SIAMESE if siamese else _LINEAR)
    try:
        found = file_hash(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the model folder is not complete") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    arrays = _read_safetensors(path) if siamese else load_arrays(path)
    if meta["weights"].get("blake2b") != found:
        raise InputError(
            f"{path} is not the file that save wrote: its content was changed or damaged since; "
            "copy the folder again"
        )
    width = meta["width"]
    if siamese:
        projection, weights = (_array(arrays, name, path) for name in ("projection", "weights"))
        if projection.ndim != 2 or projection.shape != (weights.size, width):
            raise InputError(f"{path}: a projection of shape {projection.shape}; {_EXPECTED}")
        if weights.ndim != 1 or (weights < 0).any():
            raise InputError(f"{path}: weights below 0; {_EXPECTED}")
        return SiameseDistance(
            projection.astype(np.float32), weights.astype(np.float32), meta["details"]
        )
    weights, intercept = (_array(arrays, name, path) for name in ("weights", "intercept"))
    if weights.shape != (width,) or intercept.shape != (1,):
        raise InputError(f"{path}: weights of shape {weights.shape}; {_EXPECTED}")
    return LinearDistance(weights.astype(np.float64), float(intercept[0]), meta["details"])


def _array(arrays: dict[str, NDArray[Any]], name: str, path: Path) -> NDArray[Any]:
    if name not in arrays:
        raise InputError(f"{path} holds no {name!r}; {_EXPECTED}")
    return arrays[name]


def _read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError

    try:
        found: dict[str, NDArray[Any]] = _safetensors().load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError, RuntimeError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(f"{path} cannot be read ({said}); expected weights of a metric") from None
    for name, array in found.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise InputError(f"{path}, {name}: expected finite numbers")
    return found


def _safetensors() -> Any:
    try:
        from safetensors import numpy as safetensors_numpy
    except ImportError as missing:
        raise MissingDependencyError(
            f"a siamese metric needs safetensors; {install_line('models')}"
        ) from missing
    return safetensors_numpy


def _report_of(path: Path, told: Any) -> CrossValidation | None:
    """Read the report; only one that was saved together with the weights."""
    if not path.is_file():
        return None
    held = read_json(path)
    try:
        found = CrossValidation.from_stored(held)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (*_UNREADABLE, *_POLARS) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        said = " ".join(said.split())[:120]
        raise InputError(f"{path} cannot be used ({said}); {_EXPECTED}") from None
    if not isinstance(told, dict) or told.get("blake2b") != file_hash(path):
        raise InputError(
            f"{path} is not the file that save wrote: its content was changed or damaged since; "
            "copy the folder again, or delete this file"
        )
    return found


def _card(metric: ExpressionMetric) -> str:
    """Say in words what lies in the folder."""
    distance = metric.distance
    lines = [
        front_matter("image-feature-extraction"),
        "",
        f"# {metric.name}",
        "",
        "A metric of how different people find two expressions, from 0 (identical) to 100, as "
        "`affectlab.models.differences.ExpressionMetric` reads it.",
        "",
        f"- learner: {metric.learner}",
        f"- embeddings: {metric.encoder if metric.encoder is not None else 'plain numbers'}",
        f"- learned from: {plural(int(distance.details.get('n_pairs', 0)), 'pair')}",
        f"- two identical faces get: {number(distance.identical, 2)}",
        "- no change of a number makes two faces more alike: "
        + ("yes" if distance.is_distance else "no, some weights are below 0"),
    ]
    if metric.report is not None:
        same = metric.report.data == distance.details.get("data")
        title = "On actors that were not learned from"
        lines += ["", f"## {title if same else 'This learner on other pairs, by actor'}", ""]
        lines += [f"- {sentence}" for sentence in metric.report.sentences]
    return "\n".join(lines) + "\n"

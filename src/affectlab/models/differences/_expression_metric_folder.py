"""Learned metrics in folders: weights as arrays, all else as JSON; nothing is ever executed."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab._words import number, plural
from affectlab.errors import InputError, MissingDependencyError
from affectlab.models._store import (
    META,
    load_arrays,
    read_json,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.differences._learned_linear import LinearDistance
from affectlab.models.differences._learned_report import CrossValidation
from affectlab.models.differences._learned_trainers import Distance
from affectlab.models.differences._siamese import SiameseDistance
from affectlab.models.embedding import EncoderCard

if TYPE_CHECKING:
    from affectlab.models.differences._expression_metric import ExpressionMetric

__all__ = ["SCHEMA", "is_metric_folder", "load_metric", "save_metric"]

SCHEMA = "affectlab/expression-metric/1"
_KEYS = ("name", "learner", "settings", "seed", "encoder", "details", "weights", "width")
_LINEAR = "weights.npz"
_SIAMESE = "weights.safetensors"
_REPORT = "cross_validation.json"
_EXPECTED = "expected what save wrote"
_UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
_POLARS = (pl.exceptions.PolarsError,)


def is_metric_folder(folder: Path) -> bool:
    """Tell whether a folder says of itself that it holds a learned metric."""
    if not (folder / META).is_file():
        return False
    try:
        meta = read_json(folder / META)
    except InputError:
        return False
    return isinstance(meta, dict) and meta.get("schema") == SCHEMA


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
                write_json(place / _REPORT, metric.report.to_dict())
                report = {"blake2b": _hash_of(place / _REPORT)}
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
                    "weights": {"file": file, "blake2b": _hash_of(place / file)},
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
        found = _hash_of(path)
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
            'a siamese metric needs safetensors; pip install "affectlab[models]"'
        ) from missing
    return safetensors_numpy


def _report_of(path: Path, told: Any) -> CrossValidation | None:
    """Read the report; only one that was saved together with the weights."""
    if not path.is_file():
        return None
    held = read_json(path)
    try:
        found = CrossValidation.from_dict(held)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (*_UNREADABLE, *_POLARS) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        said = " ".join(said.split())[:120]
        raise InputError(f"{path} cannot be used ({said}); {_EXPECTED}") from None
    if not isinstance(told, dict) or told.get("blake2b") != _hash_of(path):
        raise InputError(
            f"{path} is not the file that save wrote: its content was changed or damaged since; "
            "copy the folder again, or delete this file"
        )
    return found


def _card(metric: ExpressionMetric) -> str:
    """Say in words what lies in the folder."""
    distance = metric.distance
    lines = [
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
        lines += [f"- {sentence}" for sentence in metric.report.words()]
    return "\n".join(lines) + "\n"


def _hash_of(path: Path) -> str:
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        while part := file.read(1 << 22):
            found.update(part)
    return found.hexdigest()

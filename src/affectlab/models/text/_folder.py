"""Models in folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._version import __version__
from affectlab._words import file_part
from affectlab.errors import InputError
from affectlab.models._store import (
    META,
    load_arrays,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.text._backends import load_backend
from affectlab.models.text._decide import DecisionRule
from affectlab.models.text._scaling import Scaling
from affectlab.models.text._settings import check_settings, check_written
from affectlab.models.text._tuning import LevelTuning
from affectlab.taxonomy import Taxonomy

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier

__all__ = ["load_model", "save_model"]

_SCHEMA = "affectlab/text-model/1"
_KEYS = ("backend", "taxonomy", "labels", "settings", "levels")
_SEEN = "seen.npz"
_STALE = ("thresholds*.toml", _SEEN)
"""Files that not every model has."""


def save_model(model: TextClassifier, folder: Path) -> Path:
    """Write a model; see :meth:`TextClassifier.save`."""
    from affectlab.models.text._card import write_card

    model._require_fitted()
    description = {
        "schema": _SCHEMA,
        "affectlab": __version__,
        "backend": model.backend,
        "name": model.name,
        "taxonomy": model.given_taxonomy.to_toml(),
        "level": model.level,
        "levels": list(model.plan.levels),
        "group_scores": model.group_scores,
        "labels": list(model.labels),
        "seed": model.seed,
        "settings": model.settings(),
        "training": model.training,
        "decisions": {key: rule.to_dict() for key, rule in model.decisions.items()},
        "scalings": {key: scaling.to_dict() for key, scaling in model.scalings.items()},
        "tuning": {key: tuned.to_dict() for key, tuned in model.tuning.items()},
    }
    try:
        with replacing(folder, _STALE) as place:
            model._save(place)
            if model.seen is not None:
                save_arrays(place / _SEEN, {"fingerprints": model.seen})
            for key, rule in model.decisions.items():
                _write_thresholds(place, key, rule)
            write_card(model, place, folder.name)
            write_json(place / META, description)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _write_thresholds(folder: Path, level: str, rule: DecisionRule) -> None:
    """Write thresholds as ``affectlab evaluate`` reads them; a rule without any leaves no file."""
    path = folder / (f"thresholds-{file_part(level)}.toml" if level else "thresholds.toml")
    found = rule.to_thresholds()
    if found is None:
        return
    lines = [f"# {rule.said()}; fitted on {rule.fitted_on}"]
    if found.default is not None:
        lines.append(f"default = {found.default!r}")
    if found.labels:
        lines += ["", "[labels]"]
        lines += [f'"{_escaped(name)}" = {value!r}' for name, value in found.labels.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def load_model(cls: type[TextClassifier], folder: Path) -> TextClassifier:
    """Read a model; see :meth:`TextClassifier.load`."""
    meta = read_meta(folder, _SCHEMA, _KEYS, "text model")
    found = load_backend(str(meta["backend"]))
    if not issubclass(found, cls):
        raise InputError(
            f"{folder} holds a model of back end {meta['backend']!r}; expected {cls.backend!r}"
        )
    try:
        model = _made(found, meta, folder)
        if list(model.labels) != meta["labels"]:
            raise InputError("the labels are not those of the taxonomy")
        model.training = _training_of(meta["training"])
        model.decisions = {k: DecisionRule.from_dict(v) for k, v in meta["decisions"].items()}
        model.scalings = {k: Scaling.from_dict(v) for k, v in meta["scalings"].items()}
        model.tuning = {k: LevelTuning.from_dict(v) for k, v in meta["tuning"].items()}
        _check_levels(model)
    except RecursionError:
        raise InputError(
            f"{folder / META} cannot be used: brackets in brackets without end"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise InputError(
            f"{folder / META} cannot be used ({said}); expected what save wrote"
        ) from None
    if (folder / _SEEN).is_file():
        seen = load_arrays(folder / _SEEN).get("fingerprints")
        if seen is None or seen.ndim != 1 or seen.dtype != np.uint64:
            raise InputError(f"{folder / _SEEN}: expected the fingerprints of the training texts")
        model.seen = seen
    model._load(folder)
    model.fitted = True
    return model


def _made(found: type[TextClassifier], meta: dict[str, Any], folder: Path) -> TextClassifier:
    """Make the classifier that a folder describes, with settings that save writes alone."""
    settings = meta["settings"]
    check_settings(meta["backend"], settings, shared=False)
    shared = {name: meta[name] for name in ("level", "levels", "group_scores", "name", "seed")}
    check_settings(meta["backend"], shared)
    where = f"{folder / META}, taxonomy"
    model = found(taxonomy=Taxonomy.from_toml(meta["taxonomy"], where=where), **shared, **settings)
    check_written(settings, model.settings())
    return model


def _training_of(given: Any) -> dict[str, Any]:
    """Check what the card reads of the training."""
    found = dict(given)
    counts = found.get("texts_per_label", {})
    if not isinstance(counts, dict) or not all(isinstance(n, int | float) for n in counts.values()):
        raise InputError("training: expected a number of texts per label")
    for name in ("warnings", "early_stopping"):
        if not all(isinstance(said, str) for said in found.get(name, [])):
            raise InputError(f"training, {name}: expected sentences")
    return found


def _check_levels(model: TextClassifier) -> None:
    """Rules, calibration and results must be those of the levels, with their labels in order."""
    if not model.decisions.keys() == model.scalings.keys() == model.tuning.keys():
        raise InputError("decisions, scalings and tuning are not of the same levels")
    for level, rule in model.decisions.items():
        if level and level not in model.taxonomy.levels:
            raise InputError(f"there is no level {level!r}")
        labels = model.labels_at(level or None)
        said = f"level {level!r}" if level else "the labels"
        for what, own in (("rule", rule.labels), ("results", model.tuning[level].labels)):
            if own != labels:
                raise InputError(f"the {what} of {said} are not of these labels in this order")
        knots = model.scalings[level].knots
        if knots and len(knots) != len(labels):
            raise InputError(f"the calibration of {said} is of {len(knots)} labels")

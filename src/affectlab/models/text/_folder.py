"""Models in folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from affectlab._version import __version__
from affectlab.errors import InputError
from affectlab.models.text._backends import load_backend
from affectlab.models.text._decide import DecisionRule
from affectlab.models.text._scaling import Scaling
from affectlab.models.text._store import (
    META,
    SCHEMA,
    load_arrays,
    make_folder,
    read_meta,
    save_arrays,
    write_json,
)
from affectlab.models.text._tuning import LevelTuning
from affectlab.taxonomy import Taxonomy

if TYPE_CHECKING:
    from affectlab.models.text._base import TextClassifier

__all__ = ["load_model", "save_model"]

_SEEN = "seen.npz"


def save_model(model: TextClassifier, folder: Path) -> Path:
    """Write a model; see :meth:`TextClassifier.save`."""
    from affectlab.models.text._card import write_card

    model._require_fitted()
    make_folder(folder)
    description = {
        "schema": SCHEMA,
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
        model._save(folder)
        if model.seen is not None:
            save_arrays(folder / _SEEN, {"fingerprints": model.seen})
        for key, rule in model.decisions.items():
            _write_thresholds(folder, key, rule)
        write_card(model, folder)
        # Last: a folder that holds it is complete.
        write_json(folder / META, description)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _write_thresholds(folder: Path, level: str, rule: DecisionRule) -> None:
    """Write thresholds as ``affectlab evaluate`` reads them; a rule without any leaves no file."""
    path = folder / (f"thresholds-{level}.toml" if level else "thresholds.toml")
    found = rule.to_thresholds()
    if found is None:
        path.unlink(missing_ok=True)
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
    meta = read_meta(folder)
    found = load_backend(str(meta["backend"]))
    if not issubclass(found, cls):
        raise InputError(
            f"{folder} holds a model of back end {meta['backend']!r}; expected {cls.backend!r}"
        )
    try:
        model = found(
            taxonomy=Taxonomy.from_toml(meta["taxonomy"], where=f"{folder / META}, taxonomy"),
            level=meta["level"],
            levels=meta["levels"],
            group_scores=meta["group_scores"],
            name=meta["name"],
            seed=meta["seed"],
            **meta["settings"],
        )
        if list(model.labels) != meta["labels"]:
            raise InputError(f"{folder / META}: the labels are not those of the taxonomy")
        model.training = dict(meta["training"])
        model.decisions = {k: DecisionRule.from_dict(v) for k, v in meta["decisions"].items()}
        model.scalings = {k: Scaling.from_dict(v) for k, v in meta["scalings"].items()}
        model.tuning = {k: LevelTuning.from_dict(v) for k, v in meta["tuning"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder / META} cannot be used ({error}); expected what save wrote"
        ) from None
    if (folder / _SEEN).is_file():
        seen = load_arrays(folder / _SEEN).get("fingerprints")
        model.seen = None if seen is None else np.asarray(seen, dtype=np.uint64)
    model._load(folder)
    model.fitted = True
    return model

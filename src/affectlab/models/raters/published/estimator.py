"""Estimators of scikit-learn as raters: skops files, and pickles where they are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from affectlab.core.errors import InputError, MissingDependencyError
from affectlab.core.types import Count
from affectlab.core.words import joined, plural, shown
from affectlab.models.raters.rater import Judged, Rater
from affectlab.models.runs import file_hash

__all__ = [
    "PICKLES",
    "estimator_rater",
    "load_estimator",
    "names_of_outputs",
    "probabilities_of",
    "scores_several",
]

PICKLES = (".joblib", ".pkl", ".pickle")
"""Suffixes of files that run code when they are read."""


def estimator_rater(
    place: str,
    *,
    labels: Sequence[str] = (),
    batch: Count = 1_024,
    trust_pickle: bool = False,
) -> Rater:
    """Make a rater of texts of an estimator of scikit-learn that was fitted on texts.

    Parameters
    ----------
    place
        A file of skops, or, where `trust_pickle`, of joblib or pickle.
    labels
        Names of the outputs, where classes are numbers.
    batch
        Texts at a time.
    trust_pickle
        Read a pickle, which runs whatever code is in it.

    Raises
    ------
    InputError
        When it is a pickle that is not trusted, holds types that skops does not know, cannot be
        read, or gives no probabilities.
    """
    path = Path(place)
    found = load_estimator(path, trusted=trust_pickle)
    names = names_of_outputs(found, labels, path)

    def rate(texts: Sequence[str]) -> list[Judged]:
        rows = probabilities_of(found.predict_proba(list(texts)), len(names))
        return [dict(zip(names, row, strict=True)) for row in rows.tolist()]

    return Rater(
        path.stem,
        rate,
        names,
        takes="text",
        version=file_hash(path)[:16],
        batch=batch,
        join="max" if scores_several(found) else "sum",
    )


def load_estimator(path: Path, *, trusted: bool) -> Any:
    """Read an estimator that gives probabilities.

    Raises
    ------
    InputError
        When it is a pickle that is not trusted, cannot be read, or gives no probabilities.
    """
    found = _pickled(path, trusted=trusted) if path.suffix in PICKLES else _skops(path)
    if not hasattr(found, "predict_proba"):
        raise InputError(
            f"{shown(path)} holds {type(found).__name__}, which gives no probabilities; expected "
            "an estimator with predict_proba"
        )
    return found


def _skops(path: Path) -> Any:
    try:
        from skops import io
    except ImportError:
        raise MissingDependencyError("skops files need skops; install affectlab[models]") from None
    try:
        unknown = io.get_untrusted_types(file=path)
        if unknown:
            raise InputError(
                f"{shown(path)} holds {joined(sorted(unknown)[:4])}, which skops does not know to "
                "be harmless; expected types of scikit-learn, numpy and scipy"
            )
        return io.load(path, trusted=[])
    except (BadZipFile, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown(path)} cannot be read as a file of skops ({error})") from None


def _pickled(path: Path, *, trusted: bool) -> Any:
    if not trusted:
        raise InputError(
            f"{shown(path)} is a pickle, and reading it runs the code in it; expected a file of "
            "skops, or --trust-pickle where you made it or know who did"
        )
    import joblib

    try:
        return joblib.load(path)
    # What a pickle raises is up to whoever made it.
    except Exception as error:
        raise InputError(f"{shown(path)} cannot be read ({error})") from error


def scores_several(found: Any) -> bool:
    """Whether each output has a probability of its own."""
    if isinstance(getattr(found, "classes_", None), list):
        return True
    last = found.steps[-1][1] if hasattr(found, "steps") else found
    return bool(getattr(last, "multilabel_", False))


def names_of_outputs(found: Any, labels: Sequence[str], path: Path) -> tuple[str, ...]:
    """Give the labels of the outputs, in their order."""
    classes = getattr(found, "classes_", ())
    # One estimator for each output gives a list of classes for each.
    known = list(classes)
    if labels:
        if len(labels) != len(known):
            raise InputError(
                f"{shown(path)} has {plural(len(known), 'output')}, and "
                f"{plural(len(labels), 'label')} were given; expected one for each"
            )
        return tuple(labels)
    if not known or not all(isinstance(one, str | np.str_) for one in known):
        raise InputError(
            f"{shown(path)} does not name its {plural(len(known), 'output')}; expected their names "
            "in order, such as --set labels=anger,joy,sadness"
        )
    return tuple(map(str, known))


def probabilities_of(given: Any, n: int) -> np.ndarray[Any, Any]:
    """Give one row a text; estimators of several outputs give a table of two columns for each."""
    if isinstance(given, list):
        given = np.stack([np.asarray(one)[:, -1] for one in given], axis=1)
    rows = np.asarray(given, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ValueError(f"gave shape {rows.shape}; expected (texts, {n})")
    return rows

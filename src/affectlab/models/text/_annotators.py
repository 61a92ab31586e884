"""Raters that answer a pilot by themselves: models, and functions that installed packages add."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._plugs import added_names, find_plug
from affectlab.errors import InputError
from affectlab.models.text._base import TextClassifier
from affectlab.ratings import Ratings

__all__ = ["annotate_texts", "list_annotators"]

GROUP = "affectlab.annotators"
"""Entry points through which other packages add annotators."""


def list_annotators() -> tuple[str, ...]:
    """Names of the annotators that installed packages add.

    A package adds one by an entry point in the group ``affectlab.annotators`` that leads to a
    function: it is given a frame with ``stimulus`` and ``text``, and gives :class:`Ratings` with
    binary answers to labels.

    Examples
    --------
    >>> isinstance(list_annotators(), tuple)
    True
    """
    return added_names(GROUP)


def annotate_texts(
    annotator: str | Path | Callable[[pl.DataFrame], Ratings], texts: pl.DataFrame
) -> Ratings:
    """Have texts answered by a rater that is no person.

    Parameters
    ----------
    annotator
        Folder of a :class:`TextClassifier`, name of an entry point (:func:`list_annotators`), or a
        function as these lead to.
    texts
        ``stimulus`` and ``text``, shape (n,).

    Returns
    -------
    Ratings
        Binary answers to labels; the stimuli have the attribute ``text``.

    Raises
    ------
    InputError
        When the annotator is not known, cannot be loaded, fails, or gives something else.

    Examples
    --------
    >>> def cheerful(texts):
    ...     return Ratings(
    ...         {"stimulus": texts["stimulus"], "rater": ["c"], "label": ["joy"], "value": [1]},
    ...         scale="binary",
    ...     )
    >>> told = annotate_texts(cheerful, pl.DataFrame({"stimulus": ["a"], "text": ["What a day"]}))
    >>> told.stimuli["text"].to_list()
    ['What a day']
    """
    if callable(annotator):
        answers, said = annotator(texts), getattr(annotator, "__name__", "the annotator")
    elif Path(annotator).is_dir():
        return _by_model(TextClassifier.load(annotator), texts)
    else:
        said = str(annotator)
        answers = _asked(said, texts)
    if not isinstance(answers, Ratings) or answers.scale.kind != "binary":
        found = answers.scale.kind if isinstance(answers, Ratings) else type(answers).__name__
        raise InputError(f"annotator {said}: gives {found}; expected Ratings with binary answers")
    return _with_texts(answers, texts)


def _asked(name: str, texts: pl.DataFrame) -> Any:
    """What an annotator of another package answers; what goes wrong in it is told in words."""
    function = _loaded(name)
    try:
        return function(texts)
    except InputError as problem:
        raise InputError(f"annotator {name!r}: {problem}") from None
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        raise InputError(f"annotator {name!r} failed ({said})") from problem


def _loaded(name: str) -> Any:
    plug = find_plug(GROUP, name)
    if plug is None:
        known = ", ".join(list_annotators()) or "none is installed"
        raise InputError(
            f"annotator {name!r}: expected the folder of a model or the name of an entry point of "
            f"the group {GROUP} ({known})"
        )
    if not callable(plug.found):
        raise InputError(f"{plug.where} gives {type(plug.found).__name__}; expected a function")
    return plug.found


def _by_model(model: TextClassifier, texts: pl.DataFrame) -> Ratings:
    """Yes or no of a model to each of its labels."""
    chosen = model.predict(texts["text"].to_list())
    table = (
        pl.DataFrame(chosen, schema=list(model.labels))
        .with_columns(texts["stimulus"].cast(pl.String), pl.lit(model.name).alias("rater"))
        .unpivot(index=["stimulus", "rater"], variable_name="label", value_name="value")
    )
    people = {"rater": [model.name], "rater_kind": ["model"]}
    return Ratings(table, scale="binary", raters=people, stimuli=texts.select("stimulus", "text"))


def _with_texts(answers: Ratings, texts: pl.DataFrame) -> Ratings:
    """Put the texts to the stimuli."""
    asked = set(texts["stimulus"].cast(pl.String).to_list())
    strange = [name for name in answers.stimulus_names if name not in asked]
    if strange:
        raise InputError(
            f"the annotator answers about {strange[0]!r}, which it was not asked about"
        )
    if "text" in answers.stimuli.columns:
        return answers
    return Ratings(
        answers.frame,
        scale=answers.scale,
        raters=answers.raters,
        stimuli=texts.select(pl.col("stimulus").cast(pl.String), "text"),
    )

"""Predicted emotions as the steps use them: the first one, and the sentiments of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError
from affectlab.taxonomy import load_taxonomy

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SENTIMENTS", "prediction_columns", "unknown_labels"]

SENTIMENTS = ("neutral", "positive", "negative", "ambiguous")
_BETWEEN = "\x1f"


def unknown_labels(labels: Iterable[str], taxonomy: str) -> dict[str, str]:
    """Find the labels that a taxonomy does not have, each with what is wrong in words.

    Examples
    --------
    >>> unknown_labels(["joy", "Joy", "joyy"], "goemotions")
    {'joyy': "taxonomy goemotions: unknown label 'joyy'; did you mean 'joy'?"}
    """
    known = load_taxonomy(taxonomy)
    found = {}
    for label in labels:
        try:
            known.name_of(label)
        except InputError as problem:
            found[label] = str(problem)
    return found


def prediction_columns(
    labels: pl.Series, taxonomy: str, *, pass_over_unknown: bool = False
) -> pl.DataFrame:
    """Say for each comment which emotion is predicted, and which sentiments.

    Parameters
    ----------
    labels
        Lists of labels, the most likely first, shape (n,); null and empty lists stand for none.
    taxonomy
        Name or TOML file of the taxonomy that has the labels and their polarities.
    pass_over_unknown
        Take labels that the taxonomy does not have for none; reading has counted them.

    Returns
    -------
    polars.DataFrame
        ``emotion`` (the first label, ``""`` for none), ``neutral``, ``positive``, ``negative``,
        ``ambiguous`` (whether any label has this polarity); n rows.

    Raises
    ------
    InputError
        When the taxonomy does not have a label, and those are not passed over.

    Examples
    --------
    >>> import polars as pl
    >>> told = pl.Series([["joy", "surprise"], []], dtype=pl.List(pl.String))
    >>> prediction_columns(told, "goemotions").rows()
    [('joy', False, True, False, True), ('', False, False, False, False)]
    """
    import polars as pl

    known = load_taxonomy(taxonomy)
    # Lists come in few combinations, so that each is looked up once.
    joined = labels.cast(pl.List(pl.String)).list.join(_BETWEEN, ignore_nulls=True).fill_null("")
    told = joined.unique()
    written = {name for combination in told for name in combination.split(_BETWEEN)}
    absent = unknown_labels(written, taxonomy) if pass_over_unknown else {}
    rows = []
    for combination in told:
        given = [name for name in combination.split(_BETWEEN) if name.strip()]
        names = [known.name_of(name) for name in given if name not in absent]
        polarities = {known.polarity[name] for name in names}
        rows.append((names[0] if names else "", *(one in polarities for one in SENTIMENTS)))
    table = pl.DataFrame(
        rows,
        schema={"emotion": pl.String, **dict.fromkeys(SENTIMENTS, pl.Boolean)},
        orient="row",
    ).with_columns(told.alias("labels"))
    found = (
        joined.alias("labels")
        .to_frame()
        .join(table, on="labels", how="left", maintain_order="left")
    )
    return found.drop("labels")

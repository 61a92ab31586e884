"""What is kept aside when heads are trained, and taken out of everything that they learn from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError, unknown_name

if TYPE_CHECKING:
    import polars as pl

    from affectlab.models.embedding import Embeddings
    from affectlab.ratings import Ratings

__all__ = [
    "Aside",
    "big_values",
    "chosen_values",
    "names_of_values",
    "table_values",
    "values_of",
]

_SHARE = 0.2
"""Share of the values of an attribute that is kept aside."""


class Aside:
    """Stimuli that are kept aside, known again by their content wherever they are embedded.

    Parameters
    ----------
    embedded
        Where they are embedded.
    names
        Their names there; others are kept aside by their name alone.
    """

    def __init__(self, embedded: Embeddings, names: Iterable[str]) -> None:
        self.names = set(names)
        self.hashes = {
            digest
            for name, digest in zip(embedded.stimuli, embedded.hashes, strict=True)
            if name in self.names
        }

    def among(self, embedded: Embeddings, names: Iterable[str] = ()) -> set[str]:
        """Give the names that these stimuli have in other embeddings.

        Parameters
        ----------
        names
            More that are kept aside there, by their names there.
        """
        given = set(names)
        hashes = self.hashes | {
            digest
            for name, digest in zip(embedded.stimuli, embedded.hashes, strict=True)
            if name in given
        }
        same = {
            name
            for name, digest in zip(embedded.stimuli, embedded.hashes, strict=True)
            if digest in hashes
        }
        return same | given


def values_of(ratings: Ratings, column: str) -> dict[str, str]:
    """Give the value of an attribute of each rated stimulus that has one.

    Raises
    ------
    InputError
        When there is no such attribute.
    """
    table = ratings.stimuli
    known = [name for name in table.columns if name != "stimulus"]
    if column not in known:
        if not known:
            raise InputError(
                f"--held-out {column}: the ratings say nothing about stimuli; give a table of them "
                "with --stimuli"
            )
        raise unknown_name("attribute of stimuli", column, known, "--held-out")
    return _values(table, column)


def table_values(path: Path | None, column: str) -> dict[str, str]:
    """Give the value of an attribute of each stimulus of a table, rated or not."""
    from affectlab.ratings import read_table

    if path is None:
        return {}
    table = read_table(path)
    # A table that lacks the column is spoken of where the ratings lack it, too.
    return _values(table, column) if {"stimulus", column} <= set(table.columns) else {}


def _values(table: pl.DataFrame, column: str) -> dict[str, str]:
    names, values = (table[name].cast(str).to_list() for name in ("stimulus", column))
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def chosen_values(
    ratings: Ratings, values: dict[str, str], column: str, seed: int
) -> tuple[list[str], set[str]]:
    """Choose a fifth of the values of an attribute, and give the rated stimuli that have them.

    Raises
    ------
    InputError
        When a rated stimulus has no value, or all have the same.
    """
    missing = [name for name in ratings.stimulus_names if name not in values]
    if missing:
        raise InputError(f"--held-out {column}: stimulus {missing[0]!r} has no value; expected one")
    different = sorted({values[name] for name in ratings.stimulus_names})
    if len(different) < 2:
        raise InputError(
            f"--held-out {column}: all stimuli have the value {different[0]!r}; expected several"
        )
    rng = np.random.default_rng([seed, len(different)])
    n = max(1, round(_SHARE * len(different)))
    chosen = sorted(different[place] for place in rng.permutation(len(different))[:n])
    return chosen, names_of_values(ratings.stimulus_names, values, chosen)


def names_of_values(
    names: Iterable[str], values: dict[str, str], chosen: Iterable[str]
) -> set[str]:
    """Give the stimuli whose value was chosen."""
    wanted = set(chosen)
    return {name for name in names if values.get(name) in wanted}


def big_values(
    big: Ratings,
    embedded: Embeddings,
    column: str,
    people: Embeddings,
    known: dict[str, str],
    table: dict[str, str],
) -> tuple[dict[str, str], list[str]]:
    """Give the value of an attribute of each stimulus of the first stage, and those without one.

    Its ratings say it; or what is `known` of the stimuli of people that have the same content; or
    the table of stimuli, by name. Elsewhere the same name may be that of another stimulus.
    """
    own = _values(big.stimuli, column) if column in big.stimuli.columns else {}
    by_hash = {
        digest: known[name]
        for name, digest in zip(people.stimuli, people.hashes, strict=True)
        if name in known
    }
    hashes = dict(zip(embedded.stimuli, embedded.hashes, strict=True))
    found, missing = {}, []
    for name in big.stimulus_names:
        if name not in hashes:
            continue
        value = own.get(name) or by_hash.get(hashes[name]) or table.get(name)
        if value is None:
            missing.append(name)
        else:
            found[name] = value
    return found, missing

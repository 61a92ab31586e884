"""Where a frame stands in its transition, told from the role that it has."""

from __future__ import annotations

import re

import polars as pl

from affectlab.core.errors import InputError

__all__ = ["place_of_role", "placed"]

_PLACES = {"peak": 1, "near_peak": 2, "middle": 3, "near_neutral": 4, "neutral": 5}
_STEP = re.compile(r"step_([2-4])")
_FRAME = re.compile(r"frame_([1-9][0-9]{0,5})")


def place_of_role(role: str) -> int | None:
    """Give the place of a role, 1 for the peak; None for a role without one.

    Examples
    --------
    >>> place_of_role("near_peak"), place_of_role("step_3"), place_of_role("smile")
    (2, 3, None)
    """
    numbered = _STEP.fullmatch(role) or _FRAME.fullmatch(role)
    return int(numbered[1]) if numbered else _PLACES.get(role)


def placed(intra: pl.DataFrame) -> pl.DataFrame:
    """Put the places of both frames beside pairs of one transition.

    Adds ``place_a``, ``place_b`` and ``last``, the place of the neutral frame: that of the role
    ``neutral``, or of the last frame where frames are only counted.

    Raises
    ------
    InputError
        When a role has no place.
    """
    roles = pl.concat([intra["role_a"], intra["role_b"]]).unique().to_list()
    places = {role: place_of_role(role) for role in roles}
    unknown = sorted(role for role, place in places.items() if place is None)
    if unknown:
        one = intra.filter((pl.col("role_a") == unknown[0]) | (pl.col("role_b") == unknown[0]))
        raise InputError(
            f"pair {one['stimulus'][0]!r}: role {unknown[0]!r}; expected {', '.join(_PLACES)}, or "
            "frame_1 (the peak), frame_2, …"
        )
    if not intra.height:
        none = pl.lit(None, dtype=pl.Int64)
        return intra.with_columns(place_a=none, place_b=none, last=none)
    whole = intra.with_columns(
        pl.col(f"role_{side}").replace_strict(places, return_dtype=pl.Int64).alias(f"place_{side}")
        for side in "ab"
    )
    counted = pl.col("role_a").str.starts_with("frame_") & pl.col("role_b").str.starts_with(
        "frame_"
    )
    farthest = pl.max_horizontal("place_a", "place_b")
    return whole.with_columns(
        pl.when(counted.all().over("actor", "expression_a"))
        .then(farthest.max().over("actor", "expression_a"))
        .otherwise(_PLACES["neutral"])
        .alias("last")
    )

"""Designs of mixed models: the answers of each label, and the levels of random factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.tables import Column, Table
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, shown
from affectlab.ratings import (
    Ratings,
    canonical,
    has_traces,
    people_or_all,
    require_order,
    with_label,
)
from affectlab.reliability.components.cumulative_link import CumulativeModel, fit_cumulative
from affectlab.reliability.components.restricted_likelihood import (
    Factor,
    FixedEffects,
    MixedModel,
    fit,
)

STIMULUS, RATER, CELL = "stimulus", "rater", "stimulus:rater"
Link: TypeAlias = Literal["identity", "probit", "logit"]

_MOST_CATEGORIES = 50
_MOST_PAIRS = 50_000_000
"""Levels of the largest factor times those of all others, where each pair takes memory."""
MOST_LEVELS = 4000
"""Levels of all factors but the largest, which share one dense matrix."""


@dataclass(frozen=True, eq=False)
class MixedDesign:
    """The answers to one label with their random factors, and why they have no components."""

    name: str
    frame: pl.DataFrame
    value: Floats
    factors: tuple[Factor, ...]
    """Random factors but that of cells, in the order in which they were given."""
    counts: dict[str, int]
    levels: dict[str, int]
    """Number of levels of each factor."""
    has_cells: bool
    """Whether each combination of stimulus and rater has an effect of its own."""
    reason: Reason | None = None
    """Why there is nothing to estimate, where there is not."""

    def model(self, fixed: Floats | None = None) -> MixedModel:
        """Arrange the answers for the linear mixed model, with columns of fixed effects."""
        cells = CELL if self.has_cells else None
        return MixedModel.of(self.value, self.factors, fixed, cells)

    def undefined(self, cause: Cause, **more: Any) -> MixedDesign:
        """Say why there is nothing to estimate."""
        return replace(self, reason=Reason(cause, **more))


def crossed(value: Floats, **levels: Ints) -> MixedModel:
    """Arrange answers with crossed random factors, by name; codes of levels have no gaps."""
    return MixedModel.of(
        value, [Factor(name, code, int(code.max()) + 1) for name, code in levels.items()]
    )


def check_link(link: str) -> None:
    """Refuse an unknown link."""
    check_choice("link", link, get_args(Link), "link")


class Components(Protocol):
    """Variances that have been estimated, in whatever way."""

    @property
    def method(self) -> str:
        """How variances were estimated."""

    @property
    def interval_method(self) -> IntervalFact | Reason:
        """How their intervals are made, or why there are none."""

    def variance(self, name: str) -> float:
        """Give the variance of a factor, or of the residual."""

    def variance_interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Give its interval."""

    def share(self, name: str) -> float:
        """Give its share of the sum of all variances."""

    def ratio(self, name: str, weights: Mapping[str, float]) -> float:
        """Give the variance of a factor over that of the residual and weighted others."""

    def ratio_interval(
        self, name: str, weights: Mapping[str, float], confidence: float
    ) -> tuple[float, float]:
        """Give its interval."""


class FittedModel(Components, Protocol):
    """A mixed model that has been fitted, whatever its answers."""

    def estimates(self) -> FixedEffects:
        """Fixed effects with their covariance, the mean first."""


def fitted(
    design: MixedDesign, link: Link, fixed: Floats | None = None
) -> tuple[MixedDesign, FittedModel | None]:
    """Fit the model of a design, with columns of fixed effects beside the mean.

    Raises
    ------
    InputError
        When there are too many different answers, or levels, for a cumulative link.
    """
    if design.reason is not None:
        return design, None
    if link == "identity":
        return design, fit(design.model(fixed))
    factors = list(design.factors)
    if design.has_cells:
        cell = design.frame.select(pl.struct(STIMULUS, RATER).rank("dense")).to_series()
        factors.append(Factor(CELL, cell.to_numpy().astype(np.int64) - 1, design.levels[CELL]))
    model = CumulativeModel.of(design.value, factors, fixed, link)
    for n, most, what in (
        (len(model.values), _MOST_CATEGORIES, "different answers"),
        (model.factors[0].n_levels * model.width, _MOST_PAIRS, "pairs of levels"),
    ):
        if n > most:
            raise InputError(
                f"link {link}: {shown(design.name)} has {n:,} {what}; expected at most {most:,}"
            )
    solution = fit_cumulative(model)
    if solution is None:
        return design.undefined(Cause.NO_MAXIMUM), None
    return design, solution


def usual_factors(ratings: Ratings) -> tuple[str, ...]:
    """Stimuli and raters, and sessions where raters answered the same questions in several."""
    frame = ratings.frame
    if "session" not in frame.columns or frame["session"].n_unique() < 2:
        return STIMULUS, RATER
    several = ratings.answers(every=True).n_ratings > ratings.answers().n_ratings
    return (STIMULUS, RATER, "session") if several else (STIMULUS, RATER)


def designs(
    ratings: Ratings,
    factors: Sequence[str],
    attributes: Sequence[str] = (),
    *,
    everyone: bool,
    what: str,
    option: str = "fixed",
) -> Iterator[MixedDesign]:
    """Arrange the answers of each label, or of all where the label is part of the model.

    Parameters
    ----------
    ratings
        Ratings on scales with an order.
    factors
        Random factors.
    attributes
        Columns of fixed effects.
    everyone
        Take models in where there are people, too.
    what
        What the ratings are needed for.
    option
        The parameter that names the attributes.

    Raises
    ------
    InputError
        As :func:`variance_components` says.
    """
    if len(set(factors)) < len(factors) or not factors:
        raise InputError(f"factors {list(factors)}: expected one or more, each once")
    ratings = canonical(ratings)
    if not everyone:
        ratings = people_or_all(ratings)
    require_order(ratings, what)
    for name, frame in _frames(ratings, factors, attributes, option):
        yield _design(name, frame, factors, attributes, option)


def _frames(
    ratings: Ratings, factors: Sequence[str], attributes: Sequence[str], of_attributes: str
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Give the usable answers of each label with the columns that the model needs."""
    if CELL in factors:
        # Answers to repeated trials tell views of raters from noise.
        used = ratings.select(trial_kind=("main", "repeat"), outcome="ok")
    else:
        # Moments of a trace are no independent answers, unless their time is part of the model.
        used = ratings.answers(every="at" in (*factors, *attributes) or not has_traces(ratings))
    frame = with_label(used.to_frame().filter(pl.col("value").is_not_null()), ratings)
    for key, table in (("rater", ratings.raters), ("stimulus", ratings.stimuli)):
        more = [name for name in table.columns if name not in frame.columns]
        frame = frame.join(table.select(key, *more), on=key, how="left", maintain_order="left")
    known = frame.columns
    for what, names in (("factor", factors), ("attribute", attributes)):
        for name in names:
            parts = name.split(":") if what == "factor" and name not in known else [name]
            for part in parts:
                if part not in known:
                    option = {"factor": "factors", "attribute": of_attributes}[what]
                    named = (*known, CELL) if what == "factor" else known
                    raise unknown_name(what, part, named, option)
            if len(parts) > 1:
                frame = frame.with_columns(pl.concat_str(parts, separator=":").alias(name))
    if CELL in factors and not {STIMULUS, RATER} <= set(factors):
        raise InputError(f"factors: {CELL} needs both {STIMULUS} and {RATER} beside it")
    if "label" in (*factors, *attributes):
        # Ratings on different scales are no one quantity.
        yield str(ratings.scale and "all"), frame
        return
    for name in ratings.label_names:
        yield name, frame.filter(pl.col("label") == name)


def _design(
    name: str,
    frame: pl.DataFrame,
    factors: Sequence[str],
    attributes: Sequence[str],
    of_attributes: str,
) -> MixedDesign:
    counts = {
        "n_items": frame["stimulus"].n_unique(),
        "n_raters": frame["rater"].n_unique(),
        "n_ratings": frame.height,
    }
    # With further factors, cells are no longer what repeated answers share.
    has_cells = set(factors) == {STIMULUS, RATER, CELL}
    own = [factor for factor in factors if not (has_cells and factor == CELL)]
    for option, names in (("factors", own), (of_attributes, attributes)):
        for column in names:
            if frame[column].null_count():
                raise InputError(f"{option}: {column} is empty for some answers of {shown(name)}")
    coded = []
    for factor in own:
        level = frame[factor].rank("dense").to_numpy().astype(np.int64) - 1
        coded.append(Factor(factor, level, int(level.max()) + 1 if level.size else 0))
    value = frame["value"].to_numpy().astype(np.float64)
    levels = {one.name: one.n_levels for one in coded}
    design = MixedDesign(name, frame, value, tuple(coded), counts, levels, has_cells)
    single = next((one for one in coded if one.n_levels < 2), None)
    if single is not None:
        return design.undefined(Cause.FEWER, least=2, of=f"levels of {single.name}")
    dense = sum(levels.values()) - max(levels.values())
    if dense > MOST_LEVELS:
        raise InputError(
            f"factors {joined(levels)} of {shown(name)}: all but the largest have {dense:,} "
            f"levels in all; expected at most {MOST_LEVELS:,}"
        )
    if np.ptp(value) == 0:
        return design.undefined(Cause.NONE, of="variance")
    alike = next((one for one in coded if _is_constant_within(one, value)), None)
    if alike is not None:
        return design.undefined(Cause.NO_RESIDUAL_WITHIN, of=alike.name)
    if has_cells:
        levels[CELL] = frame.select(STIMULUS, RATER).n_unique()
    if levels.get(CELL) == value.size:
        return design.undefined(Cause.NOTHING_TWICE)
    if _confounded(coded, value.size):
        return design.undefined(Cause.INSEPARABLE_FACTORS)
    return design


def _is_constant_within(factor: Factor, value: Floats) -> bool:
    """Whether a factor with several answers to a level leaves nothing to explain."""
    if factor.n_levels == value.size:
        return False
    low, high = np.full((2, factor.n_levels), np.inf)
    np.minimum.at(low, factor.level, value)
    np.minimum.at(high, factor.level, -value)
    return bool((low == -high).all())


def _confounded(factors: Sequence[Factor], n: int) -> bool:
    """Whether a factor has a level of its own for each answer, or two have the same levels."""
    codes = [np.unique(one.level, return_index=True, return_inverse=True)[1:] for one in factors]
    # Levels numbered as they first occur are the same numbers for the same partition.
    same = {tuple(first[inverse].tolist()) for first, inverse in codes}
    return len(same) < len(factors) or any(one.n_levels == n for one in factors)


def estimates_table(
    name: str,
    caption: str,
    rows: Sequence[dict[str, Any]],
    keys: Sequence[str],
    extra: dict[str, Any],
    columns: Sequence[Column],
    *,
    size: float = 1.0,
    **more: Any,
) -> Table:
    """Declare a table of estimates, which may have no rows; `size` is how large numbers are."""
    empty = {name: pl.Series(name, [], dtype=kind) for name, kind in extra.items()}
    none = Estimates.build({key: [] for key in keys}, value=[], extra=empty)
    made = Estimates.of_rows(rows, keys, extra, target="both", size=size) if rows else none
    return replace(made.tables[0], name=name, caption=caption, columns=tuple(columns), **more)

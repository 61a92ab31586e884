"""How well a report recovers what was planted in the answers of simulated people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab._resampling import summarise
from affectlab._words import count, joined, number, plural, shown
from affectlab.errors import InputError
from affectlab.report._content import Block, Column, Paragraph, Section, Table

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
    from affectlab.report._study import Study

__all__ = ["planted_columns", "planted_section"]

_PLANTED = ("planted", "careless", "planted_bias", "planted_inconsistency")
"""Attributes of simulated people that say how they were made."""
_COLUMNS = ("stimulus", "label", "value")


def planted_columns(ratings: Ratings) -> tuple[str, ...]:
    """Name the attributes that say how simulated people were made, and describe nobody."""
    names = ratings.raters.columns
    return tuple(name for name in _PLANTED if name in names) if "planted" in names else ()


def planted_section(study: Study, truth: pl.DataFrame) -> Section:
    """Say how close scores come to the truth, and which planted careless people were noticed.

    Parameters
    ----------
    study
        The ratings of the report.
    truth
        What simulated people answered from: ``stimulus, label, value``.

    Raises
    ------
    InputError
        When a column is missing, or nothing of it was rated.
    """
    missing = [name for name in _COLUMNS if name not in truth.columns]
    if missing:
        raise InputError(
            f"truth: column {missing[0]!r} is missing; found: {', '.join(truth.columns)}"
        )
    blocks: list[Block] = [*_scores(study, truth)]
    if planted_columns(study.ratings):
        blocks += _people(study)
    return Section("planted-truth", "Planted truth", tuple(blocks))


def _scores(study: Study, truth: pl.DataFrame) -> list[Block]:
    people = study.people
    if people is None or not people.has_labels or people.scale.kind in ("nominal", "text"):
        raise InputError("truth: there are no numeric answers of people by label to compare with")
    found = (
        people.to_frame()
        .filter(pl.col("value").is_not_null())
        .with_columns(pl.col("stimulus", "label").cast(pl.String))
        .group_by("stimulus", "label")
        .agg(score=pl.col("value").cast(pl.Float64).mean())
        .join(
            truth.select(
                pl.col("stimulus", "label").cast(pl.String), pl.col("value").cast(pl.Float64)
            ),
            on=["stimulus", "label"],
        )
        .sort("label", "stimulus")
    )
    if found.height == 0:
        raise InputError("truth: no stimulus and label of it was rated")
    rng = np.random.default_rng(study.seed)
    rows = []
    for (label,), one in found.group_by("label", maintain_order=True):
        pairs = one.select("score", "value").to_numpy()
        value = _correlation(pairs)
        draws = rng.integers(0, len(pairs), (study.n_boot, len(pairs)))
        drawn = np.array([_correlation(pairs[rows_]) for rows_ in draws])
        low = high = np.nan
        if study.n_boot and not np.isnan(value):
            spread = summarise(np.array([value]), drawn[:, None], 0.95)
            low, high = float(spread.low[0]), float(spread.high[0])
        status = "undefined: fewer than three stimuli, or one value" if np.isnan(value) else "ok"
        rows.append((str(label), value, low, high, len(pairs), status))
    frame = pl.DataFrame(
        rows, schema=["label", "value", "low", "high", "n_items", "status"], orient="row"
    )
    known = frame["value"].drop_nans()
    words = "For no label can the correlation of scores with the truth be computed."
    if known.len():
        ends = f"{number(known.min())} to {number(known.max())}"  # type: ignore[arg-type]
        words = (
            "These answers are simulated, from a truth that is known. The mean of the answers "
            f"correlates with it {number(known.median())} "  # type: ignore[arg-type]
            f"in the median of {plural(known.len(), 'label')} ({ends})."
        )
    columns = (
        Column("label", "Label", "name"),
        Column("value", "Correlation", "number"),
        Column("interval", "95 % interval", "interval"),
        Column("n_items", "Stimuli", "count"),
        *([Column("status", "Note")] if (frame["status"] != "ok").any() else []),
    )
    caption = "Scores (means over people) against the planted truth, over stimuli."
    note = "Pearson's correlation; bootstrap over stimuli."
    return [Paragraph(words), Table("planted_truth", caption, frame, columns, notes=(note,))]


def _correlation(pairs: np.ndarray) -> float:
    if len(pairs) < 3 or (np.ptp(pairs, axis=0) == 0).any():
        return float("nan")
    return float(np.corrcoef(pairs.T)[0, 1])


def _people(study: Study) -> list[Block]:
    found = study.pointed_out
    flagged = set(found.names)
    agreement = {one.rater: one for one in found.agreement}
    table = study.ratings.raters.with_columns(pl.col("rater").cast(pl.String))
    rows = []
    for one in table.filter(pl.col("planted").is_not_null()).iter_rows(named=True):
        rater, careless = one["rater"], str(one.get("careless")).lower() == "true"
        known = agreement.get(rater)
        why = ""
        if careless and rater not in flagged:
            why = (
                "too few stimuli in common with others"
                if known is None or np.isnan(known.low)
                else f"agreement of {number(known.value)}, and with so few people and answers "
                f"{number(known.low)} can be expected of one more person like the others"
            )
        value = None if known is None else known.value
        rows.append((rater, one["planted"], careless, rater in flagged, value, why))
    schema = {
        "rater": pl.String, "planted": pl.String, "careless": pl.Boolean,
        "flagged": pl.Boolean, "agreement": pl.Float64, "missed": pl.String,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(
        "careless", "rater", descending=[True, False]
    )
    planted = frame.filter("careless")
    caught, wrongly = (
        planted.filter("flagged"),
        frame.filter(~pl.col("careless") & pl.col("flagged")),
    )
    words = (
        f"Of {plural(planted.height, 'person', 'people')} planted as careless, "
        f"{count(caught.height)} {'stands' if caught.height == 1 else 'stand'} out by what this "
        "report looks at."
    )
    for row in planted.filter(~pl.col("flagged")).iter_rows(named=True):
        words += f" {shown(row['rater'], 40)} ({row['planted']}) was missed: {row['missed']}."
    words += (
        f" Pointed out though planted as careful: {joined(wrongly['rater'].to_list())}."
        if wrongly.height
        else " Nobody who was planted as careful was pointed out."
    )
    shown_frame = frame.with_columns(
        pl.col("careless", "flagged").replace_strict({True: "yes", False: "no"})
    )
    columns = (
        Column("rater", "Rater", "name"),
        Column("planted", "Planted as"),
        Column("careless", "Careless"),
        Column("flagged", "Pointed out"),
        Column("agreement", "With the others", "number"),
        *([Column("missed", "Why missed")] if caught.height < planted.height else []),
    )
    return [Paragraph(words), Table("planted_people", "Planted people.", shown_frame, columns)]

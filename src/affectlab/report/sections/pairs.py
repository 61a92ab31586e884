"""Who agrees with whom: the heatmap of pairs, and agreement by kind of pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.core.render.drawing import MOST_DOTS
from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.words import count, joined, number, plural
from affectlab.evaluation.rater_comparison import pair_kinds
from affectlab.ratings import Ratings
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped
from affectlab.report.sections.labels import sequential
from affectlab.report.statistics import (
    NO_RATERS,
    PairAgreement,
    Study,
    is_person,
    rater_called,
    reasons_of_rows,
)

_MOST_SHOWN = 40
_ENOUGH = 10
_KINDS = ("human-human", "human-model", "model-model")


def pairs_section(study: Study) -> Section | Skipped:
    """Heatmap, box plot and table of the agreement of pairs."""
    title = "Pairs of raters"
    pairs = study.pairs
    if pairs is None:
        why = "there are no numeric answers." if study.numeric is None else study.one_rater
        why = why if study.ratings.raters_known else NO_RATERS
        return Skipped(title, why)
    known = pairs.frame.filter(pl.col("value").is_not_nan())
    if known.height == 0:
        reasons = joined(reasons_of_rows(pairs.frame))
        return Skipped(title, f"no pair of raters has a defined {pairs.measure} ({reasons}).")
    by_kind = _by_kind(pairs)
    blocks: list[Block] = [Paragraph(_words(pairs, by_kind.frame)), _heatmap(study, pairs)]
    if study.flow is not None:
        blocks.insert(0, sequential(study.flow))
    # Beside models the boxes stand among what was published, with its tests.
    if len(known) > 2 and study.beside.alignment is None:
        blocks.append(_boxes(pairs, known, by_kind.frame))
    blocks += [by_kind, *_pair_tables(pairs)]
    return Section("pairs", title, tuple(blocks))


def _by_kind(pairs: PairAgreement) -> Table:
    """Sum up pairs by kind, with the middle half of their values and their common stimuli."""
    value = pl.col("value").drop_nans()
    more = pairs.frame.group_by("pair_kind").agg(
        quarter_low=value.quantile(0.25, "linear"),
        quarter_high=value.quantile(0.75, "linear"),
        median_items=pl.col("n_items").median(),
    )
    kinds = pair_kinds(pairs.result).table()
    frame = kinds.frame.join(more, on="pair_kind", how="left", maintain_order="left")
    columns = (
        *kinds.columns,
        Count("n_undefined", "not defined"),
        Count("median_items", "median common stimuli"),
    )
    each = ", a value for each pair and label" if pairs.frame["label"].n_unique() > 1 else ""
    caption = (
        f"{pairs.measure[0].upper()}{pairs.measure[1:]} by kind of pair{each}. "
        "The SD treats pairs as independent, which they are not: it describes, it does not test."
    )
    if frame["n_undefined"].sum():
        caption += " The median of common stimuli is over all pairs, also those without a value."
    return replace(kinds, name="pairs_by_kind", caption=caption, frame=frame, columns=columns)


def _words(pairs: PairAgreement, by_kind: pl.DataFrame) -> str:
    parts = [
        f"{number(row['mean'])} for {row['pair_kind']} pairs"
        for row in by_kind.iter_rows(named=True)
        if row["mean"] is not None
    ]
    over = "pairs and labels" if pairs.frame["label"].n_unique() > 1 else "pairs"
    text = f"The mean {pairs.measure} over {over} is {joined(parts)}."
    if pairs.n_left_out:
        text += (
            f" There are too many pairs to compare all: the {count(len(pairs.result.raters))} "
            f"raters kept are the models and the people with the most answers; "
            f"{count(pairs.n_left_out)} are left out."
        )
    return text


def _heatmap(study: Study, pairs: PairAgreement) -> Picture:
    matrix = pairs.matrix
    values, names, kinds = matrix.values, matrix.raters, matrix.rater_kinds
    rule = ""
    if len(names) > _MOST_SHOWN:
        answers = {} if study.numeric is None else dict(_counted(study.numeric))
        busiest = sorted(range(len(names)), key=lambda k: -answers.get(names[k], 0))[:_MOST_SHOWN]
        keep = sorted(busiest)
        values = values[np.ix_(keep, keep)]
        names, kinds = (tuple(part[k] for k in keep) for part in (names, kinds))
        rule = (
            f" Of {count(len(matrix.raters))} raters the {_MOST_SHOWN} with the most answers are "
            "shown; the file holds all pairs."
        )
    upper = values[np.triu_indices(len(names), 1)]
    defined = upper[np.isfinite(upper)]
    gaps = " Empty cells: no common stimuli, or not defined." if defined.size < upper.size else ""
    words = f"Agreement of {plural(len(names), 'rater')} in {plural(upper.size, 'pair')}"
    if defined.size:
        if defined.size < upper.size:
            verb = "has" if defined.size == 1 else "have"
            words += f", of which {count(defined.size)} {verb} a value"
        if defined.size > 1:
            words += (
                f": from {number(float(defined.min()))} to {number(float(defined.max()))}, median "
                f"{number(float(np.median(defined)))}"
            )
        words += f"; {_closest(pairs, values, names)}"
    mixed = len({is_person(kind) for kind in kinds}) > 1
    order = "; people first, names of models in orange" if mixed else ""
    labels = ", mean over the labels on which it is defined" if study.ratings.n_labels > 1 else ""
    return Picture.make(
        "pair_heatmap",
        pairs.result.table(),
        name="pairs",
        title="Agreement of pairs",
        caption=f"{pairs.measure[0].upper()}{pairs.measure[1:]} of every pair of raters{labels}"
        f"{order}.{gaps}{rule}",
        description=words + ".",
        options={
            "raters": pairs.result.raters,
            "rater_kinds": pairs.result.rater_kinds,
            "value_name": pairs.measure,
            "chosen": names,
        },
    )


def _counted(numeric: Ratings) -> Iterator[tuple[str, int]]:
    """Count the answers of each rater."""
    counts = np.bincount(numeric.rater_code, minlength=numeric.n_raters)
    return zip(numeric.rater_names, counts.tolist(), strict=True)


def _closest(pairs: PairAgreement, values: np.ndarray, names: Sequence[str]) -> str:
    """Name the pair that the table of pairs puts first, and how many agree as much."""
    place = {name: k for k, name in enumerate(pairs.result.raters)}
    order = [place[name] for name in names]
    first, second = np.triu_indices(len(names), 1)
    upper, common = (table[first, second] for table in (values, pairs.common[np.ix_(order, order)]))
    known = np.isfinite(upper)
    # Two raters can agree perfectly on one or two stimuli by chance.
    enough = known & (common >= _ENOUGH)
    candidates = np.flatnonzero(enough if enough.any() else known)
    among = f" with at least {_ENOUGH} common stimuli" if (known & ~enough).any() else ""
    if not enough.any():
        among = f" (none has {_ENOUGH} common stimuli)"
    best = float(upper[candidates].max())
    ties = candidates[np.isclose(upper[candidates], best, rtol=0, atol=1e-12)]
    a, b = (rater_called(names[part[ties[0]]]) for part in (first, second))
    if len(ties) == 1:
        return f"the closest pair{among} is {a} and {b}, at {number(best)}"
    return (
        f"the closest {count(len(ties))} pairs{among}, such as {a} and {b}, tie at {number(best)}"
    )


def _boxes(pairs: PairAgreement, known: pl.DataFrame, by_kind: pl.DataFrame) -> Picture:
    words = "; ".join(
        f"{row['pair_kind']}: median {number(row['median'])}, middle half "
        f"{number(row['quarter_low'])} to {number(row['quarter_high'])}"
        for row in by_kind.iter_rows(named=True)
        if row["median"] is not None
    )
    return Picture.make(
        "groups_compared",
        known,
        name="pairs_by_kind",
        title="Agreement by kind of pair",
        caption=dots_and_boxes(known["pair_kind"], labelled=pairs.frame["label"].n_unique() > 1),
        description=words + ".",
        options={
            "group": "pair_kind",
            "groups": [kind for kind in _KINDS if kind in known["pair_kind"]],
            "value_name": pairs.measure,
        },
    )


def dots_and_boxes(groups: pl.Series, *, labelled: bool) -> str:
    """Say what the dots and boxes of a figure of pairs are."""
    text = "Each dot is one pair" + (" on one label" if labelled else "")
    if (groups.value_counts()["count"] > MOST_DOTS).any():
        text += (
            f"; of a kind with more than {MOST_DOTS} values {MOST_DOTS} are drawn, evenly spaced "
            "by rank, the lowest and the highest among them"
        )
    return (
        f"{text}. The box holds the middle half of all values, the line is the median, and the "
        "whiskers reach to the last value within 1.5 times the length of the box."
    )


def _pair_tables(pairs: PairAgreement) -> list[Table]:
    """The closest and the most distant pairs, and a file with every pair on every label."""
    frame = pairs.frame
    names = (Key("rater_a", "rater"), Key("rater_b", "other rater"))
    value = pl.col("value").drop_nans()
    means = (
        frame.group_by("rater_a", "rater_b", "pair_kind", maintain_order=True)
        .agg(value.mean().alias("value"), value.len().cast(pl.Int64).alias("n_labels"))
        .join(_common(pairs), on=["rater_a", "rater_b"], how="left", maintain_order="left")
        .sort(
            pl.col("n_items") >= _ENOUGH,
            "value",
            descending=[True, True],
            nulls_last=True,
            maintain_order=True,
        )
    )
    several = frame["label"].n_unique() > 1
    columns = [
        *names,
        Text("pair_kind", "pair"),
        Number("value", f"mean {pairs.measure}" if several else pairs.measure),
        *([Count("n_labels")] if several else []),
        Count("n_items", "common stimuli"),
    ]
    caption = f"Pairs of raters, closest first (fewer than {_ENOUGH} common stimuli: last)"
    caption += "; mean over the labels on which it is defined." if several else "."
    what = "Every pair on every label." if several else "Every pair."
    every = Table("pairs", what, frame, (), limit=0)
    return [Table("pairs_mean", caption, means, tuple(columns), limit=15), every]


def _common(pairs: PairAgreement) -> pl.DataFrame:
    """Stimuli in common of every two raters, in both orders."""
    names = pairs.result.raters
    first, second = (part.ravel() for part in np.indices(pairs.common.shape))
    return pl.DataFrame(
        {
            "rater_a": [names[k] for k in first],
            "rater_b": [names[k] for k in second],
            "n_items": pairs.common.ravel(),
        },
        schema_overrides={"rater_a": pl.String, "rater_b": pl.String},
    )

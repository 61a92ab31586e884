"""Who agrees with whom: the heatmap of pairs, and agreement by kind of pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.words import joined
from affectlab.evaluation.rater_comparison import pair_kinds
from affectlab.ratings import Ratings
from affectlab.reliability.agreement import reasons_in_stimuli
from affectlab.report import wording
from affectlab.report.page import Block, Paragraph, Picture, Section, Skipped
from affectlab.report.statistics import PairAgreement, Study, is_person

_MOST_SHOWN, _MOST_PAIRS = 40, 8
_ENOUGH = 10


def pairs_section(study: Study) -> Section | Skipped:
    """Heatmap and tables of the agreement of pairs."""
    title = "Pairs of raters"
    pairs = study.pairs
    if pairs is None:
        why = wording.NO_NUMBERS if study.numeric is None else study.one_rater
        return Skipped(title, why if study.ratings.raters_known else wording.NO_RATERS)
    known = pairs.frame.filter(pl.col("value").is_not_nan())
    if known.height == 0:
        reasons = joined(reasons_in_stimuli(pairs.frame["reason"]))
        return Skipped(title, wording.no_pairs(pairs.measure, reasons))
    by_kind = _by_kind(pairs)
    means = [
        (row["pair_kind"], row["mean"])
        for row in by_kind.frame.iter_rows(named=True)
        if row["mean"] is not None
    ]
    words = wording.pairs(pairs.measure, means, len(pairs.result.raters), pairs.n_left_out)
    blocks: list[Block] = [Paragraph(wording.SEQUENTIAL)] if study.flow is not None else []
    blocks += [Paragraph(words), _heatmap(study, pairs), by_kind, *_pair_tables(pairs)]
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
        Count("n_undefined", "not defined", spare=True),
        Count("median_items", "median common stimuli", spare=True),
    )
    caption = wording.pairs_by_kind(pairs.measure, labelled=pairs.frame["label"].n_unique() > 1)
    return replace(kinds, name="pairs_by_kind", caption=caption, frame=frame, columns=columns)


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
        rule = wording.heatmap_rule(len(matrix.raters), _MOST_SHOWN)
    upper = values[np.triu_indices(len(names), 1)]
    defined = upper[np.isfinite(upper)]
    return Picture.make(
        "pair_heatmap",
        pairs.result.table(),
        name="pairs",
        title="Agreement of pairs",
        caption=wording.heatmap_caption(
            pairs.measure,
            labelled=study.ratings.n_labels > 1,
            mixed=len({is_person(kind) for kind in kinds}) > 1,
            gaps=defined.size < upper.size,
            rule=rule,
        ),
        description=wording.heatmap_words(len(names), defined, upper.size),
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
        Text("pair_kind", "pair", spare=True),
        Number("value", f"mean {pairs.measure}" if several else pairs.measure),
        *([Count("n_labels", spare=True)] if several else []),
        Count("n_items", "common stimuli"),
    ]
    caption = wording.pairs_caption(_ENOUGH, several=several)
    what = "Every pair on every label." if several else "Every pair."
    every = Table("pairs", what, frame, (), limit=0)
    return [Table("pairs_mean", caption, means, tuple(columns), limit=_MOST_PAIRS), every]


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

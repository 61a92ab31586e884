"""Statistics that go by label give of a table with several scales what they give of each label."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.ratings.test_scales import SCALES, long, survey

from affectlab import reliability
from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability.screening.wording import spread_text

ORDERED = ("plausibility", "arousal")
ANY = (*ORDERED, "category")

BY_LABEL: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "krippendorff_alpha": (ANY, partial(reliability.krippendorff_alpha, n_boot=30, seed=1)),
    "pairwise_kappa": (ANY, reliability.pairwise_kappa),
    "percent_agreement": (ANY, reliability.percent_agreement),
    "fleiss_kappa": (ANY, reliability.fleiss_kappa),
    "gwet_ac": (ANY, reliability.gwet_ac),
    "random_pair_kappa": (ANY, partial(reliability.random_pair_kappa, weights="nominal", seed=1)),
    "opinion_histogram": (ANY, reliability.opinion_histogram),
    "mean_opinion_scores": (ORDERED, reliability.mean_opinion_scores),
    "intraclass_correlation": (ORDERED, reliability.intraclass_correlation),
    "interrater_correlation": (ORDERED, reliability.interrater_correlation),
    "subject_model": (ORDERED, reliability.subject_model),
}
POOLED: dict[str, Callable[..., Any]] = {
    "krippendorff_alpha": partial(reliability.krippendorff_alpha, by_label=False, n_boot=0),
    "self_consistency": reliability.self_consistency,
    "ppca": reliability.ppca,
    "subject_model": partial(reliability.subject_model, by_label=False),
}


@pytest.fixture(scope="module")
def mixed() -> Ratings:
    return Ratings(long(survey(8, 12)), scale=SCALES)


def frame_of(found: Any) -> pl.DataFrame:
    return found if isinstance(found, pl.DataFrame) else found.to_frame()


@pytest.mark.parametrize("name", BY_LABEL)
def test_a_mixed_table_equals_each_label_alone(mixed: Ratings, name: str) -> None:
    labels, statistic = BY_LABEL[name]
    # Texts are left out of statistics of numbers, as if nobody had asked for them.
    together = frame_of(statistic(mixed.select(labels=[*labels, "comment"])))
    order = [one for one in mixed.label_names if one in labels]
    alone = pl.concat([frame_of(statistic(mixed.select(labels=one))) for one in order])
    columns = [
        one
        for one in alone.columns
        if one not in {"se", "low", "high", "method", "interval", "reason"}
    ]
    if "label" not in together.columns:
        assert together.height == alone.height
        columns = [one for one in columns if one in together.columns]
    assert_frame_equal(together.select(columns), alone.select(columns))


@pytest.mark.long
@pytest.mark.parametrize(
    "statistic",
    [
        partial(reliability.split_half, n_splits=20, seed=1),
        partial(reliability.krippendorff_alpha, n_boot=30, seed=1),
    ],
)
def test_draws_over_labels_are_those_of_a_shared_scale(
    mixed: Ratings, statistic: Callable[..., Any]
) -> None:
    ordered = mixed.select(labels=ORDERED)
    shared = ordered.with_values(ordered.value, "1-9", step="as if asked on one scale")
    assert_frame_equal(frame_of(statistic(ordered)), frame_of(statistic(shared)))


@pytest.mark.parametrize("name", POOLED)
def test_pooling_over_labels_needs_one_scale(mixed: Ratings, name: str) -> None:
    with pytest.raises(InputError, match=r"different scales \(plausibility: ordinal 1 to 7"):
        POOLED[name](mixed.select(labels=[*ORDERED, "comment"]))


@pytest.mark.parametrize(
    "statistic",
    [
        reliability.intraclass_correlation,
        reliability.interrater_correlation,
        reliability.mean_opinion_scores,
    ],
)
def test_labels_without_an_order_are_named(mixed: Ratings, statistic: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=r"leave out the labels .* \(category: nominal"):
        statistic(mixed)


def test_rules_of_screening_take_percent_of_each_scale(mixed: Ratings) -> None:
    rows = long(survey(8, 12)).filter(pl.col("label").is_in(ORDERED))
    # The first rater answers 1 throughout, at the low end of either scale.
    lined = rows.with_columns(
        value=pl.when(pl.col("rater") == "r0").then(pl.lit("1")).otherwise(pl.col("value"))
    )
    found = reliability.screen(
        Ratings(lined, scale={name: SCALES[name] for name in ORDERED}), policy="faceexpressions"
    )
    spread = frame_of(found).filter(pl.col("rater") == "r0")
    assert spread["evidence"].to_list() == [
        f"equal ratings: {spread_text(24, 'ratings', 0.0, 5.0)}"
    ]
    copied = rows.filter(pl.col("rater") == "r1").with_columns(rater=pl.lit("copy"))
    both = Ratings(pl.concat([rows, copied]), scale={name: SCALES[name] for name in ORDERED})
    assert reliability.duplicate_raters(both).groups == (("copy", "r1"),)

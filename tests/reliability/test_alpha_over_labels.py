"""The average of alpha over labels, with the replicates that labels share."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha, over_labels
from affectlab.reliability.agreement.wording import average_over


def panel(labels: int, *, n: int = 80, seed: int = 0, missing: float = 0.0) -> Ratings:
    rng = np.random.default_rng(seed)
    shape = (n, 4, labels)
    value = np.clip(np.rint(rng.uniform(0, 7, (n, 1, labels)) + rng.normal(0, 1.2, shape)), 0, 7)
    stimulus, rater, label = (part.ravel() for part in np.indices(shape))
    kept = rng.random(stimulus.size) >= missing
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.astype(str),
            "rater": rater.astype(str),
            "label": np.char.add("l", label.astype(str)),
            "value": value.ravel(),
        }
    )
    return Ratings(frame.filter(pl.Series(kept)), scale="0-7")


@pytest.mark.parametrize(("average", "of"), [("mean", np.mean), ("median", np.median)])
def test_value_and_interval_are_those_of_averaged_replicates(average, of):
    result = krippendorff_alpha(
        panel(5), n_boot=400, seed=2, interval="percentile", target="stimuli"
    )
    found = over_labels(result, average=average)
    values = result.to_frame()["value"].to_numpy()
    drawn = of(result.replicates, axis=1)
    assert found.value == pytest.approx(of(values))
    assert found.se == pytest.approx(np.std(drawn, ddof=1))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert found.target == "stimuli"


@pytest.mark.long
def test_interval_is_that_of_the_bootstrap_done_by_hand():
    """Replicates of the mean, from tables of drawn stimuli, spread alike."""
    ratings = panel(3, n=60)
    found = over_labels(
        krippendorff_alpha(ratings, n_boot=2000, seed=1, interval="percentile", target="stimuli")
    )
    values = np.stack([ratings.matrix(label) for label in ratings.label_names])
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(300):
        units = rng.integers(0, 60, 60)
        drawn.append(
            np.mean([krippendorff_alpha(v[:, units], level="ordinal").value for v in values])
        )
    assert found.se == pytest.approx(np.std(drawn), rel=0.15)


@pytest.mark.long
def test_interval_covers_the_truth():
    """Over many panels the interval holds the mean of a very large panel about 95 times in 100."""
    truth = over_labels(krippendorff_alpha(panel(3, n=20_000, seed=99))).value
    inside = 0
    for seed in range(120):
        found = over_labels(
            krippendorff_alpha(
                panel(3, n=80, seed=seed),
                n_boot=300,
                seed=seed,
                interval="percentile",
                target="stimuli",
            )
        )
        inside += found.low <= truth <= found.high
    assert 0.88 <= inside / 120 <= 0.99


def test_replicates_belong_to_the_columns_of_labels():
    ratings = panel(3, missing=0.2)
    result = krippendorff_alpha(
        ratings, n_boot=300, seed=3, interval="percentile", target="stimuli"
    )
    frame = result.to_frame()
    assert result.replicates.shape == (300, 3)
    assert result.replicates.std(axis=0, ddof=1) == pytest.approx(frame["se"].to_numpy())


def test_leaving_out_gives_the_interval_of_the_mean():
    """Averages without each stimulus, done by hand."""
    ratings = panel(3, n=40)
    found = over_labels(krippendorff_alpha(ratings, target="stimuli"))
    left_out = [
        over_labels(
            krippendorff_alpha(
                ratings.select(stimuli=[name for name in ratings.stimulus_names if name != one]),
                target="sample",
            )
        ).value
        for one in ratings.stimulus_names
    ]
    assert found.se == pytest.approx(np.sqrt(39 / 40 * ((left_out - np.mean(left_out)) ** 2).sum()))
    assert (found.target, found.interval) == ("stimuli", IntervalFact("jackknife", ("stimuli",)))
    assert (found.statistic, found.options) == ("Krippendorff's alpha", (average_over("mean", 3),))
    both = over_labels(krippendorff_alpha(ratings))
    assert both.target == "both"
    assert both.se > found.se


@pytest.mark.parametrize(
    "options",
    [{"target": "sample"}, {"interval": "percentile", "n_boot": 100, "joint": False}],
)
def test_no_interval_without_shared_replicates(options):
    found = over_labels(krippendorff_alpha(panel(3), seed=1, **options))
    assert np.isnan(found.low)
    assert found.target == "none"
    assert found.ok


def test_labels_without_alpha_are_left_out_and_counted():
    frame = panel(2).to_frame()
    flat = frame.filter(label="l0").with_columns(label=pl.lit("flat"), value=pl.lit(3.0))
    result = krippendorff_alpha(
        Ratings(pl.concat([frame, flat]), scale="0-7"),
        n_boot=100,
        seed=1,
        interval="percentile",
        target="stimuli",
    )
    found = over_labels(result)
    assert found.value == pytest.approx(result.to_frame()["value"].to_numpy()[:2].mean())
    assert found.options == (average_over("mean", 2),)
    alone = over_labels(
        krippendorff_alpha(
            Ratings(flat, scale="0-7"), n_boot=100, seed=1, interval="percentile", target="stimuli"
        )
    )
    assert np.isnan(alone.value)
    assert alone.reason == Reason(Cause.UNDEFINED_EVERYWHERE, of="Krippendorff's alpha")


def test_unknown_average():
    with pytest.raises(InputError, match="average"):
        over_labels(krippendorff_alpha(panel(2)), average="mode")

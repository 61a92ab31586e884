"""Statistics that need an order refuse without one; undefined replicates give no interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings
from affectlab.reliability import (
    interrater_correlation,
    intraclass_correlation,
    krippendorff_alpha,
    mean_opinion_scores,
    pairwise_kappa,
    split_half,
    subject_model,
)


@pytest.fixture
def colours() -> Ratings:
    rng = np.random.default_rng(4)
    true = rng.integers(0, 4, 60)
    seen = [np.where(rng.random(60) < 0.7, true, rng.integers(0, 4, 60)) for _ in range(3)]
    names = np.array(["red", "green", "blue", "white"])
    return Ratings(
        {
            "stimulus": [f"s{item}" for _ in seen for item in range(60)],
            "rater": [f"r{rater}" for rater in range(3) for _ in range(60)],
            "value": [str(names[value]) for column in seen for value in column],
        },
        scale="nominal:red,green,blue,white",
    )


@pytest.mark.parametrize(
    "statistic",
    [
        interrater_correlation,
        mean_opinion_scores,
        subject_model,
        split_half,
        intraclass_correlation,
        lambda r: krippendorff_alpha(r, level="interval"),
        lambda r: pairwise_kappa(r, weights="quadratic"),
    ],
)
def test_categories_have_no_order(colours: Ratings, statistic) -> None:
    with pytest.raises(InputError, match=r"needs answers in an order.*red, green, blue, white"):
        statistic(colours)


def test_kappa_of_categories_is_unweighted(colours: Ratings) -> None:
    first, second, _ = colours.matrix()
    found = pairwise_kappa(colours)["rating", "r0", "r1"]
    assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    assert "nominal" in found.options[1]


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_many_undefined_replicates_give_no_interval(interval: str) -> None:
    rare = np.zeros((2, 30))
    rare[:, 0] = 1
    found = krippendorff_alpha(
        rare, level="nominal", n_boot=500, interval=interval, seed=1, target="stimuli"
    )
    assert found.value == 1
    assert math.isnan(found.low)
    assert found.interval.undefined > 0
    assert found.reason == Reason(Cause.UNDEFINED_REPLICATES)

"""Agreement of one table of numbers, a row for each rater."""

from __future__ import annotations

import numpy as np
from tests.golden.case import ITERATED, case

BY_FORMULA = {"interval": "analytic", "target": "stimuli"}


def answers():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 8, 40)
    given = np.clip(truth + rng.integers(-2, 3, (6, 40)), 0, 7).astype(float)
    given[rng.random(given.shape) < 0.15] = np.nan
    return given


@case()
def coefficients(al):
    reliability, given = al.reliability, answers()
    return {
        "alpha": reliability.krippendorff_alpha(
            given, level="interval", n_boot=50, seed=0, interval="percentile", target="stimuli"
        ),
        "fleiss": reliability.fleiss_kappa(given, weights="quadratic", scale="0-7", **BY_FORMULA),
        "gwet": reliability.gwet_ac(given, scale="0-7", **BY_FORMULA),
        "pairs at random": reliability.random_pair_kappa(given, scale="0-7", seed=0),
        "percent": reliability.percent_agreement(given, tolerance=1.0, **BY_FORMULA),
    }


@case(tolerance=ITERATED)
def tables_of_one(al):
    reliability, given = al.reliability, answers()
    return {
        "pairs": reliability.pairwise_kappa(given, weights="linear", scale="0-7"),
        "correlation": reliability.interrater_correlation(given),
        "intraclass": reliability.intraclass_correlation(given),
        "halves": reliability.split_half(given, scorer="mean", n_splits=8, seed=0),
        "scores": reliability.mean_opinion_scores(given),
        "histogram": reliability.opinion_histogram(given, scale="0-7"),
        "subjects": reliability.subject_model(given),
        "duplicates": reliability.duplicate_raters(given),
    }

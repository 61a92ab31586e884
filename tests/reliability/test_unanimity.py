"""Unanimity is not certainty: where nothing varies, no statistic has an interval, and says so."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import affectlab.reliability as reliability
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import classification_metrics
from affectlab.ratings import Ratings
from affectlab.reliability.stimulus_scores import stimulus_scores

N_BOOT = {"n_boot": 100, "seed": 1}


def table_of(matrix: np.ndarray, *, repeats: bool = False) -> Ratings:
    """Ratings of the raters in rows; with repeats every rater answers twice, and alike."""
    kinds = ["main", "repeat"] if repeats else ["main"]
    rater, unit = (place.ravel() for place in np.indices(matrix.shape))
    return Ratings(
        {
            "stimulus": [f"s{code:02d}" for _ in kinds for code in unit],
            "rater": [f"r{code}" for _ in kinds for code in rater],
            "value": np.tile(matrix.ravel(), len(kinds)),
            "trial_kind": [kind for kind in kinds for _ in unit],
        },
        scale="1-5",
    )


def gappy(matrix: np.ndarray) -> np.ndarray:
    """Without one rating, so that not every rater rated every unit."""
    matrix = matrix.copy()
    matrix[0, -1] = math.nan
    return matrix


def rows_in(result: Any, table: str) -> list[Estimate]:
    """Rows of a table of a result."""
    columns = ("value", "se", "low", "high", "status", "reason")
    return [
        Estimate(**{**row, "reason": Reason.of_row(row["reason"])})
        for row in result.table(table).frame.select(columns).iter_rows(named=True)
    ]


def items(matrix: np.ndarray) -> Ratings:
    """Answers of four people, one for each unit, to the same five questions."""
    rater, unit = (place.ravel() for place in np.indices(matrix.shape))
    columns = {"stimulus": [f"s{k}" for k in unit], "rater": ["r"] * unit.size}
    labels = [f"item {k}" for k in rater]
    return Ratings(columns | {"label": labels, "value": matrix.ravel()}, scale="1-5")


STATISTICS: dict[str, Callable[[np.ndarray], Estimate | Estimates | list[Estimate]]] = {
    "concordance": lambda x: rows_in(reliability.concordance(x), "concordance"),
    "concordance, raters": lambda x: rows_in(reliability.concordance(x), "raters"),
    "internal_consistency": lambda x: rows_in(
        reliability.internal_consistency(items(x)), "reliability"
    ),
    "krippendorff_alpha": lambda x: reliability.krippendorff_alpha(x, level="ordinal", **N_BOOT),
    "krippendorff_alpha, bca": lambda x: reliability.krippendorff_alpha(
        x, level="nominal", interval="bca", **N_BOOT
    ),
    "krippendorff_alpha, raters": lambda x: reliability.krippendorff_alpha(
        x, level="interval", interval="percentile", **N_BOOT
    ),
    "over_labels": lambda x: reliability.over_labels(
        reliability.krippendorff_alpha(table_of(x), **N_BOOT)
    ),
    "krippendorff_alpha, labels": lambda x: reliability.krippendorff_alpha(table_of(x), **N_BOOT),
    "fleiss_kappa": lambda x: reliability.fleiss_kappa(x, scale="1-5"),
    "fleiss_kappa, gwet": lambda x: reliability.fleiss_kappa(
        x,
        weights="quadratic",
        scale="1-5",
        interval="analytic",
        target="stimuli",
        standard_error="gwet",
    ),
    "gwet_ac": lambda x: reliability.gwet_ac(x, scale="1-5"),
    "gwet_ac, weighted": lambda x: reliability.gwet_ac(x, weights="linear", scale="1-5"),
    "brennan_prediger": lambda x: reliability.brennan_prediger(x, scale="1-5"),
    "percent_agreement": reliability.percent_agreement,
    "percent_agreement, tolerance": lambda x: reliability.percent_agreement(x, tolerance=1),
    "intraclass_correlation": reliability.intraclass_correlation,
    "intraclass_correlation, gaps": lambda x: reliability.intraclass_correlation(gappy(x)),
    "intraclass_correlation, listwise": lambda x: reliability.intraclass_correlation(
        x, missing="listwise"
    ),
    "weighted_kappa": lambda x: reliability.weighted_kappa(x[0], x[1], scale="1-5"),
    "pairwise_kappa": lambda x: reliability.pairwise_kappa(x, weights="linear", scale="1-5"),
    "random_pair_kappa": lambda x: reliability.random_pair_kappa(x, scale="1-5", seed=1),
    "interrater_correlation": reliability.interrater_correlation,
    "interrater_correlation, raters": lambda x: reliability.interrater_correlation(
        x, by_rater=True
    ),
    "mean_spearman": lambda x: reliability.mean_spearman(x[:1], x[None, 1:2], **N_BOOT),
    "split_half": lambda x: reliability.split_half(x, scorer="mean", n_splits=5, seed=1),
    "self_consistency": lambda x: reliability.self_consistency(table_of(x, repeats=True)),
    "mean_opinion_scores": reliability.mean_opinion_scores,
    "stimulus_scores": stimulus_scores,
    "subject_model": lambda x: reliability.subject_model(x).estimates,
    "subject_model, p910": lambda x: reliability.subject_model(x, method="p910").estimates,
    "subject_model, mle": lambda x: (
        reliability.subject_model(x, method="mle", se="stimulus").estimates
    ),
    "classification_metrics": lambda x: classification_metrics(
        [str(value) for value in x[0]], [str(value) for value in x[1]], **N_BOOT
    ),
}


def rows_of(found: Estimate | Estimates | list[Estimate]) -> list[Estimate]:
    if isinstance(found, Estimates):
        return [estimate for _, estimate in found]
    return [found] if isinstance(found, Estimate) else found


@pytest.mark.parametrize("n", [2, 5, 10])
@pytest.mark.parametrize("items", ["that differ", "alike but one"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_unanimous_items_have_no_interval(statistic: str, items: str, n: int) -> None:
    value = np.arange(n) % 5 + 1.0 if items == "that differ" else (np.arange(n) == 1) + 1.0
    rows = rows_of(STATISTICS[statistic](np.tile(value, (4, 1))))
    assert any(not math.isnan(row.value) for row in rows)
    for row in rows:
        assert [math.isnan(part) for part in (row.se, row.low, row.high)] == [True] * 3, row
        # Fisher's interval is not known for two pairs, whatever their correlation.
        if row.ok and n > 2:
            assert row.reason is not None


def test_every_statistic_with_an_interval_is_here() -> None:
    """A new coefficient obeys the rule, too."""
    with_interval = {
        name
        for name in reliability.__all__
        if inspect.isfunction(getattr(reliability, name))
        and "confidence" in inspect.signature(getattr(reliability, name)).parameters
    }
    # A plan says how many raters a study needs; the agreement of raters is a choice of the others.
    # Mixed models are results of several tables; test_components.py and test_fixed_effects.py
    # hold them to the rule.
    # A posterior of true categories has a prior, which leaves no certainty to withhold. Traces are
    # compared as concordance is. Looks are those of a coefficient; severities have tables of their
    # own, and are refused where a rater gives one answer. Reliabilities of means are those of the
    # intraclass correlation and of alpha.
    several = {
        *("dawid_skene", "enough_ratings", "group_differences", "mixed_model", "plan"),
        *("rater_agreement", "rater_severity", "reliability_of_means", "traces"),
        "variance_components",
    }
    assert with_interval - several <= {name.partition(",")[0] for name in STATISTICS}


@pytest.mark.parametrize("method", ["reml", "p910", "mle"])
def test_raters_who_agree_have_no_interval(method: str) -> None:
    shifts = np.array([[0.0], [1.0], [-1.0]])
    frame = reliability.subject_model(
        np.array([1.0, 2, 3, 5]) + shifts, method=method
    ).raters_frame()
    assert frame["bias"].to_list() == pytest.approx([0, 1, -1], abs=1e-6)
    for name in ("bias", "inconsistency"):
        for part in ("se", "low", "high"):
            assert frame[f"{name}_{part}"].is_nan().all()


def test_one_unit_has_no_interval() -> None:
    """All replicates are equal, although the raters are not."""
    found = reliability.krippendorff_alpha(
        [[1.0], [2.0]], level="interval", n_boot=50, seed=1, interval="percentile", target="stimuli"
    )
    assert found.value == 0
    assert math.isnan(found.low)
    assert found.reason == Reason(Cause.FEW_UNITS, 1, 3, "stimuli")


def test_one_who_disagrees_is_enough() -> None:
    """The rule withholds nothing where an error can be estimated."""
    matrix = np.tile(np.arange(10) % 5 + 1.0, (4, 1))
    matrix[0, 3] = 1
    for statistic, compute in STATISTICS.items():
        if statistic in ("self_consistency", "subject_model, p910"):
            # Repeats are alike still, and p910 collapses on the three who agree.
            continue
        known = [row for row in rows_of(compute(matrix)) if row.high > row.low]
        assert known, statistic
        assert all(row.se != 0 for row in known)

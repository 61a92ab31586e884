"""Replicates of the two-way bootstrap, beside a plain computation of each of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score
from tests.evaluation.panels import copies_of

from affectlab import Ratings
from affectlab.evaluation.human_alignment.kappa import kappa_of_label
from affectlab.evaluation.human_alignment.panel import AlignmentPanel, Copies, panel_of
from affectlab.evaluation.human_alignment.spearman import spearman_of_label

Array = NDArray[np.float64]


def table(prefix: str, values: Array, scale: str) -> Ratings:
    rater, unit = np.nonzero(~np.isnan(values))
    return Ratings(
        {
            "stimulus": [f"s{k:03d}" for k in unit],
            "rater": [f"{prefix}{k:02d}" for k in rater],
            "value": values[rater, unit],
        },
        scale=scale,
    )


def arranged(people: Array, models: Array, scale: str) -> AlignmentPanel:
    """Arrange two tables; one of both where no bounds tell how numbers of one are on the other."""
    if scale != "interval":
        loose = scale if scale == "binary" or "nominal" in scale else f"{scale} interval"
        return panel_of(table("p", people, scale), table("m", models, loose))
    both = [table("p", people, scale), table("m", models, scale)]
    frame = pl.concat([side.to_frame().select("stimulus", "rater", "value") for side in both])
    names = [name for side in both for name in side.rater_names]
    kinds = ["human" if name[0] == "p" else "model" for name in names]
    return panel_of(Ratings(frame, scale=scale, raters={"rater": names, "rater_kind": kinds}))


def quadratic(a: Array, b: Array) -> float:
    """Kappa from its definition: disagreement observed and expected over all pairs of items."""
    observed = ((a - b) ** 2).mean()
    expected = ((a[:, None] - b[None]) ** 2).mean()
    return float(1 - observed / expected) if expected > 0 else np.nan


def nominal(a: Array, b: Array) -> float:
    chance = sum((a == k).mean() * (b == k).mean() for k in np.union1d(a, b))
    return float(((a == b).mean() - chance) / (1 - chance)) if chance < 1 else np.nan


def rho(a: Array, b: Array) -> float:
    if a.size < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def on_common(statistic: Any, a: Array, b: Array, weight: NDArray[np.int64]) -> float:
    """Repeat every item that both answered as often as it was drawn."""
    both = ~np.isnan(a) & ~np.isnan(b)
    rows = np.repeat(np.flatnonzero(both), weight[both])
    return float(statistic(a[rows], b[rows])) if rows.size else np.nan


def mean(values: list[float], weights: list[float]) -> float:
    value, weight = np.array(values, dtype=float), np.array(weights, dtype=float)
    known = ~np.isnan(value)
    total = weight[known].sum()
    return float((value[known] * weight[known]).sum() / total) if total else np.nan


def kappas(
    people: Array, models: Array, weight: Any, copies: Any, statistic: Any
) -> tuple[list[float], list[float], float]:
    """Models with people, people with people on the items of each model, and on all."""
    n = len(people)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    both = [float(copies[i] * copies[j]) for i, j in pairs]

    def among(used: Any) -> float:
        found = [on_common(statistic, people[i], people[j], used) for i, j in pairs]
        return mean(found, both)

    own, beside = [], []
    for model in models:
        beside.append(among(np.where(np.isnan(model), 0, weight)))
        own.append(mean([on_common(statistic, model, person, weight) for person in people], copies))
    return own, beside, among(weight)


def correlations(
    people: Array, models: Array, weight: Any, copies: Any
) -> tuple[list[float], list[float]]:
    """Models and people with the medians of all people but one, on the items of that person."""
    own, beside = [], []
    for model in models:
        of_model, of_person = [], []
        for i, person in enumerate(people):
            others = copies.copy()
            others[i] = 0
            panel = np.repeat(people, others, axis=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                median = np.nanmedian(panel, axis=0) if len(panel) else np.full(len(model), np.nan)
            median = np.where(np.isnan(person) | np.isnan(model) | (copies[i] == 0), np.nan, median)
            a, b = (on_common(rho, side, median, weight) for side in (model, person))
            of_model.append(np.nan if np.isnan(b) else a)
            of_person.append(np.nan if np.isnan(a) else b)
        own.append(mean(of_model, copies))
        beside.append(mean(of_person, copies))
    return own, beside


def simulated(rng: np.random.Generator, scale: str, gaps: float) -> tuple[Array, Array]:
    n_people, n_models, n = rng.integers(2, 8), rng.integers(1, 4), rng.integers(6, 40)
    truth = rng.normal(0, 1, n)
    people = truth + rng.normal(0, 1, (n_people, n))
    models = truth + rng.normal(0, 1, (n_models, n))
    if scale != "interval":
        middle, width, high = {
            "0-7": (3.5, 2, 7),
            "0-8": (4, 2, 8),
            "0-30": (15, 7, 30),
            "0-60": (30, 20, 60),
            "0-200": (100, 60, 200),
            "binary": (0.5, 1, 1),
            "nominal:a,b,c": (1, 1, 2),
        }[scale]
        people = np.clip(np.rint(middle + width * people), 0, high)
        models = np.clip(middle + width * models, 0, high)
        if high < 3 or rng.random() < 0.5:
            models = np.rint(models)
    people[rng.random(people.shape) < gaps] = np.nan
    if rng.random() < 0.5:
        models[rng.random(models.shape) < 0.2] = np.nan
    if rng.random() < 0.3:
        people[0, ~np.isnan(people[0])] = 1.0
    # Everybody answered something, and there is something to compare.
    people[:, 0], models[:, 0] = 0.0, 1.0
    return people, models


@pytest.mark.long
@pytest.mark.parametrize(
    "scale", ["0-7", "0-8", "0-30", "0-60", "0-200", "binary", "interval", "nominal:a,b,c"]
)
@pytest.mark.parametrize("gaps", [0.0, 0.05, 0.3, 0.75])
def test_every_row_is_what_a_plain_computation_gives(scale: str, gaps: float) -> None:
    rng = np.random.default_rng(int(100 * gaps) + len(scale))
    for trial in range(4):
        people, models = simulated(rng, scale, gaps)
        panel = arranged(people, models, scale)
        kept = [int(name[1:]) for name in panel.stimuli]
        people = people[[int(name[1:]) for name in panel.people]][:, kept]
        models = models[:, kept]
        steps = np.rint(models) if scale[0] == "0" else models
        draws = copies_of(len(kept), len(people), 5, trial)
        part = panel.parts[0]
        found = kappa_of_label(panel, part, draws)
        ranked = spearman_of_label(part, draws) if panel.ordered else None
        # All rows but most of those without a stimulus.
        every = np.arange(draws.n_rows)
        first = 1 + len(people)
        without = np.random.default_rng(trial).permutation(every[first : first + len(kept)])
        for row in np.setdiff1d(every, without[4:]):
            weight, copies = draws.stimuli[row].astype(int), draws.raters[row].astype(int)
            statistic = quadratic if panel.ordered else nominal
            own, beside, among = kappas(people, steps, weight, copies, statistic)
            np.testing.assert_allclose(found.models[:, row], own, atol=1e-9)
            np.testing.assert_allclose(found.among[:, row], beside, atol=1e-9)
            np.testing.assert_allclose(found.people[row], among, atol=1e-9)
            if ranked is not None:
                own, beside = correlations(people, models, weight, copies)
                np.testing.assert_allclose(ranked.models[:, row], own, atol=1e-9)
                np.testing.assert_allclose(ranked.among[:, row], beside, atol=1e-9)


def test_quadratic_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    people, models = rng.integers(0, 8, (4, 60)) * 1.0, rng.integers(0, 8, (2, 60)) * 1.0
    panel = panel_of(table("p", people, "0-7"), table("m", models, "0-7"))
    found = kappa_of_label(panel, panel.parts[0], copies_of(60, 4, 0))
    expected = [
        np.mean([cohen_kappa_score(m, p, weights="quadratic", labels=range(8)) for p in people])
        for m in models
    ]
    np.testing.assert_allclose(found.models[:, 0], expected, atol=1e-12)


def test_large_panels_and_fine_scales_take_the_general_way() -> None:
    """More than 127 answers to a stimulus do not fit a byte; the result is the same."""
    rng = np.random.default_rng(6)
    truth = rng.normal(3.5, 2, 20)
    people = np.clip(np.rint(truth + rng.normal(0, 1.5, (140, 20))), 0, 7)
    models = np.clip(truth + rng.normal(0, 1, (2, 20)), 0, 7)
    panel = panel_of(table("p", people, "0-7"), table("m", models, "0-7 interval"))
    draws = copies_of(20, 140, 3, 1)
    found = spearman_of_label(panel.parts[0], draws)
    for row in (0, draws.n_rows - 1):
        weight, copies = draws.stimuli[row].astype(int), draws.raters[row].astype(int)
        own, beside = correlations(people, models, weight, copies)
        np.testing.assert_allclose(found.models[:, row], own, atol=1e-9)
        np.testing.assert_allclose(found.among[:, row], beside, atol=1e-9)


def test_medians_tie_on_no_grid() -> None:
    rng = np.random.default_rng(7)
    people, models = rng.choice([0.0, 1.0, 2.7, 9.0], (5, 30)), rng.normal(3, 2, (2, 30))
    panel = arranged(people, models, "interval")
    draws = copies_of(30, 5, 3, 1)
    found = spearman_of_label(panel.parts[0], draws)
    for row in range(4):
        weight, copies = draws.stimuli[row].astype(int), draws.raters[row].astype(int)
        own, beside = correlations(people, models, weight, copies)
        np.testing.assert_allclose(found.models[:, row], own, atol=1e-9)
        np.testing.assert_allclose(found.among[:, row], beside, atol=1e-9)


def test_nobody_meets_a_copy_of_themself() -> None:
    """Two people drawn many times each: their agreement is that of the one pair."""
    people = np.array([[0.0, 3, 7, 1, 5], [1, 3, 6, 2, 5], [7, 0, 2, 5, 1]])
    panel = panel_of(table("p", people, "0-7"), table("m", people[:1], "0-7"))
    draws = Copies(np.ones((1, 5), np.uint8), np.array([[5, 4, 0]], np.int32))
    found = kappa_of_label(panel, panel.parts[0], draws)
    assert found.people[0] == pytest.approx(quadratic(people[0], people[1]))
    ranked = spearman_of_label(panel.parts[0], draws)
    assert ranked.people[0] == pytest.approx(rho(people[0], people[1]))

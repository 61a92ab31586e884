"""The subject model ``p910`` beside the package ``sureal``, and ``reml`` beside its likelihood."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from affectlab.ratings import Ratings
from affectlab.reliability import subject_model

NAN = np.nan


class _Reader:
    """What ``sureal`` needs of a data set: ratings of shape (stimuli, raters, repetitions)."""

    def __init__(self, ratings: np.ndarray) -> None:
        self.opinion_score_3darray = ratings


def upstream(ratings: np.ndarray) -> dict[str, Any]:
    model = pytest.importorskip("sureal.subjective_model").SubjectMLEModelProjectionSolver
    with contextlib.redirect_stdout(io.StringIO()):
        result: dict[str, Any] = model._run_modeling(_Reader(ratings))
    return result


def simulate(seed: int, shape: tuple[int, int, int], present: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 100, shape[0])[:, None, None]
    raters = rng.normal(0, 6, shape[1])[:, None], rng.uniform(4, 15, shape[1])[:, None]
    ratings = score + raters[0] + raters[1] * rng.standard_normal(shape)
    ratings[rng.random(shape) >= present] = NAN
    ratings[np.isnan(ratings).all(axis=(1, 2)), 0, 0] = 50.0
    return ratings


def table(ratings: np.ndarray) -> Ratings:
    """Give repeated answers as rows."""
    stimulus, rater, repetition = np.nonzero(~np.isnan(ratings))
    return Ratings(
        {
            "stimulus": [f"s{code:03d}" for code in stimulus],
            "rater": [f"r{code:03d}" for code in rater],
            "trial": repetition.tolist(),
            "value": ratings[stimulus, rater, repetition],
        },
        scale="interval",
    )


def assert_equals_sureal(ratings: np.ndarray, tolerance: float = 1e-8) -> None:
    theirs = upstream(ratings)
    ours = subject_model(table(ratings), method="p910", every=True)
    frame, raters = ours.to_frame().sort("stimulus"), ours.raters_frame().sort("rater")
    assert ours.iterations == theirs["num_iter"]
    inconsistency = raters["inconsistency"]
    for mine, peer in (
        (frame["value"], "quality_scores"),
        (raters["bias"], "observer_bias"),
        (inconsistency, "observer_inconsistency"),
    ):
        np.testing.assert_allclose(mine, theirs[peer], atol=tolerance, err_msg=peer)
    below, above = theirs["observer_inconsistency_ci95"]
    for errors, peers, what in (
        (frame["se"], theirs["quality_scores_std"], "error of scores"),
        (raters["bias_se"], theirs["observer_bias_std"], "error of biases"),
        (inconsistency - raters["inconsistency_low"], below, "lower half"),
        (raters["inconsistency_high"] - inconsistency, above, "upper half"),
    ):
        # Where a rater collapsed, sureal has an error of nothing, and ours is withheld.
        own, other = errors.to_numpy(), np.asarray(peers)
        withheld = np.isnan(own)
        np.testing.assert_allclose(own[~withheld], other[~withheld], atol=tolerance, err_msg=what)
        assert (np.abs(other[withheld]) < 1e-6).all(), what


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("shape", "present"),
    [((60, 16, 1), 1.0), ((80, 24, 1), 0.5), ((60, 12, 3), 0.6), ((300, 40, 1), 0.25)],
)
def test_p910_equals_sureal(seed: int, shape: tuple[int, int, int], present: float) -> None:
    assert_equals_sureal(simulate(seed, shape, present))


@pytest.mark.parametrize("n_raters", [3, 4, 26])
def test_p910_equals_sureal_on_real_ratings(shared_data: Path, n_raters: int) -> None:
    """With three raters both collapse in the same way."""
    path = shared_data / "subjective_quality" / "netflix_public.json"
    videos = json.loads(path.read_text())["dis_videos"]
    ratings = np.array([video["os"] for video in videos], dtype=float)[:, :n_raters, None]
    assert_equals_sureal(ratings, 1e-6 if n_raters < 10 else 1e-8)


def restricted(theta: np.ndarray, stimulus: np.ndarray, rater: np.ndarray, x: np.ndarray) -> float:
    """Minus the restricted log-likelihood, from dense matrices and nothing of ours."""
    n_stimuli, n_raters = stimulus.max() + 1, rater.max() + 1
    design = np.zeros((x.size, n_stimuli + n_raters))
    design[np.arange(x.size), stimulus] = 1
    design[np.arange(x.size), n_stimuli + rater] = 1
    design = design[:, :-1]
    weight = np.exp(-theta[rater])
    normal = design.T @ (weight[:, None] * design)
    residual = x - design @ np.linalg.solve(normal, design.T @ (weight * x))
    value = theta[rater].sum() + np.linalg.slogdet(normal)[1] + (weight * residual**2).sum()
    return float(value) / 2


@pytest.mark.parametrize(
    ("shape", "present", "tolerance"),
    [((30, 4, 1), 1.0, 1e-5), ((40, 7, 1), 1.0, 1e-5), ((30, 6, 1), 0.6, 2e-4),
     ((25, 5, 2), 0.5, 2e-4), ((50, 8, 1), 0.6, 2e-4)],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(2))
def test_reml_maximises_the_restricted_likelihood(
    seed: int, shape: tuple[int, int, int], present: float, tolerance: float
) -> None:
    """Exact, in complete and in sparse designs; the optimiser is the one that is not."""
    ratings = simulate(seed + 10, shape, present)
    model = subject_model(table(ratings), prior_df=0, every=True)
    found = model.raters_frame().sort("rater")["inconsistency"].to_numpy()
    stimulus, rater, repetition = np.nonzero(~np.isnan(ratings))
    best = minimize(
        restricted,
        2 * np.log(found) + 0.1,
        args=(stimulus, rater, ratings[stimulus, rater, repetition]),
        method="BFGS",
        options={"gtol": 1e-5},
    )
    np.testing.assert_allclose(found, np.exp(best.x / 2), rtol=tolerance)


def test_errors_equal_those_of_generalised_least_squares() -> None:
    """With a prior that fixes the variances, errors are those of known weights."""
    ratings = simulate(5, (12, 5, 1), 0.7)
    model = subject_model(table(ratings), prior_df=1e9, target="sample")
    variance = model.raters_frame().sort("rater")["inconsistency"].to_numpy() ** 2
    stimulus, rater, _ = np.nonzero(~np.isnan(ratings))
    design = np.zeros((stimulus.size + 1, 17))
    design[np.arange(stimulus.size), stimulus] = 1
    design[np.arange(stimulus.size), 12 + rater] = 1
    # Biases sum to zero: one more row, with a weight that makes it hold.
    design[-1, 12:] = 1
    weight = np.append(1 / variance[rater], 1e9)
    covariance = np.linalg.inv(design.T @ (weight[:, None] * design))
    errors = np.sqrt(covariance.diagonal())
    np.testing.assert_allclose(model.to_frame().sort("stimulus")["se"], errors[:12], rtol=1e-5)
    raters = model.raters_frame().sort("rater")
    np.testing.assert_allclose(raters["bias_se"], errors[12:], rtol=1e-5)

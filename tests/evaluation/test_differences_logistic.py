"""The logistic curve of a metric: against curve_fit, and where there is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy.optimize import OptimizeWarning, curve_fit
from scipy.special import expit

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import logistic_fit

Floats = NDArray[np.float64]


def curve(x: Floats, right: float, left: float, middle: float, width: float) -> Floats:
    return left + (right - left) * expit((x - middle) / abs(width))


def best_of_scipy(x: Floats, y: Floats) -> float:
    """The smallest error that scipy reaches from several starts, by a curve within our bounds."""
    best, span = np.inf, np.ptp(x)
    for start in np.quantile(x, [0.1, 0.3, 0.5, 0.7, 0.9]):
        for width in (0.2, 1.0):
            for ends in ((y.max(), y.min()), (y.min(), y.max())):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", (OptimizeWarning, RuntimeWarning))
                    try:
                        at, _ = curve_fit(curve, x, y, [*ends, start, width * x.std()], maxfev=4000)
                    except RuntimeError:
                        continue
                if abs(at[3]) < 0.01 * span or not x.min() - span < at[2] < x.max() + span:
                    continue
                best = min(best, float(np.sqrt(np.mean((curve(x, *at) - y) ** 2))))
    return best


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 300),
    rise=st.sampled_from([-80.0, 60.0]),
    middle=st.floats(-0.6, 0.6),
    width=st.floats(0.15, 0.6),
)
def test_as_good_as_the_best_of_scipy(
    seed: int, n: int, rise: float, middle: float, width: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = curve(x, 10 + rise, 10, middle, width) + rng.normal(0, 8, n)
    fit = logistic_fit(x, y)
    assert fit.ok
    assert fit.rises == (rise > 0)
    if not fit.at_bound:
        assert fit.rmse <= best_of_scipy(x, y) * (1 + 1e-5)
    assert fit.rmse == pytest.approx(np.sqrt(np.mean((fit.predict(x) - y) ** 2)), rel=1e-6)
    r = np.corrcoef(fit.predict(x), y)[0, 1]
    # The sign is that of the curve.
    assert fit.r == pytest.approx(abs(r) if fit.rises else -abs(r), abs=1e-6)


def test_recovers_a_planted_curve_in_any_unit() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 20_000)
    for unit, shift in ((1.0, 0.0), (1e6, 3e7), (1e-6, -2.0)):
        y = curve(x, 90, 15, 0.4, 0.1) + rng.normal(0, 5, x.size)
        fit = logistic_fit(x * unit + shift, y)
        assert fit.left == pytest.approx(15, abs=1)
        assert fit.right == pytest.approx(90, abs=1)
        assert (fit.middle - shift) / unit == pytest.approx(0.4, abs=0.01)
        assert fit.width / unit == pytest.approx(0.1, abs=0.01)


@given(seed=st.integers(0, 10**6), n=st.integers(5, 80))
def test_the_curve_never_turns_and_never_fits_worse_than_the_mean(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.integers(0, 6, n).astype(float)
    fit = logistic_fit(x, y)
    if not fit.ok:
        assert np.isnan(fit.r)
        return
    steps = np.diff(fit.predict(np.linspace(x.min(), x.max(), 300)))
    assert (steps >= -1e-9).all() or (steps <= 1e-9).all()
    assert fit.rmse <= y.std() + 1e-12


def test_a_straight_line_is_fitted_as_one_and_said_to_be() -> None:
    x = np.linspace(0, 1, 200)
    fit = logistic_fit(x, 3 * x + 1)
    assert fit.at_bound
    assert fit.r == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "levels", "seed"), [(7, 15, 644877), (6, 15, 128577), (10, 22, 402099), (8, 30, 790857)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_curve_in_its_far_tail_keeps_its_digits(
    n: int, levels: int, seed: int, sign: int
) -> None:
    """Few pairs can ask for the tail of a curve whose other end is millions away."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, levels, n).astype(float)
    x = sign * (y * rng.choice([-1.0, 1.0]) + rng.integers(0, levels, n))
    fit = logistic_fit(x, y)
    drawn = fit.predict(x)
    r = abs(np.corrcoef(drawn, y)[0, 1])
    assert fit.r == pytest.approx(r if fit.rises else -r, abs=1e-6)
    assert fit.rmse == pytest.approx(np.sqrt(np.mean((drawn - y) ** 2)), abs=1e-6)


def test_where_there_is_no_curve() -> None:
    few = Reason(Cause.FEWER, least=5, of="different predictions")
    assert logistic_fit([], []).reason == few
    assert logistic_fit([1, 2, 3, 4, 4], [1, 2, 3, 4, 5]).reason == few
    assert logistic_fit(range(9), [2.0] * 9).reason == Reason(Cause.CONSTANT, of="scores")
    gap = logistic_fit([np.nan, *range(20)], [5.0, *np.tanh(np.arange(20) - 10)])
    assert gap.n == 20
    assert gap.r > 0.99
    with pytest.raises(InputError, match="one shape"):
        logistic_fit([1, 2], [1])
    with pytest.raises(InputError, match="infinite"):
        logistic_fit([1, np.inf], [1, 2])

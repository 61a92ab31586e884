"""Fleiss' kappa and the intraclass correlations beside statsmodels, evalica and pingouin."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings, strategies as st

from affectlab.reliability import fleiss_kappa, intraclass_correlation, krippendorff_alpha

pytest.importorskip("statsmodels")
pytest.importorskip("pingouin")

seeds = st.integers(0, 2**32 - 1)


def panel(seed: int, n_raters: int, n_units: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, (1, n_units))
    return np.clip(truth + rng.integers(-1, 2, (n_raters, n_units)), 0, 5).astype(float)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(2, 6), st.integers(2, 30))
def test_fleiss_kappa_equals_statsmodels(seed: int, n_raters: int, n_units: int) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa as peer

    data = panel(seed, n_raters, n_units)
    found = fleiss_kappa(data, scale="0-5")
    if np.unique(data).size == 1:
        assert not found.ok
        return
    table, _ = aggregate_raters(data.T.astype(int))
    assert found.value == pytest.approx(peer(table), abs=1e-12)


@settings(max_examples=15, deadline=None)
@example(8388608, 2, 4)
@given(seeds, st.integers(2, 6), st.integers(4, 25))
def test_intraclass_correlations_equal_pingouin(seed: int, n_raters: int, n_units: int) -> None:
    import pingouin

    rng = np.random.default_rng(seed)
    data = panel(seed, n_raters, n_units) + rng.normal(0, 0.5, (n_raters, n_units))
    rater, unit = np.indices(data.shape)
    frame = pd.DataFrame({"unit": unit.ravel(), "rater": rater.ravel(), "y": data.ravel()})
    with warnings.catch_warnings():
        # pingouin uses calls that pandas deprecates.
        warnings.simplefilter("ignore")
        peer = pingouin.intraclass_corr(frame, targets="unit", raters="rater", ratings="y")
    peer = peer.set_index("Type")
    names = {"1": "1", "2": "A", "3": "C"}
    found = intraclass_correlation(data, interval="analytic")
    for (_, form), estimate in found:
        row = peer.loc[f"ICC({names[form[0]]},{form[2]})"]
        if not estimate.ok:
            # A reliability below 0 is none; pingouin prints it.
            assert form[2] == "k"
            assert row["ICC"] < 0
            continue
        assert estimate.value == pytest.approx(row["ICC"], abs=1e-9)
        if form[0] == "2":
            # pingouin has the F interval, which does not hold where few raters differ in level.
            continue
        # pingouin rounds its intervals to two digits.
        low, high = row["CI95"] if "CI95" in row else row["CI95%"]
        for ours, theirs in ((estimate.low, low), (estimate.high, high)):
            if np.isnan(ours):
                # Stepping up a correlation below -1/(k - 1) has no meaning; pingouin then prints
                # numbers that no correlation can have.
                assert theirs > 1
            else:
                assert ours == pytest.approx(theirs, abs=0.0051)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_alpha_equals_evalica_and_crowd_kit(seed: int) -> None:
    evalica = pytest.importorskip("evalica")
    crowdkit = pytest.importorskip("crowdkit.metrics.data")
    data = panel(seed, 4, 20) + 1
    data[np.random.default_rng(seed).random(data.shape) < 0.2] = np.nan
    for level in ("nominal", "ordinal", "interval", "ratio"):
        peer = evalica.alpha(pd.DataFrame(data), distance=level).alpha
        assert krippendorff_alpha(data, level=level).value == pytest.approx(peer, abs=1e-9)
    worker, task = np.nonzero(~np.isnan(data))
    answers = pd.DataFrame(
        {"task": task.astype(str), "worker": worker.astype(str), "label": data[worker, task]}
    )
    squared = crowdkit.alpha_krippendorff(answers, distance=lambda a, b: (a - b) ** 2)
    assert krippendorff_alpha(data, level="interval").value == pytest.approx(squared, abs=1e-9)
    assert krippendorff_alpha(data, level="nominal").value == pytest.approx(
        crowdkit.alpha_krippendorff(answers), abs=1e-9
    )

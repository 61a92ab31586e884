"""Where no two raters share the rarer of two answers, leaving out says nothing of agreement."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import ndtri

from affectlab.core.facts import Cause
from affectlab.ratings import Ratings
from affectlab.reliability import krippendorff_alpha

N_LABELS, N_ITEMS, N_RATERS, SHARE, SAME = 300, 300, 3, 0.02, 0.3


def answers(n_labels: int, n_items: int, n_raters: int, seed: int) -> np.ndarray:
    """Yes and no, alike by what raters see in common; shape (labels, items, raters)."""
    rng = np.random.default_rng(seed)
    seen = np.sqrt(SAME) * rng.normal(size=(n_labels, n_items, 1))
    own = np.sqrt(1 - SAME) * rng.normal(size=(n_labels, n_items, n_raters))
    return np.asarray(seen + own > ndtri(1 - SHARE), dtype=np.float64)


def alpha_of_many() -> float:
    """Alpha of very many items."""
    many = answers(4, 40_000, 60, 0)
    yes = many.sum(axis=2)
    observed = 2 * (yes * (60 - yes)).mean(axis=1) / (60 * 59)
    share = many.mean(axis=(1, 2))
    return float(np.mean(1 - observed / (2 * share * (1 - share))))


def test_the_interval_that_is_withheld_would_hold_in_hardly_any_study() -> None:
    values = answers(N_LABELS, N_ITEMS, N_RATERS, 1)
    label, item, rater = np.indices(values.shape).reshape(3, -1)
    columns = {"stimulus": item, "rater": rater, "label": label, "value": values.ravel()}
    ratings = Ratings(pl.DataFrame(columns).cast({"label": pl.String}), scale="binary")
    found = krippendorff_alpha(ratings)
    assert found.jackknife is not None
    _, low, high = found.jackknife.ends(0.95)
    truth = alpha_of_many()
    shared = (values.sum(axis=2) >= 2).any(axis=1)[found.frame["label"].cast(pl.Int64).to_numpy()]
    holds = (low <= truth) & (truth <= high)
    assert (~shared).sum() > 50
    assert holds[~shared].mean() < 0.1
    assert holds[shared].mean() > 0.93
    withheld = (found.to_frame()["reason"] == Cause.RARER_NEVER_SHARED).fill_null(False).to_numpy()
    assert (withheld == ~shared).all()
    assert np.isnan(found.frame["low"].to_numpy()[~shared]).all()

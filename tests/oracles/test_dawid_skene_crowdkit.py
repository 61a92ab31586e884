"""Dawid and Skene without priors, beside crowd-kit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from affectlab.reliability import dawid_skene


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The (inplace|copy) keyword")
@pytest.mark.parametrize("seed", [1, 2])
def test_probabilities_errors_and_shares(seed: int) -> None:
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 60)
    answers = np.where(rng.random((8, 60)) < 0.75, truth, rng.integers(0, 3, (8, 60))).astype(float)
    answers[rng.random((8, 60)) < 0.2] = np.nan
    rater, item = np.nonzero(~np.isnan(answers))
    table = pd.DataFrame(
        {"task": item, "worker": rater, "label": answers[rater, item].astype(int).astype(str)}
    )
    # It stops at the first loss that falls; a negative tolerance lets it go on.
    theirs = crowdkit.DawidSkene(n_iter=100, tol=-1).fit(table)
    found = dawid_skene(answers, class_prior=0, prior_right=0, prior_wrong=0, n_draws=0)
    probability = found.to_frame("posterior")["probability"].to_numpy().reshape(-1, 3)
    assert probability == pytest.approx(theirs.probas_.sort_index()[["0", "1", "2"]], abs=1e-5)
    shares = found.to_frame("classes")["value"].to_numpy()
    assert shares == pytest.approx(theirs.priors_[["0", "1", "2"]].to_numpy(), abs=1e-5)
    errors = found.to_frame("confusion")["value"].to_numpy().reshape(8, 3, 3)
    for worker in range(8):
        # Theirs has a row for each answer, and a column for each true category.
        own = theirs.errors_.loc[worker].reindex(index=["0", "1", "2"], columns=["0", "1", "2"])
        assert errors[worker] == pytest.approx(own.fillna(0).to_numpy().T, abs=1e-5)

"""True categories and errors of raters by EM, beside crowd-kit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload

_SIZES = {"tiny": 300, "quick": 4000, "full": 20_000}
_RATERS, _CLASSES, _ANSWERS = 50, 5, 5
_EQUAL = 0.99
"""Least share of items to which both give one category."""


@dataclass(frozen=True)
class _Data:
    ratings: Any
    frame: Any
    """The same for the peer."""
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    answer: NDArray[np.int64]


def make(size: Size) -> _Data:
    """Simulate raters with errors of their own, five of whom answer each item."""
    import pandas as pd
    import polars as pl

    from affectlab.ratings import Ratings

    n, k = _SIZES[size], _CLASSES
    rng = np.random.default_rng(0)
    truth = rng.choice(k, n, p=[0.4, 0.2, 0.2, 0.1, 0.1])
    wrong = rng.dirichlet(np.full(k - 1, 2.0), (_RATERS, k))
    wrong *= rng.uniform(0.1, 0.6, (_RATERS, k, 1))
    errors = np.empty((_RATERS, k, k))
    for c in range(k):
        errors[:, c] = np.insert(wrong[:, c], c, 1 - wrong[:, c].sum(axis=1), axis=1)
    rater = rng.random((n, _RATERS)).argsort(axis=1)[:, :_ANSWERS].ravel()
    item = np.repeat(np.arange(n), _ANSWERS)
    above = rng.random((item.size, 1)) > errors[rater, truth[item]].cumsum(axis=1)
    answer = np.minimum(above.sum(axis=1), k - 1)
    frame = pl.DataFrame(
        {
            "stimulus": pl.Series([f"s{i:05d}" for i in range(n)]).gather(item),
            "rater": pl.Series([f"r{i:02d}" for i in range(_RATERS)]).gather(rater),
            "value": pl.Series(list("abcde")).gather(answer),
        }
    )
    names = dict(zip(("task", "worker", "label"), frame.iter_columns(), strict=True))
    theirs = pd.DataFrame({name: column.to_list() for name, column in names.items()})
    return _Data(Ratings(frame, scale="nominal:a,b,c,d,e"), theirs, item, rater, answer)


def ours(data: _Data) -> Any:
    """Estimates of largest likelihood, as the peer has them."""
    from affectlab.reliability import dawid_skene

    return dawid_skene(data.ratings, class_prior=0, prior_right=0, prior_wrong=0, n_draws=0)


def theirs(data: _Data) -> Any:
    """The peer with its own tolerance and rounds."""
    from crowdkit.aggregation import DawidSkene

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DawidSkene().fit(data.frame)


def check(data: _Data, mine: Any, peer: Any) -> str:
    """Compare likelihoods, each by the same formula, and categories."""
    shape = (_RATERS, _CLASSES, _CLASSES)
    raters, names = [f"r{i:02d}" for i in range(_RATERS)], list("abcde")
    index = [(rater, name) for rater in raters for name in names]
    # Theirs has a row for each answer, and a column for each true category.
    of_peer = peer.errors_.reindex(index=index, columns=names).to_numpy().reshape(shape)
    errors = mine.to_frame("confusion").sort("rater", "true", "answer")["value"].to_numpy()
    shares = mine.to_frame("classes").sort("category")["value"].to_numpy()
    found = _log_likelihood(data, shares, errors.reshape(shape))
    other = _log_likelihood(data, peer.priors_[names].to_numpy(), of_peer.transpose(0, 2, 1))
    if not found >= other - 1e-6:
        raise Mismatch(f"log-likelihood per answer: ours {found:.7f}, the peer's {other:.7f}")
    consensus = mine.to_frame("consensus").sort("stimulus")["category"].to_numpy()
    equal = (consensus == peer.labels_.sort_index().to_numpy()).mean()
    if equal < _EQUAL:
        raise Mismatch(f"categories: only {equal:.1%} are equal")
    return (
        f"log-likelihood per answer {found:.6f} and {other:.6f}; {equal:.1%} of categories equal; "
        f"the peer stopped after {len(peer.loss_history_)} rounds"
    )


def _log_likelihood(data: _Data, shares: Any, errors: NDArray[np.float64]) -> float:
    with np.errstate(divide="ignore"):
        joint = np.tile(np.log(shares), (data.item.max() + 1, 1))
        np.add.at(joint, data.item, np.log(errors[data.rater, :, data.answer]))
    return float(np.logaddexp.reduce(joint, axis=1).sum() / data.item.size)


WORKLOADS = (
    Workload(
        name="Dawid and Skene, 20,000 items x 5 answers of 50 raters, 5 categories",
        peer="crowd-kit",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=1.0,
        packages=("crowd-kit", "pandas"),
        best="Its own tolerance, after which it stops early; it has no compiled or parallel way.",
        note=(
            "Ours goes on until no probability changes by 1e-9 in a step of EM; the peer stops, by "
            "default, where the likelihood of an answer gains less than 1e-5."
        ),
    ),
)
"""True categories of largest likelihood."""

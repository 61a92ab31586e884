"""Fifty split halves of a crowd study, beside ``sureal`` on one half."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks._harness import Data, Size, Workload, require_close
from benchmarks._sessions import Study, study, upstream

N_SPLITS = 50
_SEED = 1


def make(size: Size) -> Study:
    """Build the study."""
    return study(size)


def ours(data: Study, scorer: str) -> Any:
    """Split, fit both halves and correlate, fifty times."""
    from affectlab.reliability import split_half

    return split_half(data.ratings, scorer=scorer, n_splits=N_SPLITS, seed=_SEED, target="sample")


def _half(data: Study) -> np.ndarray:
    """Rows of a random half of every stimulus's ratings."""
    rng = np.random.default_rng(_SEED)
    order = np.lexsort((rng.random(data.value.size), data.stimulus))
    per_stimulus = data.value.size // data.shape[0]
    return order.reshape(-1, per_stimulus)[:, : per_stimulus // 2].ravel()


def theirs(data: Study) -> tuple[np.ndarray, dict[str, Any]]:
    """Fit one half."""
    rows = _half(data)
    who, rater = np.unique(data.rater[rows], return_inverse=True)
    shape = (data.shape[0], who.size)
    return rows, upstream(data.stimulus[rows], rater.astype(np.int32), data.value[rows], shape)


def scale(_: Data) -> float:
    """Say how many halves there are."""
    return 2.0 * N_SPLITS


def check(data: Study, mine: Any, peer: tuple[np.ndarray, dict[str, Any]]) -> str:
    """Compare the half that the peer fitted, and look at the correlation."""
    from affectlab.reliability import split_half, subject_model

    rows, theirs_ = peer
    keep = np.zeros(data.value.size, dtype=bool)
    keep[rows] = True
    fitted = subject_model(data.ratings.where(keep), method="p910")
    require_close(fitted.iterations, theirs_["num_iter"], 0, "rounds")
    found = fitted.to_frame().sort("stimulus")["value"].to_numpy()
    same = require_close(found, theirs_["quality_scores"], 1e-8, "p910 scores of the measured half")
    row = mine.to_frame().row(0, named=True)
    mean = split_half(data.ratings, scorer="mean", n_splits=5, seed=_SEED, target="sample")[
        "rating"
    ].value
    if not mean - 0.02 < row["value"] <= 1:
        raise AssertionError(f"split-half correlation {row['value']}, {mean} with means")
    return (
        f"{same}; correlation {row['value']:.4f}, {row['collapsed']} of {2 * N_SPLITS} halves "
        f"collapsed; the peer's half took {theirs_['num_iter']} rounds"
    )


def _workload(scorer: str, note: str) -> Workload:
    return Workload(
        name=f"50 split halves of the same, {scorer}",
        peer="sureal (p910)",
        make=make,
        ours=partial(ours, scorer=scorer),
        theirs=theirs,
        check=check,
        faster=500,
        scale=scale,
        extrapolated="the peer's time for one half, times 100",
        packages=("sureal",),
        best="It has one way.",
        note=note,
        rounds=1,
    )


WORKLOADS = (
    _workload("p910", ""),
    _workload("reml", "the peer has no such method; its p910 is what would be used instead"),
)

"""All intraclass correlations of many labels with their intervals, beside pingouin in a loop."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

_SIZES = {"tiny": (2, 30, 4), "quick": (8, 100, 5), "full": (40, 100, 5)}
_FORMS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")


@dataclass(frozen=True)
class _Data:
    ratings: Any
    frames: list[Any]
    """One for each label, as pandas has them."""


def make(size: Size) -> _Data:
    """Simulate raters who differ in level and all rate everything, scale 0 to 7."""
    import pandas as pd

    from affectlab.ratings import Ratings

    labels, units, raters = _SIZES[size]
    rng = np.random.default_rng(4)
    truth = rng.normal(3.5, 1.5, (labels, units, 1)) + rng.normal(0, 0.7, (labels, 1, raters))
    values = np.clip(np.rint(truth + rng.normal(0, 1.2, (labels, units, raters))), 0, 7)
    label, unit, rater = (place.ravel() for place in np.indices(values.shape))
    columns: dict[str, NDArray[Any]] = {
        "stimulus": np.array([f"s{k:04d}" for k in range(units)])[unit],
        "rater": np.array([f"r{k}" for k in range(raters)])[rater],
        "label": np.array([f"e{k:02d}" for k in range(labels)])[label],
        "value": values.ravel(),
    }
    frame = pd.DataFrame(columns)
    return _Data(
        Ratings(columns, scale="0-7"),
        [part.drop(columns="label") for _, part in frame.groupby("label", sort=True)],
    )


def ours(data: _Data) -> Any:
    """Six forms for every label, with intervals."""
    from affectlab.reliability import intraclass_correlation

    return intraclass_correlation(data.ratings, interval="analytic")


def theirs(data: _Data) -> list[Any]:
    """Loop over labels."""
    import pingouin

    with warnings.catch_warnings():
        # The peer is older than the pandas that it runs on.
        warnings.simplefilter("ignore", DeprecationWarning)
        return [
            pingouin.intraclass_corr(part, targets="stimulus", raters="rater", ratings="value")
            for part in data.frames
        ]


def check(_: _Data, found: Any, peer: list[Any]) -> str:
    """Compare the coefficients and the ends of intervals, which the peer rounds to 2 decimals.

    Form 2 has another interval here (``python -m benchmarks._icc_intervals`` says why).
    """
    frame = found.to_frame()
    assert frame["form"].to_list()[: len(_FORMS)] == list(_FORMS)
    values = np.concatenate([part["ICC"].to_numpy() for part in peer])
    ends = np.concatenate([np.stack(part["CI95"].to_list()) for part in peer])
    same = require_close(frame["value"].to_numpy(), values, 1e-10, "coefficients")
    low_high = frame.select("low", "high").to_numpy()
    alike = ~frame["form"].str.starts_with("2").to_numpy()
    close = require_close(low_high[alike], ends[alike], 0.0051, "ends of forms 1 and 3")
    return f"{same}; {close}, to which the peer rounds"


WORKLOADS = (
    Workload(
        name="six ICCs with intervals, 40 labels x 100 units x 5 raters",
        peer="pingouin in a loop",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=100,
        packages=("pingouin",),
        best="One label at a time: it takes no arrays of several, and has no jobs.",
    ),
)

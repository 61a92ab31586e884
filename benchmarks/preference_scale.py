"""A scale of systems from pairwise choices, beside evalica."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Mismatch, Size, Workload, require_close

_SIZES = {"tiny": (4, 1000, 20), "quick": (20, 5000, 50), "full": (40, 20_000, 100)}
_RESAMPLES = 1000
_SOME = 20
"""Resamples that the peer is timed on."""
_APART = 0.3
"""How far standard errors may be apart on average, as a share: the peer's are of few resamples."""


@dataclass(frozen=True)
class _Data:
    ratings: Any
    frame: Any
    """The same as a table, with the systems of each row."""


def make(size: Size) -> _Data:
    """Simulate choices of judges between two of the systems, each about an item of its own."""
    import polars as pl

    from affectlab.ratings import Ratings

    k, n, judges = _SIZES[size]
    rng = np.random.default_rng(0)
    strength = rng.normal(0, 1, k)
    first = rng.integers(0, k, n)
    second = (first + rng.integers(1, k, n)) % k
    chosen = rng.random(n) < 1 / (1 + np.exp(strength[second] - strength[first]))
    systems = pl.Series([f"m{i:02d}" for i in range(k)])
    frame = pl.DataFrame(
        {
            "stimulus": [f"i{i:05d}" for i in range(n)],
            "rater": pl.Series([f"j{i:03d}" for i in range(judges)]).gather(
                rng.integers(0, judges, n)
            ),
            "value": np.where(chosen, "A", "B"),
            "A": systems.gather(first),
            "B": systems.gather(second),
        }
    )
    return _Data(Ratings(frame, scale="nominal:A,B"), frame)


def points(data: _Data) -> Any:
    """Strengths alone."""
    from affectlab.evaluation import preference_scale

    return preference_scale(data.ratings, target="sample")


def with_intervals(data: _Data) -> Any:
    """Strengths, differences and ranks with intervals about other items and judges."""
    from affectlab.evaluation import preference_scale

    return preference_scale(data.ratings)


def their_points(data: _Data) -> Any:
    """Strengths by the compiled solver."""
    import evalica

    return evalica.bradley_terry(*_columns(data))


def their_intervals(data: _Data) -> Any:
    """Some of the resamples, by percentiles: the peer's BCa intervals leave out each choice too."""
    import evalica

    return evalica.bootstrap(
        evalica.bradley_terry,
        *_columns(data),
        n_resamples=_SOME,
        bootstrap_method="percentile",
        random_state=0,
    )


def _columns(data: _Data) -> tuple[list[str], list[str], list[Any]]:
    from evalica import Winner

    first, second, value = (data.frame[name].to_list() for name in ("A", "B", "value"))
    x, y = Winner.X, Winner.Y
    return first, second, [x if one == "A" else y for one in value]


def check(_: _Data, mine: Any, peer: Any) -> str:
    """Compare strengths, which of the peer are up to a factor."""
    frame = mine.to_frame()
    scores = np.log(peer.scores.reindex(frame["system"].to_list()).to_numpy())
    return require_close(frame["value"], scores - scores.mean(), 1e-5, "strengths")


def check_intervals(_: _Data, mine: Any, peer: Any) -> str:
    """Compare standard errors of the logarithms of strengths on average."""
    frame = mine.to_frame()
    drawn: NDArray[np.float64] = np.log(peer.distribution.to_numpy(dtype=float))
    drawn = drawn - drawn.mean(axis=-1, keepdims=True)
    ratio = float(frame["se"].mean() / drawn.std(axis=0, ddof=1).mean())
    if not abs(ratio - 1) < _APART:
        raise Mismatch(f"standard errors: ours are {ratio:.2f} times the peer's")
    return f"standard errors {ratio:.2f} times those of the peer's resamples on average"


WORKLOADS = (
    Workload(
        name="Bradley-Terry strengths of 40 systems from 20,000 choices",
        peer="evalica, compiled solver",
        make=make,
        ours=points,
        theirs=their_points,
        check=check,
        faster=0.8,
        packages=("evalica",),
        best="Its solver in Rust, with its own tolerance.",
        note=(
            "Both start from a table. Ours also checks the answers, says whether there is a scale "
            "and compares all pairs of systems."
        ),
    ),
    Workload(
        name="the same with intervals",
        peer="evalica, bootstrap of 1,000 resamples",
        make=make,
        ours=with_intervals,
        theirs=their_intervals,
        check=check_intervals,
        faster=100,
        scale=lambda _: (_RESAMPLES + 1) / (_SOME + 1),
        extrapolated="the peer's time for 20 of 1,000 resamples, times 1,001 / 21",
        packages=("evalica",),
        best="Its solver in Rust, percentiles in place of BCa; it has no analytic intervals.",
        note=(
            "Ours are about other judges and other items, by leaving out; the peer draws choices."
        ),
    ),
)
"""Strengths alone, and with intervals."""

"""Distributions before and after steps: lengths, group sizes, sentiments, emotions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab.stimuli.curation.emotions import SENTIMENTS

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation.pool import Pool

__all__ = ["KINDS", "counted", "distribution_rows"]

KINDS = {"length": "tokens", "group_size": "group", "sentiment": "group", "emotion": "emotion"}
"""Column by which each kind of distribution is counted."""
_QUANTILES = {
    "smallest": 0.0,
    "lower quartile": 0.25,
    "median": 0.5,
    "upper quartile": 0.75,
    "largest": 1.0,
}


def counted(pool: Pool, kind: str) -> pl.DataFrame:
    """Count comments by the column of a distribution, for sentiments those with each of them."""
    import polars as pl

    flags = SENTIMENTS if kind == "sentiment" else ()
    return pool.counts(KINDS[kind], **{name: pl.col(name) for name in flags})


def distribution_rows(counts: pl.DataFrame, kind: str, step: str, when: str) -> pl.DataFrame:
    """Bring counts into the rows of ``distributions.csv``.

    Lengths and emotions have a row for each value, with ``n`` and ``share``. Group sizes have their
    quantiles (``n``) and their mean and SD over groups. Sentiments have the mean and SD over groups
    of the share of comments, as the paper's appendix D; SDs with n - 1.

    Parameters
    ----------
    counts
        One row for each value: the column of the kind, ``n``, for sentiments their numbers.
    kind
        One of :data:`KINDS`.
    step, when
        The step, and whether it is ``before`` or ``after`` it.
    """
    import polars as pl

    total = int(counts["n"].sum())
    groups = counts.height if KINDS[kind] == "group" else None
    rows: list[dict[str, object]] = []
    if kind in ("length", "emotion"):
        rows = [
            {"value": str(value) or "(none)", "n": n, "share": n / total}
            for value, n in counts.select(KINDS[kind], "n").sort(KINDS[kind]).iter_rows()
        ]
    elif kind == "group_size":
        sizes = counts["n"].sort()
        rows = [
            {"value": name, "n": int(sizes[int(at * (len(sizes) - 1))])}
            for name, at in _QUANTILES.items()
        ]
        rows.append({"value": "all", "n": total, "mean": sizes.mean(), "sd": sizes.std()})
    else:
        for name in SENTIMENTS:
            shares = counts[name] / counts["n"]
            n = int(counts[name].sum())
            rows.append(
                {
                    "value": name,
                    "n": n,
                    "share": n / total if total else None,
                    "mean": shares.mean(),
                    "sd": shares.std(),
                }
            )
    schema = {"value": pl.String, "n": pl.Int64, "share": pl.Float64, "mean": pl.Float64}
    table = pl.DataFrame(rows, schema={**schema, "sd": pl.Float64})
    return table.select(
        pl.lit(step).alias("step"),
        pl.lit(when).alias("when"),
        pl.lit(kind).alias("distribution"),
        *table.columns,
        pl.lit(groups, pl.Int64).alias("groups"),
    )

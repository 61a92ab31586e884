"""How much of a ranking of models is the way in which they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Share, Table, Value
from affectlab.core.types import Count as N, Floats
from affectlab.core.words import joined
from affectlab.evaluation import wording
from affectlab.evaluation.rater_comparison import spearman_with_people
from affectlab.ratings import (
    ClusterLike,
    ModelRatings,
    Ratings,
    canonical,
    model_tables,
    stimulus_clusters,
)

__all__ = ["WAYS", "ProtocolEffects", "protocol_effects"]

WAYS = (
    *("protocol", "style", "wording", "prompt_sha256", "readout", "prompt_version", "at_most"),
    "most_asks",
)
"""Attributes of raters that say how a model was asked."""
_GROUPS = 20
"""Groups of stimuli that are left out in turn."""


class ProtocolEffects(Result):
    """What of the scores of models is the way of asking; see :func:`protocol_effects`."""

    @property
    def scores(self) -> pl.DataFrame:
        """``model``, ``way``, ``value``, ``low``, ``high``, ``rank`` (among models asked so)."""
        return self.to_frame("scores")

    @property
    def shares(self) -> pl.DataFrame:
        """``source`` (model, way, model and way, sampling of stimuli), ``variance``, ``share``."""
        return self.to_frame("shares")

    @property
    def rankings(self) -> pl.DataFrame:
        """``way_a``, ``way_b``, ``tau`` (Kendall's, of the models), ``n_models``."""
        return self.to_frame("rankings")


def protocol_effects(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    ways: Sequence[str] | None = None,
    cluster: ClusterLike = None,
    n_boot: N = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ProtocolEffects:
    r"""Compare models that were each asked in several ways, and say what the way of asking does.

    Each model, asked in each way, is a rater with the attributes ``model`` and how it was asked, as
    ``affectlab rate`` writes them. Its score is Spearman's correlation with the median of people
    over stimuli, mean over labels, which is the same for scales of any kind.

    Parameters
    ----------
    ratings
        The answers of people, and of models where these stand in the same table.
    models
        Answers of models in tables of their own.
    ways
        Attributes of raters that tell ways apart. None: those of protocol, style, wording (the
        protocol's words, described, or a file as published), prompt_sha256 (of that file), readout,
        prompt_version, at_most and most_asks that differ.
    cluster
        Attribute of stimuli, such as actor, for the intervals.
    n_boot
        Bootstrap replicates over stimuli.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Of the bootstrap.

    Returns
    -------
    ProtocolEffects
        Scores, the share of each source in their variance, and how alike the rankings are.

    Raises
    ------
    InputError
        When raters do not say which model they are, or fewer than two models were asked in every
        way.

    Notes
    -----
    With :math:`S_{mw}` the score of model :math:`m` asked in way :math:`w`, the variance components
    are those of a two-way layout with one value a cell: :math:`\sigma_m^2 = (MS_m - MS_r)/W`,
    :math:`\sigma_w^2 = (MS_w - MS_r)/M`, not below 0, and :math:`MS_r` for the rest. What the
    sampling of stimuli adds to the rest is estimated by leaving out up to 20 groups of stimuli
    in turn: all cells share the stimuli, so that most of what sampling does to single scores does
    nothing to their interaction. What is beyond it is that a way suits one model more than another.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, chapter 4.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> names = ["p", "m1 a", "m1 b", "m2 a", "m2 b"]
    >>> table = Ratings(
    ...     {"stimulus": list("abcdef") * 5, "rater": [name for name in names for _ in range(6)],
    ...      "value": [0, 1, 2, 4, 5, 7, 0, 1, 3, 4, 5, 6, 1, 0, 2, 4, 6, 5,
    ...                3, 1, 2, 4, 5, 0, 7, 5, 2, 4, 1, 0]},
    ...     scale="0-7",
    ...     raters={"rater": names, "rater_kind": ["human"] + ["model"] * 4,
    ...             "model": [None, "m1", "m1", "m2", "m2"], "readout": [None, "a", "b", "a", "b"]})
    >>> found = protocol_effects(table, n_boot=0)
    >>> found.rankings.row(0)
    ('a', 'b', 1.0, 2)
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    known = _ways_of(ratings, models, ways)
    table = spearman_with_people(
        ratings, models, n_boot=n_boot, cluster=cluster, confidence=confidence, seed=seed
    )
    estimates = table.frame.select("rater", "value", "se", "low", "high")
    scores = known.join(estimates, on="rater", how="inner")
    undefined = scores.filter(~pl.col("value").is_finite())["rater"].to_list()
    full, left, again = _balanced(scores.filter(pl.col("value").is_finite()))
    grid = full.pivot("way", index="model", values="value").sort("model")
    values = grid.drop("model").to_numpy()
    ways_found = grid.columns[1:]
    sampling = _sampling(ratings, models, full, cluster, seed)
    shares = _shares(values, sampling)
    rankings = _rankings(values, ways_found)
    full = (
        full.with_columns(
            rank=pl.col("value").rank("min", descending=True).over("way").cast(pl.Int64)
        )
        .select("model", "way", "value", "low", "high", "rank")
        .sort("model", "way")
    )
    part = dict(shares.select("source", "share").iter_rows())
    return ProtocolEffects(
        (
            Table("scores", wording.PROTOCOL_SCORES, full, _SCORES),
            Table("shares", wording.PROTOCOL_SHARES, shares, _SHARES),
            Table("rankings", wording.PROTOCOL_RANKINGS, rankings, _RANKINGS),
        ),
        (wording.protocol_effects(len(values), len(ways_found), part),),
        notes=tuple(
            wording.protocols_left_out(why, names)
            for why, names in (("asked", left), ("again", again), ("undefined", undefined))
            if names
        ),
    )


_SCORES = (
    Key("model"),
    Key("way", "asked"),
    Value("value", "Spearman"),
    Interval(),
    Count("rank"),
)
_SHARES = (Key("source"), Number("variance", decimals=4), Share("share"))
_RANKINGS = (
    Key("way_a", "asked"),
    Key("way_b", "and"),
    Number("tau", "Kendall's tau", decimals=2),
    Count("n_models", "models"),
)


def _ways_of(
    ratings: Ratings, models: ModelRatings | None, ways: Sequence[str] | None
) -> pl.DataFrame:
    """Give the model and the way of each rater that says them."""
    tables = [one.raters for one in model_tables(models)] if models is not None else []
    about = pl.concat(
        [
            table.select(pl.all().cast(pl.String))
            for table in (ratings.raters, *tables)
            if "model" in table.columns
        ]
        or [pl.DataFrame(schema={"rater": pl.String, "model": pl.String})],
        how="diagonal",
    ).filter(pl.col("model").is_not_null())
    if about.is_empty():
        raise InputError(
            "no rater says which model it is; expected an attribute 'model', as affectlab rate "
            "writes it"
        )
    unknown = [name for name in ways or () if name not in about.columns]
    if unknown:
        raise InputError(
            f"ways: raters have no attribute {unknown[0]!r}; expected some of "
            f"{joined([name for name in about.columns if name not in ('rater', 'model')])}"
        )
    chosen = list(ways or (name for name in WAYS if _differs(about, name)))
    if not chosen:
        raise InputError("all models were asked in one way; expected two or more")
    said = pl.concat_str([pl.col(name).fill_null("–") for name in chosen], separator=" · ")
    return about.select("rater", "model", way=said).sort("rater")


def _differs(about: pl.DataFrame, name: str) -> bool:
    return name in about.columns and about[name].n_unique() > 1


def _balanced(scores: pl.DataFrame) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Keep models that were asked in every way, the first rater of each; and name the others."""
    once = scores.unique(("model", "way"), keep="first", maintain_order=True)
    n_ways = once["way"].n_unique()
    whole = once.filter(pl.len().over("model") == n_ways)
    left = sorted(set(once["model"]) - set(whole["model"]))
    if n_ways < 2 or whole["model"].n_unique() < 2:
        raise InputError(
            f"{whole['model'].n_unique()} of {once['model'].n_unique()} models were asked in all "
            f"{n_ways} ways; expected two models or more, each asked in the same two ways or more"
        )
    again = scores.join(once, on="rater", how="anti")["rater"].to_list()
    return whole.sort("model", "way"), left, sorted(again)


def _rest(values: Floats) -> float:
    """Mean square of what neither rows nor columns explain."""
    m, w = values.shape
    rest = values - values.mean(1, keepdims=True) - values.mean(0, keepdims=True) + values.mean()
    return float((rest**2).sum() / ((m - 1) * (w - 1)))


def _sampling(
    ratings: Ratings,
    models: ModelRatings | None,
    full: pl.DataFrame,
    cluster: ClusterLike,
    seed: int,
) -> float:
    r"""Give what the sampling of stimuli adds to the rest, by a grouped jackknife.

    With :math:`E_g` the scores without group :math:`g`, less their mean over groups, the expected
    mean square is :math:`\frac{G-1}{G} \sum_g MS_r(E_g)`.
    """
    names = np.array(ratings.stimulus_names)
    clusters = stimulus_clusters(ratings, cluster).on(ratings.stimulus_names)
    code = np.unique(names, return_inverse=True)[1] if clusters is None else clusters.code
    n_units = len(names) if clusters is None else clusters.n
    n_groups = min(_GROUPS, n_units)
    if n_groups < 2:
        return float("nan")
    group = np.random.default_rng(seed).permutation(n_units)[code] % n_groups
    cells = full.select("rater", "model", "way")
    tables = []
    for g in range(n_groups):
        part = ratings.select(stimuli=names[group != g].tolist())
        scores = spearman_with_people(part, models, n_boot=0).frame.select("rater", "value")
        grid = cells.join(scores, on="rater", how="left").pivot(
            "way", index="model", values="value"
        )
        tables.append(grid.sort("model").drop("model").to_numpy().astype(np.float64))
    stacked = np.stack(tables)
    if not np.isfinite(stacked).all():
        return float("nan")
    errors = stacked - stacked.mean(0)
    return (n_groups - 1) / n_groups * sum(_rest(one) for one in errors)


def _shares(values: Floats, sampling: float) -> pl.DataFrame:
    """Give the variance components of a two-way layout."""
    m, w = values.shape
    rest = _rest(values)
    of_model = max(float(np.var(values.mean(1), ddof=1)) - rest / w, 0.0)
    of_way = max(float(np.var(values.mean(0), ddof=1)) - rest / m, 0.0)
    # Without an estimate of sampling, all of the rest may be either.
    noise = min(sampling, rest) if np.isfinite(sampling) else float("nan")
    parts = {
        "model": of_model,
        "way": of_way,
        "model and way": rest - noise,
        "sampling of stimuli": noise,
    }
    total = of_model + of_way + rest
    return pl.DataFrame(
        {
            "source": list(parts),
            "variance": list(parts.values()),
            "share": [part / total if total else float("nan") for part in parts.values()],
        }
    )


def _rankings(values: Floats, ways: Sequence[str]) -> pl.DataFrame:
    """Give Kendall's tau-b of the models between each two ways."""
    from scipy.stats import kendalltau

    rows = [
        (ways[a], ways[b], float(kendalltau(values[:, a], values[:, b]).statistic), len(values))
        for a, b in combinations(range(len(ways)), 2)
    ]
    schema = {"way_a": pl.String, "way_b": pl.String, "tau": pl.Float64, "n_models": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")

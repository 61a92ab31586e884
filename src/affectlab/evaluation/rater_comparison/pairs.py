"""Pairs of people and models as the EmoNet-Face study reports them: by kind of pair."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce
from typing import Literal

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Share, Table, Value
from affectlab.core.types import Floats, Ints
from affectlab.core.words import number, shown
from affectlab.evaluation.people_and_models import (
    Rounding,
    judged_sides,
    on_people,
)
from affectlab.ratings import (
    MODEL_KINDS,
    Answers,
    ClusterLike,
    ModelRatings,
    Ratings,
    answers_of,
    canonical,
    of_known_raters,
    require_order,
)
from affectlab.reliability import krippendorff_alpha, mean_spearman
from affectlab.reliability.agreement import KappaResult


def merged(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    truncate: bool = False,
    exclude: Collection[str] = (),
    partly: bool = False,
) -> Ratings:
    """Put people and models into one table, on the scale of people.

    Where models are wanted `partly`, those without a map to that scale are left out.

    Raises
    ------
    InputError
        When a side is missing, a model has the name of a person, or models cannot be put on the
        people's scale (see ``on_scale``).
    """
    both = judged_sides(ratings, models)
    together = both.together and both.people.scale == ratings.scale
    if together and both.people.n_raters + len(both.model_names) == ratings.n_raters:
        table = ratings
    else:
        how: Rounding = "truncate" if truncate else "round"
        mapped = on_people(both, how)
        judged = mapped.table if partly and mapped.table is not None else mapped.all()
        kinds = [kind if kind in MODEL_KINDS else "model" for kind in judged.rater_kinds]
        judged = judged.with_raters(
            judged.raters.with_columns(pl.Series("rater_kind", kinds, dtype=pl.String))
        )
        table = both.people.merge(judged)
    return _without(table, exclude)


def _without(table: Ratings, exclude: Collection[str]) -> Ratings:
    kept = [name for name in table.label_names if name not in exclude]
    return table.select(labels=kept) if len(kept) < table.n_labels else table


def pair_kinds(pairs: KappaResult, *, by_label: bool = False) -> Result:
    """Sum up agreement by kind of pair.

    Parameters
    ----------
    pairs
        What ``pairwise_spearman`` or :func:`affectlab.reliability.pairwise_kappa` gave.
    by_label
        One row per label and kind.

    Returns
    -------
    A table with ``pair_kind``, ``mean``, ``sd``, ``median``, ``n`` (defined pairs by labels) and
    ``n_undefined``; people first.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, appendix A.4.

    Examples
    --------
    >>> from affectlab.reliability import pairwise_kappa
    >>> pairs = pairwise_kappa([[0, 3, 7, 0], [0, 3, 3, 0], [1, 4, 7, 0]], scale="0-7")
    >>> pair_kinds(pairs).to_frame().row(0)[:4]
    ('human-human', 0.748..., 0.191..., 0.652...)
    """
    value = pl.col("value").filter(pl.col("status") == "ok")
    keys = ["label", "pair_kind"] if by_label else ["pair_kind"]
    order = {"human-human": 0, "human-model": 1, "model-model": 2}
    found = pairs.frame.group_by(keys, maintain_order=True).agg(
        mean=value.mean(),
        sd=value.std(),
        median=value.median(),
        n=value.len().cast(pl.Int64),
        n_undefined=(pl.col("status") != "ok").sum().cast(pl.Int64),
    )
    place = pl.col("pair_kind").replace_strict(order, default=3)
    columns = (
        *(Key(key, key.replace("pair_kind", "kind of pair")) for key in keys),
        *(Number(name, decimals=3) for name in ("mean", "sd", "median")),
        Count("n", "pairs by labels"),
    )
    frame = found if by_label else found.sort(place, maintain_order=True)
    figure = Figure(
        "kinds_by_label",
        "kinds_by_label",
        of="kinds",
        title="Agreement by kind of pair, per label",
        description=f"{pairs.frame['label'].n_unique()} labels.",
        options={"value_name": "mean agreement"},
    )
    table = Table("kinds", "Agreement by kind of pair.", frame, columns)
    return Result((table,), figures=(figure,) if by_label else ())


def pairwise_spearman(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    exclude: Collection[str] = (),
) -> KappaResult:
    """Compute Spearman's correlation of every pair of raters on every label.

    Parameters
    ----------
    ratings, models
        People and models, see ``sides``. The scales need not be the same:
        ranks do not change.
    exclude
        Labels that are left out.

    Returns
    -------
    A table like that of :func:`affectlab.reliability.pairwise_kappa`: by ``label``, ``rater_a``,
    ``rater_b``, with ``pair_kind``; people first. ``nan`` with a status where a pair shares fewer
    than two stimuli or a side is constant on them.

    Raises
    ------
    InputError
        When a side is missing or the answers have no order.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [.1, .9, .4, .2]},
    ...                 scale="0-1 interval")
    >>> pairwise_spearman(people, model)["rating", "x", "m"].value
    0.8
    """
    both = judged_sides(ratings, models)
    require_order(both.people, "Spearman's correlation")
    require_order(both.models, "Spearman's correlation")
    found = spearman_of_sides([answers_of(both.people), answers_of(both.models)], exclude=exclude)
    if found is None:
        raise InputError("no label is left to compare people and models on")
    return found


def spearman_of_sides(
    sides: Sequence[Answers], *, exclude: Collection[str] = ()
) -> KappaResult | None:
    """Compute Spearman's correlation of every pair of raters, who may stand in several tables.

    Parameters
    ----------
    sides
        Answers of raters who differ between tables, and whose scales need not be the same.
    exclude
        Labels that are left out.

    Returns
    -------
    As ``pairwise_spearman``; None where no label is in all tables.
    """
    first = sides[0]
    shared = set(first.labels).intersection(*(side.labels for side in sides))
    labels = [name for name in first.labels if name in shared and name not in exclude]
    if not labels:
        return None
    # On the labels that all have.
    everyone = reduce(Answers.beside, sides[1:], first.on(first.units, labels))
    names = everyone.raters
    n_pairs = len(names) * (len(names) - 1) // 2
    rho, n = np.full((len(labels), n_pairs), np.nan), np.zeros((len(labels), n_pairs), np.int64)
    parts = list(everyone.by_label())

    def one_label(k: int) -> None:
        from affectlab.evaluation.rater_comparison.pair_kernels import spearman_of_pairs

        own = parts[k]
        spearman_of_pairs(*_lists(own.rater, own.unit, own.value, len(names)), rho[k], n[k])

    from affectlab.core.compiled import in_threads

    in_threads(one_label, range(len(labels)))
    few, constant = (
        Reason(Cause.FEWER, least=2, of="common stimuli"),
        Reason(Cause.CONSTANT, of="ratings"),
    )
    return KappaResult.of_pairs(
        labels,
        names,
        everyone.rater_kinds,
        n=n.ravel(),
        value=np.clip(rho.ravel(), -1, 1),
        statistic="Spearman's correlation of two raters",
        reason=[
            few if items < 2 else constant if none else None
            for items, none in zip(n.ravel().tolist(), np.isnan(rho).ravel().tolist(), strict=True)
        ],
    )


def _lists(
    rater: Ints, item: Ints, value: Floats, n_raters: int
) -> tuple[Ints, np.ndarray, np.ndarray, Ints]:
    """Sort answers by rater and item, with each answer's place among those of its rater."""
    by_value = np.lexsort((value, rater))
    new = np.diff(value[by_value], prepend=np.nan) != 0
    first = np.diff(rater[by_value], prepend=-1) != 0
    steps = np.cumsum(new | first) - 1
    start = np.searchsorted(rater[by_value], np.arange(n_raters + 1)).astype(np.int64)
    before = np.append(steps, 0)[start[:-1]]
    code = np.empty(value.size, dtype=np.int64)
    code[by_value] = steps - before[rater[by_value]]
    order = np.lexsort((item, rater))
    n_codes = np.zeros(n_raters, dtype=np.int64)
    np.maximum.at(n_codes, rater, code + 1)
    return start, item[order].astype(np.int32), code[order].astype(np.int32), n_codes


def alpha_by_side(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    level: Literal["nominal", "ordinal", "interval", "ratio"] | None = None,
    exclude: Collection[str] = (),
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compute Krippendorff's alpha of people, of models, and of all together, per label.

    Parameters
    ----------
    ratings, models, exclude
        As for :func:`alignment`; models are rounded to the scale of people.
    level
        Level of measurement, by default that of the scale; the study uses ``"interval"``.
    n_boot, seed
        Bootstrap over stimuli.

    Returns
    -------
    Estimates by ``side`` (``human``, ``model``, ``all``) and ``label``. One model alone has no
    agreement: ``nan`` with a status. Models without a map of their scale to that of people are left
    out; where no model has one, models stay on their own scale, and there is no ``all``.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, appendix A.4 and Figure 9.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [0, 7, 3, 1]},
    ...                 scale="0-7")
    >>> found = alpha_by_side(people, model, level="interval")
    >>> round(found["human", "rating"].value, 3), found["model", "rating"].ok
    (0.963, False)
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    both = judged_sides(ratings, models)
    if on_people(both, "none").table is None:
        # Models on several scales of their own have no agreement.
        apart = [both.people, *(both.tables if len(both.tables) == 1 else ())]
        parts = {
            side: _without(table, exclude)
            for side, table in zip(("human", "model"), apart, strict=False)
        }
    else:
        everyone = merged(ratings, models, exclude=exclude, partly=True)
        parts = {"human": everyone.humans(), "model": everyone.models(), "all": everyone}
    frames = []
    for side, part in parts.items():
        found = krippendorff_alpha(
            part, level=level, interval="percentile", target="stimuli", n_boot=n_boot, seed=seed
        )
        frame = found.frame
        frames.append(frame.insert_column(0, pl.Series("side", [side] * frame.height)))
    table = Estimates.of(pl.concat(frames), ("side", "label")).tables[0]
    people = table.frame.filter(pl.col("side") == "human")
    own = replace(table, name="people", columns=table.columns[1:], frame=people, limit=0)
    figure = Figure(
        "alpha",
        "intervals",
        of="people",
        title="Krippendorff's alpha of people per label",
        description="Lines at 0.67 and 0.80, the customary marks.",
        options={"value_name": "Krippendorff's alpha", "lines": ((0.67, "0.67"), (0.8, "0.80"))},
    )
    known = people["value"].is_not_nan().any()
    return Estimates((replace(table, name="alpha"), own), figures=(figure,) if known else ())


@of_known_raters
def spearman_with_people(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    exclude: Collection[str] = (),
    n_boot: int = 1000,
    target: Literal["stimuli", "labels"] = "stimuli",
    cluster: ClusterLike = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Correlate each model with the median of people, as published.

    Spearman's correlation over stimuli, mean over labels; see
    :func:`affectlab.reliability.mean_spearman`. It is not to be compared with the correlation of a
    person with the other people, whose median holds one person less: :func:`alignment` compares
    like with like.

    Parameters
    ----------
    ratings, models, exclude
        As for :func:`alignment`; models keep their fractions.
    n_boot
        Bootstrap replicates; 0 for no interval.
    target
        What the interval is about: other ``"stimuli"``, or other ``"labels"``, which is the
        likelier reading of the study's Figure 4.
    cluster, confidence, seed
        As for :func:`alignment`.

    Returns
    -------
    Estimates by ``rater`` with ``n_labels`` (in the mean), ``n_undefined`` (labels on which a side
    gave one answer throughout, left out of the mean), ``value_all`` (the mean with those as 0) and
    ``coverage`` (the share of the (stimulus, label) cells of people that the model answered). The
    highest ``value_all`` comes first, so that nobody gains by not answering the hard labels.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4.2 and Figure 4.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [.1, .9, .4, .2]},
    ...                 scale="0-1 interval")
    >>> spearman_with_people(people, model)["m"].value
    0.8
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")

    both = judged_sides(ratings, models)
    known = set(both.people.label_names)
    table = mean_spearman(
        both.people,
        both.models,
        exclude=[name for name in exclude if name in known],
        n_boot=n_boot,
        target=target,
        cluster=cluster,
        confidence=confidence,
        seed=seed,
    )
    used = both.people.answers()
    kept = np.array([name not in exclude for name in used.label_names])[used.label_code]
    kept &= np.isfinite(used.value)
    rated = np.zeros((used.n_labels, used.n_stimuli), dtype=np.bool_)
    rated[used.label_code[kept], used.stimulus_code[kept]] = True
    cells = int(rated.sum())
    labels = pl.col("n_labels") + pl.col("n_undefined")
    frame = table.frame.with_columns(
        (pl.col("value") * pl.col("n_labels") / labels).alias("value_all"),
        (pl.col("n_ratings") / max(cells, 1)).alias("coverage"),
    )
    frame = frame.sort("value_all", descending=True, nulls_last=True, maintain_order=True)
    defined = frame.filter(pl.col("value").is_not_nan())
    frame = pl.concat([defined, frame.filter(pl.col("value").is_nan())])
    found = [
        f"Highest for {shown(row['rater'])} ({number(row['value'])})."
        for row in defined.sort("value", descending=True, maintain_order=True)
        .head(1)
        .iter_rows(named=True)
    ]
    columns = (
        Key("rater", "model"),
        Value("value", "Spearman"),
        Interval(),
        Count("n_labels"),
        Number("value_all", "with undefined as 0", spare=True),
        Share("coverage"),
    )
    figure = Figure(
        "spearman",
        "agreement_bars",
        of="with_median",
        title="Spearman correlation of models with the median of people",
        description=" ".join(found) or "No model has a defined correlation.",
        options={"value_name": "Spearman with the median of people, mean over labels"},
    )
    caption = "Spearman's correlation of models with the median of people."
    tables = (Table("with_median", caption, frame, columns),)
    return Estimates(tables, tuple(found), (figure,), table.notes)

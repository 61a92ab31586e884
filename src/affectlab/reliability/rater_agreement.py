"""How far raters agree, by every coefficient that suits their answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Resampled, Target
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Number, Table
from affectlab.core.words import option, plural, with_ends
from affectlab.ratings import (
    HUMAN_KINDS,
    ClusterLike,
    Ratings,
    ballots_of,
    by_scale,
    labels_on,
    numeric_part,
    people_or_all,
)
from affectlab.reliability.agreement import (
    SET_DISTANCES,
    KappaResult,
    LevelName,
    Missing,
    has_levels,
    krippendorff_alpha,
    load_coefficients,
    pairwise_kappa,
    self_consistency,
)
from affectlab.reliability.correlation import interrater_correlation
from affectlab.reliability.wording import (
    KAPPA_GROUPS,
    KAPPA_KINDS,
    KAPPA_PAIRS,
    alpha_among,
    below_chance,
    heatmap_text,
    listwise_deletion,
    median_kappas,
    models_only_in_pairs,
    not_correlated,
    range_text,
    texts_left_out,
    value_text,
)

_ALPHA = "krippendorff_alpha"
_CORRELATION = "interrater_correlation"


def rater_agreement(
    ratings: Ratings,
    *,
    level: LevelName | None = None,
    more: bool = False,
    missing: Missing = "available",
    everyone: bool = False,
    interval: Resampled = "jackknife",
    target: Target = "both",
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Result:
    """Measure agreement: Krippendorff's alpha, interrater correlation and weighted kappa.

    Alpha and the correlation are about people; kappa compares all kinds of pairs.

    Parameters
    ----------
    ratings
        Ratings of two raters or more.
    level
        Level of measurement for alpha; that of each label's scale when not given. ``masi`` and
        ``jaccard``: distances of whole sets of labels.
    more
        Also every other coefficient there is, such as percent agreement, Fleiss' kappa, Gwet's AC
        and ICC, and self-consistency where there are repeats.
    missing
        For the ICC: all ratings that are available, or only stimuli that every rater rated
        (listwise deletion).
    everyone
        Take models in, too; without it only people where there are any.
    interval
        How intervals come about: ``"jackknife"`` (leaving out one stimulus, one rater, or either at
        a time), or bootstrap replicates and their ``"percentile"`` or ``"bca"`` ends.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``; ``sample`` for
        none.
    n_boot
        Bootstrap replicates, where intervals come from these; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are drawn and left out with: a column of the stimulus table, or
        a mapping from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.
    seed
        Seed or generator of the replicates.

    Returns
    -------
    Result
        A table for each coefficient, by the name of its function (``krippendorff_alpha``,
        ``interrater_correlation``, …); ``label_sets`` with alpha of whole sets by MASI and Jaccard
        distance, where raters chose several labels of a stimulus; ``kappa`` with mean, SD and
        median over pairs and labels of each kind of pair; ``pairs`` with the mean over labels of
        each pair of raters.

    Raises
    ------
    InputError
        If there are no numeric answers, or an option cannot be used.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((40, 3)))
    >>> value = stimulus % 7 + rng.integers(0, 2, 120)
    >>> ratings = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="0-7")
    >>> rater_agreement(ratings)
    Result(Krippendorff's alpha among 3 people is 0.94 (95 % interval 0.92 to 0.97).)
    """
    if missing == "listwise" and not more:
        raise InputError(
            f"{option('missing', 'listwise')} is about the ICC, which only "
            f"{option('more', True, cli='--more')} shows; add it"
        )
    panel = ratings if everyone else people_or_all(ratings)
    sampling: dict[str, Any] = {
        "interval": interval,
        "n_boot": n_boot,
        "cluster": cluster,
        "seed": seed,
    }
    if target != "both":
        # By default each coefficient has the widest target that can be drawn for it.
        sampling["target"] = target
    own: dict[str, dict[str, Any]] = {
        _ALPHA: {"level": level},
        "intraclass_correlation": {"missing": missing},
    }
    numbers = numeric_part(panel)
    loaded = {one.name: one for one in load_coefficients()}
    tables, others, of_clusters = list[Table](), list[Table](), dict[str, None]()
    for name in [_ALPHA, *(name for name in loaded if name != _ALPHA and more)]:
        one = loaded[name]
        options = own.get(name, {}) | sampling
        estimates = one.estimates(panel, confidence=confidence, **options)
        if estimates is not None:
            (tables if name == _ALPHA else others).append(_table(name, one.title, estimates))
            of_clusters.update(dict.fromkeys(estimates.notes))
    sets = (
        None
        if level in SET_DISTANCES
        else alpha_of_label_sets(panel, confidence=confidence, **sampling)
    )
    if sets is not None:
        tables.append(_table("label_sets", "Krippendorff's alpha", sets))
        of_clusters.update(dict.fromkeys(sets.notes))
    figures, notes = [replace(loaded[_ALPHA].figure, of=_ALPHA)], list(of_clusters)
    ordered = labels_on(panel, lambda scale: scale.kind not in ("nominal", "text"))
    if ordered is not None and panel.raters_known:
        correlation = interrater_correlation(ordered, cluster=cluster, confidence=confidence)
        tables.append(_table(_CORRELATION, "interrater correlation", correlation))
        notes += _left_out(correlation, numbers)
        if more and "repeat" in ordered.summary().trial_kinds:
            others.append(_consistency(ordered, confidence))
    stepped = labels_on(ratings, has_levels) if ratings.raters_known else None
    pairs = None if stepped is None else pairwise_kappa(stepped, cluster="none")
    if pairs is not None and len(pairs):
        of_kappa = _kappa_tables(pairs)
        tables += of_kappa
        figures += _kappa_figures(pairs, of_kappa[0].frame.drop_nulls("median"))
    tables += others
    texts = [name for name, scale in panel.scales.items() if not scale.numeric]
    if texts:
        notes.insert(0, texts_left_out(texts))
    if panel is not ratings:
        n_models = ratings.n_raters - panel.n_raters
        notes.insert(0, models_only_in_pairs(n_models))
    alpha = tables[0].frame["value"].drop_nans()
    below = int((alpha < 0).sum())
    # By chance, nine of ten labels or more are so once in 60 times, and seldomer with more labels.
    if below >= max(6, 0.9 * alpha.len()):
        notes.insert(0, below_chance(below, alpha.len()))
    return Result(
        tuple(tables),
        tuple(_sentences(tables[0].frame, panel, confidence)),
        tuple(figures),
        (*notes, *_dropped(tables)),
        MappingProxyType(
            {
                "level": level,
                "interval": interval,
                "target": target,
                "n_boot": n_boot,
                "confidence": confidence,
                "missing": missing,
                "n_raters": panel.n_raters,
            }
        ),
    )


def alpha_of_label_sets(
    ratings: Ratings,
    *,
    interval: Resampled = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimates | None:
    """Compute alpha of whole sets of labels, by ``distance``, where raters chose several labels.

    Parameters
    ----------
    ratings
        Answers of the panel.
    interval, target, n_boot, confidence, cluster, seed
        As for :func:`krippendorff_alpha`.

    Returns
    -------
    None where nobody said yes to two labels of a stimulus, or no stimulus has two whole sets.
    """
    asked = labels_on(ratings, lambda scale: scale.kind == "binary")
    if asked is None or asked.n_labels < 2:
        return None
    if not ((ballots_of(asked).value == 1).sum(axis=1) > 1).any():
        return None
    found = {
        name: krippendorff_alpha(
            asked,
            level=name,
            interval=interval,
            target=target,
            n_boot=n_boot,
            confidence=confidence,
            cluster=cluster,
            seed=seed,
        )
        for name in SET_DISTANCES
    }
    frames = [
        one.frame.select(pl.lit(SET_DISTANCES[name][0]).alias("distance"), pl.exclude("label"))
        for name, one in found.items()
    ]
    frame = pl.concat(frames)
    notes = next(iter(found.values())).notes
    return Estimates.of(frame, ["distance"], notes=notes) if frame["n_items"].sum() else None


def _table(name: str, title: str, found: Estimates) -> Table:
    """Name the table of a coefficient; its caption is what holds of all rows."""
    # How intervals were made, and why there are none, stands below the table.
    rows = found.frame.select("statistic", "options").rows()
    whats = list(dict.fromkeys((name, *options) for name, options in rows))
    how = ", ".join(part for part in whats[0] if all(part in other for other in whats))
    parts = [how] if how.startswith(title) else [title, how]
    caption = ": ".join(filter(None, parts))
    return replace(found.tables[0], name=name, caption=f"{caption[0].upper()}{caption[1:]}")


def _consistency(ordered: Ratings, confidence: float) -> Table:
    """Compare repeats with what they repeat, scale by scale."""
    scales = by_scale(ordered.scales)
    found = [
        self_consistency(ordered.select(labels=labels), confidence=confidence)
        for labels, _ in scales
    ]
    table = _table("self_consistency", "self-consistency", found[0])
    if len(found) < 2:
        return table
    frame = pl.concat(
        one.frame.select(pl.lit(", ".join(labels)).alias("labels"), pl.all())
        for one, (labels, _) in zip(found, scales, strict=True)
    )
    return replace(table, frame=frame, columns=(Key("labels"), *table.columns))


_KINDS = (
    Number("mean"),
    Number("sd", "SD"),
    Number("median"),
    Count("n_defined"),
    Count("n_pairs_by_label", "pairs x labels"),
)


def _kappa_tables(pairs: KappaResult) -> tuple[Table, Table]:
    """Sum kappa up by kind of pair over pairs and labels, and by pair over labels."""
    frame = pairs.frame.with_columns(
        pl.col("options").list.first().alias("weights"),
        pl.when(pl.col("status") == "ok").then("value").alias("value"),
    )
    # Kappas with and without weights have no common mean.
    keys = ["pair_kind", *(["weights"] if frame["weights"].n_unique() > 1 else [])]
    kinds = (
        frame.group_by(keys, maintain_order=True)
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").std().alias("sd"),
            pl.col("value").median().alias("median"),
            pl.col("value").count().alias("n_defined"),
            pl.len().alias("n_pairs_by_label"),
        )
        .sort("pair_kind", maintain_order=True)
    )
    of_pair = ["rater_a", "rater_b", *keys]
    means = frame.group_by(of_pair, maintain_order=True).agg(
        pl.col("value").mean(), pl.col("value").count().alias("n_labels")
    )
    heads = {"pair_kind": "pair", "weights": "weights"}
    return (
        Table(
            "kappa",
            KAPPA_KINDS,
            kinds,
            (*(Key(key, heads[key]) for key in keys), *_KINDS),
        ),
        Table(
            "pairs",
            KAPPA_PAIRS,
            means,
            (*(Key(key) for key in of_pair), Number("value", "kappa"), Count("n_labels")),
            limit=0,
        ),
    )


def _kappa_figures(pairs: KappaResult, kinds: pl.DataFrame) -> Iterator[Figure]:
    if not kinds.height:
        return
    medians = list(kinds.select("pair_kind", "median").iter_rows())
    yield Figure(
        "kappa_by_kind",
        "groups_compared",
        "pairs",
        KAPPA_GROUPS,
        description=median_kappas(medians),
        options={"value_name": "kappa", "group": "pair_kind"},
    )
    yield Figure(
        "kappa_heatmap",
        "pair_heatmap",
        "pairs",
        KAPPA_PAIRS,
        description=heatmap_text(len(pairs.raters)),
        options={
            "raters": pairs.raters,
            "rater_kinds": pairs.rater_kinds,
            "value_name": "kappa",
        },
    )


def _sentences(alpha: pl.DataFrame, panel: Ratings, confidence: float) -> Iterator[str]:
    people = set(panel.rater_kinds) <= set(HUMAN_KINDS)
    who = plural(panel.n_raters, *(("person", "people") if people else ("rater",)))
    if not panel.raters_known:
        who = plural(panel.n_raters, "vote")
    known = alpha.drop_nans("value").sort("value", descending=True, maintain_order=True)
    if not known.height:
        return
    best, *_, worst = [*known.to_dicts(), *known.tail(1).to_dicts()]
    what = alpha_among(who)
    if known.height > 1:
        yield range_text(what, *((row["label"], row["value"]) for row in (worst, best)))
        return
    yield value_text(what, with_ends(best, confidence))


def _left_out(correlation: Estimates, panel: Ratings) -> list[str]:
    """Name the labels that interrater correlation leaves out."""
    there = set(correlation.frame["label"])
    return [
        not_correlated(name, nominal=scale.kind == "nominal")
        for name, scale in panel.scales.items()
        if name not in there
    ]


def _dropped(tables: Iterable[Table]) -> Iterator[str]:
    """Say how many stimuli listwise deletion took out of the ICC of each label."""
    for table in tables:
        if table.name != "intraclass_correlation":
            continue
        dropped = table.frame.filter(pl.col("n_dropped") > 0).unique("label", maintain_order=True)
        for label, n, items in dropped.select("label", "n_dropped", "n_items").iter_rows():
            yield listwise_deletion(label, n, n + items, option("missing", "available"))

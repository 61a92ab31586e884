"""Groups of raters compared by their agreement with people, as published."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, check_choice, check_choices
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact
from affectlab.core.inference import check_confidence, check_n_boot, draw_weights, tails
from affectlab.core.tables import Count, Figure, Interval, Key, Number, PValue, Table
from affectlab.core.types import Floats, pl
from affectlab.core.words import number, p_value, percent, shown
from affectlab.evaluation.rater_comparison.pairs import merged
from affectlab.ratings import HUMAN_KINDS, ModelRatings, Ratings, canonical
from affectlab.reliability import pairwise_kappa
from affectlab.reliability.agreement import KappaResult

Cells: TypeAlias = Literal["raters", "pairs"]

CAUTION = "as published: treats cells as independent, which overstates certainty"


def group_comparison(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    groups: str | Mapping[str, str] | None = None,
    cells: Cells = "raters",
    exclude: Collection[str] = (),
    truncate: bool = False,
    pairs: KappaResult | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Compare groups of raters by Mann-Whitney's U and a bootstrapped difference of means.

    **This is what the EmoNet-Face study does, and not what we recommend.** It takes the kappas of a
    rater on 40 labels as 40 independent observations, though they share stimuli and people, so
    that p-values are too small and intervals too narrow; and a difference that is "not significant"
    is no evidence of equality. :func:`alignment` answers the same question.

    Parameters
    ----------
    ratings, models, exclude, truncate, pairs
        As for ``rater_table``.
    groups
        Groups of models: the name of an attribute of raters (``"family"``, ``"prompt"``), or a
        mapping of model to group. By default all models are one group. People are one group. The
        name ``"kinds"`` compares kinds of pairs (human-human, human-model, model-model).
    cells
        ``"raters"``: one value per rater and label, the mean over the people met. ``"pairs"``: one
        per pair and label.
    n_boot
        Bootstrap replicates, drawn from the cells of each group; 0 for no interval.
    confidence
        Coverage of the interval, in (0, 1).
    seed
        Seed or generator.

    Returns
    -------
    Estimates by ``group_a`` and ``group_b``: the difference of means, a less b, with ``mean_a``,
    ``mean_b``, ``u`` (of group a), ``p`` (two-sided), ``share`` (of pairs of cells in which a is
    higher, ties half), ``n_a`` and ``n_b`` (cells). ``nan`` with a status for an empty group.

    Raises
    ------
    InputError
        When a side is missing, or groups are not known.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4.2 (people less its own models: 0.019,
    p = 0.103) and appendix A.4.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 2, "rater": list("xxxxyyyy"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2]}, scale="0-7")
    >>> model = Ratings({"stimulus": list("abcd"), "rater": ["m"] * 4, "value": [0, 7, 3, 1]},
    ...                 scale="0-7")
    >>> found = group_comparison(people, model, n_boot=0)["people", "models"]
    >>> round(found.value, 3), found.options
    (0.51, ('as published: treats cells as independent, which overstates certainty',))
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_confidence(confidence)
    check_n_boot(n_boot)
    values = group_values(
        ratings,
        models,
        groups=groups,
        cells=cells,
        exclude=exclude,
        truncate=truncate,
        pairs=pairs,
    )
    rng = np.random.default_rng(seed)
    means = {name: _means(values[name], n_boot, rng) for name in sorted(values)}
    rows = [
        {"group_a": a, "group_b": b}
        | _compare(values[a], values[b])
        | _interval(means[a] - means[b], confidence)
        for a, b in combinations(values, 2)
    ]
    import polars as pl

    what = "pairs by labels" if cells == "pairs" or groups == "kinds" else "raters by labels"
    frame = Estimates.of_rows(
        rows,
        ("group_a", "group_b"),
        dict.fromkeys(("mean_a", "mean_b", "u", "p", "share"), pl.Float64)
        | dict.fromkeys(("n_a", "n_b"), pl.Int64),
        statistic=(f"difference of mean kappas over {what}", CAUTION),
        interval=IntervalFact("percentile", ("cells",), replicates=n_boot) if n_boot else None,
        target="cells" if n_boot else "none",
    ).frame
    listed = pl.DataFrame(
        {
            "group": [name for name, given in values.items() for _ in given],
            "value": [value for given in values.values() for value in given.tolist()],
        },
        schema={"group": pl.String, "value": pl.Float64},
    )
    tables = (
        Table("groups", "Groups compared.", frame, _COLUMNS),
        Table("values", "The kappas that are compared.", listed, _VALUES, limit=0),
    )
    tested = frame.filter(pl.col("p").is_not_nan())
    sentences = tuple(_sentence(row, confidence) for row in tested.iter_rows(named=True))
    figure = _figure(tested, values)
    return Estimates(tables, sentences, (figure,), (_NOTE,))


_NOTE = "As published: cells are taken as independent, which overstates certainty."
_VALUES = (Key("group"), Number("value", "kappa"))
_COLUMNS = (
    Key("group_a", "group"),
    Key("group_b", "less"),
    Number("mean_a", "mean", decimals=3, spare=True),
    Number("mean_b", "other mean", decimals=3, spare=True),
    Number("value", "difference", decimals=3),
    Interval(decimals=3),
    Count("u", "U", spare=True),
    PValue("p"),
    Count("n_a", "values", spare=True),
    Count("n_b", "other values", spare=True),
)


def _sentence(row: Mapping[str, Any], confidence: float) -> str:
    interval = ""
    if row["low"] == row["low"]:
        ends = f"{number(row['low'], 3)} to {number(row['high'], 3)}"
        interval = f", {percent(confidence)} interval {ends}"
    return (
        f"{shown(row['group_a'])} less {shown(row['group_b'])}: difference of means "
        f"{number(row['value'], 3)}{interval}, Mann-Whitney U p {p_value(row['p'])}."
    )


def _figure(tested: pl.DataFrame, values: Mapping[str, Floats]) -> Figure:
    """Declare the boxes of all groups, with what was found between them."""
    medians = (
        f"{name} {number(float(np.median(given)))}" for name, given in values.items() if given.size
    )
    brackets = []
    for row in tested.iter_rows(named=True):
        # Groups of models are compared with people; between them the table says it.
        if len(values) > 3 and row["group_a"] != next(iter(values)):
            continue
        text = f"Δ {number(row['value'], 3)}"
        if row["low"] == row["low"]:
            text += f"\n[{number(row['low'], 3)}, {number(row['high'], 3)}]"
        brackets.append((row["group_a"], row["group_b"], f"{text}\np {p_value(row['p'])}"))
    return Figure(
        "groups",
        "groups_compared",
        of="values",
        title="Agreement with people, by group",
        caption="As published: p-values take cells as independent.",
        description=f"Medians: {', '.join(medians)}. {_NOTE}",
        options={
            "group": "group",
            "groups": tuple(values),
            "value_name": "kappa",
            "comparisons": tuple(brackets),
        },
    )


def group_values(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    groups: str | Mapping[str, str] | None = None,
    cells: Cells = "raters",
    exclude: Collection[str] = (),
    truncate: bool = False,
    pairs: KappaResult | None = None,
) -> dict[str, Floats]:
    """Give the kappas that ``group_comparison`` compares, group by group, people first."""
    check_choice("cells", cells, ("raters", "pairs"))
    import polars as pl

    table = merged(ratings, models, exclude=exclude, truncate=truncate)
    found = pairwise_kappa(table, cluster="none") if pairs is None else pairs
    if groups == "kinds":
        kinds = ("human-human", "human-model", "model-model")
        present = set(found.pair_kind.unique())
        return {
            kind: found.of_kind(kind).filter(pl.col("status") == "ok")["value"].to_numpy()
            for kind in kinds
            if kind in present
        }
    of_model = groups_of(table, groups)
    with_people = found.with_people()
    if cells == "raters":
        with_people = with_people.group_by("rater", "label", maintain_order=True).agg(
            pl.col("value").mean(), other=pl.lit("")
        )
    frame = with_people.with_columns(
        group=pl.col("rater").replace_strict(
            dict.fromkeys(found.people, "people") | of_model, default=None
        )
    ).filter(pl.col("group").is_not_null())
    if cells == "pairs":
        # Each pair of people stands in the table of both.
        twice = pl.col("group") == "people"
        frame = frame.filter(~twice | (pl.col("rater") < pl.col("other")))
    names = ["people", *dict.fromkeys(of_model.values())]
    return {name: frame.filter(pl.col("group") == name)["value"].to_numpy() for name in names}


def groups_of(table: Ratings, groups: str | Mapping[str, str] | None) -> dict[str, str]:
    """Give the group of each model."""
    names = [
        name
        for name, kind in zip(table.rater_names, table.rater_kinds, strict=True)
        if kind not in HUMAN_KINDS
    ]
    if groups is None:
        return dict.fromkeys(names, "models")
    if isinstance(groups, str):
        attributes = [name for name in table.raters.columns if name not in ("rater", "rater_kind")]
        check_choice("attribute of raters", groups, attributes, "groups")
        column = dict(zip(table.raters["rater"], table.raters[groups], strict=True))
        if all(column[name] is None for name in names):
            raise InputError(
                f"groups {groups!r}: no model has this attribute; expected it as a column of the "
                "models' answers or in a table of raters that names the models"
            )
        return {name: "none" if column[name] is None else str(column[name]) for name in names}
    check_choices("model", groups, names, "groups")
    if "people" in groups.values():
        raise InputError(
            "groups: 'people' is the group of people; expected another name for models"
        )
    return {name: groups[name] for name in names if name in groups}


def _compare(a: Floats, b: Floats) -> dict[str, Any]:
    from scipy.stats import mannwhitneyu

    row = {
        **dict.fromkeys(("value", "mean_a", "mean_b", "u", "p", "share"), math.nan),
        "n_a": a.size,
        "n_b": b.size,
        "n_items": a.size + b.size,
        "reason": Cause.GROUP_WITHOUT_KAPPA,
    }
    if not (a.size and b.size):
        return row
    test = mannwhitneyu(a, b, alternative="two-sided")
    return row | {
        "value": float(a.mean() - b.mean()),
        "mean_a": float(a.mean()),
        "mean_b": float(b.mean()),
        "u": float(test.statistic),
        "p": float(test.pvalue),
        "share": float(test.statistic / (a.size * b.size)),
        "reason": None,
    }


def _means(values: Floats, n_boot: int, rng: np.random.Generator) -> Floats:
    if not (n_boot and values.size):
        return np.full(max(n_boot, 1), np.nan)
    # Sorted, so that the draws do not depend on the order in which raters are listed.
    values = np.sort(values)
    parts = [weights @ values / values.size for weights in draw_weights(rng, values.size, n_boot)]
    return np.concatenate(parts)


def _interval(differences: Floats, confidence: float) -> dict[str, float]:
    if differences.size < 2 or np.isnan(differences).any():
        return dict.fromkeys(("se", "low", "high"), math.nan)
    low, high = np.quantile(differences, tails(confidence))
    return {"se": float(differences.std(ddof=1)), "low": float(low), "high": float(high)}

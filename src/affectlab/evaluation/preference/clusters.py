"""Which items, and which judges, belong together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.inference import Target
from affectlab.core.jackknife import Jackknife, LeaveOneOut, Part
from affectlab.core.types import Floats, Ints
from affectlab.evaluation.preference import wording
from affectlab.evaluation.preference.choices import Comparisons
from affectlab.ratings import Ratings

PAIR = "pair"
"""Column that says which image and caption an item is about."""
_NAME = "name of the item"


def item_table(items: Ratings | pl.DataFrame) -> pl.DataFrame:
    """Say what is known of every item: columns of its stimulus, and its emotion.

    Where answers have labels, an item is a stimulus with a label; then ``pair`` is the stimulus and
    ``emotion`` the label, unless the table of stimuli says otherwise. Its column ``item`` gives way
    to the names of the items.
    """
    return _table_of(items, "item") if isinstance(items, Ratings) else items


def _table_of(ratings: Ratings, key: str) -> pl.DataFrame:
    """Make the table of items, named in the column `key`."""
    stimuli = ratings.stimuli.drop(key, strict=False)
    if ratings.n_labels == 1 or not ratings.has_labels:
        return stimuli.rename({"stimulus": key})
    names = ratings.stimulus_names
    made = pl.DataFrame(
        {
            key: [f"{name}: {label}" for name in names for label in ratings.label_names],
            "stimulus": [name for name in names for _ in ratings.label_names],
            PAIR: [name for name in names for _ in ratings.label_names],
            "emotion": [label for _ in names for label in ratings.label_names],
        },
        schema_overrides={key: pl.String, "stimulus": pl.String, PAIR: pl.String},
    )
    said = [name for name in (PAIR, "emotion") if name in stimuli.columns]
    return made.drop(said).join(stimuli, on="stimulus", how="left")


def item_columns(
    given: pl.DataFrame | Ratings | None, wanted: Collection[str] | None = None
) -> dict[str, dict[str, str]]:
    """Give columns of the table of items by name and item; what is empty is an empty text.

    Parameters
    ----------
    wanted
        Columns to give where there are such; by default all.
    """
    if given is None:
        return {}
    if isinstance(given, Ratings):
        # Stimuli may have a column ``item``, such as a question about which pairs are compared.
        key, items = _NAME, _table_of(given, _NAME)
    else:
        key, items = "item", given
        require_columns(items, [key], "items: ")
        require_distinct(items, [key], "items: ")
    names = items[key].cast(pl.String).to_list()
    return {
        column: dict(zip(names, items[column].cast(pl.String).fill_null("").to_list(), strict=True))
        for column in items.columns
        if column != key
        and (wanted is None or column in wanted)
        and not items[column].dtype.is_nested()
    }


def column_of(columns: Mapping[str, dict[str, str]], name: str) -> dict[str, str]:
    """Give one of the columns of items.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in columns:
        known = ", ".join(sorted(columns)[:12]) or "no column"
        raise InputError(
            f"nothing says the {name!r} of the items; expected a column of the scores or of the "
            f"table of items, which have: {known}"
        )
    return columns[name]


def cluster_column(columns: Mapping[str, dict[str, str]], cluster: str | None) -> str | None:
    """Name the column that says which items belong together; ``"auto"``: ``pair``, if there."""
    if cluster == "auto":
        return PAIR if PAIR in columns else None
    return cluster


def cluster_codes(items: Sequence[str], of_item: Mapping[str, str] | None) -> Ints:
    """Give the code of what each item belongs to; an item of which nothing is said is by itself.

    Examples
    --------
    >>> cluster_codes(["a", "b", "c", "d"], {"a": "p", "b": "", "c": "p"}).tolist()
    [0, 1, 0, 2]
    """
    belongs = of_item or {}
    # Pairs, so that an item that is called like a cluster is not taken for it.
    keys = [(1, belongs[name]) if belongs.get(name) else (2, name) for name in items]
    code = {key: k for k, key in enumerate(sorted(set(keys)))}
    return np.array([code[key] for key in keys], dtype=np.int64)


def vote_clusters(
    ratings: Ratings, votes: Comparisons, cluster: str | None, judge_cluster: str | None
) -> tuple[Ints, Ints]:
    """Give the codes of what the item, and the judge, of each vote belong to.

    Parameters
    ----------
    cluster
        Column of the stimuli; ``"auto"``: ``pair``, where there is one; None: each item is by
        itself.
    judge_cluster
        Column of the raters; None: each judge is by themselves.
    """
    item, judge = votes.item, votes.judge
    several = ratings.has_labels and ratings.n_labels > 1
    if cluster == "auto" and not several and PAIR not in ratings.stimuli.columns:
        cluster = None
    if cluster is not None:
        columns = item_columns(ratings, (PAIR,) if cluster == "auto" else None)
        cluster = cluster_column(columns, cluster)
    if cluster is not None:
        item = cluster_codes(votes.items, column_of(columns, cluster))[item]
    if judge_cluster is not None:
        raters = ratings.raters.cast(pl.String)
        if judge_cluster not in raters.columns:
            known = [name for name in raters.columns if name != "rater"]
            raise unknown_name("judge_cluster", judge_cluster, known)
        belongs = raters.select("rater", pl.col(judge_cluster).fill_null("")).iter_rows()
        judge = cluster_codes(votes.judges, dict(belongs))[judge]
    return item, judge


CLUSTERS = {"stimuli": ("items",), "raters": ("judges",), "both": ("items", "judges")}
"""What is left out, or drawn, by the target of an interval."""


def about_target(target: Target) -> tuple[str, ...]:
    """Say what intervals are about; nothing where there are none."""
    return (wording.target(target),) if target in CLUSTERS else ()


def without_each(
    target: Target,
    item: Ints,
    judge: Ints,
    value: Floats,
    without: Callable[[Ints], tuple[Floats, Ints]],
) -> Jackknife:
    """Leave out one cluster of items, of judges, or either, after the other.

    What one judge says of one item is counted with both, and taken off once.

    Parameters
    ----------
    item, judge
        Code of what the item, and the judge, of each vote belong to, shape (votes,).
    value
        The estimates, shape (estimates,).
    without
        Gives the estimates without each cluster from the code of the cluster of each vote, shape
        (kinds, estimates); and how many clusters there are of each kind.
    """
    either = item * (judge.max(initial=0) + 1) + judge
    ways: tuple[tuple[Part, Ints], ...] = ("stimuli", item), ("raters", judge), ("answers", either)
    left_out = {"sample": (), "stimuli": ways[:1], "raters": ways[1:2], "both": ways}[target]
    parts = []
    for what, code in left_out:
        values, times = without(code)
        parts.append(LeaveOneOut(what, values, np.ones(values.shape, np.bool_), times=times))
    return Jackknife(value, tuple(parts), fewest_raters=2)

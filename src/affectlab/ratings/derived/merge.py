"""Putting the answers of several tables into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.attributes import combine_tables
from affectlab.ratings.build import check_columns
from affectlab.ratings.derived.holdings import RatingsBase, Table
from affectlab.ratings.files import Place
from affectlab.ratings.scale import Scale
from affectlab.ratings.scales import DeclaredScales
from affectlab.ratings.schema import DEFAULTS, StepKind
from affectlab.ratings.steps import History, step
from affectlab.taxonomy import Taxonomy


def merge(first: Table, *others: Table) -> Table:
    """Put several tables into one, in which each label is on one scale.

    Names keep the order of the first table, then that of the next. Attributes of the same rater or
    stimulus are put together. A scale that was inferred in every table is inferred again; one table
    whose scales are declared stays as it is.

    Raises
    ------
    InputError
        When scales, taxonomies or attributes contradict each other, when only some tables have
        labels, or when a rater answers the same question in two tables.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> people = Ratings({"stimulus": ["a"], "rater": ["ann"], "value": [3]}, scale="0-7")
    >>> model = Ratings({"stimulus": ["a"], "rater": ["gpt"], "value": [5]}, scale="0-7")
    >>> merge(people, model).rater_names
    ('ann', 'gpt')
    """
    if not others and all(scale.declared for scale in first.scales.values()):
        return first
    tables = (first, *others)
    if len({table.has_labels for table in tables}) > 1:
        raise InputError(_labels_apart(tables))
    scales, values = _common_scales(tables)
    taxonomy, steps = _common_taxonomy(tables)
    frames = [
        table.to_frame().with_columns(value=pl.Series(value, dtype=pl.Float64).fill_nan(None))
        for table, value in zip(tables, values, strict=True)
    ]
    merged = pl.concat(frames, how="diagonal_relaxed")
    for name, default in DEFAULTS.items():
        if name in merged.columns:
            merged = merged.with_columns(pl.col(name).fill_null(default))
    ends = np.cumsum([table.n_rows for table in tables])

    def locate(row: int) -> Place:
        table = int(np.searchsorted(ends, row, side="right"))
        start = int(ends[table - 1]) if table else 0
        return Place(f"table {table + 1}, row {row - start + 1}")

    checked = check_columns(
        {name: merged[name] for name in merged.columns},
        scale=scales,
        taxonomy=taxonomy,
        locate=locate,
        coded=True,
    ).reordered(
        stimulus=[name for table in tables for name in table.stimulus_names],
        rater=[name for table in tables for name in table.rater_names],
        label=[name for table in tables for name in table.label_names]
        if taxonomy is None
        else list(taxonomy.labels),
    )
    return type(first)._from_checked(
        replace(checked, set_aside=tuple(part for table in tables for part in table.set_aside)),
        combine_tables("rater", [table.raters for table in tables]),
        combine_tables("stimulus", [table.stimuli for table in tables]),
        source="; ".join(dict.fromkeys(table.source for table in tables if table.source)),
        history=(*(one for table in tables for one in table.history), *steps),
        split=False,
    )


def _labels_apart(tables: Sequence[RatingsBase]) -> str:
    """Name a table with labels and one without."""
    named = [
        next(t.source or f"table {k}" for k, t in enumerate(tables, 1) if t.has_labels == has)
        for has in (True, False)
    ]
    return (
        f"some tables have labels and some have none: {named[0]} has an answer to each of several "
        f"labels, {named[1]} one answer for each stimulus; expected the same in all: use the two "
        "kinds in calls of their own"
    )


def _common_scales(tables: tuple[RatingsBase, ...]) -> tuple[DeclaredScales, list[np.ndarray]]:
    """Find the scale of each label, none to infer it, and the values of each table on them."""
    values = [table.value for table in tables]
    labels = dict.fromkeys(name for table in tables for name in table.label_names)
    several = any(len(set(table.scales.values())) > 1 for table in tables)
    known: dict[str, Scale] = {}
    for label in labels:
        scales = [table.scales[label] for table in tables if label in table.scales]
        common = _common_scale(scales, f" of {label!r}" if several else "")
        if common is not None:
            known[label] = common
        if any(scale.kind == "nominal" for scale in scales):
            assert common is not None
            values = [
                _moved(table, label, value, common)
                for table, value in zip(tables, values, strict=True)
            ]
    declared = dict.fromkeys(scale for scale in known.values() if scale.declared)
    one = next(iter(declared), None)
    if (
        not several
        and len(declared) == 1
        and one is not None
        and one.kind not in ("nominal", "text")
    ):
        # What one table declares holds for the labels of others, too, where they say nothing else.
        return DeclaredScales(one, known), values
    return DeclaredScales(None, known), values


def _common_scale(scales: list[Scale], of: str) -> Scale | None:
    """Find the scale of one label in several tables, None to infer it."""
    declared = dict.fromkeys(replace(scale, declared=True) for scale in scales if scale.declared)
    kinds = {scale.kind for scale in scales}
    mixed = len(kinds) > 1 and kinds & {"nominal", "text"}
    if len(declared) > 1 or mixed:
        told = [scale for scale in scales if scale.declared or mixed]
        found = "; ".join(dict.fromkeys(map(str, told)))
        raise InputError(f"the tables have different scales{of} ({found}); expected the same scale")
    scale = next(iter(declared), None)
    if kinds != {"nominal"}:
        return scale
    # An index means another category in each inferred scale, so the names decide.
    names = tuple(dict.fromkeys(name for one in scales for name in one.categories))
    if scale is None:
        return replace(Scale.nominal(names), declared=False)
    for name in names:
        if name not in scale.categories:
            raise InputError(f"category {name!r} is off the scale; expected {scale}")
    return scale


def _moved(table: RatingsBase, label: str, value: np.ndarray, scale: Scale) -> np.ndarray:
    """Give the values of a table with those of one label as positions on a nominal scale."""
    if label not in table.scales or table.scales[label].categories == scale.categories:
        return value
    own = [float(scale.categories.index(name)) for name in table.scales[label].categories]
    rows = (table.label_code == table.label_names.index(label)) & ~np.isnan(value)
    moved = value.copy()
    moved[rows] = np.array(own)[value[rows].astype(np.intp)]
    return moved


def _common_taxonomy(tables: tuple[RatingsBase, ...]) -> tuple[Taxonomy | None, History]:
    """Find the taxonomy of all tables; it is given up, and said so, when labels lie outside it."""
    found: list[Taxonomy] = []
    for table in tables:
        if table.taxonomy is not None and table.taxonomy not in found:
            found.append(table.taxonomy)
    if len(found) > 1:
        names = " and ".join(f"{taxonomy.name} ({taxonomy.version})" for taxonomy in found[:2])
        raise InputError(
            f"the tables have different taxonomies ({names}); expected the same, see "
            "affectlab.taxonomy.map_labels"
        )
    if not found:
        return None, ()
    taxonomy = found[0]
    outside = [
        name
        for table in tables
        if table.taxonomy is None
        for name in table.label_names
        if name not in taxonomy
    ]
    if not outside:
        return taxonomy, ()
    return None, (step(StepKind.TAXONOMY_DROPPED, taxonomy=taxonomy.name, label=outside[0]),)

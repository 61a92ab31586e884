"""Differences between groups of stimuli, and of raters."""

from __future__ import annotations

import polars as pl

from affectlab.core.tables import Interval, Key, Number, PValue, Table, Text
from affectlab.report import wording
from affectlab.report.page import Section, Skipped
from affectlab.report.statistics import Study


def drawn_at_random(study: Study) -> str:
    """Say what comparisons of groups take as drawn at random."""
    drawn = study.clusters
    compared = {(frame["of"][0], frame["attribute"][0]) for frame in study.differences}
    # Actors that are compared with each other are no sample of actors.
    random = any(of == "stimuli" and name != drawn.column for of, name in compared)
    return f"{drawn.units}, stimuli and raters" if drawn.column and random else "stimuli and raters"


def groups_section(study: Study) -> Section | Skipped:
    """Give the tests of differences between groups."""
    title = "Groups of stimuli and raters"
    if not study.differences:
        return Skipped(title, wording.NO_GROUPS)
    every = pl.concat(study.differences)
    order = every.sort(pl.col("p").fill_nan(None), nulls_last=True, maintain_order=True)
    columns = (
        Key("attribute"),
        Text("of"),
        *([Key("label")] if study.ratings.has_labels else []),
        Key("a", "group"),
        Key("b", "less"),
        Number("value", "difference"),
        Interval(),
        PValue("p"),
        PValue("p_holm", "p (Holm)"),
    )
    caption = wording.differences_caption(drawn_at_random(study))
    return Section("groups", title, (Table("group_differences", caption, order, columns),))

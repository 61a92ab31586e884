"""Where pictures are missing: labels against the people who show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.types import Count
from affectlab.stimuli.prompts.faces import people_of
from affectlab.stimuli.prompts.plan import PromptPlan
from affectlab.stimuli.review import about, typed_decisions

__all__ = ["WHOLE", "CoverageMap", "accepted_images", "awaiting_review", "coverage_map"]

ATTRIBUTES = ("ethnicity", "age", "gender")
WHOLE = "all"
"""Attribute and value of the rows that count a label as a whole."""


@dataclass(frozen=True, eq=False)
class CoverageMap:
    """Counts of prompts and pictures; see :func:`coverage_map`."""

    counts: pl.DataFrame
    """One row per label, attribute and value, and one per label with attribute and value ``all``:
    ``label``, ``attribute``, ``value``, ``n_prompts``, ``n_images``, ``n_accepted``, ``due`` (how
    many accepted pictures are due to the cell), ``under_covered``."""
    per_label: float
    """Accepted pictures that are due to each label."""
    least: float

    def under_covered(self) -> pl.DataFrame:
        """Give the cells that have too few accepted pictures, those lacking most first."""
        return (
            self.counts.filter("under_covered")
            .with_columns(lacking=pl.col("due") - pl.col("n_accepted"))
            .sort("lacking", descending=True, maintain_order=True)
        )

    def table(self, attribute: str, count: str = "n_accepted") -> pl.DataFrame:
        """Give counts of labels (rows) against the values of an attribute (columns).

        Raises
        ------
        InputError
            When there is no such attribute or count.
        """
        known = self.counts["attribute"].unique(maintain_order=True).to_list()
        for name, names in ((attribute, known), (count, self.counts.columns[3:])):
            if name not in names:
                raise InputError(f"{name!r}: expected one of: {', '.join(names)}")
        cells = self.counts.filter(pl.col("attribute") == attribute)
        return cells.pivot("value", index="label", values=count, maintain_order=True)


def accepted_images(images: pl.DataFrame, decisions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Give the pictures that a review kept; without a review all of them.

    Parameters
    ----------
    images
        Manifest of pictures.
    decisions
        What :func:`affectlab.stimuli.review_decisions` decided: ``stimulus`` and ``keep``. Pictures
        that are undecided, or that nobody reviewed, are not accepted; neither are those that were
        made again since, where both tables have their ``sha256``.

    Raises
    ------
    InputError
        When a column is missing, ``keep`` is no truth value, or decisions are about none of the
        pictures.

    Examples
    --------
    >>> images = pl.DataFrame({"stimulus": ["a", "b", "c"]})
    >>> decided = pl.DataFrame({"stimulus": ["a", "b"], "keep": [True, False]})
    >>> accepted_images(images, decided)["stimulus"].to_list()
    ['a']
    """
    if decisions is None:
        return images
    kept = _decided(images, decisions).filter("keep")
    return images.filter(pl.col("stimulus").is_in(kept["stimulus"].implode()))


def awaiting_review(images: pl.DataFrame, decisions: pl.DataFrame | None) -> pl.DataFrame:
    """Give the pictures about which a review has not decided; see :func:`accepted_images`.

    Without a review there are none: all are taken as they are.

    Examples
    --------
    >>> images = pl.DataFrame({"stimulus": ["a", "b", "c"]})
    >>> decided = pl.DataFrame({"stimulus": ["a", "b"], "keep": [True, None]})
    >>> awaiting_review(images, decided)["stimulus"].to_list()
    ['b', 'c']
    """
    if decisions is None:
        return images.clear()
    settled = _decided(images, decisions).filter(pl.col("keep").is_not_null())
    return images.filter(~pl.col("stimulus").is_in(settled["stimulus"].implode()))


def _decided(images: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """Give the decisions about pictures as they are now."""
    typed = typed_decisions(decisions)
    if images.height and not images["stimulus"].is_in(typed["stimulus"].implode()).any():
        raise InputError("the decisions are about none of the pictures; expected their own review")
    return about(typed, images)


def coverage_map(
    prompts: pl.DataFrame,
    images: pl.DataFrame | None = None,
    *,
    decisions: pl.DataFrame | None = None,
    per_label: Count | None = None,
    least: float = 0.8,
    attributes: Sequence[str] = ATTRIBUTES,
    plan: PromptPlan | None = None,
) -> CoverageMap:
    """Count prompts and accepted pictures of each label by ethnicity, age and gender.

    What is *due* to a cell is the pictures due to its label times the share of its value: that of
    the plan, which :func:`fill_prompts` aims at, too, or without a plan that among all prompts, in
    which prompts for what was missing count as well and shift it. A cell is under-covered when it
    has fewer than `least` of what is due to it, and lacks a whole picture at least.

    Parameters
    ----------
    prompts
        All prompts, also those whose pictures failed or were rejected.
    images
        Manifest of the pictures. None: prompts alone are counted, as though each had its picture.
    decisions
        Which pictures a review kept; see :func:`accepted_images`.
    per_label
        Accepted pictures that each label is to have. None: the mean of those that labels have.
    least
        Share of what is due below which a cell is under-covered, above 0 and at most 1.
    attributes
        Columns of the prompts that labels are counted against.
    plan
        Says the shares of genders, ages and ethnicities; a value that it does not name has none,
        and one that no prompt asked for is a cell, too. None: shares among the prompts.

    Raises
    ------
    InputError
        When a column is missing, there are no prompts, or a number is out of range.

    Examples
    --------
    >>> asked = pl.DataFrame({"stimulus": list("abcd"), "label": ["Awe"] * 2 + ["Fear"] * 2,
    ...                       "gender": ["man", "woman"] * 2})
    >>> made = asked.filter(pl.col("stimulus") != "d")
    >>> found = coverage_map(asked, made, per_label=2, attributes=["gender"])
    >>> found.under_covered().select("label", "attribute", "value", "n_accepted").rows()
    [('Fear', 'all', 'all', 1), ('Fear', 'gender', 'woman', 0)]
    """
    if per_label is not None and per_label < 1:
        raise InputError(f"per_label = {per_label}: expected 1 or more")
    if not 0 < least <= 1:
        raise InputError(f"least = {least}: expected a number above 0 and at most 1")
    columns = ["stimulus", "label", *attributes]
    made = prompts if images is None else images
    require_columns(prompts, columns, "the table of prompts: ")
    require_columns(made, columns, "the table of pictures: ")
    if not prompts.height:
        raise InputError("there are no prompts; expected at least one")
    accepted = accepted_images(made, decisions)
    labels = prompts["label"].unique().sort().to_list()
    labels += [one for one in made["label"].unique().sort().to_list() if one not in labels]
    due_to_label = accepted.height / len(labels) if per_label is None else float(per_label)
    planned = {} if plan is None else people_of(plan, len(plan.templates))
    parts = [
        _counted(name, labels, due_to_label, prompts, made, accepted, planned.get(name))
        for name in (WHOLE, *attributes)
    ]
    # A product such as 0.8 * 5 is a hair off 4 in binary.
    few = pl.col("n_accepted") < least * pl.col("due") - 1e-9
    lacking = pl.col("due") - pl.col("n_accepted") >= 1 - 1e-9
    counts = pl.concat(parts).with_columns(under_covered=few & lacking)
    return CoverageMap(counts, due_to_label, least)


def _counted(
    attribute: str,
    labels: list[str],
    due_to_label: float,
    prompts: pl.DataFrame,
    made: pl.DataFrame,
    accepted: pl.DataFrame,
    planned: Mapping[Any, float] | None,
) -> pl.DataFrame:
    """Count the cells of one attribute, empty ones too."""
    value = pl.lit(WHOLE) if attribute == WHOLE else pl.col(attribute).cast(pl.String)
    tables = {
        name: table.select(pl.col("label"), value.alias("value"))
        for name, table in {"n_prompts": prompts, "n_images": made, "n_accepted": accepted}.items()
    }
    values = pl.concat([tables["n_prompts"], tables["n_images"]])["value"]
    weights = {str(value): weight for value, weight in (planned or {}).items()}
    named = pl.Series("value", list(weights), dtype=pl.String)
    values = pl.concat([values, named]).unique().sort()
    cells = pl.DataFrame({"label": labels}).join(values.to_frame(), how="cross")
    for name, table in tables.items():
        count = table.group_by("label", "value").agg(pl.len().cast(pl.Int64).alias(name))
        cells = cells.join(
            count, on=["label", "value"], how="left", nulls_equal=True, maintain_order="left"
        ).with_columns(pl.col(name).fill_null(0))
    share = pl.col("n_prompts").sum().over("value") / pl.col("n_prompts").sum()
    if planned is not None:
        parts = {value: weight / sum(weights.values()) for value, weight in weights.items()}
        share = pl.col("value").replace_strict(parts, default=0.0, return_dtype=pl.Float64)
    return cells.select(
        "label",
        pl.lit(attribute).alias("attribute"),
        pl.col("value").fill_null("not known"),
        "n_prompts",
        "n_images",
        "n_accepted",
        due=due_to_label * share,
    )

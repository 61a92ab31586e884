"""Where pictures are missing: labels against the people who show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from affectlab.errors import InputError

__all__ = ["WHOLE", "CoverageMap", "accepted_images", "coverage_map"]

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
    target: float
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
        that are undecided, or that nobody reviewed, are not accepted.

    Raises
    ------
    InputError
        When a column is missing, or decisions are about none of the pictures.

    Examples
    --------
    >>> images = pl.DataFrame({"stimulus": ["a", "b", "c"]})
    >>> decided = pl.DataFrame({"stimulus": ["a", "b"], "keep": [True, False]})
    >>> accepted_images(images, decided)["stimulus"].to_list()
    ['a']
    """
    if decisions is None:
        return images
    for name in ("stimulus", "keep"):
        if name not in decisions.columns:
            raise InputError(
                f"decisions have no column {name!r}; found: {', '.join(decisions.columns)}"
            )
    keep = decisions["keep"]
    if keep.dtype == pl.String:
        keep = keep.str.to_lowercase().replace_strict(
            {"true": True, "false": False}, default=None, return_dtype=pl.Boolean
        )
    names = decisions["stimulus"].cast(pl.String)
    if images.height and not images["stimulus"].is_in(names.implode()).any():
        raise InputError("the decisions are about none of the pictures; expected their own review")
    kept = names.filter(keep.cast(pl.Boolean).fill_null(False))
    return images.filter(pl.col("stimulus").is_in(kept.implode()))


def coverage_map(
    prompts: pl.DataFrame,
    images: pl.DataFrame | None = None,
    *,
    decisions: pl.DataFrame | None = None,
    target: int | None = None,
    least: float = 0.8,
    attributes: Sequence[str] = ATTRIBUTES,
) -> CoverageMap:
    """Count prompts and accepted pictures of each label by ethnicity, age and gender.

    What is *due* to a cell is the pictures due to its label times the share of its value among all
    prompts, so that a plan's own shares are the measure. A cell is under-covered when it has fewer
    than `least` of what is due to it, and lacks a whole picture at least.

    Parameters
    ----------
    prompts
        All prompts, also those whose pictures failed or were rejected.
    images
        Manifest of the pictures. None: prompts alone are counted, as though each had its picture.
    decisions
        Which pictures a review kept; see :func:`accepted_images`.
    target
        Accepted pictures that each label is to have. None: the mean of those that labels have.
    least
        Share of what is due below which a cell is under-covered, above 0 and at most 1.
    attributes
        Columns of the prompts that labels are counted against.

    Raises
    ------
    InputError
        When a column is missing, there are no prompts, or a number is out of range.

    Examples
    --------
    >>> asked = pl.DataFrame({"stimulus": list("abcd"), "label": ["Awe"] * 2 + ["Fear"] * 2,
    ...                       "gender": ["man", "woman"] * 2})
    >>> made = asked.filter(pl.col("stimulus") != "d")
    >>> found = coverage_map(asked, made, target=2, attributes=["gender"])
    >>> found.under_covered().select("label", "attribute", "value", "n_accepted").rows()
    [('Fear', 'all', 'all', 1), ('Fear', 'gender', 'woman', 0)]
    """
    if target is not None and target < 1:
        raise InputError(f"target = {target}: expected 1 or more")
    if not 0 < least <= 1:
        raise InputError(f"least = {least}: expected a number above 0 and at most 1")
    columns = ["stimulus", "label", *attributes]
    made = prompts if images is None else images
    for name in columns:
        for table, what in ((prompts, "prompts"), (made, "pictures")):
            if name not in table.columns:
                raise InputError(f"the {what} have no column {name!r}")
    if not prompts.height:
        raise InputError("there are no prompts; expected at least one")
    accepted = accepted_images(made, decisions)
    labels = prompts["label"].unique().sort().to_list()
    labels += [one for one in made["label"].unique().sort().to_list() if one not in labels]
    due_to_label = accepted.height / len(labels) if target is None else float(target)
    parts = [
        _counted(name, labels, due_to_label, prompts, made, accepted)
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
) -> pl.DataFrame:
    """Count the cells of one attribute, empty ones too."""
    value = pl.lit(WHOLE) if attribute == WHOLE else pl.col(attribute).cast(pl.String)
    tables = {
        name: table.select(pl.col("label"), value.alias("value"))
        for name, table in {"n_prompts": prompts, "n_images": made, "n_accepted": accepted}.items()
    }
    values = pl.concat([tables["n_prompts"], tables["n_images"]])["value"].unique().sort()
    cells = pl.DataFrame({"label": labels}).join(values.to_frame(), how="cross")
    for name, table in tables.items():
        count = table.group_by("label", "value").agg(pl.len().cast(pl.Int64).alias(name))
        cells = cells.join(
            count, on=["label", "value"], how="left", nulls_equal=True, maintain_order="left"
        ).with_columns(pl.col(name).fill_null(0))
    share = pl.col("n_prompts").sum().over("value") / pl.col("n_prompts").sum()
    return cells.select(
        "label",
        pl.lit(attribute).alias("attribute"),
        pl.col("value").fill_null("not known"),
        "n_prompts",
        "n_images",
        "n_accepted",
        due=due_to_label * share,
    )

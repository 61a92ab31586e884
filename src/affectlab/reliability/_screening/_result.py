"""What screening decided, about whom, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from affectlab.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability._screening._policy import Policy

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Screening"]


@dataclass(frozen=True, eq=False)
class Screening:
    """Verdicts on sessions or raters, with the evidence for each.

    Made by :func:`screen`.
    """

    policy: Policy
    frame: pl.DataFrame
    evidence: pl.DataFrame
    notes: tuple[str, ...]
    """What could not be judged, in sentences."""

    def to_frame(self) -> pl.DataFrame:
        """Give one row per rater, or per session of a rater.

        Returns
        -------
        ``rater``, ``session`` (where sessions are judged), ``n_ratings`` (main answers), ``pay``
        and ``use`` (true: yes), ``block`` (true: the rater may not go on), ``rules``, the names of
        the violated rules, and ``evidence``, their evidence in words.
        """
        return self.frame

    def evidence_frame(self) -> pl.DataFrame:
        """Give one row per rater (and session) and rule.

        Returns
        -------
        ``rater``, ``session`` (where sessions are judged), ``rule``, ``check``, ``measure``, ``n``
        (the answers behind it), ``violated`` (null where the rule could not judge), ``verdicts``
        that the rule bears on, and ``evidence`` in words.
        """
        return self.evidence

    @property
    def per(self) -> str:
        """What was judged: ``session`` or ``rater``."""
        return "session" if "session" in self.frame.columns else "rater"

    def raters_to_drop(self) -> tuple[str, ...]:
        """Raters of whom nothing is used: each of their sessions fails *use*."""
        used = self.frame.group_by("rater", maintain_order=True).agg(pl.col("use").any())
        return tuple(used.filter(~pl.col("use"))["rater"].to_list())

    def blocked(self) -> tuple[str, ...]:
        """Raters who may not go on."""
        return tuple(self.frame.filter("block")["rater"].unique(maintain_order=True).to_list())

    def apply(self, ratings: Ratings) -> Ratings:
        """Leave out the sessions, or raters, whose answers are not to be used.

        Raters that were not screened stay. The step is added to ``history``.

        Raises
        ------
        InputError
            When nothing is left, or sessions were judged and the ratings have none.
        """
        refused = self.frame.filter(~pl.col("use"))
        keys = ["rater", "session"] if self.per == "session" else ["rater"]
        if self.per == "session" and "session" not in ratings.frame.columns:
            raise InputError("sessions were screened, but these ratings have no column 'session'")
        of_row = ratings.frame.select(pl.col(key).cast(pl.String) for key in keys)
        if "session" in keys:
            of_row = of_row.with_columns(pl.col("session").fill_null(""))
        marks = refused.select(keys).with_columns(refused=True)
        marked = of_row.join(marks, on=keys, how="left", maintain_order="left")
        mask = marked["refused"].is_null().to_numpy()
        if not mask.any():
            raise InputError(f"policy {self.policy.name!r} leaves no rating to use")
        what = "sessions" if self.per == "session" else "raters"
        step = (
            f"screening by policy {self.policy.name!r} left out {refused.height:,} of "
            f"{self.frame.height:,} {what} ({int(np.sum(~mask)):,} of {mask.size:,} rows)"
        )
        return ratings.where(mask, step=step)

    def __len__(self) -> int:
        return self.frame.height

    def __repr__(self) -> str:
        pay, use = (int((~self.frame[name]).sum()) for name in ("pay", "use"))
        what = "sessions" if self.per == "session" else "raters"
        return (
            f"Screening({self.policy.name}: {len(self):,} {what}, {pay:,} not paid, {use:,} not "
            f"used, {len(self.blocked()):,} raters blocked)"
        )

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()

    def __rich__(self) -> Table:
        from affectlab._terminal import Table

        table = Table(box=None, header_style="bold")
        keys = ("rater", "session") if self.per == "session" else ("rater",)
        for name in (*keys, "ratings", "pay", "use", "block", "evidence"):
            table.add_column(name, justify="right" if name == "ratings" else "left")
        for row in self.frame.iter_rows(named=True):
            yes = ("yes" if row[name] else "no" for name in ("pay", "use", "block"))
            table.add_row(
                *(row[key] for key in keys), f"{row['n_ratings']:,}", *yes, row["evidence"]
            )
        return table

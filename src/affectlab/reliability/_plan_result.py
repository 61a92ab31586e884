"""The answer to how many raters a study needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.reliability._plan_model import PlanModel

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["Plan"]

_SHOWN = 14


@dataclass(frozen=True, eq=False)
class Plan:
    """How many raters per stimulus reach a goal, and what each number of raters gives.

    Attributes
    ----------
    target
        ``"interval"``, ``"split_half"`` or ``"power"``.
    quantity
        What was simulated, in words.
    goal
        Value that is wanted: at most (interval) or at least (the others).
    recommended
        Smallest number of raters per stimulus that reaches the goal, Monte Carlo error included,
        and from which on all larger ones do; ``None`` where no candidate does.
    recommended_range
        What other pilots of the same size would have recommended: 10 % and 90 % quantile; ``None``
        without a pilot. Its upper end is ``None`` where it lies beyond four times the recommended
        number.
    frame
        One row per candidate; see :meth:`to_frame`.
    model
        The study that was simulated.
    n_sim
        Simulated studies (pairs of stimuli for power).
    n_stimuli
        Stimuli of the study, where said.
    stimuli_per_rater
        Stimuli that one person rates; ``None`` for all.
    price
        Price of one rating, where said.
    """

    target: str
    quantity: str
    goal: float
    recommended: int | None
    frame: pl.DataFrame
    model: PlanModel
    n_sim: int
    n_stimuli: int | None = None
    stimuli_per_rater: int | None = None
    price: float | None = None
    recommended_range: tuple[int, int | None] | None = None

    def to_frame(self) -> pl.DataFrame:
        """Give the table.

        Columns ``raters`` (per stimulus), ``value`` and its Monte Carlo interval ``low`` and
        ``high`` (95 %), ``reached`` (the less favourable end of it reaches the goal), for split
        halves ``corrected`` (Spearman-Brown), and ``ratings``, ``people`` and ``cost`` of the whole
        study, null where the number of stimuli or the price is not said.
        """
        return self.frame

    @property
    def curve(self) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Arrays ``raters``, ``value``, ``low`` and ``high`` for a figure."""
        names = ("raters", "value", "low", "high")
        return {name: self.frame[name].to_numpy().astype(np.float64) for name in names}

    @property
    def words(self) -> str:
        """The recommendation in a sentence or two."""
        at_most = self.target == "interval"
        wanted = f"{'at most' if at_most else 'at least'} {self.goal:g}"
        if self.recommended is None:
            values = self.frame["value"]
            best = values.min() if at_most else values.max()
            raters = [int(n) for n in self.frame["raters"]]
            return (
                f"No number of raters from {raters[0]} to {raters[-1]} per stimulus reaches a "
                f"{self.quantity} of {wanted}; the best is {_number(best)}."
            )
        row = self.frame.row(by_predicate=self._is_recommended(), named=True)
        text = (
            f"{self.recommended} raters per stimulus: {self.quantity} {_number(row['value'])} "
            f"(Monte Carlo {_number(row['low'])} to {_number(row['high'])}), wanted {wanted}."
        )
        if self.recommended_range is not None:
            low, high = self.recommended_range
            end = f"{high}" if high is not None else f"more than {4 * self.recommended}"
            text += f" A pilot of this size leaves {low} to {end} open (80 %)."
        if self.n_stimuli is not None:
            each = self.stimuli_per_rater or self.n_stimuli
            text += (
                f" {row['ratings']:,} ratings of {self.n_stimuli:,} stimuli by {row['people']:,} "
                f"people who rate {'up to ' if self.n_stimuli % each else ''}{each:,} each"
            )
            text += "." if self.price is None else f"; cost {row['cost']:,.2f}."
        return text

    def _is_recommended(self) -> pl.Expr:
        return pl.col("raters") == self.recommended

    def as_dict(self) -> dict[str, Any]:
        """Give the plan as plain data, with ``None`` for ``nan`` (for JSON)."""
        rows = [
            {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in row.items()
            }
            for row in self.frame.iter_rows(named=True)
        ]
        return {
            "target": self.target,
            "quantity": self.quantity,
            "goal": self.goal,
            "recommended": self.recommended,
            "recommended_range": self.recommended_range,
            "words": self.words,
            "model": str(self.model),
            "n_sim": self.n_sim,
            "table": rows,
        }

    def __repr__(self) -> str:
        return f"Plan({self.words})"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        from affectlab._terminal import Table

        table = Table(box=None, header_style="bold")
        names = [name for name in self.frame.columns if self.frame[name].null_count() == 0]
        for name in names:
            table.add_column(name.replace("_", " "), justify="right")
        for row in self.frame.select(names)[self._shown()].iter_rows(named=True):
            style = "bold" if row["raters"] == self.recommended else ""
            table.add_row(*(_cell(value) for value in row.values()), style=style)
        return Group(Text(f"Model: {self.model}"), table, Text(self.words, style="bold"))

    def _shown(self) -> list[int]:
        """Rows for a screen: evenly spread on a log scale, and the recommended one."""
        last = self.frame.height - 1
        rows = set(np.geomspace(1, last + 1, min(_SHOWN, last + 1)).round().astype(int) - 1)
        if self.recommended is not None:
            rows.add(self.frame["raters"].to_list().index(self.recommended))
        return sorted(int(row) for row in rows)


def _number(value: Any) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.3g}"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"

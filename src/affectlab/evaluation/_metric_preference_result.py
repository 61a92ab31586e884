"""What a comparison of metrics with people's preferences found, as tables and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from affectlab._types import Ints
from affectlab._words import count, joined, number, percent, plural
from affectlab.evaluation._preference_judged import JudgedItems

__all__ = ["MetricPreferences"]

_FEW = 10
"""Groups with good, or with poor items, below which a bootstrap of them says little."""


@dataclass(frozen=True, eq=False)
class MetricPreferences:
    """Which metrics see what people prefer.

    Made by :func:`evaluate_preference_metrics`.
    """

    areas: pl.DataFrame
    """``metric``, ``by`` (empty for all items), ``group``, ``value`` (area under the curve, 0 to
    1), ``se``, ``low``, ``high``, ``all_low``, ``all_high``, ``n_together``, ``n_good``,
    ``n_poor``, ``n_clusters``, ``verdict``, ``status``."""
    means: pl.DataFrame
    """``metric``, ``group`` (a verdict, ``good`` or ``poor``), ``value``, ``se``, ``low``,
    ``high``, ``n``, ``status``."""
    differences: pl.DataFrame
    """``metric``, ``other``, ``value`` (difference of the areas), ``se``, ``low``, ``high``,
    ``all_low``, ``all_high``, ``n_together``, ``n``, ``verdict``, ``status``."""
    judged: JudgedItems
    groups: Ints
    """Code of what each row of ``judged`` belongs to, shape (rows,)."""
    n_clusters: int
    """Clusters that were drawn for intervals."""
    cluster: str | None
    """Column that says which items belong together."""
    n_without: int
    """Decided items (or rows of votes) without any score."""
    margin: float | None
    min_size: int
    n_boot: int
    confidence: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which metric sees what people prefer, in plain words.

        Examples
        --------
        >>> from affectlab.evaluation import evaluate_preference_metrics
        >>> table = {"item": list("abcd"), "metric": ["clip"] * 4, "score": [4, 3, 2, 1]}
        >>> said = dict(zip("abcd", ["model", "human", "both", "human"]))
        >>> evaluate_preference_metrics(said, table, n_boot=0).sentences[0]
        'clip: AUC 0.75, without an interval.'
        """
        judged = self.judged
        unit = "item" if judged.unit == "item" else "vote"
        aside = [f"{count(n)} {name}" for name, n in judged.aside.items()]
        said = [self._about(row) for row in self._rows(self.areas) if row["by"] == ""]
        said += [self._between(row) for row in self._rows(self.differences)]
        for by in dict.fromkeys(self.areas["by"].to_list()):
            if by:
                said.append(self._by(by))
        said.append(
            f"{plural(judged.n_good, f'good {unit}')} ({judged.system} chosen, or both), "
            f"{count(judged.n_poor)} poor ({judged.other} chosen); set aside: "
            f"{joined(aside) if aside else 'none'}."
        )
        if self.n_boot and self._few_apart() < _FEW:
            groups = f"{unit}s" if self.cluster is None and unit == "item" else "groups"
            what = (
                f"good or poor {groups}" if groups == "items" else "groups with good or poor ones"
            )
            said.append(
                f"With fewer than {_FEW} {what} intervals are rough; take them as a sign of how "
                "little is known."
            )
        if self.n_without:
            said.append(f"{plural(self.n_without, f'decided {unit}')} without any score.")
        return tuple(said)

    @staticmethod
    def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
        return frame.to_dicts()

    def _about(self, row: dict[str, Any]) -> str:
        if row["status"] != "ok":
            return f"{row['metric']}: {row['status']}."
        if row["low"] != row["low"]:
            return f"{row['metric']}: AUC {number(row['value'])}, without an interval."
        found = (
            f"{row['metric']}: AUC {number(row['value'])} ({number(row['low'])} to "
            f"{number(row['high'])})"
        )
        said = {
            "sees": "sees what people prefer",
            "sees the wrong way round": "scores what people prefer lower",
            "does not show that it sees": "does not show that it sees what people prefer; areas "
            f"up to {number(max(row['high'], 1 - row['low']))} would fit these data",
            "sees no more than the margin": "is within the stated margin of "
            f"{number(self.margin, 3)} from blind",
        }[row["verdict"]]
        if row["verdict"].startswith("sees ") or row["verdict"] == "sees":
            ends = (row["all_low"], row["all_high"])
            if row["verdict"] != "sees no more than the margin" and ends[0] <= 0.5 <= ends[1]:
                said += (
                    f", though not with intervals that hold for all {row['n_together']} metrics at "
                    "once"
                )
        return f"{found}: {said}."

    def _few_apart(self) -> int:
        """Count groups with good or with poor items, whichever are fewer."""
        good = self.judged.good
        return min(len(set(self.groups[side].tolist())) for side in (good, ~good))

    @staticmethod
    def _between(row: dict[str, Any]) -> str:
        pair = f"AUC of {row['metric']} less that of {row['other']}"
        if row["status"] != "ok":
            return f"{pair}: {row['status']}."
        interval = ""
        if row["all_low"] == row["all_low"]:
            # The verdict is read from these ends; with one difference they are its own.
            interval = f" ({number(row['all_low'], 3)} to {number(row['all_high'], 3)}"
            more = row["n_together"] > 1
            interval += f", for all {row['n_together']} differences at once)" if more else ")"
        return f"{pair}: {number(row['value'], 3)}{interval}, {row['verdict']}."

    def _by(self, by: str) -> str:
        rows = [row for row in self._rows(self.areas) if row["by"] == by]
        groups = list(dict.fromkeys(row["group"] for row in rows))
        told = {row["group"] for row in rows if row["status"] == "ok"}
        sees = [f"{row['metric']} for {row['group']}" for row in rows if row["verdict"] == "sees"]
        together = max((row["n_together"] for row in rows), default=0)
        few = len(groups) - len(told)
        left = (
            f" {plural(few, 'has', 'have')} fewer than {self.min_size} good or poor." if few else ""
        )
        if not told:
            return f"By {by}: {plural(len(groups), 'group')}.{left}"
        clear = joined(sees) if sees else "none"
        return (
            f"By {by}: {plural(len(told), 'group')} of {len(groups)} large enough.{left} With "
            f"{percent(self.confidence)} intervals that hold for all {together} areas at once, a "
            f"metric sees it in: {clear}."
        )

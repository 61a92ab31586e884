"""What cross-validation says of a learned metric, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from affectlab._words import count, joined, number, plural
from affectlab.evaluation._metric_preference_rows import area_verdict

__all__ = ["PreferenceReport"]


@dataclass(frozen=True, eq=False)
class PreferenceReport:
    """A learned metric on items that it did not learn from.

    Made by :meth:`PreferenceMetric.cross_validate`.
    """

    areas: pl.DataFrame
    """``method`` (``learned``, ``best single metric``, ``difference``), ``value``, ``se``, ``low``,
    ``high``, ``sd_of_repeats``."""
    chosen: Mapping[str, int]
    """How often each metric was the best single one in training."""
    cs: Mapping[str, int]
    """How often each C was chosen."""
    n_good: int
    n_poor: int
    n_clusters: int
    n_left_out: int
    """Decided items that lack a score of some metric."""
    folds: int
    repeats: int
    n_boot: int
    confidence: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in plain words."""
        rows = {row["method"]: row for row in self.areas.to_dicts()}
        learned, single, ahead = (
            rows[name] for name in ("learned", "best single metric", "difference")
        )
        verdict = area_verdict(learned["low"], learned["high"], None)
        words = {
            "sees": "it sees what people prefer in items that it did not learn from",
            "sees the wrong way round": "it scores what people prefer lower, which is a sign that "
            "there is nothing to learn",
            "does not show that it sees": "it does not show that it sees what people prefer",
            "no interval": "there is no interval",
        }[verdict]
        said = [f"Learned: AUC {_with_ends(learned)}; {words}."]
        names = sorted(self.chosen, key=lambda name: (-self.chosen[name], name))
        total = sum(self.chosen.values())
        those = joined(f"{name} {self.chosen[name]} of {total}" for name in names[:3])
        said.append(
            f"Best single metric, chosen in each training part ({those}): AUC {_with_ends(single)}."
        )
        if ahead["low"] == ahead["low"]:
            better = (
                "learning helps"
                if ahead["low"] > 0
                else "learning does worse"
                if ahead["high"] < 0
                else "no gain from learning is shown"
            )
            said.append(f"Difference: {_with_ends(ahead)}; {better}.")
        said.append(
            f"{plural(self.n_good, 'good item')} and {count(self.n_poor)} poor in "
            f"{plural(self.n_clusters, 'group')}; {self.folds} folds that part no group, "
            f"{plural(self.repeats, 'time')}"
            + (
                f"; {plural(self.n_left_out, 'item')} without all scores left out."
                if self.n_left_out
                else "."
            )
        )
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain values, ``nan`` as None."""
        plain = [
            {key: None if value != value else value for key, value in row.items()}
            for row in self.areas.to_dicts()
        ]
        return {
            "areas": plain,
            "chosen": dict(self.chosen),
            "cs": dict(self.cs),
            "n_good": self.n_good,
            "n_poor": self.n_poor,
            "n_clusters": self.n_clusters,
            "n_left_out": self.n_left_out,
            "folds": self.folds,
            "repeats": self.repeats,
            "n_boot": self.n_boot,
            "confidence": self.confidence,
        }


def _with_ends(row: Mapping[str, Any]) -> str:
    if row["low"] != row["low"]:
        return number(row["value"])
    return f"{number(row['value'])} ({number(row['low'])} to {number(row['high'])})"

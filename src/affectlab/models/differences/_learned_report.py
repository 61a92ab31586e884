"""What a cross-validation found, in tables and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from affectlab._words import joined, number, plural
from affectlab.errors import InputError, unknown_name
from affectlab.models.differences._learned_intervals import (
    FEWEST_ACTORS,
)
from affectlab.models.differences._learned_measure import MEASURES
from affectlab.models.differences._learned_settings import LearnerSettings, learner_settings
from affectlab.models.differences._splits import ActorSplit

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["CrossValidation"]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """How well a learned metric does on actors it was not learned from, beside other metrics."""

    settings: LearnerSettings
    """The learner with what was chosen of it."""
    splits: tuple[ActorSplit, ...]
    frame: pl.DataFrame
    """One row per split, method and group of pairs: ``split``, ``test``, ``method``, ``group``
    (all, intra, inter), ``n_train``, ``n_test``, ``srocc``, ``plcc``, ``rmse`` (of the learned
    metric), ``status``."""
    summary: pl.DataFrame
    """One row per method, group and measure: ``median`` over the splits, ``least`` and ``most`` of
    them, ``se``, ``low`` and ``high`` of the median over actors, ``n_splits``. With 8 actors these
    intervals are a little too narrow: those of 95 % hold the truth in about 89 % of studies."""
    comparison: pl.DataFrame
    """One row per other method, group and measure: ``value``, the median over the splits of the
    learned metric less the other, ``se``, ``low``, ``high``, ``better`` (the interval is above 0),
    and ``wins``, the share of the splits in which the learned metric is ahead."""
    n_pairs: int
    n_boot: int
    confidence: float
    seed: int
    details: tuple[dict[str, Any], ...] = ()
    """What the learner chose in each split."""
    notes: tuple[str, ...] = ()
    data: str = ""
    """Hash of the pairs, scores and embeddings."""
    predictions: pl.DataFrame | None = None
    """What the learned metric says of each pair where its actor was kept aside, the mean over
    these splits: ``stimulus``, ``actor``, ``value``, ``n_splits``. None in a report that was
    read from a folder."""

    @property
    def learner(self) -> str:
        """Name of the learner, as in the tables."""
        return self.settings.learner

    @property
    def actors(self) -> tuple[str, ...]:
        """Actors that some split tests."""
        return tuple(sorted({name for split in self.splits for name in split.test}))

    @property
    def methods(self) -> tuple[str, ...]:
        """The learner, and what it is compared with."""
        return tuple(self.frame["method"].unique(maintain_order=True).to_list())

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of pairs, all of them first."""
        return tuple(self.frame["group"].unique(maintain_order=True).to_list())

    def median(
        self, method: str | None = None, measure: str = "srocc", group: str = "all"
    ) -> float:
        """Give the median over splits, by default that of the learned metric."""
        found = self._row(self.summary, method or self.learner, measure, group)
        return float(found["median"])

    def better_than(
        self, method: str, measure: str = "srocc", group: str = "all"
    ) -> dict[str, Any]:
        """Give the row of :attr:`comparison` with another method."""
        return self._row(self.comparison, method, measure, group)

    def _row(self, table: pl.DataFrame, method: str, measure: str, group: str) -> dict[str, Any]:
        for name, value in (("method", method), ("group", group), ("measure", measure)):
            known = table[name].unique(maintain_order=True).to_list()
            if value not in known:
                raise unknown_name(name, value, known)
        found = table.filter(
            (pl.col("method") == method)
            & (pl.col("group") == group)
            & (pl.col("measure") == measure)
        )
        return found.row(0, named=True)

    def words(self) -> tuple[str, ...]:
        """Say what was found, and what the intervals mean, a sentence each."""
        n = len(self.actors)
        best = self.summary.filter(pl.col("group") == "all", pl.col("method") == self.learner)
        reached = joined(
            f"{row['measure'].upper()} of {number(row['median'], 3)} "
            f"({number(row['least'], 3)} to {number(row['most'], 3)})"
            for row in best.iter_rows(named=True)
        )
        said = [
            f"{self.learner} reaches a median {reached} over "
            f"{plural(len(self.splits), 'split')} of {plural(len(self._everyone), 'actor')}."
        ]
        ranked = self.comparison.filter(pl.col("group") == "all", pl.col("measure") == "srocc")
        for row in ranked.iter_rows(named=True):
            known = row["low"] is not None and row["low"] == row["low"]
            ends = f" ({number(row['low'], 3)} to {number(row['high'], 3)})" if known else ""
            how = f"ranks {'better' if row['better'] else 'not clearly better'} than"
            if not known:
                how = "is set against"
            said.append(
                f"It {how} {row['method']} on the same actors: SROCC apart by "
                f"{number(row['value'], 3)}{ends}, ahead in {row['wins']:.0%} of the splits."
            )
        said.append(
            f"Splits share actors, so {len(self.splits)} of them are no {len(self.splits)} "
            "independent results; intervals draw actors, not pairs or splits, and hold for others "
            "like them."
        )
        if n < FEWEST_ACTORS:
            said.append(f"{plural(n, 'actor')} are too few for an interval.")
        elif self.n_boot and not self._has_intervals:
            said.append(
                "There are no intervals: each split tests so many of the actors that few draws of "
                "actors have a split."
            )
        elif n < 20 and self.n_boot:
            said.append(
                f"{plural(n, 'actor')} are few: intervals are rough, those of the medians "
                "themselves a little too narrow, and what another choice of actors to learn from "
                "would change is in them only in part."
            )
        return tuple(said)

    @property
    def _has_intervals(self) -> bool:
        return bool(self.comparison["low"].is_finite().any())

    @property
    def _everyone(self) -> tuple[str, ...]:
        return tuple(sorted({*self.actors, *(name for s in self.splits for name in s.train)}))

    def to_frame(self) -> pl.DataFrame:
        """Give the row per split, method and group."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, which :meth:`from_dict` reads."""
        return {
            "learner": self.learner,
            "settings": self.settings.to_dict(),
            "splits": [{"train": list(one.train), "test": list(one.test)} for one in self.splits],
            "frame": _plain_rows(self.frame),
            "n_pairs": self.n_pairs,
            "n_boot": self.n_boot,
            "confidence": self.confidence,
            "seed": self.seed,
            "details": list(self.details),
            "notes": list(self.notes),
            "data": self.data,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CrossValidation:
        """Read what :meth:`to_dict` gave.

        Raises
        ------
        InputError
            When a number is out of its range.
        """
        from affectlab.models.differences._learned_summary import report_of

        splits = tuple(
            ActorSplit(tuple(one["train"]), tuple(one["test"])) for one in values["splits"]
        )
        _check_rows(values["frame"])
        n_pairs = values["n_pairs"]
        if isinstance(n_pairs, bool) or not isinstance(n_pairs, int) or n_pairs < 0:
            raise InputError(f"n_pairs = {n_pairs!r}: expected a number of pairs")
        return report_of(
            values["frame"],
            splits,
            learner_settings(values["learner"], values["settings"]),
            n_boot=values["n_boot"],
            confidence=float(values["confidence"]),
            seed=values["seed"],
            details=tuple(dict(one) for one in values["details"]),
            n_pairs=n_pairs,
            notes=tuple(str(one) for one in values["notes"]),
            data=str(values.get("data", "")),
        )

    def __repr__(self) -> str:
        said = ", ".join(f"{method} {number(self.median(method), 3)}" for method in self.methods)
        return f"CrossValidation({plural(len(self.splits), 'split')}, median SROCC: {said})"

    def _repr_html_(self) -> str:
        return self.summary._repr_html_()

    def __rich__(self) -> Table:
        from rich.text import Text

        from affectlab._terminal import Table
        from affectlab._words import shown

        table = Table(box=None, header_style="bold")
        grouped = len(self.groups) > 1
        for name in ("method", *(["pairs"] if grouped else [])):
            table.add_column(name)
        for name in ("SROCC", "range", "PLCC", "range", "SROCC apart", "interval"):
            table.add_column(name, justify="right", no_wrap=True)
        for group in self.groups:
            for method in self.methods:
                cells = []
                for measure in MEASURES:
                    row = self._row(self.summary, method, measure, group)
                    cells += [
                        number(row["median"], 3),
                        f"{number(row['least'], 3)} – {number(row['most'], 3)}",
                    ]
                if method == self.learner:
                    cells += ["", ""]
                else:
                    row = self.better_than(method, "srocc", group)
                    known = row["low"] == row["low"]
                    ends = f"{number(row['low'], 3)} – {number(row['high'], 3)}"
                    cells += [number(row["value"], 3), ends if known else "–"]
                names = [shown(method, 24), *([group] if grouped else [])]
                table.add_row(*(Text(cell) for cell in (*names, *cells)))
        return table


def _check_rows(rows: Any) -> None:
    """Refuse rows of splits with numbers that no cross-validation gives."""
    for row in rows:
        for name, low, high in (("srocc", -1.0, 1.0), ("plcc", -1.0, 1.0), ("rmse", 0.0, 1e6)):
            value = row[name]
            if value is not None and not low - 1e-9 <= value <= high + 1e-9:
                raise InputError(
                    f"split {row['split']}, {name} = {value!r}: expected a number from {low:g} to "
                    f"{high:g}"
                )


def _plain_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, with None for ``nan``."""
    return frame.with_columns(pl.col("srocc", "plcc", "rmse").fill_nan(None)).to_dicts()

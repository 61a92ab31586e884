"""Values of a run beside the published ones, and what they were computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab._types import pl
from affectlab.recipes._published import PublishedFigure, PublishedFigures
from affectlab.recipes._recipe import Finding, PartFailure, RecipeFigure
from affectlab.recipes._table import table_of

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["Comparison", "Reproduction"]


@dataclass(frozen=True)
class Comparison:
    """One published figure beside ours."""

    figure: PublishedFigure
    finding: Finding
    own_data: bool
    """Whether ours comes from the paper's own data; only then is there a verdict."""
    doubt: str = ""
    """Why there is no verdict, where the data are real."""

    @property
    def difference(self) -> float | None:
        """Ours minus published, None when there is no single value of ours."""
        return None if self.finding.value is None else self.finding.value - self.figure.value

    @property
    def verdict(self) -> str:
        """Whether ours fits the published figure, or why nothing can be said.

        ``reproduced``, ``differs``, ``inside bounds``, ``outside bounds`` or ``no verdict: …``.
        """
        if not self.own_data:
            return "no verdict: simulated data"
        if doubt := self.doubt or self.finding.doubt:
            return f"no verdict: {doubt}"
        if self.difference is not None:
            # A tolerance is half a unit of the last printed digit; the sum must not lose to
            # rounding in binary.
            around = self.figure.tolerance + 1e-12
            fits = abs(self.difference) <= around
            low, high = self.finding.low, self.finding.high
            if low is not None and high is not None and not self.finding.sampling:
                # What is drawn or trained several times is as exact as its interval.
                fits = fits or low - around <= self.figure.value <= high + around
            return "reproduced" if fits else "differs"
        if self.finding.low is not None and self.finding.high is not None:
            inside = self.finding.low <= self.figure.value <= self.finding.high
            return "inside bounds" if inside else "outside bounds"
        return f"no verdict: {self.finding.why or 'not part of this run'}"


@dataclass(frozen=True)
class Reproduction:
    """All figures of a paper beside ours, and what they were computed from."""

    paper: PublishedFigures
    rows: tuple[Comparison, ...]
    provenance: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    figures: tuple[RecipeFigure, ...] = ()
    failures: tuple[PartFailure, ...] = ()
    """Parts of the run that failed; figures that they would have given have no value."""

    def save_figures(self, path: str | Path) -> tuple[Path, ...]:
        """Write all figures as PNG and SVG; a recipe without figures writes nothing.

        A picture that leaves its folder still says whether its data are simulated.
        """
        from affectlab.report import save_figure
        from affectlab.report._titled import titled

        return tuple(
            file
            for one in self.figures
            for file in save_figure(
                titled(one.draw(), self._title(one)),
                path,
                one.name,
                title=one.title,
                description=one.description,
            )
        )

    def _title(self, one: RecipeFigure) -> str:
        if self.provenance.get("data") != "simulated" or "simulat" in one.title.lower():
            return one.title
        return f"{one.title} · simulated data"

    def to_frame(self) -> pl.DataFrame:
        """Give one row per figure."""
        import polars as pl

        return pl.DataFrame(
            {
                "key": [row.figure.key for row in self.rows],
                "name": [row.figure.name for row in self.rows],
                "where": [row.figure.where for row in self.rows],
                "published": [row.figure.value for row in self.rows],
                "ours": [row.finding.value for row in self.rows],
                "ours_low": [row.finding.low for row in self.rows],
                "ours_high": [row.finding.high for row in self.rows],
                "difference": [row.difference for row in self.rows],
                "verdict": [row.verdict for row in self.rows],
                "remark": [row.finding.remark for row in self.rows],
                "note": [row.figure.note for row in self.rows],
            },
            schema_overrides=dict.fromkeys(
                ("ours", "ours_low", "ours_high", "difference"), pl.Float64
            ),
        )

    def __rich__(self) -> Group:
        return table_of(self)

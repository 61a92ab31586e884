"""Values of a run beside the published ones, and what they were computed from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.types import pl
from affectlab.core.words import joined, number, plural
from affectlab.recipes.published_figures import PublishedFigure, PublishedFigures
from affectlab.recipes.recipe import Finding, PartFailure, RecipeFigure

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

    from affectlab.core.render.grid import Table


__all__ = [
    "MARK",
    "Comparison",
    "Reproduction",
    "shown_figure",
    "table_of",
]

# The table of a reproduction as a terminal shows it: grouped, without what repeats itself.


MARK = "†"
_NONE = "no verdict"
_STYLES = {"reproduced": "green", "inside bounds": "green"}
_STYLES |= dict.fromkeys(("differs", "outside bounds"), "red")
_PERCENT = "\u00a0%"
_MOST_DIGITS = 4
_MOST_PLACES = 5
_COLUMN = 1 / 3
"""Share of the rows with an interval from which there is a column of them."""


def shown_figure(value: float, figure: PublishedFigure, *, ours: bool = True) -> str:
    """Write a value in the unit of a figure, ours with one digit more than is printed.

    Examples
    --------
    >>> from affectlab.recipes.published_figures import PublishedFigure
    >>> printed = PublishedFigure(
    ...     key="k", name="Kappa", where="Table 1", value=0.282, tolerance=0.0005)
    >>> shown_figure(printed.value, printed, ours=False), shown_figure(0.30149, printed)
    ('0.282', '0.3015')
    """
    if figure.unit == "count":
        return number(value, 0)
    share = figure.unit == "share"
    factor = 100 if share else 1
    digits = _digits(factor * figure.value, factor * figure.tolerance)
    if ours and figure.tolerance:
        digits = max(digits, min(digits + 1, 2 if share else _MOST_DIGITS))
    return number(factor * value, digits) + (_PERCENT if share else "")


def _digits(value: float, tolerance: float) -> int:
    """Digits behind the point that a value was printed with."""
    needed = next(
        (k for k in range(_MOST_DIGITS) if math.isclose(round(value, k), value, rel_tol=1e-9)),
        _MOST_DIGITS,
    )
    told = math.ceil(-math.log10(2 * tolerance) - 1e-9) if tolerance > 0 else 0
    return min(max(needed, told, 0), _MOST_DIGITS)


def table_of(found: Reproduction) -> Group:
    """Show the figures that a run found, by place in the paper, and count the others."""
    from rich.console import Group
    from rich.text import Text

    drawn = [row for row in found.rows if _has_value(row)]
    absent = [row for row in found.rows if not _has_value(row)]
    verdicts = list(dict.fromkeys(row.verdict for row in drawn))
    same = verdicts[0] if len(verdicts) == 1 and verdicts[0].startswith(_NONE) else ""
    reasons = [] if same else [one for one in verdicts if one.startswith(_NONE)]
    parts: list[Table | Text] = [
        Text(found.paper.title, style="bold"),
        Text(found.paper.citation, style="dim"),
        Text(),
    ]
    if drawn:
        parts.append(_table(drawn, "" if same else reasons))
    parts += [Text(line) for line in _below(drawn, absent, same, reasons)]
    return Group(*parts)


def _has_value(row: Comparison) -> bool:
    return row.finding.value is not None or row.finding.low is not None


def _table(rows: Sequence[Comparison], reasons: Sequence[str] | str) -> Table:
    """Draw a table; no reasons (an empty text) leave the column of verdicts out."""
    from rich.padding import Padding
    from rich.text import Text

    from affectlab.core.render.grid import Table

    judged = not isinstance(reasons, str)
    # A column of its own would leave little room for names beside verdicts, or where few need it.
    many = sum(bool(_interval(row)) for row in rows) >= _COLUMN * len(rows)
    intervals = many and not judged
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("figure", overflow="fold")
    table.add_column("published", justify="right", no_wrap=True)
    table.add_column("ours", justify="right", no_wrap=True)
    if intervals:
        table.add_column("interval", justify="right", no_wrap=True)
    table.add_column("difference", justify="right", no_wrap=True)
    if judged:
        table.add_column("verdict", no_wrap=True)
    places: dict[str, list[Comparison]] = {}
    for row in rows:
        places.setdefault(row.figure.where, []).append(row)
    for place, own in places.items():
        table.add_row(Text(f"{place[:1].upper()}{place[1:]}", style="bold dim"))
        for row in own:
            cells: list[RenderableType] = [
                Padding(Text(row.figure.name), (0, 0, 0, 2)),
                _published(row),
                _value(row),
                *([_interval(row)] if intervals else []),
                _difference(row),
                *([_verdict(row, reasons)] if judged else []),
            ]
            table.add_row(*cells, style=_STYLES.get(row.verdict))
            beside = f"ours: {_interval(row)}" if not intervals and _interval(row) else ""
            if below := "; ".join(part for part in (beside, row.finding.remark) if part):
                table.add_row(Padding(Text(below), (0, 0, 0, 4)), style="dim")
    return table


def _published(row: Comparison) -> str:
    # The mark, or its blank, keeps the digits of a column below each other.
    mark = MARK if row.figure.is_marked else " "
    return f"{shown_figure(row.figure.value, row.figure, ours=False)}{mark}"


def _value(row: Comparison) -> str:
    return "" if row.finding.value is None else shown_figure(row.finding.value, row.figure)


def _interval(row: Comparison) -> str:
    if row.finding.low is None or row.finding.high is None:
        return ""
    low, high = (shown_figure(end, row.figure) for end in (row.finding.low, row.finding.high))
    return f"{low.removesuffix(_PERCENT)} to {high}"


def _difference(row: Comparison) -> str:
    if row.difference is None:
        return ""
    told = shown_figure(row.difference, row.figure)
    return told if told.startswith("−") or not any(c in "123456789" for c in told) else f"+{told}"


def _verdict(row: Comparison, reasons: Sequence[str]) -> str:
    if row.verdict not in reasons:
        return row.verdict
    return _NONE + (f" [{reasons.index(row.verdict) + 1}]" if len(reasons) > 1 else "")


def _below(
    drawn: Sequence[Comparison],
    absent: Sequence[Comparison],
    same: str,
    reasons: Sequence[str],
) -> list[str]:
    """Say under the table what would repeat itself in it."""
    lines = [""] if drawn else []
    if same:
        lines.append(f"No row has a verdict: {same.removeprefix(_NONE).lstrip(': ')}.")
    elif len(reasons) == 1:
        lines.append(f"{_sentence(reasons[0])}.")
    else:
        lines += [f"[{k}] {_sentence(one)}." for k, one in enumerate(reasons, start=1)]
    if any(row.figure.unit == "share" and row.difference is not None for row in drawn):
        lines.append("Differences of percentages are in percentage points.")
    if any(row.figure.is_marked for row in drawn):
        lines.append(
            f"{MARK} The printed figure contradicts others of the paper; the notes say how."
        )
    if not absent:
        return lines
    n = len(absent) + len(drawn)
    lines.append(
        f"{len(absent)} of {plural(n, 'published figure')} have no value of ours in this run:"
    )
    causes: dict[str, list[Comparison]] = {}
    for row in absent:
        causes.setdefault(row.finding.why or "not part of this run", []).append(row)
    for why, rows in causes.items():
        places = list(dict.fromkeys(row.figure.where for row in rows))
        if len(places) > _MOST_PLACES:
            more = len(places) - _MOST_PLACES
            places = [*places[:_MOST_PLACES], plural(more, "other place")]
        lines.append(f"- {len(rows)} of {joined(places)}: {why}")
    return lines


def _sentence(verdict: str) -> str:
    return f"{verdict[:1].upper()}{verdict[1:]}"


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
        if self.figure.is_marked and (self.difference is not None or self.finding.low is not None):
            return f"no verdict: the printed figure contradicts others of the paper ({MARK})"
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
        from affectlab.core.render.figure import save_figure, titled

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

    def write(self, path: str | Path) -> Path:
        """Write the rows, what they were computed from, and the figures.

        Parameters
        ----------
        path
            Folder, which is made: ``reproduction.csv``, ``provenance.json``, ``figures/``.

        Returns
        -------
        The folder.
        """
        import json

        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.to_frame().write_csv(folder / "reproduction.csv")
        provenance = json.dumps(self.provenance, indent=2, ensure_ascii=False)
        (folder / "provenance.json").write_text(provenance + "\n", encoding="utf-8")
        self.save_figures(folder / "figures")
        return folder

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
                "inconsistent": [row.figure.inconsistent for row in self.rows],
                "contradicts": [row.figure.contradicts for row in self.rows],
            },
            schema_overrides=dict.fromkeys(
                ("ours", "ours_low", "ours_high", "difference"), pl.Float64
            ),
        )

    def __rich__(self) -> Group:
        return table_of(self)

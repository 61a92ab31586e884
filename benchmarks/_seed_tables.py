"""Values over seeds: means and paired differences with intervals, printed and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import t as student

from affectlab.core.render.grid import Table

Floats = NDArray[np.float64]

MEASURES = ("acc", "acc2", "ecc", "emc")


@dataclass(frozen=True)
class Interval:
    """A mean over seeds, with 95 % of Student's t."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: Floats) -> Interval:
        """Take the mean of values, one for each seed."""
        n = len(values)
        half = float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
        return cls(float(values.mean()), half)

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half

    @property
    def shown(self) -> bool:
        """Whether 0 is outside."""
        return self.low > 0 or self.high < 0

    def value(self) -> str:
        """Write it in percent."""
        return f"{100 * self.mean:.1f} ± {100 * self.half:.1f}"

    def difference(self) -> str:
        """Write it as a difference in points; in bold where 0 is outside."""
        said = f"{100 * self.mean:+.1f} [{100 * self.low:+.1f}, {100 * self.high:+.1f}]"
        return f"**{said}**" if self.shown else said


class Page:
    """What is printed, and written as Markdown."""

    def __init__(self, title: str, path: Path) -> None:
        self.console = Console(width=110)
        self.lines = [f"# {title}", ""]
        self.path = path

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.console.print(f"\n{text}", markup=False)
        self.lines += [text, ""]

    def head(self, title: str) -> None:
        """Add a heading."""
        self.console.print(f"\n{title}", style="bold")
        self.lines += [f"## {title}", ""]

    def add(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        table = Table(box=None, header_style="bold")
        for place, column in enumerate(columns):
            table.add_column(column, justify="right" if place else "left")
        for row in rows:
            table.add_row(*(cell.replace("**", "").replace("[", "\\[") for cell in row))
        self.console.print(table)
        cells = [list(columns), ["---", *["--:"] * (len(columns) - 1)], *map(list, rows)]
        self.lines += [*(f"| {' | '.join(row)} |" for row in cells), ""]

    def write(self) -> None:
        """Write the Markdown."""
        self.path.write_text("\n".join(self.lines).rstrip() + "\n", encoding="utf-8")


def means_table(page: Page, found: Mapping[str, Mapping[str, Floats]], first: str) -> None:
    """Add a row of means for each method; `found` holds values over seeds by method, measure."""
    measures = [name for name in MEASURES if name in next(iter(found.values()))]
    page.add(
        (first, *(name.upper() for name in measures)),
        [
            (name, *(Interval.of(values[measure]).value() for measure in measures))
            for name, values in found.items()
        ],
    )


def paired_table(
    page: Page,
    found: Mapping[str, Mapping[str, Floats]],
    pairs: Sequence[tuple[str, str]],
) -> dict[tuple[str, str], dict[str, Interval]]:
    """Add a row for each pair of methods: the first less the second on the same seeds."""
    measures = [name for name in MEASURES if name in next(iter(found.values()))]
    told = {
        (one, other): {
            measure: Interval.of(found[one][measure] - found[other][measure])
            for measure in measures
        }
        for one, other in pairs
    }
    page.add(
        ("difference on the same seeds", *(name.upper() for name in measures)),
        [
            (f"{one} − {other}", *(told[one, other][measure].difference() for measure in measures))
            for one, other in pairs
        ],
    )
    return told

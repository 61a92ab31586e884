"""Rows at the end of a table that sum up those above, as spreadsheets have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.ratings.build import is_number
from affectlab.ratings.files import Columns
from affectlab.ratings.schema import SetAside

_MEANS = (
    *("average", "avg", "mean", "grand mean", "m", "mos", "ø", "durchschnitt", "mittelwert", "mw"),
    *("moyenne", "moy", "promedio", "media", "média", "gemiddelde", "gem", "średnia", "průměr"),
    *("medelvärde", "medel", "gennemsnit", "gjennomsnitt", "keskiarvo", "ortalama", "átlag"),
    *("среднее", "среднее значение", "μέσος όρος", "平均", "平均值", "平均値", "평균"),
)
_SPREADS = (
    *("sd", "standard deviation", "std", "std. dev.", "stdev", "stddev", "standardabweichung"),
    *("écart-type", "écart type", "desviación estándar", "desviación típica", "desvio padrão"),
    *("deviazione standard", "standaarddeviatie", "标准差", "標準偏差", "표준편차"),
)
_TOTALS = (
    *("grand total", "sum", "total", "totals", "gesamt", "insgesamt", "summe", "somme", "suma"),
    *("soma", "somma", "totale", "totaal", "som", "summa", "razem", "celkem", "toplam", "összesen"),
    *("итого", "сумма", "всего", "σύνολο", "合计", "合計", "总计", "總計", "总和", "합계"),
)
_COUNTS = ("count", "n", "anzahl", "nombre", "número", "numero", "aantal", "liczba", "个数")
_MEDIANS = ("median", "médiane", "mediana", "mediaan", "中位数", "中央値")
_OF_NAME: dict[str, Callable[[NDArray[np.float64]], tuple[float, ...]]] = {
    **dict.fromkeys(_MEANS, lambda given: (given.mean(),)),
    **dict.fromkeys(_SPREADS, lambda given: (given.std(), given.std(ddof=min(1, len(given) - 1)))),
    **dict.fromkeys(_TOTALS, lambda given: (given.sum(), len(given), given.mean())),
    **dict.fromkeys(_COUNTS, lambda given: (len(given),)),
    **dict.fromkeys(_MEDIANS, lambda given: (float(np.median(given)),)),
    "max": lambda given: (given.max(),),
    "maximum": lambda given: (given.max(),),
    "min": lambda given: (given.min(),),
    "minimum": lambda given: (given.min(),),
}
"""What stands in a row of a name: any of these of the numbers above."""
_MOST = 8
_LEAST = 3
"""Rows above and columns of numbers from which on a row can be told by its numbers alone."""
_LARGEST = 1_000_000
"""Cells of a table in which all rows at the end are tried; sheets with sums are not larger."""
_ROUNDED = 0.051
"""Half of the last digit of a number with one decimal."""


def without_totals(given: Columns) -> Columns:
    """Set aside the last rows that are sums or means of the others.

    A name alone says nothing, as ``mean`` may be a word that was rated: all numbers of the row must
    be what the name says of the numbers above, up to rounding to one decimal. A name that is not
    known does where its numbers cannot be answers, see :func:`_can_only_sum_up`.
    """
    frame = list(given.columns.values())
    height = len(frame[0]) if frame else 0
    small = height * len(frame) <= _LARGEST
    for last in range(max(1, height - _MOST), height):
        names = [_name(frame, row) for row in range(last, height)]
        if not all(names):
            continue
        if not all(name in _OF_NAME or (small and name) for name in names):
            continue
        cells = [[_number(column[row]) for column in frame] for row in range(last, height)]
        numbers = [_numbers(column.head(last).cast(pl.String)) for column in frame]
        if all(_sums_up(name, own, numbers) for name, own in zip(names, cells, strict=True)):
            break
    else:
        return given
    aside = SetAside.of(
        "it sums up the rows above", [*range(last, height)], given.place, kind="total"
    )
    columns = {name: column.head(last) for name, column in given.columns.items()}
    return replace(given, columns=columns, set_aside=(*given.set_aside, aside))


def _name(frame: list[pl.Series], row: int) -> str:
    """Give the word that a row begins with; empty where it has a digit, or others stand beside."""
    cells = ["" if column[row] is None else str(column[row]).strip() for column in frame]
    words = [cell for cell in cells if cell and not any(map(str.isdigit, cell))]
    first = next(filter(None, cells), "")
    return first.casefold().rstrip(": ") if words == [first] else ""


def _sums_up(
    name: str, row: Sequence[float | None], above: Sequence[NDArray[np.float64] | None]
) -> bool:
    """Whether numbers of a row are what its name says of those above, or can be nothing else."""
    cells = [
        (cell, numbers)
        for cell, numbers in zip(row, above, strict=True)
        if cell is not None and numbers is not None
    ]
    if (check := _OF_NAME.get(name)) is None:
        return _can_only_sum_up(cells)
    return bool(cells) and all(_is_any(cell, check(numbers)) for cell, numbers in cells)


def _can_only_sum_up(cells: Sequence[tuple[float, NDArray[np.float64]]]) -> bool:
    """Whether numbers are sums beyond all numbers above, or means, and not whole as those are."""
    if len(cells) < _LEAST or min(len(numbers) for _, numbers in cells) < _LEAST:
        return False
    row, every = np.array([cell for cell, _ in cells]), np.concatenate([n for _, n in cells])
    sums = all(_is_any(cell, (numbers.sum(),)) for cell, numbers in cells)
    means = all(_is_any(cell, (numbers.mean(),)) for cell, numbers in cells)
    new = (every == np.rint(every)).all() and (row != np.rint(row)).any()
    return bool((sums and row.min() > every.max()) or (means and new))


def _numbers(text: pl.Series) -> NDArray[np.float64] | None:
    """Give the numbers of a column; None where it holds words."""
    numbers = text.str.strip_chars().str.replace(",", ".", literal=True)
    given = numbers.cast(pl.Float64, strict=False).drop_nulls().drop_nans()
    blank = text.is_null() | (text.str.strip_chars() == "")
    # A code for a missing answer may stand among many numbers, and no number among many words.
    if not len(given) or 2 * len(given) < len(text) - int(blank.sum()):
        return None
    return given.to_numpy()


def _number(cell: object) -> float | None:
    text = "" if cell is None else str(cell).strip().replace(",", ".")
    return float(text) if is_number(text) else None


def _is_any(cell: float, expected: tuple[float, ...]) -> bool:
    return bool(np.isclose(cell, expected, rtol=1e-6, atol=_ROUNDED).any())

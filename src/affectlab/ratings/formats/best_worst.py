"""Best-worst scaling: of some items shown together, which is the best and which the worst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, read_columns
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.pairs import Comparison, pair_contents
from affectlab.ratings.formats.records import Rejects, Unusable, numbered
from affectlab.ratings.formats.table import find_rater, stem_of, words_in
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import step

_BEST, _WORST = {"best", "most"}, {"worst", "least"}
_FEWEST = 3


@file_format(
    "best-worst",
    "best-worst scaling (table: items shown together, the best and the worst of them, a rater)",
)
class BestWorst(Format):
    """A table with a row for each choice of the best and the worst of some items.

    Columns called after ``best`` and ``worst`` (or ``most`` and ``least``) hold what stands in one
    of the columns of items, by whatever name. Each row says of the best that it is before all
    others, and of the worst that all others are before it: these comparisons are what is read, for
    ``preference_scale``. A column of raters may stand beside; without one each row is of a rater of
    its own.

    Source: Kiritchenko and Mohammad (2016), "Capturing Reliable Fine-Grained Sentiment Associations
    by Crowdsourcing and Best-Worst Scaling", whose tuples of four give five pairs each.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> file = Path(tempfile.mkdtemp()) / "tuples.csv"
    >>> _ = file.write_text("item1,item2,item3,best,worst,judge\\na,b,c,b,c,ann\\n")
    >>> r = read_ratings(file)
    >>> r.stimulus_names, [r.scale.categories[int(value)] for value in r.value]
    (('a | b', 'b | c', 'a | c'), ['B', 'A', 'A'])
    """

    layout = Layout(
        {"rater": "judge"}, labels=("best", "worst"), others=("item1", "item2", "item3")
    )

    def recognise(self, head: Peek) -> Sure:
        rows = [dict(zip(head.columns, row, strict=False)) for row in head.first_rows[1:]]
        whole = [row for row in rows if len(row) == len(head.columns)]
        return Sure.if_(whole and _columns(head.columns, whole) is not None)

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:  # noqa: ARG002
        """Say which columns hold items, and which the choices."""
        columns = read_columns(head, on_bad="set_aside").columns
        return self._layout(columns, self._found(head, columns))

    def _layout(
        self, columns: Mapping[str, pl.Series], found: tuple[list[str], str, str]
    ) -> Layout:
        items, best, worst = found
        rater = find_rater([name for name in columns if name not in (*items, best, worst)])
        return Layout(
            {} if rater is None else {"rater": rater},
            labels=(best, worst),
            others=tuple(items),
        )

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Give a row for each pair that a choice decides."""
        read = read_columns(head, on_bad=options.on_bad)
        found_columns = self._found(head, read.columns)
        items, best, worst = found_columns
        rater = self._layout(read.columns, found_columns).roles.get("rater")
        columns = {name: read.columns[name].cast(pl.String) for name in (*items, best, worst)}
        rows = pl.DataFrame(list(columns.values())).rows(named=True)
        if rater is None:
            rejects.steps.append(step(StepKind.ROWS_ARE_RATERS, who="raters"))
            raters: Sequence[str | None] = numbered("rater", len(rows))
        else:
            raters = read.columns[rater].cast(pl.String).to_list()
        found: list[Comparison] = []
        for place, (row, who) in enumerate(zip(rows, raters, strict=True)):
            try:
                found += _compared(place, row, who, items, best, worst)
            except Unusable as problem:
                rejects.note(read.place(place), problem)
        pairs = [(one.judge, *sorted((one.first, one.second))) for one in found]
        if len({*pairs}) < len(pairs):
            # The same two may stand in several sets of items.
            found = [replace(one, beside={"trial": one.row + 1}) for one in found]
        contents = pair_contents(found, read.locate, path=head.path)
        contents.set_aside = read.set_aside
        return contents

    def _found(self, head: Peek, columns: Mapping[str, pl.Series]) -> tuple[list[str], str, str]:
        rows = pl.DataFrame([one.cast(pl.String).head(200) for one in columns.values()])
        found = _columns(rows.columns, rows.rows(named=True))
        if found is None:
            raise InputError(
                f"{head.path}: expected a column of the best and one of the worst, and at least "
                f"{_FEWEST} columns in which these stand; found: {', '.join(columns)}"
            )
        return found


def _columns(
    names: Sequence[str], rows: Sequence[Mapping[str, str | None]]
) -> tuple[list[str], str, str] | None:
    """Find the columns of items, of the best and of the worst."""
    best, worst = ([name for name in names if kind & {*words_in(name)}] for kind in (_BEST, _WORST))
    if len(best) != 1 or len(worst) != 1:
        return None
    chosen = {row[name] for row in rows for name in (best[0], worst[0])} - {None, ""}
    others = [name for name in names if name not in (*best, *worst)]
    holding = [name for name in others if chosen & {row[name] for row in rows}]
    stems = {stem_of(name) for name in holding}
    items = [name for name in others if name in holding or stem_of(name) in stems]
    shown = [{row[name] for name in items} for row in rows]
    fits = all(
        {row[best[0]], row[worst[0]]} - {None, ""} <= one
        for row, one in zip(rows, shown, strict=True)
    )
    return (items, best[0], worst[0]) if len(items) >= _FEWEST and fits else None


def _compared(
    place: int,
    row: Mapping[str, str | None],
    rater: str | None,
    items: Sequence[str],
    best: str,
    worst: str,
) -> Iterator[Comparison]:
    """Give the pairs that a choice decides."""
    first, last = row[best], row[worst]
    shown = [one for name in items if (one := row[name])]
    if not (rater and first and last):
        raise Unusable("an empty cell", "a cell is empty; expected a rater, the best and the worst")
    if first == last or not {first, last} <= {*shown}:
        raise Unusable(
            "choice not understood",
            f"the best is {first!r} and the worst {last!r}; expected two of {', '.join(shown)}",
        )
    others = [one for one in shown if one not in (first, last)]
    pairs = [(first, one) for one in (*others, last)] + [(one, last) for one in others]
    return (
        Comparison(row=place, first=winner, second=loser, judge=rater, choice=True)
        for winner, loser in pairs
    )

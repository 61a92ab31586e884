"""Models and people in one table, from a folder of result files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.result import Result
from affectlab.core.tables import Interval, Key, Number, Share, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, number, plural, shown, some
from affectlab.evaluation.rankings.result_file import DataSet, Metric, ResultFile, read_result

# Ranks that intervals allow, and where a value stands against people.


def possible_ranks(
    value: ArrayLike, low: ArrayLike, high: ArrayLike, *, higher_is_better: bool = True
) -> tuple[Ints, Ints]:
    """Give the best and the worst rank that the intervals allow.

    One is certainly better than another where its interval lies wholly above the other's. That is
    careful: of two whose intervals overlap a little, a paired comparison may still tell which is
    better.

    Parameters
    ----------
    value, low, high
        Shape (n,); where there is no interval (``nan``) the value stands for both ends.
    higher_is_better
        Whether the highest value is ranked first.

    Returns
    -------
    best, worst
        Shape (n,), 1 for the first; 0 where the value is ``nan``.

    Examples
    --------
    >>> best, worst = possible_ranks([0.7, 0.5, 0.48], [0.6, 0.4, 0.4], [0.8, 0.55, 0.52])
    >>> best.tolist(), worst.tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    point = np.asarray(value, dtype=np.float64)
    ends = [np.asarray(end, dtype=np.float64) for end in (low, high)]
    lower, upper = (np.where(np.isnan(end), point, end) for end in ends)
    if not higher_is_better:
        lower, upper = -upper, -lower
    known = ~np.isnan(point)
    with np.errstate(invalid="ignore"):
        above = lower[:, None] > upper[None, :]
    best = 1 + above.sum(axis=0)
    worst = known.sum() - above.sum(axis=1)
    return np.where(known, best, 0).astype(np.int64), np.where(known, worst, 0).astype(np.int64)


def against_people(
    value: float, low: float, high: float, people: Floats, *, higher_is_better: bool = True
) -> str:
    """Say where a value and its interval stand against the worst and the best person.

    Parameters
    ----------
    value, low, high
        The value and its interval, ``nan`` where there is none.
    people
        Values of people; those not defined do not count.

    Returns
    -------
    ``above``, ``within``, ``below``, ``upper edge`` or ``lower edge`` (the interval reaches beyond
    the best or the worst person), ``wider`` (beyond both), or nothing where something is missing.

    Examples
    --------
    >>> against_people(0.5, 0.45, 0.55, [0.4, 0.6])
    'within'
    >>> against_people(0.58, 0.5, 0.66, [0.4, 0.6])
    'upper edge'
    """
    known = np.asarray(people, dtype=np.float64)
    known = known[~np.isnan(known)]
    if value != value or not known.size:
        return ""
    lower, upper = (value if end != end else end for end in (low, high))
    if not higher_is_better:
        lower, upper, known = -upper, -lower, -known
    worst, best = float(known.min()), float(known.max())
    if lower > best:
        return "above"
    if upper < worst:
        return "below"
    reaches = (lower < worst, upper > best)
    return {
        (False, False): "within",
        (False, True): "upper edge",
        (True, False): "lower edge",
        (True, True): "wider",
    }[reaches]


# The table of a leaderboard: rows, columns, and where each number stands.


@dataclass(frozen=True)
class Entry:
    """One row: a result file and its name."""

    result: ResultFile
    file: str
    """Name of the file within the folder."""

    @property
    def is_human(self) -> bool:
        """Whether the row is about people."""
        return self.result.kind == "human"


@dataclass(frozen=True)
class Standing:
    """One number of one row, and where it stands."""

    metric: Metric | None
    """None when the file does not have it."""
    rank: tuple[int, int] | None = None
    """The best and the worst rank among models that the intervals allow; people are not ranked."""
    against: str = ""
    """Where it stands against people; see ``against_people``."""

    @property
    def value(self) -> float:
        """The number, ``nan`` where there is none."""
        known = self.metric is not None and self.metric.value is not None
        return float(self.metric.value) if known else float("nan")  # type: ignore[union-attr, arg-type]

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval, ``nan`` where there is none."""
        if self.metric is None or self.metric.low is None or self.metric.high is None:
            return float("nan"), float("nan")
        return self.metric.low, self.metric.high

    @property
    def rank_text(self) -> str:
        """The rank as people write it: ``2`` or ``2–4``."""
        if self.rank is None:
            return ""
        best, worst = self.rank
        return str(best) if best == worst else f"{best}–{worst}"


@dataclass(frozen=True, eq=False)
class Board:
    """All rows on one data set, sorted."""

    data: DataSet
    entries: tuple[Entry, ...]
    """The best first, people among models."""
    metrics: tuple[str, ...]
    """Names of the columns."""
    sort: str
    """The metric by which the rows are sorted."""
    label: str | None = None
    """The label that the numbers are about; None when about all."""

    @cached_property
    def columns(self) -> dict[str, tuple[Standing, ...]]:
        """Metric to one standing per entry."""
        return {name: self._column(name) for name in self.metrics}

    def higher_is_better(self, metric: str) -> bool:
        """Say which end of a metric is the better one."""
        return next(
            found.higher_is_better
            for entry in self.entries
            if (found := entry.result.metric(metric, self.label)) is not None
        )

    def people(self, metric: str) -> dict[str, float]:
        """Give the values of people by role, ``ceiling`` among them; single people by name."""
        found = {}
        for entry in self.entries:
            metric_of = entry.result.metric(metric, self.label)
            if entry.is_human and metric_of is not None and metric_of.value is not None:
                found[entry.result.role or entry.result.name] = metric_of.value
        return found

    def human_range(self, metric: str) -> tuple[float, float] | None:
        """Give the lowest and the highest person, or None without people."""
        values = [value for who, value in self.people(metric).items() if who != "ceiling"]
        return (min(values), max(values)) if values else None

    def _column(self, name: str) -> tuple[Standing, ...]:
        higher = self.higher_is_better(name)
        plain = [Standing(entry.result.metric(name, self.label)) for entry in self.entries]
        value = np.array([cell.value for cell in plain])
        low, high = np.array([cell.interval for cell in plain]).T
        machines = np.flatnonzero([not entry.is_human for entry in self.entries])
        best, worst = possible_ranks(
            value[machines], low[machines], high[machines], higher_is_better=higher
        )
        ranks = {
            int(k): (int(first), int(last))
            for k, first, last in zip(machines, best, worst, strict=True)
            if first
        }
        people = [part for who, part in self.people(name).items() if who != "ceiling"]
        return tuple(
            Standing(
                cell.metric,
                ranks.get(k),
                ""
                if self.entries[k].is_human
                else against_people(
                    value[k], low[k], high[k], np.array(people), higher_is_better=higher
                ),
            )
            for k, cell in enumerate(plain)
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Leaderboard(Result):
    """One board per data set; made by :func:`leaderboard`.

    The table ``leaderboard`` has a row per data set, entry and metric: ``data``, ``name``,
    ``kind``, ``role``, ``version``, ``prompt``, ``metric``, ``label``, ``value``, ``low``,
    ``high``, ``rank_best``, ``rank_worst``, ``against_people``, ``n_items``, ``coverage``,
    ``status``, ``file``. Each board has a table of its own, with a row per entry.
    """

    boards: tuple[Board, ...]
    folder: str = ""


def _rows(board: Board) -> list[dict[str, Any]]:
    rows = []
    for name, column in board.columns.items():
        for entry, cell in zip(board.entries, column, strict=True):
            result, metric = entry.result, cell.metric
            best, worst = cell.rank or (None, None)
            of_metric = ("value", "low", "high", "n_items", "status")
            rows.append(
                {of: getattr(result, of) for of in ("name", "kind", "role", "version", "prompt")}
                | {of: None if metric is None else getattr(metric, of) for of in of_metric}
                | ({"status": "not in the file"} if metric is None else {})
                | {
                    "data": board.data.name,
                    "metric": name,
                    "label": board.label,
                    "rank_best": best,
                    "rank_worst": worst,
                    "against_people": cell.against or None,
                    "coverage": _answered(entry),
                    "file": entry.file,
                }
            )
    return rows


# What a reader should know before comparing the rows of a leaderboard.


_MOST_NAMED = 4
_LIMIT = 80


def several(boards: Sequence[Board]) -> list[str]:
    if len(boards) < 2:
        return []
    names = [f"{board.data.name!r} ({board.data.fingerprint[7:15]}…)" for board in boards]
    said = [
        f"the folder holds results on {len(boards)} data sets, which cannot be compared and have "
        f"tables of their own: {joined(names)}"
    ]
    if len({board.data.name for board in boards}) < len(boards):
        said.append("data sets of one name differ in the answers of people, so they stand apart")
    return said


def cautions(board: Board) -> list[str]:
    where = f"data set {board.data.name!r}"
    said = []
    described = dict.fromkeys(
        (data.name, data.n_stimuli, data.n_raters, data.scale)
        for data in (entry.result.data for entry in board.entries)
    )
    if len(described) > 1:
        said.append(
            f"{where}: files with the same answers of people describe them differently "
            f"({joined(_described(each) for each in list(described)[:_MOST_NAMED])})"
        )
    twice: dict[tuple[str | None, ...], list[str]] = {}
    for entry in board.entries:
        result = entry.result
        key = (result.kind, result.role or result.name, result.version, result.prompt)
        twice.setdefault(key, []).append(entry.file)
    for (_, name, *_), files in twice.items():
        if len(files) > 1:
            said.append(f"{where}: {name!r} stands {len(files)} times, in {joined(sorted(files))}")
    if not any(entry.is_human for entry in board.entries):
        said.append(f"{where}: no row of people, so no number says what a person reaches")
    for name in board.metrics:
        found = [
            metric
            for entry in board.entries
            if (metric := entry.result.metric(name, board.label)) is not None
        ]
        methods = dict.fromkeys(metric.method for metric in found if metric.method)
        if len(methods) > 1:
            ways = joined(repr(shown(method, _LIMIT)) for method in list(methods)[:_MOST_NAMED])
            said.append(f"{where}: {name!r} was computed in different ways: {ways}")
        levels = {metric.confidence for metric in found if metric.low is not None}
        if len(levels) > 1:
            each = joined(f"{100 * level:g} %" for level in sorted(levels))
            said.append(f"{where}: intervals of {name!r} have different confidence: {each}")
    trained = [entry for entry in board.entries if entry.result.n_seen]
    if trained:
        names = some([_named(entry) for entry in trained], _MOST_NAMED)
        were = "was" if len(trained) == 1 else "were"
        said.insert(
            0,
            f"{where}: {names} {were} trained on stimuli of this data set, and "
            f"{'does' if len(trained) == 1 else 'do'} better on these than on new ones",
        )
    partial = [
        entry
        for entry in board.entries
        if (part := entry.result.coverage) is not None and part.n_answered < part.n_stimuli
    ]
    if partial:
        names = some([_named(entry) for entry in partial], _MOST_NAMED)
        said.append(
            f"{where}: {names} answered only part of the stimuli, so numbers may be on easier or "
            "harder ones"
        )
    return said


def _described(data: tuple[str, int, int, str]) -> str:
    name, n_stimuli, n_raters, scale = data
    return f"{shown(name, _LIMIT)!r}: {n_stimuli:,} stimuli, {n_raters:,} people, {scale or '–'}"


def _named(entry: Entry) -> str:
    result = entry.result
    return repr(result.name) + (f" ({result.prompt})" if result.prompt else "")


OnBad = Literal["raise", "set_aside"]


def leaderboard(
    path: str | Path,
    *,
    sort: str | None = None,
    label: str | None = None,
    on_bad: OnBad = "raise",
) -> Leaderboard:
    """Put the result files of a folder into tables, one per data set.

    Results are compared only where the fingerprints of their data sets are the same; a folder that
    holds several gets several tables, and a warning. A model that stands twice is named.

    Parameters
    ----------
    path
        Folder with result files (``*.json``), see :class:`ResultFile`; folders inside it are not
        looked at.
    sort
        Metric to sort by; the first of the first file when not given.
    label
        Show the numbers on this label instead of those on all labels.
    on_bad
        ``"raise"`` stops at the first file that cannot be used; ``"set_aside"`` names such files in
        the warnings and leaves them out.

    Raises
    ------
    InputError
        When the folder holds no result file, a file cannot be used, no file has the metric or the
        label, or two files disagree on which end of a metric is better.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.core.estimates import Estimate
    >>> from affectlab.evaluation import ResultFile, write_result
    >>> from affectlab.evaluation.rankings import DataSet
    >>> folder = tempfile.mkdtemp()
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    >>> for name, value in (("gazer", 0.5), ("starer", 0.3)):
    ...     found = {"kappa": Estimate(value, low=value - 0.05, high=value + 0.05)}
    ...     file = write_result(ResultFile.from_estimates(name, found, data=data), folder)
    >>> board = leaderboard(folder).boards[0]
    >>> [(row.result.name, place.rank_text)
    ...  for row, place in zip(board.entries, board.columns["kappa"])]
    [('gazer', '1'), ('starer', '2')]
    """
    check_choice("on_bad", on_bad, get_args(OnBad))
    entries, warnings = _read(Path(path), on_bad)
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.result.data.fingerprint, []).append(entry)
    _check_names(entries, sort, label)
    boards = []
    for group in groups.values():
        board = _board(group, sort, label)
        if board is None:
            warnings.append(
                f"data set {group[0].result.data.name!r}: no result on "
                + (f"label {label!r}" if label else "all labels together")
            )
            continue
        boards.append(board)
        if len(board.entries) < len(group):
            n = len(group) - len(board.entries)
            what = f"label {label!r}" if label else "all labels together"
            warnings.append(
                f"data set {board.data.name!r}: {plural(n, 'file has', 'files have')} no result on "
                f"{what} and {'is' if n == 1 else 'are'} left out"
            )
        warnings += cautions(board)
    return Leaderboard(
        (_whole(boards), *(_table(board, k) for k, board in enumerate(boards, 1))),
        tuple(map(_sentence, boards)),
        notes=(*several(boards), *warnings),
        settings={
            "sort": sort,
            "label": label,
            "boards": [
                {
                    "data": board.data.model_dump(mode="json"),
                    "sort": board.sort,
                    "metrics": list(board.metrics),
                    "people": {name: board.people(name) for name in board.metrics},
                }
                for board in boards
            ],
        },
        boards=tuple(boards),
        folder=str(path),
    )


def _read(folder: Path, on_bad: OnBad) -> tuple[list[Entry], list[str]]:
    if not folder.is_dir():
        found = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {found}; expected a folder with result files (*.json)")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json")
    if not files:
        raise InputError(f"{folder} holds no result file; expected files that end in .json")
    entries, warnings = [], []
    for path in files:
        try:
            entries.append(Entry(read_result(path), path.name))
        except InputError as error:
            if on_bad == "raise":
                raise
            warnings.append(f"left out: {error}")
    if not entries:
        raise InputError(f"{folder} holds no result file that can be used; {warnings[0]}")
    return entries, warnings


def _check_names(entries: Sequence[Entry], sort: str | None, label: str | None) -> None:
    """Refuse a label or a metric that no file has."""
    metrics = [metric for entry in entries for metric in entry.result.metrics]
    if label is not None and label not in {metric.label for metric in metrics}:
        labels = dict.fromkeys(metric.label for metric in metrics if metric.label)
        raise unknown_name("label", label, labels)
    names = dict.fromkeys(metric.name for metric in metrics if metric.label == label)
    if sort is not None and sort not in names:
        raise unknown_name("metric", sort, names)


def _board(group: Sequence[Entry], sort: str | None, label: str | None) -> Board | None:
    names: dict[str, dict[bool, str]] = {}
    for entry in group:
        for metric in entry.result.metrics:
            if metric.label == label:
                names.setdefault(metric.name, {}).setdefault(metric.higher_is_better, entry.file)
    for name, files in names.items():
        if len(files) > 1:
            raise InputError(
                f"metric {name!r}: higher is better in {files[True]} and worse in {files[False]}; "
                "expected the same in all files"
            )
    if not names:
        return None
    chosen = sort if sort in names else next(iter(names))
    group = [entry for entry in group if any(m.label == label for m in entry.result.metrics)]
    sign = -1.0 if True in names[chosen] else 1.0

    def place(entry: Entry) -> tuple[bool, float, str]:
        found = entry.result.metric(chosen, label)
        missing = found is None or found.value is None
        value = 0.0 if missing else sign * found.value  # type: ignore[union-attr, operator]
        return missing, value, entry.result.name

    ordered = tuple(sorted(group, key=place))
    return Board(group[0].result.data, ordered, tuple(names), chosen, label)


# The tables of a leaderboard.


_SCHEMA = {
    **dict.fromkeys(
        ("data", "name", "kind", "role", "version", "prompt", "metric", "label"), pl.String
    ),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("rank_best", "rank_worst"), pl.Int64),
    "against_people": pl.String,
    "n_items": pl.Int64,
    "coverage": pl.Float64,
    "status": pl.String,
    "file": pl.String,
}


def _whole(boards: Sequence[Board]) -> Table:
    """One row per data set, entry and metric."""
    rows = [row for board in boards for row in _rows(board)]
    frame = pl.DataFrame(rows, schema=_SCHEMA)
    columns = (
        *(Key(name) for name in ("data", "name", "prompt", "metric")),
        Number("value", decimals=3),
        Interval(decimals=3),
        Text("against_people"),
        Share("coverage", "answered"),
        Text("file"),
    )
    return Table("leaderboard", "All numbers.", frame, columns, limit=0)


def _table(board: Board, place: int) -> Table:
    """One row per entry: rank, name, the metric sorted by with its interval, and others."""
    entries, cells = board.entries, board.columns[board.sort]
    others = [name for name in board.metrics if name != board.sort]
    frame = pl.DataFrame(
        {
            "rank": [cell.rank_text for cell in cells],
            "name": [_who(entry) for entry in entries],
            "kind": [entry.result.kind for entry in entries],
            "value": [cell.value for cell in cells],
            "low": [cell.interval[0] for cell in cells],
            "high": [cell.interval[1] for cell in cells],
            "people": [
                "" if e.is_human else c.against for e, c in zip(entries, cells, strict=True)
            ],
            "prompt": [entry.result.prompt or "" for entry in entries],
            "answered": [_answered(entry) for entry in entries],
            **{
                f"metric {k}": [cell.value for cell in board.columns[name]]
                for k, name in enumerate(others, 1)
            },
        },
        schema_overrides={"value": pl.Float64, "answered": pl.Float64},
    )
    digits = {name: _digits(column) for name, column in board.columns.items()}
    optional = (
        Text("people"),
        Text("prompt"),
        *(
            Number(f"metric {k}", shown(name, _LIMIT), decimals=digits[name], spare=True)
            for k, name in enumerate(others, 1)
        ),
        Share("answered", spare=True),
    )
    columns = (
        Text("rank"),
        Key("name"),
        Number("value", shown(board.sort, _LIMIT), decimals=digits[board.sort]),
        Interval(decimals=digits[board.sort]),
        *(column for column in optional if (frame[column.key].cast(pl.String) != "").any()),
    )
    words = joined(shown(name) for name in others) if others else ""
    notes = (f"Other metrics: {words}; a narrow terminal leaves them out.",) if others else ()
    return Table(f"board_{place}", f"{_about(board)}.", frame, columns, notes=notes)


def _about(board: Board) -> str:
    """Say what the numbers of a board are about."""
    data = board.data
    people = ("simulated person", "simulated people") if data.simulated else ("person", "people")
    label = f", label {shown(board.label)}" if board.label else ""
    return (
        f"{shown(data.name)} ({plural(data.n_stimuli, 'stimulus', 'stimuli')}, "
        f"{plural(data.n_raters, *people)}{label}), by {shown(board.sort)}"
    )


def _sentence(board: Board) -> str:
    """Say who leads, and whether that is certain."""
    cells = zip(board.entries, board.columns[board.sort], strict=True)
    judged = [(entry, cell) for entry, cell in cells if cell.rank is not None]
    if not judged:
        return f"{_about(board)}: no model has a value."
    entry, cell = judged[0]
    value = number(cell.value, _digits(board.columns[board.sort]))
    rank = cell.rank_text
    rest = f"; beside people: {cell.against}" if cell.against else ""
    return (
        f"{_about(board)}: {shown(_who(entry))} is first of {plural(len(judged), 'model')} with "
        f"{value}; its interval allows {'rank' if '–' not in rank else 'ranks'} {rank}{rest}."
    )


def _who(entry: Entry) -> str:
    """Name a row: the model with its version."""
    result = entry.result
    version = f" {result.version}" if result.version and result.version not in result.name else ""
    return f"{result.name}{version}"


def _answered(entry: Entry) -> float | None:
    part = entry.result.coverage
    return part.n_answered / part.n_stimuli if part and part.n_stimuli else None


def _digits(cells: tuple[Standing, ...]) -> int:
    """Choose digits after the point: three for shares and points, fewer for large numbers."""
    largest = max((abs(cell.value) for cell in cells if cell.value == cell.value), default=0.0)
    return 3 if largest < 10 else 1 if largest < 1000 else 0

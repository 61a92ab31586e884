"""Models and people in one table, from a folder of result files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from affectlab._words import plural
from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._leaderboard_cautions import cautions, several
from affectlab.evaluation._leaderboard_table import Board, Entry, Leaderboard
from affectlab.evaluation._result_file_read import read_result

__all__ = ["leaderboard"]

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
    >>> from affectlab.estimates import Estimate
    >>> from affectlab.evaluation import DataSet, ResultFile, write_result
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
    if on_bad not in get_args(OnBad):
        raise unknown_name("on_bad", on_bad, get_args(OnBad))
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
    return Leaderboard(tuple(boards), (*several(boards), *warnings), str(path))


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

"""What staircases found: how many frames 1 JND is away from either end of each transition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.files.csv import read_table

__all__ = ["SequenceJnd", "read_jnds"]

_COLUMNS = ("stimulus", "anchor", "n_frames", "distance", "status")
_ENDS = ("peak", "neutral")
_OUTSIDE = {"beyond": math.inf, "within": 0.0}
"""Statuses of runs that found no frame, and what they say of 1 JND."""


@dataclass(frozen=True)
class SequenceJnd:
    """Distances of 1 JND over one sequence of frames, in frames.

    A distance is ``inf`` where the whole sequence is less than 1 JND, 0 where the first step is
    more, and None where no run from that end counts.
    """

    n_frames: int
    near_peak: float | None
    near_neutral: float | None
    n_runs: int
    """Runs that count, from both ends."""
    n_left: int = 0
    """Runs that were not finished, found nothing, or whose answers do not count."""


def read_jnds(path: str | Path) -> dict[str, SequenceJnd]:
    """Read the staircases that a study exports, and bring runs over the same frames together.

    The distance of several runs is their median on a logarithmic scale. A run that found 1 JND to
    lie beyond the sequence, or within its first step, counts as what it is: leaving it out would
    move the median. Of an even number of runs the middle two are averaged; where one of them
    found no frame, the other stands.

    Parameters
    ----------
    path
        ``staircases.csv`` or ``.parquet`` of ``affectlab study export``: columns ``stimulus``,
        ``anchor`` (peak or neutral), ``n_frames``, ``distance``, ``status``, and ``valid`` where
        there is one.

    Returns
    -------
    The distances by the name of the sequence.

    Raises
    ------
    InputError
        When the table cannot be read, a value makes no sense, or two runs over a sequence had
        different numbers of frames.

    References
    ----------
    FaceExpressions-70k, section 3.2 and appendix A.2.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = "stimulus,anchor,n_frames,distance,status,valid"
    >>> rows += "\\nann_joy,peak,41,8,ok,true\\nann_joy,peak,41,18,ok,true"
    >>> rows += "\\nann_joy,neutral,41,,beyond,true"
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "staircases.csv").write_text(rows)
    ...     read_jnds(Path(folder, "staircases.csv"))["ann_joy"]
    SequenceJnd(n_frames=41, near_peak=12.0, near_neutral=inf, n_runs=3, n_left=0)
    """
    table = read_table(path, "staircases")
    require_columns(table, _COLUMNS, f"{path}: ", "give the staircases that a study exports")
    if not table.height:
        raise InputError(f"{path}: there is no run; expected one row per staircase")
    found: dict[str, dict[str, list[float]]] = {}
    frames: dict[str, int] = {}
    left: dict[str, int] = {}
    for number, row in enumerate(table.iter_rows(named=True), start=1):
        where = f"{path}, row {number}"
        name, anchor = str(row["stimulus"]), str(row["anchor"])
        if anchor not in _ENDS:
            raise InputError(
                f"{where}: anchor {anchor!r}; expected peak, the first frame, or neutral"
            )
        n_frames = _whole(row["n_frames"], where)
        if frames.setdefault(name, n_frames) != n_frames:
            raise InputError(
                f"{where}: {name!r} has {n_frames} frames, in rows before it {frames[name]}; "
                "expected runs over the same frames"
            )
        distance = _distance(row, where)
        runs = found.setdefault(name, {end: [] for end in _ENDS})
        if distance is None:
            left[name] = left.get(name, 0) + 1
        else:
            runs[anchor].append(distance)
    return {
        name: SequenceJnd(
            frames[name],
            _middle(runs["peak"]),
            _middle(runs["neutral"]),
            n_runs=sum(map(len, runs.values())),
            n_left=left.get(name, 0),
        )
        for name, runs in found.items()
    }


def _whole(value: Any, where: str) -> int:
    try:
        count = int(str(value))
    except ValueError:
        count = 0
    if count < 2:
        raise InputError(f"{where}, n_frames: {value!r}; expected a whole number from 2 on")
    return count


def _distance(row: Mapping[str, Any], where: str) -> float | None:
    """Give what a run says of 1 JND; None where it does not count."""
    valid = str(row.get("valid", "true")).strip().lower()
    if valid not in ("true", "false"):
        raise InputError(f"{where}, valid: {row['valid']!r}; expected true or false")
    status = str(row["status"]).strip()
    if valid == "false" or status not in ("ok", *_OUTSIDE):
        return None
    if status in _OUTSIDE:
        return _OUTSIDE[status]
    try:
        distance = float(row["distance"])
    except (TypeError, ValueError):
        distance = math.nan
    if not 0 < distance < math.inf:
        raise InputError(
            f"{where}, distance: {row['distance']!r}; expected frames above 0, as the status is ok"
        )
    return distance


def _middle(distances: list[float]) -> float | None:
    """Give the median on a logarithmic scale, of ``0`` and ``inf`` as well."""
    if not distances:
        return None
    ordered = sorted(distances)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low == high:
        return low
    known = [one for one in (low, high) if 0 < one < math.inf]
    if not known:
        # One run says less than a step, the other more than all of them: they bound nothing.
        return None
    return math.sqrt(low * high) if len(known) == 2 else known[0]

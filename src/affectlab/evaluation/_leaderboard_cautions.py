"""What a reader should know before comparing the rows of a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from affectlab._words import joined, shown
from affectlab.evaluation._leaderboard_table import Board, Entry

__all__ = ["cautions", "several"]

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
    partial = [
        entry
        for entry in board.entries
        if (part := entry.result.coverage) is not None and part.n_answered < part.n_stimuli
    ]
    if partial:
        names = [_named(entry) for entry in partial[:_MOST_NAMED]]
        more = len(partial) - len(names)
        said.append(
            f"{where}: {joined([*names, *([f'{more} more'] if more else [])])} answered only part "
            "of the stimuli, so numbers may be on easier or harder ones"
        )
    return said


def _described(data: tuple[str, int, int, str]) -> str:
    name, n_stimuli, n_raters, scale = data
    return f"{shown(name, _LIMIT)!r}: {n_stimuli:,} stimuli, {n_raters:,} people, {scale or '–'}"


def _named(entry: Entry) -> str:
    result = entry.result
    return repr(result.name) + (f" ({result.prompt})" if result.prompt else "")

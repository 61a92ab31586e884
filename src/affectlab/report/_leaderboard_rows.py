"""What the template of the leaderboard reads: heads, rows, cells and their small bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from affectlab._words import count, joined, number, percent, plural, shown
from affectlab.evaluation import Board, Entry, Standing

__all__ = ["board_view"]

_NAME = 80
_WORDS = 300
_WIDTH, _PAD = 96.0, 4.0
_BADGES = {"human": "people", "baseline": "baseline", "model": ""}
_KINDS = {"human": "people person human", "baseline": "baseline", "model": "model"}


@dataclass(frozen=True)
class _Column:
    """One column beside those of metrics: it is shown when any row has something to say."""

    head: str
    type: str
    """``text`` or ``number``."""
    cells: Sequence[tuple[str, str]]
    """Text and value to sort by of every row."""


def board_view(board: Board, position: int) -> dict[str, Any]:
    """Turn a board into what the template reads."""
    metrics = [board.sort, *(name for name in board.metrics if name != board.sort)]
    scales = {name: _Scale.of(board, name) for name in metrics}
    against = board.human_range(board.sort) is not None
    after = [column for column in _more(board) if any(text for text, _ in column.cells)]
    heads = [_head("Rank", "n rank"), _head("Name", "name", "text")]
    heads[0]["remark"] = "against people" if against else ""
    heads += [_metric_head(board, name, sorted_by=name == board.sort) for name in metrics]
    heads += [
        _head(column.head, "n" if column.type == "number" else "", column.type) for column in after
    ]
    rows = []
    for k, entry in enumerate(board.entries):
        first = board.columns[board.sort][k]
        cells = [{"type": "rank", "text": first.rank_text, "remark": first.against}, _name(entry)]
        cells += [_metric(board.columns[name][k], scales[name]) for name in metrics]
        cells += [_plain(column, k) for column in after]
        rows.append({"kind": entry.result.kind, "search": _search(entry), "cells": cells})
    people = [board.people(name) for name in metrics]
    return {
        "id": f"board-{position + 1}",
        "title": shown(board.data.name, _NAME),
        "about": _about(board),
        "link": board.data.link,
        "caption": f"{shown(board.data.name, _NAME)}, sorted by {shown(board.sort, _NAME)}",
        "heads": heads,
        "rows": rows,
        "has_people": against,
        "has_ceiling": any("ceiling" in found for found in people),
        "methods": _methods(board, metrics),
        "notes": [
            (_called(entry), shown(note, _WORDS))
            for entry in board.entries
            for note in entry.result.notes
        ],
    }


def _about(board: Board) -> str:
    data = board.data
    people = ("simulated person", "simulated people") if data.simulated else ("person", "people")
    parts = [plural(data.n_stimuli, "stimulus", "stimuli"), plural(data.n_labels, "label")]
    parts.append(plural(data.n_raters, *people))
    if data.scale:
        parts.append(f"scale {shown(data.scale, _NAME)}")
    about = f" Numbers are about the label {shown(board.label, _NAME)}." if board.label else ""
    return f"{', '.join(parts)}; fingerprint {data.fingerprint[7:19]}.{about}"


def _head(text: str, style: str, type_: str = "", first: str = "ascending") -> dict[str, Any]:
    if type_ == "number":
        first = "descending"
    return {
        "text": text,
        "style": style,
        "sortable": bool(type_),
        "type": type_,
        "first": first,
        "sorted": "",
        "remark": "",
    }


def _metric_head(board: Board, name: str, *, sorted_by: bool) -> dict[str, Any]:
    higher = board.higher_is_better(name)
    direction = "descending" if higher else "ascending"
    head = _head(shown(name, _NAME), "n metric", "metric", direction)
    head["sorted"] = direction if sorted_by else ""
    head["remark"] = "" if higher else "lower is better"
    return head


def _name(entry: Entry) -> dict[str, Any]:
    result = entry.result
    remarks = [
        result.prompt or "",
        f"version {result.version}" if result.version else "",
        f"family {result.family}" if not _says(result.name, result.family) else "",
    ]
    return {
        "type": "name",
        "text": shown(result.name, _NAME),
        "value": shown(result.name, _NAME),
        "link": result.link,
        "badge": _BADGES[result.kind],
        "remark": ", ".join(shown(remark, _NAME) for remark in remarks if remark),
    }


def _called(entry: Entry) -> str:
    prompt = f", {entry.result.prompt}" if entry.result.prompt else ""
    return shown(entry.result.name + prompt, _NAME)


def _says(name: str, family: str | None) -> bool:
    """Whether the name already says the family, or there is none to say."""
    return family is None or name.casefold().startswith(family.casefold())


def _search(entry: Entry) -> str:
    result = entry.result
    parts = (result.name, result.version, result.family, result.prompt, _KINDS[result.kind])
    return shown(" ".join(part for part in parts if part), 500).lower()


def _plain(column: _Column, row: int) -> dict[str, Any]:
    text, value = column.cells[row]
    return {"type": column.type, "text": text or "–", "value": value}


def _more(board: Board) -> list[_Column]:
    """Give the columns beside the metrics, in the order in which they stand."""
    entries = [entry.result for entry in board.entries]
    coverage = [
        part.n_answered / part.n_stimuli
        if (part := result.coverage) is not None and part.n_stimuli
        else math.nan
        for result in entries
    ]
    usable = [
        result.outcomes.get("ok", 0) / total
        if (total := sum(result.outcomes.values()))
        else math.nan
        for result in entries
    ]
    columns = [
        _Column("Stimuli answered", "number", [_share(share) for share in coverage]),
        _Column("Usable answers", "number", [_share(share) for share in usable]),
    ]
    currencies = dict.fromkeys(
        result.cost.currency
        for result in entries
        if result.cost is not None and result.cost.amount is not None
    )
    for currency in currencies:
        cells = [
            (number(amount), repr(amount))
            if result.cost is not None
            and result.cost.currency == currency
            and (amount := result.cost.amount) is not None
            else ("", "")
            for result in entries
        ]
        columns.append(_Column(f"Cost, {currency}", "number", cells))
    for head, texts in (
        ("Date", [result.date for result in entries]),
        ("Licence", [result.licence for result in entries]),
    ):
        words = [shown(text or "", _NAME) for text in texts]
        columns.append(_Column(head, "text", [(word, word) for word in words]))
    return columns


def _share(share: float) -> tuple[str, str]:
    if share != share:
        return "", ""
    # All but a few is not all.
    text = percent(share) if share in (0.0, 1.0) else percent(share, 1)
    return text, repr(share)


@dataclass(frozen=True)
class _Scale:
    """Places values of one metric along the small bars, and writes them."""

    low: float
    high: float
    digits: int
    people: dict[str, float]

    @classmethod
    def of(cls, board: Board, name: str) -> _Scale:
        cells = board.columns[name]
        people = board.people(name)
        ends = [end for cell in cells for end in (cell.value, *cell.interval)]
        known = [end for end in (*ends, *people.values()) if math.isfinite(end)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        largest = max(abs(low), abs(high))
        digits = 3 if largest < 10 else 1 if largest < 1000 else 0
        return cls(low, high, digits, people)

    def place(self, value: float) -> float:
        """Give the place of a value, in pixels."""
        # Halves, since the width of two finite numbers may not be finite.
        width = self.high / 2 - self.low / 2
        share = (value / 2 - self.low / 2) / width if width > 0 else 0.5
        return round(_PAD + share * (_WIDTH - 2 * _PAD), 1)

    def write(self, value: float) -> str:
        if abs(value) >= 1e9:
            return f"{value:.3g}".replace("-", "−")
        return number(value, self.digits)


def _metric(cell: Standing, scale: _Scale) -> dict[str, Any]:
    metric = cell.metric
    low, high = cell.interval
    known = cell.value == cell.value
    interval = f"{scale.write(low)} to {scale.write(high)}" if low == low else ""
    title = ""
    if metric is not None:
        title = f"{interval}; {count(metric.n_items)} items" if interval else shown(metric.status)
        title = "" if title == "ok" else title
    return {
        "type": "metric",
        "text": scale.write(cell.value) if known else "–",
        "value": repr(cell.value) if known else "",
        "rank": cell.rank_text,
        "against": cell.against,
        "interval": interval,
        "title": shown(title, _WORDS),
        "bar": _bar(cell, scale) if known else None,
    }


def _bar(cell: Standing, scale: _Scale) -> dict[str, Any]:
    people = [value for who, value in scale.people.items() if who != "ceiling"]
    low, high = cell.interval
    band = None
    if people:
        start, end = scale.place(min(people)), scale.place(max(people))
        band = (start, round(max(end - start, 1.0), 1))
    median, ceiling = scale.people.get("median"), scale.people.get("ceiling")
    return {
        "range": band,
        "median": None if median is None else scale.place(median),
        "ceiling": None if ceiling is None else scale.place(ceiling),
        "interval": (scale.place(low), scale.place(high)) if low == low else None,
        "value": scale.place(cell.value),
    }


def _methods(board: Board, metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Say once per metric how it was computed, where the files agree; where not, each way."""
    found = []
    for name in metrics:
        ways: dict[str, set[str]] = {}
        for cell in board.columns[name]:
            if cell.metric is not None and cell.metric.method:
                resampled = ways.setdefault(cell.metric.method, set())
                if cell.metric.low is not None:
                    resampled.add(cell.metric.resampled)
        texts = [
            method + (f"; resampled: {joined(sorted(resampled))}" if resampled else "")
            for method, resampled in ways.items()
        ]
        if texts:
            found.append((shown(name, _NAME), shown(" — or: ".join(texts), 2 * _WORDS)))
    return found

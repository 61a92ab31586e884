"""The leaderboard as one HTML page that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from affectlab.core.words import count, joined, number, percent, plural, shown
from affectlab.evaluation.rankings import Board, Entry, Leaderboard, Standing
from affectlab.report.page import fill, page_path, script_hash, template_source

# What the template of the leaderboard reads: heads, rows, cells and their small bars.


_NAME = 80
_WORDS = 300
_WIDTH, _PAD = 96.0, 4.0
_BADGES = {"human": "people", "baseline": "baseline", "model": ""}
_KINDS = {"human": "people person human", "baseline": "baseline", "model": "model"}


_Column: TypeAlias = tuple[dict[str, Any], list[dict[str, Any]]]
"""What the template reads of a column: its head, and the cell of every row."""


def board_view(board: Board, position: int) -> dict[str, Any]:
    """Turn a board into what the template reads."""
    metrics = [board.sort, *(name for name in board.metrics if name != board.sort)]
    against = board.human_range(board.sort) is not None
    columns = [_ranks(board, "against people" if against else ""), _names(board)]
    columns += [*(_metric_column(board, name) for name in metrics), *_more(board)]
    rows = zip(board.entries, zip(*(cells for _, cells in columns), strict=True), strict=True)
    return {
        "id": f"board-{position + 1}",
        "title": shown(board.data.name, _NAME),
        "about": _about(board),
        "link": board.data.link,
        "caption": f"{shown(board.data.name, _NAME)}, sorted by {shown(board.sort, _NAME)}",
        "heads": [head for head, _ in columns],
        "rows": [
            {"kind": entry.result.kind, "search": _search(entry), "cells": cells}
            for entry, cells in rows
        ],
        "has_people": against,
        "has_ceiling": any("ceiling" in board.people(name) for name in metrics),
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


def _head(text: str, style: str, kind: str = "", **more: str) -> dict[str, Any]:
    head = {"text": text, "style": style, "type": kind, "sortable": bool(kind)}
    return {**head, "first": "ascending", "sorted": "", "remark": "", **more}


def _ranks(board: Board, remark: str) -> _Column:
    cells = board.columns[board.sort]
    return _head("Rank", "n rank", remark=remark), [
        {"type": "rank", "text": cell.rank_text, "remark": cell.against} for cell in cells
    ]


def _metric_column(board: Board, name: str) -> _Column:
    higher = board.higher_is_better(name)
    direction = "descending" if higher else "ascending"
    head = _head(
        shown(name, _NAME),
        "n metric",
        "metric",
        first=direction,
        sorted=direction if name == board.sort else "",
        remark="" if higher else "lower is better",
    )
    scale = _Scale.of(board, name)
    return head, [_metric(cell, scale) for cell in board.columns[name]]


def _names(board: Board) -> _Column:
    return _head("Name", "name", "text"), [_name(entry) for entry in board.entries]


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


def _more(board: Board) -> Iterator[_Column]:
    """Give the columns beside the metrics of which any row has something to say."""
    results = [entry.result for entry in board.entries]
    covered = [one.coverage for one in results]
    costs = [None if one.cost is None else (one.cost.currency, one.cost.amount) for one in results]
    numbers: dict[str, list[tuple[str, str] | None]] = {
        "Stimuli answered": [
            None if part is None else _share(part.n_answered, part.n_stimuli) for part in covered
        ],
        "Usable answers": [
            _share(one.outcomes.get("ok", 0), sum(one.outcomes.values())) for one in results
        ],
    }
    for currency in dict.fromkeys(one[0] for one in costs if one and one[1] is not None):
        amounts = [one[1] if one and one[0] == currency else None for one in costs]
        numbers[f"Cost, {currency}"] = [
            None if amount is None else (number(amount), repr(amount)) for amount in amounts
        ]
    for text, cells in numbers.items():
        if any(cells):
            head = _head(text, "n", "number", first="descending")
            yield head, [_cell("number", *(cell or ("–", ""))) for cell in cells]
    texts = {"Date": [one.date for one in results], "Licence": [one.licence for one in results]}
    for text, said in texts.items():
        words = [shown(word or "", _NAME) for word in said]
        if any(words):
            yield _head(text, "", "text"), [_cell("text", word or "–", word) for word in words]


def _cell(kind: str, text: str, value: str) -> dict[str, Any]:
    return {"type": kind, "text": text, "value": value}


def _share(part: int, whole: int) -> tuple[str, str] | None:
    if not whole:
        return None
    share = part / whole
    # All but a few is not all.
    return percent(share) if share in (0.0, 1.0) else percent(share, 1), repr(share)


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
                targets = ways.setdefault(cell.metric.method, set())
                if cell.metric.low is not None:
                    targets.add(cell.metric.target)
        texts = [
            method + (f"; intervals about: {joined(sorted(targets))}" if targets else "")
            for method, targets in ways.items()
        ]
        if texts:
            found.append((shown(name, _NAME), shown(" — or: ".join(texts), 2 * _WORDS)))
    return found


_GLOSSARY = [
    (
        "Rank",
        "The ranks among models and baselines that the intervals allow: 2–4 means that one model "
        "is better for sure, and that up to three may be. Intervals that overlap do not show that "
        "two models are equal; to know, compare the two directly on the same stimuli.",
    ),
    (
        "People",
        "Rows of people are computed as those of models are: a person is compared with the other "
        "people. The best and the worst person are chosen metric by metric, after the fact. People "
        "are not ranked.",
    ),
    (
        "Against people",
        "Below the rank stands where the interval lies, by the metric that the table is sorted by: "
        "within the range from the worst to the best person, above or below it, across its upper "
        "or lower edge, or wider than it.",
    ),
    (
        "Interval",
        "What the value might have been with other stimuli, or other raters, as far as it is about "
        "these; it says nothing of errors that all results share.",
    ),
]


def write_leaderboard(
    found: Leaderboard, path: str | Path, *, title: str = "Models and people"
) -> Path:
    """Write a leaderboard as an HTML page with tables that can be sorted and filtered.

    The page needs no network and no other file, works without its script, follows the light or
    dark setting, and can be printed. The same files give the same bytes.

    Parameters
    ----------
    found
        From :func:`affectlab.evaluation.leaderboard`.
    path
        The file, ending in ``.html``.
    title
        Heading of the page.

    Returns
    -------
    The file.

    Raises
    ------
    InputError
        When `path` is a folder or does not end in ``.html``, or its folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from affectlab.core.estimates import Estimate
    >>> from affectlab.evaluation import ResultFile, leaderboard, write_result
    >>> from affectlab.evaluation.rankings import DataSet
    >>> folder = Path(tempfile.mkdtemp())
    >>> data = DataSet(name="demo", fingerprint="sha256:" + 64 * "0", n_stimuli=9, n_raters=3)
    >>> result = ResultFile.from_estimates("gazer", {"kappa": Estimate(0.5)}, data=data)
    >>> file = write_result(result, folder)
    >>> page = write_leaderboard(leaderboard(folder), folder / "leaderboard.html")
    >>> page.name
    'leaderboard.html'
    """
    path = page_path(path)
    path.write_text(render_leaderboard(found, title=title), encoding="utf-8", newline="\n")
    return path


def render_leaderboard(found: Leaderboard, *, title: str = "Models and people") -> str:
    """Give the text of the page; see :func:`write_leaderboard`."""
    from markupsafe import Markup

    script = template_source("leaderboard.js")
    n_files = sum(len(board.entries) for board in found.boards)
    return fill(
        "leaderboard.html",
        ("report.css", "leaderboard.css"),
        title=shown(title, 200),
        summary=_summary(found),
        warnings=[_sentence(warning) for warning in found.notes],
        boards=[board_view(board, k) for k, board in enumerate(found.boards)],
        glossary=_glossary(found),
        n_files=plural(n_files, "result file"),
        folder=shown(Path(found.folder).name, 200),
        script=Markup(script),
        script_hash=script_hash(script),
    )


def _glossary(found: Leaderboard) -> list[tuple[str, str]]:
    people = any(entry.is_human for board in found.boards for entry in board.entries)
    return [entry for entry in _GLOSSARY if people or "eople" not in entry[0]]


def _summary(found: Leaderboard) -> str:
    """Say what the page holds, in a sentence."""
    kinds = [entry.result.kind for board in found.boards for entry in board.entries]
    parts = [plural(kinds.count("model"), "model")]
    if "baseline" in kinds:
        parts.append(plural(kinds.count("baseline"), "baseline"))
    if "human" in kinds:
        simulated = all(board.data.simulated for board in found.boards)
        parts.append("simulated people" if simulated else "people")
    return f"{joined(parts)} on {plural(len(found.boards), 'data set')}."


def _sentence(text: str) -> str:
    """Begin with a capital and end with a point."""
    said = shown(text)
    return said[:1].upper() + said[1:] + ("" if said.endswith(".") else ".")

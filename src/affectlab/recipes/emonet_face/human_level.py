"""Are models at human level? What the paper infers from a test of difference, and what is shown."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.words import joined, number
from affectlab.recipes.emonet_face.agreement import OWN, Compared

if TYPE_CHECKING:
    from affectlab.evaluation.human_alignment import AlignmentResult

__all__ = ["MARGIN", "human_level", "level_notes"]

MARGIN = 0.05
"""Largest difference of kappa that is taken not to matter."""

_SAID = {
    "inside": "inside the human range",
    "above": "above it",
    "below": "below it",
    "not shown": "not shown to be either",
    "undefined": "not defined",
}


def human_level(found: Compared, *, seed: int) -> AlignmentResult:
    """Test equivalence with people, leaving out images and people; fractions are rounded."""
    from affectlab.evaluation import alignment

    return alignment(found.people, found.models, margin=MARGIN, seed=seed)


def level_notes(found: Compared, level: AlignmentResult) -> tuple[str, ...]:
    """Say which models are at human level, by which test, and where they stand."""
    by_verdict: dict[str, list[str]] = {}
    for name, verdict in level.verdicts.items():
        by_verdict.setdefault(verdict, []).append(name)
    told = "; ".join(
        f"{said}: {joined(by_verdict[verdict])}"
        for verdict, said in _SAID.items()
        if verdict in by_verdict
    )
    winners = level.to_frame().filter(pl.col("passed"))["rater"].to_list()
    passed = joined(winners) if winners else "none"
    ours = [
        sentence
        for name, sentence in zip(level.verdicts, level.sentences, strict=True)
        if found.families.get(name) == OWN
    ]
    return (
        f"Human level by {level.measure_words}, margin {MARGIN:g}, people and images drawn anew: "
        f"{told}. The alternative-annotator test is passed by {passed}.",
        *ours,
        *_of_paper(found),
        *(f"Human level: {note}" for note in level.notes),
        _board_note(found, level),
    )


def _of_paper(found: Compared) -> list[str]:
    """Say what the test of the paper finds of its own models, and what it does not show."""
    groups = found.tables.groups
    if groups is None or OWN not in found.families.values():
        return []
    row = groups.frame.filter((pl.col("group_a") == "people") & (pl.col("group_b") == OWN)).row(
        0, named=True
    )
    return [
        f"By the paper's test people less {OWN} differ by {number(row['value'], 3)}, p = "
        f"{number(row['p'], 3)}, from {row['n_a'] + row['n_b']} values taken as independent. A "
        "large p shows no equality, and such values share images and people."
    ]


def _board_note(found: Compared, level: AlignmentResult) -> str:
    """Rank models among people, as far as intervals allow."""
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import ResultFile, data_set, human_results, leaderboard, write_result

    data = data_set(found.people, "EmoNet-Face HQ")
    measure = level.primary
    people = level.ceiling.people.frame.filter(pl.col("measure") == measure).drop("measure")
    rows = [
        ResultFile.from_estimates(name, {measure: level.agreement[measure, name]}, data=data)
        for name in level.verdicts
    ]
    rows += human_results({measure: Estimates.of(people, ("rater",))}, data=data)
    with TemporaryDirectory() as folder:
        for row in rows:
            write_result(row, Path(folder))
        board = leaderboard(folder).boards[0]
    told = []
    for entry, place in zip(board.entries, board.columns[measure], strict=True):
        value = None if place.metric is None else place.metric.value
        if value is not None and not entry.is_human:
            told.append(f"{place.rank_text} {entry.result.name} ({number(value, 3)})")
    low, high = board.human_range(measure) or (float("nan"), float("nan"))
    return (
        f"Leaderboard by {level.measure_words}, with the ranks that intervals allow: "
        f"{', '.join(told)}. Single people reach {number(low, 3)} to {number(high, 3)}."
    )

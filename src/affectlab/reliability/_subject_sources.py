"""Duplicate raters as one: what the subject model is fitted to where several answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.reliability._subject_data import Grouped, Panel
from affectlab.reliability._subject_fit import least_squares

__all__ = ["Sources", "as_one"]


@dataclass(frozen=True, eq=False)
class Sources:
    """Ratings by source: a rater, or several who answer alike."""

    data: Grouped
    """Its raters are the sources."""
    code: Ints
    """Source of each rater, shape (raters,)."""
    offset: Floats
    """What each rater's bias is more than that of its source; their mean over a source is 0."""


def as_one(panel: Panel, groups: Sequence[Sequence[str]]) -> Sources | None:
    """Make one rater of each group that is in the panel; ``None`` where there is none.

    Shifts between the members are taken off, and their answers to a stimulus averaged: the first
    answers of all, the second of all, and so on.
    """
    data = panel.data
    known = {name: code for code, name in enumerate(panel.raters)}
    present = [[known[name] for name in group if name in known] for group in groups]
    present = [members for members in present if len(members) > 1]
    if not present:
        return None
    source = np.arange(data.n_raters)
    offset = np.zeros(data.n_raters)
    for members in present:
        source[members] = members[0]
        offset[members] = least_squares(_only(data, members), 0.0).bias
    _, code = np.unique(source, return_inverse=True)
    taken = np.isin(data.rater, np.concatenate([np.array(members) for members in present]))
    rows, answers = np.flatnonzero(~taken), np.flatnonzero(taken)
    stimulus, value = data.stimulus, data.value - offset[data.rater]
    # Only what members answered is sorted: first answers with first ones, second with second ones.
    order = answers[np.lexsort((data.rater[answers], stimulus[answers]))]
    own = stimulus[order] * np.int64(data.n_raters) + data.rater[order]
    first = np.flatnonzero(np.diff(own, prepend=-1))
    occurrence = np.arange(own.size) - np.repeat(first, np.diff(np.append(first, own.size)))
    cell = stimulus[order] * np.int64(data.n_raters) + code[data.rater[order]]
    most = int(occurrence.max(initial=0)) + 1
    key, answer, n = np.unique(cell * most + occurrence, return_inverse=True, return_counts=True)
    of_stimulus, of_source = np.divmod(key // most, data.n_raters)
    # Each goes behind the answers of the others to its stimulus.
    place = np.searchsorted(stimulus[rows], of_stimulus, side="right")
    merged = Grouped(
        np.searchsorted(stimulus[rows], np.arange(data.n_stimuli + 1))
        + np.searchsorted(of_stimulus, np.arange(data.n_stimuli + 1)),
        np.insert(code[data.rater[rows]], place, of_source).astype(np.int32),
        np.insert(value[rows], place, np.bincount(answer, value[order]) / n),
        int(code.max()) + 1,
    )
    return Sources(merged, code, offset)


def _only(data: Grouped, members: Sequence[int]) -> Grouped:
    """Ratings of some raters, with codes in the order of ``members``."""
    place = np.full(data.n_raters, -1, dtype=np.int32)
    place[list(members)] = np.arange(len(members))
    rows = place[data.rater] >= 0
    start = np.searchsorted(data.stimulus[rows], np.arange(data.n_stimuli + 1))
    return Grouped(start, place[data.rater[rows]], data.value[rows], len(members))

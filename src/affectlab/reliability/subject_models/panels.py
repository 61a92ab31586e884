"""Ratings sorted by stimulus, without a matrix: what the subject model works on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, matrix_of, numeric_part, one_scale, require_order

if TYPE_CHECKING:
    from collections.abc import Callable

Codes: TypeAlias = NDArray[np.int32]

_CHUNKS = 8
"""Fixed, so that sums are added in the same order on every machine."""
_CHUNKED_FROM = 1 << 18
"""Ratings below which one thread is faster."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """Ratings sorted by stimulus; stimulus j holds ``start[j]`` to ``start[j + 1]``."""

    start: Ints
    rater: Codes
    value: Floats
    n_raters: int

    @property
    def n_stimuli(self) -> int:
        """Stimuli, those without a rating included."""
        return self.start.size - 1

    @cached_property
    def n_of_stimulus(self) -> Ints:
        """Ratings of each stimulus."""
        return np.diff(self.start)

    @cached_property
    def n_of_rater(self) -> Floats:
        """Ratings of each rater."""
        from affectlab.reliability.subject_models.kernels import count

        return count(self.rater, self.n_raters)

    @cached_property
    def stimulus(self) -> Ints:
        """Stimulus of each rating."""
        return np.repeat(np.arange(self.n_stimuli), self.n_of_stimulus)

    @cached_property
    def group(self) -> Ints:
        """Raters linked by stimuli they share have the same number, shape (raters,)."""
        from affectlab.reliability.subject_models.kernels import connect

        return np.unique(connect(self.start, self.rater, self.n_raters), return_inverse=True)[1]

    @cached_property
    def group_of_stimulus(self) -> Ints:
        """Group of the raters of each stimulus; -1 without a rating."""
        group = np.full(self.n_stimuli, -1)
        rated = self.n_of_stimulus > 0
        group[rated] = self.group[self.rater[self.start[:-1][rated]]]
        return group


@dataclass(frozen=True, eq=False)
class SubjectPanel:
    """The ratings that one model is fitted to, and the names of what was rated and who rated."""

    data: Grouped
    """Only raters who rated occur."""
    labels: tuple[str, ...]
    label: Ints
    """Label of each stimulus (each cell) of ``data``, as a code."""
    stimuli: tuple[str, ...]
    stimulus: Ints
    """Name of each stimulus (each cell) of ``data``, as a code."""
    raters: tuple[str, ...]
    """Name of each rater of ``data``."""


def panels_of(
    data: Ratings | ArrayLike, *, by_label: bool, every: bool = False
) -> tuple[SubjectPanel, ...]:
    """Sort the ratings, and split them by label when asked for; the first of several, or all.

    Raises
    ------
    InputError
        If the values are not numbers in an order.
    """
    from affectlab.reliability.subject_models.kernels import group_ratings

    if isinstance(data, Ratings):
        require_order(data, "a score")
        used = numeric_part(data).answers(every=every)
        if not by_label:
            one_scale(used.scales)
        stimulus, rater, value = used.stimulus_code, used.rater_code, used.value
        stimuli, raters, labels = used.stimulus_names, used.rater_names, used.label_names
        cell = stimulus if len(labels) == 1 else used.label_code * np.int64(len(stimuli)) + stimulus
    else:
        matrix = matrix_of(data)
        rows, columns = np.nonzero(~np.isnan(matrix.T))
        cell, rater = rows.astype(np.int32), columns.astype(np.int32)
        value = matrix.T[rows, columns]
        stimuli, raters = (tuple(map(str, range(size))) for size in matrix.shape[::-1])
        labels = ("rating",)
    n_stimuli = len(stimuli)
    grouped = Grouped(
        *group_ratings(cell, rater, value, n_stimuli * len(labels)), n_raters=len(raters)
    )
    if not by_label or len(labels) == 1:
        label, of_cell = np.divmod(np.arange(grouped.n_stimuli), max(n_stimuli, 1))
        return (_panel(grouped, labels, label, stimuli, of_cell, raters),)
    return tuple(
        _panel(
            _part(grouped, code * n_stimuli, (code + 1) * n_stimuli),
            labels,
            np.full(n_stimuli, code),
            stimuli,
            np.arange(n_stimuli),
            raters,
        )
        for code in range(len(labels))
    )


def _part(data: Grouped, first: int, last: int) -> Grouped:
    begin, end = data.start[first], data.start[last]
    return Grouped(
        data.start[first : last + 1] - begin,
        data.rater[begin:end],
        data.value[begin:end],
        data.n_raters,
    )


def _panel(
    data: Grouped,
    labels: tuple[str, ...],
    label: Ints,
    stimuli: tuple[str, ...],
    stimulus: Ints,
    raters: tuple[str, ...],
) -> SubjectPanel:
    data, present = only_present(data)
    if len(raters) > data.n_raters:
        raters = tuple(raters[code] for code in np.flatnonzero(present).tolist())
    return SubjectPanel(data, labels, label, stimuli, stimulus, raters)


def only_present(data: Grouped) -> tuple[Grouped, NDArray[np.bool_]]:
    """Leave out raters without a rating; say which ones have one."""
    present = data.n_of_rater > 0
    if present.all():
        return data, present
    code = np.cumsum(present, dtype=np.int32) - 1
    return Grouped(data.start, code[data.rater], data.value, int(present.sum())), present


Sweep: TypeAlias = "Callable[[Floats, Floats], tuple[Floats, float]]"
"""(w_i and b_i, s_j to overwrite) -> sums per rater, and the sum of squared changes of s_j."""


@contextmanager
def sweeping(data: Grouped, *, parallel: bool, leverage: bool = True) -> Iterator[Sweep]:
    """Give a function that passes over all ratings, on several threads when they are many.

    ``leverage`` asks for the third sum of each rater.
    """
    from affectlab.core.compiled import n_threads
    from affectlab.reliability.subject_models.kernels import sweep

    big = data.rater.size >= max(_CHUNKED_FROM, 64 * data.n_raters)
    n_chunks = _CHUNKS if big and parallel else 1
    sums = np.empty((n_chunks, data.n_raters, 3 if leverage else 2))
    if n_chunks == 1:

        def once(weight_bias: Floats, score: Floats) -> tuple[Floats, float]:
            sums[:] = 0
            args = (data.start, data.rater, data.value, 0, data.n_stimuli)
            return sums[0], sweep(*args, weight_bias, score, sums[0])

        yield once
        return
    cuts = np.searchsorted(data.start, np.linspace(0, data.rater.size, n_chunks + 1))
    cuts[0], cuts[-1] = 0, data.n_stimuli

    with ThreadPoolExecutor(n_threads()) as pool:

        def in_chunks(weight_bias: Floats, score: Floats) -> tuple[Floats, float]:
            sums[:] = 0

            def chunk(c: int) -> float:
                args = (data.start, data.rater, data.value, cuts[c], cuts[c + 1])
                return sweep(*args, weight_bias, score, sums[c])

            change = sum(pool.map(chunk, range(n_chunks)))
            return sums.sum(axis=0), change

        yield in_chunks

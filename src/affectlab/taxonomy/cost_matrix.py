"""The costs of taking one label for another, looked up by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import as_floats
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.types import pl
from affectlab.taxonomy.names import NameIndex, fold

if TYPE_CHECKING:
    from rich.console import RenderableType

SMALLEST = 2.0
"""Smallest cost of a mistake; a smaller one would let a mistake count like a hit."""


@dataclass(frozen=True, eq=False, repr=False)
class CostMatrix:
    """Costs W of taking one label for another, with the labels they belong to.

    W is square, finite and symmetric, 1 on the diagonal and at least 2 elsewhere. Costs are found
    by label name: data sets order labels differently, and a look-up by position would silently mix
    them up.

    Parameters
    ----------
    labels
        Label names, k of them.
    matrix
        Costs, k rows by k columns, in the order of `labels`.
    kind
        How the costs were made, in words.

    Raises
    ------
    InputError
        When the matrix does not fulfil the above.

    Examples
    --------
    >>> costs = CostMatrix(("joy", "fear"), [[1, 5], [5, 1]])
    >>> costs.cost("fear", "joy")
    5.0
    >>> costs.reorder(["fear", "joy"]).labels
    ('fear', 'joy')
    """

    labels: tuple[str, ...]
    matrix: NDArray[np.float64]
    kind: str = "given"

    def __init__(self, labels: Sequence[str], matrix: ArrayLike, kind: str = "given") -> None:
        names = check_labels(labels)
        costs = square(matrix, names, "costs").copy()
        _check_costs(costs, names)
        costs.setflags(write=False)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "matrix", costs)
        object.__setattr__(self, "kind", kind)

    @cached_property
    def _names(self) -> NameIndex:
        return NameIndex.build(self.labels, {})

    def index(self, label: str) -> int:
        """Position of a label, its name in any spelling that cannot be mistaken."""
        return self._names.positions[self._names.resolve(label, kind="label", where="cost matrix")]

    def cost(self, one: str, other: str) -> float:
        """Cost of taking one label for another, 1 for the same label."""
        return float(self.matrix[self.index(one), self.index(other)])

    def reorder(self, labels: Iterable[str]) -> CostMatrix:
        """The same costs with rows and columns in the order of `labels`, which may be some only.

        Raises
        ------
        InputError
            When a label is not known or appears twice.
        """
        wanted = [labels] if isinstance(labels, str) else list(labels)
        positions = [self.index(label) for label in wanted]
        names = tuple(self.labels[position] for position in positions)
        return CostMatrix(names, self.matrix[np.ix_(positions, positions)], self.kind)

    def to_frame(self) -> pl.DataFrame:
        """One row per ordered pair of labels: ``label``, ``other``, ``cost``."""
        import polars as pl

        size = len(self.labels)
        return pl.DataFrame(
            {
                "label": [label for label in self.labels for _ in range(size)],
                "other": list(self.labels) * size,
                "cost": self.matrix.ravel(),
            }
        )

    def to_result(self) -> Result:
        """Give the costs as tables: ``costs``, as :meth:`to_frame` has them, and ``matrix``.

        Examples
        --------
        >>> CostMatrix(("joy", "fear"), [[1, 5], [5, 1]]).to_result().to_frame("matrix").columns
        ['true', 'as_joy', 'as_fear']
        """
        import polars as pl

        from affectlab.core.tables import Column, Count, Key, Number, Table
        from affectlab.core.words import plural

        whole = bool((self.matrix == self.matrix.round()).all())
        frame = pl.DataFrame({"true": self.labels}).with_columns(
            pl.Series(f"as_{label}", self.matrix[:, place])
            for place, label in enumerate(self.labels)
        )
        columns: list[Column] = [
            Count(f"as_{label}", label, verbatim=True)
            if whole
            else Number(f"as_{label}", label, verbatim=True, decimals=1)
            for label in self.labels
        ]
        pairs = (Key("label"), Key("other"), Number("cost"))
        return Result(
            (
                Table("costs", "Costs of pairs of labels.", self.to_frame(), pairs, limit=0),
                Table("matrix", "True label by answer.", frame, (Key("true"), *columns)),
            ),
            (
                f"Costs of taking one of {plural(len(self.labels), 'label')} for another, "
                f"{self.kind}: 1 for the right label, at most {self.matrix.max():g}.",
            ),
        )

    def _repr_html_(self) -> str:
        return self.to_result()._repr_html_()

    def __rich__(self) -> RenderableType:
        return self.to_result().__rich__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostMatrix):
            return NotImplemented
        return self.labels == other.labels and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((self.labels, self.matrix.tobytes()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickled array comes back writable; the copy must be as frozen as the original.
        self.__dict__.update(state)
        self.matrix.setflags(write=False)

    def __repr__(self) -> str:
        return f"CostMatrix({len(self.labels)} labels, {self.kind})"


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels as a tuple, each name once and none like another."""
    if isinstance(labels, str):
        raise InputError(f"labels: expected a list of names, not the one text {labels!r}")
    names = tuple(labels)
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(fold(name), name)
        if other != name or names.count(name) > 1:
            raise InputError(f"labels: {other!r} and {name!r} cannot be told apart")
    return names


def square(values: ArrayLike, labels: tuple[str, ...], what: str) -> NDArray[np.float64]:
    """Values as a finite float matrix with one row and one column per label."""
    matrix = as_floats(values, f"{what}: expected a matrix of numbers")
    size = len(labels)
    if matrix.shape != (size, size) or size == 0:
        shape = " x ".join(map(str, matrix.shape)) or "a single number"
        raise InputError(f"{what}: shape is {shape}; expected {size} x {size}, one row per label")
    refuse(~np.isfinite(matrix), matrix, labels, what, "finite numbers")
    return matrix


def refuse(
    wrong: NDArray[np.bool_],
    values: NDArray[np.float64],
    labels: tuple[str, ...],
    what: str,
    expected: str,
) -> None:
    """Raise an error for the first pair of labels whose value is wrong."""
    for row, column in np.argwhere(wrong)[:1]:
        raise InputError(
            f"{what}: {labels[row]!r} and {labels[column]!r} have {values[row, column]:g}; "
            f"expected {expected}"
        )


def refuse_uneven(
    values: NDArray[np.float64], labels: tuple[str, ...], what: str, rtol: float, atol: float
) -> None:
    """Raise an error for the first pair of labels whose order makes a difference."""
    for row, column in np.argwhere(~np.isclose(values, values.T, rtol=rtol, atol=atol))[:1]:
        raise InputError(
            f"{what}: {labels[row]!r} with {labels[column]!r} is {values[row, column]:g}, but the "
            f"other way round {values[column, row]:g}; expected the same"
        )


def _check_costs(costs: NDArray[np.float64], labels: tuple[str, ...]) -> None:
    same = np.eye(len(labels), dtype=bool)
    refuse(same & (costs != 1), costs, labels, "costs", "1 on the diagonal")
    refuse_uneven(costs, labels, "costs", 1e-9, 1e-12)
    refuse(~same & (costs < SMALLEST), costs, labels, "costs", "at least 2 off the diagonal")

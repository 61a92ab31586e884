"""What a step is: it looks at the comments that are left, then says which go, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from affectlab.stimuli.curation.pool import Pool

__all__ = ["Step"]


class Step(ABC):
    """One decision about comments; make your own by deriving from it.

    A step sees a narrow table with one row per comment: ``place`` (Int64, file part and row),
    ``key`` (Int64, hash of the id), ``group`` (String, ``""`` for none), ``deleted``, ``english``,
    ``offensive``, ``vulgar``, ``identity`` (Boolean), ``tokens`` (UInt16), and once emotions are
    predicted ``emotion`` (String, the first one, ``""`` for none), ``positive``, ``negative``,
    ``ambiguous``, ``neutral`` (Boolean). It may look at all comments that are left (:meth:`learn`),
    which gives a small table, and then decides about each (:meth:`reason`).

    Examples
    --------
    >>> import polars as pl
    >>> class Terse(Step):
    ...     name = "terse"
    ...     reasons = {"wordy": "more than 25 tokens"}
    ...     def reason(self):
    ...         return pl.when(pl.col("tokens") > 25).then(pl.lit("wordy"))
    >>> pl.DataFrame({"tokens": [12, 28]}).select(Terse().reason())["literal"].to_list()
    [None, 'wordy']
    """

    name: ClassVar[str]
    """Name of the step, in the ledger and in plans: a lower-case identifier."""
    reasons: Mapping[str, str] = {}
    """Each reason for which the step drops comments, with its threshold in words."""
    on: ClassVar[str | None] = None
    """Column by which what was learned is joined to the comments; None: its row is to all."""
    shows: ClassVar[str] = ""
    """Distribution that the step changes: length, group_size, sentiment or emotion."""
    grouped: ClassVar[bool] = False
    """Whether the step needs groups."""
    predicted: ClassVar[bool] = False
    """Whether the step needs predicted emotions."""
    speaks: ClassVar[bool] = False
    """Whether the step needs ``english``; where no step does, languages are not looked at."""

    def settings(self) -> dict[str, Any] | None:
        """What the step's decisions depend on, as plain values; another value redoes the step.

        None: not known, so that a run that goes on takes the step, and those after it, anew.
        """
        return None

    def learn(self, pool: Pool) -> pl.DataFrame | None:  # noqa: B027 - it may have nothing to see
        """Look at all comments that are left.

        Gives a small table, for example with one row per group. With :attr:`on` it has each value
        of this column once, and its other columns are joined to the comments. Without, its one row
        is joined to all of them; nulls where it has none.
        """

    @abstractmethod
    def reason(self) -> pl.Expr:
        """Why each comment is dropped: a string expression, null where it is kept."""

    def found(self, learned: pl.DataFrame | None) -> str | None:  # noqa: B027 - nor to say
        """What was found when looking, in words for the ledger."""

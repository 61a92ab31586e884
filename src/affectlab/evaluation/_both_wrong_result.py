"""Images that two models get wrong in different ways: what a study of errors shows people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.taxonomy import CostMatrix

__all__ = ["BothWrong"]


@dataclass(frozen=True, eq=False)
class BothWrong:
    """Stimuli that two models take for different classes, neither of which is true.

    Made by :func:`both_wrong`.
    """

    frame: pl.DataFrame
    """One row per stimulus: ``stimulus``, ``truth``, ``label_first`` and ``label_second`` (what the
    first and the second model said); and where costs are known ``cost_first``, ``cost_second``,
    and ``nearer``: the model whose label costs less, or ``same``."""
    systems: tuple[str, str]
    """The first and the second model."""
    n_judged: int
    """Stimuli with a truth that both models answered."""
    n_wrong: tuple[int, int]
    """Mistakes of each model on these."""
    n_both: int
    """Stimuli that both get wrong, alike or not."""
    n_different: int
    """Of these, stimuli that they take for different classes."""
    costs: CostMatrix | None

    def __len__(self) -> int:
        """Count the stimuli that are held."""
        return self.frame.height

    def __repr__(self) -> str:
        """Say what it is."""
        return f"<BothWrong {plural(len(self), 'stimulus', 'stimuli')}: {self.said()}>"

    def said(self) -> str:
        """Say in words how many mistakes the models share."""
        first, second = self.systems
        return (
            f"{first} gets {self.n_wrong[0]:,} of {self.n_judged:,} wrong and {second} "
            f"{self.n_wrong[1]:,}; both {self.n_both:,}, of which "
            f"{self.n_different:,} into different classes"
        )

    def sample(self, n: int, *, seed: int | np.random.Generator | None = 0) -> BothWrong:
        """Draw some of them at random, each as likely as any other.

        Parameters
        ----------
        n
            How many; the published study drew 50.
        seed
            Seed or generator; the same seed gives the same stimuli in the same order.

        Raises
        ------
        InputError
            When there are fewer than `n`.

        Examples
        --------
        >>> from affectlab.evaluation import both_wrong
        >>> said = {"net": ["awe", "fear", "awe"], "other": ["fear", "awe", "awe"]}
        >>> both_wrong(said, truth=["anger", "anger", "awe"], taxonomy="mikels").sample(1)
        <BothWrong 1 stimulus: net gets 2 of 3 wrong and other 2; both 2, of which 2 into
        different classes>
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"sample {n!r}: expected a whole number from 1 on")
        if n > len(self):
            raise InputError(
                f"sample {n}: {self.systems[0]!r} and {self.systems[1]!r} get "
                f"{plural(len(self), 'stimulus', 'stimuli')} wrong in different ways; expected a "
                "sample no larger than that"
            )
        rows = np.random.default_rng(seed).permutation(len(self))[:n]
        return replace(self, frame=self.frame[rows.tolist()])

    def items(
        self,
        files: Mapping[str, str] | None = None,
        *,
        seed: int | np.random.Generator | None = 0,
    ) -> pl.DataFrame:
        """Make the items of a blind study: the two wrong labels as options, sides drawn at random.

        Parameters
        ----------
        files
            File of each stimulus, by its name; None: the table has no column ``file``.
        seed
            Seed or generator. The first model's label stands as option A on half (to one).

        Returns
        -------
        One row per stimulus, in their order: ``stimulus``, ``file``, ``labels_a`` and ``labels_b``,
        ``system_a`` and ``system_b`` (whose each is, **not to be shown**), ``truth``, and
        ``nearer`` where costs are known. It is the stimulus table of a study of protocol
        ``preference_errors``, and can be reviewed with :func:`affectlab.stimuli.review_queue`
        before.

        Raises
        ------
        InputError
            When a stimulus has no file.

        Examples
        --------
        >>> from affectlab.evaluation import both_wrong
        >>> said = {"net": ["awe", "fear", "awe"], "other": ["fear", "awe", "awe"]}
        >>> found = both_wrong(said, truth=["anger", "anger", "awe"], taxonomy="mikels")
        >>> found.items(seed=0).select("labels_a", "system_a", "nearer").rows()
        [('awe', 'net', 'other'), ('awe', 'other', 'net')]
        """
        rng = np.random.default_rng(seed)
        n = len(self)
        half = n // 2 + int(n % 2 and rng.random() < 0.5)
        first = np.zeros(n, dtype=bool)
        first[rng.permutation(n)[:half]] = True
        stands = pl.Series("first", first, dtype=pl.Boolean)
        names = [pl.lit(name) for name in self.systems]
        told = [pl.col("label_first"), pl.col("label_second")]

        def sides(pair: Sequence[pl.Expr], name: str) -> list[pl.Expr]:
            one, other = pair
            return [
                pl.when(stands).then(one).otherwise(other).alias(f"{name}_a"),
                pl.when(stands).then(other).otherwise(one).alias(f"{name}_b"),
            ]

        made = self.frame.with_columns(*sides(told, "labels"), *sides(names, "system"))
        if files is not None:
            made = made.with_columns(_files(files, made["stimulus"].to_list()))
        wanted = ("stimulus", "file", "labels_a", "labels_b", "system_a", "system_b", "truth")
        return made.select(name for name in (*wanted, "nearer") if name in made.columns)


def _files(files: Mapping[str, str], stimuli: Sequence[str]) -> pl.Series:
    for name in stimuli:
        if not files.get(name):
            raise InputError(f"stimulus {name!r} has no file; expected one for each")
    return pl.Series("file", [str(files[name]) for name in stimuli], dtype=pl.String)

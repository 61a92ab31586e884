"""What a design of pairs promises, counted from the pairs themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import polars as pl

from affectlab._words import plural
from affectlab.stimuli._sequences import ExpressionSequences

__all__ = ["PairReport", "pair_report"]


@dataclass(frozen=True)
class PairReport:
    """Counts that show whether a design of pairs is what was wanted."""

    n_actors: int
    n_expressions: int
    n_sequences: int
    sequences_per_actor: tuple[int, int]
    """Smallest and largest number of sequences of an actor."""
    n_common: int
    """Expressions that all actors have."""
    n_pairs: int
    n_intra: int
    n_inter: int
    n_expression_pairs: int
    """Pairs of two expressions that at least one actor has."""
    copies: int
    """Actors that each pair of expressions was wanted on."""
    short: tuple[tuple[str, str, int], ...]
    """Pairs of expressions on fewer actors than wanted, and on how many."""
    expression_pairs_per_actor: dict[str, int]
    n_batches: int
    pairs_per_batch: tuple[int, int]
    """Smallest and largest number of pairs in a batch."""
    blocks_per_batch: tuple[int, int]
    """Smallest and largest number of blocks in a batch."""
    fewest_actors_in_batch: int
    fewest_intra_in_batch: int
    """Smallest number of intra-expression blocks in a batch."""
    n_split_blocks: int
    """Blocks that lie in more than one batch: none, unless the pairs were changed afterwards."""
    n_twice: int
    """Pairs of files that are asked twice: none, unless the pairs were changed afterwards."""

    def lines(self) -> list[tuple[str, str]]:
        """Put the counts into words: pairs of a name and a text."""
        loads = self.expression_pairs_per_actor.values()
        span = _span((min(loads, default=0), max(loads, default=0)))
        copies = plural(self.copies, "actor")
        on = (
            f"each on {copies}" if not self.short else f"{len(self.short):,} on fewer than {copies}"
        )
        return [
            ("sequences", f"{self.n_sequences:,}, {_span(self.sequences_per_actor)} per actor"),
            ("actors", f"{self.n_actors:,}"),
            ("expressions", f"{self.n_expressions:,}, {self.n_common:,} common to all actors"),
            ("intra-expression pairs", f"{self.n_intra:,}"),
            ("inter-expression pairs", f"{self.n_inter:,}"),
            ("all pairs", f"{self.n_pairs:,}"),
            ("pairs of expressions", f"{self.n_expression_pairs:,}, {on}"),
            ("pairs of expressions per actor", span),
            ("batches", f"{self.n_batches:,}"),
            ("pairs per batch", _span(self.pairs_per_batch)),
            ("blocks per batch", _span(self.blocks_per_batch)),
            ("actors in each batch", f"at least {self.fewest_actors_in_batch:,}"),
            ("intra-expression blocks in each batch", f"at least {self.fewest_intra_in_batch:,}"),
        ]


def pair_report(pairs: pl.DataFrame, sequences: ExpressionSequences, copies: int) -> PairReport:
    """Count what a table of pairs holds; see :class:`PairReport`."""
    intra, inter = pairs.filter(kind="intra"), pairs.filter(kind="inter")
    have = dict(sequences.frames.group_by("expression").agg(pl.col("actor").unique()).iter_rows())
    possible = {
        (a, b) for a, b in combinations(sequences.expressions, 2) if set(have[a]) & set(have[b])
    }
    two = inter.unique(["actor", "expression_a", "expression_b"])
    on = {
        (a, b): actors
        for a, b, actors in two.group_by("expression_a", "expression_b").len().iter_rows()
    }
    per_actor = dict(two.group_by("actor").len().iter_rows())
    batches = pairs.group_by("batch").agg(
        pl.len().alias("pairs"),
        pl.col("block").n_unique().alias("blocks"),
        pl.col("actor").n_unique().alias("actors"),
        pl.col("block").filter(pl.col("kind") == "intra").n_unique().alias("intra"),
    )
    counts = sequences.per_actor["n_sequences"]
    ends = pl.concat_list(
        pl.min_horizontal("file_a", "file_b"), pl.max_horizontal("file_a", "file_b")
    )
    return PairReport(
        n_actors=len(sequences.actors),
        n_expressions=len(sequences.expressions),
        n_sequences=len(sequences),
        sequences_per_actor=_ends(counts),
        n_common=sum(len(actors) == len(sequences.actors) for actors in have.values()),
        n_pairs=pairs.height,
        n_intra=intra.height,
        n_inter=inter.height,
        n_expression_pairs=len(possible),
        copies=copies,
        short=tuple(
            (a, b, on.get((a, b), 0)) for a, b in sorted(possible) if on.get((a, b), 0) < copies
        ),
        expression_pairs_per_actor={actor: per_actor.get(actor, 0) for actor in sequences.actors},
        n_batches=batches.height,
        pairs_per_batch=_ends(batches["pairs"]),
        blocks_per_batch=_ends(batches["blocks"]),
        fewest_actors_in_batch=_ends(batches["actors"])[0],
        fewest_intra_in_batch=_ends(batches["intra"])[0],
        n_split_blocks=int(
            pairs.group_by("block")
            .agg(pl.col("batch").n_unique())
            .filter(pl.col("batch") > 1)
            .height
        ),
        n_twice=pairs.height - pairs.select(ends.alias("ends")).n_unique(),
    )


def _ends(counts: pl.Series) -> tuple[int, int]:
    return (int(counts.min() or 0), int(counts.max() or 0))  # type: ignore[arg-type]


def _span(ends: tuple[int, int]) -> str:
    low, high = ends
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"

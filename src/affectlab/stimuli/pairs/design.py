"""Which two frames are compared: within a transition and across expressions, in batches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.core.words import plural
from affectlab.stimuli.pairs.allocation import allocate_pairs
from affectlab.stimuli.pairs.packing import pack_blocks
from affectlab.stimuli.pairs.sequences import ExpressionSequences

__all__ = [
    "PairDesign",
    "PairReport",
    "pair_design",
    "pair_report",
]

# What a design of pairs promises, counted from the pairs themselves.


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
    copies: Count
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


@dataclass(frozen=True, eq=False)
class PairDesign:
    """Pairs of frames to be compared, as :func:`pair_design` makes them."""

    pairs: pl.DataFrame
    """One row per pair: ``stimulus``, ``kind`` (intra, inter), ``actor``, ``expression_a``,
    ``role_a``, ``file_a``, ``expression_b``, ``role_b``, ``file_b``, ``block``, ``batch``."""
    sequences: ExpressionSequences
    copies: int
    """Number of actors that each pair of expressions was wanted on."""
    drawn: Count
    """Frames drawn from each of two sequences for their inter-expression pairs."""
    seed: int

    def to_frame(self) -> pl.DataFrame:
        """Give the pairs."""
        return self.pairs

    def report(self) -> PairReport:
        """Count what the design promises, from its pairs."""
        return pair_report(self.pairs, self.sequences, self.copies)

    def __len__(self) -> int:
        return self.pairs.height


def pair_design(
    sequences: ExpressionSequences,
    *,
    copies: Count | None = None,
    drawn: Count = 3,
    batches: Count | None = None,
    per_batch: Count = 200,
    seed: int = 0,
) -> PairDesign:
    """Design the comparisons of FaceExpressions-70k (sections 3.3 and 3.4.1) for any sequences.

    *Intra-expression* pairs are all pairs of frames of a sequence. *Inter-expression* pairs compare
    two sequences of one actor: the neutral frames are left out, `drawn` of the others are drawn
    from each, anew for each pair of sequences, and each of the first meets each of the second.
    Each pair of expressions is asked on `copies` actors, with as equal numbers of pairs for all
    actors as the missing sequences allow (:func:`allocate_pairs`). All pairs of one sequence, and
    all of two, are a block; blocks stay whole in batches, each of which holds at least one block of
    every actor and at least one intra-expression block.

    Parameters
    ----------
    sequences
        Frames by actor and expression.
    copies
        Actors for each pair of expressions; None for half of the actors, rounded up.
    drawn
        Frames drawn from each sequence for an inter-expression block; from a shorter sequence all
        but the neutral frame.
    batches
        Number of batches; None for as many as bring `per_batch` pairs into each.
    per_batch
        Pairs for a batch, when `batches` is None.
    seed
        Draws actors, frames and batches; the same seed gives the same design.

    Returns
    -------
    PairDesign
        Pairs in the order of their batches.

    Raises
    ------
    InputError
        When a number is out of range, or there are not enough blocks for the batches.

    Examples
    --------
    >>> from affectlab.stimuli import example_sequences
    >>> design = pair_design(example_sequences(actors=4, expressions=6), per_batch=60)
    >>> len(design), design.report().n_intra, design.report().n_inter
    (510, 240, 270)
    """
    _check_numbers(drawn, batches, per_batch)
    rng = np.random.default_rng(seed)
    actors, expressions = sequences.actors, sequences.expressions
    wanted = -(-len(actors) // 2) if copies is None else copies
    if not 1 <= wanted <= len(actors):
        raise InputError(f"copies = {wanted}: expected 1 to the number of actors, {len(actors)}")
    frames = _frames_of(sequences)
    blocks = [_intra(actor, expression, frames) for actor, expression in frames]
    if len(expressions) > 1:
        two = list(combinations(expressions, 2))
        held = allocate_pairs(_available(frames, actors, two), wanted, rng)
        for pair, place in np.argwhere(held):
            blocks.append(_inter(actors[place], two[pair], frames, drawn, rng))
    n_pairs = sum(map(len, blocks))
    n_batches = max(1, round(n_pairs / per_batch)) if batches is None else batches
    if batches is None and n_batches > len(blocks):
        raise InputError(
            f"per_batch = {per_batch}: pairs stay together in blocks of {max(map(len, blocks))} or "
            "fewer; expected at least as many pairs in a batch"
        )
    groups = [(block[0]["actor"], block[0]["kind"]) for block in blocks]
    batch = pack_blocks(groups, n_batches, must_hold=[*actors, "intra"], seed=rng)
    rows = [
        {**pair, "block": number, "batch": int(batch[number]) + 1}
        for number, block in enumerate(blocks)
        for pair in block
    ]
    table = pl.DataFrame(rows).with_columns(pl.col("block") + 1).sort("batch", "block")
    return PairDesign(table, sequences, wanted, drawn, seed)


_Frames = dict[tuple[str, str], list[dict[str, str]]]


def _check_numbers(drawn: int, batches: int | None, per_batch: int) -> None:
    for name, value in {"drawn": drawn, "batches": batches, "per_batch": per_batch}.items():
        if value is not None and value < 1:
            raise InputError(f"{name} = {value}: expected at least 1")


def _frames_of(sequences: ExpressionSequences) -> _Frames:
    """Frames of each sequence in order; the last is neutral."""
    found: _Frames = {}
    for row in sequences.frames.iter_rows(named=True):
        found.setdefault((row["actor"], row["expression"]), []).append(
            {"role": row["role"], "file": row["file"]}
        )
    return found


def _available(frames: _Frames, actors: list[str], two: list[tuple[str, str]]) -> NDArray[np.bool_]:
    return np.array(
        [[(actor, a) in frames and (actor, b) in frames for actor in actors] for a, b in two]
    )


def _intra(actor: str, expression: str, frames: _Frames) -> list[dict[str, str]]:
    return [
        _pair("intra", actor, (expression, first), (expression, second))
        for first, second in combinations(frames[actor, expression], 2)
    ]


def _inter(
    actor: str,
    two: tuple[str, str],
    frames: _Frames,
    drawn: int,
    rng: np.random.Generator,
) -> list[dict[str, str]]:
    sides = []
    for expression in two:
        shown = frames[actor, expression][:-1]
        places = sorted(rng.permutation(len(shown))[:drawn])
        sides.append([(expression, shown[place]) for place in places])
    return [_pair("inter", actor, first, second) for first, second in product(*sides)]


def _pair(
    kind: str,
    actor: str,
    a: tuple[str, dict[str, str]],
    b: tuple[str, dict[str, str]],
) -> dict[str, str]:
    names = "__".join(f"{expression}.{frame['role']}" for expression, frame in (a, b))
    return {
        "stimulus": f"{actor}__{names}",
        "kind": kind,
        "actor": actor,
        **{
            f"{what}_{side}": value
            for side, (expression, frame) in (("a", a), ("b", b))
            for what, value in (("expression", expression), *frame.items())
        },
    }

"""The design of pairs: the paper's counts, properties on random sequences, bad input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from affectlab.core.errors import InputError
from affectlab.stimuli import (
    FIVE_FRAMES,
    ExpressionSequences,
    example_sequences,
    pair_design,
    read_sequences,
)
from affectlab.stimuli.pairs import PairDesign, allocate_pairs, pack_blocks

PER_ACTOR = {1: 53, 2: 56, 3: 57, 4: 58, 5: 59, 6: 59, 7: 60, 8: 60}
"""Sequences of the eight actors: 462, with the paper's smallest and largest number."""


@pytest.fixture(scope="module", params=[0, 1])
def published(request: pytest.FixtureRequest) -> PairDesign:
    sequences = example_sequences(8, 61, common=41, per_actor=PER_ACTOR, seed=request.param)
    return pair_design(sequences, batches=354, seed=request.param)


class TestPublishedCounts:
    def test_of_pairs(self, published: PairDesign) -> None:
        found = published.report()
        assert (found.n_sequences, found.sequences_per_actor, found.n_common) == (462, (53, 60), 41)
        assert (found.n_intra, found.n_inter, found.n_pairs) == (4620, 65880, 70500)
        assert (found.n_expression_pairs, found.copies, found.short) == (1830, 4, ())
        assert set(found.expression_pairs_per_actor.values()) == {915}

    def test_of_batches(self, published: PairDesign) -> None:
        found = published.report()
        assert found.n_batches == 354
        assert found.blocks_per_batch == (21, 22)
        low, high = found.pairs_per_batch
        assert 189 < low <= 70500 / 354 <= high <= 200
        assert found.fewest_actors_in_batch == 8
        assert found.fewest_intra_in_batch == 1
        assert (found.n_split_blocks, found.n_twice) == (0, 0)

    def test_frames(self, published: PairDesign) -> None:
        """Intra pairs: all ten of five frames; inter pairs: three by three without neutral."""
        pairs = published.pairs
        assert pairs["stimulus"].n_unique() == pairs.height
        intra = pairs.filter(kind="intra")
        assert (intra["expression_a"] == intra["expression_b"]).all()
        assert intra.group_by("role_a", "role_b").len()["len"].to_list() == [462] * 10
        inter = pairs.filter(kind="inter")
        assert (inter["expression_a"] < inter["expression_b"]).all()
        assert "neutral" not in {*inter["role_a"], *inter["role_b"]}
        block = inter.group_by("block").agg(
            pl.col("role_a").n_unique(), pl.col("role_b").n_unique(), pl.len()
        )
        assert block.select("role_a", "role_b", "len").unique().rows() == [(3, 3, 9)]
        # Each of the four frames is left out about as often as the others.
        shown = inter["role_a"].value_counts()["count"]
        assert shown.min() > 0.97 * shown.max()

    def test_files_belong_to_their_sequence(self, published: PairDesign) -> None:
        keys = published.sequences.frames.select("actor", "expression", "role", "file")
        for side in "ab":
            named = published.pairs.select(
                "actor",
                pl.col(f"expression_{side}").alias("expression"),
                pl.col(f"role_{side}").alias("role"),
                pl.col(f"file_{side}").alias("file"),
            ).unique()
            assert named.join(keys, on=named.columns, how="anti").height == 0


def test_same_seed_same_design() -> None:
    sequences = example_sequences(4, 7, common=2, per_actor={2: 5, 4: 6})
    first, again, other = (pair_design(sequences, per_batch=50, seed=s).pairs for s in (3, 3, 4))
    assert first.equals(again)
    assert not first.equals(other)


def test_one_actor_and_one_expression() -> None:
    found = pair_design(example_sequences(1, 1)).report()
    assert (found.n_intra, found.n_inter, found.n_batches) == (10, 0, 1)


def test_pairs_that_too_few_actors_have_are_told() -> None:
    sequences = example_sequences(3, 4, common=2, per_actor={1: 2, 2: 2})
    found = pair_design(sequences, copies=2, batches=1).report()
    assert found.short == tuple(
        (a, b, 1)
        for a, b in [
            (a, b)
            for a in sequences.expressions
            for b in sequences.expressions
            if a < b and {a, b} - _common(sequences)
        ]
    )


def _common(sequences: ExpressionSequences) -> set[str]:
    counts = sequences.frames.group_by("expression").agg(pl.col("actor").n_unique())
    return set(counts.filter(actor=len(sequences.actors))["expression"])


def test_short_sequences_give_what_they_have() -> None:
    """A sequence of a peak and a neutral frame has one frame to compare with others."""
    rows = [
        {"actor": "ann", "expression": e, "place": k, "file": f"{e}{k}.png"}
        for e, n in (("joy", 2), ("awe", 4))
        for k in range(1, n + 1)
    ]
    pairs = pair_design(ExpressionSequences(pl.DataFrame(rows)), copies=1).pairs
    assert pairs.group_by("kind").len().sort("kind").rows() == [("inter", 3), ("intra", 1 + 6)]
    assert set(pairs["role_a"]) <= {f"frame_{k}" for k in range(1, 5)}


def _least_largest_load(available: np.ndarray, copies: int) -> float:
    """Solve for the smallest possible largest load as a linear program (its matrix is integral)."""
    cells = np.argwhere(available)
    each = np.minimum(available.sum(axis=1), copies)
    equal = np.zeros((len(available), len(cells) + 1))
    bound = np.zeros((available.shape[1], len(cells) + 1))
    for k, (pair, actor) in enumerate(cells):
        equal[pair, k] = bound[actor, k] = 1
    bound[:, -1] = -1
    found = linprog(
        np.eye(len(cells) + 1)[-1],
        A_ub=bound,
        b_ub=np.zeros(len(bound)),
        A_eq=equal,
        b_eq=each,
        bounds=[(0, 1)] * len(cells) + [(0, None)],
    )
    assert found.status == 0
    return float(found.fun)


class TestAllocation:
    @given(
        st.integers(1, 6).flatmap(
            lambda actors: st.tuples(
                st.lists(
                    st.lists(st.booleans(), min_size=actors, max_size=actors),
                    min_size=1,
                    max_size=14,
                ),
                st.integers(1, actors),
                st.integers(0, 3),
            )
        )
    )
    def test_as_even_as_can_be(self, drawn: tuple[list[list[bool]], int, int]) -> None:
        table, copies, seed = drawn
        available = np.array(table)
        held = allocate_pairs(available, copies, seed)
        assert not (held & ~available).any()
        assert (held.sum(axis=1) == np.minimum(available.sum(axis=1), copies)).all()
        best = _least_largest_load(available, copies)
        assert held.sum(axis=0).max() == math.ceil(best - 1e-6)

    @pytest.mark.parametrize(
        ("available", "copies", "said"),
        [
            (np.ones((3, 2)), 1, "true or false"),
            (np.ones(3, dtype=bool), 1, "shape"),
            (np.ones((3, 2), dtype=bool), 3, "copies = 3: expected 1 to the number of actors, 2"),
            (np.ones((3, 2), dtype=bool), 0, "copies = 0"),
        ],
    )
    def test_bad_input(self, available: np.ndarray, copies: int, said: str) -> None:
        with pytest.raises(InputError, match=said):
            allocate_pairs(available, copies)


class TestPacking:
    @given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60), st.integers(1, 8))
    def test_sizes_differ_by_one(self, actors: list[str], n_batches: int) -> None:
        if n_batches > len(actors):
            return
        batch = pack_blocks([(actor,) for actor in actors], n_batches)
        sizes = np.bincount(batch, minlength=n_batches)
        assert sizes.max() - sizes.min() <= 1
        for actor in set(actors):
            of = np.bincount(batch[np.array(actors) == actor], minlength=n_batches)
            assert of.max() - of.min() <= 1

    def test_exchanges_where_dealing_is_not_enough(self) -> None:
        """Ann's blocks are of two kinds, neither of which goes round: dealing misses batches."""
        blocks = [("ann", "intra")] * 3 + [("ben", "intra")] * 4 + [("ann", "inter")] * 3
        blocks += [("ben", "inter")] * 8
        for seed in range(20):
            batch = pack_blocks(blocks, 6, must_hold=["ann", "ben", "intra"], seed=seed)
            for k in range(6):
                inside = {
                    name for b, block in zip(batch, blocks, strict=True) if b == k for name in block
                }
                assert {"ann", "ben", "intra"} <= inside

    def test_too_few_blocks(self) -> None:
        with pytest.raises(InputError, match="a block of ben, which has 1 blocks"):
            pack_blocks([("ann",)] * 5 + [("ben",)], 2, must_hold=["ann", "ben"])
        with pytest.raises(
            InputError, match="n_batches = 3: expected 1 to the number of blocks, 2"
        ):
            pack_blocks([("ann",)] * 2, 3)
        # Three of the groups cannot be in the two blocks that the first leaves to its batch.
        blocks = [("a", "b", "c"), ("a",), ("b",), ("c",)]
        with pytest.raises(InputError, match="no exchange of blocks"):
            pack_blocks(blocks, 2, must_hold=["a", "b", "c"])


def test_batches_smaller_than_a_block_are_refused_in_words_of_the_reader() -> None:
    sequences = example_sequences(actors=2, expressions=3)
    with pytest.raises(InputError, match="per_batch = 5: pairs stay together in blocks of 10"):
        pair_design(sequences, per_batch=5)


GOOD = {"actor": "ann", "expression": "joy", "place": 1, "file": "1.png"}


class TestSequences:
    def test_file_round_trip(self, tmp_path: Path) -> None:
        wanted = example_sequences(2, 2)
        wanted.frames.write_csv(tmp_path / "frames.csv")
        wanted.frames.write_parquet(tmp_path / "frames.parquet")
        for name in ("frames.csv", "frames.parquet"):
            assert read_sequences(tmp_path / name).frames.equals(wanted.frames)

    def test_five_frames_have_names(self) -> None:
        frames = example_sequences(1, 1).frames.drop("role").sample(5, shuffle=True, seed=1)
        assert ExpressionSequences(frames).frames["role"].to_list() == list(FIVE_FRAMES)

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([], "column 'actor' is missing"),
            ([GOOD], "actor 'ann', expression 'joy': places 1; expected 1 .the peak., 2"),
            ([GOOD, {**GOOD, "place": 3, "file": "3.png"}], "places 1, 3; expected"),
            ([GOOD, {**GOOD, "file": "3.png"}], "places 1, 1; expected"),
            ([GOOD, {**GOOD, "place": 2}], "file '1.png' stands twice; expected each frame once"),
            ([GOOD, {**GOOD, "place": "two"}], "row 2, place: 'two'; expected a whole number"),
            ([GOOD, {**GOOD, "place": 2, "actor": " "}], "row 2, actor: ' '; expected a name"),
            ([GOOD, {**GOOD, "place": 2, "file": None}], "row 2, file: None; expected a name"),
        ],
    )
    def test_bad_rows(self, rows: list[dict[str, object]], said: str) -> None:
        with pytest.raises(InputError, match=said):
            ExpressionSequences(pl.DataFrame(rows, strict=False))

    def test_bad_files(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="there is no such file"):
            read_sequences(tmp_path / "none.csv")
        (tmp_path / "not.parquet").write_text("actor")
        with pytest.raises(InputError, match=r"not\.parquet: not a table of frames"):
            read_sequences(tmp_path / "not.parquet")
        (tmp_path / "short.csv").write_text("actor,file\nann,1.png\n")
        with pytest.raises(InputError, match=r"short\.csv: column 'expression' is missing"):
            read_sequences(tmp_path / "short.csv")


@pytest.mark.parametrize("name", ["drawn", "batches", "per_batch"])
def test_numbers_below_one(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} = 0: expected at least 1"):
        pair_design(example_sequences(2, 2), **{name: 0})


def test_example_sequences_refuse_what_cannot_be() -> None:
    with pytest.raises(InputError, match="actor 1: 1 sequences; expected 2 to 3"):
        example_sequences(2, 3, common=2, per_actor={1: 1})
    with pytest.raises(InputError, match="actors = 0"):
        example_sequences(0, 3)

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import consensus_flow
from affectlab.reliability.wording import (
    NO_SECOND_VOTES,
    RECORDED_RULE,
    inferred_split,
    not_rated_again,
    out_of_protocol,
    rated_unconfirmed,
    unrecorded_votes,
)

NAN = math.nan


def sequential(
    votes: list[int], label: str = "joy", start: int = 0
) -> list[tuple[str, str, str, float]]:
    """Rows of items with ``votes[k]`` yes answers and then a no; negative: yes answers only."""
    rows = []
    for k, yes in enumerate(votes):
        item = f"s{start + k}"
        rows += [(item, f"r{v}", label, 1.0) for v in range(abs(yes))]
        if yes >= 0:
            rows.append((item, f"r{abs(yes)}", label, 0.0))
    return rows


def ratings_of(rows) -> Ratings:
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale="binary")


@pytest.mark.data
def test_emonet_face_binary(shared_data):
    ratings = read_ratings(shared_data / "emonet_face" / "binary.csv")
    flow = consensus_flow(ratings)
    batches = {batch.batch: batch for batch in flow.batches}
    assert flow.start == 19_999
    assert (batches[2].items, batches[2].confirmed) == (14_670, 11_018)
    assert round(batches[2].agreement, 4) == 0.7511
    assert round(batches[2].share, 4) == 0.7335
    assert (batches[3].items, batches[3].confirmed) == (11_018, 9_075)
    assert round(batches[3].agreement, 4) == 0.8237
    assert round(batches[3].share, 4) == 0.5509
    assert not batches[2].inferred
    assert (flow.single_positive, flow.single_negative) == (3_037, 22_291)
    assert flow.out_of_protocol == 0
    for batch in (batches[1], batches[4]):
        assert batch.inferred
        assert batch.items == 19_999
        assert math.isnan(batch.agreement)
        assert batch.reason == Reason(Cause.BATCHES_ALIKE)
    assert batches[1].agreement_low < 0.8283 < batches[1].agreement_high
    assert batches[4].agreement_low < 0.9429 < batches[4].agreement_high


@pytest.mark.data
def test_emonet_face_with_the_published_total(shared_data):
    ratings = read_ratings(shared_data / "emonet_face" / "binary.csv")
    first, *_, contrastive = consensus_flow(ratings, first_positive=16_565).batches
    assert round(first.agreement, 4) == 0.8283
    assert contrastive.confirmed == 18_857
    assert round(contrastive.agreement, 4) == 0.9429
    assert first.inferred
    assert contrastive.inferred
    notes = consensus_flow(ratings, first_positive=16_565).notes
    assert {inferred_split(16_565, 1_895, 1_142), inferred_split(16_565, 1_142, 1_895)} & {*notes}


@pytest.mark.data
def test_emonet_face_by_label_adds_up(shared_data):
    ratings = read_ratings(shared_data / "emonet_face" / "binary.csv")
    frame = consensus_flow(ratings, by_label=True).to_frame()
    totals = frame.group_by("batch").agg(pl.col("items").sum(), pl.col("confirmed").sum())
    assert sorted(totals.iter_rows()) == [(2, 14_670, 11_018), (3, 11_018, 9_075)]


class TestPlainSequences:
    @given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
    @settings(max_examples=60, deadline=None)
    def test_rounds_are_counted(self, votes):
        flow = consensus_flow(ratings_of(sequential(votes)))
        yes = np.array(votes)
        for batch in flow.batches:
            assert batch.items == (yes >= batch.batch - 1).sum()
            assert batch.confirmed == (yes >= batch.batch).sum()
            assert batch.agreement == batch.confirmed / batch.items
            assert batch.share == batch.items / len(votes)
            assert not batch.inferred
        assert len(flow.batches) == yes.max() + 1
        assert flow.out_of_protocol == 0

    def test_each_round_is_the_positives_of_the_one_before(self):
        flow = consensus_flow(ratings_of(sequential([0, 1, 2, -3, -3, 1, 0])))
        batches = flow.batches
        for before, after in pairwise(batches):
            assert after.items == before.confirmed

    def test_row_order_means_nothing(self):
        rows = sequential([0, 1, 2, 3, -3, -1, 2])
        shuffled = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
        assert consensus_flow(ratings_of(rows)) == consensus_flow(ratings_of(shuffled))

    def test_items_that_were_not_asked_again_are_said(self):
        flow = consensus_flow(ratings_of(sequential([-1, -1, 0, 2])))
        assert flow.batches[0].confirmed == 3
        assert flow.batches[1].items == 1
        assert not_rated_again(2, 1) in flow.notes

    def test_items_with_two_noes_are_counted(self):
        flow = consensus_flow([[1, 0], [1, 0], [0, NAN]])
        assert flow.out_of_protocol == 1
        assert out_of_protocol(1) in flow.notes

    def test_no_second_votes(self):
        flow = consensus_flow([[1, 0, 1]])
        assert [batch.items for batch in flow.batches] == [3]
        assert flow.batches[0].agreement == pytest.approx(2 / 3)
        assert NO_SECOND_VOTES in flow.notes

    def test_nothing(self):
        flow = consensus_flow(np.full((2, 3), NAN))
        assert flow.batches[0].items == 0
        assert flow.batches[0].reason == Reason(Cause.NONE, of="items")


class TestContrastive:
    def rows(self):
        affirmative = sequential([0, -1, 1, 2, -3, -3])
        contrastive = [(f"s{k}", "c", "awe", float(k == 0)) for k in range(6)]
        return affirmative + contrastive

    def test_bounds_hold_the_truth_and_the_total_gives_it(self):
        ratings = ratings_of(self.rows())
        flow = consensus_flow(ratings)
        first, *later, contrastive = flow.batches
        assert flow.start == 6
        assert [batch.items for batch in later] == [4, 3]
        assert first.agreement_low <= 5 / 6 <= first.agreement_high
        assert contrastive.agreement_low <= 5 / 6 <= contrastive.agreement_high
        told = consensus_flow(ratings, first_positive=5).batches
        assert told[0].agreement == pytest.approx(5 / 6)
        assert told[-1].agreement == pytest.approx(5 / 6)

    def test_by_label_shows_what_votes_show(self):
        flow = consensus_flow(ratings_of(self.rows()), by_label=True)
        assert [(b.label, b.batch, b.items) for b in flow.batches] == [("joy", 2, 4), ("joy", 3, 3)]

    def test_impossible_totals_are_refused(self):
        ratings = ratings_of(self.rows())
        with pytest.raises(InputError, match="first_positive 3: the votes allow 4 to 6"):
            consensus_flow(ratings, first_positive=3)
        with pytest.raises(InputError, match="start 2: expected between 4"):
            consensus_flow(ratings, start=2)
        with pytest.raises(InputError, match="by_label"):
            consensus_flow(ratings, start=6, by_label=True)


def test_several_labels_without_contrast_start_from_all_items():
    rows = sequential([1, 2, -3]) + sequential([-3, 0, 2], label="awe")
    flow = consensus_flow(ratings_of(rows))
    assert flow.start == 6
    assert not flow.batches[0].inferred
    by_label = consensus_flow(ratings_of(rows), by_label=True).to_frame()
    first = by_label.filter(pl.col("batch") == 1)
    assert first["items"].to_list() == [3, 3]


def test_other_values_are_refused():
    with pytest.raises(InputError, match=r"rater '0', stimulus '1': vote 2"):
        consensus_flow([[1, 2], [1, 0]])


class TestRecorded:
    """Ratings that record the batch of every answer, as the export of a study does."""

    def simulated(self, seed: int, n: int = 30) -> tuple[pl.DataFrame, dict[tuple[str, int], list]]:
        """Rows of a sequential study in any order, and the answers of each batch."""
        rng = np.random.default_rng(seed)
        rows, batches = [], {}
        for k in range(n):
            label, other = rng.permutation(["joy", "awe", "fear"])[:2]
            for step in (1, 2, 3):
                yes = bool(rng.random() < 0.7)
                rows.append((f"s{k}", f"r{step}", label, float(yes), step, "affirmative"))
                batches.setdefault(("affirmative", step), []).append((label, yes))
                if not yes:
                    break
            yes = bool(rng.random() < 0.2)
            rows.append((f"s{k}", "r4", other, float(yes), 1, "contrastive"))
            batches.setdefault(("contrastive", 1), []).append((other, not yes))
        rows = [rows[k] for k in rng.permutation(len(rows))]
        names = ["stimulus", "rater", "label", "value", "step", "batch_kind"]
        return pl.DataFrame(rows, schema=names, orient="row"), batches

    @pytest.mark.parametrize("seed", range(5))
    def test_every_batch_is_exact(self, seed):
        frame, batches = self.simulated(seed)
        flow = consensus_flow(Ratings(frame, scale="binary"))
        assert flow.recorded
        assert flow.start == 30
        assert [b.kind for b in flow.batches] == ["affirmative"] * 3 + ["contrastive"]
        assert [b.batch for b in flow.batches] == [1, 2, 3, 4]
        for batch in flow.batches:
            of_kind = batches[batch.kind, 1 if batch.kind == "contrastive" else batch.batch]
            assert batch.items == len(of_kind)
            assert batch.confirmed == sum(right for _, right in of_kind)
            assert batch.share == len(of_kind) / 30
            assert not batch.inferred
        # What the votes alone allow is wider, and holds it.
        inferred = consensus_flow(Ratings(frame.drop("step", "batch_kind"), scale="binary"))
        assert not inferred.recorded
        first = inferred.batches[0]
        assert first.agreement_low <= flow.batches[0].agreement <= first.agreement_high

    def test_by_label(self):
        frame, batches = self.simulated(1)
        flow = consensus_flow(Ratings(frame, scale="binary"), by_label=True)
        for (kind, step), answers in batches.items():
            for label in ("joy", "awe", "fear"):
                (batch,) = (
                    b
                    for b in flow.batches
                    if (b.label, b.kind) == (label, kind)
                    and (kind != "affirmative" or b.batch == step)
                )
                own = [right for name, right in answers if name == label]
                assert (batch.items, batch.confirmed) == (len(own), sum(own))

    def test_batches_belong_to_answers_even_where_all_are_equal(self):
        rows = [(f"s{k}", "r1", "joy", float(k % 2), 1, "affirmative") for k in range(4)]
        frame = pl.DataFrame(
            rows,
            schema=["stimulus", "rater", "label", "value", "step", "batch_kind"],
            orient="row",
        )
        ratings = Ratings(frame, scale="binary")
        assert {"step", "batch_kind"} < set(ratings.to_frame().columns)
        flow = consensus_flow(ratings)
        assert flow.recorded
        assert (flow.batches[0].items, flow.batches[0].confirmed) == (4, 2)

    @pytest.mark.parametrize(
        ("first", "second", "said"),
        [
            (
                "00000",
                "01234",
                [rated_unconfirmed(5, 2, 1)],
            ),
            # As many as were confirmed, and yet others.
            (
                "10111",
                "1234",
                [
                    not_rated_again(1, 1),
                    rated_unconfirmed(1, 2, 1),
                ],
            ),
            ("10111", "02", [not_rated_again(2, 1)]),
            ("10111", "0234", []),
        ],
    )
    def test_who_went_on_is_known_by_item(self, first, second, said):
        rows = [(f"s{k}", "r1", "joy", float(v), 1, "affirmative") for k, v in enumerate(first)]
        rows += [(f"s{k}", "r2", "joy", 1.0, 2, "affirmative") for k in second]
        names = ["stimulus", "rater", "label", "value", "step", "batch_kind"]
        flow = consensus_flow(
            Ratings(pl.DataFrame(rows, schema=names, orient="row"), scale="binary")
        )
        assert flow.recorded
        assert flow.notes == (RECORDED_RULE, *said)

    def test_gaps_are_told_and_totals_refused(self):
        frame, _ = self.simulated(2)
        gap = frame.with_row_index().with_columns(
            step=pl.when(pl.col("index") == 0).then(None).otherwise(pl.col("step"))
        )
        flow = consensus_flow(Ratings(gap.drop("index"), scale="binary"))
        assert not flow.recorded
        assert flow.notes[0] == unrecorded_votes(1, ("affirmative", "contrastive"))
        ratings = Ratings(frame, scale="binary")
        with pytest.raises(InputError, match="do not record their batches"):
            consensus_flow(ratings, start=30)

    def test_two_votes_in_one_step_are_refused(self):
        frame, _ = self.simulated(3)
        twice = pl.concat([frame, frame.with_columns(rater=pl.col("rater") + "x")])
        with pytest.raises(InputError, match=r"two votes in step \d of the \w+ batches"):
            consensus_flow(Ratings(twice, scale="binary"))


# -- the consensus set ---------------------------------------------------------------------------


def _set(flow) -> dict[tuple[str, str], bool]:
    return {
        (label, stimulus): present
        for label, stimulus, present, *_ in flow.to_frame("consensus_set").rows()
    }


def test_two_yes_and_one_no_is_not_present():
    flow = consensus_flow(ratings_of(sequential([-3, 2, 1, 0, -2, -1])))
    assert _set(flow) == {("joy", "s0"): True}
    excluded = {stimulus: why for _, stimulus, _, _, why in flow.to_frame("excluded").rows()}
    assert excluded == {
        **dict.fromkeys(("s1", "s2", "s3"), "dissent"),
        **dict.fromkeys(("s4", "s5"), "not_in_every_batch"),
    }


def test_contrastive_items_are_absent_where_they_can_be_told():
    rows = sequential([-3, 2, 1, 0, -1])
    # Of each stimulus another label is asked once.
    rows += [(f"s{k}", "c", "fear", float(k == 1)) for k in range(5)]
    flow = consensus_flow(ratings_of(rows))
    assert _set(flow) == {("joy", "s0"): True, ("fear", "s0"): False, ("fear", "s2"): False}
    why = {(label, one): reason for label, one, _, _, reason in flow.to_frame("excluded").rows()}
    assert why["fear", "s1"] == why["joy", "s1"] == why["joy", "s2"] == "dissent"
    assert why["joy", "s3"] == why["fear", "s3"] == why["fear", "s4"] == "either_batch"


@pytest.mark.parametrize("seed", range(3))
def test_recorded_batches_give_the_set_of_the_paper(seed):
    """Three yes in a row, or a no to what should be absent, as a loop over the votes says it."""
    rng = np.random.default_rng(seed)
    rows, steps, kinds, expected, left = [], [], [], {}, set()
    for k in range(60):
        confirmed = True
        for step in (1, 2, 3):
            yes = rng.random() < 0.8
            rows.append((f"s{k}", f"r{step}", "joy", float(yes)))
            steps.append(step)
            kinds.append("affirmative")
            confirmed &= bool(yes)
            if not yes:
                break
        if confirmed:
            expected["joy", f"s{k}"] = True
        else:
            left.add(("joy", f"s{k}"))
        yes = rng.random() < 0.1
        rows.append((f"s{k}", "r9", "fear", float(yes)))
        steps.append(1)
        kinds.append("contrastive")
        if yes:
            left.add(("fear", f"s{k}"))
        else:
            expected["fear", f"s{k}"] = False
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    frame = frame.with_columns(step=pl.Series(steps), batch_kind=pl.Series(kinds))
    flow = consensus_flow(
        Ratings(frame.sample(fraction=1, shuffle=True, seed=seed), scale="binary")
    )
    assert flow.recorded
    assert _set(flow) == expected
    assert {row[:2] for row in flow.to_frame("excluded").rows()} == left
    assert set(flow.to_frame("excluded")["reason"]) == {"dissent"}
    # The same by label, and where nothing says which batch an answer is of, less is known.
    assert _set(consensus_flow(Ratings(frame, scale="binary"), by_label=True)) == expected
    unknown = _set(consensus_flow(Ratings(frame.drop("step", "batch_kind"), scale="binary")))
    assert unknown.items() <= expected.items()
    assert sum(unknown.values()) == sum(expected.values())


@pytest.mark.data
def test_the_consensus_set_of_the_published_file(shared_data):
    flow = consensus_flow(read_ratings(shared_data / "emonet_face" / "binary.csv"))
    found = flow.to_frame("consensus_set")
    assert found["present"].sum() == 9_075
    assert found.filter(~pl.col("present"))["yes"].sum() == 0
    assert flow.to_frame("excluded").height + found.height == 2 * 19_999
    mixed = flow.to_frame("excluded").filter((pl.col("yes") > 0) & (pl.col("no") > 0))
    assert set(mixed["reason"]) == {"dissent"}

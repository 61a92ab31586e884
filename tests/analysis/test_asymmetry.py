"""Tests of asymmetry against SciPy, what they find, and how mirrored names are matched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from tests.analysis.pair_tables import designed, inter_pair, intra_pair, table_of

from affectlab.analysis import asymmetry_tests
from affectlab.analysis.expressions.asymmetry import t_test
from affectlab.analysis.expressions.sides import sides_of
from affectlab.analysis.expressions.wording import SideProblem, side_note
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason

NAMES = ("Mouth Left Open", "Mouth Right Open", "Jaw Right", "Jaw Left", "Smile", "Frown", "Blink")


def row(found: pl.DataFrame, **keys: str) -> dict:
    own = found.filter(**keys)
    assert own.height == 1
    return own.row(0, named=True)


samples = st.lists(st.floats(-100, 100), min_size=2, max_size=12).filter(lambda x: np.ptp(x) > 0.1)


@given(samples, samples, st.sampled_from(["greater", "less", "two-sided"]))
def test_two_samples_equal_scipy(first, second, alternative) -> None:
    a, b = np.array(first), np.array(second)
    found = t_test(a, b, "pairs", alternative, 0.95, paired=False)
    expected = stats.ttest_ind(a, b, alternative=alternative)
    assert found["t"] == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert found["p"] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-9)
    ends = stats.ttest_ind(a, b).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-6)


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=2, max_size=12).filter(
        lambda rows: np.ptp([a - b for a, b in rows]) > 0.1
    ),
    st.sampled_from(["greater", "less", "two-sided"]),
)
def test_paired_equals_scipy(rows, alternative) -> None:
    a, b = (np.array(side) for side in zip(*rows, strict=True))
    found = t_test(a, b, "actors", alternative, 0.9, paired=True)
    expected = stats.ttest_rel(a, b, alternative=alternative)
    assert found["t"] == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert found["p"] == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-9)
    ends = stats.ttest_rel(a, b).confidence_interval(0.9)
    assert (found["low"], found["high"]) == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([1.0], [], Reason(Cause.FEWER, least=2, of="observations")),
        ([1.0], [2.0], Reason(Cause.FEWER, least=2, of="observations")),
        ([3.0, 3.0], [3.0, 3.0], Reason(Cause.CONSTANT, of="observations")),
    ],
)
def test_tests_that_are_not_defined(first, second, reason) -> None:
    one = t_test(np.array(first), np.array(second), "pairs", "greater", 0.95, paired=False)
    assert (one["status"], one["reason"]) == ("undefined", reason)
    if len(first) == len(second):
        one = t_test(np.array(first), np.array(second), "pairs", "greater", 0.95, paired=True)
        assert one["reason"] == reason
        assert np.isnan(one["p"])


def test_by_hand() -> None:
    rows = []
    values = {
        ("ann", "Jaw Right"): [60, 30],
        ("ann", "Jaw Left"): [55, 27],
        ("bob", "Jaw Right"): [70, 44],
        ("bob", "Jaw Left"): [71, 40],
        # Right alone: no pair to be compared with.
        ("cid", "Jaw Right"): [90, 90],
    }
    for (actor, name), (peak, middle) in values.items():
        rows.append(intra_pair(actor, name, "peak", "neutral", peak))
        rows.append(intra_pair(actor, name, "neutral", "middle", middle))
    # A pair of frames that only one side has.
    rows.append(intra_pair("ann", "Jaw Right", "peak", "middle", 1000))
    found = asymmetry_tests(table_of(rows))
    right = [60, 30, 70, 44, 90, 90, 1000]
    left = [55, 27, 71, 40]
    own = row(found.frame, kind="intra", test="two samples")
    expected = stats.ttest_ind(right, left, alternative="greater")
    assert (own["t"], own["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert (own["n_first"], own["n_second"]) == (7, 4)
    points = found.points.sort("actor")
    assert points["actor"].to_list() == ["ann", "bob"]
    assert points["mean_right"].to_list() == [45, 57]
    assert points["mean_left"].to_list() == [41, 55.5]
    assert points["apart"].to_list() == [4, 1.5]
    assert points["n_pairs"].to_list() == [2, 2]
    own = row(found.frame, kind="intra", unit="transitions")
    expected = stats.ttest_rel([45, 57], [41, 55.5], alternative="greater")
    assert (own["t"], own["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert own["p_two_sided"] == pytest.approx(2 * expected.pvalue)
    assert found.frame["kind"].unique().to_list() == ["intra"]


def test_inter_pairs_are_compared_on_the_same_third_expression() -> None:
    rows = [
        inter_pair("ann", "Jaw Right", "Smile", 70),
        inter_pair("ann", "Smile", "Jaw Left", 66),
        inter_pair("ann", "Jaw Right", "Frown", 10),
        inter_pair("bob", "Jaw Right", "Smile", 50),
        inter_pair("bob", "Jaw Left", "Smile", 52),
        inter_pair("bob", "Jaw Left", "Jaw Right", 99),
        inter_pair("ann", "Smile", "Frown", 40),
        inter_pair("bob", "Smile", "Frown", 30),
    ]
    found = asymmetry_tests(table_of(rows))
    assert found.points.sort("actor").select("mean_right", "mean_left").rows() == [
        (70, 66),
        (50, 52),
    ]
    own = row(found.frame, comparison="one-sided – symmetric", test="two samples")
    expected = stats.ttest_ind([70, 66, 10, 50, 52, 99], [40, 30], alternative="greater")
    assert (own["t"], own["p"]) == pytest.approx((expected.statistic, expected.pvalue))
    own = row(found.frame, comparison="one-sided – symmetric", test="paired")
    expected = stats.ttest_rel(
        [np.mean([70, 66, 10]), np.mean([50, 52, 99])], [40, 30], alternative="greater"
    )
    assert own["t"] == pytest.approx(expected.statistic)


def test_a_planted_asymmetry_is_found_by_the_paired_test_alone() -> None:
    truth = designed(8, 7, 2, noise=2, names=NAMES, seed=4)
    right = pl.col("expression_a").str.contains("Right") & (pl.col("kind") == "intra")
    table = truth.table.with_columns(
        pl.when(right).then(pl.col("value") + 2.5).otherwise(pl.col("value")).alias("value")
    )
    found = asymmetry_tests(table).frame
    for unit in ("transitions", "actors"):
        own = row(found, kind="intra", unit=unit)
        assert own["p"] < 0.01
        assert own["low"] < 2.5 < own["high"]
    assert row(found, kind="intra", test="two samples")["p"] > 0.05
    other = asymmetry_tests(table, alternative="less").frame
    assert row(other, kind="intra", unit="transitions")["p"] > 0.99
    np.testing.assert_allclose(other["p_two_sided"], found["p_two_sided"], rtol=1e-6)


@pytest.mark.long
def test_false_alarms_are_as_many_as_they_say() -> None:
    """The paired tests keep their level where right and left are alike."""
    alarms = {"transitions": 0, "actors": 0}
    for seed in range(40):
        truth = designed(6, 7, 2, noise=4, names=NAMES, seed=seed)
        found = asymmetry_tests(truth.table).frame
        for unit in alarms:
            alarms[unit] += row(found, kind="intra", unit=unit)["p"] < 0.1
    for count in alarms.values():
        # 4 of 40 are expected; more than 10 in one case of a thousand.
        assert count <= 10


@pytest.mark.parametrize(
    ("right", "left"),
    [
        ("Mouth Right Open", "Mouth Left Open"),
        ("E041_Mouth_Nose_Right", "E042_Mouth_Nose_Left"),
        ("jawRight", "jawLeft"),
        ("RIGHT brow up", "Left Brow Up"),
        ("12 Mouth right", "9 Mouth left"),
    ],
)
def test_mirrored_names(right: str, left: str) -> None:
    found = sides_of([left, "Upright", "Bright Smile", right, "Cleft Chin"], None)
    assert found.mirrored == ((right, left),)
    assert found.symmetric == {"Upright", "Bright Smile", "Cleft Chin"}
    assert found.unmatched == ()
    table = found.to_frame([right, left, "Upright"])
    assert table.rows() == [
        (right, "right", left),
        (left, "left", right),
        ("Upright", "symmetric", None),
    ]


def test_names_without_a_match() -> None:
    names = ["Jaw Right", "E1 Lip Left", "E2 Lip Left", "E3 Lip Right", "Look Left Right"]
    found = sides_of(names, None)
    assert found.mirrored == ()
    assert found.unmatched == ("E1 Lip Left", "E2 Lip Left", "E3 Lip Right", "Jaw Right")
    assert found.unclear == ("Look Left Right",)
    assert found.to_frame(["Look Left Right"])["side"].to_list() == ["unclear"]
    rows = [
        intra_pair(actor, name, "peak", "neutral", 5 + len(actor + name))
        for actor in "ab"
        for name in names
    ]
    told = asymmetry_tests(table_of(rows))
    assert told.notes[:2] == (
        side_note(SideProblem.UNMATCHED, found.unmatched),
        side_note(SideProblem.UNCLEAR, found.unclear),
    )
    assert row(told.frame, kind="intra", unit="actors")["status"] == "undefined"


def test_a_lone_letter_is_told() -> None:
    names = ("Jaw Left", "Jaw Right", "wink_l", "E060_R_Mouth", "Girl", "Raise Lip")
    pairs = [intra_pair("a", name, "peak", "neutral", 9.0 * k) for k, name in enumerate(names)]
    notes = asymmetry_tests(table_of(pairs)).notes
    assert side_note(SideProblem.LETTER, ["E060_R_Mouth", "wink_l"]) in notes
    told = asymmetry_tests(table_of(pairs), sides={"E060_R_Mouth": "wink_l"}).notes
    assert told == ()


def test_a_table_says_which_mirrors_which(tmp_path: Path) -> None:
    names = ["smirk one", "smirk two", "wink", "smile"]
    file = tmp_path / "sides.csv"
    file.write_text("right,left\nsmirk one,smirk two\n,wink\n")
    found = sides_of(names, file)
    assert found.mirrored == (("smirk one", "smirk two"),)
    assert (found.left, found.symmetric) == ({"smirk two", "wink"}, {"smile"})
    assert sides_of(names, {"smirk one": "smirk two"}).symmetric == {"wink", "smile"}
    for text, sentence in (
        ("right,left\nsmirk,smirk two\n", "unknown expression 'smirk'; did you mean"),
        ("right,left\nwink,wink\n", "expression 'wink' stands twice"),
        ("right\nwink\n", "column 'left' is missing; expected right and left"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence):
            sides_of(names, file)


def test_bad_options() -> None:
    table = table_of([intra_pair("a", "smile", "peak", "neutral", 3.0)])
    with pytest.raises(InputError, match="no expression has a side"):
        asymmetry_tests(table)
    with pytest.raises(InputError, match="unknown alternative 'more'"):
        asymmetry_tests(table, alternative="more")

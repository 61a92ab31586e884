"""The running study against the batch functions on the answers that survive."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import (
    RaterChecks,
    RunningReliability,
    krippendorff_alpha,
    mean_opinion_scores,
    percent_agreement,
    self_consistency,
)

LEVELS = ("nominal", "ordinal", "interval", "ratio")
STIMULI, RATERS, LABELS = "abcd", "rstu", ("joy", "fear")
SLIDER = (0.0, 0.1, 7.3, 33.333333333333336, 50.0, 99.9, 100.0)

events = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "add", "replace", "remove", "session", "look"]),
        st.sampled_from(STIMULI),
        st.sampled_from(RATERS),
        st.sampled_from(LABELS),
        st.integers(0, 6),
    ),
    max_size=80,
)


def play(script, values, scale, *, tolerance=0.0):
    """Let events happen to a running study and to a plain dictionary."""
    running, plain = RunningReliability(scale, tolerance=tolerance), {}
    for what, stimulus, rater, label, choice in script:
        key, value = (stimulus, rater, label), values[choice]
        if what == "look":
            running.alpha(LEVELS[choice % 4])
            running.flags()
        elif what == "remove":
            if any(at[1] == rater for at in plain):
                before = len(plain)
                plain = {at: kept for at, kept in plain.items() if at[1] != rater}
                assert running.remove(rater) == before - len(plain)
        elif what == "session":
            gone = [at for at, kept in plain.items() if at[1] == rater and kept[1] == str(choice)]
            if gone:
                assert running.remove(rater, session=str(choice)) == len(gone)
                for at in gone:
                    del plain[at]
        elif what == "add" and key not in plain:
            running.add(stimulus, rater, value, label, session=str(choice))
            plain[key] = (value, str(choice))
        elif key in plain:
            assert running.replace(stimulus, rater, value, label) == plain[key][0]
            plain[key] = (value, plain[key][1])
    return running, {key: value for key, (value, _) in plain.items()}


def ratings_of(plain, scale):
    rows = [(stimulus, rater, label, value) for (stimulus, rater, label), value in plain.items()]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale=scale)


def same(ours, batch):
    """Whether two tables of estimates have the same keys and say the same, up to rounding."""
    ours, batch = dict(iter(ours)), dict(iter(batch))
    assert ours.keys() == batch.keys()
    for key, mine in ours.items():
        same_estimate(mine, batch[key])


def same_estimate(mine, other):
    for name in ("method", "n_items", "n_raters", "n_ratings", "status"):
        assert getattr(mine, name) == getattr(other, name), name
    for name in ("value", "se", "low", "high"):
        assert getattr(mine, name) == pytest.approx(
            getattr(other, name), abs=1e-12, rel=1e-12, nan_ok=True
        ), name


def pearson_with_others(plain, rater):
    """Plain twin of the correlation of a rater with the mean of the others."""
    mine, others = [], []
    for (stimulus, who, label), value in plain.items():
        rest = [
            other
            for (at, someone, on), other in plain.items()
            if (at, on) == (stimulus, label) and someone != who
        ]
        if who == rater and rest:
            mine.append(value)
            others.append(math.fsum(rest) / len(rest))
    if len(mine) < 2 or np.ptp(mine) == 0 or np.ptp(others) < 1e-9:
        return math.nan, len(mine)
    return float(np.corrcoef(mine, others)[0, 1]), len(mine)


@pytest.mark.long
@pytest.mark.parametrize(
    ("scale", "values"), [("0-7", tuple(map(float, range(7)))), ("0-100 interval", SLIDER)]
)
class TestAnyHistoryEqualsTheBatch:
    @given(script=events)
    @settings(max_examples=60, deadline=None)
    def test_alpha(self, scale, values, script):
        running, plain = play(script, values, scale)
        if not plain:
            assert len(running.alpha()) == 0
            return
        batch = ratings_of(plain, scale)
        for level in LEVELS:
            same(running.alpha(level), krippendorff_alpha(batch, level=level, target="sample"))
            pooled = krippendorff_alpha(batch, level=level, by_label=False, target="sample")
            same_estimate(running.alpha(level, by_label=False), pooled)

    @given(script=events, tolerance=st.sampled_from([0.0, 1.0, 40.0]))
    @settings(max_examples=40, deadline=None)
    def test_percent_agreement_and_scores(self, scale, values, script, tolerance):
        running, plain = play(script, values, scale, tolerance=tolerance)
        if not plain:
            return
        batch = ratings_of(plain, scale)
        same(running.percent_agreement(), percent_agreement(batch, tolerance=tolerance))
        same(running.scores(), mean_opinion_scores(batch))
        mine = running.scores().to_frame().sort("label", "stimulus")
        other = mean_opinion_scores(batch).to_frame().sort("label", "stimulus")
        assert mine["sd"].to_list() == pytest.approx(other["sd"].to_list(), nan_ok=True)
        stimulus, _, label = next(iter(plain))
        same_estimate(running.score(stimulus, label), running.scores()[label, stimulus])

    @given(script=events)
    @settings(max_examples=60, deadline=None)
    def test_flags(self, scale, values, script):
        running, plain = play(script, values, scale)
        table = running.flags()
        assert set(table["rater"]) == {rater for _, rater, _ in plain}
        for row in table.iter_rows(named=True):
            mine = [value for (_, rater, _), value in plain.items() if rater == row["rater"]]
            assert row["n"] == len(mine)
            assert row["mean"] == pytest.approx(np.mean(mine))
            assert row["sd"] == pytest.approx(np.std(mine), abs=1e-9)
            r, n = pearson_with_others(plain, row["rater"])
            assert row["n_shared"] == n
            assert row["correlation"] == pytest.approx(r, abs=1e-9, nan_ok=True)

    @given(script=events)
    @settings(max_examples=30, deadline=None)
    def test_no_trace_of_what_was_taken_back(self, scale, values, script):
        """The history leaves nothing behind: sums are those of a fresh study, to the bit."""
        running, plain = play(script, values, scale)
        fresh = RunningReliability(scale)
        for (stimulus, rater, label), value in plain.items():
            fresh.add(stimulus, rater, value, label)
        for level in LEVELS[:3]:
            for (key, mine), (other_key, other) in zip(
                sorted(running.alpha(level), key=lambda pair: pair[0]),
                sorted(fresh.alpha(level), key=lambda pair: pair[0]),
                strict=True,
            ):
                assert key == other_key
                assert repr(mine.value) == repr(other.value)

    @given(script=events)
    @settings(max_examples=30, deadline=None)
    def test_kept_and_restored(self, scale, values, script):
        running, _ = play(script, values, scale)
        through_json = json.loads(json.dumps(running.state_dict(), allow_nan=False))
        for copy in (
            pickle.loads(pickle.dumps(running)),
            RunningReliability.from_state(through_json),
        ):
            assert copy.state_dict() == running.state_dict()
            assert copy.alpha().to_frame().equals(running.alpha().to_frame(), null_equal=True)
            assert copy.flags().equals(running.flags())

    @given(script=events)
    @settings(max_examples=30, deadline=None)
    def test_merging_two_halves(self, scale, values, script):
        whole, plain = play(script, values, scale)
        first, second = RunningReliability(scale), RunningReliability(scale)
        for position, ((stimulus, rater, label), value) in enumerate(plain.items()):
            (first if position % 2 else second).add(stimulus, rater, value, label)
        first.alpha()
        first.merge(second)
        same(first.alpha("ordinal"), whole.alpha("ordinal"))
        assert first.n_ratings == whole.n_ratings == len(plain)


def test_known_answers():
    """The 3 x 15 table that the definitions print."""
    nan = math.nan
    table = [
        [nan, nan, nan, nan, nan, 3, 4, 1, 2, 1, 1, 3, 3, nan, 3],
        [1, nan, 2, 1, 3, 3, 4, 3, nan, nan, nan, nan, nan, nan, nan],
        [nan, nan, 2, 1, 3, 4, 4, nan, 2, 1, 1, 3, 3, nan, 4],
    ]
    running = RunningReliability("1-4")
    for rater, row in enumerate(table):
        for stimulus, value in enumerate(row):
            if not math.isnan(value):
                running.add(f"s{stimulus}", f"r{rater}", value)
    found = [round(running.alpha(level)["rating"].value, 6) for level in LEVELS]
    assert found == [0.691358, 0.806721, 0.810845, 0.808944]


def test_many_values_are_computed_from_the_answers():
    rng = np.random.default_rng(0)
    matrix = rng.uniform(0, 100, 120) + rng.normal(0, 10, (4, 120))
    running = RunningReliability("interval")
    for (rater, stimulus), value in np.ndenumerate(matrix):
        running.add(str(stimulus), str(rater), float(value))
    for level in LEVELS:
        batch = krippendorff_alpha(matrix, level=level)
        assert running.alpha(level)["rating"].value == pytest.approx(batch.value, abs=1e-12)
    running.remove("3")
    assert running.alpha("ordinal")["rating"].value == pytest.approx(
        krippendorff_alpha(matrix[:3], level="ordinal").value, abs=1e-12
    )


def test_few_values_become_many():
    """Pairs are kept while there are few values, and no longer."""
    rng = np.random.default_rng(1)
    matrix = np.concatenate([rng.integers(0, 9, (3, 40)), rng.uniform(0, 9, (3, 200))], axis=1)
    running = RunningReliability("interval")
    for stimulus in range(240):
        for rater in range(3):
            running.add(str(stimulus), str(rater), float(matrix[rater, stimulus]))
        if stimulus in (10, 39, 41, 150, 239):
            for level in ("ordinal", "ratio"):
                batch = krippendorff_alpha(matrix[:, : stimulus + 1], level=level).value
                assert running.alpha(level)["rating"].value == pytest.approx(batch, abs=1e-12)


def test_a_huge_offset_costs_no_digits():
    running = RunningReliability("interval")
    matrix = np.array([[0, 1, 2, 4], [0, 2, 2, 5]]) + 2.0**40
    for (rater, stimulus), value in np.ndenumerate(matrix):
        running.add(str(stimulus), str(rater), value)
    expected = krippendorff_alpha(matrix - 2.0**40, level="interval").value
    assert running.alpha()["rating"].value == pytest.approx(expected, abs=1e-15)


def session(running, rater, *, golden=(), repeats=()):
    for position in range(12):
        value = 8.0 * position
        running.add(f"s{position}", rater, value)
    for position, off in enumerate(golden):
        running.add("g", rater, 50.0 + off, trial_kind="golden", trial=position)
    for position, off in enumerate(repeats):
        running.add(f"s{position}", rater, 8.0 * position + off, trial_kind="repeat")


class TestFlags:
    def test_the_limits_of_the_paper(self):
        running = RunningReliability("0-100 interval", golden={"g": 50.0})
        session(running, "fine", golden=[24.9, 0, 25, -25, 0], repeats=[0, 24, 25, 0, 0])
        session(running, "golden", golden=[25, -25, 30, 0, 0], repeats=[0] * 5)
        session(running, "repeat", golden=[0] * 5, repeats=[25, 26, 30, 0, 0])
        session(running, "both", golden=[25, -25, 0, 0, 0], repeats=[25, 30, 0, 0, 0])
        found = dict(running.flags().select("rater", "flags").iter_rows())
        assert found["fine"] == []
        assert found["golden"] == ["golden violations: 3 of 5, 3 or more"]
        assert found["repeat"] == ["repeat violations: 3 of 5, 3 or more"]
        assert found["both"] == ["golden and repeat violations: 4 of 10, 4 or more"]

    def test_straight_lining_and_contrariness(self):
        running = RunningReliability("0-100 interval")
        for rater in ("a", "b", "c"):
            session(running, rater)
        for position in range(12):
            running.add(f"s{position}", "flat", 50.0 + position % 2)
            running.add(f"s{position}", "contrary", 90.0 - 7 * position)
        found = dict(running.flags().select("rater", "flags").iter_rows())
        assert found["a"] == []
        assert any(words.startswith("straight-lining: SD 0.5 of 12") for words in found["flat"])
        assert found["contrary"][0].startswith("correlation -1.00 with the others on 12 questions")
        # A question that nobody else has answered is none that is shared.
        running.add("alone", "contrary", 3.0)
        again = dict(running.flags().select("rater", "flags").iter_rows())
        assert again["contrary"] == found["contrary"]

    def test_a_corrected_main_answer_changes_the_repeat(self):
        running = RunningReliability("0-100 interval")
        running.add("s", "r", 90, trial_kind="repeat")
        assert running.flags()["repeats"].to_list() == [0]
        running.add("s", "r", 10)
        assert running.flags()["repeat_violations"].to_list() == [1]
        running.replace("s", "r", 80)
        assert running.flags()["repeat_violations"].to_list() == [0]

    def test_slips_of_a_long_career_raise_no_flag(self):
        running = RunningReliability("0-100 interval", golden={"g": 50.0})
        session(running, "veteran", golden=[30] * 4 + [0] * 96)
        assert running.flags()["flags"].to_list() == [[]]

    def test_limits_can_be_changed_and_turned_off(self):
        checks = RaterChecks(10, 10, None, None, golden_violations=1, violation_share=0.1)
        running = RunningReliability("0-100 interval", golden={"g": 50.0}, checks=checks)
        for position in range(12):
            running.add(f"s{position}", "r", 50.0)
        running.add("g", "r", 60.0, trial_kind="golden")
        assert running.flags()["flags"].to_list() == [["golden violations: 1 of 1, 1 or more"]]

    def test_categories_count_as_violated_when_they_differ(self):
        running = RunningReliability("nominal:joy,fear,awe", golden={"g": 0})
        for trial, value in enumerate([1, 1, 2]):
            running.add("g", "r", value, trial_kind="golden", trial=trial)
        assert running.flags()["golden_violations"].to_list() == [3]


class TestRatings:
    def test_there_and_back(self):
        running = RunningReliability("0-100 interval", golden={("g", "joy"): 3.0})
        running.add("s", "r", 1, "joy", session="one", trial=1)
        running.add("s", "r", 2, "joy", "repeat", session="one", trial=4)
        running.add("g", "r", 3, "joy", "golden", session="one", trial=2)
        running.add("t", "r", 3, "joy", "training", session="one", trial=0)
        again = RunningReliability.from_ratings(running.to_ratings(), golden={("g", "joy"): 3.0})
        assert again.state_dict() == running.state_dict()
        difference = self_consistency(running.to_ratings())["r", "absolute difference"]
        assert difference.value == 1.0

    def test_failed_answers_are_left_out(self):
        frame = pl.DataFrame(
            {
                "stimulus": ["a", "a", "b"],
                "rater": ["r", "s", "s"],
                "value": [1.0, 2.0, None],
                "outcome": ["ok", "refused", "ok"],
            }
        )
        running = RunningReliability.from_ratings(Ratings(frame, scale="1-5"))
        assert (running.n_ratings, running.rater_names) == (1, ("r",))

    def test_names(self):
        running = RunningReliability("1-5")
        running.add("a", "r", 1)
        assert running.stimulus_names == ("a",)
        assert running.label_names == ("rating",)
        assert repr(running).startswith("RunningReliability(1 ratings, 1 stimuli, 1 raters")


def one_answer(**options):
    running = RunningReliability("1-5", **options)
    running.add("a", "r", 1)
    return running


class TestBadInput:
    @pytest.mark.parametrize(
        ("act", "message"),
        [
            (lambda r: r.add("a", "r", 2), r"rater 'r' already answered stimulus 'a', with 1"),
            (lambda r: r.add("b", "r", 6), r"value 6 is off the scale \(ordinal 1 to 5, step 1\)"),
            (lambda r: r.add("b", "r", 1.5), r"value 1.5 is off the scale"),
            (lambda r: r.add("b", "r", math.nan), r"value nan; expected a number"),
            (lambda r: r.add("b", "r", math.inf), r"value inf is off the scale"),
            (lambda r: r.add("b", "r", None), r"value None; expected a number"),
            (lambda r: r.add("b", "r", "3"), r"value '3'; expected a number"),
            (lambda r: r.add(7, "r", 3), r"stimulus 7: expected a name"),
            (lambda r: r.add("b", "", 3), r"rater '': expected a name"),
            (lambda r: r.add("b", "r", 3, "joy"), r"label 'joy': expected none, as before"),
            (lambda r: r.add("b", "r", 3, None, "mian"), r"unknown trial kind 'mian'.*'main'"),
            (lambda r: r.add("b", "r", 3, None, "golden"), r"no reference answer is known"),
            (lambda r: r.replace("b", "r", 3), r"rater 'r' gave no answer to stimulus 'b'"),
            (lambda r: r.remove("q"), r"unknown rater 'q'"),
            (lambda r: r.remove("r", session="x"), r"rater 'r': unknown session 'x'"),
            (lambda r: r.score("z"), r"unknown stimulus 'z'"),
            (lambda r: r.alpha("intervall"), r"unknown level 'intervall'; did you mean"),
            (lambda r: r.merge(one_answer()), r"rater 'r': both hold an answer to stimulus 'a'"),
            (lambda r: r.merge(RunningReliability("1-7")), r"expected the same scale"),
            (lambda r: r.percent_agreement(confidence=95), r"confidence 95"),
            (lambda r: r.extend(Ratings({"stimulus": ["a"], "rater": ["r"], "value": [1]},
                                        scale="0-5")), r"expected the same scale"),
        ],
    )  # fmt: skip
    def test_refused_in_a_sentence_without_a_change(self, act, message):
        running = one_answer()
        before = running.state_dict()
        with pytest.raises(InputError, match=message):
            act(running)
        assert running.state_dict() == before

    def test_options(self):
        with pytest.raises(InputError, match="got a text scale"):
            RunningReliability("text")
        with pytest.raises(InputError, match="tolerance = -1"):
            RunningReliability("1-5", tolerance=-1)
        with pytest.raises(InputError, match="golden 'g': value 9 is off the scale"):
            RunningReliability("1-5", golden={"g": 9})
        with pytest.raises(InputError, match=r"golden 'g': unknown label 'joi'.*'joy'"):
            RunningReliability("1-5", golden={("g", "joi"): 1}, labels=["joy"])
        with pytest.raises(InputError, match="golden_tolerance 0"):
            RaterChecks(0, 1, None)
        with pytest.raises(InputError, match="reference 2; expected the same, 1"):
            one_answer(golden={"g": 1}).merge(RunningReliability("1-5", golden={"g": 2}))

    def test_labels(self):
        running = RunningReliability("1-5", labels=["joy", "fear"])
        with pytest.raises(InputError, match=r"unknown label 'fera'; did you mean 'fear'"):
            running.add("a", "r", 1, "fera")
        with pytest.raises(InputError, match="expected a label with every answer"):
            running.add("a", "r", 1)

    @pytest.mark.parametrize("broken", [{}, {"version": 99}, {"version": 1}])
    def test_state(self, broken):
        with pytest.raises(InputError, match=r"expected (version 1|a whole state)"):
            RunningReliability.from_state(broken)

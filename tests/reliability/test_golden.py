"""Golden items and reports of pilots."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.reliability import (
    PlanModel,
    batch_overlap,
    choose_golden,
    mean_opinion_scores,
    pilot_report,
    plan,
    split_half,
)
from affectlab.reliability.planning.wording import (
    few_raters,
    few_stimuli,
    shared_raters,
    single_ratings,
)


def pilot(n_raters=25, n_stimuli=60, seed=0, *, scale="0-100 interval", noise=None):
    """Even qualities from one end to the other; noise per stimulus, or the same for all."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(5, 95, n_stimuli)
    spread = np.full(n_stimuli, 8.0) if noise is None else noise
    values = quality + spread * rng.standard_normal((n_raters, n_stimuli))
    rater, stimulus = np.indices(values.shape)
    return Ratings(
        pl.DataFrame(
            {
                "stimulus": [f"s{k:02d}" for k in stimulus.ravel()],
                "rater": [f"r{k:02d}" for k in rater.ravel()],
                "value": np.clip(np.rint(values), 0, 100).ravel(),
            }
        ),
        scale=scale,
    )


class TestChooseGolden:
    def test_items_are_extreme_and_steady(self):
        ratings = pilot()
        scores = mean_opinion_scores(ratings).to_frame().sort("value")
        items = choose_golden(ratings, 10, share=0.2, seed=1).to_frame()
        assert items["extreme"].to_list() == ["low"] * 5 + ["high"] * 5
        for end, extreme in (("low", scores.head(12)), ("high", scores.tail(12))):
            chosen = items.filter(pl.col("extreme") == end)
            assert set(chosen["stimulus"]) <= set(extreme["stimulus"])
            assert chosen["sd"].max() <= extreme["sd"].median() + 1e-9
        joined = items.join(scores.rename({"value": "mos", "sd": "spread"}), on="stimulus")
        assert joined["value"].to_list() == pytest.approx(joined["mos"].to_list())
        assert joined["sd"].to_list() == pytest.approx(joined["spread"].to_list())

    def test_disagreed_upon_stimuli_are_never_chosen(self):
        noise = np.where(np.arange(60) % 2, 2.0, 25.0)
        for seed in range(20):
            items = choose_golden(pilot(noise=noise), 6, max_sd=5, seed=seed)
            assert all(int(name[1:]) % 2 for name in items.reference)

    def test_evidence(self):
        items = choose_golden(pilot(), 4, tolerance=10, seed=0).to_frame()
        row = items.row(0, named=True)
        assert row["n"] == 25
        values = pilot().frame.filter(pl.col("stimulus").cast(pl.String) == row["stimulus"])[
            "value"
        ]
        caught = ((values - row["value"]).abs() >= 10).mean()
        assert row["violations"] == pytest.approx(caught)

    def test_the_draw_is_random_but_for_the_seed(self):
        drawn = {tuple(choose_golden(pilot(), 4, seed=seed).reference) for seed in range(10)}
        assert len(drawn) > 3
        again = [choose_golden(pilot(), 4, seed=3).reference for _ in range(2)]
        assert again[0] == again[1]

    @pytest.mark.parametrize("end", ["low", "high"])
    def test_one_end(self, end):
        items = choose_golden(pilot(), 3, extremes=end, seed=0).to_frame()
        assert items["extreme"].to_list() == [end] * 3

    def test_an_odd_number_is_shared_out(self):
        items = choose_golden(pilot(), 5, seed=0).to_frame()
        assert sorted(items["extreme"].value_counts()["count"]) == [2, 3]

    def test_stimuli_of_the_main_study_are_left_alone(self):
        main = [f"s{k:02d}" for k in range(0, 60, 2)]
        for seed in range(5):
            assert not set(choose_golden(pilot(), 6, main=main, seed=seed).reference) & set(main)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n": 0}, r"n = 0: expected a whole number from 1"),
            ({"n": 2, "extremes": "middle"}, r"unknown extremes 'middle'"),
            ({"n": 2, "max_sd": -1}, r"max_sd = -1"),
            ({"n": 2, "share": 0.7}, r"share = 0.7"),
            ({"n": 2, "min_ratings": 1}, r"min_ratings = 1"),
            ({"n": 2, "tolerance": 0}, r"tolerance = 0"),
            ({"n": 40}, r"only 8 of the 15 lowest-scored stimuli qualify, expected 20"),
            ({"n": 2, "max_sd": 0.1}, r"qualify with an SD of at most 0.1, expected 1"),
            ({"n": 2, "min_ratings": 26}, r"only 0 of the 0 lowest-scored"),
            ({"n": 2, "label": "joy"}, r"pilot: unknown label 'joy'"),
        ],
    )
    def test_bad_input(self, options, message):
        with pytest.raises(InputError, match=message):
            choose_golden(pilot(), **options)


class TestOverlap:
    def test_golden_trials_of_the_main_study_do_not_count(self):
        main = Ratings(
            pl.DataFrame(
                {
                    "stimulus": ["m1", "s00", "m2"],
                    "rater": ["r00", "r00", "x"],
                    "value": [1.0, 5.0, 3.0],
                    "trial_kind": ["main", "golden", "main"],
                }
            ),
            scale="0-100 interval",
        )
        found = batch_overlap(pilot(), main)
        assert found.disjoint
        assert found.raters == ("r00",)
        assert found.disjoint

    def test_shared_stimuli_are_named(self):
        found = batch_overlap(pilot(), ["s03", "m1", "s01"])
        assert found.stimuli == ("s01", "s03")
        assert found.stimuli == ("s01", "s03")


class TestPilotReport:
    @pytest.mark.long
    def test_a_good_pilot(self):
        report = pilot_report(pilot(), main=["m1", "m2"], seed=0)
        assert report.notes == ()
        assert (report.n_raters, report.n_stimuli, report.n_ratings) == (25, 60, 1500)
        same = split_half(pilot(), seed=0)
        assert report.correlation["rating"].value == same["rating"].value > 0.95
        model = report.models["rating"]
        assert model.inconsistency == pytest.approx(8, rel=0.1)
        assert plan(model, quantity="interval", goal=5).recommended > 10
        assert report.overlap.disjoint

    def test_warnings(self):
        small = pilot(4, 10).select(stimuli=[f"s{k:02d}" for k in range(4)])
        report = pilot_report(small, main=small, seed=0)
        assert report.overlap is not None
        assert (len(report.overlap.stimuli), len(report.overlap.raters)) == (4, 4)
        assert few_raters("rating", 4, 25, 1 / math.sqrt(6)) in report.notes
        assert few_stimuli("rating", 4, 30) in report.notes
        assert shared_raters(4) in report.notes
        assert len(report.notes) == 5

    def test_a_pilot_of_single_ratings(self):
        frame = pl.DataFrame({"stimulus": ["a", "b"], "rater": ["r", "s"], "value": [10.0, 90.0]})
        report = pilot_report(Ratings(frame, scale="0-100 interval"), seed=0)
        assert report.models == {}
        assert math.isnan(report.correlation["rating"].value)
        assert single_ratings("rating", 2) in report.notes

    def test_the_model_is_the_pilots(self):
        assert isinstance(pilot_report(pilot(), seed=0).models["rating"], PlanModel)

"""Raters who answer alike: copies are named and bounded, siblings are not accused."""

from __future__ import annotations

import json
from html import escape
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from rich.console import Console

from affectlab.core.facts import Cause, Reason
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import duplicate_raters, mean_opinion_scores, screen, subject_model
from affectlab.reliability.duplicates import _chernoff
from affectlab.reliability.subject_models import SubjectModel
from affectlab.reliability.subject_models.model import as_one
from affectlab.reliability.subject_models.panels import Grouped, SubjectPanel
from affectlab.reliability.subject_models.wording import (
    copies_text,
    effect_of_pairs,
    fit_text,
    open_pair,
    similar_text,
)
from affectlab.reliability.wording import equal_up_to_shift, few_alike

NAN = np.nan


def honest(n_raters: int, n_stimuli: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ratings (raters, stimuli) of SD 5 to 12 on 0 to 100, and the true scores."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0, 100, n_stimuli)
    bias = rng.normal(0, 6, n_raters)
    bias -= bias.mean()
    noise = rng.uniform(5, 12, n_raters)[:, None] * rng.standard_normal((n_raters, n_stimuli))
    return score + bias[:, None] + noise, score


def with_copy(matrix: np.ndarray, of: int = 0, shift: float = 0.0) -> np.ndarray:
    return np.vstack([matrix, matrix[of] + shift])


def table(matrix: np.ndarray, scale: str = "interval") -> Ratings:
    rater, stimulus = np.nonzero(~np.isnan(matrix))
    return Ratings(
        {
            "stimulus": [f"s{code:03d}" for code in stimulus],
            "rater": [f"r{code:02d}" for code in rater],
            "value": matrix[rater, stimulus],
        },
        scale=scale,
    )


def rmse(model: SubjectModel, score: np.ndarray) -> float:
    return float(np.sqrt(np.mean((model.to_frame()["value"].to_numpy() - score) ** 2)))


class TestScores:
    @pytest.mark.parametrize("n_raters", [4, 6, 10])
    @pytest.mark.parametrize("shift", [0.0, 5.0])
    def test_a_copied_account_does_not_capture_the_scores(
        self, n_raters: int, shift: float
    ) -> None:
        errors, covered = [], []
        for seed in range(6):
            matrix, score = honest(n_raters, 200, seed)
            alone, both = subject_model(matrix), subject_model(with_copy(matrix, shift=shift))
            errors.append((rmse(alone, score), rmse(both, score)))
            frame = both.to_frame()
            low, high = frame["low"].to_numpy(), frame["high"].to_numpy()
            covered.append(np.mean((low <= score) & (score <= high)))
            assert both.duplicates.groups == (("0", str(n_raters)),)
        without, with_it = np.mean(errors, axis=0)
        assert with_it <= 1.1 * without
        assert np.mean(covered) >= 0.90

    def test_an_exact_copy_changes_nothing_but_the_table_of_raters(self) -> None:
        matrix, _ = honest(5, 80, 0)
        matrix[np.random.default_rng(1).random(matrix.shape) < 0.2] = NAN
        alone, both = subject_model(matrix), subject_model(with_copy(matrix, of=2))
        for name in ("value", "se", "low", "high", "se_rater", "se_stimulus"):
            np.testing.assert_allclose(both.to_frame()[name], alone.to_frame()[name], rtol=1e-9)
        before, after = alone.raters_frame(), both.raters_frame()
        for name in ("bias", "bias_se", "inconsistency", "inconsistency_low"):
            np.testing.assert_allclose(after[name][:5], before[name], rtol=1e-9)
            assert after[name][5] == pytest.approx(after[name][2], rel=1e-12)
        np.testing.assert_allclose(
            after["weight_share"].to_numpy()[[2, 5]], before["weight_share"][2] / 2, rtol=1e-9
        )
        assert (both.to_frame()["n_raters"] >= alone.to_frame()["n_raters"]).all()
        assert both.to_frame()["n_ratings"].sum() == int((~np.isnan(with_copy(matrix, 2))).sum())

    def test_each_keeps_a_bias_of_its_own(self) -> None:
        matrix, _ = honest(5, 200, 0)
        both = subject_model(with_copy(matrix, shift=8)).table("raters").frame
        assert both["bias"][5] - both["bias"][0] == pytest.approx(8)
        assert both["status"].to_list() == ["doubtful", *["ok"] * 4, "doubtful"]
        assert [Reason.of_row(why) for why in both["reason"]] == [
            Reason(Cause.COUNTED_AS_ONE, of="'5'"),
            *[None] * 4,
            Reason(Cause.COUNTED_AS_ONE, of="'0'"),
        ]

    def test_three_copies_are_one_source(self) -> None:
        matrix, score = honest(5, 200, 3)
        several = np.vstack([matrix, matrix[0] + 2, matrix[0] - 4])
        model = subject_model(several)
        assert model.duplicates.groups == (("0", "5", "6"),)
        assert len(model.duplicates) == 3
        assert rmse(model, score) <= 1.1 * rmse(subject_model(matrix), score)

    def test_the_pair_is_named_where_a_user_looks(self) -> None:
        matrix, _ = honest(4, 40, 0)
        model = subject_model(with_copy(matrix))
        (pair,) = model.duplicates.evidence
        assert fit_text(
            "reml", 40, 5, model.iterations, converged=True, n_collapsed=0, alike=[("0", "4")]
        ) in repr(model)
        assert model.notes[0] == copies_text(pair, effect_of_pairs("reml"))
        note = escape(model.notes[0])
        assert note in model._repr_html_()
        console = Console(width=400, file=StringIO())
        console.print(model)
        assert model.notes[0] in console.file.getvalue()  # type: ignore[attr-defined]

    def test_published_methods_stay_and_warn(self) -> None:
        matrix, _ = honest(10, 120, 0)
        both = with_copy(matrix)
        model = subject_model(both, method="p910")
        assert model.duplicates.groups == (("0", "10"),)
        (pair,) = model.duplicates.evidence
        assert copies_text(pair, effect_of_pairs("p910")) in model.notes
        alone = subject_model(matrix, method="p910")
        moved = model.to_frame()["value"].to_numpy() - alone.to_frame()["value"].to_numpy()
        assert np.abs(moved).max() > 0.1

    def test_labels_are_merged_where_they_are_fitted_apart(self) -> None:
        parts = [honest(5, 40, seed)[0] for seed in (0, 1)]
        frames = [
            table(with_copy(part)).frame.with_columns(label=pl.lit(label))
            for part, label in zip(parts, ("joy", "fear"), strict=True)
        ]
        ratings = Ratings(pl.concat(frames), scale="interval")
        model = subject_model(ratings)
        assert model.duplicates.groups == (("r00", "r05"),)
        assert model.duplicates.frame["n_items"].to_list() == [40]
        alone = subject_model(ratings.select(raters=[f"r{n:02d}" for n in range(5)]))
        np.testing.assert_allclose(model.to_frame()["value"], alone.to_frame()["value"], rtol=1e-9)


def on_five_points(n_raters: int, n_stimuli: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    matrix, score = honest(n_raters, n_stimuli, seed)
    return np.clip(np.round(1 + matrix / 25), 1, 5), 1 + score / 25


class TestCountedAsOne:
    """What is too little to accuse anybody is enough not to count twice."""

    @pytest.mark.parametrize(
        ("panel", "n_stimuli", "noise"), [(on_five_points, 20, 0.0), (honest, 40, 4.0)]
    )
    @pytest.mark.parametrize("n_raters", [4, 6])
    def test_short_coarse_and_noisy_copies_do_not_capture_the_scores(
        self, panel: object, n_stimuli: int, noise: float, n_raters: int
    ) -> None:
        errors, covered, named = [], [], 0
        for seed in range(12):
            matrix, score = panel(n_raters, n_stimuli, seed)  # type: ignore[operator]
            copy = matrix[0] + noise * np.random.default_rng(seed).standard_normal(n_stimuli)
            alone, both = subject_model(matrix), subject_model(np.vstack([matrix, copy]))
            errors.append((rmse(alone, score) ** 2, rmse(both, score) ** 2))
            low, high = both.to_frame().select("low", "high").to_numpy().T
            covered.append(np.mean((low <= score) & (score <= high)))
            named += both.counted_as_one == (("0", str(n_raters)),)
        without, with_it = np.sqrt(np.mean(errors, axis=0))
        assert with_it <= 1.1 * without
        assert np.mean(covered) >= 0.90
        assert named >= 10

    @pytest.mark.parametrize("n_raters", [4, 10])
    def test_honest_raters_are_hardly_ever_counted_as_one(self, n_raters: int) -> None:
        panels = [
            panel(n_raters, n_stimuli, seed)[0]
            for panel, n_stimuli in ((honest, 20), (on_five_points, 20), (on_five_points, 60))
            for seed in range(15)
        ]
        rng = np.random.default_rng(0)
        for _ in range(15):
            easy_items = (rng.random(100) < 0.1) ^ (rng.random((n_raters, 100)) < 0.01)
            panels.append(easy_items.astype(float))
        assert sum(bool(subject_model(matrix).counted_as_one) for matrix in panels) <= 1

    def test_it_is_said_and_nobody_is_accused(self) -> None:
        matrix, _ = on_five_points(4, 20, 0)
        model = subject_model(with_copy(matrix))
        assert model.duplicates.groups == ()
        assert model.counted_as_one == (("0", "4"),)
        (note,) = model.notes
        (pair,) = model.likeness.similar.evidence
        assert note == similar_text(pair, effect_of_pairs("reml"))
        reason = Reason.of_row(model.table("raters").frame["reason"][4])
        assert reason == Reason(Cause.COUNTED_AS_ONE, of="'0'")
        assert fit_text(
            "reml", 20, 5, model.iterations, converged=True, n_collapsed=0, alike=[("0", "4")]
        ) in repr(model)
        assert subject_model(with_copy(matrix), method="p910").counted_as_one == ()

    def test_a_pair_that_nobody_can_judge_is_named_where_it_has_the_scores(self) -> None:
        """Of two raters and a copy nobody can say who is consistent."""
        matrix, _ = honest(2, 40, 0)
        model = subject_model(with_copy(matrix, shift=3))
        assert (model.duplicates.n_unjudged, model.counted_as_one) == (3, ())
        (note,) = model.notes
        assert model.likeness.open == (("0", "2", equal_up_to_shift(40)),)
        share = sum(model.fitted[0].weight_share[[0, 2]])
        assert note == open_pair("", ("0", "2"), share, equal_up_to_shift(40))
        assert subject_model(honest(3, 40, 0)[0]).notes == ()

    def test_a_pair_that_could_be_chance_is_named_where_it_has_the_scores(self) -> None:
        """Yes or no: two agree on everything, but so do most."""
        rng = np.random.default_rng(0)
        truth = rng.random(40) < 0.3
        matrix = (truth ^ (rng.random((4, 40)) < 0.08)).astype(float)
        matrix[:2] = truth
        model = subject_model(matrix)
        assert model.counted_as_one == ()
        assert len(model.notes) == 1
        ((one, other, evidence),) = model.likeness.open
        assert (one, other, evidence) == ("0", "1", few_alike(40, 0.0))


class TestPairs:
    def test_evidence_is_that_of_the_two_rows(self) -> None:
        """The SD is numpy's; what is expected is near the truth, sqrt(v_i^2 + v_j^2)."""
        rng = np.random.default_rng(0)
        score = rng.uniform(0, 100, 2000)
        sd = np.array([6.0, 7, 8, 9, 10])
        matrix = score + sd[:, None] * rng.standard_normal((5, 2000))
        near = matrix[1] + 3 + 1.5 * rng.standard_normal(2000)
        (row,) = duplicate_raters(np.vstack([matrix, near])).frame.iter_rows(named=True)
        assert (row["rater"], row["other"], row["n_items"]) == ("1", "5", 2000)
        apart = matrix[1] - near
        assert row["sd"] == pytest.approx(np.std(apart, ddof=1), rel=1e-9)
        assert row["shift"] == pytest.approx(apart.mean(), rel=1e-9)
        assert row["expected_sd"] == pytest.approx(np.hypot(7, 7), rel=0.05)
        assert row["ratio"] == pytest.approx((row["sd"] / row["expected_sd"]) ** 2)
        assert row["p"] < 1e-12

    def test_independent_raters_differ_as_expected(self) -> None:
        """Over all pairs of honest raters, unequal and sparse, the ratio is 1 in the middle."""
        ratios = []
        for seed in range(8):
            matrix, _ = honest(8, 300, seed)
            matrix[np.random.default_rng(seed).random(matrix.shape) < 0.5] = NAN
            alike = duplicate_raters(matrix)
            assert alike.n_pairs == 28
            ratios += [ratio for _, _, ratio in alike.closest.values()]
        # The closest of seven partners lies below 1, and far above a copy's.
        assert 0.6 < np.median(ratios) < 1
        assert min(ratios) > 0.4

    @pytest.mark.parametrize("n_stimuli", [20, 60])
    @pytest.mark.parametrize("shift", [0.0, 7.0])
    def test_exact_copies_are_always_seen(self, n_stimuli: int, shift: float) -> None:
        for seed in range(10):
            matrix, _ = honest(4, n_stimuli, seed)
            alike = duplicate_raters(with_copy(matrix, shift=shift))
            assert alike.groups == (("0", "4"),)
            assert alike.frame["share_equal"].to_list() == [1.0]
            assert alike.frame["shift"].to_list() == pytest.approx([-shift], abs=1e-9)

    def test_names_of_categories(self) -> None:
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 6, 80)
        labels = np.array(["joy", "fear", "anger", "calm", "shame", "pride"])
        said = np.where(rng.random((5, 80)) < 0.6, truth, rng.integers(0, 6, (5, 80)))
        said = np.vstack([said, said[3]])
        rater, stimulus = np.indices(said.shape).reshape(2, -1)
        ratings = Ratings(
            {
                "stimulus": [f"s{code}" for code in stimulus],
                "rater": [f"r{code}" for code in rater],
                "value": labels[said.ravel()],
            },
            scale="nominal:" + ",".join(labels),
        )
        alike = duplicate_raters(ratings)
        assert alike.groups == (("r3", "r5"),)
        assert alike.frame.select("share_equal", "n_items").row(0) == (1.0, 80)
        assert len(duplicate_raters(ratings.select(raters=[f"r{n}" for n in range(5)]))) == 0

    def test_pairs_that_cannot_be_judged(self) -> None:
        matrix, _ = honest(5, 9, 0)
        few = duplicate_raters(with_copy(matrix))
        assert (len(few), few.n_pairs, few.n_unjudged) == (0, 0, 15)
        # Of two raters and a copy nobody can say who is consistent.
        three = duplicate_raters(with_copy(honest(2, 50, 0)[0]))
        assert (len(three), three.n_pairs) == (0, 0)
        # Who always answers the same agrees with nobody, not even with a second one of the kind.
        lazy = np.vstack([honest(4, 50, 0)[0], np.full((2, 50), 50.0)])
        assert len(duplicate_raters(lazy)) == 0


def test_members_of_a_source_are_averaged_answer_by_answer() -> None:
    """First answers with first ones, second with second ones; against a table made by hand."""
    rng = np.random.default_rng(0)
    n_stimuli, n_raters = 30, 7
    who = [np.sort(rng.integers(0, n_raters, rng.integers(0, 12))) for _ in range(n_stimuli)]
    start = np.append(0, np.cumsum([len(raters) for raters in who]))
    rater = np.concatenate(who).astype(np.int32)
    data = Grouped(start, rater, rng.normal(0, 9, rater.size), n_raters)
    names = tuple("abcdefg")
    codes = np.arange(n_stimuli)
    panel = SubjectPanel(
        data, ("rating",), np.zeros(n_stimuli, dtype=np.int64), names, codes, names
    )
    sources = as_one(panel, (("a", "c", "f"), ("d", "g"), ("b", "nobody")))
    assert sources is not None
    answers: dict[tuple[int, int], dict[int, list[float]]] = {}
    for stimulus in range(n_stimuli):
        times: dict[int, int] = {}
        for row in range(start[stimulus], start[stimulus + 1]):
            one = int(rater[row])
            source = int(sources.code[one])
            nth = times[one] = times.get(one, -1) + 1
            value = float(data.value[row] - sources.offset[one])
            answers.setdefault((stimulus, source), {}).setdefault(nth, []).append(value)
    expected = sorted(
        (stimulus, source, float(np.mean(together)))
        for (stimulus, source), by_time in answers.items()
        for together in by_time.values()
    )
    merged = sources.data
    got = sorted(
        zip(merged.stimulus.tolist(), merged.rater.tolist(), merged.value.tolist(), strict=True)
    )
    assert [row[:2] for row in got] == [row[:2] for row in expected]
    np.testing.assert_allclose([row[2] for row in got], [row[2] for row in expected], rtol=1e-12)
    assert sources.code.tolist() == [0, 1, 0, 2, 3, 0, 2]


def siblings(rng: np.random.Generator) -> np.ndarray:
    """Three raters whose errors correlate by up to .7."""
    matrix, score = honest(7, 100, int(rng.integers(1e6)))
    rho, shared = rng.choice([0.3, 0.5, 0.7]), rng.standard_normal(100)
    own = rng.standard_normal((3, 100))
    matrix[:3] = score + 9 * (np.sqrt(rho) * shared + np.sqrt(1 - rho) * own)
    return matrix


def narrow(rng: np.random.Generator) -> np.ndarray:
    """Three raters who use the middle of the scale only."""
    matrix, score = honest(7, 100, int(rng.integers(1e6)))
    matrix[:3] = 50 + 0.15 * (score - 50) + 3 * rng.standard_normal((3, 100))
    return matrix


def points(rng: np.random.Generator) -> np.ndarray:
    return np.clip(np.round(1 + honest(8, 60, int(rng.integers(1e6)))[0] / 25), 1, 5)


def easy(rng: np.random.Generator) -> np.ndarray:
    """Five points, and two stimuli of three on which everybody agrees."""
    matrix = points(rng)
    matrix[:, rng.random(60) < 0.67] = 5
    return matrix


def rare(rng: np.random.Generator) -> np.ndarray:
    """Yes or no, with few yes."""
    return (honest(8, 150, int(rng.integers(1e6)))[0] > 96).astype(float)


@pytest.mark.parametrize("panel", [siblings, narrow, points, easy, rare])
def test_nobody_is_accused_who_only_resembles(panel: object) -> None:
    for seed in range(30):
        matrix = panel(np.random.default_rng(seed))  # type: ignore[operator]
        assert duplicate_raters(matrix).groups == ()


@settings(max_examples=60, deadline=None)
@given(
    ties=st.floats(0, 1),
    log_level=st.floats(-40, -1),
    step=st.sampled_from([0.0, 1.0]),
    total=st.integers(0, 30),
    seed=st.integers(0, 1000),
)
def test_pairs_on_which_people_agree_are_passed_over_and_no_other(
    ties: float, log_level: float, step: float, total: int, seed: int
) -> None:
    """The bound is either what it is without a level, or above the level with and without."""
    rng = np.random.default_rng(seed)
    gap = np.where(rng.random(400) < ties, 0, rng.uniform(0, 2.5, 400))
    gap[0] = 1
    group, of_group, level = np.arange(400), np.repeat(np.arange(40), 10), np.exp(log_level)
    full = _chernoff(total, gap, step, group, of_group, 1.0)
    quick = _chernoff(total, gap, step, group, of_group, level)
    if quick == 1:
        assert full >= level
    else:
        assert quick == full


def test_the_grid_is_not_walked_where_everybody_agrees() -> None:
    """200 binary items, 1 of 100 answers differs: 200 ties have a probability of about .13."""
    gap = np.zeros(4000)
    gap[::100] = 1
    group, of_group = np.arange(4000), np.repeat(np.arange(200), 20)
    assert _chernoff(0.0, gap, 1.0, group, of_group, 1.0) < 0.2
    assert _chernoff(0.0, gap, 1.0, group, of_group, 1e-5) == 1


def real(shared_data: Path, name: str) -> np.ndarray:
    folder = shared_data / "subjective_quality"
    if name == "p910_demo":
        return np.genfromtxt(folder / name / "sample_data.csv", delimiter=",").T
    content = json.loads((folder / f"{name}.json").read_text())
    return np.array([video["os"] for video in content["dis_videos"]], dtype=float).T


@pytest.mark.parametrize("name", ["netflix_public", "netflix_public_4_outliers", "p910_demo"])
def test_real_panels_and_panels_drawn_from_them(shared_data: Path, name: str) -> None:
    """No rater of a real panel is accused, and a copy that is put in nearly always is."""
    matrix = real(shared_data, name)
    assert len(duplicate_raters(matrix)) == 0
    rng = np.random.default_rng(0)
    seen = 0
    for size in (4, 5, 8, 12) * 4:
        panel = matrix[rng.choice(matrix.shape[0], size, replace=False)]
        assert len(duplicate_raters(panel)) == 0
        seen += duplicate_raters(with_copy(panel, of=1)).groups == (("1", str(size)),)
    assert seen >= 14


@pytest.mark.parametrize(
    "place",
    [
        "subjective_quality/netflix_public_partial.json",
        "emonet_face/binary.csv",
        "goemotions/raw_partial.csv",
    ],
)
def test_real_files(shared_data: Path, place: str) -> None:
    assert len(duplicate_raters(read_ratings(shared_data / place))) == 0


def test_policy_points_at_both_and_refuses_neither() -> None:
    matrix, _ = honest(5, 60, 0)
    result = screen(table(with_copy(matrix, of=3)), policy="correlation")
    frame = result.to_frame()
    assert frame["use"].all()
    assert frame.filter(pl.col("rules").list.contains("duplicates"))["rater"].to_list() == [
        "r03",
        "r05",
    ]
    rule = result.evidence_frame().filter(pl.col("rule") == "duplicates")
    assert rule["verdicts"].unique().to_list() == [""]
    assert rule.filter(pl.col("violated"))["measure"].to_list() == [0, 0]
    assert rule.filter(~pl.col("violated"))["measure"].min() > 0.3  # type: ignore[operator]


def test_order_of_rows_does_not_matter() -> None:
    ratings = table(with_copy(np.clip(np.round(honest(5, 40, 0)[0]), 0, 100)), "0-100 interval")
    shuffled = Ratings(ratings.frame.sample(fraction=1, shuffle=True, seed=1), scale=ratings.scale)
    one, other = duplicate_raters(ratings), duplicate_raters(shuffled)
    assert one.groups == (("r00", "r05"),)
    assert {frozenset(group) for group in one.groups} == {
        frozenset(group) for group in other.groups
    }
    np.testing.assert_allclose(one.frame["expected_sd"], other.frame["expected_sd"], rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    matrix=hnp.arrays(
        float,
        st.tuples(st.integers(1, 6), st.integers(1, 25)),
        elements=st.one_of(st.integers(0, 4).map(float), st.just(NAN)),
    )
)
def test_any_answers_can_be_looked_at(matrix: np.ndarray) -> None:
    alike = duplicate_raters(matrix)
    frame = alike.to_frame()
    assert (frame["p"] < 0.001).all()
    assert (frame["ratio"] < 0.2).all()
    assert alike.n_unjudged >= 0
    assert set(alike.by_rater()) <= set(alike.closest)
    if not np.isnan(matrix).all():
        assert mean_opinion_scores(matrix).frame.height == subject_model(matrix).to_frame().height

"""Learners against plain versions and against scikit-learn; cross-validation without leaks."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import nnls
from scipy.stats import pearsonr, spearmanr
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, LeavePGroupsOut, cross_val_score
from sklearn.svm import SVR

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.models.differences import (
    ExpressionMetric,
    RidgeDistance,
    SvrDistance,
    actor_splits,
    cross_validate,
    pair_samples,
    strength_search,
)
from affectlab.models.differences.learned import SmallScoresWarning, make_learner
from affectlab.models.differences.learned.cross_validation import (
    actor_intervals,
    split_weights,
    zero_shot,
)
from affectlab.models.differences.learned.samples import PairSamples
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.ratings import Ratings

from .drawn_pairs import drawn, planted

LEARNERS = ("ridge", "svr")


def samples(**options: Any) -> PairSamples:
    return pair_samples(*planted(**options))


def plain(data: PairSamples) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of differences and scores, with no trick."""
    values = data.values.astype(np.float64)
    return np.abs(values[data.first] - values[data.second]), data.scores


@pytest.mark.parametrize("strength", [1e-9, 1e-3, 3.0])
def test_ridge_penalises_standardised_sizes_per_pair(strength: float) -> None:
    data = samples(noise=3.0, width=9)
    found = RidgeDistance(strength).fit(data.differences(), data.scores)
    x, y = plain(data)
    spread = x.std(axis=0)
    peer = Ridge(alpha=strength * len(y)).fit((x - x.mean(axis=0)) / spread, y)
    np.testing.assert_allclose(found.coef_, peer.coef_ / spread, rtol=2e-4, atol=1e-5)
    intercept = peer.intercept_ - peer.coef_ @ (x.mean(axis=0) / spread)
    assert found.identical_ == pytest.approx(intercept, rel=1e-4)
    assert not found.is_distance_


def test_non_negative_ridge_is_the_solution_of_nnls() -> None:
    data = samples(noise=15.0, width=12, seed=3)
    found = RidgeDistance(0.05, non_negative=True).fit(data.differences(), data.scores)
    x, y = plain(data)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    above = np.vstack([z, np.sqrt(0.05 * len(y)) * np.eye(12)])
    peer, _ = nnls(above, np.concatenate([y - y.mean(), np.zeros(12)]))
    np.testing.assert_allclose(found.coef_ * x.std(axis=0), peer, atol=3e-3)
    assert (peer == 0).any()
    assert found.is_distance_


@pytest.mark.parametrize(("strength", "epsilon"), [(0.02, 1.0), (0.5, 4.0)])
def test_svr_is_that_of_libsvm(strength: float, epsilon: float) -> None:
    """Another solver of nearly the same problem: there the offset is free."""
    data = samples(noise=6.0, width=9, seed=2)
    found = SvrDistance(strength, epsilon, tol=1e-6).fit(data.differences(), data.scores)
    x, y = plain(data)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    cost = y.std() / (strength * len(y))
    peer = SVR(kernel="linear", C=cost, epsilon=epsilon, tol=1e-6).fit(z, y)
    np.testing.assert_allclose(found.predict(data.differences()), peer.predict(z), atol=0.1)


def test_learning_that_has_not_converged_is_said() -> None:
    data = samples(noise=4.0)
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge"):
        SvrDistance(1e-6, tol=1e-9, max_iter=2).fit(data.differences(), data.scores)


def test_scikit_learn_validates_searches_and_scores_it() -> None:
    data = samples(noise=3.0)
    x, y, groups = data.differences(), data.scores, data.actor
    pairs, scores, frames = planted(noise=3.0)
    found = cross_validate(pairs, scores, frames, RidgeDistance(0.1), n_boot=0)
    squared = -cross_val_score(
        RidgeDistance(0.1), x, y, groups=groups, cv=LeavePGroupsOut(2),
        scoring="neg_mean_squared_error",
    )  # fmt: skip
    ours = found.to_frame("splits").filter(method="ridge", group="all")["rmse"].to_numpy()
    np.testing.assert_allclose(ours**2, squared, rtol=1e-9)
    search = GridSearchCV(RidgeDistance(), {"strength": [1e-3, 1e3]}, cv=actor_splits(groups))
    assert search.fit(x, y).best_params_ == {"strength": 1e-3}
    # Any regressor of differences can be judged, and only a distance becomes a metric.
    found = cross_validate(pairs, scores, frames, DummyRegressor(), n_boot=0)
    assert found.learner == "DummyRegressor"
    assert np.isnan(found.median())
    with pytest.raises(InputError, match="learner DummyRegressor: expected ridge, svr or siamese"):
        ExpressionMetric(DummyRegressor()).fit(pairs, scores, frames)


def test_a_strength_is_chosen_by_actors_left_out() -> None:
    data = samples(n_actors=3, noise=3.0)
    x, y, actor = data.differences(), data.scores, data.actor
    found = strength_search(RidgeDistance()).fit(x, y, groups=actor)
    errors = [
        np.mean([
            np.mean((RidgeDistance(one).fit(x[actor != k], y[actor != k]).predict(x[actor == k])
                     - y[actor == k]) ** 2)
            for k in range(3)
        ])
        for one in RidgeDistance.STRENGTHS
    ]  # fmt: skip
    np.testing.assert_allclose(-found.cv_results_["mean_test_score"], errors)
    # Of one actor nobody can be left out.
    one = pair_samples(*planted(n_actors=1))
    metric = ExpressionMetric().fit(*planted(n_actors=1))
    assert len(one.actors) == 1
    assert metric.settings["strength"] == RidgeDistance().strength


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_planted_distance_is_found(learner: str) -> None:
    pairs, scores, frames = planted()
    found = cross_validate(pairs, scores, frames, learner, n_boot=200)
    assert found.n_splits == 10
    assert found.median(learner, "srocc") > 0.98
    assert found.to_frame()["group"].unique(maintain_order=True).to_list() == [
        "all", "intra", "inter",
    ]  # fmt: skip
    for other in ("L1", "cosine"):
        row = found.row(other)
        assert row["srocc_ahead_low"] > 0, other
        assert row["srocc_wins"] == 1.0
    assert found.doubts == ()


def test_every_row_is_what_scipy_says_of_the_actors_tested() -> None:
    pairs, scores, frames = planted(noise=5.0)
    found = cross_validate(pairs, scores, frames, RidgeDistance(0.1), n_boot=0)
    data = pair_samples(pairs, scores, frames)
    train, test = actor_splits(data.actor)[3]
    x = data.differences()
    guess = RidgeDistance(0.1).fit(x[train], scores[train]).predict(x)
    rows = test[(pairs["kind"] == "inter").to_numpy()[test]]
    frame = found.to_frame("splits")
    row = frame.filter(split=4, method="ridge", group="inter").row(0, named=True)
    assert row["test"] == ", ".join(sorted({*pairs["actor"].gather(test)}))
    assert row["n_test"] == rows.size
    assert row["srocc"] == pytest.approx(spearmanr(guess[rows], scores[rows]).statistic)
    assert row["plcc"] == pytest.approx(pearsonr(guess[rows], scores[rows]).statistic)
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean((guess[rows] - scores[rows]) ** 2)))
    l1 = frame.filter(split=4, method="L1", group="inter").row(0, named=True)
    assert l1["srocc"] == pytest.approx(spearmanr(zero_shot(data)["L1"][rows], scores[rows])[0])
    values = frame.filter(method="ridge", group="all")["srocc"].to_numpy()
    assert found.median() == pytest.approx(np.median(values))


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**20))
def test_the_actors_tested_decide_on_nothing(learner: str, seed: int) -> None:
    """Whatever people say of an actor, and whatever one frame is, other pairs get the same."""
    pairs, scores, frames = planted(n_actors=4, n_frames=6, noise=4.0, seed=seed)
    rng = np.random.default_rng(seed)
    tested = (pairs["actor"] == "actor 3").to_numpy()
    other = np.where(tested, rng.uniform(0, 100, len(scores)), scores)
    frame = "actor 3/0.png"
    one, two = (
        cross_validate(pairs, *given_, learner, n_test=1, n_boot=0)
        for given_ in ((scores, frames), (other, {**frames, frame: rng.normal(size=6)}))
    )
    assert one.chosen[3] == two.chosen[3]
    same = (pl.col("actor") == "actor 3") & (pairs["file_a"] != frame) & (pairs["file_b"] != frame)
    first, second = (found.predictions.filter(same)["value"].to_numpy() for found in (one, two))
    assert first.size == 10
    np.testing.assert_array_equal(first, second)


@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_unseen_drawn_people_are_judged_better_than_by_what_needs_no_learning(
    learner: str,
) -> None:
    pairs, scores, embedded = drawn()
    found = cross_validate(pairs, scores, embedded, learner, n_splits=8, n_boot=500)
    assert found.n_splits == 8
    assert found.median() > 0.8
    for method in ("L1", "cosine"):
        row = found.row(method)
        assert row["srocc_ahead_low"] > 0, (method, row)
        assert row["srocc_wins"] == 1.0


def test_other_metrics_are_held_against_it() -> None:
    """By name, or as ``affectlab rate`` writes them: a similarity says so, and is turned round."""
    pairs, scores, frames = planted(noise=3.0)
    table = pl.DataFrame({"stimulus": pairs["stimulus"], "value": scores + 1.0}).reverse()
    answers = pl.concat(
        pl.DataFrame({"stimulus": pairs["stimulus"], "rater": [name] * len(scores), "value": told})
        for name, told in (("far", scores + 1.0), ("near", -scores))
    ).sample(fraction=1.0, shuffle=True, seed=0)
    raters = pl.DataFrame(
        {
            "rater": ["far", "near"],
            "rater_kind": ["model", "model"],
            "direction": ["higher is more different", "higher is more alike"],
        }
    )
    ratings = Ratings(answers, scale="interval", raters=raters)
    for given_ in ({"far": scores, "near": table}, ratings):
        found = cross_validate(
            pairs, scores, frames, RidgeDistance(0.1), baselines=given_, n_boot=200
        )
        names = found.to_frame().filter(group="all")["method"].to_list()
        assert (names[:3], {*names[3:]}) == (["ridge", "L1", "cosine"], {"far", "near"})
        for name in ("far", "near"):
            assert found.median(name) == pytest.approx(1.0)
            assert found.row(name)["srocc_ahead_high"] < 0
        assert len(found.doubts) == 1


def test_pairs_are_predicted_by_splits_that_keep_their_actor_aside() -> None:
    pairs, scores, frames = planted(noise=3.0)
    found = cross_validate(pairs, scores, frames, RidgeDistance(0.1), n_boot=0)
    told = found.predictions
    assert told["stimulus"].to_list() == pairs["stimulus"].to_list()
    assert told["n_splits"].to_list() == [4] * pairs.height
    data = pair_samples(pairs, scores, frames)
    x = data.differences()
    guesses = [
        RidgeDistance(0.1).fit(x[train], scores[train]).predict(x[[7]])[0]
        for train, test in actor_splits(data.actor)
        if 7 in test
    ]
    assert told["value"][7] == pytest.approx(np.mean(guesses))


def test_copies_of_a_picture_under_two_actors_are_refused() -> None:
    pairs, scores, frames = planted(n_actors=3, n_frames=4)
    names = tuple(frames)
    values = np.stack(list(frames.values())).astype(np.float16)
    card = EncoderCard("made up", "image", 6, "0ab1")
    hashes = [f"{k:064x}" for k in range(len(names))]
    assert len(pair_samples(pairs, scores, Embeddings(values, names, tuple(hashes), card))) == 18
    hashes[2] = hashes[0]
    assert len(pair_samples(pairs, scores, Embeddings(values, names, tuple(hashes), card))) == 18
    hashes[5] = hashes[1]
    with pytest.raises(
        InputError, match=r"'actor 0/1\.png' and 'actor 1/1\.png' are the same pictu"
    ):
        pair_samples(pairs, scores, Embeddings(values, names, tuple(hashes), card))


def test_a_small_penalty_on_numbers_that_depend_on_one_another() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=(3, 256))
    faces = (rng.normal(size=(24, 3)) @ base).astype(np.float32)
    a, b = np.triu_indices(24, 1)
    x = faces[a] - faces[b]
    scores = np.abs(x).mean(axis=1) * 20
    for strength in (1e-9, 1e-7, 1e-6, 1e-5):
        learned = RidgeDistance(strength).fit(x, scores)
        assert np.abs(learned.coef_).max() < 10
        assert np.abs(learned.predict(x) - scores).max() < 0.5


def test_scores_on_another_scale() -> None:
    pairs, scores, frames = planted()
    with pytest.warns(SmallScoresWarning, match="the highest of 225 scores is 0.*0 .* to 100"):
        pair_samples(pairs, scores / 200, frames)
    answers = {"stimulus": pairs["stimulus"], "rater": ["r"] * 225, "value": np.clip(scores, 0, 50)}
    for scale, ends in (("0-50 interval", "0 to 50"), ("-10-100 interval", "-10 to 100")):
        ratings = Ratings(answers, scale=scale, stimuli=pairs)
        with pytest.raises(InputError, match=f"on a scale from {ends}; expected 0 to 100"):
            pair_samples(ratings, None, frames)


def test_two_faces_without_numbers_are_not_told_apart() -> None:
    pairs = {"actor": ["a"] * 2, "file_a": ["x", "x"], "file_b": ["y", "z"], "value": [50.0, 60.0]}
    frames = {"x": [0.0, 0.0], "y": [0.0, 0.0], "z": [1.0, 0.0]}
    assert zero_shot(pair_samples(pairs, None, frames))["cosine"].tolist() == [0.0, 1.0]


def test_splits_that_test_nearly_everyone_and_few_actors_have_no_interval() -> None:
    pairs, scores, frames = planted(n_actors=8, n_frames=5, noise=3.0)
    many = cross_validate(pairs, scores, frames, RidgeDistance(), n_test=7, n_boot=200)
    few = cross_validate(*planted(n_actors=3), n_test=1)
    for found in (many, few):
        assert found.to_frame()["srocc_ahead_low"].is_nan().all()
        assert found.to_frame()["srocc_low"].is_nan().all()


def test_intervals_hold_what_they_promise() -> None:
    """Each actor is easier or harder; 95 % of intervals hold the value of all actors."""
    rng = np.random.default_rng(7)
    tests = [(j, k) for j in range(8) for k in range(j)]
    n, held, naive = 400, 0, 0
    for _ in range(n):
        actor = rng.normal(0, 1, 8)
        values = np.array([(actor[j] + actor[k]) / 2 for j, k in tests]) + rng.normal(0, 0.2, 28)
        weights = split_weights(tests, 8, 300, rng)
        _, low, high = actor_intervals(values, weights, 8, 0.95)
        held += low <= 0 <= high
        naive += abs(values.mean()) <= 2.05 * values.std(ddof=1) / np.sqrt(28)
    assert 0.91 <= held / n <= 0.99
    # As if the 28 splits were independent: what the words warn of.
    assert naive / n < 0.85


def test_pairs_left_out_are_told() -> None:
    pairs, scores, frames = planted()
    given_scores = scores.copy()
    given_scores[4] = np.nan
    kinds = pairs["kind"].to_list()
    kinds[7] = "golden"
    data = pair_samples(pairs.with_columns(pl.Series("kind", kinds)), given_scores, frames)
    assert len(data) == pairs.height - 2
    assert data.notes == (
        "1 pair of another kind than intra and inter left out",
        "1 pair without a score left out",
    )


PAIRS, SCORES, FRAMES = planted()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pairs": PAIRS.drop("actor")}, "the table of pairs: column 'actor' is missing"),
        ({"pairs": PAIRS.clear()}, "there are no pairs"),
        ({"scores": SCORES[:3]}, "scores of shape (3,) for 225 pairs"),
        ({"scores": "many"}, "scores: expected one number for each pair"),
        ({"scores": np.full(225, np.nan)}, "no pair of kind intra or inter has a score"),
        ({"scores": SCORES * 100}, "expected 0 to 100"),
        ({"scores": None}, "the table of pairs: column 'value' is missing"),
        ({"scores": pl.DataFrame({"stimulus": ["x"], "value": [3]})}, "no pair has a score"),
        ({"embeddings": None}, "expected Embeddings, or a mapping"),
        ({"embeddings": {}}, "50 of 50 frames have no embedding, such as 'actor 0/0.png'"),
        (
            {"embeddings": {**FRAMES, "actor 0/0.png": np.full(6, np.nan)}},
            "the embedding of 'actor 0/0.png' has numbers that are not finite",
        ),
        (
            {"embeddings": {**FRAMES, "actor 0/0.png": np.zeros(3)}},
            "has shape (6,); expected (3,) as for the others",
        ),
        (
            {"pairs": PAIRS.with_columns(pl.lit("actor 0/0.png").alias("file_a"))},
            "file 'actor 0/0.png' stands under the actors",
        ),
        ({"pairs": PAIRS.with_columns(pl.lit(" ").alias("file_b"))}, "file_b is empty"),
        ({"learner": "forest"}, "unknown learner 'forest'"),
        ({"n_test": 5}, "expected at least 6"),
        ({"n_boot": -1}, "n_boot = -1"),
        ({"n_boot": 1}, "n_boot = 1: expected 0 (no intervals), or 2 to"),
        ({"n_boot": 10**13}, "n_boot = 10000000000000: expected 0 (no intervals), or 2 to"),
        ({"n_boot": 2.5}, "n_boot = 2.5: expected 0"),
        ({"n_test": 0}, "n_test = 0: expected 1 or more"),
        ({"n_splits": 0}, "n_splits = 0: expected 1 or more"),
        ({"seed": -1}, "seed = -1: expected a whole number from 0 on"),
        ({"seed": 1.5}, "seed = 1.5: expected a whole number from 0 on"),
        ({"n_test": 2.0}, "n_test = 2.0: expected 1 or more"),
        (
            {"pairs": PAIRS.with_columns(stimulus=pl.lit("x"))},
            "stimulus 'x' stands 225 times; expected each pair once",
        ),
        ({"baselines": 3}, "baselines: expected ratings of metrics, or numbers by name"),
        (
            {"baselines": {"mse": pl.DataFrame({"stimulus": ["pair 0"] * 2, "value": [1, 2]})}},
            "baseline 'mse': stimulus 'pair 0' stands twice",
        ),
        ({"confidence": 1.0}, "confidence 1.0"),
        ({"baselines": {"L1": SCORES}}, "baseline 'L1' has the name of what is there already"),
        ({"baselines": {"mse": SCORES[:2]}}, "baseline 'mse' has shape (2,)"),
        ({"baselines": {"mse": SCORES * np.nan}}, "baseline 'mse' says nothing about 225 of 225"),
    ],
)
def test_what_is_refused(change: dict[str, Any], said: str) -> None:
    given_: dict[str, Any] = {"pairs": PAIRS, "scores": SCORES, "embeddings": FRAMES, **change}
    with pytest.raises(InputError) as caught:
        cross_validate(**given_)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("learner", "settings_", "said"),
    [
        ("ridge", {"strengh": 1.0}, "unknown setting 'strengh'; did you mean 'strength'?"),
        ("ridge", {"strength": -1.0}, "'strength' parameter of RidgeDistance must be a float in"),
        ("ridge", {"non_negative": 3}, "'non_negative' parameter"),
        ("svr", {"epsilon": -1.0}, "'epsilon' parameter"),
        ("siamese", {"width": 0}, "'width' parameter of SiameseDistance must be an int"),
        ("siamese", {"learning_rate": float("nan")}, "'learning_rate' parameter"),
    ],
)
def test_settings_that_are_refused(learner: str, settings_: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        make_learner(learner, settings_)
    assert said in str(caught.value)


def test_the_28_splits_of_the_paper_and_drawn_ones() -> None:
    actors = np.repeat(np.arange(8), 3)
    splits = actor_splits(actors)
    tests = [tuple(np.unique(actors[test])) for _, test in splits]
    assert tests == list(combinations(range(8), 2))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(24))
        assert not set(actors[train]) & set(actors[test])
    some = [tuple(test) for _, test in actor_splits(actors, n_splits=5, seed=3)]
    assert len(set(some)) == 5
    assert set(some) < {tuple(test) for _, test in splits}
    assert some == [tuple(test) for _, test in actor_splits(actors, n_splits=5, seed=3)]
    many = np.arange(60)
    with pytest.raises(InputError, match="60 actors have 1,770 splits with 2 for the test"):
        actor_splits(many)
    assert len(actor_splits(many, n_splits=7)) == 7


def test_scores_that_are_all_equal_are_undefined_and_no_error() -> None:
    for learner in LEARNERS:
        found = cross_validate(PAIRS, np.full(225, 40.0), FRAMES, learner, n_boot=50)
        assert set(found.to_frame("splits")["reason"]) == {Cause.CONSTANT}
        assert np.isnan(found.median())


def test_constant_numbers_change_nothing() -> None:
    wider = {name: np.append(row, [7.0, 0.0]) for name, row in FRAMES.items()}
    for learner in (RidgeDistance(0.1), SvrDistance(0.1)):
        one = cross_validate(PAIRS, SCORES, FRAMES, learner, n_boot=0)
        other = cross_validate(PAIRS, SCORES, wider, learner, n_boot=0)
        assert other.median() == pytest.approx(one.median(), abs=2e-3)

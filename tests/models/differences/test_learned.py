"""Learners against plain versions and against scikit-learn; cross-validation without leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import nnls
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVR

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.models.differences import ExpressionMetric, cross_validate
from affectlab.models.differences.learned import (
    SmallScoresWarning,
    UnfinishedLearningWarning,
)
from affectlab.models.differences.learned.report import (
    actor_intervals,
    split_weights,
    zero_shot,
)
from affectlab.models.differences.learned.samples import PairSamples, samples_of
from affectlab.models.differences.learned.settings import RidgeSettings, SvrSettings
from affectlab.models.differences.learned.splits import actor_splits
from affectlab.models.differences.learned.trainers import (
    ridge as _learned_ridge,
    svr as _learned_svr,
)
from affectlab.models.differences.learned.trainers.ridge import RidgeTrainer
from affectlab.models.differences.learned.trainers.svr import SvrTrainer
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.ratings import Ratings

from .drawn_pairs import drawn, planted

LEARNERS = ("ridge", "svr")


def samples(**options: Any) -> PairSamples:
    return samples_of(*planted(**options))


def plain(data: PairSamples, actors: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Differences and scores, with no trick."""
    mask = np.isin(data.actor, actors)
    values = data.values.astype(np.float64)
    return np.abs(values[data.first] - values[data.second])[mask], data.scores[mask]


@pytest.mark.parametrize("strength", [1e-3, 0.1, 3.0])
def test_ridge_is_that_of_scikit_learn(strength: float) -> None:
    data = samples(noise=3.0, width=9)
    found = RidgeTrainer(data, RidgeSettings(strength=strength)).fit([0, 2, 3])
    x, y = plain(data, [0, 2, 3])
    spread = x.std(axis=0)
    peer = Ridge(alpha=strength * len(y)).fit((x - x.mean(axis=0)) / spread, y)
    np.testing.assert_allclose(found.weights, peer.coef_ / spread, rtol=2e-4, atol=1e-5)
    intercept = peer.intercept_ - peer.coef_ @ (x.mean(axis=0) / spread)
    assert found.intercept == pytest.approx(intercept, rel=1e-4)


def test_non_negative_ridge_is_the_solution_of_nnls() -> None:
    data = samples(noise=15.0, width=12, seed=3)
    strength = 0.05
    found = RidgeTrainer(data, RidgeSettings(strength, non_negative=True)).fit(range(5))
    x, y = plain(data, [0, 1, 2, 3, 4])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    above = np.vstack([z, np.sqrt(strength * len(y)) * np.eye(12)])
    peer, _ = nnls(above, np.concatenate([y - y.mean(), np.zeros(12)]))
    np.testing.assert_allclose(found.weights * x.std(axis=0), peer, atol=1e-3)
    assert (peer == 0).any()
    assert found.is_distance
    assert not RidgeTrainer(data, RidgeSettings(strength)).fit(range(5)).is_distance


@pytest.mark.parametrize(("strength", "epsilon"), [(0.02, 1.0), (0.5, 4.0)])
def test_svr_is_that_of_liblinear(strength: float, epsilon: float) -> None:
    data = samples(noise=6.0, width=9, seed=2)
    chosen = SvrSettings(strength, epsilon, tolerance=1e-6)
    found = SvrTrainer(data, chosen).fit([0, 1, 4])
    x, y = plain(data, [0, 1, 4])
    spread = x.std(axis=0)
    peer = LinearSVR(
        C=y.std() / (strength * len(y)),
        epsilon=epsilon,
        tol=1e-9,
        max_iter=1_000_000,
        intercept_scaling=3.0,
        random_state=0,
    ).fit((x - x.mean(axis=0)) / spread, y - np.median(y))
    np.testing.assert_allclose(found.weights * spread, peer.coef_, atol=5e-3)
    assert found.details["converged"]
    assert found.details["gap"] <= 1e-6


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_planted_distance_is_found(learner: str) -> None:
    pairs, scores, frames = planted()
    found = cross_validate(pairs, scores, frames, learner, n_boot=200)
    assert len(found.splits) == 10
    assert found.median(learner, "srocc") > 0.98
    assert found.groups == ("all", "intra", "inter")
    for other in ("L1", "cosine"):
        assert found.better_than(other)["better"], other
        assert found.better_than(other)["wins"] == 1.0


def test_every_row_is_what_scipy_says_of_the_actors_tested() -> None:
    pairs, scores, frames = planted(noise=5.0)
    found = cross_validate(pairs, scores, frames, "ridge", strength=0.1, n_boot=0)
    data = samples_of(pairs, scores, frames)
    split = found.splits[3]
    trainer = RidgeTrainer(data, RidgeSettings(strength=0.1))
    learned = trainer.fit([data.actors.index(name) for name in split.train])
    mask = np.isin(pairs["actor"], split.test) & (pairs["kind"] == "inter").to_numpy()
    rows = np.flatnonzero(mask)
    guess = learned.predict(data.values[data.first[rows]], data.values[data.second[rows]])
    row = found.frame.filter(split=4, method="ridge", group="inter").row(0, named=True)
    assert row["test"] == ", ".join(split.test)
    assert row["n_test"] == rows.size
    assert row["srocc"] == pytest.approx(spearmanr(guess, scores[rows]).statistic)
    assert row["plcc"] == pytest.approx(pearsonr(guess, scores[rows]).statistic)
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean((guess - scores[rows]) ** 2)))
    l1 = found.frame.filter(split=4, method="L1", group="inter").row(0, named=True)
    assert l1["srocc"] == pytest.approx(spearmanr(zero_shot(data)["L1"][rows], scores[rows])[0])
    values = found.frame.filter(method="ridge", group="all")["srocc"].to_numpy()
    assert found.median() == pytest.approx(np.median(values))


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**20))
def test_the_actors_tested_decide_on_nothing(learner: str, seed: int) -> None:
    """Whatever the scores of the actors tested are, the same is learned and predicted."""
    pairs, scores, frames = planted(n_actors=4, n_frames=6, noise=4.0, seed=seed)
    rng = np.random.default_rng(seed)
    split = actor_splits(pairs["actor"], 1)[seed % 4]
    tested = np.isin(pairs["actor"], split.test)
    other = np.where(tested, rng.uniform(0, 100, len(scores)), scores)
    moved = {
        name: rng.normal(size=6) if name.startswith(split.test[0]) else row
        for name, row in frames.items()
    }
    make = {"ridge": RidgeTrainer, "svr": SvrTrainer}[learner]
    chosen: Any = {"ridge": RidgeSettings(), "svr": SvrSettings()}[learner]
    learned = []
    for given_scores, given_frames in ((scores, frames), (other, moved)):
        data = samples_of(pairs, given_scores, given_frames)
        learned.append(make(data, chosen).fit([data.actors.index(name) for name in split.train]))
    first, second = learned
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.intercept == second.intercept
    assert first.details == second.details


@pytest.mark.long
@pytest.mark.parametrize("learner", LEARNERS)
def test_unseen_drawn_people_are_judged_better_than_by_what_needs_no_learning(
    learner: str,
) -> None:
    pairs, scores, embedded = drawn()
    found = cross_validate(pairs, scores, embedded, learner, n_splits=8, n_boot=500)
    assert found.median() > 0.8
    for method in ("L1", "cosine"):
        row = found.better_than(method)
        assert row["low"] > 0, (method, row)
        assert row["wins"] == 1.0
    assert any("better than L1" in sentence for sentence in found.sentences)
    assert any("no 8 independent results" in sentence for sentence in found.sentences)


def test_another_metric_may_be_held_against_it() -> None:
    pairs, scores, frames = planted(noise=3.0)
    truth = scores - np.random.default_rng(0).normal(0, 0.5, len(scores))
    told = pl.DataFrame({"stimulus": pairs["stimulus"], "value": truth}).reverse()
    found = cross_validate(
        pairs, scores, frames, n_boot=200, baselines={"oracle": truth, "again": told}
    )
    assert found.compared == ("ridge", "L1", "cosine", "oracle", "again")
    assert found.better_than("oracle")["value"] < 0
    assert found.better_than("oracle")["value"] == found.better_than("again")["value"]
    assert not found.better_than("oracle")["better"]


def test_ratings_of_metrics_are_held_against_it() -> None:
    """As ``affectlab rate`` writes them: a similarity says so, and is turned round."""
    pairs, scores, frames = planted(noise=3.0)
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
    found = cross_validate(pairs, scores, frames, baselines=ratings, n_boot=200)
    for name in ("far", "near"):
        assert found.median(name) == pytest.approx(1.0)
        assert found.better_than(name)["high"] < 0
        assert not found.better_than(name)["better"]


def test_pairs_are_predicted_by_splits_that_keep_their_actor_aside() -> None:
    pairs, scores, frames = planted(noise=3.0)
    found = cross_validate(pairs, scores, frames, strength=0.1, n_boot=0)
    told = found.predictions
    assert told is not None
    assert told["stimulus"].to_list() == pairs["stimulus"].to_list()
    assert told["n_splits"].to_list() == [4] * pairs.height
    data = samples_of(pairs, scores, frames)
    trainer = RidgeTrainer(data, RidgeSettings(strength=0.1))
    row, guesses = 7, []
    for split in found.splits:
        if pairs["actor"][row] in split.test:
            learned = trainer.fit([data.actors.index(name) for name in split.train])
            sides = (data.values[side[[row]]] for side in (data.first, data.second))
            guesses.append(float(learned.predict(*sides)[0]))
    assert told["value"][row] == pytest.approx(np.mean(guesses))


def test_copies_of_a_picture_under_two_actors_are_refused() -> None:
    pairs, scores, frames = planted(n_actors=3, n_frames=4)
    names = tuple(frames)
    values = np.stack(list(frames.values())).astype(np.float16)
    card = EncoderCard("made up", "image", 6, "0ab1")
    hashes = [f"{k:064x}" for k in range(len(names))]
    assert len(samples_of(pairs, scores, Embeddings(values, names, tuple(hashes), card))) == 18
    hashes[2] = hashes[0]
    assert len(samples_of(pairs, scores, Embeddings(values, names, tuple(hashes), card))) == 18
    hashes[5] = hashes[1]
    with pytest.raises(
        InputError, match=r"'actor 0/1\.png' and 'actor 1/1\.png' are the same pictu"
    ):
        samples_of(pairs, scores, Embeddings(values, names, tuple(hashes), card))


def test_a_small_penalty_on_numbers_that_depend_on_one_another() -> None:
    """Sums in single precision make such a matrix slightly indefinite; the answer stays right."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(3, 256))
    names = [(actor, k) for actor in "abcd" for k in range(6)]
    frames = {f"{a}{k}": (rng.normal(size=3) @ base).astype(np.float32) for a, k in names}
    rows = [(a, f"{a}{j}", f"{a}{k}") for a in "abcd" for j in range(6) for k in range(j)]
    pairs = pl.DataFrame(rows, schema=["actor", "file_a", "file_b"], orient="row")
    apart = np.stack([np.abs(frames[a] - frames[b]) for _, a, b in rows])
    scores = apart.mean(axis=1) * 20
    data = samples_of(pairs, scores, frames)
    for strength in (1e-9, 1e-7, 1e-6, 1e-5):
        learned = RidgeTrainer(data, RidgeSettings(strength=strength)).fit(range(4))
        assert np.abs(learned.weights).max() < 10
        guess = learned.predict(data.values[data.first], data.values[data.second])
        assert np.abs(guess - scores).max() < 0.5


def test_learning_that_has_not_converged_is_said() -> None:
    pairs, scores, frames = planted(noise=4.0)
    options: dict[str, Any] = {"strength": 1e-6, "epsilon": 0.0, "tolerance": 1e-9}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_learned_svr, "_MOST_EPOCHS", 5)
        with pytest.warns(UnfinishedLearningWarning, match="svr stopped in 10 of 10 splits before"):
            found = cross_validate(pairs, scores, frames, "svr", n_boot=0, **options)
        with pytest.warns(UnfinishedLearningWarning, match="svr stopped here before"):
            ExpressionMetric("svr", **options).fit(pairs, scores, frames)
    assert "with a gap of up to" in found.notes[-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_learned_ridge, "_ROUNDS", 1)
        with pytest.warns(UnfinishedLearningWarning, match="ridge stopped here before"):
            ExpressionMetric("ridge", non_negative=True).fit(pairs, scores, frames)


def test_scores_on_another_scale() -> None:
    pairs, scores, frames = planted()
    with pytest.warns(SmallScoresWarning, match="the highest of 225 scores is 0.*0 .* to 100"):
        samples_of(pairs, scores / 200, frames)
    answers = {"stimulus": pairs["stimulus"], "rater": ["r"] * 225, "value": np.clip(scores, 0, 50)}
    for scale, ends in (("0-50 interval", "0 to 50"), ("-10-100 interval", "-10 to 100")):
        ratings = Ratings(answers, scale=scale, stimuli=pairs)
        with pytest.raises(InputError, match=f"on a scale from {ends}; expected 0 to 100"):
            samples_of(ratings, None, frames)


def test_two_faces_without_numbers_are_not_told_apart() -> None:
    pairs = {"actor": ["a"] * 2, "file_a": ["x", "x"], "file_b": ["y", "z"], "value": [50.0, 60.0]}
    frames = {"x": [0.0, 0.0], "y": [0.0, 0.0], "z": [1.0, 0.0]}
    assert zero_shot(samples_of(pairs, None, frames))["cosine"].tolist() == [0.0, 1.0]


def test_splits_that_test_nearly_everyone_say_that_there_is_no_interval() -> None:
    pairs, scores, frames = planted(n_actors=8, n_frames=5, noise=3.0)
    words = " ".join(cross_validate(pairs, scores, frames, n_test=7, n_boot=200).sentences)
    assert "not clearly better" not in words
    assert "There are no intervals: each split tests so many of the actors" in words
    assert "It is set against L1 on the same actors: SROCC apart by" in words


def test_intervals_hold_what_they_promise() -> None:
    """Each actor is easier or harder; 95 % of intervals hold the value of all actors."""
    rng = np.random.default_rng(7)
    tests = [(j, k) for j in range(8) for k in range(j)]
    n, held, naive = 400, 0, 0
    for _ in range(n):
        actor = rng.normal(0, 1, 8)
        values = np.array([(actor[j] + actor[k]) / 2 for j, k in tests]) + rng.normal(0, 0.2, 28)
        weights = split_weights(tests, 8, 300, rng)
        _, _, low, high = actor_intervals(values, weights, 8, 0.95)
        held += low <= 0 <= high
        naive += abs(values.mean()) <= 2.05 * values.std(ddof=1) / np.sqrt(28)
    assert 0.91 <= held / n <= 0.99
    # As if the 28 splits were independent: what the words warn of.
    assert naive / n < 0.85


def test_few_actors_have_no_interval() -> None:
    pairs, scores, frames = planted(n_actors=3)
    found = cross_validate(pairs, scores, frames, n_test=1)
    assert found.summary["low"].is_nan().all()
    assert not found.comparison["better"].any()
    assert "3 actors are too few for an interval." in found.sentences


def test_pairs_left_out_are_told() -> None:
    pairs, scores, frames = planted()
    given_scores = scores.copy()
    given_scores[4] = np.nan
    kinds = pairs["kind"].to_list()
    kinds[7] = "golden"
    data = samples_of(pairs.with_columns(pl.Series("kind", kinds)), given_scores, frames)
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
        ({"strengh": 1.0}, "learner 'ridge': unknown setting 'strengh'; did you mean 'strength'?"),
        ({"strength": -1.0}, "strength = -1.0; expected a number from 1e-09, or 'auto'"),
        ({"n_test": 5}, "expected at least 6"),
        ({"n_boot": -1}, "n_boot = -1"),
        ({"n_boot": 1}, "n_boot = 1: expected 0 (no intervals), or 2 to"),
        ({"n_boot": 10**13}, "n_boot = 10000000000000: expected 0 (no intervals), or 2 to"),
        ({"n_boot": 2.5}, "n_boot = 2.5: expected 0"),
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


def test_scores_that_are_all_equal_are_undefined_and_no_error() -> None:
    for learner in LEARNERS:
        found = cross_validate(PAIRS, np.full(225, 40.0), FRAMES, learner, n_boot=50)
        assert set(found.frame["reason"]) == {Cause.CONSTANT}
        assert np.isnan(found.median())


def test_constant_numbers_change_nothing() -> None:
    wider = {name: np.append(row, [7.0, 0.0]) for name, row in FRAMES.items()}
    for learner in LEARNERS:
        one = cross_validate(PAIRS, SCORES, FRAMES, learner, n_boot=0, strength=0.1)
        other = cross_validate(PAIRS, SCORES, wider, learner, n_boot=0, strength=0.1)
        assert other.median() == pytest.approx(one.median(), abs=2e-3)

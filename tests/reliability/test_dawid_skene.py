"""Dawid and Skene: known answers, recovered errors of raters, intervals, labels, bad input."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.ratings import Ratings
from affectlab.reliability import dawid_skene
from affectlab.reliability.categories.dawid_skene import (
    _largest,
    _maximised,
    _Point,
    _Prior,
    _Votes,
)
from affectlab.reliability.wording import against_majority

NONE: dict[str, Any] = {"class_prior": 0.0, "prior_right": 0.0, "prior_wrong": 0.0, "n_draws": 0}


def panel(
    seed: int, n_items: int = 300, n_raters: int = 8, k: int = 3
) -> tuple[Ratings, NDArray[np.int64], NDArray[np.float64]]:
    """Raters with errors of their own, the last of whom answers whatever is true."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n_items, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    confusion = np.empty((n_raters, k, k))
    for one in range(n_raters):
        for c in range(k):
            wrong = rng.dirichlet(np.full(k - 1, 2.0)) * rng.uniform(0.05, 0.45)
            confusion[one, c] = np.insert(wrong, c, 1 - wrong.sum())
    confusion[-1] = rng.dirichlet(np.full(k, 3.0))
    item, rater = (part.ravel() for part in np.indices((n_items, n_raters)))
    here = rng.random(item.size) < 0.7
    item, rater = item[here], rater[here]
    above = rng.random((item.size, 1)) > confusion[rater, truth[item]].cumsum(axis=1)
    answer = np.minimum(above.sum(axis=1), k - 1)
    table = {
        "stimulus": [f"s{i:03d}" for i in item],
        "rater": [f"r{r}" for r in rater],
        "value": np.array(["joy", "fear", "anger", "calm"])[answer],
    }
    names = ("joy", "fear", "anger", "calm")[:k]
    return Ratings(table, scale=f"nominal:{','.join(names)}"), truth, confusion


def test_two_raters_who_agree_are_right() -> None:
    answers = [[0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 0, 1]]
    found = dawid_skene(answers, **NONE)
    assert found.to_frame()["value"].to_list() == [1.0, 1.0]
    assert found.to_frame("consensus")["category"].to_list() == ["0", "0", "1", "1", "0", "1"]
    assert found.to_frame("classes")["value"].to_list() == [0.5, 0.5]
    assert found.to_frame()["reason"][0] == Cause.NO_DRAWS


def test_the_formula_of_a_plain_loop() -> None:
    """One round of EM after the other, written out as in the paper, priors included."""
    ratings, _, _ = panel(3, n_items=30, n_raters=4)
    found = dawid_skene(ratings, n_draws=0)
    answers = ratings.to_frame().select("stimulus", "rater", "value").rows()
    items, raters = (sorted({row[at] for row in answers}) for at in (0, 1))
    chance = {i: np.zeros(3) for i in items}
    for i, _, v in answers:
        chance[i][int(v)] += 1
    chance = {i: votes / votes.sum() for i, votes in chance.items()}
    for _ in range(400):
        share = np.sum(list(chance.values()), axis=0) + 1 / 3
        share = share / share.sum()
        errors = {r: np.full((3, 3), 0.5) + 1.5 * np.eye(3) for r in raters}
        for i, r, v in answers:
            errors[r][:, int(v)] += chance[i]
        errors = {r: one / one.sum(axis=1, keepdims=True) for r, one in errors.items()}
        chance = {i: share.copy() for i in items}
        for i, r, v in answers:
            chance[i] = chance[i] * errors[r][:, int(v)]
        chance = {i: one / one.sum() for i, one in chance.items()}
    posterior = found.to_frame("posterior")["probability"].to_numpy().reshape(-1, 3)
    assert posterior == pytest.approx(np.array([chance[i] for i in items]), abs=1e-6)
    confusion = found.to_frame("confusion")["value"].to_numpy().reshape(-1, 3, 3)
    assert confusion == pytest.approx(np.array([errors[r] for r in raters]), abs=1e-6)


def votes_of(seed: int, beforehand: bool) -> tuple[_Votes, _Prior]:
    """Answers of raters some of whom guess half of the time, with gaps."""
    rng = np.random.default_rng(seed)
    n, n_raters, k = rng.integers(30, 300), rng.integers(3, 9), rng.integers(2, 5)
    guess = rng.uniform(0.1, 0.6, (n_raters, 1))
    truth, any_answer = rng.integers(0, k, n), rng.integers(0, k, (n_raters, n))
    answers = np.where(rng.random((n_raters, n)) < guess, any_answer, truth)
    item, rater = np.nonzero(rng.random((n, n_raters)) < rng.uniform(0.6, 1))
    items, item = np.unique(item, return_inverse=True)
    votes = _Votes(
        item, rater, answers[rater, items[item]], np.arange(items.size), np.arange(n_raters), k
    )
    return votes, _Prior(1.0, 2.0, 1.0) if beforehand else _Prior(0.0, 0.0, 0.0)


@pytest.mark.parametrize("beforehand", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_of_plain_em(seed: int, beforehand: bool) -> None:
    votes, prior = votes_of(seed, beforehand)
    found, converged = _largest(votes, prior)
    posterior = votes.shares()
    for _ in range(5000):
        plain = _Point.at(votes, prior, *_maximised(votes, prior, posterior))
        posterior = plain.posterior
    assert converged
    assert found.objective == pytest.approx(plain.objective, rel=0, abs=1e-6 * votes.item.size)
    assert found.posterior == pytest.approx(plain.posterior, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_likelihood_never_falls(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    votes, prior = votes_of(seed, beforehand=False)
    reached = []
    for rounds in range(1, 80):
        monkeypatch.setattr(import_module(_largest.__module__), "_ROUNDS", rounds)
        reached.append(_largest(votes, prior)[0].objective)
    assert min(np.diff(reached)) >= -1e-9
    assert reached[-1] > reached[0]


def test_errors_of_raters_and_categories_are_recovered() -> None:
    ratings, truth, confusion = panel(1, n_items=1500)
    found = dawid_skene(ratings, n_draws=100)
    estimate = found.to_frame("confusion")["value"].to_numpy().reshape(confusion.shape)
    assert np.abs(estimate - confusion).max() < 0.1
    consensus = found.to_frame("consensus")
    names = np.array(["joy", "fear", "anger"])[truth]
    right = (consensus["category"].to_numpy() == names).mean()
    assert right > (consensus["majority"].to_numpy() == names).mean()
    frame = found.to_frame()
    assert frame["beyond_chance"].to_numpy()[:-1].min() > 0.3
    assert abs(frame["beyond_chance"][-1]) < 0.08
    assert found.to_frame("confusion").group_by("rater", "true").agg(pl.col("value").sum())[
        "value"
    ].to_list() == pytest.approx([1.0] * 24)


def test_chances_to_be_right_beyond_chance() -> None:
    ratings, truth, confusion = panel(2, n_items=3000, n_raters=4)
    share = np.bincount(truth) / truth.size
    right = (np.diagonal(confusion, axis1=1, axis2=2) * share).sum(axis=1)
    chance = np.einsum("k,rkv,v->r", share, confusion, share)
    frame = dawid_skene(ratings, n_draws=60).to_frame()
    assert frame["value"].to_numpy() == pytest.approx(right, abs=0.05)
    expected = (right - chance) / (1 - chance)
    assert frame["beyond_chance"].to_numpy() == pytest.approx(expected, abs=0.07)


@pytest.mark.long
@pytest.mark.parametrize(("n_items", "n_raters", "k"), [(150, 8, 3), (60, 6, 4), (200, 5, 2)])
def test_intervals_cover_and_probabilities_hold(n_items: int, n_raters: int, k: int) -> None:
    hits: dict[str, list[Any]] = {"confusion": [], "right": [], "beyond": []}
    sure, correct = [], []
    for seed in range(30):
        ratings, truth, confusion = panel(100 + seed, n_items, n_raters, k)
        found = dawid_skene(ratings, n_draws=300, seed=seed)
        share = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
        right = (np.diagonal(confusion, axis1=1, axis2=2) * share).sum(axis=1)
        chance = np.einsum("k,rkv,v->r", share, confusion, share)
        raters = found.to_frame()
        for name, frame, prefix, wanted in (
            ("confusion", found.to_frame("confusion"), "", confusion.ravel()),
            ("right", raters, "", right),
            ("beyond", raters, "beyond_chance_", (right - chance) / (1 - chance)),
        ):
            low, high = (frame[f"{prefix}{end}"].to_numpy() for end in ("low", "high"))
            hits[name] += ((low <= wanted) & (wanted <= high)).tolist()
        names = np.array(["joy", "fear", "anger", "calm"])[truth]
        consensus = found.to_frame("consensus")
        seen = [int(name[1:]) for name in consensus["stimulus"]]
        correct += (consensus["category"].to_numpy() == names[seen]).tolist()
        sure += consensus["probability"].to_list()
    for name, one in hits.items():
        assert 0.9 <= np.mean(one) <= 0.99, name
    assert np.mean(sure) == pytest.approx(np.mean(correct), abs=0.035)


def test_labels_each_for_themselves_or_together() -> None:
    rng = np.random.default_rng(5)
    rows = [
        (f"s{s}", f"r{r}", label, int(rng.random() < (0.9 if (s + shift) % 3 else 0.15)))
        for s in range(60)
        for r in range(5)
        for shift, label in enumerate(("joy", "fear"))
    ]
    columns = dict(
        zip(("stimulus", "rater", "label", "value"), zip(*rows, strict=True), strict=True)
    )
    ratings = Ratings(columns, scale="binary")
    each = dawid_skene(ratings, n_draws=20)
    assert each.to_frame()["label"].unique(maintain_order=True).to_list() == ["joy", "fear"]
    assert each.to_frame("consensus").height == 120
    both = dawid_skene(ratings, by_label=False, n_draws=20)
    assert both.to_frame()["label"].unique().to_list() == ["all"]
    consensus = both.to_frame("consensus")
    assert consensus["label"].unique(maintain_order=True).to_list() == ["joy", "fear"]
    assert set(consensus["category"]) == {"0", "1"}
    again = dawid_skene(ratings, by_label=False, n_draws=20)
    assert again.to_frame().equals(both.to_frame())


def test_the_order_of_answers_means_nothing() -> None:
    ratings, _, _ = panel(4, n_items=40, n_raters=4)
    rows = ratings.to_frame().select("stimulus", "rater", "value")
    turned = Ratings(rows.reverse(), scale=ratings.scale)
    one, two = (dawid_skene(r, n_draws=0).to_frame("consensus") for r in (ratings, turned))
    both = one.join(two, on="stimulus", suffix="_turned")
    assert both["probability"].to_list() == pytest.approx(both["probability_turned"].to_list())


def test_input_that_cannot_be_used() -> None:
    ratings, _, _ = panel(0, n_items=10)
    with pytest.raises(InputError, match="prior_right = -1"):
        dawid_skene(ratings, prior_right=-1)
    with pytest.raises(InputError, match="n_draws = -5"):
        dawid_skene(ratings, n_draws=-5)
    with pytest.raises(InputError, match="101 categories: expected a scale of 2 to 30"):
        dawid_skene(Ratings({"stimulus": ["a"], "rater": ["b"], "value": [3]}, scale="0-100"))
    with pytest.raises(InputError, match="1 category"):
        dawid_skene([[1, 1], [1, 1]])
    nan = float("nan")
    with pytest.raises(InputError, match="no answer"):
        dawid_skene([[nan, nan], [nan, nan]])


def test_without_priors_or_with_a_constant_rater() -> None:
    found = dawid_skene([[0, 1, 0, 1, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]], n_draws=30)
    assert np.isfinite(found.to_frame()["low"].to_numpy()).all()
    bare = dawid_skene([[0, 1, 0, 1], [0, 1, 0, 1]], **{**NONE, "n_draws": 30})
    # Nothing varies, which is no certainty.
    assert bare.to_frame("confusion")["value"].to_list() == pytest.approx([1, 0, 0, 1] * 2)
    assert bare.to_frame("confusion")["high"].is_nan().all()


def test_categories_that_most_answers_contradict_are_told() -> None:
    # The first says yes to nearly all; the next are asked on, and mostly say no.
    rng = np.random.default_rng(2)
    asked_on = np.full((3, 400), np.nan)
    asked_on[0] = rng.random(400) < 0.98
    for rater, given, says_yes in ((1, 1, 0.2), (2, 0, 0.1)):
        rows = asked_on[rater - 1] == given
        asked_on[rater, rows] = rng.random(int(rows.sum())) < says_yes
    (note,) = dawid_skene(asked_on, n_draws=0).notes
    assert note == against_majority(["rating"], 0.2)
    assert dawid_skene(panel(1)[0], n_draws=0).notes == ()

"""The solver of many logistic regressions at once: its minimum, its settings, hostile input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, random_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from affectlab.models.text.linear.logistic import MultiLabelLogistic


def problem(n=120, d=40, k=5, *, soft=False, seed=0):
    """Sparse features, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    x = random_array((n, d), density=0.2, rng=rng, format="csr")
    z = 4 * (x @ rng.normal(size=(d, k))) - 1
    p = 1 / (1 + np.exp(-z))
    return csr_array(x), p if soft else (rng.random((n, k)) < p).astype(float)


def objective(flat, x, y, cost, matrix):
    """The plain objective, written from its definition."""
    d, k = x.shape[1], y.shape[1]
    w, b = flat[: d * k].reshape(d, k), flat[d * k :]
    z = x @ w + b
    loss = (np.logaddexp(0, z) - y * z).sum()
    off = 1 / (1 + np.exp(-z)) - y
    slope_w = w @ matrix + cost * (x.T @ off)
    value = 0.5 * np.trace(w @ matrix @ w.T) + cost * loss
    return value, np.concatenate([slope_w.ravel(), cost * off.sum(axis=0)])


def plain(x, y, cost, matrix=None):
    """The slow twin: a general minimiser on the definition."""
    k = y.shape[1]
    matrix = np.eye(k) if matrix is None else matrix
    start = np.zeros(x.shape[1] * k + k)
    found = minimize(
        objective,
        start,
        (x, y, cost, matrix),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 50000, "ftol": 1e-15, "gtol": 1e-8},
    )
    split = x.shape[1] * k
    return found.x[:split].reshape(-1, k), found.x[split:]


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("cost", [0.3, 5.0])
@pytest.mark.parametrize("k", [1, 5, 19])
def test_minimum_is_that_of_a_general_minimiser(soft, cost, k):
    x, y = problem(k=k, soft=soft)
    ours = MultiLabelLogistic(cost=cost, tolerance=1e-6, max_epochs=2000).fit(x, y)
    weights, bias = plain(x, y, cost)
    assert ours.converged_
    assert np.allclose(ours.coef_.T, weights, atol=2e-3)
    assert np.allclose(ours.intercept_, bias, atol=4e-3)


def test_slope_is_that_of_the_objective():
    x, y = problem()
    ours = MultiLabelLogistic(cost=2.0, tolerance=1e-5, max_epochs=2000).fit(x, y)
    flat = np.concatenate([ours.coef_.T.ravel(), ours.intercept_])
    _, slope = objective(flat, x, y, 2.0, np.eye(5))
    assert np.abs(slope).max() / (2.0 * len(y)) == pytest.approx(ours.slope_, abs=1e-6)


def test_coupled_labels_reach_their_minimum_and_look_alike():
    x, y = problem(k=4)
    relations = np.zeros((4, 4))
    relations[0, 1] = relations[1, 0] = 3.0
    coupling = np.diag(relations.sum(axis=0)) - relations
    ours = MultiLabelLogistic(cost=2.0, coupling=coupling, tolerance=1e-6, max_epochs=2000).fit(
        x, y
    )
    weights, bias = plain(x, y, 2.0, np.eye(4) + coupling)
    assert np.allclose(ours.coef_.T, weights, atol=2e-3)
    assert np.allclose(ours.intercept_, bias, atol=4e-3)
    free = MultiLabelLogistic(cost=2.0, tolerance=1e-6, max_epochs=2000).fit(x, y)

    def apart(w):
        return np.linalg.norm(w[:, 0] - w[:, 1])

    assert apart(ours.coef_.T) < 0.6 * apart(free.coef_.T)
    # The others are not pulled.
    assert np.allclose(ours.coef_.T[:, 2:], free.coef_.T[:, 2:], atol=2e-3)


@pytest.mark.parametrize("cost", [1e-3, 1.0, 10.0])
def test_it_converges_whatever_the_cost(cost):
    x, y = problem(n=400, d=30, k=17)
    ours = MultiLabelLogistic(cost=cost).fit(x, y)
    assert ours.converged_
    weights, bias = plain(x, y, cost)
    assert np.allclose(x @ ours.coef_.T + ours.intercept_, x @ weights + bias, atol=0.02)


def test_a_large_cost_does_not_throw_it_from_end_to_end():
    """Where every text has words of its own, Newton steps alone would never settle."""
    x = csr_array(np.eye(60))
    y = (np.arange(60)[:, None] % np.array([2, 3, 5]) == 0).astype(float)
    ours = MultiLabelLogistic(cost=1e4).fit(x, y)
    assert ours.converged_
    p = 1 / (1 + np.exp(-(x @ ours.coef_.T + ours.intercept_)))
    assert np.abs(p - y).max() < 0.01


def test_same_seed_same_bytes_and_no_labels_beside_it_matter():
    x, y = problem(k=20)
    one, two = (MultiLabelLogistic(seed=3).fit(x, y) for _ in range(2))
    assert np.array_equal(one.coef_.T, two.coef_.T)
    alone = MultiLabelLogistic(tolerance=1e-6, max_epochs=2000).fit(x, y[:, :1])
    together = MultiLabelLogistic(tolerance=1e-6, max_epochs=2000).fit(x, y)
    assert np.allclose(alone.coef_.T[:, 0], together.coef_.T[:, 0], atol=2e-3)


def test_a_label_that_nothing_has_and_one_that_all_have():
    x, y = problem()
    y[:, 0], y[:, 1] = 0.0, 1.0
    ours = MultiLabelLogistic().fit(x, y)
    assert ours.converged_
    p = 1 / (1 + np.exp(-(x @ ours.coef_.T + ours.intercept_)))
    assert p[:, 0] == pytest.approx(0.5 / 120)
    assert p[:, 1] == pytest.approx(1 - 0.5 / 120)
    rest = MultiLabelLogistic().fit(x, y[:, 2:])
    assert np.allclose(ours.coef_.T[:, 2:], rest.coef_.T, atol=1e-5)
    none = MultiLabelLogistic().fit(x, np.zeros((120, 2)))
    assert none.converged_
    assert not none.coef_.T.any()


@pytest.mark.parametrize("n", [2, 3, 10])
def test_a_handful_of_texts(n):
    x = csr_array(np.eye(n))
    y = np.zeros((n, 1))
    y[0] = 1.0
    ours = MultiLabelLogistic().fit(x, y)
    weights, bias = plain(x, y, 1.0)
    assert ours.converged_
    assert np.allclose(x @ ours.coef_.T + ours.intercept_, x @ weights + bias, atol=0.01)


def test_too_few_epochs_are_said():
    x, y = problem()
    with pytest.warns(ConvergenceWarning, match="stopped after 2 epochs"):
        short = MultiLabelLogistic(cost=100.0, tolerance=1e-9, max_epochs=2).fit(x, y)
    assert not short.converged_
    assert short.n_iter_ == 2
    assert short.slope_ > 1e-9


@pytest.mark.parametrize(
    ("parameters", "targets", "words"),
    [
        ({"cost": 0.0}, np.zeros((120, 5)), "'cost' parameter"),
        ({}, np.full((120, 5), 1.5), "outside 0 to 1"),
        ({}, np.full((120, 5), np.nan), "contains NaN"),
        ({}, np.zeros((7, 5)), "inconsistent numbers of samples"),
    ],
)
def test_bad_input_is_one_sentence(parameters, targets, words):
    x, _ = problem()
    with pytest.raises(ValueError, match=words):
        MultiLabelLogistic(**parameters).fit(x, targets)


def test_scikit_learn_searches_and_scores_it():
    x, y = problem(n=300)
    search = GridSearchCV(MultiLabelLogistic(), {"cost": [1e-6, 1.0]}, scoring="f1_macro", cv=3)
    assert search.fit(x, y).best_params_ == {"cost": 1.0}
    assert cross_val_score(MultiLabelLogistic(), x, y, scoring="f1_macro").mean() > 0.5
    # One class for each text is one label for each class.
    one = MultiLabelLogistic().fit(x, y[:, 0].astype(int))
    many = MultiLabelLogistic().fit(x, y[:, :1])
    assert np.array_equal(one.coef_, many.coef_)
    assert set(one.predict(x)) <= {0, 1}

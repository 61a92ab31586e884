"""Thresholds that answer each label as often as people do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from affectlab.core.errors import InputError
from affectlab.models.text.decisions.rules import f1_scores, rule_by_shares


@given(st.integers(0, 2**32 - 1), st.integers(20, 80), st.integers(1, 6))
def test_shares_are_matched_where_every_text_has_labels_enough(seed: int, n: int, k: int) -> None:
    """Distinct probabilities: without texts below all thresholds, each share is met to a text."""
    rng = np.random.default_rng(seed)
    sure = rng.permuted(np.linspace(0.01, 0.99, n * k)).reshape(n, k)
    shares = rng.uniform(0.1, 1, k)
    rule = rule_by_shares(sure, shares, [f"l{j}" for j in range(k)])
    chosen = sure >= np.array(rule.thresholds)
    # Shares are only ever made smaller, by half at most.
    assert (chosen.mean(axis=0) <= shares + 0.5 / n + 1e-9).all()
    assert (chosen.mean(axis=0) >= shares / 2 - 0.5 / n - 1e-9).all()
    assert rule.decide(sure).any(axis=1).all()


def test_what_texts_below_all_thresholds_add_is_taken_off() -> None:
    rng = np.random.default_rng(0)
    sure = rng.uniform(size=(2000, 5))
    rule = rule_by_shares(sure, [0.25] * 5, list("abcde"))
    # Independent labels of share .25: 24 % of texts would have none, and get one.
    assert rule.decide(sure).mean() == pytest.approx(0.25, abs=0.003)
    assert min(rule.thresholds) > 0.75


def test_a_label_that_was_not_learned_is_not_guessed() -> None:
    sure = np.column_stack([np.linspace(0.2, 0.8, 50), np.full(50, 0.3), np.linspace(0, 0.1, 50)])
    rule = rule_by_shares(sure, [0.6, 0.4, 0.0], ("a", "same", "absent"))
    assert rule.thresholds[1:] == (1.0, 1.0)
    assert rule.unseen == ("absent",)
    assert rule.decide(sure)[:, 1:].sum() == 0


def test_a_rare_label_needs_more_than_all_texts_aside_have() -> None:
    sure = np.column_stack([np.linspace(0.2, 0.9, 20), np.linspace(0.01, 0.06, 20)])
    rule = rule_by_shares(sure, [1.0, 0.01], ("often", "rare"))
    assert rule.decide(sure)[:, 1].sum() == 0
    assert rule.decide([[0.5, 0.07]]).tolist() == [[True, True]]


@given(hnp.arrays(bool, (9, 4)), hnp.arrays(bool, (9, 4)))
def test_f1_against_the_plain_way(chosen: np.ndarray, truth: np.ndarray) -> None:
    each, right, wrong = [], 0, 0
    for label in range(4):
        hits = sum(c and t for c, t in zip(chosen[:, label], truth[:, label], strict=True))
        off = sum(c != t for c, t in zip(chosen[:, label], truth[:, label], strict=True))
        right, wrong = right + hits, wrong + off
        if truth[:, label].any():
            each.append(2 * hits / (2 * hits + off))
    macro, micro = f1_scores(chosen, truth)
    assert micro == pytest.approx(2 * right / (2 * right + wrong) if right + wrong else 0)
    assert macro == pytest.approx(np.mean(each)) if each else macro != macro


@pytest.mark.parametrize(
    ("sure", "shares", "sentence"),
    [
        ([[0.1]], [0.5, 0.5], "for each of 1 labels"),
        ([[0.1]], [1.5], "a number from 0 to 1"),
        ([[0.1, 0.2]], [0.5], "a column for each of 1 labels"),
        (np.empty((0, 1)), [0.5], "expected texts"),
    ],
)
def test_bad_input(sure: object, shares: list[float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        rule_by_shares(sure, shares, ["joy"])  # type: ignore[arg-type]

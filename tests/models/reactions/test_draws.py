"""Tokens that are drawn, beside a slow plain way and their own probabilities."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.models.reactions.network import drawn_tokens


def plain(logits: np.ndarray, top_p: float, uniform: float) -> int:
    """Walk down from the likeliest token."""
    p = np.exp(logits - logits.max())
    p /= p.sum()
    order = sorted(range(len(p)), key=lambda k: (-logits[k], k))
    kept, reached = [], 0.0
    for k in order:
        if reached >= top_p - 1e-12 and kept:
            break
        kept.append(k)
        reached += p[k]
    wanted, below = uniform * sum(p[k] for k in kept), 0.0
    for k in sorted(kept):
        below += p[k]
        if below > wanted:
            return k
    return max(kept)


@given(
    logits=arrays(np.float64, (3, 6), elements=st.integers(-6, 6).map(float)),
    top_p=st.sampled_from([0.05, 0.31, 0.5, 0.77, 0.93, 1.0]),
    uniform=st.lists(st.integers(0, 996).map(lambda k: k / 997), min_size=3, max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_draws_are_those_of_the_plain_way(
    logits: np.ndarray, top_p: float, uniform: list[float]
) -> None:
    found = drawn_tokens(logits, top_p, np.array(uniform))
    assert found.tolist() == [plain(row, top_p, u) for row, u in zip(logits, uniform, strict=True)]


def test_frequencies_are_probabilities() -> None:
    rng = np.random.default_rng(2)
    p = np.array([0.1, 0.4, 0.3, 0.2])
    n = 20_000
    found = drawn_tokens(np.tile(np.log(p), (n, 1)), 1.0, rng.random(n))
    np.testing.assert_allclose(np.bincount(found, minlength=4) / n, p, atol=0.015)
    found = drawn_tokens(np.tile(np.log(p), (n, 1)), 0.7, rng.random(n))
    np.testing.assert_allclose(
        np.bincount(found, minlength=4) / n, [0, 0.4 / 0.7, 0.3 / 0.7, 0], atol=0.015
    )

"""Random corpora against the steps written plainly: caps, medians, gates, any number of parts."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.stimuli.curation.pools import Comment, plain_run, take

from affectlab.stimuli.curation.plan import CurationPlan
from affectlab.stimuli.curation.steps.build import build_steps

_LABELS = ("joy", "love", "anger", "sadness", "surprise", "curiosity", "neutral")


def _comments() -> st.SearchStrategy[list[Comment]]:
    rarely = st.integers(0, 9).map(lambda k: k == 0)
    one = st.builds(
        Comment,
        # Few ids, so that some come again.
        id=st.integers(0, 90).map(lambda k: f"ü{k}"),
        group=st.sampled_from(["a", "b", "c", "d", ""]),
        tokens=st.integers(0, 12),
        emotions=st.lists(st.sampled_from(_LABELS), max_size=2, unique=True).map(tuple),
        deleted=rarely,
        english=rarely.map(lambda yes: not yes),
        offensive=rarely,
        vulgar=rarely,
        identity=rarely,
    )
    return st.lists(one, min_size=1, max_size=70)


_PLANS = st.builds(
    lambda least, adult, positive, size, seed: CurationPlan.model_validate(
        {
            "seed": seed,
            "big_groups": {"least": least},
            "adult_groups": {"share": adult},
            "length": {"least": 2, "most": 10},
            "sentiment": {
                "neutral_most": 0.5,
                "positive_least": positive,
                "negative_least": 0.1,
                "ambiguous_least": 0.1,
            },
            "sample": {"size": size},
        }
    ),
    least=st.integers(1, 12),
    adult=st.sampled_from([0.2, 0.5]),
    positive=st.sampled_from([0.0, 0.2, 0.3]),
    size=st.sampled_from([None, 1, 5, 12]),
    seed=st.integers(0, 3),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(_comments(), _PLANS, st.sampled_from([1, 4, 16]))
def test_every_fate_is_that_of_the_plain_version(
    comments: list[Comment], plan: CurationPlan, parts: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        taken = take(comments, build_steps(plan, None, None), Path(folder), parts)
    expected = plain_run(comments, plan)
    assert taken.dropped == expected
    for entry in taken.entries:
        told = Counter(reason for step, reason in expected.values() if step == entry.step)
        assert dict(entry.dropped) == dict(told)
        assert entry.rows_in - entry.kept == told.total()


@pytest.mark.parametrize(
    ("step", "kind"), [("length_balance", "tokens"), ("group_balance", "group")]
)
@settings(max_examples=8)
@given(comments=_comments())
def test_no_kind_is_above_the_cap(step: str, kind: str, comments: list[Comment]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        steps = build_steps(CurationPlan(), ["repeated", step], None)
        taken = take(comments, steps, Path(folder), 4)
        assert taken.pool is not None
        after = taken.pool.counts(kind)
    first = {one.id: one for one in reversed(comments)}
    before = Counter(getattr(one, kind) for one in first.values())
    if kind == "tokens":
        ordered = sorted(one.tokens for one in first.values())
        cap = before[ordered[(len(ordered) - 1) // 2]]
    else:
        cap = sorted(before.values())[(len(before) - 1) // 2]
    assert dict(after.iter_rows()) == {value: min(n, cap) for value, n in before.items()}


@pytest.mark.parametrize("parts", [1, 4, 16])
def test_parts_do_not_matter(parts: int, tmp_path: Path) -> None:
    comments = [
        Comment(
            f"c{k}",
            group="abcdefg"[k * k % 7],
            tokens=3 + k * 7 % 20,
            emotions=(_LABELS[k % 7],),
        )
        for k in range(600)
    ]
    limits = {"neutral_most": 1.0, "positive_least": 0, "negative_least": 0, "ambiguous_least": 0}
    plan = CurationPlan.model_validate(
        {"big_groups": {"least": 5}, "sentiment": limits, "sample": {"size": 50}}
    )
    taken = take(comments, build_steps(plan, None, None), tmp_path, parts)
    fates = plain_run(comments, plan)
    assert taken.dropped == fates
    assert len(taken.kept) == 50

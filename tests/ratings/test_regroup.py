"""Filling absent labels, joining labels, merging tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.ratings.told import holds

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind
from affectlab.ratings.derived.merge import merge
from affectlab.ratings.steps import step
from affectlab.taxonomy import load_taxonomy

EKMAN = load_taxonomy("ekman").labels


def sparse(**more: object) -> Ratings:
    return Ratings(
        {
            "stimulus": ["a", "a", "b"],
            "rater": ["x", "y", "x"],
            "label": ["calm", "tense", "tense"],
            "value": [3, 2, 1],
            **more,
        },
        scale="0-7",
    )


def test_only_pairs_that_were_seen_are_filled() -> None:
    r = sparse()
    filled = r.fill_absent()
    assert filled.to_frame().rows() == [
        ("a", "x", "calm", 3.0),
        ("a", "y", "tense", 2.0),
        ("b", "x", "tense", 1.0),
        ("a", "x", "tense", 0.0),
        ("a", "y", "calm", 0.0),
        ("b", "x", "calm", 0.0),
    ]
    assert holds(*filled.history, StepKind.FILLED, n=3, value=0.0, by="")
    assert filled.fill_absent() is filled
    assert r.n_rows == 3
    for array in (filled.stimulus_code, filled.rater_code, filled.label_code, filled.value):
        assert not array.flags.writeable


def test_row_columns_of_filled_rows() -> None:
    r = sparse(
        session=["s1", "s1", "s2"],
        trial=[1, 2, 3],
        trial_kind=["main", "golden", "main"],
        outcome=["ok", "ok", "ok"],
        rt_ms=[5.5, 6.5, 7.5],
        text=["p", "q", "r"],
    )
    filled = r.fill_absent()
    new = filled.to_frame()[3:]
    assert new.select("stimulus", "rater", "label", "session", "trial_kind", "outcome").rows() == [
        ("a", "x", "tense", "s1", "main", "ok"),
        ("b", "x", "calm", "s2", "main", "ok"),
    ]
    assert new.select("trial", "rt_ms", "text").null_count().row(0) == (2, 2, 2)
    assert filled.fill_absent() is filled


def test_sessions_are_filled_apart() -> None:
    r = Ratings(
        {
            "stimulus": ["a"] * 3,
            "rater": ["x"] * 3,
            "label": ["calm", "tense", "calm"],
            "session": ["1", "1", None],
            "value": [1, 2, 3],
        },
        scale="0-7",
    )
    filled = r.fill_absent()
    assert filled.n_rows == 4
    assert filled.to_frame().row(3) == ("a", "x", "tense", 0.0, None)


def test_a_refused_label_is_not_absent() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "b", "c"],
            "rater": ["m"] * 4,
            "label": ["calm", "tense", "calm", "tense"],
            "value": [1, None, None, 5],
            "outcome": ["ok", "refused", "transport", "ok"],
        },
        scale="0-7",
    )
    filled = r.fill_absent()
    assert filled.to_frame().select("stimulus", "label", "value").rows() == [
        ("a", "calm", 1.0),
        ("a", "tense", None),
        ("b", "calm", None),
        ("c", "tense", 5.0),
        ("c", "calm", 0.0),
    ]


def test_filling_off_an_inferred_scale_infers_again() -> None:
    r = Ratings({"stimulus": ["a", "b"], "rater": ["x", "x"], "label": ["p", "q"], "value": [1, 5]})
    assert str(r.fill_absent().scale) == "ordinal 0 to 5, step 1 (inferred)"


def test_what_cannot_be_filled() -> None:
    plain = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [1]})
    with pytest.raises(InputError, match="there are no labels"):
        plain.fill_absent()
    with pytest.raises(InputError, match="fill value 9 is off the scale; expected ordinal 0 to 7"):
        sparse().fill_absent(9)
    said = Ratings({"stimulus": ["a"], "rater": ["x"], "label": ["p"], "text": ["hi"]})
    with pytest.raises(InputError, match="the answers are text"):
        said.fill_absent()


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 3), st.integers(0, 7)),
        min_size=1,
        max_size=30,
        unique_by=lambda row: row[:3],
    )
)
def test_filling_completes_each_pair_and_keeps_all_else(
    rows: list[tuple[int, int, int, int]],
) -> None:
    stimulus, rater, label, value = zip(*rows, strict=True)
    r = Ratings({"stimulus": stimulus, "rater": rater, "label": label, "value": value}, scale="0-7")
    filled = r.fill_absent()
    pairs = {(s, t) for s, t, _, _ in rows}
    assert filled.n_rows == len(pairs) * r.n_labels
    assert filled.to_frame()[: r.n_rows].equals(r.to_frame())
    assert filled.value[r.n_rows :].sum() == 0
    assert filled.label_names == r.label_names
    assert filled.raters.equals(r.raters)


def goemotions(**more: object) -> Ratings:
    return Ratings(
        {
            "stimulus": ["a", "a", "a", "b"],
            "rater": ["x", "x", "x", "y"],
            "label": ["joy", "love", "anger", "neutral"],
            "value": [1, 3, 2, 5],
            **more,
        },
        scale="0-7",
        taxonomy="goemotions",
    )


@pytest.mark.parametrize(
    ("how", "joy", "scale"),
    [
        ("max", 3, "ordinal 0 to 7, step 1"),
        ("min", 1, "ordinal 0 to 7, step 1"),
        ("mean", 2, "interval 0 to 7"),
        ("sum", 4, "ordinal 2 to 5, step 1 (inferred)"),
    ],
)
def test_labels_are_joined(how: str, joy: float, scale: str) -> None:
    r = goemotions().group_labels("sentiment", how)
    assert r.label_names == ("positive", "negative", "neutral")
    assert r.to_frame().rows() == [
        ("a", "x", "positive", joy),
        ("a", "x", "negative", 2.0),
        ("b", "y", "neutral", 5.0),
    ]
    assert str(r.scale) == scale
    assert r.taxonomy is not None
    assert r.taxonomy.labels == ("positive", "negative", "ambiguous", "neutral")
    assert r.history == (step(StepKind.LABELS_JOINED, level="sentiment", how=how),)


def test_trials_of_single_labels_are_joined_and_trials_of_several_are_not() -> None:
    single = goemotions(trial=[1, 2, 3, 4]).group_labels("sentiment")
    assert single.n_rows == 3
    twice = Ratings(
        {
            "stimulus": ["a"] * 4,
            "rater": ["x"] * 4,
            "label": ["joy", "love"] * 2,
            "value": [1, 3, 2, 0],
            "trial": [1, 1, 2, 2],
        },
        scale="0-7",
        taxonomy="goemotions",
    ).group_labels("sentiment")
    assert twice.value.tolist() == [3, 2]


def test_failed_answers_do_not_count_unless_there_is_nothing_else() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "a"],
            "rater": ["m"] * 3,
            "label": ["joy", "love", "anger"],
            "value": [None, 3, 6],
            "outcome": ["refused", "ok", "rule_violation"],
        },
        scale="0-7",
        taxonomy="goemotions",
    ).group_labels("sentiment", "sum")
    assert r.to_frame().select("label", "value", "outcome").rows() == [
        ("positive", 3.0, "ok"),
        ("negative", None, "rule_violation"),
    ]


def test_what_cannot_be_joined() -> None:
    with pytest.raises(InputError, match="the labels belong to no taxonomy"):
        sparse().group_labels("sentiment")
    with pytest.raises(InputError, match="unknown level 'sentimant'; did you mean 'sentiment'"):
        goemotions().group_labels("sentimant")
    with pytest.raises(InputError, match="unknown aggregate 'avg'"):
        goemotions().group_labels("sentiment", "avg")


def table(rater: str, values: dict[str, float], **options: object) -> Ratings:
    columns = {
        "stimulus": list(values),
        "rater": [rater] * len(values),
        "value": [*values.values()],
    }
    return Ratings(columns, **{"scale": "0-7", **options})  # type: ignore[arg-type]


def test_merging_keeps_all_rows_names_and_attributes() -> None:
    one = table("ann", {"a": 1, "b": 2}, raters={"rater": ["ann"], "age": [30]}, source="one.csv")
    two = table(
        "bot",
        {"c": 3, "a": 4},
        raters={"rater": ["bot"], "rater_kind": ["model"]},
        stimuli={"stimulus": ["c", "a"], "actor": ["p", "q"]},
        source="two.csv",
    )
    both = merge(one, two)
    assert both.to_frame().rows() == one.to_frame().rows() + two.to_frame().rows()
    assert both.stimulus_names == ("a", "b", "c")
    assert both.raters.rows() == [("ann", "human", 30), ("bot", "model", None)]
    assert both.stimuli["actor"].to_list() == ["q", None, "p"]
    assert both.source == "one.csv; two.csv"
    assert both.equals(one.merge(two))
    assert one.merge().equals(one)


def test_merging_carries_the_ledger_and_the_history() -> None:
    bad = {"stimulus": ["a", "b"], "rater": ["x", "x"], "value": [1, 9]}
    one = Ratings(bad, scale="0-7", on_bad="set_aside")
    both = one.merge(table("y", {"a": 1}))
    assert both.set_aside == one.set_aside
    filled = sparse().fill_absent()
    other = Ratings(
        {"stimulus": ["z"], "rater": ["w"], "label": ["calm"], "value": [1]}, scale="0-7"
    )
    assert filled.merge(other).history == filled.history


def test_tables_with_and_without_trials_merge() -> None:
    golden = Ratings(
        {"stimulus": ["g"], "rater": ["x"], "value": [1], "trial_kind": ["golden"]}, scale="0-7"
    )
    both = table("x", {"a": 1}).merge(golden)
    assert both.frame["trial_kind"].to_list() == ["main", "golden"]


def test_contradictions_are_one_sentence() -> None:
    one = table("x", {"a": 1}, raters={"rater": ["x"], "age": [30]})
    cases = [
        (
            table("x", {"a": 5}),
            r"table 2, row 1: a second answer for stimulus 'a', rater 'x'",
        ),
        (
            table("x", {"b": 5}, raters={"rater": ["x"], "age": [31]}),
            r"rater 'x': age is 30 in one table and 31 in another; expected the same",
        ),
        (
            table("x", {"b": 5}, raters={"rater": ["x"], "rater_kind": ["model"]}),
            r"rater 'x': rater_kind is 'human' in one table and 'model' in another",
        ),
        (
            table("y", {"b": 5}, scale="0-9"),
            r"different scales \(ordinal 0 to 7, step 1; ordinal 0 to 9, step 1\)",
        ),
        (
            table("y", {"b": 9}, scale=None),
            r"table 2, row 1: value 9 is off the scale; expected ordinal 0 to 7",
        ),
        (sparse(), r"some tables have labels and some have none"),
        (
            Ratings({"stimulus": ["a"], "rater": ["y"], "text": ["hi"]}),
            r"different scales",
        ),
        (
            table("y", {"b": "p"}, scale="nominal:p,q"),
            r"different scales",
        ),
    ]
    for other, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            one.merge(other)


def test_inferred_scales_are_inferred_again() -> None:
    both = table("x", {"a": 1, "b": 3}, scale=None).merge(table("y", {"a": 5}, scale=None))
    assert str(both.scale) == "ordinal 1 to 5, step 1 (inferred)"


def test_categories_merge_by_name_not_by_index() -> None:
    one = table("x", {"a": "yes", "b": "no"}, scale="nominal:yes,no,maybe")  # type: ignore[dict-item]
    two = Ratings({"stimulus": ["a", "b"], "rater": ["y", "y"], "value": ["maybe", "yes"]})
    both = one.merge(two)
    names = [both.scale.categories[int(value)] for value in both.value]
    assert names == ["yes", "no", "maybe", "yes"]
    free = Ratings({"stimulus": ["c"], "rater": ["z"], "value": ["other"]})
    union = two.merge(free)
    assert union.scale.categories == ("maybe", "yes", "other")
    assert not union.scale.declared
    with pytest.raises(InputError, match="category 'other' is off the scale"):
        one.merge(free)


def test_taxonomies_must_agree() -> None:
    def labelled(rater: str, labels: tuple[str, ...], taxonomy: str | None = None) -> Ratings:
        n = len(labels)
        return Ratings(
            {"stimulus": ["a"] * n, "rater": [rater] * n, "label": labels, "value": [1] * n},
            scale="0-7",
            taxonomy=taxonomy,
        )

    whole = labelled("x", EKMAN)
    assert whole.taxonomy is not None
    part = labelled("y", EKMAN[:2])
    assert part.taxonomy is None
    both = part.merge(whole)
    assert both.taxonomy == whole.taxonomy
    assert both.label_names == EKMAN
    outside = whole.merge(labelled("y", ("calm",)))
    assert outside.taxonomy is None
    assert outside.label_names == (*EKMAN, "calm")
    assert outside.history == (step(StepKind.TAXONOMY_DROPPED, taxonomy="ekman", label="calm"),)
    with pytest.raises(InputError, match="different taxonomies"):
        whole.merge(labelled("y", ("joy",), "goemotions"))


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_counts_add_up(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    tables = [
        table(f"r{k}", {f"s{j}": float(rng.integers(0, 8)) for j in range(size)})
        for k, size in enumerate(sizes)
    ]
    both = merge(*tables)
    assert both.n_ratings == sum(sizes)
    assert both.n_raters == len(sizes)
    assert both.value.tolist() == [value for part in tables for value in part.value]

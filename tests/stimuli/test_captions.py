"""Image-caption pairs: two strata, balanced by source, and what predictions decide."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.stimuli import captioned_pairs
from affectlab.stimuli.captions import top_labels
from affectlab.taxonomy import load_taxonomy

NEWS = ("bbc", "guardian", "post", "usa")
LABELS = load_taxonomy("ekman").labels


def pool(per_source: dict[str, int]) -> pl.DataFrame:
    rows = [(f"{source}-{k:04d}", source) for source, n in per_source.items() for k in range(n)]
    return pl.DataFrame(
        {
            "stimulus": [name for name, _ in rows],
            "file": [f"{name}.jpg" for name, _ in rows],
            "text": [f"Caption of {name}" for name, _ in rows],
            "source": [source for _, source in rows],
        }
    )


def says(pairs: pl.DataFrame, label_of: dict[str, str], rater: str) -> Ratings:
    """A rater who gives .9 to one label of each pair and .1 to the others."""
    rows = [
        (stimulus, rater, label, 0.9 if label_of[stimulus] == label else 0.1)
        for stimulus in pairs["stimulus"]
        for label in LABELS
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale="0-1 interval")


def test_published_strata() -> None:
    pairs = pool({**dict.fromkeys(NEWS, 700), "conceptual": 1500})
    image = {name: LABELS[k % 3] for k, name in enumerate(pairs["stimulus"])}
    text = {name: LABELS[k % 2] for k, name in enumerate(pairs["stimulus"])}
    made = captioned_pairs(
        pairs,
        random_from=NEWS,
        conflict_from=["conceptual"],
        image_emotions=says(pairs, image, "image"),
        text_emotions=says(pairs, text, "text"),
    )
    assert len(made) == 2300
    assert made.pairs["stimulus"].n_unique() == 2300
    counts = made.counts.select("stratum", "source", "n").rows()
    assert counts == [*(("random", s, 450) for s in NEWS), ("conflict", "conceptual", 500)]
    conflict = made.pairs.filter(stratum="conflict")
    for name, one, other in conflict.select("stimulus", "image_emotion", "text_emotion").rows():
        assert (one, other) == (image[name], text[name])
        assert one != other
    differ = sum(image[n] != text[n] for n in pairs.filter(source="conceptual")["stimulus"])
    assert made.counts.filter(stratum="conflict")["n_available"].to_list() == [differ]


def test_polarity_decides() -> None:
    """Anger and fear are two labels and no conflict of polarity; surprise has no side."""
    pairs = pool({"a": 4})
    names = pairs["stimulus"].to_list()
    image = dict(zip(names, ["anger", "joy", "joy", "surprise"], strict=True))
    text = dict(zip(names, ["fear", "sadness", "joy", "anger"], strict=True))
    made = captioned_pairs(
        pairs,
        random=0,
        conflict=1,
        image_emotions=says(pairs, image, "i"),
        text_emotions=says(pairs, text, "t"),
        by=load_taxonomy("ekman"),
    )
    assert made.pairs["stimulus"].to_list() == [names[1]]
    assert made.counts["n_available"].to_list() == [1]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=5), st.integers(1, 60), st.integers(0, 3))
def test_sources_are_balanced(sizes: list[int], number: int, seed: int) -> None:
    pairs = pool({f"s{k}": n for k, n in enumerate(sizes)})
    if sum(sizes) < number:
        with pytest.raises(InputError, match=r"pairs are wanted|column"):
            captioned_pairs(pairs, random=number, conflict=0, seed=seed)
        return
    made = captioned_pairs(pairs, random=number, conflict=0, seed=seed)
    assert made.counts["n"].sum() == number == len(made)
    rows = made.counts.select("n_available", "n").rows()
    # Who gives less than another has nothing left to give, or is behind by the one of rounding.
    most = max(n for _, n in rows)
    assert all(n == available or most - n <= 1 for available, n in rows)


def test_rows_in_any_order() -> None:
    pairs = pool({"a": 30, "b": 30})
    first = captioned_pairs(pairs, random=10, conflict=0, seed=4)
    again = captioned_pairs(pairs.sample(60, shuffle=True, seed=1), random=10, conflict=0, seed=4)
    assert first.pairs.equals(again.pairs)
    other = captioned_pairs(pairs, random=10, conflict=0, seed=5)
    assert not first.pairs.equals(other.pairs)


def test_top_labels_take_the_mean_over_raters() -> None:
    frame = pl.DataFrame(
        [
            ("a", "m", "joy", 0.9),
            ("a", "n", "joy", 0.0),
            ("a", "m", "fear", 0.5),
            ("a", "n", "fear", 0.5),
        ],
        schema=["stimulus", "rater", "label", "value"],
        orient="row",
    )
    assert top_labels(Ratings(frame, scale="0-1 interval")).rows() == [("a", "fear")]


def test_bad_input() -> None:
    pairs = pool({"a": 3})
    joy = says(pairs, dict.fromkeys(pairs["stimulus"], "joy"), "m")
    other = Ratings(
        {
            "stimulus": pairs["stimulus"],
            "rater": ["m"] * 3,
            "label": ["glee"] * 3,
            "value": [1.0] * 3,
        },
        scale="0-1 interval",
    )
    for options, said in (
        ({"random": -1}, "random = -1: expected 0 or more"),
        ({"random": 0, "conflict": 0}, "expected at least one pair"),
        ({"random": 4, "conflict": 0}, "4 pairs are wanted and 3 there are"),
        ({"random": 1, "conflict": 1}, "needs predictions for pictures and for captions"),
        ({"random": 1, "conflict": 0, "random_from": ["b"]}, "unknown source 'b'"),
        (
            {"conflict": 1, "image_emotions": joy, "text_emotions": other},
            "share no label: .*; map one of them",
        ),
        (
            {
                "conflict": 1,
                "image_emotions": joy,
                "text_emotions": joy.where(pl.col("stimulus") != "a-0001"),
            },
            "1 pairs have no text emotion, the first is 'a-0001'",
        ),
    ):
        with pytest.raises(InputError, match=said):
            captioned_pairs(pairs, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="column 'source' is missing"):
        captioned_pairs(pairs.drop("source"))
    with pytest.raises(InputError, match="stands twice"):
        captioned_pairs(pl.concat([pairs, pairs]))
    with pytest.raises(InputError, match="row 2: text is empty"):
        captioned_pairs(pairs.with_columns(text=pl.Series(["x", " ", "y"])))

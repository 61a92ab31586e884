"""A scale for each label: declared, guessed, checked, stored and carried through every step."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.ratings.told import facts

from affectlab.core.errors import InputError
from affectlab.ratings import (
    GuessedScalesWarning,
    Ratings,
    Scale,
    StepKind,
    read_models,
    read_ratings,
)
from affectlab.ratings.answers.arrays import answers_of
from affectlab.ratings.scales import DeclaredScales

TEXT = "1-7, category=nominal:joy,fear,anger, arousal=1-9, comment=text"
SCALES = {
    "plausibility": "1-7",
    "category": "nominal:joy,fear,anger",
    "arousal": "1-9",
    "comment": "text",
}


def survey(n_raters: int = 6, n_stimuli: int = 8) -> pl.DataFrame:
    """A questionnaire of four questions, one row per rater and stimulus."""
    draw = random.Random(3)
    return pl.DataFrame(
        [
            {
                "stimulus": f"s{stimulus}",
                "rater": f"r{rater}",
                "plausibility": draw.randint(1, 7),
                "category": draw.choice(["joy", "fear", "anger"]),
                "arousal": draw.randint(1, 9),
                "comment": f"remark {rater} on {stimulus}" if draw.random() < 0.5 else None,
            }
            for rater in range(n_raters)
            for stimulus in range(n_stimuli)
        ]
    )


def long(wide: pl.DataFrame) -> pl.DataFrame:
    text = wide.with_columns(pl.col(list(SCALES)).cast(pl.String))
    return text.unpivot(list(SCALES), index=["stimulus", "rater"], variable_name="label")


@pytest.fixture
def mixed() -> Ratings:
    return Ratings(long(survey()), scale=SCALES)


def table(values: dict[str, list[object]]) -> dict[str, list[object]]:
    """One rater, one stimulus per answer."""
    rows = [(f"s{k}", label, v) for label, own in values.items() for k, v in enumerate(own)]
    return {
        "stimulus": [row[0] for row in rows],
        "rater": ["r"] * len(rows),
        "label": [row[1] for row in rows],
        "value": [None if row[2] is None else str(row[2]) for row in rows],
    }


def test_the_short_form_and_a_mapping_say_the_same(mixed: Ratings) -> None:
    assert Ratings(long(survey()), scale=TEXT).equals(mixed)
    assert Ratings(long(survey()), scale=mixed.scales).equals(mixed)
    assert list(mixed.scales) == list(mixed.label_names) == list(SCALES)
    assert {name: Scale.parse(text) for name, text in SCALES.items()} == mixed.scales
    with pytest.raises(TypeError):
        mixed.scales["arousal"] = Scale.binary()  # type: ignore[index]


def test_each_label_is_decoded_on_its_own_scale(mixed: Ratings) -> None:
    category = mixed.select(labels="category")
    assert category.scale.categories == ("joy", "fear", "anger")
    assert set(category.value) <= {0.0, 1.0, 2.0}
    comment = mixed.select(labels="comment")
    assert comment.n_ratings == survey()["comment"].drop_nulls().len()
    assert comment.to_frame()["text"][0].startswith("remark")
    assert mixed.select(labels=["plausibility"]).scale == Scale.parse("1-7")


def test_a_scale_that_labels_do_not_share_is_refused(mixed: Ratings) -> None:
    with pytest.raises(InputError, match=r"different scales \(plausibility: ordinal 1 to 7, step"):
        _ = mixed.scale
    answers = answers_of(mixed)
    assert answers.labels == ("plausibility", "category", "arousal")
    assert answers.scales == tuple(mixed.scales[name] for name in answers.labels)
    with pytest.raises(InputError, match="different scales"):
        _ = answers.scale
    assert answers_of(mixed.select(labels="arousal")).scale == Scale.parse("1-9")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_wide_long_and_stored_files_give_the_same(
    mixed: Ratings, tmp_path: Path, suffix: str
) -> None:
    wide, plain = tmp_path / "wide.csv", tmp_path / "long.csv"
    survey().write_csv(wide)
    long(survey()).write_csv(plain)
    read = [read_ratings(wide, wide="labels", scale=TEXT), read_ratings(plain, scale=TEXT)]
    for one in read:
        assert one.scales == mixed.scales
        assert sorted(one.to_frame().rows(), key=str) == sorted(
            mixed.to_frame().select(one.to_frame().columns).rows(), key=str
        )
        stored = one.write(tmp_path / f"stored{suffix}")
        assert read_ratings(stored).equals(one)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from(["joy, great", "a=b", "1", "text", "x"]),
        st.sampled_from(
            ["1-7", "0-1 interval", "binary", "nominal:1,2", "ordinal:no,yes", "-3..3"]
        ),
        min_size=1,
    ),
    st.integers(0, 10**6),
)
def test_every_mixture_of_scales_survives(
    tmp_path_factory: pytest.TempPathFactory, scales: dict[str, str], seed: int
) -> None:
    draw = random.Random(seed)
    values: dict[str, list[object]] = {}
    for label, text in scales.items():
        scale = Scale.parse(text)
        if scale.categories:
            values[label] = draw.choices(scale.categories, k=5)
        elif scale.step is None:
            values[label] = [draw.random() for _ in range(5)]
        else:
            values[label] = draw.choices(scale.levels().tolist(), k=5)
    made = Ratings(table(values), scale=scales)
    folder = tmp_path_factory.mktemp("mixed")
    for suffix in (".csv", ".parquet", ".jsonl"):
        assert read_ratings(made.write(folder / f"x{suffix}")).equals(made)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"a": [1, 2, 3, 4, 5], "b": [0, 88, 31, 100, 7]}, ["ordinal 1 to 5", "interval 0 to 100"]),
        ({"a": [1, 2, 3], "b": [0.2, 0.45, 0.91]}, ["ordinal 1 to 3", "interval 0.2 to 0.91"]),
        ({"a": [1, 2, 3, 4, 5], "b": [0, 1, 1, 0, 1]}, ["ordinal 1 to 5", "binary, 0 or 1"]),
        ({"a": [1, 2, 3], "b": ["x", "y", "x", "y"]}, ["ordinal 1 to 3", "nominal: x, y"]),
        ({"a": [1, 2, 3, 4, 5], "b": [-3, 2, 0, 3]}, ["ordinal 1 to 5", "ordinal -3 to 3"]),
        (
            {"a": [1, 2, 3, 4, 5], "b": [-3, 2, 0, 3], "c": [-3, -2, -1, 0]},
            ["ordinal 1 to 5", "ordinal -3 to 3", "ordinal -3 to 3"],
        ),
        (
            {"a": ["u", "v", "u", "v"], "b": ["x", "y", "x", "y"]},
            ["nominal: u, v", "nominal: x, y"],
        ),
    ],
)
def test_scales_that_plainly_differ_are_guessed_apart(
    values: dict[str, list[object]], expected: list[str]
) -> None:
    with pytest.warns(GuessedScalesWarning, match="declare the scale of each label"):
        found = Ratings(table(values))
    for scale, text in zip(found.scales.values(), expected, strict=True):
        assert str(scale).startswith(text)
    assert any("inferred from the answers (" in said for said in found.warnings)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"a": [0, 1, 7, 3], "b": [0, 0, 6, 0]}, "ordinal 0 to 7"),
        ({"a": [0, 1, 1], "b": [0, 0, 0]}, "binary"),
        ({"a": [0, 1, 2, 7, 3], "b": [0, 0, 1]}, "ordinal 0 to 7"),
        ({"a": [1, 2, 3, 4, 5, 6, 7], "b": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, "ordinal 1 to 9"),
        ({"a": [0, 80, 40, 60], "b": [0, 0, 0, 1, 2, 0, 0]}, "interval 0 to 80"),
        ({"a": [1, 2, 3, 4], "b": [1, 2, 40]}, "interval 1 to 40"),
        ({"a": [0, 1, 2, 3], "b": [-3, -2, 0, 3]}, "ordinal -3 to 3"),
        ({"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, -1, 4]}, "ordinal -1 to 5"),
        ({"a": [0, 1, 2, 3, 4], "b": [-1, 0, 1], "c": [-4, -1, 0]}, "ordinal -4 to 4"),
        ({"a": [2, 3, 4], "b": [-3, 0, 2]}, "ordinal -3 to 4"),
        ({"a": ["yes", "no", "unsure"], "b": ["no", "no"]}, "nominal: yes, no, unsure"),
    ],
)
def test_labels_that_may_share_a_scale_do(values: dict[str, list[object]], expected: str) -> None:
    found = Ratings(table(values))
    assert str(found.scale).startswith(expected)
    assert len(set(found.scales.values())) == 1


def test_ratings_that_end_differently_are_named() -> None:
    ends = {"a": list(range(1, 8)), "b": list(range(1, 10))}
    said = " ".join(Ratings(table(ends)).warnings)
    assert "'a' at 7, 'b' at 9" in said
    assert "a=1-7, b=1-9" in said


@pytest.mark.parametrize(
    ("scale", "sentence"),
    [
        ("arousl=1-9", "scale: unknown label 'arousl'; did you mean 'arousal'?"),
        ({"arousal": "1-5"}, "value 9 of 'arousal' is off the scale; expected ordinal 1 to 5"),
        ({"category": "1-5"}, "value 'joy' of 'category' is not understood; expected ordinal 1"),
        ("arousal=1-9, arousal=1-7", "label 'arousal' is named twice"),
        ("=1-9", "a part names no label"),
        ("arousal=1-x", "scale '1-x' is not understood; .* \\(label 'arousal'\\)"),
    ],
)
@pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")
def test_bad_scales_are_one_sentence(scale: object, sentence: str) -> None:
    values = {"arousal": [9, 1, 2], "category": ["joy", "fear", "joy", "fear"]}
    with pytest.raises(InputError, match=sentence) as raised:
        Ratings(table(values), scale=scale)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_a_label_of_a_table_without_labels_is_refused() -> None:
    frame = {"stimulus": ["a"], "rater": ["r"], "value": [1]}
    with pytest.raises(InputError, match="the answers have no labels, so none is called 'x'"):
        Ratings(frame, scale={"x": "1-7"})
    assert Ratings(frame, scale={"rating": "1-7"}).equals(Ratings(frame, scale="1-7"))


def test_parsing_of_the_short_form() -> None:
    found = DeclaredScales.parse('0-1, step 0.1, "joy, great"=nominal:a,b, x=0-1 step 0.5')
    assert found.default == Scale.parse("0-1 step 0.1")
    assert found.by_label == {
        "joy, great": Scale.parse("nominal:a,b"),
        "x": Scale.parse("0-1 step 0.5"),
    }


def test_steps_keep_the_scale_of_each_label(mixed: Ratings) -> None:
    moved = mixed.with_values(mixed.value, {"arousal": "0-9"}, step="longer")
    assert str(moved.scales["arousal"]) == "ordinal 0 to 9, step 1"
    assert moved.scales["category"] == mixed.scales["category"]
    assert moved.where(pl.col("label") != "arousal").scales.keys() == {
        "plausibility",
        "category",
        "comment",
    }
    with pytest.raises(InputError, match="is off ordinal 1 to 2"):
        mixed.with_values(mixed.value, {"arousal": "1-2"}, step="shorter")
    summary = mixed.summary()
    assert list(summary.scales) == list(SCALES)
    assert "plausibility" in repr(dict(summary.scales))


def test_merging_puts_each_label_on_one_scale(mixed: Ratings) -> None:
    other = long(survey()).with_columns(rater="m" + pl.col("rater"))
    both = mixed.merge(Ratings(other, scale=SCALES))
    assert both.scales == mixed.scales
    assert both.n_ratings == 2 * mixed.n_ratings
    with pytest.raises(InputError, match="different scales of 'arousal'"):
        mixed.merge(Ratings(other, scale={**SCALES, "arousal": "0-10"}))


def test_only_labels_whose_scale_holds_the_value_are_filled() -> None:
    values = {"seen": [1, 0, 1], "arousal": [9, 1], "category": ["joy"]}
    scales = {"seen": "binary", "arousal": "1-9", "category": "nominal:joy,fear"}
    rows = table({**values, "heard": [1]})
    filled = Ratings(rows, scale={**scales, "heard": "binary"}).fill_absent()
    assert filled.n_ratings == 7 + 2
    assert facts(filled, StepKind.FILLED)["labels"] == ("seen", "heard")


def test_groups_of_labels_need_one_scale() -> None:
    rows = table({"joy": [1, 2], "gratitude": [1, 2], "fear": [5, 9]})
    made = Ratings(
        rows, scale={"joy": "1-7", "gratitude": "1-7", "fear": "1-9"}, taxonomy="goemotions"
    )
    grouped = made.group_labels("sentiment")
    assert {str(scale) for scale in grouped.scales.values()} == {
        "ordinal 1 to 7, step 1",
        "ordinal 1 to 9, step 1",
    }
    other = Ratings(
        rows, scale={"joy": "1-7", "gratitude": "0-7", "fear": "1-9"}, taxonomy="goemotions"
    )
    with pytest.raises(InputError, match="different scales"):
        other.group_labels("sentiment")


def test_models_are_read_on_the_scales_of_people(mixed: Ratings, tmp_path: Path) -> None:
    file = tmp_path / "tiny.csv"
    names = ["plausibility", "category", "arousal"]
    survey(1).select("stimulus", *names).write_csv(file)
    (found,) = read_models(file, mixed)
    assert found.scales == {name: mixed.scales[name] for name in names}
    between = survey(1).with_columns(
        plausibility=pl.col("plausibility") - 0.5 * (pl.col("plausibility") > 1)
    )
    between.select("stimulus", *names).write_csv(file)
    (found,) = read_models(file, mixed)
    assert str(found.scales["plausibility"]) == "interval 1 to 7"
    assert found.scales["arousal"] == mixed.scales["arousal"]

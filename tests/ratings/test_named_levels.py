"""Ordinal scales whose levels have names: never, sometimes, often."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from tests.ratings.told import facts

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, Scale, StepKind, read_ratings
from affectlab.ratings.derived.merge import merge
from affectlab.reliability import krippendorff_alpha, pairwise_kappa

OFTEN = "ordinal:never,sometimes,often"
WORDS = ("never", "sometimes", "often")


def table(values: list, scale: str | Scale | None = OFTEN, raters: int = 2) -> Ratings:
    return Ratings(
        {
            "stimulus": [f"s{k // raters}" for k in range(len(values))],
            "rater": [f"r{k % raters}" for k in range(len(values))],
            "value": values,
        },
        scale=scale,
    )


def test_short_form() -> None:
    scale = Scale.parse("ordinal: never , sometimes, often,")
    assert (scale.kind, scale.low, scale.high, scale.step) == ("ordinal", 1, 3, 1)
    assert scale.categories == WORDS
    assert scale == Scale.ordinal(WORDS)
    assert scale.levels().tolist() == [1, 2, 3]
    assert scale.contains([0, 1, 2.5, 3, 4]).tolist() == [False, True, False, True, False]
    assert [scale.name_of(v) for v in (1, 3, 2.5, 9)] == ["'never'", "'often'", "2.5", "9"]
    assert str(scale) == "ordinal: never, sometimes, often"
    assert repr(scale) == "Scale('ordinal: never, sometimes, often')"
    assert Scale.parse(str(scale)) == scale
    assert Scale.from_dict(scale.to_dict()) == scale
    assert Scale.parse("ordinal 0 to 7").categories == ()


@given(
    st.lists(st.text("abc xyz", min_size=1).map(str.strip).filter(bool), min_size=2, unique=True)
)
def test_any_words_survive_the_short_form(words: list[str]) -> None:
    words = list(dict.fromkeys(" ".join(word.split()) for word in words))
    if len(words) < 2:
        return
    scale = Scale.ordinal(tuple(words))
    assert Scale.parse(str(scale)) == scale
    assert [scale.name_of(v) for v in scale.levels()] == [repr(word) for word in words]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ordinal:", "is not understood"),
        ("ordinal:a", "one category makes no order"),
        ("ordinal:a,a", "a category is named twice"),
        ("ordinal:Very much,very  much", "differ in case or spaces only"),
    ],
)
def test_words_that_are_no_scale(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Scale.parse(text)


def test_bounds_are_those_of_the_names() -> None:
    with pytest.raises(InputError, match="2 named levels go from 1 to 2 in steps of 1"):
        Scale("ordinal", 0.0, 1.0, 1.0, ("a", "b"))
    with pytest.raises(InputError, match="interval with categories; expected nominal or ordinal"):
        Scale("interval", 1.0, 2.0, 1.0, ("a", "b"))
    with pytest.raises(InputError, match="category ' '; expected a name"):
        Scale.ordinal(("a", " "))


def test_words_are_read_whatever_their_case_and_spaces() -> None:
    r = table(["never", " Often ", "SOMETIMES", "often", None, "NA"])
    assert r.value.tolist() == [1, 3, 2, 3]
    assert r.history == ()
    assert r.set_aside[0].count == 2


def test_unknown_words_are_refused_with_the_closest() -> None:
    with pytest.raises(
        InputError, match=r"row 2: value 'oftn' is not understood; did you mean 'often'\?"
    ):
        table(["never", "oftn"])
    with pytest.raises(
        InputError, match=r"value 'maybe' .* expected one of: never, sometimes, oft"
    ):
        table(["never", "maybe"])


def test_numbers_are_levels_from_one_and_that_is_said() -> None:
    ends = {"low": 1.0, "first": "never", "high": 3.0, "last": "often"}
    for values in ([1, 3], ["1", "3"], ["never", "3"]):
        r = table(values)
        assert r.value.tolist() == [1, 3]
        assert facts(r, StepKind.POSITIONS) == ends
    with pytest.raises(InputError, match=r"value 0 is off the scale; expected the name or the"):
        table([0, 3])


def test_names_that_are_numbers_are_names() -> None:
    for values in ([10, 30], ["10", "30"]):
        r = table(values, "ordinal:10,20,30")
        assert r.value.tolist() == [1, 3]
        assert r.history == ()
    with pytest.raises(InputError, match="value '1' is not understood"):
        table(["10", "1"], "ordinal:10,20,30")
    with pytest.raises(InputError, match="value '1' is not understood"):
        table([10, 1], "ordinal:10,20,30")


def test_a_number_beside_names_is_no_category() -> None:
    """On a nominal scale a stray 1 is a typo, not the second category."""
    with pytest.raises(InputError, match="row 3: value '1' is not understood; expected one of: ye"):
        table(["yes", "no", "1"], "nominal:yes,no")
    r = table(["0", "1"], "nominal:yes,no")
    assert r.value.tolist() == [0, 1]
    assert facts(r, StepKind.POSITIONS)["first"] == "yes"
    with pytest.raises(InputError, match=r"nominal: yes, no \(0 to 1\)"):
        table([1, 2], "nominal:yes,no")
    with pytest.raises(InputError, match=r"value 'yess' .*did you mean 'yes'\?"):
        table(["yes", "yess"], "nominal:yes,no")
    assert table(["Yes", "no"], "nominal:yes,no").value.tolist() == [0, 1]
    assert table(["Yes", "yes"], "nominal:yes,Yes").value.tolist() == [1, 0]
    with pytest.raises(InputError, match="value 'YES' is not understood"):
        table(["YES", "yes"], "nominal:yes,Yes")


def test_an_order_is_suggested_and_never_guessed() -> None:
    r = table(["agree", "strongly agree", "Neutral", "disagree"], None)
    assert r.scale.kind == "nominal"
    assert r.scale.categories == ("agree", "strongly agree", "Neutral", "disagree")
    assert any("(scale='ordinal:disagree,Neutral,agree,strongly agree')" in w for w in r.warnings)
    other = table(["joy", "fear", "joy", "joy"], None)
    assert any("(scale='ordinal:disagree,neutral,agree')" in w for w in other.warnings)
    assert any("(scale='nominal:joy,fear')" in w for w in other.warnings)
    assert not any("ordinal:joy" in w for w in other.warnings)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_writing_and_reading(tmp_path: Path, suffix: str) -> None:
    r = table(["never", "often", "sometimes", "often"])
    file = r.write(tmp_path / f"r{suffix}")
    again = read_ratings(file)
    assert again.equals(r)
    assert again.scale == Scale.parse(OFTEN)
    if suffix == ".parquet":
        assert pl.read_parquet(file)["value"].to_list() == ["never", "often", "sometimes", "often"]
    else:
        assert len(re.findall(r'[,:]"?often\b', file.read_text())) == 2
        file.with_name(file.name + ".meta.json").unlink()
        assert read_ratings(file, scale=OFTEN).value.tolist() == [1, 3, 2, 3]


def test_an_inferred_nominal_table_can_be_given_its_order_later(tmp_path: Path) -> None:
    file = table(["often", "never"], None).write(tmp_path / "r.csv")
    assert "often" in file.read_text()
    assert read_ratings(file).scale.kind == "nominal"
    assert read_ratings(file, scale=OFTEN).value.tolist() == [3, 1]


def test_edited_words_are_checked(tmp_path: Path) -> None:
    file = table(["never", "often"]).write(tmp_path / "r.csv")
    file.write_text(file.read_text().replace("often", "ofen"))
    with pytest.raises(InputError, match=r"r\.csv, line 3: value 'ofen' .* did you mean 'often'"):
        read_ratings(file)


def test_merging_needs_the_same_levels() -> None:
    one = table(["never", "often"])
    other = Ratings({"stimulus": ["z"], "rater": ["r9"], "value": ["sometimes"]}, scale=OFTEN)
    assert merge(one, other).value.tolist() == [1, 3, 2]
    plain = Ratings({"stimulus": ["z"], "rater": ["r9"], "value": [2]}, scale="1-3")
    with pytest.raises(InputError, match="different scales"):
        merge(one, plain)


def test_agreement_is_that_of_the_same_levels_as_numbers() -> None:
    value = np.random.default_rng(3).integers(1, 4, 60)
    words = table([WORDS[v - 1] for v in value], raters=3)
    numbers = table(value.tolist(), "1-3", raters=3)
    alpha = krippendorff_alpha(words, target="sample")["rating",]
    assert alpha.value == krippendorff_alpha(numbers, target="sample")["rating",].value
    assert (
        alpha.value
        == krippendorff_alpha(numbers, level="ordinal", target="sample")["rating",].value
    )
    assert (
        alpha.value
        != krippendorff_alpha(numbers, level="nominal", target="sample")["rating",].value
    )
    kappa, expected = pairwise_kappa(words), pairwise_kappa(numbers)
    assert kappa["rating", "r0", "r1"].value == expected["rating", "r0", "r1"].value

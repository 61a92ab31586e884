"""Hit rates, and Wagner's unbiased hit rate, of people and models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.wording import no_interval_text
from affectlab.evaluation import recognition, wording
from affectlab.ratings import Ratings, read_ratings

NAMES = ("anger", "fear", "joy", "none")
SHOWN = ("anger", "anger", "fear", "fear", "joy", "joy")
PERSON = ("anger", "fear", "fear", "fear", "joy", "none")
OTHER = ("anger", "anger", "anger", "none", "joy", "joy")


def ratings_of(*answers: Sequence[str | None], shown: Sequence[str] = SHOWN) -> Ratings:
    rows = [
        (f"s{unit}", f"r{rater}", answer)
        for rater, row in enumerate(answers)
        for unit, answer in enumerate(row)
        if answer is not None
    ]
    names = ("stimulus", "rater", "value")
    return Ratings(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        scale=f"nominal:{','.join(NAMES)}",
        stimuli={"stimulus": [f"s{k}" for k in range(len(shown))], "intended": list(shown)},
    )


def rates(frame: pl.DataFrame, **keys: str) -> dict[str, float]:
    own = frame.filter(**keys)
    return dict(zip(own["intended"], own["unbiased_hit_rate"], strict=True))


def test_by_hand() -> None:
    # The first person has seen 2 of each: anger 1 hit of 1 answer, 1 / (2 * 1); fear 2 hits of 3
    # answers, 4 / (2 * 3); joy 1 hit of 1 answer. The second has anger 2 hits of 3 answers, fear
    # none, joy 2 hits of 2. Pooled: anger 3^2 / (4 * 4), fear 2^2 / (4 * 3), joy 3^2 / (4 * 3).
    found = recognition(ratings_of(PERSON, OTHER), target="sample")
    people = found.to_frame("raters")
    assert rates(people, rater="r0") == pytest.approx(
        {"anger": 1 / 2, "fear": 2 / 3, "joy": 1 / 2, "none": math.nan}, nan_ok=True
    )
    assert rates(people, rater="r1") == pytest.approx(
        {"anger": 2 / 3, "fear": 0, "joy": 1, "none": math.nan}, nan_ok=True
    )
    first = found.to_frame()
    assert rates(first) == pytest.approx(
        {"anger": 7 / 12, "fear": 1 / 3, "joy": 3 / 4, "mean": 5 / 9}
    )
    assert first["hit_rate"].to_list() == pytest.approx([0.75, 0.5, 0.75, 2 / 3])
    assert first["pooled_unbiased_hit_rate"].to_list()[:3] == pytest.approx([9 / 16, 1 / 3, 3 / 4])
    # Of 6 answers 2 are about anger; 1 is anger of the first, 3 are of the second.
    assert first["chance"][0] == pytest.approx((2 * 1 / 36 + 2 * 3 / 36) / 2)


def test_what_is_taken_for_what() -> None:
    found = recognition(ratings_of(PERSON, OTHER), target="sample")
    counts = found.to_frame("confusion").filter(pl.col("count") > 0)
    assert {(row["true"], row["predicted"]): row["count"] for row in counts.to_dicts()} == {
        ("anger", "anger"): 3,
        ("anger", "fear"): 1,
        ("fear", "fear"): 2,
        ("fear", "anger"): 1,
        ("fear", "none"): 1,
        ("joy", "joy"): 3,
        ("joy", "none"): 1,
    }
    assert found.to_frame("matrix").columns == ["true", *NAMES]


def test_an_emotion_that_a_person_never_saw_does_not_count_for_them() -> None:
    # The second person has not seen joy, and yet answered it once.
    found = recognition(
        ratings_of(PERSON, ("anger", "anger", "fear", "joy", None, None)), target="sample"
    )
    people = found.to_frame("raters")
    assert math.isnan(rates(people, rater="r1")["joy"])
    assert rates(found.to_frame())["joy"] == rates(people, rater="r0")["joy"] == 0.5
    pooled = dict(found.to_frame().select("intended", "pooled_unbiased_hit_rate").iter_rows())
    assert pooled["joy"] == pytest.approx(1 / (2 * 2))


panels = st.lists(
    st.lists(st.sampled_from((*NAMES, None)), min_size=6, max_size=6), min_size=1, max_size=4
)


@given(answers=panels)
@settings(max_examples=60, deadline=None)
def test_equals_counting(answers) -> None:
    answers = [row for row in answers if any(row)]
    if not answers:
        return
    found = recognition(ratings_of(*answers), target="sample").to_frame("estimates")
    for emotion in dict.fromkeys(SHOWN):
        every = []
        for row in answers:
            pairs = Counter(zip(SHOWN, row, strict=True))
            seen = sum(n for (i, j), n in pairs.items() if i == emotion and j is not None)
            said = sum(n for (_, j), n in pairs.items() if j == emotion)
            hits = pairs[emotion, emotion]
            if seen:
                every.append(hits**2 / (seen * said) if said else 0.0)
        own = found.filter(intended=emotion, measure="unbiased_hit_rate")["value"].to_list()
        assert own == pytest.approx([np.mean(every)] if every else [])


def simulated(n_people: int = 8, n_models: int = 1) -> Ratings:
    rng = np.random.default_rng(5)
    shown = np.array(["anger", "fear", "joy"])[np.arange(30) % 3]
    rows = []
    for rater in range(n_people + n_models):
        right = rng.random(30) < 0.7
        answers = np.where(right, shown, rng.choice(NAMES, 30))
        rows += [(f"s{k:02}", f"r{rater}", answer) for k, answer in enumerate(answers.tolist())]
    kinds = ["human"] * n_people + ["model"] * n_models
    names = ("stimulus", "rater", "value")
    return Ratings(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        raters={"rater": [f"r{k}" for k in range(len(kinds))], "rater_kind": kinds},
        stimuli={"stimulus": [f"s{k:02}" for k in range(30)], "emotion": shown.tolist()},
    )


def test_a_model_is_a_rater_of_its_own() -> None:
    both = simulated()
    found = recognition(both)
    assert found.to_frame()["rater"].unique(maintain_order=True).to_list() == ["people", "r8"]
    beside = recognition(both.humans(), both.models())
    assert beside.to_frame().equals(found.to_frame())
    means = found.to_frame("estimates").filter(intended="mean", measure="unbiased_hit_rate")
    assert means["target"].to_list() == ["both", "stimuli"]
    model = found.to_frame("raters").filter(rater="r8")
    assert rates(found.to_frame(), rater="r8")["joy"] == rates(model)["joy"]


def test_intervals_are_about_what_is_said() -> None:
    people = simulated(n_models=0)
    width = {}
    for target in ("both", "stimuli", "raters"):
        row = recognition(people, target=target).to_frame().row(0, named=True)
        assert row["hit_rate_low"] < row["hit_rate"] < row["hit_rate_high"]
        width[target] = row["hit_rate_high"] - row["hit_rate_low"]
    assert max(width, key=width.__getitem__) == "both"


def test_scores_of_labels_name_the_highest() -> None:
    scores = {
        "stimulus": ["a", "a", "b", "b", "c", "c"],
        "rater": ["net"] * 6,
        "label": ["joy", "fear"] * 3,
        "value": [0.7, 0.3, 0.2, 0.8, 0.5, 0.5],
    }
    stimuli = {"stimulus": ["a", "b", "c"], "intended": ["Joy", "fear", "fear"]}
    raters = {"rater": ["net"], "rater_kind": ["model"]}
    net = Ratings(scores, scale="0-1 interval", raters=raters, stimuli=stimuli)
    found = recognition(net, target="sample")
    assert dict(found.to_frame().select("intended", "hit_rate").iter_rows()) == {
        "joy": 1.0,
        "fear": 0.5,
        "mean": 0.75,
    }
    assert "no single label" in found.to_frame("confusion")["predicted"].to_list()


def test_a_file_whose_column_says_what_was_intended(tmp_path) -> None:
    path = tmp_path / "faces.csv"
    rows = [
        f"face{k},{shown},{rater},{answer}"
        for rater, row in (("p", PERSON), ("q", OTHER))
        for k, (shown, answer) in enumerate(zip(SHOWN, row, strict=True))
    ]
    path.write_text("\n".join(["stimulus,posed_as,rater,answer", *rows]) + "\n")
    ratings = read_ratings(path, scale=f"nominal:{','.join(NAMES)}")
    found = recognition(ratings, intended="posed_as", target="sample")
    assert rates(found.to_frame())["anger"] == pytest.approx(7 / 12)


def test_emotions_that_nobody_answers_are_named() -> None:
    found = recognition(ratings_of(["anger"] * 6, ["joy"] * 6), target="sample")
    assert wording.never_answered("people", ["fear"]) in found.notes
    assert rates(found.to_frame())["fear"] == 0


@pytest.mark.parametrize(
    ("options", "stimuli", "match"),
    [
        ({}, {"stimulus": ["a"], "age": [3]}, "no column says what stimuli are meant to show"),
        ({"intended": "emotoin"}, {"stimulus": ["a"], "emotion": ["joy"]}, "emotion"),
        ({}, {"stimulus": ["a"], "emotion": ["Freude"]}, "'Freude' of stimuli, and no answer"),
        ({"target": "faces"}, {"stimulus": ["a"], "emotion": ["joy"]}, "faces"),
    ],
)
def test_bad_input(options, stimuli, match) -> None:
    table = Ratings(
        {"stimulus": ["a", "a"], "rater": ["r", "s"], "value": ["joy", "fear"]}, stimuli=stimuli
    )
    with pytest.raises(InputError, match=match):
        recognition(table, **options)


def test_numbers_name_no_category() -> None:
    table = Ratings(
        {"stimulus": ["a", "a"], "rater": ["r", "s"], "value": [1, 2]},
        scale="0-7",
        stimuli={"stimulus": ["a"], "emotion": ["joy"]},
    )
    with pytest.raises(InputError, match="answers that name a category"):
        recognition(table)


def graded(
    scale: str,
    *stimuli: Sequence[Sequence[float | None]],
    names: Sequence[str] = ("joy", "fear", "anger"),
) -> Ratings:
    """Numbers of raters (rows) for each label (columns) of stimuli of joy, fear, anger, joy, …."""
    rows = [
        (f"s{unit}", f"r{rater}", label, value)
        for unit, panel in enumerate(stimuli)
        for rater, row in enumerate(panel)
        for label, value in zip(names, row, strict=True)
        if value is not None
    ]
    columns = ("stimulus", "rater", "label", "value")
    units = range(len(stimuli))
    return Ratings(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        scale=scale,
        stimuli={"stimulus": [f"s{k}" for k in units], "intended": [names[k % 3] for k in units]},
    )


def hit_rates(ratings: Ratings) -> dict[str, float]:
    found = recognition(ratings, target="sample").to_frame("estimates")
    return dict(found.filter(measure="hit_rate").select("intended", "value").iter_rows())


def test_0_is_an_answer_like_others_on_a_scale_with_negative_numbers() -> None:
    rows = ([[0, -2, -3]], [[-3, 0, -1]], [[-3, -1, 0]])
    assert hit_rates(graded("-3-3", *rows))["mean"] == 1
    assert hit_rates(graded("0-3", [[0, 0, 0]], [[0, 2, 1]], [[0, 1, 2]]))["joy"] == 0


def test_numbers_on_different_scales_are_not_compared() -> None:
    mixed = graded("joy=0-7, fear=0-100, anger=0-7", [[5, 20, 0]], [[0, 70, 0]], [[0, 0, 7]])
    with pytest.raises(InputError, match=r"different scales .*joy.*fear.*select\(labels=…\)"):
        recognition(mixed)
    assert hit_rates(mixed.select(labels=["joy", "anger"]))["anger"] == 1


@pytest.mark.parametrize("scale", ["0-7", "1-7"])
def test_a_skipped_label_leaves_out_the_answer_on_any_scale(scale) -> None:
    skipped = [[6, 2, 1], [6, 2, 1], [None, 2, 1], [None, 2, 1]]
    if scale == "0-7":
        skipped = [[one and one - 1 for one in row] for row in skipped]
    ratings = graded(scale, skipped, [[1, 6, 2]] * 4, [[1, 2, 6]] * 4)
    assert hit_rates(ratings)["joy"] == 1
    notes = recognition(ratings).notes
    assert "people: left out 2 times that labels of a stimulus were skipped" in notes


def test_lists_of_labels_that_were_chosen_hold_no_zeros() -> None:
    ratings = graded("binary", [[1, None, None]], [[None, 1, None]], [[1, None, None]])
    assert hit_rates(ratings) == {"joy": 1, "fear": 1, "anger": 0, "mean": 2 / 3}
    only = graded("0-7", [[1, None, None]], [[None, 1, None]], [[1, None, None]])
    with pytest.raises(
        InputError, match=r"nobody answered all labels of any stimulus; .*absent='zero'"
    ):
        recognition(only)


def test_chance_stands_beside_the_rate() -> None:
    shown = ("anger", "fear", "joy") * 3
    found = recognition(ratings_of(["joy"] * 9, ["joy"] * 9, shown=shown), target="sample")
    # Joy is shown in a third and answered always: 3 * 9 / 81, and 0 of the others.
    hits, unbiased = ({"value": v, "low": np.nan, "high": np.nan} for v in (1 / 3, 1 / 9))
    best, worst = (["joy"], 1 / 3), (["anger", "fear"], 0.0)
    text = wording.recognised("People", hits, unbiased, 1 / 9, best, worst, 0.95)
    assert found.finding == text


def test_all_alike_is_said() -> None:
    found = recognition(ratings_of(SHOWN, SHOWN), target="sample")
    assert set(rates(found.to_frame()).values()) == {1.0}
    assert "highest" not in found.finding


@pytest.mark.wording
def test_one_person_is_the_person() -> None:
    found = recognition(ratings_of(PERSON))
    assert found.finding.startswith("The person: hit rate")
    assert "Answers of the person" in next(t.caption for t in found.tables if t.name == "matrix")


def test_emotions_without_an_interval_are_named() -> None:
    notes = recognition(ratings_of(("anger",), ("fear",), shown=("anger",))).notes
    few = no_interval_text(Reason(Cause.FEW_UNITS, 1, 3, "stimuli"))
    assert f"people, anger; people, mean: {few}" in notes


def test_stimuli_that_are_taken_for_something_else_are_named() -> None:
    answers = (("joy", "fear", "joy"), ("joy", "joy", "joy"), ("fear", "joy", "joy"))
    found = recognition(ratings_of(*answers, shown=("joy", "fear", "anger")), target="sample")
    table = {row["stimulus"]: row for row in found.to_frame("stimuli").rows(named=True)}
    rates = [(row["intended"], round(row["hit_rate"], 2), row["other"]) for row in table.values()]
    assert sorted(rates) == [("anger", 0.0, "joy"), ("fear", 0.33, "joy"), ("joy", 0.67, "fear")]
    assert [row["missed"] for row in table.values()] == [True, True, False]
    missed = [name for name, row in table.items() if row["missed"]]
    assert wording.missed_stimuli(missed, 3) in found.sentences

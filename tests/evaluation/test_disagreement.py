"""The measures of Learning with Disagreements 2025, beside what its scorer computes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import wasserstein_distance
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.evaluation import disagreement_metrics
from affectlab.ratings import Ratings, read_models, read_ratings

PERSONS = ("Ann1", "Ann2", "Ann3", "Ann4")
NAMES = ("contradiction", "entailment", "neutral")
Answered = list[dict[str, float]]
"""Of each item the answers by person; not everybody answers everything."""


def drawn(seed: int, low: int, high: int, n: int = 25) -> tuple[Answered, Answered]:
    rng = np.random.default_rng(seed)
    people, model = [], []
    for _ in range(n):
        here = [one for one in PERSONS if rng.random() < 0.8] or [PERSONS[0]]
        people.append({one: float(rng.integers(low, high + 1)) for one in here})
        model.append({one: float(rng.integers(low, high + 1)) for one in here})
    return people, model


def table(answered: Sequence[Answered], *, as_people: bool, labels: Sequence[str] = ("",)):
    """Answers to each label, item by item, in long form."""
    rows = [
        (f"i{item:02}", person, label, value)
        for label, items in zip(labels, answered, strict=True)
        for item, given in enumerate(items)
        for person, value in given.items()
    ]
    columns = dict(
        zip(
            ("stimulus", "rater", "label", "value"), map(list, zip(*rows, strict=True)), strict=True
        )
    )
    if labels == ("",):
        del columns["label"]
    if as_people:
        columns["answers_as"] = columns["rater"]
        columns["rater"] = ["net"] * len(rows)
    return columns


def both(people: Sequence[Answered], model: Sequence[Answered], scale: str, *labels: str):
    kinds = {"rater": ["net"], "rater_kind": ["model"]}
    named = labels or ("",)
    return (
        Ratings(table(people, as_people=False, labels=named), scale=scale),
        Ratings(table(model, as_people=True, labels=named), scale=scale, raters=kinds),
    )


def measured(people: Ratings, model: Ratings | None = None) -> dict[str, float]:
    frame = disagreement_metrics(people, model).to_frame()
    return dict(frame.select("measure", "value").iter_rows())


# The formulas of the scorer, item by item.


def distribution(given: dict[str, float], levels: Sequence[float]) -> list[float]:
    values = list(given.values())
    return [values.count(level) / len(values) for level in levels]


def manhattan(people: Answered, model: Answered, levels: Sequence[float]) -> float:
    pairs = [
        (distribution(t, levels), distribution(p, levels))
        for t, p in zip(people, model, strict=True)
    ]
    return float(np.mean([sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs]))


def error_rate(people: Answered, model: Answered) -> float:
    wrong = [[float(t[one] != p[one]) for one in t] for t, p in zip(people, model, strict=True)]
    return float(np.mean([np.mean(item) for item in wrong]))


def test_irony_of_two_answers() -> None:
    people, model = drawn(1, 0, 1)
    assert measured(*both([people], [model], "binary")) == pytest.approx(
        {"AMD": manhattan(people, model, (0, 1)), "AER": error_rate(people, model)}
    )


@pytest.mark.parametrize(("low", "high", "s"), [(-5, 5, 11), (1, 6, 6)])
def test_levels_of_paraphrases_and_sarcasm(low: int, high: int, s: int) -> None:
    people, model = drawn(2, low, high)
    moved = [
        wasserstein_distance(list(t.values()), list(p.values()))
        for t, p in zip(people, model, strict=True)
    ]
    apart = [
        np.mean([abs(t[one] - p[one]) / s for one in t]) for t, p in zip(people, model, strict=True)
    ]
    assert measured(*both([people], [model], f"{low}-{high}")) == pytest.approx(
        {"AWD": np.mean(moved), "ANAD": np.mean(apart)}
    )


def test_labels_of_inference() -> None:
    of_labels = [drawn(seed, 0, 1) for seed in (3, 3, 3)]
    rng = np.random.default_rng(9)
    for _, model in of_labels:
        for given in model:
            given.update({one: float(rng.integers(0, 2)) for one in given})
    people, model = ([one[side] for one in of_labels] for side in (0, 1))
    expected = {
        "MAMD": np.mean([manhattan(t, p, (0, 1)) for t, p in zip(people, model, strict=True)]),
        "MER": np.mean([error_rate(t, p) for t, p in zip(people, model, strict=True)]),
    }
    assert measured(*both(people, model, "binary", *NAMES)) == pytest.approx(expected)


def test_categories_without_an_order() -> None:
    people, model = drawn(4, 0, 2)
    named = [
        [{one: NAMES[int(value)] for one, value in given.items()} for given in side]
        for side in (people, model)
    ]
    pair = both([named[0]], [named[1]], f"nominal:{','.join(NAMES)}")
    assert measured(*pair) == pytest.approx(
        {"AMD": manhattan(people, model, (0, 1, 2)), "AER": error_rate(people, model)}
    )


def test_a_model_that_gives_shares() -> None:
    people, _ = drawn(5, 1, 6)
    rng = np.random.default_rng(6)
    share = rng.dirichlet(np.ones(6), len(people))
    items = [f"i{k:02}" for k in range(len(people))]
    net = Ratings(
        {
            "stimulus": np.repeat(items, 6),
            "rater": ["net"] * share.size,
            "label": [str(level) for level in range(1, 7)] * len(people),
            "value": share.ravel(),
        },
        scale="0-1 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    levels = range(1, 7)
    moved = [
        wasserstein_distance(levels, levels, distribution(t, levels), p)
        for t, p in zip(people, share, strict=True)
    ]
    ratings, _ = both([people], [people], "1-6")
    assert measured(ratings, net) == pytest.approx({"AWD": np.mean(moved)})


def test_a_model_that_gives_the_share_of_yes() -> None:
    people, _ = drawn(7, 0, 1)
    chance = np.random.default_rng(8).random(len(people))
    net = Ratings(
        {
            "stimulus": [f"i{k:02}" for k in range(len(people))],
            "rater": ["net"] * len(people),
            "value": chance,
        },
        scale="0-1 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    yes = [np.mean(list(given.values())) for given in people]
    ratings, _ = both([people], [people], "binary")
    assert measured(ratings, net) == pytest.approx({"AMD": np.mean(2 * np.abs(chance - yes))})


def test_whoever_answers_as_each_person_does_is_perfect() -> None:
    for scale, (people, _) in (("binary", drawn(1, 0, 1)), ("1-6", drawn(2, 1, 6))):
        assert set(measured(*both([people], [people], scale)).values()) == {0.0}


def test_answers_as_somebody_whom_nobody_knows_do_not_count() -> None:
    people, model = drawn(1, 0, 1)
    expected = measured(*both([people], [model], "binary"))
    more = [{**given, "Ann99": 1.0} for given in model]
    assert measured(*both([people], [more], "binary")) == pytest.approx(expected)
    notes = disagreement_metrics(*both([people], [more], "binary")).notes
    assert "net: 25 answers as 'Ann99', not among the people: left out" in notes
    stranger = [{"Ann99": 1.0} for _ in model]
    with pytest.raises(InputError, match=r"net answers as 'Ann99', and nobody is called so"):
        measured(*both([people], [stranger], "binary"))


def test_other_statistics_do_not_take_the_first_of_such_answers() -> None:
    people, model = drawn(1, 0, 1)
    _, net = both([people], [model], "binary")
    with pytest.raises(InputError, match="as several people"):
        net.answers()


def test_files(tmp_path: Path) -> None:
    people, model = drawn(1, 0, 1)
    ratings, net = both([people], [model], "binary")
    ratings.frame.write_csv(tmp_path / "people.csv")
    net.frame.write_csv(tmp_path / "net.csv")
    read = read_ratings(tmp_path / "people.csv", scale="binary")
    (found,) = read_models(tmp_path / "net.csv", read)
    assert measured(read, found) == measured(ratings, net)
    done = run_here(
        "evaluate",
        "soft-labels",
        "--show",
        "lewidi",
        tmp_path / "people.csv",
        "--scale",
        "binary",
        "--models",
        tmp_path / "net.csv",
    )
    assert "average error rate (AER)" in done.stdout


@pytest.mark.parametrize(
    ("people", "model", "match"),
    [
        ("0-100 interval", "0-100 interval", "categories or levels"),
        ("1-6", "0-7", "net answers 7, and people 1 to 6"),
    ],
)
def test_bad_input(people: str, model: str, match: str) -> None:
    given = {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 6]}
    raters = {"rater": ["net"], "rater_kind": ["model"]}
    net = {"stimulus": ["a", "b"], "rater": ["net", "net"], "value": [1, 7]}
    with pytest.raises(InputError, match=match):
        disagreement_metrics(Ratings(given, scale=people), Ratings(net, scale=model, raters=raters))


def alone(values: Sequence[object], scale: str, **columns: Sequence[str]) -> Ratings:
    """Answers of a model that speaks for itself about items i00, i01, …."""
    return Ratings(
        {
            "stimulus": [f"i{k:02}" for k in range(len(values))],
            "rater": ["net"] * len(values),
            "value": list(values),
            **columns,
        },
        scale=scale,
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )


def shares(rows: Sequence[dict[str, float]]) -> Ratings:
    """Shares of categories or levels of each item."""
    long = [
        (f"i{k:02}", "net", name, value)
        for k, row in enumerate(rows)
        for name, value in row.items()
    ]
    names = ("stimulus", "rater", "label", "value")
    return Ratings(
        dict(zip(names, zip(*long, strict=True), strict=True)),
        scale="0-1 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )


def chosen(*items: Sequence[str]) -> Ratings:
    """Categories that two persons or more gave to each item."""
    people = [{PERSONS[k]: one for k, one in enumerate(item)} for item in items]
    return Ratings(table([people], as_people=False), scale="nominal:x,y")


def test_distance_of_levels_does_not_depend_on_their_step() -> None:
    people, model = drawn(2, 0, 4)
    wide = [[{one: 25 * v for one, v in g.items()} for g in side] for side in (people, model)]
    expected = measured(*both([people], [model], "0-4"))
    assert measured(*both([wide[0]], [wide[1]], "0-100 step 25")) == pytest.approx(expected)


def test_shares_of_categories_that_people_never_give_count() -> None:
    found = disagreement_metrics(chosen("xy", "xx"), shares([{"x": 0.05, "y": 0.05, "w": 0.9}] * 2))
    # |0.05 - 0.5| twice and 0.9; |0.05 - 1|, 0.05 and 0.9.
    assert found.to_frame()["value"].to_list() == pytest.approx([(1.8 + 1.9) / 2])
    assert found.notes[0].replace("\u00a0", " ") == (
        "net: 90 % of its shares are of no category of people ('w')"
    )


def test_an_answer_that_people_never_give_is_wrong() -> None:
    found = disagreement_metrics(chosen("xy", "xx"), alone(["x", "w"], "nominal:x,w"))
    assert found.to_frame()["value"].to_list() == [(1 + 2) / 2]
    assert found.notes == ("net: 1 answer of no category of people ('w')",)
    as_people = Ratings(
        {
            "stimulus": ["i00", "i00", "i01", "i01"],
            "rater": ["net"] * 4,
            "value": ["x", "w", "w", "x"],
            "answers_as": [*PERSONS[:2]] * 2,
        },
        scale="nominal:x,w",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    assert measured(chosen("xy", "xx"), as_people) == {"AMD": 1.0, "AER": 0.5}


def test_shares_of_what_is_no_level_are_refused() -> None:
    ratings, _ = both([[{"Ann1": 1.0}]], [[{"Ann1": 1.0}]], "1-3")
    with pytest.raises(InputError, match="net has shares of '7', and people answer 1, 2, 3"):
        disagreement_metrics(ratings, shares([{"1": 0.5, "7": 0.5}]))


def test_what_is_divided_or_rounded_is_said() -> None:
    found = disagreement_metrics(chosen("xy", "xx"), shares([{"x": 0.4, "y": 0.4}, {"x": 1.0}]))
    assert found.to_frame()["value"].to_list() == [0.0]
    assert found.notes == (
        "net: shares of 1 stimulus do not add up to 1 (sums from 0.8 to 1); they are divided by "
        "their sum",
    )
    people, _ = both([[{"Ann1": 1.0}, {"Ann1": 2.0}]], [[{"Ann1": 1.0}]], "1-5")
    found = disagreement_metrics(people, alone([2.49, 2.0], "1-5 interval"))
    assert found.notes == ("net: 1 answer between levels, rounded to the nearest for AWD",)


def test_as_how_many_people_a_model_answers_is_said() -> None:
    people, model = drawn(1, 0, 1)
    whole = disagreement_metrics(*both([people], [model], "binary"))
    assert not whole.notes
    of_one = [{one: v for one, v in given.items() if one == "Ann1"} for given in model]
    n, all_of = (sum(map(len, side)) for side in (of_one, people))
    found = disagreement_metrics(*both([people], [of_one], "binary"))
    assert f"net: answers for 1 of 4 people ({n} of {all_of} answers)" in found.notes


def test_two_stimuli_are_too_few_for_an_interval() -> None:
    answers = (chosen("xy", "xx"), alone(["x", "y"], "nominal:x,y"))
    found = disagreement_metrics(*answers).to_frame()
    assert found["low"].is_nan().all()
    assert found["reason"][0] == Cause.FEW_UNITS
    three = disagreement_metrics(chosen("xy", "xx", "yy"), alone(["x", "y", "y"], "nominal:x,y"))
    assert three.to_frame()["low"].is_not_nan().all()

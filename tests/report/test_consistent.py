"""What a report says in one place does not contradict what it says in another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.report.panels import text_of

from affectlab.core.facts import Cause
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import krippendorff_alpha
from affectlab.report import write_report
from affectlab.report.sections.attributes import times_of
from affectlab.report.sections.fairness import _attributes
from affectlab.report.statistics.pairs import common_stimuli

pytestmark = pytest.mark.long


def page_of(folder: Path, ratings: Ratings, **options: object) -> str:
    return text_of(write_report(ratings, folder, n_boot=100, **options))  # type: ignore[arg-type]


def long(values: np.ndarray, labels: list[str] | None = None) -> pl.DataFrame:
    """Rows of an array of shape (raters, stimuli) or (raters, stimuli, labels)."""
    index = [axis.ravel() for axis in np.indices(values.shape)]
    frame = {
        "rater": [f"r{k}" for k in index[0]],
        "stimulus": [f"s{k}" for k in index[1]],
        "value": values.ravel(),
    }
    if labels:
        frame["label"] = [labels[k] for k in index[2]]
    return pl.DataFrame(frame)


@pytest.fixture
def noisy() -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.clip(np.rint(rng.normal(3, 1, (1, 40)) + rng.normal(0, 1, (6, 40))), 1, 5)


def test_aggregated_answers_are_not_a_person(tmp_path: Path) -> None:
    frame = long(np.tile([0.0, 1.0, 0.0], (1, 20))[..., None].repeat(2, 2), ["joy", "fear"])
    raters = {"rater": ["r0"], "aggregated": [True]}
    page = page_of(tmp_path, Ratings(frame, scale="binary", raters=raters))
    assert "1 person" not in page
    assert "The aggregated answers of people (r0): 120 answers about 60 stimuli" in page
    assert "one rater alone" not in page
    assert "Attributes of 1 raters" not in page


@pytest.mark.parametrize("scale", ["-3-3", "1-5", "0-100 interval"])
def test_no_label_is_used_where_zero_says_nothing(
    tmp_path: Path, noisy: np.ndarray, scale: str
) -> None:
    low = {"-3-3": -3, "1-5": 0, "0-100 interval": 0}[scale]
    values = np.stack([noisy + low, np.clip(noisy + low + 1, None, 5 + low)], axis=2)
    if low == -3:
        values = np.clip(values, -3, 3)
    elif scale == "1-5":
        values = np.clip(values, 1, 5)
    page = page_of(tmp_path, Ratings(long(values, ["valence", "arousal"]), scale=scale))
    assert "used most" not in page
    assert "counts as use" not in page
    assert "The mean answer is highest for arousal" in page
    means = pl.read_csv(tmp_path / "tables" / "label_means.csv")
    by_label = dict(means.select("label", "mean").rows())
    assert by_label["valence"] == pytest.approx(values[..., 0].mean())
    assert by_label["arousal"] == pytest.approx(values[..., 1].mean())


def test_intensities_of_known_emotions_are_still_counted(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 8, (3, 30, 2)).astype(float)
    frame = long(values, ["fear", "anger"])
    page = page_of(tmp_path, Ratings(frame, scale="0-7", taxonomy="ekman"))
    assert "used most" in page


def test_only_columns_that_are_shown_are_explained(tmp_path: Path, noisy: np.ndarray) -> None:
    page = page_of(tmp_path, Ratings(long(noisy), scale="1-5"))
    assert "Quadratic weights" in page
    assert "Interrater correlation" in page
    assert "Alpha of several labels" not in page
    assert "over all labels" not in page
    assert "averaged over labels" not in page
    one = page_of(tmp_path / "one", Ratings(long(noisy[:1]), scale="1-5"))
    for term in ("Interrater correlation", "Same answer", "Quadratic weights", "95 % interval"):
        assert term not in one.replace("\u00a0", " ")


def test_a_difference_that_cannot_be_seen_is_not_stated(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    values = np.array([np.where(rng.random(400) < 0.95, truth, 1 - truth) for _ in range(8)])
    frame = long(values.astype(float))
    # One person answers few stimuli, at random: it stands out, and hardly changes alpha.
    few = pl.DataFrame(
        {
            "rater": ["odd"] * 20,
            "stimulus": [f"s{k}" for k in range(20)],
            "value": rng.integers(0, 2, 20).astype(float),
        }
    )
    page = page_of(tmp_path, Ratings(pl.concat([frame, few]), scale="binary"))
    assert "Taken to be careless by the policy panel: odd (" in page
    for sentence in page.split("Without ")[1:]:
        without, with_all = (
            sentence.split(mark)[1].split()[0].strip(",;") for mark in ("would be ", ", not ")
        )
        assert without != with_all


def test_an_unclear_stimulus_is_no_refusal(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stimulus": ["a", "b", "c"] * 2,
            "rater": ["p"] * 3 + ["q"] * 3,
            "value": [1.0, 0.0, None, 1.0, 0.0, 1.0],
            "outcome": ["ok", "ok", "refused", "ok", "ok", "ok"],
            "unclear": [False, False, True, False, False, False],
        }
    )
    ratings = Ratings(frame, scale="binary")
    assert ratings.summary().outcomes == {"ok": 5, "unclear": 1}
    page = page_of(tmp_path, ratings)
    assert "None of 6 answers was refused" in page
    assert "1 of 6 values are missing because a rater found the stimulus unclear" in page
    assert "cannot be used" not in page
    assert "refused 1" not in page


def test_answers_without_any_spread(tmp_path: Path) -> None:
    n = 30
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(n)],
            "rater": [f"r{k // 3}" for k in range(n)],
            "label": ["joy", "fear"] * (n // 2),
            "value": [1.0] * n,
        }
    )
    page = page_of(tmp_path, Ratings(frame, scale="binary"))
    assert "all 30 answers are yes" in page
    assert "undefined: undefined" not in page
    assert "not defined: undefined" not in page
    assert "median of 0 labels" not in page
    assert "The mean answer is 1.00 for all." in page
    assert "interrater correlation among" not in page


def test_codes_are_values_and_counters_are_not_shown(tmp_path: Path, noisy: np.ndarray) -> None:
    stimuli = {
        "stimulus": [f"s{k}" for k in range(40)],
        "content": [k % 9 for k in range(40)],
        "row_number": list(range(40)),
        "views": [1.5463e9 + 1e5 * k for k in range(40)],
        "created_utc": [1.5463e9 + 1e5 * k for k in range(40)],
    }
    page = page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    rows = {row["attribute"]: row for row in table.rows(named=True)}
    assert (rows["content"]["values"], rows["content"]["n_values"]) == ("0 to 8, median 4", 9)
    assert "row_number" not in rows
    assert rows["created_utc"]["values"] == "2018-12-31 to 2019-02-15"
    assert "2018-12-31 to 2019-02-15" in page


def test_times_are_dates_and_make_no_groups() -> None:
    seconds = pl.Series("updatedAt", [1.6e9, 1.7e9, None])
    assert times_of(seconds).dt.year().to_list() == [2020, 2023]
    assert times_of((seconds * 1000).alias("time")).dt.year().to_list() == [2020, 2023]
    assert times_of(pl.Series("reaction_time", [812.0, 1100.0])) is None
    assert times_of(seconds.alias("views")) is None
    assert (
        _attributes(
            pl.DataFrame({"stimulus": range(40), "at": [1.6e9] * 20 + [1.7e9] * 20}), "stimulus"
        )
        == []
    )


def test_a_few_equal_trials_are_no_inattention(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 8, (8, 200, 6)).astype(float)
    values[0, :6] = 4
    values[1, :60] = 4
    frame = long(values, ["joy", "fear", "anger", "sadness", "disgust", "surprise"])
    page = page_of(tmp_path, Ratings(frame, scale="0-7"))
    assert "panel: r1 (equal labels: same answer to all labels in 60 of 200 trials" in page
    assert "r0 (equal labels" not in page


@pytest.fixture
def patchy() -> pl.DataFrame:
    """Yes/no answers of four people on three labels, each label on stimuli of its own.

    ``a`` and ``b`` agree on most of 36 stimuli, 12 of each label; ``c`` and ``d`` agree on all of
    the two that they share, and no other pair has a stimulus in common.
    """
    rng = np.random.default_rng(5)
    rows = []
    for k, label in enumerate(["joy", "fear", "anger"]):
        for j in range(12):
            value = float(rng.integers(0, 2))
            rows += [(f"s{k}-{j}", "a", label, value)]
            rows += [(f"s{k}-{j}", "b", label, 1 - value if j == 0 else value)]
    rows += [(f"t{j}", name, "joy", float(j)) for j in range(2) for name in "cd"]
    return pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")


def test_common_stimuli_of_a_pair_are_counted_over_labels(
    tmp_path: Path, patchy: pl.DataFrame
) -> None:
    page = page_of(tmp_path, Ratings(patchy, scale="binary"))
    table = pl.read_csv(tmp_path / "tables" / "pairs_mean.csv")
    common = {(a, b): n for a, b, n in table.select("rater_a", "rater_b", "n_items").rows()}
    assert common["a", "b"] == 36
    assert common["c", "d"] == 2
    # Two common stimuli come after 36, though c and d agree on both.
    assert table.row(0)[:2] == ("a", "b")
    assert "Agreement of 4 raters in 6 pairs" in page


def test_common_stimuli_are_those_of_a_slow_count() -> None:
    rng = np.random.default_rng(7)
    n_labels = 70
    rows = {
        (f"s{rng.integers(9)}", f"r{rng.integers(6)}", f"l{rng.integers(n_labels)}")
        for _ in range(500)
    }
    frame = pl.DataFrame(sorted(rows), schema=["stimulus", "rater", "label"], orient="row")
    ratings = Ratings(frame.with_columns(value=pl.lit(1.0)), scale="binary")
    names = ratings.rater_names
    slow = [
        [
            len({s for s, r, label in rows if r == one and (s, other, label) in rows})
            for other in names
        ]
        for one in names
    ]
    assert common_stimuli(ratings, names).tolist() == slow


def test_a_caution_says_why_somebody_is_taken_to_be_careless(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 8, (1, 60, 2)).astype(float)
    values = np.clip(truth + rng.integers(-1, 2, (8, 60, 2)), 1, 7)
    values[6] = rng.integers(1, 8, (60, 2))
    values[7] = 8 - values[7]
    ratings = Ratings(long(values, ["valence", "arousal"]), scale="1-7")
    page = page_of(tmp_path, ratings)
    assert "Taken to be careless by the policy panel: r6 (careless: slope on " in page
    assert "and r7 (careless: answers as on a reversed scale " in page


def test_correlations_on_few_stimuli_are_named(tmp_path: Path, noisy: np.ndarray) -> None:
    frame = long(noisy).filter((pl.col("rater") != "r5") | pl.col("stimulus").is_in(["s0", "s1"]))
    frame = frame.with_columns(
        value=pl.when((pl.col("rater") == "r5") & (pl.col("stimulus") == "s0"))
        .then(5.0)
        .when(pl.col("rater") == "r5")
        .then(1.0)
        .otherwise("value")
    )
    page = page_of(tmp_path, Ratings(frame, scale="1-5"))
    assert (
        "It rests on fewer than 10 common stimuli, and says little, for 1 rater: r5 (2)."
    ) in page
    assert "says little" not in page_of(tmp_path / "all", Ratings(long(noisy), scale="1-5"))


def test_attributes_are_summed_up(tmp_path: Path, noisy: np.ndarray) -> None:
    stimuli: dict[str, object] = {
        "stimulus": [f"s{k}" for k in range(40)],
        "path": [f"{k}.png" for k in range(40)],
        "caption": [f"words {k}" for k in range(40)],
        "field": ["x", "y"] * 20,
        "weight": [0.5 + 0.25 * k for k in range(40)],
    }
    page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    assert dict(table.select("attribute", "values").rows()) == {
        "caption": "such as words 0",
        "field": "x (20) and y (20)",
        "weight": "0.50 to 10.25, median 5.38",
    }


def test_labels_by_another_name_are_named(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stimulus": ["a", "b", "c"] * 2,
            "rater": ["p"] * 3 + ["q"] * 3,
            "label": ["Hopelessness", "Awe", "pain"] * 2,
            "value": [1.0, 0.0, 1.0] * 2,
        }
    )
    page = page_of(tmp_path, Ratings(frame, scale="binary", taxonomy="emonet_face"))
    assert "Hopelessness is Helplessness" in page
    assert "pain is" not in page


def test_which_of_several_scores_is_analysed(tmp_path: Path) -> None:
    parts = {"raw": 0.7, "mean_subtracted": 0.1, "softmax": 0.02}
    heads = {f"model_{name}_best": parts for name in ("awe", "pain")}
    lines = [json.dumps({"image_path": f"{k}.jpg", "results": heads}) for k in range(3)]
    file = tmp_path / "scores.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    page = page_of(tmp_path / "out", read_ratings(file))
    assert (
        "the value is the score 'raw'; 'mean_subtracted' and 'softmax' not used as answers" in page
    )


def test_all_who_stand_at_an_end_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    own = np.array([2, 2, 2, 3, 5])[:, None] + np.zeros((5, 20))
    own[:, ::2] -= 1
    own[3] = rng.permutation([2, 4] * 10)
    page = page_of(tmp_path, Ratings(long(own), scale="1-5"))
    assert "The mean answer runs from 1.50 (r0 and 2 more) to 4.50 (r4)." in page


def test_stimuli_without_an_answer_are_told_apart(tmp_path: Path, noisy: np.ndarray) -> None:
    frame = long(noisy).with_columns(
        pl.when(pl.col("stimulus") != "s0").then("value"),
        outcome=pl.when(pl.col("stimulus") != "s0").then(pl.lit("ok")).otherwise(pl.lit("refused")),
    )
    page = page_of(tmp_path, Ratings(frame, scale="1-5"))
    assert "6 people gave 234 answers about 39 stimuli" in page
    assert "1 more without an answer" in page


def test_answers_to_several_labels_at_once_are_one_answer_of_a_trial(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stimulus": ["a", "a", "b", "b"] * 2,
            "rater": ["p"] * 4 + ["q"] * 4,
            "label": ["joy", "fear"] * 4,
            "value": [1.0, 0.0, None, None, 1.0, 0.0, 1.0, 1.0],
            "outcome": ["ok", "ok", "refused", "refused", "ok", "ok", "ok", "ok"],
            "unclear": [False, False, True, True, False, False, False, False],
        }
    )
    page = page_of(tmp_path, Ratings(frame, scale="binary"))
    assert "2 of 8 values are missing because a rater found the stimulus unclear" in page
    assert "None of 4 answers was refused" in page
    assert "all that a rater said about a stimulus at once, on all labels" in page
    assert "cannot be used" not in page
    assert "golden" not in page


def test_attributes_that_nearly_all_differ_are_counted(tmp_path: Path, noisy: np.ndarray) -> None:
    texts = ["same", "same", *(f"text {k}" for k in range(38))]
    stimuli = {"stimulus": [f"s{k}" for k in range(40)], "text": texts}
    page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    row = table.row(0, named=True)
    assert (row["n_values"], row["n"]) == (39, 40)
    assert row["values"].startswith("same (2), text 0 (1)")


def test_aggregated_answers_are_no_rater(tmp_path: Path) -> None:
    frame = long(np.tile([0.0, 1.0, 0.0], (1, 20))[..., None].repeat(2, 2), ["joy", "fear"])
    raters = {"rater": ["r0"], "aggregated": [True]}
    page = page_of(tmp_path, Ratings(frame, scale="binary", raters=raters))
    assert "at least one rater says yes" not in page
    assert "1 rater gave" not in page
    assert "Raters per stimulus" not in page
    assert "True" not in page


def test_a_scale_without_points_has_none(tmp_path: Path) -> None:
    value = np.random.default_rng(0).normal(size=(1, 60))
    raters = {"rater": ["r0"], "rater_kind": ["model"]}
    page = page_of(tmp_path, Ratings(long(value), scale="interval", raters=raters))
    assert "point of the scale" not in page
    assert "in each of 20 equal parts of the range of the answers" in page
    assert "Scale used" not in page
    assert "people first" not in page
    assert "Model: mean" in page


def test_a_contrastive_batch_is_no_batch_of_many_votes(tmp_path: Path) -> None:
    rows = []
    for k in range(30):
        votes = 1 + k % 3
        rows += [
            (f"s{k}", f"r{v}", "joy", float(v + 1 < votes or votes == 3)) for v in range(votes)
        ]
        rows.append((f"s{k}", "r3", "fear", 0.0))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    page = page_of(tmp_path, Ratings(frame, scale="binary"))
    assert "Batch b holds the items" not in page
    assert "asks once about each contrastive item" in page
    assert "The first sentence of this report says" not in page


def test_words_of_the_glossary_fit_the_ratings(tmp_path: Path, noisy: np.ndarray) -> None:
    page = page_of(tmp_path, Ratings(long(noisy)))
    assert "was inferred from the answers" in page
    assert "declared scale" not in page
    assert "A stimulus together with a label" not in page
    frame = long(np.ones((1, 30, 1)), ["joy"])
    assert "absent" not in page_of(tmp_path / "one", Ratings(frame, scale="binary"))


def test_a_number_as_a_name_is_no_count(tmp_path: Path, noisy: np.ndarray) -> None:
    noisy[2] = 3
    frame = long(noisy).with_columns(pl.col("rater").str.strip_prefix("r"))
    page = page_of(tmp_path, Ratings(frame, scale="1-5"))
    assert "by the policy panel: rater 2 (careless: always the same answer (n = " in page
    assert "(rater " in page


def test_raters_with_numbers_as_names_are_named_as_raters(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 8, (1, 60, 2)).astype(float)
    values = np.clip(truth + rng.integers(-1, 2, (8, 60, 2)), 1, 7)
    values[6] = rng.integers(1, 8, (60, 2))
    values[7, :30] = 4
    frame = long(values, ["valence", "arousal"])
    frame = frame.with_columns(pl.col("rater").str.strip_prefix("r"))
    page = page_of(tmp_path, Ratings(frame, scale="1-7"))
    assert "by the policy panel: rater 6 (careless: " in page
    assert "and rater 7 (equal labels: same answer to all labels in " in page
    assert "agrees least" not in page


def test_aggregated_answers_have_no_single_raters(tmp_path: Path) -> None:
    frame = long(np.tile([0.0, 1.0, 0.0], (1, 20))[..., None].repeat(2, 2), ["joy", "fear"])
    raters = {"rater": ["r0"], "aggregated": [True]}
    page = page_of(tmp_path, Ratings(frame, scale="binary", raters=raters))
    assert "there is one rater" not in page
    assert page.count("so the file holds no single raters") == 2
    assert "human" not in page
    assert "Whoever answers" not in page
    assert "of a rater" not in page
    assert "aggregated</th>" not in page


def test_numbers_that_are_codes_are_no_quantities(tmp_path: Path, noisy: np.ndarray) -> None:
    codes = [3 * (k % 20) for k in range(40)]
    names = ("COUN", "SUBJ", "country", "city_code", "code_2")
    stimuli = {"stimulus": [f"s{k}" for k in range(40)], **dict.fromkeys(names, codes)}
    stimuli["age"] = codes
    page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    values = dict(table.select("attribute", "values").rows())
    assert values.pop("age") == "0 to 57, median 28"
    assert {*values} == {*names}
    assert set(values.values()) == {"0 (2), 12 (2), 15 (2), 18 (2) and 16 more"}


def test_filled_absences_are_not_given_answers(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(6)],
            "rater": [f"r{k % 3}" for k in range(6)],
            "label": ["joy", "fear"] * 3,
            "value": [1.0] * 6,
        }
    )
    ratings = Ratings(frame, scale="binary")
    page = page_of(tmp_path, ratings)
    assert "All answers are yes" in page
    assert "All answers are 1" not in page
    assert "no stimulus with two ratings" in page
    assert "no unit with two" not in page
    page = page_of(tmp_path / "filled", ratings.fill_absent(0))
    assert "gave 6 answers about 6 stimuli (6 more were absent and are taken as 0)" in page
    assert "6 of them absent, taken as 0" in page


def test_bootstrap_samples_are_of_what_was_resampled(tmp_path: Path, noisy: np.ndarray) -> None:
    def samples(page: str) -> str:
        return page.split("Bootstrap samples")[1].split("<bdi>")[1].split("</bdi>")[0]

    assert samples(page_of(tmp_path, Ratings(long(noisy), scale="1-5"))) == "100"
    one = Ratings(long(noisy[:1]), scale="1-5")
    assert samples(page_of(tmp_path / "one", one)) == "none"


def test_a_column_of_single_answers_is_named(tmp_path: Path, noisy: np.ndarray) -> None:
    frame = long(noisy).with_columns(
        src=pl.Series([f"part {k % 7}" for k in range(240)]),
        outcome=pl.lit("ok"),
    )
    page = page_of(tmp_path, Ratings(frame, scale="1-5"))
    assert "src (differs between the answers to a stimulus and those of a rater)" in page
    assert "240 ok" in page


def test_absent_answers_are_said_where_answers_are_counted(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(6)],
            "rater": [f"r{k % 3}" for k in range(6)],
            "label": ["joy", "fear"] * 3,
            "value": [1.0] * 6,
        }
    )
    filled = Ratings(frame, scale="binary").fill_absent(0)
    page = page_of(tmp_path, filled)
    assert "3 raters have 4 answers each. Absent answers that are taken as 0 count" in page
    assert "of 12 answers). Absent answers that are taken as 0 count as answers." in page
    # Of what a later step left out nobody knows how much was filled.
    fewer = page_of(tmp_path / "fewer", filled.where(pl.col("stimulus") != "s5"))
    assert "3 people: 10 answers about 5 stimuli (up to 6 of them absent, taken as 0)" in fewer
    assert "6 more were absent" not in fewer


def test_aggregated_answers_beside_models_are_no_person(tmp_path: Path, noisy: np.ndarray) -> None:
    raters = {
        "rater": ["r0", "r1", "r2"],
        "rater_kind": ["human", "model", "model"],
        "aggregated": [True, False, False],
    }
    page = page_of(tmp_path, Ratings(long(noisy[:3]), scale="1-5", raters=raters))
    assert "2 model, 1 aggregated from several people" in page
    assert "human 1" not in page
    assert "one person" not in page
    assert "agreement between people cannot be computed" in page
    assert "Krippendorff's alpha among all raters" in page.replace("&#39;", "'")
    assert "Every pair. 3 rows" in page
    assert "on every label" not in page


def test_whole_sets_of_labels_have_an_alpha_beside_that_of_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    seen = rng.random((20, 1, 3)) < 0.5
    chosen = (seen ^ (rng.random((20, 3, 3)) < 0.1)).astype(float)
    stimulus, rater, label = (part.ravel() for part in np.indices(chosen.shape))
    names = np.array(["joy", "awe", "fear"])
    frame = {"stimulus": stimulus, "rater": rater, "label": names[label], "value": chosen.ravel()}
    ratings = Ratings(frame, scale="binary")
    page = page_of(tmp_path, ratings)
    assert "alpha of whole sets" in page
    shown = pl.read_csv(tmp_path / "tables" / "label_sets.csv")
    assert shown["distance"].to_list() == ["MASI", "Jaccard"]
    assert shown["value"][0] == krippendorff_alpha(ratings, level="masi")["label sets"].value


def test_notes_of_tables_speak_of_stimuli(tmp_path: Path, noisy: np.ndarray) -> None:
    frame = long(np.stack([noisy, noisy], axis=2), ["joy", "fear"])
    alone = (pl.col("label") == "fear") & (pl.col("rater") != "r0")
    page = page_of(tmp_path, Ratings(frame.filter(~alone), scale="1-5"))
    assert "no stimulus with two ratings" in page
    assert "no unit with" not in page
    assert "undefined:" not in page
    shown = pl.read_csv(tmp_path / "tables" / "agreement.csv").filter(label="fear")
    assert shown.select("status", "reason").row(0) == ("undefined", Cause.NONE)


def test_ranges_of_numbers_are_not_counted_as_named_values(
    tmp_path: Path, noisy: np.ndarray
) -> None:
    stimuli = pl.DataFrame(
        {
            "stimulus": [f"s{k}" for k in range(40)],
            "year": [1980 + k % 30 for k in range(40)],
            "place": [f"p{k % 20}" for k in range(40)],
        }
    )
    page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    assert dict(table.select("attribute", "values").rows()) == {
        "year": "1980 to 2009, median 1990",
        "place": "p0 (2), p1 (2), p10 (2), p11 (2) and 16 more",
    }


def test_nobody_is_pointed_out_on_few_common_stimuli(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, 8, (1, 60)).repeat(9, 0)
    chosen = np.where(rng.random((9, 60)) < 0.3, rng.integers(0, 8, (9, 60)), chosen)
    # Six answers that nobody shares are not rare among eight labels.
    chosen[8, :6] = [min(set(range(8)) - set(chosen[:8, k])) for k in range(6)]
    frame = long(np.eye(8)[chosen], [f"l{k}" for k in range(8)])
    seen = [f"s{k}" for k in range(6)]
    few = (pl.col("rater") == "r8") & ~pl.col("stimulus").is_in(seen)
    page = page_of(tmp_path, Ratings(frame.filter(~few), scale="binary"))
    assert "says little, for 1 rater: r8" in page
    assert "r8 agrees with the others less" not in page


def test_values_beyond_the_first_are_counted(tmp_path: Path, noisy: np.ndarray) -> None:
    stimuli = {
        "stimulus": [f"s{k}" for k in range(40)],
        "place": [f"p{k // 2}" for k in range(40)],
        "year": [f"y{0 if k < 20 else k // 3}" for k in range(40)],
    }
    page_of(tmp_path, Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    table = pl.read_csv(tmp_path / "tables" / "stimulus_attributes.csv")
    values = dict(table.select("attribute", "values").rows())
    assert values["place"] == "p0 (2), p1 (2), p10 (2), p11 (2) and 16 more"
    assert values["year"].startswith("y0 (20), ")
    assert values["year"].endswith("and 5 more")


def test_stimuli_without_an_answer_are_named(tmp_path: Path, noisy: np.ndarray) -> None:
    silent = pl.col("stimulus").is_in(["s0", "s7"])
    frame = long(noisy).with_columns(
        pl.when(~silent).then("value"),
        outcome=pl.when(~silent).then(pl.lit("ok")).otherwise(pl.lit("refused")),
    )
    stimuli = {"stimulus": [f"s{k}" for k in range(40)], "place": ["a", "b"] * 20}
    page = page_of(tmp_path, Ratings(frame, scale="1-5", stimuli=stimuli))
    facts = dict(pl.read_csv(tmp_path / "tables" / "summary.csv").rows())
    assert facts["Stimuli without an answer"] == "2: s0, s7"
    assert "2 more without an answer" in page
    every = page_of(tmp_path / "all", Ratings(long(noisy), scale="1-5", stimuli=stimuli))
    assert "timuli without an answer" not in every


def test_pairs_without_common_stimuli_are_told_in_stimuli(tmp_path: Path) -> None:
    frame = long(np.ones((2, 20, 1)), ["joy"])
    apart = (pl.col("rater") == "r0") == pl.col("stimulus").str.contains("1")
    page = page_of(tmp_path, Ratings(frame.filter(apart), scale="binary"))
    assert "no pair of raters has a defined kappa (no common stimuli)" in page
    assert "common items" not in page


def test_counts_of_used_labels_are_explained(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 2, (3, 30, 2)).astype(float)
    page = page_of(tmp_path, Ratings(long(values, ["joy", "fear"]), scale="binary"))
    assert "Stimuli: those with such an answer; answers: those that count as use" in page


def test_undefined_pairs_enter_the_median_of_common_stimuli(
    tmp_path: Path, patchy: pl.DataFrame, noisy: np.ndarray
) -> None:
    page = page_of(tmp_path, Ratings(patchy, scale="binary"))
    kinds = pl.read_csv(tmp_path / "tables" / "pairs_by_kind.csv")
    assert kinds["n_undefined"][0] > 0
    every_pair = pl.read_csv(tmp_path / "tables" / "pairs.csv")
    assert kinds["median_items"][0] == every_pair["n_items"].median()
    assert "mean over the labels on which it is defined" in page
    every = page_of(tmp_path / "all", Ratings(long(noisy), scale="1-5"))
    assert "on which it is defined" not in every


def test_intervals_are_explained_as_they_were_made(tmp_path: Path, noisy: np.ndarray) -> None:
    frame = long(noisy).with_columns(outcome=pl.lit("ok"))
    drawn, wilson = "drawing the stimuli again", "Intervals of outcomes are Wilson's"
    both = page_of(tmp_path, Ratings(frame, scale="1-5"))
    assert drawn in both
    assert wilson in both
    alone = Ratings(frame.filter(pl.col("rater") == "r0"), scale="1-5")
    page = page_of(tmp_path / "one", alone)
    assert wilson in page
    assert drawn not in page
    assert wilson not in page_of(tmp_path / "plain", Ratings(long(noisy), scale="1-5"))


def test_intervals_over_people_are_not_denied(tmp_path: Path, noisy: np.ndarray) -> None:
    kinds = ["human"] * 5 + ["model"]
    raters = {"rater": [f"r{k}" for k in range(6)], "rater_kind": kinds}
    page = page_of(tmp_path, Ratings(long(noisy), scale="1-5", raters=raters))
    assert "intervals over stimuli and people" in page
    assert "a change of raters, unless it is said to be over stimuli and people." in page


def test_what_was_set_aside_is_told_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    rows = [
        f"s{k},r{j},{9 if (j, k) == (0, 0) else 1 + (j + k) % 5}"
        for j in (0, 1, 2)
        for k in range(20)
    ]
    file.write_text("stimulus,rater,value\n" + "\n".join(rows) + "\n")
    page = page_of(tmp_path, read_ratings(file, scale="1-5", on_bad="set_aside"))
    assert "1 row of the source was set aside; the summary says why" in page
    assert "What was rated: a summary" in page


def test_a_table_that_hides_rows_says_so(tmp_path: Path, noisy: np.ndarray) -> None:
    """Only long tables scroll, and each of them says that it does."""
    many = np.tile(noisy, (12, 1)) + np.arange(72)[:, None] % 2
    page = page_of(tmp_path, Ratings(long(np.clip(many, 1, 5)), scale="1-5"))
    assert page.count('class="scroll long"') == page.count("scroll inside the table") == 1
    assert "The first 60 of 72 rows; scroll inside the table to see them." in page
    assert ".table .scroll { max-height" not in page


def test_stimuli_of_the_source_without_an_answer_are_told(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text(
        "stimulus,r1,r2\n" + "".join(f"s{k},{k % 5 + 1},3\n" for k in range(9)) + "b,,\n"
    )
    page = page_of(tmp_path, read_ratings(file, wide="raters", scale="1-5"))
    facts = dict(pl.read_csv(tmp_path / "tables" / "summary.csv").rows())
    assert facts["Stimuli without an answer"] == "1: b"
    assert facts["Set aside"] == "2 cells"
    assert "1 more without an answer" in page


def test_coefficients_say_which_answers_they_take(tmp_path: Path, noisy: np.ndarray) -> None:
    said = "answers to stimuli with one answer count for that, too"
    page = page_of(tmp_path / "all", Ratings(long(noisy), scale="1-5"))
    assert said not in page
    assert "Other coefficients" in page
    alone = (pl.col("rater") != "r0") & pl.col("stimulus").str.contains("1")
    page = page_of(tmp_path, Ratings(long(noisy).filter(~alone), scale="1-5"))
    assert said in page
    assert "of the same answers" not in page
    columns = pl.read_csv(tmp_path / "tables" / "coefficients.csv").columns
    assert columns == ["label", "brennan_prediger", "fleiss_kappa", "gwet_ac"]


def test_kappa_of_all_raters_is_not_that_of_two(tmp_path: Path, noisy: np.ndarray) -> None:
    said = "Fleiss' kappa is of all raters at once"
    assert said in page_of(tmp_path, Ratings(long(noisy), scale="1-5"))
    values = np.random.default_rng(0).normal(size=(3, 20))
    assert said not in page_of(tmp_path / "real", Ratings(long(values), scale="interval"))


def test_votes_in_rounds_do_not_make_every_coefficient_low(tmp_path: Path) -> None:
    """Of items that nearly all were confirmed, answers agree nearly always."""
    votes = [[1, 1, 1] if item < 54 else [1, 0] if item < 57 else [0] for item in range(60)]
    rows = [
        (f"s{item}", f"r{k}", "joy", vote)
        for item, given in enumerate(votes)
        for k, vote in enumerate(given)
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    page = page_of(tmp_path, Ratings(frame, scale="binary"))
    high = pl.read_csv(tmp_path / "tables" / "coefficients.csv")["brennan_prediger"][0]
    assert high > 0.8
    assert "kappa and correlations too low, and other coefficients too low or too high" in page
    assert "from such votes they are too low" not in page

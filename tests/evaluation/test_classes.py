"""From ratings to classes: where the truth comes from, and what raters answered."""

from __future__ import annotations

import math
import re
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from affectlab.core.errors import InputError
from affectlab.evaluation import alignment, classes_of, evaluate_soft_labels, read_truth
from affectlab.evaluation.classes import load_thresholds, score_variants
from affectlab.evaluation.classes.rules import highest, leave_one_out, pooled
from affectlab.evaluation.classes.wording import no_truth, one_person, partly_answered, tied_truth
from affectlab.ratings import Ratings, read_ratings

NAN = math.nan


def named(answers, models=(), **options):
    """Ratings of class names: rater -> {stimulus: class}."""
    rows = [(s, r, a) for r, given_ in answers.items() for s, a in given_.items()]
    stimulus, rater, value = zip(*rows, strict=True)
    kinds = {"rater": list(models), "rater_kind": ["model"] * len(models)} if models else None
    columns = {"stimulus": stimulus, "rater": rater, "value": value}
    return Ratings(columns, raters=kinds, **options)


def scored(answers, labels, models=(), scale="0-7", **options):
    """Ratings of scores: rater -> {stimulus: one score per label, nan for none}."""
    rows = [
        (s, r, label, v)
        for r, given_ in answers.items()
        for s, values in given_.items()
        for label, v in zip(labels, values, strict=True)
        if not math.isnan(v)
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kinds = {"rater": list(models), "rater_kind": ["model"] * len(models)} if models else None
    return Ratings(frame, scale=scale, raters=kinds, **options)


# -- pooling, against the same said slowly ---------------------------------------------------------


@st.composite
def panels(draw):
    """Scores of several raters on few stimuli: (scores, stimulus, n_stimuli)."""
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    m = draw(st.integers(1, 14))
    stimulus = np.array(draw(st.lists(st.integers(0, n - 1), min_size=m, max_size=m)))
    cell = st.sampled_from([NAN, 0.0, 1.0, 2.0, 3.0, 7.0])
    return draw(hnp.arrays(float, (m, k), elements=cell)), stimulus, n


def slow_pool(values, rule):
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return NAN
    return median(known) if rule == "median" else sum(known) / len(known)


@given(panels(), st.sampled_from(["mean", "median"]))
@settings(max_examples=150)
def test_pooling_equals_loops(panel, rule) -> None:
    scores, stimulus, n = panel
    found, size = pooled(scores, stimulus, n, rule)
    others, n_others = leave_one_out(scores, stimulus, n, rule)
    for unit in range(n):
        rows = np.flatnonzero(stimulus == unit)
        assert size[unit] == rows.size
        for column in range(scores.shape[1]):
            expected = slow_pool(scores[rows, column], rule)
            assert found[unit, column] == pytest.approx(expected, nan_ok=True, abs=1e-11)
    for row in range(len(scores)):
        rest = [r for r in range(len(scores)) if stimulus[r] == stimulus[row] and r != row]
        assert n_others[row] == len(rest)
        for column in range(scores.shape[1]):
            expected = slow_pool(scores[rest, column], rule)
            assert others[row, column] == pytest.approx(expected, nan_ok=True, abs=1e-11)


def test_highest_and_its_ties() -> None:
    scores = np.array([[1, 2, 2], [NAN, 0, -1], [NAN, NAN, NAN], [3, 3, 3]])
    first, tied = highest(scores, "first")
    assert first.tolist() == [1, 1, -1, 0]
    assert tied.tolist() == [True, False, False, True]
    assert highest(scores, "leave_out")[0].tolist() == [-1, 1, -1, -1]
    drawn = [
        highest(scores, "random", np.random.default_rng(seed))[0].tolist() for seed in range(40)
    ]
    assert {codes[0] for codes in drawn} == {1, 2}
    assert {codes[3] for codes in drawn} == {0, 1, 2}
    again = highest(scores, "random", np.random.default_rng(7))[0]
    assert again.tolist() == highest(scores, "random", np.random.default_rng(7))[0].tolist()


# -- truth -----------------------------------------------------------------------------------------

PEOPLE = {
    "ann": {"a": "joy", "b": "fear", "c": "joy"},
    "ben": {"a": "joy", "b": "awe", "c": "fear"},
    "cid": {"a": "awe", "b": "fear", "d": "awe"},
}
NET = {"net": {"a": "joy", "b": "awe", "c": "awe", "d": "awe"}}


def test_truth_of_people_is_their_plurality_and_ties_are_left_out() -> None:
    made = classes_of(named({**PEOPLE, **NET}, ["net"]))
    assert made.to_frame().rows() == [
        ("a", "joy", "joy"),
        ("b", "fear", "awe"),
        ("d", "awe", "awe"),
    ]
    assert made.ties["truth"] == 1
    assert tied_truth(1, "leave_out") in made.notes
    assert one_person(1, 3) in made.notes
    assert made.truth_said == "people (plurality of 1 to 3)"


def test_rules_for_the_truth() -> None:
    table = named({**PEOPLE, **NET}, ["net"])
    assert "c" in classes_of(table, ties="first").stimuli
    assert "d" not in classes_of(table, min_people=2).stimuli
    both = {classes_of(table, ties="random", seed=s).to_frame()["truth"][2] for s in range(20)}
    assert both == {"joy", "fear"}
    votes = {"p": "x", "q": "x", "r": "y", "s": "z", "n": "x"}
    split = named({rater: {"a": answer} for rater, answer in votes.items()}, ["n"])
    assert classes_of(split).stimuli == ("a",)
    with pytest.raises(InputError, match="no stimulus has a true class"):
        classes_of(split, rule="majority")


def test_each_person_is_judged_by_the_others() -> None:
    people = classes_of(named({**PEOPLE, **NET}, ["net"])).people
    assert people is not None
    assert people.left_out
    # Of a: ann sees joy beside joy and awe (a tie); cid sees awe beside joy twice.
    truth, said = people.of("cid")
    labels = classes_of(named({**PEOPLE, **NET}, ["net"])).labels
    shown = [(labels[t], labels[p]) for t, p in zip(truth, said, strict=True)]
    assert shown == [("joy", "awe")]
    assert len(people.of("ann")[0]) == 1


def test_a_person_has_no_part_in_the_truth_she_is_judged_by() -> None:
    # Two who always agree: with herself in the truth, anyone would look right.
    rng = np.random.default_rng(0)
    answers = {
        name: {f"s{i}": "xyz"[rng.integers(3)] for i in range(300)} for name in ("p", "q", "r")
    }
    people = classes_of(named(answers), ties="random").people
    assert people is not None
    right = np.mean(np.asarray(people.truth) == np.asarray(people.predicted))
    assert right == pytest.approx(1 / 3, abs=0.05)


def test_truth_of_one_rater_of_an_attribute_and_of_a_table(tmp_path) -> None:
    table = named({**PEOPLE, **NET}, ["net"], stimuli={"stimulus": ["a", "b", "e"],
                                                       "shown": ["Joy", None, "fear"]})  # fmt: skip
    by_ann = classes_of(table, truth="rater:ann")
    assert dict(by_ann.to_frame().select("stimulus", "truth").rows()) == PEOPLE["ann"]
    assert by_ann.people is not None
    assert "ann" not in by_ann.people.raters
    with pytest.raises(InputError, match="min_people=3 is for a truth of several people"):
        classes_of(table, truth="rater:ann", min_people=3)
    by_net = classes_of(table, truth="rater:net")
    assert by_net.raters == ()
    shown = classes_of(table, truth="attribute:shown")
    assert shown.stimuli == ("a",)
    assert shown.to_frame()["truth"].to_list() == ["joy"]
    given_ = classes_of(table, truth={"a": "awe", "zz": "fear"})
    assert given_.stimuli == ("a", "zz")
    assert given_.answered.tolist() == [[True, False]]
    file = tmp_path / "truth.csv"
    file.write_text("image,emotion\na,awe\nb,fear\n", encoding="utf-8")
    other = classes_of(table, truth=read_truth(file))
    assert other.to_frame()["truth"].to_list() == ["awe", "fear"]
    file.write_text("image,truth,source\na,awe,x\nb,fear,y\n", encoding="utf-8")
    assert read_truth(file).rater_names == ("truth",)
    file.write_text("image,rater,value\na,r1,awe\na,r2,awe\n", encoding="utf-8")
    assert read_truth(file).n_raters == 2


def test_highest_mean_and_median_of_ratings() -> None:
    labels = ("joy", "fear")
    answers = {
        "p": {"a": (0, 5), "b": (2, 2)},
        "q": {"a": (0, 5), "b": (3, 3)},
        "r": {"a": (7, 0), "b": (1, 1)},
        "s": {"a": (7, 4), "b": (1, 1)},
        "t": {"a": (3, 4), "b": (4, 4)},
        "net": {"a": (0.1, 0.2), "b": (NAN, 0.3)},
    }
    table = scored(answers, labels, ["net"], scale="interval")
    by_mean = classes_of(table)
    assert by_mean.to_frame().rows() == [("a", "fear", "fear")]
    assert by_mean.ties["truth"] == 1
    assert classes_of(table, rule="median").to_frame()["truth"].to_list() == ["fear"]
    votes = classes_of(table, rule="plurality")
    assert votes.to_frame()["truth"].to_list() == ["fear"]
    *_, last = classes_of(table, ties="first").notes
    assert last == f"{partly_answered()}: net (1 stimulus)"


def test_yes_and_no_answers() -> None:
    labels = ("joy", "fear", "awe")
    answers = {
        "p": {"a": (1, 0, 0), "b": (0, 0, 0)},
        "q": {"a": (1, 1, 0), "b": (0, 0, 0)},
        "net": {"a": (1, 1, 0), "b": (0, 1, 0)},
    }
    table = scored(answers, labels, ["net"], scale="binary")
    one = classes_of(table, multilabel=False)
    assert one.stimuli == ("a",)
    assert one.ties["net"] == 1
    assert no_truth(1, majority=False) in one.notes
    sets = classes_of(table, multilabel=True)
    assert sets.to_frame().rows() == [("a", ["joy", "fear"], ["joy", "fear"]), ("b", [], ["fear"])]
    strict = classes_of(table, multilabel=True, agree=2)
    assert strict.to_frame()["truth"].to_list() == [["joy"], []]
    assert strict.truth_said == "people (chosen by at least 2 of 2)"
    others = strict.people
    assert others is not None
    assert not np.asarray(others.truth).any()


def test_sets_of_scores_need_thresholds(tmp_path) -> None:
    labels = ("joy", "fear")
    table = scored(
        {"p": {"a": (7, 1)}, "net": {"a": (0.6, 0.45)}}, labels, ["net"], scale="interval"
    )
    with pytest.raises(InputError, match="threshold"):
        classes_of(table, multilabel=True)
    with pytest.raises(InputError, match="threshold"):
        classes_of(table, multilabel=True, truth_threshold=3)
    made = classes_of(table, multilabel=True, truth_threshold=3, threshold=0.5)
    assert made.to_frame().rows() == [("a", ["joy"], ["joy"])]
    file = tmp_path / "t.toml"
    file.write_text("default = 0.5\n[labels]\nfear = 0.4\n", encoding="utf-8")
    made = classes_of(table, multilabel=True, truth_threshold=3, threshold=file)
    assert made.to_frame()["net"].to_list() == [["joy", "fear"]]
    with pytest.raises(InputError, match="'fear' has none"):
        classes_of(table, multilabel=True, truth_threshold=3, threshold={"joy": 0.4})
    file.write_text("defaults = 0.5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.toml.*'defaults'"):
        load_thresholds(file)


def test_people_and_models_may_answer_in_different_forms() -> None:
    people = named(
        {"p": {"a": "Joy", "b": "fear"}, "q": {"a": "joy", "b": "fear"}}, taxonomy="ekman"
    )
    model = scored({"net": {"a": (0.2, 0.7), "b": (0.9, 0.1)}}, ("fear", "joy"), ["net"],
                   scale="interval")  # fmt: skip
    made = classes_of(people, model)
    assert made.to_frame().rows() == [("a", "joy", "joy"), ("b", "fear", "fear")]
    assert made.labels == ("fear", "joy")


def test_score_variants_become_raters() -> None:
    table = Ratings(
        {
            "stimulus": ["a", "a", "b", "b"],
            "rater": ["net"] * 4,
            "label": ["joy", "fear"] * 2,
            "value": [2.0, 1.0, 0.0, 1.0],
            "softmax": [0.1, 0.9, None, 0.9],
        },
        scale="interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    made = classes_of(table, truth={"a": "joy", "b": "fear"}, scores=["value", "softmax"])
    assert made.raters == ("net (value)", "net (softmax)")
    assert made.to_frame()["net (softmax)"].to_list() == ["fear", "fear"]
    assert score_variants(table, ["softmax"]).rater_names == ("net",)
    with pytest.raises(InputError, match="'softmax'"):
        score_variants(table, ["softmx"])


# -- input that cannot be used ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"truth": "attribute:shown"}, "unknown attribute of stimuli 'shown'"),
        ({"truth": "rater:an"}, "unknown rater 'an'; did you mean 'ann'"),
        ({"truth": "nobody"}, "truth='nobody': no such file"),
        ({"truth": {"zz": "joy"}}, "no model answered a stimulus that has a true class"),
        ({"truth": {"a": "wrath", "b": "rage"}}, "share no class"),
        ({"truth": {"a": ["joy", "awe"]}, "multilabel": False}, "stimulus 'a' has 2 classes"),
        ({"truth": 3}, "not int"),
        ({"taxonomy": "ekman"}, "unknown label 'awe'"),
        ({"rule": "median"}, "needs scores"),
        ({"rule": "mode"}, "unknown rule 'mode'"),
        ({"ties": "any"}, "unknown ties 'any'"),
        ({"answer_ties": "any"}, "unknown answer_ties 'any'"),
        ({"agree": 0.0}, "agree = 0.0"),
        ({"agree": 1.5}, "agree = 1.5"),
        ({"min_people": 0}, "min_people = 0"),
        ({"min_people": 9}, "no stimulus has a true class"),
    ],
)
def test_refused(options, words) -> None:
    with pytest.raises(InputError, match=words):
        classes_of(named({**PEOPLE, **NET}, ["net"]), **options)


def test_all_ties_are_said() -> None:
    table = named(
        {"p": {"a": "x", "b": "y"}, "q": {"a": "y", "b": "x"}, "net": {"a": "x"}}, ["net"]
    )
    with pytest.raises(InputError, match=re.escape(tied_truth(2, "leave_out"))):
        classes_of(table)
    assert classes_of(table, ties="first").n_stimuli == 2


def test_models_alone_need_another_truth() -> None:
    with pytest.raises(
        InputError, match=r"no rater is human.*truth='attribute:NAME' or 'rater:NAME'"
    ):
        classes_of(named(NET, ["net"]))
    known = named(NET, ["net"]).with_stimuli({"stimulus": ["a"], "gold": ["joy"]})
    with pytest.raises(InputError, match="truth='attribute:gold' or 'rater:NAME'"):
        classes_of(known)
    with pytest.raises(InputError, match="both tables"):
        classes_of(named(PEOPLE), named({"ann": {"a": "joy"}}, ["ann"]))


def test_labels_that_name_no_class() -> None:
    plain = Ratings({"stimulus": ["a"], "rater": ["r"], "value": [3]}, scale="0-7")
    with pytest.raises(InputError, match="name no class"):
        classes_of(plain)
    both = Ratings(
        {"stimulus": ["a", "a"], "rater": ["r", "r"], "label": ["one", "two"],
         "value": ["joy", "awe"]}
    )  # fmt: skip
    with pytest.raises(InputError, match="answers are names"):
        classes_of(both)


def test_labels_of_one_class_are_refused_as_scores_and_joined_as_votes() -> None:
    twice = scored({"p": {"a": (1, 2)}}, ("joy", "happiness"))
    with pytest.raises(InputError, match="both stand for 'joy'"):
        classes_of(twice, taxonomy="ekman")
    votes = named({"p": {"a": "joy"}, "q": {"a": "happiness"}, "r": {"a": "fear"}})
    assert classes_of(votes, taxonomy="ekman").to_frame()["truth"].to_list() == ["joy"]


@pytest.mark.data
def test_goemotions_votes(shared_data) -> None:
    table = read_ratings(shared_data / "goemotions" / "raw_partial.csv")
    made = classes_of(table, multilabel=True, agree=2, min_people=2)
    # Counted independently, from the columns of the file.
    raw = pl.read_csv(shared_data / "goemotions" / "raw_partial.csv", infer_schema_length=0)
    labels = [name for name in made.labels if name in raw.columns]
    kept = raw.with_columns(pl.col(labels).cast(pl.Int64))
    # Unclear answers that tick nothing say nothing.
    kept = kept.filter(pl.sum_horizontal(labels) > 0)
    counted = kept.group_by("id").agg(pl.len(), pl.col(labels).sum()).filter(pl.col("len") >= 2)
    assert made.n_stimuli == counted.height
    agreed = counted.select(
        "id", pl.sum_horizontal((pl.col(labels) >= 2).cast(pl.Int64)).alias("n")
    )
    ours = dict(zip(made.stimuli, np.asarray(made.truth).sum(axis=1).tolist(), strict=True))
    assert dict(agreed.rows()) == ours
    assert made.people is not None
    assert len(made.people.rater) > 0


def people_and_model(
    answers: list[str], stimuli: str = "abc", *, scale: str | None = None
) -> tuple[Ratings, Ratings]:
    """Three people who agree on joy, fear and anger, and a model."""
    people = Ratings(
        {
            "stimulus": [name for name in "abc" for _ in range(3)],
            "rater": ["r1", "r2", "r3"] * 3,
            "value": ["joy"] * 3 + ["fear"] * 3 + ["anger"] * 3,
        },
        scale=scale,
    )
    names = stimuli.split() if " " in stimuli else list(stimuli)
    model = Ratings(
        {"stimulus": names, "rater": ["net"] * len(names), "value": answers},
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    return people, model


JUDGED = [classes_of, alignment, evaluate_soft_labels]


@pytest.mark.parametrize("judge", JUDGED)
@pytest.mark.filterwarnings("ignore")
def test_a_model_that_shares_no_class_with_people_is_not_judged(judge: Any) -> None:
    people, model = people_and_model(["happiness", "fearful", "angry"])
    with pytest.raises(
        InputError, match="people and net share no class: people have 'joy', 'fear'"
    ):
        judge(people, model)


@pytest.mark.parametrize("truth", ["rater:r1", "people"])
def test_no_class_is_shared_with_a_rater_either(truth: str) -> None:
    people, model = people_and_model(["happiness", "fearful", "angry"])
    with pytest.raises(InputError, match="share no class"):
        classes_of(people, model, truth=truth)
    with pytest.raises(InputError, match="share no class"):
        classes_of(people.merge(model), truth=truth)


def test_classes_that_only_a_model_names_are_told() -> None:
    people, model = people_and_model(["joy", "fearful", "angry"])
    said = next(note for note in classes_of(people, model).notes if "never name" in note)
    assert said.startswith(
        "classes that net names and people never name: 'fearful', 'angry' (66.7 %"
    )
    assert not any(
        "never name" in note for note in classes_of(*people_and_model(["joy"] * 3)).notes
    )


@pytest.mark.parametrize("judge", JUDGED)
@pytest.mark.filterwarnings("ignore")
def test_stimuli_that_people_do_not_have_are_told(judge: Any) -> None:
    found = judge(*people_and_model(["joy", "fear", "anger"], "a img/B.png z.jpg"))
    said = next(note for note in found.notes if "not among" in note)
    assert "2 of the 3 stimuli" in said.replace("Two", "2").replace("two", "2")
    assert "1 differs only in folder, ending or case ('img/B.png' from 'b')" in said.replace(
        "one differs", "1 differs"
    )


@pytest.mark.parametrize("judge", JUDGED)
@pytest.mark.filterwarnings("ignore")
def test_several_answers_of_a_model_are_told(judge: Any) -> None:
    people, _ = people_and_model(["joy"] * 3)
    model = Ratings(
        {
            "stimulus": ["a", "a", "b", "c"],
            "rater": ["net"] * 4,
            "value": ["joy", "fear", "fear", "anger"],
            "trial": [1, 2, 1, 1],
        },
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    notes = judge(people, model).notes
    assert any("everal answers of net to 1 stimulus: the first counts" in note for note in notes)


@pytest.mark.parametrize(
    "text",
    [
        "stimulus,split,label\n007,train,happy\n008,test,sad\n",
        ",stimulus,label\n0,007,happy\n1,008,sad\n",
        "stimulus,label,source\n007,happy,web\n008,sad,book\n",
    ],
)
def test_truth_beside_what_describes_stimuli(tmp_path: Any, text: str) -> None:
    file = tmp_path / "truth.csv"
    file.write_text(text)
    found = read_truth(file)
    assert found.rater_names == ("truth",)
    assert found.scale.categories == ("happy", "sad")


def test_truth_as_a_column_for_each_class_and_as_json(tmp_path: Any) -> None:
    file = tmp_path / "truth.csv"
    file.write_text("stimulus,happy,sad\n007,1,0\n008,0,1\n")
    assert read_truth(file).label_names == ("happy", "sad")
    rows = tmp_path / "truth.jsonl"
    rows.write_text(
        '{"image": "007", "expression": "happy"}\n{"image": "008", "expression": "sad"}\n'
    )
    assert read_truth(rows).scale.categories == ("happy", "sad")

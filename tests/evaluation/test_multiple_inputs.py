"""Inputs that do not fit: taxonomies, costs, names of files and attributes, each told in words."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation import evaluate_classification, evaluate_soft_labels, fairness, read_costs
from affectlab.evaluation.classification.wording import people
from affectlab.ratings import Ratings, read_models


def two_people(labels: list[str], **more) -> Ratings:
    n = len(labels)
    stimuli = [f"s{k}" for k in range(n)]
    return Ratings(
        {
            "stimulus": stimuli * 3,
            "rater": [rater for rater in ("ann", "ben", "net") for _ in range(n)],
            "value": labels * 3,
        },
        raters={"rater": ["ann", "ben", "net"], "rater_kind": ["human", "human", "model"]},
        **more,
    )


def test_a_taxonomy_that_does_not_fit_is_not_passed_over() -> None:
    table = two_people(["awe", "fear", "anger", "contentment"] * 3, taxonomy="goemotions")
    with pytest.raises(InputError, match=r"unknown label 'awe'|unknown label 'contentment'"):
        evaluate_classification(table, n_boot=0)
    with pytest.raises(InputError, match=r"unknown label"):
        evaluate_soft_labels(table, n_boot=0)
    # Said for this call, another one counts.
    found = evaluate_classification(table, taxonomy="mikels", n_boot=0)
    assert found.estimates["net", "ecc"].value == 1


def test_soft_labels_know_the_labels_of_a_built_in_taxonomy() -> None:
    ring = ["amusement", "contentment", "awe", "excitement", "fear", "sadness", "disgust", "anger"]
    table = two_people(ring * 2)
    named = two_people(ring * 2, taxonomy="mikels")
    for each in (table, named):
        found = evaluate_soft_labels(each, n_boot=0, seed=0)
        assert "earth_movers_distance" in found.metrics.frame["metric"]
        assert found.metrics["net", "earth_movers_distance"].value == 0


@pytest.mark.parametrize("bad", ["nan", "1e308", "inf", "", "much"])
def test_a_cost_that_is_none_is_named(tmp_path, bad) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(f"label,joy,fear\njoy,1,5\nfear,{bad},1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"costs\.csv: row 'fear', column 'joy' is .*expected a"):
        read_costs(file)


def test_people_come_first_among_those_who_may_tell_the_truth() -> None:
    n = 8
    table = Ratings(
        {
            "stimulus": [f"s{k}" for k in range(n)] * 2,
            "rater": ["a-model"] * n + ["zoe"] * n,
            "value": ["awe", "fear"] * n,
        },
        raters={"rater": ["a-model"], "rater_kind": ["model"]},
    )
    with pytest.raises(InputError, match=r"'zoe', 'a-model'|zoe, a-model"):
        evaluate_classification(table, truth="rater:nobody", n_boot=0)


def test_attributes_that_are_crossed_wrongly_or_missing() -> None:
    n = 12
    stimuli = [f"s{k}" for k in range(n)]
    cells = {"stimulus": stimuli * 2, "rater": ["a"] * n + ["b"] * n, "value": list(range(2 * n))}
    plain = Ratings(cells, scale="interval")
    with pytest.raises(InputError, match=r"no attributes of raters or stimuli.*stimuli='FILE'"):
        fairness(plain, by="gender")
    with pytest.raises(InputError, match=r"no attributes.*raters='FILE'"):
        fairness(plain, by="rater.gender")
    named = Ratings(
        cells,
        scale="interval",
        stimuli={"stimulus": stimuli, "gender": ["f", "m"] * 6, "age": ["old", "young"] * 6},
    )
    with pytest.raises(InputError, match=r"crossed with x, as in 'gender x age'"):
        fairness(named, by="gender,age")


def test_two_files_of_one_name(tmp_path) -> None:
    people = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [3, 7]}, scale="0-7")
    files = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "net.csv")
        files[-1].write_text("stimulus,prediction\na,2\nb,6\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"both models are called 'net'; rename one"):
        read_models(files, people)


def test_what_helps_comes_before_a_long_list_of_columns(tmp_path) -> None:
    file = tmp_path / "wide.csv"
    header = ["stimulus", *(f"label{k}" for k in range(40))]
    file.write_text(",".join(header) + "\na" + ",1" * 40 + "\n", encoding="utf-8")
    from affectlab.ratings import read_ratings

    with pytest.raises(InputError) as caught:
        read_ratings(file)
    text = str(caught.value)
    assert text.index("rater=") < text.index("found: stimulus")


def test_sentence_says_how_many_answers_of_people_are_judged() -> None:
    rng = np.random.default_rng(0)
    labels = rng.choice(["awe", "fear", "anger"], 30).tolist()
    found = evaluate_classification(two_people(labels), n_boot=0)
    own = people(found.estimates["people", "accuracy"], 0.95, left_out=True, sets=False)
    assert found.estimates["people", "accuracy"].n_ratings == 60
    assert found.sentences[0].endswith(f"{own}.")

"""Many labels to few classes: the mapping, its file, and what it does to answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from affectlab.core.errors import InputError
from affectlab.evaluation import classes_of
from affectlab.evaluation.classes import (
    NeutralRule,
    ScoreMapping,
    Sources,
    list_score_mappings,
    load_score_mapping,
)
from affectlab.evaluation.classes.wording import OUTSIDE, neutral_means
from affectlab.ratings import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy, map_labels

NAN = math.nan
HEADS = Taxonomy.from_labels(["glee", "delight", "dread", "musing"], name="heads")
FACES = Taxonomy.from_labels(["happy", "afraid", "calm"], name="faces", neutral="calm")
CLASSES = {"happy": Sources(("glee", "delight")), "afraid": Sources(("dread",))}
RULE = NeutralRule("calm", below=0.5)
MAPPING = ScoreMapping(HEADS, FACES, CLASSES, neutral=RULE)

FILE = """
name = "mine"
source = "heads.toml"
target = "faces.toml"
provenance = "this test"

[classes.happy]
labels = ["glee", "delight"]
how = "mean"

[classes.afraid]
labels = ["dread"]
because = "the same word"

[neutral]
label = "calm"
below = 0.5

[unused]
musing = "no emotion"
"""


def write(folder, text=FILE):
    HEADS.save(folder / "heads.toml")
    FACES.save(folder / "faces.toml")
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder / "mine.toml"


def heads(values, rater="net", scale="interval"):
    """Ratings of one model: a row of four scores per stimulus."""
    n = len(values)
    return Ratings(
        {
            "stimulus": np.repeat([f"s{i}" for i in range(n)], 4),
            "rater": [rater] * 4 * n,
            "label": list(HEADS.labels) * n,
            "value": np.ravel(values),
        },
        scale=scale,
        raters={"rater": [rater], "rater_kind": ["model"]},
    )


def test_combining() -> None:
    scores = np.array([[0.2, 0.8, 0.6, 9.0], [0.4, NAN, 0.1, 9.0], [NAN, NAN, NAN, 9.0]])
    top = MAPPING.combine(scores, HEADS.labels)
    assert top[:, :2].tolist()[:2] == [[0.8, 0.6], [0.4, 0.1]]
    assert top.argmax(axis=1)[:2].tolist() == [0, 2]
    assert np.isnan(top[2]).all()
    for how, expected in (("mean", 0.5), ("sum", 1.0)):
        other = replace(MAPPING, classes={**CLASSES, "happy": Sources(("glee", "delight"), how)})
        assert other.combine(scores, HEADS.labels)[0, 0] == pytest.approx(expected)


@given(hnp.arrays(float, (6, 4), elements=st.floats(-2, 2, width=32)))
@settings(max_examples=100)
def test_neutral_is_predicted_exactly_when_all_others_are_below(scores) -> None:
    combined = MAPPING.combine(scores, HEADS.labels)
    neutral = combined.argmax(axis=1) == 2
    assert (neutral == (combined[:, :2] < 0.5).all(axis=1)).all()


def test_offsets_come_off_before_scores_are_combined() -> None:
    shifted = replace(MAPPING, subtract={"glee": 1.0, "Dread": 0.5})
    found = shifted.combine([[1.5, 0.2, 0.6, 0.0]], HEADS.labels)
    assert found[0, :2].tolist() == pytest.approx([0.5, 0.1])


def test_neutral_means_leave_each_neutral_stimulus_out_of_its_own() -> None:
    values = [[2, 1, 1, 0], [4, 1, 1, 0], [6, 1, 1, 0], [5, 1, 1, 0], [3, 1, 9, 0]]
    truth = {"s0": "calm", "s1": "calm", "s2": "calm", "s3": "happy", "s4": "afraid"}
    mapping = replace(MAPPING, subtract="neutral")
    made = classes_of(heads(values), truth=truth, label_map=mapping)
    # glee less its mean over the other neutral stimuli: s0 2-5, s1 4-4, s2 6-3, s3 5-4.
    answers = dict(made.to_frame().select("stimulus", "net").rows())
    assert answers == {"s0": "calm", "s1": "calm", "s2": "happy", "s3": "happy", "s4": "afraid"}
    assert neutral_means("calm", ["net"]) in made.notes
    with pytest.raises(InputError, match="1 neutral stimulus; taking neutral means off"):
        classes_of(heads(values), truth={"s0": "calm", "s3": "happy"}, label_map=mapping)


def test_answers_that_name_a_label_follow_the_mapping() -> None:
    table = Ratings(
        {"stimulus": list("abc"), "rater": ["net"] * 3, "value": ["glee", "dread", "musing"]},
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    made = classes_of(table, truth={"a": "delight", "b": "afraid", "c": "calm"}, label_map=MAPPING)
    assert made.to_frame()["truth"].to_list() == ["happy", "afraid", "calm"]
    assert made.to_frame()["net"].to_list() == ["happy", "afraid", None]
    assert any(note.startswith(OUTSIDE) for note in made.notes)
    shared = replace(MAPPING, classes={**CLASSES, "afraid": Sources(("dread", "glee"))})
    with pytest.raises(InputError, match="'glee' belongs to 'happy' and 'afraid'"):
        classes_of(table, truth={"a": "happy"}, label_map=shared)


def test_yes_to_any_label_is_yes_to_its_class_and_to_none_is_neutral() -> None:
    made = classes_of(
        heads([[0, 1, 0, 1], [0, 0, 0, 1], [1, 0, 1, 0]], scale="binary"),
        truth={"s0": ["happy"], "s1": ["calm"], "s2": ["happy", "afraid"]},
        label_map=MAPPING,
        multilabel=True,
    )
    assert made.to_frame()["net"].to_list() == [["happy"], ["calm"], ["happy", "afraid"]]


def test_people_are_pooled_before_the_neutral_rule_looks_at_them() -> None:
    # One person sees delight strongly, three see nothing: the mean of 0.75 is not below 0.5.
    rows = [("a", f"p{i}", label, 3.0 if (i, label) == (0, "delight") else 0.0)
            for i in range(4) for label in HEADS.labels]  # fmt: skip
    stimulus, rater, label, value = zip(*rows, strict=True)
    columns = {"stimulus": stimulus, "rater": rater, "label": label, "value": value}
    made = classes_of(Ratings(columns, scale="0-7"), label_map=MAPPING)
    assert made.to_frame()["truth"].to_list() == ["happy"]
    votes = classes_of(Ratings(columns, scale="0-7"), label_map=MAPPING, rule="plurality")
    assert votes.to_frame()["truth"].to_list() == ["calm"]


def test_classes_are_left_as_they_are() -> None:
    table = Ratings({"stimulus": ["s0", "b"], "rater": ["p", "p"], "value": ["Happy", "calm"]})
    made = classes_of(table, heads([[1, 0, 0, 0]]), label_map=MAPPING)
    assert dict(made.to_frame().select("stimulus", "truth").rows()) == {"s0": "happy", "b": "calm"}
    with pytest.raises(InputError, match="only one of the two"):
        classes_of(table, label_map=MAPPING, taxonomy="ekman")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": {"happy": Sources(("glee",))}}, "'afraid' is neither given sources nor"),
        ({"classes": {**CLASSES, "glad": Sources(("glee",))}}, "classes: .*unknown label 'glad'"),
        ({"classes": {**CLASSES, "afraid": Sources(("dred",))}}, r"afraid\.labels: .*dread"),
        ({"neutral": NeutralRule("clam", 0.5)}, "neutral.label: .*'calm'"),
        ({"unreached": {"calm": "none"}}, "'calm' is both given sources and declared unreached"),
        ({"unused": {"dread": "no"}}, "unused: 'dread' is a source"),
        ({"subtract": {"dred": 1.0}}, "subtract: .*'dread'"),
        ({"subtract": {"dread": NAN}}, "subtract: 'dread' has nan"),
        ({"subtract": "mean"}, "expected 'neutral'"),
    ],
)  # fmt: skip
def test_mappings_that_do_not_fit(change, words) -> None:
    with pytest.raises(InputError, match=words):
        replace(MAPPING, **change)


def test_parts_that_do_not_fit() -> None:
    with pytest.raises(InputError, match="unknown way to combine 'median'"):
        Sources(("glee",), "median")
    with pytest.raises(InputError, match="at least one"):
        Sources(())
    with pytest.raises(InputError, match="'glee' stands twice"):
        Sources(("glee", "glee"))
    with pytest.raises(InputError, match="finite"):
        NeutralRule("calm", NAN)
    plain = Taxonomy.from_labels(["happy", "afraid"], name="two")
    with pytest.raises(InputError, match="no neutral class"):
        ScoreMapping(HEADS, plain, CLASSES, subtract="neutral")
    with pytest.raises(InputError, match="label 'dread' is needed"):
        MAPPING.combine([[1.0, 2.0]], ["glee", "delight"])
    with pytest.raises(InputError, match="as offsets"):
        replace(MAPPING, subtract="neutral").combine([[1.0] * 4], HEADS.labels)


def test_file(tmp_path) -> None:
    mapping = load_score_mapping(write(tmp_path))
    assert mapping.classes["happy"] == Sources(("glee", "delight"), "mean")
    assert mapping.neutral == RULE
    assert mapping.unused == {"musing": "no emotion"}
    frame = mapping.to_frame()
    assert frame.filter(frame["class"] == "afraid")["because"].to_list() == ["the same word"]
    assert load_score_mapping(str(tmp_path / "mine.toml")) == mapping
    assert load_score_mapping(mapping) is mapping


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"mean"', '"median"', "classes.happy.how = 'median'"),
        ("below = 0.5", 'below = "low"', "neutral.below = 'low'"),
        ('labels = ["dread"]', "labels = []", "classes.afraid: labels"),
        ('provenance = "this test"', "", "key 'provenance' is missing"),
        ("[unused]", "[not_used]", "key 'not_used' is not known here"),
        ('["dread"]', '["dred"]', "did you mean 'dread'"),
        ('"faces.toml"', '"facs.toml"', "no such file"),
        ('"faces.toml"', '"mikel"', "did you mean 'mikels'"),
        ("[neutral]", "[neutral", "not valid TOML"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, words) -> None:
    file = write(tmp_path, FILE.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        load_score_mapping(file)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_built_in_mapping_covers_every_class_and_says_why() -> None:
    assert list_score_mappings() == ("emonet_face--ferd",)
    mapping = load_score_mapping("emonet_face--ferd")
    assert mapping.source == load_taxonomy("emonet_face")
    assert mapping.labels == (
        "Happy", "Surprised", "Fear", "Sad", "Anger", "Disgust", "Contempt", "Neutral",
    )  # fmt: skip
    assert mapping.neutral is not None
    assert all(sources.because for sources in mapping.classes.values())
    assert not mapping.unreached
    with pytest.raises(InputError, match="unknown mapping of scores 'ferd'"):
        load_score_mapping("ferd")


def test_built_in_costs_are_a_tree_of_groups() -> None:
    costs = load_score_mapping("emonet_face--ferd").target.cost_matrix()
    assert costs.kind == "groups, 3 levels"
    assert costs.cost("anger", "contempt") == 2
    assert costs.cost("fear", "surprised") == 2
    assert costs.cost("sad", "fear") == 3
    assert costs.cost("happy", "neutral") == 4
    assert costs.cost("happy", "anger") == costs.cost("neutral", "anger") == 5


def test_a_mapping_of_names_becomes_one_of_scores() -> None:
    names = map_labels("emonet_face", "ekman")
    mapping = load_score_mapping(names)
    assert mapping.classes["anger"].labels == names.sources("anger")
    assert set(mapping.unused) == set(names.unmapped)
    assert mapping.class_of("Fear") == "fear"
    assert mapping.class_of("Awe") is None
    by_name = load_score_mapping("goemotions--ekman")
    assert by_name.classes["fear"].labels == ("fear", "nervousness")
    with pytest.raises(InputError, match="no built-in mapping from 'ekman' to 'mikels'"):
        load_score_mapping("ekman--mikels")

"""EmoNet-Face: binary answers, intensities, model scores and answers of language models."""

from __future__ import annotations

import csv
import json

import pytest
from tests.ratings.told import holds

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_ratings
from affectlab.ratings.steps import step


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def write_lines(path, objects):
    path.write_text("".join(json.dumps(found) + "\n" for found in objects), encoding="utf-8")
    return path


# -- binary --------------------------------------------------------------------------------------

BINARY = ("path", "annotator", "value", "emotion")


def test_binary(tmp_path):
    rows = [BINARY, ("00000", "human-1", "True", "Anger"), ("00001", "human-2", "False", "Pride")]
    r = read_ratings(write_csv(tmp_path / "binary.csv", rows))
    assert r.stimulus_names == ("00000", "00001")
    assert r.frame.select("rater", "label", "value").rows() == [
        ("human-1", "Anger", 1.0),
        ("human-2", "Pride", 0.0),
    ]
    assert r.taxonomy.name == "emonet_face"
    assert r.scale.declared
    assert r.scale.kind == "binary"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("1", "human-1", "perhaps", "Anger"), "line 3: value 'perhaps' is not understood"),
        (("1", "human-1", "2", "Anger"), "line 3: value 2 is off the scale; expected binary"),
        (("1", "human-1", "True", "Angre"), "unknown label 'Angre'; did you mean 'Anger'?"),
        (("1", "human-1", "True"), "line 3: 3 fields, expected 4"),
        (("", "human-1", "True", "Anger"), "line 3: stimulus is empty"),
    ],
)
def test_binary_bad_rows(tmp_path, row, said):
    rows = [BINARY, ("0", "human-1", "True", "Anger"), row]
    file = write_csv(tmp_path / "binary.csv", rows)
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert said in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "line 3" in str(error.value)
    r = read_ratings(file, on_bad="set_aside")
    assert r.n_ratings == 1
    assert sum(part.count for part in r.set_aside if part.unit in ("row", "cell")) == 1


def test_generic_table_with_these_columns_is_not_binary(tmp_path):
    file = write_csv(tmp_path / "x.csv", [BINARY, ("a", "b", "5", "warm"), ("a", "c", "3", "warm")])
    assert read_ratings(file).scale.kind == "ordinal"


def test_published_binary(shared_data):
    r = read_ratings(shared_data / "emonet_face" / "binary.csv")
    assert (r.n_ratings, r.n_stimuli, r.n_raters, r.n_labels) == (65_686, 19_999, 7, 40)
    assert r.set_aside == ()
    assert set(r.rater_kinds) == {"human"}
    assert r.label_names == r.taxonomy.labels


# -- HQ ------------------------------------------------------------------------------------------

HQ = ("image", "annotator", "human", "annotations")


def test_hq_holds_people_and_models(tmp_path):
    rows = [
        HQ,
        ("a.png", "human-1", "True", "{'Anger': 3, 'Extra Dimensions|Valence': 2, 'Fear': 0}"),
        ("a.png", "gpt-4o", "False", '{"Negative High-Energy Emotions|Anger": 7}'),
    ]
    r = read_ratings(write_csv(tmp_path / "hq.csv", rows), absent="missing")
    assert r.frame.select("stimulus", "rater", "label", "value").rows() == [
        ("a.png", "human-1", "Anger", 3.0),
        ("a.png", "human-1", "Fear", 0.0),
        ("a.png", "gpt-4o", "Anger", 7.0),
    ]
    assert r.rater_kinds == ("human", "model")
    assert str(r.scale) == "ordinal 0 to 7, step 1"
    assert [(part.count, part.reason) for part in r.set_aside] == [
        (1, "'Extra Dimensions|Valence' is no emotion of the taxonomy")
    ]


def test_hq_absent_is_zero_as_published(tmp_path):
    """The people of an image who named nothing rated it, too: appendix A.3 takes all as 0."""
    rows = [
        HQ,
        ("a", "human-1", "1", "{'Anger': 3}"),
        ("a", "human-2", "1", "{'Fear': 1}"),
        ("a", "human-3", "1", "{}"),
        ("b", "human-1", "1", "{'Extra Dimensions|Valence': 2}"),
    ]
    file = write_csv(tmp_path / "hq.csv", rows)
    r = read_ratings(file)
    answers = {row[:3]: row[3] for row in r.to_frame().iter_rows()}
    assert answers == {
        ("a", "human-1", "Anger"): 3,
        ("a", "human-1", "Fear"): 0,
        ("a", "human-2", "Anger"): 0,
        ("a", "human-2", "Fear"): 1,
        ("a", "human-3", "Anger"): 0,
        ("a", "human-3", "Fear"): 0,
        ("b", "human-1", "Anger"): 0,
        ("b", "human-1", "Fear"): 0,
    }
    assert r.history == (
        step(StepKind.NO_LABEL_NAMED, n=2, label="Anger"),
        step(StepKind.FILLED, n=4, value=0.0, by="published", labels=()),
    )
    assert any("absent='missing' leaves them missing" in text for text in r.warnings)
    missing = read_ratings(file, absent="missing")
    assert missing.n_ratings == 2
    assert missing.history[-1] == step(StepKind.LEFT_MISSING, published_zero=True)


def test_hq_unit_scores_are_scaled_and_said(tmp_path):
    rows = [
        HQ,
        ("a", "Hume Face*", "False", "{'Anger': 0.5, 'Fear': 1.0}"),
        ("a", "human-1", "True", "{'Anger': 4}"),
    ]
    r = read_ratings(write_csv(tmp_path / "hq.csv", rows))
    assert r.value.tolist() == [3.5, 7.0, 4.0, 0.0]
    assert holds(r.history[0], StepKind.MULTIPLIED, factor=7.0, n=2)
    assert str(r.scale) == "interval 0 to 7"


@pytest.mark.parametrize(
    ("cell", "human", "said"),
    [
        ("{'Anger': 9}", "True", "(Anger): value 9 is off the scale"),
        ("{'Anger': 'high'}", "True", "Anger is 'high'; expected a number from 0 to 7"),
        ("{'Angre': 1}", "True", "unknown label 'Angre'; did you mean 'Anger'?"),
        ("{'Anger': 3", "True", "is no mapping of emotions to numbers"),
        ("[1, 2]", "True", "annotations '[1, 2]' is no mapping"),
        ("{'Anger': 1}", "perhaps", "human is 'perhaps'; expected True or False"),
    ],
)
def test_hq_bad_rows(tmp_path, cell, human, said):
    rows = [HQ, ("a", "human-1", "True", "{'Fear': 1}"), ("b", "human-1", human, cell)]
    file = write_csv(tmp_path / "hq.csv", rows)
    with pytest.raises(InputError) as error:
        read_ratings(file, format="emonet-face-hq")
    assert str(error.value).startswith(f"{file}, line 3")
    assert said in str(error.value)
    r = read_ratings(file, format="emonet-face-hq", on_bad="set_aside")
    assert sum(part.count for part in r.set_aside if part.unit in ("row", "cell")) == 1
    assert r.frame.select("stimulus", "label").rows() == [("a", "Fear")]


def test_hq_annotator_of_two_kinds(tmp_path):
    rows = [HQ, ("a", "x", "True", "{'Fear': 1}"), ("b", "x", "False", "{'Fear': 1}")]
    with pytest.raises(InputError, match="line 3: annotator 'x' is model here and human before"):
        read_ratings(write_csv(tmp_path / "hq.csv", rows))


def test_hq_without_flag(tmp_path):
    file = write_csv(tmp_path / "hq.csv", [("image", "annotator", "annotations"), ("a", "b", "{}")])
    with pytest.raises(InputError, match="line 1: column 'human' is missing"):
        read_ratings(file, format="emonet-face-hq")


# -- model scores --------------------------------------------------------------------------------


def score(raw, softmax=0.1):
    return {"raw": raw, "mean_subtracted": raw - 1, "softmax": softmax}


def image(name, **more):
    heads = {"model_anger_best": score(2.0), "model_valence_best": score(-1.0)}
    return {"image_path": name, "results": heads | more}


def test_scores(tmp_path):
    results = {
        "model_jealousy_&_envy_best": score(-0.5),
        "model_hope_enthusiasm_optimism_best": score(6),
    }
    lines = [image("faces/0000_Happy.jpg", **results), image("faces/0001_Sad.jpg")]
    file = write_lines(tmp_path / "large.jsonl", lines)
    r = read_ratings(file)
    assert r.rater_names == ("large",)
    assert r.rater_kinds == ("model",)
    assert r.label_names == ("Hope/Enthusiasm/Optimism", "Anger", "Jealousy & Envy")
    assert r.stimuli["expression"].to_list() == ["Happy", "Sad"]
    assert r.frame["value"].to_list() == [2.0, -0.5, 6.0, 2.0]
    assert r.frame["mean_subtracted"].to_list() == [1.0, -1.5, 5.0, 1.0]
    assert [(part.count, part.reason) for part in r.set_aside] == [
        (2, "head 'valence' is none of the 40 emotions")
    ]
    assert read_ratings(file, rater="Empathic Insight").rater_names == ("Empathic Insight",)
    assert read_ratings(file, rater="Empathic Insight").rater_kinds == ("model",)


def test_scores_keep_given_labels(tmp_path):
    lines = [image("a.jpg") | {"label": 3}, image("b.jpg") | {"label": 0}]
    r = read_ratings(write_lines(tmp_path / "affectnet.jsonl", lines))
    assert r.stimuli["given_label"].to_list() == [3, 0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"image_path": "b.jpg", "res', "line 2: not valid JSON"),
        ('{"image_path": "b.jpg"}', "has no image_path and results; expected both"),
        ("[1]", "line 2: [1] has no image_path and results"),
        (json.dumps(image("b", model_rage_best=score(1))), "unknown label 'rage'"),
        (json.dumps(image("b", model_fear_best=3.0)), "Fear is 3.0; expected an object"),
        (json.dumps(image("b", model_fear_best={"raw": None})), "Fear is {'raw': None}; expected"),
    ],
)
def test_scores_bad_lines(tmp_path, line, said):
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps(image("a.jpg")) + "\n" + line + "\n")
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{file}, line 2")
    r = read_ratings(file, on_bad="set_aside")
    assert [p.count for p in r.set_aside if "'valence'" not in p.reason] == [1]


def test_published_scores(shared_data):
    file = shared_data / "emonet_face" / "ferd.jsonl"
    r = read_ratings(file)
    assert (r.n_stimuli, r.n_labels, r.n_ratings) == (152, 40, 152 * 40)
    assert r.rater_names == ("ferd",)
    assert sorted(r.stimuli["expression"].unique()) == sorted(
        ["Anger", "Contempt", "Disgust", "Fear", "Happy", "Neutral", "Sad", "Surprised"]
    )
    assert {part.reason.split("'")[1]: part.count for part in r.set_aside} == dict.fromkeys(
        ("arousal", "dominance", "valence", "emotional_vulnerability"), 152
    )
    first = json.loads(file.read_text().split("\n")[0])["results"]["model_amusement_best"]
    row = r.frame.filter(r.frame["label"] == "Amusement").row(0, named=True)
    assert (row["value"], row["mean_subtracted"], row["softmax"]) == tuple(first.values())


# -- answers of vision-language models -----------------------------------------------------------


def answer(model="gpt-4o", name="a.png", **value):
    given = {f"Some Group|{label}": number for label, number in value.items()}
    return {"key": ["part-1", model, name], "value": given}


@pytest.mark.parametrize("kind", ["lines", "list", "single"])
def test_vlm_answers(tmp_path, kind):
    answers = [answer(Anger=3, Fear=1), answer("qwen-plus", Anger=2)]
    if kind == "lines":
        file = write_lines(tmp_path / "x.jsonl", answers)
    else:
        file = tmp_path / "x.json"
        file.write_text(json.dumps(answers if kind == "list" else answers[0], indent=2))
    r = read_ratings(file)
    expected = [("a.png", "gpt-4o", "Anger", 3.0), ("a.png", "gpt-4o", "Fear", 1.0)]
    if kind != "single":
        expected.append(("a.png", "qwen-plus", "Anger", 2.0))
        # What an answer leaves out is 0, as in the paper.
        expected.append(("a.png", "qwen-plus", "Fear", 0.0))
    assert r.frame.select("stimulus", "rater", "label", "value").rows() == expected
    assert set(r.rater_kinds) == {"model"}
    assert str(r.scale) == "ordinal 0 to 7, step 1"


def test_vlm_bad_answers(tmp_path):
    file = write_lines(tmp_path / "x.jsonl", [answer(Anger=3), {"key": ["a"], "value": {}}])
    with pytest.raises(InputError, match=r"x\.jsonl, line 2: .* is no answer; expected a key"):
        read_ratings(file)
    r = read_ratings(file, on_bad="set_aside")
    assert [(p.count, p.places) for p in r.set_aside] == [(1, ("line 2",))]


def test_guide_is_no_ratings(shared_data):
    with pytest.raises(InputError):
        read_ratings(shared_data / "emonet_face" / "guide.json")

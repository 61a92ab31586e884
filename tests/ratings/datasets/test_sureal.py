"""Data sets of the sureal package."""

from __future__ import annotations

import json

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation.preference import preference_scale
from affectlab.ratings import read_ratings


def data_set(*scores, **more):
    return {
        "ref_videos": [{"content_id": 0, "content_name": "boat", "path": "ref/boat.yuv"}],
        "dis_videos": [
            {"content_id": 0, "asset_id": i, "path": f"dis/boat_{i}.yuv", "os": found}
            for i, found in enumerate(scores)
        ],
    } | more


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_lists_mean_the_same_subjects_everywhere(tmp_path):
    r = read_ratings(write(tmp_path / "d.json", data_set([5, 4, None], [1, float("nan"), 2])))
    assert r.rater_names == ("subject-01", "subject-02", "subject-03")
    assert r.stimulus_names == ("boat_0", "boat_1")
    assert np.array_equal(r.matrix(), [[5, 1], [4, np.nan], [np.nan, 2]], equal_nan=True)
    assert [str(part) for part in r.set_aside] == [
        "2 cells: no answer (dis_videos[0] os[2], dis_videos[1] os[1])"
    ]
    assert r.stimuli["content_name"].to_list() == ["boat", "boat"]
    assert r.stimuli["asset_id"].to_list() == [0, 1]


def test_mappings_name_the_subjects(tmp_path):
    scores = ({"ann": 3, "bo": 4}, {"cy": 2, "ann": 1})
    r = read_ratings(write(tmp_path / "d.json", data_set(*scores)))
    assert r.rater_names == ("ann", "bo", "cy")
    assert r.n_ratings == 4


def test_repetitions_are_trials(tmp_path):
    r = read_ratings(
        write(tmp_path / "d.json", data_set([[5, 4], [3, None]], [1, 2])), format="sureal"
    )
    assert r.frame.select("stimulus", "rater", "trial", "value").rows() == [
        ("boat_0", "subject-01", 1, 5.0),
        ("boat_0", "subject-01", 2, 4.0),
        ("boat_0", "subject-02", 1, 3.0),
        ("boat_1", "subject-01", 1, 1.0),
        ("boat_1", "subject-02", 1, 2.0),
    ]


def test_subjects_may_be_named_and_described(tmp_path):
    people = [{"name": "ann", "age": 30}, {"name": "bo", "age": 41}]
    r = read_ratings(
        write(tmp_path / "d.json", data_set([5, 4], [3, 3], subjects=people)), format="sureal"
    )
    assert r.rater_names == ("ann", "bo")
    assert r.raters["age"].to_list() == [30, 41]
    file = write(tmp_path / "e.json", data_set([5, 4], subjects=["ann"]))
    with pytest.raises(InputError, match=r"key 'subjects' is \['ann'\]; expected 2 different"):
        read_ratings(file, format="sureal")


@pytest.mark.parametrize(
    ("scores", "reference", "scale"),
    [
        ([2, 4], 5.0, "ordinal 1 to 5, step 1 (inferred)"),
        ([0, 4], 5.0, "interval 0 to 5 (inferred)"),
        ([40, 95], 100, "interval 0 to 100 (inferred)"),
        ([2, 6], 5.0, "ordinal 2 to 6, step 1 (inferred)"),
        ([2, 4], None, "ordinal 2 to 4, step 1 (inferred)"),
        ([-3, 2], 5.0, "ordinal -3 to 2, step 1 (inferred)"),
    ],
)
def test_scale_is_inferred_and_says_so(tmp_path, scores, reference, scale):
    file = write(tmp_path / "d.json", data_set(scores, ref_score=reference))
    assert str(read_ratings(file, format="sureal").scale) == scale
    if min(scores) >= 0:
        assert read_ratings(file, scale="0-100", format="sureal").scale.declared


def test_names_when_files_have_the_same_name(tmp_path):
    content = data_set([5], [4])
    for i, video in enumerate(content["dis_videos"]):
        video["path"] = f"{i}/boat.yuv"
    assert read_ratings(write(tmp_path / "d.json", content), format="sureal").stimulus_names == (
        "0/boat.yuv",
        "1/boat.yuv",
    )
    for video in content["dis_videos"]:
        video["path"] = "boat.yuv"
    assert read_ratings(write(tmp_path / "d.json", content), format="sureal").stimulus_names == (
        "0",
        "1",
    )
    for video in content["dis_videos"]:
        del video["asset_id"]
    names = read_ratings(write(tmp_path / "d.json", content), format="sureal").stimulus_names
    assert names == ("stimulus-01", "stimulus-02")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (data_set([5, 4], [1]), "dis_videos[1]: 1 scores in os; expected 2"),
        (data_set([5, 4], [1, "good"]), "dis_videos[1] os[1]: 'good' is no score"),
        (data_set([5, 4], {"ann": True}), "dis_videos[1] os['ann']: True is no score"),
        (data_set([5, 4], 3), "dis_videos[1]: os is 3; expected a list or an object"),
    ],
)
def test_bad_scores(tmp_path, content, said):
    file = write(tmp_path / "d.json", content)
    with pytest.raises(InputError) as error:
        read_ratings(file, format="sureal")
    assert str(error.value).startswith(f"{file}, {said}")


def test_bad_score_can_be_set_aside(tmp_path):
    r = read_ratings(
        write(tmp_path / "d.json", data_set([5, 4], [1, "good"])),
        on_bad="set_aside",
        format="sureal",
    )
    assert r.n_ratings == 3
    assert [(p.count, p.places) for p in r.set_aside] == [(1, ("dis_videos[1] os[1]",))]


def test_cut_and_foreign_files(tmp_path):
    file = write(tmp_path / "d.json", data_set([5, 4], [3, 3]))
    file.write_text(file.read_text()[:-9])
    with pytest.raises(InputError, match="line 1: not valid JSON"):
        read_ratings(file)
    with pytest.raises(InputError, match="key 'dis_videos' is None; expected a list of objects"):
        read_ratings(write(tmp_path / "e.json", {"a": 1}), format="sureal")


@pytest.mark.parametrize(
    ("name", "n_raters", "n_stimuli"),
    [("netflix_public", 26, 79), ("netflix_public_4_outliers", 30, 79)],
)
def test_published_sets(shared_data, name, n_raters, n_stimuli):
    file = shared_data / "subjective_quality" / f"{name}.json"
    r = read_ratings(file)
    assert (r.n_raters, r.n_stimuli, r.n_ratings) == (n_raters, n_stimuli, n_raters * n_stimuli)
    assert str(r.scale) == "ordinal 1 to 5, step 1 (inferred)"
    assert r.stimuli["is_reference"].sum() == 9
    scores = np.array([video["os"] for video in json.loads(file.read_text())["dis_videos"]])
    assert np.array_equal(r.matrix().T, scores)


def test_published_mean_opinion_scores(shared_data):
    """Means over subjects are those that the package's own tests print."""
    folder = shared_data / "subjective_quality"
    printed = json.loads((folder / "expected_values_from_upstream.json").read_text())
    r = read_ratings(folder / "netflix_public.json")
    mos = r.matrix().mean(axis=0)[np.argsort(r.stimuli["asset_id"].to_numpy())]
    wanted = printed["MOS_on_NFLX_public_raw"]
    assert mos[0] == pytest.approx(wanted["score0"], abs=1e-12)
    assert mos[10] == pytest.approx(wanted["score10"], abs=1e-12)
    assert mos.mean() == pytest.approx(wanted["mean"], abs=1e-12)


def test_published_partial_set(shared_data):
    file = shared_data / "subjective_quality" / "netflix_public_partial.json"
    videos = json.loads(file.read_text())["dis_videos"]
    r = read_ratings(file)
    assert r.n_stimuli == len(videos)
    known = [s for video in videos for s in video["os"] if s is not None and s == s]
    assert r.n_ratings == len(known)
    assert r.value.sum() == sum(known)


AS_TEXT = {
    "tuple": lambda subject, other: str((subject, other)),
    "list": lambda subject, other: json.dumps([subject, other]),
    "comma": lambda subject, other: f"{subject},{other}",
    "underscore": lambda subject, other: f"{subject}_{other}",
}


@pytest.mark.parametrize("kind", AS_TEXT)
def test_comparisons_of_pairs_go_to_the_statistics_of_preference(tmp_path, kind):
    """Tuples of subject and asset number are keys that JSON does not have."""
    key = AS_TEXT[kind]
    scores = (
        {key("Ann B.", 1): 1, key("Ann B.", 2): 0.5, key("bo", 1): 1},
        {key("cy", 0): 1, key("Ann B.", 2): 1},
        {key("Ann B.", 0): 0.5},
    )
    r = read_ratings(write(tmp_path / "d.json", data_set(*scores)))
    first, second, third = sorted({*r.stimuli["A"], *r.stimuli["B"]})
    assert r.scale.categories == ("A", "B", "tie")
    said = {(s, who): r.scale.categories[int(v)] for s, who, v in r.frame.iter_rows()}
    assert said == {
        (f"{first} | {second}", "Ann B."): "A",
        (f"{first} | {third}", "Ann B."): "tie",
        (f"{first} | {second}", "bo"): "A",
        (f"{first} | {second}", "cy"): "B",
        (f"{second} | {third}", "Ann B."): "A",
    }
    assert preference_scale(r, target="sample").frame["system"].to_list()


def test_pairs_in_a_list(tmp_path):
    file = write(tmp_path / "d.json", data_set([["ann", 1, 1]], [["ann", 0, 0]]))
    r = read_ratings(file)
    assert r.value.tolist() == [0.0]
    file = write(tmp_path / "d.json", data_set([["ann", 1, 7]], [["bo", 0, 0]]))
    with pytest.raises(
        InputError, match=r"dis_videos\[0\] .*7 beside asset 1; expected 0, 0.5 or 1"
    ):
        read_ratings(file)


def test_subjects_with_numbers_are_no_pairs(tmp_path):
    scores = [{f"subject-{k}": (k + i) % 2 for k in range(3)} for i in range(3)]
    assert read_ratings(write(tmp_path / "d.json", data_set(*scores))).n_raters == 3


def test_a_subject_without_scores_is_named(tmp_path):
    r = read_ratings(write(tmp_path / "d.json", data_set([5, None, 4], [3, None, 4])))
    assert r.rater_names == ("subject-01", "subject-03")
    assert r.summary().silent_raters == ("subject-02",)

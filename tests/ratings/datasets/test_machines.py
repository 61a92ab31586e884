"""What programs write that ask or run models: answers, the kind of rater, and what is left out.

Samples have the shape of files that were made with inspect-ai 0.3, lm-eval 0.4.13 and transformers
5.23; those of MTEB, OpenFace and Py-Feat were written by hand from the documentation.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.ratings.datasets.samples_of_tools import INSPECT, LM_EVAL, MTEB, TOOLS, lines
from tests.ratings.datasets.test_annotation_tools import answers, left_out, read
from tests.ratings.told import guessing

from affectlab.core.errors import InputError
from affectlab.ratings import StepKind, read_models, read_ratings
from affectlab.ratings.steps import step

pytestmark = pytest.mark.filterwarnings("ignore::affectlab.ratings.GuessedScalesWarning")

MACHINES = ("inspect", "lm-eval", "mteb", "pipeline", "openface", "py-feat", "face-scores", "vader")


@pytest.mark.parametrize("name", MACHINES)
def test_raters_are_models(tmp_path: Path, name: str) -> None:
    assert set(read(tmp_path, TOOLS[name], f"{name}.dat").rater_kinds) == {"model"}


def log(compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Write the log of Inspect as the .eval file that it writes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        head = {key: value for key, value in INSPECT.items() if key != "samples"}
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": head["eval"]}))
        for sample in INSPECT["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("summaries.json", json.dumps([]))
        archive.writestr("header.json", json.dumps(head))
    return buffer.getvalue()


def test_inspect_json_and_eval_say_the_same(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["inspect"], "log.json")
    assert r.rater_names == ("lab/tiny",)
    assert r.frame.select("stimulus", "trial", "value", "outcome", "score").rows() == [
        ("a", 1, 0.0, "ok", "C"),
        ("b", 1, 0.0, "ok", "I"),
        ("a", 2, None, "unparseable", "I"),
    ]
    assert r.scale.categories == ("joy", "fear")
    assert r.stimuli["target"].to_list() == ["joy", "fear"]
    file = tmp_path / "log.eval"
    file.write_bytes(log())
    zipped = read_ratings(file)
    assert zipped.frame.sort("stimulus", "trial").equals(r.frame.sort("stimulus", "trial"))


def test_inspect_logs_packed_by_zstandard(tmp_path: Path) -> None:
    pytest.importorskip("zipfile_zstd", reason="needs zipfile-zstd, which comes with inspect-ai")
    file = tmp_path / "log.eval"
    file.write_bytes(log(compression=93))
    assert read_ratings(file).n_rows == 3
    content = bytearray(file.read_bytes())
    at = content.find(b"samples/a_epoch_1.json") + 40
    content[at : at + 4] = b"\0\0\0\0"
    file.write_bytes(content)
    with pytest.raises(InputError, match="the zip file cannot be read"):
        read_ratings(file)


def test_inspect_log_that_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    content = log()
    for size in range(40, len(content), 97):
        file.write_bytes(content[:size])
        with pytest.raises(InputError, match="zip"):
            read_ratings(file)


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ({"output": {"completion": "", "choices": [{"stop_reason": "content_filter"}]}}, "refused"),
        ({"output": {"completion": ""}}, "empty"),
        ({"output": {"completion": "I"}, "error": {"message": "no network"}}, "transport"),
        ({"output": {"completion": "I", "choices": [{"stop_reason": "max_tokens"}]}}, "truncated"),
    ],
)
def test_a_sample_without_an_answer_says_why(
    tmp_path: Path, change: dict[str, Any], outcome: str
) -> None:
    sample = {**INSPECT["samples"][2], **change, "scores": {"choice": {"value": "I", "answer": ""}}}
    r = read(tmp_path, json.dumps({**INSPECT, "samples": [INSPECT["samples"][0], sample]}))
    assert r.frame["outcome"].to_list() == ["ok", outcome]


def test_inspect_scorers(tmp_path: Path) -> None:
    def sample(number: int, scores: dict[str, Any], reply: str = "5") -> dict[str, Any]:
        return {"id": number, "epoch": 1, "output": {"completion": reply}, "scores": scores}

    rated = [sample(k, {"first": {"value": "C", "answer": str(k)}}) for k in (3, 5)]
    r = read(tmp_path, json.dumps({**INSPECT, "samples": rated}))
    assert answers(r) == {("3", "lab/tiny", "first", 3.0), ("5", "lab/tiny", "first", 5.0)}
    scores = {"judge": {"value": {"joy": 4, "fear": 0, "why": "x"}}}
    r = read(tmp_path, json.dumps({**INSPECT, "samples": [sample(1, scores)]}))
    assert answers(r) == {("1", "lab/tiny", "joy", 4.0), ("1", "lab/tiny", "fear", 0.0)}
    assert left_out(r) == {"judge: no number": 1}
    words = [sample(k, {}, "joy") for k in (1, 2)]
    r = read(tmp_path, json.dumps({**INSPECT, "samples": words}))
    assert answers(r) == {("1", "lab/tiny", "", "joy"), ("2", "lab/tiny", "", "joy")}


def test_lm_eval_samples(tmp_path: Path) -> None:
    folder = tmp_path / "lab__tiny"
    folder.mkdir()
    r = read(folder, TOOLS["lm-eval"], "samples_emotions_2026.jsonl")
    assert answers(r) == {("0", "lab/tiny", "", "joy"), ("1", "lab/tiny", "", "fear")}
    assert r.stimuli["text"].to_list() == ["such a day!", "still dark"]
    said = [
        {**LM_EVAL[0], "filter": name, "filtered_resps": [reply]}
        for name, reply in (("none", "it is joy"), ("strict", "joy"))
    ]
    alone = {**LM_EVAL[1], "filtered_resps": [["-3.5", "False"]]}
    r = read(tmp_path, lines(*said, alone), "samples.jsonl")
    assert answers(r) == {("0", "samples", "none", "it is joy"), ("0", "samples", "strict", "joy")}
    assert left_out(r) == {"log-likelihood of a single text": 1}
    broken = {**LM_EVAL[0], "filtered_resps": [["-3.5"], ["x"]]}
    with pytest.raises(InputError, match=r"line 1: .*expected numbers"):
        read(tmp_path, lines(broken))


def test_mteb_names_the_model_from_the_file_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "lab__tiny" / "abc"
    folder.mkdir(parents=True)
    r = read(folder, json.dumps(MTEB), "EmotionClassification.json")
    assert r.rater_names == ("lab__tiny",)
    (folder / "model_meta.json").write_text('{"name": "lab/tiny"}')
    r = read(folder, json.dumps(MTEB), "EmotionClassification.json", format="mteb,metrics=['f1']")
    assert answers(r) == {("EmotionClassification test", "lab/tiny", "f1", 0.43)}
    assert left_out(r) == {"f1: no number": 1}


@pytest.mark.parametrize("form", ["list", "lines"])
def test_scores_of_all_classes(tmp_path: Path, form: str) -> None:
    entries = json.loads(TOOLS["pipeline"])
    r = read(tmp_path, json.dumps(entries) if form == "list" else lines(*entries), "tiny.json")
    assert answers(r) == {
        ("input-01", "tiny", "joy", 0.75),
        ("input-01", "tiny", "fear", 0.25),
        ("input-02", "tiny", "fear", 0.6),
        ("input-02", "tiny", "joy", 0.4),
    }
    assert {str(scale) for scale in r.scales.values()} == {"interval 0 to 1"}


def test_one_class_of_each_input(tmp_path: Path) -> None:
    top = [{"label": "joy", "score": 0.9}, {"label": "fear", "score": 0.8}]
    r = read(tmp_path, json.dumps(top), "tiny.json")
    assert answers(r) == {("input-01", "tiny", "", "joy"), ("input-02", "tiny", "", "fear")}
    assert r.frame["score"].to_list() == [0.9, 0.8]
    named = [{**one, "file": f"{k}.jpg"} for k, one in enumerate(top)]
    assert read(tmp_path, lines(*named), "tiny.jsonl").stimulus_names == ("0.jpg", "1.jpg")
    box = {**top[0], "box": {"xmin": 0}}
    assert left_out(read(tmp_path, json.dumps([*top, box]))) == {
        "boxes and spans are no ratings of the whole input": 1
    }


def test_one_list_of_classes_that_sum_to_one_is_about_one_input(tmp_path: Path) -> None:
    one = [{"label": "joy", "score": 0.9}, {"label": "fear", "score": 0.1}]
    r = read(tmp_path, json.dumps(one), "tiny.json")
    assert answers(r) == {("input-01", "tiny", "joy", 0.9), ("input-01", "tiny", "fear", 0.1)}


def test_zero_shot_classification(tmp_path: Path) -> None:
    entry = {"sequence": "such a day!", "labels": ["joy", "fear"], "scores": [0.9, 0.1]}
    r = read(tmp_path, json.dumps([entry]), "tiny.json")
    assert answers(r) == {("input-01", "tiny", "joy", 0.9), ("input-01", "tiny", "fear", 0.1)}
    assert r.stimuli["text"].to_list() == ["such a day!"]


def test_predictions_beside_references(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["predictions"], "tiny.json")
    assert answers(r) == {
        ("item-01", "tiny", "", "joy"),
        ("item-02", "tiny", "", "fear"),
        ("item-01", "references", "", "joy"),
        ("item-02", "references", "", "joy"),
    }
    assert dict(zip(r.rater_names, r.rater_kinds, strict=True)) == {
        "tiny": "model",
        "references": "human",
    }
    with pytest.raises(InputError, match="two lists of one length"):
        read(tmp_path, '{"predictions": [1, 2], "references": [1]}')


def test_openface(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["openface"], "clip.csv")
    assert answers(r) == {
        ("clip/1", "OpenFace", "AU01_r", 2.5),
        ("clip/1", "OpenFace", "AU12_r", 0.25),
        ("clip/1", "OpenFace", "AU01_c", 1.0),
        ("clip/3", "OpenFace", "AU01_r", 5.0),
        ("clip/3", "OpenFace", "AU12_r", 0.0),
        ("clip/3", "OpenFace", "AU01_c", 0.0),
    }
    assert left_out(r) == {"no face was found": 1}
    assert r.history == (step(StepKind.NOT_OF_FACE, n=6),)
    assert r.stimuli["timestamp"].to_list() == [0.0, 0.08]
    two = TOOLS["openface"] + "3, 1, 0.08, 0.97, 1, 3.5, 6.0, 0.0, 0\n"
    every = {"format": "openface,faces=all"}
    with pytest.raises(
        InputError, match=r"line 5, column 'AU01_r': value 6 of .* is off the scale"
    ):
        read(tmp_path, two, "clip.csv", **every)
    r = read(tmp_path, two, "clip.csv", on_bad="set_aside", **every)
    assert r.stimulus_names == ("clip/1/0", "clip/3/0", "clip/3/1")
    with guessing(StepKind.LARGEST_FACE, n_left=1):
        assert read(tmp_path, two, "clip.csv").stimulus_names == ("clip/1", "clip/3")
    picture = "face, confidence, AU01_r, x_0, x_1, y_0, y_1\n0, 0.9, 1.5, 1, 2, 1, 2\n"
    assert read(tmp_path, picture, "a.csv").stimulus_names == ("a",)
    with guessing(StepKind.LARGEST_FACE, n_left=1):
        r = read(tmp_path, picture + "1, 0.8, 2.5, 1, 9, 1, 9\n", "a.csv")
    assert (r.stimulus_names, r.value.tolist()) == (("a",), [2.5])


def test_py_feat(tmp_path: Path) -> None:
    r = read(tmp_path, TOOLS["py-feat"], "detections.csv")
    assert r.stimulus_names == ("a.jpg", "b.jpg")
    assert ("a.jpg", "Py-Feat", "happiness", 0.8) in answers(r)
    assert left_out(r) == {"no face was found": 1}
    twice = "FaceRectX,FaceScore,anger,input,frame\n1,0.9,0.1,a.mp4,0\n2,0.9,0.2,a.mp4,0\n"
    film = twice + "1,0.9,0.3,a.mp4,1\n"
    r = read(tmp_path, film, "detections.csv", format="py-feat,faces=all")
    assert r.stimulus_names == ("a.mp4/0/0", "a.mp4/0/1", "a.mp4/1/0")
    with guessing(StepKind.LARGEST_FACE, n_left=1):
        assert read(tmp_path, film, "detections.csv").stimulus_names == ("a.mp4/0", "a.mp4/1")
    with pytest.raises(InputError, match="biggest"):
        read(tmp_path, film, "detections.csv", format="py-feat,faces=biggest")


DEEPFACE = [
    {
        "img_path": path,
        "emotion": {"angry": 100 - happy, "happy": happy, "sad": 0.0},
        "dominant_emotion": "happy",
        "region": {"x": 1, "y": 1, "w": side, "h": side, "left_eye": None},
        "face_confidence": 0.9,
    }
    for path, happy, side in (("a.jpg", 10.0, 20), ("b.jpg", 90.0, 10), ("b.jpg", 30.0, 80))
]


def test_deepface_in_its_three_shapes(tmp_path: Path) -> None:
    by_key: dict[str, list[dict[str, object]]] = {}
    for face in DEEPFACE:
        rest = {name: value for name, value in face.items() if name != "img_path"}
        by_key.setdefault(str(face["img_path"]), []).append(rest)
    table = (
        "img_path,dominant_emotion,emotion.angry,emotion.happy,emotion.sad,region.w,region.h\n"
        "a.jpg,angry,90,10,0,20,20\nb.jpg,happy,10,90,0,10,10\nb.jpg,angry,70,30,0,80,80\n"
    )
    for name, text in (
        ("flat.json", json.dumps(DEEPFACE)),
        ("keys.json", json.dumps(by_key)),
        ("table.csv", table),
    ):
        with guessing(StepKind.LARGEST_FACE, n_left=1):
            r = read(tmp_path, text, name)
        assert ("b.jpg", "DeepFace", "happy", 30.0) in answers(r), name
        assert (r.n_ratings, r.rater_kinds, str(r.scale)) == (6, ("model",), "interval 0 to 100")
    nameless = json.dumps([{k: v for k, v in one.items() if k != "img_path"} for one in DEEPFACE])
    with pytest.raises(InputError, match="no column names the pictures; expected 'img_path'"):
        read(tmp_path, nameless, "flat.json")


def test_answers_of_a_log_stand_beside_those_of_people(tmp_path: Path) -> None:
    people = read(tmp_path, "task,worker,label\na,w1,joy\nb,w1,fear\n", "people.csv")
    file = tmp_path / "log.eval"
    file.write_bytes(log())
    (models,) = read_models(file, people)
    assert models.rater_kinds == ("model",)
    assert people.merge(models).n_raters == 2

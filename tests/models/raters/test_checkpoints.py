"""Published checkpoints rate as the pipelines of transformers do."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.models.raters.checkpoints import (
    FER,
    TEXTS,
    save_image,
    save_sound,
    save_text,
    save_two_towers,
)

from affectlab import InputError
from affectlab.models import rate
from affectlab.models.devices import quiet_transformers
from affectlab.models.pretrained import load_image_processor
from affectlab.simulate import face_specs, save_faces

transformers = pytest.importorskip("transformers")
EMOTIONS = ("joy", "anger", "late train")


def pipeline(task: str, place: str, **more: Any) -> Any:
    with quiet_transformers():
        return transformers.pipeline(task, model=place, **more)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    save_faces(folder, face_specs(2, ["joy", "anger"]), size=48)
    return folder


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sounds")
    for name, pitch in (("low", 220), ("high", 880)):
        time = np.arange(8_000) / 16_000
        samples = (np.sin(2 * np.pi * pitch * time) * 20_000).astype("<i2")
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            file.writeframes(samples.tobytes())
    return folder


def table(ratings: Any) -> dict[str, dict[str, float]]:
    rows = ratings.to_frame().select("stimulus", "label", "value").iter_rows()
    found: dict[str, dict[str, float]] = {}
    for stimulus, label, value in rows:
        found.setdefault(stimulus, {})[label] = value
    return found


def same(found: dict[str, float], expected: list[dict[str, Any]], label: str = "label") -> None:
    assert found == pytest.approx({one[label]: one["score"] for one in expected}, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "problem", "function"),
    [
        (FER, None, "softmax"),
        (FER, "single_label_classification", "softmax"),
        (FER, "multi_label_classification", "sigmoid"),
        (("valence", "arousal"), "regression", "none"),
    ],
)
@pytest.mark.parametrize("kind", ["Roberta", "Bert"])
def test_texts(
    tmp_path: Path, names: tuple[str, ...], problem: str | None, function: str, kind: str
) -> None:
    place = save_text(tmp_path / "model", names, problem, kind)
    found = rate(place, TEXTS)
    assert str(found.scale) == ("interval" if function == "none" else "interval 0 to 1")
    expected = pipeline("text-classification", place, top_k=None, function_to_apply=function)
    for name, text in zip(found.stimulus_names, TEXTS, strict=True):
        same(table(found)[name], *expected([text]))
    assert found.stimuli["text"].to_list() == list(TEXTS)


def test_entailment_looks_for_any_label(tmp_path: Path) -> None:
    place = save_text(tmp_path / "nli", ("contradiction", "neutral", "entailment"))
    found = rate(place, TEXTS, labels=EMOTIONS)
    expected = pipeline("zero-shot-classification", place)
    for name, text in zip(found.stimulus_names, TEXTS, strict=True):
        said = expected(text, EMOTIONS, hypothesis_template="This text expresses {}.")
        scores = dict(zip(said["labels"], said["scores"], strict=True))
        assert table(found)[name] == pytest.approx(scores, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "problem"), [(FER, None), (("valence", "arousal"), "regression")]
)
def test_pictures(
    tmp_path: Path, pictures: Path, names: tuple[str, ...], problem: str | None
) -> None:
    place = save_image(tmp_path / "vit", names, problem)
    found = table(rate(place, pictures, batch=3))
    shown = pipeline("image-classification", place, image_processor=load_image_processor(place))
    for path in sorted(pictures.glob("*.png")):
        picture = Image.open(path).convert("RGB")
        function = "none" if problem else "softmax"
        same(found[path.stem], shown(picture, top_k=len(names), function_to_apply=function))


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2"])
def test_two_towers_look_for_any_label(tmp_path: Path, pictures: Path, kind: str) -> None:
    place = save_two_towers(tmp_path / kind, kind)
    prompt = "i am so {}"
    found = table(rate(place, pictures, labels=EMOTIONS, prompt=prompt))
    with quiet_transformers():
        network = transformers.AutoModel.from_pretrained(place).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    processor = load_image_processor(place)
    length = network.config.text_config.max_position_embeddings
    texts = tokenizer(
        [prompt.format(name) for name in EMOTIONS],
        padding="max_length" if kind != "clip" else True,
        max_length=length,
        truncation=True,
        return_tensors="pt",
    )
    for path in sorted(pictures.glob("*.png")):
        picture = Image.open(path).convert("RGB")
        logits = network(**texts, **processor(images=[picture], return_tensors="pt"))
        logits = logits.logits_per_image[0]
        shares = logits.softmax(-1) if kind == "clip" else logits.sigmoid()
        expected = dict(zip(EMOTIONS, shares.tolist(), strict=True))
        assert found[path.stem] == pytest.approx(expected, abs=1e-5)


def test_sounds(tmp_path: Path, sounds: Path) -> None:
    place = save_sound(tmp_path / "wav2vec2", FER)
    found = table(rate(place, sounds))
    heard = pipeline("audio-classification", place)
    for path in sorted(sounds.glob("*.wav")):
        with wave.open(str(path)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_768
        said = heard({"raw": samples.astype(np.float32), "sampling_rate": 16_000}, top_k=7)
        same(found[path.stem], said)


def test_text_to_text_writes_a_label(tmp_path: Path) -> None:
    from tests.models.reactions.tiny import save_t5

    place = str(save_t5(tmp_path / "t5"))
    found = rate(place, TEXTS, labels=EMOTIONS, on_bad="raise", patience=9)
    # A random network writes nothing that is a label, which is no rating.
    assert set(found.to_frame()["outcome"]) == {"unparseable"}
    assert found.to_frame()["value"].is_null().all()


def test_labels_of_a_taxonomy(tmp_path: Path, pictures: Path) -> None:
    place = save_image(tmp_path / "vit", FER)
    found = rate(place, pictures, "ekman")
    assert found.label_names == ("anger", "disgust", "fear", "joy", "sadness", "surprise")
    about = found.raters.row(0, named=True)
    assert "happy → joy" in about["labels_by"]
    assert "neutral" in about["left_out"]
    # A model without labels of its own looks for those of the taxonomy.
    clip = save_two_towers(tmp_path / "clip", "clip")
    assert rate(clip, pictures, "ekman").label_names == found.label_names


def test_what_was_cut_is_said(tmp_path: Path) -> None:
    place = save_text(tmp_path / "model", FER)
    with pytest.warns(UserWarning, match="1 text was longer than"):
        rate(place, ["so happy " * 30, "late"])


def test_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = save_text(tmp_path / "model", FER)
    first = rate(place, TEXTS[:2], path=tmp_path / "run")
    from affectlab.models.raters.published import checkpoint

    asked: list[int] = []
    whole = checkpoint._Shrinking.__call__
    monkeypatch.setattr(
        checkpoint._Shrinking,
        "__call__",
        lambda self, stimuli: (asked.append(len(stimuli)), whole(self, stimuli))[1],
    )
    both = rate(place, TEXTS, path=tmp_path / "run")
    assert asked == [len(TEXTS) - 2]
    kept = both.to_frame().filter(pl.col("stimulus").is_in(first.stimulus_names))
    assert kept["value"].to_list() == first.to_frame()["value"].to_list()


def test_too_little_memory_halves_the_batch(tmp_path: Path) -> None:
    import torch

    from affectlab.models.raters.published.checkpoint import _Shrinking

    sizes: list[int] = []

    def forward(stimuli: Any) -> list[Any]:
        sizes.append(len(stimuli))
        if len(stimuli) > 2:
            raise torch.OutOfMemoryError
        return list(stimuli)

    shrinking = _Shrinking(forward, 8)
    assert shrinking(list(range(9))) == list(range(9))
    assert sizes == [8, 4, 2, 2, 2, 2, 1]
    # It does not grow again: the next batch would fail once more.
    assert shrinking([1, 2, 3]) == [1, 2, 3]
    assert sizes[-2:] == [2, 1]


@pytest.mark.parametrize(
    ("change", "settings", "words"),
    [
        ({"id2label": {str(k): f"LABEL_{k}" for k in range(7)}}, {}, "does not name its 7 outputs"),
        ({}, {"labels": ["a", "b"]}, "7 outputs, and 2 labels"),
        ({}, {"activation": "relu"}, "relu"),
        ({}, {"batchsize": 3}, "did you mean 'batch'"),
        ({}, {"prompt": "{}"}, "labels of its own"),
        ({"architectures": ["RobertaModel"]}, {}, "no outputs that are labels"),
        ({"architectures": ["LlamaForCausalLM"]}, {}, "writes texts"),
        ({"auto_map": {"AutoConfig": "evil.Config"}, "model_type": "evil"}, {}, "code of its own"),
    ],
)
def test_refusals(
    tmp_path: Path, change: dict[str, Any], settings: dict[str, Any], words: str
) -> None:
    import json

    place = save_text(tmp_path / "model", FER)
    file = tmp_path / "model/config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(InputError, match=words):
        rate(place, TEXTS, **settings)


def test_a_missing_layer_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    place = save_text(tmp_path / "model", FER)
    file = tmp_path / "model/model.safetensors"
    parts = {name: part for name, part in load_file(file).items() if "classifier" not in name}
    save_file(parts, file, {"format": "pt"})
    with pytest.raises(InputError, match="lacks weights"):
        rate(place, TEXTS)


def test_pickled_weights_are_tensors_alone(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    place = save_text(tmp_path / "model", FER)
    expected = rate(place, TEXTS).to_frame()["value"].to_list()
    file = tmp_path / "model/model.safetensors"
    torch.save(load_file(file), tmp_path / "model/pytorch_model.bin")
    file.unlink()
    assert rate(place, TEXTS).to_frame()["value"].to_list() == expected

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"classifier.weight": Evil()}, tmp_path / "model/pytorch_model.bin")
    with pytest.raises(InputError, match="cannot be used"):
        rate(place, TEXTS)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("unit", [False, True])
def test_a_sentence_encoder_with_a_head(tmp_path: Path, unit: bool) -> None:
    import json

    import joblib
    import torch
    from sklearn.linear_model import LogisticRegression
    from tests.models.text.tiny import save_bert

    folder = tmp_path / "setfit"
    save_bert(folder)
    names = ("Transformer", "Pooling", *(["Normalize"] if unit else []))
    paths = ("", "1_Pooling", "2_Normalize")
    modules = [
        {"type": f"sentence_transformers.models.{name}", "path": path}
        for name, path in zip(names, paths, strict=False)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    mode = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (folder / "1_Pooling/config.json").write_text(json.dumps(mode))
    (folder / "config_setfit.json").write_text(json.dumps({"labels": ["joy", "sadness"]}))
    with quiet_transformers():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModel.from_pretrained(folder).eval()
    rows = []
    for text in TEXTS:
        with torch.inference_mode():
            row = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
        rows.append((row / row.norm() if unit else row).numpy())
    head = LogisticRegression().fit(np.stack(rows), [0, 1, 1, 0])
    joblib.dump(head, folder / "model_head.pkl")
    with pytest.raises(InputError, match="--trust-pickle"):
        rate(str(folder), TEXTS)
    found = rate(str(folder), TEXTS, trust_pickle=True)
    values = found.to_frame()["value"].to_numpy().reshape(-1, 2)
    assert values == pytest.approx(head.predict_proba(np.stack(rows)), abs=1e-5)
    assert found.label_names == ("joy", "sadness")

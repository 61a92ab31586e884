"""Published checkpoints rate as the pipelines of transformers do."""

from __future__ import annotations

import json
import wave
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from safetensors.torch import load_file, save_file
from tests.models.raters.checkpoints import (
    FER,
    OF_IMAGES,
    OF_SOUND,
    OF_TEXT,
    TEXTS,
    save_image,
    save_sound,
    save_speech,
    save_text,
    save_two_towers,
)

from affectlab import InputError
from affectlab.models import rate
from affectlab.models.devices import quiet_transformers
from affectlab.models.pretrained import load_image_processor
from affectlab.simulate import face_specs, save_faces

torch = pytest.importorskip("torch")
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
        save_tone(folder / f"{name}.wav", pitch)
    return folder


def save_tone(path: Path, pitch: int, n: int = 8_000) -> None:
    samples = (np.sin(2 * np.pi * pitch * np.arange(n) / 16_000) * 20_000).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(samples.tobytes())


def table(ratings: Any) -> dict[str, dict[str, float]]:
    rows = ratings.to_frame().select("stimulus", "label", "value").iter_rows()
    found: dict[str, dict[str, float]] = {}
    for stimulus, label, value in rows:
        found.setdefault(stimulus, {})[label] = value
    return found


def change(folder: Path, **settings: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))


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


@pytest.mark.parametrize("kind", [kind for kind in OF_TEXT if kind not in ("Roberta", "Bert")])
def test_kinds_of_encoders(tmp_path: Path, kind: str) -> None:
    place = save_text(tmp_path / "model", FER, kind=kind)
    found = table(rate(place, TEXTS))
    for row, said in zip(
        found.values(), pipeline("text-classification", place, top_k=None)(list(TEXTS)), strict=True
    ):
        same(row, said)


def test_weights_in_shards(tmp_path: Path) -> None:
    whole = save_text(tmp_path / "whole", FER)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(whole)
    parts = Path(save_text(tmp_path / "parts", FER))
    (parts / "model.safetensors").unlink()
    network.save_pretrained(parts, max_shard_size="8KB")
    assert len(list(parts.glob("model-*.safetensors"))) > 2
    assert table(rate(str(parts), TEXTS)) == table(rate(whole, TEXTS))


def test_a_classifier_of_a_class_that_transformers_lacks(tmp_path: Path) -> None:
    place = save_text(tmp_path / "model", FER, kind="Bert")
    expected = pipeline("text-classification", place, top_k=None, function_to_apply="sigmoid")
    change(tmp_path / "model", architectures=["BertForMultiLabelClassification"])
    found = table(rate(place, TEXTS))
    for row, said in zip(found.values(), expected(list(TEXTS)), strict=True):
        same(row, said)
    # With a layer more than the class of transformers has, it would answer without that layer.
    file = tmp_path / "model/model.safetensors"
    save_file({**load_file(file), "between.weight": torch.zeros(2)}, file, {"format": "pt"})
    with pytest.raises(InputError, match=r"between\.weight"):
        rate(place, TEXTS)


@pytest.mark.parametrize(
    ("names", "problem", "kind"),
    [(FER, None, kind) for kind in OF_IMAGES] + [(("valence", "arousal"), "regression", "ViT")],
)
def test_pictures(
    tmp_path: Path, pictures: Path, names: tuple[str, ...], problem: str | None, kind: str
) -> None:
    place = save_image(tmp_path / "vit", names, problem, kind)
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


def samples_of(path: Path) -> Any:
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_768
    return samples.astype(np.float32)


@pytest.mark.parametrize("kind", list(OF_SOUND))
def test_sounds(tmp_path: Path, sounds: Path, kind: str) -> None:
    place = save_sound(tmp_path / kind, FER, kind)
    found = table(rate(place, sounds))
    heard = pipeline("audio-classification", place)
    for path in sorted(sounds.glob("*.wav")):
        said = heard({"raw": samples_of(path), "sampling_rate": 16_000}, top_k=7)
        same(found[path.stem], said)


@pytest.mark.parametrize("kind", ["AST", "Whisper"])
def test_a_sound_that_is_not_heard_to_the_end(tmp_path: Path, kind: str) -> None:
    place = save_sound(tmp_path / kind, FER, kind)
    (tmp_path / "long").mkdir()
    save_tone(tmp_path / "long/long.wav", 440, 20_000)
    with pytest.warns(UserWarning, match="1 sound was longer"):
        rate(place, tmp_path / "long")


@pytest.mark.parametrize(
    ("kind", "last", "settings", "applied"),
    [
        ("Wav2Vec2", "out_proj", {"pooling_mode": "mean", "problem_type": None}, "softmax"),
        # The settings name a class of transformers, whose head is another.
        ("Wav2Vec2", "output", {"architectures": ["Wav2Vec2ForSequenceClassification"]}, "softmax"),
        ("Hubert", "out_proj", {"pooling_mode": "max"}, "softmax"),
        ("WavLM", "out_proj", {"pooling_mode": "sum", "problem_type": "regression"}, "none"),
        ("Wav2Vec2", "out_proj", {"finetuning_task": "wav2vec2_reg"}, "none"),
    ],
)
def test_speech_with_a_head_that_transformers_lacks(
    tmp_path: Path, sounds: Path, kind: str, last: str, settings: dict[str, Any], applied: str
) -> None:
    names = ("arousal", "dominance", "valence")
    place, head = save_speech(tmp_path / "model", names, last, kind, **settings)
    ratings = rate(place, sounds)
    assert str(ratings.scale) == ("interval" if applied == "none" else "interval 0 to 1")
    with quiet_transformers():
        network = transformers.AutoModel.from_pretrained(place).eval()
        hear = transformers.AutoFeatureExtractor.from_pretrained(place)
    pool = {"sum": torch.sum, "max": torch.amax}.get(settings.get("pooling_mode"), torch.mean)
    for path in sorted(sounds.glob("*.wav")):
        inputs = hear(samples_of(path), sampling_rate=16_000, return_tensors="pt")
        with torch.no_grad():
            pooled = pool(network(**inputs).last_hidden_state[0], dim=0)
        dense = head["classifier.dense.weight"] @ pooled + head["classifier.dense.bias"]
        logits = head[f"classifier.{last}.weight"] @ torch.tanh(dense)
        logits += head[f"classifier.{last}.bias"]
        values = logits.softmax(-1) if applied == "softmax" else logits
        expected = dict(zip(names, values.tolist(), strict=True))
        assert table(ratings)[path.stem] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"pooling_mode": "median"}, "median"), ({"num_hidden_layers": 3}, "lacks weights")],
)
def test_speech_that_cannot_be_heard(
    tmp_path: Path, sounds: Path, settings: dict[str, Any], words: str
) -> None:
    place, _ = save_speech(tmp_path / "model", FER, **settings)
    with pytest.raises(InputError, match=words):
        rate(place, sounds)


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
    ("changes", "settings", "words"),
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
    tmp_path: Path, changes: dict[str, Any], settings: dict[str, Any], words: str
) -> None:
    place = save_text(tmp_path / "model", FER)
    change(tmp_path / "model", **changes)
    with pytest.raises(InputError, match=words):
        rate(place, TEXTS, **settings)


def test_a_missing_layer_is_refused(tmp_path: Path) -> None:
    place = save_text(tmp_path / "model", FER)
    file = tmp_path / "model/model.safetensors"
    parts = {name: part for name, part in load_file(file).items() if "classifier" not in name}
    save_file(parts, file, {"format": "pt"})
    with pytest.raises(InputError, match="lacks weights"):
        rate(place, TEXTS)


def test_pickled_weights_are_tensors_alone(tmp_path: Path) -> None:
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
    with pytest.raises(InputError, match="pickle"):
        rate(place, TEXTS)
    assert not (tmp_path / "ran").exists()


def other(folder: Path, name: str, content: dict[str, Any] | None = None) -> str:
    folder.mkdir()
    (folder / name).write_text(json.dumps(content or {}))
    return str(folder)


def test_what_is_no_whole_network_has_a_way_on(tmp_path: Path) -> None:
    lora = {"base_model_name_or_path": "roberta-base", "task_type": "SEQ_CLS", "peft_type": "LORA"}
    timm = {"architecture": "resnet18", "num_features": 512, "pretrained_cfg": {"num_classes": 7}}
    quantised = Path(save_text(tmp_path / "both", FER))
    (quantised / "model.safetensors").rename(quantised / "model.gguf")
    for place, words in (
        (str(quantised), "llama-server"),
        (other(tmp_path / "lora", "adapter_config.json", lora), "roberta-base.*merge_and_unload"),
        (other(tmp_path / "gguf", "emotion-q4.gguf"), "llama-server -m .*emotion-q4.gguf"),
        (other(tmp_path / "file", "model.gguf") + "/model.gguf", "llama-server.*openai-api/"),
        (other(tmp_path / "timm", "config.json", timm), "timm.*module:function"),
    ):
        with pytest.raises(InputError, match=words):
            rate(place, TEXTS)


@pytest.mark.parametrize("unit", [False, True])
def test_a_sentence_encoder_with_a_head(tmp_path: Path, unit: bool) -> None:
    import joblib
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

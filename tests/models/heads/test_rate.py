"""Head banks as raters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.evaluation import alignment
from affectlab.evaluation.human_alignment import neutral_calibrated
from affectlab.models.embedding import Embeddings, embed, load_encoder
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.embedding.registry import encoder_of
from affectlab.models.heads import HeadBank, HeadShape, Stage
from affectlab.ratings import Ratings, read_ratings
from affectlab.simulate import face_specs, save_faces

LABELS = ["joy", "fear"]


def brightness(images: list[Image.Image]) -> np.ndarray:
    """A few numbers of an image, so that an encoder costs nothing."""
    return np.stack(
        [np.asarray(image.resize((3, 3)).convert("L")).ravel() / 255 for image in images]
    )


ENCODER = load_encoder(brightness, name="brightness", kind="image", version="1")


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faces")
    save_faces(folder, face_specs(3, ["joy", "fear", "neutral"], [0.5, 1.0]), size=32)
    return folder


@pytest.fixture(scope="module")
def bank(faces: Path) -> HeadBank:
    torch.set_num_threads(1)
    X = embed(faces, ENCODER)
    Y = np.array([[7 * ("joy" in s), 7 * ("fear" in s)] for s in X.stimuli], dtype=float)
    made = HeadBank.make(LABELS, shape=HeadShape((8,)), name="heads")
    return made.fit(
        X, Y, stage=Stage(epochs=30, learning_rate=0.02, batch=8), cap=None, validation=0.2
    )


def test_images_are_embedded_and_rated(bank: HeadBank, faces: Path, tmp_path: Path) -> None:
    found = bank.rate(faces, encoder=ENCODER)
    assert found.n_stimuli == 18
    assert found.label_names == ("joy", "fear")
    assert found.rater_names == ("heads",)
    assert found.rater_kinds == ("model",)
    assert str(found.scale) == "interval 0 to 7"
    assert found.taxonomy is not None
    X = embed(faces, ENCODER)
    assert np.allclose(found.value.reshape(18, 2), bank.predict(X))
    said = found.raters["answers"][0]
    assert "trained on intensity (0 to 7) over embeddings of brightness" in said
    assert "not calibrated on neutral stimuli" in said
    assert "beyond 0 to 7 taken as the bound" in found.history[-1].text
    assert read_ratings(found.write(tmp_path / "r.parquet")).equals(found)


def test_history_counts_what_was_clipped(bank: HeadBank, faces: Path) -> None:
    X = embed(faces, ENCODER)
    made = HeadBank.make(LABELS, shape=HeadShape((8,)), name="heads")
    made.weights, made.encoder = bank.weights, bank.encoder
    made.calibrate_neutral(X)
    raw = made.predict(X, clip=False)
    beyond = int(((raw < 0) | (raw > 7)).sum())
    assert beyond > 5
    found = made.rate(X)
    assert found.history[-1].text == (
        "scores as they are; less the mean of each head over 18 neutral stimuli; "
        f"{beyond} answers beyond 0 to 7 taken as the bound"
    )
    assert np.allclose(found.value, np.clip(raw, 0, 7).ravel())


def test_neutral_calibration_is_that_of_the_evaluation(bank: HeadBank, faces: Path) -> None:
    """Subtracting in the bank, or afterwards from its answers, is the same where nothing clips."""
    X = embed(faces, ENCODER)
    neutral = [name for name in X.stimuli if "neutral" in name]
    made = HeadBank.make(LABELS, shape=HeadShape((8,)), name="heads")
    made.weights, made.encoder = bank.weights, bank.encoder
    raw = made.predict(X, clip=False)
    rows = [(s, label) for s in X.stimuli for label in LABELS]
    table = Ratings(
        {
            "stimulus": [s for s, _ in rows],
            "rater": ["heads"] * len(rows),
            "label": [label for _, label in rows],
            "value": raw.ravel(),
        },
        scale="interval",
    )
    after = neutral_calibrated(table, neutral).value.reshape(raw.shape)
    made.calibrate_neutral(X.subset(neutral))
    assert np.allclose(made.predict(X, clip=False), after, atol=1e-5)


def test_intervals_are_columns(bank: HeadBank, faces: Path) -> None:
    X = embed(faces, ENCODER)
    with pytest.raises(InputError, match="no intervals yet"):
        bank.rate(X, intervals=True)
    made = HeadBank.make(LABELS, shape=HeadShape((8,)), name="heads")
    made.weights, made.encoder = bank.weights, bank.encoder
    made.calibrate_intervals(
        X, np.full((18, 2), 2.0), confidence=0.5, by="label", source="people.csv"
    )
    found = made.rate(X, intervals=True, rater="me")
    frame = found.to_frame()
    low, high = made.predict_intervals(X)
    assert np.allclose(frame["low"].to_numpy(), low.ravel())
    assert np.allclose(frame["high"].to_numpy(), high.ravel())
    assert (frame["low"] <= frame["value"]).all()
    assert found.rater_names == ("me",)
    assert (
        "50 % intervals, split conformal by label, calibrated on people.csv"
        in (found.raters["answers"][0])
    )


def test_what_cannot_be_rated(bank: HeadBank, faces: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not the one that the heads were trained on"):
        bank.rate(
            faces, encoder=load_encoder(brightness, name="brightness", kind="image", version="2")
        )
    with pytest.raises(InputError, match="unknown encoder 'brightness'"):
        bank.rate(faces)
    with pytest.raises(InputError, match="array does not say which stimuli"):
        bank.rate(np.zeros((2, 9), dtype=np.float32))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"broken\.png"):
        bank.rate(tmp_path, encoder=ENCODER)
    other = Embeddings(
        np.zeros((1, 9), dtype=np.float16), ("a",), ("0" * 64,), EncoderCard("x", "image", 9, "ff")
    )
    with pytest.raises(InputError, match="X come from encoder 'x'"):
        bank.rate(other)
    with pytest.raises(InputError, match="not trained yet"):
        HeadBank.make(LABELS).rate(faces)
    made = HeadBank.make(LABELS, shape=HeadShape((2,)))
    rng = np.random.default_rng(0)
    made.fit(rng.normal(size=(60, 4)), rng.integers(0, 8, (60, 2)), stage=Stage(epochs=1), cap=None)
    with pytest.raises(InputError, match="know no encoder"):
        made.rate(faces)


def test_answers_go_straight_into_the_evaluation(bank: HeadBank, faces: Path) -> None:
    machine = bank.rate(faces, encoder=ENCODER)
    rows = [
        (name, f"person {rater}", label, float(round(0.9 * 7 * (label in name))))
        for name in machine.stimulus_names
        for rater in range(3)
        for label in LABELS
    ]
    stimulus, rater, label, value = map(list, zip(*rows, strict=True))
    people = Ratings(
        {"stimulus": stimulus, "rater": rater, "label": label, "value": value}, scale="0-7"
    )
    found = alignment(people, machine, target="sample").to_frame()
    assert found.height


def test_the_encoder_is_found_again_by_its_card(faces: Path) -> None:
    pytest.importorskip("skimage")
    hog = load_encoder("hog", size=32, cell=8)
    found = encoder_of(EncoderCard.of(hog))
    assert found.fingerprint == hog.fingerprint
    assert found.fingerprint != load_encoder("hog").fingerprint
    with pytest.raises(InputError, match=r"encoder 'lbp' .* is not the one"):
        encoder_of(EncoderCard.of(hog), "lbp")
    texts = load_encoder("texts", width=64, seed=3)
    assert encoder_of(EncoderCard.of(texts)).fingerprint == texts.fingerprint
    assert encoder_of(EncoderCard.of(texts), texts) is texts
    with pytest.raises(InputError, match="no such folder"):
        encoder_of(EncoderCard.of(hog), Path("nowhere"))


def test_a_folder_that_is_called_as_the_encoder_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("skimage")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faces").mkdir()
    card = EncoderCard.of(load_encoder("faces"))
    assert card.same(encoder_of(card))
    assert card.same(encoder_of(card, "faces"))


@pytest.mark.parametrize("given", [None, "siglip2:COPY", "siglip2", "COPY"])
def test_settings_of_a_checkpoint_are_taken_whatever_it_is_called(
    given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = EncoderCard(
        "transformers:google/x", "image", 8, "f" * 32, {"pooling": "mean", "precision": "bf16"}
    )
    asked: list[tuple[str, dict[str, object]]] = []

    def load(name: str, **settings: object) -> EncoderCard:
        asked.append((name, settings))
        return card

    monkeypatch.chdir(tmp_path)
    (tmp_path / "COPY").mkdir()
    monkeypatch.setattr("affectlab.models.embedding.registry.load_encoder", load)
    encoder_of(card, given)
    ((name, settings),) = asked
    assert settings == {"pooling": "mean", "precision": "bf16"}
    assert name == {None: card.name, "COPY": "transformers:COPY"}.get(given, given)


def test_scores_are_a_column_where_asked(bank: HeadBank, faces: Path) -> None:
    frame = bank.rate(faces, encoder=ENCODER, scores=True).to_frame()
    X = bank.embed(faces, encoder=ENCODER)
    assert np.allclose(frame["score"].to_numpy(), bank.scores(X).ravel())
    assert "score" not in bank.rate(faces, encoder=ENCODER).to_frame().columns

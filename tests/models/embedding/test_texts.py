"""Encoders of texts without weights: fixed ones, and those fitted to texts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.models.embedding.encoder import check_encoder, encode_batch
from affectlab.models.embedding.offline_texts import fit_text_encoder
from affectlab.models.embedding.registry import load_encoder

from ..text.tiny import WORDS, texts_of  # noqa: TID252
from .network import nothing_is_reached

__all__ = ["nothing_is_reached"]

ODD = ["", "   ", "\n", "👍🏽", "ü" * 500, "a\0b", "[NAME] is so so so happy!!!", "\ud800"]


def cosine(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T / (length * length.T)


def test_rows_are_the_same_however_texts_are_portioned():
    encoder = load_encoder("texts", width=256)
    check_encoder(encoder, "texts")
    texts = texts_of(40)[0] + ODD
    together = encode_batch(encoder, texts)
    single = np.concatenate([encode_batch(encoder, [text]) for text in texts])
    np.testing.assert_allclose(single, together, atol=1e-5)
    turned = encode_batch(load_encoder("texts", width=256), texts[::-1])[::-1]
    np.testing.assert_allclose(turned, together, atol=1e-5)
    assert encode_batch(encoder, []).shape == (0, 256)
    assert not together[40:43].any()
    assert together[43:].any(axis=1).all()
    known = together[:40]
    assert 0.7 < np.mean(known**2) < 1.4
    assert abs(known.mean()) < 0.1


def test_what_texts_share_is_seen():
    rows = load_encoder("texts").encode(
        [
            "I am so happy today",
            "I am so happy now",
            "I am so unhappily married",
            "trains were late again",
        ]
    )
    alike = cosine(rows)
    assert alike[0, 1] > alike[0, 2] > alike[0, 3] + 0.1
    assert abs(alike[0, 3]) < 0.2


def test_inner_products_are_those_of_the_features():
    """Against the same features in as many places as there are words."""
    wide, narrow = load_encoder("texts", width=8192), load_encoder("texts", width=512)
    texts = texts_of(60)[0]
    a, b = cosine(wide.encode(texts)), cosine(narrow.encode(texts))
    off = ~np.eye(60, dtype=bool)
    assert np.abs(a - b)[off].max() < 0.25
    assert np.corrcoef(a[off], b[off])[0, 1] > 0.9


def test_numbers_stay_as_they_are():
    encoder = load_encoder("texts", width=64)
    assert encoder.fingerprint == "da3e6f0e89ee19ebbb6af6f56d7babf1"
    known = [0, -0.3791, -1.8397, 0.7303, 0.7303, 0.7303]
    np.testing.assert_allclose(encoder.encode(["so happy"])[0, :6], known, atol=1e-4)


def test_settings_decide():
    first = load_encoder("texts")
    assert (first.width, first.settings) == (512, {"width": 512, "seed": 0})
    other = load_encoder("texts", seed=1)
    assert other.fingerprint != first.fingerprint
    assert not np.allclose(other.encode(["so happy"]), first.encode(["so happy"]))
    for settings, said in (
        ({"width": 0}, "width = 0"),
        ({"width": 2.5}, "width = 2.5"),
        ({"seed": -1}, "seed = -1"),
        ({"size": 3}, "unknown setting 'size'"),
    ):
        with pytest.raises(InputError, match=said):
            load_encoder("texts", **settings)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    place = tmp_path_factory.mktemp("fitted") / "words"
    texts, labels = texts_of(300)
    return fit_text_encoder(texts, place, width=24), place, texts, labels


def test_fitted_encoders_are_loaded_as_they_were(fitted):
    made, place, texts, _ = fitted
    held = load_encoder(f"texts:{place}")
    check_encoder(held, "texts")
    assert held.fingerprint == made.fingerprint
    assert held.settings == made.settings
    assert held.settings["texts"] == 300
    np.testing.assert_array_equal(encode_batch(held, texts), encode_batch(made, texts))
    single = np.concatenate([encode_batch(held, [text]) for text in texts[:20]])
    np.testing.assert_allclose(single, encode_batch(held, texts[:20]), atol=1e-5)
    assert np.mean(encode_batch(held, texts) ** 2) == pytest.approx(1, abs=1e-3)
    assert encode_batch(held, ODD).shape == (8, 24)
    assert encode_batch(held, []).shape == (0, 24)


def test_fitted_rows_are_those_of_the_decomposition(fitted):
    made, _, texts, _ = fitted
    matrix = made.features.transform(texts).toarray().astype(float)
    _, size, directions = np.linalg.svd(matrix, full_matrices=False)
    expected = np.abs(matrix @ directions[:8].T)
    found = np.abs(made.encode(texts)[:, :8])
    ratio = (found**2).sum() / (expected**2).sum()
    np.testing.assert_allclose(found, expected * np.sqrt(ratio), rtol=0.02, atol=0.02)
    assert size[0] > size[-1]


def test_emotions_are_found_in_fitted_rows(fitted):
    made, _, texts, labels = fitted
    rows = made.encode(texts)
    new, truth = texts_of(100, seed=1)
    for label in WORDS:
        own = np.array([label in given for given in labels])
        weights, *_ = np.linalg.lstsq(np.c_[rows, np.ones(len(rows))], own.astype(float))
        found = np.c_[made.encode(new), np.ones(100)] @ weights > 0.5
        assert np.mean(found == [label in given for given in truth]) > 0.9


def test_fitting_again_gives_the_same(fitted, tmp_path):
    made, _, texts, _ = fitted
    again = fit_text_encoder(texts, tmp_path / "again", width=24)
    np.testing.assert_allclose(again.directions, made.directions, atol=1e-5)
    other = fit_text_encoder(texts[:200], tmp_path / "again", width=24)
    assert other.fingerprint != made.fingerprint
    assert load_encoder(f"texts:{tmp_path / 'again'}").fingerprint == other.fingerprint


def test_texts_and_folders_that_cannot_be_used(fitted, tmp_path):
    for texts, width, said in (
        (["a b c"], 1, "no word occurs in 2 of the 1 texts"),
        (["so happy", "so sad"], 200, "have at most 2 directions"),
        (["so happy", 3], 1, "text 1 is of type int"),
        (["so happy", "so sad"], 0, "width = 0"),
    ):
        with pytest.raises(InputError, match=said):
            fit_text_encoder(texts, tmp_path / "x", width=width)
    assert not (tmp_path / "x").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("kept")
    with pytest.raises(InputError, match="holds other files"):
        fit_text_encoder(["so happy", "so sad"], tmp_path / "mine", width=1)
    with pytest.raises(InputError, match="no such folder"):
        load_encoder("texts:nowhere")
    with pytest.raises(InputError, match="'width'; it has none"):
        load_encoder(f"texts:{fitted[1]}", width=3)


@pytest.mark.parametrize("file", ["model.json", "features.json", "arrays.npz"])
def test_damaged_folders_are_refused(tmp_path, file):
    place = tmp_path / "words"
    fit_text_encoder(["so happy", "so sad", "so glad"], place, width=1)
    content = (place / file).read_bytes()
    for damaged in (b"", b"{}", content[: len(content) // 2], b"[null, 3]"):
        (place / file).write_bytes(damaged)
        with pytest.raises(InputError) as error:
            load_encoder(f"texts:{place}")
        assert "\n" not in str(error.value)
    if file == "features.json":
        names = json.loads(content)
        (place / file).write_text(json.dumps([*names, "more"]))
        with pytest.raises(InputError, match=r"arrays\.npz does not fit features\.json"):
            load_encoder(f"texts:{place}")

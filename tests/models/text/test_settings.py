"""Settings of back ends: typed, checked, and all of them known."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from affectlab import InputError
from affectlab.models.text import TextClassifier, Training, list_backends, load_backend
from affectlab.models.text.settings import _KNOWN, _TRAINING

NETWORKS = ("transformer", "embedding", "choice", "choice-embedding")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cost", float("inf"), "cost = inf: expected a number above 0 and finite"),
        ("cost", "abc", "cost = 'abc': expected a number above 0 and finite"),
        ("cost", True, "cost = True"),
        ("pairs", "no", "pairs = 'no': expected true or false"),
        ("pairs", 1, "pairs = 1: expected true or false"),
        ("pieces", 3, "pieces = 3: expected the shortest and the longest"),
        ("pieces", [5, 3], "pieces = "),
        ("min_texts", 2.5, "min_texts = 2.5: expected a whole number from 1 on"),
        ("tolerance", -1, "tolerance = -1"),
        ("tolerance", "abc", "tolerance = 'abc'"),
        ("max_epochs", 0, "max_epochs = 0: expected a whole number from 1 on"),
        ("label_penalty", 3, "label_penalty = 3: expected none, sentiment, correlation"),
        ("levels", "sentiment", r"levels = 'sentiment': expected a list of levels"),
        ("seed", "x", "seed = 'x'"),
        ("seed", -1, "seed = -1"),
        ("foo", 1, "unknown setting 'foo'; expected one of: cost, pairs, .*group_scores"),
        ("costs", 1, "unknown setting 'costs'; did you mean 'cost'"),
    ],
)
def test_settings_of_linear(name, value, words) -> None:
    with pytest.raises(InputError, match=words) as caught:
        TextClassifier.make("linear", **{name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "learning_rate",
            float("inf"),
            "learning_rate = inf: expected a number above 0 and finite",
        ),
        ("epochs", True, "epochs = True"),
        ("warmup", "half", "warmup = 'half'"),
        ("schedule", "lin", "unknown schedule 'lin'; did you mean 'linear'"),
        ("hidden", 2.5, "hidden = 2.5: expected a whole number from 1 on"),
        ("max_tokens", 0, "max_tokens = 0"),
        ("label_penalty", "polarity", "unknown label_penalty 'polarity'"),
    ],
)
def test_settings_of_networks(name, value, words) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=words):
        TextClassifier.make("embedding", **{name: value})
    if name in _TRAINING:
        with pytest.raises(InputError, match=f"{name} = |unknown {name}"):
            Training(**{name: value})


@pytest.mark.parametrize("backend", ["transformer", "embedding"])
def test_an_encoder_reads_more_than_the_marks_at_both_ends(backend) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match="max_tokens = 1: expected a whole number from 3 on"):
        TextClassifier.make(backend, encoder="x", max_tokens=1)


@pytest.mark.parametrize("backend", sorted(_KNOWN))
def test_the_table_has_every_setting_of_a_back_end(backend) -> None:
    if backend in NETWORKS:
        pytest.importorskip("torch")
        pytest.importorskip("transformers")
    assert backend in list_backends()
    known = set()
    for kind in load_backend(backend).__mro__:
        if issubclass(kind, TextClassifier) and kind is not TextClassifier:
            known |= {
                name
                for name, part in inspect.signature(kind.__init__).parameters.items()
                if part.kind is part.KEYWORD_ONLY
            }
    if backend in NETWORKS:
        known |= {field.name for field in fields(Training)}
    assert known == set(_KNOWN[backend])


def test_what_a_back_end_stores_fits_its_own_table() -> None:
    model = TextClassifier.make("linear", pieces=None, label_penalty="sentiment")
    again = TextClassifier.make("linear", **model.settings())
    assert again.settings() == model.settings()

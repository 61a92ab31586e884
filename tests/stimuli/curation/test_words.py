"""Word lists: what is read from files, and whole words found whatever way they are written."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.curation.texts.words import (
    WordLists,
    fold,
    has_term,
    in_list,
    search_pattern,
)

TERMS = ("damn", "shit*", "half wit", "a$$", "f*ck", "éclair")


def found(texts: list[str], terms: tuple[str, ...] = TERMS) -> list[bool]:
    return has_term(fold(pl.Series(texts, dtype=pl.String)), terms).to_list()


def slowly(text: str, terms: tuple[str, ...]) -> bool:
    """Look for every term at every place."""
    folded = fold(pl.Series([text]))[0]

    def letter(sign: str) -> bool:
        return bool(sign) and unicodedata.category(sign)[0] in "LMN"

    for term in terms:
        for start in range(len(folded)):
            if letter(folded[start - 1 : start]) and start:
                continue
            whole = re.escape(term.removesuffix("*")).replace(r"\ ", r"[\s\-]+")
            match = re.compile(whole).match(folded, start)
            if match and (term.endswith("*") or not letter(folded[match.end() : match.end() + 1])):
                return True
    return False


@pytest.mark.parametrize(
    "text",
    [
        "Damn!",
        "_damn_ it",
        "(DAMN)",
        "oh damn's",
        "d\u00adamn",
        "ｄａｍｎ",
        "shitty",
        "SHIT",
        "a half-wit",
        "half \n wit",
        "what an a$$!",
        "F*CK this",
        "un éclair",
        "un E\u0301CLAIR",
        "你damn好 damn",
    ],
)
def test_found(text: str) -> None:
    assert found([text]) == [True]


@pytest.mark.parametrize(
    "text",
    ["", "goddamn", "damned", "Amsterdam now", "bullshit", "halfwit", "a$$es", "fck", "éclairs"],
)
def test_not_found(text: str) -> None:
    assert found([text]) == [False]


@given(
    st.lists(
        st.lists(
            st.sampled_from(["damn", "Shit", "ty", "half", "wit", "a$$", "é", " ", "-", "\u0301"]),
            max_size=6,
        ).map("".join),
        max_size=8,
    )
)
def test_as_the_slow_search(texts: list[str]) -> None:
    assert found(texts) == [slowly(text, TERMS) for text in texts]


@given(
    st.lists(st.sampled_from(["damn", "Shit", "ty", "half", "wit", "1", "_", " ", "-", "."])).map(
        "".join
    )
)
def test_both_patterns_agree(text: str) -> None:
    """What filters and what masks mean the same by a term."""
    one = re.search(search_pattern(TERMS), text, re.IGNORECASE) is not None
    assert found([text]) == [one]


def test_no_terms_and_no_texts() -> None:
    assert found(["damn"], ()) == [False]
    assert found([]) == []
    assert has_term(pl.Series([None, "damn"]), ("damn",)).to_list() == [False, True]


def test_packaged_lists() -> None:
    words = WordLists.load()
    folded = fold(
        pl.Series(
            [
                "That is bullshit and you know it.",
                "Women in tech are paid less.",
                "The Catholics next door.",
                "Have a nice day, see you in May!",
            ]
        )
    )
    assert has_term(folded, words.vulgar).to_list() == [True, False, False, False]
    assert has_term(folded, words.identity).to_list() == [False, True, False, False]
    assert has_term(folded, words.religion).to_list() == [False, False, True, False]
    assert not has_term(folded, words.offensive).any()
    harmless = ["foodporn", "earthporn", "AskReddit", "nfl", "actuallesbians", "sexology"]
    assert not in_list(pl.Series(harmless), words.adult_groups).any()
    assert in_list(pl.Series(["GoneWild", "NSFW_GIFs"]), words.adult_groups).all()


def test_offensive_is_not_vulgar() -> None:
    """Vulgar comments are kept and offensive ones are not, so that no term can be both."""
    words = WordLists.load()
    both = set(words.offensive) & set(words.vulgar)
    assert both == set()
    hidden = [
        term
        for term in words.vulgar
        if "*" not in term and found([term], words.offensive) == [True]
    ]
    assert hidden == []


@pytest.mark.parametrize(
    "text",
    [
        "I scored a document, an analysis and a title with Dickens in Scunthorpe.",
        "The cocktail was grapefruit; she passed the class on the Essex canal.",
        "A Japanese assassin and a Nigerian raccoon shared a spicy cockpit.",
        "Therapists titrate snickers; the peacock is cumbersome and homogeneous.",
    ],
)
def test_no_offence_inside_words(text: str) -> None:
    assert found([text], WordLists.load().offensive) == [False]


def test_folder_replaces(tmp_path: Path) -> None:
    (tmp_path / "vulgar.txt").write_text(
        "\ufeff# mine\n\n  Drat*  # mild\nDrat*\nfull  moon\nDON’T\n", encoding="utf-8"
    )
    words = WordLists.load(tmp_path)
    assert words.vulgar == ("drat*", "full moon", "don't")
    assert words.offensive == WordLists.load().offensive
    assert words.digest() != WordLists.load().digest() == WordLists.load(None).digest()
    (tmp_path / "religion.txt").write_text("", encoding="utf-8")
    assert WordLists.load(tmp_path).religion == ()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("", b"", "expected one of the files offensive.txt"),
        ("vulgur.txt", b"drat", "unknown word list 'vulgur'; did you mean 'vulgar'"),
        ("vulgar.txt", b"drat\n\xff\n", "byte 5 is not UTF-8"),
        ("vulgar.txt", b"drat\n*\n", "vulgar.txt, line 2: '*' has no letter or digit"),
    ],
)
def test_unusable_folder(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    if name:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=re.escape(sentence)):
        WordLists.load(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a folder with files such as"):
        WordLists.load(tmp_path / "absent")


def test_groups() -> None:
    names = pl.Series(["Pics", "r/PICS", "/r/pics2", "nsfw", None, "NSFWfoo", "sfw"])
    assert in_list(names, ("pics", "nsfw*")).to_list() == [1, 1, 0, 1, 0, 1, 0]
    assert in_list(names, ()).to_list() == [False] * 7
    assert in_list(names, ("nsfw*",)).sum() == 2

"""Near-duplicates: against every pair compared, planted copies, parts, hostile texts."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from affectlab.core.errors import InputError

daft = pytest.importorskip("daft")

from affectlab.stimuli.curation.texts import minhash as _near_duplicates  # noqa: E402
from affectlab.stimuli.curation.texts.minhash import near_duplicates  # noqa: E402

EVERY_PAIR: dict[str, Any] = {"n_hashes": 20, "n_bands": 20}
"""Bands of one: a pair at 0.6 or more is missed with a probability of about 1e-8."""


def frame_of(texts: Sequence[str | None]) -> Any:
    ids = [f"c{place:05d}" for place in range(len(texts))]
    return daft.from_arrow(
        pl.DataFrame(
            {"id": ids, "text": texts}, schema={"id": pl.String, "text": pl.String}
        ).to_arrow()
    )


def plain(text: str) -> str:
    """Lower case, one Unicode form, no marks that are not seen, straight apostrophes."""
    text = unicodedata.normalize("NFKC", text.lower()).lower()
    text = re.sub("[\u00ad\u200b-\u200d\u2060\ufeff]", "", text).replace("’", "'")
    return " ".join(text.split())


def ngrams(text: str, n: int) -> set[str]:
    return {text[place : place + n] for place in range(max(1, len(text) - n + 1))}


def slow(texts: Sequence[str | None], threshold: float, n: int) -> list[tuple[str, str, float]]:
    """Compare every pair of texts, and follow links until nothing changes."""
    known = {
        f"c{place:05d}": plain(text)
        for place, text in enumerate(texts)
        if text is not None and plain(text)
    }
    sets = {name: ngrams(text, n) for name, text in known.items()}

    def similarity(one: str, other: str) -> float:
        both = len(sets[one] & sets[other])
        return both / (len(sets[one]) + len(sets[other]) - both)

    kept = {name: name for name in known}
    changed = True
    while changed:
        changed = False
        for one, other in combinations(known, 2):
            if kept[one] != kept[other] and similarity(one, other) >= threshold:
                kept[one] = kept[other] = min(kept[one], kept[other])
                changed = True
    return [(name, first, similarity(name, first)) for name, first in kept.items() if name != first]


words = st.sampled_from(list("abcdefgh"))
likely_texts = st.lists(words, min_size=1, max_size=7).map(" ".join)
odd_texts = st.text(st.sampled_from("aB \t\u00a0é e\u0301ﬁИ😂\u200b’'"), max_size=12)
pools = st.lists(st.one_of(likely_texts, odd_texts, st.none()), min_size=1, max_size=25)


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts=pools, threshold=st.sampled_from([0.6, 0.75, 0.8, 1.0]), n=st.integers(1, 5))
def test_same_as_every_pair_compared(texts: list[str | None], threshold: float, n: int) -> None:
    found = near_duplicates(frame_of(texts), threshold=threshold, ngram=n, **EVERY_PAIR)
    assert found.rows() == slow(texts, threshold, n)


def sentences(n: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfw"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(3000)]
    return [" ".join(rng.choices(vocabulary, k=rng.randint(8, 25))) for _ in range(n)]


def with_copies(seed: int = 0) -> tuple[list[str | None], set[str]]:
    """Random sentences, and after them copies with another end, case or spaces; the copies."""
    originals = sentences(600, seed)
    copies = [
        copy
        for text in originals[:150]
        for copy in (text + "!", text.upper().replace(" ", "  "), text[:-1] + "ß")
    ]
    names = {f"c{len(originals) + place:05d}" for place in range(len(copies))}
    return [*originals, *copies], names


def test_planted_copies_are_found_and_nothing_else() -> None:
    texts, copies = with_copies()
    found = near_duplicates(frame_of(texts))
    assert set(found["id"]) == copies
    assert set(found["kept_id"]) == {f"c{place:05d}" for place in range(150)}
    assert found["similarity"].min() >= 0.8  # type: ignore[operator]
    assert (found["similarity"] == 1).sum() == 150


def test_order_parts_and_seed_do_not_matter(tmp_path: Path) -> None:
    texts, _ = with_copies(1)
    whole = frame_of(texts)
    found = near_duplicates(whole)
    rows = whole.to_pydict()
    order = np.random.default_rng(5).permutation(len(texts))
    mixed = daft.from_pydict({name: [rows[name][place] for place in order] for name in rows})
    assert found.equals(near_duplicates(mixed))
    for number in range(7):
        part = {name: column[number::7] for name, column in rows.items()}
        pl.DataFrame(part).write_parquet(tmp_path / f"part{number}.parquet")
    assert found.equals(near_duplicates(daft.read_parquet(f"{tmp_path}/*.parquet")))
    assert found.equals(near_duplicates(whole, seed=9))


def test_compared_in_ranges_of_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, _ = with_copies(2)
    whole = near_duplicates(frame_of(texts))
    monkeypatch.setattr(_near_duplicates, "_AT_ONCE", 100)
    assert whole.equals(near_duplicates(frame_of(texts)))


def test_thousands_of_equal_and_of_similar_texts() -> None:
    sent = [
        f"Your post number {number} was removed, please read our rules." for number in range(3000)
    ]
    found = near_duplicates(frame_of(["lol"] * 20_000 + sent + ["LOL ", "something else"]))
    assert found.height == 19_999 + 2_999 + 1
    kept = dict(found.group_by("kept_id").len().iter_rows())
    assert kept == {"c00000": 20_000, "c20000": 2_999}


def test_a_chain_is_one_group() -> None:
    chain = ["abcdefghij", "abcdefghijk", "abcdefghijkl"]
    found = near_duplicates(frame_of(chain), threshold=0.85, ngram=3, **EVERY_PAIR)
    assert found.rows() == [("c00001", "c00000", 8 / 9), ("c00002", "c00000", 8 / 10)]


@pytest.mark.parametrize("texts", [[], [None], ["", "", " \n", None], ["one", "two"]])
def test_nothing_to_drop(texts: list[str | None]) -> None:
    found = near_duplicates(frame_of(texts))
    assert found.is_empty()
    assert found.schema == {"id": pl.String, "kept_id": pl.String, "similarity": pl.Float64}


def test_the_folder_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("stays")
    near_duplicates(frame_of(["a b c", "a b c"]), path=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"threshold": 0.0}, "threshold = 0.0: expected above 0"),
        ({"threshold": 1.5}, "threshold = 1.5"),
        ({"n_hashes": 10, "n_bands": 4}, "n_hashes = 10 and n_bands = 4"),
        ({"n_bands": 0}, "n_bands = 0"),
        ({"ngram": 0}, "ngram = 0"),
    ],
)
def test_numbers_out_of_range(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        near_duplicates(frame_of(["a"]), **options)


def test_absent_column() -> None:
    with pytest.raises(InputError, match="'text' is missing; expected id and text, found id"):
        near_duplicates(daft.from_pydict({"id": ["a"], "body": ["b"]}))

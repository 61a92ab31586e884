"""From blocks to counted, merged and clustered terms, and to a review."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy import (
    emotion_candidates,
    load_lexicon,
    merge_terms,
    propose_labels,
    text_blocks,
)
from affectlab.stimuli.taxonomy.candidates import Found
from affectlab.stimuli.taxonomy.clusters import by_blocks, by_context, by_embedding, by_lexicon

TERMS = ["joy", "happiness", "delight", "rage", "anger", "fear", "terror", "hope"]


@given(st.lists(st.lists(st.sampled_from(TERMS), max_size=9), min_size=1, max_size=6))
def test_counts_are_those_of_a_plain_loop(texts: list[list[str]]) -> None:
    blocks = text_blocks(
        {f"t{k}": "say " + ", ".join(text) for k, text in enumerate(texts)}, words=4
    )
    table = emotion_candidates(blocks).terms()
    for row in table.iter_rows(named=True):
        words = [block.text.replace(",", "").split() for block in blocks]
        assert row["n"] == sum(some.count(row["term"]) for some in words)
        assert row["n_blocks"] == sum(row["term"] in some for some in words)
        assert row["n_texts"] == sum(row["term"] in text for text in texts)
        assert row["share"] == pytest.approx(row["n_blocks"] / len(blocks))
    assert set(table["term"]) == {term for text in texts for term in text}


def test_forms_and_examples() -> None:
    blocks = text_blocks(
        {"a": "Joyful we were, and the joy lasted. Joy!", "b": "No feelings here."}
    )
    found = emotion_candidates(blocks)
    (row,) = found.terms().to_dicts()
    assert (row["term"], row["family"], row["polarity"]) == ("joy", "joy", "positive")
    assert row["forms"] == "joy 2, joyful 1"
    assert row["example"].startswith("Joyful we were")
    assert found.n_blocks == 2
    assert found.blocks["n_terms"].to_list() == [1, 0]


def test_any_callable_finds_terms() -> None:
    blocks = text_blocks({"a": "She was joyful.", "b": "It rained.", "c": "Hygge all around"})

    def find(text: str) -> Sequence[str] | Found:
        if "rained" in text:
            return Found((), "refused", "does not like rain")
        told = ["Joyful", " joy ", "a long sentence that is no term at all"]
        return [*told, "hygge."] if "Hygge" in text else told

    found = emotion_candidates(blocks, find)
    assert found.blocks.select("outcome", "n_terms").rows() == [
        ("ok", 1),
        ("refused", 0),
        ("ok", 2),
    ]
    assert found.blocks["detail"][0].startswith("1 of 3 left out as no terms")
    assert found.n_blocks == 2
    rows = {row["term"]: row for row in found.terms().to_dicts()}
    assert rows["joy"]["n_blocks"] == 2
    # It stands in one of the two blocks for which it was named.
    assert rows["joy"]["in_text"] == 0.5
    assert rows["hygge"]["family"] is None
    assert rows["hygge"]["in_text"] == 1.0


def test_all_blocks_without_an_answer_are_an_error() -> None:
    with pytest.raises(InputError, match=r"none of 1 blocks .* unreached \(nobody there\)"):
        emotion_candidates(text_blocks(["x"]), lambda text: Found((), "unreached", "nobody there"))
    with pytest.raises(InputError, match="no block"):
        emotion_candidates(())


def test_asking_in_parallel_changes_nothing() -> None:
    texts = [f"{TERMS[k % 8]} {TERMS[k % 3]}" for k in range(40)]
    blocks = text_blocks(texts)
    one = emotion_candidates(blocks, str.split)
    many = emotion_candidates(blocks, str.split, parallel=8)
    assert one.mentions.equals(many.mentions)
    assert one.blocks.equals(many.blocks)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    emotion_candidates(text_blocks(["a", "b"]), progress=lambda *how: told.append(how))
    assert told == [(1, 2), (2, 2)]


def test_forms_of_unknown_words_are_one_term() -> None:
    said = [["gloaty"], ["gloat", "flowness"], ["gloat", "flow"], ["flow"], ["gloom"], ["flowers"]]
    told = iter(said)
    found = emotion_candidates(text_blocks(["x"] * 6), lambda text: next(told))
    merged = merge_terms(found)
    assert merged.merges is not None
    assert merged.merges.select("term", "into").rows() == [("flowness", "flow")]
    assert dict(merged.terms().select("term", "n_blocks").iter_rows())["flow"] == 3
    # Nothing is lost: as many mentions as before.
    assert merged.terms()["n"].sum() == found.terms()["n"].sum()


def test_synonyms_merge_by_a_plug() -> None:
    found = emotion_candidates(text_blocks(["joy and happiness", "joy, rage", "joy"]))
    order: list[str] = []

    def similarity(terms: Sequence[str]) -> np.ndarray:
        order.extend(terms)
        matrix = np.eye(3)
        matrix[0, 1] = matrix[1, 0] = 0.95
        return matrix

    merged = merge_terms(found, similarity=similarity)
    assert order == ["joy", "happiness", "rage"]
    assert merged.terms()["term"].to_list() == ["joy", "rage"]
    assert merged.merges is not None
    assert merged.merges.rows() == [("happiness", "joy", "alike", 0.95)]
    with pytest.raises(InputError, match=r"shape \(3, 3\), got \(2, 2\)"):
        merge_terms(found, similarity=lambda terms: np.eye(2))
    with pytest.raises(InputError, match="finite"):
        merge_terms(found, similarity=lambda terms: np.full((3, 3), np.nan))


def planted(seed: int = 0, texts: int = 60) -> tuple[dict[str, str], dict[str, str]]:
    """Texts in which words of one family stand in the same surroundings."""
    rng = np.random.default_rng(seed)
    lexicon = load_lexicon()
    family = {term: str(lexicon.family(term)) for term in TERMS}
    around = {name: [f"{name}word{k}" for k in range(6)] for name in set(family.values())}
    made = {}
    for k in range(texts):
        words: list[str] = []
        for term in rng.choice(TERMS, 4):
            words += [
                *rng.choice(around[family[term]], 3),
                term,
                *rng.choice(around[family[term]], 3),
            ]
            words += ["filler"] * 6
        made[f"t{k:02d}"] = " ".join(words)
    return made, family


@pytest.mark.parametrize("kind", ["lexicon", "context", "embedding"])
def test_planted_labels_are_recovered(kind: str) -> None:
    texts, family = planted()
    found = emotion_candidates(text_blocks(texts))
    weights = {"lexicon": 0.0, "context": 0.0, "embedding": 0.0, kind: 1.0}
    names = sorted(set(family.values()))

    def embed(terms: Sequence[str]) -> np.ndarray:
        return np.array([[float(family[term] == name) for name in names] for term in terms])

    proposals = propose_labels(found, n_labels=len(names), weights=weights, embed=embed)
    clusters = {frozenset(terms) for terms in proposals.labels.values()}
    truth: dict[str, set[str]] = {}
    for term, name in family.items():
        truth.setdefault(name, set()).add(term)
    assert clusters == {frozenset(terms) for terms in truth.values()}


def test_evidence_says_nothing_where_there_is_none() -> None:
    told = iter([["joy", "hygge"], ["joy"]])
    found = emotion_candidates(text_blocks(["joy", "joy"]), lambda text: next(told))
    assert np.isnan(by_lexicon(found, ["joy", "hygge"])[0, 1])
    assert np.isnan(by_context(found, ["joy", "hygge"])[0, 1])
    assert by_blocks(found, ["joy", "hygge"])[0, 1] == pytest.approx(1 / np.sqrt(2))


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=2, max_size=4))
@settings(max_examples=30)
def test_embeddings_against_a_plain_cosine(vectors: list[list[float]]) -> None:
    matrix = by_embedding(lambda terms: vectors, [str(k) for k in range(len(vectors))])
    for k, one in enumerate(vectors):
        for j, other in enumerate(vectors):
            size = np.linalg.norm(one) * np.linalg.norm(other)
            wanted = (
                1.0 if k == j else max(float(np.dot(one, other) / size), 0.0) if size > 0 else 0.0
            )
            assert matrix[k, j] == pytest.approx(min(wanted, 1.0), abs=1e-6)


def test_embeddings_that_cannot_be_used() -> None:
    for given_rows in ([[1.0]], [[np.nan], [1.0]], "words", [1.0, 2.0]):
        with pytest.raises(InputError, match="embed: expected"):
            by_embedding(lambda terms, rows=given_rows: rows, ["a", "b"])


def test_rare_terms_join_their_label_or_are_dropped() -> None:
    blocks = text_blocks(["joy and delight", "joy, delight", "joy; delight", "gladness, awe"])
    review = propose_labels(emotion_candidates(blocks), min_blocks=2).review()
    decided = {row.term: (row.decision, row.label) for row in review}
    assert decided == {
        "delight": ("keep", "delight"),
        "joy": ("merge", "delight"),
        "gladness": ("merge", "delight"),
        "awe": ("drop", ""),
    }
    reasons = {row.term: row.reason for row in review}
    assert reasons["awe"].startswith("named in 1 of 4 blocks, a label needs 2")
    assert all(reasons.values())


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5, 8])
def test_the_number_of_labels_asked_for(n_labels: int) -> None:
    texts, _ = planted()
    proposals = propose_labels(emotion_candidates(text_blocks(texts)), n_labels=n_labels)
    assert len(proposals.labels) == n_labels
    assert sum(map(len, proposals.labels.values())) == len(TERMS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_blocks": 0}, "min_blocks = 0"),
        ({"min_blocks": 99}, "no term is named in 99 blocks"),
        ({"cut": 1.0}, "cut = 1.0"),
        ({"n_labels": 9}, "expected 1 to 8"),
        ({"weights": {"context": -1.0}}, "at least 0"),
        ({"weights": {"contxt": 1.0}}, "did you mean 'context'"),
    ],
)
def test_options_out_of_range(options: dict[str, object], said: str) -> None:
    texts, _ = planted(texts=20)
    found = emotion_candidates(text_blocks(texts))
    with pytest.raises(InputError) as raised:
        propose_labels(found, **options)  # type: ignore[arg-type]
    assert said in str(raised.value)


def test_the_order_of_texts_changes_no_label() -> None:
    texts, _ = planted()
    backwards = dict(reversed(texts.items()))
    labels = [
        {
            label: set(terms)
            for label, terms in propose_labels(emotion_candidates(text_blocks(some))).labels.items()
        }
        for some in (texts, backwards)
    ]
    assert labels[0] == labels[1]


def test_terms_of_no_text_are_a_table() -> None:
    found = emotion_candidates(text_blocks(["nothing felt"]))
    assert found.terms().height == 0
    assert isinstance(found.terms(), pl.DataFrame)
    with pytest.raises(InputError, match="no term is named"):
        propose_labels(found)

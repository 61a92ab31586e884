"""Labels proposed from terms: a tree over how alike they are, cut into clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural
from affectlab.stimuli.taxonomy.candidates import Candidates
from affectlab.stimuli.taxonomy.lexicon import Lexicon, forms_of, function_words, tokens_of
from affectlab.stimuli.taxonomy.review import Review, ReviewRow

__all__ = [
    "EVIDENCE",
    "LabelProposals",
    "by_blocks",
    "by_context",
    "by_embedding",
    "by_lexicon",
    "propose_labels",
    "review_of_proposals",
]

# How alike emotion terms are, by one kind of evidence at a time; ``nan`` where it says nothing.


_SAME_POLARITY = 0.2
"""Similarity of two families of one polarity: enough to prefer it, too little to join them."""
_WINDOW = 5


def by_lexicon(candidates: Candidates, terms: Sequence[str]) -> Floats:
    """Compare families: 1 within one, .2 for one polarity, 0 otherwise; shape (n, n).

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy import emotion_candidates, text_blocks
    >>> found = emotion_candidates(text_blocks(["joy, happiness, hope and rage"]))
    >>> by_lexicon(found, ["joy", "happiness", "hope", "rage"])[0].tolist()
    [1.0, 1.0, 0.2, 0.0]
    """
    lexicon = candidates.lexicon
    families = [lexicon.family(term) for term in terms]
    matrix = np.full((len(terms), len(terms)), np.nan)
    for k, one in enumerate(families):
        for j, other in enumerate(families):
            if one is None or other is None:
                continue
            polarity = lexicon.polarity(terms[k])
            near = polarity is not None and polarity == lexicon.polarity(terms[j])
            matrix[k, j] = 1.0 if one == other else _SAME_POLARITY if near else 0.0
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_context(candidates: Candidates, terms: Sequence[str], *, needs: int = 10) -> Floats:
    """Compare the words around terms by cosines of positive mutual information; shape (n, n).

    Counts words up to five away; words that say little by themselves are left out. A term that
    stands in the texts fewer than `needs` times has no similarity with others.
    """
    around = _contexts(candidates, terms)
    vocabulary = {word: k for k, word in enumerate(sorted(set().union(*map(set, around.values()))))}
    counts = np.zeros((len(terms), max(len(vocabulary), 1)))
    seen = np.zeros(len(terms))
    for row, term in enumerate(terms):
        for word, n in around[term].items():
            counts[row, vocabulary[word]] = n
        seen[row] = around[term].total()
    total = counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = counts * total / counts.sum(axis=1, keepdims=True) / counts.sum(axis=0)
        weight = np.where(counts > 0, np.maximum(np.log(ratio), 0), 0.0)
        matrix = _cosines(weight)
    often = dict(candidates.terms().select("term", "n").iter_rows())
    few = np.array([often.get(term, 0) < needs for term in terms]) | (seen == 0)
    matrix[few] = np.nan
    matrix[:, few] = np.nan
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_blocks(candidates: Candidates, terms: Sequence[str]) -> Floats:
    """Compare where terms occur: blocks that name both, over the root of the product; shape (n, n).

    Opposites are often named together, so this is evidence to read and, by default, none to
    cluster by.
    """
    numbers = candidates.blocks["block"].to_list()
    place = {number: k for k, number in enumerate(numbers)}
    row = {term: k for k, term in enumerate(terms)}
    there = np.zeros((len(terms), len(numbers)))
    for term, block in candidates.mentions.select("term", "block").unique().iter_rows():
        if term in row:
            there[row[term], place[block]] = 1.0
    matrix = _cosines(there)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_embedding(embed: Callable[[Sequence[str]], ArrayLike], terms: Sequence[str]) -> Floats:
    """Compare embeddings of the terms by their cosines, negative ones as 0; shape (n, n).

    Raises
    ------
    InputError
        When `embed` does not give one row of finite numbers per term.
    """
    try:
        vectors = np.asarray(embed(list(terms)), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"embed: expected an array of numbers ({problem})") from None
    if vectors.ndim != 2 or len(vectors) != len(terms) or not np.isfinite(vectors).all():
        raise InputError(
            f"embed: expected {len(terms)} rows of finite numbers, got shape {vectors.shape}"
        )
    matrix = np.maximum(_cosines(vectors), 0.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _cosines(vectors: Floats) -> Floats:
    """Cosines of rows; 0 for rows of zeros."""
    length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    unit = ratio(vectors, length, 0.0)
    cosines: Floats = np.clip(unit @ unit.T, -1.0, 1.0)
    return cosines


def _contexts(candidates: Candidates, terms: Sequence[str]) -> dict[str, Counter[str]]:
    wanted = set(terms)
    around: dict[str, Counter[str]] = {term: Counter() for term in terms}
    lexicon = candidates.lexicon
    common = function_words().common
    forms = {form: term for term in terms if term not in lexicon for form in forms_of(term)}
    for block in candidates.texts:
        for text in block.texts:
            tokens = tokens_of(text)
            for place, term in _places(tokens, lexicon, forms):
                if term not in wanted:
                    continue
                near = tokens[max(place - _WINDOW, 0) : place + _WINDOW + 1]
                around[term].update(
                    word
                    for word in near
                    if word not in common and word[0] not in ".!?;:'" and word != tokens[place]
                )
    return around


def _places(tokens: list[str], lexicon: Lexicon, forms: dict[str, str]) -> list[tuple[int, str]]:
    found = [(mention.place, mention.term) for mention in lexicon.mentions(tokens)]
    if forms:
        found += [(k, forms[token]) for k, token in enumerate(tokens) if token in forms]
    return found


EVIDENCE: Mapping[str, float] = {"lexicon": 1.0, "context": 0.5, "together": 0.0, "embedding": 2.0}
"""Kinds of evidence and their weights."""


@dataclass(frozen=True, eq=False)
class LabelProposals:
    """Terms and the labels that they could become; see :func:`propose_labels`."""

    terms: pl.DataFrame
    """One row per term: ``term``, ``label`` (null for terms that are too rare), the counts of
    :meth:`Candidates.terms`, ``nearest`` term of the same label, ``similarity`` to it, and one
    column per kind of evidence for that similarity."""
    linkage: Floats
    """Tree as scipy writes it, over the terms in enough blocks, most widespread first; (n-1, 4)."""
    cut: float
    """Distance at which the tree was cut."""
    min_blocks: int
    n_blocks: int

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Terms of each proposed label, most widespread first."""
        found: dict[str, list[str]] = {}
        for term, label in self.terms.select("term", "label").iter_rows():
            if label is not None:
                found.setdefault(label, []).append(term)
        return {label: tuple(terms) for label, terms in found.items()}

    def review(self) -> Review:
        """Give the proposals as a review, for a person to decide about."""

        return review_of_proposals(self)


def propose_labels(
    candidates: Candidates,
    *,
    n_labels: int | None = None,
    cut: float = 0.5,
    min_blocks: int = 2,
    embed: Callable[[Sequence[str]], ArrayLike] | None = None,
    weights: Mapping[str, float] | None = None,
) -> LabelProposals:
    """Cluster terms into proposed labels (emonet-face, section 3).

    The similarity of two terms is the weighted mean of what is known of them: ``lexicon``
    (families), ``context`` (words around them: the share of pairs of terms that are less alike),
    ``together`` (named in the same blocks) and ``embedding``. Evidence that there is for other
    terms and not for these two counts as 0: nothing speaks for one label. Average linkage over
    1 - similarity makes the tree. A label is named after its most widespread term. A term that is
    too rare for a label of its own goes into the label it is most similar to, if that is near
    enough.

    Parameters
    ----------
    candidates
        Terms with their mentions.
    n_labels
        Number of labels; without it the tree is cut at a distance.
    cut
        The distance, in (0, 1).
    min_blocks
        Blocks that must name a term for a label.
    embed
        Takes n terms and gives an (n, d) array: evidence from any model of word meaning.
    weights
        Weights of kinds of evidence, instead of :data:`EVIDENCE`; 0 leaves a kind out of the
        clustering and still reports it.

    Raises
    ------
    InputError
        When no term is left, a weight is negative or its kind unknown, or a number out of range.

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy import emotion_candidates, text_blocks
    >>> texts = ["joy and happiness; rage!", "happy with joy, then angry", "joy, anger, fury, rage"]
    >>> propose_labels(emotion_candidates(text_blocks(texts))).labels
    {'joy': ('joy', 'happiness'), 'anger': ('anger', 'rage', 'fury')}
    """
    if min_blocks < 1:
        raise InputError(f"min_blocks = {min_blocks}: expected at least 1")
    if not 0 < cut < 1:
        raise InputError(f"cut = {cut}: expected a distance between 0 and 1")
    used_weights = _weights(weights)
    table = candidates.terms()
    terms = table["term"].to_list()
    # Terms come most widespread first: those that can have a label come before the others.
    able = int((table["n_blocks"] >= min_blocks).sum())
    if not able:
        raise InputError(
            f"no term is named in {min_blocks} blocks; expected more text, or a smaller number"
        )
    if n_labels is not None and not 1 <= n_labels <= able:
        raise InputError(
            f"n_labels = {n_labels}: expected 1 to {able}, the terms in {min_blocks} blocks or more"
        )
    evidence = {
        "lexicon": by_lexicon(candidates, terms),
        "context": _ranks(by_context(candidates, terms)),
        "together": by_blocks(candidates, terms),
    }
    if embed is not None:
        evidence["embedding"] = by_embedding(embed, terms)
    similarity = _mean(evidence, used_weights)
    tree, cluster, height = _cut(similarity[:able, :able], n_labels, cut)
    cluster = _with_rare(cluster, similarity, 1 - cut)
    labelled = pl.DataFrame(_rows(terms, cluster, similarity, evidence), infer_schema_length=None)
    joined = table.join(labelled, on="term", how="left", maintain_order="left")
    labels = dict.fromkeys(labelled["label"].drop_nulls().to_list())
    order = {label: k for k, label in enumerate(labels)}
    ranked = (
        joined.with_row_index("_row")
        .with_columns(
            pl.col("label")
            .replace_strict(order, default=len(order), return_dtype=pl.Int64)
            .alias("_label")
        )
        .sort("_label", "_row")
        .drop("_label", "_row")
    )
    return LabelProposals(ranked, tree, height, min_blocks, candidates.n_blocks)


def _weights(given: Mapping[str, float] | None) -> dict[str, float]:
    weights = {**EVIDENCE, **({} if given is None else given)}
    for kind, weight in weights.items():
        check_choice("kind of evidence", kind, EVIDENCE, "weights")
        if not 0 <= weight < float("inf"):
            raise InputError(f"weights: {kind} = {weight}; expected a number of at least 0")
    return weights


def _ranks(matrix: Floats) -> Floats:
    """Give the share of other pairs that are less alike, ties by halves; ``nan`` stays.

    Cosines of contexts are small, and how small depends on the text: their order is what says
    something.
    """
    from scipy.stats import rankdata

    upper = np.triu_indices(len(matrix), 1)
    values = matrix[upper]
    there = np.isfinite(values)
    ranks = np.full(values.shape, np.nan)
    if there.any():
        ranks[there] = (rankdata(values[there]) - 0.5) / there.sum()
    made = np.eye(len(matrix))
    made[upper] = ranks
    made.T[upper] = ranks
    return made


def _mean(evidence: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Weighted mean over the kinds that say something about any two terms."""
    n = len(next(iter(evidence.values())))
    apart = ~np.eye(n, dtype=np.bool_)
    total, weight = np.zeros((n, n)), 0.0
    for kind, matrix in evidence.items():
        if np.isfinite(matrix[apart]).any():
            total += weights[kind] * np.nan_to_num(matrix, nan=0.0)
            weight += weights[kind]
    mean: Floats = total / weight if weight else total
    return mean


def _cut(similarity: Floats, n_labels: int | None, cut: float) -> tuple[Floats, Ints, float]:
    """Give the tree, the cluster of each term, and the distance at which it was cut."""
    from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
    from scipy.spatial.distance import squareform

    n = len(similarity)
    if n == 1:
        return np.zeros((0, 4)), np.array([1]), cut
    distance = np.clip(1 - similarity, 0, None)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), "average")
    if n_labels is None:
        return tree, fcluster(tree, cut, "distance"), cut
    # cut_tree gives the number asked for, where ties make fcluster give fewer.
    cluster = cut_tree(tree, n_clusters=n_labels).ravel() + 1
    height = float(tree[n - n_labels - 1, 2]) if n_labels < n else 0.0
    return tree, cluster, height


def _with_rare(cluster: Ints, similarity: Floats, least: float) -> Ints:
    """Give rare terms the cluster they are most similar to on average; 0 where none is near."""
    able = len(cluster)
    given = list(map(int, cluster))
    numbers = sorted(set(given))
    for row in similarity[able:, :able]:
        means = [float(row[cluster == number].mean()) for number in numbers]
        best = max(range(len(numbers)), key=lambda k: (means[k], -k))
        given.append(numbers[best] if means[best] >= least else 0)
    return np.array(given, dtype=np.int64)


def _rows(
    terms: list[str], cluster: Ints, similarity: Floats, evidence: Mapping[str, Floats]
) -> list[dict[str, Any]]:
    head: dict[int, str | None] = {0: None}
    for k, term in enumerate(terms):
        # Terms come most widespread first.
        head.setdefault(int(cluster[k]), term)
    rows = []
    for k, term in enumerate(terms):
        others = [j for j in range(len(terms)) if j != k and cluster[j] == cluster[k] > 0]
        near = max(others, key=lambda j: (similarity[k, j], -j)) if others else None
        row: dict[str, Any] = {
            "term": term,
            "label": head[int(cluster[k])],
            "nearest": None if near is None else terms[near],
            "similarity": None if near is None else float(similarity[k, near]),
        }
        for kind, matrix in evidence.items():
            value = None if near is None else float(matrix[k, near])
            row[kind] = None if value is None or value != value else value
        rows.append(row)
    return rows


# From proposed labels to the review that a person edits.


_SAID = {
    "lexicon": "family in the lexicon",
    "context": "words around them",
    "together": "named together",
    "embedding": "embedding",
}


def review_of_proposals(proposals: LabelProposals) -> Review:
    """Propose to keep the most widespread term of each label, and to merge or drop the others."""
    sizes = {label: len(terms) for label, terms in proposals.labels.items()}
    return Review(
        tuple(_row(row, sizes, proposals) for row in proposals.terms.iter_rows(named=True)),
        "proposals",
    )


def _row(row: dict[str, Any], sizes: dict[str, int], proposals: LabelProposals) -> ReviewRow:
    term, label = row["term"], row["label"]
    spread = f"{row['n_blocks']:,} of {plural(proposals.n_blocks, 'block')}"
    evidence: dict[str, float | int | str] = {
        "mentions": row["n"],
        "blocks": row["n_blocks"],
        "texts": row["n_texts"],
        "in_text": row["in_text"],
    }
    if label is None:
        decision = "drop"
        reason = f"named in {spread}, a label needs {proposals.min_blocks}; near to no other label"
    elif label == term:
        decision = "keep"
        others = sizes[label] - 1
        reason = f"named in {spread}" + (
            f", most of its cluster of {sizes[label]} terms" if others else ""
        )
    else:
        decision = "merge"
        said = ", ".join(
            f"{_SAID[kind]} {row[kind]:.2f}" for kind in EVIDENCE if row.get(kind) is not None
        )
        reason = f"nearest to {row['nearest']}: similarity {row['similarity']:.2f} ({said})"
    if row["nearest"] is not None:
        evidence |= {"nearest": row["nearest"], "similarity": row["similarity"]}
        evidence |= {kind: row[kind] for kind in EVIDENCE if row.get(kind) is not None}
    evidence["forms"] = row["forms"]
    return ReviewRow(
        term=term,
        decision=decision,
        label=label or "",
        reason=reason,
        polarity=row["polarity"] or "" if decision == "keep" else "",
        evidence=evidence,
        example=row["example"],
    )

"""From proposed labels to the review that a person edits."""

from __future__ import annotations

from typing import Any

from affectlab._words import plural
from affectlab.stimuli.taxonomy._cluster import EVIDENCE, LabelProposals
from affectlab.stimuli.taxonomy._review import Review, ReviewRow

__all__ = ["review_of_proposals"]

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

"""Words that go with labels in words: one template for each kind of fact."""

from __future__ import annotations

from typing import Literal, TypeAlias

from affectlab.core.words import plural

Criterion: TypeAlias = Literal["z", "holm", "bh"]
"""What chooses words: a least z, or p after Holm's or Benjamini and Hochberg's correction."""

EACH_LABEL = "Words that go with each label"
BY_SUBSTRING = "labels matched by substring"
TOKENS = "words and emoji"
PUBLISHED_TOKENS = "runs of three or more letters and digits"
ONCE_PER_RATER = "each text once per rater"
_CORRECTIONS = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction"}


def criterion_text(criterion: Criterion, min_z: float) -> str:
    """Say which words are chosen."""
    return f"z ≥ {min_z:g}" if criterion == "z" else f"p ≤ 0.05 after {_CORRECTIONS[criterion]}"


def odds_text(n_labels: int, n_words: int, n_texts: int, which: str) -> str:
    """Say how much was counted."""
    counts = (plural(n_labels, "label"), plural(n_words, "word"), plural(n_texts, "text"))
    return f"{', '.join(counts)}; words with {which}."


def of_label(label: str, n_texts: int, which: str) -> str:
    """Say which words of one label are shown."""
    return f"{words_of(label)} ({plural(n_texts, 'text')}), {which}."


def words_of(label: str) -> str:
    """Name the words of one label."""
    return f"Words that go with {label}"


def labels_rule(min_raters: int | None, rule: str) -> str:
    """Say which labels a text has."""
    if min_raters is None:
        who = "at least half of the raters"
    else:
        who = f"{min_raters} or more raters" if min_raters > 1 else "any rater"
    return f"labels chosen by {who} ({rule})"


def unlabelled(n: int) -> str:
    """Say how many texts have no label."""
    return f"{plural(n, 'text')} without a label excluded"

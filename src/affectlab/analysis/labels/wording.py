"""How labels are used in words: one template for each kind of fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from affectlab.core.words import count, joined, percent, plural

Choice: TypeAlias = Literal["silhouette", "elbow"]
Chosen: TypeAlias = Choice | Literal["given"]
"""How a number of clusters was chosen."""

STABILITY = "stability: share of bootstrap samples in which two labels of a cluster stay together"
TREE = "Labels in the order of the tree."
SILHOUETTES = "Silhouettes by number of clusters."
CONFUSION = "Predictions for each label"
STRONGEST = "Highest and lowest correlations."
ONE_PLACE = "one place: all stimuli have the same answers"
NOT_ASKED = "labels that a stimulus was not rated on count as 0"
_CHOSEN: dict[Chosen, str] = {
    "given": "given",
    "silhouette": "highest mean silhouette",
    "elbow": "elbow of the heights of the tree",
}


def chosen_text(chosen: Chosen) -> str:
    """Say how the number of clusters was chosen."""
    return _CHOSEN[chosen]


def tree_method(linkage: str, distance: str) -> str:
    """Say how a tree was made."""
    return f"{linkage} linkage, {distance} distance"


def clusters_text(n: int, k: int, chosen: Chosen, silhouette: float | None, method: str) -> str:
    """Say how many clusters there are, and why."""
    score = "" if silhouette is None else f"; silhouette {silhouette:.2f}"
    return f"{plural(n, 'label')}, {plural(k, 'cluster')} ({_CHOSEN[chosen]}{score}): {method}."


def weak_clusters(clear: float) -> str:
    """Say that clusters do not stand apart."""
    return f"A mean silhouette below {clear} means that the clusters overlap."


def not_in_tree(labels: Sequence[str]) -> str:
    """Say which labels have no correlations to be clustered by."""
    return f"Not clustered, since correlations are undefined: {joined(labels)}."


def correlation_method(method: str) -> str:
    """Name the statistic."""
    return f"{method.capitalize()} correlation over stimuli of mean answers"


def correlations_text(method: str, n_labels: int) -> str:
    """Say what was correlated."""
    return f"{method.capitalize()} correlations of {plural(n_labels, 'label')}."


def lacking_text(n: int, of: int, reasons: Sequence[str]) -> str:
    """Say how many pairs have no correlation."""
    return f"{count(n)} of {plural(of, 'pair')}: {joined(reasons)}."


def excluded_text(labels: Sequence[str]) -> str:
    """Say which labels were excluded on request."""
    return f"Excluded: {joined(labels)}."


def components_text(share: float) -> str:
    """Say how much two principal components hold."""
    return f"principal components (two explain {percent(share)} of the variance)"


def perplexity_text(perplexity: float) -> str:
    """Name the method of a map."""
    return f"t-SNE, perplexity {perplexity:.3g}"


def spread_text(method: str) -> str:
    """Say that stimuli with equal answers were spread."""
    return f"{method}, equal answers spread around their place"


def map_text(n: int, n_labels: int, method: str) -> str:
    """Say what a map shows."""
    return f"{plural(n, 'stimulus', 'stimuli')}, {plural(n_labels, 'label')}, {method}."


def only_label(label: str) -> str:
    """Say that a map has nothing but one label to go by."""
    return f"{label!r} is the only label, so that places show only how strong it is"


def only_neutral(n: int, neutral: str) -> str:
    """Say how many stimuli have no label but that of no emotion."""
    return f"{plural(n, 'stimulus', 'stimuli')} with no label but {neutral} excluded"


def sampled(n: int, of: int) -> str:
    """Say how many stimuli are placed."""
    return f"random sample of {count(n)} of {plural(of, 'stimulus', 'stimuli')}"

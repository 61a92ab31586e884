"""Two dimensions for many: where stimuli stand on a map."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from affectlab._types import Floats, Ints
from affectlab.errors import MissingDependencyError

__all__ = ["LAYOUTS", "layout"]

_FEWEST = 4
"""Kinds of stimuli below which neighbourhoods mean nothing, and components are used."""
_FILLED = 0.4
"""Share of the map that discs of equal stimuli take."""
_ROUNDS = 300
_GOLDEN = np.pi * (3 - np.sqrt(5))
"""The angle from one seed of a sunflower to the next."""


def layout(features: Floats, method: str, seed: int, neighbours: float) -> tuple[Floats, str]:
    """Place stimuli in the plane; give their places, shape (n, 2), and how, in words.

    Stimuli with equal features get one place together, and are then spread over a disc around it
    whose area is their number. Placed one by one, they would fall on top of each other, and each
    would have only its likes as neighbours, so that a map would show no relations between kinds.
    """
    kinds, kind, counts = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    n = len(kinds)
    if n == 1:
        places, how = np.zeros((1, 2)), "one place: all stimuli have the same answers"
    elif n < _FEWEST:
        places, how = _pca(kinds, seed, neighbours)
    else:
        places, how = LAYOUTS[method](kinds, seed, neighbours)
    if n == len(features):
        return places[kind], how
    return _spread(places, kind, counts), f"{how}, equal answers spread around their place"


def _spread(places: Floats, kind: Ints, counts: Ints) -> Floats:
    """Put the stimuli of each kind on a disc, like the seeds of a sunflower."""
    from affectlab.analysis._kernels import push_apart

    span = np.ptp(places, axis=0)
    area = float(np.prod(np.maximum(span, span.max() / 4))) or 1.0
    radius = np.sqrt(_FILLED * area * counts / counts.sum() / np.pi)
    centres = np.ascontiguousarray(places, dtype=np.float64)
    push_apart(centres, 1.1 * radius, counts.astype(np.float64), _ROUNDS)
    order = np.argsort(kind, kind="stable")
    starts = np.cumsum(counts) - counts
    rank = np.empty(kind.size, dtype=np.int64)
    rank[order] = np.arange(kind.size) - np.repeat(starts, counts)
    out = radius[kind] * np.sqrt((rank + 0.5) / counts[kind]) * (counts[kind] > 1)
    angle = rank * _GOLDEN
    offset = np.column_stack([out * np.cos(angle), out * np.sin(angle)])
    return np.asarray(centres[kind] + offset)


def _pca(features: Floats, _: int, __: float) -> tuple[Floats, str]:
    centred = features - features.mean(axis=0)
    u, s, axes = np.linalg.svd(centred, full_matrices=False)
    # The sign of a component means nothing; its largest weight is made positive.
    sign = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    places = (u * s * sign)[:, :2]
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    explained = (s[:2] ** 2).sum() / (s**2).sum()
    return places, f"principal components (two hold {100 * explained:.0f} % of the variance)"


def _tsne(features: Floats, seed: int, neighbours: float) -> tuple[Floats, str]:
    from sklearn.manifold import TSNE

    perplexity = min(neighbours, (len(features) - 1) / 3)
    start = _pca(features, seed, neighbours)[0]
    # As scikit-learn scales its own start; given, it does not depend on a randomised solver.
    start = start / max(start[:, 0].std(), 1e-12) * 1e-4
    model = TSNE(perplexity=perplexity, init=start.astype(np.float32), random_state=seed)
    places = np.asarray(model.fit_transform(features.astype(np.float32)), dtype=np.float64)
    return places, f"t-SNE, perplexity {perplexity:.3g}"


def _umap(features: Floats, seed: int, neighbours: float) -> tuple[Floats, str]:
    try:
        with warnings.catch_warnings():
            # What its own libraries deprecate is no matter of the user.
            warnings.simplefilter("ignore")
            from umap import UMAP
    except ImportError:
        raise MissingDependencyError(
            'a UMAP needs the library umap-learn: pip install "affectlab[explore]"'
        ) from None
    count = int(min(max(neighbours, 2), len(features) - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UMAP(n_neighbors=count, random_state=seed, n_jobs=1, init="pca")
        places = np.asarray(model.fit_transform(features.astype(np.float32)), dtype=np.float64)
    return places, f"UMAP, {count} neighbours"


LAYOUTS: dict[str, Callable[[Floats, int, float], tuple[Floats, str]]] = {
    "tsne": _tsne,
    "umap": _umap,
    "pca": _pca,
}
"""Name -> (features, seed, neighbours) -> places and how, in words."""

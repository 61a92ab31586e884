"""A map of stimuli: those that people answered alike stand close together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.labels import wording
from affectlab.analysis.labels.clusters import cluster_labels
from affectlab.analysis.labels.correlations import label_correlations
from affectlab.analysis.profiles import Profiles, neutral_label, vectors_of
from affectlab.core.arrays import ratio
from affectlab.core.environment.installing import install_line
from affectlab.core.errors import InputError, MissingDependencyError, check_choice, check_number
from affectlab.core.inference import by_name
from affectlab.core.result import Result
from affectlab.core.tables import Figure, Key, Number, Table, Text
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Ratings, canonical, people_or_all

# Two dimensions for many: where stimuli stand on a map.


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
        places, how = np.zeros((1, 2)), wording.ONE_PLACE
    elif n < _FEWEST:
        places, how = _pca(kinds, seed, neighbours)
    else:
        places, how = LAYOUTS[method](kinds, seed, neighbours)
    if n == len(features):
        return places[kind], how
    return _spread(places, kind, counts), wording.spread_text(how)


def _spread(places: Floats, kind: Ints, counts: Ints) -> Floats:
    """Put the stimuli of each kind on a disc, like the seeds of a sunflower."""
    from affectlab.analysis.labels.kernels import push_apart

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
    return places, wording.components_text(float(explained))


def _tsne(features: Floats, seed: int, neighbours: float) -> tuple[Floats, str]:
    from sklearn.manifold import TSNE

    perplexity = min(neighbours, (len(features) - 1) / 3)
    start = _pca(features, seed, neighbours)[0]
    # As scikit-learn scales its own start; given, it does not depend on a randomised solver.
    start = start / max(start[:, 0].std(), 1e-12) * 1e-4
    model = TSNE(perplexity=perplexity, init=start.astype(np.float32), random_state=seed)
    places = np.asarray(model.fit_transform(features.astype(np.float32)), dtype=np.float64)
    return places, wording.perplexity_text(perplexity)


def _umap(features: Floats, seed: int, neighbours: float) -> tuple[Floats, str]:
    try:
        with warnings.catch_warnings():
            # What its own libraries deprecate is no matter of the user.
            warnings.simplefilter("ignore")
            from umap import UMAP
    except ImportError:
        raise MissingDependencyError(
            f"a UMAP needs the library umap-learn: {install_line('explore')}"
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

# Colours of labels, and mixes of them that stay readable.


GREY = "#9aa1a9"
"""Colour of stimuli for which no label was chosen, and of the neutral label."""

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def to_oklab(rgb: Floats) -> Floats:
    """Turn sRGB in [0, 1], shape (n, 3), into OKLab (Ottosson 2020)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T)


def to_rgb(lab: Floats) -> Floats:
    """Turn OKLab, shape (n, 3), into sRGB in [0, 1]; less colourful where sRGB has no such."""
    pale = lab.copy()
    for _ in range(24):
        linear = (pale @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
        outside = ((linear < -1e-6) | (linear > 1 + 1e-6)).any(axis=1)
        if not outside.any():
            break
        pale[outside, 1:] *= 0.93
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def label_colours(n: int, grey: Sequence[int] = ()) -> list[str]:
    """Choose n colours around the hue circle, neighbours alike, every second one lighter.

    Parameters
    ----------
    grey
        Positions that are grey instead, such as that of the neutral label.
    """
    coloured = [k for k in range(n) if k not in set(grey)]
    turn = 2 * np.pi * (np.arange(len(coloured)) / max(len(coloured), 1) + 0.08)
    light = np.where(np.arange(len(coloured)) % 2, 0.75, 0.62)
    chroma = np.where(np.arange(len(coloured)) % 2, 0.13, 0.16)
    lab = np.column_stack([light, chroma * np.cos(turn), chroma * np.sin(turn)])
    colours = [GREY] * n
    for k, colour in zip(coloured, _hex(to_rgb(lab)), strict=True):
        colours[k] = colour
    return colours


def mixed_colours(weights: Floats, colours: Sequence[str]) -> list[str]:
    """Average colours in OKLab, in which equal steps look equal.

    Parameters
    ----------
    weights
        Shape (n, L); a row of zeros is grey.
    colours
        One per label, shape (L,).
    """
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colours])
    total = weights.sum(axis=1, keepdims=True)
    share = ratio(weights, total, 0.0)
    mixed = _hex(to_rgb(share @ to_oklab(rgb)))
    return [colour if own > 0 else GREY for colour, own in zip(mixed, total[:, 0], strict=True)]


def _hex(rgb: Floats) -> list[str]:
    levels = np.rint(rgb * 255).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in levels.tolist()]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelMap(Result):
    """Places, labels and colours of n stimuli; its notes say what was left out or filled in.

    The table has a row per stimulus: ``stimulus, x, y, colour, labels``, and ``text``.
    :func:`affectlab.report.write_label_map` makes an interactive page of it.
    """

    stimuli: tuple[str, ...]
    places: Floats
    """Shape (n, 2)."""
    labels: tuple[str, ...]
    """The L labels, in the order of their colours."""
    shares: Floats
    """Share of raters who chose each label, shape (n, L)."""
    chosen: Bools
    """Labels that at least half of the raters chose, shape (n, L)."""
    colours: tuple[str, ...]
    """Colour of each stimulus: the mean of the colours of its chosen labels, weighted by share."""
    label_colours: tuple[str, ...]
    """Colour of each label, shape (L,)."""
    texts: tuple[str | None, ...] | None
    """Texts of the stimuli, where they have any."""
    method: str
    """How places were found, in words."""

    def __len__(self) -> int:
        return len(self.stimuli)


_COLUMNS = (Key("stimulus"), Number("x"), Number("y"), Text("labels"), Text("colour", spare=True))


def _table(parts: Mapping[str, Any]) -> Table:
    names = np.array(parts["labels"], dtype=object)
    texts: dict[str, Sequence[str | None]] = {
        "stimulus": parts["stimuli"],
        "labels": [", ".join(names[row]) for row in parts["chosen"]],
    }
    if parts["texts"] is not None:
        texts["text"] = parts["texts"]
    # Half a character, as a text that was cut may end in, stands in no table.
    whole = {
        name: [text and text.encode(errors="replace").decode() for text in column]
        for name, column in texts.items()
    }
    places = {"x": parts["places"][:, 0], "y": parts["places"][:, 1], "colour": parts["colours"]}
    types = dict.fromkeys(texts, pl.String)
    frame = pl.DataFrame({**whole, **places}, schema_overrides=types)
    order = ("stimulus", "x", "y", "colour", *list(texts)[1:])
    return Table("map", "Stimuli.", frame.select(order), _COLUMNS, limit=0)


def label_map(
    ratings: Ratings | ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    texts: Sequence[str | None] | None = None,
    features: ArrayLike | Path | None = None,
    method: Literal["tsne", "umap", "pca"] = "tsne",
    neighbours: float = 30,
    exclude_neutral: bool = True,
    most: int | None = None,
    text: str = "text",
    seed: int = 0,
) -> LabelMap:
    """Place stimuli in the plane by their labels, and colour them by their labels.

    Stimuli with equal answers (or equal features) share a place, and are spread over a disc around
    it whose area is their number. A stimulus has the colour of the labels that at least half of its
    raters chose, averaged with the share of raters as the weight. Colours are averaged in OKLab,
    where the mean of two colours looks as light as they do, and not in RGB, as in the paper, where
    many mixes turn dark and brown. Labels that are used alike have neighbouring hues.

    Parameters
    ----------
    ratings
        Ratings (people where there are both people and models), or an array of shape
        (stimuli, labels) with one vector per stimulus: shares of raters, where all values lie
        between 0 and 1, otherwise any numbers, of which those above 0 mean that a label is chosen.
    labels
        Names of the columns of an array.
    texts
        One text per stimulus of an array. Ratings bring theirs, see `text`.
    features
        What places are found from, shape (stimuli, d), such as embeddings, or a ``.npy`` file that
        holds it; in the order of ``ratings.stimulus_names`` or of the rows of the array. None: the
        vectors of mean answers.
    method
        ``"tsne"`` (scikit-learn), ``"umap"`` (umap-learn) or ``"pca"``.
    neighbours
        Perplexity of t-SNE, neighbours of UMAP.
    exclude_neutral
        Leave out the label that stands for no emotion, and stimuli with no other label.
    most
        With more stimuli, so many are drawn at random.
    text
        Attribute of the stimuli that holds texts, for ratings.
    seed
        Same seed, same map.

    Returns
    -------
    LabelMap
        ``places``, ``shares`` and ``chosen`` are arrays over ``stimuli`` and ``labels``;
        ``colours`` and ``label_colours`` are hex codes, ``texts`` what the stimuli say.

    Raises
    ------
    InputError
        If nothing is left to place, or shapes do not fit.
    MissingDependencyError
        For ``"umap"`` without umap-learn.

    References
    ----------
    Demszky et al. (2020), GoEmotions, section 4.3. Ottosson (2020), A perceptual color space.

    Examples
    --------
    >>> found = label_map([[1, 0], [1, 0], [0, 1], [1, 1]], labels=["joy", "fear"], method="pca")
    >>> found.colours[0] == found.label_colours[found.labels.index("joy")]
    True
    >>> found.to_frame()["labels"].to_list()
    ['joy', 'joy', 'fear', 'fear, joy']
    """
    check_choice("method", method, LAYOUTS)
    check_number("neighbours", neighbours, 0, above=True)
    if most is not None:
        check_number("most", most, 1, whole=True)
    profiles = vectors_of(canonical(ratings), labels)
    own_texts = _texts(ratings, texts, profiles, text)
    given = _features(ratings, features, profiles)
    neutral = neutral_label(ratings, profiles.labels) if exclude_neutral else None
    used = [k for k, name in enumerate(profiles.labels) if name != neutral]
    if not used:
        raise InputError("no label is left; expected one or more to map")
    notes: list[str] = []
    if given is None and len(used) == 1:
        notes.append(wording.only_label(profiles.labels[used[0]]))
    vectors = profiles.mean[:, used]
    rows = _rows(vectors, profiles.chosen[:, used], neutral, most, seed, notes)
    if given is None and np.isnan(vectors[rows]).any():
        notes.append(wording.NOT_ASKED)
    vectors = np.where(np.isnan(vectors), 0.0, vectors)[rows]
    columns = by_name(profiles.labels[k] for k in used)
    placed = vectors[:, columns] if given is None else given[rows]
    places, how = layout(placed, method, seed, neighbours)
    order = [columns[k] for k in _order(vectors[:, columns])]
    if isinstance(ratings, Ratings):
        shown = {name: k for k, name in enumerate(ratings.stimulus_names)}
        listed = np.argsort([shown[profiles.stimuli[k]] for k in rows])
        rows, places = rows[listed], places[listed]
    shares = profiles.shares[rows][:, used]
    chosen = profiles.chosen_by(None)[rows][:, used]
    names = [profiles.labels[used[k]] for k in order]
    rest = None if exclude_neutral else neutral_label(ratings, names)
    palette = label_colours(len(names), [names.index(rest)] if rest is not None else [])
    shares, chosen = shares[:, order], chosen[:, order]
    parts: dict[str, Any] = {
        "stimuli": tuple(profiles.stimuli[k] for k in rows),
        "places": places,
        "labels": tuple(names),
        "shares": shares,
        "chosen": chosen,
        "colours": tuple(mixed_colours(shares * chosen, palette)),
        "label_colours": tuple(palette),
        "texts": None if own_texts is None else tuple(own_texts[k] for k in rows),
        "method": how,
    }
    sentence = wording.map_text(len(rows), len(names), how)
    figure = Figure(
        "label_map",
        "label_map",
        "map",
        "Map of stimuli",
        description=sentence,
        options={"labels": list(parts["labels"])},
    )
    return LabelMap((_table(parts),), (sentence,), (figure,), tuple(notes), **parts)


def _texts(
    ratings: Ratings | ArrayLike,
    texts: Sequence[str | None] | None,
    profiles: Profiles,
    column: str,
) -> list[str | None] | None:
    if isinstance(ratings, Ratings):
        if texts is not None:
            raise InputError("texts: the stimuli of ratings bring their own; expected None")
        if column not in (*ratings.stimuli.columns, *ratings.coded_frame.columns):
            return None
        from affectlab.analysis.profiles import texts_of

        found = dict(zip(ratings.stimulus_names, texts_of(ratings, column), strict=True))
        return [found[name] for name in profiles.stimuli]
    if texts is None:
        return None
    if len(texts) != len(profiles.stimuli):
        raise InputError(f"texts: expected {len(profiles.stimuli)}, got {len(texts)}")
    return list(texts)


def _features(
    ratings: Ratings | ArrayLike, features: ArrayLike | Path | None, profiles: Profiles
) -> Floats | None:
    if features is None:
        return None
    n = ratings.n_stimuli if isinstance(ratings, Ratings) else len(profiles.stimuli)
    if isinstance(features, Path):
        try:
            # Nothing that could run code is read.
            features = np.load(features, allow_pickle=False)
        except (ValueError, EOFError) as problem:
            raise InputError(
                f"{features}: not an array of numbers in a .npy file ({problem})"
            ) from None
    given = np.asarray(features, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != n or given.shape[1] == 0:
        raise InputError(f"features: expected shape ({n}, d), got {given.shape}")
    if not np.isfinite(given).all():
        raise InputError("features: a value is not finite; expected numbers")
    if not isinstance(ratings, Ratings):
        return given
    at = {name: k for k, name in enumerate(people_or_all(ratings).stimulus_names)}
    return given[[at[name] for name in profiles.stimuli]]


def _rows(
    vectors: Floats,
    chosen: np.ndarray,
    neutral: str | None,
    most: int | None,
    seed: int,
    notes: list[str],
) -> np.ndarray:
    """Choose the stimuli that are placed."""
    rows = np.arange(len(vectors))
    if neutral is not None:
        rows = np.flatnonzero((chosen > 0).any(axis=1))
        if rows.size < len(vectors):
            notes.append(wording.only_neutral(len(vectors) - rows.size, neutral))
    if rows.size == 0:
        raise InputError(f"no stimulus has a label other than {neutral}; expected at least one")
    if most is not None and rows.size > most:
        notes.append(wording.sampled(most, rows.size))
        rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return rows


def _order(vectors: Floats) -> list[int]:
    """Order labels so that those used alike are neighbours."""
    n = vectors.shape[1]
    if n < 3:
        return list(range(n))
    clusters = cluster_labels(
        label_correlations(
            vectors, labels=[str(k) for k in range(n)], exclude_neutral=False, n_boot=0
        )
    )
    in_tree = [int(clusters.labels[k]) for k in clusters.order]
    return in_tree + [k for k in range(n) if k not in set(in_tree)]

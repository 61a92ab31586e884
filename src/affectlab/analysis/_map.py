"""A map of stimuli: those that people answered alike stand close together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab._resampling import by_name
from affectlab._types import Bools, Floats
from affectlab._words import plural
from affectlab.analysis._clusters import cluster_labels
from affectlab.analysis._colours import label_colours, mixed_colours
from affectlab.analysis._correlations import label_correlations
from affectlab.analysis._layout import LAYOUTS, layout
from affectlab.analysis._profiles import Profiles, neutral_label, people_of, vectors_of
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical

__all__ = ["LabelMap", "label_map"]


@dataclass(frozen=True, repr=False)
class LabelMap:
    """Places, labels and colours of n stimuli.

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
    notes: tuple[str, ...] = ()
    """What was left out, drawn or filled in, in words."""

    def to_frame(self) -> pl.DataFrame:
        """Give one row per stimulus: ``stimulus, x, y, colour, labels``, and ``text``."""
        names = np.array(self.labels, dtype=object)
        frame = pl.DataFrame(
            {
                "stimulus": self.stimuli,
                "x": self.places[:, 0],
                "y": self.places[:, 1],
                "colour": self.colours,
                "labels": [", ".join(names[row]) for row in self.chosen],
            }
        )
        return frame if self.texts is None else frame.with_columns(pl.Series("text", self.texts))

    def __len__(self) -> int:
        return len(self.stimuli)

    def __repr__(self) -> str:
        return (
            f"LabelMap({plural(len(self), 'stimulus', 'stimuli')}, "
            f"{plural(len(self.labels), 'label')}, {self.method})"
        )


def label_map(
    ratings: Ratings | ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    texts: Sequence[str | None] | None = None,
    features: ArrayLike | None = None,
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
        What places are found from, shape (stimuli, d), such as embeddings; in the order of
        ``ratings.stimulus_names`` or of the rows of the array. None: the vectors of mean answers.
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
    if method not in LAYOUTS:
        raise unknown_name("method", method, LAYOUTS)
    if not neighbours > 0:
        raise InputError(f"neighbours {neighbours}: expected a number above 0")
    if most is not None and most < 1:
        raise InputError(f"most {most}: expected 1 or more stimuli")
    profiles = vectors_of(canonical(ratings), labels)
    own_texts = _texts(ratings, texts, profiles, text)
    given = _features(ratings, features, profiles)
    neutral = neutral_label(ratings, profiles.labels) if exclude_neutral else None
    used = [k for k, name in enumerate(profiles.labels) if name != neutral]
    if not used:
        raise InputError("no label is left; expected one or more to map")
    notes: list[str] = []
    if given is None and len(used) == 1:
        notes.append(
            f"{profiles.labels[used[0]]!r} is the only label: places show how much of it there is, "
            "and nothing else"
        )
    vectors = profiles.mean[:, used]
    rows = _rows(vectors, profiles.chosen[:, used], neutral, most, seed, notes)
    if given is None and np.isnan(vectors[rows]).any():
        notes.append("a label that was not asked about is taken as 0")
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
    return LabelMap(
        tuple(profiles.stimuli[k] for k in rows),
        places,
        tuple(names),
        shares,
        chosen,
        tuple(mixed_colours(shares * chosen, palette)),
        tuple(palette),
        None if own_texts is None else tuple(own_texts[k] for k in rows),
        how,
        tuple(notes),
    )


def _texts(
    ratings: Ratings | ArrayLike,
    texts: Sequence[str | None] | None,
    profiles: Profiles,
    column: str,
) -> list[str | None] | None:
    if isinstance(ratings, Ratings):
        if texts is not None:
            raise InputError("texts: the stimuli of ratings bring their own; expected None")
        if column not in (*ratings.stimuli.columns, *ratings.frame.columns):
            return None
        from affectlab.analysis._log_odds import texts_of

        found = dict(zip(ratings.stimulus_names, texts_of(ratings, column), strict=True))
        return [found[name] for name in profiles.stimuli]
    if texts is None:
        return None
    if len(texts) != len(profiles.stimuli):
        raise InputError(f"texts: expected {len(profiles.stimuli)}, got {len(texts)}")
    return list(texts)


def _features(
    ratings: Ratings | ArrayLike, features: ArrayLike | None, profiles: Profiles
) -> Floats | None:
    if features is None:
        return None
    n = ratings.n_stimuli if isinstance(ratings, Ratings) else len(profiles.stimuli)
    given = np.asarray(features, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != n or given.shape[1] == 0:
        raise InputError(f"features: expected shape ({n}, d), got {given.shape}")
    if not np.isfinite(given).all():
        raise InputError("features: a value is not finite; expected numbers")
    if not isinstance(ratings, Ratings):
        return given
    at = {name: k for k, name in enumerate(people_of(ratings).stimulus_names)}
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
            left = plural(len(vectors) - rows.size, "stimulus", "stimuli")
            notes.append(f"{left} with no label but {neutral} left out")
    if rows.size == 0:
        raise InputError(f"no stimulus has a label other than {neutral}; expected at least one")
    if most is not None and rows.size > most:
        notes.append(f"{most:,} of {rows.size:,} stimuli drawn at random")
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

"""Which stimuli were drawn together: faces of one actor, sentences of one author, parts of a film.

They are alike, so that an interval that takes them as drawn one by one is too narrow. What they
belong to stands in a column of the stimulus table, or is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.statistic import Clusters
from affectlab.core.words import joined, many, option
from affectlab.ratings.table import Ratings

ClusterLike: TypeAlias = str | Mapping[Any, Any] | Sequence[Any] | None
"""A column of the stimulus table, a mapping from stimulus to cluster, or, for an array, the cluster
of each unit; ``"none"`` for stimuli drawn one by one; ``None``: a column like ``actor``."""

NO_CLUSTERS = "none"
_NAMES = {
    "actor": "actor actress acteur actrice schauspieler schauspielerin darsteller darstellerin "
    "actriz attore attrice ator atriz",
    "poser": "poser expresser",
    "person": "person personne persona pessoa persoon",
    "identity": "identity face identite identitat identidad identita identidade",
    "individual": "individual individu individuo",
    "subject": "subject sujet sujeto soggetto proband probandin",
    "participant": "participant teilnehmer teilnehmerin participante",
    "patient": "patient patientin paciente",
    "child": "child infant baby kind enfant nino bambino",
    "speaker": "speaker talker voice singer sprecher sprecherin locuteur locutrice hablante "
    "locutor parlante falante spreker",
    "video": "video clip",
    "film": "film filme movie pelicula",
    "episode": "episode folge episodio",
    "recording": "recording audio aufnahme enregistrement grabacion",
    "song": "song track lied chanson cancion",
    "album": "album",
    "artist": "artist painter photographer",
    "author": "author writer autor autorin verfasser verfasserin auteur autrice autora autore "
    "scrittore escritor",
    "user": "user username account blogger",
    "thread": "thread conversation dialogue dialog hilo link",
    "document": "document doc dokument documento",
    "article": "article artikel articulo articolo",
    "book": "book novel buch roman livre libro novela",
}
"""What columns of clusters are called, by what one cluster is called here."""
_CALLED = {name: cluster for cluster, names in _NAMES.items() for name in names.split()}
_TELLING_APART = {
    *("id", "ids", "name", "names", "nr", "no", "num", "number", "code", "key", "index", "idx"),
    *("hash", "uuid", "title", "titel", "titre", "nom", "nombre", "nummer"),
}
"""Words at the end of a name that say how one is told from another."""
_KINDS = {
    *("male", "female", "m", "f", "w", "man", "woman", "men", "women", "boy", "girl", "nonbinary"),
    *("mann", "frau", "homme", "femme", "hombre", "mujer", "human", "animal", "cartoon", "ai"),
    *("yes", "no", "true", "false", "0", "1", "ja", "nein", "oui", "non", "si"),
    *("first", "second", "third", "single", "several", "none"),
}
"""Values that are kinds of people and no single ones, such as a column ``person`` may have."""


@dataclass(frozen=True)
class StimulusClusters:
    """What stimuli belong to, by their names; nothing where they are drawn one by one."""

    name: str = ""
    """What one cluster is, such as ``actor``."""
    of: Mapping[str, str] | None = None
    """Cluster of each stimulus; one that is not in it is drawn by itself."""
    column: str = ""
    """The column of the stimulus table that says so, where one does."""
    notes: tuple[str, ...] = ()
    """Why columns that could be clusters are not."""

    @property
    def units(self) -> str:
        """What is drawn: ``actors``, or ``stimuli`` where these are drawn one by one."""
        return "stimuli" if self.of is None else many(self.name)

    def notes_for(self, targets: Iterable[str]) -> tuple[str, ...]:
        """Give the notes where an interval is about other stimuli, by the targets of estimates."""
        return self.notes if {"stimuli", "both"}.intersection(targets) else ()

    def on(self, units: Sequence[str]) -> Clusters | None:
        """Give the clusters of stimuli, numbered by their names; ``None`` for stimuli alone.

        Raises
        ------
        InputError
            When no stimulus belongs to any.
        """
        if self.of is None:
            return None
        of = self.of
        # Pairs, so that a stimulus that is called like a cluster is not taken for it.
        keys = [(1, of[unit]) if of.get(unit) else (2, unit) for unit in units]
        if units and all(kind == 2 for kind, _ in keys):
            raise InputError(
                f"cluster: nothing is said of any stimulus, such as {units[0]!r}; expected the "
                f"cluster of each, or {option('cluster', NO_CLUSTERS)}"
            )
        return Clusters.of(self.name, keys)


def stimulus_clusters(data: Ratings | ArrayLike, cluster: ClusterLike = None) -> StimulusClusters:
    """Find what stimuli belong to.

    Parameters
    ----------
    data
        Ratings, or an array of shape (raters, units), whose units are called 0, 1, ….
    cluster
        A column of the stimulus table; a mapping from stimulus to cluster; for an array, the
        cluster of each unit; or ``"none"`` for stimuli drawn one by one.

        By default a column called like what is drawn (actor, identity, speaker, video, film,
        author, thread, and their like in other languages) that several stimuli share in most of its
        values. Of several such columns it is the one within which the others lie, as actors do
        within films; where there is none, no column is taken, which a note says.

    Raises
    ------
    InputError
        When there is no such column, or no cluster of any stimulus.

    Examples
    --------
    >>> answers = {"stimulus": ["a", "b", "c", "d"] * 2, "rater": ["r"] * 4 + ["s"] * 4,
    ...            "value": [1, 2, 3, 4] * 2, "actor": ["Jo", "Jo", "Al", "Al"] * 2}
    >>> found = stimulus_clusters(Ratings(answers, scale="1-4"))
    >>> found.name, found.on(["a", "c", "d"]).code.tolist()
    ('actor', [1, 0, 0])
    >>> stimulus_clusters(Ratings(answers, scale="1-4"), "none").of is None
    True
    """
    if isinstance(cluster, str) and cluster == NO_CLUSTERS:
        return StimulusClusters()
    if isinstance(cluster, Mapping):
        return StimulusClusters("cluster", {str(key): _text(of) for key, of in cluster.items()})
    if not isinstance(data, Ratings):
        return _of_array(data, cluster)
    if cluster is None:
        return _by_itself(data)
    if not isinstance(cluster, str):
        raise InputError(
            f"cluster {cluster!r}: expected a column of the stimulus table, a mapping from "
            f"stimulus to cluster, or {NO_CLUSTERS!r}"
        )
    known = [name for name in data.stimuli.columns if name != "stimulus"]
    if cluster not in known:
        raise unknown_name("column of the stimuli", cluster, [*known, NO_CLUSTERS], "cluster")
    return _of_column(data, cluster)


def clusters_of_named(names: Sequence[str], cluster: ClusterLike) -> StimulusClusters:
    """Find what stimuli belong to of which no more than their names is known.

    Parameters
    ----------
    names
        The stimuli.
    cluster
        A mapping from stimulus to cluster, the cluster of each stimulus, or ``"none"``.
    """
    units = np.empty((1, len(names)))
    if cluster is None or isinstance(cluster, str | Mapping) or len(cluster) != len(names):
        return stimulus_clusters(units, cluster)
    return stimulus_clusters(units, dict(zip(names, cluster, strict=True)))


def _of_array(data: ArrayLike, cluster: ClusterLike) -> StimulusClusters:
    if cluster is None:
        return StimulusClusters()
    n = np.shape(data)[-1]
    if isinstance(cluster, str) or len(cluster) != n:
        said = f"{cluster!r}" if isinstance(cluster, str) else f"{len(cluster)} of them"
        raise InputError(
            f"cluster: {said} for an array of {n} units; expected the cluster of each unit, or "
            f"{NO_CLUSTERS!r}"
        )
    return StimulusClusters("cluster", {str(k): _text(of) for k, of in enumerate(cluster)})


def _text(name: Any) -> str:
    """Write what a cluster is called; nothing for what is missing."""
    return "" if name is None or name != name else str(name)


def _texts(column: pl.Series) -> pl.Series:
    """Give names of clusters as texts; nothing for what is missing."""
    return (column.fill_nan(None) if column.dtype.is_float() else column).cast(pl.String)


def _of_column(ratings: Ratings, name: str) -> StimulusClusters:
    texts = _texts(ratings.stimuli[name]).fill_null("").to_list()
    stimuli = ratings.stimuli["stimulus"].cast(pl.String).to_list()
    return StimulusClusters(_called(name) or name, dict(zip(stimuli, texts, strict=True)), name)


def _called(column: str) -> str | None:
    """Say what clusters a column names are called, ``None`` where its name tells of none."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)
    plain = unicodedata.normalize("NFKD", apart).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z]+", plain)
    while len(words) > 1 and words[-1] in _TELLING_APART:
        words.pop()
    return _CALLED.get(words[-1]) if words else None


def _by_itself(ratings: Ratings) -> StimulusClusters:
    """Take the column that is called like clusters, and has their shape."""
    stimuli = ratings.stimuli
    columns = [
        name
        for name in stimuli.columns
        if name != "stimulus" and _called(name) and _has_shape(ratings, stimuli[name])
    ]
    widest = [
        name
        for name in columns
        if all(_within(stimuli, other, name) for other in columns if other != name)
    ]
    if columns and not widest:
        shown = joined(map(repr, columns))
        note = (
            f"stimuli are drawn one by one in intervals, though they belong to {shown}, neither "
            f"within the other; name one ({option('cluster', columns[0])})"
        )
        return StimulusClusters(notes=(note,))
    if not widest:
        return StimulusClusters()
    return _of_column(ratings, widest[0])


def _has_shape(ratings: Ratings, column: pl.Series) -> bool:
    """Whether several stimuli share most values, which are neither kinds nor single raters."""
    if column.dtype == pl.Boolean:
        return False
    values = _texts(column)
    counts = values.drop_nulls().value_counts(name="n").filter(pl.col(values.name) != "")
    if counts.height < 2 or (counts["n"].to_numpy() > 1).mean() <= 0.5:
        return False
    if {value.strip().lower() for value in counts[values.name]} <= _KINDS:
        return False
    code = values.fill_null("").rank("dense").to_numpy().astype(np.int64)[ratings.stimulus_code]
    someone = np.zeros(code.max(initial=0) + 1, dtype=np.int64)
    someone[code] = ratings.rater_code
    # A column of those who answer, as of a diary, says nothing of what they answered about.
    return bool((someone[code] != ratings.rater_code).any())


def _within(stimuli: pl.DataFrame, inner: str, outer: str) -> bool:
    """Whether all stimuli of each cluster in one column are of one cluster in the other."""
    known = stimuli.filter(pl.col(inner).is_not_null() & pl.col(outer).is_not_null())
    return known.select(inner, outer).n_unique() == known[inner].n_unique()

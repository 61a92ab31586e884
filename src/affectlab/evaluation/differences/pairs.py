"""Scores of stimuli beside what metrics predict, and the groups and clusters of the stimuli."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import as_floats, names_of
from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.types import Floats, Ints
from affectlab.core.words import natural, plural
from affectlab.evaluation.people_and_models import (
    judged_runs,
    shared_attribute,
    side_by_side,
    sides,
)
from affectlab.ratings import (
    ModelRatings,
    Ratings,
    answers_of,
    model_tables,
    of_one_label,
    require_order,
)

ALL = "all"
"""Name of the group that every stimulus belongs to."""
Score: TypeAlias = Literal["mean", "reml", "p910", "mle"]
SCORES: tuple[Score, ...] = get_args(Score)
"""How the ratings of people become one score per stimulus."""
_MOST_LEVELS = 1000

Attributes: TypeAlias = str | Sequence[str] | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class Group:
    """Stimuli with one value of an attribute; the first group holds all."""

    name: str
    attribute: str
    level: str
    items: Ints
    """Places of its stimuli, ascending."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which stimuli are drawn together."""

    name: str
    code: Ints
    """Cluster of each stimulus, shape (n,)."""
    n: int


@dataclass(frozen=True, eq=False)
class Pairs:
    """Scores and predictions of the same stimuli."""

    scores: Floats
    """Shape (n,)."""
    predictions: Floats
    """Shape (metrics, n), ``nan`` where a metric says nothing."""
    raters: tuple[str, ...]
    stimuli: tuple[str, ...]
    groups: tuple[Group, ...]
    clusters: Clusters | None
    n_people: int
    """People behind the scores; 0 where the scores came as numbers."""
    n_ratings: Ints
    """Ratings behind the score of each stimulus, shape (n,)."""
    score_name: str
    notes: tuple[str, ...] = ()

    def only(self, kept: Ints) -> Pairs:
        """Keep some of the stimuli, and every group."""
        place = np.full(self.scores.size, -1)
        place[kept] = np.arange(kept.size)
        groups = tuple(
            replace(group, items=place[group.items][place[group.items] >= 0])
            for group in self.groups
        )
        clusters = self.clusters and replace(self.clusters, code=self.clusters.code[kept])
        return replace(
            self,
            scores=self.scores[kept],
            predictions=self.predictions[:, kept],
            stimuli=tuple(self.stimuli[k] for k in kept.tolist()),
            groups=groups,
            clusters=clusters,
            n_ratings=self.n_ratings[kept],
        )


def pairs_of(
    scores: Ratings | ArrayLike,
    models: ModelRatings | ArrayLike | None,
    *,
    names: Sequence[str] | None,
    by: Attributes,
    cluster: str | ArrayLike | None,
    score: Score,
    label: str | None,
) -> tuple[Pairs, Ratings | None]:
    """Align scores and predictions; give the ratings of people, too, where there are any.

    Raises
    ------
    InputError
        If the two do not fit each other, an attribute is not known, or an option goes with the
        other kind of input.
    """
    if isinstance(scores, Ratings):
        try:
            tables = model_tables(models, scores)  # type: ignore[arg-type]
        except InputError:
            raise InputError(
                "expected ratings twice or arrays twice, got ratings and an array"
            ) from None
        if names is not None:
            raise InputError("names goes with arrays; ratings name their raters themselves")
        return _from_ratings(scores, tables, by, cluster, score, label)
    if models is None or _are_ratings(models):
        raise InputError(
            "expected ratings twice or arrays twice, got an array of scores and "
            + ("no predictions" if models is None else "ratings")
        )
    if label is not None:
        raise InputError("label goes with ratings, not with arrays")
    return _from_arrays(scores, cast("ArrayLike", models), names, by, cluster), None


def _are_ratings(models: object) -> bool:
    tables = models if isinstance(models, list | tuple) else [models]
    return any(isinstance(table, Ratings) for table in tables)


def _from_arrays(
    scores: ArrayLike,
    predictions: ArrayLike,
    names: Sequence[str] | None,
    by: Attributes,
    cluster: str | ArrayLike | None,
) -> Pairs:
    y, x = _numbers("scores", scores), _numbers("predictions", predictions)
    if x.ndim == 1:
        x = x[None]
    if y.ndim != 1 or x.ndim != 2 or x.shape[1] != y.size:
        raise InputError(
            f"expected scores of shape (n,) and predictions of shape (n,) or (metrics, n), got "
            f"{y.shape} and {np.shape(predictions)}"
        )
    raters = names_of("names", names, x.shape[0], "one per metric")
    if not isinstance(by, Mapping):
        if by:
            raise InputError(
                "by names stimulus attributes, which arrays lack; expected {'actor': values}"
            )
        by = {}
    own = None
    if isinstance(cluster, str):
        check_choice("attribute", cluster, by, "cluster")
        own = _clusters(cluster, by[cluster], y.size)
    elif cluster is not None:
        own = _clusters("cluster", cluster, y.size)
    known = ~np.isnan(y) & ~np.isnan(x).all(axis=0)
    pairs = Pairs(
        scores=y,
        predictions=x,
        raters=raters,
        stimuli=tuple(map(str, range(y.size))),
        groups=_groups({name: _text(name, values, y.size) for name, values in by.items()}, y.size),
        clusters=own,
        n_people=0,
        n_ratings=np.ones(y.size, dtype=np.int64),
        score_name="the scores given",
    )
    return _complete(pairs, known)


def _from_ratings(
    ratings: Ratings,
    models: Sequence[Ratings],
    by: Attributes,
    cluster: str | ArrayLike | None,
    score: Score,
    label: str | None,
) -> tuple[Pairs, Ratings]:
    if not ratings.has_labels:
        models = [labels_as_metrics(table) if table.has_labels else table for table in models]
    found = sides(ratings, models)
    people = found.people
    tables, left_out = judged_runs(found.tables)
    judged = side_by_side(tables)
    for side in (people, judged):
        require_order(side, "a correlation with scores")
    people, judged = (of_one_label(side, label) for side in (people, judged))
    table, score_name, notes = _scored(people, score)
    stimuli = table["stimulus"].to_list()
    answers = answers_of(judged).on(stimuli)
    x = answers.grid()[:, 0]
    said = np.unique(answers.rater)
    y = table["value"].to_numpy().astype(np.float64)
    if isinstance(by, Mapping) or not (cluster is None or isinstance(cluster, str)):
        raise InputError("by and cluster are names of stimulus attributes here, as in by=['actor']")
    wanted = [by] if isinstance(by, str) else list(by)
    columns = {
        name: _attribute(name, stimuli, people, judged)
        for name in dict.fromkeys([*wanted, *([cluster] if cluster else [])])
    }
    pairs = Pairs(
        scores=y,
        predictions=x[said],
        raters=tuple(answers.raters[k] for k in said.tolist()),
        stimuli=tuple(stimuli),
        groups=_groups({name: columns[name] for name in wanted}, y.size),
        clusters=_clusters(cluster, columns[cluster], y.size) if cluster else None,
        n_people=len(set(people.answers().rater_code.tolist())),
        n_ratings=table["n_ratings"].to_numpy().astype(np.int64),
        score_name=score_name,
        notes=(*left_out, *notes),
    )
    return _complete(pairs, ~np.isnan(y) & ~np.isnan(pairs.predictions).all(axis=0)), people


def _complete(pairs: Pairs, known: np.ndarray) -> Pairs:
    """Leave out stimuli without a score or without any prediction, and say how many."""
    if not known.any():
        raise InputError("no stimulus has both a score and a prediction; expected at least one")
    dropped = int((~known).sum())
    if not dropped:
        return pairs
    said = f"{plural(dropped, 'stimulus', 'stimuli')} without a score or any prediction left out"
    return replace(pairs.only(np.flatnonzero(known)), notes=(*pairs.notes, said))


def labels_as_metrics(models: Ratings) -> Ratings:
    """Take each label as a metric of its own, as in a file with a column per metric."""
    used = models.answers()
    labels = np.array(used.label_names, dtype=object)[used.label_code]
    if used.n_raters > 1:
        labels = np.array(used.rater_names, dtype=object)[used.rater_code] + ": " + labels
    stimulus = np.array(used.stimulus_names, dtype=object)[used.stimulus_code]
    return Ratings(
        {"stimulus": stimulus.tolist(), "rater": labels.tolist(), "value": used.value},
        scale=used.scale,
        raters={"rater": list(dict.fromkeys(labels.tolist()))}
        | {"rater_kind": ["model"] * len(set(labels.tolist()))},
        stimuli=used.stimuli,
        source=used.source,
    )


def _scored(people: Ratings, score: Score) -> tuple[pl.DataFrame, str, tuple[str, ...]]:
    from affectlab.reliability import mean_opinion_scores, subject_model

    if score == "mean":
        return mean_opinion_scores(people).to_frame(), "the mean opinion score", ()
    model = subject_model(people, method=score)
    return model.to_frame(), f"the score of the subject model ({score})", model.notes


def _attribute(
    name: str, stimuli: Sequence[str], people: Ratings, models: Ratings
) -> list[str | None]:
    """Give a stimulus attribute, from the people's table or else from the models'."""
    tables = (people.stimuli, models.stimuli)
    column = shared_attribute("stimulus", stimuli, tables, name)
    if column is None:
        known = [column for table in tables for column in table.columns if column != "stimulus"]
        raise unknown_name("stimulus attribute", name, dict.fromkeys(known))
    values: list[str | None] = column.cast(pl.String).to_list()
    return values


def _groups(columns: Mapping[str, Sequence[str | None]], n: int) -> tuple[Group, ...]:
    groups = [Group(ALL, "", "", np.arange(n))]
    for name, values in columns.items():
        levels = sorted({value for value in values if value is not None}, key=natural)
        if len(levels) > _MOST_LEVELS:
            raise InputError(
                f"attribute {name!r} has {len(levels):,} values; expected at most {_MOST_LEVELS:,} "
                "groups"
            )
        of_level: dict[str, list[int]] = {level: [] for level in levels}
        for place, value in enumerate(values):
            if value is not None:
                of_level[value].append(place)
        groups += [
            Group(f"{name}={level}", name, level, np.array(places, dtype=np.int64))
            for level, places in of_level.items()
        ]
    return tuple(groups)


def _clusters(name: str, values: Any, n: int) -> Clusters:
    text = _text(name, values, n)
    if any(value is None for value in text):
        k = text.index(None)
        raise InputError(f"cluster {name!r}: item {k} belongs to none; expected one for each")
    names, code = np.unique(np.array(text, dtype=object).astype(str), return_inverse=True)
    if names.size < 2:
        raise InputError(f"cluster {name!r}: all items belong to one; expected two or more")
    return Clusters(name, code.astype(np.int64), int(names.size))


def _text(name: str, values: Any, n: int) -> list[str | None]:
    given = values.to_list() if hasattr(values, "to_list") else list(values)
    if len(given) != n:
        raise InputError(f"{name!r} has {len(given)} values; expected one for each of {n} scores")
    return [None if value is None or value != value else str(value) for value in given]


def _numbers(what: str, given: ArrayLike) -> Floats:
    array = as_floats(given, f"{what}: expected an array of numbers")
    if np.isinf(array).any():
        raise InputError(f"{what}: a value is infinite; expected numbers, or nan where none is")
    return array

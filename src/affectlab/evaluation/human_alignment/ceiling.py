"""How far people agree with other people: what may be asked of a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.inference import Target
from affectlab.core.tables import Count, Interval, Key, Number, Table, Text, Value
from affectlab.evaluation.human_alignment import wording
from affectlab.evaluation.human_alignment.measures import Measure, Measured, part_of
from affectlab.evaluation.human_alignment.panel import panel_of
from affectlab.ratings import ClusterLike, Ratings, of_known_raters, stimulus_clusters


@dataclass(frozen=True, eq=False, repr=False)
class HumanCeiling(Estimates):
    """Each person against the other people, and their mean.

    By ``measure``: the mean over people, with an interval over stimuli and people. Beside it
    ``min`` and ``max`` (the range of people), ``sd`` (between people) and ``best`` (who).
    """

    @property
    def people(self) -> Estimates:
        """By ``measure`` and ``rater``: a person with the other people, mean over labels."""
        return Estimates((self.table("people"),))


_COLUMNS = (
    Key("measure"),
    Value(decimals=3),
    Interval(decimals=3),
    Number("min", "lowest", decimals=3),
    Number("max", "highest", decimals=3),
    Text("best", "best person"),
)
_OF_PEOPLE = (
    Key("measure"),
    Key("rater", "person"),
    Value(decimals=3),
    Interval(decimals=3),
    Count("n_ratings"),
)


@of_known_raters
def human_ceiling(
    ratings: Ratings,
    *,
    exclude: Collection[str] = (),
    target: Target = "both",
    cluster: ClusterLike = None,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> HumanCeiling:
    r"""Compare each person with the other people, leaving one out in turn.

    What a person reaches is what a model that answers like a person can be expected to reach. By
    kappa a person meets every other person; by Spearman's correlation, the median of the others.
    Both are means over labels. The mean over people is the ceiling, the best person its upper end;
    a model may pass both, since averaging out noise makes agree better than people do.

    Parameters
    ----------
    ratings
        The answers of people; models among them are left out.
    exclude
        Labels that are left out.
    target
        What intervals are about, from leaving out stimuli and people: other stimuli and other
        people, or one of these; ``"sample"`` for none. For a single person, people are always the
        others; two others, of three people in all, tell nothing of further ones, so that an
        interval for both is then about other stimuli, and there is none for other people.
    cluster
        What stimuli belong to, which are then left out together: a column of the stimulus table, a
        mapping from stimulus to cluster, or ``"none"``; see :func:`stimulus_clusters`. By default
        a column like ``actor`` that several stimuli share in most of its values.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator of the groups in which more than 100 stimuli, or people, are left out.

    Returns
    -------
    HumanCeiling, with values in [-1, 1]: ``kappa`` (quadratic; unweighted on a nominal scale;
    Lin's ``concordance`` on a scale without steps) and ``spearman`` (not on a nominal scale). Where
    pairs of people share few stimuli, kappa is from disagreement pooled over pairs, as in
    :func:`alignment`; ``method`` says so.

    Raises
    ------
    InputError
        When no rater is human, or an option cannot be used.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, Table 6, for pairs with all other people.

    Examples
    --------
    >>> people = Ratings({"stimulus": list("abcd") * 3, "rater": list("xxxxyyyyzzzz"),
    ...                   "value": [0, 3, 7, 1, 0, 3, 6, 2, 1, 2, 7, 0]}, scale="0-7")
    >>> found = human_ceiling(people)
    >>> round(found["kappa"].value, 3)
    0.92
    >>> found.to_frame()["best"].to_list()
    ['x', 'x']
    """
    panel = panel_of(ratings, exclude=exclude, alone=True)
    measured = Measured(panel)
    clusters = stimulus_clusters(ratings, cluster)
    found = ceiling_of(
        measured.measures, measured.infer(target, clusters.on(panel.stimuli), confidence, seed)
    )
    return replace(found, notes=clusters.notes_for(found.frame["target"].unique()))


def ceiling_of(measures: Sequence[Measure], found: Estimates) -> HumanCeiling:
    """Sum up what was found of people."""
    people = part_of(found, "people", ("measure", "rater"))
    about = []
    for measure in measures:
        rows = people.frame.filter(measure=measure.name)
        value, names = rows["value"].to_numpy(), rows["rater"].to_list()
        known = value[~np.isnan(value)]
        about.append(
            {
                "min": float(known.min()) if known.size else None,
                "max": float(known.max()) if known.size else None,
                "sd": float(known.std(ddof=1)) if known.size > 1 else None,
                "best": names[int(np.nanargmax(value))] if known.size else None,
            }
        )
    schema = {"min": pl.Float64, "max": pl.Float64, "sd": pl.Float64, "best": pl.String}
    frame = part_of(found, "ceiling", ("measure",), pl.DataFrame(about, schema=schema)).frame
    caption = "People left out one by one, against the other people."
    tables = (
        Table("ceiling", caption, frame, _COLUMNS),
        Table("people", "Each person against the other people.", people.frame, _OF_PEOPLE),
    )
    sentences = tuple(
        wording.ceiling(row, measure.of_a_person)
        for row, measure in zip(frame.iter_rows(named=True), measures, strict=True)
        if row["min"] is not None
    )
    return HumanCeiling(tables, sentences)

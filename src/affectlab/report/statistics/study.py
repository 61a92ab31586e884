"""The ratings of a report with every statistic that its sections share, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis import circumplex, label_correlations
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Target
from affectlab.core.result import Result
from affectlab.evaluation import (
    OutcomeTable,
    discrepancy,
    evaluate_classification,
    outcome_table,
    preference_scale,
    preferences,
    recognition,
)
from affectlab.evaluation.classification import ClassificationResult
from affectlab.evaluation.human_alignment import AlignmentResult, alignment
from affectlab.evaluation.people_and_models import (
    main_runs,
    on_scale,
    people_of,
    scale_map,
    scores_beside_names,
    side_by_side,
)
from affectlab.ratings import (
    ClusterLike,
    ModelRatings,
    Ratings,
    RatingsSummary,
    StimulusClusters,
    aggregated_raters,
    answered_rows,
    by_scale,
    fillings,
    has_traces,
    model_tables,
    stimulus_clusters,
)
from affectlab.reliability import (
    ConsensusFlow,
    DuplicateRaters,
    Scores,
    alpha_of_label_sets,
    concordance,
    consensus_flow,
    duplicate_raters,
    group_differences,
    krippendorff_alpha,
    reliability_of_means,
    scores_of,
    subject_model,
    traces,
)
from affectlab.reliability.agreement import Coefficient, load_coefficients
from affectlab.reliability.correlation import of_labels_and_raters
from affectlab.reliability.screening import Screening, careless_raters
from affectlab.reliability.subject_models import SubjectModel
from affectlab.report import wording
from affectlab.report.images import Pictures
from affectlab.report.statistics.agreement import Agreement, agreement_of
from affectlab.report.statistics.pairs import PairAgreement, busiest, is_person, pair_agreement

FEWEST_ITEMS = 10
"""Common stimuli below which agreement scatters widely."""


_SEVERAL = 10
_STOPPED_AT_NO = 0.9
_OUT_OF_PROTOCOL = 1 / 20


def _aggregated(ratings: Ratings) -> tuple[str, ...]:
    """Name the raters whose answers are aggregated from those of several people."""
    several = zip(ratings.rater_names, ratings.rater_kinds, aggregated_raters(ratings), strict=True)
    return tuple(name for name, kind, marked in several if marked and is_person(kind))


def _without_aggregated(ratings: Ratings) -> tuple[Ratings, tuple[str, ...]]:
    """Exclude aggregated answers, and name their raters.

    They stay where there is no other person: then they are all there is of people.
    """
    names = _aggregated(ratings)
    people = [
        name
        for name, kind in zip(ratings.rater_names, ratings.rater_kinds, strict=True)
        if is_person(kind) and name not in names
    ]
    if not names or not people:
        return ratings, ()
    rest = ratings.where(
        ~pl.col("rater").cast(pl.String).is_in(list(names)),
        step=wording.excluded_step(names),
    )
    return rest, names


def _without_controls(ratings: Ratings) -> Ratings:
    """Leave out control runs of models, such as those without the image."""
    try:
        return main_runs(ratings)
    except InputError:  # An attribute ``control`` that means something else.
        return ratings


def _together(ratings: Ratings, tables: Sequence[Ratings]) -> tuple[Ratings, dict[str, str]]:
    """Put models beside people, on the scale of people, for what looks at all raters.

    The second part says of the others why there is no map to that scale.
    """
    judged: list[Ratings] = []
    missing: dict[str, str] = {}
    for table in tables:
        kinds = ["model" if is_person(kind) else kind for kind in table.rater_kinds]
        models = table.with_raters(table.raters.with_columns(rater_kind=pl.Series(kinds)))
        if models.has_labels and not ratings.has_labels:
            missing |= dict.fromkeys(models.rater_names, scores_beside_names(models, ratings))
        elif {"nominal", "text"} & {ratings.scale.kind, models.scale.kind}:
            judged.append(models)
        elif why := scale_map(models, ratings.scale, named=len(tables) > 1).missing:
            missing |= dict.fromkeys(models.rater_names, why)
        else:
            judged.append(on_scale(models, ratings.scale))
    return ratings.merge(*judged), missing


def _of_one_scale(
    ratings: Ratings, models: tuple[Ratings, ...]
) -> tuple[Ratings, tuple[Ratings, ...], Ratings | None]:
    """Keep the labels on the scale that most answers are on, since a report compares labels.

    Scales of numbers in an order go before those of categories, and these before texts. The third
    part are the other labels; None where all share a scale.
    """
    groups = by_scale({n: replace(scale, declared=True) for n, scale in ratings.scales.items()})
    if len(groups) == 1:
        return ratings, models, None

    def weight(labels: list[str]) -> tuple[int, int]:
        kind = ratings.scales[labels[0]].kind
        order = {"text": 0, "nominal": 1}.get(kind, 2)
        codes = [ratings.label_names.index(name) for name in labels]
        return order, int((np.isin(ratings.label_code, codes) & ~np.isnan(ratings.value)).sum())

    chosen = max((labels for labels, _ in groups), key=weight)
    others = ratings.select(labels=[n for n in ratings.label_names if n not in chosen])
    judged = []
    for table in models:
        own = [name for name in table.label_names if name in chosen]
        if own or not table.has_labels:
            judged.append(table.select(labels=own) if table.has_labels else table)
    return ratings.select(labels=chosen), tuple(judged), others


_FILES = ("file", "image", "path", "filename")
_TEXTS = ("text", "sentence", "caption", "transcript", "prompt")
"""Attributes that lead to the picture of a stimulus, and that are what was read."""
_LONGEST_PATH = 4096
_MOST_DRAWN, _FEWEST_DRAWN = 250_000_000, 100
"""Answers that all bootstrap replicates of a statistic draw together, as far as that leaves enough
replicates for a standard error."""
MOST_PEOPLE = 50
"""People that models are compared with; of more, those who answered most."""


@dataclass(frozen=True)
class Beside:
    """Models beside people, or why they are not compared."""

    alignment: AlignmentResult | None
    reason: str = ""
    n_left_out: int = 0
    """People left out because there are too many."""

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        models: ModelRatings | None,
        *,
        target: Target,
        without: tuple[str, ...],
        cluster: ClusterLike,
        seed: int,
    ) -> Beside:
        """Compare models with people, of whom at most 50 enter, without those named."""
        n_models = sum(not is_person(kind) for kind in ratings.rater_kinds)
        compared = busiest(ratings, n_models + MOST_PEOPLE)
        try:
            found = alignment(
                compared,
                models,
                without=[name for name in without if name in compared.rater_names],
                target=target,
                cluster=cluster,
                seed=seed,
            )
        except InputError as error:
            return cls(None, f"{error}.")
        return cls(found, n_left_out=ratings.n_raters - compared.n_raters)


@dataclass(frozen=True)
class Outcomes:
    """What became of each question."""

    result: OutcomeTable

    @property
    def finding(self) -> str:
        """How many answers can be used."""
        return self.result.finding

    @property
    def usable(self) -> bool:
        """Whether all answers can be used."""
        return bool((self.result.table("usable").frame["value"] >= 1).all())


class Kind(StrEnum):
    """What the answers are, which decides what a report says first."""

    TRACES = "traces"
    """Answers over time."""
    PAIRS = "pairs"
    """Which of two systems is better."""
    RECOGNITION = "recognition"
    """One category, of stimuli that are meant to show one."""
    CATEGORIES = "categories"
    """One category, or one yes or no."""
    LABEL_SETS = "label sets"
    """Any number of labels."""
    DIMENSIONS = "dimensions"
    """Valence and arousal."""
    ROUNDS = "rounds"
    """Yes or no, asked again after a yes only."""
    SCALES = "scales"
    """Any other numbers with an order."""
    TEXTS = "texts"
    """No numbers at all."""


_VALENCE, _AROUSAL = ("valence", "pleasure", "pleasantness"), ("arousal", "activation")
"""What the two dimensions of the plane are called."""
_PRIOR = 0.5
"""Wins of every system over every other, where one that never lost would have no place."""


class Study:
    """What the sections of a report read.

    Parameters
    ----------
    ratings
        The ratings of the report.
    models
        Answers of models in a table of their own, or in several, each on its scale.
    seed
        Seed of all that is drawn.
    n_boot
        Bootstrap replicates, of more than 250,000 answers fewer; 0 for no intervals.
    images
        Folder with pictures of the stimuli.
    cluster
        What stimuli belong to; see :func:`~affectlab.ratings.answers.clusters.stimulus_clusters`.
    """

    def __init__(
        self,
        ratings: Ratings,
        models: ModelRatings | None = None,
        *,
        seed: int = 0,
        n_boot: int = 1000,
        images: Path | None = None,
        cluster: ClusterLike = None,
    ) -> None:
        self.traced = ratings if has_traces(ratings) else None
        """The ratings as they are, where they are traces; all else is of the mean of each trace."""
        if self.traced is not None:
            ratings = ratings.averaged()
        ratings, tables, self.elsewhere = _of_one_scale(ratings, model_tables(models, ratings))
        kept, self.stand_ins = _without_aggregated(ratings)
        everything, self.unmapped = _together(kept, tables)
        """Why models are in no table of all raters, by model: their scale and people's have no map.
        """
        self.ratings = _without_controls(everything).holding()
        names = [name for table in tables for name in table.rater_names]
        self.ranks_only = bool(names) and set(names) == set(self.unmapped)
        """Whether no model is in the table of all raters."""
        held = side_by_side(tables) if self.ranks_only else everything
        self.controls = held if _without_controls(held) is not held else None
        """The ratings with control runs of models; None where there are no such runs."""
        named = not tables or "nominal" in {table.scale.kind for table in (kept, *tables)}
        self.asked = (everything, None) if named else (kept, tables)
        """What checks of controls take: rounded to points, different answers become the same."""
        if self.controls is not None or self.unmapped:
            kept = _without_controls(kept)
            tables = tuple(map(_without_controls, tables))
        known = {*self.ratings.rater_names, *self.unmapped}
        # All of the others are control runs.
        tables = tuple(table for table in tables if set(table.rater_names) & known)
        people = {is_person(kind) for kind in kept.rater_kinds}
        if tables and people == {True, False}:
            # Models beside people in one table, and others in tables of their own.
            kept, tables = people_of(kept), (kept.models(), *tables)
        self._apart = (kept, tables) if tables and True in people else None
        self.seed = seed
        self.n_boot = min(n_boot, max(_MOST_DRAWN // max(len(ratings), 1), _FEWEST_DRAWN))
        self.n_boot_asked = n_boot
        self.images = images
        self.cluster = cluster
        self._ahead: Future[Beside] | None = None

    @cached_property
    def sources(self) -> tuple[Ratings, ModelRatings | None]:
        """What statistics of models beside people take: a table of each, told apart once."""
        if self._apart is not None:
            return self._apart
        if len({is_person(kind) for kind in self.ratings.rater_kinds}) < 2:
            return self.ratings, None
        return people_of(self.ratings).holding(), self.ratings.models()

    @cached_property
    def kind(self) -> Kind:
        """What kind of data this is."""
        numeric = self.numeric
        if numeric is None:
            return Kind.TEXTS
        if self.traces is not None:
            return Kind.TRACES
        if self.flow is not None:
            return Kind.ROUNDS
        if numeric.scale.kind == "nominal":
            if self.preferred is not None:
                return Kind.PAIRS
            return Kind.CATEGORIES if self.recognised is None else Kind.RECOGNITION
        if numeric.scale.kind == "binary":
            return Kind.CATEGORIES if self.label_sets is None else Kind.LABEL_SETS
        return Kind.SCALES if self.plane is None else Kind.DIMENSIONS

    @cached_property
    def traces(self) -> Result | None:
        """Agreement over time, where answers are traces."""
        if self.traced is None:
            return None
        kinds = sorted({kind for kind in self.traced.rater_kinds if is_person(kind)})
        people = self.traced.select(rater_kind=kinds) if kinds else self.traced
        try:
            return traces(people, target=self._target, cluster=self.cluster, seed=self.seed)
        except InputError:  # A single rater, or nobody shares a stimulus.
            return None

    @cached_property
    def preferred(self) -> tuple[Result, ...] | None:
        """Which system is preferred: the verdict on two, or the scale of several.

        Where one system never lost there is no scale; a second one, with wins given beforehand,
        follows. None where stimuli do not say which systems stood there.
        """
        if self.people is None:
            return None
        places = set(self.people.scale.categories) & set(self.people.stimuli.columns)
        if len(places) != 2:
            return None
        options: dict[str, Any] = {} if self.n_boot else {"target": "sample"}
        compared = pl.concat([self.people.stimuli[name].cast(pl.String) for name in places])
        try:
            if compared.n_unique() == 2:
                return (preferences(self.people, seed=self.seed, **options),)
            found = preference_scale(self.people, seed=self.seed, **options)
            if found.frame["value"].is_not_nan().all():
                return (found,)
            with_prior = preference_scale(self.people, prior=_PRIOR, seed=self.seed, **options)
        except InputError:  # A system that is not named, or compared with itself.
            return None
        return (found, with_prior)

    @cached_property
    def sides(self) -> Result | None:
        """How often systems of the same strength tie, and whether the left one is chosen."""
        if self.preferred is None or len(self.systems) < 3 or self.people is None:
            return None
        shared: dict[str, Any] = {} if self.n_boot else {"target": "sample"}
        tried: tuple[dict[str, Any], ...] = (
            {"ties": "davidson", "position": True},
            {"ties": "davidson"},
            {"position": True},
        )
        for options in tried:
            try:
                found = preference_scale(self.people, seed=self.seed, **options, **shared)
            except InputError:  # No ties, or nobody knows what stood on the left.
                continue
            return found if any(one.name == "effects" for one in found.tables) else None
        return None

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that are compared."""
        if self.preferred is None:
            return ()
        frame = self.preferred[0].to_frame()
        return tuple(frame["system"]) if "system" in frame.columns else ("", "")

    @cached_property
    def recognised(self) -> Result | None:
        """How well what stimuli are meant to show is recognised; None where nobody says what."""
        if self.people is None or self.ratings.scale.kind != "nominal":
            return None
        try:
            return recognition(*self.sources, target=self._target, cluster=self.cluster)
        except InputError:  # No column of the stimuli names what was answered.
            return None

    @cached_property
    def plane(self) -> Result | None:
        """Where stimuli lie in valence and arousal; None where labels are others."""
        names = {name.casefold(): name for name in (self.panel or self.ratings).label_names}
        x, y = (
            next((names[name] for name in known if name in names), "")
            for known in (_VALENCE, _AROUSAL)
        )
        if self.panel is None or not self.ordered or not (x and y) or len(names) > 3:
            return None
        return circumplex(self.panel, x=x, y=y, cluster=self.cluster)

    @cached_property
    def concordance(self) -> Result | None:
        """Lin's concordance of people, and of models with the mean of people."""
        if self.panel is None or not self.ordered or not self.panel.raters_known:
            return None
        ratings, models = self.sources
        return concordance(
            *((ratings, models) if self.panel is self.people else (self.panel,)),
            target=self._target,
            cluster=self.cluster,
            seed=self.seed,
        )

    @cached_property
    def together(self) -> Result | None:
        """Which labels go together, over stimuli."""
        if self.panel is None or not self.ordered or self.panel.n_labels < 2:
            return None
        if self.flow is not None:
            return None
        return label_correlations(self.panel, cluster=self.cluster, n_boot=self.n_boot)

    @cached_property
    def bias(self) -> Result | None:
        """By how much people rate each label higher than models do."""
        if self.beside.alignment is None or not self.ordered or self.ranks_only:
            return None
        ratings, models = self.sources
        found = discrepancy(ratings, models, target="sample")
        return found if found.sentences else None

    @cached_property
    def summary(self) -> RatingsSummary:
        """Counts over all rows."""
        return self.ratings.summary(describe=False)

    @cached_property
    def silent_stimuli(self) -> tuple[str, ...]:
        """Stimuli without an answer that can be used."""
        frame = self.ratings.coded_frame
        held = [pl.col(name).is_not_null() for name in ("value", "text") if name in frame.columns]
        stimulus = pl.col("stimulus").filter(pl.any_horizontal(held)).unique()
        rated = set(frame.select(stimulus.cast(pl.String))["stimulus"])
        return tuple(name for name in self.ratings.stimulus_names if name not in rated)

    @property
    def n_rated(self) -> int:
        """Stimuli with an answer that can be used."""
        return self.summary.n_stimuli - len(self.silent_stimuli)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the results should know, as the ratings say it."""
        return self.summary.notes

    @cached_property
    def numeric(self) -> Ratings | None:
        """Numeric answers that statistics use; None when there are none."""
        if not self.ratings.scale.numeric:
            return None
        if not answered_rows(self.ratings).any():
            return None
        found = self.ratings.answers()
        return found if found is self.ratings else found.holding()

    @cached_property
    def people(self) -> Ratings | None:
        """Numeric answers of people; None when there are none."""
        if self.numeric is None or not any(map(is_person, self.numeric.rater_kinds)):
            return None
        return self.numeric.humans()

    @cached_property
    def models(self) -> Ratings | None:
        """Numeric answers of models, on their own scale where it has no map; None when none."""
        if self.ranks_only and self._apart is not None:
            return side_by_side(self._apart[1]).answers()
        if self.numeric is None or all(map(is_person, self.numeric.rater_kinds)):
            return None
        return self.numeric.models()

    @property
    def ordered(self) -> bool:
        """Whether answers can be ranked: correlations, means and differences mean something."""
        return self.ratings.scale.kind not in ("nominal", "text")

    @cached_property
    def constant(self) -> tuple[str, ...]:
        """Raters of ten answers or more that are all the same."""
        if self.numeric is None:
            return ()
        coded = pl.DataFrame({"rater": self.numeric.rater_code, "value": self.numeric.value})
        value = pl.col("value")
        spread = coded.group_by("rater").agg(low=value.min(), high=value.max(), n=pl.len())
        same = spread.filter(pl.col("low") == pl.col("high"), pl.col("n") >= _SEVERAL).sort("rater")
        return tuple(self.numeric.rater_names[code] for code in same["rater"])

    @cached_property
    def aggregated(self) -> tuple[str, ...]:
        """Raters in the report whose answers are aggregated from those of several people."""
        return _aggregated(self.ratings)

    @property
    def aggregated_only(self) -> bool:
        """Whether there is nothing but answers aggregated from those of several people."""
        return len(self.aggregated) == self.summary.n_raters

    @property
    def one_rater(self) -> str:
        """Say that there is one rater; of aggregated answers, that there are no single ones."""
        return wording.SINGLE_AGGREGATED if self.aggregated_only else wording.SINGLE_RATER

    @cached_property
    def n_filled(self) -> int:
        """Absent answers that were taken as 0 before the report; at most, after later steps."""
        return sum(one.n for one in fillings(self.summary.history))

    @property
    def filled_is_most(self) -> bool:
        """Whether later steps may have left some of the answers out that were taken as 0."""
        return self.n_filled > 0 and fillings(self.summary.history)[-1].at_most

    @property
    def filled_note(self) -> str:
        """Say, where answers are counted, that absent ones are among them."""
        return wording.FILLED_NOTE if self.n_filled else ""

    @property
    def people_name(self) -> str:
        """What those are called who are no models: people, or their aggregated answers."""
        return "aggregated answers" if self.aggregated else "people"

    @cached_property
    def careless(self) -> Screening | None:
        """The people whom the policy ``panel`` takes to be careless; none where few can tell."""
        if self.people is None or self.people.n_raters < 3 or self.flow is not None:
            return None
        if not self.people.raters_known:
            return None
        return careless_raters(self.people)

    @property
    def careless_names(self) -> tuple[str, ...]:
        """Their names."""
        return () if self.careless is None else self.careless.raters_to_drop()

    @cached_property
    def without_careless(self) -> tuple[int, float, float] | None:
        """Labels, and their median reliability of means as it is and without careless people."""
        names, people = self.careless_names, self.people
        if not names or people is None or people.n_raters - len(names) < 2:
            return None
        rest = people.select(raters=[n for n in people.rater_names if n not in names])
        if self.reliability is None:
            return None
        found = reliability_of_means(rest, target="sample").to_frame()
        both = self.reliability.to_frame().join(found, on="label", suffix="_rest")
        both = both.filter(pl.col("value").is_not_nan() & pl.col("value_rest").is_not_nan())
        if both.is_empty():
            return None
        before, after = (float(np.median(both[n].to_numpy())) for n in ("value", "value_rest"))
        return both.height, before, after

    @cached_property
    def outcomes(self) -> Outcomes | None:
        """What became of each question, where the ratings say so."""
        ratings = self.ratings if self.controls is None else self.controls
        if "outcome" not in ratings.coded_frame.columns:
            return None
        people_only = all(map(is_person, ratings.rater_kinds))
        return Outcomes(outcome_table(ratings, everyone=people_only))

    @cached_property
    def panel(self) -> Ratings | None:
        """Those whose agreement is reported: people when there are two or more, else all."""
        if self.people is not None and self.people.n_raters > 1:
            return self.people
        return self.numeric if self.numeric is not None and self.numeric.n_raters > 1 else None

    @property
    def panel_name(self) -> str:
        """What the panel is called."""
        return "people" if self.panel is self.people else "all raters"

    @property
    def _target(self) -> Target:
        """What intervals are about, where there are any."""
        if not self.n_boot:
            return "sample"
        return "both" if self.ratings.raters_known else "stimuli"

    @cached_property
    def rater_model(self) -> SubjectModel | None:
        """Bias and inconsistency of each rater of the panel; None where answers are no scores."""
        if self.panel is None or not self.ordered or self.panel.scale.kind == "binary":
            # Yes or no, and votes that stop at a no, are not scores with errors of one size.
            return None
        if not self.panel.raters_known:
            return None
        return subject_model(self.panel, method="reml", by_label=False)

    @cached_property
    def duplicates(self) -> DuplicateRaters:
        """Raters who answer alike beyond what their agreement with the others allows."""
        assert self.numeric is not None
        if self.panel is self.numeric and self.rater_model is not None:
            return self.rater_model.duplicates
        return duplicate_raters(self.numeric)

    @cached_property
    def alpha(self) -> Estimates | None:
        """Krippendorff's alpha per label of the panel."""
        if self.panel is None:
            return None
        return krippendorff_alpha(
            self.panel, target=self._target, cluster=self.cluster, seed=self.seed
        )

    @cached_property
    def label_sets(self) -> Estimates | None:
        """Alpha of whole sets of labels; None where nobody chose several of a stimulus."""
        if self.panel is None or self.flow is not None:
            return None
        return alpha_of_label_sets(
            self.panel, target=self._target, cluster=self.cluster, seed=self.seed
        )

    @cached_property
    def clusters(self) -> StimulusClusters:
        """What stimuli were drawn with, as intervals of agreement take it."""
        return stimulus_clusters(self.panel or self.ratings, self.cluster)

    @cached_property
    def n_clusters(self) -> int | None:
        """How many clusters of stimuli there are; None where stimuli are drawn one by one."""
        found = self.clusters.on((self.panel or self.ratings).stimulus_names)
        return None if found is None else found.n

    @cached_property
    def others(self) -> tuple[Ratings, ...]:
        """Answers in numbers on other scales, of people where there are any, scale by scale."""
        found = []
        for names, _ in [] if self.elsewhere is None else by_scale(self.elsewhere.scales):
            part = self.elsewhere.select(labels=names)  # type: ignore[union-attr]
            kinds = sorted({kind for kind in part.rater_kinds if is_person(kind)})
            if part.scale.numeric and kinds and not np.isnan(part.value).all():
                found.append(part.select(rater_kind=kinds).answers())
        return tuple(found)

    @cached_property
    def scored(self) -> tuple[Ratings, ...]:
        """Answers that make the scores, of people where there are any, scale by scale."""
        main = self.people or self.numeric
        return () if main is None or self.flow is not None else (main, *self.others)

    @cached_property
    def scores(self) -> Scores | None:
        """Scores of all stimuli on all labels, the most reliable labels first."""
        if not self.scored:
            return None
        order: Sequence[str] = ()
        if self.reliability is not None:
            value = pl.col("value").fill_nan(None)
            known = self.reliability.to_frame()
            known = known.sort(value, descending=True, nulls_last=True, maintain_order=True)
            order = known["label"].to_list()
        return scores_of(self.scored[0].merge(*self.scored[1:]), order=order)

    @cached_property
    def differences(self) -> Result | None:
        """Differences between groups of stimuli, and of raters; None where nothing makes groups."""
        if not self.scored:
            return None
        try:
            return group_differences(self.scored[0], everyone=True, cluster=self.cluster)
        except InputError:
            return None

    @cached_property
    def reliability(self) -> Result | None:
        """Reliability of single raters and of means, on all scales; None where nothing shows it."""
        panels = [] if self.panel is None or self.flow is not None else [self.panel]
        panels += [part for part in self.others if part.n_raters > 1]
        if not panels:
            return None
        return reliability_of_means(
            panels[0].merge(*panels[1:]),
            everyone=True,
            target=self._target,
            cluster=self.cluster,
        )

    @cached_property
    def pictures(self) -> Pictures:
        """Where pictures of the stimuli may lie: in the folder given, and beside the source."""
        folders = [] if self.images is None else [self.images]
        for source in self.ratings.source.split("; "):
            if source and len(source) < _LONGEST_PATH and "\0" not in source:
                folders += [Path(source).parent] if Path(source).is_file() else []
        return Pictures(folders, self.images)

    @cached_property
    def _stimuli(self) -> dict[str, dict[str, Any]]:
        """Attributes of each stimulus."""
        return {str(row["stimulus"]): row for row in self.ratings.stimuli.iter_rows(named=True)}

    def picture_of(self, stimulus: str) -> Path | None:
        """Find the picture of a stimulus."""
        known = self._stimuli.get(stimulus, {})
        given = [known[name] for name in _FILES if isinstance(known.get(name), str)]
        return self.pictures.find(given, stimulus)

    def text_of(self, stimulus: str) -> str:
        """Give the words of a stimulus that is a text; empty where it is none."""
        known = self._stimuli.get(stimulus, {})
        return next((known[name] for name in _TEXTS if isinstance(known.get(name), str)), "")

    @cached_property
    def classified(self) -> ClassificationResult | str:
        """Models as classifiers, beside people; or why they are not judged as such."""
        numeric = self.numeric
        if numeric is None or self.people is None or self.models is None:
            return wording.NEEDS_BOTH
        if self.flow is not None:
            return wording.STOPPED_NO_TRUTH
        kind = numeric.scale.kind
        several = kind == "binary" and numeric.n_labels > 1
        if kind != "nominal" and not several:
            return wording.NO_CLASSES
        ratings, models = self.sources
        if several and any(table.scale.kind != "binary" for table in model_tables(models)):
            ratings, models = self.ratings, None
        try:
            return evaluate_classification(
                ratings,
                models,
                multilabel=several,
                soft_labels=False,
                cluster=self.cluster,
                n_boot=self.n_boot,
                seed=self.seed,
            )
        except InputError as error:
            return f"{error}."

    @cached_property
    def alpha_elsewhere(self) -> Estimates | None:
        """Alpha of the labels on other scales, each at its own level; None where there is none."""
        if self.elsewhere is None:
            return None
        kinds = {kind for kind in self.elsewhere.rater_kinds if is_person(kind)}
        people = self.elsewhere.select(rater_kind=sorted(kinds)) if kinds else self.elsewhere
        try:
            return krippendorff_alpha(people, target="sample")
        except InputError:  # Nothing but texts, or no answer of use.
            return None

    @cached_property
    def agreement(self) -> Agreement | None:
        """Alpha over the labels of the panel, and what may be said of it."""
        return None if self.alpha is None else agreement_of(self.alpha)

    @cached_property
    def _correlations(self) -> tuple[Estimates, Estimates] | None:
        """Interrater correlation per label, and per label and rater, of the panel.

        The report gives no interval of labels, which would take most of the time.
        """
        if self.panel is None or not self.ordered or not self.panel.raters_known:
            return None
        return of_labels_and_raters(self.panel)

    @property
    def correlation(self) -> Estimates | None:
        """Interrater correlation per label of the panel; None where answers have no order."""
        return None if self._correlations is None else self._correlations[0]

    @property
    def correlations(self) -> pl.DataFrame | None:
        """Interrater correlation of each rater of the panel, per label; None as above."""
        return None if self._correlations is None else self._correlations[1].to_frame()

    @cached_property
    def coefficients(self) -> tuple[tuple[Coefficient, Estimates], ...]:
        """Every coefficient beside alpha that suits the panel, as is usual, per label."""
        if self.panel is None:
            return ()
        tables = (
            (one, one.estimates(self.panel, target="sample"))
            for one in load_coefficients()
            if one.keys == ("label",) and one.name != "krippendorff_alpha"
        )
        return tuple((one, of) for one, of in tables if of is not None)

    @cached_property
    def pairs(self) -> PairAgreement | None:
        """Agreement of pairs of raters."""
        if self.numeric is None or self.numeric.n_raters < 2 or not self.numeric.raters_known:
            return None
        models = None if self._apart is None else side_by_side(self._apart[1])
        return pair_agreement(self.numeric, models)

    def compare_ahead(self, pool: Executor) -> None:
        """Compare models with people while the sections that need no comparison are made.

        It is most of the work, and its inner loops leave the interpreter to others. What others
        read, too, is computed before, so that no two threads compute it.
        """
        if self.incomparable is None:
            self._ahead = pool.submit(Beside.of, *self.sources, **self._how_beside)

    @cached_property
    def beside(self) -> Beside:
        """Models beside people."""
        if self.incomparable is not None:
            return Beside(None, self.incomparable)
        if self._ahead is not None:
            return self._ahead.result()
        return Beside.of(*self.sources, **self._how_beside)

    @property
    def _how_beside(self) -> dict[str, Any]:
        return {
            "without": self.careless_names,
            "target": self._target,
            "cluster": self.cluster,
            "seed": self.seed,
        }

    @cached_property
    def incomparable(self) -> str | None:
        """Why models cannot be compared with people, None where they can."""
        if self.numeric is None:
            return wording.NO_NUMBERS
        if self.people is None or self.models is None:
            return wording.no_side("people" if self.people is None else "models")
        if self.flow is not None:
            return wording.STOPPED_CHOSEN
        if not self.people.raters_known:
            return wording.NO_RATERS
        if self.people.n_raters < 2:
            return wording.NO_AGREEMENT_OF_MEANS if self.aggregated else wording.ONE_PERSON
        return None

    @cached_property
    def flow(self) -> ConsensusFlow | None:
        """Rounds of a sequential yes/no protocol; None when the votes do not look like one.

        They need not look like one when the ratings record the round of every answer. Otherwise
        they do when the scale is binary, the number of votes per stimulus and label differs and is
        at most 4, at most 1 in 20 of those voted on again had a no before the last vote, and at
        least 9 in 10 of those that stopped early stopped at a no. Single votes may belong to a
        contrastive round, so they are looked at only where nothing else stopped early.
        """
        numeric = self.numeric
        if numeric is None or numeric.scale.kind != "binary" or not numeric.raters_known:
            return None
        flow = consensus_flow(numeric)
        if flow.recorded:
            return flow
        cell = numeric.label_code.astype(np.int64) * numeric.n_stimuli + numeric.stimulus_code
        _, item = np.unique(cell, return_inverse=True)
        votes = np.bincount(item)
        again = int((votes >= 2).sum())
        if votes.min() == votes.max() or votes.max() > 4 or again == 0:
            return None
        refused = votes > np.bincount(item, numeric.value)
        stopped = votes < votes.max()
        if (stopped & (votes >= 2)).any():
            stopped &= votes >= 2
        if refused[stopped].mean() < _STOPPED_AT_NO:
            return None
        return flow if flow.out_of_protocol <= again * _OUT_OF_PROTOCOL else None

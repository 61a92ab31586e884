"""Are models inside the range of people? All that is needed to say so, in one call."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import mean_of_defined
from affectlab.core.errors import unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Reason
from affectlab.core.inference import Target, holm
from affectlab.core.interface.spelling import spelled
from affectlab.core.result import Result
from affectlab.core.statistic import Clusters
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Share, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.wording import coverage_text
from affectlab.core.words import percent, plural
from affectlab.evaluation.human_alignment import wording
from affectlab.evaluation.human_alignment.alt_test import AltTest, alt_test_of
from affectlab.evaluation.human_alignment.ceiling import HumanCeiling, ceiling_of
from affectlab.evaluation.human_alignment.equivalence import Verdict, check_margin, two_one_sided
from affectlab.evaluation.human_alignment.measures import Measure, Measured, part_of
from affectlab.evaluation.human_alignment.panel import AlignmentPanel, panel_of
from affectlab.evaluation.people_and_models import people_of
from affectlab.ratings import ClusterLike, ModelRatings, Ratings, of_known_raters, stimulus_clusters
from affectlab.reliability.agreement import Rated, weak_design_like
from affectlab.reliability.screening import careless_raters


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AlignmentResult(Result):
    """Models beside people: a sentence and a row per model.

    The first measure decides: kappa, or Lin's concordance on a scale without steps; Spearman's
    correlation of a model that cannot be put on the scale of people. The table
    ``models`` has its columns ``rater``, ``rater_kind``, ``verdict``, ``measure``, ``agreement``,
    ``people``, ``difference``, ``low``, ``high``, ``test_low``, ``test_high``, ``p``, ``p_holm``,
    ``at_least``; ``spearman``, ``spearman_people``, ``spearman_difference``, ``spearman_low``,
    ``spearman_high``, ``spearman_labels`` (null on a nominal scale); ``people_below``,
    ``n_people``; ``winning_rate``, ``advantage``, ``passed``; ``n_items``, ``n_labels``,
    ``n_ratings``, ``coverage``, ``margin``, ``epsilon``, ``constant_answer``, ``status``,
    ``reason``. The table
    ``models_and_people`` has a row per model and per person, with each measure against (the other)
    people.
    """

    ceiling: HumanCeiling
    """People against the other people, on all stimuli."""
    alt: AltTest
    """The alternative-annotator test."""
    margin: float
    alpha: float
    """Level of each of the two one-sided tests."""
    primary: str
    """The measure that decides."""
    measure_words: str
    """Its name in a sentence."""
    pooled: bool = False
    """Whether it is from disagreement pooled over pairs, since people share few stimuli."""
    without: tuple[str, ...] = ()
    """People whose answers do not count, as they are taken to be careless."""
    with_everyone: AlignmentResult | None = None
    """The same with their answers; None where nobody is left out."""

    trained: tuple[str, ...] = ()
    """Which models were trained on what they are judged on, which the sentences begin with."""

    @property
    def changed(self) -> dict[str, Verdict]:
        """Models whose verdict would be another with everyone, and that verdict."""
        if self.with_everyone is None:
            return {}
        own = self.verdicts
        every = self.with_everyone.verdicts
        return {name: every[name] for name in own if every.get(name, own[name]) != own[name]}

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Model to ``inside`` (the range), ``below``, ``above``, ``not shown`` or ``undefined``."""
        return dict(self.to_frame().select("rater", "verdict").iter_rows())

    @property
    def agreement(self) -> Estimates:
        """By ``measure`` and ``rater``: each model with people."""
        return Estimates((self.table("agreement"),))

    @property
    def difference(self) -> Estimates:
        """By ``measure`` and ``rater``: the model with people - people with one another.

        On the same stimuli and labels, and for Spearman with the same panels. Beside it
        ``agreement``, ``people``, ``margin``, ``p_lower``, ``p_upper``, ``p``, ``p_holm`` (for all
        models together), ``test_low`` and ``test_high`` (the interval of coverage 1 - 2 alpha,
        which decides), ``verdict``, ``at_least`` (not worse than a person by the margin), ``df``,
        ``people_share`` (of the variance, due to the choice of people), ``n_labels``,
        ``coverage``, ``people_below`` (people who agree less with the others than the model does)
        and ``n_people``.
        """
        return Estimates((self.table("difference"),))

    @property
    def by_label(self) -> Estimates:
        """By ``measure``, ``rater``, ``label``: the difference, with ``agreement``, ``people``."""
        return Estimates((self.table("by_label"),))


_MEASURES = {
    "kappa": "mean kappa with people",
    "concordance": "mean concordance with people",
    "spearman": "Spearman with the median",
}
_FEW_PEOPLE = 5
_FEW_SHARED = 30
_WIDE = 0.5
"""Share of the agreement of people from which on a margin is wide."""
_LITTLE = 0.2
"""Agreement of people below which a smaller epsilon is advised."""
_HARDLY = 0.1
"""Share of the median agreement of people below which a person hardly agrees with anybody."""


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Models and people, drawn together, and what is asked of them."""

    panel: AlignmentPanel
    measures: tuple[Measure, ...]
    """The first one decides."""
    found: Estimates
    """What was measured, with its uncertainty."""
    clusters: Clusters | None
    """What stimuli are left out with."""
    alt: AltTest
    ceiling: HumanCeiling
    margin: float
    confidence: float
    alpha: float

    @property
    def first(self) -> Measure:
        """The measure that decides, where a model is on the scale of people."""
        return self.measures[0]

    def decides(self, model: str) -> str:
        """Name the measure that decides of a model."""
        return "spearman" if model in self.panel.unmapped else self.first.name

    def deciding(self) -> pl.DataFrame:
        """The row of each model by the measure that decides."""
        rows = [
            self.difference.frame.filter(rater=model, measure=self.decides(model))
            for model in self.panel.models
        ]
        return pl.concat(rows)

    @cached_property
    def target(self) -> str:
        """What the intervals of models are about, ``none`` where there are none."""
        about = self.difference.frame["target"].unique().to_list()
        return next((name for name in about if name != "none"), "none")

    @property
    def units(self) -> str:
        """What is left out with people: stimuli, or what these belong to."""
        return "stimuli" if self.clusters is None else self.clusters.units

    def agreement(self) -> Estimates:
        """Agreement of each model with people."""
        return part_of(self.found, "agreement", ("measure", "rater"))

    @cached_property
    def difference(self) -> Estimates:
        """The agreement of each model less that of people, with the tests of equivalence."""
        frame = self.found.frame.with_row_index("row").filter(part="difference")
        sure = self._sure(frame["row"].to_numpy())
        each = zip(frame.iter_rows(named=True), sure.iter_rows(named=True), strict=True)
        extra = []
        for measure in self.measures:
            models, among = (of[:, 0].tolist() for of in measure.over_labels())
            rows = [
                self._tested(measure, *next(each), f, models[f], among[f], beside)
                for f, beside in enumerate(measure.persons_beside())
            ]
            adjusted = holm(np.array([row["p"] for row in rows], dtype=np.float64))
            extra += [row | {"p_holm": float(p)} for row, p in zip(rows, adjusted, strict=True)]
        types = {"at_least": pl.Boolean, "people_below": pl.Int64}
        more = pl.DataFrame(extra, schema_overrides=types)
        return part_of(self.found, "difference", ("measure", "rater"), more)

    def _sure(self, rows: Ints) -> pl.DataFrame:
        """Bias, degrees of freedom, and the part of people in the variance, of some values."""
        if (jackknife := self.found.jackknife) is None:
            return pl.DataFrame(dict.fromkeys(("bias", "df", "people_share"), [np.nan] * rows.size))
        known = {
            "bias": jackknife.bias,
            "df": jackknife.spread()[1],
            "people_share": jackknife.share("raters"),
        }
        return pl.DataFrame({name: of[rows] for name, of in known.items()})

    def _tested(
        self,
        measure: Measure,
        row: dict[str, Any],
        sure: dict[str, float],
        f: int,
        model: float,
        people: float,
        beside: Floats,
    ) -> dict[str, Any]:
        """Place one model beside people, by one measure."""
        value, se = row["value"], row["se"]
        # The interval lies around the value less its bias, and so does the one that decides.
        middle = value if math.isnan(sure["bias"]) else value - sure["bias"]
        tested = two_one_sided(middle, se, self.margin, sure["df"], self.alpha)
        # Within such a margin lies a model that agrees with nobody.
        too_wide = self.margin >= people
        verdict = "not shown" if too_wide and tested.verdict == "inside" else tested.verdict
        known = beside[~np.isnan(beside)]
        return {
            "rater_kind": self.panel.model_kinds[f],
            "agreement": model,
            "people": people,
            "margin": self.margin,
            "p_lower": tested.p_lower,
            "p_upper": tested.p_upper,
            "p": tested.p,
            "test_low": tested.low,
            "test_high": tested.high,
            "verdict": verdict,
            "at_least": None if np.isnan(tested.p_lower) or too_wide else tested.at_least,
            "df": math.nan if math.isnan(se) else sure["df"],
            "people_share": math.nan if math.isnan(se) else sure["people_share"],
            "n_labels": int(measure.both[f].sum()),
            "coverage": float(self.panel.coverage[f]),
            "people_below": None if math.isnan(value) else int((known < model).sum()),
            "people_min": float(known.min()) if known.size else None,
            "people_max": float(known.max()) if known.size else None,
            "n_people": self.panel.n_people,
        }

    def by_label(self) -> Estimates:
        """The difference of each model, label by label."""
        more = pl.DataFrame(
            {
                "agreement": np.concatenate([m.models[:, :, 0].ravel() for m in self.measures]),
                "people": np.concatenate([m.among[:, :, 0].ravel() for m in self.measures]),
            }
        )
        return part_of(self.found, "by_label", ("measure", "rater", "label"), more)

    # What people are shown.

    @cached_property
    def titles(self) -> dict[str, str]:
        """What the measures are called."""
        titles: dict[str, str] = {one.name: _MEASURES[one.name] for one in self.measures}
        if self.first.pooled:
            titles[self.first.name] = f"pooled {self.first.name} with people"
        return titles

    @cached_property
    def models_table(self) -> Table:
        """One row per model, with the columns of the measure that decides."""
        frame, first = self.difference.frame, self.first
        second = frame.filter(pl.col("measure") == "spearman").select(
            "rater",
            spearman="agreement",
            spearman_people="people",
            spearman_difference="value",
            spearman_low="low",
            spearman_high="high",
            spearman_labels="n_labels",
        )
        won = self.alt.frame.select(
            "rater", "advantage", "passed", "epsilon", "constant_answer", winning_rate="value"
        )
        both = self.deciding()
        for other in (second, won):
            both = both.join(other, on="rater", how="left", maintain_order="left")
        models = both.rename({"value": "difference"}).select(
            *("rater", "rater_kind", "verdict", "measure", "agreement", "people", "difference"),
            *("low", "high", "test_low", "test_high", "p", "p_holm", "at_least"),
            *("spearman", "spearman_people"),
            *("spearman_difference", "spearman_low", "spearman_high", "spearman_labels"),
            *("people_below", "n_people"),
            *("winning_rate", "advantage", "passed", "n_items", "n_labels", "n_ratings"),
            *("coverage", "margin", "epsilon", "constant_answer", "status", "reason"),
        )
        names = models["measure"].unique().to_list()
        columns = [
            Key("rater", "model"),
            Text("verdict", "human range"),
            *([Text("measure")] if len(names) > 1 else []),
            Number("agreement", names[0] if len(names) == 1 else "agreement"),
            Number("people", "of people", spare=True),
            Number("difference"),
            Interval(head=f"{percent(self.confidence)} interval"),
        ]
        if first.name != "spearman" and models["spearman"].is_not_null().any():
            columns.append(Number("spearman", "Spearman", spare=True))
        partial = bool((models["coverage"] < 1).any())
        columns += [
            Count("people_below", "people below", spare=True),
            Share("winning_rate", "alt-test"),
            Share("coverage") if partial else Count("n_items", "stimuli"),
        ]
        notes = wording.models_notes(self.margin, self.panel.n_people, self.alt.epsilon)
        return Table("models", wording.MODELS_CAPTION, models, tuple(columns), notes=notes)

    def everybody(self) -> Table:
        """Models first, then people, with each measure against (the other) people."""

        def wide(frame: pl.DataFrame, value: str, kind: str) -> pl.DataFrame:
            rows = frame.select("rater", "measure", value)
            table = rows.pivot("measure", index="rater", values=value, maintain_order=True)
            return table.with_columns(rater_kind=pl.lit(kind))

        beside = self.models_table.frame.select("rater", "n_ratings", "coverage", "people_below")
        own = wide(self.difference.frame, "agreement", "model")
        own = own.join(beside, on="rater", how="left", maintain_order="left")
        people = wide(self.ceiling.people.frame, "value", "person")
        both = pl.concat([own, people], how="diagonal")
        return Table(
            "models_and_people",
            wording.EVERYBODY_CAPTION,
            both.select("rater", "rater_kind", pl.exclude("rater", "rater_kind")),
            (
                Key("rater"),
                Text("rater_kind", "kind"),
                *(Number(name, title) for name, title in self.titles.items()),
            ),
            limit=0,
        )

    def figures(self) -> tuple[Figure, ...]:
        """Models on the range of people, and their differences with the margin."""
        target, words = self.target, self.first.words
        over = {"raters": "people", "both": f"{self.units} and people"}.get(target, target)
        lines = f", with {percent(self.confidence)} intervals over {over}"
        verdicts = self.models_table.frame.select("rater", "verdict").iter_rows()
        ranges = (
            Figure(
                "people_range" if measure is self.first else f"people_range_{measure.name}",
                "people_range",
                of="models_and_people",
                title=wording.RANGE_TITLE,
                description=wording.RANGE_DESCRIPTION,
                options={"value": measure.name, "value_name": self.titles[measure.name]},
            )
            for measure in self.measures
        )
        margins = Figure(
            "equivalence",
            "equivalence",
            of="models",
            title=wording.MARGIN_TITLE,
            caption=wording.margin_caption(words, lines if target != "none" else "", self.margin),
            description="; ".join(f"{name}: {verdict}" for name, verdict in verdicts),
            options={
                "margin": self.margin,
                "inner_name": f"{percent(1 - 2 * self.alpha)} interval, which decides",
                "value_name": f"{words}: model with people - people with one another",
            },
        )
        return (*ranges, margins)

    def sentence(self, f: int) -> str:
        """Say in one sentence where a model stands, and what that rests on."""
        model = self.panel.models[f]
        measure = self.decides(model)
        row = self.difference.frame.filter(rater=model, measure=measure).row(0, named=True)
        basis = wording.Basis(
            self.panel.n_people,
            row["n_items"],
            self.panel.n_offered_stimuli,
            row["n_labels"] or len(self.panel.labels),
            float(self.panel.coverage[f]),
            ""
            if self.clusters is None
            else plural(self.clusters.n, self.clusters.name, self.clusters.units),
        )
        if row["verdict"] == "undefined":
            return wording.cannot_be_placed(model, str(Reason.of_row(row["reason"])), basis)
        words = self.first.words if self.first.pooled else f"mean {self.first.words}"
        return wording.verdict(row, words, self.target, basis, self.confidence)

    # What weakens the comparison.

    def _on_coverage(self) -> Iterator[str]:
        """Say which intervals hold too rarely, as simulations of studies alike have shown."""
        if self.units != "stimuli":
            return
        parts = [Rated(part.item, part.person, part.value) for part in self.panel.parts]
        for measure, (name, what) in product(self.measures, _SIMULATED.items()):
            statistic = name if measure.name == "kappa" else f"{name}_by_{measure.name}"
            weak = [weak_design_like(statistic, self.target, part) for part in parts]
            if worst := min(filter(None, weak), key=lambda one: one.coverage, default=None):
                yield f"{what} ({measure.words}): {coverage_text(worst.fact)}."

    def notes(self) -> tuple[str, ...]:
        """Say what a reader has to know beside the verdicts."""
        panel = self.panel
        rows = self.deciding().to_dicts()
        notes = [f"{note[:1].upper()}{note[1:]}." for note in panel.notes]
        for why in dict.fromkeys(panel.unmapped.values()):
            whom = [name for name, one in panel.unmapped.items() if one == why]
            notes.append(wording.other_scale([] if panel.ranks_only else whom, why))
        notes += self._on_people()
        notes += self._on_strangers()
        notes += self._on_margin(rows)
        notes += self._on_coverage()
        partial = {row["rater"]: row["coverage"] for row in rows if row["coverage"] < 1 - 1e-9}
        if partial:
            notes.append(wording.partial_answers(partial))
        for measure in self.measures:
            judged = panel.n_people > 1
            n_labels = {
                name: n
                for name, n in zip(panel.models, (~measure.both).sum(axis=1).tolist(), strict=True)
                if n and judged and (measure.name == "spearman" or name not in panel.unmapped)
            }
            if n_labels:
                notes.append(wording.undefined_labels(measure.words, n_labels))
        notes += self._on_several(rows)
        return tuple(notes)

    def _on_several(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say what holds for all models together, where there are several."""
        tested = [row for row in rows if not math.isnan(row["p"])]
        inside = [row for row in tested if row["verdict"] == "inside"]
        if len(tested) < 2 or not inside:
            return []
        held = [row["rater"] for row in inside if row["p_holm"] <= self.alpha]
        names = [row["rater"] for row in inside]
        return [wording.several_models(len(tested), self.alpha, names, held)]

    def _on_people(self) -> list[str]:
        """Say what follows from the number of people, and where two people share few stimuli."""
        n, measure, target = self.panel.n_people, self.first, self.target
        if n == 1:
            return [wording.one_person()]
        notes = []
        if target not in ("none", "both", "raters"):
            notes.append(wording.about_these(target, n))
        elif n < _FEW_PEOPLE and target != "none":
            notes.append(wording.few_people(n))
        shared = _shared_by_pairs(self.panel)
        if measure.pooled:
            notes.append(wording.pooled(round(shared), measure.words))
        elif shared < _FEW_SHARED and measure.name != "spearman":
            notes.append(wording.few_shared(round(shared), measure.words))
        return notes

    def _on_strangers(self) -> list[str]:
        """Name people who agree with nobody, while the others do."""
        own = mean_of_defined(self.first.persons[:, :, 0], axis=1)
        known = own[~np.isnan(own)]
        median = float(np.median(known)) if known.size > 2 else 0.0
        far = {
            name: float(value)
            for name, value in zip(self.panel.people, own, strict=True)
            if value < _HARDLY * median
        }
        return [wording.disagreeing_people(far, median)] if median >= _HARDLY and far else []

    def _on_margin(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say where the margin, or what the alternative-annotator test allows, is wide."""
        people = [row["people"] for row in rows if not math.isnan(row["people"])]
        if not people:
            return []
        least, notes = min(people), []
        if self.margin >= _WIDE * least:
            notes.append(wording.wide_margin(self.margin, least))
        if least < _LITTLE and self.alt.epsilon > 0.1:
            notes.append(wording.large_epsilon(self.alt.epsilon))
        return notes


def _shared_by_pairs(panel: AlignmentPanel) -> float:
    """Median number of stimuli that two people share who share any, on the fullest label."""
    part = max(panel.parts, key=lambda part: part.value.size)
    if part.whole:
        return float(part.rated.sum())
    n = panel.n_people
    if n * part.n_items > 1 << 26:
        # Too large for a table: what a person shares with the average other person they meet.
        size = np.bincount(part.item, minlength=part.n_items)
        met = np.bincount(part.person, weights=size[part.item] - 1.0, minlength=n)
        return float(np.median(met / (n - 1)))
    table = np.zeros((n, part.n_items), dtype=np.float32)
    table[part.person, part.item] = 1.0
    together = (table @ table.T)[np.triu_indices(n, 1)]
    shared = together[together > 0]
    return float(np.median(shared)) if shared.size else 0.0


@of_known_raters
@spelled
def alignment(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    margin: float = 0.05,
    epsilon: float = 0.2,
    exclude: Collection[str] = (),
    truncate: bool = False,
    without: str | Collection[str] | None = None,
    target: Target = "both",
    cluster: ClusterLike = None,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int | np.random.Generator | None = 0,
) -> AlignmentResult:
    r"""Place models in the range of people, and say what is shown about them.

    With :math:`\kappa_{abe}` the quadratic weighted kappa of raters a and b on label e, P people
    and E labels, the agreement of a model f with people, and that of people with one another, are

    .. math::

        \kappa_f = \frac{1}{E} \sum_e \frac{1}{P} \sum_j \kappa_{fje}, \qquad
        \kappa_h = \frac{1}{E} \sum_e \frac{2}{P (P - 1)} \sum_{j < k} \kappa_{jke},

    and what is judged is their difference. Where pairs of people share few stimuli, kappas of pairs
    are biased towards 0, and more so than those with a model, which answered all; disagreement,
    observed and by chance, is then pooled over pairs before dividing (a *pooled* kappa, see
    ``measure_words`` and the notes), which puts a model that answers as a person does where people
    are. Complete tables keep the means over pairs.

    By Spearman's correlation each person meets the median of the *other* people, and a model meets
    the same medians, those without each person in turn: a median of more people is less noisy and
    agrees better with anybody. A model that answered part
    of the stimuli is compared with people on that part.

    Intervals come from leaving out stimuli, people, and both: another study would have other
    stimuli and other people. Kappas, medians and ranks are computed anew without each.

    Whether a model is inside the human range is decided by two one-sided tests: the difference must
    be *shown* to be smaller than the margin, see :func:`equivalence`. Beside it stands the
    alternative-annotator test, see :func:`alt_test`.

    Parameters
    ----------
    ratings, models
        People and models, see ``sides``; several tables of models where they have scales of their
        own. Ranks are those of the models'
        own values. For kappa, concordance and the alternative-annotator test each model is put on
        the people's scale from its own, see ``on_scale``: linearly between the bounds where
        both are declared; the steps of kappa are rounded to. Of a model without such a map these
        measures are left out, the notes say why, and Spearman's correlation decides.
    margin
        The largest difference of agreement that does not matter; state it before looking. The
        default of 0.05 is a quarter of the width of the customary bands of kappa (0.2 to 0.4 fair,
        0.4 to 0.6 moderate), and about what one person of a panel differs from the next; where
        people hardly agree it is too wide, and the notes say so; where it is not below their
        agreement nothing is shown by it, and no model is ``inside``.
    epsilon
        What a model may lose in the alternative-annotator test for being cheaper: 0.2 beside
        experts, 0.15 beside skilled people, 0.1 beside crowd workers.
    exclude
        Labels that are left out.
    truncate
        Drop the fractions of models for kappa, in place of rounding.
    without
        People whose answers do not count; by default those who are taken to be careless, see
        :func:`~affectlab.reliability.screening.careless_raters`, as beside them any model looks
        good. ``"none"`` for nobody. With everyone is said where that makes another verdict.
    target
        What intervals are about: other stimuli and other people; other stimuli alone, which claims
        less; other people alone, three or more; or ``"sample"``, for no interval and no verdict.
    cluster
        What stimuli belong to, which are then left out together: a column of the stimulus table, a
        mapping from stimulus to cluster, or ``"none"``; see :func:`stimulus_clusters`. By default
        a column like ``actor`` that several stimuli share in most of its values.
    confidence
        Coverage of the intervals, in (0, 1). Verdicts use their own, of coverage 1 - 2 alpha.
    alpha
        Level of the tests of equivalence.
    seed
        Seed or generator of the groups in which stimuli and people are left out, where they are
        many.

    Returns
    -------
    A result with a sentence and a verdict per model, and the tables behind them. Labels on which a
    model or people are not defined (one answer throughout) are left out of the mean of both, and
    counted.
    Every model is tested at the level alpha; ``p_holm`` holds for all of them together.

    Raises
    ------
    InputError
        When people or models are missing, they share nothing, or an option cannot be used.

    Notes
    -----
    Variances of stimuli and of people are added, less that of single answers, which both hold
    (:func:`~affectlab.core.inference.infer`). A label that is not defined without a stimulus, or
    person, stays as it is then, as long as it is one in ten. Two people cannot be generalised to
    others: intervals are then over stimuli, and say so; so are those of each of three people,
    who is compared with two.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4. MacKinnon, Nielsen and Webb (2024),
    Jackknife inference with two-way clustering. Schuirmann (1987). Calderon, Reichart and Dror
    (2025).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.normal(3.5, 2, 600)
    >>> def answers(names, noise, kind):
    ...     value = [truth + rng.normal(0, noise, 600) for _ in names]
    ...     return Ratings({"stimulus": [f"s{k}" for _ in names for k in range(600)],
    ...                     "rater": [name for name in names for _ in range(600)],
    ...                     "value": np.clip(np.rint(np.concatenate(value)), 0, 7)}, scale="0-7",
    ...                    raters={"rater": names, "rater_kind": [kind] * len(names)})
    >>> people = answers([f"p{k}" for k in range(12)], 1.5, "human")
    >>> models = answers(["good"], 1.5, "model").merge(answers(["poor"], 4, "model"))
    >>> alignment(people, models).verdicts
    {'good': 'inside', 'poor': 'below'}
    """
    check_margin(margin, alpha)
    panel = panel_of(ratings, models, exclude=exclude, truncate=truncate)
    out = _left_out(ratings, panel, without)
    how = {
        "margin": margin,
        "epsilon": epsilon,
        "exclude": exclude,
        "truncate": truncate,
        "target": target,
        "cluster": cluster,
        "confidence": confidence,
        "alpha": alpha,
        "seed": seed,
    }
    if not out or len(panel.people) - len(out) < 2:
        return _aligned(ratings, panel, **how)  # type: ignore[arg-type]
    everyone = _aligned(ratings, panel, **how)  # type: ignore[arg-type]
    rest = ratings.select(raters=[name for name in ratings.rater_names if name not in out])
    left = panel_of(rest, models, exclude=exclude, truncate=truncate)
    judged = _aligned(rest, left, **how)  # type: ignore[arg-type]
    judged = replace(judged, without=out, with_everyone=everyone)
    table = replace(
        everyone.tables[0], name="with_everyone", caption="The same with everyone.", limit=0
    )
    first = len(judged.trained)
    return replace(
        judged,
        tables=(*judged.tables, table),
        sentences=(
            *judged.trained,
            wording.without_careless(judged.without, judged.changed),
            *judged.sentences[first:],
        ),
    )


def _left_out(
    ratings: Ratings, panel: AlignmentPanel, without: str | Collection[str] | None
) -> tuple[str, ...]:
    """Name the people whose answers do not count."""
    if without is None:
        found = careless_raters(people_of(ratings)).raters_to_drop()
        return tuple(name for name in panel.people if name in found)
    named = (without,) if isinstance(without, str) else tuple(without)
    if named == ("none",):
        return ()
    for name in named:
        if name not in panel.people:
            raise unknown_name("person", name, panel.people)
    return named


def _aligned(
    ratings: Ratings,
    panel: AlignmentPanel,
    *,
    margin: float,
    epsilon: float,
    exclude: Collection[str],
    truncate: bool,
    target: Target,
    cluster: ClusterLike,
    confidence: float,
    alpha: float,
    seed: int | np.random.Generator | None,
) -> AlignmentResult:
    """Judge models beside the people of a panel."""
    measured = Measured(panel)
    clusters = stimulus_clusters(ratings, cluster)
    drawn = clusters.on(panel.stimuli) if target in ("both", "stimuli") else None
    sure = measured.infer(target, drawn, confidence, seed)
    ceiling = ceiling_of(measured.measures, sure)
    alt = alt_test_of(panel, epsilon=epsilon)
    found = _Comparison(
        panel, measured.measures, sure, drawn, alt, ceiling, margin, confidence, alpha
    )
    behind = {
        "difference": found.difference.tables[0],
        "agreement": found.agreement().tables[0],
        "by_label": found.by_label().tables[0],
        "people": ceiling.table("people"),
        "alt_test": alt.table("alt_test"),
        "alt_test_people": alt.table("people"),
    }
    return AlignmentResult(
        (
            found.models_table,
            ceiling.table("ceiling"),
            found.everybody(),
            *(replace(table, name=name, limit=0) for name, table in behind.items()),
        ),
        (*panel.trained, *map(found.sentence, range(len(panel.models)))),
        found.figures(),
        (*found.notes(), *clusters.notes_for({found.target})),
        {
            "margin": margin,
            "epsilon": epsilon,
            "exclude": list(exclude),
            "truncate": truncate,
            "target": target,
            "units": "stimuli" if drawn is None else drawn.units,
            "confidence": confidence,
            "alpha": alpha,
        },
        ceiling=ceiling,
        alt=alt,
        margin=margin,
        alpha=alpha,
        primary=found.first.name,
        measure_words=found.first.words,
        pooled=found.first.pooled,
        trained=panel.trained,
    )


_SIMULATED = {
    "alignment": "Difference of models and people",
    "agreement_of_a_model": "Agreement of models with people",
    "agreement_of_people": "Agreement of people",
    "agreement_of_a_person": "Agreement of a person with the others",
}
"""What the atlas calls what is told here, in ``benchmarks/coverage.py``, and what it is."""

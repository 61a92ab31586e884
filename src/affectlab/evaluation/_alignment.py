"""Are models inside the range of people? All that is needed to say so, in one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from affectlab._multiple_tests import holm
from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab.estimates import Estimates
from affectlab.evaluation._alignment_draws import Draws, Resample, draw
from affectlab.evaluation._alignment_measures import Measure, measures_of
from affectlab.evaluation._alignment_panel import Panel, panel_of
from affectlab.evaluation._alignment_result import AlignmentResult
from affectlab.evaluation._alignment_spread import columns_of, spread_of
from affectlab.evaluation._alignment_words import notes_on, sentence_on
from affectlab.evaluation._alt_test import alt_test_of
from affectlab.evaluation._ceiling import ceiling_of, method_of
from affectlab.evaluation._equivalence import check_margin, two_one_sided
from affectlab.ratings import Ratings

__all__ = ["alignment"]


def alignment(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    margin: float = 0.05,
    epsilon: float = 0.2,
    exclude: Collection[str] = (),
    truncate: bool = False,
    n_boot: int = 1000,
    resample: Resample = "both",
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

    Intervals come from a two-way bootstrap: stimuli are drawn, and people are drawn, and kappas,
    medians and ranks are computed anew, since another study would have other stimuli and other
    people. In a replicate a pair of people counts with the product of their numbers of copies, and
    **a person never meets a copy of theirs**: two copies agree perfectly, which would raise the
    agreement of people in every replicate. Likewise all copies of a person are left out together.

    Whether a model is inside the human range is decided by two one-sided tests: the difference must
    be *shown* to be smaller than the margin, see :func:`equivalence`. Beside it stands the
    alternative-annotator test, see :func:`alt_test`.

    Parameters
    ----------
    ratings, models
        People and models, see :func:`affectlab.evaluation.sides`. Ranks are those of the models'
        own values. For kappa, concordance and the alternative-annotator test models are put on the
        people's scale, see :func:`affectlab.evaluation.on_scale`: linearly between the bounds where
        both are declared; the steps of kappa are rounded to. Where there is no such map these
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
    n_boot
        Bootstrap replicates, two or more; 0 for no interval, and no verdict.
    resample
        ``"both"``; ``"units"`` for stimuli alone, which claims less: about these people and no
        others; ``"raters"`` for people alone, three or more.
    confidence
        Coverage of the intervals, in (0, 1). Verdicts use their own, of coverage 1 - 2 alpha.
    alpha
        Level of the tests of equivalence.
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    AlignmentResult: sentences, verdicts and the tables behind them. Labels on which a model or
    people are not defined (one answer throughout) are left out of the mean of both, and counted.
    Every model is tested at the level alpha; ``p_holm`` holds for all of them together.

    Raises
    ------
    InputError
        When people or models are missing, they share nothing, or an option cannot be used.

    Notes
    -----
    Drawing P of P people shows only (P - 1)/P of the variance due to people; the rest is added
    from leaving out each person in turn. Drawing people and stimuli at once counts what is due to
    single answers three times; two of these are taken out, with the help of leaving out groups of
    stimuli. Two people cannot be resampled: intervals are then over stimuli, and say so.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, section 4. Owen (2007), The Pigeonhole Bootstrap, Annals
    of Applied Statistics 1. Schuirmann (1987). Calderon, Reichart and Dror (2025).

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
    >>> alignment(people, models, n_boot=200, seed=1).verdicts
    {'good': 'inside', 'poor': 'below'}
    """
    check_margin(margin, alpha)
    check_confidence(confidence)
    panel = panel_of(ratings, models, exclude=exclude, truncate=truncate)
    draws = draw(panel.stimuli, panel.people, n_boot, resample, seed)
    measures = measures_of(panel, draws)
    difference = _differences(panel, measures, draws, margin, confidence, alpha)
    ceiling = ceiling_of(panel, measures, draws, confidence)
    alt = alt_test_of(panel, epsilon=epsilon)
    first = measures[0]
    rows = difference.frame.to_dicts()
    verdicts = {row["rater"]: row["verdict"] for row in rows if row["measure"] == first.name}
    sentences = tuple(
        sentence_on(panel, f, measures, difference, alt, draws, confidence, alpha)
        for f in range(len(panel.models))
    )
    return AlignmentResult(
        sentences=sentences,
        verdicts=verdicts,
        notes=notes_on(panel, measures, difference, draws, alt, alpha),
        agreement=_agreement(panel, measures, draws, confidence),
        difference=difference,
        by_label=_by_label(panel, measures, draws, confidence),
        ceiling=ceiling,
        alt=alt,
        margin=margin,
        alpha=alpha,
        primary=first.name,
        measure_words=first.words,
        pooled=first.pooled,
    )


def _keys(panel: Panel, measures: Sequence[Measure]) -> dict[str, list[str]]:
    return {
        "measure": [measure.name for measure in measures for _ in panel.models],
        "rater": list(panel.models) * len(measures),
    }


def _agreement(
    panel: Panel, measures: Sequence[Measure], draws: Draws, confidence: float
) -> Estimates:
    n_items = len(panel.stimuli)
    spreads = []
    for measure in measures:
        # A single person has no others; a model may still agree with that person.
        rows = measure.alone() if panel.n_people < 2 else measure.over_labels()[0]
        spreads.append(spread_of(rows, draws, n_items, confidence).clipped())
    columns = columns_of(spreads)
    counts = [panel.counts(f) for f in range(len(panel.models))] * len(measures)
    return Estimates.build(
        _keys(panel, measures),
        **columns,
        method=[
            f"{_method(measure)}, mean over people and labels{method_of(draws)}"
            for measure in measures
            for _ in panel.models
        ],
        resampled=spreads[0].resampled,
        n_items=[n for n, _ in counts],
        n_raters=panel.n_people,
        n_ratings=[cells for _, cells in counts],
        status=_status(measures, columns["value"], panel),
    )


def _differences(
    panel: Panel,
    measures: Sequence[Measure],
    draws: Draws,
    margin: float,
    confidence: float,
    alpha: float,
) -> Estimates:
    import polars as pl

    n_items = len(panel.stimuli)
    spreads, extra = [], []
    for measure in measures:
        models, among = measure.over_labels()
        spread = spread_of(models - among, draws, n_items, confidence)
        spreads.append(spread)
        beside = measure.persons_beside()
        for f in range(len(panel.models)):
            tested = two_one_sided(
                float(spread.value[f]), float(spread.se[f]), margin, float(spread.df[f]), alpha
            )
            # Within such a margin lies a model that agrees with nobody.
            too_wide = margin >= among[f, 0]
            verdict = tested.verdict
            if too_wide and verdict == "inside":
                verdict = "not shown"
            tells = not (np.isnan(tested.p_lower) or too_wide)
            known = beside[f][~np.isnan(beside[f])]
            defined = not np.isnan(spread.value[f])
            extra.append(
                {
                    "rater_kind": panel.model_kinds[f],
                    "agreement": float(models[f, 0]),
                    "people": float(among[f, 0]),
                    "margin": margin,
                    "p_lower": tested.p_lower,
                    "p_upper": tested.p_upper,
                    "p": tested.p,
                    "test_low": tested.low,
                    "test_high": tested.high,
                    "verdict": verdict,
                    "at_least": tested.at_least if tells else None,
                    "df": float(spread.df[f]),
                    "people_share": float(spread.people_share[f]),
                    "n_labels": int(measure.both[f].sum()),
                    "coverage": float(panel.coverage[f]),
                    "people_below": int((known < models[f, 0]).sum()) if defined else None,
                    "people_min": float(known.min()) if known.size else None,
                    "people_max": float(known.max()) if known.size else None,
                    "n_people": panel.n_people,
                }
            )
    columns = columns_of(spreads)
    counts = [panel.counts(f) for f in range(len(panel.models))] * len(measures)
    table = Estimates.build(
        _keys(panel, measures),
        **columns,
        method=[
            f"{_method(measure)}, models less people{method_of(draws)}"
            for measure in measures
            for _ in panel.models
        ],
        resampled=spreads[0].resampled,
        n_items=[n for n, _ in counts],
        n_raters=panel.n_people,
        n_ratings=[cells for _, cells in counts],
        status=_status(measures, columns["value"], panel),
    )
    for start in range(0, len(extra), len(panel.models)):
        of_measure = extra[start : start + len(panel.models)]
        adjusted = holm(np.array([row["p"] for row in of_measure], dtype=np.float64))
        for row, p in zip(of_measure, adjusted, strict=True):
            row["p_holm"] = float(p)
    frame = pl.DataFrame(extra, schema_overrides={"at_least": pl.Boolean, "people_below": pl.Int64})
    return Estimates(table.frame.hstack(frame), table.keys)


def _by_label(
    panel: Panel, measures: Sequence[Measure], draws: Draws, confidence: float
) -> Estimates:
    import polars as pl

    n_items, n_models, n_labels = len(panel.stimuli), len(panel.models), len(panel.labels)
    spreads, agreement, people = [], [], []
    for measure in measures:
        rows = (measure.models - measure.among).reshape(n_models * n_labels, -1)
        spreads.append(spread_of(rows, draws, n_items, confidence))
        agreement.append(measure.models[:, :, 0].ravel())
        people.append(measure.among[:, :, 0].ravel())
    shared = np.array(
        [(~np.isnan(part.models) & part.rated).sum(axis=1) for part in panel.parts]
    ).T.ravel()
    k = len(measures)
    columns = columns_of(spreads)
    table = Estimates.build(
        {
            "measure": [m.name for m in measures for _ in range(n_models * n_labels)],
            "rater": [name for name in panel.models for _ in panel.labels] * k,
            "label": list(panel.labels) * (n_models * k),
        },
        **columns,
        method=[
            f"{_method(m)}, models less people{method_of(draws)}"
            for m in measures
            for _ in range(n_models * n_labels)
        ],
        resampled=spreads[0].resampled,
        n_items=np.tile(shared, k),
        n_raters=panel.n_people,
        n_ratings=np.tile(shared, k),
        status=[
            "ok" if ok else "undefined: one answer throughout" for ok in ~np.isnan(columns["value"])
        ],
    )
    frame = table.frame.with_columns(
        pl.Series("agreement", np.concatenate(agreement)),
        pl.Series("people", np.concatenate(people)),
    )
    return Estimates(frame, table.keys)


def _method(measure: Measure) -> str:
    return measure.method("", "all people but one" if measure.name == "spearman" else "the people")


def _status(measures: Sequence[Measure], values: Floats, panel: Panel) -> list[str]:
    parts = np.split(values, len(measures))
    return [
        text
        for measure, part in zip(measures, parts, strict=True)
        for text in measure.status(part, panel.n_people)
    ]

"""How well the known truth of a simulated study comes back out of its answers."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table
from affectlab.core.words import joined
from affectlab.ratings import HUMAN_KINDS
from affectlab.reliability import mean_opinion_scores, subject_model
from affectlab.simulate import recovery
from affectlab.simulate.raters import Recovery, Simulation, simulate_raters

_MANY = 20
"""Raters like each attentive one, whose mean stands for that of all there could be."""


def recovery_of_scores(simulation: Simulation, recovered: Recovery) -> Result:
    """Say how close scores come to what attentive raters say on average.

    Parameters
    ----------
    simulation
        Answers, and the truth behind them.
    recovered
        What came back out of the means of all people.

    Returns
    -------
    Result
        Its table has a row for each way to score: means and the subject model, of all people and of
        those who do not disagree with the others; with the rank correlation with the truth,
        averaged over labels, and the root mean squared difference from the mean of many raters
        such as the attentive ones.
    """
    people = simulation.ratings.humans()
    of_many = _attentive_means(simulation)
    panels = [(f"of all {people.n_raters} people", people)]
    if recovered.flagged:
        careful = [name for name in people.rater_names if name not in recovered.flagged]
        panels.append((f"without {joined(recovered.flagged)}", people.select(raters=careful)))
    rows = []
    for called, panel in panels:
        for name, found in (("mean", mean_opinion_scores), ("subject model", subject_model)):
            scores = found(panel).to_frame().select("stimulus", "label", "value")
            order = recovery(simulation, scores).labels["spearman"].mean()
            beside = scores.join(of_many, on=["stimulus", "label"])
            error = (beside["value"] - beside["mean"]).pow(2).mean()
            rows.append((f"{name} {called}", order, float(error or 0.0) ** 0.5))  # type: ignore[arg-type]
    careless = recovered.raters.filter(~pl.col("attentive"))["rater"]
    return Result(
        (
            Table(
                "scores",
                "How well what attentive raters say on average was recovered",
                pl.DataFrame(rows, schema=["scores", "spearman", "error"], orient="row"),
                (
                    Key("scores", "scores of stimuli"),
                    Number("spearman", "rank correlation"),
                    Number("error", "typical error in points"),
                ),
            ),
        ),
        (
            f"Bias of raters: known and recovered values correlate {recovered.bias_r:.2f}; "
            f"inconsistency: {recovered.inconsistency_r:.2f}.",
            f"Careless by design: {', '.join(careless)}. "
            f"In disagreement with the others: {', '.join(recovered.flagged) or 'nobody'}.",
        ),
    )


def _attentive_means(simulation: Simulation) -> pl.DataFrame:
    """Mean answers of many raters who are like the attentive people."""
    attentive = [
        replace(one, name=f"{one.name}, {k}", missing=0.0)
        for one in simulation.profiles
        if one.attentive and one.kind in HUMAN_KINDS
        for k in range(_MANY)
    ]
    answers = simulate_raters(simulation.truth, attentive, seed=0).ratings.to_frame()
    return answers.group_by("stimulus", "label").agg(mean=pl.col("value").cast(pl.Float64).mean())

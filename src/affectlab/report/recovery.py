"""How well the known truth of a simulated study comes back out of its answers."""

from __future__ import annotations

import polars as pl

from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table
from affectlab.reliability import mean_opinion_scores, subject_model
from affectlab.simulate import recovery
from affectlab.simulate.raters import Recovery, Simulation


def recovery_of_scores(simulation: Simulation, recovered: Recovery) -> Result:
    """Say how close scores come to the truth, and what the answers show of the raters.

    Parameters
    ----------
    simulation
        Answers, and the truth behind them.
    recovered
        What came back out of the means of all people.

    Returns
    -------
    Result
        Its table has a row for each way to score: the mean of all people, the mean without raters
        that agree with nobody, and the subject model; with the rank correlation with the truth and
        the root mean squared error, both averaged over labels.
    """
    people = simulation.ratings.humans()
    careful = [name for name in people.rater_names if name not in recovered.flagged]
    flagged = recovered.flagged or ("nobody",)
    of_careful = mean_opinion_scores(people.select(raters=careful)).to_frame()
    of_model = subject_model(people).to_frame()
    rows = []
    for name, found in (
        (f"mean of all {people.n_raters} people", recovered),
        (f"mean without {' and '.join(flagged)}", _against_truth(simulation, of_careful)),
        ("subject model (reml) of all", _against_truth(simulation, of_model)),
    ):
        rows.append((name, *found.labels.select(pl.col("spearman", "rmse").mean()).row(0)))
    careless = recovered.raters.filter(~pl.col("attentive"))["rater"]
    return Result(
        (
            Table(
                "scores",
                "How well the known truth was recovered",
                pl.DataFrame(rows, schema=["scores", "spearman", "rmse"], orient="row"),
                (
                    Key("scores", "scores of stimuli"),
                    Number("spearman", "rank correlation"),
                    Number("rmse", "typical error in points"),
                ),
            ),
        ),
        (
            f"Bias of raters: known and recovered values correlate {recovered.bias_r:.2f}; "
            f"inconsistency: {recovered.inconsistency_r:.2f}.",
            f"Careless by design: {', '.join(careless)}. "
            f"In disagreement with the others: {', '.join(flagged)}.",
        ),
    )


def _against_truth(simulation: Simulation, scores: pl.DataFrame) -> Recovery:
    return recovery(simulation, scores.select("stimulus", "label", "value"))

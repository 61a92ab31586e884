"""``affectlab demo``: the main job on a simulated study whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.terminal import Table
    from affectlab.simulate.raters import Recovery, Simulation

__all__ = ["demo"]


def demo(out: Output, *, to: Path = Path("demo"), seed: int = 0) -> None:
    """Simulate a study with known truth, report on it, and say how well the truth was recovered.

    240 drawn faces, 12 people of different bias and care, 3 models, 8 emotions on a scale of 0 to
    7, with gaps, golden items and repeats.

    Parameters
    ----------
    to
        Folder for the demonstration.
    """
    from affectlab.report import write_report
    from affectlab.simulate import demo_study, recovery

    to.mkdir(parents=True, exist_ok=True)
    with out.progress("drawing faces and simulating raters") as progress:
        study = demo_study(seed)
        study.draw(to / "faces")
        ratings = study.ratings
        ratings.write(to / "ratings.csv")
        paths = write_report(
            ratings,
            to,
            title="Demonstration: a simulated study",
            images=to / "faces",
            seed=seed,
            progress=progress,
        )
    recovered = recovery(study.simulation)
    out.show(ratings, "", _recovery_table(study.simulation, recovered))
    out.show(*_about_raters(recovered), "", f"report: {paths.html}")
    out.finish(
        {
            "html": paths.html,
            "ratings": to / "ratings.csv",
            "tables": paths.tables,
            "figures": paths.figures,
            "recovery": recovered.to_frame(),
        },
        ratings.warnings,
        noted=True,
    )


def _recovery_table(simulation: Simulation, recovered: Recovery) -> Table:
    """How close scores come to the truth, with and without the raters that agree with nobody."""
    import polars as pl

    from affectlab.core.terminal import Table
    from affectlab.reliability import mean_opinion_scores, subject_model
    from affectlab.simulate import recovery

    people = simulation.ratings.humans()
    careful = [name for name in people.rater_names if name not in recovered.flagged]

    def against_truth(scores: pl.DataFrame) -> Recovery:
        return recovery(simulation, scores.select("stimulus", "label", "value"))

    without = mean_opinion_scores(people.select(raters=careful)).to_frame()
    table = Table(
        box=None,
        header_style="bold",
        title="How well the known truth was recovered",
        title_style="bold",
        title_justify="left",
    )
    table.add_column("scores of stimuli")
    table.add_column("rank correlation", justify="right")
    table.add_column("typical error", justify="right")
    for name, found in (
        (f"mean of all {people.n_raters} people", recovered),
        (f"mean without {' and '.join(recovered.flagged) or 'nobody'}", against_truth(without)),
        ("subject model (reml) of all", against_truth(subject_model(people).to_frame())),
    ):
        mean = found.labels.select(pl.col("spearman", "rmse").mean()).row(0)
        table.add_row(name, f"{mean[0]:.2f}", f"{mean[1]:.2f} points")
    return table


def _about_raters(recovered: Recovery) -> tuple[str, ...]:
    """What is known of the raters, and what the answers show of it."""
    import polars as pl

    careless = recovered.raters.filter(~pl.col("attentive"))["rater"].to_list()
    return (
        f"Bias of raters: known and recovered values correlate {recovered.bias_r:.2f}; "
        f"inconsistency: {recovered.inconsistency_r:.2f}.",
        f"Careless by design: {', '.join(careless)}. "
        f"In disagreement with the others: {', '.join(recovered.flagged) or 'nobody'}.",
    )

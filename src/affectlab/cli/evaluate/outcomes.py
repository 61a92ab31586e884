"""``affectlab evaluate outcomes``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.evaluation import ControlChecks
    from affectlab.ratings import Ratings

__all__ = ["outcomes"]


@reads_ratings("evaluate outcomes", models=True)
def outcomes(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    by: Annotated[
        str | None,
        Option(
            help="What to tell apart: rater,prompt; by default these, where there is a prompt.",
            show_default=False,
        ),
    ] = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for the controls.", min=0)] = 1000,
    to: Annotated[
        Path | None,
        Option("--out", help="Write the table of outcomes to this CSV file."),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for the figure (PNG, SVG).", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Count what became of the questions to each model, and check whether it looked.

    Outcomes come from the column outcome (ok, refused, empty, truncated, …). Control runs are
    raters with the attributes control (no_image, wrong_image, decoy_hint) and of (the rater they
    control).

    Example: affectlab evaluate outcomes answers.csv --by model,prompt --figures figures/
    """
    from affectlab.evaluation import outcome_table
    from affectlab.report import save_figures

    with out.progress("outcomes"):
        table = outcome_table(ratings, models, by=by, everyone=everyone)
    with out.progress("controls"):
        checks = _checks(ratings, models, n_boot, seed)
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(table.to_frame(), to)
    if figures is not None:
        save_figures(table, figures)
    out.show(table)
    if checks is not None:
        out.head("\nDid it look?")
        out.show(checks)
    if to is not None:
        out.show("", f"outcomes written to {to}")
    if figures is not None:
        out.show("", f"figure: {figures}")
    controls = None if checks is None else checks.to_dict()
    # That a table of models holds no people is as it should be.
    of_models = [] if models is None else [one for one in models.warnings if "human" not in one]
    warnings = dict.fromkeys([*of_models, *ratings.warnings])
    out.finish({**table.to_dict(), "controls": controls}, list(warnings))


def _checks(
    ratings: Ratings, models: Ratings | None, n_boot: int, seed: int
) -> ControlChecks | None:
    """Controls, where there are models with answers that are numbers."""
    from affectlab.evaluation import control_checks
    from affectlab.ratings import MODEL_KINDS

    judged = ratings if models is None else models
    known = models is not None or set(ratings.rater_kinds) & set(MODEL_KINDS)
    if not known or ratings.scale.kind == "text" or not judged.n_ratings:
        return None
    return control_checks(ratings, models, n_boot=n_boot, seed=seed)

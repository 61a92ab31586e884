"""``affectlab reliability plan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings
    from affectlab.reliability import Plan

__all__ = ["plan"]


@reads_ratings("reliability plan")
def plan(
    ratings: Ratings,
    out: Output,
    goal: Annotated[
        float,
        Option(
            help="What is wanted: interval width in points, correlation of halves, or power.",
            show_default=False,
        ),
    ],
    target: Annotated[
        Literal["interval", "split_half", "power"], Option(help="Which quantity it is.")
    ] = "interval",
    difference: Annotated[
        float | None,
        Option(help="With power: difference to be found, in points.", show_default=False),
    ] = None,
    panel_sizes: Annotated[
        str | None,
        Option("--panels", help="Raters per stimulus to try, such as 4,8,16.", show_default=False),
    ] = None,
    n_stimuli: Annotated[
        int | None,
        Option("--n-stimuli", help="Stimuli of the planned study; as in the pilot when not given."),
    ] = None,
    stimuli_per_rater: Annotated[
        int | None,
        Option(help="How many stimuli each rater can do.", show_default=False),
    ] = None,
    paired: Annotated[
        bool | None,
        Option("--paired/--unpaired", help="With power: the same raters rate both stimuli."),
    ] = None,
    assurance: Annotated[
        float | None,
        Option(help="Share of studies that should reach the goal.", show_default=False),
    ] = None,
    price: Annotated[
        float | None,
        Option(help="Price of one rating, for the total.", show_default=False),
    ] = None,
    label: Annotated[
        str | None,
        Option(help="Label of the pilot to plan from.", show_default=False),
    ] = None,
    golden: Annotated[
        int | None,
        Option(
            help="Also choose so many golden items from both ends of the scale.",
            show_default=False,
            min=1,
        ),
    ] = None,
    golden_out: Annotated[
        Path | None,
        Option("--golden-out", help="Write the golden items to this CSV file.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Write the curve to this CSV file.", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for the curve as a figure (PNG, SVG).", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Say how many raters per stimulus a study needs, from a pilot.

    Example: affectlab reliability plan pilot.csv --target interval --goal 10 --price 0.05
    """
    from affectlab.reliability import choose_golden
    from affectlab.reliability import plan as compute

    panel = ratings if everyone else out.panel(ratings)
    with out.progress("simulating studies"):
        found = compute(
            panel,
            target=target,
            goal=goal,
            difference=difference,
            raters=_sizes(panel_sizes),
            n_stimuli=n_stimuli,
            stimuli_per_rater=stimuli_per_rater,
            paired=paired,
            assurance=assurance,
            price=price,
            label=label,
            seed=seed,
        )
    items = None
    if golden is not None:
        items = choose_golden(panel, golden, label=label, seed=seed).to_frame()
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        _figure(found, figures)
    if items is not None and golden_out is not None:
        write_csv(items, golden_out)
    out.show(found)
    if to is not None:
        out.show(f"curve written to {to}")
    if figures is not None:
        out.show(f"figure: {figures}")
    if items is not None:
        out.head("\nGolden items")
        shown = ["stimulus", "extreme", "value", "sd", "n", "violations"]
        out.show_frame(items, shown, more="--golden-out writes all of them to a file")
        if golden_out is not None:
            out.show(f"golden items written to {golden_out}")
    told = {
        "target": found.target,
        "quantity": found.quantity,
        "goal": found.goal,
        "recommended": found.recommended,
        "recommended_range": found.recommended_range,
        "words": " ".join(found.sentences),
        "model": str(found.model),
        "n_sim": found.n_sim,
        "table": found.to_frame(),
    }
    out.finish({"panel": out.who, **told, "golden": items}, ratings.warnings)


def _figure(found: Plan, folder: Path) -> None:
    """The planned quantity over the number of raters."""
    from affectlab.report import fig_plan, save_figure

    curve = found.to_frame()
    save_figure(
        fig_plan(
            *(curve[name].to_numpy() for name in ("raters", "value", "low", "high")),
            goal=found.goal,
            recommended=found.recommended,
            value_name=found.quantity,
        ),
        folder,
        "plan",
        title=f"{found.quantity} by raters per stimulus",
        description=" ".join(found.sentences),
    )


def _sizes(text: str | None) -> list[int] | None:
    from affectlab.core.errors import InputError

    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--panels: {text!r} is not understood; expected such as 4,8,16") from None

"""``affectlab evaluate compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._classes import (
    ClassesOption,
    CostsOption,
    MappingOption,
    MinPeopleOption,
    MissingOption,
    RuleOption,
    ScoreOption,
    TiesOption,
    TruthOption,
    make_classes,
    warnings_on,
)
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["compare"]


@reads_ratings("evaluate compare", models=True)
def compare(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    model_a: Annotated[
        str | None,
        Argument(metavar="MODEL_A", help="A model; without, all are compared with all."),
    ] = None,
    model_b: Annotated[
        str | None,
        Argument(metavar="MODEL_B", help="Another; without, all others."),
    ] = None,
    truth: TruthOption = "people",
    costs: CostsOption = None,
    mapping: MappingOption = None,
    classes: ClassesOption = None,
    score: ScoreOption = None,
    missing: MissingOption = "common",
    margin: Annotated[
        float | None,
        Option(help="Difference up to which two models count as equivalent.", show_default=False),
    ] = None,
    alpha: Annotated[float, Option(help="Level of the tests.")] = 0.05,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all differences to this CSV file.", show_default=False),
    ] = None,
    rule: RuleOption = None,
    ties: TiesOption = "leave_out",
    min_people: MinPeopleOption = 1,
    seed: SeedOption = 0,
) -> None:
    """Compare models as classifiers, pair by pair: which is better on what.

    Differences have paired intervals and paired tests; p values are adjusted (Holm) over
    all pairs and metrics, and decide the verdict.

    Example: affectlab evaluate compare people.csv big small --models big.csv --models small.csv
    """
    from affectlab.evaluation import compare_models

    with out.progress("comparing"):
        made = make_classes(
            ratings,
            models,
            truth=truth,
            mapping=mapping,
            classes=classes,
            scores=score,
            rule=rule,
            ties=ties,
            min_people=min_people,
            seed=seed,
        )
        found = compare_models(
            made,
            a=model_a,
            b=model_b,
            costs=costs,
            missing=missing,
            margin=margin,
            alpha=alpha,
            n_boot=n_boot,
            seed=seed,
        )
    if to is not None:
        write_csv(found.to_frame(), to)
    out.show(f"Truth: {made.truth_said}.\n")
    frame = found.to_frame()
    for (one, other), sentence in found.verdicts.items():
        rows = frame.filter((frame["model_a"] == one) & (frame["model_b"] == other))
        out.head(f"{one} and {other}")
        out.show(_table(rows), f"{sentence}\n")
    if len(found.pairs) > 1:
        out.show(found.verdict)
    if to is not None:
        out.show(f"differences written to {to}")
    out.finish(
        {
            "truth": made.truth_said,
            "verdict": found.verdict,
            "verdicts": [
                {"model_a": one, "model_b": other, "verdict": said}
                for (one, other), said in found.verdicts.items()
            ],
            "differences": found.to_frame(),
            "alpha": alpha,
            "notes": found.notes,
        },
        (*found.notes, *warnings_on(ratings, truth)),
    )


def _table(rows: pl.DataFrame) -> Any:
    """Differences of one pair of models."""
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import number, shown
    from affectlab.evaluation import CLASSIFICATION_METRICS

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("metric", "first", "second", "difference", "interval", "p", "adjusted p"):
        table.add_column(name, justify="left" if name == "metric" else "right", no_wrap=True)
    table.add_column("better", overflow="fold")
    for row in rows.iter_rows(named=True):
        title = CLASSIFICATION_METRICS[row["metric"]].title
        if row["status"] != "ok":
            table.add_row(title, *["–"] * 6, row["status"])
            continue
        equal = "equivalent" if row["equivalent"] else "–"
        table.add_row(
            title,
            number(row["value_a"], 3),
            number(row["value_b"], 3),
            signed(row["value"]),
            "" if row["low"] != row["low"] else f"{signed(row['low'])} – {signed(row['high'])}",
            _p(row["p_value"]),
            _p(row["p_adjusted"]),
            Text(shown(row["better"] or equal)),
        )
    return table


def signed(value: float) -> str:
    """Write a difference with its sign, a true minus."""
    return f"{value:+.3f}".replace("-", "−")


def _p(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"

"""``affectlab evaluate alignment``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.core.terminal import Table
    from affectlab.evaluation import AlignmentResult, PublishedTables
    from affectlab.ratings import Ratings

__all__ = ["alignment"]

_PUBLISHED = "As published"
_FEW = 3
"""Comparisons of groups that are written as sentences."""


@reads_ratings("evaluate alignment", models=True)
def alignment(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    margin: Annotated[
        float,
        Option(help="Largest difference of agreement that does not matter; state it first."),
    ] = 0.05,
    epsilon: Annotated[
        float,
        Option(
            help="What a model may lose in the alternative-annotator test for being cheaper: 0.2 "
            "beside experts, 0.15 beside skilled people, 0.1 beside crowd workers."
        ),
    ] = 0.2,
    resample: Annotated[
        Literal["both", "units", "raters"],
        Option(help="What is drawn: stimuli and people, stimuli, or people."),
    ] = "both",
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    exclude: Annotated[
        list[str] | None,
        Option("--exclude", help="Label to leave out; may be given again.", show_default=False),
    ] = None,
    groups: Annotated[
        str | None,
        Option(
            help="Attribute of models that makes groups, such as family or prompt.",
            group=_PUBLISHED,
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        Literal["labels", "cells"],
        Option(help="What the SD of the rater table runs over.", group=_PUBLISHED),
    ] = "labels",
    truncate: Annotated[
        bool,
        Option(
            "--truncate",
            help="Drop fractions of models for kappa, in place of rounding.",
            group=_PUBLISHED,
        ),
    ] = False,
    to: Annotated[
        Path | None,
        Option("--out", help="Write one row per model to this CSV file."),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Say for each model whether it agrees with people as people do, and what that rests on.

    Agreement of models with people is compared with that of people with one another, with a
    bootstrap over stimuli and people, a test of equivalence, and the alternative-annotator test.

    Example: affectlab evaluate alignment people.csv --scale 0-7 --models model.csv --margin 0.05
    """
    from affectlab.evaluation import alignment as compute
    from affectlab.evaluation import published_tables

    common: dict[str, Any] = {
        "exclude": exclude or (),
        "truncate": truncate,
        "n_boot": n_boot,
        "seed": seed,
    }
    with out.progress("models beside people"):
        found = compute(
            ratings, models, margin=margin, epsilon=epsilon, resample=resample, **common
        )
        tables = published_tables(ratings, models, groups=groups, over=over, **common)
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        from affectlab.cli.evaluate._alignment_figures import save_figures

        save_figures(
            found,
            tables,
            figures,
            families=_families(ratings, models, groups),
            grouped=_grouped(ratings, models, tables, groups, common),
        )
    _show(found, tables, out)
    if to is not None:
        out.show("", f"one row per model written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    # That a table of models holds no people is as it should be; the notes speak of its scale.
    of_models = [] if models is None else models.warnings
    known = ("No rater is human", "The scale ")
    warnings = [*ratings.warnings, *(text for text in of_models if not text.startswith(known))]
    out.finish(_result(found, tables), list(dict.fromkeys(warnings)))


def _families(ratings: Ratings, models: Ratings | None, groups: str | None) -> dict[str, str]:
    """Group of each model, for the colours of bars."""
    from affectlab.evaluation import sides

    if groups is None:
        return {}
    table = sides(ratings, models).models.raters
    if groups not in table.columns:
        return {}
    return {row["rater"]: str(row[groups]) for row in table.iter_rows(named=True)}


def _grouped(
    ratings: Ratings,
    models: Ratings | None,
    tables: PublishedTables,
    groups: str | None,
    common: dict[str, Any],
) -> dict[str, Any]:
    """Kappas of every pair and label with people, by group of models."""
    from affectlab.evaluation import group_values

    if groups is None or tables.kappa is None:
        return {}
    told = {name: common[name] for name in ("exclude", "truncate")}
    return group_values(ratings, models, groups=groups, cells="pairs", pairs=tables.kappa, **told)


def _show(found: AlignmentResult, tables: PublishedTables, out: Output) -> None:
    import polars as pl

    for sentence in found.sentences:
        out.show(f"- {sentence}")
    if found.notes:
        out.head("\nNotes")
        out.show(*(f"- {note}" for note in found.notes))
    out.head("\nModels with people, and people with one another")
    out.show(_models(found))
    out.show(*(f"- {text}" for text in _ceiling(found)))
    if tables.raters is not None and tables.kinds is not None:
        spread = tables.raters["sd_over"][0]
        out.head(f"\nEvery rater with people ({found.pair_words}; SD over {spread})")
        shown = tables.raters.rename({"rater_kind": "kind", "n_items": "stimuli"})
        columns = ["rater", "kind", "mean", "sd", "median", "best_label", "best", "stimuli"]
        out.show_frame(shown, columns, more="--json gives all of them")
        out.head(f"\nKinds of pairs ({found.pair_words})")
        out.show_frame(tables.kinds, ["pair_kind", "mean", "sd", "median", "n"])
    if tables.groups is not None:
        _show_groups(tables.groups.frame.filter(pl.col("p").is_not_nan()), out)
        out.show("  As published: cells are taken as independent, which overstates certainty.")


def _models(found: AlignmentResult) -> Table:
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import number, percent, shown

    frame = found.to_frame()
    partial = (frame["coverage"] < 1).any()
    # Eight columns fit 80 letters with one blank between them.
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("model")
    table.add_column("verdict")
    numbers = ["agree-\nment", "differ-\nence", "interval", "people\nbelow", "wins"]
    for name in (*numbers, "covered") if partial else numbers:
        table.add_column(name, justify="right", no_wrap=name == "interval")
    alt = {row["rater"]: row for row in found.alt.to_frame().iter_rows(named=True)}
    for row in frame.iter_rows(named=True):
        won = alt[row["rater"]]
        below = row["people_below"]
        table.add_row(
            Text(shown(row["rater"])),
            row["verdict"],
            *(number(row[name], 3) for name in ("agreement", "difference")),
            f"{number(row['low'], 3)} – {number(row['high'], 3)}"
            if row["low"] is not None
            else "–",
            "–" if below is None else f"{below}/{row['n_people']}",
            f"{won['wins']}/{won['n_people']}" if won["passed"] is not None else "–",
            *([percent(row["coverage"])] if partial else []),
        )
    return table


def _ceiling(found: AlignmentResult) -> list[str]:
    """Say what people reach with one another."""
    from affectlab.core.words import number, shown

    texts = []
    for row in found.ceiling.to_frame().iter_rows(named=True):
        if row["min"] is None:
            continue
        name = {"spearman": "Spearman with the median of the others"}.get(
            row["measure"], found.measure_words
        )
        texts.append(
            f"A person left out reaches {number(row['value'], 3)} on average ({name}); people "
            f"range from {number(row['min'], 3)} to {number(row['max'], 3)} ({shown(row['best'])})."
        )
    return texts


def _show_groups(frame: pl.DataFrame, out: Output) -> None:
    """Say how groups differ: in words where they are few, else in a table."""
    import polars as pl

    if frame.height <= _FEW:
        out.show(*(f"- {_group(row)}" for row in frame.iter_rows(named=True)))
        return
    out.head("\nGroups: difference of means, with the p-value of Mann-Whitney's U")
    table = frame.select(
        pl.col("group_a").alias("group"),
        pl.col("group_b").alias("less"),
        pl.col("value").alias("difference"),
        "low",
        "high",
        pl.Series("p", [_p(value) for value in frame["p"]], dtype=pl.String),
    )
    out.show_frame(table, ["group", "less", "difference", ("low", "high"), "p"])


def _p(value: float) -> str:
    from affectlab.core.words import number

    return "< 0.001" if value < 0.001 else number(value, 3)


def _group(row: dict[str, Any]) -> str:
    from affectlab.core.words import number, shown

    p = _p(row["p"])
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    interval = ""
    if row["low"] == row["low"]:
        interval = f", 95 % interval {number(row['low'], 3)} to {number(row['high'], 3)}"
    return (
        f"{shown(row['group_a'])} less {shown(row['group_b'])}: difference of means "
        f"{number(row['value'], 3)}{interval}, Mann-Whitney U {p}."
    )


def _result(found: AlignmentResult, tables: PublishedTables) -> dict[str, Any]:
    def rows(table: Any) -> pl.DataFrame | None:
        return None if table is None else table.to_frame()

    return {
        "sentences": found.sentences,
        "verdicts": found.verdicts,
        "notes": found.notes,
        "models": found.to_frame(),
        "difference": found.difference.to_frame(),
        "agreement": found.agreement.to_frame(),
        "by_label": found.by_label.to_frame(),
        "ceiling": found.ceiling.to_frame(),
        "people": found.ceiling.people_frame(),
        "alt_test": found.alt.to_frame(),
        "alt_test_people": found.alt.people_frame(),
        "raters": tables.raters,
        "pair_kinds": tables.kinds,
        "pair_kinds_by_label": tables.kinds_by_label,
        "spearman_kinds": tables.spearman_kinds,
        "groups": rows(tables.groups),
        "kind_groups": rows(tables.kind_groups),
        "spearman_with_median": rows(tables.with_median),
        "alpha": rows(tables.alpha),
        "discrepancy": rows(tables.discrepancy),
    }

"""``affectlab evaluate fairness``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._costs import TaxonomyCostsOption, taxonomy_costs

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.evaluation import Fairness
    from affectlab.ratings import Ratings

__all__ = ["fairness"]

_TESTING = "Testing"
_MOST_SECTIONS = 24
"""Models and labels that a figure shows."""


@reads_ratings("evaluate fairness", models=True)
def fairness(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="Attribute that makes the groups: stimulus.gender, rater.age, or crossed, "
            "'rater.gender x rater.age'.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        str,
        typer.Option(
            help="mae, bias, spearman, quadratic_kappa, mean, alpha; for classes accuracy, acc2, "
            "ecc, emc, macro_f1, …; of people a coefficient of agreement, such as gwet_ac; or one "
            "that an installed package adds."
        ),
    ] = "mae",
    against: Annotated[
        str,
        typer.Option(
            help="What a group is held against: rest, a group by name, or largest for the two "
            "groups furthest apart.",
            metavar="rest|largest|GROUP",
        ),
    ] = "rest",
    edges: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--edges",
            help="Where to cut an attribute that is a number: age=30,50.",
            show_default=False,
        ),
    ] = None,
    label: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--label", help="Label to use; may be given again.", show_default=False),
    ] = None,
    by_label: Annotated[
        bool, typer.Option("--by-label", help="Judge each label by itself.")
    ] = False,
    cluster: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="Attribute within which answers depend on each other, such as stimulus.actor.",
            show_default=False,
        ),
    ] = None,
    people: Annotated[
        bool, typer.Option("--people", help="Judge people beside models, too.")
    ] = False,
    truth: Annotated[
        str,
        typer.Option(
            help="For classes: people; attribute:NAME of the stimuli; rater:NAME; or a file.",
            metavar="people|attribute:NAME|rater:NAME|FILE",
        ),
    ] = "people",
    costs: TaxonomyCostsOption = None,
    min_gap: Annotated[
        float,
        typer.Option(
            "--min-gap", help="Smallest gap that matters: smaller estimates get no flag.", min=0
        ),
    ] = 0.0,
    min_items: Annotated[
        int,
        typer.Option(
            "--min-items",
            help="Stimuli, or people, that a group needs to be tested.",
            min=1,
            rich_help_panel=_TESTING,
        ),
    ] = 5,
    alpha: Annotated[
        float, typer.Option(help="Error rate over all gaps.", rich_help_panel=_TESTING)
    ] = 0.05,
    correction: Annotated[
        Literal["holm", "bh", "none"],
        typer.Option(help="Correction for many tests.", rich_help_panel=_TESTING),
    ] = "holm",
    n_boot: Annotated[int, typer.Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    n_permutations: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Permutations of a test; as many as needed when not given, 0 for no test.",
            min=0,
            rich_help_panel=_TESTING,
            show_default=False,
        ),
    ] = None,
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", help="Write groups and gaps to this CSV file.", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Compare groups of stimuli or of people by a metric, and flag the gaps that are shown.

    Without models, people are judged: each person beside the other people.

    Example: affectlab evaluate fairness people.csv --models net.csv --by stimulus.gender
    """
    from affectlab.evaluation import fairness as compute

    with out.progress("judging groups"):
        found = compute(
            ratings,
            models,
            by=by,
            metric=metric,
            against=against,
            edges=_edges(edges or []),
            labels=label or None,
            by_label=by_label,
            cluster=cluster,
            truth=_truth(truth),
            costs=taxonomy_costs(costs),
            people=True if people else None,
            min_items=min_items,
            min_gap=min_gap,
            alpha=alpha,
            correction=correction,
            n_boot=n_boot,
            n_permutations=n_permutations,
            seed=seed,
        )
    sentences = found.sentences
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        _draw(found, sentences, figures)
    _show(found, sentences, out)
    if to is not None:
        out.show(f"groups and gaps written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    out.finish(
        {
            "metric": found.metric.name,
            "title": found.metric.title,
            "by": found.by,
            "against": against,
            "correction": correction,
            "alpha": alpha,
            "min_gap": min_gap,
            "n_tests": found.n_tests,
            "sentences": sentences,
            "groups": found.groups.to_frame(),
            "gaps": found.gaps.to_frame(),
            "notes": found.notes,
        },
        (*found.notes, *ratings.warnings),
    )


def _edges(given: list[str]) -> dict[str, list[float]] | None:
    from affectlab.core.errors import InputError

    edges: dict[str, list[float]] = {}
    for text in given:
        name, equals, numbers = text.partition("=")
        try:
            cuts = [float(part) for part in numbers.split(",")]
        except ValueError:
            cuts = []
        if not equals or not name.strip() or not cuts:
            raise InputError(f"--edges: {text!r} is not understood; expected NAME=30,50")
        edges[name.strip()] = cuts
    return edges or None


def _truth(text: str) -> Any:
    from affectlab.core.errors import InputError
    from affectlab.evaluation import read_truth

    if text == "people" or text.startswith(("attribute:", "rater:")):
        return text
    if not Path(text).is_file():
        raise InputError(
            f"--truth {text!r}: no such file; expected people, attribute:NAME, rater:NAME or a file"
        )
    return read_truth(text)


def _show(found: Fairness, sentences: tuple[str, ...], out: Output) -> None:
    import polars as pl

    better = {
        "higher": ", higher is better",
        "lower": ", lower is better",
        "zero": ", 0 is best",
        "neither": "",
    }[found.metric.better]
    title = found.metric.title
    out.head(f"{title[0].upper()}{title[1:]} by {found.by}{better}")
    label = ["label"] if "label" in found.groups.keys else []
    size = "n_raters" if found.things == "people" else "n_items"
    groups = found.groups.frame.rename({size: found.things}).with_columns(_short("status"))
    remark = ["remark"] if (groups["remark"] != "").any() else []
    interval = ("low", "high")
    out.show_frame(groups, ["rater", *label, "group", found.things, "value", interval, *remark])
    out.head("\nGaps")
    shown = pl.when("flagged").then(pl.lit("shown")).otherwise(_short("status"))
    gaps = found.gaps.frame.with_columns(shown.alias("flag"))
    gaps = gaps.rename({"value": "gap", "p_corrected": "corrected p"}).with_columns(
        pl.col(name).map_elements(_p_value, return_dtype=pl.String) for name in ("p", "corrected p")
    )
    keys = ["rater", *label, "group", "against"]
    out.show_frame(gaps, [*keys, "gap", interval, "p", "corrected p", "flag"])
    out.show("", *(f"- {sentence}" for sentence in sentences))


def _short(column: str) -> pl.Expr:
    """A status without its reason, nothing where all is well."""
    import polars as pl

    first = pl.col(column).str.split(":").list.first()
    return pl.when(pl.col(column) == "ok").then(pl.lit("")).otherwise(first).alias("remark")


def _p_value(p: float) -> str:
    """Write a p value; none is 0, whatever its first digits."""
    return "–" if p != p else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _draw(found: Fairness, sentences: tuple[str, ...], folder: Path) -> None:
    """Draw groups and gaps; with many labels those with a gap first, as many as fit a page."""
    import polars as pl

    from affectlab.report import fig_fairness, save_figure

    frame = _sections(found)
    shown = frame["section"].unique(maintain_order=True).to_list()[:_MOST_SECTIONS]
    kept = frame.filter(frame["section"].is_in(shown))
    size = "n_raters" if found.things == "people" else "n_items"
    columns = ("value", "low", "high")
    save_figure(
        fig_fairness(
            *(kept[name].to_list() for name in ("section", "group", *columns)),
            value_name=f"{found.metric.title} by {found.by}",
            flagged=kept["flagged"].to_list(),
            sizes=kept[size].to_list(),
            line=0.0 if found.metric.better == "zero" else None,
        ),
        folder,
        "fairness",
        title=f"{found.metric.title} by {found.by}",
        description=" ".join(sentences),
    )
    gaps = found.gaps.frame.with_columns(_heading(found))
    gaps = gaps.filter(gaps["section"].is_in(shown) & gaps["value"].is_not_nan())
    if gaps.is_empty():
        return
    place = {name: at for at, name in enumerate(shown)}
    gaps = gaps.sort(pl.col("section").replace_strict(place), maintain_order=True)
    against = gaps["against"].to_list()
    names = [
        f"{group} − {'rest' if other == 'rest' else other}"
        for group, other in zip(gaps["group"].to_list(), against, strict=True)
    ]
    save_figure(
        fig_fairness(
            gaps["section"].to_list(),
            names,
            *(gaps[name].to_list() for name in columns),
            value_name=f"gap in {found.metric.title} by {found.by}",
            flagged=gaps["flagged"].to_list(),
            line=0.0,
            band=found.min_gap,
        ),
        folder,
        "fairness_gaps",
        title=f"Gaps in {found.metric.title} by {found.by}",
        description=" ".join(sentences),
    )


def _heading(found: Fairness) -> pl.Expr:
    import polars as pl

    keys = [key for key in found.gaps.keys if key in ("rater", "label")]
    return pl.concat_str(keys, separator=" · ").alias("section")


def _sections(found: Fairness) -> pl.DataFrame:
    """Groups with the heading they stand under, headings with a shown gap first."""
    import polars as pl

    keys = [key for key in found.gaps.keys if key in ("rater", "label")]
    gaps = found.gaps.frame.filter(pl.col("flagged"))
    sides = [
        gaps.select(*keys, pl.col(name).alias("group")).with_columns(flagged=pl.lit(True))
        for name in ("group", "against")
    ]
    # Where a group stands out from another, both are stressed; the rest is no group.
    marked = pl.concat(sides).unique(maintain_order=True)
    frame = found.groups.frame.join(
        marked, on=[*keys, "group"], how="left", maintain_order="left"
    ).with_columns(pl.col("flagged").fill_null(False), _heading(found))
    return frame.sort(pl.col("flagged").any().over("section"), descending=True, maintain_order=True)

"""``affectlab reliability agreement``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli.parameters import Option
from affectlab.core.errors import InputError

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimates
    from affectlab.core.terminal import Table
    from affectlab.ratings import Ratings, Scale
    from affectlab.reliability import KappaResult

__all__ = ["agreement"]


@reads_ratings("reliability agreement")
def agreement(
    ratings: Ratings,
    out: Output,
    level: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"] | None,
        Option(
            help="Level of measurement for alpha; from the scale when not given.",
            show_default=False,
        ),
    ] = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    resample: Annotated[
        Literal["units", "raters", "both"], Option(help="What is resampled.")
    ] = "units",
    more: Annotated[
        bool,
        Option(
            "--more",
            help="Also percent agreement, Fleiss' kappa, Gwet's AC, every other coefficient that "
            "is known, ICC and, where there are repeats, self-consistency.",
        ),
    ] = False,
    missing: Annotated[
        Literal["available", "listwise"],
        Option(
            help="For the ICC of --more: all ratings that are available, or only stimuli that "
            "every rater rated (listwise deletion).",
        ),
    ] = "available",
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure agreement: Krippendorff's alpha, interrater correlation and weighted kappa.

    Alpha and the correlation are about people; kappa compares all kinds of pairs.

    Example: affectlab reliability agreement ratings.csv --scale 0-7 --level ordinal
    """
    from affectlab.ratings.select import labels_on
    from affectlab.reliability import interrater_correlation, krippendorff_alpha, pairwise_kappa

    if missing == "listwise" and not more:
        raise InputError("--missing listwise is about the ICC, which only --more shows; add --more")
    panel = ratings if everyone else out.panel(ratings)
    ordered = labels_on(panel, lambda scale: scale.kind not in ("nominal", "text"))
    stepped = labels_on(ratings, _has_levels)
    with out.progress("agreement"):
        alpha = krippendorff_alpha(panel, level=level, n_boot=n_boot, resample=resample, seed=seed)
        correlation = None if ordered is None else interrater_correlation(ordered)
        kappa = None if stepped is None else pairwise_kappa(stepped)
    # Files first: who reads the output may leave early, as in `… | head`.
    if figures is not None:
        _figures(alpha, kappa, figures)
    out.head("Krippendorff's alpha")
    out.show(alpha)
    if correlation is not None:
        out.head("\nInterrater correlation")
        out.show(correlation)
    if kappa is not None and len(kappa):
        out.head("\nKappa by kind of pair")
        out.show(_kinds_table(kappa))
    extra = _more(panel, missing, out) if more else {}
    if figures is not None:
        out.show(f"\nfigures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "alpha": alpha.to_frame(),
            "interrater_correlation": None if correlation is None else correlation.to_frame(),
            "kappa": None if kappa is None else _kinds(kappa),
            **extra,
        },
        [
            *ratings.warnings,
            *_texts(panel),
            *_left_out(correlation, alpha, panel),
            *_dropped(extra),
        ],
    )


def _has_levels(scale: Scale) -> bool:
    return scale.numeric and scale.step is not None and scale.low is not None


def _texts(panel: Ratings) -> list[str]:
    """Name the labels that no statistic of numbers takes."""
    names = [name for name, scale in panel.scales.items() if not scale.numeric]
    return [f"left out, since the answers are texts: {', '.join(names)}"] if names else []


def _left_out(correlation: Estimates | None, alpha: Estimates, panel: Ratings) -> list[str]:
    """Name the labels that interrater correlation leaves out."""
    if correlation is None:
        return []
    there = set(correlation.to_frame()["label"])
    missing = [name for name in alpha.to_frame()["label"] if name not in there]
    return [
        f"interrater correlation leaves out {name}, "
        + (
            "whose categories have no order"
            if panel.scales[name].kind == "nominal"
            else "as its paper does"
        )
        for name in missing
    ]


def _dropped(extra: dict[str, Any]) -> list[str]:
    """Say how many stimuli listwise deletion took out of the ICC of each label."""
    import polars as pl

    if "intraclass_correlation" not in extra:
        return []
    dropped = (
        extra["intraclass_correlation"]
        .filter(pl.col("n_dropped") > 0)
        .unique("label", keep="first", maintain_order=True)
    )
    return [
        f"ICC of {label}: listwise deletion drops {n:,} of {n + items:,} stimuli, which not every "
        "rater rated; --missing available uses them"
        for label, n, items in dropped.select("label", "n_dropped", "n_items").iter_rows()
    ]


def _more(panel: Ratings, missing: Literal["available", "listwise"], out: Output) -> dict[str, Any]:
    """Other coefficients that people ask for, each under its own name."""
    import polars as pl

    from affectlab.core.estimates import NO_INTERVAL
    from affectlab.ratings.scales import by_scale
    from affectlab.ratings.select import labels_on
    from affectlab.reliability import intraclass_correlation, self_consistency
    from affectlab.reliability.agreement import load_coefficients

    titles, found = dict[str, str](), dict[str, list[Any]]()
    for coefficient in load_coefficients():
        tables = coefficient.tables(panel)
        if tables:
            titles[coefficient.name], found[coefficient.name] = coefficient.title, tables
    numbers = labels_on(panel, lambda one: one.kind in ("ordinal", "interval"))
    if numbers is not None:
        found["intraclass_correlation"] = [intraclass_correlation(numbers, missing=missing)]
    ordered = labels_on(panel, lambda one: one.kind not in ("nominal", "text"))
    if ordered is not None and "repeat" in ordered.summary().trial_kinds:
        found["self_consistency"] = [
            self_consistency(ordered.select(labels=labels))
            for labels, _ in by_scale(ordered.scales)
        ]
    for name, tables in found.items():
        for table in tables:
            # Why single rows have no interval stands below the table.
            how = _shared(one.partition(f"; {NO_INTERVAL}")[0] for one in table.frame["method"])
            title = titles.get(name, name.replace("_", " "))
            title = "" if how.startswith(title) else f"{title[0].upper()}{title[1:]}"
            out.head("\n" + ": ".join(filter(None, (title, how))))
            out.show(table)
    return {
        name: pl.concat([table.to_frame() for table in tables]) for name, tables in found.items()
    }


def _shared(methods: Iterable[str]) -> str:
    """What all methods say, part by part."""
    parts = [method.split(", ") for method in methods]
    return ", ".join(part for part in parts[0] if all(part in other for other in parts))


def _figures(alpha: Estimates, kappa: KappaResult | None, folder: Path) -> None:
    """Alpha per label, kappa by kind of pair, and the heatmap of raters."""
    import polars as pl

    from affectlab.core.render.figure import figure_of
    from affectlab.core.words import number
    from affectlab.report import draw_figure, save_figure

    frame = alpha.to_frame()
    figure = figure_of(alpha.figures[0], alpha.table())
    best = frame.sort("value", descending=True, nulls_last=True)
    save_figure(
        figure,
        folder,
        "alpha",
        title="Krippendorff's alpha per label",
        description=f"Highest for {best['label'][0]} ({number(best['value'][0])}).",
    )
    if kappa is None or not len(kappa):
        return
    known = kappa.frame.drop_nans("value")
    medians = known.group_by("pair_kind", maintain_order=True).agg(pl.col("value").median())
    save_figure(
        draw_figure("groups_compared", known, group="pair_kind", value_name="kappa"),
        folder,
        "kappa_by_kind",
        title="Kappa by kind of pair",
        description="; ".join(
            f"{kind}: median {number(median)}" for kind, median in medians.iter_rows()
        ),
    )
    raters, kinds = kappa.raters, kappa.rater_kinds
    save_figure(
        draw_figure(
            "pair_heatmap",
            kappa.frame,
            keys=kappa.keys,
            raters=raters,
            rater_kinds=kinds,
            value_name="kappa",
        ),
        folder,
        "kappa_heatmap",
        title="Kappa of every pair of raters, mean over labels",
        description=f"{len(raters)} raters, people first.",
    )


def _kinds(kappa: KappaResult) -> list[dict[str, Any]]:
    """Mean, SD and median of the defined kappas of each kind of pair."""
    import polars as pl

    frame = kappa.to_frame()
    # Kappas with and without weights have no common mean.
    weights = pl.col("method").str.split(", ").list.get(1).alias("weights")
    keys = (
        ["pair_kind", "weights"] if frame.select(weights.n_unique()).item() > 1 else ["pair_kind"]
    )
    defined = pl.col("value").filter(pl.col("status") == "ok")
    return (
        frame.with_columns(weights)
        .group_by(keys, maintain_order=True)
        .agg(
            defined.mean().alias("mean"),
            defined.std().alias("sd"),
            defined.median().alias("median"),
            defined.len().alias("n_defined"),
            pl.len().alias("n_pairs_by_label"),
        )
        .sort("pair_kind", maintain_order=True)
        .to_dicts()
    )


def _kinds_table(kappa: KappaResult) -> Table:
    from affectlab.core.terminal import Table
    from affectlab.core.words import count, number

    rows = _kinds(kappa)
    names = ["pair_kind", *(["weights"] if "weights" in rows[0] else [])]
    table = Table(box=None, header_style="bold")
    for name in names:
        table.add_column(name.removesuffix("_kind"))
    for name in ("mean", "SD", "median", "defined", "pairs x labels"):
        table.add_column(name, justify="right")
    for row in rows:
        numbers = (number(row[key], 3) for key in ("mean", "sd", "median"))
        counts = (count(row[key]) for key in ("n_defined", "n_pairs_by_label"))
        table.add_row(*(row[name] for name in names), *numbers, *counts)
    return table

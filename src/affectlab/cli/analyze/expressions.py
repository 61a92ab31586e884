"""``affectlab analyze expressions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import SeedOption
from affectlab.cli.analyze._pairs import (
    ScoreOption,
    check_folder,
    reads_pairs,
    scores_of,
    write_tables,
)
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis import (
        AsymmetryTests,
        ExpressionDifferences,
        PairScores,
        ScoreHistograms,
    )
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["expressions"]

_MOST = 12


@reads_pairs("analyze expressions")
def expressions(
    source: Ratings | PairScores,
    out: Output,
    score: ScoreOption = "subject-model",
    plain: Annotated[
        bool,
        Option(
            "--plain-means",
            help="Means over actors as in the paper, not adjusted for actors and roles.",
        ),
    ] = False,
    linkage: Annotated[
        Literal["average", "complete", "single", "ward"],
        Option(help="How clusters are joined."),
    ] = "average",
    clusters: Annotated[
        str,
        Option(
            help="Clusters: a number, or how it is found ('elbow', 'silhouette').",
            metavar="N|elbow|silhouette",
        ),
    ] = "elbow",
    missing: Annotated[
        Literal["leave-out", "fill"],
        Option(help="Expressions not compared with all others: not clustered, or gaps are filled."),
    ] = "leave-out",
    resample: Annotated[
        Literal["actors", "pairs"],
        Option(help="What intervals are about: other actors, or other pairs of these."),
    ] = "actors",
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    sides: Annotated[
        Path | None,
        Option(
            help="Table of mirrored expressions (right,left); told by their names when not given.",
            show_default=False,
        ),
    ] = None,
    alternative: Annotated[
        Literal["greater", "less", "two-sided"],
        Option(help="What right against left, one-sided against symmetric is tested for."),
    ] = "greater",
    to: Annotated[
        Path | None,
        Option("--out", help="Folder for the tables (CSV).", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Cluster expressions by how different they look, rank them by care needed, test asymmetry.

    FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the
    columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli.

    Example: affectlab analyze expressions ratings.csv --stimuli pairs.csv --figures figures
    """
    from affectlab.analysis import asymmetry_tests, expression_differences, score_histograms
    from affectlab.analysis.expressions import sides_of

    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    k = _number(clusters)
    with out.progress("expressions"):
        scores = scores_of(source, out, score)
        found = expression_differences(
            scores,
            adjust=not plain,
            linkage=linkage,
            k=k,
            missing=missing,
            resample=resample,
            n_boot=n_boot,
            seed=seed,
        )
        known = sides_of(scores.expressions, sides)
        tests = None
        if known.right or known.left:
            tests = asymmetry_tests(scores, sides=sides, alternative=alternative)
        spread = score_histograms(scores)
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        tables = {
            "expression_differences": found.to_frame(),
            "expression_clusters": found.clusters.to_frame().rename({"label": "expression"}),
            "expression_elbow": found.elbow,
            "rendering_priority": found.priority,
            "score_histograms": spread.frame,
            "score_summary": spread.summary,
        }
        if tests is not None:
            tables |= {
                "asymmetry_tests": tests.frame,
                "asymmetry_points": tests.points,
                "expression_sides": tests.sides,
            }
        write_tables(to, tables)
    if figures is not None:
        with out.progress("figures"):
            from affectlab.report.pictures import (
                pictures_of_expressions,
                pictures_of_spread,
                save_pictures,
            )

            drawn = pictures_of_expressions(found, tests) + pictures_of_spread(spread)
            save_pictures(drawn, figures)
    _show(out, found, tests, spread)
    if to is not None:
        out.show(f"\ntables: {to}")
    if figures is not None:
        out.show(f"\nfigures: {figures}")
    notes = (*found.notes, *(tests.notes if tests else ()), *spread.notes)
    out.finish(
        {
            "panel": out.who,
            "scores": scores.method,
            "unit": scores.unit,
            "method": found.method,
            "differences": found.to_frame(),
            "clusters": found.clusters.to_frame().rename({"label": "expression"}),
            "linkage": found.clusters.method,
            "chosen": found.clusters.chosen,
            "left_out": found.clusters.left_out,
            "status": found.clusters.status,
            "priority": found.priority,
            "actor_effects": found.actor_effects,
            "role_effects": found.role_effects,
            "asymmetry": None if tests is None else tests.frame,
            "histograms": spread.summary,
            "error_quartiles": spread.quartiles,
        },
        tuple(dict.fromkeys(notes)),
    )


def _number(text: str) -> int | Literal["silhouette", "elbow"]:
    from affectlab.core.errors import InputError

    if text == "silhouette":
        return "silhouette"
    if text == "elbow":
        return "elbow"
    if text.isdecimal():
        return int(text)
    raise InputError(
        f"--clusters: {text!r} is not understood; expected a number, 'elbow' or 'silhouette'"
    )


def _show(
    out: Output,
    found: ExpressionDifferences,
    tests: AsymmetryTests | None,
    spread: ScoreHistograms,
) -> None:
    from affectlab.core.render.terminal import table_lines
    from affectlab.core.words import number, plural

    n = len(found.expressions)
    out.head(
        f"{plural(n, 'expression')}, {plural(len(found.actors), 'actor')}: {found.method} "
        f"({found.unit})"
    )
    frame = found.to_frame().sort("value")
    near, far = frame.row(0, named=True), frame.row(-1, named=True)
    for word, one in (("Least", near), ("Most", far)):
        out.show(
            f"{word} different: {one['expression_a']} and {one['expression_b']} "
            f"({number(one['value'], 1)}, {plural(one['n_actors'], 'actor')})."
        )
    tree = found.clusters
    out.head(f"\nClusters: {tree.method}")
    if tree.status == "ok":
        out.show(table_lines(tree.table("clusters")))
        out.show(f"{plural(tree.k, 'cluster')} ({tree.chosen}).")
    else:
        out.show(f"None: {tree.status}.")
    out.head("\nRendering priority: the smaller the mean difference, the more care")
    columns: list[str | tuple[str, str]] = ["rank", "expression", "value", ("low", "high")]
    out.show_frame(found.priority, [*columns, "rank_low", "rank_high", "n_others"], most=_MOST)
    out.show(f"Intervals: {_drawn(found)}")
    if tests is None:
        out.show(
            "\nAsymmetry: no expression is named with the word left or right; --sides names them."
        )
    else:
        side = tests.frame["alternative"][0]
        out.head(f"\nAsymmetry ({tests.unit}); p is of '{side}'")
        sides = tests.sides["side"].to_list()
        counts = {one: sides.count(one) for one in ("right", "left", "symmetric")}
        out.show(", ".join(f"{n} {one}" for one, n in counts.items()) + " expressions.")
        out.show(table_lines(tests.table()))
        undefined = tests.frame.filter(tests.frame["status"] != "ok")["status"].unique().to_list()
        out.show(*(f"{text[0].upper()}{text[1:]}." for text in sorted(undefined)))
    out.head("\nSpread of the scores")
    own = spread.summary.filter(spread.summary["histogram"].is_in(["scores", "errors"]))
    out.show_frame(own, ["histogram", "group", "n", "mean", "sd", "skew", "least", "largest"])
    if spread.mean_error == spread.mean_error:
        bounds = " / ".join(number(bound) for bound in spread.quartiles)
        out.show(
            f"Mean standard error {number(spread.mean_error)}; quartiles {bounds} "
            f"({spread.errors})."
        )


def _drawn(found: ExpressionDifferences) -> str:
    """Say what was resampled, in a sentence."""
    first = found.priority.row(0, named=True)
    words = {
        "actors": "actors were resampled (what holds for others like them)",
        "pairs": "an actor's pairs of two expressions were resampled (for these actors)",
        "none": "none, as nothing was resampled",
    }
    said = words[first["resampled"]]
    return f"{said}." if first["status"] == "ok" else f"{first['status']}."

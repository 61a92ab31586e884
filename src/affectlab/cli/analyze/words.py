"""``affectlab analyze words``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis import LogOdds
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["words"]

_COLUMNS = ("word", "z", "log_odds", ("low", "high"), "p after Holm", "count", "share")


@reads_ratings("analyze words")
def words(
    ratings: Ratings,
    out: Output,
    label: Annotated[
        str | None,
        Option(help="Show the words of one label in full.", show_default=False),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            help="Words per label; 5, or 10 of one label, when not given.",
            min=1,
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        Literal["z", "holm", "bh"],
        Option(help="Which words: by z (--min-z), or by a corrected p-value up to 0.05."),
    ] = "z",
    min_z: Annotated[float, Option("--min-z", help="Lowest z of a word.")] = 3.0,
    min_raters: Annotated[
        int | None,
        Option(
            "--min-raters",
            help="Raters who must have chosen a label; at least half when not given.",
            min=1,
            show_default=False,
        ),
    ] = None,
    paper_compat: Annotated[
        bool,
        Option(
            "--paper-compat",
            help="Count as the table of GoEmotions was: labels by substring, a text once per "
            "rater, words of three letters and more.",
        ),
    ] = False,
    text: Annotated[
        str, Option("--text", help="Column of the stimuli that holds the texts.")
    ] = "text",
    to: Annotated[
        Path | None,
        Option("--out", help="Write all kept words to this CSV file.", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for a figure (PNG, SVG).", show_default=False),
    ] = None,
) -> None:
    """Find the words that go with each label: log odds with a Dirichlet prior.

    Example: affectlab analyze words comments.csv --label joy --top 20
    """
    from affectlab.analysis import log_odds
    from affectlab.core.errors import unknown_name
    from affectlab.core.render.terminal import table_lines

    top = top or (5 if label is None else 10)
    panel = out.panel(ratings)
    with out.progress("words"):
        found = log_odds(panel, min_raters=min_raters, paper_compat=paper_compat, text=text)
        frame = found.kept_words(rule=keep, min_z=min_z)
    if label is not None and label not in found.labels:
        raise unknown_name("label", label, found.labels, "--label")
    rule = f"z ≥ {min_z:g}" if keep == "z" else f"p ≤ 0.05 after {_NAMES[keep]}"
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        chosen = frame if label is None else frame.filter(frame["label"] == label)
        write_csv(chosen.filter(chosen["word"] != ""), to)
    if figures is not None:
        _figure(ratings, found, [label] if label else list(found.labels), figures, keep, min_z)
    if label is None:
        out.head(f"Words that go with each label, {rule}")
        out.show(table_lines(found.first_words(top, rule=keep, min_z=min_z)))
    else:
        _show_label(out, found, label, top, rule, keep, min_z)
    out.show(f"{found.n_all:,} texts, {len(found.words):,} different words: {found.method}.")
    if to is not None:
        out.show(f"words written to {to}")
    if figures is not None:
        out.show(f"figures: {figures}")
    shown = found.kept_words(top, rule=keep, min_z=min_z)
    out.finish(
        {
            "panel": out.who,
            "kept": rule,
            "method": found.method,
            "n_texts": found.n_all,
            "n_words": len(found.words),
            "words": shown if label is None else shown.filter(shown["label"] == label),
        },
        ratings.warnings,
    )


_NAMES = {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction"}


def _show_label(
    out: Output,
    found: LogOdds,
    label: str,
    top: int,
    rule: str,
    keep: Literal["z", "holm", "bh"],
    min_z: float,
) -> None:
    """Show the words of one label with their numbers."""
    import polars as pl

    at = found.labels.index(label)
    out.head(f"Words that go with {label} ({found.n_texts[at]:,} texts), {rule}")
    if found.status[at] != "ok":
        out.show(f"{found.status[at][0].upper()}{found.status[at][1:]}.")
        return
    frame = found.top(label, top, rule=keep, min_z=min_z)
    total = int(found.kept(keep, min_z=min_z)[at].sum())
    if frame.height == 0:
        out.show("No word.")
        return
    p = ["–" if p != p else "< 0.001" if p < 0.001 else f"{p:.3f}" for p in frame["p_holm"]]
    table = frame.with_columns(pl.Series("p after Holm", p), log_odds=frame["value"])
    out.show_frame(table, _COLUMNS)
    if total > frame.height:
        out.show(f"… and {total - frame.height:,} more; --top shows more of them.")


def _figure(
    ratings: Ratings,
    found: LogOdds,
    labels: list[str],
    folder: Path,
    keep: Literal["z", "holm", "bh"],
    min_z: float,
) -> None:
    from affectlab.report import fig_words, save_figure

    n = 5 if len(labels) > 1 else 15
    first = {
        name: [
            (row["word"], row["z"])
            for row in found.top(name, n, rule=keep, min_z=min_z).iter_rows(named=True)
            if row["word"]
        ]
        for name in labels
    }
    polarity = {} if ratings.taxonomy is None else ratings.taxonomy.polarity
    known = {name: polarity.get(name) for name in labels}
    groups = {name: group for name, group in known.items() if group is not None}
    save_figure(
        fig_words(first, groups=groups if len(groups) == len(labels) else None),
        folder,
        "words",
        title="Words that go with each label",
        description="; ".join(
            f"{name}: {', '.join(word for word, _ in own) or 'none'}" for name, own in first.items()
        ),
    )

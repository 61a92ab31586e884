"""``affectlab taxonomy``: which emotions there are, and how far apart they lie."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli.operations import show_result
from affectlab.core.errors import InputError
from affectlab.taxonomy import load_taxonomy, taxonomy_overview

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.taxonomy import Taxonomy


def show(
    out: Output,
    taxonomy: str | None = None,
    *,
    costs: bool = False,
    history: bool = False,
    everything: bool = False,
    to: Path | None = None,
) -> None:
    """Show the labels of a taxonomy, with groups, polarity and definitions; or all taxonomies.

    A file with a mistake is refused with one sentence that says what is wrong.

    Parameters
    ----------
    taxonomy
        Name of a taxonomy, or a TOML file; without it, the taxonomies that have a name.
    costs
        Show what it costs to take one label for another: the matrix of emotional distances.
    history
        Show its versions, and what was decided about each label, with reasons.
    everything
        With --history: also labels that were kept as they are.
    to
        Write the first table to this file (.csv, .parquet), or all of the result to this folder.
    """
    if costs and history:
        raise InputError("--costs and --history show different things; expected one of them")
    if everything and not history:
        raise InputError("--all is for --history; expected both")
    if history and to is not None:
        raise InputError("--history is printed only; --json gives it as a table")
    if taxonomy is None:
        if costs or history:
            option = "--costs" if costs else "--history"
            raise InputError(f"{option}: expected the name of a taxonomy, or a file, too")
        result = taxonomy_overview()
    else:
        asked = load_taxonomy(taxonomy)
        if history:
            _show_history(asked, out, everything=everything)
            return
        result = asked.cost_matrix().to_result() if costs else asked.to_result()
    show_result(result, out, to=to)


def _show_history(found: Taxonomy, out: Output, *, everything: bool) -> None:
    out.show(f"{found.name}, version {found.version}: {len(found)} labels")
    if not found.history:
        out.show("The file records no decisions.")
    for revision in found.history:
        before = f", after {revision.parent}" if revision.parent else ""
        out.head(f"\nversion {revision.version}{before}")
        if revision.source:
            out.show(f"from: {revision.source}")
        kept = [change for change in revision.changes if change.action == "keep"]
        for change in revision.changes:
            if change.action == "keep" and not everything:
                continue
            into = f" → {change.into}" if change.into else ""
            out.show(f"{change.action:<7} {change.label}{into}: {change.reason}")
        if kept and not everything:
            out.show(f"keep    {', '.join(change.label for change in kept)}")
    out.finish(
        {
            "name": found.name,
            "version": found.version,
            "labels": found.labels,
            "history": [asdict(revision) for revision in found.history],
        }
    )

"""``affectlab stimuli taxonomy apply`` and ``history``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Argument, Option
from affectlab.cli.stimuli._taxonomy_notes import read_note

__all__ = ["apply", "history"]

_DONE = {"keep": "kept", "add": "added", "merge": "merged", "drop": "dropped"}


def apply(
    review: Annotated[Path, Argument(metavar="REVIEW", help="The review, as you left it.")],
    to: Annotated[
        Path, Option("--out", help="TOML file of the taxonomy to write.", metavar="FILE")
    ],
    parent: Annotated[
        str | None,
        Option(
            "--taxonomy",
            help="Taxonomy that was reviewed: a name or a TOML file. Without it a new one is made.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        Option(help="Name of a new taxonomy; by default that of the file.", show_default=False),
    ] = None,
    title: Annotated[str, Option(help="Title of a new taxonomy.", show_default=False)] = "",
    neutral: Annotated[
        str | None,
        Option(help="Name of a label for no emotion, added to a new taxonomy.", show_default=False),
    ] = None,
    source: Annotated[
        str | None,
        Option(
            help="What the decisions rest on; by default what the verb before it noted.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        str | None,
        Option(help="Name of the next version; by default counted up.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Make a taxonomy of a review, or the next version of one; no version is overwritten.

    Example: affectlab stimuli taxonomy apply mine/review.csv --out mine.toml --neutral neutral
    """
    from affectlab.core.errors import InputError
    from affectlab.stimuli.taxonomy import read_review, revised_taxonomy, taxonomy_of
    from affectlab.taxonomy import load_taxonomy

    out = Output("stimuli taxonomy apply", as_json=as_json, quiet=quiet)
    if to.exists():
        raise InputError(f"{to} exists, and no version is overwritten; give another --out")
    decided = read_review(review)
    told = read_note(review) if source is None else source
    if parent is None:
        if version is not None:
            raise InputError("--version is for the next version of a taxonomy; give --taxonomy")
        made = taxonomy_of(decided, name=name or to.stem, title=title, source=told, neutral=neutral)
    else:
        if name or title or neutral:
            raise InputError("--name, --title and --neutral are for a new taxonomy, not a revision")
        made = revised_taxonomy(load_taxonomy(parent), decided, source=told, version=version)
    made.taxonomy.save(to)
    counts = decided.counts()
    said = ", ".join(f"{n:,} {_DONE[decision]}" for decision, n in counts.items() if n)
    out.show(f"version {made.taxonomy.version} of {made.taxonomy.name}: {said}")
    out.show(f"{len(made.taxonomy)} labels: {', '.join(made.taxonomy.labels)}")
    out.show(f"taxonomy written to {to}")
    out.finish(
        {
            "name": made.taxonomy.name,
            "version": made.taxonomy.version,
            "labels": made.taxonomy.labels,
            "decisions": counts,
            "taxonomy": to,
        },
        made.warnings,
    )


def history(
    taxonomy: Annotated[
        str,
        Argument(metavar="TAXONOMY", help="Name of a taxonomy, or a TOML file."),
    ],
    everything: Annotated[
        bool, Option("--all", help="Also labels that were kept as they are.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    seed: SeedOption = 0,
) -> None:
    """Show the versions of a taxonomy, and what was decided about each label, with reasons.

    Example: affectlab stimuli taxonomy history mine.toml
    """
    from dataclasses import asdict

    from affectlab.taxonomy import load_taxonomy

    out = Output("stimuli taxonomy history", as_json=as_json, quiet=quiet)
    found = load_taxonomy(taxonomy)
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

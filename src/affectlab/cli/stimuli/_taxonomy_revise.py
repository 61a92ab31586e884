"""``affectlab stimuli taxonomy revise``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli.parameters import Option
from affectlab.cli.stimuli._taxonomy_notes import write_review

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["revise"]


@reads_ratings("stimuli taxonomy revise")
def revise(
    ratings: Ratings,
    out: Output,
    file: Path,
    to: Annotated[
        Path, Option("--out", help="CSV file of the review to write.", metavar="FILE")
    ] = Path("revision.csv"),
    suggestions: Annotated[
        Path | None,
        Option(
            help="Suggested labels: the suggestions.csv of a study's export.", show_default=False
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        Option(help="TOML file of limits, instead of ours.", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Propose from a pilot which labels to drop, merge and add, each with its numbers and limit.

    FILE holds the pilot's answers; --taxonomy names the taxonomy that it used. Labels are judged by
    intervals: where the pilot is too small to decide, it says so and the label stays. Edit the
    review, then make the next version with apply --taxonomy.

    Example: affectlab stimuli taxonomy revise pilot.csv --taxonomy mine.toml
    """
    from affectlab.core.errors import InputError
    from affectlab.reliability import interrater_correlation
    from affectlab.stimuli.taxonomy import binary_choices, read_suggestions, revise_taxonomy

    panel = out.panel(ratings)
    taxonomy = ratings.taxonomy
    if taxonomy is None:
        raise InputError("the taxonomy of the pilot is not known; give it with --taxonomy")
    chosen = binary_choices(panel)
    exclude = [label for label in chosen.label_names if label == taxonomy.neutral]
    with out.progress("judging labels"):
        proposal = revise_taxonomy(
            taxonomy,
            panel,
            agreement=interrater_correlation(chosen, exclude=exclude),
            suggestions=None if suggestions is None else read_suggestions(suggestions),
            policy=policy,
            seed=seed,
        )
    source = f"pilot {file.name}: {proposal.n_stimuli:,} stimuli, {proposal.n_raters:,} raters" + (
        "" if suggestions is None else f", suggestions in {suggestions.name}"
    )
    write_review(proposal.review, to, source)
    out.show(
        f"{proposal.n_stimuli:,} stimuli, {proposal.n_raters:,} raters, {len(taxonomy)} labels"
    )
    labels = set(taxonomy.labels)
    _show_rows(
        out, "drop", [r for r in proposal.review if r.decision == "drop" and r.term in labels]
    )
    _show_rows(out, "merge", [r for r in proposal.review if r.decision == "merge"])
    _show_rows(out, "add", [r for r in proposal.review if r.decision == "add"])
    open_ = [r for r in proposal.review if r.term in proposal.undecided]
    _show_rows(out, "undecided", open_)
    rest = [r for r in proposal.review if r.decision == "keep" and r.term not in proposal.undecided]
    out.show(f"keep: {', '.join(row.term for row in rest) or 'none for sure'}")
    out.show(f"review: {to}; edit it, then:")
    out.show(f"  affectlab stimuli taxonomy apply {quote(str(to))} --taxonomy OLD --out NEW.toml")
    out.finish(
        {
            "panel": out.who,
            "n_stimuli": proposal.n_stimuli,
            "n_raters": proposal.n_raters,
            "review": [
                {
                    "label": row.term,
                    "decision": row.decision,
                    "into": row.target if row.decision == "merge" else None,
                    "undecided": row.term in proposal.undecided,
                    "reason": row.reason,
                    "evidence": dict(row.evidence),
                }
                for row in proposal.review
            ],
            "unread_suggestions": list(proposal.unread),
            "correlations": proposal.correlations.head(20),
            "file": to,
            "seed": seed,
        },
        ratings.warnings,
        doubts=proposal.warnings,
    )


def _show_rows(out: Output, what: str, rows: list[Any]) -> None:
    if not rows:
        return
    out.head(what)
    for row in rows:
        into = f" → {row.target}" if row.decision == "merge" else ""
        out.show(f"  {row.term}{into}: {row.reason}")

"""``affectlab taxonomy``: build, apply, revise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import polars as pl

from affectlab.cli._output import Output, make_folder, write_table
from affectlab.cli.manifest import OptionsOf
from affectlab.core.errors import InputError
from affectlab.core.types import Count
from affectlab.ratings import Ratings
from affectlab.reliability import interrater_correlation
from affectlab.stimuli.taxonomy import (
    Candidates,
    LabelProposals,
    TextBlock,
    binary_choices,
    find_terms,
    load_lexicon,
    merge_terms,
    propose_labels,
    read_note,
    read_review,
    read_suggestions,
    read_texts,
    revise_taxonomy,
    revised_taxonomy,
    taxonomy_of,
    text_blocks,
    write_review,
)
from affectlab.taxonomy import load_taxonomy

_DONE = {"keep": "kept", "add": "added", "merge": "merged", "drop": "dropped"}


def build(
    out: Output,
    texts: Sequence[Path],
    *,
    to: Path = Path("taxonomy"),
    words: Count = 500,
    pack: bool = False,
    column: str = "text",
    lexicon: Path | None = None,
    labels: Count | None = None,
    min_blocks: Count = 2,
    model: str | None = None,
    asking: Annotated[dict[str, Any], OptionsOf("stimuli.taxonomy.model_finder:find_terms")],
    seed: int = 0,
) -> None:
    """Find emotion terms in texts, and propose labels, for a person to review.

    Texts are cut into blocks; terms are found, merged and clustered. FOLDER/review.csv holds a
    decision and a reason for each term: edit it, then make the taxonomy with apply. Answers of a
    language model are kept in FOLDER/answers.jsonl, so that interrupted work goes on.

    Parameters
    ----------
    texts
        Texts: .txt and .md files, folders of them, or tables (.csv, .parquet, .jsonl).
    to
        Folder for review and tables.
    words
        Words in a block.
    column
        Column of the texts in tables.
    lexicon
        TOML file of emotion words, instead of ours.
    labels
        Number of labels to propose; without it, as many as the terms fall into.
    model
        Language model that finds the terms, in place of the lexicon.

    Other Parameters
    ----------------
    pack
        Put short texts together until a block is full.
    min_blocks
        Blocks that must name a term for a label.
    """
    known = load_lexicon(lexicon)
    read = read_texts(texts, column=column)
    blocks = text_blocks(read, words=words, pack=pack)
    make_folder(to)
    by = f"the lexicon {known.name}" if model is None else f"the language model {model}"
    with out.progress("searching") as report:
        found = find_terms(
            blocks,
            known,
            model=model,
            folder=to,
            progress=lambda done, total: report("searching", done, total),
            **asking,
        )
        candidates = merge_terms(found)
        proposals = propose_labels(candidates, n_labels=labels, min_blocks=min_blocks)
    review = proposals.review()
    source = (
        f"{len(read):,} texts in {len(blocks):,} blocks of {words:,} words; emotion terms by {by}"
    )
    write_table(candidates.terms(), to / "terms.csv", sheet=True)
    write_table(candidates.blocks, to / "blocks.csv", sheet=True)
    merges = candidates.merges
    if merges is not None and merges.height:
        write_table(merges, to / "merges.csv", sheet=True)
    write_review(review, to / "review.csv", source)
    _show_build(out, len(read), blocks, words, candidates, proposals)
    failed = candidates.blocks.filter(candidates.blocks["outcome"] != "ok")
    made = [quote(str(to / name)) for name in ("review.csv", "taxonomy.toml")]
    out.show(f"review: {to / 'review.csv'}; edit it, then:")
    out.show(f"  affectlab taxonomy apply {made[0]} --out {made[1]}")
    outcomes = dict(failed.group_by("outcome", maintain_order=True).len().iter_rows())
    out.finish(
        {
            "n_texts": len(read),
            "n_blocks": len(blocks),
            "n_terms": len(candidates),
            "labels": proposals.labels,
            "decisions": review.counts(),
            "failed": outcomes,
            "folder": to,
            "seed": seed,
        },
        doubts=[
            f"{n:,} of {len(blocks):,} blocks could not be searched: {outcome}; see "
            f"{to / 'blocks.csv'}"
            for outcome, n in outcomes.items()
        ],
    )


def apply(
    out: Output,
    review: Path,
    *,
    to: Path,
    taxonomy: str | None = None,
    name: str | None = None,
    title: str = "",
    neutral: str | None = None,
    source: str | None = None,
    version: str | None = None,
    seed: int = 0,
) -> None:
    """Make a taxonomy of a review, or the next version of one; no version is overwritten.

    Parameters
    ----------
    review
        The review, as you left it.
    to
        TOML file of the taxonomy to write.
    taxonomy
        Taxonomy that was reviewed: a name or a TOML file. Without it a new one is made.
    name
        Name of a new taxonomy; by default that of the file.
    title
        Title of a new taxonomy.
    neutral
        Name of a label for no emotion, added to a new taxonomy.
    source
        What the decisions rest on; by default what the verb before it noted.
    version
        Name of the next version; by default counted up.
    """
    if to.exists():
        raise InputError(f"{to} exists, and no version is overwritten; give another --out")
    decided = read_review(review)
    told = read_note(review) if source is None else source
    if taxonomy is None:
        if version is not None:
            raise InputError("--version is for the next version of a taxonomy; give --taxonomy")
        made = taxonomy_of(decided, name=name or to.stem, title=title, source=told, neutral=neutral)
    else:
        if name or title or neutral:
            raise InputError("--name, --title and --neutral are for a new taxonomy, not a revision")
        made = revised_taxonomy(load_taxonomy(taxonomy), decided, source=told, version=version)
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


def revise(
    ratings: Ratings,
    out: Output,
    file: Path,
    *,
    to: Path = Path("revision.csv"),
    suggestions: Path | None = None,
    policy: Path | None = None,
    seed: int = 0,
) -> None:
    """Propose from a pilot which labels to drop, merge and add, each with its numbers and limit.

    FILE holds the pilot's answers; --taxonomy names the taxonomy that it used. Labels are judged by
    intervals: where the pilot is too small to decide, it says so and the label stays. Edit the
    review, then make the next version with apply --taxonomy.

    Parameters
    ----------
    to
        CSV file of the review to write.
    suggestions
        Suggested labels: the suggestions.csv of a study's export.
    policy
        TOML file of limits, instead of ours.
    """
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
    for what in ("drop", "merge", "add"):
        rows = [row for row in proposal.review if row.decision == what]
        if what == "drop":
            rows = [row for row in rows if row.term in taxonomy.labels]
        _show_rows(out, what, rows)
    _show_rows(out, "undecided", [r for r in proposal.review if r.term in proposal.undecided])
    rest = [r for r in proposal.review if r.decision == "keep" and r.term not in proposal.undecided]
    out.show(f"keep: {', '.join(row.term for row in rest) or 'none for sure'}")
    out.show(f"review: {to}; edit it, then:")
    out.show(f"  affectlab taxonomy apply {quote(str(to))} --taxonomy OLD --out NEW.toml")
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


def _show_build(
    out: Output,
    n_texts: int,
    blocks: tuple[TextBlock, ...],
    words: int,
    candidates: Candidates,
    proposals: LabelProposals,
) -> None:
    total = sum(block.n_words for block in blocks)
    dropped = int(proposals.terms["label"].is_null().sum())
    rare = int((proposals.terms["n_blocks"] < proposals.min_blocks).sum())
    for what, said in (
        ("texts", f"{n_texts:,}"),
        (f"blocks of {words:,} words", f"{len(blocks):,} ({total:,} words)"),
        ("emotion terms", f"{len(candidates):,}"),
        (f"in fewer than {proposals.min_blocks} blocks", f"{rare:,}; {dropped:,} to drop"),
        ("labels proposed", f"{len(proposals.labels):,}"),
    ):
        out.show(f"{what:<24}{said}")
    spread = dict(proposals.terms.select("term", "n_blocks").iter_rows())
    rows = [
        {"label": label, "blocks": spread[label], "terms": ", ".join(terms[1:8])}
        for label, terms in proposals.labels.items()
    ]
    out.show_frame(pl.DataFrame(rows), ["label", "blocks", "terms"], more="see review.csv")


def _show_rows(out: Output, what: str, rows: list[Any]) -> None:
    if not rows:
        return
    out.head(what)
    for row in rows:
        into = f" → {row.target}" if row.decision == "merge" else ""
        out.show(f"  {row.term}{into}: {row.reason}")

"""What a pilot says about a taxonomy: labels to drop, merge and add, each with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.estimates import Estimates
from affectlab.core.words import joined, plural
from affectlab.ratings import Ratings, canonical
from affectlab.stimuli.taxonomy.confusions import judge_pairs, label_correlations
from affectlab.stimuli.taxonomy.lexicon import Lexicon, load_lexicon
from affectlab.stimuli.taxonomy.pilot import Pilot, read_pilot
from affectlab.stimuli.taxonomy.policy import RevisionPolicy, load_revision_policy
from affectlab.stimuli.taxonomy.review import Review, ReviewRow
from affectlab.stimuli.taxonomy.suggestions import Suggestion, count_suggestions, suggestions_of
from affectlab.stimuli.taxonomy.verdicts import (
    Verdict,
    agreement_by_label,
    judge_agreement,
    judge_scarcity,
    judge_suggestion,
    pairs_may_agree,
)
from affectlab.taxonomy import Taxonomy

__all__ = ["RevisionProposal", "revise_taxonomy"]

_TOO_SMALL = 0.5
"""Share of labels that stay undecided from which on a pilot is called too small."""


@dataclass(frozen=True, eq=False)
class RevisionProposal:
    """What a pilot speaks for; see :func:`revise_taxonomy`."""

    taxonomy: Taxonomy
    review: Review
    """A decision about every label and every suggestion, for a person to edit."""
    undecided: tuple[str, ...]
    """Labels and suggestions about which the pilot is too small to decide; labels are kept."""
    unread: tuple[str, ...]
    """Suggestions that could not be read as labels."""
    correlations: pl.DataFrame
    """``label``, ``other``, ``value``: pairs of labels by how far they are one, highest first."""
    n_stimuli: int
    n_raters: int
    warnings: tuple[str, ...]

    def by_decision(self, decision: str) -> tuple[str, ...]:
        """Labels or suggestions with a decision: keep, merge, drop or add.

        A suggestion that is not added has the decision drop; see :attr:`leaving` for labels.
        """
        return tuple(row.term for row in self.review if row.decision == decision)

    @property
    def leaving(self) -> tuple[str, ...]:
        """Labels of the taxonomy that are to be dropped or merged."""
        labels = self.taxonomy.labels
        return tuple(
            row.term for row in self.review if row.term in labels and row.decision != "keep"
        )


def revise_taxonomy(
    taxonomy: Taxonomy,
    ratings: Ratings,
    *,
    agreement: Estimates | Mapping[str, Any] | Any,
    suggestions: pl.DataFrame | None = None,
    policy: RevisionPolicy | str | Path | None = None,
    lexicon: Lexicon | None = None,
    seed: int = 0,
) -> RevisionProposal:
    """Propose a revision of a taxonomy from a pilot (goemotions, section 3.2 and appendix B).

    Labels that raters hardly choose, or do not agree about, are proposed to be dropped; one that
    raters put in place of another is merged into it; labels that they often suggest are added.
    Limits stand in the policy. With its outer bounds a label is judged by its interval: one whose
    interval holds the limit is kept, and named as undecided.

    Parameters
    ----------
    taxonomy
        The taxonomy that the pilot used.
    ratings
        Answers of the pilot: chosen labels (binary), intensities, or one label each (nominal). A
        label counts as chosen where the answer lies above the low end of the scale.
    agreement
        Agreement by label, with intervals: what ``interrater_correlation`` of the reliability room
        gives, a data frame with ``label``, ``value``, ``low``, ``high``, or a mapping of label to
        value or to (value, low, high).
    suggestions
        Columns ``stimulus``, ``rater``, ``suggestion``, as :func:`read_suggestions` reads them.
        Those count that belong to an answer of the pilot: the same rater, the same stimulus.
    policy
        Limits, or a TOML file with them; the built-in ones when not given.
    lexicon
        Emotion words, by which forms of one suggestion are counted together.
    seed
        Draws the bootstrap replicates of pairs of labels.

    Raises
    ------
    InputError
        When labels of the ratings or of the agreement are not in the taxonomy, or there is no
        answer.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> from affectlab.taxonomy import Taxonomy
    >>> joy = [1, 1, 0, 0] * 300
    >>> rows = [
    ...     (f"s{k // 2}", f"r{k % 2}", label, value)
    ...     for k, one in enumerate(joy)
    ...     for label, value in (("joy", one), ("ennui", 0))
    ... ]
    >>> names = ("stimulus", "rater", "label", "value")
    >>> ratings = Ratings(dict(zip(names, zip(*rows))), scale="binary")
    >>> told = {"joy": (0.9, 0.8, 1.0), "ennui": float("nan")}
    >>> proposal = revise_taxonomy(Taxonomy.from_labels(["joy", "ennui"]), ratings, agreement=told)
    >>> proposal.leaving, proposal.review.rows[1].reason
    (('ennui',), 'chosen for 0 of 600 stimuli (0.0 %, 0.0 % to 0.6 %), below the limit of 1.0 %')
    """
    limits = load_revision_policy(policy)
    pilot = read_pilot(canonical(ratings), taxonomy)
    agreed = agreement_by_label(agreement, taxonomy)
    votes = limits.scarce.votes
    chosen, asked = pilot.n_chosen(votes), pilot.n_asked(votes)
    scarce: dict[str, Verdict] = {}
    low: dict[str, Verdict] = {}
    for k, label in enumerate(taxonomy.labels):
        scarce[label] = judge_scarcity(int(chosen[k]), int(asked[k]), limits)
        low[label] = judge_agreement(
            agreed.get(label),
            int(pilot.n_shared[k]),
            pairs_may_agree(pilot, k, limits.confidence),
            limits,
        )
    leaving = {
        label
        for label in taxonomy.labels
        if label != taxonomy.neutral and "yes" in (scarce[label].said, low[label].said)
    }
    correlations = label_correlations(pilot)
    pairs = judge_pairs(pilot, correlations, leaving, taxonomy, limits, seed=seed)
    rows, undecided = [], []
    for label in taxonomy.labels:
        row, open_ = _row(label, taxonomy, scarce[label], low[label], pairs.get(label))
        rows.append(row)
        undecided += [label] if open_ else []
    found: list[Suggestion] = []
    unread: list[str] = []
    others = 0
    if suggestions is not None:
        own, others = suggestions_of(suggestions, pilot.answered)
        found, unread = count_suggestions(own, taxonomy, load_lexicon(lexicon))
    for suggestion in found:
        row, open_ = _suggested(
            suggestion, pilot.n_stimuli, taxonomy, limits, load_lexicon(lexicon)
        )
        rows.append(row)
        undecided += [suggestion.term] if open_ else []
    return RevisionProposal(
        taxonomy,
        Review(tuple(rows), "proposal"),
        tuple(undecided),
        tuple(unread),
        _pairs_frame(correlations, taxonomy),
        pilot.n_stimuli,
        pilot.n_raters,
        _warnings(pilot, taxonomy, undecided, unread, others),
    )


def _row(
    label: str,
    taxonomy: Taxonomy,
    scarce: Verdict,
    low: Verdict,
    pair: tuple[str, Verdict] | None,
) -> tuple[ReviewRow, bool]:
    """Give the row of a label, and whether it is undecided."""
    evidence = {**scarce.evidence, **low.evidence}
    if label == taxonomy.neutral:
        return ReviewRow(label, "keep", label, "it stands for no emotion", evidence=evidence), False
    yes = [verdict.words for verdict in (scarce, low) if verdict.said == "yes"]
    verdicts = [scarce, low]
    if pair is not None:
        evidence |= pair[1].evidence
        verdicts.append(pair[1])
        if pair[1].said == "yes":
            reason = "; ".join([pair[1].words, *yes])
            return ReviewRow(label, "merge", pair[0], reason, evidence=evidence), False
    if yes:
        return ReviewRow(label, "drop", "", "; ".join(yes), evidence=evidence), False
    open_ = [verdict.words for verdict in verdicts if verdict.said == "undecided"]
    if open_:
        reason = f"too small a pilot to decide: {'; '.join(open_)}"
        return ReviewRow(label, "keep", label, reason, evidence=evidence), True
    reason = "; ".join(filter(None, (scarce.words, low.words)))
    return ReviewRow(label, "keep", label, reason, evidence=evidence), False


def _suggested(
    found: Suggestion,
    n_stimuli: int,
    taxonomy: Taxonomy,
    limits: RevisionPolicy,
    lexicon: Lexicon,
) -> tuple[ReviewRow, bool]:
    verdict = judge_suggestion(found, n_stimuli, limits)
    polarity = lexicon.polarity(found.term) or ""
    if found.covered_by is not None:
        term = found.term if found.term not in taxonomy.labels else f"{found.term} (suggested)"
        reason = f"{found.covered_by!r} is there already; {verdict.words}"
        return ReviewRow(term, "drop", "", reason, evidence=verdict.evidence), False
    if verdict.said == "yes":
        row = ReviewRow(
            found.term, "add", found.term, verdict.words, polarity, evidence=verdict.evidence
        )
        return row, False
    open_ = verdict.said == "undecided"
    reason = f"too small a pilot to decide: {verdict.words}" if open_ else verdict.words
    return ReviewRow(found.term, "drop", "", reason, polarity, evidence=verdict.evidence), open_


def _pairs_frame(
    correlations: np.ndarray[Any, np.dtype[np.float64]], taxonomy: Taxonomy
) -> pl.DataFrame:
    rows = [
        (label, other, float(correlations[a, b]))
        for a, label in enumerate(taxonomy.labels)
        for b, other in enumerate(taxonomy.labels[a + 1 :], start=a + 1)
        if np.isfinite(correlations[a, b])
    ]
    schema = {"label": pl.String, "other": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(
        ["value", "label", "other"], descending=[True, False, False]
    )


def _warnings(
    pilot: Pilot, taxonomy: Taxonomy, undecided: list[str], unread: list[str], others: int
) -> tuple[str, ...]:
    warnings = []
    labels = [label for label in taxonomy.labels if label != taxonomy.neutral]
    open_ = [label for label in labels if label in undecided]
    if labels and len(open_) >= _TOO_SMALL * len(labels):
        warnings.append(
            f"a pilot of {plural(pilot.n_stimuli, 'stimulus', 'stimuli')} and "
            f"{plural(pilot.n_raters, 'rater')} is too small: it leaves {len(open_)} of "
            f"{plural(len(labels), 'label')} undecided"
        )
    asked = pilot.n_asked()
    absent = [label for k, label in enumerate(taxonomy.labels) if asked[k] == 0]
    absent = [label for label in absent if label != taxonomy.neutral]
    if absent:
        told = joined(absent[:5]) + (" and others" if len(absent) > 5 else "")
        warnings.append(f"the pilot did not ask about {told}")
    always = [
        label
        for k, label in enumerate(taxonomy.labels)
        if asked[k] and (pilot.values[pilot.asked[:, k], k] > pilot.least).all()
    ]
    if always:
        warnings.append(
            f"{always[0]!r} is chosen in every answer about it; if answers that did not choose a "
            "label are left out of the table, give them the value 0"
        )
    if others:
        warnings.append(
            f"{plural(others, 'suggestion')} left out: the pilot has no answer of that rater to "
            "that stimulus"
        )
    if unread:
        warnings.append(
            f"{plural(len(unread), 'suggestion')} could not be read as labels; the first: "
            f"{unread[0][:80]!r}"
        )
    return tuple(warnings)

"""Consensus flow: how many items survive each round of a sequential yes/no protocol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Key, Share, Table, Text, YesNo
from affectlab.core.types import Ints
from affectlab.core.words import plural
from affectlab.ratings import BATCH_COLUMNS, Answers, Ratings, answers_of, of_known_raters
from affectlab.reliability.wording import (
    BATCHES,
    BOUNDS,
    CONSENSUS_SET,
    CONTRASTIVE_RULE,
    EXCLUDED,
    FLOW_FIGURE,
    INFERRED_RULE,
    NO_SECOND_VOTES,
    OPEN_BATCHES,
    RECORDED_RULE,
    assumed_start,
    batch_text,
    inferred_split,
    not_rated_again,
    out_of_protocol,
    rated_unconfirmed,
    set_text,
    shares_of,
    single_votes,
    unrecorded_votes,
)

_SPLIT_UNKNOWN = Reason(Cause.BATCHES_ALIKE)
_KINDS = ("affirmative", "contrastive")
_EMPTY = Reason(Cause.NONE, of="items")
_DISSENT, _EITHER_BATCH, _OPEN = (
    pl.lit(fact_column("reason", [Reason(cause)], reason_type()))
    for cause in (Cause.DISSENT, Cause.EITHER_BATCH, Cause.NOT_IN_EVERY_BATCH)
)
"""Why an item is not in the consensus set."""


@dataclass(frozen=True)
class Batch:
    """One round of the protocol."""

    batch: int
    """1 is the first round; the contrastive round comes after the last affirmative one."""
    kind: str
    """``affirmative`` (is the emotion there?) or ``contrastive`` (is it absent?)."""
    items: int
    """Items that were asked about, each one a stimulus with a label."""
    share: float
    """Items over the items that the protocol started with, a fraction."""
    agreement: float
    """Share of the items on which the answer was the expected one, a fraction."""
    confirmed: int | None
    """Items with the expected answer; ``None`` where it is not known."""
    agreement_low: float
    """Lowest agreement that fits the votes; equals ``agreement`` where that is known."""
    agreement_high: float
    """Highest agreement that fits the votes."""
    inferred: bool
    """True when totals, not votes of this round alone, were needed."""
    reason: Reason | None = None
    """Why the agreement is not known, where it is not."""
    label: str | None = None
    """The label, when the flow was asked for by label."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConsensusFlow(Result):
    """The rounds of a sequential yes/no protocol; its notes say what the votes can show.

    The table has one row per round; a column ``label`` comes first when asked for by label. Beside
    it stand the items of the ``consensus_set``, present or absent, and those ``excluded`` with the
    reason: any dissent, two yes and one no included.
    """

    batches: tuple[Batch, ...]
    start: int
    """Items that the protocol started with."""
    single_positive: int
    """Items with one vote, which is yes."""
    single_negative: int
    """Items with one vote, which is no."""
    out_of_protocol: int
    """Items with more than one no, which the protocol does not allow."""
    recorded: bool = False
    """Whether the ratings say to which batch each answer belongs."""


_TYPES = {
    "label": pl.String,
    "batch": pl.Int64,
    "kind": pl.String,
    "items": pl.Int64,
    "share": pl.Float64,
    "agreement": pl.Float64,
    "confirmed": pl.Int64,
    "agreement_low": pl.Float64,
    "agreement_high": pl.Float64,
    "inferred": pl.Boolean,
    "reason": reason_type(),
}
_COLUMNS = (
    Key("label"),
    Key("batch"),
    Text("kind"),
    Count("items"),
    Share("share", "of the start", decimals=2),
    Share("agreement", "confirmed", decimals=2),
    Column("agreement", BOUNDS, "share_interval"),
    YesNo("inferred", "inferred from totals", spare=True),
)


_FIGURE = Figure(
    "consensus_flow",
    "consensus_flow",
    "batches",
    "Consensus flow",
    FLOW_FIGURE,
)


_ITEM = (Key("label"), Key("stimulus"))


def _agreed(
    answers: Answers,
    votes: _Votes,
    *,
    contrastive: bool = False,
    recorded: pl.DataFrame | None = None,
) -> tuple[Table, Table]:
    """Tell the items on which every answer confirmed the one before from all others.

    Parameters
    ----------
    contrastive
        Whether single answers may belong to a contrastive batch. They do where another label of the
        stimulus went on, as each stimulus has one affirmative label.
    recorded
        The votes with their batches, where these are known.
    """
    labels, stimuli = np.divmod(votes.item, max(len(answers.units), 1))
    items = pl.DataFrame(
        {"label": labels, "stimulus": stimuli, "yes": votes.yes, "no": votes.total - votes.yes}
    )
    yes, no, asked = pl.col("yes"), pl.col("no"), pl.col("yes") + pl.col("no")
    mixed = (yes > 0) & (no > 0)
    if recorded is None:
        single = pl.lit(contrastive) & (asked == 1)
        other = single & ((asked >= 2).sum().over("stimulus") == 1)
        dissent = mixed | (no > 0) & ~single | (yes > 0) & other
        either = single & ~other
        unfinished, present = (asked < votes.rounds) & ~other, (yes > 0) & ~other
    else:
        affirmative = pl.col("kind") == _KINDS[0]
        of_kind = recorded.group_by("label", "stimulus").agg(
            present=affirmative.any(),
            against=((pl.col("value") == 1) != affirmative).any(),
            rounds=affirmative.sum(),
        )
        of_kind = of_kind.cast({"label": pl.Int64, "stimulus": pl.Int64})
        items = items.join(of_kind, on=["label", "stimulus"], maintain_order="left")
        rounds = recorded.filter(affirmative)["step"].n_unique()
        dissent, either = mixed | pl.col("against"), pl.lit(False)
        present = pl.col("present")
        unfinished = present & (pl.col("rounds") < rounds)
    why = (
        pl.when(dissent)
        .then(_DISSENT)
        .when(either)
        .then(_EITHER_BATCH)
        .when(unfinished)
        .then(_OPEN)
    )
    names = (
        pl.Series("label", [answers.labels[k] for k in labels], dtype=pl.String),
        pl.Series("stimulus", [answers.units[k] for k in stimuli], dtype=pl.String),
    )
    items = items.with_columns(why.alias("reason"), present.alias("present")).with_columns(*names)
    items = items.sort("label", "stimulus")
    excluded = pl.col("reason").is_not_null()
    return (
        Table(
            "consensus_set",
            CONSENSUS_SET,
            items.filter(~excluded).select("label", "stimulus", "present", "yes", "no"),
            (*_ITEM, YesNo("present"), Count("yes"), Count("no")),
            limit=0,
        ),
        Table(
            "excluded",
            EXCLUDED,
            items.filter(excluded).select("label", "stimulus", "yes", "no", "reason"),
            (*_ITEM, Count("yes"), Count("no"), Text("reason")),
            limit=0,
        ),
    )


def _set_sentence(agreed: Table, excluded: Table) -> str:
    """Say how large the consensus set is, and what is not in it."""
    present = int(agreed.frame["present"].sum())
    why = excluded.frame["reason"].value_counts(sort=True).iter_rows()
    reasons = [(reason, n) for row, n in why if (reason := Reason.of_row(row)) is not None]
    absent = agreed.frame.height - present
    return set_text(present, absent, excluded.frame.height, reasons)


def _flow(
    batches: Sequence[Batch],
    votes: _Votes,
    start: int,
    notes: Sequence[str],
    sets: tuple[Table, Table],
    **more: Any,
) -> ConsensusFlow:
    frame = pl.DataFrame([asdict(batch) for batch in batches], schema=_TYPES)
    by_label = frame["label"].null_count() < frame.height
    if not by_label:
        frame = frame.drop("label")
    exact = (frame["agreement_low"] == frame["agreement_high"]).all()
    columns = tuple(
        column
        for column in _COLUMNS
        if column.sources[0] in frame.columns
        and not (exact and column.kind == "share_interval")
        and (column.key != "inferred" or frame["inferred"].any())
    )
    rounds = (batch_text(batch.batch, batch.items, batch.agreement) for batch in batches)
    sizes = (
        f"{plural(len(batches), 'batch', 'batches')} by label" if by_label else "; ".join(rounds)
    )
    return ConsensusFlow(
        (Table("batches", BATCHES, frame, columns), *sets),
        (sizes, _set_sentence(*sets)),
        (_FIGURE,),
        notes=tuple(notes),
        batches=tuple(batches),
        start=start,
        single_positive=votes.single_positive,
        single_negative=votes.single_negative,
        out_of_protocol=votes.out_of_protocol,
        **more,
    )


@of_known_raters
def consensus_flow(
    ratings: Ratings | ArrayLike,
    *,
    start: int | None = None,
    first_positive: int | None = None,
    by_label: bool = False,
) -> ConsensusFlow:
    """Follow the items of a sequential yes/no protocol from round to round.

    Each round asks another rater about the items that the round before confirmed. An item is a
    stimulus with a label; the order of rows means nothing. Where the ratings record the round of
    every answer, as the export of a study does (columns ``step``, from 1, and ``batch_kind``,
    affirmative or contrastive), all rounds are exact.

    Otherwise only counts of votes are used: round b holds the items with at least b votes, and
    confirms those with at least b yes. Rounds 2, 3, … follow from the votes alone. Round 1 does
    too, unless the same ratings hold a *contrastive* round, which asks once about a label that
    should be absent: a single vote does not say which of the two it belongs to. Then round 1 and
    the contrastive round are inferred from totals, and their agreement is bounded by the votes or,
    with ``first_positive``, computed.

    Parameters
    ----------
    ratings
        Ratings of yes (1) and no (0), main trials with a valid answer, one vote per rater and item;
        or an array of shape (raters, items) with ``nan`` where there is no vote.
    start
        Items that the affirmative protocol started with.

        By default the number of stimuli where every stimulus went on with at most one of its labels
        (one affirmative label per stimulus, the rest contrastive), otherwise all items.
    first_positive
        Published number of items that round 1 confirmed.
    by_label
        One flow per label, with shares of the label's own first items.

        ``start`` and ``first_positive`` are totals over labels and cannot be given. Where there are
        contrastive items that the ratings do not tell apart, rounds are shown from 2 on.

    Returns
    -------
    Shares and agreement are fractions. What the votes can show and what was inferred is said in
    ``notes``. ``consensus_set`` holds the items that all batches confirmed; ``excluded`` those with
    any dissent, and those that were not asked in every batch, with the reason.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1, the totals do not fit the votes or are given where the
        ratings record the rounds, or an item has two votes in one round.

    References
    ----------
    EmoNet-Face (2025), table 2.

    Examples
    --------
    Four items: two are confirmed three times, one is refused in round 2, one in round 1.

    >>> nan = float("nan")
    >>> flow = consensus_flow([[1, 1, 1, 0], [1, 1, 0, nan], [1, 1, nan, nan]])
    >>> [(b.batch, b.items, b.share, round(b.agreement, 3)) for b in flow.batches]
    [(1, 4, 1.0, 0.75), (2, 3, 0.75, 0.667), (3, 2, 0.5, 1.0)]
    >>> flow.to_frame("consensus_set")["stimulus"].to_list()
    ['0', '1']
    """
    answers = answers_of(ratings)
    _check_votes(answers)
    totals = start is not None or first_positive is not None
    if by_label and totals:
        raise InputError("start and first_positive are totals; leave them out with by_label")
    recorded, gap = _recorded(ratings) if isinstance(ratings, Ratings) else (None, ())
    if recorded is not None:
        if totals:
            raise InputError(
                "start and first_positive are for ratings that do not record their batches; these "
                f"do (columns {' and '.join(BATCH_COLUMNS)})"
            )
        return _recorded_flow(answers, recorded, by_label=by_label)
    if by_label:
        return _flow_by_label(answers, gap)
    votes = _Votes.count(answers.cell, answers.value)
    n_items, went_on = votes.total.size, int((votes.total >= 2).sum())
    n_start = _default_start(answers, votes) if start is None else start
    if not went_on <= n_start <= n_items:
        raise InputError(
            f"start {n_start}: expected between {went_on} (items with two votes) and {n_items} "
            "(items with a vote)"
        )
    n_contrastive = n_items - n_start
    # Single yes votes of round 1: at least those that do not fit into the contrastive round.
    fewest = max(0, votes.single_positive - n_contrastive)
    most = min(votes.single_positive, n_start - went_on)
    if first_positive is not None:
        stopped = first_positive - votes.went_on_positive
        if not fewest <= stopped <= most:
            raise InputError(
                f"first_positive {first_positive}: the votes allow "
                f"{votes.went_on_positive + fewest} to {votes.went_on_positive + most}"
            )
        fewest = most = stopped
    inferred = n_contrastive > 0
    yes = (count + votes.went_on_positive for count in (fewest, most))
    batches = [
        _batch(1, "affirmative", n_start, n_start, *yes, inferred=inferred),
        *_rounds(votes, n_start, 2),
    ]
    if n_contrastive:
        no = (n_contrastive - votes.single_positive + count for count in (fewest, most))
        last = len(batches) + 1
        batches.append(_batch(last, "contrastive", n_contrastive, n_start, *no, inferred=inferred))
    notes = (*gap, *_notes(votes, n_start, n_contrastive, start is None, first_positive))
    sets = _agreed(answers, votes, contrastive=n_contrastive > 0)
    return _flow(batches, votes, n_start, notes, sets)


@dataclass(frozen=True)
class _Votes:
    """Votes and yes votes of every item that was voted on."""

    item: Ints
    total: Ints
    yes: Ints

    @classmethod
    def count(cls, cell: Ints, value: np.ndarray) -> _Votes:
        item, inverse = np.unique(cell, return_inverse=True)
        total = np.bincount(inverse, minlength=item.size)
        return cls(item, total, np.bincount(inverse[value == 1], minlength=item.size))

    @property
    def single_positive(self) -> int:
        return int(((self.total == 1) & (self.yes == 1)).sum())

    @property
    def single_negative(self) -> int:
        return int(((self.total == 1) & (self.yes == 0)).sum())

    @property
    def went_on_positive(self) -> int:
        """Items voted on again that have a yes, as those of round 1 that went on should."""
        return int(((self.total >= 2) & (self.yes >= 1)).sum())

    @property
    def out_of_protocol(self) -> int:
        return int((self.yes < self.total - 1).sum())

    @property
    def rounds(self) -> int:
        return int(self.total.max(initial=0))


def _check_votes(answers: Answers) -> None:
    wrong = np.flatnonzero((answers.value != 0) & (answers.value != 1))
    if wrong.size:
        row = wrong[0]
        raise InputError(
            f"rater {answers.raters[answers.rater[row]]!r}, "
            f"stimulus {answers.units[answers.unit[row]]!r}: "
            f"vote {answers.value[row]:g} is neither 0 (no) nor 1 (yes)"
        )


def _default_start(answers: Answers, votes: _Votes) -> int:
    """Stimuli, if none went on with two labels; else items."""
    n_units = max(len(answers.units), 1)
    went_on = votes.item[votes.total >= 2] % n_units
    if went_on.size == 0 or np.bincount(went_on).max() > 1:
        return int(votes.total.size)
    return int(np.unique(votes.item % n_units).size)


def _rounds(votes: _Votes, start: int, first: int, label: str | None = None) -> list[Batch]:
    """Build the rounds from ``first`` on, which the votes alone determine."""
    rounds = []
    for batch in range(first, votes.rounds + 1):
        asked = votes.total >= batch
        confirmed = int((asked & (votes.yes >= batch)).sum())
        rounds.append(_batch(batch, "affirmative", int(asked.sum()), start, confirmed, label=label))
    return rounds


def _batch(
    batch: int,
    kind: str,
    items: int,
    start: int,
    lowest: int,
    highest: int | None = None,
    *,
    inferred: bool = False,
    label: str | None = None,
) -> Batch:
    """Build a round of which the confirmed items are known, or only bounded."""
    known = highest in (None, lowest) and items > 0
    highest = lowest if highest is None else highest
    low, high = (lowest / items, highest / items) if items else (math.nan, math.nan)
    return Batch(
        batch,
        kind,
        items,
        items / start if start else math.nan,
        low if known else math.nan,
        lowest if known else None,
        low,
        high,
        inferred=inferred,
        reason=None if known else (_SPLIT_UNKNOWN if items else _EMPTY),
        label=label,
    )


def _notes(
    votes: _Votes, start: int, n_contrastive: int, assumed: bool, first_positive: int | None
) -> tuple[str, ...]:
    notes = [CONTRASTIVE_RULE if n_contrastive else INFERRED_RULE]
    if votes.rounds < 2:
        notes.append(NO_SECOND_VOTES)
    if n_contrastive:
        if assumed:
            notes.append(assumed_start(start, n_contrastive))
        if first_positive is None:
            notes.append(single_votes(votes.single_positive, votes.single_negative))
        else:
            stopped = first_positive - votes.went_on_positive
            notes.append(inferred_split(first_positive, stopped, votes.single_positive - stopped))
    elif votes.single_positive:
        notes.append(not_rated_again(votes.single_positive, 1))
    if votes.out_of_protocol:
        notes.append(out_of_protocol(votes.out_of_protocol))
    return tuple(notes)


def _recorded(data: Ratings) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """Give the votes with the batches that the ratings record, or why they cannot be used."""
    used = data.answers(every=True)
    if not {*BATCH_COLUMNS} <= {*used.frame.columns}:
        return None, ()
    step, kind = (used.frame[name] for name in BATCH_COLUMNS)
    votes = pl.DataFrame(
        {
            "label": used.label_code,
            "stimulus": used.stimulus_code,
            "step": step.cast(pl.Float64, strict=False),
            "kind": kind.cast(pl.String),
            "value": used.value,
        }
    )
    known = votes.filter(pl.col("kind").is_in(_KINDS), pl.col("step") >= 1)
    missing = votes.height - known.height
    if missing:
        return None, (unrecorded_votes(missing, _KINDS),)
    votes = known.cast({"step": pl.Int64})
    keys = ("label", "stimulus", "step", "kind")
    twice = votes.group_by(keys).len().filter(pl.col("len") > 1).sort(keys)
    if twice.height:
        label, stimulus, number, name, _ = twice.row(0)
        raise InputError(
            f"stimulus {used.stimulus_names[stimulus]!r}, label {used.label_names[label]!r}: two "
            f"votes in step {number} of the {name} batches; expected one, as in one study"
        )
    return votes, ()


def _recorded_flow(answers: Answers, votes: pl.DataFrame, *, by_label: bool) -> ConsensusFlow:
    """Count the batches that the ratings record."""
    total = _Votes.count(answers.cell, answers.value)
    sets = _agreed(answers, total, recorded=votes)
    notes = [RECORDED_RULE]
    affirmative = votes.filter(kind=_KINDS[0])
    start = affirmative.filter(step=1).height
    if by_label:
        notes.append(shares_of(1))
        batches = [
            batch
            for k, label in enumerate(answers.labels)
            for batch in _recorded_batches(votes.filter(label=k), label)
        ]
        return _flow(batches, total, start, notes, sets, recorded=True)
    batches = _recorded_batches(votes, None)
    items = ("label", "stimulus")
    for before, after in pairwise(b.batch for b in batches if b.kind == _KINDS[0]):
        confirmed = affirmative.filter(step=before, value=1)
        again = affirmative.filter(step=after)
        left = confirmed.join(again, on=items, how="anti").height
        added = again.join(confirmed, on=items, how="anti").height
        if left:
            notes.append(not_rated_again(left, before))
        if added:
            notes.append(rated_unconfirmed(added, after, before))
    return _flow(batches, total, start, notes, sets, recorded=True)


def _recorded_batches(votes: pl.DataFrame, label: str | None) -> list[Batch]:
    """Build the affirmative batches, and the contrastive one after them."""
    affirmative, contrastive = (votes.filter(kind=kind) for kind in _KINDS)
    start = affirmative.filter(step=1).height
    steps = affirmative["step"].to_numpy()
    last = int(steps.max(initial=1))
    parts = [(step, _KINDS[0], affirmative.filter(step=step), 1) for step in range(1, last + 1)]
    if contrastive.height:
        parts.append((last + 1, _KINDS[1], contrastive, 0))
    return [
        _batch(
            number, kind, part.height, start, int((part["value"] == expected).sum()), label=label
        )
        for number, kind, part, expected in parts
    ]


def _flow_by_label(answers: Answers, gap: tuple[str, ...] = ()) -> ConsensusFlow:
    total = _Votes.count(answers.cell, answers.value)
    contrastive = _default_start(answers, total) < total.total.size
    first = 2 if contrastive else 1
    batches: list[Batch] = []
    start = 0
    for label, part in zip(answers.labels, answers.by_label(), strict=True):
        votes = _Votes.count(part.unit, part.value)
        of_label = int((votes.total >= first).sum())
        start += of_label
        batches += _rounds(votes, of_label, first, label)
    notes = [*gap, CONTRASTIVE_RULE if contrastive else INFERRED_RULE, shares_of(first)]
    if contrastive:
        notes.append(OPEN_BATCHES)
    sets = _agreed(answers, total, contrastive=contrastive)
    return _flow(batches, total, start, notes, sets)

"""What a hinted annotation loop gives: ratings, coverage, and how often hints were followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pydantic

from affectlab.core.estimates import Estimates
from affectlab.core.inference import wilson_interval
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Key, Share, Table, Text
from affectlab.evaluation import control_checks
from affectlab.models.hinted import wording
from affectlab.models.hinted.plan import HintedPlan
from affectlab.ratings import Ratings

__all__ = ["Answer", "HintedRun", "coverage_table", "hinted_run"]

_COVERAGE = (
    Key("label"),
    Count("n", "ratings"),
    Count("n_hinted", "from hints"),
    Count("target", spare=True),
    Count("made"),
    Share("acceptance", "hints followed"),
    Column("acceptance", "interval", "share_interval", decimals=0),
    Text("status"),
)


@pydantic.dataclasses.dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid"))
class Answer:
    """A question about a picture, and the answer to it, checked; a line of the ledger."""

    stimulus: str
    sha256: str
    """Hash of the picture that it is about."""
    hint: str
    """Label that was hinted at, ``""`` for none."""
    target: str
    """Label that the picture was made for, ``""`` where it was made for none."""
    round: int
    outcome: str = ""
    """A key of ``OUTCOMES``; ``""``: not asked yet."""
    values: dict[str, float] = field(default_factory=dict)
    """What was given to labels, in the spelling of the taxonomy."""
    problem: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What a round asks once."""
        return self.stimulus, self.hint

    @property
    def decoy(self) -> bool:
        """Whether the hint is a wrong one."""
        return self.hint not in ("", self.target)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HintedRun(Result):
    """What a loop has annotated so far; made by :func:`annotate_until`.

    Tables: ``coverage``, a row for each label after the last round, with the share of hints that
    were followed; ``rounds``, the same after each round; and, where wrong hints were given, those
    of :func:`~affectlab.evaluation.control_checks` about them. Settings have the plan, ``stopped``
    (why the loop ended), ``n_rounds``, ``n_made`` (pictures asked of the generator), ``given_up``
    (labels for which hints bring too little) and ``in_flight`` (stimuli that the annotator was
    asked about when an earlier run ended, before it answered).
    """

    ratings: Ratings
    """All answers, a row for each picture and label.

    Labels that an answer left out have the lowest value. Columns beside: ``hinted``, ``hint``,
    ``target`` (label that the picture was made for) and ``round``. Answers to wrong hints belong to
    a rater of their own with the attributes ``control`` (``decoy_hint``) and ``of``, as
    :func:`affectlab.evaluation.control_checks` reads them.
    """

    @property
    def stopped(self) -> str:
        """Why the loop ended."""
        return str(self.settings["stopped"])

    @property
    def hints(self) -> Estimates:
        """Wrong hints; see :attr:`affectlab.evaluation.ControlChecks.hints`."""
        return Estimates((self.table("hints"),))


def coverage_table(
    plan: HintedPlan, round: int, answers: Iterable[Answer], made: Mapping[str, int]
) -> pl.DataFrame:
    """Give a row for each label that is to be covered, after a round.

    Parameters
    ----------
    made
        Pictures that were asked of the generator, by label.

    Returns
    -------
    Columns ``round``, ``label``, ``n`` (ratings above the lowest value), ``n_hinted`` (those of
    them that followed a hint), ``target``, ``made``, ``asked`` (hinted pictures with a usable
    answer), ``acceptance`` (share of these that followed, nan without any) with
    ``acceptance_low`` and ``acceptance_high`` (Wilson, 95 %), and ``status``: ``met``, ``lacking``
    or ``given up``.
    """
    above: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    for answer in answers:
        if answer.outcome == "ok" and not answer.decoy:
            given = [label for label, value in answer.values.items() if value > plan.lowest]
            above.update(given)
            asked[answer.hint] += 1
            followed[answer.hint] += answer.hint in given
    rows = []
    for label in plan.wanted():
        n, k = asked[label], followed[label]
        low, high = map(float, wilson_interval(k, n))
        # A label that is never seen would take pictures for ever; few pictures are no evidence.
        missing = "given up" if high < plan.floor else "lacking"
        rows.append(
            {
                "round": round,
                "label": label,
                "n": above[label],
                "n_hinted": k,
                "target": plan.target,
                "made": made.get(label, 0),
                "asked": n,
                "acceptance": k / n if n else np.nan,
                "acceptance_low": low,
                "acceptance_high": high,
                "status": "met" if above[label] >= plan.target else missing,
            }
        )
    return pl.DataFrame(rows)


def _ratings(plan: HintedPlan, answers: Collection[Answer], rater: str, version: str) -> Ratings:
    """Make ratings of answers; see :attr:`HintedRun.ratings`."""
    known = plan.known
    names = {False: rater, True: f"{rater} (decoy hints)"}
    rows = [
        {
            "stimulus": answer.stimulus,
            "rater": names[answer.decoy],
            "outcome": answer.outcome,
            "hinted": bool(answer.hint),
            "hint": answer.hint or None,
            "target": answer.target or None,
            "round": answer.round,
            "label": known.labels,
            "value": [
                answer.values.get(label, plan.lowest) if answer.outcome == "ok" else None
                for label in known.labels
            ],
        }
        for answer in answers
    ]
    schema: dict[str, Any] = {"hint": pl.String, "target": pl.String, "value": pl.List(pl.Float64)}
    raters = [
        {
            "rater": names[decoy],
            "rater_kind": "model",
            "version": version,
            "control": "decoy_hint" if decoy else None,
            "of": rater if decoy else None,
        }
        for decoy in sorted({answer.decoy for answer in answers})
    ]
    return Ratings(
        pl.DataFrame(rows, schema_overrides=schema).explode("label", "value"),
        scale=plan.scale,
        raters=pl.DataFrame(raters, schema_overrides={"control": pl.String, "of": pl.String}),
        taxonomy=known,
        source="hinted annotation",
    )


def hinted_run(
    plan: HintedPlan,
    answers: Collection[Answer],
    rounds: Sequence[pl.DataFrame],
    by: Mapping[str, str],
    about: Mapping[str, Any],
) -> HintedRun:
    """Make the result of a loop.

    Parameters
    ----------
    rounds
        Coverage after each round.
    by
        Name and version of the annotator.
    about
        Why the loop ended, and what it found of earlier runs.
    """
    last = rounds[-1]
    ratings = _ratings(plan, answers, by["annotator"], by["version"])
    given_up = last.filter(status="given up")["label"].to_list()
    met = last.filter(status="met").height
    n, k = int(last["asked"].sum()), int(last["n_hinted"].sum())
    every = Table("rounds", "Coverage by round.", pl.concat(rounds), (Key("round"), *_COVERAGE))
    tables = [Table("coverage", "Coverage of labels.", last, _COVERAGE), replace(every, limit=0)]
    said = [wording.covered(met, last.height, len(rounds) - 1, about["stopped"])]
    said += [wording.followed(n, k / n, *map(float, wilson_interval(k, n)))] if n else []
    audited = [answer.stimulus for answer in answers if answer.decoy]
    if audited:
        checks = control_checks(ratings.select(stimuli=audited), seed=plan.seed)
        tables += [checks.table("wrong_hints"), checks.table("hints")]
    return HintedRun(
        tables=tuple(tables),
        sentences=tuple(said),
        notes=wording.cautions(given_up, about["in_flight"], about["n_broken"]),
        settings={
            "plan": plan.model_dump(mode="json"),
            **by,
            **about,
            "n_rounds": len(rounds) - 1,
            "n_made": int(last["made"].sum()),
            "n_answers": len(answers),
            "given_up": given_up,
        },
        ratings=ratings,
    )

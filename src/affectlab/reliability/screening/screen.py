"""Screening: which sessions to pay, which answers to use, and whom to block."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Share, Table, Text, YesNo
from affectlab.core.types import Ints
from affectlab.ratings import Ratings, StepKind, of_known_raters, step
from affectlab.reliability.screening.false_alarms import false_alarms
from affectlab.reliability.screening.panel_rules import Careless, PanelRule, attention_of
from affectlab.reliability.screening.policy import Policy, Verdict, load_policy
from affectlab.reliability.screening.rules import (
    Combined,
    Correlation,
    Judgement,
    Movement,
    SeenBefore,
    SessionNumber,
    Speed,
    not_applicable,
)
from affectlab.reliability.screening.trials import Golden, Mask, Trials, trials_of
from affectlab.reliability.screening.wording import (
    NO_SESSIONS,
    Gap,
    careless_rates,
    correlation_rates,
    judged_nobody,
    refused_text,
    verdict_text,
)

# What screening decided, about whom, and why.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Screening(Result):
    """Verdicts on sessions or raters, with the evidence for each; its notes say what could not be
    judged.

    Made by :func:`screen`.
    """

    policy: Policy

    @property
    def frame(self) -> pl.DataFrame:
        """One row per rater, or per session of a rater.

        ``rater``, ``session`` (where sessions are judged), ``n_ratings`` (main answers), ``pay``
        and ``use`` (true: yes), ``look`` (true: used, though a rule points there), ``block`` (true:
        the rater may not go on), ``rules``, the names of the violated rules, and ``evidence``,
        their evidence in words.
        """
        return self.to_frame()

    @property
    def evidence(self) -> pl.DataFrame:
        """What :meth:`evidence_frame` gives."""
        return self.to_frame("evidence")

    def evidence_frame(self) -> pl.DataFrame:
        """Give one row per rater (and session) and rule.

        Returns
        -------
        ``rater``, ``session`` (where sessions are judged), ``rule``, ``check``, ``measure``, ``n``
        (the answers behind it), ``violated`` (null where the rule could not judge), ``verdicts``
        that the rule bears on, ``gap``, the kind of reason where it could not judge (such as
        ``no_column``), and ``evidence`` in words.
        """
        return self.evidence

    @property
    def per(self) -> str:
        """What was judged: ``session`` or ``rater``."""
        return "session" if "session" in self.frame.columns else "rater"

    def raters_to_drop(self) -> tuple[str, ...]:
        """Raters of whom nothing is used: each of their sessions fails *use*."""
        used = self.frame.group_by("rater", maintain_order=True).agg(pl.col("use").any())
        return tuple(used.filter(~pl.col("use"))["rater"].to_list())

    def blocked(self) -> tuple[str, ...]:
        """Raters who may not go on."""
        return tuple(self.frame.filter("block")["rater"].unique(maintain_order=True).to_list())

    def apply(self, ratings: Ratings) -> Ratings:
        """Leave out the sessions, or raters, whose answers are not to be used.

        Raters that were not screened stay. The step is added to ``history``.

        Raises
        ------
        InputError
            When nothing is left, or sessions were judged and the ratings have none.
        """
        refused = self.frame.filter(~pl.col("use"))
        keys = ["rater", "session"] if self.per == "session" else ["rater"]
        if self.per == "session" and "session" not in ratings.coded_frame.columns:
            raise InputError("sessions were screened, but these ratings have no column 'session'")
        of_row = ratings.frame.select(pl.col(key).cast(pl.String) for key in keys)
        if "session" in keys:
            of_row = of_row.with_columns(pl.col("session").fill_null(""))
        marks = refused.select(keys).with_columns(refused=True)
        marked = of_row.join(marks, on=keys, how="left", maintain_order="left")
        mask = marked["refused"].is_null().to_numpy()
        if not mask.any():
            raise InputError(f"policy {self.policy.name!r} leaves no rating to use")
        done = step(
            StepKind.SCREENED,
            policy=self.policy.name,
            n=refused.height,
            of=self.frame.height,
            unit="session" if self.per == "session" else "rater",
            rows=int(np.sum(~mask)),
            of_rows=mask.size,
        )
        return ratings.where(mask, step=done)

    def __len__(self) -> int:
        return self.frame.height


def _tables(frame: pl.DataFrame, evidence: pl.DataFrame) -> tuple[Table, ...]:
    """Give all verdicts, those with something against them, and the evidence of each rule."""
    keys = tuple(Key(name) for name in ("rater", "session") if name in frame.columns)
    verdicts = (YesNo(name) for name in ("pay", "use", "look", "block"))
    measured = (Number("measure"), Count("n", "n"), YesNo("violated"), Text("evidence"))
    columns = (*keys, Count("n_ratings"), *verdicts, Text("evidence"))
    doubts = frame.filter(pl.col("evidence") != "").sort("use", "pay", maintain_order=True)
    return (
        Table("verdicts", "Verdicts.", frame, columns, limit=0),
        *([Table("doubts", "Violations.", doubts, columns)] if doubts.height else []),
        Table("evidence", "Evidence by rule.", evidence, (*keys, Key("rule"), *measured), limit=0),
    )


def _sentence(policy: Policy, frame: pl.DataFrame) -> str:
    what = "session" if "session" in frame.columns else "rater"
    pay, use = (int((~frame[name]).sum()) for name in ("pay", "use"))
    blocked = frame.filter("block")["rater"].n_unique()
    look = int(frame["look"].sum())
    counts = {"unused": use, "look": look, "unpaid": pay, "blocked": blocked}
    return verdict_text(policy.name, what, frame.height, **counts)


def _error_rates(policy: Policy, trials: Trials, judgements: dict[str, Judgement]) -> list[str]:
    """Say how often rules that refuse name an attentive rater, and find one who does not look."""
    sentences = []
    for rule in policy.rules:
        found = judgements[rule.name]
        if rule.name not in policy.use.rules or not found.known.any():
            continue
        if isinstance(rule, Careless):
            rates = attention_of(trials)
            sentences.append(careless_rates(rates.refused_honest, rates.found_random))
        if isinstance(rule, Correlation):
            random = rule.found_random(found)
            sentences.append(correlation_rates(rule.level, rule.below, random))
    return sentences


@of_known_raters
def screen(
    ratings: Ratings,
    *,
    policy: str | Path | Policy = "panel",
    golden: Golden = None,
    per: Literal["session", "rater"] | None = None,
    n_simulations: int = 0,
    seed: int | np.random.Generator | None = 0,
) -> Screening:
    """Judge raters by a policy: whom to pay, whose answers to use, and why.

    Parameters
    ----------
    ratings
        Ratings with whatever the rules need: ``session``, ``trial_kind`` (golden and repeat
        trials), ``rt_ms``, ``movement`` (of the slider, in points), ``expected`` (known answers).
        Answers that are not valid take no part. What is not there leaves its rules unjudged, and
        the result says so.
    policy
        Policy by name (panel, correlation, bt500, p913, faceexpressions), or its TOML file.

        ``panel``: refuses who is careless, by the probability that answers do not depend on what
        was shown, and who tells no labels apart; points at severity, centrality, inconsistency,
        low agreement and drift beyond what is expected of one more rater like the others, and at
        raters who answer alike (:func:`~affectlab.reliability.duplicate_raters`).
        ``correlation``: with the mean of the others, refused where surely below .2.
        ``faceexpressions``: spread, slider movement, golden trials and repeats, per session.
        ``bt500``: outliers to both sides, and ``p913`` after biases are taken off;
        ``bt500_upstream`` and ``p913_upstream`` with the denominator and the SD (N, where ITU
        prints N - 1) of the package ``sureal``.
    golden
        Known answers: a table of stimulus, value and perhaps label, or its file.

        The table or its file (CSV, Parquet), a dictionary from stimulus to value, or
        what :func:`choose_golden` gives; instead of the column ``expected``.
    per
        What is judged, instead of what the policy says.
    n_simulations
        Panels of attentive raters to simulate, which says how often each rule names one of them; 0
        for none.

        Their answers to the same trials come from a model fitted to these answers: means of
        stimuli, and raters who differ in severity, slope and inconsistency as far as the others do.
    seed
        Seed or generator of the simulations.

    Returns
    -------
    Verdicts *pay*, *use* and *block* with evidence. A rule that cannot judge violates nothing.
    Policies that hold raters against the panel have a table ``measures``, one row per rater; with
    `n_simulations` a table ``false_alarms`` has, by ``rule``, the share of attentive ``raters`` who
    violate it, and of ``panels`` in which any does, and the same of not being used.

    Raises
    ------
    InputError
        If the policy is not known or cannot be used, or the ratings are text.

    References
    ----------
    FaceExpressions-70k (2025), section 3.4.5; ITU-R BT.500; ITU-T P.913, section 12.4. Higgins,
    Thompson and Spiegelhalter (2009), Journal of the Royal Statistical Society A 172: prediction
    intervals for one more rater.

    Examples
    --------
    >>> rows = [(f"s{s}", rater, float(value)) for s in range(12) for rater, value in (
    ...     ("ann", s), ("bob", s + 1), ("cem", 12 - s), ("dan", s // 2), ("eve", 6))]
    >>> table = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    >>> result = screen(Ratings(table, scale="0-12 interval"), policy="correlation")
    >>> result.raters_to_drop()
    ('cem', 'eve')
    >>> result.to_frame()["evidence"][2]
    "correlation: correlation with the others' mean -1.00 (n = 12), upper end -1.00 < 0.2"
    """
    check_number("n_simulations", n_simulations, 0, whole=True)
    chosen = load_policy(policy)
    if per is not None:
        check_choice("per", per, ("session", "rater"))
        chosen = chosen.model_copy(update={"per": per})
    trials = trials_of(ratings, per_session=chosen.per == "session", golden=golden)
    judgements = _judgements(chosen, trials)
    pay, use = (_passed(trials, verdict, judgements) for verdict in (chosen.pay, chosen.use))
    block = _blocked(chosen, trials, judgements, pay)
    names = [rule.name for rule in chosen.rules]
    broken = [
        [name for name in names if judgements[name].violated[unit]]
        for unit in range(trials.n_units)
    ]
    frame = pl.DataFrame(
        {
            **_keys(trials),
            "n_ratings": trials.count(trials.main),
            "pay": pay,
            "use": use,
            "look": use & np.array([bool(names) for names in broken], dtype=bool),
            "block": block,
            "rules": pl.Series(broken, dtype=pl.List(pl.String)),
            "evidence": [
                "; ".join(f"{name}: {judgements[name].evidence[unit]}" for name in some)
                for unit, some in enumerate(broken)
            ],
        }
    )
    evidence = _evidence(chosen, trials, judgements)
    tables, sentences = _tables(frame, evidence), [_sentence(chosen, frame)]
    sentences += _error_rates(chosen, trials, judgements)
    if any(isinstance(rule, PanelRule) for rule in chosen.rules):
        tables = (*tables, _measures(trials, judgements))
    if n_simulations:
        alarms = false_alarms(
            trials,
            lambda simulated: _judgements(chosen, simulated, simulated=True),
            lambda found: _passed(trials, chosen.use, found),
            n_simulations,
            np.random.default_rng(seed),
        )
        tables = (*tables, Table("false_alarms", _ALARMS, alarms, _ALARM_COLUMNS))
        what = "session" if "session" in frame.columns else "rater"
        sentences.append(refused_text(n_simulations, alarms["raters"][-1], what))
    return Screening(
        tables,
        tuple(sentences),
        notes=_notes(chosen, trials, judgements),
        policy=chosen,
    )


@of_known_raters
def careless_raters(ratings: Ratings) -> Screening:
    """Give the one list of careless raters, which screening, reports and dashboards share.

    Parameters
    ----------
    ratings
        Answers of people.

    Returns
    -------
    Screening
        By those rules of the policy ``panel`` that refuse: its ``raters_to_drop()`` are those of
        ``screen(ratings)``, without the time that the other rules take.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> value = np.clip(np.rint(4 + rng.normal(0, 1.5, 40) + rng.normal(0, 0.8, (8, 40))), 1, 7)
    >>> value[7] = 4
    >>> rater, stimulus = np.divmod(np.arange(320), 40)
    >>> table = {"stimulus": stimulus, "rater": rater, "value": value.ravel()}
    >>> careless_raters(Ratings(table, scale="1-7")).raters_to_drop()
    ('7',)
    """
    whole = load_policy("panel")
    rules = tuple(rule for rule in whole.rules if rule.name in whole.use.rules)
    return screen(ratings, policy=whole.model_copy(update={"rules": rules}))


_ALARMS = "Simulated attentive raters"
_ALARM_COLUMNS = (
    Key("rule"),
    Share("raters", decimals=1),
    Share("panels", "panels with any", decimals=1),
    Count("n_panels"),
)


_NOT_OF_ANSWERS = (Movement, Speed, SessionNumber, SeenBefore)
"""Rules that judge when, how fast or how often somebody answered, rather than what."""


def _judgements(policy: Policy, trials: Trials, *, simulated: bool = False) -> dict[str, Judgement]:
    """Judge by every rule; simulated answers by those that rest on answers."""
    judgements: dict[str, Judgement] = {}
    for rule in policy.rules:
        if simulated and isinstance(rule, _NOT_OF_ANSWERS):
            judgements[rule.name] = not_applicable(trials, Gap.SIMULATED)
        elif isinstance(rule, Combined):
            judgements[rule.name] = rule.combine(trials, judgements)
        else:
            judgements[rule.name] = rule.judge(trials)
    return judgements


def _measures(trials: Trials, judgements: dict[str, Judgement]) -> Table:
    """Put what rules measured side by side, one row per rater or session."""
    keys = _keys(trials)
    frame = pl.DataFrame(keys | {name: found.measure for name, found in judgements.items()})
    columns = (*map(Key, keys), *(Number(name, verbatim=True) for name in judgements))
    return Table("measures", "Measures by rule.", frame, columns)


def _keys(trials: Trials) -> dict[str, list[str]]:
    keys = {"rater": [trials.raters[code] for code in trials.rater_of_unit.tolist()]}
    if trials.session is not None:
        keys["session"] = list(trials.session)
    return keys


def _passed(trials: Trials, verdict: Verdict, judgements: dict[str, Judgement]) -> Mask:
    count: Ints = np.zeros(trials.n_units, dtype=np.int64)
    for name in verdict.rules:
        count += judgements[name].violated
    passed: Mask = count < verdict.at_least
    return passed


def _blocked(policy: Policy, trials: Trials, judgements: dict[str, Judgement], pay: Mask) -> Mask:
    """Whether the rater of each unit may not go on."""
    owner, n_raters = trials.rater_of_unit, len(trials.raters)
    blocked = np.zeros(n_raters, dtype=bool)
    for name in policy.block.rules:
        blocked[owner[judgements[name].violated]] = True
    if policy.block.rejected_sessions is not None and trials.session is not None:
        blocked |= np.bincount(owner[~pay], minlength=n_raters) >= policy.block.rejected_sessions
    return blocked[owner]


def _evidence(policy: Policy, trials: Trials, judgements: dict[str, Judgement]) -> pl.DataFrame:
    keys = pl.DataFrame(_keys(trials))
    parts = []
    for rule in policy.rules:
        found = judgements[rule.name]
        verdicts = [
            name
            for name, rules in (
                ("pay", policy.pay.rules),
                ("use", policy.use.rules),
                ("block", policy.block.rules),
            )
            if rule.name in rules
        ]
        violated = pl.Series("violated", found.violated)
        parts.append(
            keys.with_columns(
                pl.lit(rule.name).alias("rule"),
                pl.lit(rule.check).alias("check"),
                pl.Series("measure", found.measure),
                pl.Series("n", found.n),
                violated.set(pl.Series(~found.known), None),
                pl.lit(", ".join(verdicts)).alias("verdicts"),
                pl.Series("gap", _gaps(found), dtype=pl.String),
                pl.Series("evidence", found.evidence, dtype=pl.String),
            )
        )
    return pl.concat(parts)


def _gaps(found: Judgement) -> list[str | None]:
    """Kind of reason why each unit was not judged."""
    gap = None if found.missing is None else str(found.missing.gap)
    return [None if known else gap for known in found.known.tolist()]


def _notes(policy: Policy, trials: Trials, judgements: dict[str, Judgement]) -> tuple[str, ...]:
    notes = []
    if policy.per == "session" and trials.session is None:
        notes.append(NO_SESSIONS)
    for name, found in judgements.items():
        if found.missing is not None and found.evidence and not found.known.any():
            notes.append(judged_nobody(name, found.missing))
    return tuple(notes)

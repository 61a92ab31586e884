"""The steps of a plan, made from its names and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError, check_once, unknown_name
from affectlab.stimuli.curation.plan import CurationPlan
from affectlab.stimuli.curation.steps.balance import (
    EmotionBalance,
    GroupBalance,
    LengthBalance,
    RandomSample,
)
from affectlab.stimuli.curation.steps.duplicates import NearDuplicatesStep, Repeated
from affectlab.stimuli.curation.steps.gates import (
    Deleted,
    Identity,
    Language,
    Offensive,
    TokenLength,
)
from affectlab.stimuli.curation.steps.groups import AdultGroupsStep, BigGroupsStep, SentimentStep
from affectlab.stimuli.curation.steps.step import Step

if TYPE_CHECKING:
    import polars as pl

__all__ = ["build_steps", "read_decisions"]


def build_steps(
    plan: CurationPlan, steps: Sequence[str | Step] | None, decisions: pl.DataFrame | None
) -> list[Step]:
    """Make the steps that are named, by the plan or beside it; own ones are taken as they are.

    Raises
    ------
    InputError
        When a name is not known, a step stands twice.
    """
    makers = _makers(plan, decisions)
    found = []
    for step in plan.steps if steps is None else steps:
        if isinstance(step, Step):
            found.append(step)
        elif step in makers:
            found.append(makers[step]())
        else:
            raise unknown_name("step", step, makers, where=f"plan {plan.name}")
    if not found:
        raise InputError(f"plan {plan.name}: steps: expected at least one step")
    names = [step.name for step in found]
    check_once("step", names)
    for step in found:
        if not step.name.isidentifier() or step.name != step.name.lower():
            raise InputError(f"step {step.name!r}: expected a name of lower-case letters and _")
    if decisions is not None and "identity" not in names:
        raise InputError("review: decisions were given, and there is no step identity to use them")
    return found


def read_decisions(review: pl.DataFrame | str | Path | None) -> pl.DataFrame | None:
    """Read what reviewers decided: ``id`` and ``keep`` (Boolean).

    Parameters
    ----------
    review
        Table, or CSV or Parquet file, with ``id`` (or ``stimulus``) and ``keep`` (true, false), or
        ``decision`` (keep, drop). Rows without a decision are still waiting.

    Raises
    ------
    InputError
        When a column is missing, a decision is something else, or an id has two.
    """
    import polars as pl

    from affectlab.core.files.csv import read_table, text_of_sheet

    if review is None:
        return None
    where = "review" if isinstance(review, pl.DataFrame) else str(review)
    table = review if isinstance(review, pl.DataFrame) else read_table(review, "decisions")
    name = next((name for name in ("id", "stimulus") if name in table.columns), None)
    told = next((name for name in ("keep", "decision") if name in table.columns), None)
    if name is None or told is None:
        raise InputError(
            f"{where}: expected the columns id and decision (keep or drop), found "
            f"{', '.join(table.columns) or 'none'}"
        )
    answer = pl.col(told).cast(pl.String).str.strip_chars().str.to_lowercase()
    words = {"keep": True, "drop": False, "true": True, "false": False}
    given = table.select(
        text_of_sheet(pl.col(name).cast(pl.String)).alias("id"),
        answer.replace("", None).alias("told"),
    ).drop_nulls()
    wrong = given.filter(~pl.col("told").is_in(list(words)))
    if wrong.height:
        raise InputError(
            f"{where}: decision {wrong['told'][0]!r} of {wrong['id'][0]}: expected keep or drop"
        )
    found = given.select(
        "id", pl.col("told").replace_strict(words, return_dtype=pl.Boolean).alias("keep")
    ).unique()
    twice = found.filter(pl.col("id").is_duplicated())
    if twice.height:
        raise InputError(f"{where}: {twice['id'].sort()[0]} has two different decisions")
    return found.sort("id")


def _makers(plan: CurationPlan, decisions: pl.DataFrame | None) -> dict[str, Callable[[], Step]]:
    """What makes each step that has a name in plans."""
    adult = plan.texts.words.adult_groups
    return {
        "repeated": Repeated,
        "big_groups": lambda: BigGroupsStep(plan.big_groups),
        "deleted": Deleted,
        "language": lambda: Language(plan.texts.languages),
        "adult_groups": lambda: AdultGroupsStep(plan.adult_groups, adult),
        "offensive": Offensive,
        "identity": lambda: Identity(decisions),
        "length": lambda: TokenLength(plan.length),
        "near_duplicates": lambda: NearDuplicatesStep(plan.near_duplicates, plan.seed),
        "length_balance": lambda: LengthBalance(plan.length_balance, plan.seed),
        "sentiment": lambda: SentimentStep(plan.sentiment),
        "emotion_balance": lambda: EmotionBalance(plan.emotion_balance, plan.seed),
        "group_balance": lambda: GroupBalance(plan.group_balance, plan.seed),
        "sample": lambda: RandomSample(plan.sample, plan.seed),
    }

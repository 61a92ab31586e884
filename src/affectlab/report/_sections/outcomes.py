"""What became of each question: answers that can be used, refusals, failures."""

from __future__ import annotations

import polars as pl

from affectlab._words import count, joined, percent, plural, shown
from affectlab.report._content import Block, Column, Paragraph, Picture, Section, Skipped, Table
from affectlab.report._figures import fig_outcomes
from affectlab.report._pairs import is_person
from affectlab.report._study import Study

__all__ = ["outcomes_section"]

_MOST_SHOWN = 40


def outcomes_section(study: Study) -> Section | Skipped:
    """Shares of outcomes by model and prompt, with Wilson intervals."""
    from affectlab.evaluation import OUTCOMES, outcome_table

    title = "Outcomes of the answers"
    ratings = study.ratings if study.controls is None else study.controls
    if "outcome" not in ratings.frame.columns:
        return Skipped(title, "the ratings have no column outcome.")
    people_only = all(is_person(kind) for kind in ratings.rater_kinds)
    found = outcome_table(ratings, everyone=people_only)
    counts, usable = found.counts(), found.usable.to_frame()
    failed = [name for name in OUTCOMES if not OUTCOMES[name].usable and counts[name].sum()]
    frame = usable.join(
        counts.rename({"n": "n_answers"}), on=list(found.by), maintain_order="left"
    ).sort("value", descending=True, maintain_order=True)
    words = _words(frame, found.by, failed, "raters" if people_only else "models")
    if study.summary.outcomes.get("unclear"):
        words += (
            " To find a stimulus unclear counts as an answer here; it has no label, and other "
            "statistics leave it out."
        )
    retried = bool(frame["retries"].sum())
    partial = bool((frame["coverage"] < 1).any())
    columns = [
        *(
            Column(name, name.capitalize(), "name" if name == "rater" else "text")
            for name in found.by
        ),
        Column("n_answers", "Answers", "count"),
        Column("value", "Usable", "share", 1),
        Column("interval", "95 % interval", "share_interval"),
        *(Column(name, name.replace("_", " ").capitalize(), "count") for name in failed),
        *([Column("retries", "Asked again", "count")] if retried else []),
        *([Column("coverage", "Stimuli asked", "share")] if partial else []),
    ]
    blocks: list[Block] = [Paragraph(words)]
    if failed:
        names = [
            " · ".join(shown(part, 40) for part in row) for row in frame.select(found.by).rows()
        ]
        blocks.append(
            Picture(
                "outcomes",
                "Outcomes",
                "Share of the answers with each outcome."
                + (
                    f" The {_MOST_SHOWN} with the most usable answers."
                    if len(names) > _MOST_SHOWN
                    else ""
                ),
                words,
                fig_outcomes(
                    names[:_MOST_SHOWN],
                    {
                        name: frame[name].head(_MOST_SHOWN).to_numpy()
                        for name in OUTCOMES
                        if counts[name].sum()
                    },
                    low=frame["low"].head(_MOST_SHOWN).to_numpy(),
                    high=frame["high"].head(_MOST_SHOWN).to_numpy(),
                ),
            )
        )
    blocks.append(
        Table(
            "outcomes",
            "Outcomes of the answers, with Wilson intervals of the share that can be used. "
            "Answers to golden, repeated and training trials count, too"
            + (", and so do control runs." if study.controls is not None else "."),
            frame,
            tuple(columns),
        )
    )
    return Section("outcomes", title, tuple(blocks))


def _name(row: tuple[object, ...]) -> str:
    return " · ".join(shown(part, 40) for part in row if part)


def _words(frame: pl.DataFrame, keys: tuple[str, ...], failed: list[str], who: str) -> str:
    total = int(frame["n_answers"].sum())
    if not failed:
        return f"None of the {count(total)} answers of {who} was refused, lost or unreadable."
    rate = float((frame["value"] * frame["n_answers"]).to_numpy().sum()) / total
    parts = joined(f"{name.replace('_', ' ')} {count(int(frame[name].sum()))}" for name in failed)
    text = f"Of {plural(total, 'answer')} of {who}, {percent(rate, 1)} can be used ({parts})."
    if frame.height > 1:
        worst = frame.row(-1, named=True)
        text += (
            f" The lowest share is that of {_name(tuple(worst[key] for key in keys))}: "
            f"{percent(worst['value'], 1)}, 95\u00a0% interval {percent(worst['low'], 1)} to "
            f"{percent(worst['high'], 1)}."
        )
    return text

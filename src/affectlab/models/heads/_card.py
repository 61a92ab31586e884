"""The card of a head bank: what it was made of, how scores become ratings, what it is not for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab._version import __version__
from affectlab._words import count, joined, number, plural

if TYPE_CHECKING:
    from affectlab.models.heads._bank import HeadBank

__all__ = ["card_text"]


def card_text(bank: HeadBank, folder: str = "DIR") -> str:
    """Give the card as Markdown, for a folder of this name."""
    layers = "-".join(map(str, (bank.width, *bank.shape.hidden, 1)))
    size = bank.shape.n_parameters(bank.width or 1)
    encoder = (
        f"embeddings of {bank.encoder}" if bank.encoder else "embeddings of an encoder not named"
    )
    parts = [
        f"# {bank.name}",
        f"{plural(len(bank.labels), 'head')} of {count(size)} parameters each ({layers}, dropout "
        f"{bank.shape.dropout:g}) on {encoder}; labels of `{bank.taxonomy.name}`. Written by "
        f"affectlab {__version__}.",
        "## Training",
        "Targets: "
        + (
            "whether an emotion is there (0/1, there from half a point on)."
            if bank.binarised
            else "ratings from 0 to 7."
        ),
        _stages(bank),
        _ties(bank),
        _judged(bank),
        "## From scores to ratings",
        "\n".join(f"{place}. {step}" for place, step in enumerate(_steps(bank), 1)),
        _calibration(bank),
        "## Use",
        f"```sh\naffectlab rate faces IMAGES --model {folder} --out ratings.parquet\n```",
        "**Intended use**: studying which emotions many pictures show, where single mistakes do "
        "not matter; compare the ratings with those of people on pictures of the same kind first.",
        "**Not for**: decisions about single persons, diagnosis, or judging what somebody feels. A "
        "face shows what others see in it.",
        "## Limits",
        "People, cameras, styles and expressions unlike those of training are untested. "
        "The best weights of each head were chosen on validation rows, whose losses are too good "
        "for that reason.",
        "## Labels",
        ", ".join(bank.labels),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _stages(bank: HeadBank) -> str:
    rows = [
        "| stage | source | rated | learned from | epochs | learning rate | best validation loss |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for stage in bank.stages:
        cells = [
            str(stage.get("name", "")),
            str(stage.get("source", "")) or "–",
            _span(stage.get("n_rated"), 0),
            _span(stage.get("rows_per_head"), 0),
            _count(stage.get("epochs")),
            f"{stage.get('learning_rate', '–')}",
            _span(stage.get("best_loss"), 4),
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) if bank.stages else ""


def _ties(bank: HeadBank) -> str:
    """Say what was made of answers that lie between a yes and a no."""
    said = []
    for stage in bank.stages:
        n = sum(one for one in stage.get("n_tied") or [] if isinstance(one, int))
        if n and stage.get("tied") in _TIED:
            of = f" of {stage.get('source')}" if stage.get("source") else ""
            took = _TIED[stage["tied"]]
            said.append(f"For {plural(n, 'rating')}{of} raters were divided in half: {took}.")
    return " ".join(said)


_TIED = {
    "present": "the emotion was taken as there",
    "absent": "the emotion was taken as not there",
    "leave_out": "nothing was learned from them",
}


def _judged(bank: HeadBank) -> str:
    """Say how near the heads came to ratings that were kept aside."""
    if not bank.judged:
        return ""
    rows = bank.judged["labels"]
    table = [
        "| label | ratings | Spearman | mean difference | with its sign |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = [number(row.get(name), 3) for name in ("spearman", "mae", "bias")]
        table.append(f"| {row.get('label')} | {_count(row.get('n'))} | {' | '.join(numbers)} |")
    head = f"Judged by {bank.judged.get('by')}; {bank.judged.get('steps')}:"
    return "\n\n".join(("## How good they are", head, "\n".join(table)))


def _count(given: Any) -> str:
    return count(given) if isinstance(given, int) else "–"


def _span(given: Any, digits: int) -> str:
    """Write the least and the greatest of some numbers."""
    values = [one for one in given or [] if isinstance(one, int | float)]
    if not values:
        return "–"
    ends = [number(end, digits) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _steps(bank: HeadBank) -> list[str]:
    neutral = (
        f"They are taken {bank.neutral.said}."
        if bank.neutral
        else ("Nothing is subtracted: the heads are not calibrated on neutral stimuli.")
    )
    return [
        f"Scores are brought to 0 to 7: {bank.scale_map.said}.",
        neutral,
        "What lies beyond 0 to 7 is taken as the bound."
        + (" So the mean rating of neutral stimuli lies a little above 0." if bank.neutral else ""),
    ]


def _calibration(bank: HeadBank) -> str:
    said = []
    if bank.neutral:
        offsets = sorted(zip(bank.neutral.offsets, bank.labels, strict=True), reverse=True)[:3]
        most = joined(f"{label} ({number(offset)})" for offset, label in offsets)
        said.append(f"Largest neutral means: {most}.")
    if bank.intervals:
        said.append(f"Intervals: {bank.intervals.said}.")
    return " ".join(said)

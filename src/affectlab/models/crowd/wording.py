"""Sentences of models that learn from raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from affectlab._version import __version__
from affectlab.core.words import joined, number, plural, shown

MEASURES = "How near models come to answers that were kept aside (less is better)."
NO_ANSWER = "y has no answer; expected at least one that is not nan"
NO_GAIN_USED = "No gain is shown, so that the model has learned from soft labels."
TOO_FEW_ANSWERS = (
    "too few answers to keep some aside: expected stimuli in several groups, and raters who answer "
    "about several of them"
)


def items_outside(n: int) -> str:
    """Say what items have to be."""
    return f"items: expected the row of X that each answer is about, from 0 to {n - 1}"


def no_class(value: Any) -> str:
    """Say that an answer is none of the classes."""
    return f"y has the answer {value!r}, which is none of classes; expected one of them"


def not_of_each(what: str, shape: tuple[int, ...], n: int) -> str:
    """Say that there is not one of something for each row."""
    return f"{what}: shape {shape}; expected one for each of {n} rows"


def too_many_levels(n: int, most: int) -> str:
    """Say that a scale has too many levels."""
    return (
        f"answers have {n} levels; expected at most {most}: categories, yes or no, or a rating "
        "scale such as 0-7"
    )


def no_features(rated: Sequence[str], known: Sequence[str]) -> str:
    """Say that no stimulus has features."""
    return (
        f"no rated stimulus (such as {joined([shown(one, 40) for one in rated])}) has features "
        f"(such as {joined([shown(one, 40) for one in known]) or 'none'}); expected the same names"
    )


def without_features(n: int) -> str:
    """Say how many stimuli have no features."""
    return f"{plural(n, 'rated stimulus', 'rated stimuli')} without features: left out"


def too_few_groups(n: int, n_splits: int, what: str) -> str:
    """Say that there are fewer groups than parts."""
    return (
        f"{n} groups of {what} cannot be kept aside in {n_splits} parts; expected n_splits from 2 "
        f"to {n}"
    )


def gains_caption(confidence: float) -> str:
    """Caption of the table of gains."""
    return (
        "What is gained over labels of all raters together (above 0: better). All intervals of "
        f"gains over soft labels together hold with {100 * confidence:g} %."
    )


def difference(measure: str) -> str:
    """Name of the difference of a measure."""
    return f"difference in {measure}"


def gain(how: str, measures: Sequence[str]) -> str:
    """Say whether a way of learning gains anything."""
    if not measures:
        return f"{how}: no gain over majority and soft labels is shown."
    return f"{how}: better than majority and soft labels in {joined(measures)}."


def other_encoder(given: object, wanted: object) -> str:
    """Say that embeddings are of another encoder."""
    return f"embeddings of {given}; expected those of {wanted}, which the model has learned from"


def several_questions(n: int) -> str:
    """Say why answers to several questions with categories have no shares in one table."""
    return (
        f"people chose categories for {n} labels, whose shares do not fit into one table; expected "
        "people to answer as (people=all)"
    )


def unusable(where: object, said: str) -> str:
    """Say that the description of a model cannot be used."""
    return f"{where} cannot be used ({said}); expected what save wrote"


def not_embedded(where: object) -> str:
    """Say what a crowd model rates."""
    return (
        f"{where}: expected a folder of embeddings, which affectlab embed STIMULI --out FOLDER "
        "writes"
    )


def learned(model: Any) -> str:
    """Heading: what was learned from what."""
    told = model.comparison["settings"]
    stimuli = plural(told["n_stimuli"], "stimulus", "stimuli")
    raters = plural(told["n_raters"], "rater")
    return f"{model.name}: {model.classifier.how}, from answers of {raters} about {stimuli}"


def card(model: Any, front: str, folder: str) -> str:
    """Give the card of a model as Markdown."""
    told, settings = model.comparison["settings"], model.classifier.get_params()
    new = "stimuli" if told["held_out"] == "stimuli" else "stimuli and raters"
    aside = f"Judged on answers about {new} that were kept aside; less is better."
    held = f"All gains over soft labels together hold with {100 * told['confidence']:g} %."
    chosen = ", ".join(f"{name} {settings[name]:g}" for name in ("penalty", "shrinkage", "hidden"))
    parts = [
        front,
        f"# {model.name}",
        f"{learned(model)}. It looks at embeddings of {model.encoder}; people answered on "
        f"{model.scale}. Settings: {chosen}. Written by affectlab {__version__}.",
        "## What learning from raters gains",
        "\n".join(f"- {shown(one)}" for one in model.comparison["sentences"]),
        aside,
        _markdown(model.comparison["measures"], ("how", "measure")),
        f"Gains (above 0: better). {held}",
        _markdown(model.comparison["gains"], ("how", "against", "measure")),
        "## Use",
        f"```sh\naffectlab rate {folder} EMBEDDINGS --out ratings.parquet\n```",
        "With `--set people=all` it answers as each person of training. What one person is said to "
        "answer is a guess from their other answers: it is for studying disagreement, not for "
        "judging people.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    lines = [f"| {' | '.join(keys)} | value | interval |", f"|{'---|' * len(keys)}--:|--:|"]
    for row in rows:
        ends = [number(row[end], 3) for end in ("low", "high")] if row["low"] is not None else []
        cells = [*(str(row[key]) for key in keys), number(row["value"], 3), " to ".join(ends)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)

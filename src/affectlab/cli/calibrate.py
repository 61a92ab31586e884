"""``affectlab calibrate``: from scores of heads to ratings on the scale of people."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from affectlab.cli._output import Output
from affectlab.cli._people import people_of, read_zero_to_seven
from affectlab.cli._warned import caught_warnings

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.types import Device
    from affectlab.models.embedding import Embeddings
    from affectlab.models.heads import HeadBank
    from affectlab.ratings import Ratings
    from affectlab.ratings.options import Absent

__all__ = ["calibrate"]

_MANY = 30
"""Identities from which intervals for new ones can be told."""


def calibrate(
    out: Output,
    model: Path,
    *,
    neutral: Path | None = None,
    scale: Path | None = None,
    intervals: Path | None = None,
    absent: Absent | None = None,
    embeddings: Path | None = None,
    level: float = 0.9,
    by: Literal["score", "label"] = "score",
    aggregate: Literal["median", "mean"] = "median",
    encoder: str | None = None,
    device: Device = "auto",
    name: str | None = None,
    to: Path | None = None,
) -> None:
    """Bring heads to the scale of people, take out what they see in neutral faces, add intervals.

    The steps are done in this order, whatever the order of options: scale, neutral, intervals. A
    step that is done again drops those behind it.

    Parameters
    ----------
    model
        Folder that train heads wrote.
    neutral
        Neutral stimuli, embeddings or images: the mean of each head over them is subtracted.
    scale
        Ratings from 0 to 7: a rising map from scores to them is fitted to each head.
    intervals
        Ratings from 0 to 7 of stimuli that were used for nothing else: intervals are calibrated on
        them.
    absent
        A label that a rater of a stimulus left out: a rating of 0, or nothing known. As published
        when not given, else missing.
    embeddings
        The stimuli of --scale and --intervals, embeddings or images.
    level
        Share of ratings that an interval holds, at least.
    by
        Widths of intervals: by label and height of the score, or by label.
    aggregate
        How several raters become one number.
    encoder
        Where the encoder lies, or its name; by default the name that the model holds.
    device
        Where the encoder computes.
    name
        Name of the calibrated model as a rater; by default that of the model, or with --out that of
        the folder.
    to
        Folder for the calibrated model; by default MODEL itself.
    """
    from affectlab.cli.rate._embedded import embeddings_of
    from affectlab.core.errors import InputError
    from affectlab.models.heads import HeadBank

    if neutral is None and scale is None and intervals is None:
        raise InputError("nothing to calibrate; expected --neutral, --scale or --intervals")
    if (scale or intervals) and embeddings is None:
        raise InputError(
            "--scale and --intervals need the rated stimuli; expected --embeddings as well"
        )
    target = model if to is None else to
    HeadBank.check_folder(target)
    notes: list[str] = []
    done: list[str] = []
    with out.progress(f"reading {model}") as progress, caught_warnings() as warned:
        bank = HeadBank.load(model)
        if name or to is not None:
            bank.name = name or target.resolve().name

        def opened(place: Path) -> Embeddings:
            found, said = embeddings_of(
                bank, place, encoder=encoder, device=device, progress=progress
            )
            notes.extend(said)
            return found

        rated = None if embeddings is None else opened(embeddings)
        tables = {
            path: people_of(read_zero_to_seven(path, absent), notes, path.name)
            for path in dict.fromkeys((scale, intervals))
            if path is not None
        }
        mapped = None
        if scale is not None and rated is not None:
            before = bank.agreement(rated, tables[scale], how=aggregate)
            bank.calibrate_scale(rated, tables[scale], how=aggregate, source=scale.name)
            mapped = _mapped(before, bank.agreement(rated, tables[scale], how=aggregate))
            done.append("scale")
        if neutral is not None:
            bank.calibrate_neutral(opened(neutral), source=neutral.name)
            done.append("neutral")
        if intervals is not None:
            bank.calibrate_intervals(
                rated,
                tables[intervals],
                level,
                by=by,
                how=aggregate,
                source=intervals.name,
            )
            done.append("intervals")
            notes += [*_unsure(bank), *_few_people(tables[intervals])]
        bank.save(target)
    _show(out, bank, mapped)
    out.show(f"model: {target}")
    out.finish(
        {
            "model": target,
            "name": bank.name,
            "mapped": mapped,
            "done": done,
            "labels": bank.labels,
            "scale": bank.scale_map.to_dict(),
            "neutral": None if bank.neutral is None else bank.neutral.to_dict(),
            "intervals": None if bank.intervals is None else bank.intervals.to_dict(),
            "notes": notes,
        },
        notes,
        doubts=warned,
    )


def _mapped(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Say how far off the heads were, and are, on the ratings that the map was fitted to."""
    return before.select(
        "label", "n", mae_before="mae", mae_after=after["mae"], bias_before="bias"
    ).with_columns(bias_after=after["bias"])


def _of_neutral(bank: HeadBank) -> str:
    """Say what will be seen of the neutral stimuli, and of all others."""
    said = (
        "The neutral mean is 0 before ratings are clipped to 0 to 7; what lies below 0 then counts "
        "as 0, so that the mean rating of neutral stimuli stays a little above it"
    )
    if any(knots is not None for knots in bank.scale_map.knots):
        said += (
            "; after a map that was fitted to people, all ratings are lower than theirs by what "
            "the map gives neutral stimuli"
        )
    return said


def _few_people(ratings: Ratings) -> list[str]:
    """Say when intervals rest on many pictures of few people."""
    from affectlab.core.words import plural

    if "identity" not in ratings.stimuli.columns:
        return []
    people = ratings.stimuli["identity"].n_unique()
    if people >= _MANY or ratings.n_stimuli < 2 * people:
        return []
    return [
        f"intervals are calibrated on {plural(ratings.n_stimuli, 'stimulus', 'stimuli')} of "
        f"{plural(people, 'identity', 'identities')}: for new ones they may hold less often than "
        f"they say; expected {_MANY} identities or more"
    ]


def _unsure(bank: HeadBank) -> list[str]:
    """Say where there are too few ratings for an interval."""
    found = bank.intervals
    if found is None or not found.unsure:
        return []
    bins = sum(map(len, found.half))
    return [
        f"{found.unsure} of {bins} bins of labels and scores have too few ratings for "
        f"{found.level:g}: their intervals are the whole scale"
    ]


def _show(out: Output, bank: HeadBank, mapped: pl.DataFrame | None) -> None:
    import polars as pl

    out.head(f"{bank.name}: {bank.steps}; clipped to 0 to 7")
    if bank.neutral is not None:
        out.show(_of_neutral(bank))
    if mapped is not None:
        shown = mapped.drop("bias_before", "bias_after").rename(
            {"mae_before": "mean difference", "mae_after": "after the map", "n": "ratings"}
        )
        out.show_frame(shown, shown.columns, more="all stand in the output of --json")
    columns: dict[str, Any] = {"label": list(bank.labels)}
    if bank.neutral is not None:
        columns["neutral mean"] = list(bank.neutral.offsets)
    if bank.intervals is not None:
        half = list(zip(*bank.intervals.half, strict=True))
        for name, widths in zip(_bins(bank.intervals.edges), half, strict=True):
            columns[f"± {name}"] = list(widths)
        out.show(bank.intervals.said)
    frame = pl.DataFrame(columns)
    if frame.width > 1:
        out.show_frame(frame, frame.columns, more="all stand in the model's folder")


def _bins(edges: tuple[float, ...]) -> list[str]:
    """Name the bins of predictions."""
    if not edges:
        return ["any score"]
    inner = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"below {edges[0]:g}", *inner, f"from {edges[-1]:g}"]

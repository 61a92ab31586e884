"""``affectlab analyze jnd``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import SeedOption
from affectlab.cli.analyze._pairs import (
    ScoreOption,
    check_folder,
    reads_pairs,
    scores_of,
    write_tables,
)
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    import polars as pl

    from affectlab.analysis import JndSteps, JndTimes, LatencyBudget, PairScores, SamplingInterval
    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimate
    from affectlab.ratings import Ratings

__all__ = ["jnd"]


@reads_pairs("analyze jnd")
def jnd(
    source: Ratings | PairScores,
    out: Output,
    frames: Annotated[
        Path,
        Option(help="Table of frames with their times (frames.csv).", show_default=False),
    ],
    score: ScoreOption = "subject-model",
    one_jnd: Annotated[
        float | None,
        Option(
            "--jnd",
            help="1 JND in units of the score, instead of that of the pairs 1 JND apart.",
            show_default=False,
        ),
    ] = None,
    latency: Annotated[
        list[float] | None,
        Option(
            help="What if a movement is seen so many milliseconds late? May be given again.",
            metavar="MS",
            show_default=False,
        ),
    ] = None,
    share: Annotated[
        float, Option(help="Also the interval that keeps this share below 1 JND.")
    ] = 0.95,
    resample: Annotated[
        Literal["sequences", "actors", "scores"],
        Option(help="What the interval of 1 JND, and of their number, is about."),
    ] = "sequences",
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=1)] = 1000,
    films: Annotated[
        Path | None,
        Option(
            help="Films that the frames are from (candidates.csv, or the folder of transitions): "
            "draws strips of frames, with the first at 1 JND marked.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        Option(
            help="Strips: rate of the display in Hz; every frame of the film if not given.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Folder for the tables (CSV).", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Say how often a face must be sampled, or how late it may be shown, for nobody to notice.

    From how different frames look: what 1 just noticeable difference (JND) is in units of the
    score, how long each expression takes for one, and the longest interval between samples that
    keeps every change below it.

    FILE holds ratings of the protocol difference, or a score for each pair (value, se), with the
    columns kind, actor, expression_a, role_a, expression_b and role_b in it or in --stimuli.

    Example: affectlab analyze jnd ratings.csv --frames five/frames.csv --latency 20
    """
    from affectlab.analysis import (
        jnd_score,
        jnd_scores,
        jnd_steps,
        jnd_times,
        latency_budget,
        sampling_interval,
    )
    from affectlab.core.errors import InputError

    for option, folder in (("--out", to), ("--figures", figures)):
        check_folder(folder, option)
    if films is not None and figures is None:
        raise InputError("--films draws strips; expected --figures with a folder for them")
    with out.progress("JNDs"):
        scores = scores_of(source, out, score)
        drawn: dict[str, Any] = {"resample": resample, "n_boot": n_boot, "seed": seed}
        one: Estimate | float = jnd_score(scores, **drawn) if one_jnd is None else one_jnd
        times = jnd_times(scores, frames, jnd=one)
        interval = sampling_interval(times, share=share)
        ends = jnd_scores(scores, "end", **drawn) if one_jnd is None else None
        steps = _steps(out, lambda: jnd_steps(scores, jnd=one_jnd, **drawn))
        budget = latency_budget(times, latency, seed=seed) if latency else None
        uncounted = _uncounted(scores) if one_jnd is None else ()
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        tables = {
            "jnd_segments": _segments(times),
            "jnd_sequences": times.sequences,
            "jnd_typical": times.typical().to_frame(),
            "sampling_interval": interval.frame,
        }
        if ends is not None:
            tables["jnd_scores"] = ends.to_frame()
        if steps is not None:
            tables["jnd_steps"] = steps.estimates.to_frame()
        if budget is not None:
            tables["jnd_latency"] = budget.frame
        write_tables(to, tables)
    strips: dict[str, Any] = {}
    if figures is not None:
        from affectlab.cli.analyze._jnd_figures import draw_figures

        with out.progress("figures"):
            strips = draw_figures(
                times, interval, figures, latency=latency or [], films=films, rate=rate, seed=seed
            )
    _show_jnd(out, times, ends.to_frame() if ends is not None else None, steps)
    _show_interval(out, interval)
    if budget is not None:
        _show_budget(out, budget)
    if to is not None:
        out.show(f"\ntables: {to}")
    if figures is not None:
        out.show(f"\nfigures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "scores": scores.method,
            "unit": scores.unit,
            "jnd": times.jnd,
            "jnd_by_end": None if ends is None else ends.to_frame(),
            "steps": None if steps is None else steps.estimates.to_frame(),
            "additivity": None if steps is None else steps.additivity,
            "sampling": interval.frame,
            "sampling_confidence": interval.confidence,
            "sampling_doubts": interval.doubts,
            "share": share,
            "typical": times.typical().to_frame(),
            "sequences": times.sequences,
            "segments": times.segments,
            "latency": None if budget is None else budget.frame,
            "strips": strips,
        },
        (*(note for note in interval.notes if note not in interval.doubts), *uncounted),
        doubts=interval.doubts,
    )


def _uncounted(scores: PairScores) -> tuple[str, ...]:
    """Say how many pairs next to the ends do not count, as they are not 1 JND apart."""
    import polars as pl

    from affectlab.core.words import plural

    own = scores.intra().frame
    roles = pl.concat_list(pl.col("role_a", "role_b"))
    apart = pl.any_horizontal(
        roles.list.contains(end) & roles.list.contains(step)
        for end, step in (("peak", "step_2"), ("step_4", "neutral"))
    )
    n = own.filter(apart).height
    if not n:
        return ()
    return (
        f"{plural(n, 'pair')} next to the ends of transitions of less than about 2 JNDs, whose "
        "frames are at equal steps, do not count for 1 JND",
    )


def _steps(out: Output, count: Callable[[], JndSteps]) -> JndSteps | None:
    """Count JNDs from peak to neutral; a study of the middle frames alone has no pairs for that."""
    from affectlab.core.errors import InputError

    try:
        return count()
    except InputError as problem:
        out.note(f"JNDs from peak to neutral are not counted: {problem}")
        return None


def _segments(times: JndTimes) -> pl.DataFrame:
    """Give one row per segment, with which of a sequence is the shorter."""
    import polars as pl

    keys = ["actor", "expression", "segment"]
    counts = times.sequences.select(*keys, pl.lit(True).alias("counts"))
    joined = times.segments.join(counts, on=keys, how="left", maintain_order="left")
    return joined.with_columns(pl.col("counts").fill_null(False))


def _show_jnd(
    out: Output, times: JndTimes, ends: pl.DataFrame | None, steps: JndSteps | None
) -> None:
    from affectlab.core.words import number, plural

    one = times.jnd
    out.head(f"1 JND in units of the score ({times.unit})")
    of = f", median of {plural(one.n_items, 'pair')}" if one.n_items else ", as given"
    out.show(f"{number(one.value)}{_ends(one.low, one.high, 2)}{of}")
    if ends is not None and ends.height > 1:
        said = [
            f"{row['end']} {number(row['value'])}{_ends(row['low'], row['high'], 2)}"
            for row in ends.to_dicts()
        ]
        out.show(f"at each end: {', '.join(said)}")
    if steps is None:
        return
    out.head("\nJNDs from peak to neutral, median over sequences")
    for way, words in (("steps", "sum of the four steps"), ("ends", "peak beside neutral")):
        found = steps[way]
        if found.ok:
            out.show(
                f"{words}: {number(found.value, 1)}{_ends(found.low, found.high, 1)}, "
                f"{plural(found.n_items, 'sequence')}"
            )
    if steps.additivity == steps.additivity:
        out.show(
            f"Beside each other the ends differ by {number(steps.additivity)} of what the steps "
            "add up to."
        )


def _show_interval(out: Output, interval: SamplingInterval) -> None:
    from affectlab.analysis import common_rate
    from affectlab.core.words import number, percent, plural

    out.head("\nLongest sampling interval that keeps every change below 1 JND (ms)")
    import polars as pl

    shown = interval.frame.select(
        pl.col("group").alias("actor"),
        "n_sequences",
        *(pl.col(f"{name}_ms") for name in ("time", "low", "high", "corrected", "share")),
        pl.col("rate_hz"),
        "expression",
    ).with_columns(pl.selectors.float().map_elements(_one_digit, return_dtype=pl.String))
    names = {"time_ms": "shortest", "corrected_ms": "corrected", "rate_hz": "Hz"}
    names["share_ms"] = f"for {percent(interval.share)}"
    shown = shown.rename(names)
    columns: list[str | tuple[str, str]] = ["actor", "n_sequences", "shortest"]
    columns += [("low_ms", "high_ms"), "corrected", names["share_ms"], "Hz", "expression"]
    out.show_frame(shown, columns)
    one = interval.overall
    if not one.ok:
        out.show(f"No interval: {one.status}.")
        return
    sure = f"{100 * (1 + interval.confidence) / 2:g} %"
    out.show(
        f"\nSample every {number(one.value, 1)} ms ({number(interval.rate_hz, 0)} Hz)"
        f"{_ends(one.low, one.high, 1)}."
    )
    if interval.doubts:
        out.show(
            "This takes faces to move evenly between the frames that were rated, which cannot be "
            "relied on here (see the warnings). The true time may be shorter than the short end."
        )
    elif one.low == one.low and one.low > 0:
        safe = 1000 / one.low
        rate = common_rate(safe)
        fast = f"; the next common rate is {rate} Hz" if rate else ""
        out.show(
            f"If faces move evenly between the frames that were rated, {number(one.low, 1)} ms "
            f"({number(safe, 0)} Hz) is short enough for all of these, {sure} sure{fast}."
        )
    n = one.n_items
    people = interval.actors.frame.height
    out.show(
        f"A further expression like these is faster than all {plural(n, 'sequence')} with a chance "
        f"of 1 in {n + 1:,}, a further person with one of 1 in {people + 1:,}."
    )


def _one_digit(value: float) -> str:
    from affectlab.core.words import number

    return "none" if value == float("inf") else number(value, 1)


def _show_budget(out: Output, budget: LatencyBudget) -> None:
    from affectlab.core.words import number, percent

    for row in budget.frame.filter(budget.frame["group"] == "all").to_dicts():
        out.head(f"\nWhat if a movement is seen {row['latency_ms']:g} ms late?")
        own = budget.frame.filter(
            (budget.frame["latency_ms"] == row["latency_ms"]) & (budget.frame["group"] != "all")
        )
        worst = own.sort("below", maintain_order=True).row(0, named=True)
        fewest = ""
        if worst["below"] < row["below"]:
            fewest = f"; the fewest of {worst['group']}, {percent(worst['below'])}"
        out.show(
            f"{percent(row['below'])} of the expressions change by less than 1 JND until then "
            f"({percent(row['low'])} to {percent(row['high'])}){fewest}."
        )
        spread = _ends(row["jnds_low"], row["jnds_high"], 2)
        out.show(
            f"The mean change is {number(row['jnds'])} JNDs{spread}, the largest "
            f"{number(row['jnds_most'])}."
        )


def _ends(low: float, high: float, digits: int) -> str:
    """Write an interval behind a value, where there is one."""
    from affectlab.core.words import number

    if low != low or high != high:
        return ""
    upper = "no end" if high == float("inf") else number(high, digits)
    return f" [{number(low, digits)} to {upper}]"

"""Picture of the times to one just noticeable difference."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from affectlab.core.words import number
from affectlab.report.figures import fig_jnd_times
from affectlab.report.pictures.picture import Picture

if TYPE_CHECKING:
    from affectlab.analysis import JndTimes, SamplingInterval

__all__ = ["picture_of_jnd_times"]


def picture_of_jnd_times(times: JndTimes, interval: SamplingInterval) -> Picture:
    """Draw the times of each actor's expressions, and the sampling interval."""
    one = interval.overall
    own = {
        row["group"]: (row["time_ms"], row["low_ms"], row["high_ms"])
        for row in interval.frame.slice(1).iter_rows(named=True)
    }
    groups = times.sequences.partition_by("actor", as_dict=True, maintain_order=True)
    shortest = [f"{name} {number(own[name][0], 1)} ms" for name in own]
    return Picture(
        "jnd_times",
        "Time to 1 JND by actor",
        f"Shortest of all {number(one.value, 1)} ms; {', '.join(shortest)}.",
        partial(
            fig_jnd_times,
            {str(key[0]): part["time_ms"].to_numpy() for key, part in groups.items()},
            one.value,
            (one.low, one.high),
            own=own,
        ),
    )

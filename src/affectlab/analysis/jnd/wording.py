"""Just noticeable differences in words: one template for each kind of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from affectlab.core.facts import Reason
from affectlab.core.wording import status_text
from affectlab.core.words import count, number, percent, plural, shown

SHORTEST = "shortest time to 1 JND of all sequences"
MEDIAN_SCORE = "median score of pairs 1 JND apart"
MEDIAN_TIME = "median time to 1 JND"
PEAK_TO_NEUTRAL = "JNDs from peak to neutral"
WAYS = {
    "steps": "sum of the steps between five frames",
    "ends": "peak compared with neutral",
}
"""Ways to count JNDs from peak to neutral."""
LATENCY = "Expressions below 1 JND by delay"
SAMPLING = "Longest sampling interval that keeps every change below 1 JND."
TIMES = "Time to 1 JND by actor"
STRIP = "Frames up to 1 JND"
STAIRCASES = "Trials, and posterior of the threshold"
DOUBTFUL = "The interval assumes even movement between rated frames, doubtful here (see notes)."
NO_ERRORS = "scores without standard errors: times have no intervals"
NO_FRAME_RATE = "frame rate unknown (the table of frames has no column fps)"


class Doubt(StrEnum):
    """Why the straight line between frames cannot be relied on for the shortest time."""

    BETWEEN_FRAMES = "between_frames"
    """It is shorter than the time between two frames of the film."""
    BEYOND_SEGMENT = "beyond_segment"
    """It is longer than its segment, which changes by less than 1 JND."""
    LONG_SEGMENT = "long_segment"
    """Its segment has many JNDs, over which scores do not add up."""


def doubt_text(doubt: Doubt, frame_ms: float, jnds: float | None) -> str:
    """Say why the shortest time cannot be relied on."""
    if doubt is Doubt.BETWEEN_FRAMES:
        return f"the shortest time is below the frame interval of the film ({frame_ms:.0f} ms)"
    if doubt is Doubt.BEYOND_SEGMENT:
        return (
            "the shortest time is extrapolated beyond its segment, which changes by less than 1 JND"
        )
    return (
        f"the shortest time comes from a segment of {number(jnds, 1)} JNDs, and is likely too "
        "long: scores do not add up that far"
    )


def end_status_text(anchor: str, status: str, reason: Reason | None) -> str:
    """Say the same of the run from one end."""
    return f"from {anchor}: {status_text(status, reason)}"


def below_text(shares: Mapping[float, float], most: int) -> str:
    """Say how many sequences stay below 1 JND, by delay."""
    parts = [f"{percent(share)} within {delay:g} ms" for delay, share in shares.items()]
    return f"Below 1 JND: {', '.join(parts[:most])}{', …' * (len(parts) > most)}."


def fewest_text(group: str, share: float, delay: float) -> str:
    """Say in which group the fewest stay below 1 JND."""
    return f"Fewest for {shown(group)}: {percent(share)} within {delay:g} ms."


def frames_statistic(anchor: str) -> str:
    """Name the distance that a staircase finds."""
    return f"frames from {anchor} to 1 JND"


def distance_text(value: float, low: float, high: float) -> str:
    """Write a number of frames or JNDs with its credible interval."""
    return f"{number(value, 1)} [{number(low, 1)}, {number(high, 1)}]"


def frames_text(distance: float, low: float, high: float) -> str:
    """Say how many frames make 1 JND."""
    ends = "" if math.isnan(low) else f" [{number(low, 1)}, {number(high, 1)}]"
    return f"1 JND = {number(distance, 1)} frames{ends}"


def score_text(value: float, low: float, high: float, n_pairs: int) -> str:
    """Say what 1 JND is in units of the score, and where from."""
    ends = "" if math.isnan(low) else f" [{number(low)} to {number(high)}]"
    origin = f"median of {plural(n_pairs, 'pair')}" if n_pairs else "as given"
    return f"1 JND is {number(value)}{ends} in units of the score, {origin}."


def scores_caption(by: str) -> str:
    """Name the table of 1 JND by group."""
    return f"1 JND in units of the score, by {by}."


def uncounted_pairs(n: int) -> str:
    """Say how many pairs next to the ends are not 1 JND apart."""
    return f"{plural(n, 'pair')} not used: equal steps of transitions below about 2 JNDs"


def sampling_text(
    value: float, low: float, high: float, n_sequences: int, n_actors: int
) -> tuple[str, str]:
    """Say how often to sample, and how likely others are faster."""
    end = "no end" if math.isinf(high) else number(high, 1)
    ends = "" if math.isnan(low) else f" [{number(low, 1)} to {end}]"
    return (
        f"Sample every {number(value, 1)} ms{ends}, {number(1000 / value, 0)} Hz, to keep "
        f"{plural(n_sequences, 'sequence')} below 1 JND between two samples.",
        f"Chance that a further expression is faster: 1 in {count(n_sequences + 1)}; a further "
        f"person: 1 in {count(n_actors + 1)}.",
    )


def safe_text(low: float, confidence: float, rate: int | None) -> str:
    """Say which interval is short enough."""
    fast = f"; next common rate {rate} Hz" if rate else ""
    return (
        f"If faces move evenly between rated frames, {number(low, 1)} ms "
        f"({number(1000 / low, 0)} Hz) is short enough with {100 * (1 + confidence) / 2:g} % "
        f"confidence{fast}."
    )


def shortest_text(overall: float, own: Mapping[str, float]) -> str:
    """Describe the figure of times by actor."""
    shortest = [f"{name} {number(value, 1)} ms" for name, value in own.items()]
    return f"Shortest of all {number(overall, 1)} ms; {', '.join(shortest)}."


def steps_text(jnds: Mapping[str, float], n_sequences: int) -> str:
    """Say how many JNDs there are each way."""
    ways = ", ".join(f"{way} {number(value, 1)}" for way, value in jnds.items())
    return f"{ways} JNDs; {plural(n_sequences, 'sequence')}."


def additivity_text(ratio: float) -> str:
    """Say how far scores add up."""
    return f"The score of the two ends is {number(ratio)} of the sum of the steps."


def strip_text(actor: str, expression: str, ms: float) -> str:
    """Say when an expression has changed by 1 JND."""
    return f"{actor}, {expression}: 1 JND after {ms:.0f} ms."


def untimed(n: int, actor: str, expression: str) -> str:
    """Say how many sequences lack a time."""
    return (
        f"{plural(n, 'sequence')} without the time of a frame excluded, such as {actor} "
        f"{expression}"
    )


def still_segments(n: int, of: int) -> str:
    """Say how many segments have no time."""
    return f"{count(n)} of {plural(of, 'segment')} without positive change"


def times_text(n: int, n_actors: int, jnd: float, shortest: Sequence[float]) -> str:
    """Say how many sequences there are, and the shortest time."""
    parts = [
        plural(n, "sequence"),
        plural(n_actors, "actor"),
        f"1 JND = {number(jnd)}",
        *(f"shortest {number(ms, 1)} ms" for ms in shortest),
    ]
    return f"{', '.join(parts)}."

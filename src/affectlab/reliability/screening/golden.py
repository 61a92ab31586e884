"""Golden items: stimuli of a pilot whose answer is clear enough to check raters with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import plural
from affectlab.ratings import Ratings, answers_of, canonical, of_known_raters
from affectlab.reliability.one_label import one_label
from affectlab.reliability.rank_correlation import grouped_means
from affectlab.reliability.screening.wording import golden_text, overlap_text, pilot_violations

Extremes: TypeAlias = Literal["both", "low", "high"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GoldenItems(Result):
    """Golden items with the evidence for each.

    A row per item: ``stimulus``; ``extreme``, low or high; ``value``, the mean score that is the
    reference; ``sd`` (divisor n - 1); ``n`` ratings; ``rank`` among the scores from that end, from
    1; ``violations``, the share of the pilot's own answers that would violate the tolerance (null
    without one); ``evidence`` in words.
    """

    label: str
    """The label they are golden for."""

    @property
    def reference(self) -> dict[str, float]:
        """Reference answer of every item."""
        return dict(self.to_frame().select("stimulus", "value").iter_rows())

    def __len__(self) -> int:
        return self.to_frame().height


_COLUMNS = (Key("stimulus"), Text("extreme"), Number("value"), Text("evidence"))


@dataclass(frozen=True)
class Overlap:
    """What a pilot and a main study have in common."""

    stimuli: tuple[str, ...]
    """Stimuli in the main trials of both."""
    raters: tuple[str, ...]
    """Raters of both; empty where the main study is given by its stimuli."""

    @property
    def disjoint(self) -> bool:
        """Whether no stimulus is shared."""
        return not self.stimuli

    def __str__(self) -> str:
        return overlap_text(self.stimuli)


def batch_overlap(pilot: Ratings, main: Ratings | Iterable[str]) -> Overlap:
    """Find what a pilot and a main study share.

    Golden trials of the main study show stimuli of the pilot by design: only main trials with a
    valid answer count.

    Parameters
    ----------
    pilot
        Ratings of the pilot.
    main
        Ratings of the main study, or the names of its stimuli.

    Examples
    --------
    >>> pilot = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 2]}, scale="1-5")
    >>> print(batch_overlap(pilot, ["b", "c"]))
    pilot and main study share 1 stimulus: b
    """
    mine = pilot.answers()
    if isinstance(main, Ratings):
        theirs = main.answers()
        stimuli, raters = set(theirs.stimulus_names), set(theirs.rater_names)
    else:
        stimuli, raters = set(main), set()
    return Overlap(
        tuple(name for name in mine.stimulus_names if name in stimuli),
        tuple(name for name in mine.rater_names if name in raters),
    )


@of_known_raters
def choose_golden(
    pilot: Ratings | ArrayLike,
    n: int,
    *,
    extremes: Extremes = "both",
    max_sd: float | None = None,
    share: float = 0.25,
    min_ratings: int = 5,
    tolerance: float | None = None,
    label: str | None = None,
    main: Ratings | Iterable[str] | None = None,
    seed: int | np.random.Generator | None = 0,
) -> GoldenItems:
    """Choose golden items: stimuli at the ends of the scale on which a pilot agrees.

    Stimuli are drawn at random among those whose mean score is in the lowest or highest ``share``
    and whose standard deviation is low.

    Parameters
    ----------
    pilot
        Ratings (main trials with a valid answer), or an array of shape (raters, stimuli).
    n
        Number of items.

        An odd one comes from the end with more to choose from.
    extremes
        ``"both"`` ends of the scores, or one: ``"low"`` or ``"high"``.
    max_sd
        Largest standard deviation, in points. By default the half of each extreme with the lower
        ones.
    share
        Part of the stimuli that counts as an extreme, above 0 and up to 0.5.
    min_ratings
        Ratings that a stimulus needs.
    tolerance
        Distance from the reference that will count as a violation. By default a quarter of a scale
        with two ends.

        It tells how often the pilot's own raters would have been caught.
    label
        Which label, where the pilot has several.
    main
        Stimuli of the main study, which are not chosen.

        Its ratings are taken, too.
    seed
        Seed or generator; the same seed gives the same items.

    Returns
    -------
    Golden items, low ones first, each with its evidence.

    Raises
    ------
    InputError
        If fewer stimuli qualify than are wanted, or an option cannot be used.

    References
    ----------
    FaceExpressions-70k, section 3.4.3, which draws five items a session. It publishes neither what
    counts as an extreme nor as a low standard deviation: ``share`` and ``max_sd`` are ours.

    Examples
    --------
    >>> ratings = [[1, 9, 50, 90, 98], [2, 30, 20, 60, 98], [3, 20, 80, 99, 98]]
    >>> items = choose_golden(ratings, 2, share=0.4, min_ratings=3, seed=0)
    >>> items.reference
    {'0': 2.0, '4': 98.0}
    >>> items.to_frame()["evidence"][0]
    'mean 2, lowest 1 of 5; SD 1 of 3 ratings (median SD 10.5)'
    """
    pilot = canonical(pilot)
    check_choice("extremes", extremes, get_args(Extremes))
    check_number("n", n, 1, whole=True)
    check_number("share", share, 0, 0.5, above=True)
    check_number("min_ratings", min_ratings, 2, whole=True)
    if max_sd is not None:
        check_number("max_sd", max_sd, 0)
    if tolerance is not None:
        check_number("tolerance", tolerance, 0, above=True)
    part = one_label(answers_of(pilot), label, "pilot")
    name = part.labels[int(part.label[0])] if part.value.size else (label or "")
    if tolerance is None and part.scale is not None:
        low, high = part.scale.low, part.scale.high
        tolerance = None if low is None or high is None else (high - low) / 4
    stimuli, unit = np.unique(part.unit, return_inverse=True)
    n_ratings, mean, sd = grouped_means(part.value, unit, stimuli.size)
    off = part.value - mean[unit]
    allowed = n_ratings >= min_ratings
    if main is not None:
        taken = set(main.answers().stimulus_names if isinstance(main, Ratings) else main)
        allowed &= np.array([part.units[k] not in taken for k in stimuli], dtype=np.bool_)
    rng = np.random.default_rng(seed)
    order = np.flatnonzero(allowed)[np.argsort(mean[allowed], kind="stable")]
    size = int(share * order.size)
    ends = {"low": order[:size], "high": order[order.size - size :][::-1]}
    kept = {
        end: _steady(rows, sd, max_sd) for end, rows in ends.items() if extremes in ("both", end)
    }
    wanted = _shares(n, {end: rows.size for end, rows in kept.items()})
    for end, count in wanted.items():
        if count > kept[end].size:
            limit = "" if max_sd is None else f" with an SD of at most {max_sd:g}"
            raise InputError(
                f"golden items: only {kept[end].size} of the {size} {end}est-scored stimuli "
                f"qualify{limit}, expected {count}; allow a larger share or max_sd, or fewer "
                "ratings"
            )
    chosen = {
        end: np.sort(rng.choice(kept[end].size, count, replace=False))
        for end, count in wanted.items()
    }
    median = float(np.nanmedian(sd))

    def row(at: int, end: str) -> dict[str, object]:
        from_low = int(np.flatnonzero(order == at)[0])
        rank = from_low + 1 if end == "low" else order.size - from_low
        caught = None
        if tolerance is not None:
            caught = float((np.abs(off[unit == at]) >= tolerance).mean())
        size, spread = int(n_ratings[at]), float(sd[at])
        evidence = golden_text(float(mean[at]), spread, size, median, rank, order.size, end)
        if caught:
            evidence = pilot_violations(evidence, caught)
        return {
            "stimulus": part.units[int(stimuli[at])],
            "extreme": end,
            "value": float(mean[at]),
            "sd": float(sd[at]),
            "n": int(n_ratings[at]),
            "rank": rank,
            "violations": caught,
            "evidence": evidence,
        }

    rows = [row(int(kept[end][at]), end) for end, positions in chosen.items() for at in positions]
    frame = pl.DataFrame(rows, schema_overrides={"violations": pl.Float64})
    table = Table("golden", "Golden items.", frame, _COLUMNS)
    return GoldenItems((table,), (f"{plural(n, 'golden item')} for {name!r}",), label=name)


def _steady(rows: Ints, sd: Floats, max_sd: float | None) -> Ints:
    """Rows with a low SD, in their order."""
    if max_sd is not None:
        return rows[sd[rows] <= max_sd]
    keep = np.argsort(sd[rows], kind="stable")[: (rows.size + 1) // 2]
    return rows[np.sort(keep)]


def _shares(n: int, sizes: dict[str, int]) -> dict[str, int]:
    """How many items come from each end."""
    each = dict.fromkeys(sizes, n // len(sizes))
    for end in sorted(sizes, key=lambda name: -sizes[name])[: n % len(sizes)]:
        each[end] += 1
    return each

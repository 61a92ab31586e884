"""What stimuli truly express, on a scale, before anyone rates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, check_number, unknown_name
from affectlab.ratings import Scale
from affectlab.taxonomy import Taxonomy, load_taxonomy, match_taxonomy


@dataclass(frozen=True, eq=False)
class Truth:
    """True intensities of every label in every stimulus.

    Raises
    ------
    InputError
        When the shapes do not fit, a value is missing or off the scale, or a name comes twice.
    """

    value: NDArray[np.float64]
    """Shape (n_stimuli, n_labels), within the bounds of `scale`."""
    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    scale: Scale

    def __post_init__(self) -> None:
        value = np.array(self.value, dtype=np.float64)
        expected = (len(self.stimuli), len(self.labels))
        if value.shape != expected:
            raise InputError(f"truth of shape {value.shape}: expected {expected}")
        for what, names in (("stimulus", self.stimuli), ("label", self.labels)):
            if len(set(names)) < len(names) or not names:
                raise InputError(f"{what} names of a truth: expected at least one, none twice")
        low, high = bounds(self.scale)
        if not np.all((value >= low) & (value <= high)):
            raise InputError(f"a true value is missing or off the scale; expected {self.scale}")
        value.setflags(write=False)
        object.__setattr__(self, "value", value)

    def to_frame(self) -> pl.DataFrame:
        """Give columns ``stimulus, label, value``, one row per stimulus and label."""
        n_stimuli, n_labels = self.value.shape
        return pl.DataFrame(
            {
                "stimulus": np.repeat(self.stimuli, n_labels),
                "label": np.tile(self.labels, n_stimuli),
                "value": self.value.ravel(),
            }
        )


def bounds(scale: Scale) -> tuple[float, float]:
    """Lower and upper end of a scale that can be simulated."""
    if scale.low is None or scale.high is None or scale.kind in ("nominal", "text"):
        raise InputError(
            f"scale {str(scale)!r} cannot be simulated; expected binary, or ordinal or interval "
            "with both ends"
        )
    return float(scale.low), float(scale.high)


def simulate_truth(
    n_stimuli: int,
    labels: str | Taxonomy | Sequence[str] = "mikels",
    scale: str | Scale = "0-7",
    *,
    seed: int | np.random.Generator = 0,
    expressions: Sequence[str] | None = None,
    intensities: ArrayLike | None = None,
    stimuli: Sequence[str] | None = None,
    tau: float = 1.0,
    spread: float = 0.04,
) -> Truth:
    """Draw the true intensity of every label in every stimulus.

    A stimulus with expression e at intensity q has, for label l, the share
    q exp(-(W_el - 1) / tau) of the scale, plus normal noise, kept within the scale. W is the cost
    matrix of the taxonomy, so emotions that are close on the wheel come up together.

    Parameters
    ----------
    n_stimuli
        At least 1.
    labels
        A taxonomy, its name, or label names. Names that no built-in taxonomy holds are taken to
        be unrelated.
    scale
        What the values are measured on, with both ends.
    seed
        Same seed, same bytes.
    expressions
        The label each stimulus expresses, or ``"neutral"``; drawn evenly when not given.
    intensities
        0 to 1 for each stimulus; drawn between 0.3 and 1 when not given.
    stimuli
        Names; ``s0001``, … when not given.
    tau
        How far an expression reaches into related labels, in units of cost; above 0.
    spread
        Standard deviation of the noise as a share of the scale.

    Returns
    -------
    Truth
        ``value`` has the shape (stimuli, labels), beside it ``stimuli``, ``labels`` and
        ``scale``; ``to_frame()`` gives a row per stimulus and label.

    Raises
    ------
    InputError
        For a number out of its range, a label that is not known, or lengths that differ.

    Examples
    --------
    >>> truth = simulate_truth(3, "mikels", "0-7", seed=1, spread=0.0, intensities=[1, 1, 1],
    ...                        expressions=["fear", "awe", "neutral"])
    >>> truth.value[0].round(2).tolist()[4:]
    [7.0, 2.58, 0.95, 0.35]
    """
    check_number("n_stimuli", n_stimuli, 1, whole=True)
    check_number("tau", tau, 0, above=True)
    check_number("spread", spread, 0)
    rng = np.random.default_rng(seed)
    parsed = Scale.parse(scale)
    low, high = bounds(parsed)
    names, costs = _costs(labels)

    if expressions is None:
        codes = rng.permutation(np.arange(n_stimuli) % len(names))
    else:
        _same_length("expressions", len(expressions), n_stimuli)
        codes = np.array([_label_code(name, names) for name in expressions])
    if intensities is None:
        strength = rng.uniform(0.3, 1.0, n_stimuli)
    else:
        strength = np.asarray(intensities, dtype=np.float64)
        _same_length("intensities", strength.size, n_stimuli)
        if not np.all((strength >= 0.0) & (strength <= 1.0)):
            raise InputError("an intensity is missing or out of range; expected 0 to 1")

    # A neutral stimulus has the code -1 and picks the row of zeros that is added at the end.
    reach = np.vstack([np.exp(-(costs - 1.0) / tau), np.zeros(len(names))])
    share = strength[:, None] * reach[codes]
    share += spread * rng.standard_normal(share.shape)
    if stimuli is None:
        stimuli = [f"s{index:04d}" for index in range(1, n_stimuli + 1)]
    _same_length("stimuli", len(stimuli), n_stimuli)
    value = low + (high - low) * np.clip(share, 0.0, 1.0)
    return Truth(value, tuple(stimuli), names, parsed)


def _costs(labels: str | Taxonomy | Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if isinstance(labels, str | Taxonomy):
        costs = (load_taxonomy(labels) if isinstance(labels, str) else labels).cost_matrix()
        return costs.labels, costs.matrix
    names = tuple(labels)
    if not names:
        raise InputError("no label given; expected at least one")
    known = match_taxonomy(names)
    if known is not None:
        return names, known.cost_matrix().reorder([known.name_of(name) for name in names]).matrix
    unrelated = np.full((len(names), len(names)), np.inf)
    np.fill_diagonal(unrelated, 1.0)
    return names, unrelated


def _label_code(name: str, names: tuple[str, ...]) -> int:
    if name == "neutral":
        return -1
    if name not in names:
        raise unknown_name("expression", name, (*names, "neutral"))
    return names.index(name)


def _same_length(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"{what}: {found} given for {expected} stimuli")

"""Trained models: pseudo-labels, transfer, layers, and the words behind a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.core.types import Axes, Figure, Floats
from affectlab.core.words import number, shown
from affectlab.report.drawing import WIDTH, canvas, colour, grid_along, key_below, swatch, themed

__all__ = [
    "fig_contributions",
    "fig_layers",
    "fig_semi_quality",
    "fig_semi_threshold",
    "fig_semi_utilisation",
    "fig_transfer",
]

Histories: TypeAlias = Mapping[str, Sequence[Mapping[str, float]]]
"""What each epoch reached, by name of run; see :attr:`affectlab.models.semi.SemiRun.history`."""

_ROLES = ("people", "model", "mixed", "positive", "negative", "ambiguous", "neutral", "accent")
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))
_DOTS = (0, (2, 3))
_QUALITY = (
    ("pseudo_accuracy", "ACC"),
    ("pseudo_ecc", "ECC"),
    ("pseudo_emc", "EMC"),
)


@themed
def fig_semi_threshold(histories: Histories) -> Figure:
    """Draw the threshold of confidence over epochs, a line for each run.

    Parameters
    ----------
    histories
        Runs; those without a threshold are left out. Where thresholds differ by class, a history
        holds their mean.

    Raises
    ------
    InputError
        When no run has a threshold, or there are more than can be told apart.

    Examples
    --------
    >>> figure = fig_semi_threshold({"emc": [{"epoch": 1, "threshold": 0.9},
    ...                                      {"epoch": 2, "threshold": 0.8}]})
    >>> figure.axes[0].get_ylabel()
    'threshold (mean over classes)'
    """
    return _single(histories, "threshold", "threshold (mean over classes)")


@themed
def fig_semi_utilisation(histories: Histories) -> Figure:
    """Draw the mean weight of unlabelled examples over epochs, a line for each run.

    Where weights are 0 and 1, this is the share of examples whose pseudo-label is learned from.

    Parameters
    ----------
    histories
        As for :func:`fig_semi_threshold`.

    Raises
    ------
    InputError
        When no run has used unlabelled examples, or there are more runs than can be told apart.

    Examples
    --------
    >>> figure = fig_semi_utilisation({"fixmatch": [{"epoch": 1, "utilisation": 0.4}]})
    >>> figure.axes[0].get_ylabel()
    'share of unlabelled examples that count'
    """
    return _single(histories, "utilisation", "share of unlabelled examples that count")


@themed
def fig_semi_quality(histories: Histories) -> Figure:
    """Draw ACC, ECC and EMC of pseudo-labels over epochs, a panel for each.

    Parameters
    ----------
    histories
        As for :func:`fig_semi_threshold`, of runs that were told the truth of unlabelled examples.
        An epoch in which none counted has no quality, and leaves a gap.

    Raises
    ------
    InputError
        When no run was told the truth, or there are more runs than can be told apart.

    Examples
    --------
    >>> history = [{"epoch": 1, "pseudo_accuracy": 0.6, "pseudo_ecc": 0.7, "pseudo_emc": 0.4}]
    >>> [axes.get_title(loc="left") for axes in fig_semi_quality({"emc": history}).axes]
    ['ACC', 'ECC', 'EMC']
    """
    runs = _chosen(histories, _QUALITY[0][0])
    figure = canvas(2.8)
    panels = figure.subplots(1, len(_QUALITY), sharey=True, sharex=True)
    for axes, (name, title) in zip(panels, _QUALITY, strict=True):
        _lines(axes, runs, name)
        axes.set_title(title, fontweight="bold", color=colour("ink"))
        axes.set_xlabel("epoch")
    panels[0].set_ylabel("of pseudo-labels, by weight")
    _key(figure, runs)
    return figure


def _single(histories: Histories, name: str, said: str) -> Figure:
    runs = _chosen(histories, name)
    figure = canvas(3.0, WIDTH * 0.75)
    axes = figure.add_subplot()
    _lines(axes, runs, name)
    axes.set_xlabel("epoch")
    axes.set_ylabel(said)
    _key(figure, runs)
    return figure


def _chosen(histories: Histories, name: str) -> dict[str, Sequence[Mapping[str, float]]]:
    """Keep runs whose history has a value."""
    found = {
        run: entries
        for run, entries in histories.items()
        if any(name in entry for entry in entries)
    }
    if not found:
        raise InputError(
            f"no history has {name!r}; expected one of a run that has it, such as "
            f"{'one that was told the truth' if name.startswith('pseudo') else 'of fixmatch'}"
        )
    most = len(_ROLES) * len(_DASHES)
    if len(found) > most:
        raise InputError(f"{len(found)} runs; expected {most} at most, to be told apart")
    return found


def _style(place: int) -> dict[str, Any]:
    return {
        "color": colour(_ROLES[place % len(_ROLES)]),
        # Of runs that do the same, the dashes of one show the other.
        "linestyle": _DASHES[(place + 2 * (place // len(_ROLES))) % len(_DASHES)],
        "linewidth": 1.5,
    }


def _lines(axes: Axes, runs: Mapping[str, Sequence[Mapping[str, float]]], name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    last = 1.0
    for place, entries in enumerate(runs.values()):
        epochs: Floats = np.array([entry["epoch"] for entry in entries], dtype=np.float64)
        values: Floats = np.array([entry.get(name, np.nan) for entry in entries], dtype=np.float64)
        last = max(last, float(epochs.max()))
        # A single epoch between gaps would be no line.
        alone = np.isfinite(values) & ~_beside(np.isfinite(values))
        style = _style(place)
        axes.plot(epochs, values, **style)
        axes.plot(epochs[alone], values[alone], "o", markersize=3, color=style["color"])
        _mark_switch(axes, entries, style["color"])
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlim(1 - 0.02 * last, last * 1.02)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    grid_along(axes, "y")


def _beside(
    finite: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say which places have a finite neighbour."""
    found = np.zeros_like(finite)
    found[1:] |= finite[:-1]
    found[:-1] |= finite[1:]
    return found


def _mark_switch(axes: Axes, entries: Sequence[Mapping[str, float]], line_colour: str) -> None:
    """Mark where the loss on labelled examples changed, unless it did so at the start."""
    at = _switched(entries)
    if at:
        axes.axvline(at, color=line_colour, linewidth=0.8, linestyle=_DOTS)


def _switched(entries: Sequence[Mapping[str, float]]) -> float:
    """Give the epoch in which the loss changed; 0: in none, or in the first."""
    said = [entry.get("switched", 0.0) for entry in entries]
    return entries[said.index(1.0)]["epoch"] if any(said) and not said[0] else 0.0


def _key(figure: Figure, runs: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    from matplotlib.lines import Line2D

    entries = [(run, Line2D([], [], **_style(place))) for place, run in enumerate(runs)]
    if any(_switched(held) for held in runs.values()):
        mark = Line2D([], [], color=colour("soft"), linewidth=0.8, linestyle=_DOTS)
        entries.append(("another loss on labelled ones from here", mark))
    # As many in each line, so that none stands alone.
    lines = -(-len(entries) // 5)
    key_below(figure, entries, columns=-(-len(entries) // lines))


# What starting from another model gains, by the number of texts that were trained on.


_TRANSFER_ROLES = {"baseline": "neutral", "freeze": "model", "nofreeze": "people"}
_OTHERS = ("mixed", "positive", "negative")
_MARKS = ("o", "s", "D", "^", "v")
_APART = 0.09


@themed
def fig_transfer(
    sizes: Sequence[str],
    setups: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]],
    *,
    value_name: str = "macro F1",
    size_name: str = "training texts",
) -> Figure:
    """Draw a line for each setup over the sizes of the training part, with intervals.

    Parameters
    ----------
    sizes
        Names of the sizes, in order.
    setups
        For each setup its values and the ends of their intervals, each of shape (sizes,), as
        :meth:`affectlab.models.text.Transfer.estimates` gives them; ``nan`` where not defined.
    value_name, size_name
        What the axes show.

    Raises
    ------
    InputError
        When there is no setup, or one has not one value for each size.

    Examples
    --------
    >>> figure = fig_transfer(["100", "80 %"], {"baseline": ([0.2, 0.6], [0.1, 0.5], [0.3, 0.7])})
    >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    ['100', '80 %']
    """
    if not setups or not sizes:
        raise InputError("there is no setup or no size to draw; expected at least one of each")
    figure = canvas(3.2, min(WIDTH, 2.2 + 1.0 * len(sizes)))
    axes = figure.add_subplot()
    entries = []
    for place, (name, given) in enumerate(setups.items()):
        value, low, high = (np.asarray(part, dtype=np.float64) for part in given)
        if not value.shape == low.shape == high.shape == (len(sizes),):
            raise InputError(
                f"{name}: shapes {value.shape}, {low.shape} and {high.shape}; expected one value "
                f"for each of {len(sizes)} sizes"
            )
        tint = colour(_TRANSFER_ROLES.get(name, _OTHERS[place % len(_OTHERS)]))
        mark = _MARKS[place % len(_MARKS)]
        # Beside each other, so that intervals of the same size can be told apart.
        at = np.arange(len(sizes)) + _APART * (place - (len(setups) - 1) / 2)
        axes.plot(at, value, color=tint, linewidth=1.2, alpha=0.7)
        axes.vlines(at, low, high, colors=tint, linewidth=1.6, alpha=0.55)
        axes.scatter(
            at, value, s=26, color=tint, marker=mark, zorder=3, edgecolors=colour("paper"),
            linewidths=0.6,
        )  # fmt: skip
        entries.append((name, swatch(tint, mark)))
    axes.set_xticks(range(len(sizes)), [shown(size, 12) for size in sizes])
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(0.0, bottom), min(1.0, top) if top > 1 else top)
    grid_along(axes, "y")
    axes.set_xlabel(size_name)
    axes.set_ylabel(value_name)
    key_below(figure, entries)
    return figure


# How much each layer of an encoder counts.


_EVEN_SHARE_LINE = (0, (4, 3))


@themed
def fig_layers(weights: ArrayLike) -> Figure:
    """Draw the weight of each layer in a scalar mix, and the centre of gravity.

    Parameters
    ----------
    weights
        Shape (runs, layers) or (layers,), the weights of a run summing to 1; layer 0 is that of
        word vectors. Bars are means over runs, whiskers their range.

    Raises
    ------
    InputError
        When the weights of a run are not shares.

    Examples
    --------
    >>> figure = fig_layers([[0.2, 0.3, 0.5]])
    >>> figure.axes[0].get_title(loc="left")
    'centre of gravity 1.30'
    """
    given = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    if given.ndim != 2 or not given.size or (given < 0).any():
        raise InputError(f"weights: shape {given.shape}; expected shares, one row for each run")
    if not np.allclose(given.sum(axis=1), 1.0, atol=1e-4):
        raise InputError("weights: those of a run do not sum to 1; expected shares")
    runs, layers = given.shape
    mean, places = given.mean(axis=0), np.arange(layers)
    centre = float(given.mean(axis=0) @ places)
    figure = canvas(2.7, min(WIDTH, 1.6 + 0.42 * layers))
    axes = figure.add_subplot()
    axes.bar(places, mean, width=0.72, color=colour("people"), alpha=0.85)
    if runs > 1:
        axes.vlines(
            places, given.min(axis=0), given.max(axis=0), colors=colour("ink"), linewidth=1.1
        )
    axes.axhline(1 / layers, color=colour("soft"), linewidth=0.9, linestyle=_EVEN_SHARE_LINE)
    axes.axvline(centre, color=colour("model"), linewidth=1.4)
    axes.set_xticks(places)
    axes.set_xlim(-0.6, layers - 0.4)
    axes.set_ylim(0, 1.1 * max(float(given.max()), 1 / layers))
    axes.tick_params(axis="x", length=0)
    grid_along(axes, "y")
    axes.set_xlabel("layer (0: word vectors)")
    axes.set_ylabel("weight")
    axes.set_title(f"centre of gravity {number(centre)}", color=colour("ink"))
    key_below(
        figure,
        [
            ("centre of gravity", swatch(colour("model"), "|", size=9)),
            ("all layers the same", swatch(colour("soft"), "_", size=9)),
        ],
    )
    return figure


# Which words moved a prediction: bars along a text.


_MOST = 40
"""Tokens that are drawn; of a longer text those with the longest bars."""
_TOKEN_HEIGHT = 0.19
"""Height of a token in inches."""


@themed
def fig_contributions(
    parts: Mapping[str, Sequence[tuple[str, float]]],
    *,
    probabilities: Mapping[str, float] | None = None,
) -> Figure:
    """Draw what each token of a text adds to the logits of some labels.

    Parameters
    ----------
    parts
        Label to the tokens of the text in order, with what each adds; the same tokens for all.
    probabilities
        Of the labels, written beside their names.

    Examples
    --------
    >>> figure = fig_contributions({"joy": [("so", 0.2), ("happy", 4.1), ("not", -1.0)]})
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['so', 'happy', 'not']
    """
    first = next(iter(parts.values()), ())
    strength = [max(abs(own[row][1]) for own in parts.values()) for row in range(len(first))]
    strongest = sorted(range(len(first)), key=lambda row: -strength[row])[:_MOST]
    kept = sorted(strongest)
    reach = max((strength[row] for row in kept), default=1.0) or 1.0
    figure = canvas(
        0.55 + _TOKEN_HEIGHT * max(len(kept), 1), WIDTH if len(parts) > 1 else WIDTH / 2
    )
    names = [shown(first[row][0], 18) for row in kept]
    for place, (label, own) in enumerate(parts.items()):
        axes = figure.add_subplot(1, max(len(parts), 1), place + 1)
        _bars(axes, [own[row][1] for row in kept], reach)
        axes.set_yticks(range(len(kept)), names if place == 0 else [""] * len(kept))
        certain = "" if probabilities is None else f"  p = {number(probabilities[label])}"
        axes.set_title(f"{shown(label, 20)}{certain}", fontweight="bold", color=colour("ink"))
    return figure


def _bars(axes: Axes, values: Sequence[float], reach: float) -> None:
    """Draw one bar per token, up to the right, down to the left, with its number."""
    tints = [colour("people") if value > 0 else colour("model") for value in values]
    axes.barh(range(len(values)), values, color=tints, height=0.78, alpha=0.75)
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    for row, value in enumerate(values):
        if abs(value) >= 0.05 * reach:
            axes.annotate(
                number(value),
                (value, row),
                xytext=(3 if value > 0 else -3, 0),
                textcoords="offset points",
                va="center",
                ha="left" if value > 0 else "right",
                fontsize=7,
                color=colour("soft"),
            )
    axes.set_xlim(-1.35 * reach, 1.35 * reach)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.tick_params(length=0)
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)

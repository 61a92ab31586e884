"""Trained models: pseudo-labels, transfer, layers, and the words behind a prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import CYCLE, colour
from affectlab.core.tables import Table
from affectlab.core.types import Artist, Axes, Bools, Floats, pl
from affectlab.core.words import number, shown

_HUES = (*CYCLE, "accent")
_DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))
_POINTS = (0, (2, 3))


def draw_epochs(ax: Axes, table: Table, *, values: Mapping[str, str]) -> None:
    """Draw what training reached over epochs, a line for each run, a panel for each value.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``run``, ``epoch`` and values, a row for each entry of the histories of runs (see
        :attr:`~affectlab.models.semi.run.SemiRun.history`); an epoch without a value leaves a
        gap, and runs without any are left out. A column ``switched`` says from where on the loss
        on labelled examples was another.
    values
        Columns of the values in [0, 1], with what to call them: ``threshold`` of confidence,
        ``utilisation`` of unlabelled examples (their mean weight), or ``pseudo_accuracy``,
        ``pseudo_ecc`` and ``pseudo_emc`` of pseudo-labels.

    Raises
    ------
    InputError
        When no run has a value, or there are more than can be told apart.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"run": ["emc"] * 2, "epoch": [1, 2], "threshold": [0.9, 0.8]}
    >>> page = draw_figure("epochs", data, values={"threshold": "threshold of confidence"})
    >>> page.axes[0].get_ylabel()
    'threshold of confidence'
    """
    names = [name for name in values if name in table.frame.columns]
    runs = {
        str(name): own
        for (name,), own in table.frame.group_by("run", maintain_order=True)
        if any(own[column].count() for column in names)
    }
    if not runs:
        raise InputError(f"no history has {next(iter(values))!r}; expected a run that has it")
    most = len(_HUES) * len(_DASHES)
    if len(runs) > most:
        raise InputError(f"{len(runs)} runs; expected {most} at most, to be told apart")
    alone = len(values) == 1
    drawing.fit(ax, 3.0 if alone else 2.8, drawing.WIDTH * (0.75 if alone else 1))
    panels = drawing.split(ax, 1, len(values), sharey=True, sharex=True)[0]
    for axes, (name, title) in zip(panels, values.items(), strict=True):
        _lines(axes, runs, name)
        axes.set_xlabel("epoch")
        if alone:
            axes.set_ylabel(title)
        else:
            axes.set_title(title, fontweight="bold", color=colour("ink"))
    entries: list[tuple[str, Artist]] = [
        (run, _line(**_style(place))) for place, run in enumerate(runs)
    ]
    if any(map(_switched, runs.values())):
        mark = _line(color=colour("soft"), linewidth=0.8, linestyle=_POINTS)
        entries.append(("another loss on labelled ones from here", mark))
    # As many in each line, so that none stands alone.
    drawing.key_below(ax, entries, columns=-(-len(entries) // -(-len(entries) // 5)))


def _line(**style: Any) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)


def _style(place: int) -> dict[str, Any]:
    return {
        "color": colour(_HUES[place % len(_HUES)]),
        # Of runs that do the same, the dashes of one show the other.
        "linestyle": _DASHES[(place + 2 * (place // len(_HUES))) % len(_DASHES)],
        "linewidth": 1.5,
    }


def _lines(axes: Axes, runs: Mapping[str, pl.DataFrame], name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    last = 1.0
    for place, own in enumerate(runs.values()):
        epochs, values = drawing.columns_of(own, "epoch", name)
        last = max(last, float(epochs.max()))
        finite = np.isfinite(values)
        # A single epoch between gaps would be no line.
        alone = finite & ~_with_neighbour(finite)
        style = _style(place)
        axes.plot(epochs, values, **style)
        axes.plot(epochs[alone], values[alone], "o", markersize=3, color=style["color"])
        if at := _switched(own):
            axes.axvline(at, color=style["color"], linewidth=0.8, linestyle=_POINTS)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlim(1 - 0.02 * last, last * 1.02)
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    drawing.grid_along(axes, "y")


def _with_neighbour(finite: Bools) -> Bools:
    """Say which places have a finite neighbour."""
    found = np.zeros_like(finite)
    found[1:] |= finite[:-1]
    found[:-1] |= finite[1:]
    return found


def _switched(own: pl.DataFrame) -> float:
    """Give the epoch in which the loss changed; 0: in none, or in the first."""
    if "switched" not in own.columns:
        return 0.0
    epochs, switched = drawing.columns_of(own, "epoch", "switched")
    at = np.flatnonzero(switched == 1)
    return float(epochs[at[0]]) if at.size and at[0] else 0.0


_SETUPS = {"baseline": "neutral", "freeze": "model", "nofreeze": "people"}
_OTHERS = ("mixed", "positive", "negative")
_MARKS = ("o", "s", "D", "^", "v")
_APART = 0.09


def draw_transfer(
    ax: Axes, table: Table, *, value_name: str = "macro F1", size_name: str = "training texts"
) -> None:
    """Draw a line for each setup over the sizes of the training part, with intervals.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``setup``, ``size``, ``value``, ``low`` and ``high``, as
        :meth:`affectlab.recipes.goemotions.transfer.Transfer.estimates` gives them: a row for each
        setup and size, the sizes of every setup in one order.
    value_name, size_name
        What the axes show.

    Raises
    ------
    InputError
        When there is no setup, or one has not every size.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"setup": ["baseline"] * 2, "size": ["100", "80 %"], "value": [0.2, 0.6],
    ...         "low": [0.1, 0.5], "high": [0.3, 0.7]}
    >>> page = draw_figure("transfer", data)
    >>> [tick.get_text() for tick in page.axes[0].get_xticklabels()]
    ['100', '80 %']
    """
    setups, sizes = (
        table.frame[name].unique(maintain_order=True).to_list() for name in ("setup", "size")
    )
    if not setups or table.frame.height != len(setups) * len(sizes):
        raise InputError(
            f"{table.frame.height} values of {len(setups)} setups and {len(sizes)} sizes; expected "
            "one of each, and one setup at least"
        )
    drawing.fit(ax, 3.2, min(drawing.WIDTH, 2.2 + 1.0 * len(sizes)))
    key = []
    for place, name in enumerate(setups):
        value, low, high = drawing.columns_of(
            table.frame.filter(setup=name), "value", "low", "high"
        )
        tint = colour(_SETUPS.get(name, _OTHERS[place % len(_OTHERS)]))
        mark = _MARKS[place % len(_MARKS)]
        # Beside each other, so that intervals of the same size can be told apart.
        at = np.arange(len(sizes)) + _APART * (place - (len(setups) - 1) / 2)
        ax.plot(at, value, color=tint, linewidth=1.2, alpha=0.7)
        drawing.dots(ax, at, value, low, high, tint, upright=True, marker=mark)
        key.append((name, swatch(tint, mark)))
    ax.set_xticks(range(len(sizes)), [shown(size, 12) for size in sizes])
    ax.set_xlim(-0.5, len(sizes) - 0.5)
    bottom, top = ax.get_ylim()
    ax.set_ylim(max(0.0, bottom), min(1.0, top) if top > 1 else top)
    drawing.grid_along(ax, "y")
    ax.set_xlabel(size_name)
    ax.set_ylabel(value_name)
    drawing.key_below(ax, key)


def draw_layers(ax: Axes, table: Table) -> None:
    """Draw the weight of each layer in a scalar mix, and the centre of gravity.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``weight`` of each layer from that of word vectors (0) on, and its range over runs,
        ``low`` and ``high``; weights sum to 1. See
        :meth:`~affectlab.models.text.encoders.probe.LayerProbe.to_frame`.

    Raises
    ------
    InputError
        When the weights are not shares.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> weights = [0.2, 0.3, 0.5]
    >>> page = draw_figure("layers", {"weight": weights, "low": weights, "high": weights})
    >>> page.axes[0].get_title(loc="left")
    'centre of gravity 1.30'
    """
    weight, low, high = drawing.columns_of(table.frame, "weight", "low", "high")
    if not weight.size or (weight < 0).any() or not np.isclose(weight.sum(), 1.0, atol=1e-4):
        raise InputError("weights are negative or do not sum to 1; expected shares")
    n = weight.size
    places: Floats = np.arange(n, dtype=np.float64)
    centre = float(weight @ places)
    drawing.fit(ax, 2.7, min(drawing.WIDTH, 1.6 + 0.42 * n))
    ax.bar(places, weight, width=0.72, color=colour("people"), alpha=0.85)
    ax.vlines(places, low, high, colors=colour("ink"), linewidth=1.1)
    ax.axhline(1 / n, color=colour("soft"), linewidth=0.9, linestyle=(0, (4, 3)))
    ax.axvline(centre, color=colour("model"), linewidth=1.4)
    ax.set_xticks(places, [str(k) for k in range(n)])
    ax.set_xlim(-0.6, n - 0.4)
    ax.set_ylim(0, 1.1 * max(float(high.max()), 1 / n))
    ax.tick_params(axis="x", length=0)
    drawing.grid_along(ax, "y")
    ax.set_xlabel("layer (0: word vectors)")
    ax.set_ylabel("weight")
    ax.set_title(f"centre of gravity {number(centre)}", color=colour("ink"))
    key = [
        ("centre of gravity", swatch("model", "|", size=9)),
        ("all layers the same", swatch("soft", "_", size=9)),
    ]
    drawing.key_below(ax, key)


_MOST = 40
"""Tokens that are drawn; of a longer text those with the longest bars."""
_MOST_LABELS = 4
"""Labels that are drawn side by side."""
_PARTS, _NUMBER = 5.4, 0.34
"""Width of all panels beside the tokens, and of a number, in inches."""
_TOKEN_HEIGHT = 0.19
"""Height of a token in inches."""


def draw_contributions(
    ax: Axes,
    table: Table,
    *,
    labels: Sequence[str],
    probabilities: Mapping[str, float] | None = None,
) -> None:
    """Draw what each token of a text adds to the logits of some labels, as bars along the text.

    Parameters
    ----------
    ax
        Axes of a grid, in whose place the panels stand.
    table
        Holds ``token``, the tokens of a text in order, and a column for each label: what each adds.
    labels
        The labels that are drawn.
    probabilities
        Of the labels, written beside their names.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"token": ["so", "happy", "not"], "joy": [0.2, 4.1, -1.0]}
    >>> page = draw_figure("contributions", data, labels=["joy"])
    >>> [text.get_text() for text in page.axes[0].get_yticklabels()]
    ['so', 'happy', 'not']
    """
    parts = np.stack(drawing.columns_of(table.frame, *labels), axis=1)
    fits, said = drawing.first_of(len(labels), "labels", most=_MOST_LABELS)
    labels, parts = labels[:fits], parts[:, :fits]
    strength = np.abs(parts).max(axis=1, initial=0.0)
    longest = np.sort(np.argsort(-strength, kind="stable")[:_MOST])
    reach = float(strength[longest].max(initial=0.0)) or 1.0
    height = 0.55 + (0.17 if probabilities else 0) + _TOKEN_HEIGHT * max(longest.size, 1)
    drawing.fit(ax, height, drawing.WIDTH if len(labels) > 1 else drawing.WIDTH / 2)
    # A text says a word more than once, so tokens need not be distinct.
    names = [shown(token, 18) for token in table.frame["token"][longest]]
    panels = drawing.split(ax, 1, len(labels))[0]
    short = drawing.short_names(labels, int(_PARTS / len(labels) / drawing.width_of("n", 9.5)))
    for place, (axes, label) in enumerate(zip(panels, labels, strict=True)):
        _bars(axes, parts[longest, place].tolist(), reach, 0.5 * _PARTS / len(labels))
        axes.set_yticks(range(longest.size), names if place == 0 else [""] * longest.size)
        certain = "" if probabilities is None else f"\np = {number(probabilities[label])}"
        title = f"{short[place]}{certain}"
        axes.set_title(title, fontweight="bold", color=colour("ink"))
    if longest.size < strength.size:
        tokens = f"{longest.size} of {strength.size:,} tokens, those that add most"
        said = f"{said}; {tokens}" if said else tokens
    if said:
        drawing.say_below(ax, said)


def _bars(axes: Axes, values: Sequence[float], reach: float, room: float) -> None:
    """Draw one bar per token, up to the right, down to the left, with its number.

    To either side there is so much room, in inches.
    """
    tints = [colour("people") if value > 0 else colour("model") for value in values]
    axes.barh(range(len(values)), values, color=tints, height=0.78, alpha=0.75)
    axes.axvline(0, color=colour("soft"), linewidth=0.8)
    for row, value in enumerate(values):
        if abs(value) >= 0.05 * reach:
            drawing.write(
                axes,
                number(value),
                (value, row),
                (3 if value > 0 else -3, 0),
                va="center",
                ha="left" if value > 0 else "right",
                fontsize=7,
            )
    most = reach * room / max(room - _NUMBER, 0.3 * room)
    axes.set_xlim(-most, most)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.tick_params(length=0)
    axes.set_xticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)

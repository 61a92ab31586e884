"""Models on the range of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Figure
from affectlab._words import shown
from affectlab.report._figures._base import canvas, grid_along, key_below, swatch
from affectlab.report._theme import colour, themed

__all__ = ["fig_people_range"]


@themed
def fig_people_range(
    people: Mapping[str, ArrayLike],
    models: Mapping[str, ArrayLike],
    model_names: Sequence[str],
) -> Figure:
    """Draw, for each measure, every person compared with the others, and each model below.

    Parameters
    ----------
    people
        Measure to its values for each person left out, shape (people,).
    models
        Measure to its values, shape (models,).
    model_names
        Names of the models.

    Examples
    --------
    >>> figure = fig_people_range({"kappa": [0.4, 0.6]}, {"kappa": [0.5]}, ["m"])
    >>> len(figure.axes)
    1
    """
    figure = canvas(1.15 + 0.24 * (len(model_names) + 1))
    panels = figure.subplots(1, len(people), squeeze=False, sharey=True)[0]
    for axes, measure in zip(panels, people, strict=True):
        person = np.asarray(people[measure], dtype=np.float64)
        person = np.sort(person[np.isfinite(person)])
        value = np.asarray(models[measure], dtype=np.float64)
        if person.size:
            axes.axvspan(person[0], person[-1], color=colour("people"), alpha=0.13, linewidth=0)
            axes.axvline(np.median(person), color=colour("people"), linewidth=1.2)
            spread = (np.arange(person.size) * 0.618034) % 1 - 0.5
            axes.scatter(
                person, 0.5 * spread, s=16, color=colour("people"), alpha=0.75, linewidths=0
            )
        rows = np.arange(1, value.size + 1)
        axes.scatter(value, rows, marker="D", s=26, color=colour("model"), linewidths=0, zorder=3)
        for row in rows[np.isnan(value)]:
            axes.annotate(
                "not defined",
                (0.02, row),
                xycoords=("axes fraction", "data"),
                va="center",
                color=colour("soft"),
                fontsize=8,
                style="italic",
            )
        axes.set_title(measure, color=colour("ink"))
        grid_along(axes, "x")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.08)
    panels[0].set_yticks(
        range(len(model_names) + 1), ["people", *(shown(name, 26) for name in model_names)]
    )
    panels[0].set_ylim(len(model_names) + 0.5, -0.5)
    key_below(
        figure,
        [
            ("a person against the other people", swatch(colour("people"), "o", size=4)),
            ("a model against people", swatch(colour("model"), "D", size=5)),
        ],
    )
    return figure

"""Models beside people: equivalence, the range of people, and discrepancies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from affectlab.core.render import drawing
from affectlab.core.render.drawing import swatch
from affectlab.core.render.theme import CYCLE, colour
from affectlab.core.tables import Table
from affectlab.core.types import Artist, Axes, Floats, Line2D


def draw_people_range(
    ax: Axes,
    table: Table,
    *,
    value: str | Mapping[str, str],
    value_name: str = "",
    width: float = drawing.WIDTH,
) -> None:
    """Draw every person compared with the others, and each model below.

    Parameters
    ----------
    ax
        Axes to draw on; several measures stand beside each other in their place.
    table
        Holds a row for each model and person, with ``rater``, ``rater_kind`` and the measures.
    value
        Column of the measure; or the columns of several, with their titles.
    value_name
        What the axis of one measure shows.
    width
        Width in inches.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"rater": ["m", "p"], "rater_kind": ["model", "person"], "kappa": [0.5, 0.4]}
    >>> page = draw_figure("people_range", data, value="kappa", value_name="kappa")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['people', 'm']
    """
    is_person = table.frame["rater_kind"] == "person"
    people, models = table.frame.filter(is_person), table.frame.filter(~is_person)
    n, value_name = drawing.first_of(models.height, "models", value_name)
    models = models.head(n)
    measures = {value: ""} if isinstance(value, str) else value
    panels = [ax] if isinstance(value, str) else drawing.split(ax, 1, len(measures), sharey=True)[0]
    drawing.fit(ax, 1.15 + 0.24 * (models.height + 1), width)
    for axes, (name, title) in zip(panels, measures.items(), strict=True):
        (person,), (model,) = drawing.columns_of(people, name), drawing.columns_of(models, name)
        _range(axes, np.sort(person[np.isfinite(person)]), model)
        axes.set_title(title, color=colour("ink"))
    drawing.names_on_y(panels[0], ["people", *models["rater"]], limit=26)
    panels[0].set_ylim(models.height + 0.5, -0.5)
    panels[0].set_xlabel(value_name)
    drawing.key_below(
        ax,
        [
            (
                "a person against the other people",
                swatch("people", "o", size=4),
            ),
            ("a model against people", swatch("model", "D", size=5)),
        ],
    )


def _range(axes: Axes, person: Floats, model: Floats) -> None:
    if person.size:
        drawing.range_of_people(axes, person)
        at = 0.5 * drawing.spread(person.size)
        axes.scatter(person, at, s=16, color=colour("people"), alpha=0.75, linewidths=0)
    rows = np.arange(1, model.size + 1)
    axes.scatter(model, rows, marker="D", s=26, color=colour("model"), linewidths=0, zorder=3)
    for row in rows[np.isnan(model)]:
        drawing.say(axes, row)
    drawing.grid_along(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.08)


_SEPARATE = 3
"""Models up to which discrepancies are drawn as dots."""


def draw_discrepancies(ax: Axes, table: Table, *, value_name: str = "people less model") -> None:
    """Draw by how much people rate each label higher than each model.

    Up to three models are dots with intervals, more are the columns of a heatmap. Of more than 40
    labels those with the largest differences are drawn, and the axis says so.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``label``, ``value``, ``low`` and ``high``, a row per model and label.
    value_name
        What the axis shows.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> none = [float("nan")] * 2
    >>> data = {"rater": ["m", "m"], "label": ["joy", "awe"], "value": [0.2, -0.4],
    ...         "low": none, "high": none}
    >>> page = draw_figure("discrepancies", data)
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['joy', 'awe']
    """
    models = table.frame["rater"].unique(maintain_order=True).to_list()
    labels = table.frame["label"].unique(maintain_order=True).to_list()
    value, low, high = (
        column.reshape(len(models), len(labels))[: drawing.MOST_ROWS]
        for column in drawing.columns_of(table.frame, "value", "low", "high")
    )
    size = np.abs(np.nan_to_num(value)).max(axis=0)
    largest = np.sort(np.argsort(-size, kind="stable")[: drawing.MOST_ROWS])
    if largest.size < len(labels):
        value_name += f" ({largest.size} of {len(labels)} labels, with the largest differences)"
    order = largest[np.argsort(-np.nan_to_num(value[:, largest]).mean(axis=0), kind="stable")]
    n, value_name = drawing.first_of(len(models), "models", value_name)
    models, names = models[:n], [labels[k] for k in order]
    value, low, high = value[:, order], low[:, order], high[:, order]
    if len(models) > _SEPARATE:
        drawing.fit(ax, 1.9 + 0.2 * len(names))
        most = float(np.abs(value[np.isfinite(value)]).max(initial=0.0)) or 1.0
        mesh = drawing.cells(ax, value.T, *drawing.diverging(-most, most), size=7, most=10)
        drawing.name_cells(ax, names, models, size=8)
        drawing.colour_bar(mesh, value_name, ax=ax)
        return
    drawing.fit(ax, 1.0 + (0.16 + 0.07 * len(models)) * len(names))
    ax.axvline(0, color=colour("soft"), linewidth=0.9)
    entries = []
    for k, name in enumerate(models):
        tint, marker = colour(("model", "mixed", "positive")[k]), ("D", "o", "s")[k]
        rows = np.arange(len(names)) + (k - (len(models) - 1) / 2) * 0.24
        ax.hlines(rows, low[k], high[k], colors=tint, linewidth=1.5, alpha=0.6)
        ax.scatter(value[k], rows, s=20, color=tint, marker=marker, linewidths=0, zorder=3)
        entries.append((name, swatch(tint, marker, size=5)))
    drawing.names_on_y(ax, names, value_name)
    for row in np.flatnonzero(np.isnan(value).all(axis=0)):
        drawing.say(ax, int(row))
    drawing.key_below(ax, entries)


_VERDICTS = {
    "inside": ("positive", "inside"),
    "above": ("people", "above"),
    "below": ("negative", "below"),
    "not shown": ("neutral", "not shown"),
    "undefined": ("neutral", "not shown"),
}


def draw_equivalence(
    ax: Axes,
    table: Table,
    *,
    margin: float,
    value_name: str,
    inner_name: str = "the interval that decides",
) -> None:
    """Draw the difference of each model from people, on the margin that does not matter.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``verdict`` (``inside``, ``below``, ``above``, ``not shown`` or
        ``undefined``), ``difference``, ``low``, ``high``, and perhaps ``test_low`` and
        ``test_high``: the narrower interval that decides, which is drawn thick on the other.
    margin
        Half the width of the band around 0.
    value_name
        What the axis shows.
    inner_name
        What the narrower interval is called in the key.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"rater": ["m"], "verdict": ["inside"], "difference": [0.01], "low": [-0.02],
    ...         "high": [0.04]}
    >>> page = draw_figure("equivalence", data, margin=0.05, value_name="difference of kappa")
    >>> [text.get_text() for text in page.axes[0].get_yticklabels()]
    ['m']
    """
    decides = "test_low" in table.frame.columns
    order, value_name = drawing.ends_of(
        drawing.columns_of(table.frame, "difference")[0], value_name
    )
    frame = table.frame[order]
    names = ("difference", "low", "high", *(("test_low", "test_high") if decides else ()))
    point, lower, upper, *inner = drawing.columns_of(frame, *names)
    verdicts = [_VERDICTS[verdict] for verdict in frame["verdict"]]
    drawing.fit(ax, 1.05 + 0.27 * frame.height)
    ax.axvspan(-margin, margin, color=colour("people"), alpha=0.13, linewidth=0)
    ax.axvline(0, color=colour("people"), linewidth=1.2)
    tints = [colour(role) for role, _ in verdicts]
    rows = np.arange(frame.height)
    ax.hlines(rows, lower, upper, colors=tints, linewidth=1.2 if decides else 1.8)
    if decides:
        ax.hlines(rows, inner[0], inner[1], colors=tints, linewidth=3.6)
    ax.scatter(point, rows, c=tints, s=30, zorder=3, marker="D", linewidths=0)
    drawing.names_on_y(ax, frame["rater"].to_list(), value_name)
    ax.set_xlim(*_ends(point, lower, upper, np.array([-1.3 * margin, 1.3 * margin])))
    for row in rows[np.isnan(point)]:
        drawing.say(ax, row)
    entries = [(words, swatch(role, "D", size=5)) for role, words in dict.fromkeys(verdicts)]
    entries.append((f"margin of ±{margin:g}", _band()))
    if decides:
        entries.append((inner_name, swatch("soft", "_", size=11)))
        entries[-1][1].set_markeredgewidth(3.6)
    drawing.key_below(ax, entries)


def _band() -> Line2D:
    """Make a marker that looks as the band of people does, on light and on dark paper."""
    mark = swatch("people")
    mark.set_alpha(0.13)
    mark.set_markeredgewidth(0)
    return mark


def _ends(*values: Floats) -> tuple[float, float]:
    known = np.concatenate(values)
    known = known[np.isfinite(known)]
    low, high = float(known.min()), float(known.max())
    room = 0.04 * ((high - low) or 1.0)
    return (low - room if low < 0 else low), high + room


_ROLES = tuple(role for role in CYCLE if role != "people")
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")


def draw_agreement_bars(
    ax: Axes,
    table: Table,
    *,
    value_name: str,
    families: Sequence[str] | None = None,
    people: Sequence[float] = (),
) -> None:
    """Draw a bar with its interval per model, sorted; families differ in colour and pattern.

    Parameters
    ----------
    ax
        Axes to draw on.
    table
        Holds ``rater``, ``value``, ``low`` and ``high``, a row per model.
    value_name
        What the axis shows.
    families
        Family of each model.
    people
        The values of people on the same axis: drawn as a band with their median.

    Examples
    --------
    >>> from affectlab.report import draw_figure
    >>> data = {"rater": ["a", "b"], "value": [0.2, 0.5], "low": [0.1, 0.4], "high": [0.3, 0.6]}
    >>> page = draw_figure("agreement_bars", data, value_name="Spearman")
    >>> [tick.get_text() for tick in page.axes[0].get_yticklabels()]
    ['b', 'a']
    """
    from matplotlib.patches import Patch

    frame = table.frame
    point, lower, upper = drawing.columns_of(frame, "value", "low", "high")
    person: Floats = np.asarray(people, dtype=np.float64)
    person = person[np.isfinite(person)]
    order, value_name = drawing.ends_of(point, value_name)
    drawing.fit(ax, 0.85 + 0.24 * order.size + (0.3 if families or person.size else 0))
    entries: list[tuple[str, Artist]] = []
    if person.size:
        drawing.range_of_people(ax, person)
        entries.append(("range and median of people", _band()))

    def look(which: int) -> dict[str, Any]:
        return {
            "facecolor": colour(_ROLES[which % len(_ROLES)]),
            "hatch": _HATCHES[which % len(_HATCHES)],
            "edgecolor": colour("paper"),
            "linewidth": 0,
        }

    kinds = list(dict.fromkeys(families or ()))
    for row, k in enumerate(order.tolist()):
        if np.isnan(point[k]):
            drawing.say(ax, row)
            continue
        ax.barh(row, point[k], height=0.66, **look(kinds.index(families[k]) if families else 0))
        ax.hlines(row, lower[k], upper[k], color=colour("ink"), linewidth=1.3)
    drawing.names_on_y(ax, [frame["rater"][k] for k in order.tolist()], value_name)
    ax.axvline(0, color=colour("soft"), linewidth=0.8)
    ax.set_xlim(*_ends(np.zeros(1), point, lower, upper, person))
    entries += [(kind, Patch(**look(which))) for which, kind in enumerate(kinds)]
    drawing.key_below(ax, entries, columns=min(len(entries), 3))

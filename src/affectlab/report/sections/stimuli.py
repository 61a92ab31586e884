"""A contact sheet of the stimuli, where their pictures can be found."""

from __future__ import annotations

import numpy as np
import polars as pl

from affectlab.core.words import number, shown
from affectlab.report import wording
from affectlab.report.images import thumbnail
from affectlab.report.page import Gallery, Paragraph, Section, Skipped, Thumbnail
from affectlab.report.statistics import Study

_MOST_SHOWN = 12
_MOST_TRIED = 60
_PERSONAL = ("expression", "emotion", "age", "gender", "ethnicity", "intensity")


def stimuli_section(study: Study) -> Section | Skipped:
    """Up to twelve stimuli, drawn at random."""
    title = "A look at the stimuli"
    stimuli = study.ratings.stimuli.sort("stimulus")
    order = np.random.default_rng(study.seed).permutation(stimuli.height).tolist()
    found: list[Thumbnail] = []
    broken: list[str] = []
    tops: dict[str, str] | None = None
    for row in order[:_MOST_TRIED]:
        attributes = stimuli.row(row, named=True)
        name = str(attributes["stimulus"])
        path = study.picture_of(name)
        if path is None:
            continue
        picture = thumbnail(path)
        if picture is None:
            broken.append(name)
            continue
        if tops is None:
            tops = _top_labels(study)
        known = [
            f"{key} {_short(attributes[key])}"
            for key in _PERSONAL
            if attributes.get(key) is not None
        ]
        top = tops.get(name, "")
        words = ", ".join(known)
        description = f"Stimulus {shown(name, 60)}" + (f": {words}" if words else "") + "."
        if top:
            description += f" Highest mean answer: {top}."
        found.append(Thumbnail(*picture, shown(name, 40), description, top))
        if len(found) == _MOST_SHOWN:
            break
    if not found:
        folder = study.images.name if study.images is not None else ""
        return Skipped(title, wording.no_pictures(len(broken), folder))
    found.sort(key=lambda item: item.name)
    text = wording.sample(len(found), stimuli.height, broken)
    caption = wording.gallery_caption(with_label=bool(tops))
    return Section("stimuli", title, (Paragraph(text), Gallery(caption, tuple(found))))


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else shown(value, 40)


def _top_labels(study: Study) -> dict[str, str]:
    """Label with the highest mean answer of each stimulus: "joy 5.2"."""
    panel = study.people or study.numeric
    if panel is None or panel.scale.kind == "nominal":
        return {}
    coded = pl.DataFrame(
        {"stimulus": panel.stimulus_code, "label": panel.label_code, "value": panel.value}
    )
    means = coded.group_by("stimulus", "label", maintain_order=True).agg(pl.col("value").mean())
    best = (
        means.sort(["value", "label"], descending=[True, False])
        .group_by("stimulus", maintain_order=True)
        .first()
    )
    names, labels = panel.stimulus_names, panel.label_names
    return {
        names[stimulus]: f"{labels[label]} {number(value, 1)}"
        for stimulus, label, value in best.iter_rows()
    }

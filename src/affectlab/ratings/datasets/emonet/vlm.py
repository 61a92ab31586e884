"""Answers of vision-language models as the authors of EmoNet-Face stored them."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, json_lines, refuse_layout, shown
from affectlab.ratings.datasets.emonet.labels import IntensityRows, intensity_scale
from affectlab.ratings.files import Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import load_taxonomy

__all__ = ["FORMAT"]

_NAME = "emonet-face-vlm"


def _sniff(peek: Peek) -> bool:
    first: Any = peek.first_object
    if first is None and peek.starts_with_json():
        try:
            first, _ = json.JSONDecoder().raw_decode(peek.text.lstrip().removeprefix("[").lstrip())
        except (ValueError, RecursionError):
            return False
    if not isinstance(first, dict) or set(first) != {"key", "value"}:
        return False
    value = first["value"]
    named = isinstance(value, dict) and bool(value) and all("|" in name for name in value)
    return named and _key(first["key"]) is not None


def _key(found: Any) -> tuple[str, str, str] | None:
    """Project, model and image of an answer."""
    if isinstance(found, list) and len(found) == 3 and all(isinstance(x, str) for x in found):
        return found[0], found[1], found[2]
    return None


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    taxonomy = load_taxonomy("emonet_face")
    rejects = Rejects(peek.path, options.on_bad)
    rows = IntensityRows(taxonomy, rejects)
    keys: list[tuple[str, str, str]] = []
    places: list[str] = []
    for place, found in _answers(peek, rejects):
        key = _key(found.get("key")) if isinstance(found, dict) else None
        value = found.get("value") if isinstance(found, dict) else None
        if key is None or not isinstance(value, dict):
            rejects.reject(
                place,
                "no key and value",
                f"{shown(found)} is no answer; expected a key (project, model, image) and a value "
                "(emotions and numbers)",
            )
            continue
        rows.add(len(keys), value, place)
        keys.append(key)
        places.append(place)
    if not rows.value:
        raise InputError(f"{peek.path} holds no rating; expected emotions under 'value'")
    steps = rows.rate_unnamed() if options.absent == "zero" else ()
    project, model, image = zip(*keys, strict=True)
    columns = {
        "stimulus": pl.Series(image).gather(rows.entry),
        "rater": pl.Series(model).gather(rows.entry),
        "label": pl.Series(rows.label, dtype=pl.Categorical),
        "value": pl.Series(rows.value),
        "project": pl.Series(project).gather(rows.entry),
    }
    models = list(dict.fromkeys(model))
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, {places[rows.entry[row]]} ({rows.label[row]})",
        scale=intensity_scale(rows.value),
        taxonomy=taxonomy,
        raters=pl.DataFrame({"rater": models, "rater_kind": ["model"] * len(models)}),
        set_aside=rejects.set_aside,
        history=steps,
        unit="cell",
    )


def _answers(peek: Peek, rejects: Rejects) -> list[tuple[str, Any]]:
    """Answers with their places: one object, a list of objects, or one object per line."""
    if peek.first_object is None:
        content = peek.load_json()
        if not isinstance(content, list):
            return [("key 'value'", content)]
        return [(f"entry {number}", found) for number, found in enumerate(content, start=1)]
    return list(json_lines(peek, rejects))


FORMAT = Format(
    name=_NAME,
    title="answers of vision-language models on EmoNet-Face (JSON: key, value)",
    sniff=_sniff,
    read=_read,
    absent="zero",
)

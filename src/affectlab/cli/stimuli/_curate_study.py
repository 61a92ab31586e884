"""The study that asks people about the comments of a pilot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from affectlab.stimuli.curation import CurationPlan

__all__ = ["write_pilot_study"]

_NAME = "pilot"
_TRIALS = 50
_ARRANGED = ("sentiment", "directed")
"""Levels by which the labels of GoEmotions are arranged."""


def write_pilot_study(texts: pl.DataFrame, folder: Path, plan: CurationPlan) -> Path:
    """Write a study that asks which emotions the texts of a pilot express.

    Raises
    ------
    InputError
        When a study of other texts, or with another taxonomy, is there already.
    """
    import polars as pl

    from affectlab.core.csv import write_data_csv
    from affectlab.core.errors import InputError
    from affectlab.study import write_template

    study, table = folder / f"{_NAME}.toml", folder / f"{_NAME}-texts.csv"
    asks = _asks(plan.taxonomy)
    if study.exists():
        there = pl.read_csv(table, infer_schema=False) if table.exists() else None
        if there is None or not there.equals(texts):
            raise InputError(
                f"{study} asks about other comments than those drawn now; give its answers with "
                "--pilot-answers, or expected another --out, or the folder moved away"
            )
        return study
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place:
        written = Path(place) / study.name
        write_template(written, "multilabel")
        text = written.read_text(encoding="utf-8")
    change = f"change = {{ {asks}rules = {{ suggestions = true }} }}"
    text = text.replace(
        'name = "multilabel"',
        f'name = "multilabel"\n# A box for labels that are missing.\n{change}',
        1,
    )
    trials = f"trials = {min(_TRIALS, texts.height)}"
    text = re.sub(r"^trials = \d+", trials, text, flags=re.MULTILINE)
    # The study comes last: where it is, its table is, too.
    write_data_csv(texts, table)
    study.write_text(text, encoding="utf-8")
    return study


def _asks(taxonomy: str) -> str:
    """What the study changes of the labels that are asked about."""
    from affectlab.taxonomy import load_taxonomy

    if taxonomy == "goemotions":
        return ""
    known = load_taxonomy(taxonomy)
    place = Path(taxonomy)
    named = str(place.resolve()) if place.is_file() else taxonomy
    levels = [level for level in _ARRANGED if level in known.levels]
    return (
        f"asks = {{ taxonomy = {json.dumps(named, ensure_ascii=False)}, "
        f"group_by = {json.dumps(levels)} }}, "
    )

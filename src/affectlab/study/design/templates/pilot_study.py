"""The study that asks people about the comments of a pilot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.study.design.templates.template import template_text
from affectlab.taxonomy import load_taxonomy

__all__ = ["write_pilot_study"]

_NAME = "pilot"
_TRIALS = 50
_ARRANGED = ("sentiment", "directed")
"""Levels by which the labels of GoEmotions are arranged."""


def write_pilot_study(texts: pl.DataFrame, folder: Path, taxonomy: str = "goemotions") -> Path:
    """Write a study that asks which emotions the texts of a pilot express.

    Parameters
    ----------
    texts
        ``stimulus`` and ``text``, shape (n,).
    folder
        Folder of the study; what is there of the same texts stays.
    taxonomy
        Name or TOML file of the taxonomy of the labels.

    Returns
    -------
    The study file.

    Raises
    ------
    InputError
        When a study of other texts is there already.
    """
    study, table = folder / f"{_NAME}.toml", folder / f"{_NAME}-texts.csv"
    asks = _asks(taxonomy)
    if study.exists():
        there = pl.read_csv(table, infer_schema=False) if table.exists() else None
        if there is None or not there.equals(texts):
            raise InputError(
                f"{study} asks about other comments than those drawn now; give its answers with "
                "--pilot-answers, or expected another --out, or the folder moved away"
            )
        return study
    folder.mkdir(parents=True, exist_ok=True)
    protocol = 'name = "multilabel"'
    change = f"change = {{ {asks}rules = {{ suggestions = true }} }}"
    text = template_text("multilabel", study).replace(
        protocol, f"{protocol}\n# A box for labels that are missing.\n{change}", 1
    )
    trials = f"trials = {min(_TRIALS, texts.height)}"
    # The study comes last: where it is, its table is, too.
    write_data_csv(texts, table)
    study.write_text(re.sub(r"^trials = \d+", trials, text, flags=re.MULTILINE), encoding="utf-8")
    return study


def _asks(taxonomy: str) -> str:
    """What the study changes of the labels that are asked about."""
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

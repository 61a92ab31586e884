"""A pilot that a model or an installed annotator answers; its answers are kept."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["annotated"]


def annotated(name: str, texts: pl.DataFrame, folder: Path, *, resume: bool) -> Ratings:
    """Have texts answered, or read what the same annotator answered to the same texts before."""
    from affectlab.models.text import annotate_texts
    from affectlab.models.text.pilot import PilotPredictor
    from affectlab.ratings import read_ratings

    file, note = folder / "answers.parquet", folder / "answers.annotator.json"
    model = PilotPredictor.of_folder(name).name if Path(name).is_dir() else ""
    told = {
        "annotator": name,
        "model": model,
        "texts": sha256(json.dumps(texts.rows()).encode()).hexdigest(),
    }
    if resume and file.is_file() and note.is_file() and _same(note, told):
        return read_ratings(file)
    answers = annotate_texts(name, texts)
    folder.mkdir(parents=True, exist_ok=True)
    # The note comes last, so that it never speaks of other answers.
    note.unlink(missing_ok=True)
    answers.write(file)
    note.write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return answers


def _same(note: Path, told: dict[str, str]) -> bool:
    try:
        return bool(json.loads(note.read_text(encoding="utf-8")) == told)
    except ValueError:
        return False

"""The data of GoEmotions: which files there are, what is in them, and what is known of whom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Ints
from affectlab.core.words import count, plural
from affectlab.recipes.needs import DataNeed

if TYPE_CHECKING:
    from affectlab.models.text import LabelledTexts
    from affectlab.ratings import Ratings

__all__ = ["EXAMPLES", "KEPT", "NEEDS", "RATERS", "Corpus", "read_corpus", "rows_of"]

EXAMPLES, KEPT, RATERS = 58_009, 54_263, 82
"""Examples, those that two raters agree on, and raters, as Table 2 counts them."""
_NEAR = 0.001
"""The raw files hold all examples if their number is within this share of the printed one."""

_REPOSITORY = "the repository google-research/google-research, folder goemotions"
NEEDS = (
    DataNeed(
        file="train.tsv, dev.tsv",
        what="43,410 and 5,426 comments with the labels that two raters agree on; test.tsv beside "
        "them is read if it is there",
        published=f"{_REPOSITORY}/data",
        licence="CC BY 4.0",
    ),
    DataNeed(
        file="goemotions_1.csv, goemotions_2.csv, goemotions_3.csv",
        what="the answers of 82 raters, for agreement; raw_partial.csv is taken in their place and "
        "gives no verdict",
        published="storage.googleapis.com/gresearch/goemotions/data/full_dataset",
        licence="CC BY 4.0",
    ),
    DataNeed(
        file="emotion_words_table.csv",
        what="the authors' log odds, for Table 3; optional",
        published=f"{_REPOSITORY}/tables, as emotion_words.csv",
        licence="CC BY 4.0",
    ),
    DataNeed(
        file="isear/isear.csv",
        what="7,666 reports of 7 emotions, for transfer; optional",
        published="the Swiss Center for Affective Sciences (Scherer and Wallbott, 1994)",
        licence="the terms of its authors",
    ),
)
_RAW = ("goemotions_1.csv", "goemotions_2.csv", "goemotions_3.csv")
_PARTIAL = "raw_partial.csv"
_WORDS = ("emotion_words_table.csv", "emotion_words.csv", "tables/emotion_words.csv")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Comments with labels, and what there is beside them."""

    train: LabelledTexts
    dev: LabelledTexts
    test: LabelledTexts | None
    raw: Ratings | None
    """Answers of single raters."""
    complete: bool = False
    """Whether `raw` holds all examples and raters of the paper."""
    target: LabelledTexts | None = None
    """Texts of another kind, for transfer."""
    words: Path | None = None
    """The authors' table of words."""
    bert: Path | None = None
    """Folder of a BERT."""
    files: tuple[Path, ...] = ()

    @property
    def kept(self) -> tuple[LabelledTexts, ...]:
        """The splits that are there."""
        return tuple(part for part in (self.train, self.dev, self.test) if part is not None)

    @property
    def raw_doubt(self) -> str:
        """Why figures from single answers have no verdict; empty where there is none."""
        if self.raw is None:
            return "no raw file beside train.tsv"
        if self.complete:
            return ""
        return (
            f"a part of the raw file, {count(self.raw.n_stimuli)} of {count(EXAMPLES)} examples, "
            "not drawn at random"
        )


def rows_of(texts: LabelledTexts, rows: Ints, split: str = "") -> LabelledTexts:
    """Take some of the texts, as a split of its own."""
    chosen = rows.tolist()
    return replace(
        texts,
        texts=tuple(texts.texts[row] for row in chosen),
        targets=texts.targets[rows],
        stimuli=tuple(texts.stimuli[row] for row in chosen),
        split=split or texts.split,
    )


def read_corpus(folder: Path) -> Corpus:
    """Read what is in a folder, or in its subfolder ``goemotions``.

    Raises
    ------
    InputError
        When train or dev is not there; the sentence says where all files are published.
    """
    from affectlab.models.text import read_labelled_texts

    home = next(
        (
            place
            for place in (folder, folder / "goemotions", folder / "data")
            if (place / "train.tsv").is_file() and (place / "dev.tsv").is_file()
        ),
        None,
    )
    if home is None:
        raise InputError(
            f"goemotions: {folder} does not hold train.tsv and dev.tsv; the data is "
            + "; ".join(str(need) for need in NEEDS)
            + "; --simulate runs the recipe without any of it"
        )
    splits = {name: home / f"{name}.tsv" for name in ("train", "dev", "test")}
    texts = {
        name: read_labelled_texts(file, taxonomy="goemotions")
        for name, file in splits.items()
        if file.is_file()
    }
    raw_files = _raw_files(home)
    raw = _read_raw(raw_files)
    complete = raw is not None and (
        abs(raw.n_stimuli / EXAMPLES - 1) <= _NEAR and raw.n_raters == RATERS
    )
    words = _first(home / name for name in (*_WORDS, *(f"../{name}" for name in _WORDS)))
    isear = _first(
        place / name for place in (home, home.parent) for name in ("isear.csv", "isear/isear.csv")
    )
    bert = home / "models" / "bert"
    files = [splits[name] for name in texts] + raw_files
    return Corpus(
        texts["train"],
        texts["dev"],
        texts.get("test"),
        raw,
        complete,
        None
        if isear is None
        else replace(read_labelled_texts(isear, on_bad="set_aside"), source="ISEAR"),
        words,
        bert if (bert / "config.json").is_file() else None,
        (*files, *(file for file in (words, isear) if file is not None)),
    )


def _first(places: object) -> Path | None:
    return next((place for place in places if place.is_file()), None)  # type: ignore[attr-defined]


def _raw_files(home: Path) -> list[Path]:
    for place in (home, home / "full_dataset"):
        parts = [place / name for name in _RAW if (place / name).is_file()]
        if parts:
            return parts
    partial = home / _PARTIAL
    return [partial] if partial.is_file() else []


def _read_raw(files: list[Path]) -> Ratings | None:
    """Read all parts; of an answer that stands in two of them the first counts."""

    from affectlab.ratings import read_ratings

    tables: list[Ratings] = []
    known: set[tuple[str, str]] = set()
    for file in files:
        table = read_ratings(file, format="goemotions-raw")
        answers = table.frame.select("stimulus", "rater")
        pairs = set(answers.unique().rows())
        if known & pairs:
            fresh = np.array([pair not in known for pair in answers.iter_rows()])
            if not fresh.any():
                continue
            table = table.where(fresh, step=f"{file.name}: answers of another part left out")
        known |= pairs
        tables.append(table)
    if not tables:
        return None
    return tables[0].merge(*tables[1:]) if len(tables) > 1 else tables[0]


def told_of_raw(raw: Ratings) -> str:
    """Say how many answers there are, and on how many comments raters can agree."""
    per_comment = np.bincount(raters_of(raw))
    several = int(per_comment[2:].sum())
    three = int(per_comment[3:].sum())
    return (
        f"{plural(raw.n_raters, 'rater')}, {plural(raw.n_stimuli, 'comment')}, {count(several)} of "
        f"them with two raters or more, {count(three)} with three or more"
    )


def raters_of(raw: Ratings) -> Ints:
    """Count the raters of each comment, shape (comments,)."""
    n = raw.n_raters
    pairs = np.unique(raw.stimulus_code.astype(np.int64) * n + raw.rater_code)
    return np.bincount(pairs // n, minlength=raw.n_stimuli).astype(np.int64)

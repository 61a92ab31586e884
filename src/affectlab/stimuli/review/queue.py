"""A study in which people look at pictures, or read comments, before they are used."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.columns import require_columns, require_distinct
from affectlab.core.files.csv import read_table
from affectlab.stimuli.review.decisions import DIGEST

__all__ = ["ReviewKind", "ReviewQueue", "review_queue"]

ReviewKind = Literal["pictures", "comments", "emotions"]
"""What is reviewed."""

_PROTOCOLS = {
    "pictures": "review",
    "comments": "review_comments",
    "emotions": "review_emotions",
}
_CONTENT = {"pictures": "file", "comments": "text", "emotions": "file"}
_ITEMS = {"pictures": "picture", "comments": "comment", "emotions": "picture"}
_TITLES = {
    "pictures": "Are these pictures fit for use?",
    "comments": "Are these comments offensive?",
    "emotions": "Do these pictures evoke a clear emotion?",
}
_CONSENT = {
    "pictures": """
You look at pictures that a program made, and say what is wrong with each of them, if anything. \
Some may be distorted, demeaning or disturbing. You can stop at any time, and withdraw your \
answers on the last page.

We store your answers and how long you took. They decide which pictures are used.
""",
    "comments": """
You read comments that people wrote on the internet, and say whether they are offensive, and why. \
Some are hateful, and may be about people like you. You can stop at any time, and withdraw your \
answers on the last page.

We store your answers and how long you took. They decide which comments are used.
""",
    "emotions": """
You look at pictures, and say whether anything is against asking other people which emotion they \
evoke. Some may be disturbing. You can stop at any time, and withdraw your answers on the last page.

We store your answers and how long you took. They decide which pictures are used.
""",
}
_MOST_TRIALS = 2000
"""Trials that a session of a study can have."""
_BREAK_EVERY = 25
_NAME = re.compile(r"^[a-z0-9][a-z0-9_-]*$")


@dataclass(frozen=True)
class ReviewQueue:
    """A review that waits for people, as :func:`review_queue` writes it."""

    study: Path
    """The study file, which ``affectlab study serve`` opens."""
    table: Path
    """Its stimuli: ``stimulus`` and ``file``, or ``text``; ``sha256`` where the items have it."""
    kind: ReviewKind
    n_items: int
    raters: int
    """Answers that each item is to have."""

    @property
    def item(self) -> str:
        """What an item is: picture or comment."""
        return _ITEMS[self.kind]


def review_queue(
    items: pl.DataFrame | str | Path,
    path: str | Path,
    kind: ReviewKind = "pictures",
    *,
    raters: int = 2,
    images: str | Path | None = None,
    per_session: int = 50,
    name: str = "review",
    title: str = "",
    contact: str = "",
    seed: int = 0,
) -> ReviewQueue:
    """Write a study in which people review pictures or comments.

    Pictures are judged for artefacts, ambiguous expressions, stereotypes and harmful content
    (emonet-face, section 3), comments for being offensive towards an ethnicity, a gender, a sexual
    orientation or a disability (goemotions, section 3.1); pictures about which people are to be
    asked, for evoking no emotion or an ambiguous one (to-err-like-human, user study). All can be
    fine, or have another problem that a note names. Reviewers learn nothing of an item but what
    they look at.

    Parameters
    ----------
    items
        Table with ``stimulus`` (or ``id``) and ``file`` or ``text``, such as the manifest of
        generated pictures. Its ``sha256`` is kept, so that an answer says which picture it is
        about; other columns are left out. A CSV or Parquet file, or a data frame.
    path
        Where the study goes; made when it does not exist.
    kind
        ``"pictures"`` (protocol ``review``), ``"comments"`` (protocol ``review_comments``) or
        ``"emotions"`` (pictures, protocol ``review_emotions``).
    raters
        Answers that each item is to have, from different people.
    images
        Folder that the pictures' files are in. None: that of the table; needed with a data frame.
    per_session
        Items of one session, 1 to 2,000; one person can take as many sessions as all items need.
    name
        Name of the study and of its files: lower case letters, digits, ``-`` and ``_``.
    title, contact
        What reviewers read at the top, and whom they can ask.
    seed
        Order of the items.

    Raises
    ------
    InputError
        When an item has no name, no content, or the name of another; a picture is not there or lies
        outside its folder; there is nothing to review; a number is out of range; or the study is
        there already.

    Examples
    --------
    >>> import tempfile
    >>> said = pl.DataFrame({"id": ["a", "b"], "text": ["One of us.", "One of them."]})
    >>> queue = review_queue(said, tempfile.mkdtemp(), "comments", raters=3)
    >>> queue.study.name, queue.n_items, queue.raters
    ('review.toml', 2, 3)
    """
    check_choice("kind of review", kind, get_args(ReviewKind))
    if raters < 1:
        raise InputError(f"raters = {raters}: expected 1 or more")
    if not 1 <= per_session <= _MOST_TRIALS:
        raise InputError(f"per_session = {per_session}: expected 1 to {_MOST_TRIALS:,}")
    if not _NAME.match(name):
        raise InputError(f"name {name!r}: expected lower case letters, digits, '-' and '_'")
    table = _checked(items, kind)
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file; expected a folder for the review")
    study, listed = path / f"{name}.toml", path / f"{name}.csv"
    for file in (study, listed):
        if file.exists():
            raise InputError(f"{file} is there already; expected a new folder, or another name")
    pictures = _pictures(items, table, images) if _CONTENT[kind] == "file" else None
    path.mkdir(parents=True, exist_ok=True)
    table.write_csv(listed)
    text = _study_text(
        kind,
        name=name,
        title=title or _TITLES[kind],
        contact=contact,
        pictures=None if pictures is None else _relative(pictures, path),
        n=table.height,
        raters=raters,
        per_session=per_session,
        seed=seed,
    )
    study.write_text(text, encoding="utf-8")
    return ReviewQueue(study, listed, kind, table.height, raters)


def _checked(items: pl.DataFrame | str | Path, kind: ReviewKind) -> pl.DataFrame:
    """Give ``stimulus`` and the content of every item, all as text."""
    where = "items" if isinstance(items, pl.DataFrame) else str(items)
    table = (
        items
        if isinstance(items, pl.DataFrame)
        else read_table(items, f"{_ITEMS[kind]}s to review")
    )
    if "stimulus" not in table.columns and "id" in table.columns:
        table = table.rename({"id": "stimulus"})
    content = _CONTENT[kind]
    require_columns(table, ("stimulus", content), f"{where}: ")
    digest = [DIGEST] if DIGEST in table.columns else []
    table = table.select(pl.col("stimulus", content, *digest).cast(pl.String))
    if not table.height:
        raise InputError(f"{where}: there is nothing to review; expected at least one row")
    for row, (stimulus, told, *_) in enumerate(table.iter_rows(), start=1):
        if not (stimulus or "").strip():
            raise InputError(f"{where}, row {row}: stimulus is empty; expected a name")
        if not (told or "").strip():
            raise InputError(f"{where}, row {row}: {stimulus!r} has no {content}; leave it out")
    require_distinct(table, ["stimulus"], f"{where}: ")
    return table


def _pictures(
    items: pl.DataFrame | str | Path, table: pl.DataFrame, images: str | Path | None
) -> Path:
    """Give the folder of the pictures, after looking that all of them are in it."""
    if images is None:
        if isinstance(items, pl.DataFrame):
            raise InputError("images: expected the folder that the files of the pictures are in")
        images = Path(items).parent
    folder = Path(images)
    inside = folder.resolve()
    for stimulus, file, *_ in table.iter_rows():
        place = (folder / file).resolve()
        if not place.is_relative_to(inside):
            raise InputError(f"{stimulus!r}: file {file!r} lies outside {folder}")
        if not place.is_file():
            raise InputError(f"{stimulus!r}: file {file!r} is not in {folder}")
    return inside


def _relative(pictures: Path, folder: Path) -> str:
    """Path of the pictures as a study file in `folder` names it."""
    try:
        return Path(os.path.relpath(pictures, folder.resolve())).as_posix()
    except ValueError:
        # On Windows there is no way from one drive to another.
        return pictures.as_posix()


def _study_text(
    kind: ReviewKind,
    *,
    name: str,
    title: str,
    contact: str,
    pictures: str | None,
    n: int,
    raters: int,
    per_session: int,
    seed: int,
) -> str:
    trials = min(per_session, n)
    lines = [
        f"# A review of {_ITEMS[kind]}s: what people object to is left out.",
        f"# Look at it:  affectlab study serve {name}.toml",
        f"# Answers:     affectlab study export {name}.toml --out answers",
        "",
        "[study]",
        f"name = {_quoted(name)}",
        f"title = {_quoted(title)}",
        *([f"contact = {_quoted(contact)}"] if contact else []),
        f"seed = {seed}",
        "",
        "[protocol]",
        f"name = {_quoted(_PROTOCOLS[kind])}",
        "",
        "[stimuli]",
        f"table = {_quoted(f'{name}.csv')}",
        *([f"folder = {_quoted(pictures)}"] if pictures is not None else []),
        "",
        "[sessions]",
        f"trials = {trials}",
        f"raters = {raters}",
        "# So that one reviewer can see everything, a session at a time.",
        f"most_per_rater = {math.ceil(n / trials)}",
        *([f"breaks_every = {_BREAK_EVERY}"] if trials > _BREAK_EVERY else []),
        "",
        "[consent]",
        f'text = """{_CONSENT[kind]}"""',
        'on_withdrawal = "drop"',
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Write a TOML string: JSON's escapes are TOML's, except that TOML wants one for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")

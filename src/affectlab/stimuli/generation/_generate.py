"""Making the pictures of prompts: in batches, with a journal, from where an earlier run stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from affectlab._words import file_part, plural, shown
from affectlab.errors import InputError, unknown_name
from affectlab.stimuli.generation._generator import (
    ImageGenerator,
    MakesImages,
    RefusedPictureError,
)
from affectlab.stimuli.generation._load import load_generator
from affectlab.stimuli.generation._manifest import Journal, Manifest, made_from, settings_text
from affectlab.stimuli.generation._pictures import encoded, make_pictures, said
from affectlab.stimuli.generation._prompts import Prompts, prompt_of, prompt_table

__all__ = ["Changed", "generate_images"]

Changed = Literal["refuse", "again", "keep"]
_IMAGES = "images"
_SHOWN = 60
_NAMES = {"generator_version": "version of its generator", "settings": "set of settings"}


def generate_images(
    prompts: Prompts,
    path: str | Path,
    *,
    generator: str | ImageGenerator | MakesImages = "drawn",
    settings: dict[str, Any] | None = None,
    changed: Changed = "refuse",
    patience: int = 20,
    progress: Callable[[str, int, int], None] | None = None,
) -> Manifest:
    """Make a picture of every prompt, and a manifest of them (emonet-face, section 3).

    Pictures are PNG files, written whole or not at all. An interrupted run goes on where it
    stopped, and prompts of which no picture could be made are tried again; pictures that other
    prompts left in the folder stay, and so does a picture that could not be made again. The
    manifest is the table of a study: ``table = "FOLDER/manifest.csv"`` under ``[stimuli]``.

    Parameters
    ----------
    prompts
        What :func:`affectlab.stimuli.face_prompts` made, or a table of prompts; see
        :func:`read_prompts`.
    path
        Where ``manifest.csv``, ``failed.csv`` (what could not be made, with the reason), the
        journal ``images.jsonl`` and the folder ``images`` go; made when it does not exist.
    generator, settings
        See :func:`load_generator`.
    changed
        What to do where the folder has pictures that another prompt, generator, version or setting
        made: ``"refuse"`` to go on, make them ``"again"``, or ``"keep"`` them.
    patience
        Failures in a row after which the run stops; what is left is for the next one.
    progress
        Called with a text, the number of prompts done and that of all.

    Returns
    -------
    Manifest
        All pictures and failures of the folder.

    Raises
    ------
    InputError
        When the prompts or the generator cannot be used; pictures in the folder were made otherwise
        and `changed` is ``"refuse"``; or `patience` is at an end, after all was written down.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.stimuli import face_prompts
    >>> wanted = face_prompts(2, weights={"Awe": 1})
    >>> made = generate_images(wanted, tempfile.mkdtemp(), settings={"size": 64})
    >>> made.images.select("stimulus", "file", "width").row(0)
    ('face-00001', 'images/face-00001.png', 64)
    """
    if changed not in get_args(Changed):
        raise unknown_name("way with changed pictures", str(changed), get_args(Changed))
    if patience < 1:
        raise InputError(f"patience = {patience}: expected 1 or more")
    table = prompt_table(prompts)
    maker = load_generator(generator, **(settings or {}))
    place = Path(path)
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file; expected a folder for the pictures")
    journal = Journal(place)
    rows = table.to_dicts()
    wanted = _wanted(journal, rows, maker, changed)
    todo = {row["stimulus"] for row in wanted}
    (place / _IMAGES).mkdir(parents=True, exist_ok=True)
    journal.settle(row["stimulus"] for row in rows if row["stimulus"] not in todo)
    kept = len(rows) - len(wanted)
    done, made, failures = kept, 0, 0
    try:
        for start in range(0, len(wanted), maker.batch):
            lines = list(_made(journal, wanted[start : start + maker.batch], maker))
            journal.add(lines)
            done += len(lines)
            for line in lines:
                failures = 0 if line["outcome"] == "ok" else failures + 1
                made += line["outcome"] == "ok"
            if progress is not None:
                progress("pictures", done, len(rows))
            if failures >= patience and done < len(rows):
                raise InputError(
                    f"{maker.name} made no picture of {plural(failures, 'prompt')} in a row, of "
                    f"{lines[-1]['stimulus']!r} because: {lines[-1]['problem']}; "
                    f"{len(rows) - done:,} were not tried"
                )
    finally:
        # Interrupted or not, the tables say what there is.
        images, failed = journal.tables(row["stimulus"] for row in rows)
    return Manifest(place, images, failed, n_made=made, n_kept=kept)


def _wanted(
    journal: Journal, rows: list[dict[str, Any]], maker: ImageGenerator, changed: Changed
) -> list[dict[str, Any]]:
    """Choose the prompts of which a picture is to be made."""
    todo, other = [], []
    for row in rows:
        if not journal.holds(row["stimulus"]):
            todo.append(row)
            continue
        before = made_from(journal.rows[row["stimulus"]])
        now = made_from(row | _by(maker))
        differs = [name for name in now if before[name] != now[name]]
        if differs and changed != "keep":
            other.append((row["stimulus"], differs[0], before[differs[0]], now[differs[0]]))
            todo.append(row)
    if other and changed == "refuse":
        stimulus, name, was, now_is = other[0]
        more = f" (and {len(other) - 1:,} more)" if len(other) > 1 else ""
        raise InputError(
            f"{journal.folder}: its picture {stimulus!r}{more} was made from another "
            f"{_NAMES.get(name, name)}, {shown(was, _SHOWN)!r} and not {shown(now_is, _SHOWN)!r}; "
            "expected the prompts and the generator of the earlier run, a new folder, or being "
            "told to make such pictures again or keep them (--again, --keep)"
        )
    return todo


def _made(
    journal: Journal, rows: list[dict[str, Any]], maker: ImageGenerator
) -> Iterator[dict[str, Any]]:
    """Make some pictures, and give what the journal says of each."""
    pictures = make_pictures(maker, [prompt_of(row) for row in rows])
    for row, made in zip(rows, pictures, strict=True):
        line = row | _by(maker)
        picture = encoded(made)
        if isinstance(picture, Exception):
            refused = isinstance(picture, RefusedPictureError)
            line |= {"outcome": "refused" if refused else "failed", "problem": said(picture)}
        else:
            file = f"{_IMAGES}/{file_part(row['stimulus'])}.png"
            line |= {"outcome": "ok", "file": file, "drawn": picture.drawn, "note": picture.note}
            line |= {"sha256": journal.save(file, picture.content), "width": picture.width}
            line |= {"height": picture.height, "bytes": len(picture.content)}
        yield line


def _by(maker: ImageGenerator) -> dict[str, str]:
    """Say who makes a picture, as the columns of the manifest do."""
    return {
        "generator": maker.name,
        "generator_version": maker.version,
        "settings": settings_text(maker),
    }

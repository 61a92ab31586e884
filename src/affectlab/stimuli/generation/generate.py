"""Making the pictures of prompts: in batches, with a journal, from where an earlier run stopped."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Count
from affectlab.core.words import file_part, plural, shown
from affectlab.stimuli.generation.generator import (
    ImageGenerator,
    ImagePrompt,
    Made,
    MakesImages,
    Picture,
    RefusedPictureError,
)
from affectlab.stimuli.generation.load import load_generator
from affectlab.stimuli.generation.manifest import Journal, Manifest, made_from, settings_text
from affectlab.stimuli.generation.prompt_table import Prompts, prompt_of, prompt_table

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "Changed",
    "Encoded",
    "encoded",
    "generate_images",
    "make_pictures",
    "said",
]

# From what a generator gives to the bytes of a PNG file.


def make_pictures(generator: ImageGenerator, batch: Sequence[ImagePrompt]) -> list[Made]:
    """Make the pictures of some prompts; where that fails, an exception stands for the picture.

    A batch that fails as a whole is made one by one, so that one prompt cannot take others along.
    """
    try:
        made = list(generator(batch))
        if len(made) != len(batch):
            raise ValueError(f"gave {len(made)} pictures for {len(batch)} prompts")
    # A generator is anybody's code: whatever it raises is recorded with the prompt.
    except Exception as problem:  # noqa: BLE001
        if len(batch) == 1:
            return [problem]
        return [one for prompt in batch for one in make_pictures(generator, [prompt])]
    return made


@dataclass(frozen=True)
class Encoded:
    """A picture as PNG, and what is said of it."""

    content: bytes
    width: int
    height: int
    drawn: str
    note: str


def encoded(made: Made) -> Encoded | Exception:
    """Give a picture as PNG; where it is none, an exception that says so."""
    if isinstance(made, Exception):
        return made
    try:
        return _png_of(made)
    # What is no picture fails in as many ways as there are formats.
    except Exception as problem:  # noqa: BLE001
        return problem


def _png_of(made: Made) -> Encoded:
    picture = made if isinstance(made, Picture) else Picture(_image(made))
    image = _image(picture.image)
    if min(image.size) < 1:
        raise ValueError(f"a picture of {image.width} by {image.height} pixels")
    if image.mode not in ("RGB", "L") or image.has_transparency_data:
        image = _opaque(image)
    held = io.BytesIO()
    # Without what the generator wrote into it: a file that is shown must not tell its label.
    image.info = {}
    image.save(held, format="PNG")
    return Encoded(held.getvalue(), image.width, image.height, picture.drawn, picture.note)


def said(problem: BaseException) -> str:
    """Put what was raised into one line."""
    text = " ".join(str(problem).split())
    kind = type(problem).__name__
    return f"{kind}: {text}"[:500] if text else kind


def _image(made: Any) -> Image.Image:
    from PIL import Image

    if isinstance(made, Image.Image):
        return made.copy()
    if isinstance(made, bytes):
        with Image.open(io.BytesIO(made)) as image:
            image.load()
            return image.copy()
    if isinstance(made, np.ndarray):
        if made.dtype != np.uint8 or made.ndim not in (2, 3):
            raise TypeError(
                f"an array of {made.dtype} with shape {made.shape}; expected uint8 with shape "
                "(height, width, 3)"
            )
        return Image.fromarray(made)
    raise TypeError(f"{type(made).__name__} is no picture")


def _opaque(image: Image.Image) -> Image.Image:
    """Put what can be seen through on white."""
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    seen = image.convert("RGBA")
    ground = Image.new("RGBA", seen.size, (255, 255, 255, 255))
    return Image.alpha_composite(ground, seen).convert("RGB")


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
    patience: Count = 20,
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
    check_choice("way with changed pictures", changed, get_args(Changed))
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

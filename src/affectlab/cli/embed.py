"""``affectlab embed``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from affectlab.cli._output import Output, caught_warnings
from affectlab.cli.manifest import OptionsOf
from affectlab.cli.parameters import read_settings
from affectlab.core.errors import InputError
from affectlab.core.types import Device, Precision
from affectlab.core.words import count, number, plural
from affectlab.models.embedding import LAYOUTS, Embeddings, EmbedRun, embed as run

_OPTIONS = ("out", "cache", "batch", "device", "precision", "runner", "partitions", "encoder")
_OF_RUN = ("n_items", "n_encoded", "n_reused", "n_repeated", "seconds", "per_second", "batch")
"""What the JSON object has of a run."""
_OF_IMAGES = ("faces", "hog", "lbp", "dinov2", "timm", *(one.name for one in LAYOUTS))
_OF_BOTH = ("siglip2", "clip", "transformers", "open_clip")


def embed(
    out: Output,
    place: Path,
    *,
    to: Path,
    encoder: str | None = None,
    texts: bool = False,
    cache: Path | None = None,
    device: Device = "auto",
    precision: Precision = "auto",
    running: Annotated[dict[str, Any], OptionsOf("models.embedding.jobs.job:embed")],
    settings: Sequence[str] = (),
) -> None:
    """Turn images, or texts, into rows of numbers; repeating a command goes on where it stopped.

    Files that were embedded before, here or in --cache, are not encoded again.

    Parameters
    ----------
    place
        Images: a folder, a table with stimulus and file, or one image. Texts: a table with a column
        text, ratings of texts, or a .txt file with one per line.
    to
        Folder for the embeddings.
    encoder
        faces, hog, lbp, texts, siglip2, clip, dinov2, transformers:FOLDER_OR_NAME, a file of
        published weights (FILE, or LAYOUT:FILE such as farl:FILE), timm:NAME,
        open_clip:NAME/PRETRAINED, or one that a package adds; by default faces, and texts with
        --texts.
    texts
        PLACE holds texts; of an encoder of both, take that half.
    cache
        Folder that keeps rows from run to run; several runs may share it.
    batch
        Inputs at a time; by default found by trying.
    device
        Where the encoder computes.
    precision
        What it multiplies in.
    runner
        native, ray or ray://host:port.
    partitions
        Parts into which the work is cut.
    settings
        A setting of the encoder, such as width=256; may be given again.
    on_bad
        Leave out what cannot be read, and list it in set_aside.csv.
    """
    name = encoder or ("texts" if texts else "faces")
    chosen = _of_texts(name, read_settings(settings, _OPTIONS), texts)
    with out.progress(f"looking at {place}") as report, caught_warnings() as warned:
        made = run(
            place,
            name,
            path=to,
            cache=cache,
            device=device,
            precision=precision,
            progress=report,
            **running,
            **chosen,
        )
    done = made.run
    assert done is not None
    doubts = _show(out, made, done, to)
    result = {
        "out": to,
        "cache": cache,
        "encoder": made.encoder.to_dict(),
        "width": made.width,
        "n_rows": len(made),
        "n_set_aside": len(done.set_aside),
        "set_aside": list(done.set_aside),
        **{name: getattr(done, name) for name in _OF_RUN},
    }
    out.finish(result, [*warned, *done.notes], doubts=doubts)


def _of_texts(name: str, settings: dict[str, Any], texts: bool) -> dict[str, Any]:
    """Choose the half for texts of an encoder that has two, or see that it is one of texts."""
    before = name.partition(":")[0]
    if texts and (before in _OF_IMAGES or Path(name).is_file()):
        raise InputError(f"--texts: encoder {name!r} takes images; expected one of texts")
    if texts and (before in _OF_BOTH or (Path(name) / "config.json").is_file()):
        return {"kind": "text", **settings}
    return settings


def _show(out: Output, made: Embeddings, done: EmbedRun, to: Path) -> list[str]:
    """Print what was done; give what makes it doubtful."""
    card = made.encoder
    out.head(f"{plural(len(made), card.kind)} by {card.name}, width {card.width:,}")
    parts = []
    if done.n_encoded:
        speed = number(done.per_second, 0 if done.per_second >= 10 else 1)
        parts.append(
            f"{count(done.n_encoded)} encoded ({speed} per second, {done.batch:,} at a time)"
        )
    if done.n_reused:
        parts.append(f"{count(done.n_reused)} were there")
    if done.n_repeated:
        parts.append(f"{plural(done.n_repeated, 'copy', 'copies')} of another")
    out.show("; ".join(parts))
    out.show_line(f"embeddings: {to}")
    if not done.set_aside:
        return []
    first = done.set_aside[0]
    return [
        f"set aside: {plural(len(done.set_aside), 'stimulus', 'stimuli')}, {first.stimulus} first: "
        f"{first.reason}; see {to / 'set_aside.csv'}"
    ]

"""``affectlab embed``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli._settings import read_settings
from affectlab.cli._warned import caught_warnings
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings, EmbedRun

__all__ = ["embed"]

_CLUSTER = "Where it is computed"
_OPTIONS = ("out", "cache", "batch", "device", "precision", "runner", "partitions", "encoder")
_OF_IMAGES = ("faces", "hog", "lbp", "dinov2")
_OF_BOTH = ("siglip2", "clip", "transformers")


def embed(
    place: Annotated[
        Path,
        Argument(
            help="Images: a folder, a table with stimulus and file, or one image. Texts: a table "
            "with a column text, ratings of texts, or a .txt file with one per line.",
            metavar="PLACE",
        ),
    ],
    to: Annotated[
        Path,
        Option("--out", "-o", help="Folder for the embeddings.", metavar="DIR", show_default=False),
    ],
    encoder: Annotated[
        str | None,
        Option(
            help="faces, hog, lbp, texts, siglip2, clip, dinov2, transformers:FOLDER_OR_NAME, or "
            "one that a package adds. By default faces, and texts with --texts.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    texts: Annotated[
        bool,
        Option("--texts", help="PLACE holds texts; of an encoder of both, take that half."),
    ] = False,
    cache: Annotated[
        Path | None,
        Option(
            help="Folder that keeps rows from run to run; several runs may share it.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        Option(help="Inputs at a time; by default found by trying.", min=1, show_default=False),
    ] = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda", "mps"],
        Option(help="Where the encoder computes.", group=_CLUSTER),
    ] = "auto",
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"],
        Option(help="What it multiplies in.", group=_CLUSTER),
    ] = "auto",
    runner: Annotated[
        str, Option(help="native, ray or ray://host:port.", group=_CLUSTER)
    ] = "native",
    partitions: Annotated[
        int | None,
        Option(
            help="Parts into which the work is cut.",
            min=1,
            show_default=False,
            group=_CLUSTER,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="A setting of the encoder, such as width=256; may be given again.",
            metavar="KEY=VALUE",
            show_default=False,
        ),
    ] = None,
    set_aside: Annotated[
        bool,
        Option(
            "--set-aside",
            help="Leave out what cannot be read, and list it in set_aside.csv.",
        ),
    ] = False,
    seed: Annotated[int, Option("--seed", help="Nothing is random here: changes nothing.")] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Turn images, or texts, into rows of numbers; repeating a command goes on where it stopped.

    Files that were embedded before, here or in --cache, are not encoded again.

    Example: affectlab embed faces/ --out embeddings
    """
    from affectlab.models.embedding import embed as run

    out = Output("embed", as_json=as_json, quiet=quiet)
    name = encoder or ("texts" if texts else "faces")
    chosen = _of_texts(name, read_settings(settings or [], _OPTIONS), texts)
    with out.progress(f"looking at {place}") as report, caught_warnings() as warned:
        made = run(
            place,
            name,
            path=to,
            cache=cache,
            batch="auto" if batch is None else batch,
            device=device,
            precision=precision,
            runner=runner,
            partitions=partitions,
            on_bad="set_aside" if set_aside else "raise",
            progress=report,
            **chosen,
        )
    done = made.run
    assert done is not None
    doubts = _show(out, made, done, to)
    out.finish(_result(made, done, to, cache), [*warned, *done.notes], doubts=doubts)


def _of_texts(name: str, settings: dict[str, Any], texts: bool) -> dict[str, Any]:
    """Choose the half for texts of an encoder that has two, or see that it is one of texts."""
    from affectlab.core.errors import InputError

    before = name.partition(":")[0]
    if texts and before in _OF_IMAGES:
        raise InputError(f"--texts: encoder {name!r} takes images; expected one of texts")
    if texts and before in _OF_BOTH:
        return {"kind": "text", **settings}
    return settings


def _show(out: Output, made: Embeddings, done: EmbedRun, to: Path) -> list[str]:
    """Print what was done; give what makes it doubtful."""
    from affectlab.core.words import count, number, plural

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


def _result(made: Embeddings, done: EmbedRun, to: Path, cache: Path | None) -> dict[str, Any]:
    return {
        "out": to,
        "cache": cache,
        "encoder": made.encoder.to_dict(),
        "width": made.width,
        "n_items": done.n_items,
        "n_rows": len(made),
        "n_encoded": done.n_encoded,
        "n_reused": done.n_reused,
        "n_repeated": done.n_repeated,
        "n_set_aside": len(done.set_aside),
        "set_aside": list(done.set_aside),
        "seconds": done.seconds,
        "per_second": done.per_second,
        "batch": done.batch,
    }

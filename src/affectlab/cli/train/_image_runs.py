"""What the verbs that train models of images share around a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output
from affectlab.core.errors import InputError
from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.models.images import ImageFile

__all__ = [
    "check_embeddings",
    "dev_measures",
    "leaks",
    "note_of_choice",
    "show_measures",
    "training_states",
]

_MEASURES = (("acc", "ACC"), ("acc2", "ACC2"), ("ecc", "ECC"), ("emc", "EMC"))


def check_embeddings(embeddings: Path | None, backbone: str) -> None:
    """Refuse embeddings for a network that reads images.

    Raises
    ------
    InputError
    """
    if embeddings is not None and not backbone.startswith("embedding:"):
        raise InputError(
            f"--embeddings are for a head, and --backbone is {backbone!r}; expected embedding:NAME"
        )


def dev_measures(epoch: Mapping[str, float]) -> dict[str, float]:
    """Give what an epoch reached on dev, by measure."""
    return {
        measure.removeprefix("dev "): value
        for measure, value in epoch.items()
        if measure.startswith("dev ")
    }


def note_of_choice(best_epoch: int, n_epochs: int, select: str) -> str:
    """Say that the images which chose an epoch do not judge it."""
    return (
        f"epoch {best_epoch} of {n_epochs} was chosen by {select.upper()} on dev: what is reached "
        "there is too good"
    )


def leaks(learned: Sequence[ImageFile], judged: Mapping[str, Sequence[ImageFile]]) -> list[str]:
    """Say that images are learned from, with their label or without, and judged on.

    Copies count as the same image.

    Parameters
    ----------
    judged
        Images of each side, by its name.
    """
    paths = {file.path.resolve() for file in learned}
    by_size = defaultdict(list)
    for file in learned:
        by_size[file.path.stat().st_size].append(file)
    said = []
    for side, files in judged.items():
        both = sum(
            file.path.resolve() in paths
            # Few files are of the same size, so that few are read.
            or any(file.sha256 == other.sha256 for other in by_size[file.path.stat().st_size])
            for file in files
        )
        if both:
            said.append(
                f"{plural(both, 'image', 'images')} of {side} are learned from as well: what is "
                "reached there says nothing of new images"
            )
    return said


def show_measures(out: Output, sides: Sequence[tuple[str, int, Mapping[str, float]]]) -> None:
    """Print measures, one row for each side: its name, its images, what was reached."""
    import polars as pl

    table = [
        {"images": side, "n": n, **{title: seen.get(name) for name, title in _MEASURES}}
        for side, n, seen in sides
    ]
    kinds = {"images": pl.String, "n": pl.Int64, **{title: pl.Float64 for _, title in _MEASURES}}
    columns = ["images", "n", *(title for _, title in _MEASURES)]
    out.show_frame(pl.DataFrame(table, schema=kinds), columns)


@contextmanager
def training_states(to: Path, *, resume: bool, speaks: bool) -> Iterator[Path]:
    """Keep the state of a run beside the model until it ends, and where it was stopped."""
    import shutil

    states = to.resolve().with_name(f"{to.resolve().name}.training")
    if not speaks:
        yield states
        return
    if states.exists() and not resume:
        raise InputError(
            f"{states} holds a run into {to} that did not end; expected --resume to go on with it, "
            "or the folder removed"
        )
    try:
        yield states
    except InputError:
        # Nothing was learned yet: there is nothing to go on with.
        if states.is_dir() and not any(states.rglob("*.pt")):
            shutil.rmtree(states)
        raise
    if states.is_dir():
        shutil.rmtree(states)

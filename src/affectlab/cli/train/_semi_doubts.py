"""What makes a run of ``affectlab train semi`` doubtful: shared images, a tiny dev, thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from affectlab.core.errors import InputError
from affectlab.core.words import plural, shown

if TYPE_CHECKING:
    from affectlab.cli.train._semi_data import SemiSides
    from affectlab.models.images import ImageFile

__all__ = ["check_names", "doubts_of_training"]

_FEW = 2
"""Images of dev for each label, below which one image more or less decides."""
_ALL = 0.98


def check_names(sides: SemiSides) -> None:
    """Refuse two images of one name, where embeddings are looked up by it.

    Raises
    ------
    InputError
        For the first two that differ.
    """
    first: dict[str, ImageFile] = {}
    for file in (
        *(*sides.learned.files, *sides.unlabelled),
        *(*sides.judged.files, *sides.test.files),
    ):
        other = first.setdefault(file.stimulus, file)
        if other.path.resolve() != file.path.resolve() and other.sha256 != file.sha256:
            raise InputError(
                f"--embeddings: {shown(file.stimulus, 80)!r} names two images, "
                f"{shown(other.path)} and {shown(file.path)}; expected a name of its own for each"
            )


def doubts_of_training(
    sides: SemiSides,
    labels: Sequence[str],
    history: Sequence[Mapping[str, float]],
    best_epoch: int,
    switched_at: int | None,
    switch: str,
    strategy: str,
    momentum: float | None,
) -> list[str]:
    """Say what a first look at the numbers would not show."""
    return [
        *_of_dev(sides, labels),
        *_of_switch(best_epoch, switched_at, switch),
        *_of_threshold(history, len(labels), strategy, momentum),
    ]


def _of_dev(sides: SemiSides, labels: Sequence[str]) -> list[str]:
    n, there = len(sides.judged.files), len(set(sides.judged.labels))
    if not n or (n >= _FEW * len(labels) and there == len(labels)):
        return []
    return [
        f"dev has {plural(n, 'image', 'images')}, of {there} of {len(labels)} labels: which epoch "
        "is best there is little more than chance; --dev gives others, and with --dev-share 0 the "
        "last epoch is kept"
    ]


def _of_switch(best_epoch: int, switched_at: int | None, switch: str) -> list[str]:
    if switch == "never":
        return []
    if switched_at is None:
        return [
            f"--switch {switch}: the loss never changed, and all was learned with cross-entropy; "
            "expected more --epochs, or an earlier epoch"
        ]
    if best_epoch < switched_at:
        return [
            f"epoch {best_epoch} was kept, and the loss changed in epoch {switched_at}: the model "
            "was learned with cross-entropy alone"
        ]
    return []


def _of_threshold(
    history: Sequence[Mapping[str, float]], n_labels: int, strategy: str, momentum: float | None
) -> list[str]:
    told = [entry for entry in history if "threshold" in entry and "utilisation" in entry]
    # A threshold near 1 / C lets every guess count, the first ones of a random network too.
    if not told or any(
        entry["utilisation"] < _ALL or entry["threshold"] > 2 / n_labels for entry in told
    ):
        return []
    quicker = "" if momentum is None else ", or --set momentum=0.9, which forgets sooner"
    return [
        f"strategy {strategy}: its threshold never rose, so that nearly all guesses were learned "
        f"from, wrong ones too; expected many more steps (--epochs, --steps){quicker}"
    ]

"""What ``affectlab evaluate text`` reads, and which rows of it can be scored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from affectlab.models.text_metrics import TextMetric
    from affectlab.models.text_metrics.items import TextTable

__all__ = ["of_ratings", "of_table", "only_for_reactions", "usable"]


def of_table(
    file: Path,
    candidate: str,
    reference: list[str] | None,
    image: str | None,
    item: str | None,
    images: Path | None,
) -> TextTable:
    from affectlab.models.text_metrics import read_text_items

    return read_text_items(
        file, candidate=candidate, references=reference, image=image, item=item, images=images
    )


def of_ratings(
    file: Path, rater: str | None, raters: Path | None, stimuli: Path | None, images: Path | None
) -> TextTable:
    from affectlab.models.text_metrics import items_of_ratings
    from affectlab.ratings import read_ratings

    found = read_ratings(file, scale="text", raters=raters, stimuli=stimuli)
    return items_of_ratings(found, rater=rater, images=images or file.parent)


def only_for_reactions(**given: Any) -> None:
    from affectlab.core.errors import InputError

    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name} is for reactions; expected --reactions beside it")


def usable(table: TextTable, metrics: Sequence[TextMetric]) -> TextTable:
    """Leave out items that a metric cannot score, each with its reason."""
    from affectlab.core.errors import InputError
    from affectlab.models.images import load_image
    from affectlab.models.text_metrics import ClipScore
    from affectlab.models.text_metrics.items import check_items, name_of

    kept, why = [], []
    broken: dict[str, str] = {}
    for row, item in enumerate(table.items):
        try:
            for metric in metrics:
                looks = isinstance(metric, ClipScore)
                check_items(
                    [item],
                    metric.name,
                    references=getattr(metric, "reads_references", True),
                    image=looks,
                )
                if isinstance(metric, ClipScore):
                    metric.sentence_of(item, row)
                if looks and str(item.image) not in broken:
                    broken[str(item.image)] = ""
                    try:
                        load_image(item.image)
                    except InputError as error:
                        broken[str(item.image)] = str(error)
                if looks and broken[str(item.image)]:
                    raise InputError(f"{name_of(item, row)}: {broken[str(item.image)]}")
        except InputError as error:
            why.append(str(error))
            continue
        kept.append(row)
    if not kept:
        raise InputError(f"no row can be scored; the first: {why[0]}")
    return table.keep(kept, why)

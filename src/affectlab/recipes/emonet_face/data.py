"""The files of EmoNet-Face: what is needed, what was found, and what cannot be known from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from affectlab.recipes.needs import DataNeed, not_there
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding

__all__ = ["BINARY", "HQ", "NEEDS", "find_files", "with_reasons"]

BINARY = DataNeed(
    file="binary.csv",
    what="65,686 yes/no answers of 7 experts about 19,999 images",
    published="the repository LAION-AI/emonet-face, folder data",
    licence="CC BY 4.0",
)
HQ = DataNeed(
    file="hq.csv",
    what="ratings from 0 to 7 of 2,500 images, by 8 experts and 14 models",
    published="the repository LAION-AI/emonet-face, folder data, and on Hugging Face as "
    "laion/emonet-face-hq",
    licence="CC BY 4.0",
)
NEEDS = (BINARY, HQ)

_ABSENT = {"binary.": BINARY, "hq.": HQ, "table6.": HQ, "test.": HQ, "table3.": HQ}
"""Beginning of a key, and the file that its value comes from."""
_WHY = {
    "hq.batch": "the file has no batches",
    "hq.": "not in this hq.csv",
    "table6.": "not in this hq.csv",
    "test.": "not in this hq.csv",
    "table3.": "not in this hq.csv",
    "table5.": "the repeated answers are not published",
    "preference.": "the judgements are not published",
    "prompts.": "the prompts are not in these files",
    "big.": "not in these files; published as laion/emonet-face-big",
    "heads.": "not in these files",
    "taxonomy.": "not in these files",
    "annotators": "the files number people anew",
    "binary.": "the file has no batch column",
}
"""Beginning of a key, and why the published files have no value for it; the first that fits."""


def with_reasons(
    found: Mapping[str, Finding], why: str = "", *, given: Collection[DataNeed] = ()
) -> dict[str, Finding]:
    """Say of every published figure without a value why it has none.

    Parameters
    ----------
    found
        What has a value, or a reason of its own.
    why
        The reason for all others; by default one for each kind of figure.
    given
        The files that are there.
    """
    keys = [figure.key for figure in load_published("emonet_face").figure]
    return {
        key: found[key] if key in found else Finding(why=why or _reason(key, given)) for key in keys
    }


def _reason(key: str, given: Collection[DataNeed]) -> str:
    for start, need in _ABSENT.items():
        if key.startswith(start) and need not in given:
            return f"{need.file} is not there"
    return next(why for start, why in _WHY.items() if key.startswith(start))


def find_files(folder: Path) -> dict[DataNeed, Path]:
    """Find the files that are there, in the folder or in its subfolder ``emonet_face``.

    Raises
    ------
    MissingDataError
        When none is; the sentence says where they are published.
    """
    found = {}
    for need in NEEDS:
        places = (folder / need.file, folder / "emonet_face" / need.file)
        place = next((place for place in places if place.is_file()), None)
        if place is not None:
            found[need] = place
    if not found:
        raise not_there(folder, "emonet-face", NEEDS)
    return found

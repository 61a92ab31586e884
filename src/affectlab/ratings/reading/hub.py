"""Loading published data sets by their name on the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.datasets import HubCopy, PublishedSet, Wanted, fetch, find_dataset
from affectlab.ratings.files import OnBad
from affectlab.ratings.options import Absent, Wide, check_choices
from affectlab.ratings.reading.alternatives import complete
from affectlab.ratings.reading.prepared import prepared
from affectlab.ratings.scales import DeclaredScales, ScaleLike
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, Step, step
from affectlab.ratings.summary import warn_of_guess
from affectlab.ratings.table import Ratings
from affectlab.taxonomy import Taxonomy, load_taxonomy


def load_dataset(
    name: str,
    *,
    configuration: str | None = None,
    split: str | None = None,
    revision: str | None = None,
    cache: str | Path | None = None,
    scale: ScaleLike | None = None,
    taxonomy: str | Taxonomy | None = None,
    columns: Mapping[str, str] | None = None,
    wide: Wide | None = None,
    rater: str | None = None,
    absent: Absent | None = None,
    on_bad: OnBad = "raise",
) -> Ratings:
    """Load a data set from the Hugging Face hub; the same readers as for files read it.

    Only what is read is copied: of pictures, their names. No program of the hub is ever run.

    Parameters
    ----------
    name
        Short name of :func:`list_datasets` (``"goemotions-raw"``), or a name on the hub
        (``"laion/emonet-face-hq"``). Sets of the hub that are not listed are read as a table, with
        the options below.
    configuration, split
        Which part of a set, by the names that the hub has; needed where there are several.
    revision
        Branch, tag or commit; None: the newest. Name a commit to read the same again.
    cache
        Folder for the copies. None: ``affectlab`` in the folder of the hub's libraries
        (``HF_HOME``).
    scale, taxonomy, columns, wide, rater, absent, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        As the reader of the files gives them. :attr:`Ratings.source` names the data set and the
        commit, :attr:`Ratings.history` also the licence by its card.

    Raises
    ------
    InputError
        When the name is not known, the set is not on the hub, is gated or has other columns than
        the reader needs, or when the hub cannot be reached and there is no copy. Without a
        network, the copy of the last commit seen is taken, and the history says so.
    MissingDependencyError
        When the library datasets is not installed.

    Notes
    -----
    ``HF_ENDPOINT``, ``HF_HOME``, ``HF_TOKEN`` and ``HF_HUB_OFFLINE`` work as for the hub's own
    libraries.

    Examples
    --------
    >>> load_dataset("emotic")
    Traceback (most recent call last):
    affectlab.InputError: emotic is not on the hub under its authors' name; it is published \
at github.com/rkosti/emotic, on request: download it and read it with \
affectlab.models.images.read_labelled_images
    """
    given = {
        "scale": scale,
        "taxonomy": taxonomy,
        "columns": columns,
        "wide": wide,
        "rater": rater,
        "absent": absent,
        "on_bad": on_bad,
    }
    given = {option: value for option, value in given.items() if value is not None}
    return _load(name, configuration, split, revision, cache, given)


def read_address(address: str, given: Mapping[str, Any]) -> Ratings:
    """Load a data set by its address, ``hf://datasets/OWNER/NAME[@REVISION][/…][/SPLIT]``.

    Raises
    ------
    InputError
        When the address is not one of a data set; else as :func:`load_dataset`.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(
            f"{address!r} is no data set of the hub; expected hf://datasets/OWNER/NAME, and behind "
            "it a file, or a configuration and a split"
        )
    name, revision, *inside = found.groups()
    configuration, split = inside
    return _load(name, configuration, split, revision, None, given)


_ADDRESS = re.compile(
    r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?(?:/([^/]+)(?=/))?(?:/([^/]+))?/?", re.IGNORECASE
)


def _load(
    name: str,
    configuration: str | None,
    split: str | None,
    revision: str | None,
    cache: str | Path | None,
    given: Mapping[str, Any],
) -> Ratings:
    published = find_dataset(name, configuration)
    if published is not None and published.hub is None:
        raise InputError(
            f"{published.name} is not on the hub under its authors' name; it is published at "
            f"{published.elsewhere}: download it and read it with {_reading(published)}"
        )
    # What is misspelt is said before anything is fetched.
    check_choices(given.get("wide"), given.get("on_bad", "raise"), given.get("absent"))
    DeclaredScales.parse(given.get("scale"))
    if isinstance(given.get("taxonomy"), str):
        given = {**given, "taxonomy": load_taxonomy(given["taxonomy"])}
    wanted = _wanted(name, published, configuration, split, revision)
    copy, stale = fetch(wanted, None if cache is None else Path(cache))
    if published is not None:
        given = {"format": published.reader, **given}
    with prepared(copy.path, given) as made:
        ratings = complete(made, given).read()
    warn_of_guess(ratings, columns=True)
    return ratings._from(copy.source, steps=_steps(copy, published, stale))


def _wanted(
    name: str,
    published: PublishedSet | None,
    configuration: str | None,
    split: str | None,
    revision: str | None,
) -> Wanted:
    newest = revision or "main"
    if published is None or published.hub is None:
        otherwise = f"download its files elsewhere and read them with {_FUNCTION}"
        return Wanted(name, configuration, split, newest, otherwise=otherwise)
    otherwise = f"get it from {published.elsewhere}, and read it with {_reading(published)}"
    return Wanted(
        published.hub, published.configuration, split, newest, published.columns, otherwise
    )


def _reading(published: PublishedSet) -> str:
    return published.reader if "." in published.reader else _FUNCTION


_FUNCTION = "affectlab.read_ratings(FILE)"


def _steps(copy: HubCopy, published: PublishedSet | None, stale: str | None) -> History:
    steps = [
        step(
            StepKind.FROM_HUB,
            name=copy.repository,
            configuration=copy.configuration or "",
            split=copy.split,
            commit=copy.commit,
            licence=copy.licence or "",
        )
    ]
    if stale is not None:
        steps.append(step(StepKind.HUB_NOT_ASKED, reason=stale))
    if copy.left_out:
        steps.append(step(StepKind.COLUMNS_NOT_HELD, columns=copy.left_out))
    if published is not None and published.note:
        steps.append(Step.note(published.note))
    return tuple(steps)

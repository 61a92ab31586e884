"""Subjective quality tests as the sureal package stores them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, numbered, refuse_layout, shown
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions, assemble
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "sureal"]

_NAME = "sureal"
_REFERENCES = re.compile(r'"ref_videos"\s*:\s*\[')
_PAIR = re.compile(r"""[(\[]\s*(['"]).*\1\s*,\s*[0-9]+\s*[)\]]""")
_ENDS_IN_NUMBER = re.compile(r".*[\W_]([0-9]{1,9})")
_STIMULI = re.compile(r'"dis_videos"\s*:\s*\[')


def _sniff(peek: Peek) -> bool:
    text = peek.text.lstrip()
    return (
        text.startswith("{")
        and _REFERENCES.search(text) is not None
        and _STIMULI.search(text) is not None
        and '"os"' in text
    )


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    content = peek.load_json()
    videos = _objects(peek, content, "dis_videos")
    references = {
        video["content_id"]: video
        for video in _objects(peek, content, "ref_videos")
        if "content_id" in video
    }
    _refuse_pairs(peek, videos)
    rejects = Rejects(peek.path, options.on_bad)
    names = _stimulus_names(videos)
    subjects = _Subjects(peek, content, videos)
    stimulus: list[str] = []
    rater: list[str] = []
    value: list[float] = []
    trial: list[int] = []
    places: list[str] = []
    for number, (name, video) in enumerate(zip(names, videos, strict=True)):
        for subject, key, given in subjects.scores(video, number):
            place = f"dis_videos[{number}] {key}"
            for repetition, score in enumerate(_repeated(given), start=1):
                number_or_gap = _value(score, place, rejects)
                if number_or_gap is not None:
                    stimulus.append(name)
                    rater.append(subject)
                    value.append(number_or_gap)
                    trial.append(repetition)
                    places.append(place)
    if all(map(math.isnan, value)):
        raise InputError(f"{peek.path} holds no score; expected numbers under 'os'")
    columns = {
        "stimulus": pl.Series(stimulus, dtype=pl.String),
        "rater": pl.Series(rater, dtype=pl.String),
        "value": pl.Series(value, dtype=pl.Float64),
    }
    if max(trial) > 1:
        columns["trial"] = pl.Series(trial)
    return assemble(
        columns,
        options,
        source=str(peek.path),
        locate=lambda row: f"{peek.path}, {places[row]}",
        scale=_scale(value, content.get("ref_score")),
        raters=subjects.table(set(rater)),
        stimuli=_stimuli(names, videos, references, set(stimulus)),
        set_aside=rejects.set_aside,
        unit="cell",
    )


def _objects(peek: Peek, content: Any, key: str) -> list[dict[str, Any]]:
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, list) or not found or not all(isinstance(x, dict) for x in found):
        raise InputError(f"{peek.path}: key '{key}' is {shown(found)}; expected a list of objects")
    return found


def _refuse_pairs(peek: Peek, videos: list[dict[str, Any]]) -> None:
    """Stop where opinions are on pairs: each key is a subject and the asset number of the other.

    The package has pairs as tuples, ``{("ann", 3): 1}``, which JSON cannot hold as keys; however
    they are written, each would pass for a subject with one answer.
    """
    assets = {video.get("asset_id") for video in videos}
    example = None
    for number, video in enumerate(videos):
        found = video.get("os")
        entries = found.items() if isinstance(found, dict) else [(e, 1) for e in found or ()]
        for key, score in entries:
            pair = isinstance(key, list) and len(key) == 3 and isinstance(key[0], str)
            if isinstance(key, str) and not _PAIR.fullmatch(key):
                named = _ENDS_IN_NUMBER.fullmatch(key)
                other = int(named[1]) if named else None
                pair = other in assets - {video.get("asset_id")} and score in (0, 0.5, 1)
            elif isinstance(key, str):
                pair = True
            if not pair:
                return
            example = example or f"dis_videos[{number}] {shown(key)}"
    if example:
        raise InputError(
            f"{peek.path}: os holds comparisons of pairs (a subject and the asset_id of the other "
            f"stimulus, as in {example}), not scores of one stimulus; expected scores, or for "
            "affectlab evaluate preference a table with a row per choice: stimulus (the pair), "
            "rater, value (A or B), and what A and B were"
        )


def _stimulus_names(videos: list[dict[str, Any]]) -> list[str]:
    """File name without folder and suffix where all differ, else path, asset number, position."""
    paths = [video.get("path") for video in videos]
    candidates = [
        [None if not path else PurePosixPath(str(path)).stem for path in paths],
        [None if not path else str(path) for path in paths],
        [None if "asset_id" not in video else str(video["asset_id"]) for video in videos],
    ]
    for names in candidates:
        usable = [name for name in names if name]
        if len(set(usable)) == len(videos):
            return usable
    return numbered("stimulus", len(videos))


class _Subjects:
    """Who scored: by position in lists, by key in mappings."""

    def __init__(self, peek: Peek, content: dict[str, Any], videos: list[dict[str, Any]]) -> None:
        self._peek = peek
        self._attributes: dict[str, dict[str, Any]] = {}
        sizes = [len(video["os"]) for video in videos if isinstance(video.get("os"), list)]
        self._size = sizes[0] if sizes else 0
        self._names = self._named(content.get("subjects"))

    def _named(self, given: Any) -> list[str]:
        if given is None or self._size == 0:
            return numbered("subject", self._size)
        entries = given if isinstance(given, list) else []
        names = []
        for entry in entries:
            name: Any = entry
            if isinstance(entry, dict):
                name = next((entry[k] for k in ("name", "id", "subject_id") if k in entry), None)
                self._attributes[str(name)] = {
                    key: value
                    for key, value in entry.items()
                    if key != "rater" and not isinstance(value, dict | list)
                }
            names.append(None if name is None else str(name))
        if len(names) != self._size or None in names or len(set(names)) != len(names):
            raise InputError(
                f"{self._peek.path}: key 'subjects' is {shown(given)}; expected {self._size} "
                "different names, one for each score of a stimulus"
            )
        return [name for name in names if name is not None]

    def scores(self, video: dict[str, Any], number: int) -> Iterator[tuple[str, str, Any]]:
        """Yield (subject, key, score or list of scores) of one stimulus."""
        found = video.get("os")
        if isinstance(found, dict):
            for name, score in found.items():
                yield name, f"os[{name!r}]", score
            return
        where = f"{self._peek.path}, dis_videos[{number}]"
        if not isinstance(found, list):
            raise InputError(f"{where}: os is {shown(found)}; expected a list or an object")
        if len(found) != self._size:
            raise InputError(
                f"{where}: {len(found)} scores in os; expected {self._size} as for the stimuli "
                "before, with null for a gap"
            )
        for position, score in enumerate(found):
            yield self._names[position], f"os[{position}]", score

    def table(self, present: set[str]) -> pl.DataFrame | None:
        """Attributes of the subjects that scored, when the file gives any."""
        rows = [
            {"rater": name, **found} for name, found in self._attributes.items() if name in present
        ]
        return pl.DataFrame(rows, infer_schema_length=None) if rows else None


def _repeated(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _value(score: Any, place: str, rejects: Rejects) -> float | None:
    """Give the number, ``nan`` for a gap; None where it is neither."""
    if score is None:
        return math.nan
    if isinstance(score, bool) or not isinstance(score, int | float) or math.isinf(score):
        rejects.reject(
            place,
            "score not understood",
            f"{shown(score)} is no score; expected a number or null",
            unit="cell",
        )
        return None
    return float(score)


def _scale(values: list[float], reference: Any) -> Scale:
    """Guess the scale; the score of a reference is the best there is, so it is the upper end."""
    values = [value for value in values if not math.isnan(value)]
    guess = Scale.infer(values)
    number = isinstance(reference, int | float) and not isinstance(reference, bool)
    if not number or max(values) > reference:
        return guess
    whole = bool((np.asarray(values) == np.rint(values)).all()) and float(reference).is_integer()
    if whole and 1 < reference <= 11 and min(values) >= 1:
        return Scale("ordinal", 1.0, float(reference), 1.0, declared=False)
    if min(values) >= 0 < reference:
        return Scale("interval", 0.0, float(reference), None, declared=False)
    return guess


def _stimuli(
    names: list[str],
    videos: list[dict[str, Any]],
    references: dict[Any, dict[str, Any]],
    present: set[str],
) -> pl.DataFrame:
    rows = []
    for name, video in zip(names, videos, strict=True):
        if name not in present:
            continue
        reference = references.get(video.get("content_id"), {})
        known = {
            "stimulus": name,
            "content_name": reference.get("content_name"),
            "is_reference": "path" in video and video["path"] == reference.get("path"),
        }
        rest = {
            key: value
            for key, value in video.items()
            if key not in ("os", "stimulus") and not isinstance(value, dict | list)
        }
        rows.append(known | rest)
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def sureal(
    path: str | Path, *, scale: str | Scale | None = None, on_bad: OnBad = "raise"
) -> Ratings:
    """Read a data set of the sureal package.

    Parameters
    ----------
    path
        JSON with ``ref_videos`` and ``dis_videos``; each stimulus of the latter has ``os``, its
        opinion scores: a list (one per subject, the same order everywhere, ``null`` or ``NaN`` for
        a gap) or an object (subject to score). A list in place of a score holds repetitions.
    scale
        The declared scale, such as ``"1-5"``. The file does not state one; when not given it is
        inferred from the scores and ``ref_score`` (the score of a reference, hence the upper end),
        and marked as inferred.
    on_bad
        ``"raise"`` or ``"set_aside"``, as in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Stimuli have the name of their file, and the attributes ``content_name``,
        ``is_reference`` (the file of the stimulus is that of its reference) and whatever else the
        file says of them. Subjects of lists are named by ``subjects``, else ``subject-01``, …
        Gaps have no row and are counted as set aside. Repetitions are told apart by ``trial``.

    Raises
    ------
    InputError
        When a key is missing, a score is no number, or lists differ in length.

    Notes
    -----
    Source: the README of the sureal package, "Dataset Files"; gaps as in Z. Li et al. (2020).

    Examples
    --------
    >>> import json, tempfile
    >>> data = {"ref_score": 5, "ref_videos": [{"content_id": 0, "path": "a.yuv"}], "dis_videos": [
    ...     {"content_id": 0, "asset_id": 0, "path": "a.yuv", "os": {"ann": 5, "bo": 4}},
    ...     {"content_id": 0, "asset_id": 1, "path": "a_low.yuv", "os": {"ann": 2}}]}
    >>> file = Path(tempfile.mkdtemp()) / "test.json"
    >>> _ = file.write_text(json.dumps(data))
    >>> r = sureal(file)
    >>> r.stimulus_names, r.rater_names, r.stimuli["is_reference"].to_list(), str(r.scale)
    (('a', 'a_low'), ('ann', 'bo'), [True, False], 'ordinal 1 to 5, step 1 (inferred)')
    """
    return read_ratings(path, format=_NAME, scale=scale, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="subjective quality test of the sureal package (JSON: ref_videos, dis_videos)",
    sniff=_sniff,
    read=_read,
)

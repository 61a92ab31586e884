"""Subjective quality tests as the sureal package stores them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings.files import Peek, Place, is_numeric
from affectlab.ratings.formats.format import Contents, Format, Layout, Sure, file_format
from affectlab.ratings.formats.pairs import Comparison, pair_contents
from affectlab.ratings.formats.records import Rejects, numbered, shown
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.scale import Scale

_KEYS = (r'"ref_videos"\s*:\s*\[', r'"dis_videos"\s*:\s*\[', '"os"')
_PAIR = re.compile(r"""[(\[]\s*(['"])(?P<subject>.*)\1\s*,\s*(?P<other>[0-9]{1,9})\s*[)\]]""")
_ENDS_IN_NUMBER = re.compile(r"(?P<subject>.*)[\W_](?P<other>[0-9]{1,9})")

Objects = list[dict[str, Any]]


@file_format(
    "sureal", "subjective quality test of the sureal package (JSON: ref_videos, dis_videos)"
)
class Sureal(Format):
    """A data set of the sureal package.

    JSON with ``ref_videos`` and ``dis_videos``; each stimulus of the latter has ``os``, its
    opinion scores: a list (one per subject, the same order everywhere, ``null`` or ``NaN`` for
    a gap) or an object (subject to score). A list in place of a score holds repetitions.

    Stimuli have the name of their file, and the attributes ``content_name``,
    ``is_reference`` (the file of the stimulus is that of its reference) and whatever else the
    file says of them. Subjects of lists are named by ``subjects``, else ``subject-01``, …
    Gaps have no row and are counted as set aside. Repetitions are told apart by ``trial``.

    Opinions on pairs (a subject and the asset number of the other stimulus, with 1 where this one
    was preferred, 0 where the other, 0.5 for a tie) become comparisons as those of the format
    ``pairs``, for the statistics of preference.

    Notes
    -----
    Source: the README of the sureal package, "Dataset Files"; gaps as in Z. Li et al. (2020).

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from affectlab.ratings import read_ratings
    >>> data = {"ref_score": 5, "ref_videos": [{"content_id": 0, "path": "a.yuv"}], "dis_videos": [
    ...     {"content_id": 0, "asset_id": 0, "path": "a.yuv", "os": {"ann": 5, "bo": 4}},
    ...     {"content_id": 0, "asset_id": 1, "path": "a_low.yuv", "os": {"ann": 2}}]}
    >>> file = Path(tempfile.mkdtemp()) / "test.json"
    >>> _ = file.write_text(json.dumps(data))
    >>> r = read_ratings(file)
    >>> r.stimulus_names, r.rater_names, r.stimuli["is_reference"].to_list(), str(r.scale)
    (('a', 'a_low'), ('ann', 'bo'), [True, False], 'ordinal 1 to 5, step 1 (inferred)')
    """

    layout = Layout(
        {"stimulus": "dis_videos.path", "rater": "subjects", "value": "dis_videos.os"},
        stimuli=("content_name", "is_reference"),
        others=("ref_videos",),
    )

    def recognise(self, head: Peek) -> Sure:
        text = head.text.lstrip()
        return Sure.if_(text.startswith("{") and all(re.search(key, text) for key in _KEYS))

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:  # noqa: ARG002
        """Give each score a row, repetitions one each."""
        content = head.load_json()
        videos = _objects(head, content, "dis_videos")
        references = {
            video["content_id"]: video
            for video in _objects(head, content, "ref_videos")
            if "content_id" in video
        }
        names = _stimulus_names(videos)
        pairs = _pairs(head, videos, names, rejects)
        if pairs is not None:
            return pairs
        subjects, about = _subjects(head, content.get("subjects"), videos)
        rows: list[tuple[str, str, float, int, str]] = []
        for number, (name, video) in enumerate(zip(names, videos, strict=True)):
            for subject, key, given in _scores(head, video, number, subjects):
                place = f"dis_videos[{number}] {key}"
                for trial, score in enumerate(given if isinstance(given, list) else [given], 1):
                    if score is None or (is_numeric(score) and not math.isinf(score)):
                        value = math.nan if score is None else float(score)
                        rows.append((name, subject, value, trial, place))
                        continue
                    sentence = f"{shown(score)} is no score; expected a number or null"
                    rejects.reject(place, "score not understood", sentence, unit="cell")
        if all(math.isnan(row[2]) for row in rows):
            raise InputError(f"{head.path} holds no score; expected numbers under 'os'")
        schema = {"stimulus": pl.String, "rater": pl.String, "value": pl.Float64, "trial": pl.Int64}
        frame = pl.DataFrame([row[:4] for row in rows], schema=schema, orient="row")
        raters = [
            {"rater": one, **said} for one, said in about.items() if one in set(frame["rater"])
        ]
        return Contents(
            (frame if frame["trial"].max() != 1 else frame.drop("trial")).to_dict(),
            lambda row: Place(rows[row][4], head.path),
            scale=_scale(frame["value"].drop_nans().to_list(), content.get("ref_score")),
            raters=pl.DataFrame(raters, infer_schema_length=None) if raters else None,
            stimuli=_stimuli(names, videos, references, set(frame["stimulus"])),
            unit="cell",
        )


def _plain(given: dict[str, Any], *without: str) -> dict[str, Any]:
    """Give the entries that a cell of a table can hold."""
    return {
        key: value
        for key, value in given.items()
        if key not in without and not isinstance(value, dict | list)
    }


def _objects(head: Peek, content: Any, key: str) -> Objects:
    given = content.get(key) if isinstance(content, dict) else None
    if not isinstance(given, list) or not given or not all(isinstance(x, dict) for x in given):
        raise InputError(f"{head.path}: key '{key}' is {shown(given)}; expected a list of objects")
    return given


def _pairs(head: Peek, videos: Objects, names: list[str], rejects: Rejects) -> Contents | None:
    """Read opinions on pairs: each key is a subject and the asset number of the other stimulus.

    The package has pairs as tuples, ``{("ann", 3): 1}``, which JSON cannot hold as keys. They are
    written as texts (``"('ann', 3)"``, ``"ann 3"``) or as lists with the score. None: the opinions
    are scores of one stimulus.
    """
    assets = {video.get("asset_id"): name for video, name in zip(videos, names, strict=True)}
    found: list[tuple[str, int, str, int, Any]] = []
    for number, video in enumerate(videos):
        given = video.get("os")
        entries = given.items() if isinstance(given, dict) else [(e, 1) for e in given or ()]
        for key, score in entries:
            pair = _pair_of(key, score, set(assets) - {video.get("asset_id")})
            if pair is None:
                return None
            found.append((f"dis_videos[{number}] {shown(key)}", number, *pair))
    if not found:
        return None
    comparisons: list[Comparison] = []
    known: set[tuple[str, str, str, float]] = set()
    for row, (place, number, subject, other, score) in enumerate(found):
        if score not in (0, 0.5, 1) or other not in assets or assets[other] == names[number]:
            sentence = f"{shown(score)} beside asset {other}; expected 0, 0.5 or 1 beside another"
            rejects.reject(place, "comparison not understood", sentence, unit="cell")
            continue
        if (subject, assets[other], names[number], 1 - score) in known:
            # The same answer, as it stands at the other stimulus.
            continue
        known.add((subject, names[number], assets[other], score))
        choice = "tie" if score == 0.5 else score == 1
        comparisons.append(
            Comparison(
                row=row, first=names[number], second=assets[other], judge=subject, choice=choice
            )
        )
    return pair_contents(comparisons, lambda row: Place(found[row][0], head.path), path=head.path)


def _pair_of(key: Any, score: Any, others: set[Any]) -> tuple[str, int, Any] | None:
    """Give subject, number of the other asset and score, where a key is a pair."""
    if isinstance(key, list):
        whole = len(key) == 3 and isinstance(key[0], str) and isinstance(key[1], int)
        return (key[0], key[1], key[2]) if whole else None
    if not isinstance(key, str):
        return None
    pair = _PAIR.fullmatch(key)
    if pair:
        return pair["subject"].strip(), int(pair["other"]), score
    named = _ENDS_IN_NUMBER.fullmatch(key)
    if named is None or int(named["other"]) not in others or score not in (0, 0.5, 1):
        return None
    return named["subject"], int(named["other"]), score


def _stimulus_names(videos: Objects) -> list[str]:
    """File name without folder and suffix where all differ, else path, asset number, position."""
    paths = [str(video["path"]) for video in videos if video.get("path")]
    assets = [str(video["asset_id"]) for video in videos if "asset_id" in video]
    for names in ([PurePosixPath(path).stem for path in paths], paths, assets):
        if len(set(names) - {""}) == len(videos):
            return names
    return numbered("stimulus", len(videos))


def _subjects(head: Peek, given: Any, videos: Objects) -> tuple[list[str], dict[str, Any]]:
    """Names of the subjects of lists, by position, and what the file says of them."""
    sizes = [len(video["os"]) for video in videos if isinstance(video.get("os"), list)]
    size = sizes[0] if sizes else 0
    if given is None or size == 0:
        return numbered("subject", size), {}
    about: dict[str, Any] = {}
    names: list[Any] = []
    for entry in given if isinstance(given, list) else []:
        name = entry
        if isinstance(entry, dict):
            name = next((entry[k] for k in ("name", "id", "subject_id") if k in entry), None)
            about[str(name)] = _plain(entry, "rater")
        names.append(None if name is None else str(name))
    if len(names) != size or None in names or len(set(names)) != len(names):
        raise InputError(
            f"{head.path}: key 'subjects' is {shown(given)}; expected {size} different names, one "
            "for each score of a stimulus"
        )
    return names, about


def _scores(
    head: Peek, video: dict[str, Any], number: int, subjects: Sequence[str]
) -> Iterator[tuple[str, str, Any]]:
    """Yield (subject, key, score or list of scores) of one stimulus."""
    given = video.get("os")
    if isinstance(given, dict):
        yield from ((name, f"os[{name!r}]", score) for name, score in given.items())
        return
    where = f"{head.path}, dis_videos[{number}]"
    if not isinstance(given, list):
        raise InputError(f"{where}: os is {shown(given)}; expected a list or an object")
    if len(given) != len(subjects):
        raise InputError(
            f"{where}: {len(given)} scores in os; expected {len(subjects)} as for the stimuli "
            "before, with null for a gap"
        )
    for position, score in enumerate(given):
        yield subjects[position], f"os[{position}]", score


def _scale(values: list[float], reference: Any) -> Scale:
    """Guess the scale; the score of a reference is the best there is, so it is the upper end."""
    if not is_numeric(reference) or max(values) > reference:
        return Scale.infer(values)
    whole = bool((np.asarray(values) == np.rint(values)).all()) and float(reference).is_integer()
    if whole and 1 < reference <= 11 and min(values) >= 1:
        return Scale("ordinal", 1.0, float(reference), 1.0, declared=False)
    if min(values) >= 0 < reference:
        return Scale("interval", 0.0, float(reference), None, declared=False)
    return Scale.infer(values)


def _stimuli(
    names: list[str], videos: Objects, references: dict[Any, Any], present: set[str]
) -> pl.DataFrame:
    rows = []
    for name, video in zip(names, videos, strict=True):
        if name in present:
            reference = references.get(video.get("content_id"), {})
            known = {
                "stimulus": name,
                "content_name": reference.get("content_name"),
                "is_reference": "path" in video and video["path"] == reference.get("path"),
            }
            rows.append(known | _plain(video, "os", "stimulus"))
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)

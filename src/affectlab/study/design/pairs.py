"""Pairs of pictures that are compared: named in a table, or drawn with a known difference."""

from __future__ import annotations

import json
import random
from dataclasses import astuple, dataclass
from itertools import combinations
from math import dist
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.study.design.stimulus import Stimulus, picture_in
from affectlab.study.design.study_file import Study

if TYPE_CHECKING:
    from affectlab.simulate.faces import FaceSpec

__all__ = ["draw_pairs", "pairs_of", "shows_pairs"]

_SIZE = 384
_EXPRESSIONS = 8
"""Of the expressions that can be drawn, those that pairs are made of."""
_INTENSITIES = (1.0, 0.65, 0.35)
_PAIRS_PER_PERSON = 12
_SIDES = ("file_a", "file_b")


def shows_pairs(study: Study) -> bool:
    """Whether a trial of the study shows two pictures that belong together."""
    return study.protocol.stimulus == "image pair" and study.protocol.staircase is None


def pairs_of(study: Study) -> list[Stimulus]:
    """Find the pairs that a study names; drawn ones must have been drawn.

    Raises
    ------
    InputError
        When there is no table of pairs, or a picture of one cannot be used.
    """
    wanted = study.design.stimuli
    if wanted.faces is not None:
        return _drawn(study)
    if wanted.table is None:
        raise InputError(
            f"{study.path}: stimuli.folder says nothing about pairs; expected stimuli.table with "
            "the columns stimulus, file_a and file_b"
        )
    return _from_table(study, study.place(wanted.table))


def _from_table(study: Study, path: Path) -> list[Stimulus]:
    from affectlab.ratings import read_table

    table = read_table(path, names=("stimulus", *_SIDES))
    named = study.design.stimuli.folder
    folder = path.parent if named is None else study.place(named)
    found = []
    for row in table.iter_rows(named=True):
        name = str(row.pop("stimulus"))
        sides = [row.pop(side) for side in _SIDES]
        for side, file in zip(_SIDES, sides, strict=True):
            if not file:
                raise InputError(f"{path}: stimulus {name!r} has no {side}; a pair needs both")
        files = tuple(picture_in(folder, str(file), path) for file in sides)
        found.append(Stimulus(name, files, attributes=row))
    return found


# ---- drawn pairs -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    first: FaceSpec
    second: FaceSpec
    difference: float
    """Planted truth, 0 to 100."""
    kind: str = "main"

    def as_row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"stimulus": f"{self.first.stimulus}--{_short(self.second)}"}
        for side, spec in zip("ab", (self.first, self.second), strict=True):
            row[f"file_{side}"] = f"{spec.stimulus}.png"
            row[f"expression_{side}"] = spec.name
            row[f"intensity_{side}"] = spec.intensity
        same = self.first.name == self.second.name
        return {
            **row,
            "kind": self.kind,
            "actor": self.first.person.name,
            "design": "intra" if same else "inter",
            "difference": self.difference,
        }


def draw_pairs(study: Study, n: int) -> None:
    """Draw pairs of faces of one invented person each, unless they are there.

    Beside the `n` pairs that are asked about there are as many for training, and with a known
    answer, as the protocol's checks want, of a person who appears nowhere else. The true difference
    of a pair is the distance of what the two faces do, in percent of the largest distance between
    two expressions at their peaks.
    """
    folder = study.state / "media"
    if (folder / "pairs.json").exists():
        return
    from affectlab.simulate import save_faces

    checks = study.protocol.checks
    drawn = random.Random(study.design.study.seed)
    people = -(-n // _PAIRS_PER_PERSON)
    pairs: list[_Pair] = []
    for person in range(people):
        candidates = _candidates(person)
        share = min(_PAIRS_PER_PERSON, n - len(pairs))
        pairs += _mixed(candidates, share, drawn)
    known = _Known(_candidates(people), drawn)
    pairs += known.take(checks.training, "training")
    pairs += known.take(checks.golden or 0, "golden")
    specs = {spec.stimulus: spec for pair in pairs for spec in (pair.first, pair.second)}
    save_faces(folder, specs.values(), size=_SIZE)
    rows = [pair.as_row() for pair in pairs]
    (folder / "pairs.json").write_text(json.dumps(rows), encoding="utf-8")


def _candidates(person: int) -> list[_Pair]:
    """All pairs of different faces of one person."""
    from affectlab.simulate import EXPRESSIONS
    from affectlab.simulate.faces import FaceSpec, expression_parameters

    names = EXPRESSIONS[:_EXPRESSIONS]
    peaks = [astuple(expression_parameters(name)) for name in names]
    widest = max(dist(one, other) for one, other in combinations(peaks, 2))
    specs = [FaceSpec(name, share, person) for name in names for share in _INTENSITIES]
    specs.append(FaceSpec("neutral", 1.0, person))
    acts = {
        spec.stimulus: astuple(expression_parameters(spec.expression, spec.intensity))
        for spec in specs
    }
    return [
        _Pair(
            one,
            other,
            min(100.0, round(100 * dist(acts[one.stimulus], acts[other.stimulus]) / widest, 1)),
        )
        for one, other in combinations(specs, 2)
    ]


def _mixed(candidates: list[_Pair], n: int, drawn: random.Random) -> list[_Pair]:
    """Draw pairs, half of them of one expression at two intensities."""
    within = [pair for pair in candidates if pair.first.name == pair.second.name]
    across = [pair for pair in candidates if pair.first.name != pair.second.name]
    n_within = min(n // 2, len(within))
    return drawn.sample(within, n_within) + drawn.sample(across, n - n_within)


class _Known:
    """Pairs of known answer, spread over the scale, none taken twice."""

    def __init__(self, candidates: list[_Pair], drawn: random.Random) -> None:
        drawn.shuffle(candidates)
        self._left = sorted(candidates, key=lambda pair: pair.difference)
        faces = [pair.first for pair in candidates]
        self._same = [_Pair(face, face, 0.0) for face in {f.stimulus: f for f in faces}.values()]

    def take(self, n: int, kind: str) -> list[_Pair]:
        """Take `n` pairs from nearly the same to hardly more different; one is identical."""
        if n > len(self._left):
            raise InputError(
                f"checks.{kind} = {n}: expected at most {len(self._left)} with drawn faces"
            )
        taken = [self._same.pop(0)] if n and self._same else []
        spread = n - len(taken)
        places = {round((step + 1) * (len(self._left) - 1) / spread) for step in range(spread)}
        taken += [self._left[place] for place in sorted(places)]
        self._left = [pair for place, pair in enumerate(self._left) if place not in places]
        return [_Pair(pair.first, pair.second, pair.difference, kind) for pair in taken]


def _short(spec: FaceSpec) -> str:
    return spec.stimulus.removeprefix(f"{spec.person.name}_")


def _drawn(study: Study) -> list[Stimulus]:
    folder = study.state / "media"
    found = []
    for row in json.loads((folder / "pairs.json").read_text(encoding="utf-8")):
        name, kind = row.pop("stimulus"), row.pop("kind")
        files = tuple(folder / row.pop(side) for side in _SIDES)
        expected = None if kind == "main" else {"": round(row["difference"])}
        found.append(Stimulus(name, files, (), row, kind, expected))
    return found

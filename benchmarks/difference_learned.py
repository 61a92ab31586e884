"""Learned metrics of expressions: on drawn faces of known truth, and at the size of the paper.

``python -m benchmarks.difference_learned [--actors 8] [--expressions 16] [--inter 400]``
draws faces of invented people, lets people with noise say how different they are, and prints for
each learner how well it predicts people it was not learned from, beside every metric that needs no
learning: errors of pixels, structural similarity, and distances of embeddings.

``--full`` times learning on 70,500 pairs of embeddings of width 768 (28 splits of 8 actors), made
at random with a planted distance.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.console import Console

WORKLOADS = ()
"""None with a peer: what learns is scikit-learn's."""

Floats = NDArray[np.float64]

_NOISE = 2.8
"""Standard error of the scores of the paper, in points."""
_LEVELS = (1.0, 0.75, 0.5, 0.25)
_LEARNERS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("svr", "svr", {}),
    ("ridge", "ridge", {}),
    ("ridge, weights from 0", "ridge", {"non_negative": True}),
    ("siamese", "siamese", {}),
)
_PIXELS = ("mse", "mae", "ssim")
_OTHERS = ("hog", "lbp")


@dataclass(frozen=True)
class World:
    """Drawn faces, the pairs that people compare, and how different they truly are."""

    pictures: dict[str, Any]
    pairs: pl.DataFrame
    truth: Floats

    def scores(self, seed: int) -> Floats:
        """What people say, on the scale."""
        rng = np.random.default_rng(seed)
        return np.clip(self.truth + rng.normal(0, _NOISE, self.truth.size), 0, 100)


def drawn(n_actors: int, n_expressions: int, n_inter: int, size: int, seed: int) -> World:
    """Draw every expression of every person at four levels and at rest."""
    from affectlab.simulate import draw_face, true_difference
    from affectlab.simulate.faces import TRANSITION_EXPRESSIONS
    from affectlab.simulate.faces.transitions import peak_parameters

    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(TRANSITION_EXPRESSIONS)[:n_expressions]]
    pictures: dict[str, Any] = {}
    faces: dict[str, Any] = {}
    rows: list[dict[str, str]] = []
    for person in range(n_actors):
        actor = f"person {person}"
        frames: list[tuple[str, str]] = []
        rest = f"{actor}/rest"
        for name in names:
            peak = peak_parameters(name)
            shown = []
            for level in _LEVELS:
                file = f"{actor}/{name} {level:g}"
                faces[file] = peak.scaled(level)
                pictures[file] = draw_face(peak, level, person, size=size)
                shown.append(file)
                frames.append((name, file))
            faces[rest] = peak.scaled(0.0)
            rows += [
                {"actor": actor, "kind": "intra", "file_a": a, "file_b": b}
                for a, b in combinations((*shown, rest), 2)
            ]
        pictures[rest] = draw_face("neutral", 0.0, person, size=size)
        apart = [(a, b) for (x, a), (y, b) in combinations(frames, 2) if x != y]
        chosen = rng.permutation(len(apart))[:n_inter]
        rows += [
            {"actor": actor, "kind": "inter", "file_a": apart[k][0], "file_b": apart[k][1]}
            for k in chosen
        ]
    pairs = pl.DataFrame(rows)
    truth = true_difference(
        *([faces[file] for file in pairs[side]] for side in ("file_a", "file_b"))
    )
    return World(pictures, pairs, np.asarray(truth))


def zero_shot(world: World) -> dict[str, Floats]:
    """What metrics that need no learning say, each so that it rises with the difference."""
    from affectlab.models.differences import load_difference_metric

    names = (*_PIXELS, *(f"deep:{name}" for name in _OTHERS))
    found = {}
    for name in names:
        metric = load_difference_metric(name)
        sides = ([world.pictures[file] for file in world.pairs[s]] for s in ("file_a", "file_b"))
        values = metric.differences(*sides)
        found[metric.name] = values if metric.higher_is_more_different else -values
    return found


def recovery(
    world: World, seed: int, boot: int, console: Console, splits: int | None = None
) -> bool:
    """Print a table per learner; say whether each beats every other metric, by intervals."""
    from affectlab.models.differences import cross_validate
    from affectlab.models.differences.learned import make_learner
    from affectlab.models.embedding import embed

    started = perf_counter()
    embedded = embed(world.pictures, "faces")
    console.print(f"{len(world.pictures):,} faces embedded in {perf_counter() - started:.1f} s")
    others = zero_shot(world)
    held = True
    for title, learner, settings in _LEARNERS:
        started = perf_counter()
        found = cross_validate(
            world.pairs,
            world.scores(seed),
            embedded,
            make_learner(learner, settings),
            n_splits=splits,
            baselines=others,
            n_boot=boot,
            seed=seed,
        )
        console.print(f"\n[bold]{title}[/bold], {perf_counter() - started:.1f} s")
        console.print(found)
        ahead = found.to_frame().filter(pl.col("group") == "all")["srocc_ahead_low"]
        held &= bool((ahead.drop_nans() > 0).all())
    console.print(f"\nevery learner beats every metric without learning: {held}")
    return held


def planted(n: int, width: int, n_frames: int, seed: int = 0) -> Any:
    """Make pairs of embeddings of eight actors, whose scores follow from hidden movements."""
    from affectlab.models.differences.learned.samples import PairSamples

    rng = np.random.default_rng(seed)
    actor_of = np.arange(n_frames) % 8
    moved = rng.normal(size=(n_frames, 30)) * rng.gamma(2, 0.5, size=30)
    mix = rng.normal(size=(30, width))
    values = rng.normal(size=(8, width))[actor_of] * 1.5
    for actor in range(8):
        style = mix + 0.3 * rng.normal(size=mix.shape)
        values[actor_of == actor] += 0.3 * moved[actor_of == actor] @ style
    values += 0.5 * rng.normal(size=values.shape)
    first = rng.integers(0, n_frames, n)
    # Steps of eight stay with one actor.
    second = (first + 8 * rng.integers(1, n_frames // 8, n)) % (n_frames // 8 * 8)
    apart = np.abs(moved[first] - moved[second]) @ rng.gamma(1.0, 1.0, 30)
    scores = 90 * (1 - np.exp(-apart / np.median(apart))) + rng.normal(0, _NOISE, n)
    return PairSamples(
        values.astype(np.float16),
        first,
        second,
        np.clip(scores, 0, 100),
        actor_of[second],
        tuple("abcdefgh"),
        None,
        tuple(map(str, range(n))),
        None,
    )


def full_size(console: Console) -> None:
    """Time all 28 splits at the size of the paper."""
    from affectlab.models.differences.learned import make_learner
    from affectlab.models.differences.learned.cross_validation import cross_validated

    data = planted(70_500, 768, 2_312)
    for title, learner, settings in _LEARNERS:
        started = perf_counter()
        found = cross_validated(data, make_learner(learner, settings), n_boot=2000)
        seconds = perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        console.print(
            f"{title}: 28 splits in {seconds:.1f} s, median SROCC {found.median():.3f} (L1 "
            f"{found.median('L1'):.3f}); most memory of the process so far {peak:.2f} GB"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--actors", type=int, default=8)
    parser.add_argument("--expressions", type=int, default=16)
    parser.add_argument("--inter", type=int, default=400)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-boot", type=int, default=2000)
    parser.add_argument("--splits", type=int, help="draw so many of the splits")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--out", type=Path, help="write what is printed to this file, too")
    asked = parser.parse_args(arguments)
    console = Console(record=True, width=110)
    if asked.full:
        full_size(console)
        held = True
    else:
        world = drawn(asked.actors, asked.expressions, asked.inter, asked.size, asked.seed)
        console.print(
            f"{world.pairs.height:,} pairs of {asked.actors} drawn people and "
            f"{asked.expressions} expressions; people err by {_NOISE:g} points"
        )
        held = recovery(world, asked.seed, asked.n_boot, console, asked.splits)
    if asked.out is not None:
        asked.out.write_text(console.export_text(), encoding="utf-8")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""What heads find in drawn faces of known truth.

``python -m benchmarks.heads_recovery [--faces 10000] [--people 100] [--seeds 5] [--keep FOLDER]``
draws faces, embeds them without any weights, and prints three tables:

1. **Recovery.** One head per expression, trained on 80 % of the people, and judged on the others.
   The truth of a face is 7 times its intensity on the expression drawn, and 0 on all others.
   *Spearman* is over the faces of that expression, at all intensities; *all faces* is over every
   face of the test, nine tenths of which have the truth 0: where such faces get different small
   scores it cannot reach 1 (0.52 at most without ties), so that it is of use for comparison only.
2. **Neutral calibration.** The mean of each head over neutral faces of the people kept aside for
   it, before and after, and what clipping leaves of it.
3. **Two stages.** Many ratings of a noisy and biased machine, few clean ones of people: trained on
   either alone, and on both in turn, over several seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from affectlab.models.embedding import Embeddings, embed
from affectlab.models.heads import HeadBank, HeadShape, Stage, head_agreement
from affectlab.simulate import EXPRESSIONS, FaceSpec, draw_face

Floats = NDArray[np.float64]

LABELS = tuple(name for name in EXPRESSIONS if name != "neutral")
_SIZE = 96
GOAL = 0.85


@dataclass(frozen=True)
class World:
    """Embedded faces and what was drawn."""

    X: Embeddings
    Y: Floats
    """Shape (faces, labels), 0 to 7."""
    label: NDArray[np.int64]
    """Expression of each face, -1: neutral."""
    person: NDArray[np.int64]

    def take(self, mask: NDArray[np.bool_]) -> tuple[Embeddings, Floats]:
        """Give some faces, as a bank takes them."""
        names = [self.X.stimuli[row] for row in np.flatnonzero(mask)]
        return self.X.subset(names), self.Y[mask]


def specs(n_faces: int, n_people: int, seed: int) -> Iterator[FaceSpec]:
    """Faces of every person, expressions in turn, intensities spread over 0 to 1."""
    rng = np.random.default_rng(seed)
    each = n_faces // n_people
    for person in range(n_people):
        # One face in eleven is neutral, as one expression among the others.
        for place in range(each):
            name = EXPRESSIONS[(place + person) % len(EXPRESSIONS)]
            yield FaceSpec(name, 0.0 if name == "neutral" else float(rng.random()), person)


def drawn(n_faces: int, n_people: int, encoder: str, seed: int, folder: Path) -> World:
    """Draw and embed; a folder that holds the same faces already is used again."""
    faces = list(specs(n_faces, n_people, seed))
    place = folder / f"{encoder}-{n_faces}-{n_people}-{seed}"
    if place.is_dir():
        X = Embeddings.load(place)
    else:
        parts = []
        for start in range(0, len(faces), 500):
            pictures = {
                f"{row:05d}": draw_face(face.expression, face.intensity, face.identity, size=_SIZE)
                for row, face in enumerate(faces[start : start + 500], start)
            }
            parts.append(embed(pictures, encoder))
        X = Embeddings.concat(parts).save(place)
    label = np.array([-1 if f.name == "neutral" else LABELS.index(f.name) for f in faces])
    Y = np.zeros((len(faces), len(LABELS)))
    shown = label >= 0
    strength = np.array([face.intensity for face in faces])
    Y[np.flatnonzero(shown), label[shown]] = 7 * strength[shown]
    person = np.array([int(face.identity) for face in faces])  # type: ignore[call-overload]
    return World(X, Y, label, person)


def trained(
    train: tuple[Embeddings, Floats], shape: str | HeadShape, stage: Stage, seed: int
) -> HeadBank:
    """Train a bank in one stage, on all rows that balancing leaves."""
    bank = HeadBank.make(LABELS, shape=shape, seed=seed)
    return bank.fit(*train, stage=stage, cap=None)


def within(bank: HeadBank, world: World, test: NDArray[np.bool_]) -> Floats:
    """Spearman of each head over the faces of its own expression."""
    X, Y = world.take(test)
    predicted, label = bank.predict(X, clip=False), world.label[test]
    return np.array(
        [
            head_agreement(predicted[label == k][:, [k]], Y[label == k][:, [k]], [name])[
                "spearman"
            ].item()
            for k, name in enumerate(LABELS)
        ]
    )


def recovery(world: World, stage: Stage, shape: str, seed: int, console: Console) -> None:
    """Print tables 1 and 2."""
    people = np.unique(world.person)
    order = np.random.default_rng(seed).permutation(people)
    n = max(2, len(people) // 5)
    test, calm = np.isin(world.person, order[:n]), np.isin(world.person, order[n : n + n // 2])
    train = ~test & ~calm
    started = perf_counter()
    bank = trained(world.take(train), shape, stage, seed)
    seconds = perf_counter() - started
    neutral, _ = world.take(calm & (world.label == -1))
    before = bank.predict(neutral, clip=False).mean(axis=0)
    bank.calibrate_neutral(neutral)
    after = bank.predict(neutral, clip=False).mean(axis=0)
    clipped = bank.predict(neutral).mean(axis=0)
    X, Y = world.take(test)
    everyone = head_agreement(bank.predict(X), Y, LABELS)
    own = within(bank, world, test)
    console.print(
        f"\n{len(world.label):,} faces of {len(people)} people, {len(LABELS)} expressions and "
        f"neutral; {world.X.width:,} numbers of {world.X.encoder.name!r}; {shape} heads trained on "
        f"{train.sum():,} faces in {seconds:.0f} s, judged on {test.sum():,} of {n} other people"
    )
    table = _table("Recovery", "label", "Spearman", "all faces", "MAE", "epoch kept")
    for k, name in enumerate(LABELS):
        row = everyone.row(k, named=True)
        table.add_row(
            name,
            f"{own[k]:.3f}",
            f"{row['spearman']:.3f}",
            f"{row['mae']:.2f}",
            str(bank.stages[0]["best_epoch"][k]),
        )
    reached = int((own >= GOAL).sum())
    table.add_row("lowest", f"{own.min():.3f}", "", "", f"{reached} of {len(LABELS)} reach {GOAL}")
    console.print(table)
    table = _table(f"Neutral, {len(neutral)} faces", "label", "before", "after", "clipped")
    for k, name in enumerate(LABELS):
        table.add_row(name, f"{before[k]:+.3f}", f"{after[k]:+.1e}", f"{clipped[k]:.3f}")
    console.print(table)


def two_stages(
    world: World,
    stage: Stage,
    seeds: Sequence[int],
    n_machine: int,
    n_human: int,
    console: Console,
) -> None:
    """Print table 3."""
    table = _table("Two stages, mean Spearman", "seed", "machine alone", "people alone", "both")
    rows = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        people = rng.permutation(np.unique(world.person))
        fifth = max(2, len(people) // 5)
        test = np.isin(world.person, people[:fifth])
        clean = np.zeros(len(test), dtype=bool)
        clean[rng.permutation(np.flatnonzero(~test))[:n_human]] = True
        seen = np.zeros(len(test), dtype=bool)
        seen[rng.permutation(np.flatnonzero(~test & ~clean))[:n_machine]] = True
        X, Y = world.take(seen)
        # The machine overstates what it sees, mixes emotions up, adds noise, and rates in whole
        # numbers.
        mixing = np.eye(len(LABELS)) + 0.25 * rng.random((len(LABELS), len(LABELS)))
        rated = np.minimum(1.8 * Y, 7) @ mixing + rng.normal(0, 2.0, Y.shape)
        big = X, np.clip(np.rint(rated), 0, 7)
        human = world.take(clean)
        shape = HeadShape((128, 32), dropout=0.1)
        first = Stage(epochs=5, learning_rate=stage.learning_rate, batch=stage.batch)
        alone = [trained(part, shape, stage, seed) for part in (big, human)]
        both = HeadBank.make(LABELS, shape=shape, seed=seed)
        both.fit_two_stage(
            big, human, big_stage=first, human_stage=stage, big_cap=None, human_cap=None
        )
        found = [within(bank, world, test).mean() for bank in (*alone, both)]
        rows.append(found)
        table.add_row(str(seed), *(f"{value:.3f}" for value in found))
    table.add_row("mean", *(f"{value:.3f}" for value in np.mean(rows, axis=0)))
    console.print(table)
    won = sum(both > max(one, other) for one, other, both in rows)
    console.print(
        f"two stages win {won} of {len(rows)}; the machine rated {n_machine} faces, people "
        f"{n_human} others"
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=None, header_style="bold", title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    return table


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="What heads find in drawn faces.")
    parser.add_argument("--faces", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--encoder", default="faces")
    parser.add_argument("--shape", default="small")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--human", type=int, default=110, help="faces that people rate in table 3")
    parser.add_argument("--machine", type=int, default=1500, help="that the machine rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder that keeps the embeddings")
    given = parser.parse_args()
    console = Console(width=100)
    stage = Stage(
        epochs=given.epochs, learning_rate=given.learning_rate, batch=64, early_stopping=20
    )
    with TemporaryDirectory() as temporary:
        started = perf_counter()
        world = drawn(
            given.faces, given.people, given.encoder, given.seed, given.keep or Path(temporary)
        )
        console.print(f"drawn and embedded in {perf_counter() - started:.0f} s")
        recovery(world, stage, given.shape, given.seed, console)
        if given.seeds:
            two_stages(world, stage, range(given.seeds), given.machine, given.human, console)


if __name__ == "__main__":
    main()

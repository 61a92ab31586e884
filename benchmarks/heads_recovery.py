"""What heads find in drawn faces of known truth.

``python -m benchmarks.heads_recovery [--faces 10000] [--people 100] [--seeds 6] [--keep FOLDER]``
draws faces, embeds them without any weights, and prints three tables, which it writes to
``HEADS_RECOVERY.md`` (``--dry``: it does not):

1. **Recovery.** One head per expression, trained on 70 % of the people, and judged on 20 %; neutral
   faces of the last 10 % calibrate. The truth of a face is 7 times its intensity on the expression
   drawn, and 0 on all others. *Spearman* is over the faces of that expression, at all intensities;
   *all faces* is over every face of the test, nine tenths of which have the truth 0. Scores that
   differ among these take it down; scores that are cut off at 0, and alike, do not. It is of use
   for comparison only.
2. **Neutral calibration.** The mean of each head over neutral faces of the people kept aside for
   it, before and after, and what clipping leaves of it.
3. **Two stages.** Many ratings of a noisy and biased machine, few clean ones of people: trained on
   either alone, and on both in turn, over several seeds. The machine's ratings alone are learned
   from for as many epochs as in the first of two stages, and those of people as in the second: more
   epochs on the machine's ratings only learn its noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import t as student

from affectlab.core.render.grid import Table
from affectlab.models.embedding import Embeddings, embed
from affectlab.models.heads import HeadBank, HeadShape, Stage, head_agreement
from affectlab.simulate import EXPRESSIONS, draw_face
from affectlab.simulate.faces import FaceSpec
from benchmarks._harness import Workload

Floats = NDArray[np.float64]

LABELS = tuple(name for name in EXPRESSIONS if name != "neutral")
_SIZE = 96
WORKLOADS: tuple[Workload, ...] = ()
"""None: what is found is looked at, and not how long it takes."""
GOAL = 0.85
_HERE = Path(__file__).resolve().parent


class Page:
    """What is printed, and written as Markdown."""

    def __init__(self) -> None:
        self.console = Console(width=100)
        self.lines = ["# What heads find in drawn faces", ""]

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.console.print(f"\n{text}")
        self.lines += [text, ""]

    def add(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        table = Table(title=title, box=None, header_style="bold", title_justify="left")
        for place, column in enumerate(columns):
            table.add_column(column, justify="right" if place else "left")
        for row in rows:
            table.add_row(*row)
        self.console.print(table)
        cells = [list(columns), ["---", *["--:"] * (len(columns) - 1)], *map(list, rows)]
        self.lines += [f"## {title}", "", *(f"| {' | '.join(row)} |" for row in cells), ""]


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
    person = np.array([int(face.identity) for face in faces])  # type: ignore[arg-type]
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


def recovery(world: World, stage: Stage, shape: str, seed: int, page: Page) -> None:
    """Print tables 1 and 2."""
    people = np.unique(world.person)
    order = np.random.default_rng(seed).permutation(people)
    n = max(2, len(people) // 5)
    test, calm = np.isin(world.person, order[:n]), np.isin(world.person, order[n : n + n // 2])
    train = ~test & ~calm
    bank = trained(world.take(train), shape, stage, seed)
    neutral, _ = world.take(calm & (world.label == -1))
    before = bank.predict(neutral, clip=False).mean(axis=0)
    bank.calibrate_neutral(neutral)
    after = bank.predict(neutral, clip=False).mean(axis=0)
    clipped = bank.predict(neutral).mean(axis=0)
    X, Y = world.take(test)
    everyone = head_agreement(bank.predict(X), Y, LABELS)
    own = within(bank, world, test)
    page.say(
        f"{len(world.label):,} faces of {len(people)} people, {len(LABELS)} expressions and "
        f"neutral; {world.X.width:,} numbers of {world.X.encoder.name!r}; {shape} heads trained on "
        f"{train.sum():,} faces, judged on {test.sum():,} of {n} other people."
    )
    rows = []
    for k, name in enumerate(LABELS):
        row = everyone.row(k, named=True)
        epoch = str(bank.stages[0]["best_epoch"][k])
        spearman, mae = f"{row['spearman']:.3f}", f"{row['mae']:.2f}"
        rows.append((name, f"{own[k]:.3f}", spearman, mae, epoch))
    reached = int((own >= GOAL).sum())
    rows.append(("lowest", f"{own.min():.3f}", "", "", f"{reached} of {len(LABELS)} reach {GOAL}"))
    page.add("Recovery", ("label", "Spearman", "all faces", "MAE", "epoch kept"), rows)
    page.add(
        f"Neutral, {len(neutral)} faces",
        ("label", "before", "after", "clipped"),
        [
            (name, f"{before[k]:+.3f}", f"{after[k]:+.1e}", f"{clipped[k]:.3f}")
            for k, name in enumerate(LABELS)
        ],
    )


def two_stages(
    world: World,
    stage: Stage,
    seeds: Sequence[int],
    n_machine: int,
    n_human: int,
    page: Page,
) -> None:
    """Print table 3."""
    rows = []
    first = Stage(epochs=5, learning_rate=stage.learning_rate, batch=stage.batch)
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
        alone = [trained(big, shape, first, seed), trained(human, shape, stage, seed)]
        both = HeadBank.make(LABELS, shape=shape, seed=seed)
        both.fit_two_stage(
            big, human, big_stage=first, human_stage=stage, big_cap=None, human_cap=None
        )
        found = [within(bank, world, test).mean() for bank in (*alone, both)]
        rows.append(found)
    values = np.array(rows)
    gain = values[:, 2] - values[:, :2].max(axis=1)
    told = [[*row, more] for row, more in zip(values.tolist(), gain.tolist(), strict=True)]
    names = [*map(str, seeds), "mean"]
    told.append([*values.mean(axis=0).tolist(), float(gain.mean())])
    page.add(
        "Two stages, mean Spearman",
        ("seed", "machine alone", "people alone", "both", "both, less the better one"),
        [
            (name, *(f"{value:.3f}" for value in row[:3]), f"{row[3]:+.3f}")
            for name, row in zip(names, told, strict=True)
        ],
    )
    won = int((gain > 0).sum())
    said = f"Two stages win {won} of {len(gain)}"
    if len(gain) > 1:
        half = float(student.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain)))
        low, high = gain.mean() - half, gain.mean() + half
        said += f", by {gain.mean():.3f} on average [{low:.3f}, {high:.3f}]"
    page.say(
        f"{said}: 95 % of Student's t over seeds. The machine rated {n_machine:,} faces, people "
        f"{n_human} others; the machine alone and first: {first.epochs} epochs, people at most "
        f"{stage.epochs}."
    )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description="What heads find in drawn faces.")
    parser.add_argument("--faces", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--encoder", default="faces")
    parser.add_argument("--shape", default="small")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--human", type=int, default=110, help="faces that people rate in table 3")
    parser.add_argument("--machine", type=int, default=1500, help="that the machine rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder that keeps the embeddings")
    parser.add_argument("--dry", action="store_true", help="keep HEADS_RECOVERY.md as it is")
    given = parser.parse_args()
    page = Page()
    page.say(
        f"Written by `python -m benchmarks.heads_recovery` on "
        f"{datetime.now(UTC).date().isoformat()}, affectlab {version('affectlab')}. Faces are "
        "drawn, and embedded without any weights; what the columns mean stands in the program."
    )
    stage = Stage(
        epochs=given.epochs, learning_rate=given.learning_rate, batch=64, early_stopping=20
    )
    with TemporaryDirectory() as temporary:
        world = drawn(
            given.faces, given.people, given.encoder, given.seed, given.keep or Path(temporary)
        )
        recovery(world, stage, given.shape, given.seed, page)
        if given.seeds:
            two_stages(world, stage, range(given.seeds), given.machine, given.human, page)
    if not given.dry:
        text = "\n".join(page.lines).rstrip() + "\n"
        (_HERE / "HEADS_RECOVERY.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

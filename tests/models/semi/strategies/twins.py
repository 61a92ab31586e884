"""The strategies once more, in plain Python: one example after another, as print has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log
from typing import Any

import numpy as np

from affectlab.models.semi.strategy import View


@dataclass
class Seen:
    """A step as arrays."""

    labelled_rows: Any
    truth: Any
    labelled_logits: Any
    labelled: Any
    rows: Any
    logits: Any
    weak: Any
    strong_logits: list[Any]
    strong: list[Any]

    @classmethod
    def of(cls, view: View) -> Seen:
        def plain(values: Any) -> Any:
            return values.detach().cpu().numpy()

        return cls(
            plain(view.labelled_rows),
            plain(view.targets),
            plain(view.labelled_logits),
            plain(view.labelled_features),
            plain(view.rows),
            plain(view.weak_logits),
            plain(view.weak_features),
            [plain(one) for one in view.strong_logits],
            [plain(one) for one in view.strong_features],
        )


Said = tuple[list[list[float]], list[float], float | None]


def softmax(scores: Any, temperature: float = 1.0) -> list[float]:
    top = max(scores)
    parts = [exp((score - top) / temperature) for score in scores]
    return [part / sum(parts) for part in parts]


def one_hot(label: int, classes: int) -> list[float]:
    return [float(label == c) for c in range(classes)]


def dot(one: Any, other: Any) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def share(values: list[float]) -> list[float]:
    total = sum(values)
    return [value / total for value in values]


def column_means(rows: list[list[float]]) -> list[float]:
    return [sum(row[c] for row in rows) / len(rows) for c in range(len(rows[0]))]


def cross_entropy(wanted: list[float], found: list[float]) -> float:
    return -sum(a * log(b) for a, b in zip(wanted, found, strict=True) if a > 0)


@dataclass
class Supervised:
    classes: int = 4

    def step(self, seen: Seen) -> Said:
        return [softmax(row) for row in seen.logits], [0.0 for _ in seen.logits], None


@dataclass
class FixMatch:
    tau: float
    classes: int = 4

    def step(self, seen: Seen) -> Said:
        targets, weights = [], []
        for row in seen.logits:
            p = softmax(row)
            targets.append(one_hot(int(np.argmax(p)), self.classes))
            weights.append(1.0 if max(p) >= self.tau else 0.0)
        return targets, weights, None


@dataclass
class FlexMatch:
    tau: float
    mapping: str
    warm_up: bool
    classes: int = 4
    given: dict[int, int] = field(default_factory=dict)
    pool: int = 20

    def step(self, seen: Seen) -> Said:
        counts = [0] * self.classes
        for label in self.given.values():
            counts[label] += 1
        most = max(*counts, self.pool - len(self.given) if self.warm_up else 0)
        thresholds = []
        for count in counts:
            beta = count / most if most else 0.0
            thresholds.append(self.tau * (beta / (2 - beta) if self.mapping == "convex" else beta))
        targets, weights = [], []
        for place, row in zip(seen.rows, seen.logits, strict=True):
            p = softmax(row)
            label = int(np.argmax(p))
            targets.append(one_hot(label, self.classes))
            weights.append(1.0 if max(p) >= thresholds[label] else 0.0)
            if max(p) >= self.tau:
                self.given[int(place)] = label
        return targets, weights, None


@dataclass
class FreeMatch:
    momentum: float
    fairness: float
    classes: int = 4
    tau: float = 0.25
    mean: list[float] = field(default_factory=lambda: [0.25] * 4)
    histogram: list[float] = field(default_factory=lambda: [0.25] * 4)

    def step(self, seen: Seen) -> Said:
        m, said = self.momentum, [softmax(row) for row in seen.logits]
        guesses = [one_hot(int(np.argmax(p)), self.classes) for p in said]
        self.tau = m * self.tau + (1 - m) * sum(max(p) for p in said) / len(said)
        for c in range(self.classes):
            self.mean[c] = m * self.mean[c] + (1 - m) * column_means(said)[c]
            self.histogram[c] = m * self.histogram[c] + (1 - m) * column_means(guesses)[c]
        weights = []
        for p in said:
            label = int(np.argmax(p))
            threshold = self.tau * self.mean[label] / max(self.mean)
            weights.append(1.0 if max(p) >= threshold else 0.0)
        terms = [self.unfair(rows, weights) for rows in seen.strong_logits]
        return guesses, weights, self.fairness * sum(terms) / len(terms)

    def unfair(self, rows: Any, weights: list[float]) -> float:
        used = [softmax(row) for row, weight in zip(rows, weights, strict=True) if weight]
        if not used:
            return 0.0
        shares = column_means([one_hot(int(np.argmax(p)), self.classes) for p in used])
        there = [c for c in range(self.classes) if shares[c] > 0]
        wanted = share([p / h if h else 0.0 for p, h in zip(self.mean, self.histogram)])  # noqa: B905
        found = share([column_means(used)[c] / shares[c] for c in there])
        return sum(wanted[c] * log(b) for c, b in zip(there, found, strict=True))


@dataclass
class SoftMatch:
    momentum: float
    n_sigma: float
    align: bool
    classes: int = 4
    mu: float = 0.25
    variance: float = 1.0
    average: list[float] | None = None

    def step(self, seen: Seen) -> Said:
        m, said = self.momentum, [softmax(row) for row in seen.logits]
        now = column_means(said)
        old = self.average or now
        self.average = [m * a + (1 - m) * b for a, b in zip(old, now, strict=True)]
        sure = []
        for p in said:
            even = share([a / b for a, b in zip(p, self.average, strict=True)])
            sure.append(max(even if self.align else p))
        centre = sum(sure) / len(sure)
        self.mu = m * self.mu + (1 - m) * centre
        spread = sum((k - centre) ** 2 for k in sure) / max(len(sure) - 1, 1)
        self.variance = m * self.variance + (1 - m) * spread
        weights = [
            exp(-(min(k - self.mu, 0) ** 2) / (2 * self.variance / self.n_sigma**2)) for k in sure
        ]
        return [one_hot(int(np.argmax(p)), self.classes) for p in said], weights, None


def graph(labels: list[list[float]], threshold: float) -> list[list[float]]:
    rows = []
    for i, one in enumerate(labels):
        row = []
        for j, other in enumerate(labels):
            agree = 1.0 if i == j else dot(one, other)
            row.append(agree if agree >= threshold else 0.0)
        rows.append(share(row))
    return rows


def contrast(one: Any, other: Any, joined: list[list[float]], temperature: float) -> float:
    total = 0.0
    for i, z in enumerate(one):
        total += cross_entropy(joined[i], softmax([dot(z, w) for w in other], temperature))
    return total / len(joined)


def window_aligned(means: list[list[float]], said: list[list[float]]) -> list[list[float]]:
    average = column_means(means)
    return [share([a / b for a, b in zip(p, average, strict=True)]) for p in said]


@dataclass
class CoMatch:
    tau: float
    alpha: float
    temperature: float
    graph: float
    contrast: float
    memory: int
    window: int
    classes: int = 4
    means: list[list[float]] = field(default_factory=list)
    past: list[tuple[Any, list[float]]] = field(default_factory=list)

    def step(self, seen: Seen) -> Said:
        said = [softmax(row) for row in seen.logits]
        self.means = [*self.means, column_means(said)][-self.window :]
        own = window_aligned(self.means, said)
        targets = []
        for p, z in zip(own, seen.weak, strict=True):
            q = p
            if self.past:
                near = softmax([dot(z, other) for other, _ in self.past], self.temperature)
                q = [
                    self.alpha * p[c]
                    + (1 - self.alpha)
                    * sum(a * row[c] for a, (_, row) in zip(near, self.past, strict=True))
                    for c in range(self.classes)
                ]
            targets.append(q)
        new = list(zip(seen.weak, own, strict=True))
        for z, label in zip(seen.labelled, seen.truth, strict=True):
            new.append((z, one_hot(int(label), self.classes)))
        self.past = [*self.past, *new][-self.memory :]
        weights = [1.0 if max(q) >= self.tau else 0.0 for q in targets]
        joined = graph(targets, self.graph)
        found = contrast(*seen.strong[:2], joined, self.temperature)
        return targets, weights, self.contrast * found


@dataclass
class SimMatch:
    tau: float
    alpha: float
    temperature: float
    momentum: float
    instance: float
    window: int
    classes: int = 4
    means: list[list[float]] = field(default_factory=list)
    bank: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def step(self, seen: Seen) -> Said:
        said = [softmax(row) for row in seen.logits]
        self.means = [*self.means, column_means(said)][-self.window :]
        own = window_aligned(self.means, said)
        held = list(self.bank.values())
        targets, unfolded = [], []
        for p, z in zip(own, seen.weak, strict=True):
            if not held:
                targets.append(p)
                continue
            near = softmax([dot(z, other) for other, _ in held], self.temperature)
            mixed = [self.alpha * p[c] for c in range(self.classes)]
            for r, (_, label) in zip(near, held, strict=True):
                mixed[label] += (1 - self.alpha) * r
            targets.append(mixed)
            unfolded.append(share([r * p[y] for r, (_, y) in zip(near, held, strict=True)]))
        weights = [1.0 if max(q) >= self.tau else 0.0 for q in targets]
        loss = 0.0
        for rows in seen.strong if held else []:
            for z, wanted in zip(rows, unfolded, strict=True):
                found = softmax([dot(z, other) for other, _ in held], self.temperature)
                loss += cross_entropy(wanted, found) / len(rows) / len(seen.strong)
        for place, z, label in zip(seen.labelled_rows, seen.labelled, seen.truth, strict=True):
            old = self.bank.get(int(place))
            new = z if old is None else self.momentum * old[0] + (1 - self.momentum) * z
            self.bank[int(place)] = (new / np.sqrt(dot(new, new)), int(label))
        return targets, weights, self.instance * loss


@dataclass
class S2ver:
    tau: float
    floor: float
    share: float
    temperature: float
    momentum: float
    scale: float
    graph: float
    contrast: float
    distribution: float
    polarity: tuple[int, ...]
    classes: int = 4
    centres: Any = field(default_factory=lambda: np.zeros((4, 5)))
    relation: Any = field(default_factory=lambda: np.full((4, 4), 0.25))

    def learn(self, seen: Seen) -> None:
        m = self.momentum
        for c in range(self.classes):
            right = [
                z
                for z, y, row in zip(seen.labelled, seen.truth, seen.labelled_logits, strict=True)
                if y == c and int(np.argmax(row)) == c
            ]
            if right:
                self.centres[c] = m * self.centres[c] + (1 - m) * sum(right) / len(right)
        for c in range(self.classes):
            near = [
                -float(np.sqrt(sum((self.centres[c] - self.centres[d]) ** 2))) / self.scale
                for d in range(self.classes)
            ]
            self.relation[c] = m * self.relation[c] + (1 - m) * np.array(softmax(near))

    def step(self, seen: Seen) -> Said:
        self.learn(seen)
        targets, weights, blurred = [], [], []
        for row, z in zip(seen.logits, seen.weak, strict=True):
            p = softmax(row)
            near = softmax([dot(z, centre) for centre in self.centres], self.temperature)
            q = [
                (1 - self.share) * p[c]
                + self.share * sum(near[d] * self.relation[d][c] for d in range(self.classes))
                for c in range(self.classes)
            ]
            guess = int(np.argmax(p))
            ambiguity = -sum(part * log(part) for part in q if part > 0)
            mass = sum(q[c] for c in range(4) if self.polarity[c] == self.polarity[guess])
            theta = min(1.0, 1 / ((1 + ambiguity) * mass) if mass > 0 else inf)
            threshold = min(self.tau, self.floor + (1 - self.floor) * theta)
            targets.append(one_hot(guess, self.classes))
            weights.append(1.0 if max(p) >= threshold else 0.0)
            blurred.append(q)
        extra = self.contrast * contrast(
            *seen.strong[:2], graph(blurred, self.graph), self.temperature
        )
        for q, row, weight in zip(blurred, seen.strong_logits[1], weights, strict=True):
            extra += self.distribution * weight * cross_entropy(q, softmax(row)) / len(blurred)
        return targets, weights, extra

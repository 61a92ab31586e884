"""``python -m benchmarks.screening_panel``: whom the policies ``panel`` and ``correlation`` find.

Panels in which some raters answer at random, always alike, on a turned scale, or by half; and
panels in which everybody is honest, of the kinds that this field has. Reported are how many of the
planted raters are to be dropped, and how many honest ones. Table of decision 22.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

WORKLOADS = ()
KINDS = ("random", "constant", "turned", "half")


@dataclass(frozen=True)
class Panel:
    """What is shown to whom, and how honest raters answer."""

    stimuli: int
    raters: int
    gaps: float = 0.0
    planted: int = 0
    """Raters of one kind of carelessness; 0 for a panel without any."""
    what: str = "7 points"
    low: int = 1
    high: int = 7
    middle: float = 4.0
    spread: float = 1.0
    labels: int = 1
    noise: float = 0.25
    """SD of the logarithm of the noise of honest raters."""
    slope: float = 0.0
    """SD of the logarithm of their slopes."""

    def answers(self, rng: np.random.Generator, kind: str) -> np.ndarray:
        """Draw answers, shape (stimuli, labels, raters); the planted raters come first."""
        shape = (self.stimuli, self.labels, self.raters)
        shown = rng.normal(size=shape[:2])[..., None]
        noise = np.exp(rng.normal(0, self.noise, self.raters)) * rng.normal(size=shape)
        slope = np.exp(rng.normal(0, self.slope, self.raters))
        latent = slope * shown + rng.normal(0, 0.5, self.raters) + noise

        def given(x: np.ndarray) -> np.ndarray:
            return np.clip(np.rint(self.middle + self.spread * x), self.low, self.high)

        values, own = given(latent), slice(0, self.planted)
        drawn = rng.integers(self.low, self.high + 1, values[..., own].shape).astype(float)
        if kind == "random":
            values[..., own] = drawn
        elif kind == "constant":
            values[..., own] = np.rint((self.low + self.high) / 2)
        elif kind == "turned":
            values[..., own] = given(-latent)[..., own]
        elif kind == "half":
            values[..., own] = np.where(rng.random(drawn.shape) < 0.5, drawn, values[..., own])
        return values

    def ratings(self, rng: np.random.Generator, kind: str) -> Any:
        from affectlab import Ratings

        values = self.answers(rng, kind)
        shown = rng.random((self.stimuli, 1, self.raters)) >= self.gaps
        s, label, r = np.nonzero(np.broadcast_to(shown, values.shape))
        table = {"stimulus": s, "rater": r, "label": label, "value": values[s, label, r]}
        if self.labels == 1:
            del table["label"]
        else:
            table["label"] = np.char.add("l", label.astype(str))
        return Ratings(table, scale="binary" if self.high == 1 else f"{self.low}-{self.high}")

    def __str__(self) -> str:
        gaps = f", {self.gaps:.0%} gaps" if self.gaps else ""
        slopes = ", slopes differ" if self.slope else ""
        return f"{self.stimuli} x {self.raters}{gaps}, {self.what}{slopes}"


BASE = (
    Panel(30, 8, planted=1),
    Panel(60, 12, planted=1),
    Panel(40, 30, gaps=0.5, planted=2),
    Panel(300, 60, gaps=0.9, planted=3),
    Panel(30, 8, planted=2, slope=0.4),
)
ZEROS = {"what": "79 % zeros", "low": 0, "middle": -1.6, "spread": 2.0, "slope": 0.4}
HONEST = (
    *(replace(one, planted=0) for one in BASE),
    Panel(60, 12, **ZEROS),
    Panel(60, 12, what="20 % yes", low=0, high=1, middle=-0.8, spread=0.8),
    Panel(60, 12, what="5 % yes", low=0, high=1, middle=-2.0, spread=1.0),
    Panel(60, 12, what="5 % yes, 8 labels", low=0, high=1, middle=-2.0, spread=1.0, labels=8),
    Panel(60, 12, what="5 points", high=5, middle=3.0),
    Panel(60, 12, what="0 to 100", low=0, high=100, middle=50.0, spread=18.0),
)


def found(
    panel: Panel, kind: str, policy: str, studies: int, seed: int, above: float | None = None
) -> tuple[int, int]:
    """Count planted raters, and honest ones, that a policy drops; `above` is another limit."""
    from affectlab.reliability import load_policy, screen

    chosen = load_policy(policy)
    if policy == "panel":
        used = [rule for rule in chosen.rules if rule.name in chosen.use.rules]
        used = [
            rule.model_copy(update={"above": above}) if rule.name == "careless" and above else rule
            for rule in used
        ]
        chosen = chosen.model_copy(update={"rules": tuple(used)})
    planted = honest = 0
    for k in range(studies):
        rng = np.random.default_rng([seed, k, len(kind)])
        ratings = panel.ratings(rng, kind)
        judged = screen(ratings, policy=chosen)
        numbers = np.array([int(name) for name in judged.raters_to_drop()], dtype=int)
        planted += int((numbers < panel.planted).sum())
        honest += int((numbers >= panel.planted).sum())
    return planted, honest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--policies", nargs="*", default=["panel", "correlation"])
    parser.add_argument("--above", type=float, help="limit of carelessness of the policy panel")
    parser.add_argument("--seed", type=int, default=20261129)
    asked = parser.parse_args()
    heads = (*(f"{kind} found" for kind in KINDS), "honest dropped beside them")
    print("| panel | policy |", " | ".join(heads), "|")
    print("|---|---|" + "--:|" * len(heads))
    for policy in asked.policies:
        for panel in BASE:
            n, cells, wrong = max(1, asked.studies // panel.planted), [], 0
            for kind in KINDS:
                planted, honest = found(panel, kind, policy, n, asked.seed, asked.above)
                cells.append(f"{planted}/{n * panel.planted}")
                wrong += honest
            cells.append(f"{wrong:,}/{len(KINDS) * n * (panel.raters - panel.planted):,}")
            print(f"| {panel} | {policy} |", " | ".join(cells), "|", flush=True)
    print("\n| honest panel | policy | dropped |\n|---|---|--:|")
    for policy in asked.policies:
        for panel in HONEST:
            n = max(1, 12 * asked.studies // panel.raters)
            _, honest = found(panel, "", policy, n, asked.seed, asked.above)
            print(f"| {panel} | {policy} | {honest:,}/{n * panel.raters:,} |", flush=True)


if __name__ == "__main__":
    main()

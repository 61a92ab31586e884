"""Tables of scored pairs whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.stimuli import ExpressionSequences, example_sequences, pair_design

STRENGTH = {"peak": 1.0, "near_peak": 0.9, "middle": 0.6, "near_neutral": 0.3, "neutral": 0.0}
ROLES = tuple(STRENGTH)


def intra_pair(actor: str, expression: str, a: str, b: str, value: float, **more: float) -> dict:
    """One row: two frames of a transition."""
    return {
        "kind": "intra",
        "actor": actor,
        "expression_a": expression,
        "role_a": a,
        "expression_b": expression,
        "role_b": b,
        "value": value,
        **more,
    }


def inter_pair(actor: str, a: str, b: str, value: float, role_a="peak", role_b="peak") -> dict:
    """One row: frames of two expressions."""
    return {
        "kind": "inter",
        "actor": actor,
        "expression_a": a,
        "role_a": role_a,
        "expression_b": b,
        "role_b": role_b,
        "value": value,
    }


def table_of(rows: Sequence[dict]) -> pl.DataFrame:
    """The rows as a table, each with a name."""
    return (
        pl.DataFrame(rows)
        .with_row_index("row")
        .with_columns(pl.format("p{}", "row").alias("stimulus"))
        .drop("row")
    )


@dataclass(frozen=True)
class Designed:
    """Scores on a design as in the paper, from an additive truth."""

    table: pl.DataFrame
    means: np.ndarray
    """True mean difference of two expressions, shape (n, n)."""
    expressions: list[str]
    actors: dict[str, float]
    roles: dict[str, float]


def designed(
    n_actors: int = 4,
    n_expressions: int = 9,
    groups: int = 3,
    noise: float = 0.0,
    *,
    inside: float = 20.0,
    between: float = 70.0,
    actor_sd: float = 6.0,
    role_sd: float = 5.0,
    interaction: float = 0.0,
    seed: int = 0,
    names: Sequence[str] | None = None,
    common: int | None = None,
    per_actor: Mapping[int, int] | None = None,
) -> Designed:
    """Score the pairs of :func:`pair_design`; expression k belongs to the group k % groups."""
    rng = np.random.default_rng(seed)
    frames = example_sequences(n_actors, n_expressions, common=common, per_actor=per_actor).frames
    expressions = sorted(frames["expression"].unique().to_list())
    if names is not None:
        renamed = dict(zip(expressions, names, strict=True))
        frames = frames.with_columns(pl.col("expression").replace(renamed))
        expressions = list(names)
    pairs = pair_design(ExpressionSequences(frames), seed=seed).pairs
    means = np.full((n_expressions, n_expressions), np.nan)
    for i in range(n_expressions):
        for j in range(i):
            centre = inside if i % groups == j % groups else between
            means[i, j] = means[j, i] = centre + rng.normal(0, 2)
    actors = dict(_centred(sorted(frames["actor"].unique()), actor_sd, rng))
    roles = dict(_centred(ROLES[:-1], role_sd, rng))
    place = {name: k for k, name in enumerate(expressions)}
    pushed = {
        key: rng.normal(0, interaction)
        for key in pairs.select("actor", "expression_a", "expression_b")
        .unique()
        .sort(pl.all())
        .rows()
    }
    values = []
    for row in pairs.iter_rows(named=True):
        if row["kind"] == "intra":
            gain = 1 + actors[row["actor"]] / 100
            value = 80 * gain * abs(STRENGTH[row["role_a"]] - STRENGTH[row["role_b"]])
        else:
            value = means[place[row["expression_a"]], place[row["expression_b"]]]
            value += actors[row["actor"]] + roles[row["role_a"]] + roles[row["role_b"]]
            value += pushed[row["actor"], row["expression_a"], row["expression_b"]]
        values.append(value + noise * rng.normal())
    se = rng.gamma(40, 0.07, len(values))
    table = pairs.with_columns(pl.Series("value", values), pl.Series("se", se))
    return Designed(table, means, expressions, actors, roles)


def _centred(names: Sequence[str], sd: float, rng: np.random.Generator) -> list[tuple[str, float]]:
    drawn = rng.normal(0, sd, len(names))
    return list(zip(names, (drawn - drawn.mean()).tolist(), strict=True))

"""Scores of groups of labels from scores of labels, and targets of groups from targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Bools, Floats
from affectlab.errors import InputError, unknown_name
from affectlab.models.text._scaling import logit, sigmoid
from affectlab.taxonomy import Taxonomy

__all__ = [
    "FromLabels",
    "GroupScores",
    "LevelPlan",
    "group_probabilities",
    "group_targets",
    "level_logits",
    "level_plan",
    "membership",
]

FromLabels: TypeAlias = Literal["noisy_or", "max"]
GroupScores: TypeAlias = Literal["blend", "own", "noisy_or", "max"]


@dataclass(frozen=True)
class LevelPlan:
    """The outputs of a model: its labels, then the groups of each level it is trained on."""

    taxonomy: Taxonomy
    """Of the labels."""
    levels: tuple[str, ...]
    """Levels whose groups are outputs of their own."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output; groups are named ``level: group``."""
        groups = [f"{level}: {g}" for level in self.levels for g in self.taxonomy.groups(level)]
        return (*self.taxonomy.labels, *groups)

    def part(self, level: str | None) -> slice | None:
        """Outputs of a level, None where it has none of its own."""
        if level is None:
            return slice(0, len(self.taxonomy))
        start = len(self.taxonomy)
        for name in self.levels:
            stop = start + len(self.taxonomy.groups(name))
            if name == level:
                return slice(start, stop)
            start = stop
        return None

    def targets(self, targets: Floats) -> Floats:
        """Targets of all outputs, from those of the labels, shape (n, labels)."""
        parts = [group_targets(targets, membership(self.taxonomy, name)) for name in self.levels]
        return np.concatenate([targets, *parts], axis=1)


def level_plan(taxonomy: Taxonomy, levels: tuple[str, ...] | None) -> LevelPlan:
    """Plan outputs; by default for all levels that nest.

    Raises
    ------
    InputError
        When the taxonomy has no such level.
    """
    chosen = taxonomy.nesting_levels() if levels is None else levels
    for level in chosen:
        if level not in taxonomy.levels:
            raise unknown_name("level", level, taxonomy.levels, f"taxonomy {taxonomy.name}")
    return LevelPlan(taxonomy, tuple(dict.fromkeys(chosen)))


def membership(taxonomy: Taxonomy, level: str) -> Bools:
    """Say which labels belong to each group of a level, shape (labels, groups)."""
    groups = taxonomy.groups(level)
    found = [[label in inside for inside in groups.values()] for label in taxonomy.labels]
    return np.array(found, dtype=bool)


def group_probabilities(
    probabilities: Floats, taxonomy: Taxonomy, level: str, how: FromLabels = "noisy_or"
) -> Floats:
    r"""Give the probability of each group of a level from those of its labels.

    Parameters
    ----------
    probabilities
        Shape (n, labels).
    how
        ``"noisy_or"``: :math:`1 - \prod_j (1 - p_j)`, the probability that at least one label of
        the group holds if labels were independent given the text; many small probabilities add up.
        ``"max"``: the largest :math:`p_j`, a lower bound.

    Raises
    ------
    InputError
        When there is no such level or rule.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> goemotions = load_taxonomy("goemotions")
    >>> given = np.zeros((1, 28))
    >>> given[0, [goemotions.index("joy"), goemotions.index("love")]] = 0.5
    >>> group_probabilities(given, goemotions, "sentiment").tolist()
    [[0.75, 0.0, 0.0, 0.0]]
    """
    if how not in get_args(FromLabels):
        raise unknown_name("rule", how, get_args(FromLabels))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(taxonomy):
        raise InputError(
            f"probabilities: shape {probabilities.shape}; expected one column for each of "
            f"{len(taxonomy)} labels"
        )
    groups = [probabilities[:, inside] for inside in membership(taxonomy, level).T]
    if how == "max":
        return np.stack([group.max(axis=1) for group in groups], axis=1)
    return np.stack([1 - np.prod(1 - group, axis=1) for group in groups], axis=1)


def group_targets(targets: Floats, inside: Bools) -> Floats:
    """Give the targets of groups: any label for 0/1; for shares their sum, at most 1.

    A sum takes raters who chose two labels of a group for two people; few do.
    """
    return np.minimum(targets @ inside.astype(np.float64), 1.0)


def level_logits(plan: LevelPlan, outputs: Floats, level: str | None, how: GroupScores) -> Floats:
    """Logits of a level from those of all outputs, before calibration.

    A blend is the mean of the logits of own outputs and of noisy-or over the labels.
    """
    labels = outputs[:, plan.part(None)]
    if level is None:
        return labels
    part = plan.part(level)
    if part is not None and how == "own":
        return outputs[:, part]
    rule: FromLabels = "max" if how == "max" else "noisy_or"
    joined = logit(group_probabilities(sigmoid(labels), plan.taxonomy, level, rule))
    if part is not None and how == "blend":
        joined = (outputs[:, part] + joined) / 2
    return joined

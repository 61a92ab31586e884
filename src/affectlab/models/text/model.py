"""What a text model is made of, learns and keeps, whatever computes its scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats
from affectlab.models.text.decisions import DecisionRule, LevelTuning, Scaling
from affectlab.models.text.labels import GroupScores, LevelPlan, level_plan
from affectlab.models.text.settings import check_values
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Report", "TextModel"]

Report: TypeAlias = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and the total (0: not known)."""


class TextModel(ABC):
    """The parts of a :class:`~affectlab.models.text.TextClassifier`, which says what they mean."""

    backend: ClassVar[str]
    """Name of the back end."""
    library: ClassVar[str] = "affectlab"
    """What can load its folder."""
    shares_training: ClassVar[bool] = False
    """Whether several processes can train one model together; then each has to call `save`."""

    def __init__(
        self,
        *,
        taxonomy: str | Path | Taxonomy = "goemotions",
        level: str | None = None,
        levels: Sequence[str] | None = None,
        group_scores: GroupScores = "blend",
        name: str = "",
        seed: int = 0,
    ) -> None:
        check_choice("group_scores", group_scores, get_args(GroupScores))
        check_values({"level": level, "levels": levels, "name": name, "seed": seed})
        self.given_taxonomy = load_taxonomy(taxonomy)
        self.level = level
        self.taxonomy = self.given_taxonomy if level is None else self.given_taxonomy.coarsen(level)
        if "" in self.taxonomy.levels:
            raise InputError(f"taxonomy {self.taxonomy.name}: a level has no name; expected one")
        chosen = () if level is not None and levels is None else levels
        self.plan: LevelPlan = level_plan(self.taxonomy, None if chosen is None else tuple(chosen))
        self.group_scores: GroupScores = group_scores
        self.name = name or f"{self.backend} text model"
        self.seed = seed
        self.fitted = False
        self.training: dict[str, Any] = {}
        """What it was trained on: source, number of texts, texts per label; once tuned also the
        warnings, and the early stopping, that its results on dev suffer from."""
        self.decisions: dict[str, DecisionRule] = {}
        """Rules by level, under ``""`` that of the labels."""
        self.scalings: dict[str, Scaling] = {}
        """Calibration by level."""
        self.tuning: dict[str, LevelTuning] = {}
        """What rules and calibration reach on dev, by level."""
        self.seen: NDArray[np.uint64] | None = None
        """Fingerprints of the training texts."""

    # -- to be written by back ends --------------------------------------------------------------

    @abstractmethod
    def _fit(
        self, texts: Sequence[str], targets: Floats, dev: Any, progress: Report | None
    ) -> None:
        """Learn one logit per output of `plan`, whose targets are given, shape (n, outputs).

        `dev` is a pair of texts and targets in the same form, or None; it is for early stopping.
        """

    @abstractmethod
    def _logits(self, texts: Sequence[str], progress: Report | None = None) -> Floats:
        """Give the logit of every output, shape (n, outputs)."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Keyword arguments of the back end alone, as plain values, to make it again."""

    @abstractmethod
    def _save(self, folder: Path) -> None:
        """Write what was learned."""

    @abstractmethod
    def _load(self, folder: Path) -> None:
        """Read what :meth:`_save` wrote."""

    # -- what follows from them ------------------------------------------------------------------

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels, in the order of the taxonomy."""
        return self.taxonomy.labels

    def labels_at(self, level: str | None = None) -> tuple[str, ...]:
        """Labels, or groups of a level, in the order of columns."""
        return self.taxonomy.labels if level is None else tuple(self.taxonomy.groups(level))

    @property
    def tuned_levels(self) -> tuple[str, ...]:
        """Levels that thresholds are fitted for."""
        return tuple(dict.fromkeys((*self.plan.levels, *self.taxonomy.nesting_levels())))

    def decision(self, level: str | None = None) -> DecisionRule:
        """Give the rule of a level; before :meth:`tune`, probability from 0.5 on."""
        names = self.labels_at(level)
        rule = DecisionRule("global", names, (0.5,) * len(names), fitted_on="nothing: 0.5")
        return self.decisions.get(level or "", rule)

    def _scaling(self, level: str | None) -> Scaling:
        return self.scalings.get(level or "", Scaling())

    def _require_fitted(self) -> None:
        if not self.fitted:
            raise InputError("this model is not trained yet; call fit, or load one")

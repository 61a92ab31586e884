"""Whether a model's score shows that it looked: repeated answers, and runs without the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._resampling import check_confidence
from affectlab.errors import InputError
from affectlab.estimates import Estimates
from affectlab.evaluation._controls_agreement import agreement_of_runs
from affectlab.evaluation._controls_data import panel_of
from affectlab.evaluation._controls_duplicates import duplicates
from affectlab.evaluation._controls_hints import hint_acceptance, hints_of
from affectlab.evaluation._controls_words import sentence_of
from affectlab.ratings import Ratings
from affectlab.ratings._order import canonical

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["ControlChecks", "control_checks"]


@dataclass(frozen=True, eq=False)
class ControlChecks:
    """What the controls say about each model.

    Made by :func:`control_checks`.
    """

    duplicates: Estimates
    """Share of stimuli whose answer vector another stimulus got, too, keyed by ``rater``. Extra
    columns: ``n_vectors`` (different ones), ``most_repeated`` (in words), ``n_most_repeated``,
    ``chance`` (the share when the answers to each label are shuffled among the stimuli),
    ``same_stimuli`` and ``people`` (the shares of the model and of people on the stimuli that a
    person saw, averaged over people)."""
    runs: Estimates
    """Agreement without the image or on a wrong one, keyed by ``rater``, ``run``, ``measure`` and
    ``quantity``; the extra column ``control`` says which. Measures are ``answers`` (over all
    answers together) and ``labels`` (within each label, averaged); quantities ``main`` (agreement
    of the main run with people), ``control`` (of the control run), ``same`` (of the two runs with
    each other), ``kept`` (the second divided by the first) and ``gain`` (the first less the
    second)."""
    hints: Estimates
    """Wrong hints, keyed by ``rater``, ``run`` and ``quantity``: ``accepted``, ``unprompted`` and
    ``difference``; the extra column ``n_confirmed`` counts hints that people confirm, which are no
    decoys and are left out."""
    by_model: dict[str, str]
    """What the controls say about each model, in a sentence."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per model."""
        return tuple(self.by_model.values())

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain data (for JSON)."""
        return {
            "duplicates": self.duplicates.to_frame().to_dicts(),
            "runs": self.runs.to_frame().to_dicts(),
            "hints": self.hints.to_frame().to_dicts(),
            "sentences": self.sentences,
            "by_model": self.by_model,
        }

    def __repr__(self) -> str:
        runs = self.runs.to_frame()["run"].n_unique() + self.hints.to_frame()["run"].n_unique()
        return f"ControlChecks({len(self.by_model)} models, {runs} control runs)"

    def __rich__(self) -> Group:
        from affectlab.evaluation._controls_show import rich_controls

        return rich_controls(self)


def control_checks(
    ratings: Ratings,
    models: Ratings | None = None,
    *,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> ControlChecks:
    r"""Check whether the answers of models depend on what they were shown.

    A control run is a rater of its own with two attributes: ``control`` says which control it is,
    ``of`` names the rater it controls.

    - ``no_image``: the same questions without the stimulus. What is left of the agreement with
      people needs no stimulus.
    - ``wrong_image``: another stimulus was shown than the one the answer is filed under.
    - ``decoy_hint``: the question held a wrong hint; the column ``hint``, of the answers or of the
      stimuli, names the label. A hint is followed when the label gets more than the lowest value of
      the scale. Hints that the median person confirms are left out.

    Without control runs there is still the share of stimuli that got the same answers, label by
    label, as another stimulus; compared with people on the same stimuli, and with what the
    frequency of the answers to each label alone would give. It grows with the number of stimuli
    and falls with the number of labels; with one label nearly all answers are repeated, which says
    nothing.

    Parameters
    ----------
    ratings
        The answers of people and models, or of models only; then nothing is said of agreement.
    models
        Answers of models in a table of their own.
    n_boot
        Bootstrap replicates over stimuli for the agreement of runs; 0 for no interval. The share
        of repeated answers has an interval by jackknife, since a bootstrap makes duplicates.
    confidence
        Coverage that is aimed at, in (0, 1).
    seed
        Seed or generator.

    Raises
    ------
    InputError
        When there is no model, or a control run does not say what it controls.

    Notes
    -----
    Agreement is the quadratic kappa of a run with the median of people, on stimuli and labels that
    all three answered (Cohen's kappa with the most frequent answer on a nominal scale). Over all
    answers together it rewards knowing which labels are common, which needs no stimulus; within
    labels it does not.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> stimuli = list("abcd")
    >>> table = Ratings(
    ...     {"stimulus": stimuli * 3, "rater": ["ann"] * 4 + ["net"] * 4 + ["blind"] * 4,
    ...      "value": [0, 2, 4, 7, 1, 2, 5, 7, 3, 3, 3, 3]},
    ...     scale="0-7",
    ...     raters={"rater": ["ann", "net", "blind"], "rater_kind": ["human", "model", "model"],
    ...             "control": [None, None, "no_image"], "of": [None, None, "net"]})
    >>> found = control_checks(table, n_boot=0)
    >>> found.runs["net", "blind", "answers", "kept"].value
    0.0
    >>> print(found.by_model["net"].replace("\xa0", " "))
    net gave the same answer to 0 % of stimuli as to another one (people on the same stimuli: 0 %);
    without the image it keeps 0 % of its agreement with people (quadratic kappa 0.00 of 0.96).
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")
    check_confidence(confidence)
    if n_boot < 0:
        raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap samples")
    rng = np.random.default_rng(seed)
    panel = panel_of(ratings, models)
    source = ratings if models is None else models
    hints = {
        control.run: hints_of(_holder(control.run, source, ratings), control.run)
        for control in panel.controls
        if control.kind == "decoy_hint"
    }
    repeated = duplicates(panel, confidence, rng)
    runs = agreement_of_runs(panel, n_boot, confidence, rng)
    accepted = hint_acceptance(panel, hints, n_boot, confidence, rng)
    by_model = {name: sentence_of(name, panel, repeated, runs, accepted) for name in panel.main}
    return ControlChecks(repeated, runs, accepted, by_model)


def _holder(run: str, *tables: Ratings) -> Ratings:
    """Find the table that a run's answers came from."""
    return next(table for table in tables if run in table.rater_names)

"""Whether a model's score shows that it looked: repeated answers, and runs without the image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.inference import check_confidence, check_n_boot
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Key, Number, Share, Table, Text
from affectlab.core.types import pl
from affectlab.evaluation import wording
from affectlab.evaluation.controls.agreement import agreement_of_runs
from affectlab.evaluation.controls.duplicates import duplicates
from affectlab.evaluation.controls.hints import hint_acceptance, hints_of
from affectlab.evaluation.people_and_models import ControlledRuns, controlled_runs
from affectlab.ratings import ModelRatings, Ratings, canonical, model_tables

# What the controls say about a model, in one sentence.


_MOST = 0.5
"""Share of the agreement from which on most of it is left."""


def sentence_of(
    name: str, panel: ControlledRuns, repeated: Estimates, runs: Estimates, hints: Estimates
) -> str:
    """Put what is known of one model into a sentence."""
    row = next(row for row in repeated.frame.iter_rows(named=True) if row["rater"] == name)
    parts = [
        wording.repeats(repeated[name], len(panel.labels) > 1, row["people"], row["same_stimuli"])
    ]
    for control in panel.controls:
        if control.of != name:
            continue
        if control.kind == "decoy_hint":
            parts.append(
                wording.hints_followed(
                    hints[name, control.run, "accepted"], hints[name, control.run, "unprompted"]
                )
            )
        else:
            parts.append(_kept(name, control.run, control.kind, panel, runs))
    if len(parts) == 1:
        parts.append(wording.NO_CONTROL)
    return f"{name} {'; '.join(parts)}."


def _kept(name: str, run: str, kind: str, panel: ControlledRuns, runs: Estimates) -> str:
    def of(quantity: str, measure: str = "answers") -> Estimate:
        return runs[name, run, measure, quantity]

    main, control, kept = of("main"), of("control"), of("kept")
    if not main.ok:
        return wording.control_not_compared(kind, of("same"))
    if not kept.ok:
        return wording.nothing_to_keep(kind, control, main)
    coefficient = "kappa" if panel.scale.kind == "nominal" else "quadratic kappa"
    within = of("kept", "labels") if len(panel.labels) > 1 else None
    text = wording.agreement_kept(kind, coefficient, main, control, kept, within)
    return text + _verdict(of("gain"), kept, within)


def _verdict(gain: Estimate, kept: Estimate, within: Estimate | None) -> str:
    """Conclude, where the interval allows it."""
    if gain.low != gain.low:
        return ""
    if gain.low <= 0:
        return wording.SCORE_WITHOUT_LOOKING
    if kept.value < _MOST:
        return ""
    if within is not None and within.ok and within.value < _MOST:
        return wording.MOST_OVER_ALL_WITHOUT_IMAGE
    return wording.MOST_WITHOUT_IMAGE


@dataclass(frozen=True, eq=False, repr=False)
class ControlChecks(Result):
    """What the controls say about each model, a sentence for each; see :func:`control_checks`."""

    @property
    def duplicates(self) -> Estimates:
        """Share of stimuli whose answer vector another stimulus got, too, keyed by ``rater``.

        Extra columns: ``n_vectors`` (different ones), ``most_repeated`` (in words),
        ``n_most_repeated``, ``chance`` (the share when the answers to each label are shuffled among
        the stimuli), ``same_stimuli`` and ``people`` (the shares of the model and of people on the
        stimuli that a person saw, averaged over people).
        """
        return Estimates((self.table("duplicates"),))

    @property
    def runs(self) -> Estimates:
        """Agreement without the image or on a wrong one.

        Keyed by ``rater``, ``run``, ``measure`` and ``quantity``; the extra column ``control`` says
        which. Measures are ``answers`` (over all answers together) and ``labels`` (within each
        label, averaged); quantities ``main`` (agreement of the main run with people), ``control``
        (of the control run), ``same`` (of the two runs with each other), ``kept`` (the second
        divided by the first) and ``gain`` (the first less the second).
        """
        return Estimates((self.table("runs"),))

    @property
    def hints(self) -> Estimates:
        """Wrong hints, keyed by ``rater``, ``run`` and ``quantity``.

        ``accepted``, ``unprompted`` and ``difference``; the extra column ``n_confirmed`` counts
        hints that people confirm, which are no decoys and are left out.
        """
        return Estimates((self.table("hints"),))

    @property
    def by_model(self) -> dict[str, str]:
        """What the controls say about each model, in a sentence."""
        return dict(zip(self.to_frame()["rater"], self.sentences, strict=True))


_REPEATED = (
    Key("rater"),
    Count("n_items", "stimuli"),
    Share("value", "repeated"),
    Column("interval", "interval", "share_interval", decimals=0),
    Share("chance"),
    Share("people"),
    Text("often", "most often", spare=True),
)
_KEPT = (
    Key("rater"),
    Key("run"),
    Key("measure", "over"),
    Number("main", "with image", decimals=2),
    Number("control_run", "control", decimals=2),
    Share("kept"),
    Column("interval", "interval", "share_interval", decimals=0, spare=True),
    Number("same", "same answers", decimals=2, spare=True),
)
_FOLLOWED = (
    Key("rater"),
    Key("run"),
    Count("n_items", "hints"),
    Share("accepted", "followed"),
    Column("interval", "interval", "share_interval", decimals=0),
    Share("unprompted", "without hint"),
)


def _tables(repeated: Estimates, runs: Estimates, hints: Estimates) -> Iterator[Table]:
    """Give what people are shown, and the estimates behind it."""
    import polars as pl

    often = pl.format("{} x {}", "n_most_repeated", "most_repeated")
    frame = repeated.frame.with_columns(
        often=pl.when(pl.col("n_most_repeated") > 1).then(often).otherwise(pl.lit("–"))
    )
    yield Table("duplicates", "Repeated answers.", frame, _REPEATED)
    if len(runs):
        kept = _wide(runs, "kept", main="main", control_run="control", same="same")
        yield Table("agreement", "Agreement with people.", kept, _KEPT)
    if len(hints):
        followed = _wide(hints, "accepted", unprompted="unprompted")
        yield Table("wrong_hints", "Wrong hints.", followed, _FOLLOWED)
    yield replace(runs.tables[0], name="runs", limit=0)
    yield replace(hints.tables[0], name="hints", limit=0)


def _wide(found: Estimates, first: str, **beside: str) -> pl.DataFrame:
    """Put the values of other quantities beside one of them."""
    keys = [key for key in found.keys if key != "quantity"]
    frame = found.frame.filter(quantity=first).rename({"value": first})
    for name, quantity in beside.items():
        other = found.frame.filter(quantity=quantity).select(*keys, **{name: "value"})
        frame = frame.join(other, on=keys, how="left", maintain_order="left")
    return frame


def control_checks(
    ratings: Ratings,
    models: ModelRatings | None = None,
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
    check_n_boot(n_boot)
    rng = np.random.default_rng(seed)
    panel = controlled_runs(ratings, models)
    tables = [*model_tables(models), ratings]
    hints = {
        control.run: hints_of(
            next(table for table in tables if control.run in table.rater_names), control.run
        )
        for control in panel.controls
        if control.kind == "decoy_hint"
    }
    repeated = duplicates(panel, confidence, rng)
    runs = agreement_of_runs(panel, n_boot, confidence, rng)
    accepted = hint_acceptance(panel, hints, n_boot, confidence, rng)
    return ControlChecks(
        tuple(_tables(repeated, runs, accepted)),
        tuple(sentence_of(name, panel, repeated, runs, accepted) for name in panel.main),
        settings={"n_boot": n_boot, "confidence": confidence},
    )

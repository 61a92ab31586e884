"""The pilot of ``affectlab stimuli curate``: asked, learned from, and used for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.models.text.pilot import PilotModel, PilotPredictor
    from affectlab.ratings import Ratings
    from affectlab.stimuli.curation import CurationPlan
    from affectlab.stimuli.curation.result import Curation

__all__ = ["PILOT_SIZE", "Pilot", "Piloted"]

PILOT_SIZE = 2200
"""Comments of GoEmotions' pilot (section 3.1)."""
_NEED_PREDICTIONS = ("sentiment", "emotion_balance")
_TOLD = ("agree", "n_answered", "n_agreed", "n_dev", "macro_f1", "micro_f1", "chance_f1")


@dataclass(frozen=True)
class Piloted:
    """What came of a pilot."""

    predict: PilotPredictor | None
    """None when people are to be asked first."""
    done: Curation | None
    """The curation up to where the pilot is drawn, when it was drawn now."""
    told: dict[str, Any]
    """For JSON."""
    lines: tuple[str, ...] = ()
    """For people."""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pilot:
    """Where predicted emotions are to come from."""

    size: int | None = None
    answers: Path | None = None
    model: Path | None = None
    annotator: str | None = None
    agree: int | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether any of it was asked for."""
        given = (self.size, self.answers, self.model, self.annotator, self.agree)
        return any(one is not None for one in given)

    def check(self, plan: CurationPlan, until: str | None) -> None:
        """Refuse what contradicts itself.

        Raises
        ------
        InputError
            With what is given twice, or left without use.
        """
        from affectlab.core.errors import InputError
        from affectlab.core.words import joined

        given = {
            "--pilot-answers": self.answers,
            "--pilot-model": self.model,
            "--pilot-annotator": self.annotator,
        }
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise InputError(f"{joined(named)}: expected one of them")
        if self.model is not None and self.size is not None:
            raise InputError("--pilot and --pilot-model: a model needs no pilot; expected one")
        if self.agree is not None and (self.model is not None or not named):
            raise InputError("--pilot-agree: expected it with --pilot-answers or --pilot-annotator")
        if plan.columns.emotions is not None:
            raise InputError(
                f"plan {plan.name}: predictions stand in the column {plan.columns.emotions!r}; "
                "expected no pilot, or a plan without [columns] emotions"
            )
        if not any(step in plan.steps for step in _NEED_PREDICTIONS):
            raise InputError(
                f"plan {plan.name}: none of its steps needs the predictions of a pilot"
            )
        if until is not None:
            raise InputError("--until and a pilot: expected one of them; a pilot stops by itself")

    def stop_after(self, plan: CurationPlan) -> str:
        """Name the step from whose comments the pilot is drawn: the one before predictions."""
        from affectlab.core.errors import InputError

        first = min(plan.steps.index(step) for step in _NEED_PREDICTIONS if step in plan.steps)
        if first == 0:
            raise InputError(
                f"plan {plan.name}: {plan.steps[0]} is its first step; expected steps before it, "
                "from whose comments the pilot is drawn"
            )
        return plan.steps[first - 1]

    def take(
        self, go: Callable[[str], Curation], plan: CurationPlan, folder: Path, *, resume: bool
    ) -> Piloted:
        """Give what predicts emotions, or draw what people are to answer.

        Parameters
        ----------
        go
            Takes the steps up to the one named.
        plan
            Steps and thresholds.
        folder
            For the study and the model.
        resume
            Use answers of an annotator and a model that are there, if they are of the same pilot.
        """
        if self.model is not None:
            return _with_model(self.model, plan)
        if self.answers is not None:
            answers = _answers_in(self.answers, plan)
            made = self._trained(answers, folder, plan, resume)
            return _with_answers(made, _doubts(answers, self.answers, folder))
        done = go(self.stop_after(plan))
        if not done.n_kept:
            return Piloted(None, done, {"drawn": 0})
        texts = done.draw(self.size or PILOT_SIZE, seed=plan.seed).rename({"id": "stimulus"})
        texts = texts.select("stimulus", "text")
        if self.annotator is None:
            from affectlab.cli.stimuli._curate_study import write_pilot_study

            study = write_pilot_study(texts, folder, plan)
            return _asked(study, texts.height, done)
        from affectlab.cli.stimuli._curate_annotator import annotated

        answers = annotated(self.annotator, texts, folder, resume=resume)
        return _with_answers(self._trained(answers, folder, plan, resume), ())

    def _trained(
        self, answers: Ratings, folder: Path, plan: CurationPlan, resume: bool
    ) -> PilotModel:
        from affectlab.models.text import train_pilot_model

        return train_pilot_model(
            answers,
            folder / "model",
            taxonomy=plan.taxonomy,
            agree=self.agree,
            seed=plan.seed,
            resume=resume,
        )


def _with_model(folder: Path, plan: CurationPlan) -> Piloted:
    """Use a model that is there; its labels must be those of the plan."""
    from affectlab.core.errors import InputError
    from affectlab.models.text.pilot import PilotPredictor
    from affectlab.taxonomy import load_taxonomy

    predict = PilotPredictor.of_folder(folder)
    known = load_taxonomy(plan.taxonomy)
    strange = [label for label in predict.model.labels if label not in known]
    if strange:
        raise InputError(
            f"--pilot-model {folder}: its label {strange[0]!r} is not in the taxonomy {known.name} "
            f"of plan {plan.name}; expected a model of the same labels, or another taxonomy"
        )
    return Piloted(predict, None, {"model": folder}, (f"pilot model: {folder}",))


def _with_answers(made: PilotModel, doubts: tuple[str, ...]) -> Piloted:
    """Use a model that was trained on answers; say how good it is."""
    from affectlab.core.words import plural

    told = {name: getattr(made, name) for name in _TOLD}
    when = "" if made.trained_now else " (trained before)"
    lines = [
        f"pilot model: {made.folder}{when}",
        f"  from {made.n_agreed:,} of {made.n_answered:,} answered comments, with a label that "
        f"{plural(made.agree, 'rater')} chose",
        f"  macro F1 {made.macro_f1:.2f}, micro F1 {made.micro_f1:.2f} on {made.n_dev:,} of them "
        "that were kept aside, cross-fitted",
    ]
    if made.replaced:
        lines.append("  trained anew: answers or settings are others than before")
    if made.micro_f1 <= made.chance_f1:
        said = (
            f"the pilot model says no more than chance (micro F1 {made.micro_f1:.2f}; predictions "
            f"given to the wrong comments reach {made.chance_f1:.2f}): what is balanced by it is "
            "noise; have more comments answered, by more raters"
        )
        doubts = (*doubts, said)
    told = {"model": made.folder, **told, "trained_now": made.trained_now}
    return Piloted(made.predictor, None, told, tuple(lines), doubts)


def _asked(study: Path, drawn: int, done: Curation) -> Piloted:
    """Say how people are asked."""
    from affectlab.models.text.pilot import FEWEST_AGREED

    answers = study.parent / "answers"
    lines = (
        f"{drawn:,} comments were drawn for a pilot, which is a study: {study}",
        f"  ask people:  affectlab study serve {study}",
        f"  then:        affectlab study export {study} --out {answers}",
        f"  and repeat this command with --pilot-answers {answers}",
    )
    doubts: tuple[str, ...] = ()
    if drawn < FEWEST_AGREED:
        doubts = (
            f"a pilot of {drawn:,} is too small: a model needs {FEWEST_AGREED} comments with an "
            "agreed label",
        )
    return Piloted(None, done, {"drawn": drawn, "study": study}, lines, doubts)


def _answers_in(path: Path, plan: CurationPlan) -> Ratings:
    """Ratings in a folder that ``study export`` wrote, or in a file."""
    from affectlab.core.errors import InputError
    from affectlab.ratings import read_ratings
    from affectlab.taxonomy import load_taxonomy

    file = path / "ratings.parquet" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise InputError(
            f"{path}: there is no ratings.parquet; expected the folder that "
            "'affectlab study export' wrote"
        )
    found = read_ratings(file)
    known = load_taxonomy(plan.taxonomy)
    wide = [name for name in found.frame.columns if name in known]
    if wide and not found.has_labels:
        raise InputError(
            f"{path}: there is a column for each label, such as {wide[0]!r}; expected what "
            f"'affectlab ratings convert {path} --wide labels --scale binary' makes of it"
        )
    return found


def _doubts(answers: Ratings, path: Path, folder: Path) -> tuple[str, ...]:
    """Warn of answers about other comments than those of the pilot, and of simulated ones."""
    found = []
    if "simulated" in answers.rater_kinds:
        found.append(f"{path}: answers of simulated people say nothing of emotions in comments")
    table = folder / "pilot-texts.csv"
    if table.exists():
        import polars as pl

        asked = set(pl.read_csv(table, infer_schema=False)["stimulus"].to_list())
        if asked.isdisjoint(answers.stimulus_names):
            found.append(f"{path}: none of its answers is about a comment of the pilot in {folder}")
    return tuple(found)

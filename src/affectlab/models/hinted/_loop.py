"""The loop: find what is not covered, make pictures for it, and ask about them with a hint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from affectlab._words import plural
from affectlab.errors import InputError
from affectlab.models.hinted._annotator import Annotator, annotation_of, ask
from affectlab.models.hinted._coverage import Tally, coverage_table
from affectlab.models.hinted._plan import HintedPlan, load_hinted_plan
from affectlab.models.hinted._prompts import first_prompts, round_prompts
from affectlab.models.hinted._result import HintedRun, write_results
from affectlab.models.hinted._state import DECOY, MAIN, Answered, Store
from affectlab.models.images import ImageFile, find_images
from affectlab.ratings import Scale
from affectlab.stimuli.generation import ImageGenerator, generate_images, load_generator
from affectlab.stimuli.generation._generator import MakesImages

__all__ = ["annotate_until"]

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class _Question:
    """A picture that is to be asked about."""

    file: ImageFile
    sha256: str
    hint: str
    target: str


def annotate_until(
    plan: HintedPlan | str | Path,
    generator: str | ImageGenerator | MakesImages,
    annotator: Annotator,
    folder: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> HintedRun:
    """Annotate pictures until every label has enough ratings (emonet-face, B.1).

    First the pictures that there are, and those that the plan has made for the first round, are
    annotated without hints. Then, round by round, pictures are made for the labels that have too
    few ratings above the lowest value, and asked about with a hint that names the label. Such
    ratings are marked, since hints persuade: how far is found out by wrong hints, which a share of
    the pictures gets when it is asked about once more.

    The loop ends when every label has its target, after the rounds or the pictures of the plan, or
    when all that lack ratings were given up: hints at them were followed less often than the
    plan's floor, for as many rounds as its patience. A run that was interrupted, even killed, goes
    on in its folder: no picture is made twice, and none that was answered about is asked about
    again. The same plan, generator and annotator give the same result.

    Parameters
    ----------
    plan
        The plan, or its TOML file.
    generator
        See :func:`affectlab.stimuli.generation.load_generator`.
    annotator
        A function of image files and hints, a label or ``""`` for each, that gives for each file
        the values of labels (those left out have the lowest) or an outcome such as ``"refused"``.
        Its attributes ``name`` and ``version`` are taken over. Language models:
        :class:`affectlab.models.vlm.VlmAnnotator`.
    folder
        A new folder, or that of an earlier run, in which how far the plan goes may have changed.
    settings
        Of a generator by name.
    progress
        Called with a text, how much is done and all of it.

    Returns
    -------
    HintedRun
        Ratings, coverage and acceptance, which are in the folder, too.

    Raises
    ------
    InputError
        When plan, generator, annotator or folder cannot be used, no picture could be made, or the
        annotator failed or was out of reach; what was done is kept, and a later run goes on.

    Examples
    --------
    >>> import tempfile
    >>> def agreeable(images, hints):
    ...     return [{hint: 3} if hint else {"Awe": 2} for hint in hints]
    >>> plan = HintedPlan(labels=["Awe", "Fear"], target=4, initial=4, decoys=0, expected=1)
    >>> run = annotate_until(plan, "drawn", agreeable, tempfile.mkdtemp(), settings={"size": 32})
    >>> run.coverage.select("label", "n", "n_hinted", "status").rows()
    [('Awe', 4, 0, 'met'), ('Fear', 4, 4, 'met')]
    >>> run.stopped
    'every label has its target'
    """
    given = plan if isinstance(plan, HintedPlan) else load_hinted_plan(plan)
    given.known()
    given.prompt_plan()
    maker = load_generator(generator, **dict(settings or {}))
    if not callable(annotator):
        raise InputError(f"annotator: expected a function, not {type(annotator).__name__}")
    named = {"name": _name_of(annotator), "version": str(getattr(annotator, "version", ""))}
    loop = _Loop(Store(Path(folder), given, named), maker, annotator, progress)
    return loop.run()


def _name_of(annotator: Annotator) -> str:
    own = getattr(annotator, "name", None) or getattr(annotator, "__name__", None)
    return str(own or type(annotator).__name__)


class _Loop:
    """One run of the loop in its folder."""

    def __init__(
        self,
        store: Store,
        maker: ImageGenerator,
        annotator: Annotator,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.plan = store.plan
        self.maker = maker
        self.annotator = annotator
        self.progress = progress
        self.known = store.plan.known()
        self.scale = Scale.parse(store.plan.scale)

    def run(self) -> HintedRun:
        """Go through the rounds until there is a reason to stop."""
        coverage: list[pl.DataFrame] = []
        round = 0
        self._first_round()
        while True:
            tally = self._tally(round)
            coverage.append(coverage_table(tally, round))
            # A round that an earlier run began is finished, whatever the plan says now.
            stopped = "" if self._begun(round + 1) else self._reason(tally, round)
            if stopped:
                break
            round += 1
            self._hinted_round(round, tally)
        run = HintedRun(
            self.store.folder,
            self.plan,
            self.store.annotator["name"],
            self.store.annotator["version"],
            dict(self.store.answers),
            pl.concat(coverage),
            stopped,
            tally.n_made,
        )
        write_results(run)
        self.store.say(round=round, step="done", stopped=stopped)
        return run

    def _tally(self, round: int) -> Tally:
        """Count what was there after a round, whatever later rounds of an earlier run did."""
        answers = [one for one in self.store.answers.values() if one.round <= round]
        prompts = [one for one in self.store.all_prompts() if one["round"][0] <= round]
        return Tally.of(self.plan, answers, prompts)

    def _reason(self, tally: Tally, round: int) -> str:
        """Say why the loop ends here; ``""`` where it goes on."""
        if not any(tally.lacking(label) for label in tally.wanted):
            return "every label has its target"
        orders = tally.orders()
        if not orders:
            labels = plural(len(tally.given_up()), "label")
            return f"hints bring too little: {labels} given up, all others have their target"
        if round >= self.plan.rounds:
            return f"all {plural(self.plan.rounds, 'round')} of the plan are over"
        if self.plan.budget is not None and tally.n_made >= self.plan.budget:
            return f"all {plural(self.plan.budget, 'picture')} of the plan are made"
        return ""

    def _begun(self, round: int) -> bool:
        return self.store.prompts(round) is not None

    def _first_round(self) -> None:
        files = [] if self.plan.images is None else list(find_images(self.plan.images))
        questions = [_Question(file, file.sha256, "", "") for file in files]
        if self.plan.initial:
            prompts = self.store.prompts(0)
            if prompts is None:
                prompts = first_prompts(self.plan, [file.stimulus for file in files])
                self.store.keep_prompts(0, prompts)
            questions += self._pictures(0, prompts, hints=False)
        self._annotate(0, MAIN, questions)

    def _hinted_round(self, round: int, tally: Tally) -> None:
        prompts = self.store.prompts(round)
        if prompts is None:
            taken = [stimulus for _, stimulus in self.store.answers]
            prompts = round_prompts(self.plan, tally, round, self.store.all_prompts(), taken)
            self.store.keep_prompts(round, prompts)
        questions = self._pictures(round, prompts, hints=True)
        self._annotate(round, MAIN, questions)
        decoys = dict(prompts.filter(pl.col("decoy") != "").select("stimulus", "decoy").iter_rows())
        wrong = [
            _Question(one.file, one.sha256, decoys[one.file.stimulus], one.target)
            for one in questions
            if one.file.stimulus in decoys
        ]
        self._annotate(round, DECOY, wrong)

    def _pictures(self, round: int, prompts: pl.DataFrame, *, hints: bool) -> list[_Question]:
        """Make the pictures of a round; prompts of which none can be made are passed over."""
        self.store.say(round=round, step="pictures", stopped="")
        made = generate_images(
            prompts.drop("decoy"),
            self.store.pictures,
            generator=self.maker,
            changed="keep",
            progress=self.progress,
        )
        rows = prompts.select("stimulus", "label").join(
            made.images.select("stimulus", "file", "sha256"),
            on="stimulus",
            how="inner",
            maintain_order="left",
        )
        return [
            _Question(
                ImageFile(stimulus, self.store.pictures / file),
                sha256,
                label if hints else "",
                label,
            )
            for stimulus, label, file, sha256 in rows.iter_rows()
        ]

    def _annotate(self, round: int, role: str, questions: Sequence[_Question]) -> None:
        """Ask about pictures that were not answered about yet."""
        self.store.say(round=round, step="answers", stopped="")
        todo = [
            one
            for one in questions
            if not self.store.holds(role, one.file.stimulus, one.sha256, one.hint)
        ]
        where = f"annotator {self.store.annotator['name']!r}"
        out_of_reach = 0
        for start in range(0, len(todo), self.plan.batch):
            batch = todo[start : start + self.plan.batch]
            answers = self._asked(round, role, batch, where)
            self.store.add(answers)
            failed = sum(one.outcome == "transport" for one in answers)
            out_of_reach += failed
            if failed == len(batch) or (out_of_reach and start + self.plan.batch >= len(todo)):
                raise InputError(
                    f"{where} was out of reach for {plural(out_of_reach, 'picture')} of round "
                    f"{round}; what was answered is kept, and another run goes on from here"
                )
            if self.progress is not None:
                done = min(start + self.plan.batch, len(todo))
                self.progress(f"answers of round {round}", done, len(todo))

    def _asked(
        self, round: int, role: str, batch: Sequence[_Question], where: str
    ) -> list[Answered]:
        given = ask(self.annotator, [one.file for one in batch], [one.hint for one in batch], where)
        answers = []
        for question, said in zip(batch, given, strict=True):
            found = annotation_of(said, self.known, self.scale, self.plan.at_most)
            answers.append(
                Answered(
                    role,
                    question.file.stimulus,
                    question.sha256,
                    round,
                    question.hint,
                    question.target,
                    found.outcome,
                    dict(found.values),
                    found.problem,
                )
            )
        return answers

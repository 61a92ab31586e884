"""The loop: find what is not covered, make pictures for it, and ask about them with a hint."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.models.hinted.annotator import Annotator, left_out_by
from affectlab.models.hinted.asking import Asking, Progress, Question
from affectlab.models.hinted.coverage import Tally, coverage_table
from affectlab.models.hinted.plan import HintedPlan, load_hinted_plan
from affectlab.models.hinted.result import HintedRun, write_results
from affectlab.models.hinted.state import DECOY, MAIN, Store
from affectlab.models.images import ImageFile, find_images
from affectlab.models.outcomes import again_outcomes
from affectlab.stimuli import face_prompts, fill_prompts, largest_remainder
from affectlab.stimuli.generation import (
    ImageGenerator,
    MakesImages,
    generate_images,
    load_generator,
)

__all__ = [
    "annotate_until",
    "first_prompts",
    "round_prompts",
]

# Prompts for pictures of labels that are not covered, and which of them get a wrong hint.


_FIRST, _TARGETED, _DECOYS = 1, 2, 3
"""What random numbers are drawn for."""
_NOBODY = {
    "stimulus": pl.String,
    "label": pl.String,
    "gender": pl.String,
    "age": pl.Int64,
    "ethnicity": pl.String,
}


def first_prompts(plan: HintedPlan, taken: Sequence[str]) -> pl.DataFrame:
    """Make the prompts of the first round: all labels equally often."""
    made = face_prompts(
        plan.initial,
        taxonomy=plan.known(),
        plan=plan.prompt_plan(),
        weights=dict.fromkeys(plan.wanted(), 1.0),
        words=plan.words,
        seed=_seed(plan, _FIRST, 0, 0),
    ).to_frame()
    used = set(taken)
    if used & set(made["stimulus"]):
        # Pictures that were there already may be called as prompts are.
        made = made.with_columns(("made-" + pl.col("stimulus")).alias("stimulus"))
    return made.with_columns(decoy=pl.lit(""))


def round_prompts(
    plan: HintedPlan,
    tally: Tally,
    round: int,
    before: Sequence[pl.DataFrame],
    taken: Iterable[str],
) -> pl.DataFrame:
    """Make the prompts of a round: as many for each label as it needs and the budget has left.

    Within a label, people of whom its earlier prompts had too few are asked for; see
    :func:`affectlab.stimuli.fill_prompts`.
    """
    orders = _within_budget(tally.orders(), plan.budget, tally.n_made)
    known, sentences = plan.known(), plan.prompt_plan()
    there = [table.select(list(_NOBODY)) for table in before]
    names = {*taken, *(name for table in before for name in table["stimulus"])}
    made: list[pl.DataFrame] = []
    for label, n in orders.items():
        held = pl.concat([pl.DataFrame(schema=_NOBODY), *there])
        have = held.filter(pl.col("label") == label).height
        new = fill_prompts(
            held,
            have + n,
            labels=[label],
            taxonomy=known,
            plan=sentences,
            words=plan.words,
            taken=names,
            seed=_seed(plan, _TARGETED, round, known.index(label)),
        ).to_frame()
        made.append(new)
        there.append(new.select(list(_NOBODY)))
    table = pl.concat(made)
    return table.with_columns(decoy=pl.Series(_decoys(plan, round, table["label"].to_list())))


def _within_budget(orders: Mapping[str, int], budget: int | None, used: int) -> dict[str, int]:
    """Share out what the budget has left as the orders ask for."""
    total = sum(orders.values())
    if budget is None or total <= budget - used:
        return dict(orders)
    shares = largest_remainder(list(orders.values()), budget - used)
    counts = zip(orders, shares.tolist(), strict=True)
    return {label: n for label, n in counts if n}


def _decoys(plan: HintedPlan, round: int, targets: Sequence[str]) -> list[str]:
    """Draw the pictures that are asked about again, and a wrong label for each."""
    rng = np.random.default_rng(_seed(plan, _DECOYS, round, 0))
    n = math.floor(plan.decoys * len(targets) + rng.random())
    chosen = rng.permutation(len(targets))[:n]
    labels = plan.known().labels
    decoys = [""] * len(targets)
    for row in chosen.tolist():
        others = [label for label in labels if label != targets[row]]
        if others:
            decoys[row] = others[int(rng.integers(len(others)))]
    return decoys


def _seed(plan: HintedPlan, purpose: int, round: int, label: int) -> int:
    drawn = np.random.SeedSequence([plan.seed, purpose, round, label])
    return int(drawn.generate_state(1)[0])


def annotate_until(
    plan: HintedPlan | str | Path,
    generator: str | ImageGenerator | MakesImages,
    annotator: Annotator,
    path: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    again: Collection[str] | str = (),
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
    plan's floor, for as many rounds as its patience and in enough pictures to be sure. Pictures
    without a usable answer say nothing about hints; where they are too many, the run stops. A run
    that was interrupted, even killed, goes on in its folder: no picture is made twice, and none
    that was answered about is asked about again. What the annotator was asked about when a run was
    killed is asked about again, and listed in ``in_flight``. Two runs cannot use a folder at a
    time. The same
    plan, generator and annotator give the same result.

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
        :class:`affectlab.models.vlm.VlmAnnotator`, of a rater with ``left_out="zero"``.
    path
        A new folder, or that of an earlier run, in which how far the plan goes may have changed.
    settings
        Of a generator by name.
    again
        Outcomes that are asked about again although they are in the folder, such as ``refused``;
        failures of the transport and rejections always are.
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
        annotator failed, was out of reach, or gave fewer usable answers than the plan wants; what
        was done is kept, with tables of it, and a later run goes on.

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
    if left_out_by(annotator) == "not rated":
        raise InputError(
            "annotator: it is told that labels which it leaves out are not rated, and they would "
            "count as 0; expected one with left_out='zero'"
        )
    named = {"name": _name_of(annotator), "version": str(getattr(annotator, "version", ""))}
    with Store(Path(path), given, named, again_outcomes(again)) as store:
        return _Loop(store, maker, annotator, progress).run()


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
        self.progress = progress
        self.ask = Asking(store, annotator, progress).about

    def run(self) -> HintedRun:
        """Go through the rounds until there is a reason to stop, and write what came of it."""
        history: list[pl.DataFrame] = []
        try:
            round, stopped = self._rounds(history)
        except InputError as problem:
            if self.store.answers:
                # What there is can be looked at, although the run did not come to its end.
                round = max(one.round for one in self.store.answers.values())
                history[round:] = [coverage_table(self._tally(round), round)]
                self._write(history, round, "stopped", str(problem))
            raise
        return self._write(history, round, "done", stopped)

    def _rounds(self, history: list[pl.DataFrame]) -> tuple[int, str]:
        """Go through the rounds; gives the last one, and why it was the last."""
        round = 0
        self._first_round()
        while True:
            tally = self._tally(round)
            history.append(coverage_table(tally, round))
            # A round that an earlier run began is finished, whatever the plan says now.
            stopped = "" if self._begun(round + 1) else self._reason(tally, round)
            if stopped:
                return round, stopped
            round += 1
            self._hinted_round(round, tally)

    def _write(self, history: list[pl.DataFrame], round: int, step: str, stopped: str) -> HintedRun:
        run = HintedRun(
            self.store.folder,
            self.plan,
            self.store.annotator["name"],
            self.store.annotator["version"],
            dict(self.store.answers),
            pl.concat(history),
            stopped,
            self._tally(round).n_made,
            self.store.n_broken,
            self.store.in_flight,
        )
        write_results(run)
        self.store.say(round=round, step=step, stopped=stopped)
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
            given_up = len(tally.given_up())
            others = ", all others have their target" if given_up < len(tally.wanted) else ""
            return f"hints bring too little: {plural(given_up, 'label')} given up{others}"
        if round >= self.plan.rounds:
            return f"all {plural(self.plan.rounds, 'round')} of the plan are over"
        if self.plan.budget is not None and tally.n_made >= self.plan.budget:
            return f"all {plural(self.plan.budget, 'picture')} of the plan are made"
        return ""

    def _begun(self, round: int) -> bool:
        return self.store.prompts(round) is not None

    def _first_round(self) -> None:
        files = [] if self.plan.images is None else list(find_images(self.plan.images))
        questions = [Question(file, file.sha256, "", "") for file in files]
        if self.plan.initial:
            prompts = self.store.prompts(0)
            if prompts is None:
                prompts = first_prompts(self.plan, [file.stimulus for file in files])
                self.store.keep_prompts(0, prompts)
            questions += self._pictures(0, prompts, hints=False)
        self.ask(0, MAIN, questions)

    def _hinted_round(self, round: int, tally: Tally) -> None:
        prompts = self.store.prompts(round)
        if prompts is None:
            taken = [stimulus for _, stimulus in self.store.answers]
            prompts = round_prompts(self.plan, tally, round, self.store.all_prompts(), taken)
            self.store.keep_prompts(round, prompts)
        questions = self._pictures(round, prompts, hints=True)
        self.ask(round, MAIN, questions)
        decoys = dict(prompts.filter(pl.col("decoy") != "").select("stimulus", "decoy").iter_rows())
        wrong = [
            Question(one.file, one.sha256, decoys[one.file.stimulus], one.target)
            for one in questions
            if one.file.stimulus in decoys
        ]
        self.ask(round, DECOY, wrong)

    def _pictures(self, round: int, prompts: pl.DataFrame, *, hints: bool) -> list[Question]:
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
            Question(
                ImageFile(stimulus, self.store.pictures / file),
                sha256,
                label if hints else "",
                label,
            )
            for stimulus, label, file, sha256 in rows.iter_rows()
        ]

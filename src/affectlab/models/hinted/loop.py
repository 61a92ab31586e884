"""The loop: find what is not covered, make pictures for it, and ask about them with a hint."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.files.csv import write_data_csv
from affectlab.core.words import percent, plural
from affectlab.evaluation import OUTCOMES
from affectlab.models.ask import LineFile
from affectlab.models.hinted.annotator import (
    DECOY,
    MAIN,
    Annotator,
    Answered,
    Question,
    ask,
    checked,
    left_out_by,
)
from affectlab.models.hinted.coverage import Tally, coverage_table
from affectlab.models.hinted.plan import LATER, HintedPlan, load_hinted_plan
from affectlab.models.hinted.result import HintedRun, write_results
from affectlab.models.images import ImageFile, find_images
from affectlab.models.outcomes import again_outcomes
from affectlab.models.runs import read_json, write_json
from affectlab.ratings import Scale
from affectlab.stimuli import face_prompts, fill_prompts, largest_remainder
from affectlab.stimuli.generation import (
    ImageGenerator,
    MakesImages,
    generate_images,
    load_generator,
    read_prompts,
)

__all__ = ["annotate_until"]

Progress: TypeAlias = Callable[[str, int, int], None]

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
    time. The same plan, generator and annotator give the same result.

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
        annotator failed, or gave fewer usable answers than the plan wants; a later run goes on.

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
    anew = _FAILURES | set(again_outcomes(again))
    with _Folder(Path(path), given, named) as folder:
        return _Loop(folder, maker, annotator, anew, progress).run()


def _name_of(annotator: Annotator) -> str:
    own = getattr(annotator, "name", None) or getattr(annotator, "__name__", None)
    return str(own or type(annotator).__name__)


class _Folder:
    """What a loop keeps beside its pictures: the plan, the prompts of each round, and answers.

    Prompts are written before their pictures are made, a question before the annotator has it, and
    an answer as soon as it is there, so that a run that is killed at any moment goes on. Nobody
    else writes there meanwhile.
    """

    def __init__(self, folder: Path, plan: HintedPlan, annotator: Mapping[str, str]) -> None:
        self.folder, self.plan, self.annotator = folder, plan, dict(annotator)
        self.pictures, self.prompted = folder / "pictures", folder / "prompts"
        self.state = folder / "state.json"
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder} is a file; expected a folder for the run")
        # A run that was killed at once left its ledger, or the beginning of its state.
        left = (_LEDGER, f".{_LEDGER}.lock", f".{self.state.name}.part", self.prompted.name)
        held = [] if self.state.exists() or not folder.is_dir() else list(folder.iterdir())
        if any(one.name not in left for one in held):
            raise InputError(
                f"{folder} holds other files; expected a new folder, an empty one, or that of an "
                "earlier run"
            )
        self.ledger = LineFile(folder / _LEDGER, "affectlab/hinted-ledger/1", _QUESTION)
        try:
            self.prompted.mkdir(exist_ok=True)
            self._check()
        except BaseException:
            self.ledger.close()
            raise
        self.n_broken = self.ledger.n_broken
        self.kept: dict[tuple[str, str], Answered] = {}
        """Last answer of earlier runs, by role and stimulus."""
        known, scale = plan.known(), Scale.parse(plan.scale)
        for line in self.ledger.lines():
            try:
                answer = Answered(**line)
                key = (answer.role, answer.stimulus)
                usable = checked(answer.values, known, scale, None)[0] == "ok"
                if not (usable and answer.outcome in OUTCOMES and isinstance(answer.round, int)):
                    raise ValueError(answer)
                self.kept[key] = answer
            except (TypeError, ValueError):
                # Somebody has edited it; what it held is asked about again.
                self.n_broken += 1

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()

    def _check(self) -> None:
        """Begin, or find that an earlier run did the same with the folder."""
        if not self.state.exists():
            self.say(round=0, step="begun", stopped="")
            return
        told = read_json(self.state)
        if not isinstance(told, dict) or told.get("schema") != _SCHEMA:
            raise InputError(f"{self.state}: expected the schema {_SCHEMA}")
        was = told.get("plan", {})
        names = [
            name
            for name, value in self.plan.model_dump(mode="json").items()
            if was.get(name) != value and name not in LATER
        ]
        if names or told.get("fingerprint") != self.plan.fingerprint:
            raise InputError(
                f"{self.folder} was begun with another plan ({', '.join(names)}); expected the "
                "plan of the earlier run, in which how far to go may change, or a new folder"
            )
        for name, before in told.get("annotator", {}).items():
            if self.annotator.get(name) != before:
                raise InputError(
                    f"{self.folder} was begun with an annotator whose {name} is {before!r}, not "
                    f"{self.annotator.get(name)!r}; expected the same one, or a new folder"
                )

    def say(self, *, round: int, step: str, stopped: str) -> None:
        """Write down where the run is, for people and for the check of the next run."""
        told = {
            "schema": _SCHEMA,
            "affectlab": __version__,
            "fingerprint": self.plan.fingerprint,
            "plan": self.plan.model_dump(mode="json"),
            "annotator": self.annotator,
            "round": round,
            "step": step,
            "stopped": stopped,
        }
        part = self.state.with_name(f".{self.state.name}.part")
        write_json(part, told)
        part.replace(self.state)

    def prompts(self, round: int) -> pl.DataFrame | None:
        """Read the prompts of a round, with their decoys; None where there are none yet."""
        place = self._of_round(round)
        if not place.exists():
            return None
        return read_prompts(place).with_columns(pl.col("decoy").cast(pl.String).fill_null(""))

    def keep_prompts(self, round: int, table: pl.DataFrame) -> None:
        """Write the prompts of a round, whole or not at all."""
        place = self._of_round(round)
        part = place.with_name(f".{place.name}.part")
        write_data_csv(table, part)
        part.replace(place)

    def _of_round(self, round: int) -> Path:
        return self.prompted / f"round-{round:03d}.csv"

    def prompts_until(self, round: int) -> list[pl.DataFrame]:
        """Read the prompts of rounds up to one, each with its number."""
        found = ((one, self.prompts(one)) for one in range(round + 1))
        return [t.with_columns(round=pl.lit(n, pl.Int64)) for n, t in found if t is not None]


_SCHEMA = "affectlab/hinted/1"
_LEDGER = "ledger.jsonl"
_QUESTION = ("role", "stimulus", "sha256", "hint")
"""What names a question in the ledger."""
_ODDS = 1e-6
"""Chance of as many answers in a row without use, at the share that a plan wants, after which it is
no chance."""


def most_in_a_row(share: float) -> float:
    """Give the answers in a row without use after which a run stops.

    Parameters
    ----------
    share
        Share of answers that must be usable, in [0, 1].

    Examples
    --------
    >>> most_in_a_row(0.5), most_in_a_row(0)
    (20, inf)
    """
    if share == 0:
        return math.inf
    return 1 if share == 1 else math.ceil(math.log(_ODDS) / math.log1p(-share))


class _Loop:
    """One run of the loop in its folder."""

    def __init__(
        self,
        folder: _Folder,
        maker: ImageGenerator,
        annotator: Annotator,
        again: Collection[str],
        progress: Progress | None,
    ) -> None:
        self.again = again
        self.folder, self.plan, self.maker = folder, folder.plan, maker
        self.annotator, self.progress = annotator, progress
        self.where = f"annotator {folder.annotator['name']!r}"
        self.answers: dict[tuple[str, str], Answered] = {}
        """By role and stimulus."""
        self.in_a_row: list[Answered] = []
        """Last answers, as far as they cannot be used."""

    def run(self) -> HintedRun:
        """Go through the rounds until there is a reason to stop, and write what came of it."""
        history: list[pl.DataFrame] = []
        try:
            round, stopped = self._rounds(history)
        except InputError as problem:
            if self.answers:
                # What there is can be looked at, although the run did not come to its end.
                round = max(one.round for one in self.answers.values())
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
            begun = self.folder.prompts(round + 1) is not None
            stopped = "" if begun else self._reason(tally, round)
            if stopped:
                return round, stopped
            round += 1
            self._hinted_round(round, tally)

    def _write(self, history: list[pl.DataFrame], round: int, step: str, stopped: str) -> HintedRun:
        run = HintedRun(
            self.folder.folder,
            self.plan,
            self.folder.annotator["name"],
            self.folder.annotator["version"],
            dict(self.answers),
            pl.concat(history),
            stopped,
            self._tally(round).n_made,
            self.folder.n_broken,
            tuple(str(one.get("stimulus")) for one in self.folder.ledger.in_flight),
        )
        write_results(run)
        self.folder.say(round=round, step=step, stopped=stopped)
        return run

    def _tally(self, round: int) -> Tally:
        """Count what was there after a round."""
        return Tally.of(self.plan, self.answers.values(), self.folder.prompts_until(round))

    def _reason(self, tally: Tally, round: int) -> str:
        """Say why the loop ends here; ``""`` where it goes on."""
        if not any(tally.lacking(label) for label in tally.wanted):
            return "every label has its target"
        if not tally.orders():
            given_up = len(tally.given_up())
            others = ", all others have their target" if given_up < len(tally.wanted) else ""
            return f"hints bring too little: {plural(given_up, 'label')} given up{others}"
        if round >= self.plan.rounds:
            return f"all {plural(self.plan.rounds, 'round')} of the plan are over"
        if self.plan.budget is not None and tally.n_made >= self.plan.budget:
            return f"all {plural(self.plan.budget, 'picture')} of the plan are made"
        return ""

    def _first_round(self) -> None:
        files = [] if self.plan.images is None else list(find_images(self.plan.images))
        asked = [Question(MAIN, file, file.sha256, "", "") for file in files]
        if self.plan.initial:
            prompts = self.folder.prompts(0)
            if prompts is None:
                prompts = first_prompts(self.plan, [file.stimulus for file in files])
                self.folder.keep_prompts(0, prompts)
            asked += [one._replace(hint="") for one in self._pictures(0, prompts)]
        self._ask(0, asked)

    def _hinted_round(self, round: int, tally: Tally) -> None:
        prompts = self.folder.prompts(round)
        if prompts is None:
            taken = [stimulus for _, stimulus in self.answers]
            before = self.folder.prompts_until(round - 1)
            prompts = round_prompts(self.plan, tally, round, before, taken)
            self.folder.keep_prompts(round, prompts)
        made = self._pictures(round, prompts)
        self._ask(round, made)
        decoys = dict(prompts.filter(pl.col("decoy") != "").select("stimulus", "decoy").iter_rows())
        wrong = [
            one._replace(role=DECOY, hint=decoys[one.file.stimulus])
            for one in made
            if one.file.stimulus in decoys
        ]
        self._ask(round, wrong)

    def _pictures(self, round: int, prompts: pl.DataFrame) -> list[Question]:
        """Make the pictures of a round; prompts of which none can be made are passed over."""
        self.folder.say(round=round, step="pictures", stopped="")
        made = generate_images(
            prompts.drop("decoy"),
            self.folder.pictures,
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
            Question(MAIN, ImageFile(name, self.folder.pictures / file), sha256, label, label)
            for name, label, file, sha256 in rows.iter_rows()
        ]

    def _ask(self, round: int, asked: Sequence[Question]) -> None:
        """Ask about the pictures of a round that were not answered about yet."""
        self.folder.say(round=round, step="answers", stopped="")
        todo = []
        for one in asked:
            held = self.folder.kept.get((one.role, one.file.stimulus))
            if (
                held is None
                or (held.sha256, held.hint) != (one.sha256, one.hint)
                or held.outcome in self.again
            ):
                todo.append(one)
            else:
                self.answers[held.role, held.stimulus] = held
        ledger = self.folder.ledger
        for start in range(0, len(todo), self.plan.batch):
            batch = todo[start : start + self.plan.batch]
            named = [one.named() for one in batch]
            ledger.ask(*named)
            unsent = partial(ledger.withdraw, *named)
            answers = ask(self.annotator, self.plan, self.where, round, batch, unsent)
            ledger.add(*map(asdict, answers))
            for answer in answers:
                self.answers[answer.role, answer.stimulus] = answer
                if OUTCOMES[answer.outcome].usable:
                    self.in_a_row.clear()
                else:
                    self.in_a_row.append(answer)
            self._check_in_a_row(len(batch))
            if self.progress is not None:
                self.progress(f"answers of round {round}", start + len(batch), len(todo))
        came = [self.answers[one.role, one.file.stimulus] for one in asked if one.role == MAIN]
        bad = [one for one in came if not OUTCOMES[one.outcome].usable]
        if len(came) - len(bad) < self.plan.usable * len(came):
            raise InputError(
                f"{self.where}: {plural(len(bad), 'answer')} of the {len(came):,} in round {round} "
                f"cannot be used ({_counted(bad)}), and at least {percent(self.plan.usable)} must "
                f"be (usable); {_what_to_do(bad)}"
            )

    def _check_in_a_row(self, batch: int) -> None:
        """Stop where nobody was reached by a whole batch, or too many answers cannot be used."""
        last = self.in_a_row
        # A few pictures that never get through must not hold up the others.
        whole = 1 < batch == self.plan.batch <= len(last)
        nobody = whole and all(one.outcome in _FAILURES for one in last[-batch:])
        if nobody or len(last) >= most_in_a_row(self.plan.usable):
            raise InputError(
                f"{self.where} gave {plural(len(last), 'answer')} in a row that cannot be used "
                f"({_counted(last)}); {_what_to_do(last)}"
            )


_FAILURES = frozenset({"transport", "rejected"})
"""Outcomes that are no answers: nobody has looked at the picture."""


def _counted(answers: Iterable[Answered]) -> str:
    counts = Counter(one.outcome for one in answers)
    return ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())


def _what_to_do(answers: Sequence[Answered]) -> str:
    kinds = sorted({one.outcome for one in answers} - _FAILURES)
    problems = [one.problem for one in answers if one.problem]
    said = f"the last one because: {problems[-1]}; " if problems else ""
    if not kinds:
        return said + "another run goes on, and asks about these pictures again"
    ways = " ".join(f"--config again={kind}" for kind in kinds)
    return f"{said}what was answered is kept, and {ways} (again=) asks about such pictures again"

"""The loop: find what is not covered, make pictures for it, and ask about them with a hint."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.core.registry import Registry, callables
from affectlab.core.words import joined, percent, plural, shown
from affectlab.evaluation import OUTCOMES
from affectlab.models.ask import LineFile
from affectlab.models.hinted import wording
from affectlab.models.hinted.plan import LATER, HintedPlan, load_hinted_plan
from affectlab.models.hinted.result import Answer, HintedRun, coverage_table, hinted_run
from affectlab.models.images import ImageFile, find_images
from affectlab.models.outcomes import again_outcomes
from affectlab.ratings import Scale
from affectlab.stimuli import fill_prompts, largest_remainder, load_prompt_plan
from affectlab.stimuli.generation import (
    ImageGenerator,
    MakesImages,
    generate_images,
    load_generator,
)
from affectlab.stimuli.prompts import PromptPlan

__all__ = ["Annotator", "annotate_until", "list_image_annotators", "load_image_annotator"]

Annotator: TypeAlias = Callable[[Sequence[ImageFile], Sequence[str]], Sequence[Any]]
"""Answers about image files with a hint each, a label or ``""``: values of labels, or an outcome
(a key of ``OUTCOMES``). Labels that are left out have the lowest value.
An error of affectlab that it raises (:class:`affectlab.core.errors.InputError`) says that nobody
was asked, such as without a key, or that it keeps itself what came. Its attributes ``name`` and
``version`` are taken over where it has them, and one whose attribute ``left_out`` says
``"not rated"`` is refused."""
Progress: TypeAlias = Callable[[str, int, int], None]
_ANNOTATORS = Registry[Annotator](
    kind="annotator",
    group="affectlab.image_annotators",
    accept=callables,
    expected="a function",
)
_LEDGER, _NAMES = "ledger.jsonl", ("stimulus", "sha256", "hint")
_FAILURES = frozenset({"transport", "rejected"})
"""Outcomes that are no answers: nobody has looked at the picture."""
_EXPECTED, _PRIOR = 0.5, 2
"""Share of hints that is expected to be followed (the paper: about one half), and the pictures that
it weighs as much as, in guessing how many a label needs."""
_ODDS = 1e-6
"""Chance of as many answers in a row without use, at the share that a plan wants, after which it is
no chance."""
_PEOPLE = {
    "stimulus": pl.String,
    "label": pl.String,
    "gender": pl.String,
    "age": pl.Int64,
    "ethnicity": pl.String,
}


def list_image_annotators() -> tuple[str, ...]:
    """Names of the annotators that installed packages add.

    A package adds one by an entry point in the group ``affectlab.image_annotators`` that leads to a
    function of image files and hints; see :func:`annotate_until`.

    Examples
    --------
    >>> isinstance(list_image_annotators(), tuple)
    True
    """
    return _ANNOTATORS.names()


def load_image_annotator(name: str) -> Annotator:
    """Load the annotator that a package adds.

    Raises
    ------
    InputError
        When there is none of that name, or it cannot be loaded.
    """
    return _ANNOTATORS.load(name)


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
    when all that lack ratings were given up: the interval of the share of hints that were followed
    (95 %) ends below the plan's floor. Pictures without a usable answer say nothing about hints;
    where they are too many, the run stops. A run that was interrupted, even killed, goes on in its
    folder: no picture is made twice, and none that was answered about is asked about again. What
    the annotator was asked about when a run was killed is asked about again, and named. Two runs
    cannot use a folder at a time. The same plan, generator and annotator give the same result.

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
        ``ledger.jsonl`` is its memory; ``pictures`` has what was made, ``ratings.parquet`` and the
        tables of the result what came of it.
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
    >>> plan = HintedPlan(labels=["Awe", "Fear"], target=4, initial=4, decoys=0)
    >>> run = annotate_until(plan, "drawn", agreeable, tempfile.mkdtemp(), settings={"size": 32})
    >>> run.to_frame().select("label", "n", "n_hinted", "status").rows()
    [('Awe', 4, 0, 'met'), ('Fear', 8, 8, 'met')]
    >>> run.stopped
    'every label has its target'
    """
    told = plan if isinstance(plan, HintedPlan) else load_hinted_plan(plan)
    told.wanted()
    sentences = load_prompt_plan(told.prompts)
    maker = load_generator(generator, **dict(settings or {}))
    if not callable(annotator):
        raise InputError(f"annotator: expected a function, not {type(annotator).__name__}")
    if getattr(annotator, "left_out", "zero") == "not rated":
        raise InputError(
            "annotator: it is told that labels which it leaves out are not rated, and they would "
            "count as 0; expected one with left_out='zero'"
        )
    anew = _FAILURES | again_outcomes(again)
    own = getattr(annotator, "name", None) or getattr(annotator, "__name__", None)
    by = {
        "annotator": str(own or type(annotator).__name__),
        "version": str(getattr(annotator, "version", "")),
    }
    folder = Path(path)
    # A run that was killed at once left nothing but the lock.
    there = {one.name for one in folder.iterdir()} if folder.is_dir() else set()
    if _LEDGER not in there and there - {f".{_LEDGER}.lock"}:
        raise InputError(
            f"{folder} holds other files; expected a new folder, an empty one, or that of an "
            "earlier run"
        )
    with LineFile(folder / _LEDGER, "affectlab/hinted/1", _NAMES) as ledger:
        return _Loop(told, sentences, folder, ledger, maker, annotator, by, anew, progress).run()


@dataclass
class _Loop:
    """One run of the loop in its folder.

    The ledger has the plan, the prompts of each round before their pictures are made, and every
    answer, so that a run that is killed at any moment goes on.
    """

    plan: HintedPlan
    sentences: PromptPlan
    folder: Path
    ledger: LineFile
    maker: ImageGenerator
    annotator: Annotator
    by: Mapping[str, str]
    again: Collection[str]
    progress: Progress | None
    prompts: dict[int, pl.DataFrame] = field(default_factory=dict)
    kept: dict[tuple[str, str], Answer] = field(default_factory=dict)
    """Last answers of earlier runs."""
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    """Those of them, and of this run, that the rounds so far asked for."""
    files: dict[str, ImageFile] = field(default_factory=dict)
    n_broken: int = 0

    def run(self) -> HintedRun:
        """Go through the rounds until there is a reason to stop, and write what came of it."""
        self._read()
        rounds: list[pl.DataFrame] = []
        try:
            stopped = self._rounds(rounds)
        except InputError as problem:
            if self.answers:
                # What there is can be looked at, although the run did not come to its end.
                self._result([*rounds, self._coverage(len(rounds))], str(problem))
            raise
        return self._result(rounds, stopped)

    def _read(self) -> None:
        """Read what earlier runs left, and refuse to go on with another plan or annotator."""
        done = self.plan.model_dump(mode="json", exclude=set(LATER)) | dict(self.by)
        begun, labels = None, set(self.plan.known.labels)
        self.n_broken = self.ledger.n_broken
        for line in self.ledger.lines():
            try:
                if "begun" in line:
                    begun = dict(line["begun"])
                elif "prompts" in line:
                    self._take(**line)
                else:
                    answer = Answer(**line)
                    if answer.outcome not in OUTCOMES or not labels.issuperset(answer.values):
                        raise ValueError(line)
                    self.kept[answer.key] = answer
            except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError):
                # Somebody has edited it; what it held is done again.
                self.n_broken += 1
        if begun is None:
            self.ledger.add({"begun": done})
        elif begun != done:
            other = joined([name for name in done if begun.get(name) != done[name]])
            raise InputError(
                f"{self.folder} was begun with another plan or annotator ({other}); expected those "
                "of the earlier run, of which how far to go may change, or a new folder"
            )

    def _take(self, round: int, prompts: Sequence[Mapping[str, Any]]) -> None:
        table = pl.DataFrame(prompts, schema_overrides=_PEOPLE, infer_schema_length=None)
        self.prompts[int(round)] = table.select(pl.exclude("decoy"), "decoy")

    def _rounds(self, rounds: list[pl.DataFrame]) -> str:
        """Go through the rounds; gives why the last one was the last."""
        given = [] if self.plan.images is None else list(find_images(self.plan.images))
        self.files = {file.stimulus: file for file in given}
        asked = [Answer(file.stimulus, file.sha256, "", "", 0) for file in given]
        wanted = self.plan.wanted()
        equal = largest_remainder(np.ones(len(wanted)), self.plan.initial).tolist()
        orders = dict(zip(wanted, equal, strict=True))
        while True:
            round = len(rounds)
            if any(orders.values()) and round not in self.prompts:
                rows = self._new_prompts(round, orders)
                self.ledger.add({"round": round, "prompts": rows})
                self._take(round, rows)
            self._ask(round, asked + self._pictures(round))
            asked = []
            rounds.append(self._coverage(round))
            orders = self._orders(rounds[-1])
            stopped = self._reason(rounds[-1], round)
            # A round that an earlier run began is finished, whatever the plan says now.
            if stopped and round + 1 not in self.prompts:
                return stopped

    def _coverage(self, round: int) -> pl.DataFrame:
        tables = [table for n, table in self.prompts.items() if n <= round]
        made = Counter(label for table in tables for label in table["label"])
        return coverage_table(self.plan, round, self.answers.values(), made)

    def _result(self, rounds: Sequence[pl.DataFrame], stopped: str) -> HintedRun:
        waiting = [str(one["stimulus"]) for one in self.ledger.in_flight]
        about = {"stopped": stopped, "in_flight": waiting, "n_broken": self.n_broken}
        run = hinted_run(self.plan, self.answers.values(), rounds, self.by, about)
        run.write(self.folder)
        run.ratings.write(self.folder / "ratings.parquet")
        return run

    def _orders(self, coverage: pl.DataFrame) -> dict[str, int]:
        """Give how many pictures each label needs, as hints were followed so far."""
        orders = {}
        for row in coverage.filter(status="lacking").iter_rows(named=True):
            share = (row["n_hinted"] + _PRIOR * _EXPECTED) / (row["asked"] + _PRIOR)
            lacking = math.ceil((row["target"] - row["n"]) / share)
            orders[row["label"]] = min(self.plan.per_round, lacking)
        if orders and self.plan.budget is not None:
            left = max(0, self.plan.budget - int(coverage["made"].sum()))
            total = min(left, sum(orders.values()))
            shares = largest_remainder(list(orders.values()), total).tolist()
            orders = dict(zip(orders, shares, strict=True))
        return orders

    def _reason(self, coverage: pl.DataFrame, round: int) -> str:
        """Say why the loop ends after a round; ``""`` where it goes on."""
        counts, budget = Counter(coverage["status"]), self.plan.budget
        if counts["met"] == coverage.height:
            return wording.EVERY_LABEL
        if not counts["lacking"]:
            return wording.too_little(counts["given up"], coverage.height)
        if round >= self.plan.rounds:
            return wording.all_done(self.plan.rounds, "round")
        if budget is not None and coverage["made"].sum() >= budget:
            return wording.all_done(budget, "picture")
        return ""

    def _new_prompts(self, round: int, orders: Mapping[str, int]) -> list[dict[str, Any]]:
        """Make the prompts of a round.

        Within a label, people of whom its earlier prompts had too few are asked for; see
        :func:`affectlab.stimuli.fill_prompts`.
        """
        known = self.plan.known
        before = [table.select(list(_PEOPLE)) for table in self.prompts.values()]
        there = pl.concat([pl.DataFrame(schema=_PEOPLE), *before])
        rows: list[dict[str, Any]] = []
        for label, n in orders.items():
            if not n:
                continue
            drawn = np.random.SeedSequence([self.plan.seed, round, known.index(label)])
            new = fill_prompts(
                there,
                there.filter(label=label).height + n,
                labels=[label],
                taxonomy=known,
                plan=self.sentences,
                taken=self.files,
                seed=int(drawn.generate_state(1)[0]),
            ).to_frame()
            rows += new.to_dicts()
            there = pl.concat([there, new.select(list(_PEOPLE))])
        # Who is asked about again, and a wrong label for each; nobody without hints.
        rng = np.random.default_rng([self.plan.seed, round, len(known)])
        n = math.floor(self.plan.decoys * len(rows) + rng.random()) if round else 0
        chosen = set(rng.permutation(len(rows))[:n].tolist())
        for place, row in enumerate(rows):
            others = [label for label in known.labels if label != row["label"]]
            row["decoy"] = str(rng.choice(others)) if place in chosen and others else ""
        return rows

    def _pictures(self, round: int) -> list[Answer]:
        """Make the pictures of a round; prompts of which none can be made are passed over."""
        if round not in self.prompts:
            return []
        prompts, place = self.prompts[round], self.folder / "pictures"
        made = generate_images(
            prompts.drop("decoy"),
            place,
            generator=self.maker,
            changed="keep",
            progress=self.progress,
        )
        images = made.images.select("stimulus", "file", "sha256")
        rows = prompts.select("stimulus", "label", "decoy").join(
            images, on="stimulus", how="inner", maintain_order="left"
        )
        usual, wrong = [], []
        for stimulus, label, decoy, file, sha256 in rows.iter_rows():
            self.files[stimulus] = ImageFile(stimulus, place / file)
            usual.append(Answer(stimulus, sha256, label if round else "", label, round))
            if decoy:
                wrong.append(replace(usual[-1], hint=decoy))
        return usual + wrong

    def _ask(self, round: int, asked: Sequence[Answer]) -> None:
        """Ask about the pictures of a round that were not answered about yet."""
        todo = []
        for one in asked:
            held = self.kept.get(one.key)
            if held is None or held.sha256 != one.sha256 or held.outcome in self.again:
                todo.append(one)
            else:
                self.answers[one.key] = held
        size, least = self.plan.batch, self.plan.usable
        row: list[Answer] = []
        """Last answers, as far as they cannot be used."""
        for start in range(0, len(todo), size):
            for answer in self._answers(todo[start : start + size]):
                self.answers[answer.key] = answer
                row = [] if OUTCOMES[answer.outcome].usable else [*row, answer]
            if (1 - least) ** len(row) <= _ODDS:
                raise self._useless(f"{plural(len(row), 'answer')} in a row", row)
            if self.progress is not None:
                self.progress(f"answers of round {round}", start + size, len(todo))
        came = [self.answers[one.key] for one in asked]
        bad = [one for one in came if not OUTCOMES[one.outcome].usable]
        if len(came) - len(bad) < least * len(came):
            of = f"{plural(len(bad), 'answer')} of the {len(came):,} in round {round}"
            raise self._useless(of, bad)

    def _answers(self, batch: Sequence[Answer]) -> list[Answer]:
        """Ask about some pictures, and keep what came."""
        named = [{name: getattr(one, name) for name in _NAMES} for one in batch]
        where = f"annotator {self.by['annotator']!r}"
        self.ledger.ask(*named)
        try:
            files = [self.files[one.stimulus] for one in batch]
            given = list(self.annotator(files, [one.hint for one in batch]))
        except InputError:
            # It says itself why it does not answer; of all else nobody knows whether it was sent.
            self.ledger.withdraw(*named)
            raise
        # An annotator is anybody's code.
        except Exception as error:
            raise InputError(
                f"{where} failed on {len(batch)} pictures, {batch[0].stimulus!r} first "
                f"({type(error).__name__}: {shown(error, 200)}); what was answered before is kept, "
                "and another run goes on"
            ) from error
        if len(given) != len(batch):
            raise InputError(
                f"{where} gave {len(given)} answers about {len(batch)} pictures; expected one each"
            )
        answers = []
        for one, said in zip(batch, given, strict=True):
            outcome, values, problem = checked(said, self.plan)
            answers.append(replace(one, outcome=outcome, values=values, problem=problem))
        self.ledger.add(*map(asdict, answers))
        return answers

    def _useless(self, how_many: str, bad: Sequence[Answer]) -> InputError:
        """Say that answers cannot be used, and what to do."""
        counts = Counter(one.outcome for one in bad)
        kinds = ", ".join(f"{n:,} {outcome}" for outcome, n in counts.most_common())
        problems = [f"the last one because: {one.problem}; " for one in bad if one.problem]
        ways = " ".join(f"--config again={kind}" for kind in sorted(set(counts) - _FAILURES))
        then = f"{ways} (again=) asks" if ways else "another run asks"
        return InputError(
            f"annotator {self.by['annotator']!r} gave {how_many} that cannot be used ({kinds}), "
            f"and at least {percent(self.plan.usable)} must be (usable); {''.join(problems[-1:])}"
            f"what was answered is kept, and {then} about such pictures again"
        )


def checked(given: Any, plan: HintedPlan) -> tuple[str, dict[str, float], str]:
    """Check what was given for a picture: its outcome, values by label, and what is wrong.

    Examples
    --------
    >>> plan = HintedPlan(initial=1, at_most=1)
    >>> checked({"awe": 4}, plan)
    ('ok', {'Awe': 4.0}, '')
    >>> checked({"Awe": 4, "Fear": 2}, plan)[2]
    '2 labels above 0; expected at most 1'
    """
    if isinstance(given, str) and given != "ok":
        check_choice("outcome", given, OUTCOMES, "annotator")
        return given, {}, ""
    if not isinstance(given, Mapping):
        return "unparseable", {}, f"gave {shown(given, 40)!r}; expected values of labels"
    known, scale = plan.known, Scale.parse(plan.scale)
    try:
        values = {known.name_of(str(name)): float(value) for name, value in given.items()}
    except (TypeError, ValueError) as error:
        return "schema_invalid", {}, shown(error, 200)
    if len(values) < len(given) or not scale.contains(list(values.values())).all():
        return "schema_invalid", {}, f"{shown(given, 200)}: expected each label once, on {scale}"
    above = sum(value > plan.lowest for value in values.values())
    if plan.at_most and above > plan.at_most:
        said = f"{above} labels above {plan.lowest:g}; expected at most {plan.at_most}"
        return "rule_violation", {}, said
    return "ok", values, ""

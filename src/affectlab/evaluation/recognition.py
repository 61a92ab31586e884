"""Is the intended emotion recognised: hit rates, and Wagner's unbiased hit rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
import polars as pl
from scipy import sparse

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.estimates import Estimates, side_by_side
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target, check_confidence, infer
from affectlab.core.render.notes import interval_notes
from affectlab.core.result import Result
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Statistic
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Share, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined, option, plural, sentence_case, shown
from affectlab.evaluation import wording
from affectlab.evaluation.people_and_models import judged_runs
from affectlab.ratings import (
    MODEL_KINDS,
    Answers,
    ClusterLike,
    ModelRatings,
    Ratings,
    StimulusClusters,
    answers_of,
    folded,
    labels_on,
    model_tables,
    stimulus_clusters,
)

INTENDED = ("intended", "intended_emotion", "emotion", "expression", "target", "posed")
"""Columns of the stimulus table that are looked for where none is named."""
UNDECIDED = "no single label"
"""The answer of a rater who gives the highest number to several labels, or 0 to all."""
PEOPLE = "people"
MEAN = "mean"
"""The row of the mean over emotions."""
_TITLES = {
    "hit_rate": ("hit rate", "mean over raters"),
    "unbiased_hit_rate": ("unbiased hit rate", "mean over raters"),
    "pooled_hit_rate": ("hit rate", "answers of all raters pooled"),
    "pooled_unbiased_hit_rate": ("unbiased hit rate", "answers of all raters pooled"),
    "chance": ("unbiased hit rate that chance gives", "mean over raters"),
}
"""What each measure is, over several raters."""
_POOLED = ("pooled_hit_rate", "pooled_unbiased_hit_rate")
_FEWEST = 3
"""Stimuli from which on there is an interval."""
_BLOCK = 1 << 22
"""Sums that are held at once."""
_GRID = 12
"""Answers up to which a confusion table is shown whole."""
_OFTEN, _MOST_NAMED = 0.1, 3
"""Share of the answers from which on a confusion is named, and confusions that are."""


@dataclass(frozen=True, eq=False)
class _Answered:
    """What some raters answered about stimuli of which it is known what was intended."""

    name: str
    unit: Ints
    rater: Ints
    shown: Ints
    """Code of the intended category of each answer."""
    answered: Ints
    """Code of the answered category."""
    units: tuple[str, ...]
    raters: tuple[str, ...]
    categories: tuple[str, ...]
    known: bool = True
    """Whether it is known who answered."""
    said: tuple[str, ...] = ()
    """Which answers are left out."""

    @property
    def who(self) -> str:
        """What sentences call these raters."""
        one = self.name == PEOPLE and self.known and len(self.raters) == 1
        return "the person" if one else self.name

    @cached_property
    def intended(self) -> Ints:
        """Codes of the categories that were shown."""
        return np.unique(self.shown)

    @cached_property
    def _pairs(self) -> tuple[Ints, sparse.csr_array]:
        """Pairs of rater and category that occur, and what each stimulus adds to their sums.

        Sums are hits, presentations and answers, in three blocks of columns.
        """
        k = len(self.categories)
        of_shown, of_answered = self.rater * k + self.shown, self.rater * k + self.answered
        pairs = np.unique(np.concatenate([of_shown, of_answered]))
        hit = self.shown == self.answered
        columns = [
            np.searchsorted(pairs, of) + block * pairs.size
            for block, of in enumerate((of_shown[hit], of_shown, of_answered))
        ]
        rows = np.concatenate([self.unit[hit], self.unit, self.unit])
        cells = (rows, np.concatenate(columns))
        shape = (len(self.units), 3 * pairs.size)
        return pairs, sparse.csr_array((np.ones(rows.size), cells), shape)

    @cached_property
    def by_rater(self) -> dict[str, Any]:
        """Counts and rates of every rater and category, as columns."""
        pairs, sums = self._pairs
        rater, category = np.divmod(pairs, len(self.categories))
        hits, shown, answered = np.asarray(sums.sum(axis=0)).reshape(3, -1)
        total = np.bincount(rater, shown, len(self.raters))[rater]
        return {
            "rater": [self.raters[code] for code in rater],
            "intended": [self.categories[code] for code in category],
            "n_hits": hits.astype(np.int64),
            "n_shown": shown.astype(np.int64),
            "n_answered": answered.astype(np.int64),
            "hit_rate": ratio(hits, shown),
            "unbiased_hit_rate": _unbiased(hits, shown, answered),
            "chance": np.where(shown > 0, shown * answered / total**2, np.nan),
        }

    def evaluate(self, draws: Draws) -> Floats:
        """Give every measure of every intended category, and their means over categories."""
        _, sums = self._pairs
        out = np.empty((draws.n_rows, len(_TITLES) * (self.intended.size + 1)))
        for rows, block in draws.blocks(max(1, _BLOCK // sums.shape[1])):
            out[rows] = self._rates(block.totals(sums), block.rater)
        return out

    def _rates(self, totals: Floats, raters: Floats | None) -> Floats:
        pairs, _ = self._pairs
        k, b = len(self.categories), len(totals)
        rater, category = np.divmod(pairs, k)
        of_category = sparse.csr_array(
            (np.ones(pairs.size), (np.arange(pairs.size), category)), (pairs.size, k)
        )
        of_rater = sparse.csr_array(
            (np.ones(pairs.size), (np.arange(pairs.size), rater)), (pairs.size, len(self.raters))
        )
        hits, shown, answered = (totals[:, n * pairs.size :][:, : pairs.size] for n in range(3))
        weight = np.ones((b, pairs.size)) if raters is None else raters[:, rater]

        def summed(values: Floats) -> Floats:
            total: Floats = (weight * values @ of_category)[:, self.intended]
            return total

        def mean(values: Floats) -> Floats:
            known = ~np.isnan(values)
            return ratio(summed(np.where(known, values, 0.0)), summed(known.astype(np.float64)))

        n = (shown @ of_rater)[:, rater]
        pooled = [summed(part) for part in (hits, shown, answered)]
        found = [
            mean(ratio(hits, shown)),
            mean(_unbiased(hits, shown, answered)),
            ratio(pooled[0], pooled[1]),
            _unbiased(*pooled),
            mean(np.where(shown > 0, ratio(shown * answered, n**2), np.nan)),
        ]
        # Emotion by emotion, and measure by measure within.
        laid = np.stack(found, axis=2)
        with_means = np.concatenate([laid, laid.mean(axis=1, keepdims=True)], axis=1)
        return with_means.reshape(b, -1)

    @property
    def statistic(self) -> Statistic:
        """All measures, for draws of stimuli and raters."""
        places = [np.flatnonzero(self.shown == code) for code in self.intended]
        rows = [*places, np.arange(self.unit.size)]
        names = [*(self.categories[code] for code in self.intended), MEAN]
        n = len(_TITLES)
        every = np.unique(self.unit)
        # How often a category is answered wherever another was intended matters to all but these.
        units = [
            np.unique(self.unit[row]) if measure in ("hit_rate", "pooled_hit_rate") else every
            for row in rows
            for measure in _TITLES
        ]
        raters = [np.unique(self.rater[row]) for row in rows for _ in _TITLES]
        return Statistic(
            keys={
                "rater": [self.name] * n * len(rows),
                "intended": [name for name in names for _ in _TITLES],
                "measure": [*_TITLES] * len(rows),
            },
            design=Design.of(units, len(self.units), raters, len(self.raters)),
            evaluate=self.evaluate,
            method=[
                what[:1] if self.known and len(self.raters) == 1 else what
                for what in _TITLES.values()
            ]
            * len(rows),
            n_items=[np.unique(self.unit[row]).size for row in rows for _ in _TITLES],
            n_raters=[code.size for code in raters],
            n_ratings=[row.size for row in rows for _ in _TITLES],
            undefined=Reason(Cause.NONE, of="showings"),
            bounds=(0.0, 1.0),
            targets=STIMULI_AND_RATERS,
            fewest=_FEWEST,
        )

    def counts(self) -> pl.DataFrame:
        """How often each category was answered where each was intended."""
        k = len(self.categories)
        table = np.bincount(self.shown * k + self.answered, minlength=k * k).reshape(k, k)
        share = ratio(table, table.sum(axis=1, keepdims=True))
        rows = np.repeat(self.intended, k)
        columns = np.tile(np.arange(k), self.intended.size)
        return pl.DataFrame(
            {
                "rater": [self.name] * rows.size,
                "true": [self.categories[code] for code in rows],
                "predicted": [self.categories[code] for code in columns],
                "count": table[rows, columns],
                "share": share[rows, columns],
            }
        )


def _unbiased(hits: Floats, shown: Floats, answered: Floats) -> Floats:
    """0 where the answer was never given, ``nan`` where the emotion was never shown."""
    rate = ratio(hits**2, shown * answered, 0.0)
    return np.where(shown > 0, rate, np.nan)


def recognition(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    intended: str | None = None,
    target: Target = "both",
    confidence: float = 0.95,
    cluster: ClusterLike = None,
) -> Result:
    r"""Compute how well raters recognise what stimuli are meant to show.

    Of a rater's n answers, :math:`n_{ij}` are category j where i was intended. The hit rate of i
    and Wagner's unbiased hit rate, with the value that chance gives the latter, are

    .. math::

        H_i = \frac{n_{ii}}{n_{i\cdot}}, \quad
        H^u_i = \frac{n_{ii}^2}{n_{i\cdot} \, n_{\cdot i}}, \quad
        p_i = \frac{n_{i\cdot} \, n_{\cdot i}}{n^2}.

    The unbiased rate is not raised by raters who give an answer often. It is computed for each
    person and averaged over people; of the answers of all people pooled, it is another number.

    Parameters
    ----------
    ratings
        People, or people and models. Each answer names a category; where there are several labels,
        it is the label with the highest number. Who skipped a label of a stimulus is left out
        there, except in yes/no lists of what was chosen, which hold no 0.
    models
        Models, each of which is judged by itself.
    intended
        The column of the stimulus table that says what was intended; by default one called
        ``intended``, ``emotion``, ``expression``, ``target`` or the like that holds answers.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``; ``sample`` for
        none. Those of a single rater, such as a model, are about stimuli.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, or a mapping
        from stimulus to cluster; ``"none"`` for stimuli drawn one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.

    Returns
    -------
    Result
        ``recognition``: for people and each model, by ``intended`` category and for their mean,
        ``hit_rate``, ``unbiased_hit_rate``, ``chance`` (means over raters, in [0, 1]) and, of
        several people, ``pooled_hit_rate`` and ``pooled_unbiased_hit_rate``, each with the ends of
        its interval. ``estimates``: the same, a row for each number. ``raters``: rates of every
        rater; 0 where the answer was never given, and empty where the category was never shown.
        ``confusion``: how often each category was answered where each was intended. All answers
        count, such as "none of these". ``stimuli``: of each stimulus the share of people (of the
        only rater, where there are no people) who gave the ``intended`` category, the
        most frequent other answer, and whether that is as frequent.

    Raises
    ------
    InputError
        If no column says what was intended, what it says is nothing that was answered, or numbers
        for labels are on different scales.

    References
    ----------
    Wagner (1993), On measuring performance in category judgment studies of nonverbal behavior.

    Examples
    --------
    >>> answers = {"stimulus": list("abcd") * 2, "rater": ["r"] * 4 + ["s"] * 4,
    ...            "value": ["joy", "joy", "fear", "joy", "joy", "fear", "fear", "fear"]}
    >>> shown = {"stimulus": list("abcd"), "intended": ["joy", "joy", "fear", "fear"]}
    >>> ratings = Ratings(answers, scale="nominal:joy,fear,none", stimuli=shown)
    >>> found = recognition(ratings, target="sample")
    >>> found.to_frame("raters")["unbiased_hit_rate"].round(3).to_list()
    [0.667, 0.5, 0.5, 0.667]
    >>> found.to_frame().select("intended", "hit_rate", "unbiased_hit_rate").row(0)
    ('joy', 0.75, 0.5833333333333333)
    """
    check_confidence(confidence)
    check_choice("target", target, get_args(Target))
    tables, said = judged_runs(model_tables(models, ratings))
    own = set(ratings.rater_kinds)
    named = [] if own <= set(MODEL_KINDS) else [(PEOPLE, *_naming(ratings.humans(), PEOPLE))]
    judged = [*([ratings.models()] if own & set(MODEL_KINDS) else []), *tables]
    named += [
        (name, *_naming(one.select(raters=name), name))
        for one in judged
        for name in one.rater_names
    ]
    known = dict.fromkeys(name for _, part, _ in named for name in part.labels)
    column, meant = _meant([ratings, *tables], intended, known)
    asked = {*meant.values()}
    # What was never intended, such as "none of these", comes last.
    categories = tuple(
        dict.fromkeys((*(name for name in known if name in asked), *meant.values(), *known))
    )
    groups = [
        replace(_answered(name, part, meant, categories), said=left_out)
        for name, part, left_out in named
    ]
    if not ratings.raters_known:
        groups = [replace(group, known=group.name != PEOPLE) for group in groups]
    if not sum(group.unit.size for group in groups):
        raise InputError(f"no answer is about a stimulus of which column {column!r} says anything")
    found = stimulus_clusters(ratings, cluster)
    made = [_estimates(group, target, confidence, found) for group in groups if group.unit.size]
    estimates = made[0].with_frame(pl.concat([one.frame for one in made]))
    # The table of estimates is not shown, and what is says nothing of its intervals.
    about = interval_notes(_by_emotion(estimates.frame), ["rater", "rows"])
    notes = (*said, *_notes(groups, column), *found.notes_for(estimates.frame["target"]), *about)
    shown = {table.name: table for table in _tables(groups)}
    return Result(
        (_rates(estimates, confidence), replace(estimates.tables[0], limit=0), *shown.values()),
        (
            *_sentences(estimates.frame, confidence, {one.name: one.who for one in groups}),
            *_confusions(shown["confusion"].frame, shown["stimuli"].frame, groups),
        ),
        (_figure(groups, categories),),
        notes,
        {"intended": column, "target": target, "confidence": confidence},
    )


def _naming(ratings: Ratings, name: str) -> tuple[Answers, tuple[str, ...]]:
    """Give the category that each rater names of each stimulus, chosen with 1 of ``labels``.

    Returns
    -------
    Answers, and which ones are left out, in words.
    """
    named = labels_on(ratings, lambda scale: scale.kind == "nominal")
    if named is not None:
        if named.n_labels > 1:
            raise InputError(
                f"{joined(named.label_names)} hold categories each; choose the one that names what "
                f"is recognised ({option('select(labels=…)', cli='--keep-labels')})"
            )
        return answers_of(named).of_categories(named.scale.categories), ()
    if ratings.n_labels < 2:
        raise InputError(
            f"recognition needs answers that name a category; these are on the scale "
            f"{ratings.scale}"
        )
    answers = answers_of(ratings)
    scale = answers.scale  # refuses labels on different scales
    ballots = answers.ballots()
    whole = ballots.complete
    left_out = int((~whole).sum())
    if left_out == whole.size:
        zero = option("absent", "zero")
        fill = scale is not None and bool(scale.contains([0.0])[0])
        hint = f"; where no answer means 0, read the file with {zero}" if fill else ""
        raise InputError(f"{name}: nobody answered all labels of any stimulus{hint}")
    value = np.nan_to_num(ballots.value[whole], nan=-np.inf)
    highest = value.max(axis=1, keepdims=True)
    alone = (value == highest).sum(axis=1) == 1
    if scale is None or scale.low == 0:
        alone &= highest[:, 0] != 0
    top = np.where(alone, value.argmax(axis=1), len(answers.labels))
    order = np.argsort(top, kind="stable")
    found = replace(
        answers,
        unit=ballots.unit[whole][order],
        rater=ballots.rater[whole][order],
        label=top[order],
        value=np.ones(top.size),
        labels=(*answers.labels, *([] if alone.all() else [UNDECIDED])),
        scales=None,
    )
    if not left_out:
        return found, ()
    times = plural(left_out, "time")
    return found, (f"{name}: left out {times} that labels of a stimulus were skipped",)


def _meant(
    tables: Sequence[Ratings], column: str | None, known: Iterable[str]
) -> tuple[str, dict[str, str]]:
    """Find what each stimulus is meant to show, spelt as answers are."""
    names = {folded(name): name for name in known}
    stimuli = [table.stimuli for table in tables]
    columns = list(dict.fromkeys(name for one in stimuli for name in one.columns[1:]))
    if column is not None and column not in columns:
        raise unknown_name("column of stimuli", column, columns)
    wanted = [name for name in INTENDED if name in columns] if column is None else [column]
    for name in wanted:
        meant = {
            str(unit): names.get(folded(str(value)), str(value))
            for one in stimuli
            if name in one.columns
            for unit, value in one.select("stimulus", name).drop_nulls().iter_rows()
        }
        if set(meant.values()) & set(names.values()):
            return name, meant
    asked = option("intended", "NAME")
    if wanted:
        said = joined([repr(value) for value in dict.fromkeys(meant.values())][:4])
        raise InputError(
            f"column {wanted[-1]!r} says {said} of stimuli, and no answer is called so (answers: "
            f"{', '.join([*names.values()][:8])}); name the column with what was intended ({asked})"
        )
    raise InputError(
        f"no column says what stimuli are meant to show (stimuli have: "
        f"{', '.join(columns) or 'no column'}); name it ({asked})"
    )


def _answered(
    name: str, part: Answers, meant: Mapping[str, str], categories: Sequence[str]
) -> _Answered:
    """Keep the answers about stimuli of which it is known what was intended."""
    place = {category: code for code, category in enumerate(categories)}
    intended = np.array([place.get(meant.get(unit, ""), -1) for unit in part.units], np.int64)
    answered = np.array([place[label] for label in part.labels], np.int64)[part.label]
    rows = intended[part.unit] >= 0
    return _Answered(
        name=name,
        unit=part.unit[rows],
        rater=part.rater[rows],
        shown=intended[part.unit][rows],
        answered=answered[rows],
        units=part.units,
        raters=part.raters,
        categories=tuple(categories),
    )


def _estimates(
    group: _Answered, target: Target, confidence: float, found: StimulusClusters
) -> Estimates:
    """Compute the measures; of a single rater those of raters pooled are the same.

    Of votes, whose raters are not known, there are only pooled ones.
    """
    alone = len(group.raters) == 1
    if alone or not group.known:
        target = {"both": "stimuli", "raters": "sample"}.get(target, target)  # type: ignore[assignment]
    table = infer(
        group.statistic,
        interval="jackknife",
        target=target,
        confidence=confidence,
        clusters=found.on(group.units),
    )
    if not group.known:
        return table.with_frame(table.frame.filter(pl.col("measure").is_in(_POOLED)))
    if not alone:
        return table
    return table.with_frame(table.frame.filter(~pl.col("measure").is_in(_POOLED)))


def _rates(estimates: Estimates, confidence: float) -> Table:
    """Put the measures of an emotion into one row."""
    measures = [name for name in _TITLES if name in estimates.frame["measure"]]
    keys = ["rater", "intended"]
    frame = side_by_side(estimates.frame, keys, measures, of="measure")
    counts = estimates.frame.unique(keys, keep="first", maintain_order=True)
    frame = frame.join(counts.select(*keys, "n_items", "n_ratings"), on=keys, maintain_order="left")
    ends = f"{100 * confidence:g}\u00a0% interval"
    columns = [
        Key("rater"),
        Key("intended"),
        *_columns(measures, ends),
        Count("n_items", "stimuli", spare=True),
        Count("n_ratings", "answers", spare=True),
    ]
    return Table(
        "recognition", wording.RATES_CAPTION, frame, tuple(columns), notes=(wording.RATES,)
    )


def _columns(measures: Sequence[str], ends: str) -> Iterator[Column]:
    """Show rates with their intervals; of all answers pooled, where there are no others."""
    heads = {"hit_rate": "hit rate", "unbiased_hit_rate": "unbiased", "chance": "chance"}
    if "hit_rate" not in measures:
        heads = dict(zip(_POOLED, ("pooled hit rate", "unbiased"), strict=True))
    for name, head in heads.items():
        yield Number(name, head)
        if name != "chance":
            yield Interval(name, ends)
    if {"hit_rate", _POOLED[1]} <= {*measures}:
        yield Number(_POOLED[1], "pooled", spare=True)


def _tables(groups: Sequence[_Answered]) -> Iterator[Table]:
    """Give rates of every rater, and what is taken for what."""
    columns = (
        *(Key(name) for name in ("rater", "intended")),
        *(Count(name) for name in ("n_hits", "n_shown", "n_answered")),
        *(Number(name) for name in ("hit_rate", "unbiased_hit_rate", "chance")),
    )
    frames = [pl.DataFrame(one.by_rater) for one in groups if one.unit.size and one.known]
    if frames:
        yield Table("raters", "Rates of every rater.", pl.concat(frames), columns, limit=0)
    counts = pl.concat([group.counts() for group in groups if group.unit.size])
    pairs = (
        Key("rater"),
        Key("true", "intended"),
        Key("predicted", "answered"),
        Count("count"),
        Share("share", "of what was intended"),
    )
    yield Table("confusion", "What was answered where what was intended.", counts, pairs, limit=0)
    yield _of_stimuli(_first(groups))
    first = groups[0]
    if len(first.categories) > _GRID or not first.unit.size:
        return
    own = counts.filter(pl.col("rater") == first.name).pivot(
        "predicted", index="true", values="count"
    )
    grid = (
        Key("true", "intended"),
        *(Count(name, shown(name, 12), verbatim=True) for name in own.columns[1:]),
    )
    yield Table("matrix", f"Answers of {first.who}, intended emotions in rows.", own, grid)


def _first(groups: Sequence[_Answered]) -> _Answered:
    """Give the people, or the first model where no person answered."""
    return next(group for group in groups if group.unit.size)


def _of_stimuli(group: _Answered) -> Table:
    """Compare the intended answer to each stimulus with the most frequent other one."""
    k, n = len(group.categories), len(group.units)
    counts = np.bincount(group.unit * k + group.answered, minlength=n * k).reshape(n, k)
    units = np.unique(group.unit)
    intended = np.zeros(n, dtype=np.int64)
    intended[group.unit] = group.shown
    right = counts[np.arange(n), intended]
    others = counts.copy()
    others[np.arange(n), intended] = 0
    other = others.argmax(axis=1)
    wrong = others.max(axis=1)
    total = np.maximum(counts.sum(axis=1), 1)
    frame = pl.DataFrame(
        {
            "stimulus": [group.units[unit] for unit in units],
            "intended": [group.categories[code] for code in intended[units]],
            "hit_rate": (right / total)[units],
            "other": [group.categories[other[unit]] if wrong[unit] else None for unit in units],
            "other_share": (wrong / total)[units],
            "n_ratings": total[units],
            "missed": (wrong >= right)[units],
        },
        schema_overrides={"other": pl.String},
    ).sort("hit_rate", "stimulus")
    columns = (
        Key("stimulus"),
        Key("intended"),
        Share("hit_rate", "hit rate"),
        Text("other", "most frequent other answer"),
        Share("other_share", "its share"),
        Count("n_ratings", "answers"),
    )
    return Table("stimuli", "How often each stimulus is recognised.", frame, columns, limit=0)


def _confusions(
    confusion: pl.DataFrame, stimuli: pl.DataFrame, groups: Sequence[_Answered]
) -> Iterator[str]:
    """Name the most frequent confusions, and the stimuli that are seldom recognised."""
    own = confusion.filter(pl.col("rater") == _first(groups).name)
    wrong = own.filter(pl.col("true") != pl.col("predicted"), pl.col("share") >= _OFTEN)
    if wrong.height:
        most = wrong.sort("share", descending=True, maintain_order=True).head(_MOST_NAMED)
        yield wording.confused(most.select("true", "predicted", "share").rows())
    missed = stimuli.filter("missed")["stimulus"].to_list()
    if missed:
        yield wording.missed_stimuli(missed, stimuli.height)


def _figure(groups: Sequence[_Answered], categories: Sequence[str]) -> Figure:
    first = _first(groups)
    return Figure(
        "confusion",
        "confusion",
        "confusion",
        f"What {first.who} answer" + ("" if first.who == PEOPLE else "s"),
        wording.CONFUSION_CAPTION,
        options={
            "labels": list(categories),
            "rows": {"rater": [first.name]},
            "true_name": "intended emotion",
            "predicted_name": "answer",
        },
    )


def _by_emotion(frame: pl.DataFrame) -> pl.DataFrame:
    """Name an emotion once where none of its measures has an interval, for the same reason."""
    names = pl.concat_str("rater", "intended")
    why = pl.when(pl.col("status") == "ok").then(pl.col("reason").struct.json_encode())
    one_reason = why.n_unique().over(names) == 1
    without = pl.col("low").is_nan().all().over(names)
    apart = pl.concat_str("intended", "measure", separator=", ")
    rows = pl.when(one_reason & without).then("intended").otherwise(apart)
    return frame.with_columns(rows=rows).unique(["rater", "rows"], maintain_order=True)


def _sentences(frame: pl.DataFrame, confidence: float, who: Mapping[str, str]) -> Iterator[str]:
    """Say of people and of each model how well emotions are recognised."""
    for (name,), rows in frame.group_by("rater", maintain_order=True):
        measures = [one for one in ("unbiased_hit_rate", _POOLED[1]) if one in rows["measure"]]
        own = rows.filter(pl.col("measure") == measures[0])
        known = own.filter(pl.col("intended") != MEAN).drop_nans("value")
        if not known.height:
            continue
        means = {row["measure"]: row for row in rows.filter(intended=MEAN).iter_rows(named=True)}
        hits = means["hit_rate" if measures[0] == "unbiased_hit_rate" else _POOLED[0]]
        chance = means["chance"]["value"] if "chance" in means else np.nan
        rates = known.select("intended", pl.col("value").round(9))
        value = rates["value"].to_numpy()
        best, worst = (
            (rates.filter(value=end)["intended"].to_list(), float(end))
            for end in (value.max(), value.min())
        )
        called = sentence_case(who[str(name)]) if name == PEOPLE else who[str(name)]
        yield wording.recognised(called, hits, means[measures[0]], chance, best, worst, confidence)


def _notes(groups: Sequence[_Answered], column: str) -> Iterator[str]:
    """Say what was intended, and which emotions nobody ever answers."""
    if not all(group.known for group in groups):
        yield wording.VOTES_ARE_POOLED
    yield from (text for group in groups for text in group.said)
    yield wording.intended_column(column)
    first = _first(groups)
    left_out = len(first.units) - np.unique(first.unit).size
    if left_out:
        yield wording.without_intention(left_out)
    never = [
        first.categories[code] for code in first.intended if not (first.answered == code).any()
    ]
    if never:
        yield wording.never_answered(first.who, never)

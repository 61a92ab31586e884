"""Counts of GoEmotions (Table 2, sections 4 and 5.1), and what only the whole raw file allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.types import Floats, Ints
from affectlab.core.words import count, joined, percent
from affectlab.recipes.goemotions.data import EXAMPLES, KEPT, Corpus, raters_of, told_of_raw
from affectlab.recipes.recipe import SETTING, Finding

if TYPE_CHECKING:
    from affectlab.models.text import LabelledTexts
    from affectlab.ratings import Ratings

__all__ = [
    "LabelNumbers",
    "Votes",
    "count_notes",
    "data_findings",
    "label_numbers",
    "part_of",
    "votes_of",
]

_MOST = 4
"""Labels per example are counted up to here, and more with it."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Who chose what, comment by comment."""

    labels: tuple[str, ...]
    votes: Ints
    """Raters who chose each label, shape (comments, labels)."""
    per_answer: Ints
    """Labels of each answer that has any, shape (answers,)."""
    unclear: float
    """Share of the answers that are ticked as very unclear."""

    @property
    def neutral(self) -> int:
        """Place of the label that stands for no emotion."""
        return self.labels.index("neutral")


def votes_of(raw: Ratings) -> Votes:
    """Count votes of raters for labels."""
    labels = raw.label_names
    chosen = np.flatnonzero(raw.value == 1.0)
    stimulus, label, rater = (
        code[chosen].astype(np.int64)
        for code in (raw.stimulus_code, raw.label_code, raw.rater_code)
    )
    flat = np.bincount(stimulus * len(labels) + label, minlength=raw.n_stimuli * len(labels))
    _, per_answer = np.unique(stimulus * raw.n_raters + rater, return_counts=True)
    answers = int(raters_of(raw).sum())
    return Votes(
        labels,
        flat.reshape(raw.n_stimuli, len(labels)).astype(np.int64),
        per_answer.astype(np.int64),
        1 - per_answer.size / answers,
    )


def data_findings(corpus: Corpus, votes: Votes | None) -> dict[str, Finding]:
    """Find what can be counted; what a part of the raw file shows has no verdict."""
    found = _splits(corpus) | _labels(corpus)
    if votes is None or corpus.raw is None:
        why = corpus.raw_doubt
        keys = ("examples", "raters", "agree3", "agree3_share", "admiration_to_grief")
        numbers = [f"answers.{key}" for key in ("1", "2", "3", "4")]
        return found | {f"data.{key}": Finding(why=why) for key in (*keys, *numbers)}
    doubt = corpus.raw_doubt
    whole = {
        "data.examples": float(corpus.raw.n_stimuli),
        "data.raters": float(corpus.raw.n_raters),
        "data.agree3": float((votes.votes >= 3).any(axis=1).sum()),
        "data.agree3_share": float((votes.votes >= 3).any(axis=1).mean()),
    }
    if corpus.complete:
        found |= {key: Finding(value) for key, value in whole.items()}
        found["data.raters"] = Finding(
            whole["data.raters"], doubt="a file with other raters is not taken for the whole one"
        )
    else:
        why = f"only the whole raw file shows it; this is {doubt}"
        found |= dict.fromkeys(whole, Finding(why=why))
    used = (votes.votes > 0).sum(axis=0)
    admiration, grief = (int(used[votes.labels.index(name)]) for name in ("admiration", "grief"))
    found["data.admiration_to_grief"] = (
        _ratio(admiration, grief, doubt) if grief else Finding(why="no answer chose grief")
    )
    n = votes.per_answer.size
    found["data.neutral_share"] = _share(votes.votes[:, votes.neutral].sum() / n, n, doubt)
    for key, share in zip(("1", "2", "3", "4"), _shares(votes.per_answer), strict=True):
        found[f"data.answers.{key}"] = _share(share, n, doubt)
    return found


def _share(share: float, n: int, doubt: str) -> Finding:
    """Share of n answers; of all answers of the paper it is exact, and so has no interval."""
    value = float(share)
    if not doubt:
        return Finding(value)
    around = 1.96 * float(np.sqrt(value * (1 - value) / n))
    return Finding(value, value - around, value + around, doubt=doubt)


def _ratio(first: int, second: int, doubt: str) -> Finding:
    """Ratio of two counts; of a part of the answers with an interval on the logarithmic scale."""
    ratio = first / second
    if not doubt:
        return Finding(ratio)
    factor = float(np.exp(1.96 * np.sqrt(1 / first + 1 / second)))
    return Finding(ratio, ratio / factor, ratio * factor, doubt=doubt)


def _splits(corpus: Corpus) -> dict[str, Finding]:
    """Set the splits beside all examples that were kept."""
    sizes = [len(part) for part in corpus.kept]
    kept = sum(sizes)
    if corpus.test is not None:
        # A part of the raw file does not hold all examples that were kept.
        whole = corpus.raw if corpus.complete else None
        examples = EXAMPLES if whole is None else whole.n_stimuli
        said = "the number of all examples is the printed one" if whole is None else ""
        share = Finding(kept / examples, doubt=said)
        found = {"data.agree2": Finding(float(kept)), "data.agree2_share": share}
        found["split.kept"] = share
        total = kept
    else:
        why = f"train and dev hold {count(kept)} of them; test is kept aside"
        found = dict.fromkeys(("data.agree2", "data.agree2_share", "split.kept"), Finding(why=why))
        found["split.test"] = Finding(why="there is no test.tsv beside train.tsv")
        total = KEPT
    doubt = "" if corpus.test is not None else "the number of all examples kept is the printed one"
    for name, size in zip(("train", "dev", "test"), sizes, strict=False):
        found[f"split.{name}"] = Finding(size / total, doubt=doubt)
    return found


def _labels(corpus: Corpus) -> dict[str, Finding]:
    """Count labels that raters agree on."""
    targets = np.concatenate([part.targets for part in corpus.kept]) > 0
    taxonomy = corpus.train.taxonomy
    neutral = taxonomy.index("neutral")
    n_emotions = np.delete(targets, neutral, axis=1).any(axis=0).sum()
    found = {"data.emotions": Finding(float(n_emotions))}
    found["data.neutral_share"] = Finding(
        float(targets[:, neutral].sum() / targets.sum()),
        doubt="of the labels that two raters agree on; without raw answers there is nothing else",
    )
    for level in ("sentiment", "ekman"):
        groups = taxonomy.groups(level).values()
        there = sum(any(targets[:, taxonomy.index(name)].any() for name in g) for g in groups)
        found[f"groups.{level}"] = Finding(float(there), doubt=SETTING)
    return found


def _shares(numbers: Ints | Floats) -> Floats:
    """Share of 1, 2, 3, and 4 or more labels, among what has any."""
    some = np.asarray(numbers, dtype=np.int64)
    some = np.minimum(some[some > 0], _MOST)
    return np.asarray(np.bincount(some, minlength=_MOST + 1)[1:] / max(some.size, 1))


@dataclass(frozen=True, eq=False)
class LabelNumbers:
    """Share of examples by their number of labels, 0 to 6 or more (Figure 5)."""

    names: tuple[str, ...]
    before: Floats | None
    """With all labels that any rater chose; None without raw answers."""
    after: Floats
    """With the labels that two raters agree on."""


def label_numbers(corpus: Corpus, votes: Votes | None) -> LabelNumbers:
    """Count the labels of examples before and after those of a single rater are left out."""
    most = 6

    def shares(numbers: Ints | Floats) -> Floats:
        some = np.minimum(np.asarray(numbers, dtype=np.int64), most)
        return np.asarray(np.bincount(some, minlength=most + 1) / max(some.size, 1))

    before = None if votes is None else shares((votes.votes > 0).sum(axis=1))
    if votes is not None and corpus.complete:
        after = shares((votes.votes >= 2).sum(axis=1))
    else:
        after = shares(np.concatenate([part.targets for part in corpus.kept]).sum(axis=1))
    return LabelNumbers((*map(str, range(most)), f"{most}+"), before, after)


def count_notes(corpus: Corpus, votes: Votes | None) -> list[str]:
    """Say in sentences what figures alone do not."""
    targets = np.concatenate([part.targets for part in corpus.kept]) > 0
    taxonomy = corpus.train.taxonomy
    notes = []
    for level, said in (("sentiment", "sentiment"), ("ekman", "Ekman group")):
        parts = []
        for group, inside in taxonomy.groups(level).items():
            there = targets[:, [taxonomy.index(name) for name in inside]].any(axis=1)
            parts.append(f"{group} {count(there.sum())} ({percent(float(there.mean()), 1)})")
        notes.append(
            f"Examples by {said}, each counted once for each of its groups: {joined(parts)}."
        )
    one, two, three, more = (percent(float(share), 2) for share in _shares(targets.sum(axis=1)))
    # Without raw answers there are none of which shares could be taken.
    compared = "and so they are compared" if votes is not None else "and none are given here"
    notes.append(
        "Table 2 and section 4 print shares of answers as shares of examples (the script of the "
        f"release counts answers), {compared}. By the labels that two raters agree "
        f"on, {one} of the examples have one label, {two} two, {three} three and {more} more."
    )
    in_train = dict(zip(taxonomy.labels, (corpus.train.targets > 0).sum(axis=0), strict=True))
    rarer = [name for name, n in in_train.items() if n < in_train["realization"]]
    if len(rarer) > 2:
        notes.append(
            f"Section 5.4 calls grief, relief and realization the lowest frequency emotions: "
            f"{len(rarer)} labels are rarer than realization in train ({joined(rarer)})."
        )
    if corpus.test is None:
        notes.append(
            f"Without test.tsv, train and dev are set beside the {count(KEPT)} examples that are "
            "printed as kept."
        )
    if votes is None or corpus.raw is None:
        return [*notes, f"Agreement of raters is left out: {corpus.raw_doubt}."]
    notes.append(
        f"Raw answers: {told_of_raw(corpus.raw)}; {percent(votes.unclear, 2)} very unclear."
    )
    ticks = votes.votes.sum(axis=0)
    shares = [
        percent(float(part), 1)
        for part in (
            ticks[votes.neutral] / votes.per_answer.size,
            ticks[votes.neutral] / ticks.sum(),
            targets[:, taxonomy.index("neutral")].sum() / targets.sum(),
        )
    ]
    notes.append(
        f"Neutral is in {shares[0]} of the answers, {shares[1]} of the labels of single answers "
        f"and {shares[2]} of the labels that two raters agree on."
    )
    if not corpus.complete:
        notes.append(
            "The part of the raw file was not drawn at random, so that its intervals say how "
            "exact they are for such comments, and not where the whole file lies."
        )
    return notes


def part_of(corpus: Corpus, n_train: int, n_target: int, seed: int) -> Corpus:
    """Take a random part of train, and of the texts of another kind, where they are more."""
    from affectlab.recipes.goemotions.data import rows_of

    rng = np.random.default_rng([41, seed])

    def part(texts: LabelledTexts, most: int) -> LabelledTexts:
        if len(texts) <= most:
            return texts
        return rows_of(texts, rng.permutation(len(texts))[:most])

    target = None if corpus.target is None else part(corpus.target, n_target)
    return replace(corpus, train=part(corpus.train, n_train), target=target)

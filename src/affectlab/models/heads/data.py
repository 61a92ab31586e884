"""What heads learn from, are judged by and calibrated on; what is kept aside is in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import by_name, pl
from affectlab.core.words import plural

if TYPE_CHECKING:
    from affectlab.models.embedding import Embeddings
    from affectlab.ratings import Ratings
else:
    Embeddings = by_name("affectlab.models.embedding", "Embeddings")
    Ratings = by_name("affectlab.ratings", "Ratings")

__all__ = ["HeadData", "stimulus_values"]

_SHARE = 0.2
"""Share of the values of an attribute that is kept aside."""

Rated: TypeAlias = tuple[Embeddings, Ratings]
"""Embeddings of stimuli, and their ratings."""


@dataclass
class HeadData:
    """Embeddings and ratings for the stages of training, for judging, and for calibration.

    Stimuli that :meth:`keep_aside` or :meth:`hold_out` keep aside are taken out of all that heads
    learn from. They are known again by their content, wherever they are embedded.

    Examples
    --------
    >>> import polars as pl
    >>> from affectlab.models.embedding import Embeddings
    >>> from affectlab.models.embedding.card import EncoderCard
    >>> from affectlab.ratings import Ratings
    >>> names, hashes = (tuple(f"{at:064d}" for at in range(10)) for _ in range(2))
    >>> card = EncoderCard("hog", "image", 10, "made up")
    >>> embedded = Embeddings(np.eye(10, dtype=np.float16), names, hashes, card)
    >>> told = {"stimulus": names, "identity": ["Ada", "Eve", "Joe", "Kim", "Lou"] * 2}
    >>> answers = {"stimulus": names, "rater": ["rater"] * 10, "value": [0, 7] * 5}
    >>> people = Ratings(answers, scale="0-7", stimuli=pl.DataFrame(told))
    >>> data = HeadData((embedded, people))
    >>> data.hold_out("identity")
    >>> data.judged_by, data.train[1].n_stimuli, data.dev[1].n_stimuli
    ('1 value of identity that was kept aside', 8, 2)
    """

    train: Rated
    big: Rated | None = None
    """Many ratings to train on first."""
    dev: Rated | None = None
    """What heads are judged by."""
    neutral: Embeddings | None = None
    judged_by: str = ""
    """What `dev` is, in words."""
    held_out: tuple[str, ...] = ()
    """Values of the attribute that were kept aside."""
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    """What may make the heads look better than they are."""

    def keep_aside(self, dev: Rated, judged_by: str = "") -> None:
        """Judge by other ratings, and take their stimuli out of all that is learned from.

        Raises
        ------
        InputError
            When nothing is left to learn from, or no neutral stimulus.
        """
        embedded, ratings = self.dev = dev
        self.judged_by = judged_by
        rated = set(ratings.stimulus_names)
        self._take_out(embedded, {name for name in embedded.stimuli if name in rated})

    def hold_out(
        self, attribute: str, values: Mapping[str, str] | None = None, *, seed: int = 0
    ) -> None:
        """Judge by the stimuli of a fifth of the values of an attribute, drawn at random.

        Parameters
        ----------
        attribute
            Such as ``"identity"``: nothing of the people that heads are judged by is learned from.
        values
            The value of stimuli that the ratings say nothing about, or that nobody rated.
        seed
            Draws the values.

        Raises
        ------
        InputError
            When a rated stimulus has no value, all have the same, or nothing is left to learn from.
        """
        embedded, ratings = self.train
        table = dict(values or {})
        known = table | _values_of_ratings(ratings, attribute)
        chosen = _drawn(ratings, known, attribute, seed)
        aside = _having(ratings.stimulus_names, known, chosen)
        dev = ratings.select(stimuli=[name for name in ratings.stimulus_names if name in aside])
        self.dev, self.held_out = (embedded, dev), chosen
        were = "was" if len(chosen) == 1 else "were"
        self.judged_by = f"{plural(len(chosen), 'value')} of {attribute} that {were} kept aside"
        neutral = () if self.neutral is None else self.neutral.stimuli
        self._take_out(
            embedded,
            # Those that people did not rate, too: the machine may have, or they are neutral.
            aside | _having(embedded.stimuli, known, chosen),
            big=self._of_big(attribute, known, table, chosen),
            neutral=_having(neutral, table, chosen),
        )

    def _of_big(
        self,
        attribute: str,
        known: Mapping[str, str],
        table: Mapping[str, str],
        chosen: Collection[str],
    ) -> set[str]:
        """Give the stimuli of the first stage that have a value that was chosen.

        Its ratings say it; or what is `known` of the stimuli of people that have the same content;
        or the table of stimuli, by name. Elsewhere the same name may be that of another stimulus.
        """
        if self.big is None:
            return set()
        embedded, ratings = self.big
        own = stimulus_values(ratings.stimuli, attribute)
        people, _ = self.train
        by_hash = {
            digest: known[name]
            for name, digest in zip(people.stimuli, people.hashes, strict=True)
            if name in known
        }
        hashes = dict(zip(embedded.stimuli, embedded.hashes, strict=True))
        values = {
            name: own.get(name) or by_hash.get(hashes[name]) or table.get(name)
            for name in ratings.stimulus_names
            if name in hashes
        }
        missing = [name for name, value in values.items() if value is None]
        if missing:
            self.doubts.append(
                f"{plural(len(missing), 'stimulus', 'stimuli')} of --big without {attribute}, such "
                f"as {missing[0]!r}: heads learn from them, and they could show who is kept aside; "
                f"a column {attribute} in --big or in --stimuli says who they show"
            )
        return {name for name, value in values.items() if value in set(chosen)}

    def _take_out(
        self,
        embedded: Embeddings,
        names: Collection[str],
        big: Collection[str] = (),
        neutral: Collection[str] = (),
    ) -> None:
        """Take stimuli out by their content; and by name those of the first stage, and neutral."""
        aside = _hashes(embedded, names)
        self.train = _without(self.train, aside, ())
        if self.big is not None:
            self.big = _without(self.big, aside, big)
        if self.neutral is not None:
            out = _alike(self.neutral, aside, neutral)
            left = [name for name in self.neutral.stimuli if name not in out]
            if not left:
                raise InputError(
                    "all neutral stimuli are kept aside; expected others for --neutral"
                )
            n_out = len(self.neutral) - len(left)
            if n_out:
                self.neutral = self.neutral.subset(left)
                self.notes.append(
                    f"{plural(n_out, 'neutral stimulus is', 'neutral stimuli are')} kept aside, "
                    "and not calibrated on"
                )


def stimulus_values(table: pl.DataFrame, attribute: str) -> dict[str, str]:
    """Give the value of an attribute of each stimulus of a table that has one, as text."""
    if not {"stimulus", attribute} <= set(table.columns):
        return {}
    names, values = (table[name].cast(str).to_list() for name in ("stimulus", attribute))
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _values_of_ratings(ratings: Ratings, attribute: str) -> dict[str, str]:
    known = [name for name in ratings.stimuli.columns if name != "stimulus"]
    if attribute not in known:
        if not known:
            raise InputError(
                f"--held-out {attribute}: the ratings say nothing about stimuli; give a table of "
                "them with --stimuli"
            )
        raise unknown_name("attribute of stimuli", attribute, known, "--held-out")
    return stimulus_values(ratings.stimuli, attribute)


def _drawn(
    ratings: Ratings, values: Mapping[str, str], attribute: str, seed: int
) -> tuple[str, ...]:
    """Choose a fifth of the values of an attribute."""
    missing = [name for name in ratings.stimulus_names if name not in values]
    if missing:
        raise InputError(
            f"--held-out {attribute}: stimulus {missing[0]!r} has no value; expected one"
        )
    different = sorted({values[name] for name in ratings.stimulus_names})
    if len(different) < 2:
        raise InputError(
            f"--held-out {attribute}: all stimuli have the value {different[0]!r}; expected several"
        )
    rng = np.random.default_rng([seed, len(different)])
    n = max(1, round(_SHARE * len(different)))
    return tuple(sorted(different[place] for place in rng.permutation(len(different))[:n]))


def _having(names: Iterable[str], values: Mapping[str, str], chosen: Collection[str]) -> set[str]:
    """Give the stimuli whose value was chosen."""
    return {name for name in names if values.get(name) in set(chosen)}


def _hashes(embedded: Embeddings, names: Collection[str]) -> set[str]:
    wanted = set(names)
    pairs = zip(embedded.stimuli, embedded.hashes, strict=True)
    return {digest for name, digest in pairs if name in wanted}


def _alike(embedded: Embeddings, hashes: set[str], names: Collection[str]) -> set[str]:
    """Give the stimuli of these contents, or of the contents of stimuli of these names."""
    both = hashes | _hashes(embedded, names)
    pairs = zip(embedded.stimuli, embedded.hashes, strict=True)
    return {name for name, digest in pairs if digest in both} | set(names)


def _without(rated: Rated, hashes: set[str], names: Collection[str]) -> Rated:
    embedded, ratings = rated
    aside = _alike(embedded, hashes, names)
    left = [name for name in ratings.stimulus_names if name not in aside]
    if not left:
        raise InputError(
            "all rated stimuli are kept aside, and none is left to learn from; expected others"
        )
    return rated if len(left) == ratings.n_stimuli else (embedded, ratings.select(stimuli=left))

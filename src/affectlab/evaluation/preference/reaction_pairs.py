"""Reactions for a blind study: what a person wrote beside what a machine wrote."""

from __future__ import annotations

from string import Formatter

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.words import joined
from affectlab.evaluation.preference.label_pairs import random_sides
from affectlab.ratings import HUMAN_KINDS, MODEL_KINDS, Ratings, canonical, with_attributes

_HUMAN, _MACHINE = "human", "machine"
_ASKED = "{caption}\nA person feels {emotion}. Which reason fits better?"


def reaction_pairs(
    people: Ratings,
    machines: Ratings,
    *,
    n: int | None = None,
    text: str = _ASKED,
    seed: int | np.random.Generator | None = 0,
) -> pl.DataFrame:
    """Make the items of a blind study: a person's reason for an emotion beside a machine's.

    Both are about the same stimulus (an image with its caption) and the same emotion, whatever its
    case. Of several people's reasons one is drawn; of several of a machine the first is taken.

    Parameters
    ----------
    people, machines
        Reactions, as answers to the protocol ``reaction``: the emotion is a column ``emotion`` or
        the label, the reason is ``text``. Models among `people` are not shown.
    n
        Items to draw; by default all.
    text
        What is shown above both reasons; ``{emotion}`` and the columns of the stimuli, such as
        ``{caption}``, are filled in.
    seed
        Seed or generator. The person's reason stands as option A on half of the items of each
        machine (to one); the study draws which option stands on the left for each judge again.

    Returns
    -------
    The table of stimuli of a study with the protocol ``preference``: ``stimulus`` (a name that
    tells nothing), ``file`` (where the stimuli have an ``image``), ``text``, ``option_a``,
    ``system_a``, ``option_b``, ``system_b`` (``human``, and ``machine`` or, of several, the names
    of the machines), ``pair`` (the stimulus), ``emotion``, and the other columns of the stimuli,
    such as ``source``. Items whose reasons are the same text are left out: there is nothing to
    choose.

    Raises
    ------
    InputError
        If people and machines share no stimulus and emotion, or fewer than `n`.

    References
    ----------
    Socratis (2023), section 4: 500 items drawn from the data, three judges each.

    Examples
    --------
    >>> one = {"stimulus": ["1"], "emotion": ["sad"]}
    >>> shown = {"stimulus": ["1"], "caption": ["The last ferry leaves"]}
    >>> human = Ratings(one | {"rater": ["ann"], "text": ["Nobody will come back."]},
    ...                 scale="text", stimuli=shown)
    >>> net = Ratings(one | {"rater": ["net"], "text": ["It is a ferry."]}, scale="text")
    >>> reaction_pairs(human, net, seed=0).select("stimulus", "pair", "emotion").rows()
    [('item0001', '1', 'sad')]
    """
    people, machines = canonical(people, listed="models"), canonical(machines, listed="raters")

    if set(people.rater_kinds) & set(MODEL_KINDS) and set(people.rater_kinds) & set(HUMAN_KINDS):
        people = people.humans()
    rng = np.random.default_rng(seed)
    written = _reactions(people, "people")
    drawn = written[rng.permutation(written.height).tolist()].unique(
        ["stimulus", "key"], keep="first", maintain_order=True
    )
    made = _reactions(machines, "machines").unique(
        ["stimulus", "key", "rater"], keep="first", maintain_order=True
    )
    both = made.rename({"text": "of_machine"}).join(
        drawn.select("stimulus", "key", pl.col("text").alias("of_human")),
        on=["stimulus", "key"],
        how="inner",
    )
    same = pl.col("of_human").str.to_lowercase() == pl.col("of_machine").str.to_lowercase()
    both = both.filter(~same).sort("stimulus", "key", "rater")
    if not both.height:
        raise InputError(
            "people and machines share no stimulus and emotion with different reasons; expected "
            "reactions to the same stimuli"
        )
    if n is not None and not 0 < n <= both.height:
        raise InputError(f"n {n}: expected 1 up to the {both.height} items that there are")
    both = both[rng.permutation(both.height)[:n].tolist()]
    if _HUMAN in both["rater"]:
        raise InputError(f"a machine is called {_HUMAN!r}; expected another name")
    if both["rater"].n_unique() == 1:
        both = both.with_columns(rater=pl.lit(_MACHINE))
    return _items(both, _shown(people, machines), text, rng)


def _reactions(ratings: Ratings, what: str) -> pl.DataFrame:
    """Reactions with an emotion and a reason: stimulus, rater, emotion, key, text."""
    frame = with_attributes(ratings, "emotion", "text")
    name = next((c for c in ("emotion", "label") if c in frame.columns), None)
    if name is None or "text" not in frame.columns:
        raise InputError(
            f"{what}: expected reactions with a column 'emotion' (or labels) and a column 'text'; "
            f"found {', '.join(frame.columns[:12])}"
        )
    found = frame.select(
        pl.col("stimulus", "rater").cast(pl.String),
        pl.col(name).cast(pl.String).str.strip_chars().alias("emotion"),
        pl.col("text").cast(pl.String).str.strip_chars(),
    ).filter(pl.col("emotion").fill_null("") != "", pl.col("text").fill_null("") != "")
    return found.with_columns(pl.col("emotion").str.to_lowercase().alias("key"))


def _shown(people: Ratings, machines: Ratings) -> pl.DataFrame:
    """Say what is known of the stimuli, by either table."""
    known, other = (
        given.stimuli.with_columns(given.stimuli["stimulus"].cast(str))
        for given in (people, machines)
    )
    more = [name for name in other.columns if name not in known.columns]
    return known.join(other.select("stimulus", *more), on="stimulus", how="left")


def _items(
    both: pl.DataFrame, shown: pl.DataFrame, text: str, rng: np.random.Generator
) -> pl.DataFrame:
    first = pl.Series(random_sides(both["rater"].to_list(), rng))
    about = both.select("stimulus", "emotion").join(
        shown.drop([c for c in ("emotion", "text") if c in shown.columns]),
        on="stimulus",
        how="left",
        maintain_order="left",
    )
    wanted = [name for _, name, _, _ in _parsed(text) if name is not None]
    for name in wanted:
        if name not in about.columns:
            raise InputError(
                f"text names {{{name}}}; expected emotion or a column of the stimuli, which have "
                f"{joined(about.columns)}"
            )
        if about[name].null_count():
            pair = about.filter(about[name].is_null())["stimulus"][0]
            raise InputError(f"stimulus {pair!r} has no {name}, which is shown with the reasons")
    width = max(4, len(str(both.height)))
    names = [f"item{k:0{width}d}" for k in range(1, both.height + 1)]
    asked = [text.format(**{name: str(row[name]) for name in wanted}) for row in about.to_dicts()]
    has_file = "image" in about.columns and not about["image"].null_count()
    human = pl.lit(_HUMAN)
    items = both.select(
        pl.Series("stimulus", names),
        *([about["image"].cast(pl.String).alias("file")] if has_file else []),
        pl.Series("text", asked),
        option_a=pl.when(first).then("of_human").otherwise("of_machine"),
        system_a=pl.when(first).then(human).otherwise("rater"),
        option_b=pl.when(first).then("of_machine").otherwise("of_human"),
        system_b=pl.when(first).then("rater").otherwise(human),
        pair=about["stimulus"],
        emotion=about["emotion"],
    )
    rest = [name for name in about.columns if name not in (*items.columns, "image")]
    return items.with_columns(about[name] for name in rest)


def _parsed(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        parts = list(Formatter().parse(text))
    except ValueError as error:
        raise InputError(
            f"text {text!r} is not understood ({error}); expected {{emotion}}"
        ) from None
    for _, name, form, turned in parts:
        if name is not None and (not name.isidentifier() or form or turned):
            raise InputError(f"text names {{{name}}}; expected the name of a column in the braces")
    return parts

"""Which words go with which label: log odds with an informative Dirichlet prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Ints
from affectlab._words import plural
from affectlab.analysis._log_odds_result import LogOdds
from affectlab.analysis._membership import Membership
from affectlab.analysis._profiles import people_of, profiles_of
from affectlab.analysis._tokens import Tokenizer, Tokens, tokenize
from affectlab.errors import InputError
from affectlab.ratings import Ratings

__all__ = ["log_odds"]


def log_odds(
    texts: Ratings | Tokens | Sequence[str],
    labels: Iterable[str | Iterable[str]] | ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    min_raters: int | None = None,
    keep_unlabelled: bool = False,
    tokenizer: Tokenizer | None = None,
    paper_compat: bool = False,
    text: str = "text",
    confidence: float = 0.95,
) -> LogOdds:
    r"""Compare how often each word is used with a label and without it.

    For word w, used :math:`y_1` times in the texts with the label and :math:`y_2` times in the
    others, of :math:`n_1` and :math:`n_2` words in all, with the prior :math:`a_w = y_1 + y_2` and
    :math:`a_0 = \sum_w a_w`,

    .. math::

        \delta_w &= \ln \frac{y_1 + a_w}{n_1 + a_0 - y_1 - a_w}
                  - \ln \frac{y_2 + a_w}{n_2 + a_0 - y_2 - a_w}, \\
        z_w &= \delta_w \Big/ \sqrt{\tfrac{1}{y_1 + a_w} + \tfrac{1}{y_2 + a_w}},

    and words with :math:`z \ge 3` are the correlates of the label.

    Parameters
    ----------
    texts
        Texts; or :class:`Tokens` from :func:`tokenize`; or ratings whose stimuli have a `text`.
    labels
        One label or a set of labels per text, or an array of 0 and 1 of shape (texts, labels) with
        `names`. None for ratings.
    names
        The labels to look at, in this order. None: all that occur, in order of first use.
    min_raters
        For ratings: raters who must have chosen a label for it to count. None: at least half of
        those who answered about the stimulus.
    keep_unlabelled
        Take texts without any label as texts without the label. Otherwise, as a contrast with the
        other labels, they are left out and counted.
    tokenizer
        Takes a text and gives its words. None: see :func:`tokenize`.
    paper_compat
        Compute as the published table of GoEmotions was. Three things differ. Labels are matched
        by substring, so a text with *disapproval* counts for *approval* too. For ratings, a text
        counts once for each of its raters (with the labels that two of them agreed on, or one
        where no text has two raters), which multiplies all counts, and so inflates z by the root
        of that number. Words of one and two characters are dropped, and so are the parts of *n't*.
        None of these is a property of the language of emotions, so this is not the default.
        Texts without a label stay in, as they did in the paper.
    text
        Column of the stimuli that holds the texts, for ratings.
    confidence
        Coverage of the intervals of :math:`\delta`.

    Returns
    -------
    LogOdds
        A label that is never used, or that all texts have, is ``nan`` with a status.

    Raises
    ------
    InputError
        If the ratings have no texts, or labels and texts do not fit together.

    Notes
    -----
    The prior is as large as the data, which pulls z to zero; the rarer the label, the more. Were a
    word used alike with and without a label that holds the share s of all words, z would have the
    standard deviation :math:`\sqrt{3 s (1 - s) / ((1 + s)(2 - s))}`: at most .58, and .12 at
    s = 1 %. So :math:`z \ge 3` is a stricter rule for a rare label than for a frequent one;
    ``null_sd`` gives the number. The p-values of :meth:`LogOdds.to_frame` do not rest on z.

    References
    ----------
    Monroe, Colaresi and Quinn (2008), Fightin' Words. Demszky et al. (2020), GoEmotions,
    section 4.4 and table 3.

    Examples
    --------
    >>> texts = ["so happy today", "happy happy birthday", "afraid of today", "so afraid"]
    >>> found = log_odds(texts, ["joy", "joy", "fear", "fear"])
    >>> found.top("joy", n=1, min_z=0)["word"].to_list()
    ['happy']
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence!r}: expected a share between 0 and 1, like 0.95")
    if isinstance(texts, Ratings):
        if labels is not None:
            raise InputError("labels: ratings name their own; expected None")
        tokens, given = _of_ratings(texts, min_raters, tokenizer, paper_compat, text)
    else:
        if labels is None:
            raise InputError("labels: expected one set of labels per text")
        if min_raters is not None:
            raise InputError("min_raters is for ratings; these texts come with their labels")
        tokens = _tokens(texts, tokenizer, paper_compat)
        given = _membership(labels, names, len(tokens))
    given = given.ordered(names)
    if paper_compat:
        given = given.by_substring()
    n_unlabelled = int((given.sizes == 0).sum())
    kept = keep_unlabelled or paper_compat
    if not kept and n_unlabelled:
        given = given.labelled()
    if given.text.size == 0:
        raise InputError("no text has a label; expected at least one")
    if given.text.size and not len(tokens.words):
        raise InputError("the texts hold no words; expected at least one")
    words = [tokens.rule, given.rule]
    if paper_compat:
        words.append("labels matched by substring")
    if not kept and n_unlabelled:
        words.append(f"{plural(n_unlabelled, 'text')} without a label left out")
    repeated = bool((given.weight != 1).any())
    n_labels = len(given.labels) if names is None else len(names)
    return LogOdds.from_members(
        tokens, given, n_labels, "; ".join(words), confidence, repeated=repeated
    )


def _tokens(
    texts: Tokens | Sequence[str], tokenizer: Tokenizer | None, paper_compat: bool
) -> Tokens:
    if isinstance(texts, Tokens):
        if tokenizer is not None:
            raise InputError("tokenizer: the texts are cut into words already; expected None")
        return texts
    return tokenize(texts, tokenizer, paper_compat=paper_compat)


def _of_ratings(
    ratings: Ratings,
    min_raters: int | None,
    tokenizer: Tokenizer | None,
    paper_compat: bool,
    column: str,
) -> tuple[Tokens, Membership]:
    """Texts of the stimuli, the labels chosen for each, and how often each counts."""
    people = people_of(ratings)
    texts = texts_of(people, column)
    if min_raters is not None and min_raters < 1:
        raise InputError(f"min_raters {min_raters}: expected 1 or more")
    profiles = profiles_of(people)
    if paper_compat and min_raters is None:
        min_raters = min(2, int(profiles.raters.max()))
    chosen = profiles.chosen_by(min_raters)
    at = {name: k for k, name in enumerate(people.stimulus_names)}
    stimulus = np.fromiter((at[name] for name in profiles.stimuli), np.int64)
    weight = _rows_per_stimulus(people)[stimulus] if paper_compat else None
    tokens = tokenize([texts[k] for k in stimulus], tokenizer, paper_compat=paper_compat)
    who = "at least half of the raters" if min_raters is None else _raters(min_raters)
    rule = f"labels chosen by {who} ({profiles.rule})"
    if paper_compat:
        rule += ", each text once per rater"
    return tokens, Membership.of_table(chosen, profiles.labels, weight, rule)


def _raters(n: int) -> str:
    return f"{n} or more raters" if n > 1 else "any rater"


def texts_of(ratings: Ratings, column: str) -> list[str | None]:
    """Read the texts of the stimuli, in the order of their codes.

    A column of the answers does as well, when it has one text per stimulus.

    Raises
    ------
    InputError
        When there is no such column, or it holds no texts.
    """
    import polars as pl

    stimuli, rows = ratings.stimuli, ratings.frame
    if column in stimuli.columns and column != "stimulus":
        texts = stimuli[column]
    elif column in rows.columns and column not in ("stimulus", "rater", "label", "value"):
        per_stimulus = rows.group_by(pl.col("stimulus").to_physical().alias("code")).agg(
            pl.col(column).drop_nulls().first(), pl.col(column).drop_nulls().n_unique().alias("n")
        )
        if (per_stimulus["n"] > 1).any():
            raise InputError(
                f"column {column!r} differs between answers to the same stimulus; expected the "
                "text of the stimulus"
            )
        every = pl.DataFrame({"code": range(ratings.n_stimuli)}, schema={"code": pl.UInt32})
        joined = every.join(
            per_stimulus.with_columns(pl.col("code").cast(pl.UInt32)),
            on="code",
            how="left",
            maintain_order="left",
        )
        texts = joined[column]
    else:
        found = ", ".join(name for name in stimuli.columns if name != "stimulus") or "none"
        raise InputError(
            f"the stimuli have no attribute {column!r}; expected their texts (attributes: {found})"
        )
    if texts.dtype not in (pl.String, pl.Categorical) and not isinstance(texts.dtype, pl.Enum):
        raise InputError(f"attribute {column!r} of the stimuli is {texts.dtype}; expected texts")
    given: list[str | None] = texts.cast(pl.String).to_list()
    return given


def _rows_per_stimulus(ratings: Ratings) -> Ints:
    """Raters of each stimulus, those without a usable answer included."""
    n = ratings.n_raters
    pair = np.unique(ratings.stimulus_code.astype(np.int64) * n + ratings.rater_code)
    return np.bincount(pair // n, minlength=ratings.n_stimuli).astype(np.int64)


def _membership(labels: Any, names: Sequence[str] | None, n: int) -> Membership:
    """Read one label, a set of labels, or a row of 0 and 1 per text."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        if labels.shape[0] != n:
            raise InputError(f"labels: expected {n} rows, one per text, got {labels.shape[0]}")
        if names is None or len(names) != labels.shape[1] or len(set(names)) != len(names):
            raise InputError(f"names: expected the names of the {labels.shape[1]} columns")
        if not np.isin(labels, (0, 1)).all():
            raise InputError("labels: expected an array of 0 and 1")
        return Membership.of_table(labels == 1, tuple(names))
    if isinstance(labels, str):
        raise InputError("labels: expected one set of labels per text, not one text")
    sets = labels.to_list() if hasattr(labels, "to_list") else list(labels)
    if len(sets) != n:
        raise InputError(f"labels: expected {n} sets, one per text, got {len(sets)}")
    return Membership.of_sets(sets)

"""Models that are judged on what they were trained on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from affectlab.core.words import count, percent, plural, shown
from affectlab.ratings import Ratings, training_counts


def of_training(tables: Sequence[Ratings], stimuli: Collection[str]) -> tuple[str, ...]:
    """Say which models were trained on the stimuli on which they are judged.

    Parameters
    ----------
    tables
        Answers of models; ``affectlab rate`` notes what a model was trained on.
    stimuli
        Stimuli of the truth, or that people answered.

    Returns
    -------
    A sentence for each such model, which a verdict on it begins with.

    Examples
    --------
    >>> net = Ratings({"stimulus": ["a", "b"], "rater": ["net"] * 2, "value": [1, 0],
    ...                "in_training": [True, False]})
    >>> of_training([net], ["a", "b"])
    ('net was trained on 1 of the 2 stimuli that it is judged on (50\xa0%): it does better ...',)
    """
    sentences = []
    for table in tables:
        for name, (n, total) in training_counts(table, stimuli).items():
            of = f"all {plural(total, 'stimulus', 'stimuli')}"
            share = ""
            if n < total:
                of = f"{count(n)} of the {plural(total, 'stimulus', 'stimuli')}"
                share = f" ({percent(n / total)})"
            sentences.append(
                f"{shown(name)} was trained on {of} that it is judged on{share}: it does better on "
                "these than on new ones."
            )
    return tuple(sentences)

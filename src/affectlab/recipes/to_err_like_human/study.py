"""The user study of To Err Like Human: which of two mistakes people find nearer."""

from __future__ import annotations

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Floats, Ints
from affectlab.evaluation import both_wrong
from affectlab.recipes.recipe import Finding
from affectlab.recipes.to_err_like_human.data import Effort, Source
from affectlab.recipes.to_err_like_human.tables import Kept, measured, trained

__all__ = ["simulated_votes", "user_study"]

_LAM = 0.2
"""Weight of ListMLE in the user study."""
_DRAWN, _SHOWN, _PEOPLE = 50, 30, 30
_INDISTINCT = 0.05
"""Chance below which simulated people would rather say indistinct than a label."""


def user_study(
    source: Source,
    seed: int,
    effort: Effort,
    kept: Kept | None = None,
) -> tuple[dict[str, Finding], str]:
    """Train both networks, find images that both get wrong in different ways, and ask people.

    People are asked where scenes are drawn; the sentence says what was found.
    """
    models = {
        "cross-entropy": trained(source, "resnet50", seed, effort),
        "ListMLE": trained(source, "resnet50", seed, effort, loss="rank", lam=_LAM),
    }
    said = {name: model.predict(source.test) for name, model in models.items()}
    places = [str(at) for at in range(len(source.test_labels))]
    try:
        wrong = both_wrong(said, truth=source.test_labels, stimuli=places, taxonomy="mikels")
    except InputError as error:
        return {}, f"User study: {error}."
    scores = {name: measured(source, model) for name, model in models.items()}
    sentence = (
        f"User study (λ = {_LAM}): {wrong.finding.removesuffix('.')}; ECC "
        f"{scores['cross-entropy']['ecc']:.3f} with cross-entropy and "
        f"{scores['ListMLE']['ecc']:.3f} with ListMLE"
    )
    chances = source.chances
    if chances is None:
        return {}, (
            f"{sentence}. People must be asked: affectlab study init preference-errors makes "
            "their study."
        )
    drawn = wrong.sample(min(_DRAWN, len(wrong)), seed=seed)
    rows = np.array([int(name) for name in drawn.to_frame()["stimulus"]])
    # The clearest of them, as those without a clear emotion were left out.
    clear = np.sort(np.argsort(-chances[rows].max(axis=1), kind="stable")[:_SHOWN])
    options = np.column_stack(
        [
            [source.names.index(label) for label in drawn.to_frame()[column].to_list()]
            for column in ("label_first", "label_second")
        ]
    )
    votes = simulated_votes(chances[rows[clear]], options[clear], _PEOPLE, seed)
    if kept is not None:
        kept.votes = votes
    for_ce, for_rank, neither = votes.sum(axis=0).tolist()
    preferred = votes[:, 1] > votes[:, 0]
    found = {
        "study.people": float(_PEOPLE),
        "study.images": float(len(votes)),
        "study.votes": float(votes.sum()),
        "study.votes_ce": float(for_ce),
        "study.votes_rank": float(for_rank),
        "study.votes_indistinct": float(neither),
        "study.images_rank": float(preferred.sum()),
        "study.share_rank": float(preferred.mean()),
    }
    return {key: Finding(value) for key, value in found.items()}, (
        f"{sentence}. {_PEOPLE} simulated people, who see where a scene lies, chose between the "
        f"labels on the {len(votes)} clearest of {len(rows)} scenes drawn"
        + (", fewer than in the paper" if len(votes) < _SHOWN else "")
        + "."
    )


def simulated_votes(chances: Floats, options: Ints, people: int, seed: int) -> Ints:
    """Let people choose between two labels, or neither, by the chance that each has for a scene.

    Parameters
    ----------
    chances
        Chance of each label for each scene, shape (n, C).
    options
        Places of the two labels that are offered, shape (n, 2).

    Returns
    -------
    numpy.ndarray
        Votes for the first label, the second, and neither, shape (n, 3); rows sum to `people`.

    Examples
    --------
    >>> simulated_votes(np.array([[0.9, 0.1, 0.0]]), np.array([[0, 2]]), 30, 0).tolist()
    [[29, 0, 1]]
    """
    random = np.random.default_rng([seed, 59])
    weights = np.column_stack(
        [np.take_along_axis(chances, options, axis=1), np.full(len(chances), _INDISTINCT)]
    )
    return np.asarray(random.multinomial(people, weights / weights.sum(axis=1, keepdims=True)))

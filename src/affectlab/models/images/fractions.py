"""Which images keep their labels, when only a share of them is labelled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.types import Bools
from affectlab.stimuli import largest_remainder

__all__ = ["label_fraction"]


def label_fraction(labels: Sequence[str], fraction: float, *, seed: int = 0) -> Bools:
    """Choose a share of each label at random (to-err-like-human, section 4.2: .5 %, 5 %, 10 %).

    Parameters
    ----------
    labels
        The label of each image.
    fraction
        Share that is chosen, above 0 and at most 1; their number is the nearest whole one.
    seed
        Draws them.

    Returns
    -------
    numpy.ndarray
        Shape (n,), true where an image is chosen. Numbers of labels are as near to their share as
        whole numbers can be, and no label is without an image.

    Raises
    ------
    InputError
        When there is no label, the share is none, or so few images are fewer than labels.

    Examples
    --------
    >>> chosen = label_fraction(["awe"] * 90 + ["fear"] * 10, 0.1)
    >>> int(chosen[:90].sum()), int(chosen[90:].sum())
    (9, 1)
    """
    if isinstance(fraction, bool) or not isinstance(fraction, int | float):
        raise InputError(f"fraction = {fraction!r}: expected a share above 0 and at most 1")
    if not 0 < fraction <= 1:
        raise InputError(f"fraction = {fraction}: expected a share above 0 and at most 1")
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed = {seed}: expected a whole number from 0 on")
    given = np.array(list(labels), dtype=object)
    if not len(given):
        raise InputError("labels: none are given; expected the label of each image")
    names, codes, counts = np.unique(given.astype(str), return_inverse=True, return_counts=True)
    wanted = round(fraction * len(given))
    if wanted < len(names):
        least = np.ceil(1000 * len(names) / len(given)) / 10
        raise InputError(
            f"a share of {100 * fraction:g} % of {len(given):,} images is {wanted:,}, fewer than "
            f"the {len(names)} labels; expected {least:g} % or more, so that each has an image"
        )
    take = np.maximum(largest_remainder(counts, wanted), 1)
    while take.sum() > wanted:
        # What small labels got beyond their share is taken from those furthest above theirs.
        above = np.where(take > 1, take - wanted * counts / len(given), -np.inf)
        take[int(np.argmax(above))] -= 1
    random = np.random.default_rng([seed, 23])
    chosen = np.zeros(len(given), dtype=bool)
    for label, size in enumerate(take.tolist()):
        rows = np.flatnonzero(codes == label)
        chosen[random.permutation(rows)[:size]] = True
    return chosen

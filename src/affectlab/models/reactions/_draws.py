"""The next token: the likeliest one, or one drawn by numbers that belong to an answer alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from affectlab._types import Floats, Ints
from affectlab.models.reactions._decoding import Decoding

__all__ = ["Draws"]


class Draws:
    """Chooses the tokens of some answers, each by a stream of numbers of its own.

    So the answers beside it, and their number, decide nothing.

    Parameters
    ----------
    names
        Hexadecimal names of the answers; the same name and seed give the same numbers.
    """

    def __init__(self, decoding: Decoding, names: Sequence[str]) -> None:
        self._decoding = decoding
        self._streams = [
            np.random.Generator(np.random.PCG64([decoding.seed % 2**64, int(name[:32], 16)]))
            for name in names
            if not decoding.greedy
        ]

    def choose(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Choose the next token of each answer.

        Parameters
        ----------
        logits
            Of shape (answers, tokens).

        Returns
        -------
        Tokens, and their natural log-probabilities under the model itself (temperature 1, all
        tokens); both of shape (answers,).
        """
        if self._decoding.greedy:
            tokens = logits.argmax(dim=1)
        else:
            # Drawn in double precision: another size of batch changes the last digits of logits.
            scaled = logits.double().cpu().numpy() / self._decoding.temperature
            uniform = np.array([stream.random() for stream in self._streams])
            drawn = drawn_tokens(scaled, self._decoding.top_p, uniform)
            tokens = torch.from_numpy(drawn).to(logits.device)
        log_p = torch.log_softmax(logits.float(), dim=1)
        return tokens, log_p.gather(1, tokens[:, None])[:, 0]


def drawn_tokens(logits: Floats, top_p: float, uniform: Floats) -> Ints:
    """Invert the cumulative distribution of each row, its tokens in the order of their numbers.

    The smallest set of tokens whose probabilities reach `top_p` is kept, as in nucleus sampling.

    Parameters
    ----------
    logits
        Of shape (answers, tokens).
    uniform
        Numbers from 0 up to 1, one for each answer.

    Notes
    -----
    In the order of their probabilities, two tokens that are nearly equally likely would change
    places, and with them what is drawn, when logits change in their last digits.

    Examples
    --------
    >>> drawn_tokens(np.log([[0.2, 0.5, 0.3]] * 3), 0.8, np.array([0.0, 0.7, 0.99])).tolist()
    [1, 2, 2]
    """
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-logits, axis=1, kind="stable")
        ordered = np.take_along_axis(p, order, axis=1)
        # A sum that reaches top_p but for rounding has reached it; the first token always stays.
        out = np.cumsum(ordered, axis=1) - ordered >= top_p - 1e-12
        ordered[out] = 0.0
        np.put_along_axis(p, order, ordered, axis=1)
    below = np.cumsum(p, axis=1)
    wanted = uniform * below[:, -1]
    # Sums that end a rounding error below leave the last token that may be drawn.
    last = p.shape[1] - 1 - (p > 0)[:, ::-1].argmax(axis=1)
    found: Ints = np.minimum((below <= wanted[:, None]).sum(axis=1), last)
    return found

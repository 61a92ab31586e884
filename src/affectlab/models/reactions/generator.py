"""A generator as a rater: it writes why people feel what they feel, and keeps what it wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.core.errors import InputError
from affectlab.core.types import Device, Floats, Ints, Precision, pl, torch
from affectlab.core.words import shown
from affectlab.models.reactions.decoding import Decoding
from affectlab.models.reactions.items import (
    PersonReaction,
    ReactionItem,
    check_items,
    image_hashes,
    key_of,
    tidy,
)
from affectlab.models.reactions.ledger import Progress, Written
from affectlab.models.reactions.prompt import FewShot, reaction_prompt
from affectlab.models.reactions.ratings import Answer
from affectlab.ratings import Ratings

if TYPE_CHECKING:
    from affectlab.models.reactions.network import Asked, Checkpoint, ReactionNetwork, Task


__all__ = [
    "Likelihoods",
    "ReactionGenerator",
]

# How likely reactions are, given image, caption and emotion.


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Log-likelihoods of reactions; made by :meth:`ReactionGenerator.log_likelihood`.

    Examples
    --------
    >>> import numpy as np
    >>> Likelihoods(np.array([-6.0, -2.0]), np.array([3, 4])).mean.tolist()
    [-2.0, -0.5]
    """

    total: Floats
    """Natural logarithm of eq. 1 for each reaction, of shape (n,); at most 0."""
    n_tokens: Ints
    """Tokens of each reaction, that of its end included; of shape (n,)."""
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The model, how it was asked, and its hash."""

    @property
    def mean(self) -> Floats:
        """Mean per token, which does not favour short reactions; of shape (n,)."""
        found: Floats = self.total / self.n_tokens
        return found

    def __len__(self) -> int:
        return len(self.total)


@dataclass(frozen=True)
class ReactionGenerator:
    """BLIP-2 with a T5 inside, or a T5 alone, asked in the words of Socratis.

    Weights are loaded when they are first needed. Neither the order of items nor `batch_size`
    changes an answer, but for rounding where two tokens are equally likely.

    Parameters
    ----------
    model
        Folder or hub name of a checkpoint, such as ``Salesforce/blip2-flan-t5-xl``.
    text_only
        The ablation of the paper's Table 3: the language model alone reads the prompt, and no image
        is opened. `model` is a T5, or BLIP-2, whose language model is taken.
    decoding
        Greedy as in the paper by default.
    few_shot
        Examples that go before each question.
    batch_size
        Answers at a time, of prompts of about one length.
    device
        ``"cpu"``, ``"cuda"``, ``"mps"``, or ``"auto"`` for the fastest that is there.
    precision
        What weights are held in: ``"fp32"``, ``"bf16"``, ``"fp16"``, or ``"auto"`` for half
        precision on a GPU.
    ledger
        File of what was written, from which a run goes on after it was killed; None: none.
    rater
        Name of the rater; by default that of the model and how it is asked.

    Raises
    ------
    InputError
        When a setting cannot be used.

    Notes
    -----
    Source: Socratis, section 3. Its procedure is that of the model's page: the likeliest token at
    each step, up to 19 of them.

    Examples
    --------
    >>> generator = ReactionGenerator("google/flan-t5-xl", text_only=True)
    >>> generator.name
    'google/flan-t5-xl text-only greedy'
    """

    model: str
    text_only: bool = False
    decoding: Decoding = field(default_factory=Decoding)
    few_shot: FewShot | None = None
    batch_size: int = 16
    device: Device = "auto"
    precision: Precision = "auto"
    ledger: str | Path | None = None
    rater: str | None = None

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InputError(f"batch_size {self.batch_size}: expected 1 or more")

    @property
    def name(self) -> str:
        """Name of the rater."""
        if self.rater:
            return self.rater
        decoding = self.decoding
        how = ["text-only"] if self.text_only else []
        how += ["greedy"] if decoding.greedy else [f"sampled t{decoding.temperature:g}"]
        how += [f"{self.few_shot.shots}-shot"] if self.few_shot else []
        return " ".join([self._short, *how])

    @property
    def _short(self) -> str:
        """The hub name, or the name of the folder: where that is says nothing of the model."""
        place = Path(self.model)
        return place.resolve().name if place.is_dir() else self.model

    @cached_property
    def _loaded(self) -> tuple[Checkpoint, ReactionNetwork, torch.device, str]:
        from affectlab.models.devices import pick_device, pick_precision
        from affectlab.models.reactions.network import ReactionNetwork, load_checkpoint

        device = pick_device(self.device)
        precision = pick_precision(self.precision, device)
        found = load_checkpoint(
            self.model, text_only=self.text_only, precision=precision, device=device
        )
        return found, ReactionNetwork(found, device), device, precision

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and settings that answer; loads them."""
        return self._loaded[0].fingerprint

    def settings(self) -> dict[str, Any]:
        """Give the attributes of the rater: the model, how it is asked, and its hash."""
        from affectlab.models.reactions.prompt import PROMPT, SOURCE

        _, _, device, precision = self._loaded
        decoding = self.decoding
        return {
            "rater": self.name,
            "rater_kind": "model",
            "model": self._short,
            "model_hash": self.fingerprint,
            "protocol": "reaction",
            "prompt": f"{SOURCE}, {key_of(PROMPT)[:8]}",
            "reads": "text" if self.text_only else "image and text",
            "decoding": str(decoding),
            "max_tokens": decoding.max_new_tokens,
            "examples": self.few_shot.told() if self.few_shot else None,
            "precision": precision,
            "device": device.type,
        }

    def write(
        self, items: Iterable[ReactionItem], *, progress: Progress | None = None
    ) -> list[Answer]:
        """Write reactions; :meth:`rate` makes ratings of them.

        Parameters
        ----------
        items
            Pairs with an emotion each; what is asked for twice is written once.
        progress
            Called with a text, the reactions done and all of them.

        Returns
        -------
        list of Answer
            By item, in their order, and for each its samples.

        Raises
        ------
        InputError
            When an item, an image or the model cannot be used; the ledger keeps what was written.
        """
        from affectlab.models.reactions.network import writing_task

        wanted = check_items(items, images=not self.text_only)
        asked = dict(zip(wanted, self._asked(wanted), strict=True))
        order = [(item, k) for item in wanted for k in range(1, self.decoding.n + 1)]
        how = str(self.decoding)
        tasks = [
            writing_task(
                asked[item],
                self._who,
                self.decoding,
                sample,
                self._told(item, sample=sample, decoding=how),
            )
            for item, sample in order
        ]
        done = self._done(tasks, "writing reactions", progress)
        return [Answer(item, sample, one) for (item, sample), one in zip(order, done, strict=True)]

    def rate(self, items: Iterable[ReactionItem], *, progress: Progress | None = None) -> Ratings:
        """Write reactions as ratings of the protocol ``reaction``.

        Returns
        -------
        Ratings
            One row per reaction, on a scale of kind ``text``: ``label`` is the emotion in small
            letters, ``emotion`` as it was written, ``text`` the reaction, ``trial`` the number of
            the sample; ``log_likelihood`` (natural logarithm), ``n_tokens`` and ``ended`` (False:
            cut at the limit of tokens) are those of the model itself. A model that writes nothing
            has the outcome ``empty``.

        Raises
        ------
        InputError
            As :meth:`write`.
        """
        from affectlab.models.reactions.ratings import ratings_of

        return ratings_of(self.write(items, progress=progress), self.settings())

    def log_likelihood(
        self,
        items: Sequence[ReactionItem],
        reactions: Sequence[str],
        *,
        progress: Progress | None = None,
    ) -> Likelihoods:
        """Compute how likely given reactions are, by whomever: eq. 1 of the paper.

        Parameters
        ----------
        items
            Image, caption and emotion of each reaction.
        reactions
            The texts.

        Returns
        -------
        Likelihoods
            Sums and means of natural logarithms, for each reaction.

        Raises
        ------
        InputError
            When the numbers differ, a reaction is empty, or as :meth:`write`.

        Notes
        -----
        Eq. 1 is printed as the product of P(t_<j | i, c, e); read as that of
        p(t_j | t_<j, i, c, e), j from 1 to n, the likelihood of a text. The token that ends the
        text is one of the n: without it, a text that could well go on would count as ended.
        """
        import numpy as np

        from affectlab.models.reactions.network import likelihood_task

        if len(items) != len(reactions):
            raise InputError(
                f"{len(reactions)} reactions to {len(items)} items; expected one for each"
            )
        for item, text in zip(items, reactions, strict=True):
            if not isinstance(text, str) or not tidy(text):
                raise InputError(
                    f"the reaction to {shown(item.stimulus, 40)!r} ({shown(item.emotion, 40)}) is "
                    "empty; expected text"
                )
        check_items(items, images=not self.text_only)
        network = self._loaded[1]
        tasks = [
            likelihood_task(
                one, self._who, network.tokens(tidy(text)), self._told(item, of=tidy(text))
            )
            for item, one, text in zip(items, self._asked(items), reactions, strict=True)
        ]
        found = self._done(tasks, "likelihoods of reactions", progress)
        return Likelihoods(
            np.array([one.log_likelihood for one in found], dtype=np.float64),
            np.array([one.n_tokens for one in found], dtype=np.int64),
            self.settings(),
        )

    def likelihood_table(
        self,
        items: Iterable[ReactionItem],
        reactions: Sequence[PersonReaction],
        *,
        progress: Progress | None = None,
    ) -> pl.DataFrame:
        """Compute how likely reactions to pairs are; see :meth:`log_likelihood`.

        Parameters
        ----------
        items
            The pairs, with their images.
        reactions
            Reactions to them, as :func:`read_reactions` gives them; a reaction has an emotion of
            its own.

        Returns
        -------
        One row per reaction: ``stimulus``, ``emotion``, ``rater``, ``reaction``,
        ``log_likelihood``, ``n_tokens``, ``mean_log_likelihood``, ``model``, ``model_hash``,
        ``reads``.

        Raises
        ------
        InputError
            When a reaction is to another pair, or as :meth:`log_likelihood`.
        """
        import polars as pl

        pairs = {item.stimulus: item for item in items}
        for one in reactions:
            if one.stimulus not in pairs:
                raise InputError(
                    f"stimulus {shown(one.stimulus, 40)!r} is not among the pairs; expected "
                    "reactions to these pairs"
                )
        asked = [replace(pairs[one.stimulus], emotion=one.emotion) for one in reactions]
        found = self.log_likelihood(asked, [one.text for one in reactions], progress=progress)
        columns = {
            "stimulus": "stimulus",
            "emotion": "emotion",
            "rater": "rater",
            "reaction": "text",
        }
        return pl.DataFrame(
            {
                **{
                    name: [getattr(one, field) for one in reactions]
                    for name, field in columns.items()
                },
                "log_likelihood": found.total,
                "n_tokens": found.n_tokens,
                "mean_log_likelihood": found.mean,
            }
        ).with_columns(
            pl.lit(found.settings[name]).alias(name) for name in ("model", "model_hash", "reads")
        )

    def prompt(self, item: ReactionItem) -> str:
        """Give the prompt about an item, word for word."""
        return reaction_prompt(item, self.few_shot.draw(item) if self.few_shot else ())

    def _asked(self, items: Sequence[ReactionItem]) -> list[Asked]:
        from affectlab.models.reactions.network import Asked

        hashes = {} if self.text_only else image_hashes(items)
        network = self._loaded[1]
        found = []
        for item in items:
            image = None if self.text_only else item.image
            sha256 = "" if image is None else hashes[image]
            found.append(Asked(network.tokens(self.prompt(item)), image, sha256))
        return found

    def _done(self, tasks: Sequence[Task], what: str, progress: Progress | None) -> list[Written]:
        from affectlab.models.reactions.network import do_all

        return do_all(
            tasks,
            self._loaded[1],
            self.decoding,
            batch_size=self.batch_size,
            path=self.ledger,
            what=what,
            progress=progress,
        )

    @property
    def _who(self) -> str:
        """Name the network and its precision, for keys."""
        return f"{self.fingerprint} {self._loaded[3]}"

    def _told(self, item: ReactionItem, **more: Any) -> dict[str, Any]:
        """Say what was asked, for readers of the ledger."""
        return {
            "stimulus": item.stimulus,
            "emotion": item.emotion,
            "model": self._short,
            **more,
        }

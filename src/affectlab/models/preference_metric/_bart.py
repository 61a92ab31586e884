"""BARTScore tuned on people's preferences."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab._version import __version__
from affectlab.errors import InputError
from affectlab.models._store import META, read_meta, replacing, write_json
from affectlab.models._torch import quiet_transformers
from affectlab.models.preference_metric._bart_cross import TuningReport, cross_validate
from affectlab.models.preference_metric._bart_train import Progress, check_settings, tune
from affectlab.models.preference_metric._texts import PreferenceTexts
from affectlab.models.text_metrics._seq2seq import Writer

__all__ = ["TUNED", "TunedBartScore"]

TUNED = "affectlab/tuned-bart-score/1"
_KEYS = ("name", "settings", "seed", "system", "epoch", "n_pairs")


class TunedBartScore:
    """BARTScore whose network was tuned so that texts that people chose are likelier.

    The score of a text is its mean log-probability per token after what it is about, the direction
    context -> text, in natural logarithms. Tuning takes pairs of which one text was chosen:
    :math:`-\\ln \\sigma(\\beta (s_{chosen} - s_{other}))`.

    Parameters
    ----------
    model
        Folder or name of a checkpoint with an encoder and a decoder, such as BART.
    name
        Name as a metric.
    batch_size, max_tokens, device
        As in :class:`~affectlab.models.text_metrics.BartScore`.
    seed
        Seed; the same seed gives the same folds and, on one kind of machine, the same network.
    settings
        Settings of tuning, such as ``epochs`` and ``learning_rate``.

    Notes
    -----
    The folder of a saved one is a checkpoint, too: ``BartScore(folder)`` reads it.

    References: Socratis (2023), section 5, "a custom BART metric based on a few examples"; Bradley
    and Terry (1952).

    Examples
    --------
    ::

        data = preference_texts(found, texts, cluster="pair")
        metric = TunedBartScore("facebook/bart-large-cnn")
        print(*metric.cross_validate(data, examples=[16, 32, 64]).sentences, sep="\\n")
        metric.fit(data).save("tuned-bart")
    """

    def __init__(
        self,
        model: str | Path,
        *,
        name: str = "tuned BARTScore",
        batch_size: int = 64,
        max_tokens: int | None = None,
        device: str = "auto",
        seed: int = 0,
        **settings: Any,
    ) -> None:
        self.model, self.name, self.seed = str(model), name, seed
        if seed < 0:
            raise InputError(f"seed {seed}: expected 0 or more")
        self.settings = check_settings(settings)
        self._options = {
            "batch_size": batch_size,
            "max_tokens": max_tokens,
            "device": device,
            "precision": "fp32",
        }
        self.writer: Writer | None = None
        self.system = ""
        self.epoch = 0
        """The pass over the pairs that was taken; 0 where none was better than none."""
        self.n_pairs = 0
        self.report: TuningReport | None = None

    def cross_validate(
        self,
        data: PreferenceTexts,
        *,
        examples: Sequence[int] | None = None,
        folds: int = 5,
        n_boot: int = 1000,
        confidence: float = 0.95,
        progress: Progress | None = None,
    ) -> TuningReport:
        """Judge tuning with few examples by pairs that were kept aside.

        Parameters
        ----------
        examples
            Numbers of pairs to tune on, of which a part chooses when to stop; by default 16, 32
            and 64, as far as there are so many.
        folds
            Folds of the items; a group of items is never parted.
        n_boot
            Draws of groups for the intervals of areas.

        Raises
        ------
        InputError
            If there are too few pairs or groups, or the checkpoint cannot be used.
        """
        check_confidence(confidence)
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in examples or ()):
            raise InputError(f"examples {list(examples or ())!r}: expected whole numbers from 1 on")
        if n_boot < 0:
            raise InputError(f"n_boot {n_boot}: expected 0 or the number of bootstrap replicates")
        self.report = cross_validate(
            self.model,
            self._options,
            data,
            examples,
            self.settings,
            folds=folds,
            seed=self.seed,
            n_boot=n_boot,
            confidence=confidence,
            progress=progress,
        )
        return self.report

    def fit(self, data: PreferenceTexts, *, progress: Progress | None = None) -> TunedBartScore:
        """Tune on all pairs of which one text was chosen.

        Raises
        ------
        InputError
            If there are too few, or the checkpoint cannot be used.
        """
        writer = Writer(self.model, **self._options)  # type: ignore[arg-type]
        rows = np.flatnonzero(data.decided)
        self.epoch = tune(writer, data, rows, self.settings, self.seed, progress)
        self.writer, self.system, self.n_pairs = writer, data.system, int(rows.size)
        return self

    def _tuned(self) -> Writer:
        if self.writer is None:
            raise InputError("the metric is not tuned yet; expected fit or load before")
        return self.writer

    def score(self, candidates: Sequence[str], contexts: Sequence[str]) -> Floats:
        """Give the mean log-probability of each text after its context, shape (n,).

        Raises
        ------
        InputError
            If there are not as many contexts as texts, or one is empty.
        """
        writer = self._tuned()
        if len(candidates) != len(contexts):
            raise InputError(
                f"{len(candidates)} texts and {len(contexts)} contexts; expected as many"
            )
        for k, text in enumerate((*candidates, *contexts)):
            if not text.strip():
                raise InputError(f"text {k % len(candidates) + 1} is empty; expected some words")
        if not candidates:
            return np.zeros(0)
        cut = writer.cut([*contexts, *candidates])
        return writer.mean_log_probabilities(cut, cut.rows(contexts), cut.rows(candidates))

    def save(self, path: str | Path) -> Path:
        """Write the tuned checkpoint, with its tokenizer, and what is known of it, to a folder.

        Raises
        ------
        InputError
            If it is not tuned, or the folder cannot be written.
        """
        writer, place = self._tuned(), Path(path)
        try:
            with replacing(place) as inner, quiet_transformers():
                writer.network.save_pretrained(inner)
                writer.tokenizer.save_pretrained(inner)
                write_json(
                    inner / META,
                    {
                        "schema": TUNED,
                        "affectlab": __version__,
                        "name": self.name,
                        "tuned_from": Path(self.model).name,
                        "settings": self.settings.to_dict(),
                        "max_tokens": self._options["max_tokens"],
                        "seed": self.seed,
                        "system": self.system,
                        "epoch": self.epoch,
                        "n_pairs": self.n_pairs,
                        "report": None if self.report is None else self.report.to_dict(),
                    },
                )
        except (OSError, shutil.Error) as error:
            said = getattr(error, "strerror", None) or error
            raise InputError(f"{place} cannot be written: {said}") from None
        return place

    @classmethod
    def load(
        cls, path: str | Path, *, batch_size: int = 64, device: str = "auto"
    ) -> TunedBartScore:
        """Read a metric that :meth:`save` has written.

        Raises
        ------
        InputError
            If the folder is missing, incomplete, or holds something else.
        """
        place = Path(path)
        meta = read_meta(place, TUNED, _KEYS, "tuned BARTScore")
        where = place / META
        for key, kind in (("settings", dict), ("seed", int), ("epoch", int), ("n_pairs", int)):
            if not isinstance(meta[key], kind) or isinstance(meta[key], bool):
                raise InputError(f"{where}: {key} is {meta[key]!r}; expected what save wrote")
        most = meta.get("max_tokens")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise InputError(f"{where}: max_tokens is {most!r}; expected what save wrote")
        try:
            metric = cls(
                place,
                name=str(meta["name"]),
                batch_size=batch_size,
                max_tokens=most,
                device=device,
                seed=meta["seed"],
                **meta["settings"],
            )
        except (TypeError, InputError) as error:
            raise InputError(f"{where}: settings cannot be used ({error})") from None
        metric.writer = Writer(str(place), **metric._options)  # type: ignore[arg-type]
        metric.system, metric.epoch = str(meta["system"]), meta["epoch"]
        metric.n_pairs = meta["n_pairs"]
        return metric

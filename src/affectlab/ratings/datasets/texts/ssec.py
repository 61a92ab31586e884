"""SSEC: tweets of a stance task, with Plutchik's eight emotions."""

from __future__ import annotations

from pathlib import Path

from affectlab.ratings.datasets.common import Rejects, lines_of, refuse_layout, shown
from affectlab.ratings.datasets.texts.common import LabelledRows
from affectlab.ratings.files import OnBad, Peek
from affectlab.ratings.options import ReadOptions
from affectlab.ratings.reading import Format, read_ratings
from affectlab.ratings.scale import Scale
from affectlab.ratings.table import Ratings

__all__ = ["FORMAT", "ssec"]

_NAME = "ssec"
_COLUMNS = ("Anger", "Anticipation", "Disgust", "Fear", "Joy", "Sadness", "Surprise", "Trust")
_EMOTIONS = tuple(name.lower() for name in _COLUMNS)
_ABSENT = "---"
_EXPECTED = "expected eight emotions, each by name or as ---, and a tweet, separated by tabs"


def _sniff(peek: Peek) -> bool:
    first = peek.text.partition("\n")[0].removesuffix("\r").split("\t")
    return not peek.is_binary and len(first) == 9 and _wrong(first) is None


def _wrong(fields: list[str]) -> str | None:
    """The first emotion that stands in a column where it cannot."""
    for name, cell in zip(_COLUMNS, fields, strict=False):
        if cell not in (name, _ABSENT):
            return cell
    return None


def _read(peek: Peek, options: ReadOptions) -> Ratings:
    refuse_layout(peek, options, _NAME)
    rejects = Rejects(peek.path, options.on_bad)
    rows = LabelledRows()
    for number, line in lines_of(peek):
        place = f"line {number}"
        # Tweets are not quoted and hold no tabs of their own, but may be cut off.
        fields = line.split("\t", 8)
        if len(fields) != 9:
            rejects.reject(place, "not 9 fields", f"{len(fields)} fields; {_EXPECTED}")
            continue
        wrong = _wrong(fields)
        if wrong is not None:
            rejects.reject(place, "emotion not known", f"{shown(wrong)}; {_EXPECTED}")
            continue
        chosen = [float(cell != _ABSENT) for cell in fields[:8]]
        rows.add(f"{peek.path.stem} {number}", fields[8], chosen, place)
    return rows.by_label(
        peek,
        options,
        _EMOTIONS,
        rejects,
        rater="consensus",
        scale=Scale.binary(),
        name=_NAME,
        history=("aggregated by the authors: the threshold stands in the name of the file",),
    )


def ssec(path: str | Path, *, encoding: str | None = None, on_bad: OnBad = "raise") -> Ratings:
    r"""Read the Stance Sentiment Emotion Corpus.

    Parameters
    ----------
    path
        An aggregated file such as ``train-combined-0.0.csv``: eight columns of emotions and the
        tweet. The number says which share of raters must be passed; 0.0 is what the authors use.
    encoding, on_bad
        As in :func:`affectlab.ratings.read_ratings`.

    Returns
    -------
    Ratings
        Yes or no to each of eight emotions. Stimuli are named by file and line, and the one rater
        ``consensus`` stands for three to six people.

    Raises
    ------
    InputError
        When a line has another form.

    Notes
    -----
    Source: H. Schuff et al. (2017), Annotation, modelling and analysis of fine-grained emotions on
    a stance and sentiment detection corpus.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train-combined-0.0.csv"
    >>> _ = file.write_text("---\tAnticipation\t---\t---\tJoy\t---\t---\t---\tsoon #SemST\n")
    >>> r = ssec(file)
    >>> [name for name, value in zip(r.label_names, r.value) if value]
    ['anticipation', 'joy']
    """
    return read_ratings(path, format=_NAME, encoding=encoding, on_bad=on_bad)


FORMAT = Format(
    name=_NAME,
    title="SSEC, tweets with Plutchik's eight emotions (eight columns of names or ---, and tweet)",
    sniff=_sniff,
    read=_read,
)
